//! Messages in memory of a GPU, for libraries that take its addresses.

use std::mem;

use crate::Result;
use crate::abi::Gpu;
use crate::comm::{Comm, Group};
use crate::error::MpiError;
use crate::library::finalise_before_drivers;
use crate::requests::{Requests, Span};

/// Bytes of a message in memory of a GPU: with whom, the address of the first, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuBytes {
    /// The rank of the other process.
    pub with: usize,
    /// The address of the first byte.
    pub address: u64,
    /// How many.
    pub length: usize,
}

impl GpuBytes {
    fn span(self) -> Span {
        Span { with: self.with, address: self.address as usize, length: self.length }
    }
}

/// Messages that the library reads and writes in memory of a GPU, which they own while they are in flight.
pub struct GpuMessages<M> {
    memory: Option<M>,
    requests: Requests,
}

impl Comm {
    /// Whether the library says that it takes addresses of such memory, and `PARLOOP_MPI_GPU=0` does not forbid it.
    pub fn takes_memory_of(&self, gpu: Gpu) -> bool {
        let is_allowed = || std::env::var_os("PARLOOP_MPI_GPU").is_none_or(|value| value != "0");
        let is_taken = |group: Group| {
            if group.mpi.check_alive().is_err() {
                return false;
            }
            let _turn = group.mpi.turn();
            // SAFETY: the library is initialised since there is a communicator, and it was just seen not to be finalised.
            unsafe { group.mpi.table.gpus.takes(gpu) }
        };
        is_allowed() && self.group().is_some_and(is_taken)
    }
}

impl<M> GpuMessages<M> {
    /// Sends and receives.
    ///
    /// # Errors
    /// [`MpiError::Rank`]; what the library says.
    ///
    /// # Safety
    /// The library takes addresses of that memory ([`Comm::takes_memory_of`]); all of the bytes lie in `memory`, whose owner keeps them in place
    /// until it is dropped; nothing else writes there, or reads what comes, until [`finish`](Self::finish).
    pub unsafe fn start(memory: M, sent: &[GpuBytes], received: &[GpuBytes], comm: &Comm) -> Result<GpuMessages<M>> {
        let size = comm.size();
        if let Some(wrong) = sent.iter().chain(received).find(|bytes| bytes.with >= size) {
            return Err(MpiError::Rank { rank: wrong.with, size });
        }
        let mut messages = GpuMessages { memory: Some(memory), requests: Requests::default() };
        if let Some(group) = comm.group() {
            finalise_before_drivers();
            let [received, sent] = [received, sent].map(|bytes| bytes.iter().map(|bytes| bytes.span()));
            // SAFETY: as the caller promises. The messages own the memory until they have waited, also where an error drops them.
            unsafe { messages.requests.start(group, received, sent) }?;
        }
        Ok(messages)
    }

    /// Waits for all, and gives the memory back.
    ///
    /// # Errors
    /// What the library says.
    pub fn finish(mut self) -> Result<M> {
        self.requests.wait()?;
        Ok(self.memory.take().expect("invariant: it is taken once"))
    }
}

impl<M> Drop for GpuMessages<M> {
    fn drop(&mut self) {
        // The library may write there until then; where it cannot say when, the memory is not given back.
        if self.requests.wait().is_err() {
            mem::forget((self.memory.take(), mem::take(&mut self.requests)));
        }
    }
}
