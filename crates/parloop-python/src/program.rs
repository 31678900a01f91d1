//! `parloop.Program`: compiled sources, with a kernel for each attribute.

use std::collections::HashMap;
use std::path::PathBuf;

use parloop_device as dev;
use parloop_device::{DType, DeviceKind};
use parloop_kernel as ker;
use parloop_object as obj;
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyIterator, PyList, PyString, PyTuple};

use crate::error::Result;
use crate::grid::{GridRule, grid_of};
use crate::html::html;
use crate::kernel::Kernel;
use crate::ndarray::dtype_of;
use crate::objects::types::type_of;
use crate::runtime_class::{Handoff, RuntimeClass, Slot, run};

/// Compiled sources. Each kernel is an attribute: `prog.axpy(…)`.
#[pyclass(frozen, dict, subclass, module = "parloop")]
pub struct Program {
    inner: ker::Program,
}

/// The types behind the names of classes.
pub type Classes = HashMap<String, obj::Type>;

impl Program {
    pub fn make<'py>(
        py: Python<'py>,
        inner: ker::Program,
        described: Vec<(ker::KernelDescription, GridRule)>,
        classes: &Classes,
    ) -> Result<Bound<'py, PyAny>> {
        let mut rules: Vec<(String, GridRule)> = described.into_iter().map(|(d, rule)| (d.name, rule)).collect();
        let kernels: Vec<(String, ker::Kernel)> = inner.kernels().map(|(name, kernel)| (name.to_owned(), kernel.clone())).collect();
        let program = class(py)?.make(py, Program { inner })?;
        let attributes = program.getattr("__dict__")?.cast_into::<PyDict>()?;
        for (name, kernel) in kernels {
            let rule = rules.iter().position(|(described, _)| *described == name).map(|at| rules.swap_remove(at).1);
            let types = kernel.signature().params.iter().map(|param| match &param.ty {
                ker::ParamType::Pointer { to: ker::Pointee::Class(class), .. } => classes.get(class).cloned(),
                _ => None,
            });
            let types = types.collect();
            attributes.set_item(&name, Kernel::new(py, kernel, rule.unwrap_or_default(), types).into_object(py)?)?;
        }
        Ok(program)
    }
}

/// The class of the objects that users see.
fn class(py: Python<'_>) -> PyResult<&'static RuntimeClass> {
    static CLASS: PyOnceLock<RuntimeClass> = PyOnceLock::new();
    CLASS.get_or_try_init(py, || RuntimeClass::new(py.get_type::<Program>(), c"parloop.Program", Slot::GetAttribute(get_attribute)))
}

/// Puts the class into the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Program", class(module.py())?.class(module.py()))
}

/// Kernels are found as any attribute is; an unknown name is an error that lists them.
unsafe extern "C" fn get_attribute(object: *mut ffi::PyObject, name: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: Python calls us, attached, with two live objects, the second a string.
    unsafe {
        let found = ffi::PyObject_GenericGetAttr(object, name);
        if !found.is_null() || ffi::PyErr_ExceptionMatches(ffi::PyExc_AttributeError) == 0 {
            return found;
        }
        let usual = PyErr::fetch(Python::assume_attached());
        run::<Program>(object, |program: &Bound<'_, Program>| {
            let name = pyo3::Borrowed::<PyAny>::from_ptr(program.py(), name).extract::<String>()?;
            if name.starts_with("__") {
                return Err(usual);
            }
            program.get().inner.kernel(&name).map_err(crate::error::Error::from)?;
            Err(usual)
        })
    }
}

#[pymethods]
impl Program {
    #[new]
    fn new_object(handoff: &Bound<'_, PyAny>) -> PyResult<Program> {
        Handoff::take(handoff)
    }

    /// The kernel of that name, which may also be one that the program has an attribute for: ``prog["source"]``.
    fn __getitem__<'py>(slf: &Bound<'py, Self>, name: &str) -> Result<Bound<'py, PyAny>> {
        match slf.getattr("__dict__")?.cast_into::<PyDict>()?.get_item(name)? {
            Some(kernel) => Ok(kernel),
            None => {
                slf.get().inner.kernel(name)?;
                Err(PyKeyError::new_err(name.to_owned()).into())
            }
        }
    }

    /// Whether it has a kernel of that name.
    fn __contains__(slf: &Bound<'_, Self>, name: &Bound<'_, PyAny>) -> Result<bool> {
        Ok(slf.getattr("__dict__")?.cast_into::<PyDict>()?.contains(name)?)
    }

    /// The names of its kernels, one after another; `prog.kernels` has the kernels too.
    fn __iter__<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyIterator>> {
        Ok(Program::kernels(slf)?.try_iter()?)
    }

    /// How many kernels it has.
    fn __len__(slf: &Bound<'_, Self>) -> Result<usize> {
        Ok(slf.getattr("__dict__")?.cast_into::<PyDict>()?.len())
    }

    /// A program without kernels is one too.
    fn __bool__(&self) -> bool {
        true
    }

    /// Its kernels, by name.
    #[getter]
    fn kernels<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyDict>> {
        Ok(slf.getattr("__dict__")?.cast_into::<PyDict>()?.copy()?)
    }

    /// The full source, as the compiler was given it; empty for a program that was loaded from a file.
    #[getter]
    fn source(&self) -> &str {
        self.inner.source()
    }

    /// `compiled`, or where in the cache it was found: `disk`, `memory`; `file` for a program that was loaded from one.
    #[getter]
    fn origin(&self) -> &'static str {
        match self.inner.origin() {
            ker::Origin::Compiled => "compiled",
            ker::Origin::Disk => "disk",
            ker::Origin::Memory => "memory",
            ker::Origin::File => "file",
        }
    }

    /// Writes the program to a file, with which `Context.load` has it again without a compiler.
    ///
    /// The file is for this kind of device, this architecture and this version of parloop. Grids that are Python functions are not
    /// saved: describe their kernels again when the file is loaded.
    ///
    /// Parameters
    /// ----------
    /// path : path
    ///     Where to write it; a file that is there is replaced.
    fn save(slf: &Bound<'_, Self>, path: PathBuf) -> Result<()> {
        let inner = slf.get().inner.forget(&computed_grids(slf)?)?;
        Ok(slf.py().detach(|| inner.save(path))?)
    }

    /// The same program with kernels under these descriptions as well.
    ///
    /// Parameters
    /// ----------
    /// kernels : dict of Kernel
    ///     Descriptions that are checked against the source, and grids.
    fn describe<'py>(slf: &Bound<'py, Self>, kernels: &Bound<'py, PyDict>) -> Result<Bound<'py, PyAny>> {
        let inner = &slf.get().inner;
        let described = described_anew(inner, kernels)?;
        let descriptions: Vec<ker::KernelDescription> = described.iter().map(|(description, _)| description.clone()).collect();
        let names: Vec<String> = descriptions.iter().map(|description| description.name.clone()).collect();
        let program = Program::make(slf.py(), inner.describe(&descriptions)?, described, &classes_in(kernels)?)?;
        // The others stay the objects they are, with grids that Rust does not know.
        let attributes = program.getattr("__dict__")?.cast_into::<PyDict>()?;
        for (name, kernel) in Program::kernels(slf)?.iter() {
            if !names.contains(&name.extract()?) {
                attributes.set_item(name, kernel)?;
            }
        }
        Ok(program)
    }

    fn _repr_html_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        html(py, "source", (self.__repr__(), self.inner.source()))
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.inner)
    }
}

/// Descriptions of a program's kernels, in which text may name one of its classes.
pub fn described_anew(program: &ker::Program, kernels: &Bound<'_, PyDict>) -> Result<Vec<(ker::KernelDescription, GridRule)>> {
    let classes: Vec<String> = program.classes().into_iter().map(str::to_owned).collect();
    kernel_descriptions(kernels, &classes)
}

/// The names of the kernels whose grid Python computes.
fn computed_grids(program: &Bound<'_, Program>) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for (name, kernel) in Program::kernels(program)?.iter() {
        if let Ok(kernel) = kernel.cast::<Kernel>()
            && !matches!(kernel.get().rule, GridRule::Own)
        {
            names.push(name.extract()?);
        }
    }
    Ok(names)
}

/// What a source is written in.
pub fn language(cpp: bool) -> ker::Language {
    if cpp { ker::Language::Cpp } else { ker::Language::C }
}

/// Compiles portable C, or C++, for a target whose device need not be here, and returns the binary.
///
/// >>> import parloop as pl
/// >>> binary = pl.compile_for("cuda", "sm_90", "GPUKERN void f(double *x) { x[0] = 1; }")  # doctest: +SKIP
#[pyfunction]
#[pyo3(signature = (target, arch, source, *, include=vec![], arguments=vec![], classes=vec![], checked=None, cpp=false))]
#[allow(clippy::too_many_arguments)] // the surface of one Python call; each goes to a field of the options
pub fn compile_for<'py>(
    py: Python<'py>,
    target: &str,
    arch: &str,
    source: &Bound<'py, PyAny>,
    include: Vec<PathBuf>,
    arguments: Vec<String>,
    classes: Vec<String>,
    checked: Option<bool>,
    cpp: bool,
) -> Result<Bound<'py, PyBytes>> {
    let sources = sources_of(source, None)?;
    let language = language(cpp);
    let mut options = ker::CompileOptions { language, include_folders: include, arguments, classes, ..Default::default() };
    options.checked = checked.unwrap_or(options.checked);
    let (kind, compiler) = match target {
        "cpu" => (DeviceKind::Cpu, dev::cpu::compiler_of(language)),
        "cuda" => (DeviceKind::Cuda, dev::cuda::compiler(arch)),
        "hip" => (DeviceKind::Hip, dev::hip::compiler(arch)),
        _ => return Err(PyValueError::new_err(format!("a target must be cpu, cuda or hip, not {target:?}")).into()),
    };
    let compiler = compiler.map_err(ker::KernelError::from)?;
    let binary = py.detach(|| ker::compile_for(kind, &*compiler, &sources, &options))?;
    Ok(PyBytes::new(py, &binary.bytes))
}

/// Text, a path, or a list of them, after the hook.
pub fn sources_of(object: &Bound<'_, PyAny>, hook: Option<&Bound<'_, PyAny>>) -> Result<Vec<ker::Source>> {
    let items: Vec<Bound<'_, PyAny>> = match (object.cast::<PyList>(), object.cast::<PyTuple>()) {
        (Ok(list), _) => list.iter().collect(),
        (_, Ok(tuple)) => tuple.iter().collect(),
        _ => vec![object.clone()],
    };
    if items.is_empty() {
        return Err(PyValueError::new_err("no source was given").into());
    }
    let one = |item: Bound<'_, PyAny>| -> Result<ker::Source> {
        let source = source_of(&item)?;
        let Some(hook) = hook.filter(|hook| !hook.is_none()) else { return Ok(source) };
        let mut changed = Ok(String::new());
        let source = source.map_text(|text| {
            changed = hook.call1((text,)).and_then(|text| text.extract::<String>());
            changed.as_ref().map_or_else(|_| String::new(), Clone::clone)
        });
        changed?;
        Ok(source)
    };
    items.into_iter().map(one).collect()
}

fn source_of(item: &Bound<'_, PyAny>) -> Result<ker::Source> {
    if let Ok(text) = item.extract::<String>() {
        let looks_like_file = !text.contains(['\n', ';', '{']) && [".c", ".h", ".cl", ".cu", ".hip"].iter().any(|end| text.ends_with(end));
        return if looks_like_file { Ok(ker::Source::file(text)?) } else { Ok(ker::Source::text(text)) };
    }
    if let Ok(text) = item.cast::<PyString>() {
        // It was not text for Rust: Python says which character has no place in UTF-8.
        let reason = text.to_str().err().map_or_else(String::new, |error| error.value(item.py()).to_string());
        return Err(PyValueError::new_err(format!("a source must be UTF-8 text, but this one is not: {reason}")).into());
    }
    if let Some(inner) = item.getattr_opt("source")? {
        let text = inner.extract::<String>()?;
        return Ok(match item.getattr("name")?.extract::<Option<String>>()? {
            Some(name) => ker::Source::named(name, text),
            None => ker::Source::text(text),
        });
    }
    match item.extract::<PathBuf>() {
        Ok(path) => Ok(ker::Source::file(path)?),
        Err(_) => Err(PyTypeError::new_err(format!("a source must be text or a path, not {}", item.get_type().name()?)).into()),
    }
}

/// The descriptions in `kernels={name: Kernel(…)}`, in which text may name one of the classes.
pub fn kernel_descriptions(kernels: &Bound<'_, PyDict>, classes: &[String]) -> Result<Vec<(ker::KernelDescription, GridRule)>> {
    kernels.iter().map(|(name, kernel)| description(name.extract()?, &kernel, classes)).collect()
}

fn description(name: String, kernel: &Bound<'_, PyAny>, classes: &[String]) -> Result<(ker::KernelDescription, GridRule)> {
    let given = |field: &str| -> PyResult<Option<Bound<'_, PyAny>>> { Ok(Some(kernel.getattr(field)?).filter(|value| !value.is_none())) };
    let params = match given("args")? {
        Some(args) => Some(args.try_iter()?.map(|arg| described_param(&arg?, classes)).collect::<Result<Vec<_>>>()?),
        None => None,
    };
    let returns = match given("ret")? {
        Some(ret) => Some(described_return(&ret, classes)?),
        None => None,
    };
    let (grid, rule) = match given("grid")? {
        Some(grid) => grid_of(&grid)?,
        None => (ker::Grid::Auto, GridRule::Own),
    };
    let c_name = given("c_name")?.map(|c_name| c_name.extract()).transpose()?;
    let block = given("block")?.map(|block| block.extract()).transpose()?;
    Ok((ker::KernelDescription { name, c_name, params, returns, grid, block }, rule))
}

fn described_param(arg: &Bound<'_, PyAny>, classes: &[String]) -> Result<ker::DescribedParam> {
    let atype = arg.getattr("atype")?;
    let class = class_name(&atype, classes)?;
    Ok(ker::DescribedParam {
        name: arg.getattr("name")?.extract()?,
        dtype: if class.is_some() { None } else { scalar_type(&atype)? },
        class,
        pointer: arg.getattr("pointer")?.is_truthy()?,
        constant: Some(arg.getattr("const")?.is_truthy()?),
    })
}

/// What is returned: an `Arg`, or a type; `None` is void.
fn described_return(ret: &Bound<'_, PyAny>, classes: &[String]) -> Result<Option<ker::DescribedParam>> {
    if ret.hasattr("atype")? {
        let described = described_param(ret, classes)?;
        let is_void = described.dtype.is_none() && described.class.is_none() && !described.pointer;
        return Ok(Some(described).filter(|_| !is_void));
    }
    let class = class_name(ret, classes)?;
    let dtype = if class.is_some() { None } else { scalar_type(ret)? };
    Ok(Some(ker::DescribedParam { dtype, class, ..Default::default() }))
}

/// The class that a type of an argument names: text that is one of the classes, or a Python class with `_c_type` and no `_dtype`.
fn class_name(atype: &Bound<'_, PyAny>, classes: &[String]) -> Result<Option<String>> {
    if let Ok(name) = atype.extract::<String>() {
        return Ok(Some(name).filter(|name| classes.contains(name)));
    }
    if atype.hasattr("_dtype")? {
        return Ok(None);
    }
    Ok(atype.getattr("_c_type").ok().and_then(|name| name.extract().ok()))
}

/// The names of classes, and the types of those that were given as classes.
pub fn classes_of(given: &[Bound<'_, PyAny>]) -> Result<(Vec<String>, Classes)> {
    let (mut names, mut types) = (Vec::new(), Classes::new());
    for class in given {
        match class.extract::<String>() {
            Ok(name) => names.push(name),
            Err(_) => {
                let ty = type_of(class)?.get().ty.clone();
                names.push(ty.name().to_owned());
                types.insert(ty.name().to_owned(), ty);
            }
        }
    }
    Ok((names, types))
}

/// The types of the objects that described kernels take.
pub fn classes_in(kernels: &Bound<'_, PyDict>) -> Result<Classes> {
    let mut types = Classes::new();
    for kernel in kernels.values() {
        let args = kernel.getattr("args")?;
        if args.is_none() {
            continue;
        }
        for arg in args.try_iter()? {
            if let Ok(ty) = type_of(&arg?.getattr("atype")?) {
                types.insert(ty.get().ty.name().to_owned(), ty.get().ty.clone());
            }
        }
    }
    Ok(types)
}

/// A scalar type by any of its names: ours, NumPy's, or a class with `_dtype`; `None` for None.
fn scalar_type(object: &Bound<'_, PyAny>) -> Result<Option<DType>> {
    if object.is_none() {
        return Ok(None);
    }
    Ok(Some(match object.getattr("_dtype") {
        Ok(dtype) => dtype_of(&dtype)?,
        Err(_) => dtype_of(object)?,
    }))
}
