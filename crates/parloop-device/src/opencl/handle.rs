//! Counted OpenCL objects: each is released exactly once, here.

use std::ffi::c_void;

use super::driver::{Driver, Failure, call};

/// An object of the OpenCL library that somebody keeps alive.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Object(pub(super) *mut c_void);

// SAFETY: OpenCL functions may be called from any thread with any object; the exception, setting the arguments of a kernel, is
// guarded by a lock where kernels are launched.
unsafe impl Send for Object {}
// SAFETY: as above.
unsafe impl Sync for Object {}

/// The kind of an object, which determines how it is retained and released.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Context,
    Queue,
    Memory,
    Event,
    Program,
    Kernel,
}

/// One reference to a counted object, given back when dropped.
pub(super) struct Handle {
    driver: &'static Driver,
    kind: Kind,
    object: Object,
}

impl Handle {
    /// Takes over the reference that the call which made `object` returned.
    ///
    /// # Safety
    /// `object` is a live object of that kind, and the caller gives one reference away.
    pub(super) unsafe fn own(driver: &'static Driver, kind: Kind, object: *mut c_void) -> Handle {
        Handle { driver, kind, object: Object(object) }
    }

    /// Adds a reference to an object of another owner.
    ///
    /// # Safety
    /// `object` is null or a live object of that kind.
    pub(super) unsafe fn retain(driver: &'static Driver, kind: Kind, object: *mut c_void) -> Result<Handle, Failure> {
        // SAFETY: the object is live (or null, which every one of these refuses with a status).
        unsafe {
            match kind {
                Kind::Context => call!(driver, clRetainContext(object)),
                Kind::Queue => call!(driver, clRetainCommandQueue(object)),
                Kind::Memory => call!(driver, clRetainMemObject(object)),
                Kind::Event => call!(driver, clRetainEvent(object)),
                Kind::Program => call!(driver, clRetainProgram(object)),
                Kind::Kernel => call!(driver, clRetainKernel(object)),
            }?;
        }
        Ok(Handle { driver, kind, object: Object(object) })
    }

    /// The object, alive as long as `self`.
    pub(super) fn get(&self) -> *mut c_void {
        self.object.0
    }

    /// The object as it crosses the border to the public types.
    pub(super) fn bits(&self) -> u64 {
        self.object.0 as u64
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let (driver, object) = (self.driver, self.object.0);
        // SAFETY: `self` owns one reference to the object and does not use it again.
        let released = unsafe {
            match self.kind {
                Kind::Context => call!(driver, clReleaseContext(object)),
                Kind::Queue => call!(driver, clReleaseCommandQueue(object)),
                Kind::Memory => call!(driver, clReleaseMemObject(object)),
                Kind::Event => call!(driver, clReleaseEvent(object)),
                Kind::Program => call!(driver, clReleaseProgram(object)),
                Kind::Kernel => call!(driver, clReleaseKernel(object)),
            }
        };
        debug_assert!(released.is_ok() || released.is_err_and(Failure::is_refused), "{released:?}");
    }
}
