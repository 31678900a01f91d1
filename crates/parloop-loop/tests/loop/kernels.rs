//! Kernels built by hand, for tests of single passes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_device::DType;
use parloop_loop::syntax::{
    AddressSpace, Argument, ArgumentKind, CallInstruction, Expr, Iname, Instruction, InstructionKind, KernelOptions, Layout, LoopKernel,
    Phase, Shape, Temporary,
};
use parloop_loop::{Name, Set, parse};

/// That expression.
pub fn expr(text: &str) -> Expr {
    parse::expression(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A kernel over inames without bounds, one instruction a line: `lhs = rhs`, or `lhs, lhs = f(…)` for a call. All names that are written
/// and are not arguments are temporaries.
pub fn kernel(name: &str, inames: &[&str], instructions: &[&str], arguments: Vec<Argument>) -> LoopKernel {
    let dims: Vec<Name> = inames.iter().map(|iname| Name::from(*iname)).collect();
    over(name, vec![Set::universe(&[], &dims)], instructions, arguments)
}

/// As [`kernel`], over those domains.
pub fn over(name: &str, domains: Vec<Set>, instructions: &[&str], arguments: Vec<Argument>) -> LoopKernel {
    let inames: Vec<Name> = domains.iter().flat_map(|domain| domain.dims().iter().cloned()).collect();
    let instructions: Vec<Arc<Instruction>> =
        instructions.iter().enumerate().map(|(number, text)| Arc::new(instruction(number, text, &inames))).collect();
    let written: BTreeSet<Name> = instructions.iter().flat_map(|instruction| instruction.writes()).collect();
    let is_argument = |name: &Name| arguments.iter().any(|argument| argument.name == *name);
    let temporaries = written.into_iter().filter(|name| !is_argument(name)).map(|name| (name.clone(), temporary(&name)));
    LoopKernel {
        name: name.into(),
        inames: inames.iter().map(|iname| (iname.clone(), Iname::default())).collect(),
        temporaries: temporaries.collect(),
        domains,
        instructions,
        arguments,
        substitutions: BTreeMap::new(),
        assumptions: Set::universe(&[], &[]),
        priorities: BTreeSet::new(),
        preambles: BTreeSet::new(),
        index_type: DType::I32,
        default_type: None,
        options: KernelOptions::default(),
        phase: Phase::Parsed,
    }
}

fn instruction(number: usize, text: &str, inames: &[Name]) -> Instruction {
    let (lhs, rhs) = text.split_once(" = ").unwrap_or(("", text));
    let lhs: Vec<Expr> = lhs.split(" & ").filter(|part| !part.is_empty()).map(expr).collect();
    let rhs = expr(rhs);
    let id = format!("insn_{number}");
    let is_call = lhs.len() != 1 || matches!(lhs[0], Expr::SubArray(_));
    let mut instruction = if is_call {
        let declares = vec![None; lhs.len()];
        Instruction::bare(id.as_str(), InstructionKind::Call(CallInstruction { lhs, rhs, declares }))
    } else {
        Instruction::assign(id.as_str(), lhs[0].clone(), rhs)
    };
    let used: BTreeSet<Name> = instruction.exprs().into_iter().flat_map(Expr::variables).collect();
    instruction.within_inames = inames.iter().filter(|iname| used.contains(*iname)).cloned().collect();
    instruction
}

fn temporary(name: &Name) -> Temporary {
    Temporary {
        name: name.clone(),
        ty: None,
        layout: Layout::scalar(),
        space: None,
        initializer: None,
        read_only: false,
        base_storage: None,
        tags: BTreeSet::new(),
    }
}

/// An array in global memory; `shape` as `n, 4`.
pub fn array(name: &str, dtype: Option<DType>, shape: &str) -> Argument {
    let lengths = shape.split(',').filter(|length| !length.trim().is_empty()).map(expr).collect();
    let kind = ArgumentKind::Array { space: AddressSpace::Global, layout: Layout::c_order(Shape::Known(lengths)), alignment: None };
    Argument { name: name.into(), ty: dtype.map(Into::into), kind, is_input: None, is_output: None, tags: BTreeSet::new() }
}

/// A number.
pub fn number(name: &str, dtype: Option<DType>) -> Argument {
    let (is_input, is_output) = (Some(true), Some(false));
    Argument { name: name.into(), ty: dtype.map(Into::into), kind: ArgumentKind::Value, is_input, is_output, tags: BTreeSet::new() }
}
