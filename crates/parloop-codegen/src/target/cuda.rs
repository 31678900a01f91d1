//! CUDA C++, as NVRTC reads it.

use parloop_device::DType;
use parloop_ir::syntax::{AddressSpace, MemoryKind, Target};

use super::dialect::Dialect;
use crate::lower::tree::{Axis, FunctionKind};

pub(super) struct Cuda;

impl Dialect for Cuda {
    fn target(&self) -> Target {
        Target::Cuda
    }

    fn scalar(&self, dtype: DType) -> &'static str {
        match dtype {
            DType::Bool => "bool",
            DType::I8 => "signed char",
            DType::I16 => "short",
            DType::I32 => "int",
            // The type of the kernel layer's `int64_t`: types of the same size must not be mixed.
            DType::I64 => "long",
            DType::U8 => "unsigned char",
            DType::U16 => "unsigned short",
            DType::U32 => "unsigned int",
            DType::U64 => "unsigned long",
            DType::F32 => "float",
            DType::F64 => "double",
            DType::C64 => "float2",
            DType::C128 => "double2",
        }
    }

    fn space(&self, _space: AddressSpace) -> &'static str {
        ""
    }

    fn storage(&self, space: AddressSpace) -> &'static str {
        if space == AddressSpace::Local { "__shared__ " } else { "" }
    }

    fn table(&self) -> &'static str {
        "static __constant__ "
    }

    fn head(&self, kind: &FunctionKind, _shared: bool) -> String {
        match kind {
            FunctionKind::Launched(size) | FunctionKind::Task(size) => {
                let bounds = size.iter().copied().product::<Option<u64>>().map(|items| format!(" __launch_bounds__({})", items.max(1)));
                format!("extern \"C\" __global__ void{}", bounds.unwrap_or_default())
            }
            FunctionKind::Called => "static __device__ void".into(),
        }
    }

    fn routine(&self) -> &'static str {
        "static __device__ inline "
    }

    fn axis(&self, axis: Axis) -> String {
        let (word, axis) = match axis {
            Axis::Group(axis) => ("blockIdx", axis),
            Axis::Local(axis) => ("threadIdx", axis),
        };
        format!("{word}.{}", ["x", "y", "z"].get(usize::from(axis)).unwrap_or(&"z"))
    }

    fn barrier(&self, _memory: MemoryKind) -> &'static str {
        "__syncthreads();"
    }

    fn takes_alignment(&self) -> bool {
        true
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
            format!("__int_as_float({})", (value as f32).to_bits() as i32)
        } else {
            format!("__longlong_as_double({}ll)", value.to_bits() as i64)
        }
    }

    fn atomic_add(&self, dtype: DType) -> Option<String> {
        match dtype {
            DType::I32 | DType::U32 | DType::F32 | DType::F64 => Some("atomicAdd(at, value);".into()),
            DType::I64 | DType::U64 => Some("atomicAdd((unsigned long long *)at, (unsigned long long)value);".into()),
            _ => None,
        }
    }

    fn compare_and_swap(&self, dtype: DType, _space: AddressSpace) -> Option<String> {
        Some(match dtype {
            DType::I32 | DType::U32 => "atomicCAS(at, old, wanted) == old".into(),
            DType::F32 => "atomicCAS((int *)at, __float_as_int(old), __float_as_int(wanted)) == __float_as_int(old)".into(),
            DType::I64 | DType::U64 => {
                "atomicCAS((unsigned long long *)at, (unsigned long long)old, (unsigned long long)wanted) == (unsigned long long)old".into()
            }
            DType::F64 => "atomicCAS((unsigned long long *)at, (unsigned long long)__double_as_longlong(old), \
                           (unsigned long long)__double_as_longlong(wanted)) == (unsigned long long)__double_as_longlong(old)"
                .into(),
            _ => return None,
        })
    }

    fn opening(&self, _text: &str) -> String {
        String::new()
    }
}
