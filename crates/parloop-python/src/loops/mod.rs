//! `parloop.loops`: loop kernels in Python. `value` turns Python's values into those of steps, `build` makes programs, `program` is
//! the class of programs, `call` runs them: with what is `given`, `compiled` for its types, by a `launch` or several, and sooner when it is a
//! `repeat`; `doubts` warns of what only the data decides. `describe`, `layouts` and `tree` say what programs are made of, `callable` has functions of Python's.

mod build;
mod call;
mod callable;
mod compiled;
mod components;
mod describe;
mod doubts;
mod given;
mod launch;
mod layouts;
mod options;
mod program;
mod repeat;
mod stats;
mod tree;
mod value;

pub use given::number;
pub use program::LoopProgram;
use pyo3::prelude::*;

/// Puts the classes into the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    find_isl_of_islpy(module.py())?;
    call::register(module)?;
    module.add_function(wrap_pyfunction!(build::make_loop_program, module)?)?;
    module.add_function(wrap_pyfunction!(build::read_loop_program, module)?)?;
    module.add_function(wrap_pyfunction!(program::merge_loop_programs, module)?)?;
    module.add_function(wrap_pyfunction!(program::fuse_loop_kernels, module)?)?;
    module.add_class::<stats::LoopCount>()?;
    module.add_function(wrap_pyfunction!(stats::count_loop_points, module)?)?;
    module.add_function(wrap_pyfunction!(tree::loop_expression_tree, module)?)
}

/// Where there is no libisl of the system, the one that islpy carries is used, wherever Python would import islpy from.
fn find_isl_of_islpy(py: Python<'_>) -> PyResult<()> {
    for entry in py.import("sys")?.getattr("path")?.try_iter()? {
        if let Ok(path) = entry?.extract::<std::path::PathBuf>()
            && !path.as_os_str().is_empty()
        {
            parloop_loop::add_library_folder(path);
        }
    }
    Ok(())
}
