//! What kernels that take objects are compiled with: the C functions of the classes, in the order that C needs.

use parloop_kernel::{CompileOptions, Source};

use crate::capi::{ApiOptions, UnionMethod, class_api, in_dependency_order};
use crate::types::Type;
use crate::view::Result;

/// How kernels that take objects are compiled.
#[derive(Clone, Debug, Default)]
pub struct ObjectOptions {
    /// How everything is compiled. In checked mode every index and every reference in the C functions of the classes is checked.
    pub compile: CompileOptions,
    /// Sources that belong to a class, by its name: they come after its functions, and before those of classes made of it.
    pub class_sources: Vec<(String, Source)>,
    /// Methods of union references, by the name of the union; its members have them from their [`class_sources`](Self::class_sources).
    pub union_methods: Vec<(String, UnionMethod)>,
}

impl ObjectOptions {
    /// The default with every index and every reference checked.
    pub fn checked() -> ObjectOptions {
        ObjectOptions { compile: CompileOptions { checked: true, ..Default::default() }, ..Default::default() }
    }
}

/// The sources that go in front of kernels that take objects of these classes, and the options to compile all of them with.
///
/// ```
/// use parloop_kernel::{Context, Source};
/// use parloop_object::{Object, ObjectOptions, class_sources};
///
/// #[derive(Object)]
/// struct Point { x: f64, y: f64 }
///
/// let (mut sources, options) = class_sources(&[Point::object_type()], &ObjectOptions::default())?;
/// sources.push(Source::named("norm.c", "GPUFUN double norm2(Point p) { return Point_get_x(p) * Point_get_x(p); }"));
/// // SAFETY: the function reads the object that it gets.
/// unsafe { Context::open("cpu:1")?.compile_with(&sources, &options)? };
/// # Ok::<(), parloop_object::ObjectError>(())
/// ```
///
/// # Errors
/// [`TypeError::SameName`](crate::TypeError::SameName).
pub fn class_sources(classes: &[Type], options: &ObjectOptions) -> Result<(Vec<Source>, CompileOptions)> {
    let mut compile = options.compile.clone();
    let api_options = ApiOptions { checked: compile.checked };
    let mut sources = Vec::new();
    for class in in_dependency_order(classes)? {
        let name = class.name();
        let methods = options.union_methods.iter().filter(|(union, _)| union == name).map(|(_, method)| method.clone());
        let api = class_api(&class, &methods.collect::<Vec<_>>(), &api_options, compile.check_sites.len());
        sources.push(Source::named(format!("<C functions of {name}>"), api.source).api());
        compile.check_sites.extend(api.sites);
        if !compile.classes.iter().any(|known| known == name) {
            compile.classes.push(name.to_owned());
        }
        sources.extend(options.class_sources.iter().filter(|(of, _)| of == name).map(|(_, source)| source.clone()));
    }
    Ok((sources, compile))
}
