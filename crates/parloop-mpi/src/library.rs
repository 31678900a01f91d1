//! The MPI library of this process: one that somebody has loaded already, or the one that the launcher wants; opened once, never closed.

use std::ffi::{c_int, c_void};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, OnceLock, PoisonError};

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LAZY, RTLD_NOW};

use crate::Result;
use crate::abi::{Handle, Table};
use crate::error::MpiError;
use crate::launched::{Launched, NAMES, launched};

/// Linux and the BSDs: only libraries that are loaded.
const RTLD_NOLOAD: c_int = 4;

/// The library of this process, initialised.
pub struct Mpi {
    pub table: Table,
    pub name: String,
    /// The key under which communicators keep their duplicates.
    pub keyval: c_int,
    /// Calls are made one after another where the library does not allow more.
    turn: Option<Mutex<()>>,
}

impl Mpi {
    /// The right to call the library.
    pub fn turn(&self) -> Option<MutexGuard<'_, ()>> {
        // Nothing is guarded but the call itself.
        self.turn.as_ref().map(|turn| turn.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// # Errors
    /// [`MpiError::Forked`], [`MpiError::Finalised`].
    pub fn check_alive(&self) -> Result<()> {
        if is_forked() {
            return Err(MpiError::Forked);
        }
        if is_finalized(&self.table) { Err(MpiError::Finalised) } else { Ok(()) }
    }
}

/// Whether this process is a child that was forked after MPI was initialised.
static FORKED: AtomicBool = AtomicBool::new(false);

/// Whether the library belongs to a parent of this process.
pub fn is_forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}

extern "C" fn in_child() {
    FORKED.store(true, Ordering::Relaxed);
}

fn watch_forks() {
    unsafe extern "C" {
        fn pthread_atfork(prepare: Option<extern "C" fn()>, parent: Option<extern "C" fn()>, child: Option<extern "C" fn()>) -> c_int;
    }
    // SAFETY: the function is of the C library, and the callback only sets a flag.
    unsafe { pthread_atfork(None, None, Some(in_child)) };
}

/// Duplicates of communicators do not share a duplicate.
unsafe extern "C" fn copy_nothing(_: Handle, _: c_int, _: *mut c_void, _: *mut c_void, _: *mut c_void, copies: *mut c_int) -> c_int {
    // SAFETY: the library gives a place for one integer.
    unsafe { *copies = 0 };
    0
}

/// A communicator that is freed forgets its duplicate, which may be in use still.
unsafe extern "C" fn delete_nothing(_: Handle, _: c_int, _: *mut c_void, _: *mut c_void) -> c_int {
    0
}

fn create_keyval(table: &Table) -> Result<c_int> {
    let mut keyval = 0;
    // SAFETY: the functions have the signatures of the standard and live as long as the process; there is room for the key.
    let code = unsafe { (table.create_keyval)(copy_nothing, delete_nothing, &mut keyval, std::ptr::null_mut()) };
    check("MPI_Comm_create_keyval", code)?;
    Ok(keyval)
}

/// The library of this process: none if no library is loaded and no launcher started the process.
///
/// # Errors
/// A launcher started several processes and there is no library that can be used.
pub fn mpi() -> Result<Option<&'static Mpi>> {
    static MPI: OnceLock<Mpi> = OnceLock::new();
    static OPENING: Mutex<()> = Mutex::new(());
    if let Some(known) = MPI.get() {
        return Ok(Some(known));
    }
    let _turn = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = MPI.get() {
        return Ok(Some(known));
    }
    let launched = launched(|name| std::env::var(name).ok());
    let Some(Found { library, name, is_loaded }) = find(launched)? else { return Ok(None) };
    let table = Table::of(&library, &name)?;
    // A library that was loaded by others and that no launcher started is theirs to initialise.
    if launched.is_none() && !is_initialized(&table) {
        return Ok(None);
    }
    // It has threads and handlers of its own that must stay.
    std::mem::forget(library);
    let turn = initialise(&table)?;
    if let Some(launched) = launched {
        check_world(&table, launched, &name, is_loaded)?;
    }
    let keyval = create_keyval(&table)?;
    watch_forks();
    Ok(Some(MPI.get_or_init(|| Mpi { table, name, keyval, turn })))
}

/// A library, and whether others have loaded it.
struct Found {
    library: Library,
    name: String,
    is_loaded: bool,
}

fn find(launched: Option<Launched>) -> Result<Option<Found>> {
    for &name in NAMES {
        // SAFETY: nothing is loaded, so that no code runs.
        if let Ok(library) = unsafe { Library::open(Some(name), RTLD_LAZY | RTLD_NOLOAD) } {
            return Ok(Some(Found { library, name: name.to_owned(), is_loaded: true }));
        }
    }
    let Some(Launched { launcher, size, libraries }) = launched else { return Ok(None) };
    let given = std::env::var_os("PARLOOP_MPI").filter(|path| !path.is_empty()).map(PathBuf::from);
    let candidates = match given {
        Some(path) => vec![path],
        None => libraries.iter().map(PathBuf::from).collect(),
    };
    let mut tried = Vec::new();
    for candidate in candidates {
        // SAFETY: an MPI library that the user or the system names; loading it runs its own initialisers only. Its plug-ins look for its
        // symbols among those of the process.
        match unsafe { Library::open(Some(&candidate), RTLD_NOW | RTLD_GLOBAL) } {
            Ok(library) => return Ok(Some(Found { library, name: candidate.display().to_string(), is_loaded: false })),
            Err(error) if candidate.is_absolute() => tried.push(format!("{} ({})", candidate.display(), reason(&error))),
            Err(_) => tried.push(candidate.display().to_string()),
        }
    }
    Err(MpiError::NotFound { launcher, size, tried })
}

/// What the dynamic linker says.
fn reason(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

fn flag(call: impl FnOnce(*mut c_int) -> c_int) -> bool {
    let mut flag = 0;
    call(&mut flag) == 0 && flag != 0
}

fn is_initialized(table: &Table) -> bool {
    // SAFETY: it may be called at any time, with room for one integer.
    flag(|flag| unsafe { (table.initialized)(flag) })
}

fn is_finalized(table: &Table) -> bool {
    // SAFETY: it may be called at any time, with room for one integer.
    flag(|flag| unsafe { (table.finalized)(flag) })
}

/// Initialises the library, unless someone has, and says whether calls must be made one after another.
fn initialise(table: &Table) -> Result<Option<Mutex<()>>> {
    if is_finalized(table) {
        return Err(MpiError::Finalised);
    }
    let (mut provided, any_thread) = (0, table.abi.any_thread());
    if is_initialized(table) {
        // SAFETY: the library is initialised and not finalised.
        check("MPI_Query_thread", unsafe { (table.query_thread)(&mut provided) })?;
    } else {
        // SAFETY: it is called once, under a lock, with a number of the library's own interface; no arguments of the program are passed, which the
        // standard allows.
        let code = unsafe { (table.init_thread)(std::ptr::null_mut(), std::ptr::null_mut(), any_thread, &mut provided) };
        check("MPI_Init_thread", code)?;
        finalise_at_exit(table.finalize, table.finalized);
    }
    Ok((provided < any_thread).then(|| Mutex::new(())))
}

fn check_world(table: &Table, launched: Launched, name: &str, is_loaded: bool) -> Result<()> {
    let mut found = 0;
    // SAFETY: the library is initialised, and the handle is its world.
    check("MPI_Comm_size", unsafe { (table.comm_size)(table.world, &mut found) })?;
    let found = usize::try_from(found).unwrap_or(0);
    let Launched { launcher, size: asked, .. } = launched;
    match found == asked {
        true => Ok(()),
        false => Err(MpiError::WorldSize { launcher, asked, library: name.to_owned(), found, is_loaded }),
    }
}

/// # Errors
/// The code, if it says that the function failed.
pub fn check(function: &'static str, code: c_int) -> Result<()> {
    if code == 0 { Ok(()) } else { Err(MpiError::Call { function, code }) }
}

type Finalize = unsafe extern "C" fn() -> c_int;
type Finalized = unsafe extern "C" fn(*mut c_int) -> c_int;

/// What ends MPI when this process ends, and the process that began it: a forked child must not.
static LAST: OnceLock<(Finalize, Finalized, u32)> = OnceLock::new();

/// MPI is finalised by the code that initialised it.
fn finalise_at_exit(finalize: Finalize, finalized: Finalized) {
    if LAST.set((finalize, finalized, std::process::id())).is_ok() {
        at_exit();
    }
}

/// Finalises before all that was prepared for the end of this process so far, if it is ours to finalise: a library that knows memory of a GPU needs
/// the driver to let it go.
pub fn finalise_before_drivers() {
    static ONCE: Once = Once::new();
    if LAST.get().is_some() {
        ONCE.call_once(at_exit);
    }
}

fn at_exit() {
    unsafe extern "C" {
        fn atexit(callback: extern "C" fn()) -> c_int;
    }
    // SAFETY: the function is of the C library, and the callback lives as long as this code does.
    unsafe { atexit(finalise) };
}

extern "C" fn finalise() {
    let Some(&(finalize, finalized, process)) = LAST.get() else { return };
    // SAFETY: it may be called at any time, with room for one integer.
    if process == std::process::id() && !flag(|flag| unsafe { finalized(flag) }) {
        // SAFETY: MPI was initialised by this process, and nobody has finalised it.
        unsafe { finalize() };
    }
}
