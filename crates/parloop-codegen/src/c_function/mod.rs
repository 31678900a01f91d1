//! A user's function in C or C++: its signature gives the parameters, and its source precedes the code.

mod adapter;
mod pairs;

use std::any::Any;
use std::path::PathBuf;
use std::sync::Arc;

use parloop_ir::callable::{
    ArgDescriptor, ArgDescriptors, ArgId, ArgTypes, CallSite, Callable, CallableError, Emitted, Inference, TypeName, check_in_place,
};
use parloop_ir::syntax::{Preamble, Target, Type};
use parloop_isl::Name;
use parloop_kernel::{DeviceKind, KernelError, LaneParam, Language, ParamType, PlainC, Pointee, Signature, Source, signatures_in};

use adapter::{Adapter, CallDialect, Passed};

/// What a C function does with a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads it: an argument of the call.
    Read,
    /// Writes it: a result of the call.
    Write,
    /// Both: an argument of the call and a result, updated in place.
    ReadWrite,
}

/// A C function. A call passes the parameters that are read, in order, and gets the return value, then the parameters that are written, in
/// order.
///
/// ```
/// use parloop_loop::callable::{Access, CFunction, Callable};
/// let source = "void area(const double *x, double *out) { out[0] = x[0] * x[1]; }";
/// // SAFETY: all calls pass two numbers in `x` and take one.
/// let area = unsafe { CFunction::parse(source, "area")? };
/// assert_eq!(area.name(), "area");
/// assert_eq!(area.access(), [Access::Read, Access::ReadWrite]);
/// let area = area.with_access([Access::Read, Access::Write]);
/// # Ok::<(), parloop_kernel::KernelError>(())
/// ```
///
/// An array is passed to a `double *` as it is in memory, to a `double **` as pointers to its rows along the first axis, and to a
/// `double (*)[2]` as rows, whose lengths must match. On OpenCL, pointers refer to private memory: temporaries can be passed, arrays in
/// global memory and tables of constants at file scope cannot.
#[derive(Clone, Debug, PartialEq)]
pub struct CFunction {
    name: Name,
    in_target: Name,
    signature: Signature,
    access: Vec<Access>,
    source: Option<Arc<PlainC>>,
    language: Language,
    preambles: Vec<Preamble>,
    types: Option<ArgTypes>,
    descriptors: Option<ArgDescriptors>,
}

/// How the source of a function is parsed and compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SourceOptions {
    /// Its language.
    pub language: Language,
    /// Lines such as `#include "mine.h"` that precede it.
    pub headers: Vec<String>,
    /// Folders to search for headers.
    pub folders: Vec<PathBuf>,
    /// Additional flags for the CPU compiler; what they define is not defined on other targets.
    pub arguments: Vec<String>,
}

/// C compilers treat these as errors from here on.
const KEEP_CONST: &str = "\
#if defined(__clang__) && !defined(__cplusplus)
#pragma clang diagnostic error \"-Wincompatible-pointer-types-discards-qualifiers\"
#elif defined(__GNUC__) && !defined(__cplusplus)
#pragma GCC diagnostic error \"-Wdiscarded-qualifiers\"
#endif
";

/// The signature is read without the preprocessor. If the actual function differs, its call is an error from here on.
const CHECK_CALLS: &str = "\
#if defined(__clang__) && !defined(__cplusplus)
#pragma clang diagnostic error \"-Wincompatible-pointer-types\"
#pragma clang diagnostic error \"-Wint-conversion\"
#pragma clang diagnostic warning \"-Wincompatible-pointer-types-discards-qualifiers\"
#elif defined(__GNUC__) && !defined(__cplusplus)
#pragma GCC diagnostic error \"-Wincompatible-pointer-types\"
#pragma GCC diagnostic error \"-Wint-conversion\"
#endif
";

impl CFunction {
    /// A function with that signature, which a preamble or another library provides. Pointers that are not `const` are read and written.
    ///
    /// # Safety
    /// The function exists in the target's code, with its preamble, and has that signature. In every call it accesses only what its
    /// arguments point to and its own memory, as its signature and [`access`](Self::with_access) declare, and returns.
    pub unsafe fn new(signature: Signature) -> CFunction {
        let access = signature.params.iter().map(|param| if param.ty.is_written() { Access::ReadWrite } else { Access::Read }).collect();
        let name: Name = signature.name.as_str().into();
        CFunction {
            in_target: name.clone(),
            name,
            signature,
            access,
            source: None,
            language: Language::C,
            preambles: Vec::new(),
            types: None,
            descriptors: None,
        }
    }

    /// The function of that name in a plain C source, which is placed before the code. The source may have other functions, macros and
    /// constants; it needs no target-specific keywords.
    ///
    /// # Errors
    /// If the source is invalid, or has no function of that name.
    ///
    /// # Safety
    /// In every call the function accesses only what its arguments point to and its own memory, as its signature and
    /// [`access`](Self::with_access) declare, and returns. It has no undefined behaviour in C.
    pub unsafe fn parse(source: &str, name: &str) -> Result<CFunction, KernelError> {
        // SAFETY: the caller guarantees it.
        unsafe { CFunction::parse_with(source, name, &SourceOptions::default()) }
    }

    /// The function of that name in a source with headers, or in C++.
    ///
    /// # Errors
    /// If the source is invalid, a header cannot be read, or there is no function of that name.
    ///
    /// # Safety
    /// As [`parse`](Self::parse), with the headers.
    pub unsafe fn parse_with(source: &str, name: &str, options: &SourceOptions) -> Result<CFunction, KernelError> {
        let SourceOptions { language, headers, folders, arguments } = options;
        // One key for all functions of a source, so that it is included once.
        let found = signatures_in(*language, &[Source::text(source)], DeviceKind::Cpu, &[])?;
        let first = found.first().map_or(name, |signature| signature.name.as_str());
        let mut sources = vec![Source::named(format!("<{first}>"), source)];
        if !headers.is_empty() {
            sources.insert(0, Source::named("<headers>", headers.join("\n")));
        }
        let functions = PlainC::read(&sources, folders, arguments, *language)?;
        let signature = functions.signature(name)?.clone();
        let in_target = functions.name_in_text(name).as_str().into();
        // SAFETY: what is promised here, of a function that the source has.
        let function = unsafe { CFunction::new(signature) };
        Ok(CFunction { source: Some(Arc::new(functions)), language: *language, in_target, ..function })
    }

    /// Sets the access of each parameter. Only pointers can be written; others are unaffected.
    pub fn with_access(mut self, access: impl IntoIterator<Item = Access>) -> CFunction {
        for ((own, given), param) in self.access.iter_mut().zip(access).zip(&self.signature.params) {
            if matches!(param.ty, ParamType::Pointer { .. }) {
                *own = given;
            }
        }
        self
    }

    /// The function that does for `lanes` sets of arguments at once what this one does for one, on a CPU: see [`PlainC::in_lanes`]. Code of
    /// both can be in one program.
    ///
    /// # Errors
    /// Why there is none.
    pub fn in_lanes(&self, lanes: usize, params: &[LaneParam]) -> Result<CFunction, &'static str> {
        let source = self.source.as_ref().filter(|_| self.language == Language::C).ok_or("only functions in C run in vectors")?;
        let (in_target, text) = source.in_lanes(&self.name, lanes, params)?;
        // SAFETY: the text is that of this function for vectors, which does nothing else.
        let text = unsafe { Preamble::new(format!("71_b_{in_target}"), text) };
        let signature = self.signature.renamed(&in_target);
        let in_lanes = CFunction { name: in_target.as_str().into(), in_target: in_target.as_str().into(), signature, ..self.clone() };
        Ok(in_lanes.preamble(text))
    }

    /// Makes it an error to pass a pointer to `const` as one to non-`const`, as in C++. C itself only warns, which is not enough if other
    /// code relies on the memory.
    pub fn keeping_const(self) -> CFunction {
        // SAFETY: it changes what compilers warn of.
        self.preamble(unsafe { Preamble::new("60_pl_keep_const", KEEP_CONST) })
    }

    /// Adds a preamble to code that calls it.
    pub fn preamble(mut self, preamble: Preamble) -> CFunction {
        self.preambles.push(preamble);
        self
    }

    /// What it does with each parameter.
    pub fn access(&self) -> &[Access] {
        &self.access
    }

    /// Its signature.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// The ids of each parameter in a call: as an argument, as a result.
    fn ids(&self) -> Vec<(Option<ArgId>, Option<ArgId>)> {
        let (mut args, mut results) = (0, usize::from(self.signature.returns.is_some()));
        let mut ids = Vec::with_capacity(self.access.len());
        for access in &self.access {
            let argument = (*access != Access::Write).then(|| {
                args += 1;
                ArgId::argument(args - 1)
            });
            let result = (*access != Access::Read).then(|| {
                results += 1;
                ArgId::result(results - 1)
            });
            ids.push((argument, result));
        }
        ids
    }

    fn check_counts(&self, args: usize, results: usize) -> Result<(), CallableError> {
        let ids = self.ids();
        let takes = ids.iter().filter(|(argument, _)| argument.is_some()).count();
        let gives = ids.iter().filter(|(_, result)| result.is_some()).count() + usize::from(self.signature.returns.is_some());
        let function = self.name.clone();
        if takes != args {
            return Err(CallableError::ArgumentCount { function, takes: format!("{takes} ({})", self.signature), found: args });
        }
        // The return value may be ignored.
        if gives != results && !(results == 0 && gives == 1 && self.signature.returns.is_some()) {
            return Err(CallableError::ResultCount { function, gives: format!("{gives} ({})", self.signature), found: results });
        }
        Ok(())
    }

    /// The parameters as a call writes them.
    fn parameters(&self, site: &CallSite<'_>) -> Vec<Emitted> {
        let ids = self.ids().into_iter().filter_map(|(argument, result)| argument.or(result));
        let is_number = |id: &ArgId| matches!(id, ArgId::Position(place) if *place < 0) && !site.is_part(id);
        ids.map(|id| if is_number(&id) { Emitted::Address(id) } else { Emitted::Arg(id) }).collect()
    }

    /// The adapter between a call and this function, if the arguments cannot be passed directly.
    fn adapter(&self, target: Target) -> Result<Option<Adapter<'_>>, CallableError> {
        let Some(descriptors) = &self.descriptors else { return Ok(None) };
        let ids = self.ids().into_iter().filter_map(|(argument, result)| argument.or(result));
        let dialect = CallDialect { target, language: self.language };
        let passed = ids.zip(&self.signature.params).map(|(id, param)| {
            let descriptor = descriptors.get(&id);
            Passed::of(&self.name, id, param, descriptor, dialect)
        });
        Ok(Adapter::of(&self.in_target, &self.signature, passed.collect::<Result<_, _>>()?, dialect))
    }

    /// What a call is written as.
    fn call(&self, site: &CallSite<'_>) -> Result<Emitted, CallableError> {
        let name = self.adapter(site.target)?.map_or_else(|| self.in_target.clone(), |adapter| adapter.name());
        Ok(Emitted::Call(name, self.parameters(site)))
    }
}

/// The type of a parameter, or of what it points to, if the signature gives it.
fn type_of(param: &ParamType) -> Option<Type> {
    match param {
        ParamType::Scalar(dtype) => Some(Type::Scalar(*dtype)),
        ParamType::Pointer { to: Pointee::Scalar(dtype) | Pointee::Pointers(dtype) | Pointee::Rows(dtype, _), .. } => {
            Some(Type::Scalar(*dtype))
        }
        ParamType::Pointer { to: Pointee::Char, .. } => Some(Type::Scalar(parloop_device::DType::I8)),
        ParamType::Pointer { .. } => None,
    }
}

/// The variant of plain C code for the target.
fn kind_of(target: Target) -> DeviceKind {
    match target {
        Target::C | Target::Ispc => DeviceKind::Cpu,
        Target::OpenCl => DeviceKind::OpenCl,
        Target::Cuda => DeviceKind::Cuda,
        Target::Hip => DeviceKind::Hip,
    }
}

// SAFETY: whoever made it vouched for what it does.
unsafe impl Callable for CFunction {
    fn name(&self) -> &Name {
        &self.name
    }

    fn name_in_target(&self) -> Option<&Name> {
        Some(&self.in_target)
    }

    fn types(&self) -> Option<&ArgTypes> {
        self.types.as_ref()
    }

    fn descriptors(&self) -> Option<&ArgDescriptors> {
        self.descriptors.as_ref()
    }

    fn with_types(&self, given: &ArgTypes, _inference: &mut dyn Inference) -> Result<Arc<dyn Callable>, CallableError> {
        let mut types = ArgTypes::new();
        if let Some(ty) = self.signature.returns.as_ref().and_then(type_of) {
            types.insert(ArgId::result(0), ty);
        }
        for ((argument, result), param) in self.ids().into_iter().zip(&self.signature.params) {
            for id in argument.into_iter().chain(result) {
                let here = given.get(&id);
                let there = type_of(&param.ty);
                match (&there, here, &param.ty) {
                    (Some(expected), Some(found), ParamType::Pointer { .. }) if expected != found => {
                        return Err(CallableError::ArrayType {
                            function: self.name.clone(),
                            id,
                            parameter: param.name.as_str().into(),
                            expected: TypeName(expected.clone()),
                            found: TypeName(found.clone()),
                        });
                    }
                    _ => {}
                }
                if let Some(ty) = there.or_else(|| here.cloned()) {
                    types.insert(id, ty);
                }
            }
        }
        Ok(Arc::new(CFunction { types: Some(types), ..self.clone() }))
    }

    fn with_descriptors(
        &self,
        descriptors: &ArgDescriptors,
        site: &CallSite<'_>,
        _inference: &mut dyn Inference,
    ) -> Result<Arc<dyn Callable>, CallableError> {
        self.check_counts(site.args.len(), site.results.len())?;
        for ((argument, result), param) in self.ids().into_iter().zip(&self.signature.params) {
            let Some(id) = argument else { continue };
            if let Some(result) = &result {
                check_in_place(&self.name, &param.name, site, [&id, result])?;
            }
            let (expected, found) = match (&param.ty, descriptors.get(&id)) {
                (ParamType::Scalar(_), Some(ArgDescriptor::Array { .. })) => ("a number", "an array"),
                (
                    ParamType::Pointer { to: Pointee::Scalar(_) | Pointee::Pointers(_) | Pointee::Rows(..), .. },
                    Some(ArgDescriptor::Value),
                ) => ("an array", "a number"),
                _ => continue,
            };
            return Err(CallableError::Kind { function: self.name.clone(), id, parameter: param.name.as_str().into(), expected, found });
        }
        let described = CFunction { descriptors: Some(descriptors.clone()), ..self.clone() };
        described.adapter(site.target)?;
        Ok(Arc::new(described))
    }

    fn emit_call(&self, site: &CallSite<'_>) -> Result<Emitted, CallableError> {
        self.check_counts(site.args.len(), 1)?;
        self.call(site)
    }

    fn emit_call_insn(&self, site: &CallSite<'_>) -> Result<(Emitted, bool), CallableError> {
        self.check_counts(site.args.len(), site.results.len())?;
        let returned = self.signature.returns.is_some() && !site.results.is_empty();
        Ok((self.call(site)?, returned))
    }

    fn preambles(&self, target: Target) -> Result<Vec<Preamble>, CallableError> {
        if self.language == Language::Cpp && matches!(target, Target::OpenCl | Target::Ispc) {
            return Err(CallableError::Language { function: self.name.clone(), language: self.language, target });
        }
        let mut preambles = self.preambles.clone();
        if let Some(source) = &self.source {
            let first = source.signatures().first().map_or("", |signature| signature.name.as_str());
            // SAFETY: whoever gave the source vouched for it.
            preambles.push(unsafe { Preamble::new(format!("70_{first}"), source.text(kind_of(target))) });
            // SAFETY: it changes what compilers warn of, behind all sources and in front of adapters.
            preambles.push(unsafe { Preamble::new("71_a_pl_check_calls", CHECK_CALLS) });
        }
        if let Some(adapter) = self.adapter(target)? {
            preambles.extend(adapter.preambles());
        }
        Ok(preambles)
    }

    fn language(&self) -> Language {
        self.language
    }

    fn is_same(&self, other: &dyn Callable) -> bool {
        other.as_any().downcast_ref::<CFunction>() == Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
