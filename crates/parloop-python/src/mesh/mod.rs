//! `parloop.mesh`: sets, maps, data on them and loops over them in Python. `values` has the way of numbers between NumPy and storage,
//! `given` reads names, sizes and indices; one file a class.

mod access;
mod arg;
mod arithmetic;
mod dat;
mod dataset;
mod extruded;
mod given;
mod global;
mod kernel;
mod map;
mod mat;
mod overlap;
mod par_loop;
mod processes;
mod resident;
mod set;
mod shown;
mod slices;
mod solve;
mod sparsity;
mod values;
mod view;
mod vtk;

use pyo3::prelude::*;

/// Puts the classes into the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("_Access", py.get_type::<access::Access>())?;
    module.add("_Set", py.get_type::<set::Set>())?;
    module.add("_Subset", py.get_type::<set::Subset>())?;
    module.add("_ExtrudedSet", py.get_type::<extruded::ExtrudedSet>())?;
    module.add("_Region", py.get_type::<extruded::Region>())?;
    module.add("_DataSet", py.get_type::<dataset::DataSet>())?;
    module.add("_Map", py.get_type::<map::Map>())?;
    module.add("_PermutedMap", py.get_type::<map::PermutedMap>())?;
    module.add("_ComposedMap", py.get_type::<map::ComposedMap>())?;
    module.add("_Dat", py.get_type::<dat::Dat>())?;
    module.add("_DatView", py.get_type::<view::DatView>())?;
    module.add("_Global", py.get_type::<global::Global>())?;
    module.add("_Constant", py.get_type::<global::Constant>())?;
    module.add("_Sparsity", py.get_type::<sparsity::Sparsity>())?;
    module.add("_Mat", py.get_type::<mat::Mat>())?;
    module.add("_Arg", py.get_type::<arg::Arg>())?;
    module.add("_Kernel", py.get_type::<kernel::Kernel>())?;
    module.add("_ParLoop", py.get_type::<par_loop::ParLoop>())?;
    module.add("_Solution", py.get_type::<solve::Solution>())?;
    module.add("_Comm", py.get_type::<processes::Comm>())?;
    module.add_function(wrap_pyfunction!(processes::distribute, module)?)?;
    module.add_function(wrap_pyfunction!(slices::distribute_slices, module)?)?;
    module.add_function(wrap_pyfunction!(solve::solve, module)?)?;
    module.add_function(wrap_pyfunction!(overlap::overlaps, module)?)?;
    module.add_function(wrap_pyfunction!(resident::numbers_on_context, module)?)?;
    module.add_function(wrap_pyfunction!(par_loop::par_loop, module)?)?;
    module.add_function(wrap_pyfunction!(vtk::write_vtk, module)?)
}
