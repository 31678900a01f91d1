//! Typed arrays in device memory, for Rust.

use std::marker::PhantomData;

use parloop_device::{Element, Memory, Stream, as_bytes, as_bytes_mut};

use crate::error::Result;

/// Elements of one type in the memory of a context's device.
#[derive(Debug)]
pub struct Array<T> {
    memory: Memory,
    stream: Stream,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Element> Array<T> {
    pub(crate) fn zeros(stream: &Stream, len: usize) -> Result<Array<T>> {
        let array = Array::uninitialised(stream, len)?;
        stream.fill(&array.memory, 0, array.memory.len(), 0)?;
        Ok(array)
    }

    pub(crate) fn from_slice(stream: &Stream, values: &[T]) -> Result<Array<T>> {
        let mut array = Array::uninitialised(stream, values.len())?;
        array.write(values)?;
        Ok(array)
    }

    fn uninitialised(stream: &Stream, len: usize) -> Result<Array<T>> {
        let memory = stream.device().allocate(len.saturating_mul(size_of::<T>()))?;
        Ok(Array { memory, stream: stream.clone(), len, element: PhantomData })
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The memory that holds the elements.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Copies `values` to the beginning of the array.
    ///
    /// # Errors
    /// When there are more values than elements, or the device fails.
    pub fn write(&mut self, values: &[T]) -> Result<()> {
        Ok(self.stream.write(&self.memory, 0, as_bytes(values))?)
    }

    /// The elements, on the host.
    ///
    /// # Errors
    /// When the device, or work queued earlier, fails.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let mut values = vec![T::ZERO; self.len];
        self.stream.read(&self.memory, 0, as_bytes_mut(&mut values))?;
        Ok(values)
    }
}
