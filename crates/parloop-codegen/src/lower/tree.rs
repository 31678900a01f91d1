//! The tree that a writer prints: functions of statements over typed values. Every value knows its type, so that literals and
//! conversions print right; nothing here is text, except what the user wrote in C.

use parloop_ir::syntax::{AddressSpace, CompareOp, MemoryKind, Type, UnaryOp};
use parloop_isl::Name;

/// A hardware index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Axis {
    /// Of the work-group.
    Group(u8),
    /// Of the work item in its group.
    Local(u8),
}

/// Operators of C that take two operands of the type of their result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Op {
    Add,
    Subtract,
    Multiply,
    /// As C divides: integers towards zero.
    Divide,
    /// As C does: with the sign of the dividend; integers alone.
    Remainder,
    ShiftLeft,
    ShiftRight,
    BitAnd,
    BitOr,
    BitXor,
    And,
    Or,
}

/// Functions that the writer provides if a target has none; operands and result have one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Routine {
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
    /// Division towards minus infinity.
    FloorDivide,
    /// The rest of that division, with the sign of the divisor.
    Modulo,
    /// Any power; of integers by repeated multiplication.
    Power,
}

/// A value with its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Its type; for pointers, of what is there.
    pub ty: Type,
    /// Its kind.
    pub kind: ValueKind,
}

/// The kind of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueKind {
    /// An integer of the value's type.
    Int(i128),
    /// A floating-point number, rounded to the value's type.
    Float(f64),
    /// A complex number: real and imaginary part.
    Complex(f64, f64),
    /// A truth value.
    Bool(bool),
    /// A vector of these lanes.
    Vector(Vec<Value>),
    /// A variable, or a parameter.
    Name(Name),
    /// The index along an axis of the launch.
    Axis(Axis),
    /// `array[index]…`: one index for pointers and flat arrays, more for arrays of arrays.
    Element(Name, Vec<Value>),
    /// `array + offset`, or `array` alone: a pointer.
    Pointer(Name, Option<Box<Value>>),
    /// `&place`.
    Address(Box<Value>),
    /// `-x`, `!x`, `~x`.
    Unary(UnaryOp, Box<Value>),
    /// `a + b`.
    Binary(Op, Box<Value>, Box<Value>),
    /// `a < b`, both of one type.
    Compare(CompareOp, Box<Value>, Box<Value>),
    /// `condition ? yes : no`.
    Choose(Box<[Value; 3]>),
    /// A conversion to the value's type.
    Cast(Box<Value>),
    /// A call of a function of the target or of the program.
    Call(Name, Vec<Value>),
    /// A call of a function that the writer brings.
    Routine(Routine, Vec<Value>),
    /// `x.field`.
    Member(Box<Value>, Name),
    /// The number of that index of a vector or a complex number in memory, as a place of its own: what is beside it is not touched.
    Part {
        /// The vector or the complex number.
        whole: Box<Value>,
        /// Which number of it.
        index: u8,
        /// Where it is.
        space: AddressSpace,
    },
    /// Whether `0 <= index < limit`; the site of the first failure is reported.
    Check {
        /// The number of the site.
        site: usize,
        /// What is checked, and against what.
        operands: Box<[Value; 2]>,
    },
    /// The divisor of integers, unchanged; where it is zero, the site is reported.
    Divisor {
        /// The number of the site.
        site: usize,
        /// The divisor.
        value: Box<Value>,
    },
    /// Records in shadow memory an access; always true.
    ShadowAccess(Box<ShadowAccess>),
    /// C code.
    Text(String),
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShadowAccessKind {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// An atomic update.
    Update,
}

/// An access that is recorded in shadow memory.
#[derive(Clone, Debug, PartialEq)]
pub struct ShadowAccess {
    /// What it does.
    pub kind: ShadowAccessKind,
    /// The element.
    pub place: Value,
    /// Lines for messages: the instruction, the variable, and for each step of the time its loop, empty for a position.
    pub site: String,
    /// The number of the work-group.
    pub group: Value,
    /// The number of the work item in its group.
    pub item: Value,
    /// If not 0, accesses with the same number race on purpose.
    pub own: usize,
    /// Which steps of the time are values of loops: a bit each.
    pub loops: u32,
    /// Whether each group has its own element.
    pub is_local: bool,
    /// How many of the values are indices.
    pub axes: usize,
    /// How many leading steps are equal for accesses that depend on each other.
    pub turn: usize,
    /// The indices of the element, then the steps of the time.
    pub values: Vec<Value>,
}

/// How a loop may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopHint {
    /// Sequentially.
    None,
    /// With a hint to unroll it.
    Unroll,
    /// Iterations do not depend on each other.
    Independent,
}

/// A loop over integers.
#[derive(Clone, Debug, PartialEq)]
pub struct For {
    /// The variable.
    pub name: Name,
    /// Its first value; it has its type.
    pub first: Value,
    /// Its last value, or the one beyond it.
    pub limit: Value,
    /// Whether `limit` is a value that the variable may take.
    pub inclusive: bool,
    /// Its stride, at least 1.
    pub step: i64,
    /// How it may run.
    pub hint: LoopHint,
    /// What is done.
    pub body: Vec<Statement>,
}

/// A variable, declared.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// Its name.
    pub name: Name,
    /// The type of its elements.
    pub ty: Type,
    /// Which memory.
    pub space: AddressSpace,
    /// The lengths of its axes; none for a number.
    pub lengths: Vec<u64>,
    /// Whether it is constant.
    pub constant: bool,
    /// Its first value.
    pub value: Option<Value>,
    /// Bytes to which its memory is aligned, if that matters.
    pub alignment: Option<u32>,
}

/// What is done.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// A variable.
    Declare(Declaration),
    /// `type *name = (type *)(storage + offset)`: part of a block of bytes, by another name.
    Alias {
        /// The name.
        name: Name,
        /// The type of its elements.
        ty: Type,
        /// Which memory.
        space: AddressSpace,
        /// The block.
        storage: Name,
    },
    /// `place = value`.
    Assign(Value, Value),
    /// `place = place op value`, atomically.
    AtomicUpdate {
        /// The destination.
        place: Value,
        /// Which memory it is in.
        space: AddressSpace,
        /// The value with which it is changed.
        change: AtomicChange,
    },
    /// A call for its effects.
    Call(Value),
    /// A loop.
    For(For),
    /// `if`, `else`.
    If(Value, Vec<Statement>, Vec<Statement>),
    /// The work-groups of a launch on a CPU, shared among threads: `name` runs from 0 to before the count.
    Groups {
        /// The index of the group, 64 bits wide.
        name: Name,
        /// How many groups there are.
        count: Value,
        /// What each does.
        body: Vec<Statement>,
    },
    /// Runs a task for each work-group, where a language launches them itself, and waits.
    Launch {
        /// The task.
        function: Name,
        /// How many groups there are along each axis.
        groups: Vec<Value>,
        /// What each is passed.
        args: Vec<Name>,
    },
    /// All work items of the group wait.
    Barrier(MemoryKind),
    /// A block with its own scope.
    Block(Vec<Statement>),
    /// Verbatim lines of C code.
    Text(String),
    /// A comment.
    Comment(String),
}

/// An atomic update.
#[derive(Clone, Debug, PartialEq)]
pub enum AtomicChange {
    /// Adds a value.
    Add(Value),
    /// The value `result`, in which the variable `old` stands for what is there.
    Compute {
        /// The name of what is there.
        old: Name,
        /// What is to be there.
        result: Value,
    },
}

/// What a parameter of a function is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ParamSource {
    /// The argument of that name: an array, a number or an object.
    Argument(Name),
    /// One of the arrays of an argument with a `sep` axis: the index along that axis (or axes).
    Separate(Name, Vec<u64>),
    /// Where the array of that argument begins, in elements.
    Offset(Name),
    /// The stride of an axis of that argument, in elements.
    Stride(Name, usize),
    /// The length of an axis of that argument that its shape does not give.
    Length(Name, usize),
    /// A temporary in global memory, which the caller allocates.
    Temporary(Name),
    /// The iname of a host loop around the launch.
    HostIname(Name),
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Param {
    /// Its name in the code.
    pub name: Name,
    /// The type of it, or of what it points to.
    pub ty: Type,
    /// Which memory it points to; `None` for a value.
    pub pointer: Option<AddressSpace>,
    /// Whether it is never written.
    pub constant: bool,
    /// Whether no other parameter points to the same memory.
    pub restrict: bool,
    /// The guaranteed alignment in bytes of what it points to, a power of two, if any.
    pub alignment: Option<u32>,
    /// What it is.
    pub source: ParamSource,
}

/// Whether a function is launched or called.
#[derive(Clone, Debug, PartialEq)]
pub enum FunctionKind {
    /// By the host; group size along each axis, where it is a number.
    Launched(Vec<Option<u64>>),
    /// Launched by a separate function that the host calls; group size along each axis, where it is a number.
    Task(Vec<Option<u64>>),
    /// By other functions.
    Called,
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// Launched or called.
    pub kind: FunctionKind,
    /// Its parameters.
    pub params: Vec<Param>,
    /// What it does.
    pub body: Vec<Statement>,
}

/// A table of constants at file scope.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: Name,
    /// The type of its elements.
    pub ty: Type,
    /// The elements.
    pub values: Vec<Value>,
}

impl Value {
    /// The value `kind` of that type.
    pub fn new(ty: impl Into<Type>, kind: ValueKind) -> Value {
        Value { ty: ty.into(), kind }
    }

    /// That variable.
    pub fn name(ty: impl Into<Type>, name: impl Into<Name>) -> Value {
        Value::new(ty, ValueKind::Name(name.into()))
    }

    /// The value, if it is an integer literal.
    pub fn as_int(&self) -> Option<i128> {
        match self.kind {
            ValueKind::Int(value) => Some(value),
            _ => None,
        }
    }

    /// The values directly inside it.
    pub fn children(&self) -> Vec<&Value> {
        match &self.kind {
            ValueKind::Int(_) | ValueKind::Float(_) | ValueKind::Complex(..) | ValueKind::Bool(_) => Vec::new(),
            ValueKind::Name(_) | ValueKind::Axis(_) | ValueKind::Text(_) => Vec::new(),
            ValueKind::Element(_, inside) | ValueKind::Call(_, inside) | ValueKind::Routine(_, inside) | ValueKind::Vector(inside) => {
                inside.iter().collect()
            }
            ValueKind::Pointer(_, offset) => offset.iter().map(|value| &**value).collect(),
            ValueKind::Address(inner) | ValueKind::Unary(_, inner) | ValueKind::Cast(inner) | ValueKind::Member(inner, _) => vec![inner],
            ValueKind::Part { whole: inner, .. } | ValueKind::Divisor { value: inner, .. } => vec![inner],
            ValueKind::Binary(_, left, right) | ValueKind::Compare(_, left, right) => vec![left, right],
            ValueKind::Choose(parts) => parts.iter().collect(),
            ValueKind::Check { operands, .. } => operands.iter().collect(),
            ValueKind::ShadowAccess(touch) => [&touch.place, &touch.group, &touch.item].into_iter().chain(&touch.values).collect(),
        }
    }

    /// Calls `visit` with each name of a variable, array or parameter in it. Words of C text count as names.
    pub fn visit_names(&self, visit: &mut dyn FnMut(&str)) {
        match &self.kind {
            ValueKind::Name(name) | ValueKind::Element(name, _) | ValueKind::Pointer(name, _) => visit(name),
            ValueKind::Text(text) => visit_words(text, visit),
            _ => {}
        }
        self.children().into_iter().for_each(|child| child.visit_names(visit));
    }

    /// Whether that variable is in it.
    pub fn mentions(&self, name: &str) -> bool {
        let mut found = false;
        self.visit_names(&mut |other| found |= other == name);
        found
    }
}

impl Statement {
    /// Calls `visit` with each name that it uses, or changes; not with those that it declares.
    pub fn visit_names(&self, visit: &mut dyn FnMut(&str)) {
        let all = |body: &[Statement], visit: &mut dyn FnMut(&str)| body.iter().for_each(|inner| inner.visit_names(visit));
        match self {
            Statement::Declare(declaration) => declaration.value.iter().for_each(|value| value.visit_names(visit)),
            Statement::Alias { storage, .. } => visit(storage),
            Statement::Assign(place, value) => {
                place.visit_names(visit);
                value.visit_names(visit);
            }
            Statement::AtomicUpdate { place, change, .. } => {
                place.visit_names(visit);
                let (AtomicChange::Add(value) | AtomicChange::Compute { result: value, .. }) = change;
                value.visit_names(visit);
            }
            Statement::Call(value) => value.visit_names(visit),
            Statement::For(loop_) => {
                loop_.first.visit_names(visit);
                loop_.limit.visit_names(visit);
                all(&loop_.body, visit);
            }
            Statement::If(condition, yes, no) => {
                condition.visit_names(visit);
                all(yes, visit);
                all(no, visit);
            }
            Statement::Groups { count, body, .. } => {
                count.visit_names(visit);
                all(body, visit);
            }
            Statement::Block(body) => all(body, visit),
            Statement::Launch { groups, args, .. } => {
                groups.iter().for_each(|count| count.visit_names(visit));
                args.iter().for_each(|arg| visit(arg));
            }
            Statement::Text(text) => visit_words(text, visit),
            Statement::Barrier(_) | Statement::Comment(_) => {}
        }
    }
}

fn visit_words(text: &str, visit: &mut dyn FnMut(&str)) {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty()).for_each(visit);
}

/// Whether a name occurs in a statement.
pub(super) fn mentions(statement: &Statement, name: &str) -> bool {
    let mut found = false;
    statement.visit_names(&mut |other| found |= other == name);
    found
}

/// `ty const name = value;`
pub(super) fn constant(name: &Name, ty: &Type, value: Value) -> Statement {
    let (name, ty) = (name.clone(), ty.clone());
    Statement::Declare(Declaration {
        name,
        ty,
        space: AddressSpace::Private,
        lengths: Vec::new(),
        constant: true,
        value: Some(value),
        alignment: None,
    })
}

/// A parameter that is passed by value.
pub(super) fn value_param(name: &Name, ty: Type, source: ParamSource) -> Param {
    Param { name: name.clone(), ty, pointer: None, constant: true, restrict: false, alignment: None, source }
}
