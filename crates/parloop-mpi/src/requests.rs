//! Requests of the library: messages that are started, and waited for once. Those that are started again with the same bytes are made once and kept.

use std::ffi::{c_int, c_void};

use crate::Result;
use crate::comm::{Group, MOST, address};
use crate::error::MpiError;
use crate::library::check;

/// The tag of all messages: they go through communicators of our own.
const TAG: c_int = 15;

/// Bytes that go to a process or come from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub with: usize,
    /// Of the first byte, exposed.
    pub address: usize,
    pub length: usize,
}

impl Span {
    /// Where the bytes are, which nothing writes to where there are none.
    fn pointer(self) -> *mut c_void {
        if self.length == 0 { address(&[]).cast_mut() } else { std::ptr::with_exposed_provenance_mut(self.address) }
    }

    /// Its pieces, of which a message can have one; one without bytes where there are none.
    fn pieces(self) -> impl Iterator<Item = Span> {
        let starts = (0..self.length.div_ceil(MOST).max(1)).map(|piece| piece * MOST);
        starts.map(move |start| Span { address: self.address + start, length: (self.length - start).min(MOST), ..self })
    }
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Letter {
    Received(Span),
    Sent(Span),
}

/// What is made of a message.
#[derive(Clone, Copy)]
enum Making {
    /// A request that is started, and goes once.
    Started,
    /// One that is started later, any number of times.
    Kept,
}

impl Letter {
    /// Makes its request, which the library writes to a place.
    ///
    /// # Safety
    /// The library is alive, it is our turn, and there is room for a request; it may use the bytes once the request is started.
    unsafe fn make(self, making: Making, group: Group, request: *mut c_void) -> Result<()> {
        let (Letter::Received(span) | Letter::Sent(span)) = self;
        let (table, comm) = (&group.mpi.table, group.handle);
        let (bytes, length, with) = (span.pointer(), span.length as c_int, span.with as c_int);
        // SAFETY: as the caller promises.
        let (function, code) = unsafe {
            match (self, making) {
                (Letter::Received(_), Making::Started) => ("MPI_Irecv", (table.irecv)(bytes, length, table.byte, with, TAG, comm, request)),
                (Letter::Received(_), Making::Kept) => {
                    ("MPI_Recv_init", (table.recv_init)(bytes, length, table.byte, with, TAG, comm, request))
                }
                (Letter::Sent(_), Making::Started) => ("MPI_Isend", (table.isend)(bytes, length, table.byte, with, TAG, comm, request)),
                (Letter::Sent(_), Making::Kept) => {
                    ("MPI_Send_init", (table.send_init)(bytes, length, table.byte, with, TAG, comm, request))
                }
            }
        };
        check(function, code)
    }

    /// Whether it comes, and from whom or to whom.
    fn end(self) -> (bool, usize) {
        match self {
            Letter::Received(span) => (true, span.with),
            Letter::Sent(span) => (false, span.with),
        }
    }
}

/// Requests, in flight or not.
#[derive(Default)]
pub(crate) struct Requests {
    /// As the library writes them: words, of which handles of 32 bits fill the halves.
    words: Vec<u64>,
    /// The last messages, and the next ones while they are compared.
    last: Vec<Letter>,
    next: Vec<Letter>,
    /// The communicator of the last messages.
    group: Option<Group>,
    state: State,
}

/// What the words are.
#[derive(Default)]
enum State {
    /// Nothing that the library knows.
    #[default]
    Unused,
    /// This many that were started, of messages that go once.
    Once(usize),
    /// Those of the last messages, which can be started again.
    Kept { are_in_flight: bool },
    /// It is not known whether those of the last flight are done, and why.
    Lost(MpiError),
}

impl Requests {
    /// Whether the library may use their memory.
    pub fn are_in_flight(&self) -> bool {
        match self.state {
            State::Unused => false,
            State::Kept { are_in_flight } => are_in_flight,
            State::Once(_) | State::Lost(_) => true,
        }
    }

    /// Starts messages, those that come first. Where they are the last ones again, and there is at most one from and to each process, their requests are kept,
    /// and the third time nothing is made.
    ///
    /// # Errors
    /// What the library says. Messages that were started before are in flight.
    ///
    /// # Safety
    /// The library may read and write at these addresses, and until [`wait`](Self::wait) has returned without an error nobody else writes there,
    /// or reads what comes.
    pub unsafe fn start(&mut self, group: Group, received: impl Iterator<Item = Span>, sent: impl Iterator<Item = Span>) -> Result<()> {
        self.wait()?;
        self.next.clear();
        self.next.extend(received.flat_map(Span::pieces).map(Letter::Received));
        self.next.extend(sent.flat_map(Span::pieces).map(Letter::Sent));
        if self.next.is_empty() {
            return Ok(());
        }
        group.mpi.check_alive()?;
        let _turn = group.mpi.turn();
        if self.next == self.last && self.group.is_some_and(|last| last.handle == group.handle) {
            // SAFETY: as the caller promises.
            return unsafe { self.start_again(group) };
        }
        self.forget(group);
        std::mem::swap(&mut self.last, &mut self.next);
        self.group = Some(group);
        // SAFETY: as the caller promises.
        unsafe { self.start_once(group) }
    }

    /// Starts the last messages with requests that go once.
    ///
    /// # Safety
    /// As [`start`](Self::start); the library is alive and it is our turn.
    unsafe fn start_once(&mut self, group: Group) -> Result<()> {
        self.state = State::Once(0);
        for index in 0..self.last.len() {
            let request = self.place(group, index);
            // SAFETY: as the caller promises; there is room for the request.
            unsafe { self.last[index].make(Making::Started, group, request) }?;
            self.state = State::Once(index + 1);
        }
        Ok(())
    }

    /// Starts the last messages with requests that are kept, which it makes where there are none.
    ///
    /// # Safety
    /// As [`start`](Self::start); the library is alive and it is our turn.
    unsafe fn start_again(&mut self, group: Group) -> Result<()> {
        if !matches!(self.state, State::Kept { .. }) {
            // The library may start them in any order: of two between the same processes one might come for the other.
            let mut ends: Vec<_> = self.last.iter().map(|letter| letter.end()).collect();
            ends.sort_unstable();
            if ends.windows(2).any(|two| two[0] == two[1]) {
                // SAFETY: as the caller promises.
                return unsafe { self.start_once(group) };
            }
            // SAFETY: as the caller promises.
            unsafe { self.make(group) }?;
        }
        // SAFETY: these are requests that are not in flight, and the addresses may be used as the caller promises.
        let code = unsafe { (group.mpi.table.startall)(self.last.len() as c_int, self.words.as_mut_ptr().cast()) };
        let started = check("MPI_Startall", code);
        // After an error some may have been.
        self.state = started.clone().map_or_else(State::Lost, |()| State::Kept { are_in_flight: true });
        started
    }

    /// Makes requests for the last messages that are not started.
    ///
    /// # Safety
    /// The library is alive and it is our turn.
    unsafe fn make(&mut self, group: Group) -> Result<()> {
        for index in 0..self.last.len() {
            let request = self.place(group, index);
            // SAFETY: nothing is read or written before it is started; there is room for the request.
            unsafe { self.last[index].make(Making::Kept, group, request) }?;
        }
        self.state = State::Kept { are_in_flight: false };
        Ok(())
    }

    /// Where the library writes a request.
    fn place(&mut self, group: Group, index: usize) -> *mut c_void {
        // One word for each is enough; those that are there may move.
        self.words.resize(self.words.len().max(index + 1), 0);
        self.words.as_mut_ptr().cast::<u8>().wrapping_add(index * group.mpi.table.abi.handle_size()).cast()
    }

    /// Frees requests that are kept and not in flight. The library is alive and it is our turn.
    fn forget(&mut self, group: Group) {
        if matches!(self.state, State::Kept { are_in_flight: false }) {
            self.state = State::Unused;
            for index in 0..self.last.len() {
                let request = self.place(group, index);
                // SAFETY: it is a request of the library that is not in flight. One that it does not free is lost to it, and does no harm.
                unsafe { (group.mpi.table.request_free)(request) };
            }
        }
    }

    /// Waits for all.
    ///
    /// # Errors
    /// What the library says; from then on it is not known what it does with their memory, and all calls have this error.
    pub fn wait(&mut self) -> Result<()> {
        let (count, after) = match &self.state {
            State::Unused | State::Kept { are_in_flight: false } => return Ok(()),
            State::Lost(error) => return Err(error.clone()),
            State::Once(count) => (*count, State::Unused),
            State::Kept { are_in_flight: true } => (self.last.len(), State::Kept { are_in_flight: false }),
        };
        let done = self.wait_for(count);
        self.state = done.clone().map_or_else(State::Lost, |()| after);
        done
    }

    fn wait_for(&mut self, count: usize) -> Result<()> {
        let Some(Group { mpi, .. }) = self.group else { return Ok(()) };
        mpi.check_alive()?;
        let _turn = mpi.turn();
        // SAFETY: the library is alive, and these are requests that were started and not waited for; nobody wants their statuses.
        let code = unsafe { (mpi.table.waitall)(count as c_int, self.words.as_mut_ptr().cast(), mpi.table.abi.no_statuses()) };
        check("MPI_Waitall", code)
    }
}

impl Drop for Requests {
    fn drop(&mut self) {
        if let Some(group) = self.group.filter(|group| group.mpi.check_alive().is_ok()) {
            let _turn = group.mpi.turn();
            self.forget(group);
        }
    }
}
