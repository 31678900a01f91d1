//! What a call becomes in the code: a small tree that the lowering converts to its own, so that no text exists before the writer.

use parloop_isl::Name;

use super::{ArgId, CallableError, same_place};
use crate::syntax::{BinaryOp, Expr, LoopKernel, Target, Type};

/// A call site: what a callable sees of its caller.
#[derive(Clone, Copy, Debug)]
pub struct CallSite<'a> {
    /// The target of the generated code.
    pub target: Target,
    /// The calling kernel.
    pub kernel: &'a LoopKernel,
    /// The positional arguments, as written in the kernel.
    pub args: &'a [Expr],
    /// Where the results go; empty for a call inside an expression.
    pub results: &'a [Expr],
}

impl<'a> CallSite<'a> {
    /// The argument or result with that id, by position.
    pub fn get(&self, id: &ArgId) -> Option<&'a Expr> {
        match id {
            ArgId::Position(place) if *place >= 0 => self.args.get(*place as usize),
            ArgId::Position(place) => self.results.get(usize::try_from(-1 - i64::from(*place)).ok()?),
            ArgId::Keyword(_) => None,
        }
    }

    /// Whether it is part of an array.
    pub fn is_part(&self, id: &ArgId) -> bool {
        matches!(self.get(id), Some(Expr::SubArray(_)))
    }
}

/// What a call becomes. The lowering knows the call site: an argument or result is named by its id and written as in the caller, converted
/// to the type that [`Callable::types`](super::Callable::types) gives that id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Emitted {
    /// `function(a, b)`.
    Call(Name, Vec<Emitted>),
    /// An argument: its value, or the address of the first element of an array or part of an array. A result: the lvalue that is written,
    /// or the address of the first element.
    Arg(ArgId),
    /// The address of a result that is a number.
    Address(ArgId),
    /// The position in memory of an argument that is a subscript, in elements from the beginning of its array; with `lanes`, a vector lane
    /// counts as an element.
    IndexOf {
        /// Which argument.
        id: ArgId,
        /// Whether lanes are counted.
        lanes: bool,
    },
    /// An expression in the names of the caller, such as a length of an axis, converted to the type if one is given.
    Expr(Expr, Option<Type>),
    /// Text in the target's language, inserted verbatim: a name, a number, or an expression in parentheses.
    Text(String),
    /// `(condition ? a : b)`, as condition, a, b.
    Choose(Box<[Emitted; 3]>),
    /// `(a op b)`, both of the type of the call's first result.
    Operator(BinaryOp, Box<[Emitted; 2]>),
    /// A vector of these lanes, of the type of the call's first result.
    Vector(Vec<Emitted>),
    /// A lane of an argument that is a vector.
    Lane(ArgId, u8),
    /// One value for each result of an instruction, in order.
    Tuple(Vec<Emitted>),
}

impl Emitted {
    /// The argument at that position.
    pub fn argument(place: usize) -> Emitted {
        Emitted::Arg(ArgId::argument(place))
    }
}

/// `name(args)` in an expression.
pub fn plain_call(name: &Name, in_target: Option<&Name>, site: &CallSite<'_>) -> Result<Emitted, CallableError> {
    let function = in_target.ok_or_else(|| CallableError::NotReady { function: name.clone() })?;
    Ok(Emitted::Call(function.clone(), (0..site.args.len()).map(Emitted::argument).collect()))
}

/// `first = name(args, &second, …)`; results that are arrays are passed by their addresses.
pub(super) fn plain_call_insn(name: &Name, in_target: Option<&Name>, site: &CallSite<'_>) -> Result<(Emitted, bool), CallableError> {
    let function = in_target.ok_or_else(|| CallableError::NotReady { function: name.clone() })?;
    let returns = site.results.first().is_some_and(|first| !matches!(first, Expr::SubArray(_)));
    let mut args: Vec<Emitted> = (0..site.args.len()).map(Emitted::argument).collect();
    for (place, result) in site.results.iter().enumerate().skip(usize::from(returns)) {
        let id = ArgId::result(place);
        args.push(if matches!(result, Expr::SubArray(_)) { Emitted::Arg(id) } else { Emitted::Address(id) });
    }
    Ok((Emitted::Call(function.clone(), args), returns))
}

/// Checks that a parameter that is updated in place is passed in and assigned to the same location.
pub fn check_in_place(function: &Name, parameter: &str, site: &CallSite<'_>, [argument, result]: [&ArgId; 2]) -> Result<(), CallableError> {
    let (Some(given), Some(taken)) = (site.get(argument), site.get(result)) else { return Ok(()) };
    let same = same_place(site.kernel, given, taken);
    if same.map_err(|error| CallableError::Inside { function: site.kernel.name.clone(), error: Box::new(error) })? {
        return Ok(());
    }
    let (given, taken) = (given.to_string(), taken.to_string());
    Err(CallableError::InPlace { function: function.clone(), parameter: parameter.into(), given, taken })
}
