//! `_Object` and `_ArrayObject`: what objects of all classes of `parloop.objects` are made of.

use std::ffi::{CStr, c_int, c_void};
use std::sync::{Mutex, OnceLock};

use parloop_device::DType;
use parloop_kernel::Scalar;
use parloop_object as obj;
use parloop_object::{ArrayShape, Home, Placement, Value, View};
use pyo3::exceptions::{PyBufferError, PyIndexError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyComplex, PyDict, PyFloat, PyInt, PyString, PyTuple, PyType};
use smallvec::SmallVec;

use super::buffer::{Buffer, offset_of};
use super::convert::{Keep, default_of, fields_and_more, fields_of, plain_fields, scalar_of, value_of};
use super::types::{ObjectType, Parts};
use crate::context::Context;
use crate::error::Result;
use crate::exceptions::Exception;
use crate::index::Layout;
use crate::runtime_class::run;

/// An object in a buffer.
#[pyclass(frozen, subclass, weakref, module = "parloop._parloop", name = "_Object")]
pub struct Object {
    body: OnceLock<Body>,
}

/// Where an object is and what it is.
pub struct Body {
    pub view: View,
    pub ty: Py<ObjectType>,
    pub buffer: Py<Buffer>,
    /// Of an array, which never changes it.
    shape: OnceLock<ArrayShape>,
}

impl Body {
    fn new(view: View, ty: Py<ObjectType>, buffer: Py<Buffer>) -> Body {
        Body { view, ty, buffer, shape: OnceLock::new() }
    }

    fn shape(&self) -> Result<&ArrayShape> {
        match self.shape.get() {
            Some(shape) => Ok(shape),
            None => {
                let shape = self.view.array_shape()?;
                Ok(self.shape.get_or_init(|| shape))
            }
        }
    }

    /// Where it is in host memory now, if it is there and alive.
    #[inline]
    pub fn host(&self) -> Option<*mut u8> {
        match self.view.owner() {
            Some(owner) if owner.is_freed() => None,
            // SAFETY: the object lies inside the buffer.
            _ => self.view.buffer().host_pointer().map(|base| unsafe { base.add(self.view.offset()) }),
        }
    }
}

impl Object {
    #[inline]
    pub fn body(&self) -> Result<&Body> {
        self.body.get().ok_or_else(|| PyRuntimeError::new_err("the object was not made yet: call super().__init__() first").into())
    }
}

/// Bodies on their way into objects of Python classes. Making one may make others meanwhile: the last one in is the first one out.
static MADE: Mutex<Vec<Body>> = Mutex::new(Vec::new());

/// The arguments by which `__new__` knows that a body waits for it.
fn from_made(py: Python<'_>) -> PyResult<&Bound<'_, PyTuple>> {
    static ARGUMENTS: PyOnceLock<Py<PyTuple>> = PyOnceLock::new();
    let make = || Ok::<_, PyErr>(PyTuple::new(py, ["a body was made"])?.unbind());
    Ok(ARGUMENTS.get_or_try_init(py, make)?.bind(py))
}

fn taken(args: &Bound<'_, PyTuple>) -> PyResult<OnceLock<Body>> {
    let body = if args.is(from_made(args.py())?) { MADE.lock().unwrap_or_else(|e| e.into_inner()).pop() } else { None };
    Ok(body.map_or_else(OnceLock::new, OnceLock::from))
}

/// An object of the type's class, without its `__init__`.
fn make(py: Python<'_>, body: Body) -> Result<Bound<'_, PyAny>> {
    let ty = body.ty.clone_ref(py);
    let bind = ty.get().bind()?;
    let args = from_made(py)?;
    MADE.lock().unwrap_or_else(|e| e.into_inner()).push(body);
    let base = if matches!(ty.get().ty, obj::Type::Array(_)) { py.get_type::<ArrayObject>() } else { py.get_type::<Object>() };
    let class = bind.class.bind(py);
    // SAFETY: the class inherits from `base`, whose `tp_new` takes any arguments and makes objects of subclasses too.
    let object = unsafe {
        let new: ffi::newfunc = std::mem::transmute(ffi::PyType_GetSlot(base.as_type_ptr(), ffi::Py_tp_new));
        Bound::from_owned_ptr_or_err(py, new(class.as_type_ptr(), args.as_ptr(), std::ptr::null_mut()))?
    };
    if bind.post_init {
        object.call_method0("_post_init")?;
    }
    Ok(object)
}

/// What Python sees of a part: numbers and texts themselves, what references refer to, objects otherwise.
pub fn wrap<'py>(py: Python<'py>, view: View, ty: &Py<ObjectType>, buffer: &Py<Buffer>) -> Result<Bound<'py, PyAny>> {
    match (&ty.get().ty, &ty.get().parts) {
        (obj::Type::Scalar(_), _) => Ok(number(py, view.scalar()?)?),
        (obj::Type::String(_), _) => Ok(PyString::new(py, &view.text()?).into_any()),
        (obj::Type::Ref(_), Parts::Target(target)) => match view.target()? {
            Some(found) => wrap(py, found, target, buffer),
            None => Ok(py.None().into_bound(py)),
        },
        (obj::Type::Union(union), Parts::Members(members)) => match view.target()? {
            Some(found) => {
                let id = union.typeid(found.ty()).unwrap_or(0);
                wrap(py, found, &members[id], buffer)
            }
            None => Ok(py.None().into_bound(py)),
        },
        _ => make(py, Body::new(view, ty.clone_ref(py), buffer.clone_ref(py))),
    }
}

/// A number as Python's own.
pub fn number(py: Python<'_>, value: Scalar) -> PyResult<Bound<'_, PyAny>> {
    Ok(match value {
        Scalar::Bool(value) => PyBool::new(py, value).to_owned().into_any(),
        Scalar::Int(value) => match i64::try_from(value) {
            Ok(value) => value.into_pyobject(py)?.into_any(),
            Err(_) => value.into_pyobject(py)?.into_any(),
        },
        Scalar::Float(value) => PyFloat::new(py, value).into_any(),
        Scalar::Complex(value) => PyComplex::from_doubles(py, value.re, value.im).into_any(),
        Scalar::Address(value) => value.into_pyobject(py)?.into_any(),
    })
}

/// The number at an address.
///
/// # Safety
/// `dtype.size()` readable bytes at `at`.
#[inline]
pub unsafe fn load(py: Python<'_>, at: *const u8, dtype: DType) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: the caller's promise is the one asked for.
    unsafe {
        Ok(match dtype {
            DType::F64 => PyFloat::new(py, at.cast::<f64>().read_unaligned()).into_any(),
            DType::I64 => at.cast::<i64>().read_unaligned().into_pyobject(py)?.into_any(),
            DType::I32 => at.cast::<i32>().read_unaligned().into_pyobject(py)?.into_any(),
            DType::F32 => PyFloat::new(py, at.cast::<f32>().read_unaligned().into()).into_any(),
            _ => {
                let mut bytes = [0u64; 2];
                std::ptr::copy_nonoverlapping(at, bytes.as_mut_ptr().cast::<u8>(), dtype.size());
                number(py, parloop_kernel::decode(bytes, dtype))?
            }
        })
    }
}

/// Writes a number at an address if it is plainly of the right kind; whether it was.
///
/// # Safety
/// `dtype.size()` writable bytes at `at`.
#[inline]
pub unsafe fn store(at: *mut u8, dtype: DType, value: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the caller's promise is the one asked for; the exact types were looked at.
    unsafe {
        if dtype == DType::F64 && value.is_exact_instance_of::<PyFloat>() {
            at.cast::<f64>().write_unaligned(ffi::PyFloat_AsDouble(value.as_ptr()));
            return true;
        }
        if dtype == DType::I64 && value.is_exact_instance_of::<PyInt>() {
            let mut overflow = 0;
            let found = ffi::PyLong_AsLongLongAndOverflow(value.as_ptr(), &mut overflow);
            if overflow == 0 {
                at.cast::<i64>().write_unaligned(found);
                return true;
            }
        }
        false
    }
}

/// Where a user wants a new object.
#[derive(Default)]
struct Wanted<'py> {
    context: Option<Bound<'py, PyAny>>,
    buffer: Option<Bound<'py, PyAny>>,
    offset: Option<Bound<'py, PyAny>>,
}

impl<'py> Wanted<'py> {
    /// Takes one of the named arguments, if it is about the placement.
    fn offer(&mut self, name: &Bound<'py, PyAny>, value: &Bound<'py, PyAny>) -> PyResult<bool> {
        let py = name.py();
        let same = |known: &Bound<'py, PyString>| Ok::<_, PyErr>(known.is(name) || known.as_any().eq(name)?);
        let place = if same(pyo3::intern!(py, "_context"))? {
            &mut self.context
        } else if same(pyo3::intern!(py, "_buffer"))? {
            &mut self.buffer
        } else if same(pyo3::intern!(py, "_offset"))? {
            &mut self.offset
        } else {
            return Ok(false);
        };
        *place = Some(value.clone()).filter(|value| !value.is_none());
        Ok(true)
    }

    /// Takes the placement out of the named arguments.
    fn take(named: Option<&Bound<'py, PyDict>>) -> PyResult<Wanted<'py>> {
        let mut wanted = Wanted::default();
        let Some(named) = named else { return Ok(wanted) };
        let py = named.py();
        let pop = |name: &Bound<'py, PyString>| -> PyResult<Option<Bound<'py, PyAny>>> {
            match named.get_item(name)? {
                Some(value) => {
                    named.del_item(name)?;
                    Ok(Some(value).filter(|value| !value.is_none()))
                }
                None => Ok(None),
            }
        };
        wanted.context = pop(pyo3::intern!(py, "_context"))?;
        wanted.buffer = pop(pyo3::intern!(py, "_buffer"))?;
        wanted.offset = pop(pyo3::intern!(py, "_offset"))?;
        Ok(wanted)
    }

    fn placement(&self) -> Result<Placement> {
        let Some(offset) = &self.offset else { return Ok(Placement::Aligned) };
        match offset.extract::<String>().as_deref() {
            Ok("aligned") => Ok(Placement::Aligned),
            Ok("packed") => Ok(Placement::Packed),
            _ => match offset.extract::<isize>() {
                Ok(offset) => Ok(Placement::At(offset_of(offset)?)),
                Err(_) => Err(PyValueError::new_err(format!("_offset is \"aligned\", \"packed\" or a number, not {offset}")).into()),
            },
        }
    }

    fn place(&self, py: Python<'py>, make: impl FnOnce(Home<'_>) -> Result<View>) -> Result<(View, Py<Buffer>)> {
        let Some(buffer) = &self.buffer else {
            if self.offset.is_some() {
                return Err(PyValueError::new_err("Cannot set `_offset` without `_buffer`").into());
            }
            let (context, kernel) = Context::object_of(self.context.as_ref(), py)?;
            let view = make(Home::Own(&kernel))?;
            let buffer = Buffer::new(py, &context, view.buffer().clone())?;
            return Ok((view, buffer));
        };
        let buffer = buffer.cast::<Buffer>().map_err(|_| PyTypeError::new_err(format!("_buffer is a Buffer, not {buffer}")))?;
        if let Some(context) = &self.context
            && !buffer.get().context.bind(py).is(context)
        {
            let reason = format!("Mismatched buffer ({buffer}) and context ({context}): give one of them");
            return Err(PyValueError::new_err(reason).into());
        }
        let view = make(Home::In(&buffer.get().inner, self.placement()?))?;
        Ok((view, buffer.clone().unbind()))
    }
}

/// The value that the arguments of a class mean.
fn value_from<'a, 'py>(
    ty: &ObjectType,
    args: &Bound<'py, PyTuple>,
    named: Option<&Bound<'py, PyDict>>,
    keep: &mut Keep<'py>,
) -> Result<Value<'a>> {
    let py = args.py();
    let named = named.filter(|named| !named.is_empty());
    if let obj::Type::Struct(_) = ty.ty {
        return match (args.len(), named) {
            (0, Some(named)) => fields_of(ty, named, keep),
            (0, None) => fields_of(ty, &PyDict::new(py), keep),
            (1, None) => value_of(ty, &args.get_item(0)?, keep),
            (_, None) => value_of(ty, args.as_any(), keep),
            _ => Err(Exception::ObjectTypeError.error(format!("{} is made from fields by name or from one value, not both", ty.ty)).into()),
        };
    }
    if let Some(named) = named {
        let names = named.keys();
        return Err(PyTypeError::new_err(format!("{} takes no arguments {names}", ty.ty)).into());
    }
    match (args.len(), &ty.ty) {
        (0, _) => default_of(ty, keep, py),
        (1, _) => value_of(ty, &args.get_item(0)?, keep),
        (_, obj::Type::Array(_) | obj::Type::Union(_)) => value_of(ty, args.as_any(), keep),
        (count, _) => Err(PyTypeError::new_err(format!("{} takes one value, {count} were given", ty.ty)).into()),
    }
}

impl Object {
    /// What `__init__` does.
    fn initialise<'py>(slf: &Bound<'py, Self>, args: &Bound<'py, PyTuple>, named: Option<&Bound<'py, PyDict>>) -> Result<()> {
        let py = slf.py();
        let class = slf.get_type();
        let ty = class.getattr(pyo3::intern!(py, "_type"))?.cast_into::<ObjectType>()?;
        let bind = ty.get().bind()?;
        let by_name = named.filter(|_| args.is_empty() && !bind.pre_init);
        let mut wanted = Wanted::default();
        let (view, buffer) = match (by_name, &ty.get().plain, &ty.get().ty) {
            (Some(named), Some(defaults), _) => {
                let bytes = plain_fields(ty.get(), defaults, named, |name, value| Ok(wanted.offer(name, value)?))?;
                wanted.place(py, |home| Ok(ty.get().ty.make_of_bytes(&bytes, home)?))?
            }
            (Some(named), None, obj::Type::Struct(_)) => {
                let mut keep = Keep::new();
                let value = fields_and_more(ty.get(), named, &mut keep, |name, value| Ok(wanted.offer(name, value)?))?;
                wanted.place(py, |home| Ok(ty.get().ty.make(value, home)?))?
            }
            _ => {
                let mut keep = Keep::new();
                let (wanted, value) = Object::value_of_arguments(&class, ty.get(), args, named, &mut keep)?;
                wanted.place(py, |home| Ok(ty.get().ty.make(value, home)?))?
            }
        };
        if slf.get().body.set(Body::new(view, ty.clone().unbind(), buffer)).is_err() {
            return Err(PyRuntimeError::new_err("the object is made already").into());
        }
        if bind.post_init {
            slf.call_method0("_post_init")?;
        }
        Ok(())
    }

    fn value_of_arguments<'a, 'py>(
        class: &Bound<'py, PyType>,
        ty: &ObjectType,
        args: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
        keep: &mut Keep<'py>,
    ) -> Result<(Wanted<'py>, Value<'a>)> {
        let wanted = Wanted::take(named)?;
        if !ty.bind()?.pre_init {
            return Ok((wanted, value_from(ty, args, named, keep)?));
        }
        let changed = class.call_method("_pre_init", args, named)?;
        let (args, named): (Bound<'_, PyTuple>, Bound<'_, PyDict>) = changed.extract()?;
        let value = value_from(ty, &args, Some(&named), keep)?;
        keep.push(args.into_any());
        keep.push(named.into_any());
        Ok((wanted, value))
    }
}

#[pymethods]
impl Object {
    /// Arguments belong to `__init__`.
    #[new]
    #[pyo3(signature = (*args, **_named))]
    fn new(args: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyDict>>) -> PyResult<Object> {
        Ok(Object { body: taken(args)? })
    }

    /// The object of this class that is at an offset of a buffer.
    #[classmethod]
    #[pyo3(signature = (buffer, offset=0))]
    fn _from_buffer<'py>(class: &Bound<'py, PyType>, buffer: &Bound<'py, Buffer>, offset: isize) -> Result<Bound<'py, PyAny>> {
        let py = class.py();
        let ty = class.getattr(pyo3::intern!(py, "_type"))?.cast_into::<ObjectType>()?.unbind();
        let view = View::at(&buffer.get().inner, offset_of(offset)?, &ty.get().ty)?;
        match ty.get().ty {
            // What is asked for is the reference itself.
            obj::Type::Union(_) => make(py, Body::new(view, ty, buffer.clone().unbind())),
            _ => wrap(py, view, &ty, &buffer.clone().unbind()),
        }
    }

    /// As `_from_buffer`, but always an object of the class: no text for a string.
    #[classmethod]
    fn _at<'py>(class: &Bound<'py, PyType>, buffer: &Bound<'py, Buffer>, offset: isize) -> Result<Bound<'py, PyAny>> {
        let py = class.py();
        let ty = class.getattr(pyo3::intern!(py, "_type"))?.cast_into::<ObjectType>()?.unbind();
        let view = View::at(&buffer.get().inner, offset_of(offset)?, &ty.get().ty)?;
        make(py, Body::new(view, ty, buffer.clone().unbind()))
    }

    /// The buffer that holds it.
    #[getter]
    fn _buffer(&self, py: Python<'_>) -> Result<Py<Buffer>> {
        Ok(self.body()?.buffer.clone_ref(py))
    }

    /// Where in the buffer it is.
    #[getter]
    fn _offset(&self) -> Result<usize> {
        Ok(self.body()?.view.offset())
    }

    /// The context it lives on.
    #[getter]
    fn _context(&self, py: Python<'_>) -> Result<Py<PyAny>> {
        Ok(self.body()?.buffer.get().context.clone_ref(py))
    }

    /// Its bytes, counted.
    fn _get_size(&self) -> Result<usize> {
        let view = &self.body()?.view;
        view.check_alive()?;
        Ok(view.size()?)
    }

    /// Gives it another value of the same size.
    fn _update(&self, value: &Bound<'_, PyAny>) -> Result<()> {
        let body = self.body()?;
        let mut keep = Keep::new();
        let ty = body.ty.get();
        let value = match (&ty.ty, value.cast::<PyDict>()) {
            (obj::Type::Struct(_), Ok(dict)) => given_fields(ty, dict, &mut keep)?,
            _ => value_of(ty, value, &mut keep)?,
        };
        Ok(body.view.set(value)?)
    }

    /// What a reference refers to, None for null.
    fn _target<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        let body = self.body()?;
        let (obj::Type::Union(union), Parts::Members(members)) = (&body.ty.get().ty, &body.ty.get().parts) else {
            return Err(PyTypeError::new_err("only a union refers to something").into());
        };
        match body.view.target()? {
            Some(found) => {
                let id = union.typeid(found.ty()).unwrap_or(0);
                wrap(py, found, &members[id], &body.buffer)
            }
            None => Ok(py.None().into_bound(py)),
        }
    }

    /// The field at this position, as Python sees it.
    fn _field<'py>(&self, py: Python<'py>, index: usize) -> Result<Bound<'py, PyAny>> {
        let body = self.body()?;
        match body.ty.get().fields().get(index) {
            Some(part) => wrap(py, body.view.field_at(index)?, &part.ty, &body.buffer),
            None => Err(PyIndexError::new_err(format!("{} has no field {index}", body.ty.get().ty)).into()),
        }
    }

    /// Where in the buffer the field at this position is.
    fn _field_offset(&self, index: usize) -> Result<usize> {
        Ok(self.body()?.view.field_at(index)?.offset())
    }

    /// A text, as a string has it.
    fn _text(&self) -> Result<String> {
        Ok(self.body()?.view.text()?)
    }

    /// The bytes of the object itself.
    fn _bytes<'py>(&self, py: Python<'py>) -> Result<Bound<'py, pyo3::types::PyBytes>> {
        Ok(pyo3::types::PyBytes::new(py, &self.body()?.view.to_bytes()?))
    }
}

/// Fields by name, and no others: those left out keep their values.
fn given_fields<'a, 'py>(ty: &ObjectType, dict: &Bound<'py, PyDict>, keep: &mut Keep<'py>) -> Result<Value<'a>> {
    let obj::Type::Struct(structure) = &ty.ty else { return Err(PyTypeError::new_err("only a struct has fields").into()) };
    let mut fields = Vec::new();
    for (name, value) in dict {
        let name: String = name.extract()?;
        let Some((index, _)) = structure.field(&name) else {
            let fields = structure.fields.iter().map(|field| field.name.clone()).collect();
            return Err(obj::ObjectError::NoSuchField { path: structure.name.clone(), field: name, fields }.into());
        };
        let part = ty.fields()[index].ty.get();
        let value = match value.cast::<PyDict>() {
            Ok(dict) if matches!(part.ty, obj::Type::Struct(_)) => given_fields(part, dict, keep)?,
            _ => value_of(part, &value, keep)?,
        };
        fields.push((index, value));
    }
    Ok(Value::Fields(fields))
}

/// An array in a buffer.
#[pyclass(frozen, subclass, extends = Object, module = "parloop._parloop", name = "_ArrayObject")]
pub struct ArrayObject;

/// An index as the user gave it.
enum Index<'py> {
    /// One item.
    Item(SmallVec<[usize; 4]>),
    /// Several.
    Part(Bound<'py, PyAny>),
}

fn index_of<'py>(body: &Body, index: &Bound<'py, PyAny>) -> Result<Index<'py>> {
    let shape = &body.shape()?.shape;
    let mut given: SmallVec<[isize; 4]> = SmallVec::new();
    if let Ok(tuple) = index.cast::<PyTuple>() {
        for item in tuple.iter() {
            match integer(&item) {
                Some(item) => given.push(item),
                None => return Ok(Index::Part(index.clone())),
            }
        }
    } else {
        match integer(index) {
            Some(index) => given.push(index),
            None => return Ok(Index::Part(index.clone())),
        }
    }
    let outside = || obj::ObjectError::Index {
        path: body.ty.get().ty.name().into(),
        index: given.iter().map(|&i| i as i64).collect(),
        bounds: shape.to_vec(),
    };
    if given.len() > shape.len() {
        return Err(outside().into());
    }
    let mut found = SmallVec::new();
    for (&index, &dim) in given.iter().zip(shape) {
        let place = if index < 0 { index + dim as isize } else { index };
        if place < 0 || place as usize >= dim {
            return Err(outside().into());
        }
        found.push(place as usize);
    }
    if found.len() < shape.len() { Ok(Index::Part(index.clone())) } else { Ok(Index::Item(found)) }
}

fn integer(object: &Bound<'_, PyAny>) -> Option<isize> {
    if object.is_instance_of::<PyBool>() { None } else { object.extract::<isize>().ok() }
}

impl ArrayObject {
    fn nplike<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        let base = slf.as_super();
        let body = base.get().body()?;
        body.view.check_alive()?;
        let obj::Type::Array(ty) = &body.ty.get().ty else { return Err(PyTypeError::new_err("this is no array").into()) };
        let Some(dtype) = ty.item.scalar() else {
            return Err(PyTypeError::new_err(format!("{} holds objects: only arrays of numbers have a view", ty.name)).into());
        };
        let shape = body.shape()?;
        let layout = Layout {
            shape: shape.shape.to_vec(),
            strides: shape.strides.iter().map(|&stride| stride as isize).collect(),
            offset: body.view.offset() + shape.data,
            itemsize: dtype.size(),
        };
        body.buffer.get().view(slf.py(), slf.clone().into_any(), dtype, layout)
    }
}

#[pymethods]
impl ArrayObject {
    #[new]
    #[pyo3(signature = (*args, **_named))]
    fn new(args: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyDict>>) -> PyResult<PyClassInitializer<ArrayObject>> {
        Ok(PyClassInitializer::from(Object { body: taken(args)? }).add_subclass(ArrayObject))
    }

    /// The number of items.
    fn __len__(slf: &Bound<'_, Self>) -> Result<usize> {
        Ok(slf.as_super().get().body()?.shape()?.count())
    }

    fn __getitem__<'py>(slf: &Bound<'py, Self>, index: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        let body = slf.as_super().get().body()?;
        let index = match index_of(body, index)? {
            Index::Item(index) => index,
            Index::Part(index) => return part(slf, body, &index),
        };
        let (obj::Type::Array(ty), Parts::Item(item)) = (&body.ty.get().ty, &body.ty.get().parts) else {
            return Err(PyTypeError::new_err("this is no array").into());
        };
        let shape = body.shape()?;
        if let (Some(dtype), Some(base), Some(at)) = (ty.item.scalar(), body.host(), shape.position(&index)) {
            // SAFETY: the item lies inside the array.
            return Ok(unsafe { load(slf.py(), base.add(at), dtype)? });
        }
        body.view.check_alive()?;
        wrap(slf.py(), body.view.item_in(shape, &index)?, item, &body.buffer)
    }

    fn __setitem__<'py>(slf: &Bound<'py, Self>, index: &Bound<'py, PyAny>, value: &Bound<'py, PyAny>) -> Result<()> {
        let body = slf.as_super().get().body()?;
        let index = match index_of(body, index)? {
            Index::Item(index) => index,
            Index::Part(index) => {
                let view = ArrayObject::nplike(slf)?;
                return Ok(view.set_item(index, value)?);
            }
        };
        let (obj::Type::Array(ty), Parts::Item(item)) = (&body.ty.get().ty, &body.ty.get().parts) else {
            return Err(PyTypeError::new_err("this is no array").into());
        };
        let shape = body.shape()?;
        if let (Some(dtype), Some(base), Some(at)) = (ty.item.scalar(), body.host(), shape.position(&index)) {
            // SAFETY: the item lies inside the array.
            if unsafe { store(base.add(at), dtype, value) } {
                return Ok(());
            }
        }
        body.view.check_alive()?;
        let view = body.view.item_in(shape, &index)?;
        set(&view, item.get(), value)
    }

    /// The dimensions of the object.
    #[getter]
    fn _dims<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyTuple>> {
        Ok(PyTuple::new(slf.py(), &slf.as_super().get().body()?.shape()?.shape)?)
    }

    /// The distance between items, or between the words with their offsets, along each axis.
    #[getter]
    fn _steps<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyTuple>> {
        Ok(PyTuple::new(slf.py(), &slf.as_super().get().body()?.shape()?.strides)?)
    }

    /// Where in the buffer the item with this index is.
    fn _item_offset(slf: &Bound<'_, Self>, index: &Bound<'_, PyAny>) -> Result<usize> {
        let body = slf.as_super().get().body()?;
        match index_of(body, index)? {
            Index::Item(index) => Ok(body.view.item_in(body.shape()?, &index)?.offset()),
            Index::Part(_) => Err(PyIndexError::new_err("one integer for each axis is needed").into()),
        }
    }

    /// A view of the numbers: a NumPy array on a CPU, a `parloop.Array` elsewhere. Writing to it writes to the object.
    fn to_nplike<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        ArrayObject::nplike(slf)
    }

    /// The numbers as a NumPy array: a view on a CPU, a copy from elsewhere.
    fn to_nparray<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        let view = ArrayObject::nplike(slf)?;
        if !view.is_instance_of::<crate::array::Array>() {
            return Ok(view);
        }
        // One copy of the bytes as they lie, with the axes in their order in memory, then put right.
        let obj::Type::Array(ty) = &slf.as_super().get().body()?.ty.get().ty else { return Ok(view) };
        let order = PyTuple::new(slf.py(), &ty.order)?;
        let back =
            PyTuple::new(slf.py(), (0..ty.order.len()).map(|axis| ty.order.iter().position(|&place| place == axis).unwrap_or(axis)))?;
        let host = view.call_method1("transpose", (order,))?.call_method0("numpy")?;
        Ok(host.call_method1("transpose", (back,))?)
    }
}

/// Changes a part to what Python gives.
pub fn set(view: &View, ty: &ObjectType, value: &Bound<'_, PyAny>) -> Result<()> {
    let mut keep = Keep::new();
    if let obj::Type::Scalar(_) = ty.ty
        && let Some(scalar) = scalar_of(value)?
    {
        return Ok(view.set(Value::Scalar(scalar))?);
    }
    let value = match (&ty.ty, value.cast::<PyDict>()) {
        (obj::Type::Struct(_), Ok(dict)) => given_fields(ty, dict, &mut keep)?,
        _ => value_of(ty, value, &mut keep)?,
    };
    Ok(view.set(value)?)
}

/// Several items: a view of numbers, a list of objects.
fn part<'py>(slf: &Bound<'py, ArrayObject>, body: &Body, index: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
    let is_numbers = matches!(&body.ty.get().ty, obj::Type::Array(ty) if ty.item.scalar().is_some());
    if is_numbers {
        return Ok(ArrayObject::nplike(slf)?.get_item(index)?);
    }
    if body.shape()?.shape.len() != 1 {
        return Err(PyIndexError::new_err("objects along several axes are indexed with one integer for each axis").into());
    }
    let slice = index.cast::<pyo3::types::PySlice>().map_err(|_| PyIndexError::new_err("an index is an integer or a slice"))?;
    let found = slice.indices(body.shape()?.shape[0] as isize)?;
    let list = pyo3::types::PyList::empty(slf.py());
    let mut at = found.start;
    for _ in 0..found.slicelength {
        list.append(slf.get_item(at)?)?;
        at += found.step;
    }
    Ok(list.into_any())
}

unsafe extern "C" {
    fn PyObject_GetBuffer(exporter: *mut PyObject, view: *mut c_void, flags: c_int) -> c_int;
}

/// `Py_bf_getbuffer`
const GET_BUFFER: c_int = 1;

/// The buffer protocol of arrays: that of the NumPy view of them, which the answer then holds.
unsafe extern "C" fn get_buffer(exporter: *mut PyObject, view: *mut c_void, flags: c_int) -> c_int {
    // SAFETY: Python holds the interpreter while it calls us, with a live object.
    let (py, exporter) = unsafe {
        let py = Python::assume_attached();
        (py, pyo3::Borrowed::from_ptr(py, exporter))
    };
    let array = exporter.cast::<ArrayObject>().map_err(PyErr::from).and_then(|array| {
        let view = ArrayObject::nplike(&array)?;
        if view.is_instance_of::<crate::array::Array>() {
            return Err(PyBufferError::new_err("the array is not in host memory; use .to_nparray()"));
        }
        Ok(view)
    });
    match array {
        // SAFETY: the request is passed on as it came.
        Ok(array) => unsafe { PyObject_GetBuffer(array.as_ptr(), view, flags) },
        Err(error) => {
            error.restore(py);
            -1
        }
    }
}

/// `tp_init` of all objects. PyO3's own would copy the named arguments into another dictionary first.
unsafe extern "C" fn init(object: *mut PyObject, args: *mut PyObject, named: *mut PyObject) -> c_int {
    // SAFETY: Python calls us attached, with a live object, a tuple, and a dictionary or null.
    let made = unsafe {
        let py = Python::assume_attached();
        let args = pyo3::Borrowed::from_ptr(py, args);
        let named = pyo3::Borrowed::from_ptr_or_opt(py, named);
        run::<Object>(object, |object| {
            let args = args.cast::<PyTuple>()?;
            let named = named.map(|named| named.cast::<PyDict>()).transpose()?;
            Object::initialise(object, &args, named.as_deref())?;
            Ok(py.None())
        })
    };
    if made.is_null() {
        return -1;
    }
    // SAFETY: the reference that `run` gave.
    unsafe { ffi::Py_DECREF(made) };
    0
}

/// `tp_new` of all objects: that of PyO3, without the arguments, which belong to `__init__`.
///
/// # Safety
/// As Python calls it, for a subclass of `base`.
unsafe fn new_of(base: *mut ffi::PyTypeObject, class: *mut ffi::PyTypeObject, args: *mut PyObject) -> *mut PyObject {
    // SAFETY: Python holds the interpreter while it calls us; `base` is a class of PyO3, whose `tp_new` makes objects of subclasses too.
    unsafe {
        let py = Python::assume_attached();
        let args = match from_made(py) {
            Ok(made) if made.as_ptr() == args => made.clone(),
            _ => PyTuple::empty(py),
        };
        let new: ffi::newfunc = std::mem::transmute(ffi::PyType_GetSlot(base, ffi::Py_tp_new));
        new(class, args.as_ptr(), std::ptr::null_mut())
    }
}

unsafe extern "C" fn new_object(class: *mut ffi::PyTypeObject, args: *mut PyObject, _named: *mut PyObject) -> *mut PyObject {
    // SAFETY: as Python calls it; only subclasses of `Object` have it.
    unsafe { new_of(Python::assume_attached().get_type::<Object>().as_type_ptr(), class, args) }
}

unsafe extern "C" fn new_array(class: *mut ffi::PyTypeObject, args: *mut PyObject, _named: *mut PyObject) -> *mut PyObject {
    // SAFETY: as Python calls it; only subclasses of `ArrayObject` have it.
    unsafe { new_of(Python::assume_attached().get_type::<ArrayObject>().as_type_ptr(), class, args) }
}

/// Puts the classes into the module: subclasses of those of PyO3 with the slots that it does not give them, or not fast enough.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let slot = |slot, pfunc| ffi::PyType_Slot { slot, pfunc };
    let end = || slot(0, std::ptr::null_mut());
    let mut object_slots = [slot(ffi::Py_tp_new, new_object as *mut c_void), slot(ffi::Py_tp_init, init as *mut c_void), end()];
    let mut array_slots = [
        slot(ffi::Py_tp_new, new_array as *mut c_void),
        slot(ffi::Py_tp_init, init as *mut c_void),
        slot(GET_BUFFER, get_buffer as *mut c_void),
        end(),
    ];
    module.add("_Object", subclass(&py.get_type::<Object>(), c"parloop._parloop._Object", &mut object_slots)?)?;
    module.add("_ArrayObject", subclass(&py.get_type::<ArrayObject>(), c"parloop._parloop._ArrayObject", &mut array_slots)?)
}

fn subclass<'py>(base: &Bound<'py, PyType>, name: &'static CStr, slots: &mut [ffi::PyType_Slot]) -> PyResult<Bound<'py, PyAny>> {
    let mut spec = ffi::PyType_Spec {
        name: name.as_ptr(),
        basicsize: base.getattr("__basicsize__")?.extract()?,
        itemsize: 0,
        flags: (ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_BASETYPE) as _,
        slots: slots.as_mut_ptr(),
    };
    let bases = PyTuple::new(base.py(), [base])?;
    // SAFETY: the specification is complete, its name lives for ever, its list of slots has an end, and objects are as large as those
    // of the base class.
    unsafe { Bound::from_owned_ptr_or_err(base.py(), ffi::PyType_FromSpecWithBases(&mut spec, bases.as_ptr())) }
}
