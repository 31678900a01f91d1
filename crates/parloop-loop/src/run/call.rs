//! The plan of a call: its arguments with types and shapes, and how sizes follow from the arrays that are passed. Nothing here uses a
//! device.

use parloop_codegen::check::CallBound;
use parloop_ir::layout::{Axis, Hidden};
use parloop_ir::syntax::{ArgumentKind, ClassType, LoopKernel, Offset, Type};
use parloop_isl::Name;
use parloop_kernel::{Gap, Order, first_gap};
use smallvec::SmallVec;

use super::RunError;
use super::assumption::{Assumption, assumptions_of};
use super::fields::{PlannedField, fields_of};
use super::formula::{Formula, Values};
use super::overlap::{Apart, Location, overlaps_itself, pairs_apart, shared_fields};
use super::planned::{GivenArgument, GivenArray, GivenObject, PlannedArg, PlannedKind};
use super::reach::Reach;

/// The arguments of a kernel, and how a call completes them.
#[derive(Clone, Debug)]
pub struct CallPlan {
    kernel: Name,
    args: Vec<PlannedArg>,
    /// The names of the integers that formulas use, by position.
    names: Vec<Name>,
    /// For each integer that is an argument: its position among the arguments.
    sources: Vec<Source>,
    /// What must hold of the integers.
    assumptions: Vec<Assumption>,
    /// Indices that are in bounds only for some numbers.
    reaches: Vec<Reach>,
    /// The arguments that may not share memory.
    apart: Vec<Apart>,
}

/// Where an integer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// The value of that argument; shapes may determine it.
    Argument(usize),
    /// The stride of that argument's array along an axis.
    Stride(usize, usize),
    /// The length of that argument's array along an axis, which the kernel does not give.
    Length(usize, usize),
    /// How many elements that argument's array has, if the kernel does not give its axes.
    Elements(usize),
    /// Where that argument's array begins in its memory; 0, since arrays are passed by where they begin.
    Offset,
}

impl Source {
    /// What is given for the argument that it is of.
    fn given(self, given: &[GivenArgument]) -> &GivenArgument {
        match self {
            Source::Argument(index) | Source::Stride(index, _) | Source::Length(index, _) | Source::Elements(index) => &given[index],
            Source::Offset => &GivenArgument::Missing,
        }
    }
}

impl CallPlan {
    /// The plan of a kernel whose types are known, with the indices that each call checks.
    ///
    /// # Errors
    /// [`RunError::NoFormula`] for a shape or stride that the host cannot compute, [`RunError::Untyped`].
    pub fn of(kernel: &LoopKernel, bounds: &[CallBound]) -> Result<CallPlan, RunError> {
        let written = kernel.instructions.iter().flat_map(|instruction| instruction.writes()).collect::<std::collections::BTreeSet<_>>();
        let read = kernel.instructions.iter().flat_map(|instruction| instruction.reads()).collect::<std::collections::BTreeSet<_>>();
        let mut plan = CallPlan {
            kernel: kernel.name.clone(),
            args: Vec::new(),
            names: Vec::new(),
            sources: Vec::new(),
            assumptions: Vec::new(),
            reaches: Vec::new(),
            apart: Vec::new(),
        };
        for (index, argument) in kernel.arguments.iter().enumerate() {
            if let (ArgumentKind::Value, Some(Type::Scalar(dtype))) = (&argument.kind, &argument.ty)
                && dtype.is_integer()
            {
                plan.names.push(argument.name.clone());
                plan.sources.push(Source::Argument(index));
            }
            if let ArgumentKind::Array { layout, .. } = &argument.kind {
                for (name, hidden) in layout.hidden_parameters(&argument.name) {
                    plan.names.push(name);
                    plan.sources.push(match hidden {
                        Hidden::Stride(axis) => Source::Stride(index, axis),
                        Hidden::Offset => Source::Offset,
                    });
                }
                for (axis, name) in layout.unknown_lengths(&argument.name).into_iter().enumerate() {
                    plan.names.push(name);
                    plan.sources.push(if layout.axis_count().is_some() { Source::Length(index, axis) } else { Source::Elements(index) });
                }
            }
        }
        plan.assumptions = assumptions_of(&kernel.assumptions, &|name| plan.place(name), &|expr| plan.formula(expr).ok());
        plan.reaches = bounds.iter().map(|bound| Reach::of(bound, |name| plan.place(name))).collect::<Result<_, _>>()?;
        let mut fields = fields_of(kernel, &|expr| plan.formula(expr).ok())?;
        for argument in &kernel.arguments {
            let kind = match &argument.ty {
                Some(Type::Class(class)) => {
                    let fields = fields.remove(&argument.name).unwrap_or_default();
                    // A reference in it may lead to what another one leads to.
                    let is_located =
                        fields.iter().any(|field| field.is_written) && fields.iter().any(|field| is_behind_reference(class, field));
                    PlannedKind::Object { class: class.clone(), fields, is_located }
                }
                _ => plan.kind(argument)?,
            };
            let is_output = argument.is_output.unwrap_or_else(|| written.contains(&argument.name));
            let (is_written, is_read) = (written.contains(&argument.name), read.contains(&argument.name));
            let is_input = argument.is_input.unwrap_or(!is_output || is_read);
            let components = argument.ty.clone().filter(Type::has_components);
            plan.args.push(PlannedArg { name: argument.name.clone(), kind, is_input, is_output, is_written, is_read, components });
        }
        plan.apart = pairs_apart(kernel, &plan.args, &written);
        for index in plan.apart.iter().flat_map(|pair| [pair.written, pair.other]) {
            if let PlannedKind::Object { is_located, .. } = &mut plan.args[index].kind {
                *is_located = true;
            }
        }
        Ok(plan)
    }

    fn kind(&self, argument: &parloop_ir::syntax::Argument) -> Result<PlannedKind, RunError> {
        let untyped = || RunError::Untyped { kernel: self.kernel.clone(), argument: argument.name.clone() };
        let (dtype, numbers) = argument.ty.as_ref().and_then(Type::numbers).ok_or_else(untyped)?;
        let formula = |expr: &parloop_ir::syntax::Expr| {
            self.formula(expr).map_err(|part| RunError::NoFormula { argument: argument.name.clone(), part: part.to_string() })
        };
        match &argument.kind {
            ArgumentKind::Array { layout, .. } => {
                let shape = layout.lengths().map(|lengths| lengths.iter().map(formula).collect::<Result<Vec<_>, _>>()).transpose()?;
                let axes = match layout.axes(&argument.name) {
                    // Used by the position in memory alone: it may have any axes.
                    Err(parloop_ir::layout::LayoutError::UnknownAxes { .. }) => Vec::new(),
                    axes => axes?,
                };
                let strides = axes.iter().enumerate().map(|(axis, kind)| match kind {
                    Axis::Stride(expr) if !self.is_hidden_stride(argument, axis) => formula(expr).map(Some),
                    _ => Ok(None),
                });
                let strides = strides.collect::<Result<_, _>>()?;
                let separate = (0..axes.len()).filter(|&axis| axes[axis] == Axis::Separate).collect();
                let offset = match &layout.offset {
                    Offset::Given(offset) => Some(formula(offset)?),
                    Offset::Zero | Offset::Auto => None,
                };
                Ok(PlannedKind::Array { dtype, numbers, shape, strides, separate, offset })
            }
            ArgumentKind::Value if argument.ty.as_ref().is_some_and(Type::has_components) => Err(untyped()),
            ArgumentKind::Value => Ok(PlannedKind::Value { dtype, place: self.place(&argument.name) }),
            ArgumentKind::Object | ArgumentKind::Image(_) => Err(untyped()),
        }
    }

    fn is_hidden_stride(&self, argument: &parloop_ir::syntax::Argument, axis: usize) -> bool {
        self.place(&parloop_ir::layout::stride_parameter(&argument.name, axis)).is_some()
    }

    /// The kernel's name.
    pub fn kernel(&self) -> &Name {
        &self.kernel
    }

    /// The names of the integers of a call with their values.
    pub fn sizes(&self, values: &Values) -> impl Iterator<Item = (&Name, i64)> {
        self.names.iter().zip(values.iter().copied()).filter_map(|(name, value)| Some((name, value?)))
    }

    /// How many integers formulas may use.
    pub(super) fn integers(&self) -> usize {
        self.names.len()
    }

    /// The argument of which an integer is the length along an axis that the kernel does not say.
    pub(super) fn length_at(&self, place: usize) -> Option<usize> {
        match self.sources.get(place) {
            Some(Source::Length(argument, _) | Source::Elements(argument)) => Some(*argument),
            _ => None,
        }
    }

    /// The error for an unknown argument.
    pub fn unknown(&self, name: &str) -> RunError {
        let names = self.args.iter().map(|arg| arg.name.as_str()).collect::<Vec<_>>().join(", ");
        RunError::UnknownArgument { kernel: self.kernel.clone(), argument: name.into(), names }
    }

    pub(super) fn place(&self, name: &Name) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// The formula of an integer expression of the kernel's parameters.
    ///
    /// # Errors
    /// The part that is none.
    pub fn formula(&self, expr: &parloop_ir::syntax::Expr) -> Result<Formula, parloop_ir::syntax::Expr> {
        Formula::of(expr, &mut |name| self.place(name))
    }

    /// The arguments, in order.
    pub fn args(&self) -> &[PlannedArg] {
        &self.args
    }

    /// The place of an argument by its name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.args.iter().position(|arg| arg.name == name)
    }

    /// The integers of a call: as given, or inferred from array shapes. Every array is checked against them.
    ///
    /// # Errors
    /// If an argument is missing or does not match, with both shapes, or if an assumption about sizes does not hold.
    pub fn resolve(&self, given: &[GivenArgument]) -> Result<Values, RunError> {
        let values = self.resolve_integers(given)?;
        for (arg, given) in self.args.iter().zip(given) {
            self.check(arg, given, &values)?;
        }
        self.reaches.iter().try_for_each(|reach| reach.check(&self.kernel, &values))?;
        Ok(values)
    }

    /// The integers of a call, without checking the other arguments.
    ///
    /// # Errors
    /// Which integer is missing.
    pub(super) fn resolve_integers(&self, given: &[GivenArgument]) -> Result<Values, RunError> {
        let mut values: Values = SmallVec::from_elem(None, self.names.len());
        for (place, source) in self.sources.iter().enumerate() {
            values[place] = match *source {
                Source::Argument(index) => match &given[index] {
                    GivenArgument::Int(value) => Some(*value),
                    _ => None,
                },
                Source::Stride(index, axis) => match &given[index] {
                    GivenArgument::Array(array) => self.whole_stride(index, array, axis)?,
                    _ => None,
                },
                Source::Length(index, axis) => match &given[index] {
                    GivenArgument::Array(array) => array.shape.get(axis).copied(),
                    _ => None,
                },
                Source::Elements(index) => match &given[index] {
                    GivenArgument::Array(array) => array.shape.iter().try_fold(1i64, |product, &length| product.checked_mul(length)),
                    _ => None,
                },
                Source::Offset => Some(0),
            };
        }
        self.deduce(given, &mut values);
        for (place, source) in self.sources.iter().enumerate() {
            if let (Source::Argument(index), GivenArgument::Number) = (source, source.given(given)) {
                return Err(self.not_an_integer(&self.args[*index]));
            }
            if let (Source::Argument(index), None) = (source, values[place]) {
                return Err(RunError::Missing { kernel: self.kernel.clone(), argument: self.args[*index].name.clone() });
            }
        }
        self.assumptions.iter().try_for_each(|assumption| assumption.check(&self.kernel, &values))?;
        Ok(values)
    }

    /// Checks that each integer fits the type that the kernel takes it as.
    pub(super) fn check_integers(&self, values: &Values) -> Result<(), RunError> {
        for arg in &self.args {
            let PlannedKind::Value { dtype, place: Some(place) } = &arg.kind else { continue };
            let (Some(value), Some((least, most))) = (values[*place], dtype.integer_range()) else { continue };
            if !(least..=most).contains(&value.into()) {
                let (kernel, argument) = (self.kernel.clone(), arg.name.clone());
                return Err(RunError::Range { kernel, argument, value, dtype: *dtype });
            }
        }
        Ok(())
    }

    /// Infers sizes from the shapes of the arrays that are passed, repeatedly. If no array determines a size, a loop covers the whole field
    /// of an object.
    fn deduce(&self, given: &[GivenArgument], values: &mut Values) {
        let mut progress = true;
        while progress && values.contains(&None) {
            progress = false;
            for (arg, given) in self.args.iter().zip(given) {
                let (PlannedKind::Array { shape: Some(shape), .. }, GivenArgument::Array(array)) = (&arg.kind, given) else { continue };
                for (formula, &length) in shape.iter().zip(&array.shape) {
                    progress |= solve(formula, length, values);
                }
            }
            progress = progress || self.deduce_from_fields(given, values);
        }
    }

    /// The first size that a field of an object tells.
    fn deduce_from_fields(&self, given: &[GivenArgument], values: &mut Values) -> bool {
        for (arg, given) in self.args.iter().zip(given) {
            let (PlannedKind::Object { fields, .. }, GivenArgument::Object(object)) = (&arg.kind, given) else { continue };
            for (field, lengths) in fields.iter().zip(&object.lengths) {
                let mut known = field.needed.iter().filter_map(|(axis, formula)| Some((formula, *lengths.get(*axis)?)));
                if known.any(|(formula, length)| solve(formula, length, values)) {
                    return true;
                }
            }
        }
        false
    }

    fn check(&self, arg: &PlannedArg, given: &GivenArgument, values: &Values) -> Result<(), RunError> {
        match (&arg.kind, given) {
            (PlannedKind::Array { dtype, shape, strides, offset, .. }, GivenArgument::Array(array)) => {
                if array.dtype != *dtype {
                    let (expected, found) = (*dtype, array.dtype);
                    return Err(RunError::WrongType { kernel: self.kernel.clone(), argument: arg.name.clone(), expected, found });
                }
                if shape.is_none() && !strides.is_empty() && strides.len() != array.shape.len() {
                    let (expected, found) = (strides.len(), array.shape.len());
                    return Err(RunError::WrongRank { kernel: self.kernel.clone(), argument: arg.name.clone(), expected, found });
                }
                if shape.is_none() && strides.is_empty() {
                    return self.check_contiguous(arg, array);
                }
                if let Some(shape) = shape {
                    let expected = self.evaluate(arg, shape, values)?;
                    if expected[..] != array.shape[..] {
                        let found = array.shape.to_vec();
                        let (kernel, argument) = (self.kernel.clone(), arg.name.clone());
                        return Err(RunError::WrongShape { kernel, argument, expected: expected.to_vec(), found });
                    }
                }
                self.check_strides(arg, strides, array, values)?;
                if arg.is_written && strides.contains(&None) && overlaps_itself(array) {
                    let (shape, strides) = (array.shape.to_vec(), array.strides.to_vec());
                    return Err(RunError::OverlapsItself { kernel: self.kernel.clone(), argument: arg.name.clone(), shape, strides });
                }
                match offset {
                    Some(offset) => self.check_offset(arg, offset, array, values),
                    None => Ok(()),
                }
            }
            (PlannedKind::Array { .. }, GivenArgument::Missing) if arg.is_output && !arg.is_input => Ok(()),
            (PlannedKind::Value { place: Some(_), .. }, GivenArgument::Missing | GivenArgument::Int(_)) => Ok(()),
            (PlannedKind::Value { place: None, .. }, GivenArgument::Int(_) | GivenArgument::Number) => Ok(()),
            (PlannedKind::Object { fields, .. }, GivenArgument::Object(object)) => self.check_fields(arg, fields, object, values),
            (_, GivenArgument::Missing) => Err(RunError::Missing { kernel: self.kernel.clone(), argument: arg.name.clone() }),
            _ => Err(self.wrong_kind(arg)),
        }
    }

    fn not_an_integer(&self, arg: &PlannedArg) -> RunError {
        let dtype = match &arg.kind {
            PlannedKind::Value { dtype, .. } => dtype.name(),
            _ => "int64",
        };
        let expected = format!("an integer of type {dtype} that fits into 64 bits with a sign, not a fraction, a bool or a complex number");
        RunError::WrongKind { kernel: self.kernel.clone(), argument: arg.name.clone(), expected }
    }

    /// The error for an argument of the wrong kind.
    pub fn wrong_kind(&self, arg: &PlannedArg) -> RunError {
        let expected = match &arg.kind {
            PlannedKind::Value { dtype, .. } => format!("a number of type {}", dtype.name()),
            PlannedKind::Array { dtype, .. } => format!("an array of {}", dtype.name()),
            PlannedKind::Object { class, .. } => format!("an object of class {}", class.name()),
        };
        RunError::WrongKind { kernel: self.kernel.clone(), argument: arg.name.clone(), expected }
    }

    /// The integers of a call, each from its name, as far as they are known. Strides and offsets that calls find are not.
    pub fn values(&self, known: impl Fn(&Name) -> Option<i64>) -> Values {
        let value = |(name, source): (&Name, &Source)| if matches!(source, Source::Argument(_)) { known(name) } else { None };
        self.names.iter().zip(&self.sources).map(value).collect()
    }

    /// One of the integers of a call.
    ///
    /// # Errors
    /// [`RunError::NoValue`].
    pub fn value(&self, values: &Values, place: usize) -> Result<i64, RunError> {
        values[place].ok_or_else(|| RunError::NoValue { kernel: self.kernel.clone(), name: self.names[place].clone() })
    }

    fn check_fields(&self, arg: &PlannedArg, fields: &[PlannedField], object: &GivenObject, values: &Values) -> Result<(), RunError> {
        if let Some((written, other)) = shared_fields(object) {
            let (written, other) = (fields[written].path.clone(), fields[other].path.clone());
            return Err(RunError::SharedFields { kernel: self.kernel.clone(), argument: arg.name.clone(), written, other });
        }
        for (field, lengths) in fields.iter().zip(&object.lengths) {
            for (axis, formula) in &field.needed {
                let needed = formula.evaluate(values).ok_or_else(|| self.overflow(arg))?;
                if let Some(&found) = lengths.get(*axis)
                    && needed > found
                {
                    let (kernel, argument, field) = (self.kernel.clone(), arg.name.clone(), field.path.clone());
                    return Err(RunError::FieldTooShort { kernel, argument, field, axis: *axis, needed, found });
                }
            }
        }
        Ok(())
    }

    fn check_strides(&self, arg: &PlannedArg, strides: &[Option<Formula>], array: &GivenArray, values: &Values) -> Result<(), RunError> {
        // Memory of no elements, or along an axis of one, has no distances.
        if array.shape.contains(&0) {
            return Ok(());
        }
        let size = array.size() as i64;
        for (axis, formula) in strides.iter().enumerate() {
            let Some(formula) = formula else { continue };
            let expected = formula.evaluate(values).ok_or_else(|| self.overflow(arg))?;
            if array.shape.get(axis).is_some_and(|&length| length > 1) && Some(array.strides[axis]) != expected.checked_mul(size) {
                let (kernel, argument, found) = (self.kernel.clone(), arg.name.clone(), array.strides[axis]);
                return Err(RunError::WrongStride { kernel, argument, axis, expected: expected.saturating_mul(size), found });
            }
        }
        Ok(())
    }

    /// Checks that the memory of an array reaches as far as its offset asks for.
    fn check_offset(&self, arg: &PlannedArg, offset: &Formula, array: &GivenArray, values: &Values) -> Result<(), RunError> {
        let offset = i128::from(offset.evaluate(values).ok_or_else(|| self.overflow(arg))?);
        if array.shape.contains(&0) {
            return Ok(());
        }
        let size = array.size() as i128;
        let steps = array.shape.iter().zip(&array.strides).map(|(&length, &stride)| i128::from(length - 1) * i128::from(stride) / size);
        let last = steps.fold(0i128, |last, step| last + step.max(0));
        let room = array.room.map_or(last + 1, i128::from);
        if offset < 0 || offset + last >= room {
            let (kernel, argument, needed) = (self.kernel.clone(), arg.name.clone(), offset + last + 1);
            return Err(RunError::Offset { kernel, argument, offset, needed, found: room });
        }
        Ok(())
    }

    /// Checks that no two arguments share memory, one of which is written: `locate` returns where each of them is.
    ///
    /// # Errors
    /// [`RunError::SharedMemory`].
    #[inline]
    pub fn check_apart(&self, given: &[GivenArgument], locate: impl Fn(usize) -> Option<Location>) -> Result<(), RunError> {
        for pair in &self.apart {
            if let (Some(written), Some(other)) = (locate(pair.written), locate(pair.other))
                && pair.is_violated(given, written, other)
            {
                let (written, other) = (self.args[pair.written].name.clone(), self.args[pair.other].name.clone());
                return Err(RunError::SharedMemory { kernel: self.kernel.clone(), written, other });
            }
        }
        Ok(())
    }

    /// Checks that no reference leads to a field: a replay would follow it to wherever it leads by then, which no call has checked.
    pub(super) fn check_recorded(&self) -> Result<(), RunError> {
        for arg in &self.args {
            let PlannedKind::Object { class, fields, .. } = &arg.kind else { continue };
            if let Some(field) = fields.iter().find(|field| is_behind_reference(class, field)) {
                let (kernel, argument, field) = (self.kernel.clone(), arg.name.clone(), field.path.clone());
                return Err(RunError::RecordedReference { kernel, argument, field });
            }
        }
        Ok(())
    }

    /// Whether [`check_apart`](Self::check_apart) has anything to check.
    pub fn asks_apart(&self) -> bool {
        !self.apart.is_empty()
    }

    /// Checks that the elements of an array lie side by side, the last axis fastest.
    fn check_contiguous(&self, arg: &PlannedArg, array: &GivenArray) -> Result<(), RunError> {
        match first_gap(&array.shape, &array.strides, array.size(), Order::C) {
            Some(Gap { axis, expected }) => {
                let (kernel, argument) = (self.kernel.clone(), arg.name.clone());
                Err(RunError::WrongStride { kernel, argument, axis, expected, found: array.strides[axis] })
            }
            None => Ok(()),
        }
    }

    fn whole_stride(&self, index: usize, array: &GivenArray, axis: usize) -> Result<Option<i64>, RunError> {
        let Some(&stride) = array.strides.get(axis) else { return Ok(None) };
        let size = array.size() as i64;
        if stride % size != 0 {
            let (kernel, argument) = (self.kernel.clone(), self.args[index].name.clone());
            return Err(RunError::BrokenStride { kernel, argument, axis, found: stride, size });
        }
        Ok(Some(stride / size))
    }

    /// The shape of an output that the call allocates.
    ///
    /// # Errors
    /// [`RunError::Missing`] if its shape is not known, [`RunError::NegativeLength`].
    pub fn output_shape(&self, arg: &PlannedArg, values: &Values) -> Result<SmallVec<[i64; 4]>, RunError> {
        let PlannedKind::Array { shape: Some(shape), offset, .. } = &arg.kind else {
            return Err(RunError::Missing { kernel: self.kernel.clone(), argument: arg.name.clone() });
        };
        if offset.as_ref().is_some_and(|offset| offset.evaluate(values) != Some(0)) {
            return Err(RunError::OutputOffset { kernel: self.kernel.clone(), argument: arg.name.clone() });
        }
        let shape = self.evaluate(arg, shape, values)?;
        match shape.iter().position(|&length| length < 0) {
            Some(axis) => {
                let (kernel, argument) = (self.kernel.clone(), arg.name.clone());
                Err(RunError::NegativeLength { kernel, argument, axis, length: shape[axis] })
            }
            None => Ok(shape),
        }
    }

    /// The strides, in elements, of an output that the call allocates; `None` along an axis that may have any. Arrays of separate axes are
    /// stored one after the other.
    pub fn output_strides(&self, arg: &PlannedArg, values: &Values) -> Result<SmallVec<[Option<i64>; 4]>, RunError> {
        let PlannedKind::Array { strides, separate, shape, .. } = &arg.kind else { return Ok(SmallVec::new()) };
        let stride = |formula: &Option<Formula>| match formula {
            Some(formula) => formula.evaluate(values).map(Some).ok_or_else(|| self.overflow(arg)),
            None => Ok(None),
        };
        let mut found: SmallVec<[Option<i64>; 4]> = strides.iter().map(stride).collect::<Result<_, RunError>>()?;
        let (false, Some(shape)) = (separate.is_empty(), shape) else { return Ok(found) };
        let shape = self.evaluate(arg, shape, values)?;
        let own: SmallVec<[usize; 4]> = (0..found.len()).filter(|axis| !separate.contains(axis)).collect();
        let mut room: i64 = 1;
        if own.iter().all(|&axis| found[axis].is_none()) {
            for &axis in own.iter().rev() {
                found[axis] = Some(room);
                room = room.checked_mul(shape[axis].max(1)).ok_or_else(|| self.overflow(arg))?;
            }
        } else {
            for &axis in &own {
                let reach = shape[axis].saturating_sub(1).max(0).checked_mul(found[axis].unwrap_or(0));
                room = reach.and_then(|reach| room.checked_add(reach)).ok_or_else(|| self.overflow(arg))?;
            }
        }
        for &axis in separate.iter().rev() {
            found[axis] = Some(room);
            room = room.checked_mul(shape[axis].max(1)).ok_or_else(|| self.overflow(arg))?;
        }
        Ok(found)
    }

    fn evaluate(&self, arg: &PlannedArg, formulas: &[Formula], values: &Values) -> Result<SmallVec<[i64; 4]>, RunError> {
        formulas.iter().map(|formula| formula.evaluate(values).ok_or_else(|| self.overflow(arg))).collect()
    }

    fn overflow(&self, arg: &PlannedArg) -> RunError {
        RunError::Overflow { kernel: self.kernel.clone(), argument: arg.name.clone() }
    }
}

/// Finds values that are not known yet from the length that a formula has; whether it found any.
fn solve(formula: &Formula, length: i64, values: &mut Values) -> bool {
    let mut found = false;
    for place in 0..values.len() {
        if values[place].is_none()
            && let Some(value) = formula.solve(place, length, values)
        {
            values[place] = Some(value);
            found = true;
        }
    }
    found
}

/// Whether a reference leads to a field.
fn is_behind_reference(class: &ClassType, field: &PlannedField) -> bool {
    class.fields().get(&field.path).is_some_and(|field| field.is_behind_reference)
}
