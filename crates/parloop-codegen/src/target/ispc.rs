//! ISPC: groups are tasks, the first local axis is the lanes of a program.

use parloop_device::DType;
use parloop_ir::syntax::{AddressSpace, MemoryKind, Target};

use super::dialect::Dialect;
use crate::lower::tree::{Axis, FunctionKind, Param};

pub(super) struct Ispc;

impl Dialect for Ispc {
    fn target(&self) -> Target {
        Target::Ispc
    }

    fn scalar(&self, dtype: DType) -> &'static str {
        match dtype {
            DType::Bool => "bool",
            DType::I8 => "int8",
            DType::I16 => "int16",
            DType::I32 => "int32",
            DType::I64 => "int64",
            DType::U8 => "unsigned int8",
            DType::U16 => "unsigned int16",
            DType::U32 => "unsigned int32",
            DType::U64 => "unsigned int64",
            DType::F32 => "float",
            DType::F64 => "double",
            DType::C64 => "float<2>",
            DType::C128 => "double<2>",
        }
    }

    fn space(&self, space: AddressSpace) -> &'static str {
        if space == AddressSpace::Private { "" } else { "uniform " }
    }

    fn table(&self) -> &'static str {
        "static uniform "
    }

    fn head(&self, kind: &FunctionKind, _shared: bool) -> String {
        match kind {
            FunctionKind::Task(_) => "task void".into(),
            FunctionKind::Launched(_) => "export void".into(),
            FunctionKind::Called => "static inline void".into(),
        }
    }

    fn routine(&self) -> &'static str {
        "static inline "
    }

    fn restrict(&self) -> &'static str {
        "uniform"
    }

    fn axis(&self, axis: Axis) -> String {
        match axis {
            Axis::Group(axis) => format!("taskIndex{axis}"),
            Axis::Local(0) => "programIndex".into(),
            Axis::Local(axis) => format!("lid{axis}"),
        }
    }

    fn barrier(&self, _memory: MemoryKind) -> &'static str {
        // The lanes of a program go together.
        ";"
    }

    fn integer_suffix(&self, dtype: DType) -> &'static str {
        match dtype {
            DType::I64 => "ll",
            DType::U32 => "u",
            DType::U64 => "ull",
            _ => "",
        }
    }

    fn special(&self, value: f64, dtype: DType) -> String {
        if dtype == DType::F32 {
            format!("floatbits(0x{:x})", (value as f32).to_bits())
        } else {
            format!("doublebits(0x{:x}ull)", value.to_bits())
        }
    }

    fn real_function(&self, name: &str, _dtype: DType) -> String {
        name.to_owned()
    }

    fn has_integer_min(&self) -> bool {
        true
    }

    fn unroll(&self) -> Option<&'static str> {
        Some("#pragma unroll")
    }

    fn param(&self, param: &Param) -> String {
        let ty = self.type_name(&param.ty);
        let constant = if param.constant { "const " } else { "" };
        match param.pointer {
            None => format!("{constant}uniform {ty} {}", param.name),
            Some(AddressSpace::Private) => format!("{constant}{ty} *uniform {}", param.name),
            Some(_) => format!("{constant}uniform {ty} *uniform {}", param.name),
        }
    }

    fn atomic_add(&self, dtype: DType) -> Option<String> {
        (dtype.size() >= 4 && !dtype.is_complex()).then(|| "atomic_add_global((uniform void *)at, value);".into())
    }

    fn compare_and_swap(&self, dtype: DType, _space: AddressSpace) -> Option<String> {
        (dtype.size() >= 4 && !dtype.is_complex()).then(|| "atomic_compare_exchange_global(at, old, wanted) == old".into())
    }

    fn opening(&self, _text: &str) -> String {
        String::new()
    }
}
