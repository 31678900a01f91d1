//! libisl, one context for each thread: values go in, values come out.
//!
//! A query runs inside [`ask`]; no isl object leaves it, except those that the solver caches.

mod api;
mod convert;
mod handle;
mod library;
mod memory;

use std::cell::{OnceCell, RefCell};
use std::ffi::CStr;

pub use self::library::{add_library_folder, library_file};

use self::api::{Api, ERROR_QUOTA, ON_ERROR_CONTINUE, isl_ctx, isl_set};
pub(crate) use self::convert::Names;
pub(crate) use self::handle::SetHandle;
use self::memory::Memory;
pub(crate) use self::memory::{Question, once};
use crate::error::{IslError, Result};

/// The maximum number of isl operations for a query: some seconds.
const MAX_OPERATIONS: std::ffi::c_ulong = 100_000;

/// The maximum number of operations for an optional check.
const MAX_OPERATIONS_OF_A_CHECK: std::ffi::c_ulong = 5_000;

/// The context of this thread.
pub(crate) struct Solver {
    api: &'static Api,
    ctx: *mut isl_ctx,
    /// The isl object for a value, always created from the value itself: answers must not depend on earlier queries.
    remembered: RefCell<Memory<*mut isl_set>>,
}

thread_local! {
    static SOLVER: OnceCell<Solver> = const { OnceCell::new() };
}

/// Queries this thread's solver. Queries may nest as long as no handle outlives its query.
pub(crate) fn ask<T>(question: impl FnOnce(&Solver) -> Result<T>) -> Result<T> {
    let gone = |_| IslError::Isl { what: "answer a question about integer sets".to_string(), message: "the thread is ending".to_string() };
    SOLVER
        .try_with(|cell| {
            let solver = match cell.get() {
                Some(solver) => solver,
                None => {
                    let solver = Solver::open()?;
                    cell.get_or_init(|| solver)
                }
            };
            solver.start();
            let answer = question(solver);
            solver.forget_if_many();
            answer
        })
        .map_err(gone)?
}

impl Solver {
    fn open() -> Result<Solver> {
        let api = library::api()?;
        // SAFETY: these functions have no preconditions beyond a context that is alive.
        let ctx = unsafe { (api.isl_ctx_alloc)() };
        if ctx.is_null() {
            return Err(IslError::Isl { what: "prepare libisl".to_string(), message: "out of memory".to_string() });
        }
        // SAFETY: as above.
        unsafe {
            (api.isl_options_set_on_error)(ctx, ON_ERROR_CONTINUE);
            (api.isl_ctx_set_max_operations)(ctx, MAX_OPERATIONS);
        }
        Ok(Solver { api, ctx, remembered: RefCell::default() })
    }

    /// Resets the errors and the operation count of the last query.
    fn start(&self) {
        // SAFETY: the context is alive.
        unsafe {
            (self.api.isl_ctx_reset_error)(self.ctx);
            (self.api.isl_ctx_reset_operations)(self.ctx);
        }
    }

    /// Runs an optional query; an error leaves no trace.
    fn briefly<T>(&self, check: impl FnOnce() -> Result<T>) -> Option<T> {
        // SAFETY: the context is alive.
        unsafe { (self.api.isl_ctx_set_max_operations)(self.ctx, MAX_OPERATIONS_OF_A_CHECK) };
        self.start();
        let answer = check();
        // SAFETY: the context is alive.
        unsafe { (self.api.isl_ctx_set_max_operations)(self.ctx, MAX_OPERATIONS) };
        self.start();
        answer.ok()
    }

    /// The error message of isl.
    pub(crate) fn error(&self, what: &'static str) -> IslError {
        // SAFETY: the context is alive; the message is static text of isl or null.
        let (code, text) = unsafe {
            let text = (self.api.isl_ctx_last_error_msg)(self.ctx);
            let text = if text.is_null() { None } else { Some(CStr::from_ptr(text).to_string_lossy().into_owned()) };
            ((self.api.isl_ctx_last_error)(self.ctx), text)
        };
        let message = match (code, text) {
            (ERROR_QUOTA, _) => "it takes too long".to_string(),
            (_, Some(text)) if text.contains("too large") => "a number in the answer does not fit into 64 bits".to_string(),
            (_, Some(text)) => text,
            (_, None) => "libisl gave no reason".to_string(),
        };
        IslError::Isl { what: what.to_string(), message }
    }

    /// Whether isl has reported an error since the query began.
    pub(crate) fn failed(&self) -> bool {
        // SAFETY: the context is alive.
        unsafe { (self.api.isl_ctx_last_error)(self.ctx) != 0 }
    }

    /// No handle to a cleared object is left when a query ends.
    fn forget_if_many(&self) {
        for set in self.remembered.borrow_mut().forget_if_many() {
            self.free_set(set);
        }
    }

    fn free_set(&self, set: *mut isl_set) {
        // SAFETY: the solver owns what it caches.
        unsafe { (self.api.isl_set_free)(set) };
    }
}

impl Drop for Solver {
    fn drop(&mut self) {
        // All objects are freed before their context.
        for set in self.remembered.take().forget() {
            self.free_set(set);
        }
        // SAFETY: nothing else is left of the context: handles live inside queries.
        unsafe { (self.api.isl_ctx_free)(self.ctx) };
    }
}
