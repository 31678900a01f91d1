//! The system's compilers of C and C++: found, identified without being started, and run.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::cpuinfo::cpuinfo_line;
use super::elf;
use crate::backend::Compiler;
use crate::error::{CompileError, Result};
use crate::kind::{DeviceKind, Language};
use crate::library::package_folders;
use crate::once::Once;

/// Flags of every CPU kernel. `-fno-math-errno` lets `sqrt` and its like vectorise; results do not change. `-fwrapv` because integers
/// wrap on the other targets too, and because gcc 12 drops or misplaces stores at `x[n - j]` in some nested loops without it. A function that is nowhere
/// declared is a mistake at its line, as on the other targets, and not one that shows when the module is loaded.
const FLAGS: [&str; 7] = ["-O3", "-march=native", "-fPIC", "-shared", "-fno-math-errno", "-fwrapv", "-fno-semantic-interposition"];

/// Flags of gcc alone. It may split a loop in two after a run-time overlap test of its accesses; in gcc 12 that test ignores the last
/// iteration of a conditional access, so that stores can change their order.
const GCC_FLAGS: [&str; 2] = ["-fno-tree-loop-distribution", WITHOUT_PLUGIN];

/// The linker's plugin is for link-time optimisation, which works without it, and loading it takes 5 of the 60 ms of a small kernel.
const WITHOUT_PLUGIN: &str = "-fno-use-linker-plugin";

/// Lets the compiler call `__ubsan_handle_divrem_overflow` where an integer is about to be divided by zero. The source defines it.
pub const WATCH_DIVISIONS: &str = "-fsanitize=integer-divide-by-zero";

/// The libraries of gcc without that of its sanitizer, which also defines the function, and need not be installed.
const GCC_LIBRARIES: [&str; 4] = ["-nodefaultlibs", "-lgcc_s", "-lgcc", "-lc"];

/// What objects may use of others and be linked with no shared library: a dynamic executable brings the C library, and these functions have one meaning
/// in all of its versions. Those of `math.h` do not. The last ones, arithmetic of 128 bits, are in the archive of gcc itself.
const NEEDS_NO_LIBRARY: [&str; 16] = [
    "_GLOBAL_OFFSET_TABLE_",
    "__tls_get_addr",
    "abort",
    "calloc",
    "free",
    "malloc",
    "memcmp",
    "memcpy",
    "memmove",
    "memset",
    "__divti3",
    "__divmodti4",
    "__modti3",
    "__udivti3",
    "__udivmodti4",
    "__umodti3",
];

/// Links with no shared library, but with what begins and ends each: a source that defines `_init` is refused there.
const WITHOUT_LIBRARIES: [&str; 2] = ["-nodefaultlibs", "-lgcc"];

/// Whether an option of a compilation is nothing to the linker. Of most options this is not known.
fn is_for_objects_alone(option: &str) -> bool {
    const WHOLE: [&str; 9] = ["-O0", "-O1", "-O2", "-O3", "-g", "-w", "-Wall", "-Wextra", WATCH_DIVISIONS];
    const BEGINNINGS: [&str; 9] = ["-D", "-U", "-I", "-Werror=", "-std=", "-march=", "-mtune=", "-fno-", "-ffp-contract="];
    // The value of `-I` alone is the next option.
    let begins_with = |beginning: &&str| option.starts_with(*beginning) && option.len() > beginning.len();
    WHOLE.contains(&option) || BEGINNINGS.iter().any(begins_with)
}

/// Written before every source for a compiler that may be gcc under another name. For a small kernel the pragma takes gcc 9 ms longer than
/// the flag; the code is the same.
const FIRST_LINES: &str = "#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize (\"no-tree-loop-distribution\")
#endif
#line 1 \"<stdin>\"
";

/// The differences between the languages.
#[derive(Debug)]
struct Flavour {
    /// The name that compilers use for the language.
    language: &'static str,
    /// Flags of every kernel in it.
    flags: &'static [&'static str],
    /// Libraries of the language.
    libraries: &'static [&'static str],
    /// Environment variables that name a compiler, the first before the second.
    variables: [&'static str; 2],
    /// Compilers that are looked for.
    names: [&'static str; 3],
    /// The name of Zig's own compiler.
    zig: &'static str,
    /// The hint if none of them is found.
    install: &'static str,
    /// The hint if the named one is not found.
    correct: &'static str,
}

const C: Flavour = Flavour {
    language: "c",
    flags: &["-std=gnu11", "-Werror=implicit-function-declaration"],
    libraries: &[],
    variables: ["PARLOOP_CC", "CC"],
    names: ["cc", "gcc", "clang"],
    zig: "cc",
    install: "install one with `apt-get install gcc` or `pip install ziglang`, or name one in PARLOOP_CC",
    correct: "PARLOOP_CC or CC names it: correct or unset it",
};

/// `long` and `long long` are two types of 64 bits, and arrays of one are passed as arrays of the other: hence no strict aliasing.
const CPP: Flavour = Flavour {
    language: "c++",
    flags: &["-std=gnu++17", "-fno-strict-aliasing"],
    libraries: &["-lstdc++"],
    variables: ["PARLOOP_CXX", "CXX"],
    names: ["c++", "g++", "clang++"],
    zig: "c++",
    install: "install one with `apt-get install g++` or `pip install ziglang`, or name one in PARLOOP_CXX",
    correct: "PARLOOP_CXX or CXX names it: correct or unset it",
};

#[derive(Debug)]
pub(super) struct SystemCompiler {
    flavour: &'static Flavour,
    program: PathBuf,
    /// Words between the program and our flags, as in `zig cc`.
    words: Vec<String>,
    is_gcc: bool,
    identity: String,
}

impl SystemCompiler {
    pub(super) fn find(language: Language) -> Result<SystemCompiler, CompileError> {
        let flavour = match language {
            Language::C => &C,
            Language::Cpp => &CPP,
        };
        let named = |name: &&str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        match flavour.variables.iter().find_map(named) {
            Some(command) => Self::from_command(flavour, &command, std::env::var_os("PATH").unwrap_or_default()),
            None => Self::from_candidates(flavour, std::env::var_os("PATH").unwrap_or_default(), &package_folders()),
        }
    }

    fn from_command(flavour: &'static Flavour, command: &str, path: OsString) -> Result<SystemCompiler, CompileError> {
        let mut words = command.split_whitespace().map(str::to_owned);
        let name = words.next().unwrap_or_default();
        match which(&name, &path) {
            Some(program) => Self::identify(flavour, program, words.collect()),
            None => Err(no_compiler(vec![name], flavour.correct)),
        }
    }

    fn from_candidates(flavour: &'static Flavour, path: OsString, packages: &[PathBuf]) -> Result<SystemCompiler, CompileError> {
        if let Some(program) = flavour.names.iter().find_map(|name| which(name, &path)) {
            return Self::identify(flavour, program, Vec::new());
        }
        let zig = packages.iter().map(|folder| folder.join("ziglang/zig")).find(|zig| zig.is_file());
        if let Some(program) = zig {
            return Self::identify(flavour, program, vec![flavour.zig.into()]);
        }
        let tried = flavour.names.iter().map(|name| name.to_string()).chain(["ziglang (Python package)".into()]).collect();
        Err(no_compiler(tried, flavour.install))
    }

    fn identify(flavour: &'static Flavour, program: PathBuf, words: Vec<String>) -> Result<SystemCompiler, CompileError> {
        let not_started = |e: std::io::Error| CompileError::NotStarted { compiler: program.display().to_string(), reason: e.to_string() };
        let resolved = program.canonicalize().map_err(not_started)?;
        let metadata = resolved.metadata().map_err(not_started)?;
        let modified = metadata.modified().map_err(not_started)?;
        let identity = format!(
            "{} {} {modified:?} {words:?} {FLAGS:?} {GCC_FLAGS:?} {FIRST_LINES:?} {GCC_LIBRARIES:?} {NEEDS_NO_LIBRARY:?} {WITHOUT_LIBRARIES:?} {:?} {}",
            resolved.display(),
            metadata.len(),
            flavour.flags,
            native_arch()
        );
        let is_gcc = is_gcc(&resolved);
        Ok(SystemCompiler { flavour, program, words, is_gcc, identity })
    }

    fn name(&self) -> String {
        self.program.display().to_string()
    }

    /// Compiles and links in one go: the compiler knows what its options want of the linker.
    fn build(&self, source: &str, options: &[String], library: &Path) -> Result<(), CompileError> {
        let watches_divisions = options.iter().any(|option| option == WATCH_DIVISIONS);
        let libraries = if self.is_gcc && watches_divisions { [self.flavour.libraries, &GCC_LIBRARIES].concat() } else { Vec::new() };
        let mut command = self.compilation(options, library);
        self.run(command.arg("-lm").args(libraries), source)
    }

    /// Links with no shared library what needs none: for a small kernel, gcc's linker reads the symbols of the C library for a fifth of the whole time.
    fn build_in_two_steps(&self, source: &str, options: &[String], object: &Path, library: &Path) -> Result<(), CompileError> {
        self.run(self.compilation(options, object).arg("-c"), source)?;
        let bytes = std::fs::read(object).map_err(|e| self.no_output(&e))?;
        let is_listed = |name: &&[u8]| NEEDS_NO_LIBRARY.iter().any(|listed| listed.as_bytes() == *name);
        let needs_none = !cfg!(target_feature = "crt-static") && elf::undefined(&bytes).is_ok_and(|names| names.iter().all(is_listed));
        let link = |libraries: &[&str]| {
            let mut command = Command::new(&self.program);
            command.args(["-shared", WITHOUT_PLUGIN]).arg(object).arg("-o").arg(library).args(libraries);
            self.run(&mut command, "")
        };
        // A compiler that links its own way may want what ours does not.
        if needs_none && link(&WITHOUT_LIBRARIES).is_ok() {
            return Ok(());
        }
        link(&[&["-lm"], self.flavour.libraries].concat())
    }

    /// The command for a source that is read from the standard input.
    fn compilation(&self, options: &[String], output: &Path) -> Command {
        let flags: &[&str] = if self.is_gcc { &GCC_FLAGS } else { &[] };
        let mut command = Command::new(&self.program);
        command.args(&self.words).args(FLAGS).args(flags).args(self.flavour.flags);
        command.args(["-x", self.flavour.language, "-", "-o"]).arg(output).args(["-x", "none"]).args(options);
        command
    }

    fn run(&self, command: &mut Command, source: &str) -> Result<(), CompileError> {
        let first_lines = if self.is_gcc { "" } else { FIRST_LINES };
        let piped = command.env("LC_ALL", "C").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let not_started = |e: std::io::Error| CompileError::NotStarted { compiler: self.name(), reason: e.to_string() };
        let mut child = piped.spawn().map_err(not_started)?;
        let stdin = child.stdin.take();
        let output = std::thread::scope(|scope| {
            // A compiler that dies or stops reading closes its end; its exit status then says more than this error would.
            scope.spawn(|| stdin.map(|mut pipe| pipe.write_all(first_lines.as_bytes()).and_then(|()| pipe.write_all(source.as_bytes()))));
            child.wait_with_output()
        });
        let output = output.map_err(not_started)?;
        if let Some(signal) = output.status.signal() {
            return Err(CompileError::Killed { compiler: self.name(), signal });
        }
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        if log.contains("signal terminated program") {
            return Err(self.failed(log));
        }
        if output.status.success() { Ok(()) } else { Err(CompileError::Refused { compiler: self.name(), log }) }
    }

    fn no_output(&self, e: &std::io::Error) -> CompileError {
        self.failed(format!("it reported success but wrote no output: {e}"))
    }

    fn failed(&self, reason: String) -> CompileError {
        CompileError::Failed { compiler: self.name(), reason }
    }
}

impl Compiler for SystemCompiler {
    fn identity(&self) -> &str {
        &self.identity
    }

    /// The source has the headers of C, and leaves them out itself.
    fn without_headers(&self) -> &'static [&'static str] {
        if self.flavour.language == C.language { &["-Werror=implicit-int"] } else { &[] }
    }

    fn compile(&self, source: &str, options: &[String]) -> Result<Vec<u8>, CompileError> {
        let no_folder =
            |e| self.failed(format!("could not create a temporary folder in {}: {e}; set TMPDIR", std::env::temp_dir().display()));
        let folder = tempfile::Builder::new().prefix("parloop-").tempdir().map_err(no_folder)?;
        let library = folder.path().join("kernel.so");
        if self.is_gcc && self.words.iter().chain(options).all(|option| is_for_objects_alone(option)) {
            self.build_in_two_steps(source, options, &folder.path().join("kernel.o"), &library)?;
        } else {
            self.build(source, options, &library)?;
        }
        std::fs::read(&library).map_err(|e| self.no_output(&e))
    }
}

fn no_compiler(tried: Vec<String>, hint: &str) -> CompileError {
    CompileError::NoCompiler { target: DeviceKind::Cpu, tried, hint: hint.into() }
}

/// Whether a program, by its name without links, is gcc: `gcc`, `g++-12`, `aarch64-linux-gnu-gcc-13`.
fn is_gcc(program: &Path) -> bool {
    let name = program.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end_matches('-');
    matches!(name.rsplit('-').next(), Some("gcc" | "g++"))
}

/// The file that a shell would run for `name`.
fn which(name: &str, path: &OsString) -> Option<PathBuf> {
    use rustix::fs::{Access, access};
    let runs = |file: &PathBuf| file.is_file() && access(file, Access::EXEC_OK).is_ok();
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(runs);
    }
    std::env::split_paths(path).map(|folder| folder.join(name)).find(runs)
}

/// What `-march=native` means here: a cache may be shared by machines of different kinds.
fn native_arch() -> &'static str {
    static ARCH: Once<String> = Once::new();
    ARCH.get_or_init(|| {
        let line = |key| cpuinfo_line(key).unwrap_or_default();
        format!("{} {} {} {}", std::env::consts::ARCH, line("model name"), line("flags"), line("Features"))
    })
}

/// The architecture and the sets of instructions that `-march=native` may use: a binary runs where all of them are.
pub(super) fn instructions() -> &'static str {
    static INSTRUCTIONS: Once<String> = Once::new();
    INSTRUCTIONS.get_or_init(|| {
        let flags = cpuinfo_line("flags").map(|flags| used_by_compilers(&flags)).or_else(|| cpuinfo_line("Features"));
        [std::env::consts::ARCH, flags.unwrap_or_default().as_str()].join(" ").trim_end().to_owned()
    })
}

/// Of an x86 CPU's many flags, those that name instructions which a compiler chooses by itself.
fn used_by_compilers(flags: &str) -> String {
    const FAMILIES: [&str; 5] = ["sse", "avx", "amx", "bmi", "fma"];
    const SINGLE: [&str; 16] = [
        "pni",
        "ssse3",
        "abm",
        "adx",
        "aes",
        "cx16",
        "f16c",
        "gfni",
        "lahf_lm",
        "movbe",
        "pclmulqdq",
        "popcnt",
        "sha_ni",
        "vaes",
        "vpclmulqdq",
        "xop",
    ];
    let is_used = |flag: &&str| SINGLE.contains(flag) || FAMILIES.iter().any(|family| flag.starts_with(family));
    flags.split_whitespace().filter(is_used).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_any_compiler_the_error_says_how_to_get_one() {
        let error = SystemCompiler::from_candidates(&C, "/nonexistent".into(), &[]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no compiler for cpu kernels was found: tried cc, gcc, clang, ziglang (Python package); \
             install one with `apt-get install gcc` or `pip install ziglang`, or name one in PARLOOP_CC"
        );
        let error = SystemCompiler::from_candidates(&CPP, "/nonexistent".into(), &[]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no compiler for cpu kernels was found: tried c++, g++, clang++, ziglang (Python package); \
             install one with `apt-get install g++` or `pip install ziglang`, or name one in PARLOOP_CXX"
        );
    }

    #[test]
    fn instructions_are_the_architecture_and_what_compilers_use_of_the_flags() {
        assert_eq!(used_by_compilers("fpu sse2 ht pni avx512_vnni md_clear fma popcnt ibrs bmi2"), "sse2 pni avx512_vnni fma popcnt bmi2");
        assert_eq!(instructions().split(' ').next(), Some(std::env::consts::ARCH));
        assert!(!instructions().ends_with(' '));
    }

    #[test]
    fn gcc_is_known_by_its_name() {
        for name in ["gcc", "g++", "gcc-12", "g++-4.8", "/usr/bin/x86_64-linux-gnu-gcc-12", "/opt/bin/aarch64-none-linux-gnu-g++"] {
            assert!(is_gcc(Path::new(name)), "{name}");
        }
        for name in ["cc", "c++", "clang", "clang++", "clang++-15", "ccache", "zig", "icx", "my-cc", "gccgo", "/opt/gcc/bin/cc", ""] {
            assert!(!is_gcc(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn gcc_is_told_not_to_split_loops_under_any_name() {
        let folder = tempfile::tempdir().unwrap();
        for (name, flags, first_lines) in [("gcc", &GCC_FLAGS[..], ""), ("my-cc", &[], FIRST_LINES)] {
            let script = folder.path().join(name);
            std::fs::write(&script, "#!/bin/sh\n{ echo \"$@\"; cat; } >&2\nexit 1\n").unwrap();
            std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
            let compiler = SystemCompiler::from_command(&C, script.to_str().unwrap(), "".into()).unwrap();
            let CompileError::Refused { log, .. } = compiler.compile("int x;", &[]).unwrap_err() else { panic!("{name} refuses") };
            let (arguments, source) = log.split_once('\n').unwrap();
            let found: Vec<&str> = arguments.split(' ').filter(|argument| GCC_FLAGS.contains(argument)).collect();
            assert_eq!((&found[..], source), (flags, format!("{first_lines}int x;").as_str()), "{name}");
        }
    }

    #[test]
    fn a_named_compiler_that_is_not_there_is_not_replaced_by_another() {
        let error = SystemCompiler::from_command(&C, "my-cc -O1", "/usr/bin".into()).unwrap_err();
        assert_eq!(error.to_string(), "no compiler for cpu kernels was found: tried my-cc; PARLOOP_CC or CC names it: correct or unset it");
    }

    #[test]
    fn a_compiler_that_is_killed_is_reported_as_killed() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("dying-cc");
        std::fs::write(&script, "#!/bin/sh\nkill -9 $$\n").unwrap();
        std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let compiler = SystemCompiler::from_command(&C, script.to_str().unwrap(), "".into()).unwrap();
        let error = compiler.compile("int x;", &[]).unwrap_err();
        assert_eq!(error, CompileError::Killed { compiler: script.display().to_string(), signal: 9 });
    }

    #[test]
    fn only_what_uses_a_library_is_linked_with_it() {
        let compiler = SystemCompiler::find(Language::C).unwrap();
        let linked = |source: &str, options: &[&str]| {
            let options: Vec<String> = options.iter().map(|option| option.to_string()).collect();
            let library = compiler.compile(source, &options).unwrap();
            ["libm.so.6", "libc.so.6"].map(|name| memchr::memmem::find(&library, name.as_bytes()).is_some())
        };
        let copies = "#include <string.h>\nvoid f(char *to, char *from, int n) { memcpy(to, from, n); memset(to, 7, n); }";
        assert_eq!(linked("double f(double x) { return 2 * x; }", &["-O2", "-DN=3"]), [false, false]);
        assert_eq!(linked(copies, &[]), [false, false]);
        let divides = "__int128 f(__int128 a, unsigned __int128 b) { return a / 3 + a % 7 + (__int128)(b / 5 + b % 9); }";
        assert_eq!(linked(divides, &[]), [false, false]);
        assert!(linked("double sin(double); double f(double x) { return sin(x); }", &[])[0]);
        assert!(linked("int puts(const char *); int f(void) { return puts(\"\"); }", &[])[1]);
        // A linker that wants all names defined gets them.
        let folder = tempfile::tempdir().unwrap();
        let strict = folder.path().join("gcc");
        std::fs::write(&strict, "#!/bin/sh\nexec cc \"$@\" -Wl,-z,defs\n").unwrap();
        std::fs::set_permissions(&strict, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let strict = SystemCompiler::from_command(&C, strict.to_str().unwrap(), OsString::new()).unwrap();
        assert!(strict.is_gcc);
        assert!(memchr::memmem::find(&strict.compile(copies, &[]).unwrap(), b"libc.so.6").is_some());
        // Whatever an option says to the linker holds.
        assert_eq!(linked("int x;", &["-Wl,--no-as-needed"]), [true, true]);
    }

    #[test]
    fn functions_that_every_library_has_are_not_replaced() {
        let compiler = SystemCompiler::find(Language::C).unwrap();
        for name in ["_init", "_fini"] {
            let error = compiler.compile(&format!("void {name}(double *x) {{ x[0] = 7; }}"), &[]).unwrap_err();
            assert!(error.to_string().contains(&format!("multiple definition of `{name}'")), "{error}");
        }
    }

    #[test]
    fn refused_source_comes_with_the_compilers_words() {
        let compiler = SystemCompiler::find(Language::C).unwrap();
        match compiler.compile("#line 7 \"mine.c\"\nint x = ;\n", &[]).unwrap_err() {
            CompileError::Refused { log, .. } => assert!(log.contains("mine.c:7"), "{log}"),
            other => panic!("{other}"),
        }
        match compiler.compile("int x;\nint y = ;\n", &[]).unwrap_err() {
            CompileError::Refused { log, .. } => assert!(log.contains("<stdin>:2"), "{log}"),
            other => panic!("{other}"),
        }
    }
}
