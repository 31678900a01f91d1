//! `#[derive(Object)]`: Rust structs and enums as typed objects. `input.rs` parses and checks the declaration,
//! `output.rs` writes the implementations.

mod input;
mod output;

use proc_macro::TokenStream;
use quote::quote;
use syn::{DeriveInput, parse_macro_input};

/// Makes objects of a struct with named fields, or a reference to objects of several types of an enum.
///
/// ```
/// use parloop_object::Object;
///
/// #[derive(Object)]
/// struct Drift { length: f64 }
///
/// #[derive(Object)]
/// #[object(name = "Kick")] // the name of the class in C; the name of the struct is the default
/// struct Multipole { order: i64, knl: Vec<f64>, name: String }
///
/// #[derive(Object)]
/// enum Element { Drift(Drift), Multipole(Multipole) }
///
/// #[derive(Object)]
/// struct Line { first: Element, rest: Vec<Option<Element>>, next: Option<Box<Drift>> }
///
/// assert_eq!(Multipole::object_type().name(), "Kick");
/// assert_eq!(Line::object_type().name(), "Line");
/// ```
///
/// The layout does not depend on types, so that there are none to fill in:
///
/// ```compile_fail
/// #[derive(parloop_object::Object)]
/// struct Pair<T> { first: T, second: T } // an object has one layout: write `struct PairOfDoubles { … }` without parameters
/// ```
///
/// The C functions are named after the fields:
///
/// ```compile_fail
/// #[derive(parloop_object::Object)]
/// struct Point(f64, f64); // name the fields: `struct Point { … }`
/// ```
///
/// A variant is the type that the reference leads to:
///
/// ```compile_fail
/// #[derive(parloop_object::Object)]
/// struct Drift { length: f64 }
/// #[derive(parloop_object::Object)]
/// enum Element { Drift(Drift), Nothing } // a variant holds one struct; nothing is `Option<Element>`
/// ```
///
/// ```compile_fail
/// #[derive(parloop_object::Object)]
/// enum Number { Whole(i64), Real(f64) } // each variant must hold one struct with `#[derive(Object)]`
/// ```
///
/// ```compile_fail
/// #[derive(parloop_object::Object)]
/// struct Drift { length: f64 }
/// type Same = Drift;
/// #[derive(parloop_object::Object)]
/// enum Element { A(Drift), B(Same) } // two variants hold the same struct
/// ```
///
/// Fields are objects themselves:
///
/// ```compile_fail
/// #[derive(parloop_object::Object)]
/// struct Log { when: std::time::Instant } // `Instant` is not an object type
/// ```
///
/// ```compile_fail
/// #[derive(parloop_object::Object)]
/// struct Node { value: f64, next: Option<Box<Node>> } // an object cannot hold its own type
/// ```
///
/// ```compile_fail
/// #[derive(parloop_object::Object)]
/// struct First { second: Option<Box<Second>> }
/// #[derive(parloop_object::Object)]
/// struct Second { first: Vec<First> } // nor by a detour
/// ```
///
/// C has letters, digits and underscores:
///
/// ```compile_fail
/// #[derive(parloop_object::Object)]
/// struct Größe { x: f64 } // name it with `#[object(name = "…")]`
/// ```
#[proc_macro_derive(Object, attributes(object))]
pub fn derive_object(input: TokenStream) -> TokenStream {
    derive(parse_macro_input!(input as DeriveInput), quote!(::parloop_object))
}

/// As `Object`, for users of the facade crate, where it is `parloop::Object`.
#[proc_macro_derive(FacadeObject, attributes(object))]
pub fn derive_facade_object(input: TokenStream) -> TokenStream {
    derive(parse_macro_input!(input as DeriveInput), quote!(::parloop::objects))
}

fn derive(input: DeriveInput, path: proc_macro2::TokenStream) -> TokenStream {
    match input::read(&input) {
        Ok(declared) => output::write(&declared, &path).into(),
        Err(error) => error.into_compile_error().into(),
    }
}
