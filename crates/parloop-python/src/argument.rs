//! From Python's arguments to the slots of a launch. This is the hottest path of the package: no allocation, no dictionary look-up
//! and no attribute access for NumPy arrays, floats and integers.

use std::ffi::CString;

use parloop_device::{Complex64, DType};
use parloop_kernel as ker;
use parloop_kernel::{HostBytes, ParamType, Pointee, Scalar, Slot, Slots, Staging};
use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyComplex, PyFloat, PyInt, PyString};
use smallvec::SmallVec;

use crate::array::Array;
use crate::error::Result;
use crate::foreign::Foreign;
use crate::kernel::Kernel;
use crate::memory::Memory;
use crate::ndarray::NdArray;
use crate::number::{describe, plain_number};
use crate::objects::argument::{Objects, object_of};
use crate::objects::object::Object;
use crate::owner::ArrayExtents;
use crate::runtime_class::Arguments;

/// One borrowed argument for each parameter.
pub type ArgumentObjects<'a, 'py> = SmallVec<[Option<pyo3::Borrowed<'a, 'py, PyAny>>; 20]>;

/// What must live until a call is over.
pub type CallOwners<'py> = SmallVec<[CallOwner<'py>; 2]>;

#[allow(dead_code)] // held for its destructor
pub enum CallOwner<'py> {
    Object(Bound<'py, PyAny>),
    Text(CString),
}

/// What a call makes of its arguments.
#[derive(Default)]
pub struct Call<'py> {
    pub slots: Slots,
    pub staging: Staging,
    pub kept: CallOwners<'py>,
    pub objects: Objects,
    /// The objects inside of hybrids, with the arguments that these are.
    pub inside: SmallVec<[(usize, Bound<'py, Object>); 1]>,
    /// Arrays that were given, or that other objects offered, as they were before code of Python's ran, with the arguments that these are.
    pub offered: SmallVec<[(usize, ArrayExtents); 1]>,
}

/// What an argument turned out to be.
enum ParsedArgument<'py> {
    Slot(Slot),
    /// A NumPy array, of a class that was made from it.
    Array,
    /// The object inside a hybrid.
    Object(Bound<'py, Object>),
}

/// Whether it is a number of Python's own.
#[inline]
fn is_number(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<PyFloat>() || value.is_exact_instance_of::<PyInt>() || value.is_exact_instance_of::<PyBool>()
}

/// Whether it is an argument for a pointer that is looked at without running code of Python's.
fn is_plain(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(NdArray::exactly(value)?.is_some()
        || value.is_exact_instance_of::<Array>()
        || value.is_none()
        || value.is_exact_instance_of::<Memory>()
        || value.is_instance_of::<Object>())
}

impl Kernel {
    /// Sorts positional and named arguments into the order of the parameters.
    pub fn sort<'a, 'py>(&self, py: Python<'py>, arguments: Arguments<'a>, given: &mut ArgumentObjects<'a, 'py>) -> Result<()> {
        let count = self.names.len();
        let positional = arguments.positional();
        if positional.len() > count {
            return Err(ker::wrong_count(self.inner.signature(), positional.len()).into());
        }
        // SAFETY: the arguments of a call and their names are live objects, borrowed for `'a`.
        let borrow = |value| unsafe { pyo3::Borrowed::from_ptr(py, value) };
        given.extend(positional.iter().map(|&value| Some(borrow(value))));
        given.resize(count, None);
        // Names usually come in the order of the parameters, and are the very same interned strings.
        let mut expected = positional.len();
        for (name, value) in arguments.named() {
            let same = |known: &Py<PyString>| known.as_ptr() == name;
            let index = match self.names.get(expected).filter(|known| same(known)) {
                Some(_) => expected,
                None => match self.names.iter().position(same) {
                    Some(index) => index,
                    None => self.position_by_text(&borrow(name), expected)?,
                },
            };
            expected = index + 1;
            if given[index].replace(borrow(value)).is_some() {
                return Err(self.given_twice(index).into());
            }
        }
        Ok(())
    }

    /// For a name that is not interned (as after `**`), or not known.
    fn position_by_text(&self, name: &Bound<'_, PyAny>, expected: usize) -> Result<usize> {
        let signature = self.inner.signature();
        let name = name.cast::<PyString>()?.to_str()?;
        if signature.params.get(expected).is_some_and(|param| param.name == name) {
            return Ok(expected);
        }
        let unknown = || {
            let (kernel, signature) = (signature.name.clone(), signature.params_text());
            ker::KernelError::UnknownArgument { kernel, name: name.to_owned(), signature }
        };
        Ok(signature.position(name).ok_or_else(unknown)?)
    }

    fn given_twice(&self, index: usize) -> ker::KernelError {
        let signature = self.inner.signature();
        ker::KernelError::GivenTwice { kernel: signature.name.clone(), name: signature.params[index].name.clone() }
    }

    /// Fails when an argument was not given.
    pub fn check_given(&self, given: &ArgumentObjects<'_, '_>) -> Result<()> {
        match given.iter().position(Option::is_none) {
            None => Ok(()),
            Some(index) => Err(self.missing(index)),
        }
    }

    fn missing(&self, index: usize) -> crate::error::Error {
        let signature = self.inner.signature();
        let (kernel, param) = (signature.name.clone(), &signature.params[index]);
        ker::KernelError::MissingArgument { kernel, name: param.name.clone(), declared: param.ty.to_string() }.into()
    }

    /// Checks every argument and makes its slot.
    pub fn fill<'py>(&self, given: &ArgumentObjects<'_, 'py>, call: &mut Call<'py>) -> Result<()> {
        if self.fill_plain(given, call)? {
            return Ok(());
        }
        *call = Call::default();
        self.fill_any(given, call)
    }

    /// The slots of arguments that are looked at without running code of Python's; whether all are such.
    #[inline]
    fn fill_plain<'py>(&self, given: &ArgumentObjects<'_, 'py>, call: &mut Call<'py>) -> Result<bool> {
        let signature = self.inner.signature();
        for (index, value) in given.iter().enumerate() {
            let Some(value) = value else { return Err(self.missing(index)) };
            let slot = match &signature.params[index].ty {
                ParamType::Scalar(dtype) if is_number(value) => self.scalar(index, *dtype, value)?,
                ParamType::Scalar(_) => return Ok(false),
                ParamType::Pointer { to, constant } => match self.pointer(index, to, *constant, value, call)? {
                    Some(slot) => slot,
                    None => return Ok(false),
                },
            };
            call.slots.push(slot);
        }
        Ok(true)
    }

    /// The slots of arguments of any kind. Those that run code of Python's come first: it could free objects that others were found in.
    /// Arrays that have other memory after it are an error: sizes among the arguments are those of before.
    fn fill_any<'py>(&self, given: &ArgumentObjects<'_, 'py>, call: &mut Call<'py>) -> Result<()> {
        let params = &self.inner.signature().params;
        call.slots.resize(params.len(), [0, 0]);
        let mut plain: SmallVec<[usize; 20]> = SmallVec::new();
        for (index, value) in given.iter().enumerate() {
            if let Some(value) = value
                && NdArray::exactly(value)?.is_some()
            {
                call.offered.push((index, ArrayExtents::of(value)?));
            }
        }
        for (index, value) in given.iter().enumerate() {
            let Some(value) = value else { return Err(self.missing(index)) };
            match &params[index].ty {
                ParamType::Scalar(dtype) => call.slots[index] = self.scalar(index, *dtype, value)?,
                ParamType::Pointer { .. } if is_plain(value)? => plain.push(index),
                ParamType::Pointer { to, constant } => match self.other_pointer(index, to, *constant, value, call)? {
                    ParsedArgument::Slot(slot) => call.slots[index] = slot,
                    ParsedArgument::Array => {
                        call.offered.push((index, ArrayExtents::of(value)?));
                        plain.push(index);
                    }
                    ParsedArgument::Object(object) => call.inside.push((index, object)),
                },
            }
        }
        for index in plain {
            let (Some(value), ParamType::Pointer { to, constant }) = (&given[index], &params[index].ty) else { continue };
            call.slots[index] = match self.pointer(index, to, *constant, value, call)? {
                Some(slot) => slot,
                // What is masked was looked at before.
                None => match NdArray::with_any_mask(value)? {
                    Some(array) => self.ndarray_slot(index, to, *constant, array, &mut call.staging)?,
                    None => return Err(self.checker(index).wrong_type(describe(value), self.checker(index).pointer_hint()).into()),
                },
            };
        }
        for (index, object) in &call.inside {
            if let ParamType::Pointer { to, constant } = &params[*index].ty {
                call.slots[*index] = self.object_slot(*index, to, *constant, object, &mut call.objects)?;
            }
        }
        for (index, seen) in &call.offered {
            let reason = || format!("the array for `{}` was resized during the call; call again", params[*index].name);
            if let Some(Some(value)) = given.first() {
                seen.check(value.py(), reason)?;
            }
        }
        Ok(())
    }

    fn scalar(&self, index: usize, dtype: DType, value: &Bound<'_, PyAny>) -> Result<Slot> {
        if dtype == DType::F64 && value.is_exact_instance_of::<PyFloat>() {
            // SAFETY: it is a float.
            return Ok([unsafe { ffi::PyFloat_AsDouble(value.as_ptr()) }.to_bits(), 0]);
        }
        if dtype == DType::I64 && value.is_exact_instance_of::<PyInt>() {
            let mut overflow = 0;
            // SAFETY: it is an int.
            let found = unsafe { ffi::PyLong_AsLongLongAndOverflow(value.as_ptr(), &mut overflow) };
            if overflow == 0 {
                return Ok([found as u64, 0]);
            }
        }
        Ok(self.checker(index).scalar(self.scalar_value(index, value)?)?)
    }

    fn scalar_value(&self, index: usize, value: &Bound<'_, PyAny>) -> Result<Scalar> {
        if value.is_instance_of::<PyBool>() {
            return Ok(Scalar::Bool(value.is_truthy()?));
        }
        if value.is_instance_of::<PyInt>() {
            return self.integer_value(index, value);
        }
        if value.is_instance_of::<PyFloat>() {
            return Ok(Scalar::Float(value.extract()?));
        }
        if let Ok(value) = value.cast::<PyComplex>() {
            use pyo3::types::PyComplexMethods;
            return Ok(Scalar::Complex(Complex64::new(value.real(), value.imag())));
        }
        match plain_number(value) {
            Some(number) => self.scalar_value(index, &number),
            None => Err(self.checker(index).wrong_type(describe(value), "pass a single value").into()),
        }
    }

    fn integer_value(&self, index: usize, value: &Bound<'_, PyAny>) -> Result<Scalar> {
        if let Ok(value) = value.extract::<i128>() {
            return Ok(Scalar::Int(value));
        }
        let takes_floats = matches!(self.inner.signature().params[index].ty, ParamType::Scalar(dtype) if !dtype.is_integer());
        match value.extract::<f64>() {
            Ok(value) if takes_floats => Ok(Scalar::Float(value)),
            _ => Err(self.too_large(index, value)),
        }
    }

    fn too_large(&self, index: usize, value: &Bound<'_, PyAny>) -> crate::error::Error {
        let signature = self.inner.signature();
        let param = &signature.params[index];
        let ParamType::Scalar(dtype) = param.ty else { return self.checker(index).wrong_type(describe(value), "").into() };
        let (kernel, name, declared) = (signature.name.clone(), param.name.clone(), param.ty.to_string());
        ker::KernelError::OutOfRange { kernel, name, declared, value: value.to_string(), dtype }.into()
    }

    /// The slot of an argument that is looked at without running code of Python's; none of others, see [`is_plain`].
    #[inline]
    fn pointer<'py>(
        &self,
        index: usize,
        to: &Pointee,
        constant: bool,
        value: &Bound<'py, PyAny>,
        call: &mut Call<'py>,
    ) -> Result<Option<Slot>> {
        // Each kind by its very class first: asking whether it is a subclass costs more than all the rest.
        if let Some(array) = NdArray::exactly(value)? {
            return self.ndarray_slot(index, to, constant, array, &mut call.staging).map(Some);
        }
        if value.is_exact_instance_of::<Array>()
            && let Ok(array) = value.cast::<Array>()
        {
            array.get().check_shared(value.py())?;
            return self.array_slot(index, to, constant, array.get(), &mut call.objects).map(Some);
        }
        if let Ok(object) = value.cast::<Object>() {
            return self.object_slot(index, to, constant, object, &mut call.objects).map(Some);
        }
        if value.is_none() {
            return Ok(Some([0, 0]));
        }
        let Ok(memory) = value.cast::<Memory>() else { return Ok(None) };
        let memory = memory.get();
        memory.check_shared(value.py())?;
        self.checker(index).elements(None, memory.writeable)?;
        if let Some(buffer) = &memory.buffer {
            call.objects.add_part(index, buffer, &memory.inner, 0);
        }
        Ok(Some(self.inner.argument_slot(index, &memory.inner, 0)?))
    }

    fn ndarray_slot(&self, index: usize, to: &Pointee, constant: bool, array: NdArray<'_, '_>, staging: &mut Staging) -> Result<Slot> {
        let Some(dtype) = array.dtype() else {
            return Err(self.checker(index).wrong_type(format!("an array of {}", array.dtype_name()), "convert it first").into());
        };
        let writeable = array.is_writeable();
        if *to != Pointee::Scalar(dtype) || !(writeable || constant) {
            self.checker(index).elements(Some(dtype), writeable)?;
        }
        if !array.is_contiguous() {
            return Err(self.checker(index).not_contiguous().into());
        }
        self.check_alignment(index, array.pointer() as u64, dtype)?;
        // SAFETY: the elements of an array that the caller's arguments hold until the call is over.
        let host = unsafe { HostBytes::new(array.pointer(), array.size() * dtype.size(), !constant) };
        Ok(self.inner.host_slot(index, host, staging)?)
    }

    /// Compilers rely on elements at multiples of their alignment. Copies on a GPU are at such addresses always.
    fn check_alignment(&self, index: usize, address: u64, dtype: DType) -> Result<()> {
        let alignment = dtype.alignment() as u64;
        if address & (alignment - 1) != 0 && self.inner.is_cpu() { Err(self.checker(index).unaligned().into()) } else { Ok(()) }
    }

    fn array_slot(&self, index: usize, to: &Pointee, constant: bool, array: &Array, objects: &mut Objects) -> Result<Slot> {
        if *to != Pointee::Scalar(array.dtype) || !(array.writeable || constant) {
            self.checker(index).elements(Some(array.dtype), array.writeable)?;
        }
        if !array.layout.is_dense() {
            return Err(self.checker(index).not_contiguous().into());
        }
        let slot = self.inner.argument_slot(index, &array.memory, array.layout.offset)?;
        self.check_alignment(index, slot[0], array.dtype)?;
        if let Some(buffer) = &array.buffer {
            objects.add_part(index, buffer, &array.memory, array.layout.offset);
        }
        Ok(slot)
    }

    /// What an argument is whose kind only Python's code can tell.
    fn other_pointer<'py>(
        &self,
        index: usize,
        to: &Pointee,
        constant: bool,
        value: &Bound<'py, PyAny>,
        call: &mut Call<'py>,
    ) -> Result<ParsedArgument<'py>> {
        if NdArray::of(value)?.is_some() {
            return Ok(ParsedArgument::Array);
        }
        let is_text = matches!(to, Pointee::Char | Pointee::Void | Pointee::Scalar(DType::I8 | DType::U8));
        if let Ok(text) = value.cast::<PyString>() {
            if !is_text || !constant {
                return Err(self.checker(index).wrong_type("text", "declare it `const char *`").into());
            }
            let text =
                CString::new(text.to_str()?).map_err(|_| PyValueError::new_err("text for a C kernel cannot contain a NUL character"))?;
            let bytes = text.as_bytes_with_nul();
            // SAFETY: kept with the call, below; the bytes of a `CString` stay where they are when it is moved.
            let host = unsafe { HostBytes::new(bytes.as_ptr().cast_mut(), bytes.len(), false) };
            let slot = self.inner.host_slot(index, host, &mut call.staging)?;
            call.kept.push(CallOwner::Text(text));
            return Ok(ParsedArgument::Slot(slot));
        }
        if let Ok(bytes) = value.cast::<PyBytes>()
            && is_text
            && constant
        {
            // The bytes of a Python object are followed by a NUL, as C expects.
            let bytes = bytes.as_bytes();
            // SAFETY: the object is held by the caller's arguments, and its NUL is part of it.
            let host = unsafe { HostBytes::new(bytes.as_ptr().cast_mut(), bytes.len() + 1, false) };
            return Ok(ParsedArgument::Slot(self.inner.host_slot(index, host, &mut call.staging)?));
        }
        if let Some(object) = object_of(value)? {
            return Ok(ParsedArgument::Object(object));
        }
        let Some(foreign) = Foreign::of(value, self.inner.stream())? else {
            let checker = self.checker(index);
            return Err(checker.wrong_type(describe(value), checker.pointer_hint()).into());
        };
        self.checker(index).elements(Some(foreign.dtype), foreign.writeable)?;
        if !foreign.is_contiguous() {
            return Err(self.checker(index).not_contiguous().into());
        }
        self.check_alignment(index, foreign.pointer, foreign.dtype)?;
        let bytes = foreign.size() * foreign.dtype.size();
        let slot = match &foreign.device {
            None => {
                // SAFETY: offered by a protocol that keeps them alive with their owner, which is kept with the call.
                let host = unsafe { HostBytes::new(foreign.pointer as *mut u8, bytes, !constant) };
                self.inner.host_slot(index, host, &mut call.staging)?
            }
            Some(device) if device.same(self.inner.function().device()) => [foreign.pointer, 0],
            Some(device) => {
                return Err(self
                    .checker(index)
                    .wrong_type(format!("an array on {}", device.id()), "copy it to the kernel's device")
                    .into());
            }
        };
        call.offered.push((index, ArrayExtents::of(&foreign.owner)?));
        call.kept.push(CallOwner::Object(foreign.owner));
        Ok(ParsedArgument::Slot(slot))
    }
}
