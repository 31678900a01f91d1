//! A few numbers of a table, read where they are: for showing it.

use parloop_device::DeviceError;
use parloop_kernel::{Context, KernelError};

use super::{Layout, Storage};
use crate::Result;

impl Storage {
    /// The bytes of the numbers in these rows and columns, row by row, read from where the newest are: nothing else is moved, and no copy changes.
    /// `None` while the context that has them is recorded.
    ///
    /// # Errors
    /// When a device that has the numbers fails; rows and columns that are not there.
    pub fn peek(&self, rows: &[usize], columns: &[usize]) -> Result<Option<Vec<u8>>> {
        let _turn = self.turn(false)?;
        let state = self.state()?;
        let newest = state.copies.iter().find(|copy| state.host != state.version && copy.version == state.version);
        let (context, memory, layout) = match newest.and_then(|copy| Some((copy, copy.memory.as_ref()?))) {
            Some((copy, memory)) => (copy.context.clone(), memory, copy.layout),
            None => (Context::on(self.inner.host.device().default_stream().map_err(KernelError::from)?), &self.inner.host, Layout::Rows),
        };
        if context.is_recording() {
            return Ok(None);
        }
        let (all_rows, count, size) = (self.inner.rows, self.inner.count, self.inner.dtype.size());
        if rows.iter().any(|&row| row >= all_rows) || columns.iter().any(|&column| column >= count) {
            let (offset, len) =
                (rows.iter().max().map_or(0, |row| row * count * size), columns.iter().max().map_or(0, |column| (column + 1) * size));
            return Err(KernelError::from(DeviceError::OutOfBounds { operation: "read", offset, len, size: self.inner.host.len() }).into());
        }
        let place = |row: usize, column: usize| match layout {
            Layout::Rows => row * count + column,
            Layout::Columns => column * all_rows + row,
        };
        let wanted = rows.iter().flat_map(|&row| columns.iter().map(move |&column| place(row, column)));
        let mut places: Vec<(usize, usize)> = wanted.enumerate().map(|(at, place)| (place, at)).collect();
        places.sort_unstable();
        let mut out = vec![0; places.len() * size];
        // Numbers that lie side by side are read together.
        for run in places.chunk_by(|one, next| next.0 == one.0 + 1) {
            let mut bytes = vec![0; run.len() * size];
            context.stream().read(memory, run[0].0 * size, &mut bytes).map_err(KernelError::from)?;
            for (&(_, at), number) in run.iter().zip(bytes.chunks_exact(size)) {
                out[at * size..][..size].copy_from_slice(number);
            }
        }
        Ok(Some(out))
    }
}
