//! Functions and look-ups that are Python objects. `parloop.loops._callable` asks the objects, in either of their conventions; here
//! its answers become those of the traits.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use parloop_loop::Name;
use parloop_loop::callable::{
    ArgDescriptor, ArgDescriptors, ArgId, ArgTypes, CallSite, Callable, CallableError, Emitted, FunctionLookup, Inference, ScalarFunction,
    Symbol,
};
use parloop_loop::syntax::{Expr, Preamble, Shape, Target, Type};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::describe::type_object;
use crate::ndarray::dtype_of;

/// A function that is a Python object.
pub struct PyCallable {
    object: Arc<Py<PyAny>>,
    name: Name,
    in_target: Option<Name>,
    types: Option<ArgTypes>,
    descriptors: Option<ArgDescriptors>,
}

impl PyCallable {
    pub fn new(name: &str, object: Bound<'_, PyAny>) -> PyCallable {
        PyCallable { object: Arc::new(object.unbind()), name: name.into(), in_target: None, types: None, descriptors: None }
    }

    /// The object itself.
    pub fn object(&self) -> &Py<PyAny> {
        &self.object
    }

    fn failed(&self, py: Python<'_>, error: &PyErr) -> CallableError {
        CallableError::Misfit { function: self.name.clone(), reason: reason(py, error) }
    }

    /// Calls a function of the module that asks objects.
    fn ask<'py, T>(
        &self,
        py: Python<'py>,
        question: &str,
        rest: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
        read: impl FnOnce(&Bound<'py, PyAny>) -> PyResult<T>,
    ) -> Result<T, CallableError> {
        ask(py, question, self.object.bind(py), rest).and_then(|answer| read(&answer)).map_err(|error| self.failed(py, &error))
    }

    fn emitted(&self, question: &str, site: &CallSite<'_>) -> Result<Option<(Emitted, bool)>, CallableError> {
        let answer: Option<(String, bool)> = Python::attach(|py| {
            let shape: Vec<bool> = site.results.iter().map(|result| matches!(result, Expr::SubArray(_))).collect();
            self.ask(py, question, (site.args.len(), shape, site.target.to_string()), |answer| answer.extract())
        })?;
        let Some((text, returns)) = answer else { return Ok(None) };
        let expr = parloop_loop::parse::expression(&text)
            .map_err(|error| CallableError::Misfit { function: self.name.clone(), reason: error.to_string() })?;
        Ok(Some((emit(&expr), returns)))
    }
}

fn reason(py: Python<'_>, error: &PyErr) -> String {
    let kind = error.get_type(py).name().map(|name| name.to_string()).unwrap_or_default();
    format!("{kind}: {}", error.value(py))
}

fn ask<'py>(
    py: Python<'py>,
    question: &str,
    object: &Bound<'py, PyAny>,
    rest: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
) -> PyResult<Bound<'py, PyAny>> {
    let rest = rest.into_pyobject(py)?;
    let args: Vec<Bound<'py, PyAny>> = std::iter::once(object.clone()).chain(rest.iter()).collect();
    py.import("parloop.loops._callable")?.getattr(question)?.call1(PyTuple::new(py, args)?)
}

/// Names that stand for arguments and results in what Python returns.
fn emit(expr: &Expr) -> Emitted {
    match expr {
        Expr::Call(call) if call.function == "_address" => match call.args.first().map(emit) {
            Some(Emitted::Arg(id)) => Emitted::Address(id),
            _ => Emitted::Expr(expr.clone(), None),
        },
        Expr::Call(call) => Emitted::Call(call.function.clone(), call.args.iter().map(emit).collect()),
        Expr::Variable(name) => {
            let place = |prefix: &str| name.strip_prefix(prefix).and_then(|digits| digits.parse::<usize>().ok());
            match (place("_argument_"), place("_result_")) {
                (Some(place), _) => Emitted::Arg(ArgId::argument(place)),
                (_, Some(place)) => Emitted::Arg(ArgId::result(place)),
                _ => Emitted::Text(name.to_string()),
            }
        }
        other => Emitted::Expr(other.clone(), None),
    }
}

fn types_dict<'py>(py: Python<'py>, types: &ArgTypes) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (id, ty) in types {
        dict.set_item(id_object(py, id)?, type_object(py, Some(ty))?)?;
    }
    Ok(dict)
}

fn id_object<'py>(py: Python<'py>, id: &ArgId) -> PyResult<Bound<'py, PyAny>> {
    Ok(match id {
        ArgId::Position(place) => place.into_pyobject(py)?.into_any(),
        ArgId::Keyword(name) => name.as_str().into_pyobject(py)?.into_any(),
    })
}

fn read_types(dict: &Bound<'_, PyAny>) -> PyResult<ArgTypes> {
    let mut types = ArgTypes::new();
    for (id, dtype) in dict.cast::<PyDict>()?.iter() {
        let id = match id.extract::<i32>() {
            Ok(place) => ArgId::Position(place),
            Err(_) => ArgId::Keyword(id.extract::<String>()?.into()),
        };
        if !dtype.is_none() {
            types.insert(id, Type::Scalar(dtype_of(&dtype)?));
        }
    }
    Ok(types)
}

fn descriptor<'py>(py: Python<'py>, descriptor: &ArgDescriptor) -> PyResult<Bound<'py, PyAny>> {
    let dict = PyDict::new(py);
    if let ArgDescriptor::Array { space, layout } = descriptor {
        if let Shape::Known(lengths) = &layout.shape {
            dict.set_item("shape", lengths.iter().map(ToString::to_string).collect::<Vec<_>>())?;
        }
        dict.set_item("dim_tags", layout.dim_tags.iter().map(ToString::to_string).collect::<Vec<_>>())?;
        dict.set_item("address_space", space.map(|space| space.to_string()))?;
    }
    Ok(dict.into_any())
}

impl fmt::Debug for PyCallable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PyCallable").field("name", &self.name).field("types", &self.types).finish_non_exhaustive()
    }
}

// SAFETY: what Python's callables emit is their author's business, as with `ctypes`.
unsafe impl Callable for PyCallable {
    fn name(&self) -> &Name {
        &self.name
    }

    fn name_in_target(&self) -> Option<&Name> {
        self.in_target.as_ref()
    }

    fn types(&self) -> Option<&ArgTypes> {
        self.types.as_ref()
    }

    fn descriptors(&self) -> Option<&ArgDescriptors> {
        self.descriptors.as_ref()
    }

    fn with_types(&self, types: &ArgTypes, inference: &mut dyn Inference) -> Result<Arc<dyn Callable>, CallableError> {
        let target = inference.target().to_string();
        Python::attach(|py| {
            let given = types_dict(py, types).map_err(|error| self.failed(py, &error))?;
            let (object, in_target, found) = self.ask(py, "with_types", (given, target), |answer| {
                let (object, in_target, found): (Bound<'_, PyAny>, Option<String>, Bound<'_, PyAny>) = answer.extract()?;
                Ok((object.unbind(), in_target, read_types(&found)?))
            })?;
            Ok(Arc::new(PyCallable {
                object: Arc::new(object),
                name: self.name.clone(),
                in_target: in_target.map(Into::into),
                types: Some(found),
                descriptors: self.descriptors.clone(),
            }) as Arc<dyn Callable>)
        })
    }

    fn with_descriptors(
        &self,
        descriptors: &ArgDescriptors,
        _site: &CallSite<'_>,
        inference: &mut dyn Inference,
    ) -> Result<Arc<dyn Callable>, CallableError> {
        let target = inference.target().to_string();
        Python::attach(|py| {
            let describe = || -> PyResult<Bound<'_, PyDict>> {
                let given = PyDict::new(py);
                for (id, known) in descriptors {
                    given.set_item(id_object(py, id)?, descriptor(py, known)?)?;
                }
                Ok(given)
            };
            let given = describe().map_err(|error| self.failed(py, &error))?;
            let (object, in_target) = self.ask(py, "with_descriptors", (given, target), |answer| {
                let (object, in_target): (Bound<'_, PyAny>, Option<String>) = answer.extract()?;
                Ok((object.unbind(), in_target))
            })?;
            Ok(Arc::new(PyCallable {
                object: Arc::new(object),
                name: self.name.clone(),
                in_target: in_target.map(Into::into),
                types: self.types.clone(),
                descriptors: Some(descriptors.clone()),
            }) as Arc<dyn Callable>)
        })
    }

    fn emit_call(&self, site: &CallSite<'_>) -> Result<Emitted, CallableError> {
        match self.emitted("emit_call", site)? {
            Some((emitted, _)) => Ok(emitted),
            None => {
                let function = self.in_target.clone().ok_or_else(|| CallableError::NotReady { function: self.name.clone() })?;
                Ok(Emitted::Call(function, (0..site.args.len()).map(Emitted::argument).collect()))
            }
        }
    }

    fn emit_call_insn(&self, site: &CallSite<'_>) -> Result<(Emitted, bool), CallableError> {
        if let Some(emitted) = self.emitted("emit_call_insn", site)? {
            return Ok(emitted);
        }
        let function = self.in_target.clone().ok_or_else(|| CallableError::NotReady { function: self.name.clone() })?;
        let returns = site.results.first().is_some_and(|first| !matches!(first, Expr::SubArray(_)));
        let mut args: Vec<Emitted> = (0..site.args.len()).map(Emitted::argument).collect();
        for (place, result) in site.results.iter().enumerate().skip(usize::from(returns)) {
            let id = ArgId::result(place);
            args.push(if matches!(result, Expr::SubArray(_)) { Emitted::Arg(id) } else { Emitted::Address(id) });
        }
        Ok((Emitted::Call(function, args), returns))
    }

    fn preambles(&self, target: Target) -> Result<Vec<Preamble>, CallableError> {
        Python::attach(|py| {
            self.ask(py, "preambles", (target.to_string(),), |answer| {
                let pairs: Vec<(String, String)> = answer.extract()?;
                // SAFETY: C in Python programs is its author's business, as with `ctypes`.
                Ok(pairs.into_iter().map(|(key, text)| unsafe { Preamble::new(key, text) }).collect())
            })
        })
    }

    fn is_same(&self, other: &dyn Callable) -> bool {
        let Some(other) = other.as_any().downcast_ref::<PyCallable>() else { return false };
        let same_object = || Python::attach(|py| self.object.bind(py).eq(other.object.bind(py)).unwrap_or(false));
        self.types == other.types && self.descriptors == other.descriptors && self.in_target == other.in_target && same_object()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A look-up whose methods `find`, `symbol` and `mangle` are those of a Python object.
pub struct PyLookup {
    object: Py<PyAny>,
}

impl PyLookup {
    pub fn new(object: Bound<'_, PyAny>) -> PyLookup {
        PyLookup { object: object.unbind() }
    }
}

impl fmt::Debug for PyLookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PyLookup").finish_non_exhaustive()
    }
}

fn failed(py: Python<'_>, name: &str, error: &PyErr) -> CallableError {
    CallableError::Misfit { function: name.into(), reason: reason(py, error) }
}

impl FunctionLookup for PyLookup {
    fn find(&self, target: Option<Target>, name: &str) -> Result<Option<Arc<dyn Callable>>, CallableError> {
        Python::attach(|py| {
            let found = self.object.bind(py).call_method1("find", (target.map(|target| target.to_string()), name));
            let found = found.map_err(|error| failed(py, name, &error))?;
            Ok((!found.is_none()).then(|| Arc::new(PyCallable::new(name, found)) as Arc<dyn Callable>))
        })
    }

    fn find_typed(&self, target: Target, name: &str, types: &[Type]) -> Result<Option<Arc<dyn Callable>>, CallableError> {
        let find = |py: Python<'_>| -> PyResult<Option<Arc<dyn Callable>>> {
            let types = types.iter().map(|ty| type_object(py, Some(ty))).collect::<PyResult<Vec<_>>>()?;
            let found = self.object.bind(py).call_method1("mangle", (target.to_string(), name, types))?;
            if found.is_none() {
                return Ok(None);
            }
            let (in_target, args, results): (String, Vec<Bound<'_, PyAny>>, Vec<Bound<'_, PyAny>>) = found.extract()?;
            let args = args.iter().map(|dtype| dtype_of(dtype).map(Type::Scalar)).collect::<PyResult<Vec<_>>>()?;
            let results = results.iter().map(|dtype| dtype_of(dtype).map(Type::Scalar)).collect::<PyResult<Vec<_>>>()?;
            // SAFETY: which functions of C a Python program names is its author's business, as with `ctypes`.
            Ok(Some(Arc::new(unsafe { ScalarFunction::new(name).version(args, results, in_target) })))
        };
        Python::attach(|py| find(py).map_err(|error| failed(py, name, &error)))
    }

    fn symbol(&self, _target: Option<Target>, name: &str) -> Result<Option<Symbol>, CallableError> {
        let find = |py: Python<'_>| -> PyResult<Option<Symbol>> {
            let found = self.object.bind(py).call_method1("symbol", (name,))?;
            if found.is_none() {
                return Ok(None);
            }
            let (dtype, text): (Bound<'_, PyAny>, String) = found.extract()?;
            Ok(Some(Symbol { ty: Type::Scalar(dtype_of(&dtype)?), text }))
        };
        Python::attach(|py| find(py).map_err(|error| failed(py, name, &error)))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
