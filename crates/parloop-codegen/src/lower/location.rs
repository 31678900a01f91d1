//! Locations in memory: variables, array elements, fields of objects; and bounds checks of indices.

use parloop_device::DType;
use parloop_ir::layout::Axis;
use parloop_ir::syntax::{BinaryOp, ClassAxis, ClassType, Expr, Type, UnaryOp, lane};
use parloop_ir::{affine, fold};
use parloop_isl::Name;

use super::array::{Array, Copies, Storage};
use super::lane::lane_of;
use super::scope::Scope;
use super::tree::{Op, Value, ValueKind};
use super::{LowerError, number};
use crate::check::span;

/// A location with the checks of its indices.
pub(super) struct Location {
    pub(super) value: Value,
    /// Checks of its indices.
    pub(super) checks: Vec<Value>,
}

impl Scope<'_> {
    /// The value of a variable: an iname, a number that is passed, a temporary.
    pub(super) fn variable(&mut self, name: &Name) -> Result<Value, LowerError> {
        if let Some(value) = self.inames.get(name) {
            return Ok(value.clone());
        }
        if let Some(ty) = self.numbers.get(name) {
            return Ok(Value::name(ty.clone(), name.clone()));
        }
        if self.arrays.contains_key(name) {
            return Ok(self.element(name, &[])?.value);
        }
        self.symbol(name)
    }

    /// The value at a subscript or in a field, guarded by its checks.
    pub(super) fn read(&mut self, expr: &Expr) -> Result<Value, LowerError> {
        let Location { value, mut checks } = self.place(expr)?;
        checks.extend(self.touch(expr, &value, false)?);
        Ok(match number::join(Op::And, checks) {
            None => value,
            Some(ok) => {
                let (ty, zero) = (value.ty.clone(), number::zero(&value.ty));
                Value::new(ty, ValueKind::Choose(Box::new([ok, value, zero])))
            }
        })
    }

    /// The location of an assignable expression.
    pub(super) fn place(&mut self, expr: &Expr) -> Result<Location, LowerError> {
        match expr {
            Expr::Variable(name) => Ok(Location { value: self.variable(name)?, checks: Vec::new() }),
            Expr::Subscript(aggregate, indices) => match &**aggregate {
                Expr::Variable(name) if self.arrays.contains_key(name) => self.element_of(name, indices, Some(expr)),
                Expr::Variable(name) => Err(LowerError::UnknownName { instruction: self.instruction.clone(), name: name.clone() }),
                _ => {
                    let is_checked = self.kernel.options.is_checked() || self.guarded.contains_key(expr);
                    self.field(aggregate, indices, is_checked)
                }
            },
            Expr::LinearSubscript(aggregate, index) => match &**aggregate {
                Expr::Variable(name) if self.arrays.contains_key(name) => {
                    let is_checked = self.is_checked(expr, 0);
                    self.linear(name, index, is_checked)
                }
                _ => Err(self.refused("a linear index into a variable that is not an array")),
            },
            Expr::Lookup(..) => self.field(expr, &[], false),
            _ => Err(self.refused("an expression that cannot be assigned")),
        }
    }

    /// The type of the value at a location, without building it.
    pub(super) fn array(&self, name: &Name) -> Result<&Array, LowerError> {
        self.arrays.get(name).ok_or_else(|| LowerError::UnknownName { instruction: self.instruction.clone(), name: name.clone() })
    }

    /// Whether an index of an access is checked as the kernel runs.
    pub(super) fn is_checked(&self, access: &Expr, axis: usize) -> bool {
        self.kernel.options.is_checked() || self.guarded.get(access).is_some_and(|axes| axes.contains(&axis))
    }

    /// `name[indices]`.
    pub(super) fn element(&mut self, name: &Name, indices: &[Expr]) -> Result<Location, LowerError> {
        self.element_of(name, indices, None)
    }

    fn element_of(&mut self, name: &Name, indices: &[Expr], access: Option<&Expr>) -> Result<Location, LowerError> {
        let array = self.array(name)?.clone();
        if array.storage == Storage::Number && indices.is_empty() {
            return Ok(Location { value: self.held(&array, None), checks: Vec::new() });
        }
        // One index on what has no axes is its only element.
        let indices = if array.axes.is_empty() && indices.iter().all(|index| fold::as_int(index) == Some(0)) { &[] } else { indices };
        if indices.len() != array.axes.len() {
            let (axes, indices) = (array.axes.len(), indices.len());
            return Err(parloop_ir::layout::LayoutError::WrongIndices { array: name.clone(), axes, indices }.into());
        }
        let checks = self.checks(name, &array, indices, access)?;
        let separate = self.separate(name, &array, indices)?;
        let flat = self.flat(&array, indices)?;
        let array = Array { name: separate.unwrap_or_else(|| array.name.clone()), ..array };
        Ok(Location { value: self.held(&array, Some(flat)), checks })
    }

    fn linear(&mut self, name: &Name, index: &Expr, is_checked: bool) -> Result<Location, LowerError> {
        let array = self.array(name)?.clone();
        let mut checks = Vec::new();
        // The length of an array that is passed to a function may be unknown.
        let layout = self.layout(name).filter(|layout| is_checked && (layout.lengths().is_some() || array.lengths.is_some()));
        if let Some(span) = layout.and_then(|layout| span(&layout, name)) {
            let text = Expr::LinearSubscript(Expr::var(name.clone()).into(), index.clone().into());
            checks.extend(self.index_check(index, &span, || text.to_string())?);
        }
        let index = self.index(&fold::add(array.offset.clone(), self.wide_data(index)))?;
        Ok(Location { value: self.held(&array, Some(index)), checks })
    }

    /// The bounds check of an index; `None` if it is obviously in bounds.
    pub(super) fn index_check(&mut self, index: &Expr, length: &Expr, text: impl Fn() -> String) -> Result<Option<Value>, LowerError> {
        let (value, length) = (self.index(&self.wide_data(index))?, self.index(length)?);
        if let (Some(value), Some(length)) = (value.as_int(), length.as_int())
            && (0..length).contains(&value)
        {
            return Ok(None);
        }
        let site = self.shared.site(text());
        let (value, length, _) = number::unify(number::Typed::strong(value), number::Typed::strong(length));
        let check = Value::new(DType::Bool, ValueKind::Check { site, operands: Box::new([value, length.clone()]) });
        Ok(Some(self.unless_whole(index, &length, check)))
    }

    /// The place in memory of an element, counted from the beginning of its buffer.
    pub(super) fn flat(&mut self, array: &Array, indices: &[Expr]) -> Result<Value, LowerError> {
        let mut sum = array.offset.clone();
        for (axis, index) in array.axes.iter().zip(indices) {
            sum = match axis {
                Axis::Separate => sum,
                Axis::Vector => fold::add(sum, self.wide_data(index)),
                Axis::Stride(stride) => fold::add(sum, fold::multiply(stride.clone(), self.wide_data(index))),
            };
        }
        self.index(&sum)
    }

    /// An index in which numbers that are read from memory are 64 bits wide where something is computed with them: their own types may be
    /// too narrow for it, and unlike those of inames and sizes their ranges are unknown.
    pub(super) fn wide_data(&self, index: &Expr) -> Expr {
        // A guarantee for the indices covers their types too.
        if !self.kernel.options.check_bounds() || !is_arithmetic(index) {
            return index.clone();
        }
        index.rewrite(&mut |part| match part {
            Expr::Literal(_) => Some(part.clone()),
            Expr::Variable(name) if !self.is_data(name) => Some(part.clone()),
            Expr::If(parts) => {
                let [condition, yes, no] = &**parts;
                let wide = |part: &Expr| if is_arithmetic(part) { self.wide_data(part) } else { self.wide_leaf(part) };
                Some(Expr::If(std::sync::Arc::new([condition.clone(), wide(yes), wide(no)])))
            }
            _ if is_arithmetic(part) => None,
            _ => Some(self.wide_leaf(part)),
        })
    }

    /// Whether the data decides a number: a variable of the kernel, or an iname whose limits are such.
    fn is_data(&self, name: &Name) -> bool {
        self.arrays.contains_key(name) || self.data_inames.contains(name)
    }

    fn wide_leaf(&self, leaf: &Expr) -> Expr {
        match leaf {
            Expr::Literal(_) => leaf.clone(),
            Expr::Variable(name) if !self.is_data(name) => leaf.clone(),
            _ => Expr::Cast(DType::I64.into(), leaf.clone().into()),
        }
    }

    /// The element of held data: the copy of this work item where there are several.
    pub(super) fn held(&self, array: &Array, index: Option<Value>) -> Value {
        let first = || number::int(&self.kernel.index_type.into(), 0);
        let copy = array.widened.iter().map(|(copies, _)| match copies {
            Copies::Axis(axis) => self.axis_index.get(axis).cloned().unwrap_or_else(first),
            Copies::Iname(iname, least) => {
                let value = self.inames.get(iname).cloned().unwrap_or_else(first);
                let least = number::int(&value.ty, (*least).into());
                number::binary(Op::Subtract, value, least)
            }
        });
        let mut indices: Vec<Value> = copy.collect();
        indices.extend(index);
        if indices.is_empty() {
            return Value::name(array.element(), array.name.clone());
        }
        Value::new(array.element(), ValueKind::Element(array.name.clone(), indices))
    }

    /// The name of the array that the indices along `sep` axes choose.
    fn separate(&mut self, name: &Name, array: &Array, indices: &[Expr]) -> Result<Option<Name>, LowerError> {
        let Storage::Separate(_) = array.storage else { return Ok(None) };
        let mut chosen = Vec::new();
        for (number, (axis, index)) in array.axes.iter().zip(indices).enumerate() {
            if *axis == Axis::Separate {
                let refused =
                    || LowerError::NotConstantSeparate { instruction: self.instruction.clone(), array: name.clone(), axis: number };
                let refusal = refused();
                let value = self.index(index)?.as_int().and_then(|value| u64::try_from(value).ok());
                chosen.push(value.ok_or(refusal)?);
            }
        }
        Ok(Some(separate_name(&array.name, &chosen)))
    }

    /// Checks of the indices.
    fn checks(&mut self, name: &Name, array: &Array, indices: &[Expr], access: Option<&Expr>) -> Result<Vec<Value>, LowerError> {
        let mut checks = Vec::new();
        for (axis, (index, length)) in indices.iter().zip(array.lengths.iter().flatten()).enumerate() {
            if !access.map_or(self.kernel.options.is_checked(), |access| self.is_checked(access, axis)) {
                continue;
            }
            let text = || format!("{}, axis {axis}", Expr::subscript(name.clone(), indices.iter().cloned()));
            checks.extend(self.index_check(index, length, text)?);
        }
        Ok(checks)
    }

    /// `p.x[i]`: a call of the field's getter; `v.s0` of a vector; `z.real` of a complex number.
    fn field(&mut self, expr: &Expr, indices: &[Expr], is_checked: bool) -> Result<Location, LowerError> {
        let Expr::Lookup(aggregate, field) = expr else { return Err(self.refused("a subscript of a variable that is not an array")) };
        if let Some((object, class, path)) = self.object(expr)? {
            let known = class.fields().get(path.as_str()).ok_or_else(|| LowerError::NoField {
                instruction: self.instruction.clone(),
                class: class.name().clone(),
                field: path.as_str().into(),
                fields: class.fields().keys().cloned().collect(),
            })?;
            if known.axes.len() != indices.len() {
                return Err(self.refused(format!("field `{path}` with {} indices, which has {} axes", indices.len(), known.axes.len())));
            }
            let mut args = vec![object];
            for index in indices {
                let index = self.index(&self.wide_data(index))?;
                args.push(number::Typed::strong(index).to(&DType::I64.into()));
            }
            let text = Expr::Subscript(std::sync::Arc::new(expr.clone()), indices.into());
            let checks = if is_checked { self.field_checks(&known.axes, &args, &text) } else { Vec::new() };
            let value = Value::new(known.dtype, ValueKind::Call(known.getter.clone(), args));
            return Ok(Location { value, checks });
        }
        let is_place = matches!(**aggregate, Expr::Variable(_) | Expr::Subscript(..) | Expr::LinearSubscript(..));
        let Location { value: inner, checks } = match is_place && self.type_of(aggregate).is_some_and(|ty| ty.has_components()) {
            true => self.place(aggregate)?,
            false => {
                let value = self.expr(aggregate)?.settle();
                Location { value: self.once(value, "whole"), checks: Vec::new() }
            }
        };
        let value = match &inner.ty {
            Type::Vector(_, lanes) => match lane(field, *lanes) {
                Some(lane) => lane_of(&inner, lane),
                None => return Err(self.refused(format!("component `{field}` of a vector of {lanes} numbers"))),
            },
            Type::Record(record) => match record.field(field) {
                Some(found) => Value::new(found.dtype, ValueKind::Member(Box::new(inner), field.clone())),
                None => return Err(self.refused(format!("field `{field}` of record `{}`", record.name()))),
            },
            Type::Scalar(dtype) if dtype.is_complex() && field == "real" => self.part(inner, false),
            Type::Scalar(dtype) if dtype.is_complex() && field == "imag" => self.part(inner, true),
            _ => return Err(self.refused(format!("field `{field}` of a value without fields"))),
        };
        Ok(Location { value, checks })
    }

    fn type_of(&self, expr: &Expr) -> Option<Type> {
        parloop_analysis::infer::type_of(self.program, self.kernel, expr).ok()
    }

    /// Checks of the indices of a field against the lengths that the object has; `args` are the object and the indices.
    fn field_checks(&mut self, axes: &[ClassAxis], args: &[Value], text: &Expr) -> Vec<Value> {
        let mut checks = Vec::new();
        for (number, axis) in axes.iter().enumerate() {
            let mut asked = args[..=axis.indices].to_vec();
            asked.push(number::int(&DType::I64.into(), axis.axis as i128));
            let length = Value::new(DType::I64, ValueKind::Call(axis.length.clone(), asked));
            let site = self.shared.site(format!("{text}, axis {number}"));
            checks.push(Value::new(DType::Bool, ValueKind::Check { site, operands: Box::new([args[number + 1].clone(), length]) }));
        }
        checks
    }

    /// The object, its class and the path of fields, if the expression is a field of an object.
    pub(super) fn object(&mut self, expr: &Expr) -> Result<Option<(Value, std::sync::Arc<ClassType>, String)>, LowerError> {
        let (mut inner, mut path) = (expr, Vec::new());
        while let Expr::Lookup(aggregate, field) = inner {
            path.push(field.to_string());
            inner = aggregate;
        }
        let Expr::Variable(name) = inner else { return Ok(None) };
        let Some(Type::Class(class)) = self.numbers.get(name).cloned() else { return Ok(None) };
        path.reverse();
        Ok(Some((Value::name(Type::Class(class.clone()), name.clone()), class, path.join("."))))
    }
}

/// Whether an expression computes with integers.
fn is_arithmetic(expr: &Expr) -> bool {
    match expr {
        Expr::Binary(op, ..) => !matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Divide),
        Expr::Chain(chain) => chain.rest.iter().all(|(op, _)| *op != BinaryOp::Divide),
        Expr::Unary(UnaryOp::Negate, _) | Expr::Min(_) | Expr::Max(_) | Expr::If(_) => true,
        _ => false,
    }
}

/// The name of one of the arrays of an argument with `sep` axes.
pub(super) fn separate_name(name: &Name, indices: &[u64]) -> Name {
    let suffix: Vec<String> = indices.iter().map(u64::to_string).collect();
    format!("{name}_s{}", suffix.join("_s")).into()
}

/// The number that an expression is, if it is affine without names.
pub(super) fn constant(expr: &Expr) -> Option<i64> {
    fold::as_int(expr).or_else(|| affine::to_affine(expr)?.as_constant())
}
