//! Requests of the library: messages that were started, and are waited for once.

use std::ffi::{c_int, c_void};

use crate::Result;
use crate::comm::{Group, MOST};
use crate::error::MpiError;
use crate::library::check;

/// The tag of all messages: they go through communicators of our own.
const TAG: c_int = 15;

/// Bytes that go to a process or come from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub with: usize,
    pub address: *mut c_void,
    pub length: usize,
}

impl Span {
    /// Its pieces, of which a message can have one; one without bytes where there are none.
    fn pieces(self) -> impl Iterator<Item = Span> {
        let starts = (0..self.length.div_ceil(MOST).max(1)).map(|piece| piece * MOST);
        starts.map(move |start| Span {
            address: self.address.cast::<u8>().wrapping_add(start).cast(),
            length: (self.length - start).min(MOST),
            ..self
        })
    }
}

/// Requests, in flight or not.
#[derive(Default)]
pub(crate) struct Requests {
    /// As the library writes them: words, of which handles of 32 bits fill the halves.
    words: Vec<u64>,
    flight: Option<Flight>,
    /// Why it is not known whether those of the last flight are done, if it is not.
    lost: Option<MpiError>,
}

/// Requests that were started and not waited for.
struct Flight {
    group: Group,
    count: usize,
}

impl Flight {
    /// Starts one more, which the library writes to the place that `call` gets.
    fn start(&mut self, words: &mut Vec<u64>, function: &'static str, call: impl FnOnce(*mut c_void) -> c_int) -> Result<()> {
        // One word for each is enough; those that are there may move.
        words.resize(words.len().max(self.count + 1), 0);
        let offset = self.count * self.group.mpi.table.abi.handle_size();
        check(function, call(words.as_mut_ptr().cast::<u8>().wrapping_add(offset).cast()))?;
        self.count += 1;
        Ok(())
    }
}

impl Requests {
    /// Whether the library may use their memory.
    pub fn are_in_flight(&self) -> bool {
        self.flight.is_some() || self.lost.is_some()
    }

    /// Starts messages, those that come first.
    ///
    /// # Errors
    /// What the library says. Messages that were started before are in flight.
    ///
    /// # Safety
    /// The library may read and write at these addresses, and until [`wait`](Self::wait) has returned without an error nobody else writes there,
    /// or reads what comes.
    pub unsafe fn start(&mut self, group: Group, received: impl Iterator<Item = Span>, sent: impl Iterator<Item = Span>) -> Result<()> {
        self.wait()?;
        let (mut received, mut sent) = (received.peekable(), sent.peekable());
        if received.peek().is_none() && sent.peek().is_none() {
            return Ok(());
        }
        group.mpi.check_alive()?;
        let flight = self.flight.insert(Flight { group, count: 0 });
        let table = &group.mpi.table;
        let _turn = group.mpi.turn();
        for Span { with, address, length } in received.flat_map(Span::pieces) {
            // SAFETY: as the caller promises; there is room for the request.
            flight.start(&mut self.words, "MPI_Irecv", |request| unsafe {
                (table.irecv)(address, length as c_int, table.byte, with as c_int, TAG, group.handle, request)
            })?;
        }
        for Span { with, address, length } in sent.flat_map(Span::pieces) {
            // SAFETY: as above.
            flight.start(&mut self.words, "MPI_Isend", |request| unsafe {
                (table.isend)(address, length as c_int, table.byte, with as c_int, TAG, group.handle, request)
            })?;
        }
        Ok(())
    }

    /// Waits for all.
    ///
    /// # Errors
    /// What the library says; from then on it is not known what it does with their memory, and all calls have this error.
    pub fn wait(&mut self) -> Result<()> {
        if let Some(error) = &self.lost {
            return Err(error.clone());
        }
        let Some(flight) = self.flight.take() else { return Ok(()) };
        let done = self.wait_for(&flight);
        self.lost = done.as_ref().err().cloned();
        done
    }

    fn wait_for(&mut self, flight: &Flight) -> Result<()> {
        flight.group.mpi.check_alive()?;
        let table = &flight.group.mpi.table;
        let _turn = flight.group.mpi.turn();
        // SAFETY: the library is alive, and these are requests that were started and not waited for; nobody wants their statuses.
        let code = unsafe { (table.waitall)(flight.count as c_int, self.words.as_mut_ptr().cast(), table.abi.no_statuses()) };
        check("MPI_Waitall", code)
    }
}
