//! Shared libraries as modules, and the launch of their functions.

use std::ffi::c_void;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use rustix::fs::{MemfdFlags, memfd_create};

use super::elf;
use super::pool::Pool;
use super::sharing::Sharing;
use crate::backend::{RawFunction, RawModule};
use crate::binary::ModuleBinary;
use crate::error::{DeviceError, Result};
use crate::identity::{DeviceId, Properties};
use crate::interrupt::{self, Code, Entry};
use crate::launch::Launch;
use crate::loader;

/// The loader never unloads the library.
const RTLD_NODELETE: i32 = 0x1000;

pub(super) struct CpuModule {
    device: DeviceId,
    pool: Arc<Pool>,
    library: Loaded,
    /// Whether it may have threads of its own.
    has_threads: bool,
    /// The library's file in memory. It stays open while the library is loaded: the loader tells libraries apart by path, and the
    /// path holds this number. Declared after `library`, so that it is closed after it.
    _file: OwnedFd,
}

/// A library that is unloaded while no other thread forks.
struct Loaded(ManuallyDrop<Library>);

impl Deref for Loaded {
    type Target = Library;

    fn deref(&self) -> &Library {
        &self.0
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        let _turn = loader::turn();
        // SAFETY: it is not used again.
        unsafe { ManuallyDrop::drop(&mut self.0) };
    }
}

impl CpuModule {
    pub(super) fn load(properties: &Properties, binary: &ModuleBinary, pool: Arc<Pool>) -> Result<CpuModule> {
        let failed = |reason: String| DeviceError::Load { device: properties.id.to_string(), reason };
        elf::check(&binary.bytes).map_err(|reason| failed(reason.to_owned()))?;
        let descriptor =
            memfd_create("parloop", MemfdFlags::CLOEXEC).map_err(|e| failed(format!("could not create a file in memory: {e}")))?;
        let mut file = std::fs::File::from(descriptor);
        file.write_all(&binary.bytes).map_err(|e| failed(format!("could not create a file in memory: {e}")))?;
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let _turn = loader::turn();
        // SAFETY: the bytes are what our compiler made from the user's kernels; loading them runs no code but the C runtime's.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(|e| failed(e.to_string()))?;
        let has_threads = keep_threads(&binary.bytes);
        Ok(CpuModule { device: properties.id, pool, library: Loaded(ManuallyDrop::new(library)), has_threads, _file: file.into() })
    }
}

/// Libraries whose threads wait in their code for more work.
const WITH_THREADS: [&str; 3] = ["libgomp.so.1", "libomp.so.5", "libiomp5.so"];

/// Sees to it that such a library, if a module that was just loaded brought it, stays when the module is unloaded. Says whether there may be one.
fn keep_threads(module: &[u8]) -> bool {
    let named = WITH_THREADS.map(|name| memchr::memmem::find(module, name.as_bytes()).is_some());
    for (name, _) in WITH_THREADS.into_iter().zip(named).filter(|(_, named)| *named) {
        // SAFETY: it is loaded already, so that nothing is run here.
        let kept = unsafe { Library::open(Some(name), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) };
        // The name may be nothing but a text of the module's.
        drop(kept);
    }
    named.contains(&true)
}

impl RawModule for CpuModule {
    fn function(self: Arc<Self>, name: &str) -> Result<Arc<dyn RawFunction>> {
        let unknown = || DeviceError::UnknownFunction { device: self.device.to_string(), name: name.to_owned() };
        // SAFETY: entry points are generated with exactly this signature, under names that only they have.
        let entry = unsafe { self.library.get::<Entry>(name) }.map(|symbol| *symbol).map_err(|_| unknown())?;
        // A kernel of OpenMP has threads that wait for one another, so that none of them can leave.
        let code = if self.has_threads { Code::default() } else { Code::around(entry) };
        Ok(Arc::new(CpuFunction { entry, code, sharing: Sharing::new(self.pool.clone()), _module: self }))
    }
}

struct CpuFunction {
    entry: Entry,
    /// The code in which a thread may leave the kernel.
    code: Code,
    sharing: Sharing,
    _module: Arc<CpuModule>,
}

/// Kernel arguments in flight to the threads.
struct SharedArgs(*const *mut c_void);
// SAFETY: the launch outlives the threads' use of the arguments, which they only read.
unsafe impl Sync for SharedArgs {}

impl SharedArgs {
    /// # Safety
    /// As [`RawFunction::launch`].
    #[inline]
    unsafe fn call(&self, function: &CpuFunction, turn: Option<u64>, begin: u64, end: u64) {
        let (begin, end) = (begin as i64, end as i64);
        match turn {
            // SAFETY: the caller upholds the same contract.
            None => unsafe { (function.entry)(self.0, begin, end) },
            // SAFETY: as above.
            Some(turn) => unsafe { interrupt::call(turn, &function.code, function.entry, self.0, begin, end) },
        }
    }
}

impl RawFunction for CpuFunction {
    fn max_block(&self) -> u32 {
        1
    }

    unsafe fn launch(&self, _stream: u64, launch: &Launch, args: &[*mut c_void], _sizes: &[usize]) -> Result<()> {
        let args = SharedArgs(args.as_ptr());
        let range = launch.range.min(i64::MAX as u64);
        let turn = interrupt::own_turn();
        // SAFETY: the arguments fit, as the backend contract guarantees; the calls below cover `0..range` once.
        let run = |begin, end| unsafe { args.call(self, turn, begin, end) };
        self.sharing.run(range, run);
        Ok(())
    }
}
