//! What was declared, and what is wrong with it.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, Ident, LitStr, Result, Type};

/// A struct or an enum of objects.
pub struct ObjectDeclaration<'a> {
    /// Its Rust name.
    pub ident: &'a Ident,
    /// The name of its class.
    pub name: String,
    /// What it is made of.
    pub body: Body<'a>,
}

/// What is inside.
pub enum Body<'a> {
    /// Fields: Rust name, C name, type.
    Struct(Vec<(&'a Ident, String, &'a Type)>),
    /// Variants and what they hold.
    Union(Vec<(&'a Ident, &'a Type)>),
}

pub fn read(input: &DeriveInput) -> Result<ObjectDeclaration<'_>> {
    if !input.generics.params.is_empty() {
        return Err(Error::new(
            input.generics.span(),
            "an object has one layout, so its type cannot have parameters; declare one struct for each layout",
        ));
    }
    let name = class_name(input)?;
    let body = match &input.data {
        Data::Struct(data) => Body::Struct(fields(input, &data.fields)?),
        Data::Enum(data) if data.variants.is_empty() => {
            return Err(Error::new_spanned(&input.ident, "an enum of objects must have at least one variant"));
        }
        Data::Enum(data) => Body::Union(data.variants.iter().map(|variant| member(input, variant)).collect::<Result<_>>()?),
        Data::Union(data) => {
            return Err(Error::new_spanned(
                data.union_token,
                "a Rust union cannot be an object; use an enum whose variants each hold a struct",
            ));
        }
    };
    Ok(ObjectDeclaration { ident: &input.ident, name, body })
}

/// The name of the class: that of the type, or the one given by `#[object(name = "…")]`.
fn class_name(input: &DeriveInput) -> Result<String> {
    let mut given: Option<LitStr> = None;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("object")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("name") {
                given = Some(meta.value()?.parse()?);
                Ok(())
            } else {
                Err(meta.error("the only option is `#[object(name = \"…\")]`"))
            }
        })?;
    }
    match given {
        Some(name) => c_name(&name.value(), &name),
        None => c_name(&input.ident.unraw().to_string(), &input.ident),
    }
}

fn c_name(name: &str, at: &dyn ToTokens) -> Result<String> {
    let starts = name.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if starts && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Ok(name.to_owned());
    }
    let what = format!(
        "`{name}` is not a valid C name (letters, digits and underscores); rename it, or rename a type with `#[object(name = \"…\")]`"
    );
    Err(Error::new_spanned(at.to_token_stream(), what))
}

fn fields<'a>(input: &'a DeriveInput, fields: &'a Fields) -> Result<Vec<(&'a Ident, String, &'a Type)>> {
    let Fields::Named(named) = fields else {
        let example = format!("the C functions are named after fields; name them: `struct {} {{ … }}`", input.ident);
        return Err(if fields.is_empty() { Error::new_spanned(&input.ident, example) } else { Error::new_spanned(fields, example) });
    };
    let mut found = Vec::new();
    for field in &named.named {
        let Some(ident) = &field.ident else { continue };
        if let Some(attribute) = field.attrs.iter().find(|attribute| attribute.path().is_ident("object")) {
            return Err(Error::new_spanned(attribute, "`#[object(name = \"…\")]` belongs to the struct; a field keeps its name in C"));
        }
        refuse_itself(&input.ident, &field.ty)?;
        found.push((ident, c_name(&ident.unraw().to_string(), ident)?, &field.ty));
    }
    Ok(found)
}

fn member<'a>(input: &'a DeriveInput, variant: &'a syn::Variant) -> Result<(&'a Ident, &'a Type)> {
    match &variant.fields {
        Fields::Unnamed(held) if held.unnamed.len() == 1 => {
            refuse_itself(&input.ident, &held.unnamed[0].ty)?;
            Ok((&variant.ident, &held.unnamed[0].ty))
        }
        Fields::Unit => {
            let what = format!(
                "a variant must hold one struct with `#[derive(Object)]`; for an empty variant, use `Option<{}>` instead",
                input.ident
            );
            Err(Error::new_spanned(variant, what))
        }
        _ => {
            let name = &variant.ident;
            let what = format!(
                "a variant must hold one struct with `#[derive(Object)]`: write `{name}({name})` and declare `struct {name} {{ … }}`"
            );
            Err(Error::new_spanned(variant, what))
        }
    }
}

/// An object cannot hold its own type: the type would have no end.
fn refuse_itself(ident: &Ident, ty: &Type) -> Result<()> {
    if !names(ident, ty.to_token_stream()) {
        return Ok(());
    }
    let what = format!("`{ident}` cannot contain its own type; put all values into a `Vec<{ident}>` and store their indices instead");
    Err(Error::new_spanned(ty, what))
}

/// Whether the type itself is named there, and not another of its name in some module.
fn names(ident: &Ident, tokens: TokenStream) -> bool {
    let mut is_qualified = false;
    tokens.into_iter().any(|token| {
        let after_colon = std::mem::replace(&mut is_qualified, matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ':'));
        match token {
            TokenTree::Ident(found) => !after_colon && (found == *ident || found == "Self"),
            TokenTree::Group(group) => names(ident, group.stream()),
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(declared: &str) -> String {
        let input: DeriveInput = syn::parse_str(declared).unwrap();
        read(&input).err().map_or_else(String::new, |error| error.to_string())
    }

    #[test]
    fn what_cannot_be_an_object_is_told_with_what_to_do() {
        let told = [
            (
                "struct Pair<T> { first: T }",
                "an object has one layout, so its type cannot have parameters; declare one struct for each layout",
            ),
            (
                "struct Part<'a> { first: &'a str }",
                "an object has one layout, so its type cannot have parameters; declare one struct for each layout",
            ),
            ("struct Point(f64, f64);", "the C functions are named after fields; name them: `struct Point { … }`"),
            ("struct Point;", "the C functions are named after fields; name them: `struct Point { … }`"),
            ("enum Never {}", "an enum of objects must have at least one variant"),
            ("union Bits { a: f64, b: u64 }", "a Rust union cannot be an object; use an enum whose variants each hold a struct"),
            (
                "enum Element { Drift(Drift), Nothing }",
                "a variant must hold one struct with `#[derive(Object)]`; for an empty variant, use `Option<Element>` instead",
            ),
            (
                "enum Element { Drift { length: f64 } }",
                "a variant must hold one struct with `#[derive(Object)]`: write `Drift(Drift)` and declare `struct Drift { … }`",
            ),
            (
                "enum Element { Drift(f64, f64) }",
                "a variant must hold one struct with `#[derive(Object)]`: write `Drift(Drift)` and declare `struct Drift { … }`",
            ),
            (
                "struct Node { next: Option<Box<Node>> }",
                "`Node` cannot contain its own type; put all values into a `Vec<Node>` and store their indices instead",
            ),
            (
                "struct Größe { x: f64 }",
                "`Größe` is not a valid C name (letters, digits and underscores); rename it, or rename a type with `#[object(name = \"…\")]`",
            ),
            ("#[object(size = 3)] struct S { x: f64 }", "the only option is `#[object(name = \"…\")]`"),
            ("struct S { #[object(name = \"y\")] x: f64 }", "`#[object(name = \"…\")]` belongs to the struct; a field keeps its name in C"),
        ];
        for (declared, expected) in told {
            assert_eq!(message(declared), expected, "{declared}");
        }
    }

    #[test]
    fn raw_names_lose_their_mark_and_types_of_the_same_name_elsewhere_are_others() {
        let input: DeriveInput = syn::parse_str("#[object(name = \"Other\")] struct Node { r#type: other::Node }").unwrap();
        let declared = read(&input).unwrap();
        assert_eq!(declared.name, "Other");
        assert!(matches!(&declared.body, Body::Struct(fields) if fields[0].1 == "type"));
    }
}
