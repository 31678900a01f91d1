//! Compilers inside a library: NVRTC and hiprtc have the same functions under different names.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

use libloading::Library;

use crate::backend::Compiler;
use crate::error::CompileError;
use crate::forked::Lock;
use crate::gpu::calls::{Call, Failure, c_text, find, function_table};
use crate::kind::DeviceKind;
use crate::once::Once;

function_table! {
    /// The functions of a compiler library.
    CompilerCalls, CompilerCallNames {
        version: fn(*mut c_int, *mut c_int) -> c_int,
        error_string: fn(c_int) -> *const c_char,
        create: fn(*mut u64, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char) -> c_int,
        compile: fn(u64, c_int, *const *const c_char) -> c_int,
        log_size: fn(u64, *mut usize) -> c_int,
        log: fn(u64, *mut c_char) -> c_int,
        binary_size: fn(u64, *mut usize) -> c_int,
        binary: fn(u64, *mut c_char) -> c_int,
        destroy: fn(*mut u64) -> c_int,
    }
}

/// What is particular to one compiler library.
pub(crate) struct Flavour {
    pub(crate) kind: DeviceKind,
    /// Its name in errors, before the version.
    pub(crate) name: &'static str,
    pub(crate) names: CompilerCallNames,
    /// The name of the source in messages.
    pub(crate) source_name: &'static CStr,
    /// How to get the library.
    pub(crate) hint: &'static str,
    /// The option by which versions that have it compile one source in several threads.
    pub(crate) in_threads: Option<&'static str>,
}

/// Sources from this length on are compiled in several threads: some of them take minutes in one.
const LONG: usize = 100_000;

/// A compiler library that is loaded, forever.
pub(crate) struct CompilerLibrary {
    flavour: &'static Flavour,
    calls: CompilerCalls,
    /// The name with the version.
    pub(crate) title: String,
    /// The file, its size and its time of change.
    pub(crate) file: String,
    library: Library,
    /// Not all versions allow two compilations at once.
    busy: Lock<()>,
    /// Whether this version knows the option for several threads.
    has_threads: Once<bool>,
}

impl CompilerLibrary {
    /// # Safety
    /// `library` is the compiler's own, so that its functions have the signatures of [`CompilerCalls`].
    pub(crate) unsafe fn new(flavour: &'static Flavour, library: Library, path: &Path) -> Result<CompilerLibrary, CompileError> {
        // SAFETY: functions of these names in that library have these signatures, as the caller guarantees.
        let calls = unsafe { CompilerCalls::load(&flavour.names, |name| find(&library, name)) }.map_err(|missing| {
            let reason = format!("the library has no function `{missing}`; install another version of it");
            CompileError::Failed { compiler: path.display().to_string(), reason }
        })?;
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both are places for one number. A failure leaves the version at 0.0.
        unsafe { (calls.version.function)(&mut major, &mut minor) };
        let title = format!("{} {major}.{minor}", flavour.name);
        let file = describe_file(&loaded_path(calls.version.function as *const c_void).unwrap_or_else(|| path.to_path_buf()));
        Ok(CompilerLibrary { flavour, calls, title, file, library, busy: Lock::new(()), has_threads: Once::new() })
    }

    /// The address of a function that not all versions have.
    pub(crate) fn find(&self, name: &'static str) -> Option<*const c_void> {
        find(&self.library, name)
    }

    pub(crate) fn failed(&self, reason: String) -> CompileError {
        CompileError::Failed { compiler: self.title.clone(), reason }
    }

    fn compile(&self, source: &str, options: &[String]) -> Result<Vec<u8>, CompileError> {
        let text = |what: &str, text: &str| CString::new(text).map_err(|_| self.failed(format!("the {what} contains a zero byte")));
        let source = text("source", source)?;
        let options = options.iter().map(|option| text("option", option)).collect::<Result<Vec<_>, _>>()?;
        let left = |_| self.failed("another thread was compiling when this process was forked; start processes with spawn".to_owned());
        let _one_at_a_time = self.busy.lock().map_err(left)?;
        let program = Program::create(self, &source)?;
        program.compile(&options)?;
        program.binary()
    }

    /// The option for several threads, if this version knows it.
    fn in_threads(&self) -> Option<&'static str> {
        let option = self.flavour.in_threads?;
        let is_known = || {
            let Ok(_one_at_a_time) = self.busy.lock() else { return false };
            let options = CString::new(option).into_iter().collect::<Vec<_>>();
            Program::create(self, c"").is_ok_and(|program| program.compile(&options).is_ok())
        };
        self.has_threads.get_or_init(is_known).then_some(option)
    }

    fn error_text(&self, code: c_int) -> String {
        // SAFETY: it takes any number and answers with a text that is never freed, or null.
        unsafe { c_text((self.calls.error_string.function)(code)) }
    }
}

/// The error when no library could be opened.
pub(crate) fn missing(flavour: &Flavour, tried: Vec<String>) -> CompileError {
    CompileError::NoCompiler { target: flavour.kind, tried, hint: flavour.hint.to_owned() }
}

/// A source handed to the library; given back when dropped.
struct Program<'a> {
    library: &'a CompilerLibrary,
    handle: u64,
}

impl<'a> Program<'a> {
    fn create(library: &'a CompilerLibrary, source: &CStr) -> Result<Program<'a>, CompileError> {
        let mut handle = 0;
        let call = &library.calls.create;
        let name = library.flavour.source_name.as_ptr();
        // SAFETY: `handle` is valid for writing one handle, both texts end in a zero, and there are no headers.
        let result = unsafe { (call.function)(&mut handle, source.as_ptr(), name, 0, ptr::null(), ptr::null()) };
        call.check(result).map_err(|failure| library.failed(format!("{}: {}", failure.call, library.error_text(failure.code))))?;
        Ok(Program { library, handle })
    }

    fn compile(&self, options: &[CString]) -> Result<(), CompileError> {
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let call = &self.library.calls.compile;
        // SAFETY: the program is alive and all options end in a zero.
        let result = unsafe { (call.function)(self.handle, pointers.len() as c_int, pointers.as_ptr()) };
        call.check(result).map_err(|failure| {
            let log = self.log();
            if log.trim().is_empty() {
                return self.library.failed(format!("{}: {}", failure.call, self.library.error_text(failure.code)));
            }
            CompileError::Refused { compiler: self.library.title.clone(), log }
        })
    }

    fn log(&self) -> String {
        let calls = &self.library.calls;
        let bytes = self.bytes(&calls.log_size, &calls.log).unwrap_or_default();
        let text = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(text).trim_end().to_owned()
    }

    fn binary(&self) -> Result<Vec<u8>, CompileError> {
        let calls = &self.library.calls;
        let bytes = self.bytes(&calls.binary_size, &calls.binary)?;
        if bytes.is_empty() {
            return Err(self.library.failed("it produced no code for the architecture".into()));
        }
        Ok(bytes)
    }

    /// Bytes that the library tells the number of, then writes.
    fn bytes(&self, size: &SizeCall, get: &BytesCall) -> Result<Vec<u8>, CompileError> {
        let error = |failure: Failure| self.library.failed(format!("{}: {}", failure.call, self.library.error_text(failure.code)));
        let mut len = 0;
        // SAFETY: the program is alive and `len` is valid for writing one number.
        size.check(unsafe { (size.function)(self.handle, &mut len) }).map_err(error)?;
        // One byte more than the library says: some versions of hiprtc do not count the zero at the end of a log.
        let mut bytes = vec![0u8; len + 1];
        if len > 0 {
            // SAFETY: there is room for the bytes that the library says it writes.
            get.check(unsafe { (get.function)(self.handle, bytes.as_mut_ptr().cast()) }).map_err(error)?;
        }
        bytes.truncate(len);
        Ok(bytes)
    }
}

type SizeCall = Call<unsafe extern "C" fn(u64, *mut usize) -> c_int>;
type BytesCall = Call<unsafe extern "C" fn(u64, *mut c_char) -> c_int>;

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: created by this library and dropped once.
        unsafe { (self.library.calls.destroy.function)(&mut self.handle) };
    }
}

/// A compiler library, told for which architecture to compile.
pub(crate) struct ArchCompiler {
    library: &'static CompilerLibrary,
    base_options: Vec<String>,
    identity: String,
}

impl ArchCompiler {
    pub(crate) fn new(library: &'static CompilerLibrary, base_options: Vec<String>) -> ArchCompiler {
        let identity = format!("{}; {}; {}", library.title, library.file, base_options.join(" "));
        ArchCompiler { library, base_options, identity }
    }
}

impl Compiler for ArchCompiler {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn compile(&self, source: &str, options: &[String]) -> Result<Vec<u8>, CompileError> {
        if let Some(option) = options.iter().find(|option| chooses_architecture(option)) {
            let reason = format!("the option `{option}` selects an architecture, but the device determines that; omit it");
            return Err(self.library.failed(reason));
        }
        let mut all: Vec<String> = self.base_options.iter().chain(options).cloned().collect();
        if source.len() >= LONG {
            all.extend(self.library.in_threads().map(str::to_owned));
        }
        self.library.compile(source, &all)
    }
}

/// Besides making code that the device cannot load, such an option can end the process: hiprtc does not survive a wrong one.
fn chooses_architecture(option: &str) -> bool {
    ["--offload-arch", "--cuda-gpu-arch", "--gpu-architecture", "-arch", "--amdgpu-target"].iter().any(|start| option.starts_with(start))
}

/// The file from which the code at `address` was loaded: a library found by name alone is somewhere on the system's own path.
fn loaded_path(address: *const c_void) -> Option<PathBuf> {
    #[repr(C)]
    struct Info {
        file: *const c_char,
        base: *mut c_void,
        symbol: *const c_char,
        symbol_address: *mut c_void,
    }
    unsafe extern "C" {
        fn dladdr(address: *const c_void, info: *mut Info) -> c_int;
    }
    let mut info = Info { file: ptr::null(), base: ptr::null_mut(), symbol: ptr::null(), symbol_address: ptr::null_mut() };
    // SAFETY: `info` is what the function fills; it takes any address.
    if unsafe { dladdr(address, &mut info) } == 0 || info.file.is_null() {
        return None;
    }
    // SAFETY: the name of a loaded library, which stays loaded.
    let file = unsafe { CStr::from_ptr(info.file) };
    Some(PathBuf::from(file.to_str().ok()?))
}

fn describe_file(path: &Path) -> String {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let data = std::fs::metadata(&real).ok();
    let size = data.as_ref().map_or(0, std::fs::Metadata::len);
    let changed = data.and_then(|data| data.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok());
    format!("{} of {size} bytes at {}", real.display(), changed.map_or(0, |time| time.as_nanos()))
}
