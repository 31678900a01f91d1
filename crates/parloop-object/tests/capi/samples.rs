//! Types that between them have every kind of part, and their C functions.

use parloop_device::DType;
use parloop_object::{ApiOptions, ArrayType, ClassApi, RefType, StructType, Type, UnionMethod, UnionType, class_api, in_dependency_order};

pub const F64: Type = Type::Scalar(DType::F64);
pub const I64: Type = Type::Scalar(DType::I64);
pub const I8: Type = Type::Scalar(DType::I8);
pub const BOOL: Type = Type::Scalar(DType::Bool);

pub fn structure(name: &str, fields: &[(&str, &Type)]) -> Type {
    StructType::with_fields(name, fields.iter().map(|(name, ty)| (name.to_string(), (*ty).clone())).collect()).unwrap()
}

/// An array in C order; a dimension of -1 is dynamic.
pub fn array(item: &Type, shape: &[i64]) -> Type {
    ArrayType::c_order(item.clone(), shape.iter().map(|&dim| usize::try_from(dim).ok()).collect()).unwrap()
}

pub fn ordered(name: &str, item: &Type, shape: &[i64], order: &[usize]) -> Type {
    ArrayType::named(name, item.clone(), shape.iter().map(|&dim| usize::try_from(dim).ok()).collect(), order.to_vec()).unwrap()
}

pub fn reference(target: &Type) -> Type {
    RefType::to(target.clone())
}

pub fn union(name: &str, members: &[&Type]) -> Type {
    UnionType::with_members(name, members.iter().map(|&member| member.clone()).collect()).unwrap()
}

/// All scalars in one struct, at 0, 8, 16, …; the last takes 16 bytes.
pub fn scalars() -> Type {
    let fields: Vec<(String, Type)> = DType::ALL.iter().map(|&dtype| (dtype.name().to_owned(), Type::Scalar(dtype))).collect();
    StructType::with_fields("Scalars", fields).unwrap()
}

pub fn particle() -> Type {
    structure("Particle", &[("x", &F64), ("px", &F64), ("id", &Type::Scalar(DType::I32)), ("alive", &BOOL)])
}

pub fn multipole() -> Type {
    let strengths = array(&F64, &[-1]);
    structure("Multipole", &[("order", &I64), ("knl", &strengths), ("ksl", &strengths)])
}

pub fn cells() -> Type {
    structure("Cells", &[("ids", &array(&I64, &[-1])), ("particles", &array(&array(&I64, &[-1]), &[-1]))])
}

/// Static, half static and dynamic dimensions; C order, Fortran order and one between them.
pub fn mesh() -> Type {
    structure(
        "Mesh",
        &[
            ("x", &array(&F64, &[-1, 3])),
            ("level", &ordered("Levels", &I8, &[2, 3], &[1, 0])),
            ("field", &ordered("Fields", &F64, &[-1, -1, -1], &[1, 2, 0])),
            ("on", &array(&BOOL, &[-1])),
        ],
    )
}

/// A dynamic struct in an array in a struct, twice over.
pub fn nested() -> Type {
    let inner = structure(
        "Inner",
        &[("id", &Type::Scalar(DType::I32)), ("data", &array(&Type::Scalar(DType::I16), &[-1])), ("name", &Type::String(None))],
    );
    structure(
        "Outer",
        &[("n", &I64), ("fixed", &array(&inner, &[2])), ("grid", &array(&inner, &[-1, 2])), ("tail", &Type::Scalar(DType::F32))],
    )
}

/// References to everything: a number, an array, a reference, and arrays of references.
pub fn refs() -> Type {
    let value = structure("Value", &[("a", &I64), ("b", &array(&F64, &[-1]))]);
    structure(
        "Refs",
        &[
            ("number", &reference(&F64)),
            ("value", &reference(&value)),
            ("twice", &reference(&reference(&value))),
            ("many", &array(&reference(&value), &[-1])),
            ("list", &reference(&array(&particle(), &[-1]))),
        ],
    )
}

pub fn drift() -> Type {
    structure("Drift", &[("length", &F64)])
}

pub fn element() -> Type {
    union("Element", &[&drift(), &multipole()])
}

pub fn line() -> Type {
    structure("Line", &[("first", &element()), ("elements", &array(&element(), &[-1])), ("shared", &reference(&element()))])
}

pub fn names() -> Type {
    structure("Names", &[("title", &Type::String(None)), ("code", &Type::String(Some(24))), ("all", &array(&Type::String(None), &[-1]))])
}

/// Every sample.
pub fn all() -> Vec<Type> {
    vec![scalars(), particle(), multipole(), cells(), mesh(), nested(), refs(), line(), names()]
}

/// The methods of `Element`.
pub fn element_methods() -> Vec<UnionMethod> {
    let by = ("by".to_owned(), "double".to_owned());
    vec![
        UnionMethod { name: "scaled".into(), params: vec![by.clone()], returns: Some("double".into()) },
        UnionMethod { name: "scale".into(), params: vec![by], returns: None },
    ]
}

/// What the members of `Element` do.
pub const ELEMENT_MEMBERS: [(&str, &str); 2] = [
    (
        "Drift",
        "GPUFUN double Drift_scaled(const Drift obj, double by) { return by * Drift_get_length(obj); }\n\
         GPUFUN void Drift_scale(Drift obj, double by) { Drift_set_length(obj, Drift_scaled(obj, by)); }\n",
    ),
    (
        "Multipole",
        "GPUFUN double Multipole_scaled(const Multipole obj, double by) { return by * Multipole_get_knl(obj, 1); }\n\
         GPUFUN void Multipole_scale(Multipole obj, double by) { Multipole_set_knl(obj, 1, Multipole_scaled(obj, by)); }\n",
    ),
];

/// The APIs of these classes and of all that they are made of, ids of sites running on.
pub fn apis(classes: &[Type], checked: bool) -> Vec<ClassApi> {
    let mut sites = 0;
    let api = |class: Type| {
        let methods = if class.name() == "Element" { element_methods() } else { vec![] };
        let api = class_api(&class, &methods, &ApiOptions { checked }, sites);
        sites += api.sites.len();
        api
    };
    in_dependency_order(classes).unwrap().into_iter().map(api).collect()
}

/// Their text, with what the members of a union need.
pub fn source(apis: &[ClassApi]) -> String {
    let members =
        |api: &ClassApi| ELEMENT_MEMBERS.iter().filter(|(class, _)| *class == api.class.name()).map(|(_, text)| *text).collect::<String>();
    apis.iter().map(|api| format!("{}{}\n", api.source, members(api))).collect()
}
