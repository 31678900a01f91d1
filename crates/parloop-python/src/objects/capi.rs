//! The C functions of a class, for Python.

use parloop_kernel as ker;
use parloop_object as obj;
use pyo3::prelude::*;

use super::types::ObjectType;
use crate::error::Result;

/// The C functions of a class.
#[pyclass(frozen, get_all, module = "parloop._parloop", name = "_ClassApi")]
pub struct ClassApi {
    /// The text.
    source: String,
    /// What it defines.
    functions: Vec<Py<ApiFunction>>,
    /// What is checked at each site, in checked mode.
    sites: Vec<String>,
}

/// One C function.
#[pyclass(frozen, get_all, module = "parloop._parloop", name = "_ApiFunction")]
pub struct ApiFunction {
    name: String,
    /// The names of its parameters; the object comes first.
    parameters: Vec<String>,
    /// Its declaration in C.
    declaration: String,
    /// What it does, in a line.
    about: String,
}

type Method = (String, Vec<(String, String)>, Option<String>);

/// The C functions of a class; `methods` are those of a union, as (name, [(parameter, C type)], C type of the result).
#[pyfunction]
#[pyo3(name = "_class_api", signature = (ty, methods=vec![], checked=false, first_site=0))]
pub fn class_api(py: Python<'_>, ty: &ObjectType, methods: Vec<Method>, checked: bool, first_site: usize) -> Result<ClassApi> {
    let methods: Vec<obj::UnionMethod> =
        methods.into_iter().map(|(name, params, returns)| obj::UnionMethod { name, params, returns }).collect();
    let api = obj::class_api(&ty.ty, &methods, &obj::ApiOptions { checked }, first_site);
    let function = |function: &obj::ApiFunction| {
        let parameters = function.params.iter().map(|param| param.name.clone()).collect();
        let made =
            ApiFunction { name: function.name.clone(), parameters, declaration: function.to_string(), about: function.about.clone() };
        Py::new(py, made)
    };
    let functions = api.functions.iter().map(function).collect::<PyResult<_>>()?;
    Ok(ClassApi { source: api.source, functions, sites: api.sites })
}

/// The name, the C type of the result, and the C types and names of the parameters.
type CSignature = (String, Option<String>, Vec<(String, String)>);

/// The first C function that a source defines: its name, the C type of its result (None for void), and the C types and names of its
/// parameters; None when there is none.
#[pyfunction]
#[pyo3(name = "_c_signature")]
pub fn c_signature(source: &str, classes: Vec<String>) -> Result<Option<CSignature>> {
    let found = ker::signatures(&[ker::Source::text(source)], ker::DeviceKind::Cpu, &classes)?;
    let Some(function) = found.first() else { return Ok(None) };
    let c_type = |ty: &ker::ParamType| match ty {
        ker::ParamType::Pointer { to: ker::Pointee::Class(_), .. } | ker::ParamType::Scalar(_) => ty.to_string(),
        ker::ParamType::Pointer { .. } => format!("GPUGLMEM {ty}"),
    };
    let params = function.params.iter().map(|param| (c_type(&param.ty), param.name.clone())).collect();
    Ok(Some((function.name.clone(), function.returns.as_ref().map(c_type), params)))
}
