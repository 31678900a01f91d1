//! Arguments: those that are declared, those inferred from undeclared names, and the order of their axes.

use std::collections::{BTreeMap, BTreeSet};

use parloop_ir::functions::is_constant;
use parloop_ir::syntax::{
    AddressSpace, Argument, ArgumentKind, DimTag, Expr, Instruction, InstructionKind, Layout, Offset, Shape, Stride, Temporary, Type,
};
use parloop_isl::Name;

use super::data::{Order, check_name};
use super::error::{CreateError, NameKind};
use super::making::{Datum, Making};

/// Adds the declared data. A name without a kind is a value until its use is known.
pub(super) fn read_data(making: &mut Making) -> Result<(), CreateError> {
    let mut named = BTreeSet::new();
    let taken = &mut making.kinds();
    for datum in std::mem::take(&mut making.data) {
        match datum {
            Datum::Argument(argument) => add_argument(making, taken, argument)?,
            Datum::Temporary(temporary) => add_temporary(making, taken, temporary)?,
            Datum::Named(names) => {
                for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
                    add_argument(making, taken, argument_of(name.into(), ArgumentKind::Value))?;
                    named.insert(Name::from(name));
                }
            }
            Datum::Given(data) => {
                let read = data.read()?;
                let names =
                    read.arguments.iter().map(|argument| &argument.name).chain(read.temporaries.iter().map(|temporary| &temporary.name));
                let names: Vec<Name> = names.cloned().collect();
                if read.order_given {
                    making.ordered.extend(names.iter().cloned());
                }
                if read.auto_strides {
                    making.auto_strides.extend(names);
                }
                read.arguments.into_iter().try_for_each(|argument| add_argument(making, taken, argument))?;
                read.temporaries.into_iter().try_for_each(|temporary| add_temporary(making, taken, temporary))?;
            }
        }
    }
    if named.is_empty() {
        return Ok(());
    }
    let uses = Uses::of(making)?;
    for argument in making.kernel.arguments.iter_mut().filter(|argument| named.contains(&argument.name)) {
        argument.kind = uses.kind(&argument.name, &making.default_offset);
    }
    Ok(())
}

fn add_argument(making: &mut Making, taken: &mut BTreeMap<Name, NameKind>, mut argument: Argument) -> Result<(), CreateError> {
    // A vector or record is passed by its memory: an array without axes.
    if argument.kind == ArgumentKind::Value && argument.ty.as_ref().is_some_and(Type::has_components) {
        argument.kind = ArgumentKind::Array { space: AddressSpace::Global, layout: Layout::scalar(), alignment: None };
    }
    if argument.is_input == Some(false) && argument.is_output == Some(false) {
        return Err(CreateError::NoDirection { name: argument.name });
    }
    take(taken, &argument.name, NameKind::Argument)?;
    making.kernel.arguments.push(argument);
    Ok(())
}

fn add_temporary(making: &mut Making, taken: &mut BTreeMap<Name, NameKind>, temporary: Temporary) -> Result<(), CreateError> {
    take(taken, &temporary.name, NameKind::Temporary)?;
    check_initializer(&temporary)?;
    making.kernel.temporaries.insert(temporary.name.clone(), temporary);
    Ok(())
}

fn check_initializer(temporary: &Temporary) -> Result<(), CreateError> {
    let Some(values) = &temporary.initializer else { return Ok(()) };
    let name = || temporary.name.clone();
    let needed = values.shape.iter().try_fold(values.dtype.size() as u128, |size, &length| size.checked_mul(length as u128));
    let (found, needed) = (values.bytes.len(), needed.unwrap_or(u128::MAX));
    if found as u128 != needed {
        return Err(CreateError::InitializerSize { name: name(), found, needed });
    }
    if let Shape::Known(lengths) = &temporary.layout.shape {
        let given: Vec<String> = lengths.iter().map(Expr::to_string).collect();
        let found: Vec<String> = values.shape.iter().map(usize::to_string).collect();
        if given != found {
            return Err(CreateError::InitializerShape { name: name(), given: given.join(", "), found: found.join(", ") });
        }
    }
    Ok(())
}

fn take(taken: &mut BTreeMap<Name, NameKind>, name: &Name, second: NameKind) -> Result<(), CreateError> {
    check_name(name)?;
    match taken.insert(name.clone(), second) {
        None | Some(NameKind::Parameter) => Ok(()),
        Some(first) => Err(CreateError::NameTwice { name: name.clone(), first, second }),
    }
}

fn argument_of(name: Name, kind: ArgumentKind) -> Argument {
    Argument { name, ty: None, kind, is_input: None, is_output: None, tags: BTreeSet::new() }
}

/// Turns all undeclared names into arguments, in the order of their names.
pub(super) fn guess_arguments(making: &mut Making) -> Result<(), CreateError> {
    if !making.guess {
        return Ok(());
    }
    let uses = Uses::of(making)?;
    let is_read_as_constant = |name: &&Name| is_constant(name) && !uses.written.contains(*name) && !uses.indexed.contains_key(*name);
    let mut wanted: BTreeSet<Name> = uses.read.union(&uses.written).filter(|name| !is_read_as_constant(name)).cloned().collect();
    wanted.extend(uses.parameters.iter().cloned());
    for argument in &making.kernel.arguments {
        if let ArgumentKind::Array { layout, .. } = &argument.kind {
            wanted.extend(layout_names(layout));
        }
    }
    wanted.extend(making.kernel.temporaries.values().flat_map(|temporary| layout_names(&temporary.layout)));
    let kinds = making.kinds();
    for name in wanted {
        if matches!(kinds.get(&name), None | Some(NameKind::Parameter)) {
            let kind = uses.kind(&name, &making.default_offset);
            making.kernel.arguments.push(argument_of(name, kind));
        }
    }
    Ok(())
}

/// The names in lengths, strides and the offset of an array.
pub(super) fn layout_names(layout: &Layout) -> BTreeSet<Name> {
    let mut found = BTreeSet::new();
    if let Shape::Known(lengths) = &layout.shape {
        found.extend(lengths.iter().flat_map(Expr::variables));
    }
    for tag in &layout.dim_tags {
        if let DimTag::Stride(Stride::Fixed(stride)) = tag {
            found.extend(stride.variables());
        }
    }
    if let Offset::Given(offset) = &layout.offset {
        found.extend(offset.variables());
    }
    found
}

/// How names are used in the instructions.
struct Uses {
    read: BTreeSet<Name>,
    written: BTreeSet<Name>,
    parameters: BTreeSet<Name>,
    indexed: BTreeMap<Name, Indexing>,
}

#[derive(Clone, Copy, PartialEq)]
enum Indexing {
    Array,
    Object,
}

impl Uses {
    fn of(making: &Making) -> Result<Uses, CreateError> {
        let mut uses = Uses { read: BTreeSet::new(), written: BTreeSet::new(), parameters: BTreeSet::new(), indexed: BTreeMap::new() };
        for instruction in making.expanded()? {
            uses.read.extend(instruction.reads());
            uses.written.extend(instruction.writes());
            for expr in instruction.exprs() {
                expr.visit(&mut |inner| uses.note(inner));
            }
            uses.note_declared(&instruction);
        }
        for domain in &making.kernel.domains {
            uses.parameters.extend(domain.params().iter().filter(|param| !making.kernel.inames.contains_key(*param)).cloned());
        }
        uses.parameters.extend(making.kernel.assumptions.params().iter().cloned());
        Ok(uses)
    }

    fn note(&mut self, expr: &Expr) {
        match expr {
            Expr::Subscript(array, _) | Expr::LinearSubscript(array, _) => {
                if let Expr::Variable(name) = &**array {
                    self.indexed.insert(name.clone(), Indexing::Array);
                }
            }
            Expr::SubArray(part) => {
                self.indexed.insert(part.array.clone(), Indexing::Array);
            }
            // Real and imaginary parts are fields of numbers.
            Expr::Lookup(object, field) if field != "real" && field != "imag" => {
                if let Expr::Variable(name) = &**object {
                    self.indexed.entry(name.clone()).or_insert(Indexing::Object);
                }
            }
            _ => {}
        }
    }

    /// A variable that an instruction declares is not an argument.
    fn note_declared(&mut self, instruction: &Instruction) {
        let declared: Vec<&Expr> = match &instruction.kind {
            InstructionKind::Assign(assignment) if assignment.declares.is_some() => vec![&assignment.lhs],
            InstructionKind::Call(call) => {
                call.lhs.iter().zip(&call.declares).filter(|(_, declares)| declares.is_some()).map(|(lhs, _)| lhs).collect()
            }
            _ => return,
        };
        for name in declared.into_iter().filter_map(Expr::written_name) {
            self.written.remove(name);
        }
    }

    fn kind(&self, name: &Name, offset: &Offset) -> ArgumentKind {
        match self.indexed.get(name) {
            _ if self.parameters.contains(name) => ArgumentKind::Value,
            Some(Indexing::Object) => ArgumentKind::Object,
            None if !self.written.contains(name) => ArgumentKind::Value,
            _ => {
                let layout = Layout { offset: offset.clone(), ..Layout::c_order(Shape::Auto) };
                ArgumentKind::Array { space: AddressSpace::Global, layout, alignment: None }
            }
        }
    }
}

/// Gives arrays without an explicit order of axes the default one, and automatic strides to those that request them.
pub(super) fn apply_default_order(making: &mut Making) -> Result<(), CreateError> {
    let arrays = making.kernel.arguments.iter_mut().filter_map(|argument| match &mut argument.kind {
        ArgumentKind::Array { layout, .. } => Some((&argument.name, layout)),
        _ => None,
    });
    for (name, layout) in arrays {
        let by_default = !making.ordered.contains(name) && layout.dim_tags.is_empty();
        let auto = making.auto_strides.contains(name) || (by_default && making.default_order == Order::Auto);
        match &layout.shape {
            Shape::Known(lengths) if !layout.dim_tags.is_empty() && lengths.len() != layout.dim_tags.len() => {
                return Err(CreateError::AxesDiffer { name: name.clone(), found: layout.dim_tags.len(), axes: lengths.len() });
            }
            Shape::Known(lengths) if auto && layout.dim_tags.is_empty() => {
                layout.dim_tags = vec![DimTag::Stride(Stride::Auto); lengths.len()]
            }
            _ if by_default && making.default_order == Order::Fortran => layout.fortran_order = true,
            _ => {}
        }
    }
    // Temporaries have no automatic strides.
    for temporary in making.kernel.temporaries.values_mut() {
        if making.default_order == Order::Fortran && !making.ordered.contains(&temporary.name) && temporary.layout.dim_tags.is_empty() {
            temporary.layout.fortran_order = true;
        }
    }
    Ok(())
}
