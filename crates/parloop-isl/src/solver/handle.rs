//! Owned isl objects: freed when dropped, tied to the solver of their thread. A failed operation leaves a null inside, which passes through
//! further operations and is detected when a result is read.

use std::ffi::{c_int, c_long, c_uint, c_void};
use std::ptr::null_mut;

use super::Solver;
use super::api::*;
use crate::error::Result;

/// How isl frees an object.
pub(crate) trait Object: Sized {
    /// # Safety
    /// The object is owned by the caller and belongs to a context that is alive.
    unsafe fn free(api: &Api, object: *mut Self);
}

macro_rules! objects {
    ($($name:ident => $free:ident;)*) => {$(
        impl Object for $name {
            unsafe fn free(api: &Api, object: *mut Self) {
                // SAFETY: the caller guarantees it.
                unsafe { (api.$free)(object) };
            }
        }
    )*};
}

objects! {
    isl_space => isl_space_free;
    isl_val => isl_val_free;
    isl_mat => isl_mat_free;
    isl_aff => isl_aff_free;
    isl_pw_aff => isl_pw_aff_free;
    isl_basic_set => isl_basic_set_free;
    isl_basic_set_list => isl_basic_set_list_free;
    isl_set => isl_set_free;
    isl_map => isl_map_free;
    isl_point => isl_point_free;
    isl_stride_info => isl_stride_info_free;
}

/// An isl object, or null after a failure.
pub(crate) struct Handle<'s, T: Object> {
    pub(crate) raw: *mut T,
    pub(crate) solver: &'s Solver,
}

impl<T: Object> Drop for Handle<'_, T> {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: the handle owns the object, and the solver, which outlives it, owns the context.
            unsafe { T::free(self.solver.api, self.raw) };
        }
    }
}

impl<'s, T: Object> Handle<'s, T> {
    /// Releases the object to a function that takes ownership.
    pub(crate) fn into_raw(mut self) -> *mut T {
        std::mem::replace(&mut self.raw, null_mut())
    }

    /// The object, unless an operation failed.
    pub fn check(self, what: &'static str) -> Result<Self> {
        if self.raw.is_null() { Err(self.solver.error(what)) } else { Ok(self) }
    }
}

pub(crate) type SetHandle<'s> = Handle<'s, isl_set>;
pub(crate) type MapHandle<'s> = Handle<'s, isl_map>;
pub(crate) type AffHandle<'s> = Handle<'s, isl_aff>;

macro_rules! changes {
    ($($(#[$doc:meta])* $name:ident = $function:ident($($arg:ident: $kind:ty),*);)*) => {$(
        $(#[$doc])*
        pub fn $name(self $(, $arg: $kind)*) -> Self {
            let solver = self.solver;
            // SAFETY: all objects are of this thread's context; isl takes ownership of those that are passed and checks them for null.
            let raw = unsafe { (solver.api.$function)(self.into_raw() $(, Pass::pass($arg))*) };
            Handle { raw, solver }
        }
    )*};
}

/// Arguments of isl functions: numbers by value, objects by ownership.
trait Pass<R> {
    fn pass(self) -> R;
}

impl Pass<c_uint> for c_uint {
    fn pass(self) -> c_uint {
        self
    }
}

impl Pass<Dim> for Dim {
    fn pass(self) -> Dim {
        self
    }
}

impl<T: Object> Pass<*mut T> for Handle<'_, T> {
    fn pass(self) -> *mut T {
        self.into_raw()
    }
}

impl<'s> SetHandle<'s> {
    changes! {
        union = isl_set_union(other: SetHandle<'s>);
        subtract = isl_set_subtract(other: SetHandle<'s>);
        gist = isl_set_gist(context: SetHandle<'s>);
        compute_divs = isl_set_compute_divs();
        coalesce_unchecked = isl_set_coalesce();
        detect_equalities = isl_set_detect_equalities();
        remove_redundancies = isl_set_remove_redundancies();
    }

    /// Merges pieces. isl 0.25 sometimes adds points when it merges; then the pieces stay separate.
    pub fn coalesce(self) -> Result<Self> {
        // SAFETY: isl reads the set.
        if unsafe { (self.solver.api.isl_set_n_basic_set)(self.raw) } <= 1 {
            return Ok(self);
        }
        // SAFETY: isl counts the references to the set.
        let copy = Handle { raw: unsafe { (self.solver.api.isl_set_copy)(self.raw) }, solver: self.solver };
        let merged = copy.coalesce_unchecked();
        // Pieces that take long to compare also stay separate.
        let same = self.solver.briefly(|| merged.is_equal(&self)).unwrap_or(false);
        if same { Ok(merged) } else { Ok(self) }
    }

    pub fn project_out_dims(self, first: c_uint, count: c_uint) -> Self {
        self.project_out(Dim::Set, first, count)
    }

    pub fn project_out_params(self, first: c_uint, count: c_uint) -> Self {
        self.project_out(Dim::Param, first, count)
    }

    changes! {
        project_out = isl_set_project_out(kind: Dim, first: c_uint, count: c_uint);
        remove_divs_involving = isl_set_remove_divs_involving_dims(kind: Dim, first: c_uint, count: c_uint);
    }

    /// Drops integer divisions that contain that dimension; the result is a superset.
    pub fn remove_divs_of_dim(self, place: c_uint) -> Self {
        self.remove_divs_involving(Dim::Set, place, 1)
    }

    pub fn simple_hull(self) -> Self {
        let solver = self.solver;
        // SAFETY: isl takes the set over and gives its hull, which becomes a set again.
        let raw = unsafe { (solver.api.isl_set_from_basic_set)((solver.api.isl_set_simple_hull)(self.into_raw())) };
        Handle { raw, solver }
    }

    pub fn is_empty(&self) -> Result<bool> {
        // SAFETY: isl reads the set.
        self.solver.truth(unsafe { (self.solver.api.isl_set_is_empty)(self.raw) }, "decide whether a set is empty")
    }

    pub fn is_bounded(&self) -> Result<bool> {
        // SAFETY: isl reads the set.
        self.solver.truth(unsafe { (self.solver.api.isl_set_is_bounded)(self.raw) }, "decide whether a set is bounded")
    }

    pub fn is_subset(&self, other: &Self) -> Result<bool> {
        // SAFETY: isl reads both sets.
        self.solver.truth(unsafe { (self.solver.api.isl_set_is_subset)(self.raw, other.raw) }, "compare sets")
    }

    pub fn is_equal(&self, other: &Self) -> Result<bool> {
        // SAFETY: isl reads both sets.
        self.solver.truth(unsafe { (self.solver.api.isl_set_is_equal)(self.raw, other.raw) }, "compare sets")
    }

    /// The smallest or largest value of a dimension over all others, in terms of the parameters, with the domain of each piece.
    pub fn dim_extreme(self, place: c_int, largest: bool) -> Result<Vec<(SetHandle<'s>, AffHandle<'s>)>> {
        let solver = self.solver;
        let function = if largest { solver.api.isl_set_dim_max } else { solver.api.isl_set_dim_min };
        // SAFETY: isl takes ownership of the set.
        let value = Handle { raw: unsafe { function(self.into_raw(), place) }, solver }.check(FIND_EXTREME)?;
        let mut pieces: Vec<(*mut isl_set, *mut isl_aff)> = Vec::new();
        // SAFETY: isl reads the value and calls `push_piece` with the vector, which outlives the call.
        let status = unsafe { (solver.api.isl_pw_aff_foreach_piece)(value.raw, push_piece, (&raw mut pieces).cast()) };
        let pieces = pieces.into_iter().map(|(set, aff)| (Handle { raw: set, solver }, Handle { raw: aff, solver })).collect();
        if status < 0 { Err(solver.error(FIND_EXTREME)) } else { Ok(pieces) }
    }

    /// `(m, r)`: the values of the dimension are `r` modulo `m`.
    pub fn stride(&self, place: c_int) -> Result<(i64, AffHandle<'s>)> {
        const WHAT: &str = "find a stride";
        let (api, solver) = (self.solver.api, self.solver);
        // SAFETY: isl reads the set and returns objects that the handles own.
        let info = Handle { raw: unsafe { (api.isl_set_get_stride_info)(self.raw, place) }, solver }.check(WHAT)?;
        // SAFETY: isl reads the information.
        let stride = Handle { raw: unsafe { (api.isl_stride_info_get_stride)(info.raw) }, solver };
        // SAFETY: isl reads the information.
        let offset = Handle { raw: unsafe { (api.isl_stride_info_get_offset)(info.raw) }, solver };
        Ok((solver.number(stride.check(WHAT)?)?, offset.check(WHAT)?))
    }

    /// The coordinates of some point; `None` if there is none.
    pub fn sample(self, dims: usize) -> Result<Option<Vec<i64>>> {
        const WHAT: &str = "find a point";
        let solver = self.solver;
        // SAFETY: isl takes ownership of the set.
        let point = Handle { raw: unsafe { (solver.api.isl_set_sample_point)(self.into_raw()) }, solver }.check(WHAT)?;
        // SAFETY: isl reads the point.
        if solver.truth(unsafe { (solver.api.isl_point_is_void)(point.raw) }, WHAT)? {
            return Ok(None);
        }
        let coordinate = |place: usize| {
            // SAFETY: isl reads the point.
            let raw = unsafe { (solver.api.isl_point_get_coordinate_val)(point.raw, Dim::Set, place as c_int) };
            solver.number(Handle { raw, solver }.check(WHAT)?)
        };
        (0..dims).map(coordinate).collect::<Result<_>>().map(Some)
    }

    /// As a relation from its first dimensions to the others.
    pub fn into_map(self, inputs: usize) -> MapHandle<'s> {
        let solver = self.solver;
        // SAFETY: isl takes ownership of the set.
        let raw = unsafe { (solver.api.isl_map_from_range)(self.into_raw()) };
        // SAFETY: isl takes ownership of the relation.
        let raw = unsafe { (solver.api.isl_map_move_dims)(raw, Dim::In, 0, Dim::Set, 0, inputs as c_uint) };
        Handle { raw, solver }
    }
}

impl MapHandle<'_> {
    pub fn is_bijective(&self) -> Result<bool> {
        // SAFETY: isl reads the relation.
        self.solver.truth(unsafe { (self.solver.api.isl_map_is_bijective)(self.raw) }, "decide whether a relation is one to one")
    }

    pub fn is_single_valued(&self) -> Result<bool> {
        // SAFETY: isl reads the relation.
        self.solver.truth(unsafe { (self.solver.api.isl_map_is_single_valued)(self.raw) }, "decide whether a relation is a function")
    }
}

const FIND_EXTREME: &str = "find the largest or smallest value";

/// Stores a piece: isl passes ownership of both objects.
unsafe extern "C" fn push_piece(set: *mut isl_set, aff: *mut isl_aff, pieces: *mut c_void) -> c_int {
    // SAFETY: `pieces` is the vector that `dim_extreme` passes.
    unsafe { (*pieces.cast::<Vec<(*mut isl_set, *mut isl_aff)>>()).push((set, aff)) };
    0
}

impl Solver {
    /// The value of an isl_bool.
    pub(crate) fn truth(&self, answer: c_int, what: &'static str) -> Result<bool> {
        match answer {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.error(what)),
        }
    }

    pub(crate) fn val<'s>(&'s self, number: i64) -> Handle<'s, isl_val> {
        // SAFETY: the context is alive. `long` has 64 bits on the systems that have libisl.
        Handle { raw: unsafe { (self.api.isl_val_int_from_si)(self.ctx, number as c_long) }, solver: self }
    }

    /// The value as an integer; one that does not fit is an error.
    #[allow(clippy::useless_conversion)]
    pub(crate) fn number(&self, value: Handle<'_, isl_val>) -> Result<i64> {
        // SAFETY: isl reads the value.
        let number = i64::from(unsafe { (self.api.isl_val_get_num_si)(value.raw) });
        if self.failed() { Err(self.error("read a number")) } else { Ok(number) }
    }
}
