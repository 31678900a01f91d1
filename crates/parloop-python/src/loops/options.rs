//! Options, types, address spaces and targets of loop kernels, as Python gives them.

use parloop_loop::parse::nearest;
use parloop_loop::syntax::{AddressSpace, KernelOptions, Target, Type};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::components::component_type;
use crate::error::Result;
use crate::ndarray::dtype_of;
use crate::objects::types::type_of;

/// The options that change something.
const KNOWN: [&str; 13] = [
    "checked",
    "check_bounds",
    "enforce_array_accesses_within_bounds",
    "insert_gbarriers",
    "annotate_inames",
    "annotate",
    "return_dict",
    "skip_arg_checks",
    "loopy_arithmetic",
    "planned_order",
    "lenient",
    "silenced_warnings",
    "build_options",
];

/// Options by their names in Python.
pub fn options(given: &Bound<'_, PyDict>) -> PyResult<KernelOptions> {
    let mut options = KernelOptions::default();
    change_options(&mut options, given)?;
    Ok(options)
}

/// Sets what is given, and leaves the rest.
pub fn change_options(options: &mut KernelOptions, given: &Bound<'_, PyDict>) -> PyResult<()> {
    for (key, value) in given.iter() {
        let key: String = key.extract()?;
        match key.as_str() {
            "checked" => options.checked = if value.is_none() { None } else { Some(value.is_truthy()?) },
            "check_bounds" | "enforce_array_accesses_within_bounds" => {
                let check = value.is_truthy()?;
                // SAFETY: Python code vouches for the kernels that it runs, as it does for C.
                unsafe { options.set_check_bounds(check) }
            }
            "insert_gbarriers" => options.insert_global_barriers = value.is_truthy()?,
            "annotate_inames" | "annotate" => options.annotate = value.is_truthy()?,
            "return_dict" => options.return_dict = value.is_truthy()?,
            "skip_arg_checks" => options.skip_arg_checks = value.is_truthy()?,
            "loopy_arithmetic" => options.loopy_arithmetic = value.is_truthy()?,
            "planned_order" => {
                let planned = value.is_truthy()?;
                // SAFETY: as above.
                unsafe { options.set_planned_order(planned) }
            }
            "lenient" => {
                let lenient = value.is_truthy()?;
                // SAFETY: as above.
                unsafe { options.set_lenient(lenient) }
            }
            "silenced_warnings" => {
                let names = value.try_iter()?.map(|name| Ok(name?.str()?.to_string().into()));
                options.silenced = names.collect::<PyResult<_>>()?;
            }
            "build_options" => {
                let flags = if let Ok(text) = value.cast::<PyString>() { vec![text.to_string()] } else { value.extract()? };
                // SAFETY: as above.
                unsafe { options.set_build_options(flags) }
            }
            // Options of loopy's that mean nothing here are kept; a misspelt one of ours would check nothing.
            unknown => match nearest(unknown, KNOWN) {
                Some(known) => return Err(PyValueError::new_err(format!("unknown option `{unknown}`; did you mean `{known}`?"))),
                None => drop(options.other.insert(key.into(), value.str()?.to_string())),
            },
        }
    }
    Ok(())
}

/// A type: a numpy dtype or a name of one, a structured dtype, the name of a vector, or a class of `parloop.objects`.
pub fn type_given(given: &Bound<'_, PyAny>) -> Result<Type> {
    if let Ok(class) = type_of(given) {
        return Ok(class.get().in_loops()?.clone());
    }
    match component_type(given)? {
        Some(ty) => Ok(ty),
        None => Ok(dtype_of(given)?.into()),
    }
}

/// An address space by its name.
pub fn address_space(text: &str) -> PyResult<AddressSpace> {
    match text {
        "private" => Ok(AddressSpace::Private),
        "local" => Ok(AddressSpace::Local),
        "global" => Ok(AddressSpace::Global),
        "constant" => Ok(AddressSpace::Constant),
        other => Err(PyValueError::new_err(format!("memory must be private, local, global or constant, not {other:?}"))),
    }
}

/// A target by its name.
pub fn target(text: &str) -> PyResult<Target> {
    match text {
        "c" => Ok(Target::C),
        "opencl" => Ok(Target::OpenCl),
        "cuda" => Ok(Target::Cuda),
        "hip" => Ok(Target::Hip),
        "ispc" => Ok(Target::Ispc),
        other => Err(PyValueError::new_err(format!("a target must be c, opencl, cuda, hip or ispc, not {other:?}"))),
    }
}
