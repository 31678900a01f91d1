//! Kernels in C of these tests.

use parloop_mesh::{Kernel, KernelOptions, MeshError};

/// The function of that name in a source of a test.
pub fn kernel_of(source: &str, name: &str) -> Result<Kernel, MeshError> {
    // SAFETY: the functions of these tests stay inside of what the loops of these tests pass.
    unsafe { Kernel::c(source, name, &KernelOptions::default()) }
}
