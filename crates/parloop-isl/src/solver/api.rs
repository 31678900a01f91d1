//! The functions of libisl that we use, by name.

use std::ffi::{c_char, c_int, c_long, c_uint, c_ulong, c_void};

use libloading::Library;

macro_rules! opaque {
    ($($name:ident)*) => {$(
        #[doc = concat!("isl's `", stringify!($name), "`, seen through pointers alone.")]
        #[repr(C)]
        #[allow(non_camel_case_types)]
        pub(crate) struct $name {
            hidden: [u8; 0],
        }
    )*};
}

opaque! { isl_ctx isl_space isl_local_space isl_val isl_mat isl_aff isl_pw_aff isl_basic_set isl_basic_set_list isl_set isl_map isl_point isl_stride_info }

/// `isl_dim_type`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) enum Dim {
    Constant = 0,
    Param = 1,
    In = 2,
    Set = 3,
    Div = 4,
}

/// `isl_error_quota`: the limit on operations was reached.
pub(crate) const ERROR_QUOTA: c_int = 6;

/// `ISL_ON_ERROR_CONTINUE`: errors are returned, not printed.
pub(crate) const ON_ERROR_CONTINUE: c_int = 1;

/// What [`Api::isl_pw_aff_foreach_piece`] calls.
pub(crate) type PieceCallback = unsafe extern "C" fn(*mut isl_set, *mut isl_aff, *mut c_void) -> c_int;

macro_rules! functions {
    ($($name:ident($($arg:ty),*) $(-> $result:ty)?;)*) => {
        /// Entry points of an opened libisl. isl frees the arguments that it takes ownership of, even when it fails; null in gives null
        /// out.
        pub(crate) struct Api {
            $(pub $name: unsafe extern "C" fn($($arg),*) $(-> $result)?,)*
        }

        impl Api {
            /// Looks up all functions; the library is never closed.
            ///
            /// # Errors
            /// The loader's message for a missing function.
            pub fn of(library: Library) -> Result<Api, libloading::Error> {
                // SAFETY: the types are those of isl's headers.
                let api = unsafe { Api { $($name: *library.get(concat!(stringify!($name), "\0").as_bytes())?,)* } };
                std::mem::forget(library);
                Ok(api)
            }
        }
    };
}

functions! {
    isl_ctx_alloc() -> *mut isl_ctx;
    isl_ctx_free(*mut isl_ctx);
    isl_ctx_last_error(*mut isl_ctx) -> c_int;
    isl_ctx_last_error_msg(*mut isl_ctx) -> *const c_char;
    isl_ctx_reset_error(*mut isl_ctx);
    isl_ctx_set_max_operations(*mut isl_ctx, c_ulong);
    isl_ctx_reset_operations(*mut isl_ctx);
    isl_options_set_on_error(*mut isl_ctx, c_int) -> c_int;
    isl_space_set_alloc(*mut isl_ctx, c_uint, c_uint) -> *mut isl_space;
    isl_space_copy(*mut isl_space) -> *mut isl_space;
    isl_space_free(*mut isl_space) -> *mut isl_space;
    isl_local_space_from_space(*mut isl_space) -> *mut isl_local_space;
    isl_val_int_from_si(*mut isl_ctx, c_long) -> *mut isl_val;
    isl_val_get_num_si(*mut isl_val) -> c_long;
    isl_val_get_den_si(*mut isl_val) -> c_long;
    isl_val_free(*mut isl_val) -> *mut isl_val;
    isl_mat_alloc(*mut isl_ctx, c_uint, c_uint) -> *mut isl_mat;
    isl_mat_free(*mut isl_mat) -> *mut isl_mat;
    isl_mat_rows(*mut isl_mat) -> c_int;
    isl_mat_set_element_si(*mut isl_mat, c_int, c_int, c_int) -> *mut isl_mat;
    isl_mat_set_element_val(*mut isl_mat, c_int, c_int, *mut isl_val) -> *mut isl_mat;
    isl_mat_get_element_val(*mut isl_mat, c_int, c_int) -> *mut isl_val;
    isl_aff_zero_on_domain(*mut isl_local_space) -> *mut isl_aff;
    isl_aff_free(*mut isl_aff) -> *mut isl_aff;
    isl_aff_set_constant_val(*mut isl_aff, *mut isl_val) -> *mut isl_aff;
    isl_aff_set_coefficient_val(*mut isl_aff, Dim, c_int, *mut isl_val) -> *mut isl_aff;
    isl_aff_get_constant_val(*mut isl_aff) -> *mut isl_val;
    isl_aff_get_coefficient_val(*mut isl_aff, Dim, c_int) -> *mut isl_val;
    isl_aff_get_denominator_val(*mut isl_aff) -> *mut isl_val;
    isl_aff_get_div(*mut isl_aff, c_int) -> *mut isl_aff;
    isl_aff_dim(*mut isl_aff, Dim) -> c_int;
    isl_aff_scale_val(*mut isl_aff, *mut isl_val) -> *mut isl_aff;
    isl_aff_scale_down_val(*mut isl_aff, *mut isl_val) -> *mut isl_aff;
    isl_aff_floor(*mut isl_aff) -> *mut isl_aff;
    isl_aff_add(*mut isl_aff, *mut isl_aff) -> *mut isl_aff;
    isl_aff_zero_basic_set(*mut isl_aff) -> *mut isl_basic_set;
    isl_aff_nonneg_basic_set(*mut isl_aff) -> *mut isl_basic_set;
    isl_pw_aff_free(*mut isl_pw_aff) -> *mut isl_pw_aff;
    isl_pw_aff_foreach_piece(*mut isl_pw_aff, PieceCallback, *mut c_void) -> c_int;
    isl_basic_set_free(*mut isl_basic_set) -> *mut isl_basic_set;
    isl_basic_set_dim(*mut isl_basic_set, Dim) -> c_int;
    isl_basic_set_get_div(*mut isl_basic_set, c_int) -> *mut isl_aff;
    isl_basic_set_intersect(*mut isl_basic_set, *mut isl_basic_set) -> *mut isl_basic_set;
    isl_basic_set_equalities_matrix(*mut isl_basic_set, Dim, Dim, Dim, Dim) -> *mut isl_mat;
    isl_basic_set_inequalities_matrix(*mut isl_basic_set, Dim, Dim, Dim, Dim) -> *mut isl_mat;
    isl_basic_set_from_constraint_matrices(*mut isl_space, *mut isl_mat, *mut isl_mat, Dim, Dim, Dim, Dim) -> *mut isl_basic_set;
    isl_basic_set_list_free(*mut isl_basic_set_list) -> *mut isl_basic_set_list;
    isl_basic_set_list_n_basic_set(*mut isl_basic_set_list) -> c_int;
    isl_basic_set_list_get_basic_set(*mut isl_basic_set_list, c_int) -> *mut isl_basic_set;
    isl_set_free(*mut isl_set) -> *mut isl_set;
    isl_set_copy(*mut isl_set) -> *mut isl_set;
    isl_set_empty(*mut isl_space) -> *mut isl_set;
    isl_set_from_basic_set(*mut isl_basic_set) -> *mut isl_set;
    isl_set_get_basic_set_list(*mut isl_set) -> *mut isl_basic_set_list;
    isl_set_union(*mut isl_set, *mut isl_set) -> *mut isl_set;
    isl_set_subtract(*mut isl_set, *mut isl_set) -> *mut isl_set;
    isl_set_gist(*mut isl_set, *mut isl_set) -> *mut isl_set;
    isl_set_project_out(*mut isl_set, Dim, c_uint, c_uint) -> *mut isl_set;
    isl_set_remove_divs_involving_dims(*mut isl_set, Dim, c_uint, c_uint) -> *mut isl_set;
    isl_set_compute_divs(*mut isl_set) -> *mut isl_set;
    isl_set_coalesce(*mut isl_set) -> *mut isl_set;
    isl_set_detect_equalities(*mut isl_set) -> *mut isl_set;
    isl_set_remove_redundancies(*mut isl_set) -> *mut isl_set;
    isl_set_simple_hull(*mut isl_set) -> *mut isl_basic_set;
    isl_set_n_basic_set(*mut isl_set) -> c_int;
    isl_set_is_empty(*mut isl_set) -> c_int;
    isl_set_is_bounded(*mut isl_set) -> c_int;
    isl_set_is_subset(*mut isl_set, *mut isl_set) -> c_int;
    isl_set_is_equal(*mut isl_set, *mut isl_set) -> c_int;
    isl_set_dim_min(*mut isl_set, c_int) -> *mut isl_pw_aff;
    isl_set_dim_max(*mut isl_set, c_int) -> *mut isl_pw_aff;
    isl_set_get_stride_info(*mut isl_set, c_int) -> *mut isl_stride_info;
    isl_set_sample_point(*mut isl_set) -> *mut isl_point;
    isl_stride_info_free(*mut isl_stride_info) -> *mut isl_stride_info;
    isl_stride_info_get_stride(*mut isl_stride_info) -> *mut isl_val;
    isl_stride_info_get_offset(*mut isl_stride_info) -> *mut isl_aff;
    isl_point_free(*mut isl_point) -> *mut isl_point;
    isl_point_is_void(*mut isl_point) -> c_int;
    isl_point_get_coordinate_val(*mut isl_point, Dim, c_int) -> *mut isl_val;
    isl_map_free(*mut isl_map) -> *mut isl_map;
    isl_map_from_range(*mut isl_set) -> *mut isl_map;
    isl_map_move_dims(*mut isl_map, Dim, c_uint, Dim, c_uint, c_uint) -> *mut isl_map;
    isl_map_is_bijective(*mut isl_map) -> c_int;
    isl_map_is_single_valued(*mut isl_map) -> c_int;
}
