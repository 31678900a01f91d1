//! Transformations as methods of programs, for chaining: each applies to the program's only entry point.
//!
//! The most common ones are here; [`Transform::transform`] takes any other.

use std::sync::Arc;

use parloop_ir::callable::{Callable, FunctionLookup};
use parloop_ir::matching::Query;
use parloop_ir::program::Program;
use parloop_ir::syntax::{AddressSpace, LoopKernel};
use parloop_isl::{Name, Relation};
use parloop_transform::{
    Barrier, Duplicate, Fixed, Join, NoSync, Precompute, Prefetch, Rename, Split, Tags, TransformError, add_barrier, add_dependency,
    add_nosync, add_prefetch, assume, chunk_iname, duplicate_inames, fix_parameters, inline_callable_kernel, join_inames, map_domain,
    merge, precompute, prioritize_loops, register_callable, register_callable_kernel, register_function_lookup, remove_unused_inames,
    rename_argument, rename_iname, set_argument_order, set_temporary_address_space, split_iname, tag_inames,
};

use crate::error::LoopError;

/// The list of names that a transformation takes.
fn names(given: impl IntoIterator<Item = impl Into<Name>>) -> Vec<Name> {
    given.into_iter().map(Into::into).collect()
}

/// Transformations of the program's only entry point, and registration of what it calls.
///
/// ```
/// use parloop_loop::{create::make_kernel, prelude::*, syntax::InameTag, transform::Split};
/// let program = make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")?
///     .split_iname("i", Split::by(128).outer(InameTag::Group(0)).inner(InameTag::Local(0)))?
///     .assume("n >= 1")?;
/// assert!(program.entry().unwrap().inames.contains_key("i_inner"));
/// # Ok::<(), parloop_loop::error::LoopError>(())
/// ```
///
/// # Errors
/// Of each method: [`LoopError::NoEntry`] if there is no entry point or more than one, and [`LoopError::Transform`] with the error of the
/// transformation. The program stays unchanged.
pub trait Transform {
    /// Applies any transformation to its kernel.
    ///
    /// ```
    /// use parloop_loop::{create::make_kernel, prelude::*, transform::simplify_indices};
    /// let program = make_kernel("{[i]: 0<=i<8}", "out[i] = a[i % 8]")?.transform(simplify_indices)?;
    /// assert_eq!(program.entry().unwrap().instructions[0].rhs()[0].to_string(), "a[i]");
    /// # Ok::<(), parloop_loop::error::LoopError>(())
    /// ```
    fn transform<E: Into<TransformError>>(&self, change: impl FnOnce(&LoopKernel) -> Result<LoopKernel, E>) -> Result<Program, LoopError>;

    /// [`split_iname`](parloop_transform::split_iname()).
    fn split_iname(&self, iname: &str, split: Split) -> Result<Program, LoopError>;

    /// [`chunk_iname`](parloop_transform::chunk_iname()).
    fn chunk_iname(&self, iname: &str, split: Split) -> Result<Program, LoopError>;

    /// [`join_inames`](parloop_transform::join_inames()).
    fn join_inames(&self, join: Join) -> Result<Program, LoopError>;

    /// [`tag_inames`](parloop_transform::tag_inames()), with the tags as text: `i:g.0, j:l.0`.
    fn tag_inames(&self, tags: &str) -> Result<Program, LoopError>;

    /// [`prioritize_loops`](parloop_transform::prioritize_loops()), outermost first.
    fn prioritize_loops(&self, inames: impl IntoIterator<Item = impl Into<Name>>) -> Result<Program, LoopError>;

    /// [`duplicate_inames`](parloop_transform::duplicate_inames()).
    fn duplicate_inames(&self, duplicate: Duplicate) -> Result<Program, LoopError>;

    /// [`rename_iname`](parloop_transform::rename_iname()).
    fn rename_iname(&self, old: &str, new: &str, rename: Rename) -> Result<Program, LoopError>;

    /// [`remove_unused_inames`](parloop_transform::remove_unused_inames()), all of them.
    fn remove_unused_inames(&self) -> Result<Program, LoopError>;

    /// [`map_domain`](parloop_transform::map_domain()), with the relation as text: `{[i] -> [k]: k = n - 1 - i}`.
    fn map_domain(&self, map: &str) -> Result<Program, LoopError>;

    /// [`assume`](parloop_transform::assume()).
    fn assume(&self, condition: &str) -> Result<Program, LoopError>;

    /// [`fix_parameters`](parloop_transform::fix_parameters()).
    ///
    /// ```
    /// use parloop_loop::prelude::*;
    /// let program = parloop_loop::create::make_kernel("{[i]: 0<=i<n}", "out[i] = c*a[i]")?.fix_parameters([("n", 16)])?;
    /// assert!(program.entry().unwrap().arguments.iter().all(|argument| argument.name != "n"));
    /// # Ok::<(), parloop_loop::error::LoopError>(())
    /// ```
    fn fix_parameters(&self, values: impl IntoIterator<Item = (impl Into<Name>, impl Into<Fixed>)>) -> Result<Program, LoopError>;

    /// [`add_prefetch`](parloop_transform::add_prefetch()).
    fn add_prefetch(&self, what: Prefetch) -> Result<Program, LoopError>;

    /// [`precompute`](parloop_transform::precompute()).
    fn precompute(&self, what: Precompute) -> Result<Program, LoopError>;

    /// [`set_temporary_address_space`](parloop_transform::set_temporary_address_space()).
    fn set_temporary_address_space(
        &self,
        temporaries: impl IntoIterator<Item = impl Into<Name>>,
        space: AddressSpace,
    ) -> Result<Program, LoopError>;

    /// [`rename_argument`](parloop_transform::rename_argument()).
    fn rename_argument(&self, old: &str, new: &str) -> Result<Program, LoopError>;

    /// [`set_argument_order`](parloop_transform::set_argument_order()).
    fn set_argument_order(&self, order: impl IntoIterator<Item = impl Into<Name>>) -> Result<Program, LoopError>;

    /// [`add_dependency`](parloop_transform::add_dependency()).
    fn add_dependency(&self, dependents: &Query, depends_on: &Query) -> Result<Program, LoopError>;

    /// [`add_nosync`](parloop_transform::add_nosync()).
    fn add_nosync(&self, nosync: NoSync) -> Result<Program, LoopError>;

    /// [`add_barrier`](parloop_transform::add_barrier()).
    fn add_barrier(&self, barrier: Barrier) -> Result<Program, LoopError>;

    /// [`merge`](parloop_transform::merge()) with another program, whose kernels this one's can then call.
    fn merge(&self, other: &Program) -> Result<Program, LoopError>;

    /// [`inline_callable_kernel`](parloop_transform::inline_callable_kernel()).
    fn inline_callable_kernel(&self, name: &str) -> Result<Program, LoopError>;

    /// [`register_callable`](parloop_transform::register_callable()), under a name that is not taken.
    fn register_callable(&self, name: &str, callable: impl Callable + 'static) -> Result<Program, LoopError>;

    /// [`register_callable_kernel`](parloop_transform::register_callable_kernel()).
    fn register_callable_kernel(&self, name: &str, callee: &LoopKernel) -> Result<Program, LoopError>;

    /// [`register_function_lookup`](parloop_transform::register_function_lookup()).
    fn register_function_lookup(&self, lookup: impl FunctionLookup + 'static) -> Result<Program, LoopError>;
}

impl Transform for Program {
    fn transform<E: Into<TransformError>>(&self, change: impl FnOnce(&LoopKernel) -> Result<LoopKernel, E>) -> Result<Program, LoopError> {
        let kernel = self.entry().ok_or_else(|| LoopError::NoEntry { names: self.entrypoints.iter().cloned().collect() })?;
        Ok(self.with_kernel(change(kernel).map_err(Into::into)?))
    }

    fn split_iname(&self, iname: &str, split: Split) -> Result<Program, LoopError> {
        self.transform(|kernel| split_iname(kernel, iname, &split))
    }

    fn chunk_iname(&self, iname: &str, split: Split) -> Result<Program, LoopError> {
        self.transform(|kernel| chunk_iname(kernel, iname, &split))
    }

    fn join_inames(&self, join: Join) -> Result<Program, LoopError> {
        self.transform(|kernel| join_inames(kernel, &join))
    }

    fn tag_inames(&self, tags: &str) -> Result<Program, LoopError> {
        self.transform(|kernel| tag_inames(kernel, &tags.parse::<Tags>()?))
    }

    fn prioritize_loops(&self, inames: impl IntoIterator<Item = impl Into<Name>>) -> Result<Program, LoopError> {
        self.transform(|kernel| prioritize_loops(kernel, &names(inames)))
    }

    fn duplicate_inames(&self, duplicate: Duplicate) -> Result<Program, LoopError> {
        self.transform(|kernel| duplicate_inames(kernel, &duplicate))
    }

    fn rename_iname(&self, old: &str, new: &str, rename: Rename) -> Result<Program, LoopError> {
        self.transform(|kernel| rename_iname(kernel, old, new, &rename))
    }

    fn remove_unused_inames(&self) -> Result<Program, LoopError> {
        self.transform(|kernel| remove_unused_inames(kernel, None))
    }

    fn map_domain(&self, map: &str) -> Result<Program, LoopError> {
        let map = Relation::parse(map)?;
        self.transform(|kernel| map_domain(kernel, &map))
    }

    fn assume(&self, condition: &str) -> Result<Program, LoopError> {
        self.transform(|kernel| assume(kernel, condition))
    }

    fn fix_parameters(&self, values: impl IntoIterator<Item = (impl Into<Name>, impl Into<Fixed>)>) -> Result<Program, LoopError> {
        let values = values.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        self.transform(|kernel| fix_parameters(kernel, &values))
    }

    fn add_prefetch(&self, what: Prefetch) -> Result<Program, LoopError> {
        self.transform(|kernel| add_prefetch(kernel, &what))
    }

    fn precompute(&self, what: Precompute) -> Result<Program, LoopError> {
        self.transform(|kernel| precompute(kernel, &what))
    }

    fn set_temporary_address_space(
        &self,
        temporaries: impl IntoIterator<Item = impl Into<Name>>,
        space: AddressSpace,
    ) -> Result<Program, LoopError> {
        self.transform(|kernel| set_temporary_address_space(kernel, &names(temporaries), space))
    }

    fn rename_argument(&self, old: &str, new: &str) -> Result<Program, LoopError> {
        self.transform(|kernel| rename_argument(kernel, old, new))
    }

    fn set_argument_order(&self, order: impl IntoIterator<Item = impl Into<Name>>) -> Result<Program, LoopError> {
        self.transform(|kernel| set_argument_order(kernel, &names(order)))
    }

    fn add_dependency(&self, dependents: &Query, depends_on: &Query) -> Result<Program, LoopError> {
        self.transform(|kernel| add_dependency(kernel, dependents, depends_on))
    }

    fn add_nosync(&self, nosync: NoSync) -> Result<Program, LoopError> {
        self.transform(|kernel| add_nosync(kernel, &nosync))
    }

    fn add_barrier(&self, barrier: Barrier) -> Result<Program, LoopError> {
        self.transform(|kernel| add_barrier(kernel, &barrier))
    }

    fn merge(&self, other: &Program) -> Result<Program, LoopError> {
        Ok(merge([self, other]).map_err(TransformError::from)?)
    }

    fn inline_callable_kernel(&self, name: &str) -> Result<Program, LoopError> {
        Ok(inline_callable_kernel(self, name)?)
    }

    fn register_callable(&self, name: &str, callable: impl Callable + 'static) -> Result<Program, LoopError> {
        Ok(register_callable(self, name, Arc::new(callable), false).map_err(TransformError::from)?)
    }

    fn register_callable_kernel(&self, name: &str, callee: &LoopKernel) -> Result<Program, LoopError> {
        Ok(register_callable_kernel(self, name, callee).map_err(TransformError::from)?)
    }

    fn register_function_lookup(&self, lookup: impl FunctionLookup + 'static) -> Result<Program, LoopError> {
        Ok(register_function_lookup(self, Arc::new(lookup)).map_err(TransformError::from)?)
    }
}
