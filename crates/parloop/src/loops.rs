//! Loop kernels: what to compute over which integers, transformed, and run anywhere.
//!
//! A kernel is made of text ([`make_kernel`], [`KernelBuilder`], or a file: [`LoopFile`]), transformed by methods of its [`Program`] or by
//! the functions of [`transform`], written for a [`Target`] ([`Generate::generate`]) or compiled for a context ([`Compile::compile`]) and
//! called. Values are never changed in place: each step gives another program.
//!
//! ```
//! use parloop::prelude::*;
//!
//! let program = make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i] {id=double}")?;
//! let error = program.split_iname("j", Split::by(16)).unwrap_err();
//! assert_eq!(error.to_string(), "kernel `loopy_kernel` has no iname `j`; available: `i`");
//! # Ok::<(), LoopError>(())
//! ```
//!
//! What a kernel calls is a [`callable`]: a function of the target, another kernel ([`Transform::merge`]), a function in C
//! ([`CFunction`]), or what a look-up of the user's finds ([`FunctionLookup`]).

pub use parloop_loop::callable::{self, Access, CFunction, Callable, FunctionLookup, ScalarFunction};
pub use parloop_loop::create::{CreateError, Data, KernelBuilder, Order, make_kernel};
pub use parloop_loop::error::LoopError;
pub use parloop_loop::file::{FileError, LoopFile};
pub use parloop_loop::layout::Axis;
pub use parloop_loop::lower::Code;
pub use parloop_loop::matching::Query;
pub use parloop_loop::parse::{expression, query};
pub use parloop_loop::prelude::{Compile, Generate, Transform};
pub use parloop_loop::prepare::Generated;
pub use parloop_loop::run::{Executable, LoopArg, RunError, target_of};
pub use parloop_loop::schedule::Schedule;
pub use parloop_loop::syntax::{AddressSpace, Expr, InameTag, KernelOptions, LoopKernel, Preamble, Program, Target, Type};
pub use parloop_loop::transform::{self, Barrier, Duplicate, Fixed, Join, NoSync, Precompute, Prefetch, Rename, Split, TransformError};
pub use parloop_loop::{Affine, Name, Set, loop_args};

mod class;

pub use class::class_type;

/// The examples of the guide are run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/loops.md")]
struct Guide;
