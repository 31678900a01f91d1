//! Functions of a native library as a table, and their results as plain numbers.

use std::ffi::{CStr, c_char, c_int, c_void};

use libloading::Library;

/// Codes that are the same in CUDA and HIP.
pub(crate) mod code {
    pub(crate) const SUCCESS: i32 = 0;
    pub(crate) const INVALID_VALUE: i32 = 1;
    pub(crate) const OUT_OF_MEMORY: i32 = 2;
    pub(crate) const NO_DEVICE: i32 = 100;
    pub(crate) const INVALID_DEVICE: i32 = 101;
    pub(crate) const NOT_FOUND: i32 = 500;
    pub(crate) const NOT_READY: i32 = 600;
    /// From here on, codes tell of work that went wrong earlier on the device.
    pub(crate) const FIRST_FAULT: i32 = 700;
}

/// A driver function that did not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) call: &'static str,
    pub(crate) code: i32,
}

/// One function of a driver with its name.
#[derive(Clone, Copy)]
pub(crate) struct Call<F> {
    pub(crate) name: &'static str,
    pub(crate) function: F,
}

impl<F> Call<F> {
    pub(crate) fn check(&self, result: c_int) -> Result<(), Failure> {
        if result == code::SUCCESS { Ok(()) } else { Err(Failure { call: self.name, code: result }) }
    }
}

/// Declares a table of functions, the table of their names, and how the first is made from the second.
macro_rules! function_table {
    ($(#[$meta:meta])* $table:ident, $names:ident { $($field:ident: fn($($argument:ty),*) -> $result:ty,)* }) => {
        /// The names of the functions in the library, field by field.
        pub(crate) struct $names {
            $(pub(crate) $field: &'static str,)*
        }

        $(#[$meta])*
        pub(crate) struct $table {
            $(pub(crate) $field: $crate::gpu::calls::Call<unsafe extern "C" fn($($argument),*) -> $result>,)*
        }

        impl $table {
            /// Looks every function up; a missing one is the error, by name.
            ///
            /// # Safety
            /// `find` gives the address of the C function of that name, which has the signature of the field.
            pub(crate) unsafe fn load(
                names: &$names,
                find: impl Fn(&'static str) -> Option<*const std::ffi::c_void>,
            ) -> Result<$table, &'static str> {
                $(let $field = find(names.$field).ok_or(names.$field)?;)*
                // SAFETY: the addresses are of C functions with these signatures, as the caller guarantees, and not null.
                unsafe {
                    Ok($table {
                        $($field: $crate::gpu::calls::Call {
                            name: names.$field,
                            function: std::mem::transmute::<*const std::ffi::c_void, unsafe extern "C" fn($($argument),*) -> $result>($field),
                        },)*
                    })
                }
            }
        }
    };
}
pub(crate) use function_table;

/// The address of a function in a library.
pub(crate) fn find(library: &Library, name: &'static str) -> Option<*const c_void> {
    // SAFETY: the symbol is only taken as an address; who calls it says what it is.
    let address = unsafe { library.get::<*const c_void>(name).ok()?.try_as_raw_ptr()? };
    (!address.is_null()).then_some(address.cast_const())
}

/// A text of the library's own.
///
/// # Safety
/// `text` is null or ends in a zero and is not changed meanwhile.
pub(crate) unsafe fn c_text(text: *const c_char) -> String {
    if text.is_null() {
        return String::from("unknown error");
    }
    // SAFETY: the caller guarantees it.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
