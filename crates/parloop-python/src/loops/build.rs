//! Programs from what Python's `make_kernel` was given: texts, and descriptions of data as dictionaries.

use parloop_loop::create::{Data, KernelBuilder, Order};
use parloop_loop::file::{FileError, LoopFile};

use parloop_loop::syntax::{AddressSpace, Initializer, Offset, Preamble, SubstitutionRule, TrustedC, Type};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::options::{address_space, options, target, type_given};
use super::program::LoopProgram;
use crate::error::Result;
use crate::ndarray::{NdArray, as_contiguous, dtype_of};

/// Makes a program of one kernel. `described` has the keys `domains`, `instructions`, `data` and what else was said.
#[pyfunction]
#[pyo3(name = "_make_loop_program")]
pub fn make_loop_program<'py>(py: Python<'py>, described: &Bound<'py, PyDict>) -> Result<(LoopProgram, Vec<(String, String)>)> {
    // SAFETY: a Python program is responsible for its C code, here as for C kernels.
    let mut builder = KernelBuilder::new().trusted_c(unsafe { TrustedC::promise() });
    let list = |key: &str| -> PyResult<Vec<Bound<'py, PyAny>>> {
        match described.get_item(key)? {
            Some(items) => items.try_iter()?.collect(),
            None => Ok(Vec::new()),
        }
    };
    for domain in list("domains")? {
        builder = builder.domain(domain.str()?.to_str()?);
    }
    for text in list("instructions")? {
        builder = builder.instructions(text.str()?.to_str()?);
    }
    for item in list("data")? {
        builder = match item.cast::<PyDict>() {
            Ok(item) => add_data(builder, item)?,
            Err(_) => builder.rest(),
        };
    }
    for (key, value) in described.iter() {
        builder = set(builder, key.cast::<PyString>()?.to_str()?, &value)?;
    }
    let is_function = matches!(described.get_item("function")?, Some(flag) if flag.is_truthy()?);
    let built = py.detach(|| if is_function { builder.build_function_with_warnings() } else { builder.build_with_warnings() })?;
    let warnings = built.warnings.iter().map(|warning| (warning.name().to_owned(), warning.to_string())).collect();
    Ok((LoopProgram::new(built.program), warnings))
}

/// The program of a `.loop` file, after its transformations. Code in C, and options that replace checks, are only for files that are `trusted`.
#[pyfunction]
#[pyo3(name = "_read_loop_program")]
pub fn read_loop_program(py: Python<'_>, text: &str, trusted: bool) -> Result<LoopProgram> {
    let file = match trusted {
        // SAFETY: who says so guarantees it, as for code that Python passes to `make_kernel`.
        true => unsafe { LoopFile::parse_trusted(text) },
        false => LoopFile::parse(text),
    };
    let program = py.detach(|| file.map_err(FileError::from)?.program())?;
    Ok(LoopProgram::new(program))
}

fn set(builder: KernelBuilder, key: &str, value: &Bound<'_, PyAny>) -> Result<KernelBuilder> {
    if value.is_none() {
        return Ok(builder);
    }
    let text = || -> PyResult<String> { value.str()?.extract() };
    Ok(match key {
        "domains" | "instructions" | "data" | "function" => builder,
        "name" => builder.name(text()?),
        "assumptions" => builder.assumptions(text()?.as_str()),
        "default_order" => builder.default_order(order(&text()?)?),
        "default_offset" => builder.default_offset(if text()? == "0" { Offset::Zero } else { Offset::Auto }),
        "seq_dependencies" => builder.sequential_dependencies(value.is_truthy()?),
        "index_dtype" => builder.index_type(dtype_of(value)?),
        "target" => builder.target(target(&text()?)?),
        "fixed_parameters" => {
            let mut builder = builder;
            for (name, number) in value.cast::<PyDict>().map_err(PyErr::from)?.iter() {
                builder = builder.fixed_parameter(name.extract::<String>()?, number.extract::<i64>()?);
            }
            builder
        }
        "preambles" => {
            let mut builder = builder;
            for item in value.try_iter()? {
                let (key, text): (String, String) = item?.extract()?;
                // SAFETY: C in Python programs is its author's business, as with `ctypes`.
                builder = builder.preamble(unsafe { Preamble::new(key, text) });
            }
            builder
        }
        "options" => builder.options(options(value.cast::<PyDict>().map_err(PyErr::from)?)?),
        "loop_priority" => {
            let mut builder = builder;
            for chain in value.try_iter()? {
                builder = builder.priority(chain?.extract::<Vec<String>>()?);
            }
            builder
        }
        other => return Err(PyTypeError::new_err(format!("make_kernel got an unknown argument `{other}`")).into()),
    })
}

fn add_data(builder: KernelBuilder, item: &Bound<'_, PyDict>) -> Result<KernelBuilder> {
    let get = |key: &str| -> PyResult<Option<Bound<'_, PyAny>>> { Ok(item.get_item(key)?.filter(|value| !value.is_none())) };
    let kind: String = get("kind")?.ok_or_else(|| PyTypeError::new_err("a description of data has no kind"))?.extract()?;
    let names: String = get("name")?.ok_or_else(|| PyTypeError::new_err("a description of data has no name"))?.extract()?;
    if kind == "substitution" {
        let parameters: Vec<String> = get("parameters")?.map(|names| names.extract()).transpose()?.unwrap_or_default();
        let body: String = get("body")?.map(|body| body.str()?.extract()).transpose()?.unwrap_or_default();
        let body = parloop_loop::parse::expression(&body)?;
        let parameters = parameters.into_iter().map(Into::into).collect();
        return Ok(builder.substitution(SubstitutionRule { name: names.into(), parameters, body }));
    }
    let mut data = match kind.as_str() {
        "global" => Data::global(names),
        "constant" => Data::constant(names),
        "private" => Data::array(names, AddressSpace::Private),
        "local" => Data::array(names, AddressSpace::Local),
        "value" => Data::value(names),
        "object" => Data::object(names),
        "image" => Data::image(names),
        "temporary" => Data::temporary(names),
        // Neither an array nor a number yet: how it is used says which.
        "named" => return Ok(builder.argument_named(names)),
        other => return Err(PyValueError::new_err(format!("unknown kind of data `{other}`")).into()),
    };
    if let Some(dtype) = get("dtype")? {
        let ty = type_given(&dtype)?;
        let reason = match (&ty, kind.as_str()) {
            (Type::Class(_), "object") => None,
            (Type::Class(class), _) => Some(format!("{} is a class of objects; describe an object with ObjectArg", class.name())),
            (_, "object") => {
                Some(format!("ObjectArg takes a class of parloop.objects, such as a Struct, not {dtype}; a number is a ValueArg"))
            }
            _ => None,
        };
        if let Some(reason) = reason {
            return Err(PyTypeError::new_err(reason).into());
        }
        data = data.dtype(ty);
    }
    if let Some(shape) = get("shape")? {
        data = match shape.cast::<PyString>() {
            Ok(text) if text.to_str()? == "auto" => data,
            Ok(text) if text.to_str()? == "unknown" => data.unknown_shape(),
            Ok(text) => data.shape(text.to_str()?),
            Err(_) => data.shape_of(lengths(&shape)?),
        };
    }
    if let Some(tags) = get("dim_tags")? {
        data = match tags.cast::<PyString>() {
            Ok(text) => data.dim_tags(text.to_str()?),
            Err(_) => data.dim_tag_list(tags.try_iter()?.map(|tag| tag?.str()?.extract::<String>()).collect::<PyResult<Vec<_>>>()?),
        };
    }
    if let Some(strides) = get("strides")? {
        let text = match strides.cast::<PyString>() {
            Ok(text) => text.to_string(),
            Err(_) => strides.try_iter()?.map(|stride| Ok(stride?.str()?.to_string())).collect::<PyResult<Vec<_>>>()?.join(","),
        };
        data = if text == "auto" { data.auto_strides() } else { data.strides(text) };
    }
    if let Some(value) = get("order")? {
        data = data.order(order(&value.extract::<String>()?)?);
    }
    if let Some(offset) = get("offset")? {
        let text = offset.str()?.to_string();
        data = match text.as_str() {
            "0" => data.offset(Offset::Zero),
            "auto" => data.offset(Offset::Auto),
            _ => data.offset_text(text),
        };
    }
    if let Some(names) = get("dim_names")? {
        data = data.axis_names(names.extract::<Vec<String>>()?);
    }
    if let Some(bytes) = get("alignment")? {
        data = data.alignment(bytes.extract()?);
    }
    if let Some(flag) = get("is_input")? {
        data = data.is_input(flag.is_truthy()?);
    }
    if let Some(flag) = get("is_output")? {
        data = data.is_output(flag.is_truthy()?);
    }
    if let Some(space) = get("address_space")? {
        data = data.space(address_space(&space.extract::<String>()?)?);
    }
    if let Some(values) = get("initializer")? {
        data = data.initializer(initializer(&values)?);
    }
    if let Some(flag) = get("read_only")? {
        data = data.read_only(flag.is_truthy()?);
    }
    if let Some(storage) = get("base_storage")? {
        data = data.base_storage(storage.extract::<String>()?);
    }
    if let Some(tags) = get("tags")? {
        let tags = tags.try_iter()?.map(|tag| Ok(tag?.str()?.to_string())).collect::<PyResult<Vec<_>>>()?;
        data = data.tags(tags);
    }
    Ok(builder.data(data))
}

/// Lengths of axes: integers, or expressions by their text.
fn lengths(shape: &Bound<'_, PyAny>) -> Result<Vec<parloop_loop::syntax::Expr>> {
    let items: Vec<Bound<'_, PyAny>> = match shape.try_iter() {
        Ok(items) => items.collect::<PyResult<_>>()?,
        Err(_) => vec![shape.clone()],
    };
    items.iter().map(|item| Ok(parloop_loop::parse::expression(item.str()?.to_str()?)?)).collect()
}

fn initializer(values: &Bound<'_, PyAny>) -> Result<Initializer> {
    let values = as_contiguous(values)?;
    let array = NdArray::of(&values)?.ok_or_else(|| PyTypeError::new_err("an initializer must be a NumPy array"))?;
    let dtype = array.dtype().ok_or_else(|| PyTypeError::new_err(format!("dtype {} is not supported", array.dtype_name())))?;
    let shape = array.shape().iter().map(|&length| length as usize).collect();
    let bytes: Vec<u8> = values.call_method0("tobytes")?.extract()?;
    Ok(Initializer { dtype, shape, bytes: bytes.into() })
}

fn order(text: &str) -> PyResult<Order> {
    match text {
        "C" | "c" => Ok(Order::C),
        "F" | "f" => Ok(Order::Fortran),
        "auto" => Ok(Order::Auto),
        other => Err(PyValueError::new_err(format!("an order must be \"C\", \"F\" or \"auto\", not {other:?}"))),
    }
}
