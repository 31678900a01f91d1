//! `_ObjectType`: the type behind a class of `parloop.objects`, with the Python classes of its parts.

use std::sync::OnceLock;

use parloop_kernel::{Scalar, encode};
use parloop_object as obj;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyTuple, PyType};

use super::number::{number, numpy_number, scalar_of};
use crate::error::Result;
use crate::ndarray::dtype_of;
use crate::numpy_api;

/// A type of objects and how Python makes objects of it.
#[pyclass(frozen, module = "parloop._parloop", name = "_ObjectType")]
pub struct ObjectType {
    pub ty: obj::Type,
    pub parts: Parts,
    /// Whether a value left out means more than zeros: some field inside has a default of its own.
    pub has_defaults: bool,
    /// Of a number: whether Python sees it as a NumPy scalar, and gives anything that NumPy's own type converts.
    pub is_numpy: bool,
    /// Of a struct that holds numbers only: its bytes when nothing is given.
    pub plain: Option<Vec<u8>>,
    bound: OnceLock<Bind>,
    /// As loop kernels know it.
    in_loops: OnceLock<parloop_loop::syntax::Type>,
    /// As pickles have it; one tuple, so that a pickle of many objects holds it once.
    layout: PyOnceLock<Py<PyTuple>>,
}

/// The types that a type is made of.
pub enum Parts {
    None,
    Fields(Vec<FieldPart>),
    Item(Py<ObjectType>),
    Target(Py<ObjectType>),
    Members(Vec<Py<ObjectType>>),
}

pub struct FieldPart {
    pub name: Py<PyString>,
    pub ty: Py<ObjectType>,
    pub default: FieldDefault,
}

/// What a field gets when nothing is given for it.
pub enum FieldDefault {
    None,
    Value(Py<PyAny>),
    Factory(Py<PyAny>),
}

/// The class of the objects of a type.
pub struct Bind {
    pub class: Py<PyType>,
    /// Whether the class has a `_pre_init` or `_post_init` of its own.
    pub pre_init: bool,
    pub post_init: bool,
}

impl ObjectType {
    fn of(ty: obj::Type, parts: Parts) -> ObjectType {
        let has_defaults = match &parts {
            Parts::Fields(fields) => fields.iter().any(|field| !matches!(field.default, FieldDefault::None) || field.ty.get().has_defaults),
            Parts::Item(item) => item.get().has_defaults,
            _ => false,
        };
        ObjectType {
            ty,
            parts,
            has_defaults,
            is_numpy: false,
            plain: None,
            bound: OnceLock::new(),
            in_loops: OnceLock::new(),
            layout: PyOnceLock::new(),
        }
    }

    /// The bytes of a struct of numbers with their defaults; None for what is more, or has defaults that are not numbers.
    fn plain_bytes(&self, py: Python<'_>) -> Option<Vec<u8>> {
        let obj::Type::Struct(structure) = &self.ty else { return None };
        let mut bytes = vec![0; structure.size?];
        for (field, part) in structure.fields.iter().zip(self.fields()) {
            let (dtype, obj::FieldPlace::At(at)) = (field.ty.scalar()?, field.place) else { return None };
            match &part.default {
                FieldDefault::None => {}
                FieldDefault::Value(value) => {
                    let number = part.ty.get().number(value.bind(py)).ok()??;
                    bytes[at..at + dtype.size()].copy_from_slice(&obj::number_bytes(number, dtype).ok()?[..dtype.size()]);
                }
                FieldDefault::Factory(_) => return None,
            }
        }
        Some(bytes)
    }

    pub fn bind(&self) -> PyResult<&Bind> {
        self.bound.get().ok_or_else(|| PyRuntimeError::new_err(format!("type {} has no class", self.ty)))
    }

    /// The type of a loop kernel's argument that is such an object, or such a number.
    pub fn in_loops(&self) -> Result<&parloop_loop::syntax::Type> {
        if let Some(known) = self.in_loops.get() {
            return Ok(known);
        }
        let made = match self.ty.scalar() {
            Some(dtype) => dtype.into(),
            None => parloop::loops::class_type(&self.ty).map_err(obj::ObjectError::from)?,
        };
        Ok(self.in_loops.get_or_init(|| made))
    }

    /// The number that an object is for this type; None if it is not one.
    pub fn number(&self, object: &Bound<'_, PyAny>) -> Result<Option<Scalar>> {
        match self.ty.scalar().filter(|_| self.is_numpy) {
            Some(dtype) => numpy_number(dtype, object),
            None => scalar_of(object),
        }
    }

    /// A number as Python sees those of this type.
    pub fn seen<'py>(&self, py: Python<'py>, value: Scalar) -> Result<Bound<'py, PyAny>> {
        let Some(dtype) = self.ty.scalar().filter(|_| self.is_numpy) else { return Ok(number(py, value)?) };
        let out_of_range = |_| obj::ObjectError::OutOfRange { path: self.ty.name().to_owned(), value: value.to_string(), dtype };
        Ok(numpy_api::scalar(py, encode(value, dtype).map_err(out_of_range)?, dtype)?)
    }

    pub fn fields(&self) -> &[FieldPart] {
        if let Parts::Fields(fields) = &self.parts { fields } else { &[] }
    }
}

/// The type behind a class or scalar of `parloop.objects`.
pub fn type_of<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, ObjectType>> {
    if let Ok(ty) = object.cast::<ObjectType>() {
        return Ok(ty.clone());
    }
    let found = object.getattr("_type").or_else(|_| object.getattr("_XoStruct")?.getattr("_type"));
    match found.map(|found| found.cast_into::<ObjectType>()) {
        Ok(Ok(found)) => Ok(found),
        _ => Err(PyTypeError::new_err(format!("{object} is not a type of parloop.objects"))),
    }
}

type DeclaredField<'py> = (Bound<'py, PyString>, Bound<'py, ObjectType>, Option<Bound<'py, PyAny>>, Option<Bound<'py, PyAny>>);

#[pymethods]
impl ObjectType {
    /// The type of a number, which Python sees as its own or as NumPy's.
    #[staticmethod]
    #[pyo3(signature = (dtype, is_numpy=false))]
    fn scalar(dtype: &Bound<'_, PyAny>, is_numpy: bool) -> PyResult<ObjectType> {
        Ok(ObjectType { is_numpy, ..ObjectType::of(obj::Type::Scalar(dtype_of(dtype)?), Parts::None) })
    }

    /// The type of a text; with a size, all texts take just this many bytes.
    #[staticmethod]
    #[pyo3(signature = (size=None))]
    fn string(size: Option<usize>) -> Result<ObjectType> {
        let ty = size.map_or(Ok(obj::Type::String(None)), obj::Type::fixed_string)?;
        Ok(ObjectType::of(ty, Parts::None))
    }

    /// The type of a struct: (name, type, default, default factory) of each field.
    #[staticmethod]
    fn structure(py: Python<'_>, name: &str, fields: Vec<DeclaredField<'_>>) -> Result<ObjectType> {
        let declared: Vec<_> =
            fields.iter().map(|(name, ty, _, _)| Ok((name.to_str()?.to_owned(), ty.get().ty.clone()))).collect::<PyResult<_>>()?;
        let ty = obj::StructType::with_fields(name, declared)?;
        let part = |(name, ty, default, factory): DeclaredField<'_>| FieldPart {
            name: PyString::intern(name.py(), &name.to_string_lossy()).unbind(),
            ty: ty.unbind(),
            default: match (default, factory) {
                (_, Some(factory)) => FieldDefault::Factory(factory.unbind()),
                (Some(default), None) => FieldDefault::Value(default.unbind()),
                (None, None) => FieldDefault::None,
            },
        };
        let mut made = ObjectType::of(ty, Parts::Fields(fields.into_iter().map(part).collect()));
        made.plain = made.plain_bytes(py);
        Ok(made)
    }

    /// The type of an array; without a name it gets the usual one.
    #[staticmethod]
    #[pyo3(signature = (item, shape, order, name=None))]
    fn array(item: &Bound<'_, ObjectType>, shape: Vec<Option<usize>>, order: Vec<usize>, name: Option<&str>) -> Result<ObjectType> {
        let inner = item.get().ty.clone();
        let ty = match name {
            Some(name) => obj::ArrayType::named(name, inner, shape, order)?,
            None => obj::ArrayType::in_order(inner, shape, order)?,
        };
        Ok(ObjectType::of(ty, Parts::Item(item.clone().unbind())))
    }

    /// The type of a reference.
    #[staticmethod]
    fn reference(target: &Bound<'_, ObjectType>) -> Result<ObjectType> {
        let ty = obj::RefType::to(target.get().ty.clone()).of_fair_depth()?;
        Ok(ObjectType::of(ty, Parts::Target(target.clone().unbind())))
    }

    /// The type of a reference to objects of several types.
    #[staticmethod]
    fn union(name: &str, members: Vec<Bound<'_, ObjectType>>) -> Result<ObjectType> {
        let types = members.iter().map(|member| member.get().ty.clone()).collect();
        let ty = obj::UnionType::with_members(name, types)?;
        Ok(ObjectType::of(ty, Parts::Members(members.into_iter().map(Bound::unbind).collect())))
    }

    /// Says which class the objects of the type have, for the rest of its life.
    #[pyo3(signature = (owner, pre_init=false, post_init=false))]
    fn set_class(&self, owner: &Bound<'_, PyType>, pre_init: bool, post_init: bool) -> PyResult<()> {
        let bind = Bind { class: owner.clone().unbind(), pre_init, post_init };
        self.bound.set(bind).map_err(|_| PyRuntimeError::new_err(format!("type {} already has a class", self.ty)))
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.ty.name()
    }

    /// The bytes of every object, None where each has its own size.
    #[getter]
    fn size(&self) -> Option<usize> {
        self.ty.size()
    }

    /// What decides the bytes of its objects: (path, type) of itself and of each part.
    #[getter]
    fn layout<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let make = || Ok::<_, PyErr>(PyTuple::new(py, self.ty.layout())?.unbind());
        Ok(self.layout.get_or_try_init(py, make)?.bind(py).clone())
    }

    /// Whether objects hold references.
    #[getter]
    fn has_refs(&self) -> bool {
        self.ty.has_refs()
    }

    /// Of a struct: (offset, whether the offset of the field stands there instead of the field) of each field.
    #[getter]
    fn places(&self) -> Vec<(usize, bool)> {
        let obj::Type::Struct(ty) = &self.ty else { return Vec::new() };
        let place = |field: &obj::Field| match field.place {
            obj::FieldPlace::At(at) => (at, false),
            obj::FieldPlace::Indirect(at) => (at, true),
        };
        ty.fields.iter().map(place).collect()
    }

    /// Of an array: where its items, or their offsets, begin.
    #[getter]
    fn data_offset(&self) -> usize {
        if let obj::Type::Array(ty) = &self.ty { ty.data_offset } else { 0 }
    }

    /// Of an array: its strides, None where each object has its own.
    #[getter]
    fn strides(&self) -> Option<Vec<usize>> {
        if let obj::Type::Array(ty) = &self.ty { ty.strides.clone() } else { None }
    }

    /// Python's collector frees classes that nobody uses: they and their types refer to each other.
    fn __traverse__(&self, visit: PyVisit<'_>) -> std::result::Result<(), PyTraverseError> {
        match &self.parts {
            Parts::None => {}
            Parts::Fields(fields) => {
                for field in fields {
                    visit.call(&field.ty)?;
                    if let FieldDefault::Value(value) | FieldDefault::Factory(value) = &field.default {
                        visit.call(value)?;
                    }
                }
            }
            Parts::Item(part) | Parts::Target(part) => visit.call(part)?,
            Parts::Members(members) => members.iter().try_for_each(|member| visit.call(member))?,
        }
        self.bound.get().map_or(Ok(()), |bind| visit.call(&bind.class))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<ObjectType>().is_ok_and(|other| other.get().ty == self.ty)
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        self.ty.name().hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        format!("<type {}>", self.ty)
    }
}
