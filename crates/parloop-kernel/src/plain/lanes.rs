//! A function in plain C that does for several sets of arguments at once what another does for one: every `double` becomes a vector, with a
//! lane for each set. It is written anew where all sets go the same way through the code, that is, where control flow and indices depend
//! on integers and constants alone. Each lane does the same operations in the same order as the function itself.

mod expression;
mod names;
mod statement;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap, HashSet};

use parloop_device::{DType, DeviceKind, Language};
use tree_sitter::Node;

use super::PlainC;
use super::library::is_around;
use crate::ctype::INTEGERS;
use crate::grammar::tree;
use crate::parse::find;
use crate::signature::{ParamType, Pointee, Signature};
use names::changed_names;

/// Why a function has no such form.
type Refusal = &'static str;

/// How a parameter is passed for all lanes, and how many numbers it has for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneParam {
    /// Its numbers are those of all lanes: number `i` of lane `l` is at `i * lanes + l`.
    Each(usize),
    /// It is the same for all lanes.
    Same(usize),
}

/// What a name stands for: a number, or an array with axes of these lengths, as far as they are known.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Variable {
    holder: Holder,
    lengths: Vec<Option<u64>>,
}

/// Where the numbers of a variable are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    /// Outside the function: constants, or a parameter that is the same in all lanes. They stay as they are.
    Shared(Scalar),
    /// In an integer, or an array of them: the same in all lanes.
    Integer,
    /// In a `double`, or an array of them: one or vectors, as [`Writer::vectors`] says.
    Double,
    /// In a parameter with numbers of all lanes.
    Lanes { constant: bool },
}

/// The type of a number that is the same in all lanes. Of two, that of their sum is the larger one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Scalar {
    /// Of any width, with or without a sign.
    Integer,
    Float,
    Double,
}

/// The type of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The same in all lanes.
    Same(Scalar),
    /// A `double` for each lane.
    Vector,
    /// For each lane whether a condition holds.
    Truth,
}

impl Kind {
    /// Whether C computes with a `double`.
    fn is_double(self) -> bool {
        matches!(self, Kind::Vector | Kind::Same(Scalar::Double))
    }
}

/// An expression, as it is written.
struct Value {
    kind: Kind,
    text: String,
}

impl Value {
    fn same(scalar: Scalar, text: impl Into<String>) -> Value {
        Value { kind: Kind::Same(scalar), text: text.into() }
    }

    /// As a vector.
    fn vector(self) -> Result<String, Refusal> {
        match self.kind {
            Kind::Same(_) => Ok(format!("pl_all({})", self.text)),
            Kind::Vector => Ok(self.text),
            Kind::Truth => Err("it computes with the truth of a condition"),
        }
    }

    /// As a value that is the same in all lanes.
    fn uniform(self) -> Result<String, Refusal> {
        match self.kind {
            Kind::Same(_) => Ok(self.text),
            Kind::Vector | Kind::Truth => Err("control flow, an index or an integer depends on a floating-point number"),
        }
    }
}

/// The names of vectors, of masks and of functions of them. Widths are those of the machine, since compilers do badly with wider vectors.
/// Lanes are written one by one: gcc makes no vectors of loops that set the lanes of one.
const VECTORS: &str = "\
#ifndef PL_WIDTH
#if defined(__AVX512F__)
#define PL_WIDTH 8
#define PL_LANES(F, A, B) {F(A, B, 0), F(A, B, 1), F(A, B, 2), F(A, B, 3), F(A, B, 4), F(A, B, 5), F(A, B, 6), F(A, B, 7)}
#elif defined(__AVX__)
#define PL_WIDTH 4
#define PL_LANES(F, A, B) {F(A, B, 0), F(A, B, 1), F(A, B, 2), F(A, B, 3)}
#else
#define PL_WIDTH 2
#define PL_LANES(F, A, B) {F(A, B, 0), F(A, B, 1)}
#endif
#define PL_SAME(A, B, LANE) (A)
typedef double pl_vector __attribute__((vector_size(8 * PL_WIDTH)));
typedef double pl_place __attribute__((vector_size(8 * PL_WIDTH), aligned(8), may_alias));
typedef long long pl_truth __attribute__((vector_size(8 * PL_WIDTH)));
#define PL_VECTOR static inline __attribute__((always_inline)) pl_vector
PL_VECTOR pl_all(double x) { return (pl_vector)PL_LANES(PL_SAME, x, 0); }
PL_VECTOR pl_read(const double *x) { return (pl_vector)*(const pl_place *)x; }
PL_VECTOR pl_pick(pl_truth truth, pl_vector a, pl_vector b) { return (pl_vector)((truth & (pl_truth)a) | (~truth & (pl_truth)b)); }
static inline __attribute__((always_inline)) pl_truth pl_known(int is_true) { return (pl_truth)pl_all(0.0) - (is_true ? 1 : 0); }
PL_VECTOR pl_each_fabs(pl_vector a) { return (pl_vector)((pl_truth)a & 0x7fffffffffffffffLL); }
#endif
";

/// The most numbers that a vector has.
const WIDEST: usize = 8;

/// The most vectors in the arrays of a function: they are on the stack of a thread.
const MOST_VECTORS: u64 = 4096;

/// How often a function is read to find what depends on numbers of lanes. Few passes are enough for what people and form compilers write.
const MOST_PASSES: usize = 50;

/// What a function of vectors is called.
fn name_in_lanes(name: &str) -> String {
    format!("pl_lanes_{name}")
}

impl PlainC {
    /// A function for a CPU that does for `lanes` sets of arguments what the function of that name does for one: its text, which goes behind
    /// that of these functions, and its name. It takes the same parameters; `params` says which of them have numbers of all lanes. Those
    /// are pointers to `double`.
    ///
    /// ```
    /// use parloop_kernel::{LaneParam, Language, PlainC, Source};
    /// let functions = PlainC::read(&[Source::text("void twice(double *x) { x[0] *= 2; }")], &[], &[], Language::C)?;
    /// let (name, text) = functions.in_lanes("twice", 8, &[LaneParam::Each(1)]).unwrap();
    /// assert_eq!(name, "pl_lanes_twice");
    /// assert!(text.contains("pl_all(2)"));
    /// # Ok::<(), parloop_kernel::KernelError>(())
    /// ```
    ///
    /// # Errors
    /// Why there is none: the function uses what is not known to mean the same for vectors.
    pub fn in_lanes(&self, name: &str, lanes: usize, params: &[LaneParam]) -> Result<(String, String), Refusal> {
        let signature = self.signatures.iter().find(|signature| signature.name == name).ok_or("there is no such function")?;
        if signature.returns.is_some() || signature.params.len() != params.len() {
            return Err("it returns something, or takes other parameters");
        }
        if lanes == 0 || !lanes.is_multiple_of(WIDEST) {
            return Err("lanes do not fill vectors");
        }
        let (text, own) = (self.text(DeviceKind::Cpu), self.name_in_text(name));
        let tree = tree(text.as_bytes(), Language::C);
        check_directives(tree.root_node(), text)?;
        let (function, mut scope) = top_level(tree.root_node(), text, &own)?;
        scope.push(variables(signature, params)?);
        let body = function.child_by_field_name("body").ok_or("it has no body")?;
        if function.has_error() {
            return Err("its text cannot be parsed");
        }
        let changed = changed_names(body, text);
        let (vectors, calls) = (HashSet::new(), BTreeSet::new());
        let mut writer = Writer { text, lanes, scope, changed, vectors, calls, depth: 0, on_stack: 0, guarded: false };
        // What is assigned to may be read further up, in the next turn of a loop.
        for _ in 0..MOST_PASSES {
            let known = writer.vectors.len();
            writer.calls.clear();
            writer.on_stack = 0;
            let written = writer.statement(body)?;
            if writer.vectors.len() == known {
                return Ok((name_in_lanes(&own), whole(&own, signature, params, lanes, &writer.calls, &written)));
            }
        }
        Err("too many of its variables depend on each other")
    }
}

/// A macro may stand for anything, wherever it is defined.
fn check_directives(root: Node<'_>, text: &str) -> Result<(), Refusal> {
    let mut is_known = !text.contains("%:");
    names::for_each(root, &mut |node| {
        let directive = || &text[node.byte_range()];
        is_known &= match node.kind() {
            "preproc_include" => node.parent() == Some(root),
            // What stands behind the word of another directive.
            "preproc_directive" | "preproc_arg" => true,
            "preproc_call" if directive().starts_with("#line") => true,
            kind if kind.starts_with("preproc_") => is_around(directive()),
            _ => true,
        };
    });
    if is_known { Ok(()) } else { Err("its source has directives of the preprocessor") }
}

/// The function of that name, and what else the file has: names of tables of constants. Everything else is not known.
fn top_level<'t>(root: Node<'t>, text: &str, name: &str) -> Result<(Node<'t>, Vec<HashMap<String, Variable>>), Refusal> {
    let (mut found, mut file) = (None, HashMap::new());
    let mut cursor = root.walk();
    for node in root.children(&mut cursor) {
        match node.kind() {
            "function_definition" => {
                let declarator = node.child_by_field_name("declarator").and_then(|node| find(node, "function_declarator"));
                let own = declarator.and_then(|node| node.child_by_field_name("declarator"));
                if own.is_some_and(|own| &text[own.byte_range()] == name) {
                    found = Some(node);
                }
            }
            "declaration" if is_const(node, text) => {
                let Some(scalar) = node.child_by_field_name("type").and_then(|ty| scalar_type(&text[ty.byte_range()])) else { continue };
                let mut cursor = node.walk();
                for declarator in node.children_by_field_name("declarator", &mut cursor) {
                    if let Some(declared) = statement::declared(declarator).filter(|declared| declared.value.is_some()) {
                        let table = Variable { holder: Holder::Shared(scalar), lengths: declared.known_lengths(text) };
                        file.insert(text[declared.name.byte_range()].to_owned(), table);
                    }
                }
            }
            _ => {}
        }
    }
    Ok((found.ok_or("it is not at the top level of its source")?, vec![file]))
}

/// Whether the type of a declaration is `const`.
fn is_const(node: Node<'_>, text: &str) -> bool {
    let mut cursor = node.walk();
    node.children(&mut cursor).any(|child| child.kind() == "type_qualifier" && &text[child.byte_range()] == "const")
}

/// The parameters.
fn variables(signature: &Signature, params: &[LaneParam]) -> Result<HashMap<String, Variable>, Refusal> {
    let mut known = HashMap::new();
    for (param, passed) in signature.params.iter().zip(params) {
        check_name(&param.name)?;
        let (holder, length) = match (*passed, &param.ty) {
            (LaneParam::Same(_), ParamType::Scalar(dtype)) => (Holder::Shared(scalar(*dtype)?), None),
            (LaneParam::Same(length), ParamType::Pointer { to: Pointee::Scalar(dtype), .. }) => {
                (Holder::Shared(scalar(*dtype)?), Some(length))
            }
            (LaneParam::Each(length), &ParamType::Pointer { to: Pointee::Scalar(DType::F64), constant }) => {
                (Holder::Lanes { constant }, Some(length))
            }
            _ => return Err("it takes other parameters than pointers to double"),
        };
        let lengths = length.map(|length| u64::try_from(length).ok()).into_iter().collect();
        known.insert(param.name.clone(), Variable { holder, lengths });
    }
    Ok(known)
}

fn scalar(dtype: DType) -> Result<Scalar, Refusal> {
    match dtype {
        DType::F64 => Ok(Scalar::Double),
        DType::F32 => Ok(Scalar::Float),
        DType::C64 | DType::C128 => Err("it takes complex numbers"),
        _ => Ok(Scalar::Integer),
    }
}

/// The type that these words name, if they name one.
fn scalar_type(words: &str) -> Option<Scalar> {
    let mut words = words.split_whitespace();
    match words.clone().collect::<Vec<_>>()[..] {
        [] => None,
        ["double"] => Some(Scalar::Double),
        ["float"] => Some(Scalar::Float),
        _ => words.all(|word| INTEGERS.contains(&word)).then_some(Scalar::Integer),
    }
}

/// Names that begin so are those of what is written here.
fn check_name(name: &str) -> Result<(), Refusal> {
    if name.starts_with("pl_") || name.starts_with("PL_") { Err("it uses a name that begins with pl_") } else { Ok(()) }
}

/// The text of all of it: the function for as many lanes as a vector has, and one that calls it for all lanes.
fn whole(name: &str, signature: &Signature, params: &[LaneParam], lanes: usize, calls: &BTreeSet<String>, body: &str) -> String {
    let head = "static inline __attribute__((always_inline)) void";
    let list = signature.params.iter().map(|param| param.declaration()).collect::<Vec<_>>().join(", ");
    let passed = signature.params.iter().zip(params).map(|(param, passed)| match passed {
        LaneParam::Each(_) => format!("{} + pl_lane", param.name),
        LaneParam::Same(_) => param.name.clone(),
    });
    let passed = passed.collect::<Vec<_>>().join(", ");
    let (part, name) = (format!("pl_vector_{name}"), name_in_lanes(name));
    let calls: String = calls.iter().map(|call| call.as_str()).collect();
    format!(
        "#line 1 \"<{name}>\"\n{VECTORS}{calls}{head} {part}({list})\n{body}\n\
         {head} {name}({list})\n{{\nfor (int pl_lane = 0; pl_lane < {lanes}; pl_lane += PL_WIDTH) {part}({passed});\n}}\n"
    )
}

/// Writes the body of a function anew.
struct Writer<'t> {
    text: &'t str,
    lanes: usize,
    /// The variables of each block, the innermost last.
    scope: Vec<HashMap<String, Variable>>,
    /// The names of variables that have a value for each lane, as far as it is known.
    vectors: HashSet<String>,
    /// The names of variables that are assigned to.
    changed: HashSet<&'t str>,
    /// The texts of functions of the C library for vectors.
    calls: BTreeSet<String>,
    depth: usize,
    /// How many vectors are in arrays.
    on_stack: u64,
    /// Whether what is at hand is computed for all lanes, but in C only where a condition holds.
    guarded: bool,
}

impl<'t> Writer<'t> {
    fn text_of(&self, node: Node<'_>) -> &'t str {
        &self.text[node.byte_range()]
    }

    fn variable(&self, name: &str) -> Option<&Variable> {
        self.scope.iter().rev().find_map(|block| block.get(name))
    }

    /// Notes that a variable has a value for each lane, if its value has.
    fn assign(&mut self, name: &str, value: Kind) {
        let is_double = self.variable(name).is_some_and(|variable| variable.holder == Holder::Double);
        if is_double && !matches!(value, Kind::Same(_)) && !self.vectors.contains(name) {
            self.vectors.insert(name.to_owned());
        }
    }

    fn declare(&mut self, name: &str, variable: Variable) -> Result<(), Refusal> {
        check_name(name)?;
        if let Some(block) = self.scope.last_mut() {
            block.insert(name.to_owned(), variable);
        }
        Ok(())
    }

    /// What `write` writes one level deeper.
    fn deeper<R>(&mut self, write: impl FnOnce(&mut Self) -> Result<R, Refusal>) -> Result<R, Refusal> {
        if self.depth > crate::parse::DEEPEST_BLOCK {
            return Err("it is nested too deep");
        }
        self.depth += 1;
        let written = write(self);
        self.depth -= 1;
        written
    }
}

/// The parts of a node that mean something.
fn parts<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| child.kind() != "comment").collect()
}

/// The part of a node by its field.
fn field<'t>(node: Node<'t>, name: &str) -> Result<Node<'t>, Refusal> {
    node.child_by_field_name(name).ok_or("its text cannot be parsed")
}
