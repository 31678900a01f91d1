//! The state at a point of a function that is being lowered. Its queries are in the files that answer them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use parloop_ir::names::UniqueNames;
use parloop_ir::program::Program;
use parloop_ir::syntax::{Expr, Instruction, LoopKernel, Target, Type};
use parloop_isl::{Constraint, Name};

use super::array::Array;
use super::domains::Domains;
use super::shadow::Shadow;
use super::shared::{Schedules, Shared};
use super::tree::{Statement, Value};

/// The state at a point of a function that is being lowered.
pub(super) struct Scope<'a> {
    pub(super) program: &'a Program,
    pub(super) schedules: &'a Schedules,
    pub(super) kernel: &'a LoopKernel,
    pub(super) target: Target,
    pub(super) instructions: HashMap<&'a Name, &'a Arc<Instruction>>,
    pub(super) domains: Domains<'a>,
    /// Arrays and temporaries.
    pub(super) arrays: HashMap<Name, Array>,
    /// Numbers and objects that are passed.
    pub(super) numbers: HashMap<Name, Type>,
    /// The inames in scope, and their values.
    pub(super) inames: HashMap<Name, Value>,
    pub(super) active: BTreeSet<Name>,
    /// The inames whose limits the data decides.
    pub(super) data_inames: HashSet<Name>,
    /// What loops and assumptions ensure.
    pub(super) facts: Vec<Constraint>,
    /// Names that are known not to be negative.
    pub(super) not_negative: HashSet<Name>,
    /// On a CPU, the index along each local axis whose loop is open.
    pub(super) axis_index: BTreeMap<u8, Value>,
    pub(super) group_size: Vec<Expr>,
    pub(super) names: UniqueNames,
    /// Values computed once before the instruction.
    pub(super) hoisted: Vec<Statement>,
    /// Whether the current expression is conditional.
    pub(super) conditional: usize,
    /// How often unrolled loops around repeat the body in the code.
    pub(super) copies: u64,
    /// The innermost of them, how and how often it is.
    pub(super) copied: Option<(Name, String, i128)>,
    /// The loops around, the innermost last.
    pub(super) open_loops: Vec<OpenLoop>,
    /// The instruction that is lowered.
    pub(super) instruction: Name,
    /// The accesses whose indices are checked, whatever the options say, with the axes along which they are.
    pub(super) guarded: &'a BTreeMap<Expr, BTreeSet<usize>>,
    /// What is watched of accesses.
    pub(super) shadow: Option<Rc<Shadow>>,
    /// On a CPU, the number of the work-group.
    pub(super) group: Option<Name>,
    pub(super) shared: &'a mut Shared,
}

/// A loop whose body is being lowered.
pub(super) struct OpenLoop {
    pub(super) iname: Name,
    /// The lengths that its variable is compared with, and the name of what tells whether all of its values are below each.
    pub(super) lengths: Vec<(Value, Name)>,
}
