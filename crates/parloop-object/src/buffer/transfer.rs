//! Copies between a buffer and the host or another buffer. The memory stays where it is meanwhile.

use parloop_device::{DeviceError, Element, Memory, Stream, as_bytes_mut};

use super::{Buffer, Result};
use crate::error::BufferError;

/// Copies of the host's own memory up to this size are done under the lock, which costs less than a hold.
const SHORT: usize = 1024;

impl Buffer {
    pub(super) fn check(&self, what: &'static str, offset: usize, len: usize) -> Result<()> {
        let capacity = self.capacity();
        match offset.checked_add(len) {
            Some(end) if end <= capacity => Ok(()),
            _ => Err(BufferError::OutOfBounds { what, offset, len, capacity }),
        }
    }

    /// Copies bytes of the host to the buffer.
    ///
    /// # Errors
    /// Bytes outside of the buffer; the device's failure.
    pub fn write(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        self.check("a write", offset, bytes.len())?;
        self.stream().refuse_recording(|| "a copy from the host".to_owned(), None)?;
        if bytes.len() <= SHORT && self.host_pointer().is_some() {
            let _state = self.state()?;
            if let Some(host) = self.host_pointer() {
                // SAFETY: the bytes are inside the buffer, which never becomes shorter, and who would move it waits for the lock.
                unsafe { host.add(offset).copy_from(bytes.as_ptr(), bytes.len()) };
            }
            return Ok(());
        }
        self.still(|stream, memory| stream.write(memory, offset, bytes))
    }

    /// Copies bytes of the buffer to the host.
    ///
    /// # Errors
    /// Bytes outside of the buffer; the device's failure.
    pub fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<()> {
        self.check("a read", offset, bytes.len())?;
        if bytes.len() <= SHORT && self.host_pointer().is_some() {
            let _state = self.state()?;
            if let Some(host) = self.host_pointer() {
                // SAFETY: as in `write`.
                unsafe { host.add(offset).copy_to(bytes.as_mut_ptr(), bytes.len()) };
            }
            return Ok(());
        }
        self.still(|stream, memory| stream.read(memory, offset, bytes))
    }

    /// This many numbers of the buffer, copied to the host.
    pub(crate) fn read_numbers<T: Element>(&self, offset: usize, count: usize) -> Result<Vec<T>> {
        let bytes = count.checked_mul(size_of::<T>()).ok_or(BufferError::TooLarge)?;
        self.check("a read", offset, bytes)?;
        let _hold = Still::new(self);
        let Some(host) = self.host_pointer() else {
            let mut numbers = vec![T::ZERO; count];
            self.stream().read(&self.own_memory(), offset, as_bytes_mut(&mut numbers))?;
            return Ok(numbers);
        };
        let mut numbers: Vec<T> = Vec::with_capacity(count);
        // SAFETY: the bytes are inside the buffer, which is held where it is, and the list has room for them; every bit pattern is a
        // valid number.
        unsafe {
            host.add(offset).copy_to_nonoverlapping(numbers.as_mut_ptr().cast(), bytes);
            numbers.set_len(count);
        }
        Ok(numbers)
    }

    /// Sets bytes of the buffer.
    ///
    /// # Errors
    /// Bytes outside of the buffer; the device's failure.
    pub fn fill(&self, offset: usize, len: usize, value: u8) -> Result<()> {
        self.check("a fill", offset, len)?;
        self.still(|stream, memory| stream.fill(memory, offset, len, value))
    }

    /// Copies bytes of another buffer, or of this one; on the device where both are on the same one.
    ///
    /// # Errors
    /// Bytes outside of a buffer; a device's failure.
    pub fn copy_from(&self, offset: usize, source: &Buffer, source_offset: usize, len: usize) -> Result<()> {
        self.check("a copy to", offset, len)?;
        source.check("a copy from", source_offset, len)?;
        let overlap = self.same(source) && offset < source_offset + len && source_offset < offset + len;
        if !overlap && self.context().device().same(source.context().device()) {
            source.finish_for(self)?;
            let _hold = Still::new(source);
            return self.still(|stream, memory| stream.copy(memory, offset, &source.own_memory(), source_offset, len));
        }
        let mut bytes = vec![0; len];
        source.read(source_offset, &mut bytes)?;
        self.write(offset, &bytes)
    }

    /// Work on another stream of the same device is waited for before it is read on ours.
    fn finish_for(&self, reader: &Buffer) -> Result<()> {
        if self.stream().handle() == reader.stream().handle() { Ok(()) } else { Ok(self.stream().synchronize()?) }
    }

    /// Uses the memory on the host while it is not moving.
    fn still<T>(&self, work: impl FnOnce(&Stream, &Memory) -> Result<T, DeviceError>) -> Result<T> {
        let _hold = Still::new(self);
        Ok(work(self.stream(), &self.own_memory())?)
    }
}

/// A hold for less than a call.
struct Still<'a>(&'a Buffer);

impl<'a> Still<'a> {
    fn new(buffer: &'a Buffer) -> Still<'a> {
        buffer.hold_here();
        Still(buffer)
    }
}

impl Drop for Still<'_> {
    fn drop(&mut self) {
        self.0.release();
    }
}
