//! What differs between the languages of the targets.

use parloop_device::DType;
use parloop_ir::functions::vector_type;
use parloop_ir::syntax::{AddressSpace, MemoryKind, Target, Type};

use crate::lower::record::record_type;
use crate::lower::tree::{Axis, FunctionKind, Param};

/// The parts of a target's language that differ.
pub(super) trait Dialect {
    /// The name of a type of numbers, as a variable or in memory.
    fn scalar(&self, dtype: DType) -> &'static str;

    /// The target that it is the language of.
    fn target(&self) -> Target;

    /// The text before a pointer's or variable's type for its memory, with a space behind it.
    fn space(&self, space: AddressSpace) -> &'static str;

    /// The text before a declared variable for its memory, with a space behind it.
    fn storage(&self, space: AddressSpace) -> &'static str {
        self.space(space)
    }

    /// The text before a table of constants at file scope.
    fn table(&self) -> &'static str;

    /// The text before the name of a function: its qualifiers, `void`.
    fn head(&self, kind: &FunctionKind, shared: bool) -> String;

    /// The text before the result type of a small function of the writer's.
    fn routine(&self) -> &'static str;

    /// The keyword for pointers that do not alias.
    fn restrict(&self) -> &'static str {
        "__restrict__"
    }

    /// The index of a work item or group.
    fn axis(&self, axis: Axis) -> String;

    /// A barrier of the group, as a statement.
    fn barrier(&self, memory: MemoryKind) -> &'static str;

    /// The suffix of an integer literal.
    fn integer_suffix(&self, dtype: DType) -> &'static str;

    /// Infinity (negative if `negative`) or NaN.
    fn special(&self, value: f64, dtype: DType) -> String;

    /// The name of a function of real numbers: `fmod`, `fmodf`.
    fn real_function(&self, name: &str, dtype: DType) -> String {
        if dtype == DType::F32 { format!("{name}f") } else { name.to_owned() }
    }

    /// Whether complex numbers are numbers of the language.
    fn has_complex(&self) -> bool {
        false
    }

    /// Whether `min` and `max` take integers.
    fn has_integer_min(&self) -> bool {
        false
    }

    /// The pragma to unroll the next loop.
    fn unroll(&self) -> Option<&'static str> {
        Some("#pragma unroll")
    }

    /// The pragma that declares the iterations of the next loop independent.
    fn independent(&self) -> Option<&'static str> {
        None
    }

    /// Whether `__builtin_assume_aligned` tells the compiler how a pointer is aligned.
    fn takes_alignment(&self) -> bool {
        false
    }

    /// One parameter of a function.
    fn param(&self, param: &Param) -> String {
        let ty = self.type_name(&param.ty);
        let constant = if param.constant { " const" } else { "" };
        match param.pointer {
            None => format!("{ty}{constant} {}", param.name),
            Some(space) => {
                let restrict = if param.restrict { self.restrict() } else { "" };
                let gap = if restrict.is_empty() { "" } else { " " };
                format!("{}{ty}{constant} *{restrict}{gap}{}", self.space(space), param.name)
            }
        }
    }

    /// The name of a type.
    fn type_name(&self, ty: &Type) -> String {
        match ty {
            Type::Scalar(dtype) => self.scalar(*dtype).to_owned(),
            Type::Vector(dtype, lanes) => vector_type(*dtype, *lanes, self.target()),
            Type::Record(record) => record_type(record.name()),
            Type::Class(class) => class.name().to_string(),
            Type::Opaque(opaque) => opaque.name().to_string(),
        }
    }

    /// The body of an atomic `add` of `value` to `*at`, or `None` if it needs a compare-and-swap loop.
    fn atomic_add(&self, dtype: DType) -> Option<String>;

    /// An atomic compare-and-swap expression: whether `*at` was `old` and is set to `wanted`. `None` if the target has none for the type.
    fn compare_and_swap(&self, dtype: DType, space: AddressSpace) -> Option<String>;

    /// Text before everything: headers, extensions.
    fn opening(&self, text: &str) -> String;
}
