//! Small functions that the writer provides: floor division, integer powers, atomics.

use parloop_device::DType;
use parloop_ir::syntax::AddressSpace;

use super::dialect::Dialect;
use crate::lower::tree::Routine;

/// What the text of a kernel needs before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Need {
    /// `PARLOOP_CHECK`.
    Check,
    /// `PARLOOP_TOUCH` and what belongs to it.
    ShadowAccess,
    /// Functions of complex numbers.
    Complex(DType),
    /// The function that reports an index which is out of bounds.
    Inside(DType),
    /// The function that reports a divisor of zero.
    Divisor(DType),
    /// That function for the type.
    Routine(Routine, DType),
    /// An atomic compare-and-swap.
    CompareAndSwap(DType, AddressSpace),
    /// An atomic addition.
    AtomicAdd(DType, AddressSpace),
}

pub(super) fn name(routine: Routine, dtype: DType) -> String {
    let routine = match routine {
        Routine::Min => "min",
        Routine::Max => "max",
        Routine::FloorDivide => "floor_div",
        Routine::Modulo => "mod",
        Routine::Power => "pow",
    };
    format!("pl_{routine}_{}", dtype.name())
}

/// The name of the function that reports an index which is out of bounds.
pub(super) fn inside_name(dtype: DType) -> String {
    format!("pl_inside_{}", dtype.name())
}

/// The function that reports an index which is out of bounds; it evaluates the index once. The comparison is that of numbers without a sign:
/// it is one instead of two, and where a compiler takes for granted that signed integers do not overflow, it may not take an index for
/// positive because of what it was computed from.
pub(super) fn inside(dialect: &dyn Dialect, dtype: DType) -> String {
    let (head, ty, name) = (dialect.routine(), dialect.scalar(dtype), inside_name(dtype));
    let unsigned = dialect.scalar(match dtype {
        DType::I8 => DType::U8,
        DType::I16 => DType::U16,
        DType::I32 => DType::U32,
        DType::I64 => DType::U64,
        other => other,
    });
    let is_inside = if dtype.is_integer() { format!("n > 0 && ({unsigned})i < ({unsigned})n") } else { "i >= 0 && i < n".to_owned() };
    format!("{head}int {name}({ty} i, {ty} n, int site)\n{{\n  (void)site;\n  return PARLOOP_CHECK({is_inside}, site, i, n);\n}}\n")
}

/// The name of the function that reports a divisor of zero.
pub(super) fn divisor_name(dtype: DType) -> String {
    format!("pl_divisor_{}", dtype.name())
}

/// The function that reports a divisor of zero: a limit of -2 stands for a division.
pub(super) fn divisor(dialect: &dyn Dialect, dtype: DType) -> String {
    let ty = dialect.scalar(dtype);
    let (head, name) = (dialect.routine(), divisor_name(dtype));
    format!("{head}{ty} {name}({ty} b, int site)\n{{\n  (void)site;\n  (void)PARLOOP_CHECK(b != 0, site, 0, -2);\n  return b;\n}}\n")
}

/// The name of an atomic function: memory is part of it, since OpenCL's pointers say where they point.
pub(super) fn atomic_name(what: &str, dtype: DType, space: AddressSpace) -> String {
    let space = if space == AddressSpace::Local { "_local" } else { "" };
    format!("pl_{what}_{}{space}", dtype.name())
}

pub(super) fn text(dialect: &dyn Dialect, routine: Routine, dtype: DType) -> String {
    let ty = dialect.scalar(dtype);
    let head = format!("{}{ty} {}({ty} a, {ty} b)", dialect.routine(), name(routine, dtype));
    let signed = dtype.integer_range().is_some_and(|(least, _)| least < 0);
    let body = match routine {
        Routine::Min => "return a < b ? a : b;".to_owned(),
        Routine::Max => "return a > b ? a : b;".to_owned(),
        Routine::FloorDivide if dtype.is_float() => format!("return {}(a / b);", dialect.real_function("floor", dtype)),
        // As in NumPy, an integer divided by zero is zero, and the least one divided by -1 is itself: a CPU would end the process.
        Routine::FloorDivide if signed => {
            let negated = format!("({ty})(0 - ({})a)", dialect.scalar(unsigned(dtype)));
            format!(
                "if (b == 0 || b == -1) return b == 0 ? 0 : {negated};\n  {ty} const q = a / b;\n  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;"
            )
        }
        Routine::FloorDivide => "return b == 0 ? 0 : a / b;".to_owned(),
        Routine::Modulo if dtype.is_float() => {
            format!(
                "{ty} const r = {}(a, b);\n  return r == 0 ? {}(r, b) : (r < 0) != (b < 0) ? r + b : r;",
                dialect.real_function("fmod", dtype),
                dialect.real_function("copysign", dtype)
            )
        }
        Routine::Modulo if signed => {
            format!("if (b == 0 || b == -1) return 0;\n  {ty} const r = a % b;\n  return r != 0 && (r < 0) != (b < 0) ? r + b : r;")
        }
        Routine::Modulo => "return b == 0 ? 0 : a % b;".to_owned(),
        Routine::Power => {
            let negative = if signed { "  if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;\n" } else { "" };
            format!("{ty} r = 1;\n{negative}  for (; b > 0; b /= 2) {{\n    if (b % 2) r *= a;\n    a *= a;\n  }}\n  return r;")
        }
    };
    if body.contains('\n') { format!("{head}\n{{\n  {body}\n}}\n") } else { format!("{head} {{ {body} }}\n") }
}

/// The type of the same width without a sign.
fn unsigned(dtype: DType) -> DType {
    match dtype {
        DType::I8 => DType::U8,
        DType::I16 => DType::U16,
        DType::I32 => DType::U32,
        DType::I64 => DType::U64,
        other => other,
    }
}

pub(super) fn compare_and_swap(dialect: &dyn Dialect, dtype: DType, space: AddressSpace) -> Option<String> {
    let (ty, place) = (dialect.scalar(dtype), pointer(dialect, space));
    let test = dialect.compare_and_swap(dtype, space)?;
    let name = atomic_name("swap", dtype, space);
    Some(format!("{}int {name}({place}{ty} *at, {ty} old, {ty} wanted) {{ return {test}; }}\n", dialect.routine()))
}

pub(super) fn atomic_add(dialect: &dyn Dialect, dtype: DType, space: AddressSpace) -> Option<String> {
    let (ty, place) = (dialect.scalar(dtype), pointer(dialect, space));
    let head = format!("{}void {}({place}{ty} *at, {ty} value)", dialect.routine(), atomic_name("add", dtype, space));
    if let Some(body) = dialect.atomic_add(dtype) {
        return Some(format!("{head} {{ {body} }}\n"));
    }
    dialect.compare_and_swap(dtype, space)?;
    let swap = atomic_name("swap", dtype, space);
    Some(format!("{head}\n{{\n  {ty} old;\n  do old = *at;\n  while (!{swap}(at, old, old + value));\n}}\n"))
}

fn pointer(dialect: &dyn Dialect, space: AddressSpace) -> String {
    // C's builtins want plain pointers.
    let space = dialect.space(space);
    if space.starts_with("__") { format!("volatile {space}") } else { space.to_owned() }
}
