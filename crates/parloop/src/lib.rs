//! Parloop: write a kernel once; run it on CPU threads, OpenCL, CUDA and HIP devices.
//!
//! # A tour
//!
//! A [`Context`](prelude::Context) is a device with a stream. It holds arrays and compiles portable C; kernels and the types of their
//! arguments come from the source, and a call that does not fit is an error before anything runs.
//!
//! ```
//! use parloop::prelude::*;
//!
//! let ctx = Context::open("cpu")?;
//! let prog = ctx.compile(
//!     "GPUKERN void axpy(const double a, GPUGLMEM const double *x, GPUGLMEM double *y, const int64_t n) {
//!          VECTORIZE_OVER(i, n)
//!              y[i] += a * x[i];
//!          END_VECTORIZE
//!      }",
//! )?;
//! let (x, mut y) = (ctx.array(&[1.0, 2.0, 3.0])?, ctx.array(&[0.0, 0.0, 1.0])?);
//! prog.kernel("axpy")?.call(args![2.0, &x, &mut y, x.len()])?;
//! assert_eq!(y.to_vec()?, [2.0, 4.0, 7.0]);
//!
//! let error = prog.kernel("axpy")?.call(args![2.0, &x, &mut y, 1.5]).unwrap_err();
//! assert_eq!(error.to_string(), "argument `n` of kernel `axpy` is declared `int64_t`, but the number 1.5 was given");
//! # Ok::<(), parloop::KernelError>(())
//! ```
//!
//! The layers are crates of their own: [`parloop_device`] (devices, memory, streams, events, modules) and [`parloop_kernel`]
//! (portable C, signatures, the compile cache, launch).

pub mod command;

pub use parloop_device::{
    CompileError, Complex32, Complex64, DType, Device, DeviceError, DeviceId, DeviceKind, Element, Event, FftDirection, Memory,
    PinnedMemory, Stream,
};
pub use parloop_kernel::{
    Arg, Array, Cache, CompileOptions, Context, DescribedParam, FftPlan, Grid, Kernel, KernelDescription, KernelError, Order, Program,
    Scalar, Signature, Source, args,
};

/// What most programs use.
pub mod prelude {
    pub use crate::{Array, CompileOptions, Context, DType, Device, DeviceKind, Grid, Kernel, KernelError, Program, Source, args};
}
