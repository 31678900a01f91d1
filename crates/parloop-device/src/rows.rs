//! Single rows of a table in host memory, gathered side by side and put back.

use crate::error::{DeviceError, Result};
use crate::memory::Memory;

impl Memory {
    /// Appends rows of `length` bytes each, in the order in which they are named.
    ///
    /// ```
    /// use parloop_device::Device;
    /// let memory = Device::open("cpu")?.allocate_zeroed(6)?;
    /// memory.write_rows(2, &[2, 0], b"yzab")?;
    /// let mut rows = Vec::new();
    /// memory.read_rows(2, &[0, 1, 2], &mut rows)?;
    /// assert_eq!(rows, b"ab\0\0yz");
    /// # Ok::<(), parloop_device::DeviceError>(())
    /// ```
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`]; [`DeviceError::Unsupported`] where the host cannot use the memory.
    pub fn read_rows(&self, length: usize, rows: &[i32], into: &mut Vec<u8>) -> Result<()> {
        let first = self.rows_of(length, rows)?;
        into.reserve(rows.len() * length);
        for &row in rows {
            // SAFETY: the row is inside of the memory, which the host can read; the vector is memory of its own.
            let row = unsafe { std::slice::from_raw_parts(first.add(row as usize * length), length) };
            into.extend_from_slice(row);
        }
        Ok(())
    }

    /// Replaces rows of `length` bytes each by those that stand side by side in `from`.
    ///
    /// # Errors
    /// As [`read_rows`](Self::read_rows); [`DeviceError::OutOfBounds`] too where `from` has other than as many rows.
    pub fn write_rows(&self, length: usize, rows: &[i32], from: &[u8]) -> Result<()> {
        let first = self.rows_of(length, rows)?;
        if from.len() != rows.len() * length {
            return Err(DeviceError::OutOfBounds { operation: "rows", offset: 0, len: rows.len() * length, size: from.len() });
        }
        for (place, &row) in rows.iter().enumerate() {
            // SAFETY: both rows are inside of their memory, and the borrowed bytes are not of this memory, which nobody may borrow.
            unsafe { first.add(row as usize * length).copy_from_nonoverlapping(from.as_ptr().add(place * length), length) };
        }
        Ok(())
    }

    /// The first byte, if all these rows are inside.
    fn rows_of(&self, length: usize, rows: &[i32]) -> Result<*mut u8> {
        let limit = self.len().checked_div(length).unwrap_or(usize::MAX);
        if let Some(&row) = rows.iter().find(|&&row| usize::try_from(row).map_or(true, |row| row >= limit)) {
            let offset = usize::try_from(row).unwrap_or(usize::MAX).saturating_mul(length);
            return Err(DeviceError::OutOfBounds { operation: "rows", offset, len: length, size: self.len() });
        }
        // No byte of empty memory is used.
        if self.is_empty() {
            return Ok(std::ptr::NonNull::dangling().as_ptr());
        }
        self.host_pointer().ok_or_else(|| DeviceError::Unsupported {
            device: self.device().id().to_string(),
            what: "read or write rows of memory that the host cannot access; copy it to the host first".into(),
        })
    }
}
