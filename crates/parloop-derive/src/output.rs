//! The implementations, as tokens. What they call is in `typed` of the objects' crate.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Ident, Type};

use crate::input::{Body, ObjectDeclaration};

/// The implementations for `declared`; `path` leads to the crate of objects.
pub fn write(declared: &ObjectDeclaration, path: &TokenStream) -> TokenStream {
    match &declared.body {
        Body::Struct(fields) => structure(declared, fields, path),
        Body::Union(variants) => union(declared, variants, path),
    }
}

/// A type, made once.
fn cached(path: &TokenStream, make: TokenStream) -> TokenStream {
    quote! {
        static TYPE: #path::typed::Once<#path::Type> = #path::typed::Once::new();
        ::std::clone::Clone::clone(TYPE.get_or_init(|| #make))
    }
}

fn structure(declared: &ObjectDeclaration, fields: &[(&Ident, String, &Type)], path: &TokenStream) -> TokenStream {
    let ObjectDeclaration { ident, name, .. } = declared;
    let object = quote!(#path::typed::Object);
    // The compiler's words about a field's type are to point at it.
    let bytes = fields.iter().map(|(_, _, ty)| quote_spanned!(ty.span()=> <#ty as #object>::BYTES));
    let types = fields.iter().map(|(_, name, ty)| quote!((#name, <#ty as #object>::object_type())));
    let object_type = cached(path, quote!(#path::typed::struct_type(#name, ::std::vec![#(#types),*])));
    let values = fields.iter().enumerate().map(|(index, (field, _, ty))| quote!((#index, <#ty as #object>::to_value(&self.#field))));
    let read =
        fields.iter().enumerate().map(|(index, (field, _, ty))| quote!(#field: <#ty as #object>::from_view(&view.field_at(#index)?)?));
    quote! {
        #[automatically_derived]
        impl #object for #ident {
            const BYTES: usize = #path::typed::struct_bytes(&[#(#bytes),*]);

            fn object_type() -> #path::Type {
                #object_type
            }

            fn to_value(&self) -> #path::Value<'_> {
                #path::Value::Fields(::std::vec![#(#values),*])
            }

            fn from_view(view: &#path::View) -> ::std::result::Result<Self, #path::ObjectError> {
                #path::typed::check::<Self>(view)?;
                ::std::result::Result::Ok(#ident { #(#read),* })
            }
        }

        #[automatically_derived]
        impl #path::typed::StructObject for #ident {
            const NAME: &'static str = #name;
        }

        const _: usize = <#ident as #object>::BYTES;
    }
}

fn union(declared: &ObjectDeclaration, variants: &[(&Ident, &Type)], path: &TokenStream) -> TokenStream {
    let ObjectDeclaration { ident, name, .. } = declared;
    let (object, nullable) = (quote!(#path::typed::Object), quote!(#path::typed::Nullable));
    let names = variants.iter().map(|(_, ty)| quote_spanned!(ty.span()=> <#ty as #path::typed::StructObject>::NAME));
    let bytes = variants.iter().map(|(_, ty)| quote!(<#ty as #object>::BYTES));
    let types = variants.iter().map(|(_, ty)| quote!(<#ty as #object>::object_type()));
    let object_type = cached(path, quote!(#path::typed::union_type(#name, ::std::vec![#(#types),*])));
    let values = variants.iter().enumerate().map(|(id, (variant, ty))| {
        quote!(#ident::#variant(member) => #path::Value::Member(#id, ::std::boxed::Box::new(<#ty as #object>::to_value(member))))
    });
    let read = variants.iter().enumerate().map(|(id, (variant, ty))| {
        let id = id as i64;
        quote!(#id => ::std::result::Result::Ok(::std::option::Option::Some(#ident::#variant(<#ty as #object>::from_view(&target)?))))
    });
    quote! {
        #[automatically_derived]
        impl #object for #ident {
            const BYTES: usize = {
                let _members: &[usize] = &[#(#bytes),*];
                16
            };

            fn object_type() -> #path::Type {
                #object_type
            }

            fn to_value(&self) -> #path::Value<'_> {
                match self { #(#values),* }
            }

            fn from_view(view: &#path::View) -> ::std::result::Result<Self, #path::ObjectError> {
                #path::typed::check::<Self>(view)?;
                <Self as #nullable>::from_reference(view)?.ok_or_else(|| #path::typed::null(view))
            }
        }

        #[automatically_derived]
        impl #nullable for #ident {
            const BYTES: usize = <Self as #object>::BYTES;

            fn reference_type() -> #path::Type {
                <Self as #object>::object_type()
            }

            fn reference_value(&self) -> #path::Value<'_> {
                <Self as #object>::to_value(self)
            }

            fn from_reference(view: &#path::View) -> ::std::result::Result<::std::option::Option<Self>, #path::ObjectError> {
                let ::std::option::Option::Some(target) = view.target()? else {
                    return ::std::result::Result::Ok(::std::option::Option::None);
                };
                match view.typeid()? {
                    #(#read,)*
                    _ => ::std::result::Result::Ok(::std::option::Option::None),
                }
            }
        }

        const _: () = ::std::assert!(
            #path::typed::are_different(&[#(#names),*]),
            "two variants hold structs of the same class; a reference tells its members apart by their class"
        );
        const _: usize = <#ident as #object>::BYTES;
    }
}
