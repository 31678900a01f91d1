//! The numbers of a class: which of its C functions read and write them, and which tell how many there are.

use std::collections::BTreeSet;

use parloop_device::DType;

use super::function_name;
use super::path::{Path, PathSegment, paths};
use crate::types::Type;

/// A number of a class, or numbers along axes, by the fields that lead there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberField {
    /// The fields, with dots between them: `x`, `inner.y`.
    pub path: String,
    /// The type of the numbers.
    pub dtype: DType,
    /// The axes, in the order of the indices; none for a single number.
    pub axes: Vec<NumberAxis>,
    /// The C function `get(object, i0, …)`.
    pub getter: String,
    /// The C function `set(object, i0, …, value)`.
    pub setter: String,
    /// Whether a reference leads there, which may be changed.
    pub is_behind_reference: bool,
}

/// One axis of a [`NumberField`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberAxis {
    /// The C function `dim(object, i0, …, axis)`: how many items there are along the axis.
    pub length: String,
    /// How many indices it takes: those of the arrays around.
    pub indices: usize,
    /// Which axis of the array at hand.
    pub axis: usize,
}

/// The numbers of a class that its C functions read and write: all but complex ones, and those that references inside of arrays lead to,
/// which may be null for some items.
///
/// ```
/// use parloop_object::{Object, number_fields};
///
/// #[derive(Object)]
/// struct Beam { charge: f64, x: Vec<f32> }
///
/// let fields = number_fields(&Beam::object_type());
/// assert_eq!((fields[0].path.as_str(), fields[0].axes.len()), ("charge", 0));
/// assert_eq!((fields[1].getter.as_str(), fields[1].axes[0].length.as_str()), ("Beam_get_x", "Beam_dim_x"));
/// ```
pub fn number_fields(class: &Type) -> Vec<NumberField> {
    let paths = paths(class).paths;
    let known: BTreeSet<(&[String], usize)> = paths.iter().map(|path| (&*path.fields, path.indices)).collect();
    let field = |path: &Path| {
        let dtype = path.end.scalar().filter(|dtype| !dtype.is_complex() && !path.fields.is_empty())?;
        let name = |op| function_name(class, op, 0, &path.fields);
        let axes = axes(class, path, &known)?;
        let is_behind_reference = path.steps.iter().any(|step| matches!(step, PathSegment::Follow));
        Some(NumberField { path: path.fields.join("."), dtype, axes, getter: name("get"), setter: name("set"), is_behind_reference })
    };
    paths.iter().filter_map(field).collect()
}

/// The axes on a path; `None` where an array on it has no functions, since their names are those of another, and behind a reference inside
/// of an array.
fn axes(class: &Type, path: &Path, known: &BTreeSet<(&[String], usize)>) -> Option<Vec<NumberAxis>> {
    let (mut fields, mut indices, mut axes) = (0, 0, Vec::new());
    for step in &path.steps {
        match step {
            PathSegment::Field(..) => fields += 1,
            PathSegment::Follow if axes.is_empty() => {}
            PathSegment::Follow => return None,
            PathSegment::Item(array) => {
                let before = &path.fields[..fields];
                if !known.contains(&(before, indices)) {
                    return None;
                }
                let length = function_name(class, "dim", indices, before);
                axes.extend((0..array.shape.len()).map(|axis| NumberAxis { length: length.clone(), indices, axis }));
                indices += array.shape.len();
            }
        }
    }
    Some(axes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{ArrayType, RefType, StructType};

    #[test]
    fn every_index_has_the_function_that_limits_it() {
        let number = || Type::Scalar(DType::F64);
        let matrix = ArrayType::c_order(number(), vec![None, Some(3)]).unwrap();
        let inner = StructType::with_fields("Inner", vec![("m".into(), matrix), ("z".into(), Type::Scalar(DType::C128))]).unwrap();
        let rows = ArrayType::c_order(inner, vec![None]).unwrap();
        let other = StructType::with_fields("Other", vec![("x".into(), number())]).unwrap();
        let references = ArrayType::c_order(RefType::to(other), vec![None]).unwrap();
        let fields = vec![("rows".into(), RefType::to(rows)), ("name".into(), Type::String(None)), ("others".into(), references)];
        let class = StructType::with_fields("T", fields).unwrap();
        let fields = number_fields(&class);
        let [only] = &fields[..] else { panic!("{fields:?}") };
        assert_eq!((only.path.as_str(), only.getter.as_str(), only.setter.as_str()), ("rows.m", "T_get_rows_m", "T_set_rows_m"));
        let axes: Vec<(&str, usize, usize)> = only.axes.iter().map(|axis| (axis.length.as_str(), axis.indices, axis.axis)).collect();
        assert_eq!(axes, [("T_dim_rows", 0, 0), ("T_dim1_rows_m", 1, 0), ("T_dim1_rows_m", 1, 1)]);
        let source = super::super::class_api(&class, &[], &Default::default(), 0).source;
        for function in [&only.getter, &only.setter, &only.axes[0].length, &only.axes[1].length] {
            assert!(source.contains(&format!(" {function}(")), "{function} in {source}");
        }
    }
}
