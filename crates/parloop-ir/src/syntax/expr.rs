//! Expressions: a small enum over shared nodes.

use std::sync::Arc;

use parloop_device::DType;
use parloop_isl::Name;

use super::Type;

/// A literal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Literal {
    /// An integer, with a type if one was given, else the smallest that fits.
    Int(i128, Option<DType>),
    /// A floating-point number by its bits as a double, with a type if one was given (`1.5f`).
    Float(u64, Option<DType>),
    /// The imaginary number of these bits: `2j`, `2jf`.
    Imaginary(u64, Option<DType>),
    /// `True` or `False`.
    Bool(bool),
    /// `'string'`, for functions that take names.
    Text(Name),
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum UnaryOp {
    Negate,
    /// `not`.
    Not,
    /// `~`.
    BitNot,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    /// `/`: integers divide to a floating-point number.
    Divide,
    /// `//`: rounds towards minus infinity.
    FloorDivide,
    /// `%`: with the sign of the divisor.
    Modulo,
    Power,
    ShiftLeft,
    ShiftRight,
    BitAnd,
    BitOr,
    BitXor,
    And,
    Or,
}

impl BinaryOp {
    /// Whether `a other b op c` is a chain: both are `+` or `-`, or both are `*`, `/`, `//` or `%`.
    fn continues(self, other: BinaryOp) -> bool {
        use BinaryOp::*;
        match self {
            Add | Subtract => matches!(other, Add | Subtract),
            Multiply | Divide | FloorDivide | Modulo => matches!(other, Multiply | Divide | FloorDivide | Modulo),
            _ => false,
        }
    }
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum CompareOp {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// `f(a, b, key=c)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Call {
    /// The function name as written, or the name of an entry of the program's callables once resolved.
    pub function: Name,
    /// Whether `function` names an entry of the program's callables.
    pub resolved: bool,
    /// Positional arguments.
    pub args: Vec<Expr>,
    /// Keyword arguments, in the order written.
    pub keywords: Vec<(Name, Expr)>,
}

/// The operation of a reduction.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum ReductionOp {
    Sum,
    Product,
    Max,
    Min,
    Any,
    All,
    /// Of pairs (value, index): two results.
    ArgMax,
    ArgMin,
    /// Of pairs (value, segment flag): two results.
    SegmentedSum,
    SegmentedProduct,
    /// One that the user registered, by name.
    Custom(Name),
}

/// `sum((i, j), e)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reduction {
    /// What it does.
    pub op: ReductionOp,
    /// Over which inames.
    pub inames: Vec<Name>,
    /// Its operands: one expression, or two for reductions of pairs.
    pub operands: Vec<Expr>,
    /// Whether several reductions may share one iname (`simul_reduce`).
    pub simultaneous: bool,
}

/// `[i, j]: a[i, j]`: part of an array, as an argument or a result of a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SubArray {
    /// The inames that sweep it, in the order of the callee's axes.
    pub inames: Vec<Name>,
    /// The array.
    pub array: Name,
    /// One index for each axis of the array.
    pub indices: Vec<Expr>,
}

/// `a + b - c + …`: operators of one precedence level, applied from left to right. Shorter chains are nested [`Expr::Binary`]; this holds
/// chains that would be nested too deeply.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Chain {
    /// The first operand.
    pub first: Expr,
    /// Each operator with its right operand: either `+` and `-`, or `*`, `/`, `//` and `%`.
    pub rest: Vec<(BinaryOp, Expr)>,
}

/// The maximum number of operators nested on the left; longer chains are an [`Expr::Chain`].
pub const LONGEST_NEST: usize = 128;

/// An expression. Clones share nodes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Expr {
    /// A number.
    Literal(Literal),
    /// An iname, an argument, a temporary, or a parameter of a domain.
    Variable(Name),
    /// `a[i, j]`; the aggregate is a variable or a look-up (`p.x[i]`).
    Subscript(Arc<Expr>, Arc<[Expr]>),
    /// `a[[e]]`: a linear index into memory, in elements.
    LinearSubscript(Arc<Expr>, Arc<Expr>),
    /// `start:stop:step` as an index, before it becomes a sub-array.
    Slice(Arc<[Option<Expr>; 3]>),
    /// `[i]: a[i, j]`.
    SubArray(Arc<SubArray>),
    /// `x.field`.
    Lookup(Arc<Expr>, Name),
    /// `-e`.
    Unary(UnaryOp, Arc<Expr>),
    /// `a + b`. Create it with [`Expr::binary`], which keeps long sums and products flat.
    Binary(BinaryOp, Arc<Expr>, Arc<Expr>),
    /// A sum or a product of many.
    Chain(Arc<Chain>),
    /// `a < b`.
    Compare(CompareOp, Arc<Expr>, Arc<Expr>),
    /// `min(a, b, …)`.
    Min(Arc<[Expr]>),
    /// `max(a, b, …)`.
    Max(Arc<[Expr]>),
    /// `a if condition else b`, as condition, a, b.
    If(Arc<[Expr; 3]>),
    /// `cast(float32, e)`.
    Cast(Type, Arc<Expr>),
    /// `f(x)`.
    Call(Arc<Call>),
    /// `sum(i, e)`.
    Reduction(Arc<Reduction>),
    /// `cse(e, "prefix")`: computed once.
    CommonSubexpression(Arc<Expr>, Option<Name>),
    /// `(a, b)`: several values, as a function returns them.
    Tuple(Arc<[Expr]>),
}

impl Expr {
    /// That integer.
    pub fn int(value: i64) -> Expr {
        Expr::Literal(Literal::Int(value.into(), None))
    }

    /// That double.
    pub fn float(value: f64) -> Expr {
        Expr::Literal(Literal::Float(value.to_bits(), None))
    }

    /// That name.
    pub fn var(name: impl Into<Name>) -> Expr {
        Expr::Variable(name.into())
    }

    /// `array[indices]`.
    pub fn subscript(array: impl Into<Name>, indices: impl IntoIterator<Item = Expr>) -> Expr {
        Expr::Subscript(Arc::new(Expr::var(array)), indices.into_iter().collect())
    }

    /// `left op right`.
    pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
        match left {
            Expr::Chain(chain) if chain.rest.first().is_some_and(|(other, _)| op.continues(*other)) => {
                let mut chain = Arc::unwrap_or_clone(chain);
                chain.rest.push((op, right));
                Expr::Chain(Arc::new(chain))
            }
            left if left.nest(op) == LONGEST_NEST => {
                let (first, mut rest) = left.flat(op);
                rest.push((op, right));
                Expr::Chain(Arc::new(Chain { first, rest }))
            }
            left => Expr::Binary(op, Arc::new(left), Arc::new(right)),
        }
    }

    /// `first op a op b …`, from left to right.
    pub fn chain(first: Expr, rest: impl IntoIterator<Item = (BinaryOp, Expr)>) -> Expr {
        rest.into_iter().fold(first, |left, (op, right)| Expr::binary(op, left, right))
    }

    /// The number of operators nested on the left that `op` continues.
    fn nest(&self, op: BinaryOp) -> usize {
        let (mut expr, mut count) = (self, 0);
        while let Expr::Binary(other, left, _) = expr
            && op.continues(*other)
        {
            (expr, count) = (&**left, count + 1);
        }
        count
    }

    /// The operands of operators that `op` continues.
    fn flat(&self, op: BinaryOp) -> (Expr, Vec<(BinaryOp, Expr)>) {
        let (mut expr, mut rest) = (self, Vec::new());
        while let Expr::Binary(other, left, right) = expr
            && op.continues(*other)
        {
            rest.push((*other, (**right).clone()));
            expr = &**left;
        }
        rest.reverse();
        (expr.clone(), rest)
    }

    /// `left op right`.
    pub fn compare(op: CompareOp, left: Expr, right: Expr) -> Expr {
        Expr::Compare(op, Arc::new(left), Arc::new(right))
    }

    /// `function(args)`, not resolved yet.
    pub fn call(function: impl Into<Name>, args: impl IntoIterator<Item = Expr>) -> Expr {
        let args = args.into_iter().collect();
        Expr::Call(Arc::new(Call { function: function.into(), resolved: false, args, keywords: Vec::new() }))
    }

    /// `yes if condition else no`.
    pub fn choose(condition: Expr, yes: Expr, no: Expr) -> Expr {
        Expr::If(Arc::new([condition, yes, no]))
    }
}
