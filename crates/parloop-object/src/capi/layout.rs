//! Classes among themselves: the order in which C needs them, and the comment that shows where the parts of one are.

use std::collections::HashMap;

use crate::error::TypeError;
use crate::types::{ArrayType, FieldPlace, SLOT, StructType, Type};

/// The classes and all that they are made of, each once, those inside others first. Scalars and strings are not classes, and
/// references are only where they are asked for: their functions are those of what they refer to.
///
/// ```
/// use parloop_device::DType;
/// use parloop_object::{ArrayType, StructType, Type, in_dependency_order};
/// let x = ArrayType::c_order(Type::Scalar(DType::F64), vec![None])?;
/// let particles = StructType::with_fields("Particles", vec![("x".into(), x.clone())])?;
/// assert_eq!(in_dependency_order(&[particles.clone()])?, [x, particles]);
/// # Ok::<(), parloop_object::TypeError>(())
/// ```
///
/// # Errors
/// [`TypeError::SameName`].
pub fn in_dependency_order(classes: &[Type]) -> Result<Vec<Type>, TypeError> {
    let mut seen = HashMap::new();
    let mut ordered = Vec::new();
    for class in classes {
        visit(class, true, &mut seen, &mut ordered)?;
    }
    Ok(ordered)
}

fn visit(ty: &Type, asked: bool, seen: &mut HashMap<String, Type>, ordered: &mut Vec<Type>) -> Result<(), TypeError> {
    if !seen.contains_key(ty.name()) {
        for inner in ty.inner() {
            visit(&inner, false, seen, ordered)?;
        }
    }
    let known = seen.entry(ty.name().to_owned()).or_insert_with(|| ty.clone());
    if known != ty {
        return Err(TypeError::SameName { name: ty.name().into(), first: in_words(known), second: in_words(ty) });
    }
    let is_class = matches!(ty, Type::Struct(_) | Type::Array(_) | Type::Union(_)) || asked && matches!(ty, Type::Ref(_));
    if is_class && !ordered.contains(ty) {
        ordered.push(ty.clone());
    }
    Ok(())
}

/// What a type is made of, by the names of its parts.
fn in_words(ty: &Type) -> String {
    let names = |types: &[Type]| types.iter().map(Type::name).collect::<Vec<_>>().join(", ");
    match ty {
        Type::Scalar(_) => "a number".into(),
        Type::String(_) => "a string".into(),
        Type::Struct(ty) => {
            let fields: Vec<String> = ty.fields.iter().map(|field| format!("{}: {}", field.name, field.ty.name())).collect();
            format!("a struct of {}", if fields.is_empty() { "nothing".into() } else { fields.join(", ") })
        }
        Type::Array(ty) => format!("an array of {}", array_words(ty)),
        Type::Ref(ty) => format!("a reference to {}", ty.target.name()),
        Type::Union(ty) => format!("a union reference to {}", if ty.members.is_empty() { "nothing".into() } else { names(&ty.members) }),
    }
}

fn array_words(ty: &ArrayType) -> String {
    let dims: Vec<String> = ty.shape.iter().map(|dim| dim.map_or(":".into(), |dim| dim.to_string())).collect();
    let order = if ty.order.len() > 1 { format!(", axes from slow to fast {}", numbers(&ty.order)) } else { String::new() };
    format!("{}[{}]{order}", ty.item.name(), dims.join(", "))
}

fn numbers(numbers: &[usize]) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

/// The comment above a class.
pub(super) fn comment(class: &Type) -> String {
    let rows = match class {
        Type::Struct(ty) => struct_rows(ty),
        Type::Array(ty) => array_rows(ty),
        Type::Ref(ty) => vec![("0".into(), format!("(distance from here to the {})", ty.target.name()))],
        Type::Union(ty) => {
            let ids: Vec<String> = ty.members.iter().enumerate().map(|(id, member)| format!("{id} {}", member.name())).collect();
            let which = format!("(which: {})", ids.into_iter().chain(["-1 none".into()]).collect::<Vec<_>>().join(", "));
            vec![("0".into(), "(distance from here to the object)".into()), ("8".into(), which)]
        }
        Type::Scalar(_) | Type::String(_) => vec![],
    };
    let what = match class {
        Type::Struct(_) => "struct",
        Type::Array(_) => "array",
        Type::Ref(_) => "reference",
        _ => "union reference",
    };
    let size = class.size().map_or("each instance has its own size".into(), |size| format!("{size} bytes"));
    let detail = if let Type::Array(ty) = class { format!(", {}", array_words(ty)) } else { String::new() };
    let rows: String = rows.into_iter().map(|(offset, part)| format!(" * {offset:>6}  {part}\n")).collect();
    format!("/* {what} {}{detail}: {size}\n{rows} */\n", class.name())
}

/// Offset and part; `[8]` is the offset that stands in the word at 8.
fn struct_rows(ty: &StructType) -> Vec<(String, String)> {
    let width = ty.fields.iter().map(|field| field.name.len()).max().unwrap_or(0);
    let mut rows: Vec<(usize, String, String)> = Vec::new();
    if ty.size.is_none() {
        rows.push((0, "0".into(), "(size)".into()));
    }
    let mut last = ty.head;
    for field in &ty.fields {
        let part = format!("{:width$}  {}", field.name, field.ty.name());
        match field.place {
            FieldPlace::At(offset) => rows.push((offset, offset.to_string(), part)),
            FieldPlace::Indirect(offset) => {
                last += 1;
                rows.push((offset, offset.to_string(), format!("(where {} begins)", field.name)));
                rows.push((last, format!("[{offset}]"), part));
            }
        }
    }
    rows.sort_by_key(|(order, _, _)| *order);
    rows.into_iter().map(|(_, offset, part)| (offset, part)).collect()
}

fn array_rows(ty: &ArrayType) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    let dynamic: Vec<usize> = (0..ty.shape.len()).filter(|&axis| ty.shape[axis].is_none()).collect();
    if ty.size.is_none() {
        rows.push(("0".into(), "(size)".into()));
    }
    if !dynamic.is_empty() {
        let axes = if ty.shape.len() > 1 { format!(" along axis {}", numbers(&dynamic)) } else { String::new() };
        rows.push((SLOT.to_string(), format!("(number of items{axes})")));
    }
    if ty.stores_strides() {
        rows.push(((SLOT * (1 + dynamic.len())).to_string(), "(bytes between items along each axis)".into()));
    }
    let part = if ty.item.is_dynamic() { "(where each item begins)" } else { "items" };
    rows.push((ty.data_offset.to_string(), part.into()));
    rows
}
