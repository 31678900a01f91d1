//! Expressions as nested tuples, so that Python can build its own objects of them: `("call", "sin", [("variable", "x")])`.

use parloop_loop::syntax::{BinaryOp, CompareOp, Expr, Literal, ReductionOp, UnaryOp};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::error::Result;

/// The tree of an expression given as text.
#[pyfunction]
#[pyo3(name = "_loop_expression_tree")]
pub fn loop_expression_tree<'py>(py: Python<'py>, text: &str) -> Result<Bound<'py, PyAny>> {
    Ok(tree(py, &parloop_loop::parse::expression(text)?)?)
}

/// The tree of an expression: its kind, then its parts.
pub fn tree<'py>(py: Python<'py>, expr: &Expr) -> PyResult<Bound<'py, PyAny>> {
    let node = |parts: Vec<Bound<'py, PyAny>>| -> PyResult<Bound<'py, PyAny>> { Ok(PyTuple::new(py, parts)?.into_any()) };
    let text = |text: &str| -> PyResult<Bound<'py, PyAny>> { Ok(text.into_pyobject(py)?.into_any()) };
    match expr {
        Expr::Literal(literal) => literal_tree(py, literal),
        Expr::Variable(name) => node(vec![text("variable")?, text(name)?]),
        Expr::Subscript(array, indices) => node(vec![text("subscript")?, tree(py, array)?, trees(py, indices)?]),
        Expr::LinearSubscript(array, index) => node(vec![text("linear")?, tree(py, array)?, tree(py, index)?]),
        Expr::Slice(parts) => {
            let parts = parts.iter().map(|part| part.as_ref().map(|part| tree(py, part)).transpose()).collect::<PyResult<Vec<_>>>()?;
            node(vec![text("slice")?, PyList::new(py, parts)?.into_any()])
        }
        Expr::SubArray(part) => {
            let inames = PyList::new(py, part.inames.iter().map(|name| name.as_str()))?.into_any();
            node(vec![text("sub_array")?, inames, text(&part.array)?, trees(py, &part.indices)?])
        }
        Expr::Lookup(object, field) => node(vec![text("lookup")?, tree(py, object)?, text(field)?]),
        Expr::Unary(op, operand) => node(vec![text(unary(*op))?, tree(py, operand)?]),
        Expr::Binary(op, left, right) => node(vec![text(binary(*op))?, tree(py, left)?, tree(py, right)?]),
        Expr::Chain(chain) => {
            let rest =
                chain.rest.iter().map(|(op, operand)| node(vec![text(binary(*op))?, tree(py, operand)?])).collect::<PyResult<Vec<_>>>()?;
            node(vec![text("chain")?, tree(py, &chain.first)?, PyList::new(py, rest)?.into_any()])
        }
        Expr::Compare(op, left, right) => node(vec![text("compare")?, text(compare(*op))?, tree(py, left)?, tree(py, right)?]),
        Expr::Min(items) => node(vec![text("min")?, trees(py, items)?]),
        Expr::Max(items) => node(vec![text("max")?, trees(py, items)?]),
        Expr::If(parts) => node(vec![text("if")?, trees(py, &parts[..])?]),
        Expr::Cast(ty, operand) => node(vec![text("cast")?, text(&ty.to_string())?, tree(py, operand)?]),
        Expr::Call(call) => {
            let named = call.keywords.iter().map(|(name, value)| Ok((name.as_str(), tree(py, value)?))).collect::<PyResult<Vec<_>>>()?;
            let resolved = call.resolved.into_pyobject(py)?.to_owned().into_any();
            let named = PyList::new(py, named)?.into_any();
            node(vec![text("call")?, text(&call.function)?, resolved, trees(py, &call.args)?, named])
        }
        Expr::Reduction(reduction) => {
            let inames = PyList::new(py, reduction.inames.iter().map(|name| name.as_str()))?.into_any();
            let simultaneous = reduction.simultaneous.into_pyobject(py)?.to_owned().into_any();
            node(vec![text("reduction")?, text(&operation(&reduction.op))?, inames, trees(py, &reduction.operands)?, simultaneous])
        }
        Expr::CommonSubexpression(inner, prefix) => {
            let prefix = prefix.as_ref().map(|name| name.as_str()).into_pyobject(py)?.into_any();
            node(vec![text("cse")?, tree(py, inner)?, prefix])
        }
        Expr::Tuple(items) => node(vec![text("tuple")?, trees(py, items)?]),
    }
}

fn trees<'py>(py: Python<'py>, exprs: &[Expr]) -> PyResult<Bound<'py, PyAny>> {
    let items = exprs.iter().map(|expr| tree(py, expr)).collect::<PyResult<Vec<_>>>()?;
    Ok(PyList::new(py, items)?.into_any())
}

fn literal_tree<'py>(py: Python<'py>, literal: &Literal) -> PyResult<Bound<'py, PyAny>> {
    let made = |kind: &str, value: Bound<'py, PyAny>, dtype: Option<&str>| -> PyResult<Bound<'py, PyAny>> {
        Ok((kind, value, dtype).into_pyobject(py)?.into_any())
    };
    match literal {
        Literal::Int(value, dtype) => made("number", value.into_pyobject(py)?.into_any(), dtype.map(|dtype| dtype.name())),
        Literal::Float(bits, dtype) => made("number", f64::from_bits(*bits).into_pyobject(py)?.into_any(), dtype.map(|dtype| dtype.name())),
        Literal::Imaginary(bits, dtype) => {
            let value = pyo3::types::PyComplex::from_doubles(py, 0.0, f64::from_bits(*bits)).into_any();
            made("number", value, dtype.map(|dtype| dtype.name()))
        }
        Literal::Bool(value) => made("number", value.into_pyobject(py)?.to_owned().into_any(), None),
        Literal::Text(text) => made("text", text.as_str().into_pyobject(py)?.into_any(), None),
    }
}

fn unary(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Negate => "negate",
        UnaryOp::Not => "not",
        UnaryOp::BitNot => "~",
    }
}

fn binary(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::FloorDivide => "//",
        BinaryOp::Modulo => "%",
        BinaryOp::Power => "**",
        BinaryOp::ShiftLeft => "<<",
        BinaryOp::ShiftRight => ">>",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitOr => "|",
        BinaryOp::BitXor => "^",
        BinaryOp::And => "and",
        BinaryOp::Or => "or",
    }
}

fn compare(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Equal => "==",
        CompareOp::NotEqual => "!=",
        CompareOp::Less => "<",
        CompareOp::LessEqual => "<=",
        CompareOp::Greater => ">",
        CompareOp::GreaterEqual => ">=",
    }
}

fn operation(op: &ReductionOp) -> String {
    op.to_string()
}
