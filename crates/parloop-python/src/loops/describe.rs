//! What a kernel is made of, as dictionaries: what Python's views of kernels read.

use parloop_loop::domain::Forest;
use parloop_loop::syntax::{
    AddressSpace, Argument, ArgumentKind, Expr, Instruction, InstructionKind, KernelOptions, Layout, LoopKernel, Offset, Shape, SyncScope,
    Temporary, Type,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::components::component_dtype;
use super::tree::tree;
use crate::ndarray::numpy_dtype;

/// All of a kernel.
pub fn kernel<'py>(py: Python<'py>, kernel: &LoopKernel) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("name", kernel.name.as_str())?;
    all.set_item("domains", kernel.domains.iter().map(ToString::to_string).collect::<Vec<_>>())?;
    let own = |name: &parloop_loop::Name| kernel.inames.contains_key(name);
    let parameters = kernel.domains.iter().flat_map(|domain| domain.params()).filter(|name| !own(name));
    all.set_item("parameters", parameters.map(ToString::to_string).collect::<std::collections::BTreeSet<_>>())?;
    let parents = (0..kernel.domains.len()).map(|domain| parent(kernel, domain));
    all.set_item("parents", parents.collect::<Vec<_>>())?;
    all.set_item("args", kernel.arguments.iter().map(|item| argument(py, item)).collect::<PyResult<Vec<_>>>()?)?;
    all.set_item("temporaries", kernel.temporaries.values().map(|item| temporary(py, item)).collect::<PyResult<Vec<_>>>()?)?;
    let inames = PyDict::new(py);
    for (name, iname) in &kernel.inames {
        inames.set_item(name.as_str(), iname.tags.iter().map(ToString::to_string).collect::<Vec<_>>())?;
    }
    all.set_item("inames", inames)?;
    all.set_item("instructions", kernel.instructions.iter().map(|item| instruction(py, item)).collect::<PyResult<Vec<_>>>()?)?;
    let mut rules = Vec::new();
    for rule in kernel.substitutions.values() {
        let parameters: Vec<&str> = rule.parameters.iter().map(|name| name.as_str()).collect();
        rules.push((rule.name.as_str(), parameters, rule.body.to_string(), tree(py, &rule.body)?));
    }
    all.set_item("substitutions", rules)?;
    all.set_item("assumptions", kernel.assumptions.to_string())?;
    let priorities = kernel.priorities.iter().map(|chain| chain.iter().map(|name| name.to_string()).collect::<Vec<_>>());
    all.set_item("loop_priority", priorities.collect::<Vec<_>>())?;
    let preambles = kernel.preambles.iter().map(|preamble| (preamble.key(), preamble.text()));
    all.set_item("preambles", preambles.collect::<Vec<_>>())?;
    all.set_item("index_dtype", numpy_dtype(py, kernel.index_type)?)?;
    all.set_item("options", options(py, &kernel.options)?)?;
    all.set_item("phase", kernel.phase.to_string())?;
    Ok(all)
}

/// The domain that one is nested in: of inames that are its parameters, or within which its parameters are computed.
fn parent(kernel: &LoopKernel, domain: usize) -> Option<usize> {
    let forest = Forest::of(kernel);
    let mut parents = forest.parents(domain);
    for param in kernel.domains[domain].params() {
        let writers = kernel.instructions.iter().filter(|instruction| instruction.writes().contains(param));
        parents.extend(writers.flat_map(|writer| writer.within_inames.iter()).filter_map(|iname| forest.home(iname)));
    }
    parents.into_iter().rfind(|parent| *parent != domain)
}

fn options<'py>(py: Python<'py>, options: &KernelOptions) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for (name, text) in &options.other {
        all.set_item(name.as_str(), text)?;
    }
    all.set_item("checked", options.checked)?;
    all.set_item("enforce_array_accesses_within_bounds", options.check_bounds())?;
    all.set_item("insert_gbarriers", options.insert_global_barriers)?;
    all.set_item("annotate_inames", options.annotate)?;
    all.set_item("return_dict", options.return_dict)?;
    all.set_item("skip_arg_checks", options.skip_arg_checks)?;
    all.set_item("planned_order", options.planned_order())?;
    all.set_item("lenient", options.is_lenient())?;
    all.set_item("loopy_arithmetic", options.loopy_arithmetic)?;
    all.set_item("silenced_warnings", options.silenced.iter().map(|name| name.as_str()).collect::<Vec<_>>())?;
    all.set_item("build_options", options.build_options())?;
    Ok(all)
}

/// A type: the `numpy.dtype` of a number, vector or record, else its text.
pub fn type_object<'py>(py: Python<'py>, ty: Option<&Type>) -> PyResult<Option<Bound<'py, PyAny>>> {
    match ty {
        None => Ok(None),
        Some(Type::Scalar(dtype)) => numpy_dtype(py, *dtype).map(Some),
        Some(ty @ (Type::Vector(..) | Type::Record(_))) => component_dtype(py, ty).map(Some),
        Some(other) => Ok(Some(other.to_string().into_pyobject(py)?.into_any())),
    }
}

fn argument<'py>(py: Python<'py>, argument: &Argument) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("name", argument.name.as_str())?;
    all.set_item("dtype", type_object(py, argument.ty.as_ref())?)?;
    all.set_item("is_input", argument.is_input)?;
    all.set_item("is_output", argument.is_output)?;
    all.set_item("tags", argument.tags.iter().map(|tag| tag.as_str()).collect::<Vec<_>>())?;
    let kind = match &argument.kind {
        ArgumentKind::Array { space, layout: place, .. } => {
            layout(&all, place)?;
            match space {
                AddressSpace::Global => "global",
                AddressSpace::Constant => "constant",
                AddressSpace::Local => "local",
                AddressSpace::Private => "private",
            }
        }
        ArgumentKind::Value => "value",
        ArgumentKind::Object => "object",
        ArgumentKind::Image(_) => "image",
    };
    all.set_item("kind", kind)?;
    Ok(all)
}

fn temporary<'py>(py: Python<'py>, temporary: &Temporary) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("name", temporary.name.as_str())?;
    all.set_item("kind", "temporary")?;
    all.set_item("dtype", type_object(py, temporary.ty.as_ref())?)?;
    layout(&all, &temporary.layout)?;
    all.set_item("address_space", temporary.space.map(|space| space.to_string()))?;
    all.set_item("read_only", temporary.read_only)?;
    all.set_item("base_storage", temporary.base_storage.as_ref().map(|name| name.as_str()))?;
    all.set_item("tags", temporary.tags.iter().map(|tag| tag.as_str()).collect::<Vec<_>>())?;
    Ok(all)
}

/// Texts of lengths, tags and the offset.
fn layout(all: &Bound<'_, PyDict>, layout: &Layout) -> PyResult<()> {
    match &layout.shape {
        Shape::Known(lengths) => all.set_item("shape", lengths.iter().map(ToString::to_string).collect::<Vec<_>>())?,
        Shape::Auto => all.set_item("shape", "auto")?,
        Shape::Unknown => all.set_item("shape", "unknown")?,
    }
    all.set_item("dim_tags", layout.dim_tags.iter().map(ToString::to_string).collect::<Vec<_>>())?;
    all.set_item("order", if layout.fortran_order { "F" } else { "C" })?;
    all.set_item(
        "offset",
        match &layout.offset {
            Offset::Zero => "0".to_owned(),
            Offset::Auto => "auto".to_owned(),
            Offset::Given(expr) => expr.to_string(),
        },
    )?;
    let names = layout.axis_names.as_ref().map(|names| names.iter().map(|name| name.to_string()).collect::<Vec<_>>());
    all.set_item("dim_names", names)
}

fn instruction<'py>(py: Python<'py>, instruction: &Instruction) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("id", instruction.id.as_str())?;
    all.set_item("text", instruction.to_string())?;
    let names = |names: &std::collections::BTreeSet<parloop_loop::Name>| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    all.set_item("within_inames", names(&instruction.within_inames))?;
    all.set_item("depends_on", names(&instruction.depends_on))?;
    all.set_item("depends_on_is_final", instruction.depends_on_is_final)?;
    all.set_item("within_inames_is_final", instruction.within_inames_is_final)?;
    all.set_item("groups", names(&instruction.groups))?;
    all.set_item("conflicts_with_groups", names(&instruction.conflicts))?;
    all.set_item("tags", names(&instruction.tags))?;
    all.set_item("priority", instruction.priority)?;
    let nosync = instruction.nosync.iter().map(|(id, scope)| (id.to_string(), scope.to_string()));
    all.set_item("no_sync_with", nosync.collect::<Vec<_>>())?;
    all.set_item("predicates", trees(py, instruction.predicates.iter())?)?;
    all.set_item("reduction_inames", names(&instruction.reduction_inames()))?;
    all.set_item("reads", names(&instruction.reads()))?;
    all.set_item("writes", names(&instruction.writes()))?;
    match &instruction.kind {
        InstructionKind::Assign(assignment) => {
            all.set_item("kind", "assignment")?;
            all.set_item("assignees", trees(py, [&assignment.lhs].into_iter())?)?;
            all.set_item("expression", tree(py, &assignment.rhs)?)?;
            all.set_item("is_atomic", assignment.atomic.is_some())?;
        }
        InstructionKind::Call(call) => {
            all.set_item("kind", "call")?;
            all.set_item("assignees", trees(py, call.lhs.iter())?)?;
            all.set_item("expression", tree(py, &call.rhs)?)?;
        }
        InstructionKind::C(code) => {
            all.set_item("kind", "c")?;
            all.set_item("code", code.code.text())?;
        }
        InstructionKind::Barrier { scope, .. } => {
            all.set_item("kind", "barrier")?;
            all.set_item("synchronization_kind", if *scope == SyncScope::Local { "local" } else { "global" })?;
        }
        InstructionKind::Nop => all.set_item("kind", "nop")?,
    }
    Ok(all)
}

fn trees<'py, 'a>(py: Python<'py>, exprs: impl Iterator<Item = &'a Expr>) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, exprs.map(|expr| tree(py, expr)).collect::<PyResult<Vec<_>>>()?)
}
