//! Writers: the C-like tree of a kernel as text for one target. One writer walks the tree; a dialect says what differs.

mod c;
mod complex;
mod cuda;
mod dialect;
mod hip;
mod ispc;
mod opencl;
mod routine;
mod value;
mod writer;

pub use writer::write;

use crate::syntax::Target;

fn dialect(target: Target) -> &'static dyn dialect::Dialect {
    match target {
        Target::C => &c::C,
        Target::OpenCl => &opencl::OpenCl,
        Target::Cuda => &cuda::Cuda,
        Target::Hip => &hip::Hip,
        Target::Ispc => &ispc::Ispc,
    }
}
