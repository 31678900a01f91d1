//! The C functions of object types, as text: what kernels include to read and write objects in place. Data in, text out.
//!
//! A class is an opaque pointer with one group of functions for each *path* from it: fields, then the items of arrays, with references
//! followed on the way; union references end a path. Names join the fields: `Cells_get_particles(cells, i0, i1)` is
//! `cells.particles[i0][i1]`. What the functions say does not depend on the target: C11, OpenCL C 1.2, CUDA and HIP take the same text.
//!
//! Truth values are one byte in memory and `bool` in C. Complex numbers have no type that all targets know: `getp` gives the address of
//! the real part, after which the imaginary one stands, and there is no `get` and no `set`.
//!
//! `path.rs` lists the paths, `walk.rs` writes the way along one, `layout.rs` the comments and the order of classes, `numbers.rs` which
//! of the functions read and write numbers; here are the functions at the end of each.

mod layout;
mod numbers;
mod path;
mod walk;

use std::fmt;

use parloop_device::DType;

use crate::types::{ArrayType, SLOT, Type, UnionType};

pub use layout::in_dependency_order;
pub use numbers::{NumberAxis, NumberField, number_fields};
use path::{MAX_PATHS, Path, Paths};
use walk::{Fail, Sites, Walk, dimension, stride};

/// How the functions are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApiOptions {
    /// Whether every index and every reference is checked before it is used, through `PARLOOP_CHECK(ok, site, index, limit)`, which is true
    /// on success. The limit is the number of items, or -1 where the object or a reference is null.
    ///
    /// After a failure functions return 0 (`typeid`: -1) and write nothing, except zeros for a shape. An address is that of the item
    /// with index 0 instead, or null where there is none. Functions that need neither index nor reference check nothing.
    pub checked: bool,
}

/// A method that all members of a union reference have, each as `<Member>_<name>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnionMethod {
    /// Its name, without that of the class.
    pub name: String,
    /// Names and C types of the parameters after the object.
    pub params: Vec<(String, String)>,
    /// The C type of what it returns.
    pub returns: Option<String>,
}

/// The C functions of one class.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassApi {
    /// The class.
    pub class: Type,
    /// The text. It needs that of the classes which the class is made of before it, and may come twice.
    pub source: String,
    /// What the text defines.
    pub functions: Vec<ApiFunction>,
    /// What is checked at each site, in checked mode; the first has the id `first_site`.
    pub sites: Vec<String>,
}

/// What a C function takes and returns.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiFunction {
    /// Its name.
    pub name: String,
    /// Its parameters; the object comes first.
    pub params: Vec<ApiParam>,
    /// What it returns; `None` is `void`.
    pub returns: Option<ApiType>,
    /// What it does, in a line.
    pub about: String,
}

/// A parameter of a C function.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiParam {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: ApiType,
    /// Whether the function only reads through it.
    pub constant: bool,
}

/// The type of a parameter, or of what a function returns.
#[derive(Clone, Debug, PartialEq)]
pub enum ApiType {
    /// An object, by the opaque pointer of its class.
    Object(Type),
    /// A number.
    Scalar(DType),
    /// The address of numbers in the memory of the device.
    Pointer(DType),
    /// The address of a string or of its text.
    Text,
    /// The address of anything.
    Address,
    /// A type that only the user's source knows, by its C name.
    Other(String),
}

impl fmt::Display for ApiType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ApiType::Object(ty) => f.write_str(ty.name()),
            ApiType::Scalar(dtype) => f.write_str(dtype.c_name()),
            ApiType::Pointer(dtype) => write!(f, "GPUGLMEM {} *", dtype.c_name()),
            ApiType::Text => f.write_str("GPUGLMEM char *"),
            ApiType::Address => f.write_str("GPUGLMEM void *"),
            ApiType::Other(name) => f.write_str(name),
        }
    }
}

/// The declaration in C.
impl fmt::Display for ApiFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let declared = |ty: &dyn fmt::Display, name: &str| {
            let ty = ty.to_string();
            if ty.ends_with('*') { format!("{ty}{name}") } else { format!("{ty} {name}") }
        };
        let param = |param: &ApiParam| format!("{}{}", if param.constant { "const " } else { "" }, declared(&param.ty, &param.name));
        let params: Vec<String> = self.params.iter().map(param).collect();
        let name = match &self.returns {
            Some(ty) => declared(ty, &self.name),
            None => format!("void {}", self.name),
        };
        write!(f, "{name}({})", params.join(", "))
    }
}

/// Writes the C functions of `class`; sites of checks are numbered from `first_site`. `union_methods` are those of a union reference.
///
/// A type without an API of its own, a scalar or a string, has an empty one.
///
/// ```
/// use parloop_device::DType;
/// use parloop_object::{ApiOptions, StructType, Type, class_api};
/// let point = StructType::with_fields("Point", vec![("x".into(), Type::Scalar(DType::F64)), ("n".into(), Type::Scalar(DType::I32))])?;
/// let api = class_api(&point, &[], &ApiOptions::default(), 0);
/// assert!(api.source.contains("GPUFUN int32_t Point_get_n(const Point obj) { return *(GPUGLMEM int32_t *)((GPUGLMEM char *)obj + 8); }"));
/// # Ok::<(), parloop_object::TypeError>(())
/// ```
pub fn class_api(class: &Type, union_methods: &[UnionMethod], options: &ApiOptions, first_site: usize) -> ClassApi {
    let mut writer =
        Writer { class, checked: options.checked, sites: Sites::starting_at(first_site), functions: Vec::new(), text: String::new() };
    if !matches!(class, Type::Scalar(_) | Type::String(_)) {
        writer.class(union_methods);
    }
    ClassApi { class: class.clone(), source: writer.text, functions: writer.functions, sites: writer.sites.into_texts() }
}

struct Writer<'a> {
    class: &'a Type,
    checked: bool,
    sites: Sites,
    functions: Vec<ApiFunction>,
    text: String,
}

/// What sets one function of a path apart from the others.
struct Op {
    name: &'static str,
    /// Whether the name tells the number of indices, so that an array and its items differ.
    numbered: bool,
    /// Whether the object is only read.
    constant: bool,
    extra: Vec<ApiParam>,
    returns: Option<ApiType>,
    /// What it does; `{}` stands for the end of the path.
    about: String,
    fail: Fail,
}

impl Op {
    /// A function that reads something and returns it.
    fn reading(name: &'static str, returns: ApiType, about: &str) -> Op {
        Op {
            name,
            numbered: true,
            constant: true,
            extra: vec![],
            returns: Some(returns),
            about: about.into(),
            fail: Fail::with("return 0;"),
        }
    }

    /// A function that returns an address in the object.
    fn pointing(name: &'static str, returns: ApiType, about: &str) -> Op {
        let fail = Fail { statement: "return 0;".into(), clamps: true };
        Op { constant: false, fail, ..Op::reading(name, returns, about) }
    }
}

impl Writer<'_> {
    fn class(&mut self, union_methods: &[UnionMethod]) {
        let name = self.class.name();
        self.text.push_str(&layout::comment(self.class));
        self.text.push_str(&format!("#ifndef PARLOOP_TYPEDEF_{name}\n#define PARLOOP_TYPEDEF_{name}\n"));
        self.text.push_str(&format!("typedef GPUGLMEM struct {name}_s *{name};\n"));
        let Paths { paths, hidden, longest } = path::paths(self.class);
        for path in &paths {
            self.path(path);
        }
        for (place, taken) in hidden {
            let why = format!("since their names are those of {taken}: reach it in two steps");
            self.text.push_str(&format!("/* {place} has no functions here, {why}. */\n"));
        }
        if let Some(longest) = longest {
            let why = format!("of more than {longest} steps have no functions here, since there are over {MAX_PATHS}: reach them in two");
            self.text.push_str(&format!("/* Paths {why}. */\n"));
        }
        if let Type::Union(union) = self.class {
            for method in union_methods {
                self.union_method(union, method);
            }
        }
        self.text.push_str("#endif\n");
    }

    /// The functions for what is at the end of `path`.
    fn path(&mut self, path: &Path) {
        if !path.steps.is_empty() {
            self.text.push_str(&format!("\n/* {}: {} */\n", path.place(self.class), path.end.name()));
        }
        match &path.end {
            Type::Scalar(dtype) => self.scalar(path, *dtype),
            Type::String(_) => self.string(path),
            Type::Array(array) => self.array(path, array),
            Type::Union(union) => self.union(path, union),
            Type::Struct(_) | Type::Ref(_) => self.address(path),
        }
        self.size(path);
    }

    fn scalar(&mut self, path: &Path, dtype: DType) {
        if !dtype.is_complex() {
            let c_type = stored(dtype).c_name();
            let get = Op { numbered: false, ..Op::reading("get", ApiType::Scalar(dtype), "The value of {}.") };
            let as_truth = if dtype == DType::Bool { " != 0" } else { "" };
            self.function(path, get, |walk| vec![format!("return {}{as_truth};", walk.deref(c_type, 0))]);
            let value = ApiParam { name: "value".into(), ty: ApiType::Scalar(dtype), constant: false };
            let set = Op {
                numbered: false,
                constant: false,
                extra: vec![value],
                returns: None,
                fail: Fail::with("return;"),
                ..Op::reading("set", ApiType::Scalar(dtype), "Sets {}.")
            };
            self.function(path, set, |walk| vec![format!("{} = value;", walk.deref(c_type, 0))]);
        }
        self.address(path);
    }

    fn string(&mut self, path: &Path) {
        self.address(path);
        let text = Op::pointing("str", ApiType::Text, "The address of the text of {}.");
        self.function(path, text, |walk| vec![format!("return {};", walk.address("GPUGLMEM char *", SLOT))]);
    }

    fn address(&mut self, path: &Path) {
        let ty = address_type(&path.end);
        let c_type = ty.to_string();
        let getp = Op::pointing("getp", ty, "The address of {}.");
        if path.steps.is_empty() {
            return self.constant(path, getp, "obj");
        }
        self.function(path, getp, |walk| vec![format!("return {};", walk.address(&c_type, 0))]);
    }

    fn size(&mut self, path: &Path) {
        let size = Op::reading("size", ApiType::Scalar(DType::I64), "The bytes of {}.");
        match path.end.size() {
            Some(bytes) => self.constant(path, size, &bytes.to_string()),
            None => self.function(path, size, |walk| vec![format!("return {};", walk.word(0))]),
        }
    }

    fn array(&mut self, path: &Path, array: &ArrayType) {
        self.address(path);
        let axes = array.shape.len();
        let number = |name, about| Op::reading(name, ApiType::Scalar(DType::I64), about);
        let len = number("len", "The number of items of {}.");
        match array.static_shape() {
            Some(shape) => {
                // Items of no bytes may be more than can be counted.
                let items = shape.iter().fold(1, |items: usize, &dim| items.saturating_mul(dim)).min(i64::MAX as usize);
                self.constant(path, len, &items.to_string());
            }
            None => self.function(path, len, |walk| {
                let dims: Vec<String> = (0..axes).map(|axis| dimension(array, axis, walk)).collect();
                vec![format!("return {};", dims.join(" * "))]
            }),
        }
        self.constant(path, Op::reading("nd", ApiType::Scalar(DType::U32), "The number of axes of {}."), &axes.to_string());
        self.constant(path, number("ndim", "The number of axes of {}."), &axes.to_string());
        self.axis(path, array);
        self.axes(path, "shape", "Writes to out_shape the number of items along each axis of {}.", axes, |axis, walk| {
            dimension(array, axis, walk)
        });
        let about = "Writes to out_strides the bytes between items along each axis of {}.";
        self.axes(path, "strides", about, axes, |axis, walk| stride(array, axis, walk));
    }

    /// `dim`: one dimension, by the axis.
    fn axis(&mut self, path: &Path, array: &ArrayType) {
        let axes = array.shape.len();
        let axis = ApiParam { name: "axis".into(), ty: ApiType::Scalar(DType::I64), constant: false };
        let dim = Op { extra: vec![axis], ..Op::reading("dim", ApiType::Scalar(DType::I64), "The number of items along an axis of {}.") };
        let site = self.checked.then(|| self.sites.id(format!("axes of {}", path.place(self.class))));
        self.function(path, dim, |walk| {
            let check = site.map(|id| format!("if (!PARLOOP_CHECK(0 <= axis && axis < {axes}, {id}, axis, {axes})) return 0;"));
            let known: Vec<String> = match axes {
                1 => vec![format!("return axis == 0 ? {} : 0;", dimension(array, 0, walk))],
                _ => (0..axes).map(|axis| format!("if (axis == {axis}) return {};", dimension(array, axis, walk))).collect(),
            };
            check.into_iter().chain(known).chain((axes > 1).then(|| "return 0;".into())).collect()
        });
    }

    /// `shape` and `strides`: a number for each axis, written out.
    fn axes(&mut self, path: &Path, name: &'static str, about: &str, axes: usize, number: impl Fn(usize, &Walk) -> String) {
        let out = format!("out_{name}");
        let param = ApiParam { name: out.clone(), ty: ApiType::Pointer(DType::I64), constant: false };
        let zeros: String = (0..axes).map(|axis| format!("{out}[{axis}] = 0; ")).collect();
        let fail = Fail::with(format!("{{ {zeros}return; }}"));
        let op = Op { extra: vec![param], returns: None, fail, ..Op::reading(name, ApiType::Address, about) };
        self.function(path, op, |walk| (0..axes).map(|axis| format!("{out}[{axis}] = {};", number(axis, walk))).collect());
    }

    fn union(&mut self, path: &Path, union: &UnionType) {
        if path.steps.is_empty() && !union.members.is_empty() {
            let ids: Vec<String> = union.members.iter().map(|member| format!("{}_{}_t", union.name, member.name())).collect();
            self.text.push_str(&format!("enum {}_e {{ {} }};\n", union.name, ids.join(", ")));
        }
        self.address(path);
        let about = "Which member {} refers to; -1 for none.";
        let typeid = Op { numbered: false, fail: Fail::with("return -1;"), ..Op::reading("typeid", ApiType::Scalar(DType::I64), about) };
        self.function(path, typeid, |walk| vec![format!("return {};", walk.word(SLOT))]);
        let member = Op { numbered: false, ..Op::reading("member", ApiType::Address, "The address of what {} refers to; null for none.") };
        self.function(path, member, |walk| vec![format!("return {} < 0 ? 0 : {} + {};", walk.word(SLOT), walk.here(0), walk.word(0))]);
    }

    /// Calls the method of the member at hand.
    fn union_method(&mut self, union: &UnionType, method: &UnionMethod) {
        let name = &union.name;
        let other = |(name, ty): &(String, String)| ApiParam { name: name.clone(), ty: ApiType::Other(ty.clone()), constant: false };
        let object = ApiParam { name: "obj".into(), ty: ApiType::Object(self.class.clone()), constant: true };
        let returns = method.returns.clone().filter(|ty| ty.trim() != "void").map(ApiType::Other);
        let (give, leave) = if returns.is_some() { ("return ", "return 0;") } else { ("", "return;") };
        let function = ApiFunction {
            name: format!("{name}_{}", method.name),
            params: [object].into_iter().chain(method.params.iter().map(other)).collect(),
            returns,
            about: format!("Calls {} of the member that {name} refers to.", method.name),
        };
        self.text.push_str(&format!("\nGPUFUN {function} {{\n"));
        if self.checked {
            let (id, known) = (self.sites.id(name.clone()), union.members.len());
            let is_known = format!("PARLOOP_CHECK({name}_typeid(obj) < {known}, {id}, {name}_typeid(obj), {known})");
            self.text.push_str(&format!("    if (!PARLOOP_CHECK({name}_typeid(obj) >= 0, {id}, 0, -1) || !{is_known}) {leave}\n"));
        }
        self.text.push_str(&format!("    switch ({name}_typeid(obj)) {{\n"));
        for member in &union.members {
            let (skip, class) = (format!("{name}_SKIP_{}", member.name()).to_uppercase(), member.name());
            let c_type = address_type(member);
            let args: String = method.params.iter().map(|(param, _)| format!(", {param}")).collect();
            let end = if function.returns.is_some() { "" } else { " return;" };
            let call = format!("{give}{class}_{}(({c_type}){name}_member(obj){args});{end}", method.name);
            self.text.push_str(&format!("#ifndef {skip}\n    case {name}_{class}_t: {call}\n#endif\n"));
        }
        self.text.push_str(&format!("    default: {leave}\n    }}\n}}\n"));
        self.functions.push(function);
    }

    /// A function whose result needs no walk.
    fn constant(&mut self, path: &Path, op: Op, value: &str) {
        let function = self.declare(path, &op);
        self.text.push_str(&format!("GPUFUN {function} {{ return {value}; }}\n"));
        self.functions.push(function);
    }

    /// A function that walks to the end of `path` and then does what `end` says.
    fn function(&mut self, path: &Path, op: Op, end: impl FnOnce(&Walk) -> Vec<String>) {
        let function = self.declare(path, &op);
        let mut walk = Walk::new(self.checked.then_some(&mut self.sites), &op.fail);
        walk.along(self.class, path);
        let lines = end(&walk);
        self.text.push_str(&walk.finish(&format!("GPUFUN {function}"), lines));
        self.functions.push(function);
    }

    fn declare(&self, path: &Path, op: &Op) -> ApiFunction {
        let object = ApiParam { name: "obj".into(), ty: ApiType::Object(self.class.clone()), constant: op.constant };
        let index = |index: usize| ApiParam { name: format!("i{index}"), ty: ApiType::Scalar(DType::I64), constant: false };
        ApiFunction {
            name: function_name(self.class, op.name, if op.numbered { path.indices } else { 0 }, &path.fields),
            params: [object].into_iter().chain((0..path.indices).map(index)).chain(op.extra.iter().cloned()).collect(),
            returns: op.returns.clone(),
            about: op.about.replace("{}", &path.place(self.class)),
        }
    }
}

/// The name of a function for what is at the end of these fields; `indices` is their number where the name tells it.
fn function_name(class: &Type, op: &str, indices: usize, fields: &[String]) -> String {
    let number = if indices > 0 { indices.to_string() } else { String::new() };
    let fields: String = fields.iter().map(|field| format!("_{field}")).collect();
    format!("{}_{op}{number}{fields}", class.name())
}

/// The type by which a scalar's bytes are accessed: the size of C's `bool` is the target's business.
fn stored(dtype: DType) -> DType {
    match dtype {
        DType::Bool => DType::U8,
        DType::C64 => DType::F32,
        DType::C128 => DType::F64,
        other => other,
    }
}

/// The C type of the address of what is of type `ty`.
fn address_type(ty: &Type) -> ApiType {
    match ty {
        Type::Scalar(dtype) => ApiType::Pointer(stored(*dtype)),
        Type::String(_) => ApiType::Text,
        other => ApiType::Object(other.clone()),
    }
}
