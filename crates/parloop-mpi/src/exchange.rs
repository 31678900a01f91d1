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

    /// What all processes have, combined: `combine` changes the bytes of one by those of another, of the same length, in an order that depends on the
    /// number of processes alone.
    ///
    /// # Errors
    /// What the library says. Different lengths on other processes are not detected.
    pub fn combine_all(&self, bytes: Vec<u8>, combine: impl Fn(&mut [u8], &[u8])) -> Result<Vec<u8>> {
        let (rank, size, length) = (self.rank(), self.size(), bytes.len());
        let (mut own, mut step) = (bytes, 1);
        // Pairs, pairs of pairs and so on: the first of each has what both have.
        while step < size && rank.is_multiple_of(2 * step) {
            if rank + step < size {
                let mut messages = Messages::default();
                messages.receive(rank + step, length);
                messages.start(self)?;
                messages.finish()?.iter().for_each(|(_, other)| combine(&mut own, other));
            }
            step *= 2;
        }
        if rank > 0 {
            let mut messages = Messages::default();
            messages.send(rank - step, std::mem::take(&mut own));
            messages.start(self)?;
            messages.wait()?;
        }
        self.broadcast(&own, 0)
    }
}
