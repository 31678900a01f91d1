//! Messages between processes, by whichever MPI there is: the library is found at run time, and one binary serves Open MPI 4 and 5, MPICH
//! with all that share its binary interface (Intel MPI, MVAPICH, Cray MPICH), and those with the interface of MPI 5. A process that was not started by `mpirun` is a world of one.
//!
//! Only bytes are sent. Reductions are made of gathered values in the order of the ranks, so that results do not depend on timing.
//!
//! ```
//! use parloop_mpi::Comm;
//! let world = Comm::world()?;
//! let parts = world.gather_all(&[world.rank() as u8])?;
//! assert_eq!(parts.len(), world.size());
//! # Ok::<(), parloop_mpi::MpiError>(())
//! ```

mod abi;
mod comm;
mod direct;
mod error;
mod exchange;
mod launched;
mod library;
mod messages;
mod requests;

pub use abi::{Abi, Gpu};
pub use comm::Comm;
pub use direct::{GpuBytes, GpuMessages};
pub use error::MpiError;
pub use messages::Messages;

/// What came out, or why not.
pub type Result<T, E = MpiError> = std::result::Result<T, E>;
