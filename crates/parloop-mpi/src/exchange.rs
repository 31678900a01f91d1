//! What each process has for each other one.

use crate::Result;
use crate::comm::{Comm, Group};
use crate::error::MpiError;
use crate::library::Mpi;
use crate::messages::Messages;

impl Comm {
    /// Sends `to_each[r]` to rank `r`, and gives what each of the others sent to this one.
    ///
    /// # Errors
    /// [`MpiError::Rank`]: other than one list for each process; what the library says.
    pub fn exchange_all(&self, to_each: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>> {
        if to_each.len() != self.size() {
            return Err(MpiError::Rank { rank: to_each.len(), size: self.size() });
        }
        let Some(group) = self.group() else { return Ok(to_each) };
        let lengths: Vec<u64> = to_each.iter().map(|bytes| bytes.len() as u64).collect();
        let mut coming = vec![0u64; self.size()];
        group.call("MPI_Alltoall", |Group { mpi: Mpi { table, .. }, handle }| {
            // SAFETY: both lists have one number of eight bytes for each process.
            unsafe { (table.alltoall)(lengths.as_ptr().cast(), 8, table.byte, coming.as_mut_ptr().cast(), 8, table.byte, handle) }
        })?;
        let mut received: Vec<Vec<u8>> = vec![Vec::new(); self.size()];
        let mut messages = Messages::default();
        for (rank, bytes) in to_each.into_iter().enumerate() {
            match rank == self.rank() {
                true => received[rank] = bytes,
                false => messages.add(rank, bytes, coming[rank] as usize),
            }
        }
        messages.start(self)?;
        for (rank, bytes) in messages.finish()? {
            received[rank] = bytes;
        }
        Ok(received)
    }
}
