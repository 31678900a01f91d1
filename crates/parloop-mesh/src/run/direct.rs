//! Rows of tables in messages that MPI reads and writes in the memory of a GPU itself: nothing goes through the host.

use std::collections::HashMap;
use std::sync::Arc;

use parloop_device::forked::Lock;
use parloop_device::{DeviceId, DeviceKind, Event, Memory};
use parloop_kernel::{Context, KernelError};
use parloop_mpi::{Comm, Gpu, GpuBytes, GpuMessages};

use super::staged::{Rows, Selected, Table};
use crate::Result;
use crate::lower::RowMove;

/// Messages in flight. Their holder has write locks on the tables.
pub struct Direct {
    messages: GpuMessages<Box<Both>>,
}

/// What is sent and what comes.
struct Both {
    sent: Option<Letters>,
    received: Letters,
}

/// MPI takes memory of the device of a context.
pub struct Taken<'a> {
    comm: &'a Comm,
    context: &'a Context,
}

impl<'a> Taken<'a> {
    /// Whether it does, as it says, and as a message of this process to itself shows once.
    ///
    /// # Errors
    /// When the device fails.
    pub fn of(comm: &'a Comm, context: &'a Context) -> Result<Option<Taken<'a>>> {
        Ok(is_taken(comm, context)?.then_some(Taken { comm, context }))
    }
}

impl Direct {
    /// Gathers rows and sends them; `None`, and nothing is sent, where there is no memory for them.
    ///
    /// # Errors
    /// When the device fails; what MPI says.
    pub fn start(tables: &[Table<'_>], sent: Option<Selected>, received: Selected, taken: &Taken<'_>) -> Result<Option<Direct>> {
        let Taken { comm, context } = *taken;
        let allocated = |which: Selected| Letters::new(tables, which, context).ok();
        let sent = match sent.map(|which| (which, allocated(which))) {
            None => None,
            Some((which, Some(letters))) => Some((which, letters)),
            Some((_, None)) => return Ok(None),
        };
        let Some(received) = allocated(received) else { return Ok(None) };
        if let Some((which, letters)) = &sent {
            letters.rows.move_all(RowMove::Gather, tables, *which, context)?;
            letters.order(context)?;
        }
        let sent = sent.map(|(_, letters)| letters);
        // What is sent is there, and memory that was used before is free.
        context.stream().synchronize().map_err(KernelError::from)?;
        let bytes = (sent.as_ref().map_or_else(Vec::new, Letters::bytes), received.bytes());
        // SAFETY: MPI takes such addresses, as `taken` shows; the bytes lie in memory that these messages own, and all kernels that use it are done: the
        // stream has waited for those of other streams, and the host for the stream.
        let messages = unsafe { GpuMessages::start(Box::new(Both { sent, received }), &bytes.0, &bytes.1, comm) }?;
        Ok(Some(Direct { messages }))
    }

    /// Waits for what comes, and puts it into its rows.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn finish(self, tables: &[Table<'_>], received: Selected, context: &Context) -> Result<()> {
        // MPI copies with the CUDA context of the calling thread, which others may have changed: any call of the stream sets it.
        context.stream().is_idle().map_err(KernelError::from)?;
        let both = *self.messages.finish()?;
        both.received.put_back(context)?;
        both.received.rows.move_all(RowMove::Scatter, tables, received, context)?;
        // Another stream may use the memory next.
        let event = Arc::new(context.stream().record().map_err(KernelError::from)?);
        both.sent.into_iter().chain([both.received]).for_each(|letters| letters.keep(context, &event));
        Ok(())
    }
}

/// Rows of several tables, and the same bytes as messages have them: neighbour by neighbour, and for each table by table.
struct Letters {
    rows: Rows,
    /// The messages, where the rows are not in that order already.
    ordered: Option<Memory>,
    parts: Vec<LetterPart>,
}

/// The rows of a table for a neighbour.
struct LetterPart {
    rank: usize,
    /// Where it begins among the rows, and among the messages.
    place: usize,
    ordered: usize,
    length: usize,
}

impl Letters {
    fn new(tables: &[Table<'_>], which: Selected, context: &Context) -> Result<Letters> {
        let rows = Rows::new(tables, which, |bytes| memory(bytes, context))?;
        let mut parts = Vec::new();
        for (Table { halo, storage }, place) in tables.iter().zip(&rows.places) {
            let mut place = place.start;
            for neighbour in halo.neighbours() {
                let length = which.rows(neighbour).len() * storage.row_bytes();
                parts.push(LetterPart { rank: neighbour.rank, place, ordered: 0, length });
                place += length;
            }
        }
        parts.retain(|part| part.length > 0);
        // Tables of one neighbour stay in order.
        parts.sort_by_key(|part| part.rank);
        let mut total = 0;
        for part in &mut parts {
            part.ordered = total;
            total += part.length;
        }
        let is_ordered = parts.iter().all(|part| part.place == part.ordered);
        let ordered = (!is_ordered).then(|| memory(total, context)).transpose()?;
        Ok(Letters { rows, ordered, parts })
    }

    /// Copies the rows to where messages have them.
    fn order(&self, context: &Context) -> Result<()> {
        self.each_part(|part, ordered, rows| context.stream().copy(ordered, part.ordered, rows, part.place, part.length))
    }

    /// Copies messages to where the rows are.
    fn put_back(&self, context: &Context) -> Result<()> {
        self.each_part(|part, ordered, rows| context.stream().copy(rows, part.place, ordered, part.ordered, part.length))
    }

    fn each_part(&self, copy: impl Fn(&LetterPart, &Memory, &Memory) -> parloop_device::Result<()>) -> Result<()> {
        let Some(ordered) = &self.ordered else { return Ok(()) };
        Ok(self.parts.iter().try_for_each(|part| copy(part, ordered, &self.rows.device)).map_err(KernelError::from)?)
    }

    /// Keeps the memory for the next exchange, which must wait for an event.
    fn keep(self, context: &Context, event: &Arc<Event>) {
        let memory = self.ordered.into_iter().chain([self.rows.device]);
        kept(context, |kept| kept.extend(memory.map(|memory| Kept { memory, after: event.clone() })));
    }

    /// The messages: one for each neighbour.
    fn bytes(&self) -> Vec<GpuBytes> {
        let begin = self.ordered.as_ref().unwrap_or(&self.rows.device).handle();
        let of_rank = |parts: &[LetterPart]| GpuBytes {
            with: parts[0].rank,
            address: begin + parts[0].ordered as u64,
            length: parts.iter().map(|part| part.length).sum(),
        };
        self.parts.chunk_by(|one, other| one.rank == other.rank).map(of_rank).collect()
    }
}

/// Memory of at least this many bytes that MPI may give to other processes, whose content is undefined.
fn memory(bytes: usize, context: &Context) -> Result<Memory> {
    // Drivers put what is smaller together, and other processes get all of it.
    const LEAST: usize = 1 << 21;
    let bytes = bytes.next_power_of_two().max(LEAST);
    let known = kept(context, |kept| kept.iter().position(|kept| kept.memory.len() == bytes).map(|place| kept.remove(place)));
    let memory = match known {
        Some(Kept { memory, after }) => context.stream().wait_for(&after).map(|()| memory),
        None => context.device().allocate_for_processes(bytes),
    };
    Ok(memory.map_err(KernelError::from)?)
}

/// Memory of which nothing is in use after an event.
struct Kept {
    memory: Memory,
    after: Arc<Event>,
}

/// Memory of a device that MPI was given and that nobody uses. Libraries remember which memory other processes have mapped, and may fail where another one
/// has its address: it is freed only where an error ends an exchange.
fn kept<R>(context: &Context, with: impl FnOnce(&mut Vec<Kept>) -> R) -> R {
    static KEPT: Lock<Option<HashMap<DeviceId, Vec<Kept>>>> = Lock::new(None);
    with(KEPT.lock_or(|| None).get_or_insert_default().entry(context.device().id()).or_default())
}

/// Whether MPI takes memory of that device from kernels of that context. What it says is tried once, by a message of this process to itself.
///
/// # Errors
/// When the device fails.
fn is_taken(comm: &Comm, context: &Context) -> Result<bool> {
    static TRIED: Lock<Option<HashMap<DeviceId, bool>>> = Lock::new(None);
    let gpu = match context.device().kind() {
        DeviceKind::Cuda => Gpu::Cuda,
        DeviceKind::Hip => Gpu::Hip,
        DeviceKind::Cpu | DeviceKind::OpenCl => return Ok(false),
    };
    if !comm.takes_memory_of(gpu) {
        return Ok(false);
    }
    let device = context.device().id();
    if let Some(&known) = TRIED.lock_or(|| None).get_or_insert_default().get(&device) {
        return Ok(known);
    }
    let found = arrives(comm, context)?;
    TRIED.lock_or(|| None).get_or_insert_default().insert(device, found);
    Ok(found)
}

/// Whether a message of this process to itself arrives with all its bytes. What MPI reports as an error ends the process by default.
fn arrives(comm: &Comm, context: &Context) -> Result<bool> {
    const LENGTH: usize = 1 << 12;
    let text: Vec<u8> = (0..LENGTH).map(|byte| (byte * 7 + 1) as u8).collect();
    let [from, to] = [&text[..], &[0; LENGTH]].map(|bytes| -> Result<Memory> {
        let memory = memory(LENGTH, context)?;
        context.stream().write_at_once(&memory, 0, bytes).map_err(KernelError::from)?;
        Ok(memory)
    });
    let (from, to) = (from?, to?);
    context.stream().synchronize().map_err(KernelError::from)?;
    let bytes = [&from, &to].map(|memory| GpuBytes { with: comm.rank(), address: memory.handle(), length: LENGTH });
    // SAFETY: MPI says that it takes such addresses; the bytes lie in memory that the messages own, and no kernel uses it.
    let messages = unsafe { GpuMessages::start((from, to), &bytes[..1], &bytes[1..], comm) };
    let Ok((from, to)) = messages.and_then(GpuMessages::finish) else { return Ok(false) };
    let mut found = vec![0; LENGTH];
    context.stream().read(&to, 0, &mut found).map_err(KernelError::from)?;
    let after = Arc::new(context.stream().record().map_err(KernelError::from)?);
    kept(context, |kept| kept.extend([from, to].map(|memory| Kept { memory, after: after.clone() })));
    Ok(found == text)
}
