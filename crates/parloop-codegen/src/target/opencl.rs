//! OpenCL C 1.2.

use parloop_device::DType;
use parloop_ir::syntax::{AddressSpace, MemoryKind, Target};

use super::dialect::Dialect;
use crate::lower::tree::{Axis, FunctionKind};

pub(super) struct OpenCl;

impl Dialect for OpenCl {
    fn target(&self) -> Target {
        Target::OpenCl
    }

    fn scalar(&self, dtype: DType) -> &'static str {
        match dtype {
            // `bool` has no size that host and device agree on.
            DType::Bool | DType::U8 => "uchar",
            DType::I8 => "char",
            DType::I16 => "short",
            DType::I32 => "int",
            DType::I64 => "long",
            DType::U16 => "ushort",
            DType::U32 => "uint",
            DType::U64 => "ulong",
            DType::F32 => "float",
            DType::F64 => "double",
            DType::C64 => "float2",
            DType::C128 => "double2",
        }
    }

    fn space(&self, space: AddressSpace) -> &'static str {
        match space {
            AddressSpace::Private => "",
            AddressSpace::Local => "__local ",
            AddressSpace::Global => "__global ",
            AddressSpace::Constant => "__constant ",
        }
    }

    fn table(&self) -> &'static str {
        "__constant "
    }

    fn head(&self, kind: &FunctionKind, _shared: bool) -> String {
        match kind {
            FunctionKind::Launched(size) | FunctionKind::Task(size) => {
                let length = |axis: usize| size.get(axis).copied().unwrap_or(Some(1));
                match (length(0), length(1), length(2)) {
                    (Some(x), Some(y), Some(z)) => format!("__kernel void __attribute__ ((reqd_work_group_size({x}, {y}, {z})))"),
                    _ => "__kernel void".into(),
                }
            }
            FunctionKind::Called => "static void".into(),
        }
    }

    fn routine(&self) -> &'static str {
        "static inline "
    }

    fn axis(&self, axis: Axis) -> String {
        match axis {
            Axis::Group(axis) => format!("get_group_id({axis})"),
            Axis::Local(axis) => format!("get_local_id({axis})"),
        }
    }

    fn barrier(&self, memory: MemoryKind) -> &'static str {
        match memory {
            MemoryKind::Local => "barrier(CLK_LOCAL_MEM_FENCE);",
            MemoryKind::Global => "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
        }
    }

    fn integer_suffix(&self, dtype: DType) -> &'static str {
        match dtype {
            DType::I64 => "l",
            DType::U32 => "u",
            DType::U64 => "ul",
            _ => "",
        }
    }

    fn special(&self, value: f64, _dtype: DType) -> String {
        if value.is_nan() {
            "NAN".into()
        } else if value < 0.0 {
            "-INFINITY".into()
        } else {
            "INFINITY".into()
        }
    }

    fn real_function(&self, name: &str, _dtype: DType) -> String {
        name.to_owned()
    }

    fn has_integer_min(&self) -> bool {
        true
    }

    fn atomic_add(&self, dtype: DType) -> Option<String> {
        match dtype {
            DType::I32 | DType::U32 => Some("atomic_add(at, value);".into()),
            DType::I64 | DType::U64 => Some("atom_add(at, value);".into()),
            _ => None,
        }
    }

    fn compare_and_swap(&self, dtype: DType, space: AddressSpace) -> Option<String> {
        let space = self.space(space);
        Some(match dtype {
            DType::I32 | DType::U32 => "atomic_cmpxchg(at, old, wanted) == old".into(),
            DType::F32 => format!("atomic_cmpxchg((volatile {space}int *)at, as_int(old), as_int(wanted)) == as_int(old)"),
            DType::I64 | DType::U64 => "atom_cmpxchg(at, old, wanted) == old".into(),
            DType::F64 => format!("atom_cmpxchg((volatile {space}long *)at, as_long(old), as_long(wanted)) == as_long(old)"),
            _ => return None,
        })
    }

    fn opening(&self, text: &str) -> String {
        let mut opening = String::new();
        if text.contains("double") {
            opening.push_str("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
        }
        if text.contains("atom_") {
            opening.push_str("#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n");
        }
        opening
    }
}
