//! Transformations as methods of programs, for chains: each is done on the program's only entry point.
//!
//! Those used most are here; [`Program::transform`] takes any other.

use std::sync::Arc;

use parloop_isl::{Name, Relation};

use super::{
    Barrier, Duplicate, Fixed, Join, NoSync, Precompute, Prefetch, Rename, Split, Tags, TransformError, add_barrier, add_dependency,
    add_nosync, add_prefetch, assume, chunk_iname, duplicate_inames, fix_parameters, inline_callable_kernel, join_inames, map_domain,
    merge, precompute, prioritize_loops, register_callable, register_callable_kernel, register_function_lookup, remove_unused_inames,
    rename_argument, rename_iname, set_argument_order, set_temporary_address_space, split_iname, tag_inames,
};
use crate::callable::{Callable, FunctionLookup};
use crate::error::LoopError;
use crate::matching::Query;
use crate::syntax::{AddressSpace, LoopKernel, Program};

/// The list of names that a transformation takes.
fn names(given: impl IntoIterator<Item = impl Into<Name>>) -> Vec<Name> {
    given.into_iter().map(Into::into).collect()
}

/// Transformations of the program's only entry point, and registration of what it calls.
///
/// ```
/// use parloop_loop::{create::make_kernel, syntax::InameTag, transform::Split};
/// let program = make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")?
///     .split_iname("i", Split::by(128).outer(InameTag::Group(0)).inner(InameTag::Local(0)))?
///     .assume("n >= 1")?;
/// assert!(program.entry().unwrap().inames.contains_key("i_inner"));
/// # Ok::<(), parloop_loop::error::LoopError>(())
/// ```
///
/// # Errors
/// Of each method: [`LoopError::NoEntry`] when there is no entry point or more than one, and [`LoopError::Transform`] with what the
/// transformation says. The program stays as it is.
impl Program {
    /// With its kernel changed by any transformation.
    ///
    /// ```
    /// use parloop_loop::{create::make_kernel, transform::simplify_indices};
    /// let program = make_kernel("{[i]: 0<=i<8}", "out[i] = a[i % 8]")?.transform(simplify_indices)?;
    /// assert_eq!(program.entry().unwrap().instructions[0].rhs()[0].to_string(), "a[i]");
    /// # Ok::<(), parloop_loop::error::LoopError>(())
    /// ```
    pub fn transform<E: Into<TransformError>>(
        &self,
        change: impl FnOnce(&LoopKernel) -> Result<LoopKernel, E>,
    ) -> Result<Program, LoopError> {
        let kernel = self.entry().ok_or_else(|| LoopError::NoEntry { names: self.entrypoints.iter().cloned().collect() })?;
        Ok(self.with_kernel(change(kernel).map_err(Into::into)?))
    }

    /// [`split_iname`](super::split_iname()).
    pub fn split_iname(&self, iname: &str, split: Split) -> Result<Program, LoopError> {
        self.transform(|kernel| split_iname(kernel, iname, &split))
    }

    /// [`chunk_iname`](super::chunk_iname()).
    pub fn chunk_iname(&self, iname: &str, split: Split) -> Result<Program, LoopError> {
        self.transform(|kernel| chunk_iname(kernel, iname, &split))
    }

    /// [`join_inames`](super::join_inames()).
    pub fn join_inames(&self, join: Join) -> Result<Program, LoopError> {
        self.transform(|kernel| join_inames(kernel, &join))
    }

    /// [`tag_inames`](super::tag_inames()), with the tags as text: `i:g.0, j:l.0`.
    pub fn tag_inames(&self, tags: &str) -> Result<Program, LoopError> {
        self.transform(|kernel| tag_inames(kernel, &tags.parse::<Tags>()?))
    }

    /// [`prioritize_loops`](super::prioritize_loops()), outermost first.
    pub fn prioritize_loops(&self, inames: impl IntoIterator<Item = impl Into<Name>>) -> Result<Program, LoopError> {
        self.transform(|kernel| prioritize_loops(kernel, &names(inames)))
    }

    /// [`duplicate_inames`](super::duplicate_inames()).
    pub fn duplicate_inames(&self, duplicate: Duplicate) -> Result<Program, LoopError> {
        self.transform(|kernel| duplicate_inames(kernel, &duplicate))
    }

    /// [`rename_iname`](super::rename_iname()).
    pub fn rename_iname(&self, old: &str, new: &str, rename: Rename) -> Result<Program, LoopError> {
        self.transform(|kernel| rename_iname(kernel, old, new, &rename))
    }

    /// [`remove_unused_inames`](super::remove_unused_inames()), all of them.
    pub fn remove_unused_inames(&self) -> Result<Program, LoopError> {
        self.transform(|kernel| remove_unused_inames(kernel, None))
    }

    /// [`map_domain`](super::map_domain()), with the relation as text: `{[i] -> [k]: k = n - 1 - i}`.
    pub fn map_domain(&self, map: &str) -> Result<Program, LoopError> {
        let map = Relation::parse(map)?;
        self.transform(|kernel| map_domain(kernel, &map))
    }

    /// [`assume`](super::assume()).
    pub fn assume(&self, condition: &str) -> Result<Program, LoopError> {
        self.transform(|kernel| assume(kernel, condition))
    }

    /// [`fix_parameters`](super::fix_parameters()).
    ///
    /// ```
    /// let program = parloop_loop::create::make_kernel("{[i]: 0<=i<n}", "out[i] = c*a[i]")?.fix_parameters([("n", 16)])?;
    /// assert!(program.entry().unwrap().arguments.iter().all(|argument| argument.name != "n"));
    /// # Ok::<(), parloop_loop::error::LoopError>(())
    /// ```
    pub fn fix_parameters(&self, values: impl IntoIterator<Item = (impl Into<Name>, impl Into<Fixed>)>) -> Result<Program, LoopError> {
        let values = values.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        self.transform(|kernel| fix_parameters(kernel, &values))
    }

    /// [`add_prefetch`](super::add_prefetch()).
    pub fn add_prefetch(&self, what: Prefetch) -> Result<Program, LoopError> {
        self.transform(|kernel| add_prefetch(kernel, &what))
    }

    /// [`precompute`](super::precompute()).
    pub fn precompute(&self, what: Precompute) -> Result<Program, LoopError> {
        self.transform(|kernel| precompute(kernel, &what))
    }

    /// [`set_temporary_address_space`](super::set_temporary_address_space()).
    pub fn set_temporary_address_space(
        &self,
        temporaries: impl IntoIterator<Item = impl Into<Name>>,
        space: AddressSpace,
    ) -> Result<Program, LoopError> {
        self.transform(|kernel| set_temporary_address_space(kernel, &names(temporaries), space))
    }

    /// [`rename_argument`](super::rename_argument()).
    pub fn rename_argument(&self, old: &str, new: &str) -> Result<Program, LoopError> {
        self.transform(|kernel| rename_argument(kernel, old, new))
    }

    /// [`set_argument_order`](super::set_argument_order()).
    pub fn set_argument_order(&self, order: impl IntoIterator<Item = impl Into<Name>>) -> Result<Program, LoopError> {
        self.transform(|kernel| set_argument_order(kernel, &names(order)))
    }

    /// [`add_dependency`](super::add_dependency()).
    pub fn add_dependency(&self, dependents: &Query, depends_on: &Query) -> Result<Program, LoopError> {
        self.transform(|kernel| add_dependency(kernel, dependents, depends_on))
    }

    /// [`add_nosync`](super::add_nosync()).
    pub fn add_nosync(&self, nosync: NoSync) -> Result<Program, LoopError> {
        self.transform(|kernel| add_nosync(kernel, &nosync))
    }

    /// [`add_barrier`](super::add_barrier()).
    pub fn add_barrier(&self, barrier: Barrier) -> Result<Program, LoopError> {
        self.transform(|kernel| add_barrier(kernel, &barrier))
    }

    /// [`merge`](super::merge()) with another program, whose kernels this one's can then call.
    pub fn merge(&self, other: &Program) -> Result<Program, LoopError> {
        Ok(merge([self, other]).map_err(TransformError::from)?)
    }

    /// [`inline_callable_kernel`](super::inline_callable_kernel()).
    pub fn inline_callable_kernel(&self, name: &str) -> Result<Program, LoopError> {
        Ok(inline_callable_kernel(self, name)?)
    }

    /// [`register_callable`](super::register_callable()), under a name that is not taken.
    pub fn register_callable(&self, name: &str, callable: impl Callable + 'static) -> Result<Program, LoopError> {
        Ok(register_callable(self, name, Arc::new(callable), false).map_err(TransformError::from)?)
    }

    /// [`register_callable_kernel`](super::register_callable_kernel()).
    pub fn register_callable_kernel(&self, name: &str, callee: &LoopKernel) -> Result<Program, LoopError> {
        Ok(register_callable_kernel(self, name, callee).map_err(TransformError::from)?)
    }

    /// [`register_function_lookup`](super::register_function_lookup()).
    pub fn register_function_lookup(&self, lookup: impl FunctionLookup + 'static) -> Result<Program, LoopError> {
        Ok(register_function_lookup(self, Arc::new(lookup)).map_err(TransformError::from)?)
    }
}
