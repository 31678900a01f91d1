//! Classes of typed objects as loop kernels know them: by the numbers in them and the C functions that reach these.

use std::sync::Arc;

use parloop_loop::syntax::{ClassAxis, ClassField, ClassSource, ClassType, Type};
use parloop_object as obj;

/// The type of a loop kernel's argument that is an object of this class: `p.x[i]` reads and writes the field `x` of object `p`, and
/// `p.inner.y[i, j]` that of a struct inside, or of one that `inner` refers to.
///
/// ```
/// use parloop::loops::class_type;
/// use parloop::prelude::*;
///
/// #[derive(Object)]
/// struct Beam { x: Vec<f64>, px: Vec<f64> }
///
/// let drift = KernelBuilder::new()
///     .domain("{[i]: 0<=i<n}")
///     .instructions("beam.x[i] = beam.x[i] + l*beam.px[i]")
///     .data(Data::object("beam").dtype(class_type(&Beam::object_type())?))
///     .data(Data::value("l").dtype("float64"))
///     .rest()
///     .build()?
///     .split_iname("i", Split::by(64).outer(InameTag::Group(0)).inner(InameTag::Local(0)))?;
///
/// let ctx = Context::open("cpu")?;
/// let mut beam = ctx.place(&Beam { x: vec![0.0, 1.0], px: vec![2.0, 4.0] })?;
/// drift.compile(&ctx)?.call(loop_args! { beam: LoopArg::object(&mut beam), l: 0.5 })?;     // n is the length of the fields
/// assert_eq!(beam.get()?.x, [1.0, 3.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`TypeError::SameName`](obj::TypeError::SameName): two classes inside have one name.
pub fn class_type(class: &obj::Type) -> Result<Type, obj::TypeError> {
    let source = |class: &obj::Type| {
        let api = obj::class_api(class, &[], &obj::ApiOptions::default(), 0);
        // SAFETY: the functions of a class compute places inside of its object from what stands there.
        unsafe { ClassSource::new(class.name(), api.source) }
    };
    let sources = obj::in_dependency_order(std::slice::from_ref(class))?.iter().map(source).collect();
    let fields = obj::number_fields(class).into_iter().map(|field| (field.path.as_str().into(), class_field(field))).collect();
    // SAFETY: the fields and their functions are those of the class, whose sources define them.
    let class = unsafe { ClassType::new(class.name(), fields, sources) };
    Ok(Type::Class(Arc::new(class)))
}

fn class_field(field: obj::NumberField) -> ClassField {
    let axis = |axis: obj::NumberAxis| ClassAxis { length: axis.length.into(), indices: axis.indices, axis: axis.axis };
    let axes = field.axes.into_iter().map(axis).collect();
    let is_behind_reference = field.is_behind_reference;
    ClassField { dtype: field.dtype, axes, getter: field.getter.into(), setter: field.setter.into(), is_behind_reference }
}
