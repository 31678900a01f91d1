//! Writers: the C-like tree of a kernel as text for one target. One writer walks the tree; a dialect defines what differs.

mod c;
mod complex;
mod cuda;
mod definition;
mod dialect;
mod hip;
mod ispc;
mod opencl;
mod routine;
mod value;
mod writer;

pub use writer::write;

use parloop_device::DType;
use parloop_ir::syntax::Target;

/// The name of a scalar type in the target's language.
pub(crate) fn scalar_name(target: Target, dtype: DType) -> &'static str {
    dialect(target).scalar(dtype)
}

fn dialect(target: Target) -> &'static dyn dialect::Dialect {
    match target {
        Target::C => &c::C,
        Target::OpenCl => &opencl::OpenCl,
        Target::Cuda => &cuda::Cuda,
        Target::Hip => &hip::Hip,
        Target::Ispc => &ispc::Ispc,
    }
}
