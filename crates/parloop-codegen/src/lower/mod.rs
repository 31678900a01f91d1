//! From a scheduled kernel to a C-like tree: loops with bounds, conditions, memory locations, types of all values.
//!
//! `launch` builds functions; `nest` their statements; `bounds` queries the domains; `expr` and `location` build values; `cpu` turns the
//! work items of a group into loops; `shadow` watches accesses; `whole` checks the indices of a whole loop; `reserved` lists reserved names; `tidy` puts declarations and conditions
//! where they read well.

mod array;
mod bounds;
mod call;
mod cpu;
mod data;
mod domains;
mod error;
mod expr;
mod instruction;
mod lane;
mod launch;
mod location;
mod nest;
mod number;
pub(crate) mod record;
mod reserved;
mod scope;
mod shadow;
mod shadow_access;
mod shared;
mod tidy;
pub mod tree;
mod vector;
mod whole;

pub use bounds::host_limits;
pub use error::LowerError;
pub use launch::lower;
pub use shared::Schedules;

use std::sync::Arc;

use parloop_device::Language;
use parloop_ir::syntax::{Expr, Initializer, Preamble, RecordType, Target, Type};
use parloop_isl::Name;

use tree::{Function, Param, Table};

/// A function that the host launches.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchCode {
    /// Its name in the text.
    pub function: Name,
    /// Its parameters, in order.
    pub params: Vec<Param>,
    /// How many work-groups there are along each axis, in terms of the kernel's parameters; none if nothing is parallel.
    pub groups: Vec<Expr>,
    /// How many work items a group has along each axis: numbers, or in terms of the kernel's parameters.
    pub group_size: Vec<Expr>,
}

/// A temporary in global memory, which the caller allocates.
#[derive(Clone, Debug, PartialEq)]
pub struct GlobalTemporary {
    /// Its name.
    pub name: Name,
    /// The type of its elements.
    pub ty: Type,
    /// How many elements, in terms of the kernel's parameters.
    pub size: Expr,
    /// Its initial values.
    pub initializer: Option<Initializer>,
}

/// The functions that keep shadow memory, in which accesses are watched.
#[derive(Clone, Debug, PartialEq)]
pub struct ShadowCode {
    /// Clears it, before the first launch of a call.
    pub begin: LaunchCode,
    /// Orders what follows after what came before, between two launches.
    pub next: LaunchCode,
}

/// A kernel as a tree that a writer can print.
#[derive(Clone, Debug, PartialEq)]
pub struct Lowered {
    /// The target.
    pub target: Target,
    /// The language of the preambles.
    pub language: Language,
    /// Preambles of the user and of functions.
    pub preambles: Vec<Preamble>,
    /// The records that its data consists of.
    pub records: Vec<Arc<RecordType>>,
    /// Tables of constants.
    pub tables: Vec<Table>,
    /// Functions, each after those that it calls.
    pub functions: Vec<Function>,
    /// The functions that the host launches.
    pub launches: Vec<LaunchCode>,
    /// The temporaries that the host allocates.
    pub globals: Vec<GlobalTemporary>,
    /// A description of each checked index, such as `a[i, j], axis 0`.
    pub check_sites: Vec<String>,
    /// In checked mode on a CPU, the functions that watch data-dependent accesses.
    pub shadow: Option<ShadowCode>,
}

/// A kernel as text, and how it is launched.
#[derive(Clone, Debug, PartialEq)]
pub struct Code {
    /// The whole source.
    pub text: String,
    /// The language to compile it as: code for a CPU is C++ if a function that it calls is.
    pub language: Language,
    /// The functions that the host launches; [`Schedule::steps`](crate::schedule::Schedule) gives their order.
    pub launches: Vec<LaunchCode>,
    /// The temporaries that the host allocates.
    pub globals: Vec<GlobalTemporary>,
    /// A description of each checked index, such as `a[i, j], axis 0`.
    pub check_sites: Vec<String>,
    /// In checked mode on a CPU, the functions that watch data-dependent accesses.
    pub shadow: Option<ShadowCode>,
}
