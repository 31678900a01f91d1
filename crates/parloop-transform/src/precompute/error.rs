//! Errors of precomputation.

use parloop_ir::names::Near;
use parloop_ir::substitution::ExpandSubstError;
use parloop_ir::syntax::AddressSpace;
use parloop_isl::{IslError, Name, Set};

use crate::edit_instructions::AddInamesError;

/// Why values of a rule cannot be precomputed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrecomputeError {
    /// Unknown rule.
    #[error("kernel `{kernel}` has no substitution rule `{rule}`{near}")]
    UnknownRule {
        /// The kernel.
        kernel: Name,
        /// The name.
        rule: Name,
        /// Names that may have been meant.
        near: Near,
    },
    /// Unknown iname.
    #[error("rule `{rule}`: kernel `{kernel}` has no iname `{iname}`{near}")]
    UnknownIname {
        /// The kernel.
        kernel: Name,
        /// The rule.
        rule: Name,
        /// The name.
        iname: Name,
        /// Names that may have been meant.
        near: Near,
    },
    /// No instruction calls the rule with arguments that are affine in inames and parameters.
    #[error("rule `{rule}`: no selected instruction of kernel `{kernel}` calls it with arguments that use only inames and parameters")]
    NoUses {
        /// The kernel.
        kernel: Name,
        /// The rule.
        rule: Name,
    },
    /// A loop around the fetch, and not around the use, may have no values.
    #[error(transparent)]
    Outer(#[from] AddInamesError),
    /// A sweep without effect.
    #[error("rule `{rule}`: sweep iname `{iname}` is neither in the arguments of its calls nor in the rule; leave it out")]
    UnusedSweep {
        /// The rule.
        rule: Name,
        /// The iname.
        iname: Name,
    },
    /// An axis that is neither a parameter of the rule nor a swept iname.
    #[error("rule `{rule}`: storage axis `{axis}` is neither a parameter of the rule nor an iname of the kernel")]
    UnknownStorageAxis {
        /// The rule.
        rule: Name,
        /// The axis.
        axis: Name,
    },
    /// An argument that differs has no axis.
    #[error("rule `{rule}`: its parameter `{parameter}` varies within one sweep, so it must be a storage axis")]
    MissingStorageAxis {
        /// The rule.
        rule: Name,
        /// The parameter.
        parameter: Name,
    },
    /// The value depends on a swept iname that no axis stands for.
    #[error(
        "rule `{rule}`: its value depends on the swept iname `{iname}` in addition to its arguments, so `{iname}` must be a storage axis"
    )]
    HiddenAxis {
        /// The rule.
        rule: Name,
        /// The iname.
        iname: Name,
    },
    /// An input of the value changes while the swept loops run.
    #[error("rule `{rule}`: `{writer}` writes `{array}` inside the swept loops, before it may be read, so it cannot be read ahead of them")]
    Changes {
        /// The rule.
        rule: Name,
        /// What changes.
        array: Name,
        /// The instruction that writes it.
        writer: Name,
    },
    /// A name is already taken.
    #[error("rule `{rule}`: `{name}` is already a name in kernel `{kernel}`; choose another one")]
    Taken {
        /// The kernel.
        kernel: Name,
        /// The rule.
        rule: Name,
        /// The name.
        name: Name,
    },
    /// The given footprint does not match the rule.
    #[error("rule `{rule}`: the rule takes {takes} arguments, but a footprint has {given}")]
    FootprintArguments {
        /// The rule.
        rule: Name,
        /// How many it takes.
        takes: usize,
        /// How many were given.
        given: usize,
    },
    /// The given footprint is not affine.
    #[error("rule `{rule}`: argument {argument} of the footprint is not affine in inames and parameters")]
    FootprintNotAffine {
        /// The rule.
        rule: Name,
        /// Which argument, counted from 0.
        argument: usize,
    },
    /// An existing iname is given for an axis of length one.
    #[error("rule `{rule}`: axis {axis} has only one element, so iname `{iname}` cannot run over it; leave it out")]
    ShortAxis {
        /// The rule.
        rule: Name,
        /// The axis, counted from 0.
        axis: usize,
        /// The iname.
        iname: Name,
    },
    /// Existing inames do not have the needed values.
    #[error("rule `{rule}`: its values are needed for `{needed}`, but the given inames cover `{has}`; use names that do not exist yet")]
    OtherDomain {
        /// The rule.
        rule: Name,
        /// What is needed.
        needed: Box<Set>,
        /// What the inames have.
        has: Box<Set>,
    },
    /// The footprint is not bounded.
    #[error(
        "rule `{rule}`: the length needed along axis {axis} is not an expression in the kernel's parameters; sweep more inames, \
         or give more outer inames"
    )]
    Unbounded {
        /// The rule.
        rule: Name,
        /// The axis, counted from 0.
        axis: usize,
    },
    /// The footprint has no points.
    #[error("rule `{rule}`: no value is ever needed: the domain of its uses is empty")]
    Empty {
        /// The rule.
        rule: Name,
    },
    /// The footprint is not a set that a nest of loops runs over.
    #[error("rule `{rule}`: the values needed, `{footprint}`, are not convex; request their bounding box")]
    NotConvex {
        /// The rule.
        rule: Name,
        /// The footprint.
        footprint: Box<Set>,
    },
    /// The temporary exists, with another number of axes.
    #[error("rule `{rule}`: temporary `{temporary}` has {has} axes, but {needed} are needed; choose another name for it")]
    TemporaryAxes {
        /// The rule.
        rule: Name,
        /// The temporary.
        temporary: Name,
        /// Its axes.
        has: usize,
        /// Those needed.
        needed: usize,
    },
    /// The temporary exists, and its shape cannot be widened.
    #[error("rule `{rule}`: temporary `{temporary}` exists with a shape that is not constant; choose another name for it")]
    TemporaryShape {
        /// The rule.
        rule: Name,
        /// The temporary.
        temporary: Name,
    },
    /// The temporary exists, of another type.
    #[error("rule `{rule}`: temporary `{temporary}` exists with another type; choose another name for it")]
    TemporaryType {
        /// The rule.
        rule: Name,
        /// The temporary.
        temporary: Name,
    },
    /// The temporary exists, in another memory.
    #[error("rule `{rule}`: temporary `{temporary}` is in {has:?} memory, not in {wanted:?}; choose another name for it")]
    TemporarySpace {
        /// The rule.
        rule: Name,
        /// The temporary.
        temporary: Name,
        /// Where it lives.
        has: AddressSpace,
        /// Where it shall live.
        wanted: AddressSpace,
    },
    /// A call does not match its rule.
    #[error(transparent)]
    Rule(#[from] ExpandSubstError),
    /// The solver failed.
    #[error("{0}")]
    Solver(#[from] IslError),
}
