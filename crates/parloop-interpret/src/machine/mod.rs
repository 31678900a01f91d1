//! The machine: what each name holds at the point where the kernel is.

mod expr;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use parloop_analysis::infer;
use parloop_device::DType;
use parloop_ir::domain::Forest;
use parloop_ir::program::{NoEntry, Program};
use parloop_ir::syntax::{
    AddressSpace, ArgumentKind, Expr, InameTag, Instruction, InstructionKind, LoopKernel, Phase, Shape, Target, Type,
};
use parloop_isl::{Bound, Bounds, Name, Set};

use crate::error::InterpretError;
use crate::memory::{Variable, initial, part_of, parts_of};
use crate::number::{Datum, Number, Value};
use crate::order::{Node, Planner};

/// Runs the program's only kernel. Each argument has its numbers in C order, or one number if it is passed by value; the final values of
/// all arrays are returned.
///
/// ```
/// use parloop_interpret::{Number, interpret};
/// use parloop_loop::create::{Data, KernelBuilder};
/// let program = KernelBuilder::new()
///     .domain("{[i]: 0<=i<n}")
///     .instructions("out[i] = a[i] // 2")
///     .data(Data::global("a, out").dtype("int32").shape("n"))
///     .rest()
///     .build()?;
/// let ints = |values: &[i128]| values.iter().map(|&value| Number::Int(value)).collect::<Vec<_>>();
/// let given = [("n", ints(&[3])), ("a", ints(&[-3, 4, 5])), ("out", ints(&[0, 0, 0]))];
/// let found = interpret(&program, &given.map(|(name, numbers)| (name.into(), numbers)).into()).unwrap();
/// assert_eq!(found["out"], ints(&[-2, 2, 2]));
/// # Ok::<(), parloop_loop::error::LoopError>(())
/// ```
///
/// # Errors
/// [`InterpretError`]: missing or mismatched arguments, an index out of bounds, a read of an unwritten element, unsupported features.
pub fn interpret(program: &Program, arguments: &BTreeMap<Name, Vec<Number>>) -> Result<BTreeMap<Name, Vec<Number>>, InterpretError> {
    let program = typed(program)?;
    let entry = program.only_entry()?;
    let kernel = program.kernel(entry).ok_or_else(|| NoEntry { names: vec![entry.clone()] })?;
    let planner = Planner::of(kernel)?;
    let mut machine = Machine::new(&program, kernel, &planner)?;
    machine.load(&planner, arguments)?;
    machine.nodes(&planner.plan()?)?;
    let arrays = kernel.arguments.iter().filter(|argument| matches!(argument.kind, ArgumentKind::Array { .. }));
    let results = arrays.map(|argument| {
        let missing = || InterpretError::NoValue { name: argument.name.clone() };
        Ok((argument.name.clone(), machine.variables.get(&argument.name).and_then(Variable::numbers).ok_or_else(missing)?))
    });
    results.collect()
}

/// The program with all types known, and the memory of all temporaries.
fn typed(program: &Program) -> Result<Program, InterpretError> {
    let kernel = program.kernel(program.only_entry()?);
    let program = match kernel.is_some_and(|kernel| kernel.phase >= Phase::Typed) {
        true => program.clone(),
        false => infer::types(&program.expand_rules()?, Target::C)?,
    };
    let widened = program.entry().and_then(|kernel| infer::wide_sums(&program, kernel, None));
    let program = widened.map_or(program.clone(), |kernel| program.with_kernel(kernel));
    match program.entry() {
        Some(kernel) if kernel.temporaries.values().any(|temporary| temporary.space.is_none()) => {
            Ok(program.with_kernel(infer::address_spaces(kernel)?))
        }
        _ => Ok(program),
    }
}

/// The values from the smallest of the lower limits to the largest of the upper ones.
fn range(iname: &Name, limits: &[Bounds], value: &dyn Fn(&Name) -> Option<i64>) -> Result<std::ops::RangeInclusive<i64>, InterpretError> {
    let evaluate = |bound: &Bound, up: i64| {
        let missing = || InterpretError::Unbounded { iname: iname.clone() };
        let number = bound.affine.evaluate(value).and_then(|number| number.checked_add(up * (bound.divisor - 1)));
        Ok::<i64, InterpretError>(number.ok_or_else(missing)?.div_euclid(bound.divisor))
    };
    let (mut first, mut last) = (i64::MAX, i64::MIN);
    for bounds in limits {
        let lower = bounds.lower.iter().map(|bound| evaluate(bound, 1)).collect::<Result<Vec<_>, _>>()?;
        let upper = bounds.upper.iter().map(|bound| evaluate(bound, 0)).collect::<Result<Vec<_>, _>>()?;
        first = first.min(lower.into_iter().max().unwrap_or(0));
        last = last.max(upper.into_iter().min().unwrap_or(-1));
    }
    Ok(first..=last)
}

struct Machine<'k> {
    program: &'k Program,
    kernel: &'k LoopKernel,
    forest: Forest<'k>,
    /// For each instruction the points of its inames.
    domains: &'k [Set],
    /// The types of the results of reductions that stand in expressions.
    reduction_types: HashMap<Expr, Type>,
    variables: BTreeMap<Name, Variable>,
    /// The values of the inames around what is done, the outermost first.
    point: Vec<(Name, i64)>,
    /// The instruction that is done.
    instruction: Name,
}

impl<'k> Machine<'k> {
    fn new(program: &'k Program, kernel: &'k LoopKernel, planner: &'k Planner<'k>) -> Result<Machine<'k>, InterpretError> {
        let mut reduction_types = HashMap::new();
        for expr in kernel.instructions.iter().flat_map(|instruction| instruction.exprs()) {
            let mut found = Vec::new();
            expr.visit(&mut |part| found.extend(matches!(part, Expr::Reduction(_)).then_some(part)));
            for reduction in found {
                if let Ok(ty) = infer::type_of(program, kernel, reduction) {
                    reduction_types.insert(reduction.clone(), ty);
                }
            }
        }
        Ok(Machine {
            program,
            kernel,
            forest: Forest::of(kernel),
            domains: &planner.domains,
            reduction_types,
            variables: BTreeMap::new(),
            point: Vec::new(),
            instruction: "(none)".into(),
        })
    }

    fn load(&mut self, planner: &Planner<'_>, arguments: &BTreeMap<Name, Vec<Number>>) -> Result<(), InterpretError> {
        let kernel = self.kernel;
        let (values, arrays): (Vec<_>, Vec<_>) = kernel.arguments.iter().partition(|argument| argument.kind == ArgumentKind::Value);
        for argument in values.into_iter().chain(arrays) {
            let (ty, dtypes) = self.parts(&argument.name, argument.ty.as_ref())?;
            let shape = match &argument.kind {
                ArgumentKind::Value => Vec::new(),
                ArgumentKind::Array { layout, .. } => self.shape(&argument.name, &layout.shape)?,
                _ => return Err(self.unsupported(format!("argument `{}`, which is an object or an image", argument.name))),
            };
            let given = arguments.get(&argument.name).ok_or_else(|| InterpretError::Missing { argument: argument.name.clone() })?;
            let expected: usize = shape.iter().product::<usize>() * dtypes.len();
            if given.len() != expected {
                return Err(InterpretError::WrongLength { argument: argument.name.clone(), expected, found: given.len() });
            }
            let numbers = given.iter().zip(dtypes.iter().cycle()).map(|(number, dtype)| number.to(*dtype)).collect::<Option<Vec<_>>>();
            let missing = || InterpretError::NoValue { name: argument.name.clone() };
            let variable = Variable::new(&ty, shape, Vec::new(), Some(numbers.ok_or_else(missing)?));
            self.variables.insert(argument.name.clone(), variable.ok_or_else(missing)?);
        }
        for temporary in kernel.temporaries.values() {
            let (ty, _) = self.parts(&temporary.name, temporary.ty.as_ref())?;
            let shape = self.shape(&temporary.name, &temporary.layout.shape)?;
            let numbers = temporary.initializer.as_ref().map(|initializer| initial(&temporary.name, initializer)).transpose()?;
            if let Some(found) = numbers.as_ref().map(Vec::len).filter(|&found| found != shape.iter().product::<usize>()) {
                return Err(InterpretError::WrongLength { argument: temporary.name.clone(), expected: shape.iter().product(), found });
            }
            let axes = self.copies_along(planner, &temporary.name, temporary.space);
            let missing = || InterpretError::NoValue { name: temporary.name.clone() };
            self.variables.insert(temporary.name.clone(), Variable::new(&ty, shape, axes, numbers).ok_or_else(missing)?);
        }
        Ok(())
    }

    /// The axes along which a temporary has copies: those of all that write it, of groups alone for local memory.
    fn copies_along(&self, planner: &Planner<'_>, name: &Name, space: Option<AddressSpace>) -> Vec<InameTag> {
        let along = |instruction: &Instruction| -> BTreeSet<InameTag> {
            instruction.within_inames.iter().filter_map(|iname| planner.axis(iname).cloned()).collect()
        };
        let writers = self.kernel.instructions.iter().filter(|instruction| instruction.writes().contains(name));
        let axes = writers.map(|writer| along(writer)).reduce(|a, b| &a & &b).unwrap_or_default();
        let kept = |axis: &InameTag| match space {
            Some(AddressSpace::Private) | None => true,
            Some(AddressSpace::Local) => matches!(axis, InameTag::Group(_)),
            Some(AddressSpace::Global | AddressSpace::Constant) => false,
        };
        axes.into_iter().filter(kept).collect()
    }

    /// The type of a variable, and those of the numbers of an element.
    fn parts(&self, name: &Name, ty: Option<&Type>) -> Result<(Type, Vec<DType>), InterpretError> {
        let found = ty.and_then(|ty| Some((ty.clone(), parts_of(ty)?)));
        found.ok_or_else(|| self.unsupported(format!("`{name}`, which does not hold numbers")))
    }

    fn shape(&mut self, array: &Name, shape: &Shape) -> Result<Vec<usize>, InterpretError> {
        let Shape::Known(lengths) = shape else {
            return Err(InterpretError::NoShape { array: array.clone(), place: 0, axis: "not known".into() });
        };
        let mut found = Vec::with_capacity(lengths.len());
        let mut total = 1usize;
        for (place, length) in lengths.iter().enumerate() {
            let number = self.value(length).ok().and_then(|value| value.number.integer());
            let number = number.map(|number| number.max(0)).and_then(|number| usize::try_from(number).ok());
            let product = number.and_then(|number| total.checked_mul(number)).filter(|&product| product <= 1 << 28);
            let (Some(number), Some(product)) = (number, product) else {
                return Err(InterpretError::NoShape { array: array.clone(), place, axis: length.to_string() });
            };
            total = product;
            found.push(number);
        }
        Ok(found)
    }

    fn nodes(&mut self, nodes: &[Node]) -> Result<(), InterpretError> {
        for node in nodes {
            match node {
                Node::Run(place) => self.run(*place)?,
                Node::Loop { iname, bounds, body } => {
                    for value in range(iname, bounds, &|name| self.integer(name))? {
                        self.point.push((iname.clone(), value));
                        let done = self.nodes(body);
                        self.point.pop();
                        done?;
                    }
                }
            }
        }
        Ok(())
    }

    fn run(&mut self, place: usize) -> Result<(), InterpretError> {
        let instruction = &self.kernel.instructions[place];
        self.instruction = instruction.id.clone();
        if !self.has_point(&self.domains[place])? {
            return Ok(());
        }
        for predicate in &instruction.predicates {
            if !self.value(predicate)?.number.is_true() {
                return Ok(());
            }
        }
        match &instruction.kind {
            InstructionKind::Assign(assignment) => {
                let value = self.datum(&assignment.rhs)?;
                self.write(&assignment.lhs, value)
            }
            InstructionKind::Barrier { .. } | InstructionKind::Nop => Ok(()),
            InstructionKind::Call(call) => {
                let Expr::Call(rhs) = &call.rhs else { return Err(self.unsupported("several results that are not those of a call")) };
                let values = self.call(rhs)?;
                if values.len() != call.lhs.len() {
                    return Err(self.unsupported("a call with several results or with arrays"));
                }
                call.lhs.iter().zip(values).try_for_each(|(lhs, value)| self.write(lhs, value))
            }
            InstructionKind::C(_) => Err(self.unsupported("C code")),
        }
    }

    fn has_point(&self, domain: &Set) -> Result<bool, InterpretError> {
        let names = || domain.dims().iter().chain(domain.params());
        domain.contains(&|name| self.integer(name)).ok_or_else(|| {
            let unknown = names().find(|name| self.integer(name).is_none());
            InterpretError::NoValue { name: unknown.cloned().unwrap_or_else(|| self.instruction.clone()) }
        })
    }

    /// The value of an iname here.
    fn at(&self, name: &str) -> Option<i64> {
        self.point.iter().find(|(iname, _)| iname == name).map(|(_, value)| *value)
    }

    /// The value of an iname, or of an integer that is an argument or temporary.
    fn integer(&self, name: &Name) -> Option<i64> {
        self.at(name).or_else(|| {
            let variable = self.variables.get(name).filter(|variable| variable.shape.is_empty())?;
            variable.read(&self.copy_of(variable)?, 0, 0)?.integer().and_then(|integer| i64::try_from(integer).ok())
        })
    }

    /// Which copy of a variable is meant here.
    fn copy_of(&self, variable: &Variable) -> Option<Vec<i64>> {
        let along = |axis: &InameTag| {
            let runs_along = |iname: &Name| self.kernel.inames.get(iname).is_some_and(|iname| iname.tags.contains(axis));
            self.point.iter().find(|(iname, _)| runs_along(iname)).map(|(_, value)| *value)
        };
        variable.axes.iter().map(along).collect()
    }

    /// An element, or the component of it at that place.
    fn read(&mut self, name: &Name, indices: &[Expr], part: Option<usize>) -> Result<Datum, InterpretError> {
        let (copy, place, indices) = self.element(name, indices)?;
        let variable = &self.variables[name];
        let index = || indices.iter().map(|&index| usize::try_from(index).unwrap_or(0)).collect();
        let missing = || InterpretError::NotWritten { instruction: self.instruction.clone(), array: name.clone(), index: index() };
        let number = |part: usize| {
            let number = variable.read(&copy, place, part).ok_or_else(missing)?;
            Ok::<Value, InterpretError>(Value::strong(variable.dtypes[part], number))
        };
        match part {
            Some(part) => Ok(Datum::One(number(part)?)),
            None if variable.has_components => Ok(Datum::Many((0..variable.dtypes.len()).map(number).collect::<Result<_, _>>()?)),
            None => Ok(Datum::One(number(0)?)),
        }
    }

    fn write(&mut self, lhs: &Expr, value: Datum) -> Result<(), InterpretError> {
        let (inner, field) = match lhs {
            Expr::Lookup(aggregate, field) => (&**aggregate, Some(field)),
            other => (other, None),
        };
        let (name, indices): (&Name, &[Expr]) = match inner {
            Expr::Variable(name) => (name, &[]),
            Expr::Subscript(aggregate, indices) => match &**aggregate {
                Expr::Variable(name) => (name, indices),
                _ => return Err(self.unsupported(format!("`{lhs}`"))),
            },
            _ => return Err(self.unsupported(format!("`{lhs}`"))),
        };
        let only = match field {
            None => None,
            Some(field) => {
                let ty = infer::type_of(self.program, self.kernel, inner)?;
                Some(part_of(&ty, field).ok_or_else(|| self.unsupported(format!("`{lhs}`")))?)
            }
        };
        let (copy, place, _) = self.element(name, indices)?;
        let dtypes = self.variables[name].dtypes.clone();
        let parts = only.map_or(0..dtypes.len(), |part| part..part + 1);
        for (at, part) in parts.enumerate() {
            let value = value.part(at).ok_or_else(|| self.unsupported(format!("`{lhs}`")))?;
            let number = self.checked(value.to(dtypes[part]))?.number;
            if let Some(variable) = self.variables.get_mut(name) {
                variable.write(copy.clone(), place, part, number);
            }
        }
        Ok(())
    }

    /// The copy, the place in it, and the indices of an element.
    fn element(&mut self, name: &Name, indices: &[Expr]) -> Result<(Vec<i64>, usize, Vec<i128>), InterpretError> {
        let mut found = Vec::with_capacity(indices.len());
        for index in indices {
            let integer = self.value(index)?.number.integer();
            found.push(integer.ok_or_else(|| self.unsupported(format!("`{index}` as an index")))?);
        }
        let variable = self.variables.get(name).ok_or_else(|| InterpretError::NoValue { name: name.clone() })?;
        if found.len() != variable.shape.len() {
            return Err(self.unsupported(format!("`{name}` with {} indices for {} axes", found.len(), variable.shape.len())));
        }
        let place = variable.place(&found).map_err(|(axis, index)| InterpretError::OutOfBounds {
            instruction: self.instruction.clone(),
            array: name.clone(),
            axis,
            index,
            limit: variable.shape[axis],
        })?;
        let copy = self.copy_of(variable);
        Ok((copy.ok_or_else(|| self.unsupported(format!("`{name}` outside of the work items that write it")))?, place, found))
    }

    fn unsupported(&self, what: impl Into<String>) -> InterpretError {
        InterpretError::Unsupported { instruction: self.instruction.clone(), what: what.into() }
    }
}
