//! Messages to and from several processes at once: started, and finished when what they bring is needed.

use crate::Result;
use crate::comm::Comm;
use crate::error::MpiError;
use crate::requests::{Requests, Span};

/// Messages between this process and some others, one to and one from each. While they are on their way they own their bytes.
///
/// ```
/// use parloop_mpi::{Comm, Messages};
/// // A ring: each sends its rank to the next.
/// let world = Comm::world()?;
/// let (rank, size) = (world.rank(), world.size());
/// let mut messages = Messages::default();
/// messages.send((rank + 1) % size, vec![rank as u8]);
/// messages.receive((rank + size - 1) % size, 1);
/// messages.start(&world)?;
/// assert_eq!(messages.finish()?, [((rank + size - 1) % size, vec![((rank + size - 1) % size) as u8])]);
/// # Ok::<(), parloop_mpi::MpiError>(())
/// ```
#[derive(Default)]
pub struct Messages {
    sent: Vec<(usize, Vec<u8>)>,
    received: Vec<(usize, Vec<u8>)>,
    requests: Requests,
}

impl Messages {
    /// A message to a process.
    pub fn send(&mut self, to: usize, bytes: Vec<u8>) {
        self.sent.push((to, bytes));
    }

    /// A message from a process, of that many bytes.
    pub fn receive(&mut self, from: usize, bytes: usize) {
        self.received.push((from, vec![0; bytes]));
    }

    /// Whether they have these lengths, as [`lay_out`](Self::lay_out) takes them: memory and requests are then used again as they are.
    pub fn have(&self, letters: &[(usize, usize, usize)]) -> bool {
        let are = |list: &[(usize, Vec<u8>)], wanted: fn(&(usize, usize, usize)) -> usize| {
            let found = list.iter().map(|(with, bytes)| (*with, bytes.len()));
            found.eq(letters.iter().map(|letter| (letter.0, wanted(letter))).filter(|(_, bytes)| *bytes > 0))
        };
        are(&self.sent, |letter| letter.1) && are(&self.received, |letter| letter.2)
    }

    /// Messages of these lengths: the rank of each process, the bytes for it, and those from it. Those of no bytes are left out. The memory of
    /// the messages before is used again, so that an exchange that is repeated allocates nothing.
    ///
    /// # Errors
    /// What the library says, where messages are in flight.
    pub fn lay_out(&mut self, letters: &[(usize, usize, usize)]) -> Result<()> {
        self.wait()?;
        let sent = letters.iter().map(|&(with, bytes, _)| (with, bytes)).filter(|(_, bytes)| *bytes > 0);
        let received = letters.iter().map(|&(with, _, bytes)| (with, bytes)).filter(|(_, bytes)| *bytes > 0);
        resized(&mut self.sent, sent, |bytes, length| {
            bytes.clear();
            bytes.reserve(length);
        });
        // What is longer than before is zero there; the rest is written by the library.
        resized(&mut self.received, received, |bytes, length| bytes.resize(length, 0));
        Ok(())
    }

    /// The bytes for a process: they are appended here before the messages start. `None` if none were announced, and in flight.
    pub fn outgoing(&mut self, to: usize) -> Option<&mut Vec<u8>> {
        if self.requests.are_in_flight() {
            return None;
        }
        self.sent.iter_mut().find(|(with, _)| *with == to).map(|(_, bytes)| bytes)
    }

    /// The bytes that came from a process, after [`wait`](Self::wait); none if none were asked for, and in flight.
    pub fn incoming(&self, from: usize) -> &[u8] {
        if self.requests.are_in_flight() {
            return &[];
        }
        self.received.iter().find(|(with, _)| *with == from).map_or(&[], |(_, bytes)| bytes)
    }

    /// A message to a process and one from it, left out where they have no bytes.
    pub fn add(&mut self, with: usize, bytes: Vec<u8>, coming: usize) {
        if !bytes.is_empty() {
            self.send(with, bytes);
        }
        if coming > 0 {
            self.receive(with, coming);
        }
    }

    /// Sends them. Those between a process and itself are delivered at once.
    ///
    /// # Errors
    /// [`MpiError::Rank`]; messages of this process to itself of which it does not receive as many bytes; what the library says.
    pub fn start(&mut self, comm: &Comm) -> Result<()> {
        self.wait()?;
        let (rank, size) = (comm.rank(), comm.size());
        if let Some((wrong, _)) = self.sent.iter().chain(&self.received).find(|(with, _)| *with >= size) {
            return Err(MpiError::Rank { rank: *wrong, size });
        }
        let own = self.sent.iter().filter(|(to, _)| *to == rank);
        let mut waiting = self.received.iter_mut().filter(|(from, _)| *from == rank);
        for (_, bytes) in own {
            let asked = waiting.next().map(|(_, place)| (place.len(), place));
            match asked {
                Some((length, place)) if length == bytes.len() => place.copy_from_slice(bytes),
                found => return Err(MpiError::Lengths { asked: bytes.len(), size, rank, found: found.map_or(0, |(length, _)| length) }),
            }
        }
        let Some(group) = comm.group() else { return Ok(()) };
        let received = self.received.iter_mut().filter(|(from, _)| *from != rank);
        let received =
            received.map(|(with, bytes)| Span { with: *with, address: bytes.as_mut_ptr().expose_provenance(), length: bytes.len() });
        let sent = self.sent.iter().filter(|(to, _)| *to != rank);
        let sent = sent.map(|(with, bytes)| Span { with: *with, address: bytes.as_ptr().expose_provenance(), length: bytes.len() });
        // SAFETY: the bytes are owned by these messages, which wait before they give them away or are dropped; what is sent is only read.
        unsafe { self.requests.start(group, received, sent) }
    }

    /// Waits for all, and gives what came: from whom, and the bytes, in the order in which they were asked for.
    ///
    /// # Errors
    /// What the library says.
    pub fn finish(mut self) -> Result<Vec<(usize, Vec<u8>)>> {
        self.wait()?;
        Ok(std::mem::take(&mut self.received))
    }

    /// Waits for all.
    ///
    /// # Errors
    /// What the library says.
    pub fn wait(&mut self) -> Result<()> {
        self.requests.wait()
    }
}

/// Makes messages of these lengths of those that are there.
fn resized(list: &mut Vec<(usize, Vec<u8>)>, lengths: impl Iterator<Item = (usize, usize)>, resize: impl Fn(&mut Vec<u8>, usize)) {
    let mut count = 0;
    for (with, length) in lengths {
        if count == list.len() {
            list.push((with, Vec::new()));
        }
        let (rank, bytes) = &mut list[count];
        *rank = with;
        resize(bytes, length);
        count += 1;
    }
    list.truncate(count);
}

impl Drop for Messages {
    fn drop(&mut self) {
        // The library may write to the bytes until then; where it cannot say when, they are not given back.
        if self.wait().is_err() {
            std::mem::forget((std::mem::take(&mut self.sent), std::mem::take(&mut self.received), std::mem::take(&mut self.requests)));
        }
    }
}

impl std::fmt::Debug for Messages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = if self.requests.are_in_flight() { "in flight" } else { "not started" };
        write!(f, "<Messages: {} sent, {} received, {state}>", self.sent.len(), self.received.len())
    }
}
