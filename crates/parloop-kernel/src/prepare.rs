//! From sources to the full text that a target's compiler is given, and to its binary.

use std::collections::HashSet;
use std::path::Path;

use parloop_device::cpu::WATCH_DIVISIONS;
use parloop_device::{CompileError, Compiler, DType, DeviceKind, Language, ModuleBinary};

use crate::cache::{Cache, Key, Origin};
use crate::description::KernelDescription;
use crate::directive::Directive;
use crate::error::{KernelError, Result};
use crate::files::Files;
use crate::options::CompileOptions;
use crate::parse::{Dialect, parse};
use crate::prelude::{CPU_HEADERS, DECLARED, declarations, prelude};
use crate::reserved::is_reserved;
use crate::signature::{Param, ParamType, Pointee, Signature};
use crate::source::{Source, join};
use crate::unread::{folders_of_environment, reads_files};

/// A program for a target, not compiled yet.
pub(crate) struct Prepared {
    /// What can be called from outside.
    pub(crate) functions: Vec<Signature>,
    /// The functions that cannot.
    pub(crate) helpers: Vec<Helper>,
    /// Whether it has checks that may fail, and a record of the first that did.
    pub(crate) is_recorded: bool,
    pub(crate) source: String,
    /// Further arguments for its compiler.
    pub(crate) arguments: Vec<String>,
    /// Whether its compiler reads files that are not part of the source, so that its binary is not kept.
    pub(crate) reads_files: bool,
    /// Whether the compiler may be given declarations instead of headers first.
    pub(crate) takes_declarations: bool,
}

/// A function that cannot be called from outside.
#[derive(Debug)]
pub(crate) struct Helper {
    pub(crate) name: String,
    pub(crate) is_kernel: bool,
    /// Why not, where its parameters cannot be passed.
    pub(crate) refused: Option<String>,
}

impl Prepared {
    /// Reads sources; whatever it needs to know about files it asks `files`.
    pub(crate) fn new(sources: &[Source], options: &CompileOptions, target: DeviceKind, files: &Files) -> Result<Prepared> {
        let language = options.language;
        if (target, language) == (DeviceKind::OpenCl, Language::Cpp) {
            return Err(CompileError::Language { target, language }.into());
        }
        let mut folders = options.all_include_folders();
        let joined = join(sources, target, &folders, files)?;
        folders.extend(sources.iter().filter_map(|source| source.folder()).map(Path::to_owned));
        folders.extend(folders_of_environment());
        let reads_files = reads_files(&joined.text, &folders, &options.arguments, files);
        // A program without checks need not be inspected after each launch.
        let has_checks = ["PARLOOP_CHECK", "PARLOOP_TOUCH"].iter().any(|word| joined.text.contains(word));
        let watches_divisions = options.checked && target == DeviceKind::Cpu && may_divide(&joined.text) && !sanitizes(&options.arguments);
        let is_recorded = (options.checked || options.guarded) && has_checks || watches_divisions;
        let wanted: Vec<&str> = options.kernels.iter().map(KernelDescription::c_name).collect();
        let CompileOptions { classes, arguments, .. } = options;
        let parsed = parse(&joined, Dialect { target, language, classes, checked: is_recorded, arguments, wanted: &wanted })?;
        let mut source = prelude(target, language, parsed.needs);
        if is_recorded && options.checked {
            source.push_str("#define PARLOOP_CHECKED 1\n");
        }
        // Compilers of OpenCL know no `-U`.
        let (undefined, mut arguments) =
            if target == DeviceKind::OpenCl { without_undefined(arguments) } else { (vec![], arguments.clone()) };
        for name in undefined {
            source.push_str(&format!("#undef {name}\n"));
        }
        for name in &parsed.renamed {
            source.push_str(&format!("#define {name} parloop_user_{name}\n"));
        }
        let [before, after] = match (target, language) {
            (DeviceKind::Hip, Language::Cpp) => FOR_THE_DEVICE,
            _ => ["", ""],
        };
        let text = if (target, language) == (DeviceKind::Cpu, Language::C) { without_library(parsed.text) } else { parsed.text };
        let takes_declarations = match target {
            DeviceKind::Cpu => language == Language::C && takes_declarations(&text),
            DeviceKind::OpenCl => !arguments.iter().any(|argument| argument.starts_with("-cl-std")) && takes_declarations(&text),
            DeviceKind::Cuda | DeviceKind::Hip => false,
        };
        if takes_declarations && target == DeviceKind::OpenCl {
            source = format!("#ifdef {DECLARED}\n{}#endif\n{source}", declarations(&format!("{source}{text}")));
        }
        [before, &text, after].into_iter().for_each(|text| source.push_str(text));
        for (name, is_defined) in &parsed.decided {
            source.push_str(&still_holds(name, *is_defined));
        }
        let described: HashSet<&str> = options.kernels.iter().map(KernelDescription::c_name).collect();
        let known = |name: &str| parsed.functions.iter().any(|function| function.name == name);
        let mut refused = Vec::new();
        for (name, mistake) in parsed.refused {
            if described.contains(name.as_str()) && !known(&name) {
                return Err(mistake.at_file_line(&joined.text));
            }
            refused.push(Helper { name, is_kernel: false, refused: Some(mistake.reason) });
        }
        let is_callable = |function: &Signature| {
            let asked_for = !function.needs_description || described.contains(function.name.as_str());
            asked_for && (function.is_kernel || target == DeviceKind::Cpu)
        };
        let (functions, others): (Vec<Signature>, Vec<Signature>) = parsed.functions.into_iter().partition(is_callable);
        let others = others.into_iter().map(|function| Helper { name: function.name, is_kernel: function.is_kernel, refused: None });
        let helpers = others.chain(refused).collect();
        if target == DeviceKind::Cpu {
            source.push_str(&entries(&functions, language, watches_divisions));
        }
        if watches_divisions {
            arguments.push(WATCH_DIVISIONS.to_owned());
        }
        Ok(Prepared { functions, helpers, is_recorded, source, arguments, reads_files, takes_declarations })
    }

    pub(crate) fn save(&self, options: &CompileOptions) -> Result<()> {
        let Some(path) = &options.save_source_as else { return Ok(()) };
        std::fs::write(path, &self.source).map_err(|e| KernelError::SaveSource { path: path.clone(), reason: e.to_string() })
    }

    pub(crate) fn build(&self, compiler: &dyn Compiler, options: &CompileOptions, cache: &Cache) -> Result<(ModuleBinary, Origin)> {
        if self.reads_files {
            return Ok((self.build_fresh(compiler, options)?, Origin::Compiled));
        }
        let (arguments, files) = (self.arguments.join("\0"), options.argument_files());
        let key = Key::of(&[self.source.as_bytes(), arguments.as_bytes(), &files, compiler.identity().as_bytes()]);
        let made = cache.get_or_make(key, || self.compile(compiler));
        let (bytes, origin) = made.map_err(|error| self.explain(error, options))?;
        Ok((ModuleBinary { bytes: bytes.to_vec() }, origin))
    }

    pub(crate) fn build_fresh(&self, compiler: &dyn Compiler, options: &CompileOptions) -> Result<ModuleBinary> {
        let bytes = self.compile(compiler).map_err(|error| self.explain(error, options))?;
        Ok(ModuleBinary { bytes })
    }

    /// With declarations instead of headers if these are enough, which halves the time for a small kernel; the code is the same.
    fn compile(&self, compiler: &dyn Compiler) -> std::result::Result<Vec<u8>, CompileError> {
        let without_headers = compiler.without_headers();
        if self.takes_declarations && !without_headers.is_empty() {
            let declared = format!("-D{DECLARED}");
            let more = without_headers.iter().copied().chain([declared.as_str()]).map(str::to_owned);
            let arguments: Vec<String> = self.arguments.iter().cloned().chain(more).collect();
            match compiler.compile(&self.source, &arguments) {
                Err(CompileError::Refused { .. }) => {}
                other => return other,
            }
        }
        compiler.compile(&self.source, &self.arguments)
    }

    /// Shows the source line under each message of the compiler that names one.
    pub(crate) fn explain(&self, error: CompileError, options: &CompileOptions) -> KernelError {
        let error = match error {
            CompileError::Refused { compiler, log } => {
                let mut log = crate::explain::with_source_lines(&log, &self.source);
                if options.save_source_as.is_none() {
                    log.push_str("(save_source_as=\"FILE\" saves the full source passed to the compiler)");
                }
                CompileError::Refused { compiler, log }
            }
            other => other,
        };
        KernelError::Compile { error, saved: options.save_source_as.clone() }
    }
}

/// A source without the headers that the prelude has already.
fn without_library(text: String) -> String {
    let is_there = |line: &str| matches!(Directive::read(line), Directive::Include { file, system: true } if CPU_HEADERS.contains(&file));
    if !text.lines().any(is_there) {
        return text;
    }
    text.lines().flat_map(|line| [if is_there(line) { "" } else { line }, "\n"]).collect()
}

/// Whether a source means the same with declarations instead of headers if a compiler takes it: it has no headers of its own, which may
/// declare the same in another way, and no conditions that depend on macros of headers.
fn takes_declarations(text: &str) -> bool {
    // Macros that no header defines: those of compilers, and those of generated code.
    const OF_COMPILERS: [&str; 9] = [
        "defined",
        "__clang__",
        "__cplusplus",
        "__GNUC__",
        "__AVX__",
        "__AVX512F__",
        "__has_builtin",
        "__builtin_shufflevector",
        "cl_khr_fp64",
    ];
    let is_of_code = |word: &str| word == "VECTORIZE_OVER" || ["PARLOOP_", "PL_"].iter().any(|prefix| word.starts_with(prefix));
    let is_known = |word: &str| word.is_empty() || OF_COMPILERS.contains(&word) || is_of_code(word);
    let is_harmless = |line: &str| {
        // A comment may be in front of a directive.
        let Some(directive) = line.trim_start().strip_prefix('#') else { return false };
        let directive = directive.trim_start();
        let end = directive.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(directive.len());
        match directive.split_at(end) {
            ("if" | "ifdef" | "ifndef" | "elif", condition) => {
                !condition.contains(['\\', '/', '?']) && condition.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).all(is_known)
            }
            (word, _) => ["line", "define", "undef", "pragma", "else", "endif"].contains(&word),
        }
    };
    text.lines().filter(|line| line.contains('#') || line.contains("%:")).all(is_harmless)
}

/// Whether a text has an operator that divides; some texts without one are taken for such.
fn may_divide(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_comment = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(|byte| matches!(byte, b'/' | b'*'));
    let divides = |(at, byte): (usize, &u8)| match byte {
        b'%' => true,
        b'/' => !is_comment(at.checked_sub(1)) && !is_comment(Some(at + 1)),
        _ => false,
    };
    bytes.iter().enumerate().any(divides)
}

/// Whether the user's own arguments ask for a sanitizer: it has a library of its own, with the function that ours would be.
fn sanitizes(arguments: &[String]) -> bool {
    arguments.iter().any(|argument| argument.starts_with("-fsanitize"))
}

/// The names of `-UNAME` that no later argument defines, and the other arguments.
fn without_undefined(arguments: &[String]) -> (Vec<&str>, Vec<String>) {
    let (mut names, mut others): (Vec<&str>, Vec<String>) = (Vec::new(), Vec::new());
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.strip_prefix("-U") {
            Some("") => names.extend(arguments.next().map(String::as_str)),
            Some(name) => names.push(name),
            None => {
                others.push(argument.clone());
                let defined = match argument.strip_prefix("-D") {
                    Some("") => arguments.next().inspect(|definition| others.push((*definition).clone())).map(String::as_str),
                    definition => definition,
                };
                names.retain(|name| defined.is_none_or(|definition| definition.split(['=', '(']).next() != Some(name)));
            }
        }
    }
    (names, others)
}

/// Functions between these lines are functions of the device as well, without a word of theirs. NVRTC takes all functions for such.
const FOR_THE_DEVICE: [&str; 2] = ["#pragma clang force_cuda_host_device begin\n", "#pragma clang force_cuda_host_device end\n"];

/// The symbol of a kernel in a compiled module.
pub(crate) fn symbol(name: &str, target: DeviceKind) -> String {
    match target {
        DeviceKind::Cpu => format!("parloop_entry_{name}"),
        _ if is_reserved(name, target) => format!("parloop_user_{name}"),
        _ => name.to_owned(),
    }
}

/// Asks the compiler at the end of a source whether a name that decided what was read is still what arguments say.
fn still_holds(name: &str, is_defined: bool) -> String {
    let (asks, found) = if is_defined { ("ifndef", "undefines") } else { ("ifdef", "defines") };
    format!(
        "#line 1 \"<arguments>\"\n#{asks} {name}\n#error \"a file or an argument {found} {name}, which contradicts another argument, and \
         conditional code depends on it; use a name that only one of them sets\"\n#endif\n"
    )
}

/// The entries of functions. Pointers have the types that were read, so that a compiler that reads others does not go on.
fn entries(functions: &[Signature], language: Language, watches_divisions: bool) -> String {
    let mut text = String::new();
    if language == Language::C {
        for warning in ["-Wincompatible-pointer-types", "-Wint-conversion"] {
            text.push_str(&format!("#pragma GCC diagnostic error \"{warning}\"\n"));
        }
    }
    for function in functions {
        text.push_str(&format!("#line 1 \"<entry of `{function}`>\"\n{}", cpu_entry(function, language, watches_divisions)));
    }
    text
}

/// What the prelude calls the numbers of a pointer whose type has one name in C. That of 64 bits has two.
fn pointee_name(to: &Pointee) -> Option<&'static str> {
    let Pointee::Scalar(dtype) = to else { return None };
    Some(match dtype {
        DType::Bool => "parloop_bool",
        DType::I8 => "parloop_int8",
        DType::I16 => "parloop_int16",
        DType::I32 => "parloop_int32",
        DType::U8 => "parloop_uint8",
        DType::U16 => "parloop_uint16",
        DType::U32 => "parloop_uint32",
        DType::F32 => "parloop_float32",
        DType::F64 => "parloop_float64",
        _ => return None,
    })
}

/// The entry through which a CPU calls a function: arguments, then the whole range, then a place for the returned value. A division
/// that cannot be done leaves the function.
fn cpu_entry(function: &Signature, language: Language, watches_divisions: bool) -> String {
    let may_leave = if watches_divisions { "if (setjmp(parloop_leave)) return; " } else { "" };
    let linkage = if language == Language::Cpp { "extern \"C\" " } else { "" };
    let read = |(index, param): (usize, &Param)| match &param.ty {
        ParamType::Scalar(dtype) => format!("*({} *)args[{index}]", dtype.c_name()),
        ParamType::Pointer { to, .. } if pointee_name(to).is_some() => {
            format!("({} *)*(void **)args[{index}]", pointee_name(to).unwrap_or_default())
        }
        // An address of anything is not one of a certain type by itself there.
        ParamType::Pointer { .. } if language == Language::Cpp => format!("parloop_address{{*(void **)args[{index}]}}"),
        ParamType::Pointer { .. } => format!("*(void **)args[{index}]"),
    };
    let arguments: Vec<String> = function.params.iter().enumerate().map(read).collect();
    let (name, count) = (&function.name, function.params.len());
    let result = match &function.returns {
        None => String::new(),
        Some(ParamType::Scalar(dtype)) => format!("*({} *)args[{}] = ", dtype.c_name(), count + 1),
        Some(ParamType::Pointer { .. }) => format!("*(const volatile void **)args[{}] = ", count + 1),
    };
    format!(
        "{linkage}void parloop_entry_{name}(void **args, int64_t begin, int64_t end) {{ \
         {may_leave}parloop_this = (parloop_part){{begin, end, *(int64_t *)args[{count}]}}; {result}{name}({}); }}\n",
        arguments.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use parloop_device::cpu::compiler_of;

    use super::*;
    use crate::program::compile_for;

    fn compiles(text: &str) -> std::result::Result<(), String> {
        let compiler = compiler_of(Language::C).unwrap();
        let made = compile_for(DeviceKind::Cpu, &*compiler, &[Source::text(text)], &CompileOptions::default());
        made.map(|_| ()).map_err(|error| error.to_string())
    }

    #[test]
    fn sources_that_depend_on_headers_are_compiled_with_them() {
        for text in [
            "#include <complex.h>\n",
            "  # include <math.h>\n",
            "#ifdef M_PI\n#endif\n",
            "#ifndef VECTORIZE_OVER\n#elif defined M_PI\n#endif\n",
            "#if defined(__clang__) && __GLIBC__\n#endif\n",
            "#if defined(__clang__) || \\\ndefined(M_PI)\n#endif\n",
            "#if 1\n#endif\n",
            "/* */ #ifdef M_PI\n#endif\n",
            "#\\\nifdef M_PI\n#endif\n",
            "# /* */ ifdef M_PI\n#endif\n",
            "%:ifdef M_PI\n%:endif\n",
            "#include_next <math.h>\n",
        ] {
            assert!(!takes_declarations(text), "{text}");
        }
        let own = "#line 1 \"<k>\"\n#define HALF(X) ((X) / 2)\n#undef HALF\n#pragma GCC ivdep\n#ifndef VECTORIZE_OVER\n#define GPUKERN\n#endif\n\
                   #if defined(__clang__) && !defined(__cplusplus)\n#endif\nint x;\n";
        assert!(takes_declarations(own));
    }

    #[test]
    fn declarations_are_those_of_the_headers() {
        let library = include_str!("prelude/library_cpu.h");
        let (headers, declarations) = library.split_once("#else\n").unwrap();
        let mut text = headers.replace("#if !defined PARLOOP_DECLARED || defined __FAST_MATH__", "#if 1");
        // They differ in the names of parameters and in spaces alone.
        for name in ["isfinite", "isinf", "isnan", "HUGE_VAL", "INFINITY", "NAN"] {
            text.push_str(&format!("#endif\n#undef {name}\n#if 1\n"));
        }
        text.push_str(&format!("#endif\n#if 1\n{declarations}"));
        let constants = include_str!("prelude/math_constants.h").replace("#ifndef M_PI", "#if 1");
        text.push_str(&constants);
        let options = ["-Werror".to_owned()];
        compiler_of(Language::C).unwrap().compile(&text, &options).unwrap_or_else(|error| panic!("{error}"));
    }

    #[test]
    fn what_is_not_declared_is_found_in_the_headers_all_the_same() {
        compiles("GPUKERN void k(double *x) { x[0] = strtod(\"1\", NULL) + (double)INT64_MAX + lrintf(2.0f); fprintf(stderr, \"\"); }")
            .unwrap();
        let message = compiles("GPUKERN void k(double *x) { x[0] = nowhere(1); }").unwrap_err();
        assert_eq!(message.matches("implicit declaration of function").count(), 1, "{message}");
        assert!(message.contains("nowhere"), "{message}");
    }

    #[test]
    fn declarations_are_the_first_that_a_compiler_is_given_and_headers_the_second() {
        use std::sync::Mutex;
        #[derive(Default)]
        struct Refusing(Mutex<Vec<Vec<String>>>);
        impl Compiler for Refusing {
            fn identity(&self) -> &str {
                "refusing"
            }
            fn without_headers(&self) -> &'static [&'static str] {
                &["-short"]
            }
            fn compile(&self, _source: &str, options: &[String]) -> std::result::Result<Vec<u8>, CompileError> {
                self.0.lock().unwrap().push(options.to_vec());
                Err(CompileError::Refused { compiler: "refusing".into(), log: String::new() })
            }
        }
        let tried = |text: &str| {
            let compiler = Refusing::default();
            compile_for(DeviceKind::Cpu, &compiler, &[Source::text(text)], &CompileOptions::default()).unwrap_err();
            compiler.0.into_inner().unwrap().iter().map(|options| options.contains(&format!("-D{DECLARED}"))).collect::<Vec<_>>()
        };
        assert_eq!(tried("GPUKERN void k(double *x) { x[0] = 1; }"), [true, false]);
        assert_eq!(tried("#include <math.h>\nGPUKERN void k(double *x) { x[0] = 1; }"), [true, false]);
        assert_eq!(tried("#include <time.h>\nGPUKERN void k(double *x) { x[0] = 1; }"), [false]);
    }
}
