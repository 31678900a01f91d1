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
        let bytes = rows.len().saturating_mul(length);
        into.reserve(bytes);
        // SAFETY: the rows are inside of the memory, which the host can read; the vector has room for them behind what it holds, and is
        // memory of its own. All of the bytes that it is said to hold are written.
        unsafe {
            let mut to = into.as_mut_ptr().add(into.len());
            for_each_row(length, rows, |row, length| {
                to.copy_from_nonoverlapping(first.add(row), length);
                to = to.add(length);
            });
            into.set_len(into.len() + bytes);
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
        let mut from = from.as_ptr();
        for_each_row(length, rows, |row, length| {
            // SAFETY: both rows are inside of their memory, and the borrowed bytes are not of this memory, which nobody may borrow.
            unsafe {
                first.add(row).copy_from_nonoverlapping(from, length);
                from = from.add(length);
            }
        });
        Ok(())
    }

    /// The first byte, if all these rows are inside.
    fn rows_of(&self, length: usize, rows: &[i32]) -> Result<*mut u8> {
        let limit = self.len().checked_div(length).unwrap_or(usize::MAX);
        // A negative row is a large number without its sign.
        let largest = rows.iter().fold(0, |largest, &row| largest.max(row as u32));
        if !rows.is_empty() && largest as usize >= limit.min(i32::MAX as usize + 1) {
            let row = rows.iter().copied().find(|&row| row as u32 == largest).unwrap_or_default();
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

/// Calls `copy` with the offset and the length of each row, in order. Rows of one to four numbers have a constant length where `copy` is
/// compiled, so that it becomes a few moves.
fn for_each_row(length: usize, rows: &[i32], mut copy: impl FnMut(usize, usize)) {
    match length {
        4 => for_each_row_of::<4>(rows, copy),
        8 => for_each_row_of::<8>(rows, copy),
        16 => for_each_row_of::<16>(rows, copy),
        24 => for_each_row_of::<24>(rows, copy),
        32 => for_each_row_of::<32>(rows, copy),
        _ => rows.iter().for_each(|&row| copy(row as usize * length, length)),
    }
}

#[inline(always)]
fn for_each_row_of<const LENGTH: usize>(rows: &[i32], mut copy: impl FnMut(usize, usize)) {
    rows.iter().for_each(|&row| copy(row as usize * LENGTH, LENGTH));
}
