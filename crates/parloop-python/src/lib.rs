//! `parloop._parloop`: the Python face. One thin file a class; `error.rs` is the one mapping of errors.

mod argument;
mod arithmetic;
mod array;
mod call;
mod compile;
mod context;
mod device;
mod dlpack;
mod error;
mod exceptions;
mod fft;
mod foreign;
mod grid;
mod hostbuffer;
mod html;
mod index;
mod items;
mod kernel;
mod layout;
mod loops;
mod memory;
mod mesh;
mod namespace;
mod ndarray;
mod number;
mod numpy_api;
mod nvml;
mod objects;
mod owner;
mod profile;
mod program;
mod protocol;
mod recording;
mod released;
mod runtime_class;
mod stream;

use pyo3::prelude::*;

/// Runs the `parloop` command with these arguments, the program's name first, and returns its exit status.
#[pyfunction]
fn run_command(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
    let status = py.detach(|| parloop::command::run(arguments));
    // An exit code can be compared but not read.
    (0..=u8::MAX).find(|&code| std::process::ExitCode::from(code) == status).unwrap_or(1)
}

/// Names of environment variables that look like parloop's and are not.
#[pyfunction]
fn unknown_variables() -> Vec<String> {
    parloop::command::unknown_variables()
}

/// What `PARLOOP_CHECKED` says.
#[pyfunction]
fn _checked_by_environment() -> error::Result<bool> {
    Ok(parloop_kernel::checked_by_environment()?)
}

/// The folder in which PoCL keeps compiled kernels, if it cannot be written: then it has no devices.
#[pyfunction]
fn _unwritable_pocl_cache() -> Option<std::path::PathBuf> {
    parloop_device::opencl::unwritable_cache()
}

/// Adds folders in which installed packages may have put libraries and compilers.
#[pyfunction]
fn add_package_folders(folders: Vec<std::path::PathBuf>) {
    parloop_device::library::add_package_folders(folders);
}

#[pymodule(gil_used = true)]
fn _parloop(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    exceptions::register(module)?;
    released::listen(module.py())?;
    module.add_class::<device::Device>()?;
    module.add_class::<context::Context>()?;
    module.add_class::<stream::Stream>()?;
    module.add_class::<stream::Event>()?;
    module.add_class::<memory::Memory>()?;
    module.add_class::<memory::PinnedMemory>()?;
    module.add_class::<array::Array>()?;
    module.add_class::<fft::FftPlan>()?;
    module.add_class::<recording::Recording>()?;
    module.add_class::<profile::Profile>()?;
    program::register(module)?;
    module.add_class::<nvml::Nvml>()?;
    hostbuffer::register(module)?;
    call::register(module)?;
    objects::register(module)?;
    loops::register(module)?;
    mesh::register(module)?;
    module.add_function(wrap_pyfunction!(device::devices, module)?)?;
    module.add_function(wrap_pyfunction!(context::current_context, module)?)?;
    module.add_function(wrap_pyfunction!(context::set_default_context, module)?)?;
    module.add_function(wrap_pyfunction!(program::compile_for, module)?)?;
    module.add_function(wrap_pyfunction!(run_command, module)?)?;
    module.add_function(wrap_pyfunction!(unknown_variables, module)?)?;
    module.add_function(wrap_pyfunction!(_checked_by_environment, module)?)?;
    module.add_function(wrap_pyfunction!(_unwritable_pocl_cache, module)?)?;
    module.add_function(wrap_pyfunction!(layout::dense_order, module)?)?;
    module.add_function(wrap_pyfunction!(layout::dense_strides_of, module)?)?;
    module.add_function(wrap_pyfunction!(add_package_folders, module)?)?;
    Ok(())
}
