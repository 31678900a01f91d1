//! Errors of communication between processes.

/// Why a communicator is not available or failed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum MpiError {
    #[error(
        "this process was started as one of {size} by {launcher}, but no MPI library was found; tried {}; install it, or set PARLOOP_MPI=/path/to/libmpi.so",
        tried.join(", ")
    )]
    NotFound { launcher: &'static str, size: usize, tried: Vec<String> },
    #[error("{library} has no function {function}; it is not a supported MPI library")]
    Function { library: String, function: &'static str },
    #[error(
        "{library} has none of the interfaces of Open MPI, MPICH and MPI 5 (its version is {version:?}); name another library with PARLOOP_MPI=/path/to/libmpi.so"
    )]
    Interface { library: String, version: String },
    #[error(
        "this process was started as one of {asked} by {launcher}, but {library} sees {found}; start it with the mpirun of that library, {}",
        match is_loaded {
            true => "which another package of this process has loaded, or let that one load the library of the launcher",
            false => "or name another with PARLOOP_MPI=/path/to/libmpi.so",
        }
    )]
    WorldSize { launcher: &'static str, asked: usize, library: String, found: usize, is_loaded: bool },
    #[error("{function} failed with code {code}")]
    Call { function: &'static str, code: i32 },
    #[error("MPI has been finalised; communicate before that")]
    Finalised,
    #[error("MPI works only in the processes that the launcher started, not in a forked child; communicate in the parent")]
    Forked,
    #[error("{asked} bytes are expected from each of {size} processes, but rank {rank} gave {found}")]
    Lengths { asked: usize, size: usize, rank: usize, found: usize },
    #[error("rank {rank} does not exist; there are {size} processes")]
    Rank { rank: usize, size: usize },
    #[error("{bytes} bytes cannot be gathered at once; the limit is {}", i32::MAX)]
    TooLarge { bytes: usize },
    #[error("a communicator was given by its handle, but no MPI library is loaded in this process")]
    NoLibrary,
}
