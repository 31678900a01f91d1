//! Built-in functions of the targets: one table of names, and the name of each for each type and target.

use std::any::Any;
use std::sync::Arc;

use parloop_device::DType;
use parloop_isl::Name;

use super::complex;
use super::words::{function_words, native_type};
use crate::callable::{ArgDescriptors, ArgId, ArgTypes, CallSite, Callable, CallableError, Emitted, Inference, TypeName};
use crate::promote::{as_float, promote, real_of};
use crate::syntax::{BinaryOp, Preamble, Target, Type};

/// How a call to a built-in function is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// A call of that name in the target.
    Call,
    /// A call to a small function in the preamble.
    Helper,
    /// The argument itself.
    Itself,
    /// Nothing.
    Zero,
    /// One divided by a call of that name in the target.
    OneBy,
}

/// A function for particular types.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Version {
    form: Form,
    in_target: String,
    /// What all arguments are converted to.
    takes: DType,
    gives: DType,
}

/// A built-in function of the target, such as `sin`.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetFunction {
    name: Name,
    name_in_target: Option<Name>,
    types: Option<ArgTypes>,
    descriptors: Option<ArgDescriptors>,
    form: Form,
}

/// Functions of one number: `(name, whether it has a complex version, targets on which the name has no suffix)`.
const UNARY: &[(&str, bool)] = &[
    ("sin", true),
    ("cos", true),
    ("tan", true),
    ("asin", false),
    ("acos", false),
    ("atan", false),
    ("sinh", true),
    ("cosh", true),
    ("tanh", true),
    ("asinh", false),
    ("acosh", false),
    ("atanh", false),
    ("exp", true),
    ("exp2", false),
    ("expm1", false),
    ("log", true),
    ("log2", false),
    ("log10", false),
    ("log1p", false),
    ("sqrt", true),
    ("cbrt", false),
    ("rsqrt", false),
    ("ceil", false),
    ("floor", false),
    ("round", false),
    ("trunc", false),
    ("erf", false),
    ("erfc", false),
    ("tgamma", false),
    ("lgamma", false),
    ("fabs", false),
];
const BINARY: &[&str] = &["pow", "atan2", "copysign", "fmin", "fmax", "fmod", "hypot"];
const TERNARY: &[&str] = &["fma"];
/// Functions whose form depends on the kind of their arguments, with their number of arguments.
const SPECIAL: &[(&str, usize)] = &[
    ("abs", 1),
    ("real", 1),
    ("imag", 1),
    ("conj", 1),
    ("isnan", 1),
    ("min", 2),
    ("max", 2),
    ("clamp", 3),
    ("bessel_jn", 2),
    ("bessel_yn", 2),
];
/// What ISPC's standard library has.
const ISPC: &[&str] = &[
    "sin", "cos", "tan", "asin", "acos", "atan", "exp", "log", "sqrt", "rsqrt", "ceil", "floor", "round", "trunc", "fabs", "pow", "atan2",
    "fmin", "fmax", "abs", "isnan", "min", "max", "clamp", "real", "imag", "conj",
];

fn arity(name: &str) -> Option<usize> {
    if UNARY.iter().any(|(known, _)| *known == name) {
        Some(1)
    } else if BINARY.contains(&name) {
        Some(2)
    } else if TERNARY.contains(&name) {
        Some(3)
    } else {
        SPECIAL.iter().find(|(known, _)| *known == name).map(|(_, arity)| *arity)
    }
}

/// All names that some target has.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let unary = UNARY.iter().map(|(name, _)| *name);
    unary.chain(BINARY.iter().copied()).chain(TERNARY.iter().copied()).chain(SPECIAL.iter().map(|(name, _)| *name))
}

/// Whether the target has a function of that name; `None`: whether any has.
pub fn target_knows(target: Option<Target>, name: &str) -> bool {
    arity(name).is_some()
        && match target {
            None | Some(Target::C) => true,
            Some(Target::Ispc) => ISPC.contains(&name),
            Some(_) => !name.starts_with("bessel_"),
        }
}

impl TargetFunction {
    /// The function of that name, if the target has one; `None`: if any has.
    ///
    /// ```
    /// use parloop_loop::callable::{Callable, TargetFunction};
    /// use parloop_loop::syntax::Target;
    /// assert_eq!(TargetFunction::find(Some(Target::C), "sin").unwrap().name(), "sin");
    /// assert!(TargetFunction::find(Some(Target::Ispc), "erf").is_none());
    /// ```
    pub fn find(target: Option<Target>, name: &str) -> Option<TargetFunction> {
        target_knows(target, name).then(|| TargetFunction {
            name: name.into(),
            name_in_target: None,
            types: None,
            descriptors: None,
            form: Form::Call,
        })
    }

    fn arity(&self) -> usize {
        arity(&self.name).unwrap_or(0)
    }

    fn wrong_count(&self, found: usize) -> CallableError {
        CallableError::ArgumentCount { function: self.name.clone(), takes: self.arity().to_string(), found }
    }

    /// The types of all arguments in order, or `None` while one is unknown.
    fn argument_types<'a>(&self, types: &'a ArgTypes) -> Result<Option<Vec<&'a Type>>, CallableError> {
        for id in types.keys() {
            match id {
                ArgId::Position(place) if *place >= self.arity() as i32 => return Err(self.wrong_count(*place as usize + 1)),
                ArgId::Position(_) => {}
                ArgId::Keyword(name) => {
                    let reason = format!("it takes no keyword arguments, but `{name}` is given");
                    return Err(CallableError::Misfit { function: self.name.clone(), reason });
                }
            }
        }
        Ok((0..self.arity()).map(|place| types.get(&ArgId::argument(place))).collect())
    }

    /// The type of the first argument, or of its lanes.
    fn takes(&self) -> Option<DType> {
        match self.types.as_ref()?.get(&ArgId::argument(0))? {
            Type::Scalar(dtype) | Type::Vector(dtype, _) => Some(*dtype),
            _ => None,
        }
    }

    fn no_version(&self, types: &[&Type], target: Target) -> CallableError {
        let types: Vec<String> = types.iter().map(|ty| TypeName((*ty).clone()).to_string()).collect();
        CallableError::NoVersion { function: self.name.clone(), types: types.join(", "), target }
    }
}

/// The version of a function for those types; lanes of vectors as numbers.
fn version(name: &str, target: Target, args: &[DType]) -> Option<Version> {
    let common = args.iter().copied().reduce(promote)?;
    let call = |takes: DType, gives: DType, in_target: String| Some(Version { form: Form::Call, in_target, takes, gives });
    match name {
        "abs" if common.is_complex() => complex_version(name, target, common),
        "abs" if common.is_float() => real_version("fabs", target, common),
        "abs" if common.integer_range().is_some_and(|(smallest, _)| smallest < 0) => {
            Some(Version { form: Form::Helper, in_target: format!("pl_abs_{common}"), takes: common, gives: common })
        }
        "abs" => Some(Version { form: Form::Itself, in_target: name.into(), takes: common, gives: common }),
        "real" | "imag" | "conj" if common.is_complex() => complex_version(name, target, common),
        "imag" => Some(Version { form: Form::Zero, in_target: name.into(), takes: common, gives: common }),
        "real" | "conj" => Some(Version { form: Form::Itself, in_target: name.into(), takes: common, gives: common }),
        "isnan" if common.is_float() => call(common, DType::I32, "isnan".into()),
        "isnan" if !common.is_complex() => Some(Version { form: Form::Zero, in_target: name.into(), takes: common, gives: DType::I32 }),
        "min" | "max" if common.is_float() => real_version(if name == "min" { "fmin" } else { "fmax" }, target, common),
        "min" | "max" | "clamp" if common.is_integer() || (name == "clamp" && common.is_float()) => {
            let own = !matches!(target, Target::C) && name != "clamp" || target == Target::OpenCl || target == Target::Ispc;
            let (form, in_target) = if own { (Form::Call, name.to_owned()) } else { (Form::Helper, format!("pl_{name}_{common}")) };
            Some(Version { form, in_target, takes: common, gives: common })
        }
        "bessel_jn" | "bessel_yn" => {
            let takes = *args.get(1).filter(|dtype| dtype.is_float() && args[0].is_integer())?;
            call(takes, takes, format!("{}{}", &name[7..], if takes == DType::F32 { "f" } else { "" }))
        }
        "isnan" | "min" | "max" | "clamp" => None,
        _ if common.is_complex() => complex_version(name, target, common),
        _ => real_version(name, target, as_float(common)),
    }
}

/// The name of a function of floats on a target.
fn real_version(name: &str, target: Target, dtype: DType) -> Option<Version> {
    let (form, base) = match (name, target) {
        ("rsqrt", Target::C) => (Form::OneBy, "sqrt"),
        ("fabs", Target::Ispc) => (Form::Call, "abs"),
        ("fmin", Target::Ispc) => (Form::Call, "min"),
        ("fmax", Target::Ispc) => (Form::Call, "max"),
        _ => (Form::Call, name),
    };
    let suffix = match target {
        Target::C | Target::Cuda | Target::Hip if dtype == DType::F32 => "f",
        _ => "",
    };
    Some(Version { form, in_target: format!("{base}{suffix}"), takes: dtype, gives: dtype })
}

/// The name of a function of complex numbers on a target: from the C library, else our own in the preamble.
fn complex_version(name: &str, target: Target, dtype: DType) -> Option<Version> {
    let known = matches!(name, "abs" | "real" | "imag" | "conj" | "pow") || UNARY.iter().any(|(unary, complex)| *unary == name && *complex);
    if !known {
        return None;
    }
    let gives = if matches!(name, "abs" | "real" | "imag") { real_of(dtype) } else { dtype };
    let suffix = if dtype == DType::C64 { "f" } else { "" };
    match target {
        Target::C => {
            let prefix = if name == "conj" { "" } else { "c" };
            Some(Version { form: Form::Call, in_target: format!("{prefix}{name}{suffix}"), takes: dtype, gives })
        }
        Target::Ispc => None,
        _ => Some(Version { form: Form::Helper, in_target: complex::helper_name(name, dtype), takes: dtype, gives }),
    }
}

// SAFETY: a table of scalar functions that the targets have.
unsafe impl Callable for TargetFunction {
    fn name(&self) -> &Name {
        &self.name
    }

    fn name_in_target(&self) -> Option<&Name> {
        self.name_in_target.as_ref()
    }

    fn types(&self) -> Option<&ArgTypes> {
        self.types.as_ref()
    }

    fn descriptors(&self) -> Option<&ArgDescriptors> {
        self.descriptors.as_ref()
    }

    fn with_types(&self, types: &ArgTypes, inference: &mut dyn Inference) -> Result<Arc<dyn Callable>, CallableError> {
        let target = inference.target();
        if !target_knows(Some(target), &self.name) {
            return Err(CallableError::NotOnTarget { function: self.name.clone(), target });
        }
        let Some(args) = self.argument_types(types)? else {
            return Ok(Arc::new(TargetFunction { types: Some(types.clone()), name_in_target: None, ..self.clone() }));
        };
        let lanes = args.iter().find_map(|ty| if let Type::Vector(_, lanes) = ty { Some(*lanes) } else { None });
        let dtypes: Option<Vec<DType>> = (args.iter())
            .map(|ty| match ty {
                Type::Scalar(dtype) => Some(*dtype),
                // The same function for each lane.
                Type::Vector(dtype, count) if lanes == Some(*count) => Some(*dtype),
                _ => None,
            })
            .collect();
        let found = dtypes.and_then(|dtypes| version(&self.name, target, &dtypes));
        let found = found.filter(|version| lanes.is_none() || !version.gives.is_complex());
        let version = found.ok_or_else(|| self.no_version(&args, target))?;
        let ty = |dtype: DType| lanes.map_or(Type::Scalar(dtype), |lanes| Type::Vector(dtype, lanes));
        let mut types: ArgTypes = (0..args.len()).map(|place| (ArgId::argument(place), ty(version.takes))).collect();
        if self.name.starts_with("bessel_") {
            types.insert(ArgId::argument(0), Type::Scalar(DType::I32));
        }
        types.insert(ArgId::result(0), ty(version.gives));
        let name_in_target = Some(version.in_target.into());
        Ok(Arc::new(TargetFunction { types: Some(types), name_in_target, form: version.form, ..self.clone() }))
    }

    fn with_descriptors(
        &self,
        descriptors: &ArgDescriptors,
        site: &CallSite<'_>,
        _inference: &mut dyn Inference,
    ) -> Result<Arc<dyn Callable>, CallableError> {
        if site.args.len() != self.arity() {
            return Err(self.wrong_count(site.args.len()));
        }
        super::scalar::only_values(&self.name, descriptors)?;
        Ok(Arc::new(TargetFunction { descriptors: Some(descriptors.clone()), ..self.clone() }))
    }

    fn emit_call(&self, site: &CallSite<'_>) -> Result<Emitted, CallableError> {
        let call = || crate::callable::plain_call(&self.name, self.name_in_target.as_ref(), site);
        let takes = self.takes();
        Ok(match self.form {
            Form::Call | Form::Helper => call()?,
            Form::Itself => Emitted::argument(0),
            Form::Zero => Emitted::Text("0".into()),
            Form::OneBy => {
                let one = if takes == Some(DType::F32) { "1.0f" } else { "1.0" };
                Emitted::Operator(BinaryOp::Divide, Box::new([Emitted::Text(one.into()), call()?]))
            }
        })
    }

    fn emit_call_insn(&self, site: &CallSite<'_>) -> Result<(Emitted, bool), CallableError> {
        if site.results.len() != 1 {
            return Err(CallableError::ResultCount { function: self.name.clone(), gives: "1".into(), found: site.results.len() });
        }
        Ok((self.emit_call(site)?, true))
    }

    fn preambles(&self, target: Target) -> Result<Vec<Preamble>, CallableError> {
        let takes = self.takes();
        let mut found = Vec::new();
        if target == Target::C && matches!(self.form, Form::Call | Form::OneBy) {
            // SAFETY: a C header.
            found.push(unsafe { Preamble::new("50_math", "#include <math.h>") });
            if takes.is_some_and(DType::is_complex) {
                // The macro `I` would shadow that name in kernels. SAFETY: a C header.
                found.push(unsafe { Preamble::new("50_complex", "#include <complex.h>\n#undef I") });
            }
        }
        if let (Form::Helper, Some(in_target), Some(dtype)) = (self.form, &self.name_in_target, takes) {
            let text = if dtype.is_complex() {
                complex::helper(&self.name, dtype, target)
            } else {
                number_helper(&self.name, in_target, dtype, target)
            };
            // SAFETY: the text defines that function, which uses no memory.
            found.push(unsafe { Preamble::new(format!("60_{in_target}"), text) });
        }
        Ok(found)
    }

    fn is_lanewise(&self) -> bool {
        true
    }

    fn is_builtin(&self) -> bool {
        true
    }

    fn is_same(&self, other: &dyn Callable) -> bool {
        other.as_any().downcast_ref::<TargetFunction>() == Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The text of `abs`, `min`, `max` and `clamp` of numbers.
fn number_helper(name: &str, in_target: &str, dtype: DType, target: Target) -> String {
    let (words, ty) = (function_words(target), native_type(dtype, target));
    match name {
        "abs" => format!("{words} {ty} {in_target}({ty} a) {{ return a < 0 ? -a : a; }}"),
        "min" => format!("{words} {ty} {in_target}({ty} a, {ty} b) {{ return b < a ? b : a; }}"),
        "max" => format!("{words} {ty} {in_target}({ty} a, {ty} b) {{ return a < b ? b : a; }}"),
        _ => format!("{words} {ty} {in_target}({ty} a, {ty} low, {ty} high) {{ return a < low ? low : high < a ? high : a; }}"),
    }
}
