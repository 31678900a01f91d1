//! From Python's objects to values of a type.

use std::borrow::Cow;

use parloop_device::DType;
use parloop_kernel::{Scalar, encode};
use parloop_object as obj;
use parloop_object::{Elements, Value};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyList, PyString, PyTuple};
use smallvec::SmallVec;

use super::number::scalar_of;
use super::object::Object;
use super::types::{FieldDefault, FieldPart, ObjectType, Parts};
use crate::array::Array;
use crate::error::{Error, Result};
use crate::exceptions::Exception;
use crate::ndarray::NdArray;
use crate::number::describe;
use crate::owner::ArrayExtents;

/// Objects whose memory values borrow. They must be kept until the values are used up.
#[derive(Default)]
pub struct BorrowedOwners<'py> {
    objects: Vec<Bound<'py, PyAny>>,
    /// Memory of NumPy's that values borrow, as it was.
    lent: Vec<ArrayExtents>,
}

impl<'py> BorrowedOwners<'py> {
    pub fn push(&mut self, object: Bound<'py, PyAny>) {
        self.objects.push(object);
    }

    /// Keeps an array whose memory a value borrows.
    fn lend(&mut self, array: &Bound<'py, PyAny>) -> PyResult<()> {
        self.lent.push(ArrayExtents::of(array)?);
        Ok(())
    }

    /// Fails where an array has other memory than values borrow: code of Python's ran after the value was taken. The values are used
    /// right after this, and nothing of Python's runs meanwhile.
    pub fn check(&self, py: Python<'_>) -> Result<()> {
        let reason = || "an array was resized while the object was created from it; create the object again".to_owned();
        Ok(self.lent.iter().try_for_each(|seen| seen.check(py, reason))?)
    }
}

type Shape = SmallVec<[usize; 4]>;

/// The object that stands for `object`: the struct inside a hybrid, or itself.
fn undressed<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if object.is_instance_of::<Object>() || object.is_instance_of::<PyDict>() || object.is_exact_instance_of::<PyList>() {
        return Ok(object.clone());
    }
    match object.getattr_opt(pyo3::intern!(object.py(), "_xobject"))? {
        Some(inner) => Ok(inner),
        None => Ok(object.clone()),
    }
}

/// What `object` means for `ty`. The values borrow from objects in `keep`.
pub fn value_of<'a, 'py>(ty: &ObjectType, object: &Bound<'py, PyAny>, keep: &mut BorrowedOwners<'py>) -> Result<Value<'a>> {
    match &ty.ty {
        obj::Type::Scalar(_) => match ty.number(object)? {
            Some(value) => Ok(Value::Scalar(value)),
            None => Err(misfit(ty, object)),
        },
        obj::Type::String(_) => text_of(ty, object),
        obj::Type::Struct(_) => struct_of(ty, object, keep),
        obj::Type::Array(array) => array_of(ty, array, object, keep),
        obj::Type::Ref(_) => {
            let Parts::Target(target) = &ty.parts else { return Err(misfit(ty, object)) };
            if object.is_none() {
                return Ok(Value::Null);
            }
            value_of(target.get(), object, keep)
        }
        obj::Type::Union(union) => member_of(ty, union, object, keep),
    }
}

fn misfit(ty: &ObjectType, object: &Bound<'_, PyAny>) -> Error {
    Exception::ObjectTypeError.error(format!("{} was requested, but {} was given", ty.ty, describe(object))).into()
}

fn text_of<'a>(ty: &ObjectType, object: &Bound<'_, PyAny>) -> Result<Value<'a>> {
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Value::Text(Cow::Owned(text.to_str()?.to_owned())));
    }
    if let Ok(object) = object.cast::<Object>() {
        return Ok(Value::Object(object.get().body()?.view.clone()));
    }
    if !object.is_instance_of::<PyBool>()
        && let Ok(room) = object.extract::<isize>()
    {
        let room = usize::try_from(room).map_err(|_| PyValueError::new_err(format!("a string cannot have room for {room} bytes")))?;
        return Ok(Value::Capacity(room));
    }
    Err(misfit(ty, object))
}

fn struct_of<'a, 'py>(ty: &ObjectType, object: &Bound<'py, PyAny>, keep: &mut BorrowedOwners<'py>) -> Result<Value<'a>> {
    let object = undressed(object)?;
    if let Ok(object) = object.cast::<Object>() {
        return Ok(Value::Object(object.get().body()?.view.clone()));
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        return fields_of(ty, dict, keep);
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        if tuple.len() == 1 {
            return struct_of(ty, &tuple.get_item(0)?, keep);
        }
        return positional_fields(ty, tuple, keep);
    }
    Err(misfit(ty, &object))
}

/// Fields by name, with defaults for those left out.
pub fn fields_of<'a, 'py>(ty: &ObjectType, dict: &Bound<'py, PyDict>, keep: &mut BorrowedOwners<'py>) -> Result<Value<'a>> {
    fields_and_more(ty, dict, keep, |_, _| Ok(false))
}

/// Fields by name; names that are not fields are offered to `more`, which says whether it took them.
pub fn fields_and_more<'a, 'py>(
    ty: &ObjectType,
    dict: &Bound<'py, PyDict>,
    keep: &mut BorrowedOwners<'py>,
    mut more: impl FnMut(&Bound<'py, PyAny>, &Bound<'py, PyAny>) -> Result<bool>,
) -> Result<Value<'a>> {
    let parts = ty.fields();
    let mut fields: Vec<(usize, Value<'a>)> = Vec::with_capacity(parts.len());
    let mut expected = 0;
    for (name, value) in dict {
        let index = match interned_position(parts, expected, &name) {
            Some(index) => index,
            None if more(&name, &value)? => continue,
            None => position_by_text(ty, &name)?,
        };
        expected = index + 1;
        fields.push((index, within(ty, index, value_of(parts[index].ty.get(), &value, keep))?));
    }
    if fields.len() < parts.len() {
        add_defaults(ty, &mut fields, keep, dict.py())?;
    }
    Ok(Value::Fields(fields))
}

/// The bytes of a struct of numbers, from fields by name; other names are offered to `more`.
pub fn plain_fields<'py>(
    ty: &ObjectType,
    defaults: &[u8],
    dict: &Bound<'py, PyDict>,
    mut more: impl FnMut(&Bound<'py, PyAny>, &Bound<'py, PyAny>) -> Result<bool>,
) -> Result<SmallVec<[u8; 128]>> {
    let (parts, obj::Type::Struct(structure)) = (ty.fields(), &ty.ty) else { return Err(misfit(ty, dict)) };
    let mut bytes = SmallVec::from_slice(defaults);
    let mut expected = 0;
    for (name, value) in dict {
        let index = match interned_position(parts, expected, &name) {
            Some(index) => index,
            None if more(&name, &value)? => continue,
            None => position_by_text(ty, &name)?,
        };
        expected = index + 1;
        let field = &structure.fields[index];
        let (Some(dtype), obj::FieldPlace::At(at)) = (field.ty.scalar(), field.place) else { return Err(misfit(ty, &value)) };
        let part = parts[index].ty.get();
        let number = within(ty, index, part.number(&value).and_then(|number| number.ok_or_else(|| misfit(part, &value))))?;
        let number = obj::number_bytes(number, dtype).map_err(|_| {
            let path = format!("{}.{}", structure.name, field.name);
            obj::ObjectError::OutOfRange { path, value: number.to_string(), dtype }
        })?;
        bytes[at..at + dtype.size()].copy_from_slice(&number[..dtype.size()]);
    }
    Ok(bytes)
}

/// Says which field a value was for, where the error came from Python's side and cannot know.
fn within<T>(ty: &ObjectType, index: usize, result: Result<T>) -> Result<T> {
    result.map_err(|error| {
        let error: PyErr = error.into();
        Python::attach(|py| {
            if error.is_instance_of::<PyTypeError>(py) || error.is_instance_of::<PyOverflowError>(py) {
                let name = ty.fields()[index].name.bind(py).to_string_lossy().into_owned();
                let message = format!("{}.{name}: {}", ty.ty, error.value(py));
                return PyErr::from_type(error.get_type(py), message).into();
            }
            error.into()
        })
    })
}

/// The position of a field by the very object that its name is; names usually come in the order of the fields.
#[inline]
fn interned_position(parts: &[FieldPart], expected: usize, name: &Bound<'_, PyAny>) -> Option<usize> {
    let same = |part: &FieldPart| part.name.as_ptr() == name.as_ptr();
    if parts.get(expected).is_some_and(same) { Some(expected) } else { parts.iter().position(same) }
}

/// The position of a field by its name as text.
pub fn position_by_text(ty: &ObjectType, name: &Bound<'_, PyAny>) -> Result<usize> {
    let obj::Type::Struct(structure) = &ty.ty else { return Err(misfit(ty, name)) };
    // What is not text is not a field either, whatever it reads like.
    let found = name.cast::<PyString>().ok().and_then(|text| structure.field(text.to_str().ok()?));
    let unknown = || {
        let fields = structure.fields.iter().map(|field| field.name.clone()).collect();
        obj::ObjectError::NoSuchField { path: structure.name.clone(), field: name.to_string(), fields }
    };
    Ok(found.ok_or_else(unknown)?.0)
}

fn positional_fields<'a, 'py>(ty: &ObjectType, tuple: &Bound<'py, PyTuple>, keep: &mut BorrowedOwners<'py>) -> Result<Value<'a>> {
    let parts = ty.fields();
    if tuple.len() > parts.len() {
        let reason = format!("{} has {} fields, but {} values were given", ty.ty, parts.len(), tuple.len());
        return Err(Exception::ObjectTypeError.error(reason).into());
    }
    let mut fields = Vec::with_capacity(parts.len());
    for (index, value) in tuple.iter().enumerate() {
        fields.push((index, within(ty, index, value_of(parts[index].ty.get(), &value, keep))?));
    }
    add_defaults(ty, &mut fields, keep, tuple.py())?;
    Ok(Value::Fields(fields))
}

fn add_defaults<'a, 'py>(
    ty: &ObjectType,
    fields: &mut Vec<(usize, Value<'a>)>,
    keep: &mut BorrowedOwners<'py>,
    py: Python<'py>,
) -> Result<()> {
    for (index, part) in ty.fields().iter().enumerate() {
        if fields.iter().any(|(given, _)| *given == index) {
            continue;
        }
        let value = match &part.default {
            FieldDefault::None if part.ty.get().has_defaults => default_of(part.ty.get(), keep, py)?,
            FieldDefault::None => continue,
            FieldDefault::Value(value) => value_of(part.ty.get(), value.bind(py), keep)?,
            FieldDefault::Factory(factory) => {
                let made = factory.bind(py).call0()?;
                let value = value_of(part.ty.get(), &made, keep)?;
                keep.push(made);
                value
            }
        };
        fields.push((index, value));
    }
    Ok(())
}

/// What an object of the type gets when nothing at all is given for it.
pub fn default_of<'a, 'py>(ty: &ObjectType, keep: &mut BorrowedOwners<'py>, py: Python<'py>) -> Result<Value<'a>> {
    if !ty.has_defaults {
        return Ok(Value::Default);
    }
    match (&ty.ty, &ty.parts) {
        (obj::Type::Array(array), Parts::Item(item)) if array.is_static_shape() => {
            let shape: Shape = array.static_shape().unwrap_or_default().into();
            default_items(item.get(), shape, keep, py)
        }
        (obj::Type::Struct(_), _) => fields_of(ty, &PyDict::new(py), keep),
        _ => Ok(Value::Default),
    }
}

fn default_items<'a, 'py>(item: &ObjectType, shape: Shape, keep: &mut BorrowedOwners<'py>, py: Python<'py>) -> Result<Value<'a>> {
    let count = shape.iter().product();
    let items: Result<Vec<_>> = (0..count).map(|_| default_of(item, keep, py)).collect();
    Ok(Value::Items { shape, items: items? })
}

fn member_of<'a, 'py>(
    ty: &ObjectType,
    union: &obj::UnionType,
    object: &Bound<'py, PyAny>,
    keep: &mut BorrowedOwners<'py>,
) -> Result<Value<'a>> {
    if object.is_none() {
        return Ok(Value::Null);
    }
    let object = undressed(object)?;
    if let Ok(object) = object.cast::<Object>() {
        return Ok(Value::Object(object.get().body()?.view.clone()));
    }
    let Parts::Members(members) = &ty.parts else { return Err(misfit(ty, &object)) };
    let pair: Vec<Bound<'_, PyAny>> = match (object.cast::<PyTuple>(), object.cast::<PyList>()) {
        (Ok(tuple), _) => tuple.iter().collect(),
        (_, Ok(list)) => list.iter().collect(),
        _ => return Err(misfit(ty, &object)),
    };
    match &*pair {
        [] => Ok(Value::Null),
        [one] => member_of(ty, union, one, keep),
        [name, value] => {
            let text = name.extract::<String>().map_err(|_| misfit(ty, &object))?;
            let Some(id) = union.members.iter().position(|member| member.name() == text) else {
                let names: Vec<&str> = union.members.iter().map(|member| member.name()).collect();
                let reason = format!("{} has no member `{text}`; its members are {}", ty.ty, names.join(", "));
                return Err(Exception::ObjectTypeError.error(reason).into());
            };
            Ok(Value::Member(id, Box::new(value_of(members[id].get(), value, keep)?)))
        }
        _ => Err(misfit(ty, &object)),
    }
}

fn array_of<'a, 'py>(
    ty: &ObjectType,
    array: &obj::ArrayType,
    object: &Bound<'py, PyAny>,
    keep: &mut BorrowedOwners<'py>,
) -> Result<Value<'a>> {
    let Parts::Item(item) = &ty.parts else { return Err(misfit(ty, object)) };
    let item = item.get();
    if object.is_none() {
        return default_of(ty, keep, object.py());
    }
    if let Some(found) = NdArray::of(object)? {
        let (from, to) = (found.dtype(), item.ty.scalar().filter(|_| item.is_numpy));
        if let (Some(from), Some(to)) = (from, to)
            && from != to
            && from.is_complex() == to.is_complex()
        {
            return array_of_native(ty, item, &object.call_method1("astype", (to.name(),))?, keep);
        }
        return from_numpy(ty, item, found, object, keep);
    }
    if let Ok(given) = object.cast::<Object>() {
        let body = given.get().body()?;
        if let (obj::Type::Array(from), Some(dtype)) = (&body.ty.get().ty, item.ty.scalar())
            && from.item.scalar().is_some_and(|given| given != dtype)
        {
            // Numbers of another type are converted, if each of them fits.
            let host = object.call_method0(pyo3::intern!(object.py(), "to_nparray"))?;
            return array_of(ty, array, &host, keep);
        }
        return Ok(Value::Object(body.view.clone()));
    }
    if let Ok(found) = object.cast::<Array>() {
        let host = found.get().to_numpy(object)?;
        return array_of(ty, array, &host, keep);
    }
    if let Some(dims) = dimensions(array, object)? {
        return of_shape(ty, item, array, dims, keep, object.py());
    }
    if object.is_instance_of::<PyString>() || object.is_instance_of::<PyDict>() || object.is_instance_of::<PyFloat>() {
        return Err(misfit(ty, object));
    }
    if let Some(dtype) = item.ty.scalar() {
        let mut bytes = Vec::new();
        let mut shape = Shape::new();
        match numbers(ty, object, array.shape.len(), dtype, &mut shape, &mut bytes) {
            Err(_) if item.is_numpy => {
                let host = object.py().import("numpy")?.call_method1("array", (object, dtype.name()))?;
                return array_of_native(ty, item, &host, keep);
            }
            read => read?,
        }
        complete(array, &mut shape);
        return Ok(Value::Elements(Elements::dense(Cow::Owned(bytes), dtype, shape)));
    }
    let (mut shape, mut items) = (Shape::new(), Vec::new());
    nested(ty, item, object, array.shape.len(), &mut shape, &mut items, keep)?;
    complete(array, &mut shape);
    Ok(Value::Items { shape, items })
}

/// An empty list does not determine the axes below it: their lengths come from the type.
fn complete(array: &obj::ArrayType, shape: &mut Shape) {
    if let Some(empty) = shape.iter().position(|&dim| dim == 0) {
        for (dim, fixed) in shape.iter_mut().zip(&array.shape).skip(empty + 1) {
            *dim = fixed.unwrap_or(*dim);
        }
    }
}

/// The dimensions that an integer, or a tuple of as many as the type leaves open, gives.
fn dimensions(array: &obj::ArrayType, object: &Bound<'_, PyAny>) -> Result<Option<Shape>> {
    let dimension = |object: &Bound<'_, PyAny>| -> Result<Option<usize>> {
        if object.is_instance_of::<PyBool>() || object.is_instance_of::<PyFloat>() {
            return Ok(None);
        }
        match object.extract::<isize>() {
            Ok(dim) => match usize::try_from(dim) {
                Ok(dim) => Ok(Some(dim)),
                Err(_) => Err(PyValueError::new_err(format!("{} cannot have {dim} items along an axis", array.name)).into()),
            },
            Err(_) => Ok(None),
        }
    };
    if let Ok(tuple) = object.cast::<PyTuple>() {
        if tuple.len() != array.dynamic_axes() || tuple.is_empty() {
            return Ok(None);
        }
        let mut dims = Shape::new();
        for item in tuple.iter() {
            match dimension(&item) {
                Ok(Some(dim)) => dims.push(dim),
                Ok(None) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        return Ok(Some(dims));
    }
    if object.hasattr(pyo3::intern!(object.py(), "__len__"))? {
        return Ok(None);
    }
    Ok(dimension(object)?.map(|dim| Shape::from_slice(&[dim])))
}

fn of_shape<'a, 'py>(
    ty: &ObjectType,
    item: &ObjectType,
    array: &obj::ArrayType,
    dims: Shape,
    keep: &mut BorrowedOwners<'py>,
    py: Python<'py>,
) -> Result<Value<'a>> {
    // One number is enough where the type leaves one dimension open, and is checked where it leaves none.
    let fits = dims.len() == array.dynamic_axes() || (array.is_static_shape() && array.static_shape().as_deref() == Some(&*dims));
    if !fits {
        let reason = format!("{} leaves {} dimensions open, but {} were given", ty.ty, array.dynamic_axes(), dims.len());
        return Err(Exception::ObjectValueError.error(reason).into());
    }
    if !item.has_defaults {
        return Ok(Value::Shape(dims));
    }
    let mut given = dims.iter();
    let shape: Shape = array.shape.iter().map(|dim| dim.unwrap_or_else(|| given.next().copied().unwrap_or(0))).collect();
    default_items(item, shape, keep, py)
}

fn from_numpy<'a, 'py>(
    ty: &ObjectType,
    item: &ObjectType,
    found: NdArray<'_, 'py>,
    object: &Bound<'py, PyAny>,
    keep: &mut BorrowedOwners<'py>,
) -> Result<Value<'a>> {
    let shape: Shape = found.shape().iter().map(|&dim| dim as usize).collect();
    if let (Some(dtype), Some(_)) = (found.dtype(), item.ty.scalar()) {
        let strides: SmallVec<[isize; 4]> = found.strides().into();
        let (mut low, mut high) = (0isize, 0isize);
        for (&dim, &stride) in shape.iter().zip(&strides) {
            let reach = (dim as isize - 1).max(0) * stride;
            if reach < 0 { low += reach } else { high += reach }
        }
        let len = if shape.contains(&0) { 0 } else { (high - low) as usize + dtype.size() };
        // SAFETY: all elements of the array lie between the lowest and the highest of them; the array is kept in `keep`, where it is looked
        // at again before the bytes are used.
        let bytes = if len == 0 { &[][..] } else { unsafe { std::slice::from_raw_parts(found.pointer().offset(low), len) } };
        keep.lend(object)?;
        let start = if len == 0 { 0 } else { (-low) as usize };
        return Ok(Value::Elements(Elements { bytes: Cow::Borrowed(bytes), start, dtype, shape, strides }));
    }
    if item.ty.scalar().is_some() && found.dtype().is_none() && !matches!(&*found.dtype_name(), "object") {
        let native = native_numbers(object)?.ok_or_else(|| misfit(ty, object))?;
        return array_of_native(ty, item, &native, keep);
    }
    let mut items = Vec::with_capacity(found.size());
    for value in object.call_method0("ravel")?.call_method0("tolist")?.try_iter()? {
        items.push(value_of(item, &value?, keep)?);
    }
    Ok(Value::Items { shape, items })
}

/// The array with numbers of a type that we know: in our byte order, and half and long floats as doubles. None where it has no numbers.
fn native_numbers<'py>(object: &Bound<'py, PyAny>) -> Result<Option<Bound<'py, PyAny>>> {
    let dtype = object.getattr("dtype")?;
    let kind: String = dtype.getattr("kind")?.extract()?;
    let swapped = dtype.call_method1("newbyteorder", ("=",))?;
    let native = match &*kind {
        "i" | "u" => swapped,
        "f" if swapped.getattr("itemsize")?.extract::<usize>()? == 4 => swapped,
        "f" => PyString::new(object.py(), DType::F64.name()).into_any(),
        "c" if swapped.getattr("itemsize")?.extract::<usize>()? == 8 => swapped,
        "c" => PyString::new(object.py(), DType::C128.name()).into_any(),
        _ => return Ok(None),
    };
    Ok(Some(object.call_method1("astype", (native,))?))
}

fn array_of_native<'a, 'py>(
    ty: &ObjectType,
    item: &ObjectType,
    object: &Bound<'py, PyAny>,
    keep: &mut BorrowedOwners<'py>,
) -> Result<Value<'a>> {
    match NdArray::of(object)? {
        Some(found) if found.dtype().is_some() => from_numpy(ty, item, found, object, keep),
        _ => Err(misfit(ty, object)),
    }
}

/// Numbers of a nested sequence with this many axes, as bytes of `dtype`.
fn numbers(ty: &ObjectType, object: &Bound<'_, PyAny>, axes: usize, dtype: DType, shape: &mut Shape, bytes: &mut Vec<u8>) -> Result<()> {
    if axes == 0 {
        return number(ty, object, dtype, bytes);
    }
    let at = shape.len();
    let len = sequence_len(ty, object)?;
    shape.push(len);
    if axes == 1 {
        bytes.reserve(len * dtype.size());
    }
    let mut inner: Option<Shape> = None;
    let mut each = |item: &Bound<'_, PyAny>, bytes: &mut Vec<u8>| -> Result<()> {
        if axes == 1 {
            return number(ty, item, dtype, bytes);
        }
        let mut found = Shape::new();
        numbers(ty, item, axes - 1, dtype, &mut found, bytes)?;
        same_shape(ty, &mut inner, found)
    };
    if let Ok(list) = object.cast_exact::<PyList>() {
        let mut index = 0;
        // A list may change while its items are looked at.
        while index < list.len() {
            each(&list.get_item(index)?, bytes)?;
            index += 1;
        }
        if index != len {
            return Err(ragged(ty));
        }
    } else {
        let mut seen = 0;
        for item in object.try_iter()? {
            each(&item?, bytes)?;
            seen += 1;
        }
        if seen != len {
            return Err(ragged(ty));
        }
    }
    debug_assert_eq!(shape.len(), at + 1);
    shape.extend(inner.unwrap_or_else(|| (1..axes).map(|_| 0).collect()));
    Ok(())
}

fn number(ty: &ObjectType, item: &Bound<'_, PyAny>, dtype: DType, bytes: &mut Vec<u8>) -> Result<()> {
    if dtype == DType::F64 && item.is_exact_instance_of::<PyFloat>() {
        // SAFETY: it is a float.
        bytes.extend_from_slice(&unsafe { ffi::PyFloat_AsDouble(item.as_ptr()) }.to_le_bytes());
        return Ok(());
    }
    let value = scalar_of(item)?.ok_or_else(|| misfit(ty, item))?;
    let value = match value {
        Scalar::Float(float) if dtype.is_integer() && float.fract() == 0.0 && float.abs() < 1e19 => Scalar::Int(float as i128),
        other => other,
    };
    let [low, high] = encode(value, dtype).map_err(|_| {
        let path = ty.ty.name().to_owned();
        obj::ObjectError::OutOfRange { path, value: value.to_string(), dtype }
    })?;
    let mut word = [0; 16];
    word[..8].copy_from_slice(&low.to_le_bytes());
    word[8..].copy_from_slice(&high.to_le_bytes());
    bytes.extend_from_slice(&word[..dtype.size()]);
    Ok(())
}

/// Items of a nested sequence with this many axes.
fn nested<'a, 'py>(
    ty: &ObjectType,
    item: &ObjectType,
    object: &Bound<'py, PyAny>,
    axes: usize,
    shape: &mut Shape,
    items: &mut Vec<Value<'a>>,
    keep: &mut BorrowedOwners<'py>,
) -> Result<()> {
    let len = sequence_len(ty, object)?;
    shape.push(len);
    let mut inner: Option<Shape> = None;
    let mut seen = 0;
    for part in object.try_iter()? {
        let part = part?;
        seen += 1;
        if axes == 1 {
            items.push(value_of(item, &part, keep)?);
            keep.push(part);
        } else {
            let mut found = Shape::new();
            nested(ty, item, &part, axes - 1, &mut found, items, keep)?;
            same_shape(ty, &mut inner, found)?;
        }
    }
    if seen != len {
        return Err(ragged(ty));
    }
    shape.extend(inner.unwrap_or_else(|| (1..axes).map(|_| 0).collect()));
    Ok(())
}

fn sequence_len(ty: &ObjectType, object: &Bound<'_, PyAny>) -> Result<usize> {
    if object.is_instance_of::<PyString>() || object.is_instance_of::<PyDict>() {
        return Err(misfit(ty, object));
    }
    object.len().map_err(|_| misfit(ty, object))
}

fn same_shape(ty: &ObjectType, known: &mut Option<Shape>, found: Shape) -> Result<()> {
    match known {
        Some(known) if *known != found => Err(ragged(ty)),
        Some(_) => Ok(()),
        None => {
            *known = Some(found);
            Ok(())
        }
    }
}

fn ragged(ty: &ObjectType) -> Error {
    Exception::ObjectValueError.error(format!("the lists for {} have different lengths along one axis", ty.ty)).into()
}
