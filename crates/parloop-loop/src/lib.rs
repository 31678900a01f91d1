//! `loop` is the public face of the loop compiler.
//!
//! Loop kernels: what to compute over which integers, transformed, scheduled and written for one target. The data flow: text → [`parse`] →
//! [`create`] (a [`LoopKernel`](syntax::LoopKernel) in a [`Program`](syntax::Program)) → transformations → [`prepare`] (callables resolved,
//! types and descriptors inferred, reductions realised, checks, schedule) → [`lower`] (a C-like tree) → [`target`] (text and launches) →
//! [`run`].
//!
//! The layers are separate crates, whose modules are re-exported here: `parloop-ir` defines kernels, `parloop-analysis` finds dependences,
//! `parloop-transform` rewrites kernels, `parloop-create` completes what people write, and `parloop-codegen` generates code.

pub mod error;
pub mod file;
pub mod methods;
pub mod prepare;
pub mod run;

pub use parloop_analysis::{dependence, infer, sequence, stats};
pub use parloop_codegen::{check, lower, schedule, target};
pub use parloop_create as create;
pub use parloop_ir::{affine, domain, fold, layout, matching, names, parse, program};
pub use parloop_isl::{Affine, Constraint, IslError, Name, Set, add_library_folder, library_file};
pub use parloop_transform::{self as transform, reduce};

/// The data of the compiler: expressions, instructions, kernels and programs.
pub mod syntax {
    pub use parloop_ir::program::Program;
    pub use parloop_ir::syntax::*;
}

/// Callables: everything that an expression or an instruction can call, as one trait, and name look-up.
pub mod callable {
    pub use parloop_codegen::c_function::{Access, CFunction, SourceOptions};
    pub use parloop_ir::callable::*;
    pub use parloop_ir::functions::{
        IndexOf, MakeTuple, Mangler, RandomFunction, ScalarFunction, TargetFunction, VectorFunction, find, scope, symbol, target_knows,
    };
    pub use parloop_ir::program::{called_by, reachable};
}

/// Traits with the methods of programs: [`transform`](prelude::Transform::transform) and similar,
/// [`generate`](prelude::Generate::generate), [`compile`](prelude::Compile::compile).
pub mod prelude {
    pub use crate::methods::Transform;
    pub use crate::prepare::Generate;
    pub use crate::run::Compile;
}
