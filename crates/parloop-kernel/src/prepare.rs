//! From sources to the full text that a target's compiler is given, and to its binary.

use std::collections::HashSet;
use std::path::Path;

use parloop_device::cpu::WATCH_DIVISIONS;
use parloop_device::{CompileError, Compiler, DType, DeviceKind, Language, ModuleBinary};

use crate::cache::{Cache, Key, Origin};
use crate::description::KernelDescription;
use crate::error::{KernelError, Result};
use crate::files::Files;
use crate::options::CompileOptions;
use crate::parse::{Dialect, parse};
use crate::prelude::prelude;
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
        [before, &parsed.text, after].into_iter().for_each(|text| source.push_str(text));
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
        Ok(Prepared { functions, helpers, is_recorded, source, arguments, reads_files })
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
        let made = cache.get_or_make(key, || compiler.compile(&self.source, &self.arguments));
        let (bytes, origin) = made.map_err(|error| self.explain(error, options))?;
        Ok((ModuleBinary { bytes: bytes.to_vec() }, origin))
    }

    pub(crate) fn build_fresh(&self, compiler: &dyn Compiler, options: &CompileOptions) -> Result<ModuleBinary> {
        let bytes = compiler.compile(&self.source, &self.arguments).map_err(|error| self.explain(error, options))?;
        Ok(ModuleBinary { bytes })
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
