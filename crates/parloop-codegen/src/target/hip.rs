//! HIP C++, as hiprtc reads it: CUDA's words.

use parloop_device::DType;
use parloop_ir::syntax::{AddressSpace, MemoryKind, Target};

use super::cuda::Cuda;
use super::dialect::Dialect;
use crate::lower::tree::{Axis, FunctionKind};

pub(super) struct Hip;

impl Dialect for Hip {
    fn target(&self) -> Target {
        Target::Hip
    }

    fn scalar(&self, dtype: DType) -> &'static str {
        Cuda.scalar(dtype)
    }

    fn space(&self, space: AddressSpace) -> &'static str {
        Cuda.space(space)
    }

    fn storage(&self, space: AddressSpace) -> &'static str {
        Cuda.storage(space)
    }

    fn table(&self) -> &'static str {
        Cuda.table()
    }

    fn head(&self, kind: &FunctionKind, shared: bool) -> String {
        Cuda.head(kind, shared)
    }

    fn routine(&self) -> &'static str {
        Cuda.routine()
    }

    fn axis(&self, axis: Axis) -> String {
        Cuda.axis(axis)
    }

    fn barrier(&self, memory: MemoryKind) -> &'static str {
        Cuda.barrier(memory)
    }

    fn takes_alignment(&self) -> bool {
        true
    }

    fn integer_suffix(&self, dtype: DType) -> &'static str {
        Cuda.integer_suffix(dtype)
    }

    fn special(&self, value: f64, dtype: DType) -> String {
        Cuda.special(value, dtype)
    }

    fn atomic_add(&self, dtype: DType) -> Option<String> {
        Cuda.atomic_add(dtype)
    }

    fn compare_and_swap(&self, dtype: DType, space: AddressSpace) -> Option<String> {
        Cuda.compare_and_swap(dtype, space)
    }

    fn opening(&self, text: &str) -> String {
        Cuda.opening(text)
    }
}
