//! The paths from a class: through its fields, the items of its arrays and the targets of its references.

use std::collections::HashMap;
use std::sync::Arc;

use crate::types::{ArrayType, FieldPlace, StructType, Type};

/// A class has functions for at most this many paths; types that share parts have more than can be written down.
pub(super) const MAX_PATHS: usize = 10_000;

/// One step of a path.
#[derive(Clone, Debug)]
pub(super) enum PathSegment {
    /// To a field of a struct.
    Field(Arc<StructType>, usize),
    /// To an item of an array, by one index for each axis.
    Item(Arc<ArrayType>),
    /// To what a reference refers to.
    Follow,
}

/// A path from an object of a class to a part of it.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub(super) steps: Vec<PathSegment>,
    /// The names of the fields on it.
    pub(super) fields: Vec<String>,
    /// The number of indices on it.
    pub(super) indices: usize,
    /// The type of what it leads to, which is not a reference.
    pub(super) end: Type,
}

/// The paths of a class, each before its continuations.
#[derive(Debug)]
pub(super) struct Paths {
    pub(super) paths: Vec<Path>,
    /// Places whose functions would have the names of those for another, and that other: the shorter path has them.
    pub(super) hidden: Vec<(String, String)>,
    /// The number of steps after which paths are left out, if any are.
    pub(super) longest: Option<usize>,
}

impl Path {
    /// The place it leads to, as one would write it in Python: `Cells.particles[i0]`.
    pub(super) fn place(&self, class: &Type) -> String {
        let mut place = class.name().to_owned();
        let mut index = 0;
        for step in &self.steps {
            extend_place(&mut place, step, &mut index);
        }
        place
    }

    fn then(&self, step: PathSegment, end: Type) -> Path {
        let mut longer = Path { end, ..self.clone() };
        match &step {
            PathSegment::Field(ty, index) => longer.fields.push(ty.fields[*index].name.clone()),
            PathSegment::Item(array) => longer.indices += array.shape.len(),
            PathSegment::Follow => {}
        }
        longer.steps.push(step);
        longer
    }

    /// The path on through references, to what they refer to.
    fn followed(mut self) -> Path {
        while let Type::Ref(reference) = self.end.clone() {
            self = self.then(PathSegment::Follow, reference.target.clone());
        }
        self
    }

    fn continuations(&self) -> Vec<Path> {
        let longer = match &self.end {
            Type::Struct(ty) => ty
                .fields
                .iter()
                .enumerate()
                .map(|(index, field)| self.then(PathSegment::Field(ty.clone(), index), field.ty.clone()))
                .collect(),
            Type::Array(ty) => vec![self.then(PathSegment::Item(ty.clone()), ty.item.clone())],
            Type::Scalar(_) | Type::String(_) | Type::Ref(_) | Type::Union(_) => vec![],
        };
        longer.into_iter().map(Path::followed).collect()
    }

    /// Steps to fields and items: what counts for the length of a path.
    fn length(&self) -> usize {
        self.steps.iter().filter(|step| !matches!(step, PathSegment::Follow)).count()
    }
}

/// Adds a step to the text of a place; `index` is the number of the next index.
pub(super) fn extend_place(place: &mut String, step: &PathSegment, index: &mut usize) {
    match step {
        PathSegment::Field(ty, field) => place.push_str(&format!(".{}", ty.fields[*field].name)),
        PathSegment::Item(array) => {
            let names: Vec<String> = (*index..*index + array.shape.len()).map(|index| format!("i{index}")).collect();
            place.push_str(&format!("[{}]", names.join(", ")));
            *index += array.shape.len();
        }
        PathSegment::Follow => {}
    }
}

/// All paths from `class` that have functions.
pub(super) fn paths(class: &Type) -> Paths {
    let longest = longest_path(class);
    let mut all = Vec::new();
    let start = Path { steps: vec![], fields: vec![], indices: 0, end: class.clone() }.followed();
    let mut open = vec![start];
    while let Some(path) = open.pop() {
        if longest.is_none_or(|longest| path.length() < longest) {
            open.extend(path.continuations().into_iter().rev());
        }
        all.push(path);
    }
    let mut named: HashMap<String, Vec<String>> = HashMap::new();
    for path in &all {
        let owner = named.entry(path.fields.join("_")).or_insert_with(|| path.fields.clone());
        if path.fields.len() < owner.len() {
            owner.clone_from(&path.fields);
        }
    }
    let owner = |path: &Path| &named[&path.fields.join("_")];
    let (paths, others): (Vec<Path>, Vec<Path>) = all.into_iter().partition(|path| *owner(path) == path.fields);
    let dotted = |fields: &[String]| format!("{}.{}", class.name(), fields.join("."));
    let hidden = others.iter().map(|path| (path.place(class), dotted(owner(path)))).collect();
    Paths { paths, hidden, longest }
}

/// The length beyond which a class has too many paths. Its own fields or items are never too many.
fn longest_path(class: &Type) -> Option<usize> {
    let mut level = vec![followed(class.clone())];
    let mut total = 1;
    for length in 0.. {
        // Counted before they are listed: even one level more may be too many to hold.
        let next: usize = level.iter().map(parts).sum();
        total += next;
        if total > MAX_PATHS {
            return Some(length.max(1));
        }
        if next == 0 {
            break;
        }
        level = level.iter().flat_map(Type::inner).map(followed).filter(|ty| parts(ty) > 0).collect();
    }
    None
}

/// How many paths go on from `ty`.
fn parts(ty: &Type) -> usize {
    match ty {
        Type::Struct(ty) => ty.fields.len(),
        Type::Array(_) => 1,
        Type::Scalar(_) | Type::String(_) | Type::Ref(_) | Type::Union(_) => 0,
    }
}

/// The type that references of type `ty` lead to in the end.
fn followed(mut ty: Type) -> Type {
    while let Type::Ref(reference) = &ty {
        ty = reference.target.clone();
    }
    ty
}

/// Where a field is.
pub(super) fn place_of(ty: &StructType, field: usize) -> FieldPlace {
    ty.fields[field].place
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::RefType;
    use parloop_device::DType;

    fn structure(name: &str, fields: &[(&str, Type)]) -> Type {
        StructType::with_fields(name, fields.iter().map(|(name, ty)| (name.to_string(), ty.clone())).collect()).unwrap()
    }

    fn number() -> Type {
        Type::Scalar(DType::F64)
    }

    fn places(class: &Type) -> Vec<String> {
        paths(class).paths.iter().map(|path| path.place(class)).collect()
    }

    #[test]
    fn paths_go_through_fields_items_and_references() {
        let matrix = ArrayType::c_order(RefType::to(number()), vec![None, Some(3)]).unwrap();
        let rows = ArrayType::c_order(matrix, vec![None]).unwrap();
        let class = structure("T", &[("rows", RefType::to(RefType::to(rows))), ("x", number())]);
        assert_eq!(places(&class), ["T", "T.rows", "T.rows[i0]", "T.rows[i0][i1, i2]", "T.x"]);
        let item = &paths(&class).paths[3];
        assert_eq!((item.indices, item.fields.join(".")), (3, "rows".into()));
    }

    #[test]
    fn of_two_paths_with_one_name_the_shorter_has_it() {
        let inner = structure("Inner", &[("x", number()), ("y", number())]);
        let class = structure("T", &[("a", inner), ("a_x", number())]);
        assert_eq!(places(&class), ["T", "T.a", "T.a.y", "T.a_x"]);
        assert_eq!(paths(&class).hidden, [("T.a.x".to_owned(), "T.a_x".to_owned())]);
    }

    #[test]
    fn a_type_with_more_paths_than_can_be_written_keeps_the_short_ones() {
        let mut class = number();
        for depth in 0..40 {
            class = structure(&format!("S{depth}"), &[("a", class.clone()), ("b", class)]);
        }
        let found = paths(&class);
        assert_eq!(found.longest, Some(12));
        assert_eq!(found.paths.len(), (1 << 13) - 1);
        let wide: Vec<(String, Type)> = (0..MAX_PATHS + 5).map(|i| (format!("f{i}"), number())).collect();
        let found = paths(&StructType::with_fields("Wide", wide).unwrap());
        assert_eq!((found.longest, found.paths.len()), (Some(1), MAX_PATHS + 6));
    }
}
