//! Devices, memory, streams, events and modules: one interface to CPU threads, OpenCL, CUDA and HIP.
//!
//! Every native library (libcuda, libnvrtc, libcufft, libOpenCL, libamdhip64, libhipfft) is opened when it is first needed; a missing one is an error
//! that says how to get it. Linux only. Nothing here knows about portable C, signatures or the compile cache: that is `parloop-kernel`.
//!
//! ```
//! use parloop_device::{Device, DeviceKind};
//! let cpu = Device::open("cpu")?;
//! assert_eq!(cpu.kind(), DeviceKind::Cpu);
//! for device in Device::list() {
//!     println!("{device:?}");
//! }
//! # Ok::<(), parloop_device::DeviceError>(())
//! ```

#[cfg(not(target_os = "linux"))]
compile_error!("Parloop runs on Linux only");

mod backend;
mod binary;
pub mod cpu;
pub mod cuda;
mod device;
mod dtype;
mod environment;
mod error;
mod event;
mod fft;
pub mod forked;
mod gpu;
mod growable;
pub mod hip;
mod identity;
pub mod interrupt;
mod kind;
mod launch;
pub mod library;
mod loader;
mod memory;
mod module;
mod moving;
pub mod once;
mod open;
pub mod opencl;
pub mod profile;
mod recording;
mod rows;
mod stream;
mod sync;
mod transform;

pub use backend::Compiler;
pub use binary::ModuleBinary;
pub use device::Device;
pub use dtype::{DType, Element, as_bytes, as_bytes_mut};
pub use environment::flag_from_env;
pub use error::{CompileError, DeviceError, Result};
pub use event::Event;
pub use fft::DeviceFft;
pub use growable::{Export, GrowableMemory};
pub use identity::{DeviceId, MemoryInfo, PciAddress, Properties};
pub use kind::{DeviceKind, Language};
pub use launch::Launch;
pub use memory::{Memory, PinnedMemory};
pub use module::{Function, Module};
pub use num_complex::{Complex32, Complex64};
pub use profile::{Profile, ProfileRow};
pub use recording::{KeepAlive, Recording, Replay, refuse_recording};
pub use stream::Stream;
pub use transform::{FftDirection, FftShape};
