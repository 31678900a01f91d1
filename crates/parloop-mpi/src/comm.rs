//! Communicators: processes that exchange bytes.

use std::ffi::{c_int, c_void};
use std::fmt;
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

use crate::Result;
use crate::abi::{Abi, Handle};
use crate::error::MpiError;
use crate::library::{Mpi, check, is_forked, mpi};

/// Processes that exchange bytes, each known by its rank. Clones are the same communicator.
///
/// ```
/// use parloop_mpi::Comm;
/// let alone = Comm::alone();
/// assert_eq!((alone.rank(), alone.size()), (0, 1));
/// assert_eq!(alone.gather_all(b"abc")?, [b"abc"]);
/// # Ok::<(), parloop_mpi::MpiError>(())
/// ```
#[derive(Clone)]
pub struct Comm {
    group: Option<Group>,
    rank: usize,
    size: usize,
}

/// A communicator of the library, which only we use.
#[derive(Clone, Copy)]
pub(crate) struct Group {
    pub mpi: &'static Mpi,
    pub handle: Handle,
}

impl Comm {
    /// This process alone.
    pub fn alone() -> Comm {
        Comm { group: None, rank: 0, size: 1 }
    }

    /// All processes that were started together: this one alone where no launcher of MPI started it. Where there are several, a panic of one
    /// ends all, unless `PARLOOP_MPI_ERRORS=return`.
    ///
    /// All processes must call it.
    ///
    /// # Errors
    /// A launcher started several processes, but no library was found, or another one than the launcher's.
    pub fn world() -> Result<Comm> {
        let Some(mpi) = mpi()? else { return Ok(Comm::alone()) };
        // SAFETY: the world of the library is a communicator.
        unsafe { Comm::of(mpi, mpi.table.world) }
    }

    /// The processes of a communicator that someone else made, such as `MPI._handleof(comm)` of mpi4py. Messages use a duplicate of it and
    /// never conflict with others. The first time, all its processes must call this.
    ///
    /// # Safety
    /// It is a handle of a communicator of the MPI library that is loaded in this process, which lives as long as the duplicate is made.
    ///
    /// # Errors
    /// [`MpiError::NoLibrary`], [`MpiError::Finalised`].
    pub unsafe fn from_handle(handle: usize) -> Result<Comm> {
        let mpi = mpi()?.ok_or(MpiError::NoLibrary)?;
        // SAFETY: as promised.
        unsafe { Comm::of(mpi, handle) }
    }

    /// A duplicate, made once for each communicator, which keeps it as an attribute: another communicator may get its handle when it is freed.
    /// The duplicate is never freed: that would need all processes at the same time.
    ///
    /// # Safety
    /// The handle is of a communicator of the library.
    unsafe fn of(mpi: &'static Mpi, handle: Handle) -> Result<Comm> {
        static TURN: Mutex<()> = Mutex::new(());
        mpi.check_alive()?;
        let own = {
            let _turns = (TURN.lock().unwrap_or_else(PoisonError::into_inner), mpi.turn());
            let (mut own, mut found): (Handle, c_int) = (0, 0);
            // SAFETY: the handle is of a communicator, as promised, and there is room for a word and an integer.
            let code = unsafe { (mpi.table.get_attribute)(handle, mpi.keyval, (&raw mut own).cast(), &mut found) };
            check("MPI_Comm_get_attr", code)?;
            if found == 0 {
                // Zero above what a handle of 32 bits fills.
                own = 0;
                // SAFETY: as above.
                check("MPI_Comm_dup", unsafe { (mpi.table.comm_dup)(handle, &mut own) })?;
                // SAFETY: attributes are words, which nobody but this function reads.
                let code = unsafe { (mpi.table.set_attribute)(handle, mpi.keyval, std::ptr::without_provenance_mut(own)) };
                check("MPI_Comm_set_attr", code)?;
            }
            own
        };
        let group = Group { mpi, handle: own };
        let (rank, size) = (group.number("MPI_Comm_rank", mpi.table.comm_rank)?, group.number("MPI_Comm_size", mpi.table.comm_size)?);
        let comm = Comm { group: Some(group), rank, size };
        if size > 1 {
            comm.end_all_when_one_panics();
        }
        Ok(comm)
    }

    /// Which of the processes this one is.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many there are.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The binary interface of the library behind it, if there is one.
    pub fn abi(&self) -> Option<Abi> {
        self.group.map(|group| group.mpi.table.abi)
    }

    /// The name of the library behind it, if there is one.
    pub fn library(&self) -> Option<&'static str> {
        self.group.map(|group| group.mpi.name.as_str())
    }

    /// The handle of the communicator, for others who use the same library; `None` without one.
    pub fn handle(&self) -> Option<usize> {
        self.group.map(|group| group.handle)
    }

    /// Whether both have the same processes by the same messages.
    pub fn is_same(&self, other: &Comm) -> bool {
        self.handle() == other.handle()
    }

    /// Waits for all.
    ///
    /// # Errors
    /// What the library says.
    pub fn barrier(&self) -> Result<()> {
        let Some(group) = self.group else { return Ok(()) };
        // SAFETY: the communicator is ours.
        group.call("MPI_Barrier", |group| unsafe { (group.mpi.table.barrier)(group.handle) })
    }

    /// What one of the processes has, on all of them.
    ///
    /// # Errors
    /// [`MpiError::Rank`]; what the library says.
    pub fn broadcast(&self, bytes: &[u8], from: usize) -> Result<Vec<u8>> {
        if from >= self.size {
            return Err(MpiError::Rank { rank: from, size: self.size });
        }
        let Some(group) = self.group else { return Ok(bytes.to_vec()) };
        let mut length = (bytes.len() as u64).to_le_bytes();
        group.broadcast(&mut length, from)?;
        let mut all = match self.rank == from {
            true => bytes.to_vec(),
            false => vec![0; u64::from_le_bytes(length) as usize],
        };
        all.chunks_mut(MOST).try_for_each(|part| group.broadcast(part, from))?;
        Ok(all)
    }

    /// What each of the processes has, by rank, on all of them.
    ///
    /// # Errors
    /// [`MpiError::TooLarge`]; what the library says.
    pub fn gather_all(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
        let Some(group) = self.group else { return Ok(vec![bytes.to_vec()]) };
        let lengths = group.gather_numbers(bytes.len() as u64, self.size)?;
        let total = lengths.iter().sum::<u64>() as usize;
        let (Ok(own), Ok(_)) = (c_int::try_from(bytes.len()), c_int::try_from(total)) else {
            return Err(MpiError::TooLarge { bytes: total });
        };
        if total == 0 {
            return Ok(vec![Vec::new(); self.size]);
        }
        let counts: Vec<c_int> = lengths.iter().map(|&length| length as c_int).collect();
        let starts: Vec<c_int> = counts.iter().scan(0, |next, &count| Some(std::mem::replace(next, *next + count))).collect();
        let mut all = vec![0u8; total];
        group.call("MPI_Allgatherv", |Group { mpi: Mpi { table, .. }, handle }| {
            // SAFETY: there is room for what each process said that it sends.
            unsafe {
                let (from, to) = (address(bytes), all.as_mut_ptr().cast());
                (table.allgatherv)(from, own, table.byte, to, counts.as_ptr(), starts.as_ptr(), table.byte, handle)
            }
        })?;
        Ok(starts.iter().zip(&counts).map(|(&start, &count)| all[start as usize..][..count as usize].to_vec()).collect())
    }

    /// As [`gather_all`](Self::gather_all) of the same number of bytes from each, in one message.
    ///
    /// # Errors
    /// What the library says. Different lengths on other processes are not detected.
    pub fn gather_alike(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        let Some(group) = self.group.filter(|_| !bytes.is_empty()) else { return Ok(bytes.to_vec()) };
        let mut all = vec![0u8; bytes.len() * self.size];
        group.gather(bytes, &mut all)?;
        Ok(all)
    }

    /// Aborts all processes; a forked child only itself.
    pub fn abort(&self, code: i32) -> ! {
        if let Some(group) = self.group.filter(|_| !is_forked()) {
            // A launcher that ends its processes forgets what it has not read of them: the reason, that is.
            std::thread::sleep(TIME_TO_BE_READ);
            // SAFETY: the communicator is ours. Nothing is waited for: another thread may be inside of a call.
            unsafe { (group.mpi.table.abort)(group.mpi.table.world, code) };
        }
        std::process::exit(code)
    }

    /// A panic of one process ends all: the others would wait for its messages.
    fn end_all_when_one_panics(&self) {
        static ONCE: Once = Once::new();
        if !ends_all() {
            return;
        }
        let comm = self.clone();
        ONCE.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |info| {
                before(info);
                if is_forked() {
                    return;
                }
                eprintln!("rank {} of {} panicked; all ranks are aborted", comm.rank, comm.size);
                comm.abort(1);
            }));
        });
    }

    pub(crate) fn group(&self) -> Option<Group> {
        self.group
    }
}

/// How long a process that ends all of them waits for the launcher to read what it printed.
const TIME_TO_BE_READ: Duration = Duration::from_millis(300);

/// Whether an error of one process ends all of them: yes, unless `PARLOOP_MPI_ERRORS=return`.
pub(crate) fn ends_all() -> bool {
    std::env::var("PARLOOP_MPI_ERRORS").map_or(true, |value| value != "return")
}

/// Where bytes are; somewhere harmless where there are none, since libraries give a meaning to some addresses that no bytes have.
pub(crate) fn address(bytes: &[u8]) -> *const c_void {
    static NOTHING: [u64; 1] = [0];
    if bytes.is_empty() { NOTHING.as_ptr().cast() } else { bytes.as_ptr().cast() }
}

/// The most bytes of one message.
pub(crate) const MOST: usize = 1 << 30;

impl Group {
    /// Calls the library in turn.
    pub fn call(self, function: &'static str, call: impl FnOnce(Group) -> c_int) -> Result<()> {
        self.mpi.check_alive()?;
        let _turn = self.mpi.turn();
        check(function, call(self))
    }

    fn number(self, name: &'static str, function: unsafe extern "C" fn(Handle, *mut c_int) -> c_int) -> Result<usize> {
        let mut number = 0;
        // SAFETY: both functions fill in one integer about a communicator.
        self.call(name, |group| unsafe { function(group.handle, &mut number) })?;
        Ok(usize::try_from(number).unwrap_or(0))
    }

    fn broadcast(self, bytes: &mut [u8], from: usize) -> Result<()> {
        self.call("MPI_Bcast", |Group { mpi: Mpi { table, .. }, handle }| {
            // SAFETY: the length is that of the bytes, at most 2^30.
            unsafe { (table.bcast)(bytes.as_mut_ptr().cast(), bytes.len() as c_int, table.byte, from as c_int, handle) }
        })
    }

    fn gather(self, bytes: &[u8], all: &mut [u8]) -> Result<()> {
        let count = c_int::try_from(bytes.len()).map_err(|_| MpiError::TooLarge { bytes: bytes.len() })?;
        self.call("MPI_Allgather", |Group { mpi: Mpi { table, .. }, handle }| {
            // SAFETY: there is room for as many bytes from each process.
            unsafe { (table.allgather)(bytes.as_ptr().cast(), count, table.byte, all.as_mut_ptr().cast(), count, table.byte, handle) }
        })
    }

    fn gather_numbers(self, number: u64, size: usize) -> Result<Vec<u64>> {
        let mut all = vec![0u8; 8 * size];
        self.gather(&number.to_le_bytes(), &mut all)?;
        let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("invariant: eight bytes"));
        Ok(all.chunks(8).map(number).collect())
    }
}

impl fmt::Debug for Comm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Comm: rank {} of {}>", self.rank, self.size)
    }
}
