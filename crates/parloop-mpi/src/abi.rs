//! The binary interfaces, as one table of functions. Handles are pointers in some and integers of 32 bits in the other; here they are
//! machine words, which both kinds of function find in the same registers and places of the stack.

use std::ffi::{c_char, c_int, c_void};

use libloading::os::unix::Library;

use crate::Result;
use crate::error::MpiError;

#[cfg(not(all(target_pointer_width = "64", target_endian = "little")))]
compile_error!("handles of MPICH are passed as words of 64 bits, of which its functions read the lower half");

/// A handle of any interface.
pub type Handle = usize;

/// Which binary interface a library has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abi {
    /// Handles are addresses: Open MPI.
    OpenMpi,
    /// Handles are integers of 32 bits: MPICH, Intel MPI, MVAPICH, Cray MPICH.
    Mpich,
    /// Handles are addresses with numbers of the standard: `libmpi_abi` of libraries that have the interface of MPI 5.
    Standard,
}

impl Abi {
    /// The bytes of a handle in memory.
    pub(crate) fn handle_size(self) -> usize {
        match self {
            Abi::OpenMpi | Abi::Standard => 8,
            Abi::Mpich => 4,
        }
    }

    /// `MPI_STATUSES_IGNORE`.
    pub(crate) fn no_statuses(self) -> *mut c_void {
        match self {
            Abi::OpenMpi | Abi::Standard => std::ptr::null_mut(),
            Abi::Mpich => std::ptr::without_provenance_mut(1),
        }
    }

    /// `MPI_THREAD_MULTIPLE`: any thread may call at any time. Lower levels have lower numbers.
    pub(crate) fn any_thread(self) -> c_int {
        match self {
            Abi::OpenMpi | Abi::Mpich => 3,
            Abi::Standard => 4096,
        }
    }
}

/// What a library calls for an attribute of a communicator that is duplicated: whose, which, what was given with it, its value, where the
/// value of the duplicate goes, whether it gets one.
pub type CopyAttribute = unsafe extern "C" fn(Handle, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int;

/// What it calls for one of a communicator that is freed.
pub type DeleteAttribute = unsafe extern "C" fn(Handle, c_int, *mut c_void, *mut c_void) -> c_int;

/// What is called before the interface is known.
type LibraryVersion = unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int;
type AbiVersion = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;

/// A kind of GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gpu {
    /// NVIDIA's.
    Cuda,
    /// AMD's.
    Hip,
}

/// Functions by which libraries say whether they take addresses of memory of a GPU. They are no part of the standard.
pub struct GpuQueries {
    cuda: Option<unsafe extern "C" fn() -> c_int>,
    hip: Option<unsafe extern "C" fn() -> c_int>,
    /// For any kind, by MPICH's number of it.
    any: Option<unsafe extern "C" fn(c_int, *mut c_int) -> c_int>,
}

impl GpuQueries {
    fn of(library: &Library) -> GpuQueries {
        // SAFETY: Open MPI, MPICH and their relatives have these functions with these parameters.
        unsafe {
            let simple = |name: &[u8]| library.get::<unsafe extern "C" fn() -> c_int>(name).ok().map(|found| *found);
            GpuQueries {
                cuda: simple(b"MPIX_Query_cuda_support"),
                hip: simple(b"MPIX_Query_hip_support").or_else(|| simple(b"MPIX_Query_rocm_support")),
                any: library.get::<unsafe extern "C" fn(c_int, *mut c_int) -> c_int>(b"MPIX_GPU_query_support").ok().map(|found| *found),
            }
        }
    }

    /// What the library says.
    ///
    /// # Safety
    /// It is initialised and not finalised.
    pub unsafe fn takes(&self, gpu: Gpu) -> bool {
        let (simple, number) = match gpu {
            Gpu::Cuda => (self.cuda, 0),
            Gpu::Hip => (self.hip, 2),
        };
        let mut found = 0;
        // SAFETY: the library is initialised and not finalised, as the caller promises; there is room for one integer.
        unsafe {
            match (simple, self.any) {
                (Some(query), _) => query() == 1,
                (None, Some(query)) => query(number, &mut found) == 0 && found == 1,
                (None, None) => false,
            }
        }
    }
}

/// The functions, with their names in C, and the two handles that are known beforehand.
macro_rules! table {
    ($($field:ident = $name:literal: fn($($arg:ty),*);)*) => {
        pub struct Table {
            pub abi: Abi,
            pub world: Handle,
            pub byte: Handle,
            pub gpus: GpuQueries,
            $(pub $field: unsafe extern "C" fn($($arg),*) -> c_int,)*
        }

        impl Table {
            fn filled(library: &Library, name: &str, abi: Abi, world: Handle, byte: Handle) -> Result<Table> {
                // SAFETY: these are functions of the MPI standard with these parameters in all three interfaces; handles are words, as explained above.
                Ok(Table { abi, world, byte, gpus: GpuQueries::of(library), $($field: unsafe {
                    *library.get::<unsafe extern "C" fn($($arg),*) -> c_int>($name.as_bytes()).map_err(|_| {
                        MpiError::Function { library: name.to_owned(), function: $name }
                    })?
                },)* })
            }
        }
    };
}

table! {
    initialized = "MPI_Initialized": fn(*mut c_int);
    finalized = "MPI_Finalized": fn(*mut c_int);
    init_thread = "MPI_Init_thread": fn(*mut c_int, *mut c_void, c_int, *mut c_int);
    query_thread = "MPI_Query_thread": fn(*mut c_int);
    finalize = "MPI_Finalize": fn();
    abort = "MPI_Abort": fn(Handle, c_int);
    comm_rank = "MPI_Comm_rank": fn(Handle, *mut c_int);
    comm_size = "MPI_Comm_size": fn(Handle, *mut c_int);
    comm_dup = "MPI_Comm_dup": fn(Handle, *mut Handle);
    create_keyval = "MPI_Comm_create_keyval": fn(CopyAttribute, DeleteAttribute, *mut c_int, *mut c_void);
    set_attribute = "MPI_Comm_set_attr": fn(Handle, c_int, *mut c_void);
    get_attribute = "MPI_Comm_get_attr": fn(Handle, c_int, *mut c_void, *mut c_int);
    barrier = "MPI_Barrier": fn(Handle);
    bcast = "MPI_Bcast": fn(*mut c_void, c_int, Handle, c_int, Handle);
    allgather = "MPI_Allgather": fn(*const c_void, c_int, Handle, *mut c_void, c_int, Handle, Handle);
    allgatherv = "MPI_Allgatherv": fn(*const c_void, c_int, Handle, *mut c_void, *const c_int, *const c_int, Handle, Handle);
    alltoall = "MPI_Alltoall": fn(*const c_void, c_int, Handle, *mut c_void, c_int, Handle, Handle);
    isend = "MPI_Isend": fn(*const c_void, c_int, Handle, c_int, c_int, Handle, *mut c_void);
    irecv = "MPI_Irecv": fn(*mut c_void, c_int, Handle, c_int, c_int, Handle, *mut c_void);
    recv_init = "MPI_Recv_init": fn(*mut c_void, c_int, Handle, c_int, c_int, Handle, *mut c_void);
    send_init = "MPI_Send_init": fn(*const c_void, c_int, Handle, c_int, c_int, Handle, *mut c_void);
    startall = "MPI_Startall": fn(c_int, *mut c_void);
    request_free = "MPI_Request_free": fn(*mut c_void);
    waitall = "MPI_Waitall": fn(c_int, *mut c_void, *mut c_void);
}

impl Table {
    /// The functions of an opened library, whose interface is told by the names it exports.
    ///
    /// # Errors
    /// [`MpiError::Interface`], [`MpiError::Function`].
    pub fn of(library: &Library, name: &str) -> Result<Table> {
        // A library may have both interfaces in two files, of which one exports the names of the other.
        if has_standard_interface(library) {
            return Table::filled(library, name, Abi::Standard, 0x101, 0x247);
        }
        // SAFETY: only the address of each is used, which is what Open MPI's header takes for the handle.
        let address = |symbol: &[u8]| unsafe { library.get::<*mut c_void>(symbol).ok().map(|found| found.as_raw_ptr().addr()) };
        if let (Some(world), Some(byte)) = (address(b"ompi_mpi_comm_world"), address(b"ompi_mpi_byte")) {
            return Table::filled(library, name, Abi::OpenMpi, world, byte);
        }
        let version = library_version(library, name)?;
        if ["MPICH", "Intel(R) MPI", "MVAPICH"].iter().any(|known| version.contains(known)) {
            // Constants of MPICH's interface, which its relatives share by agreement.
            return Table::filled(library, name, Abi::Mpich, 0x4400_0000, 0x4c00_010d);
        }
        Err(MpiError::Interface { library: name.to_owned(), version: version.lines().next().unwrap_or("").to_owned() })
    }
}

/// Whether the library has the interface of MPI 5, which it says also before it is initialised.
fn has_standard_interface(library: &Library) -> bool {
    let (mut major, mut minor) = (-1, -1);
    // SAFETY: the function of the standard has this signature; it writes two integers, negative ones if the interface is another.
    let code = unsafe { library.get::<AbiVersion>(b"MPI_Abi_get_version").map(|function| function(&mut major, &mut minor)) };
    code.is_ok_and(|code| code == 0) && major == 1
}

/// What the library says that it is, which it does also before it is initialised.
fn library_version(library: &Library, name: &str) -> Result<String> {
    const FUNCTION: &str = "MPI_Get_library_version";
    // Longer than MPI_MAX_LIBRARY_VERSION_STRING of any library.
    let (mut text, mut length) = (vec![0u8; 1 << 16], 0);
    // SAFETY: the function of the standard has this signature, and writes less than there is room.
    let code = unsafe {
        let function = library.get::<LibraryVersion>(FUNCTION.as_bytes());
        let function = function.map_err(|_| MpiError::Function { library: name.to_owned(), function: FUNCTION })?;
        function(text.as_mut_ptr().cast(), &mut length)
    };
    if code != 0 {
        return Err(MpiError::Call { function: FUNCTION, code });
    }
    text.truncate(usize::try_from(length).unwrap_or(0));
    Ok(String::from_utf8_lossy(&text).into_owned())
}
