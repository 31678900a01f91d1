//! Calls: what callables emit becomes values and statements; array parts become pointers; called kernels get a function.

use std::collections::BTreeMap;
use std::sync::Arc;

use parloop_analysis::infer;
use parloop_ir::callable::{ArgId, CallSite, Callable, Emitted};
use parloop_ir::fold;
use parloop_ir::layout::Axis;
use parloop_ir::syntax::{AddressSpace, Call, CallInstruction, Expr, SubArray, Type};
use parloop_isl::Name;

use super::LowerError;
use super::array::{Array, Storage};
use super::lane::{lane_count, lane_of, vector_of};
use super::launch::called_function;
use super::location::Location;
use super::number::{self, Typed};
use super::scope::Scope;
use super::tidy;
use super::tree::{Declaration, Op, Statement, Value, ValueKind};

/// A call with all that its code needs.
struct CallCode<'c> {
    callable: Arc<dyn Callable>,
    call: &'c Call,
    results: &'c [Expr],
    /// Statements behind the call: results that are not of the type that the callee writes.
    after: Vec<Statement>,
    /// Checks of parts of arrays: where one fails, nothing is called.
    checks: Vec<Value>,
    /// The values of arguments that are vectors, or of one lane of all arguments.
    known: BTreeMap<ArgId, Value>,
}

impl CallCode<'_> {
    fn ty(&self, id: &ArgId) -> Option<Type> {
        self.callable.types()?.get(id).cloned()
    }

    fn argument(&self, id: &ArgId) -> Option<&Expr> {
        match id {
            ArgId::Position(place) if *place >= 0 => self.call.args.get(*place as usize),
            ArgId::Position(place) => self.results.get(usize::try_from(-1 - i64::from(*place)).ok()?),
            ArgId::Keyword(name) => self.call.keywords.iter().find(|(keyword, _)| keyword == name).map(|(_, value)| value),
        }
    }
}

impl Scope<'_> {
    /// A call inside an expression.
    pub(super) fn call(&mut self, call: &Call) -> Result<Typed, LowerError> {
        let callable = self.callable(call)?;
        let site = CallSite { target: self.target, kernel: self.kernel, args: &call.args, results: &[] };
        let emitted = callable.emit_call(&site)?;
        let mut code = CallCode { callable, call, results: &[], after: Vec::new(), checks: Vec::new(), known: BTreeMap::new() };
        self.touch_parts(&code)?;
        let ty = code.ty(&ArgId::result(0)).ok_or_else(|| LowerError::Untyped { name: call.function.clone() })?;
        let value = self.call_value(&emitted, &mut code, &ty)?;
        let Some(ok) = number::join(Op::And, code.checks) else { return Ok(Typed::strong(value)) };
        let zero = number::zero(&ty);
        Ok(Typed::strong(Value::new(ty, ValueKind::Choose(Box::new([ok, value, zero])))))
    }

    /// The first result of a call; for functions of numbers that are given vectors, of a call for each lane.
    fn call_value(&mut self, emitted: &Emitted, code: &mut CallCode<'_>, ty: &Type) -> Result<Value, LowerError> {
        let (Type::Vector(dtype, lanes), true) = (ty, code.callable.is_lanewise()) else { return self.emitted(emitted, code, ty) };
        let mut args = Vec::new();
        for place in 0..code.call.args.len() {
            let id = ArgId::argument(place);
            let value = self.passed(&id, code)?;
            args.push((id, Typed::strong(value)));
        }
        let (ids, values): (Vec<ArgId>, Vec<Typed>) = args.into_iter().unzip();
        let lane_type = Type::Scalar(*dtype);
        let mut each = |scope: &mut Self, values: Vec<Typed>| {
            code.known = ids.iter().cloned().zip(values.into_iter().map(Typed::settle)).collect();
            scope.emitted(emitted, code, &lane_type).map(Typed::strong)
        };
        match values.iter().any(|value| lane_count(&value.value.ty) == Some(*lanes)) {
            true => Ok(self.each_lane(values, &mut each)?.settle()),
            false => Ok(each(self, values)?.to(ty)),
        }
    }

    /// Whether the results of a call are written through pointers although it stands as a value.
    pub(super) fn writes_through_pointers(&self, call: &Call) -> bool {
        self.program.callables.get(&call.function).is_some_and(|callable| callable.kernel().is_some())
    }

    /// A call as an instruction.
    pub(super) fn call_instruction(&mut self, instruction: &CallInstruction) -> Result<Vec<Statement>, LowerError> {
        let Expr::Call(call) = &instruction.rhs else { return self.tuple(&instruction.lhs, &instruction.rhs) };
        let callable = self.callable(call)?;
        let results = instruction.lhs.as_slice();
        let site = CallSite { target: self.target, kernel: self.kernel, args: &call.args, results };
        let (emitted, returns) = callable.emit_call_insn(&site)?;
        let mut code = CallCode { callable, call, results, after: Vec::new(), checks: Vec::new(), known: BTreeMap::new() };
        self.touch_parts(&code)?;
        if let Emitted::Tuple(parts) = &emitted {
            let mut values = Vec::new();
            for (place, part) in parts.iter().enumerate() {
                let ty = code.ty(&ArgId::result(place)).ok_or_else(|| LowerError::Untyped { name: call.function.clone() })?;
                values.push(Typed::strong(self.emitted(part, &mut code, &ty)?));
            }
            if !code.checks.is_empty() {
                return Err(
                    self.refused("a function with several results of parts of arrays that are not known to be inside of their arrays,")
                );
            }
            return self.store_all(results, values);
        }
        let ty = code.ty(&ArgId::result(0)).unwrap_or(Type::Scalar(self.kernel.index_type));
        let value = self.call_value(&emitted, &mut code, &ty)?;
        let after = code.after;
        let mut statements = match (returns, results.first()) {
            (true, Some(first)) => self.store(first, Typed::strong(value))?,
            _ => vec![Statement::Call(value)],
        };
        statements.extend(after);
        Ok(tidy::guarded(code.checks, statements))
    }

    fn tuple(&mut self, results: &[Expr], rhs: &Expr) -> Result<Vec<Statement>, LowerError> {
        let parts: &[Expr] = match rhs {
            Expr::Tuple(parts) => parts,
            other if results.len() == 1 => std::slice::from_ref(other),
            _ => return Err(self.refused("an instruction with several results that is not a call")),
        };
        let values = parts.iter().map(|part| self.expr(part)).collect::<Result<Vec<_>, _>>()?;
        self.store_all(results, values)
    }

    /// All values are computed before the first is written.
    fn store_all(&mut self, results: &[Expr], values: Vec<Typed>) -> Result<Vec<Statement>, LowerError> {
        let several = results.len() > 1;
        let mut statements = Vec::new();
        for (result, value) in results.iter().zip(values) {
            let place = self.place(result)?.value;
            let value = value.to(&place.ty);
            let literal = value.children().is_empty() && !matches!(value.kind, ValueKind::Name(_));
            let value = if several && !literal { self.named(value, "result") } else { value };
            statements.extend(self.store(result, Typed::strong(value))?);
        }
        Ok(statements)
    }

    pub(super) fn named(&mut self, value: Value, prefix: &str) -> Value {
        let name = self.names.make(prefix);
        let ty = value.ty.clone();
        self.hoisted.push(super::tree::constant(&name, &ty, value));
        Value::name(ty, name)
    }

    fn callable(&mut self, call: &Call) -> Result<Arc<dyn Callable>, LowerError> {
        let Some(callable) = self.program.callables.get(&call.function) else {
            return Err(self.refused(format!("the call to the unknown function `{}`", call.function)));
        };
        let callable = callable.clone();
        if !callable.is_ready() {
            return Err(self.refused(format!("the call to `{}`, whose types are unknown,", call.function)));
        }
        if callable.kernel().is_some() {
            let name = callable.name_in_target().unwrap_or(&call.function).clone();
            called_function(self.program, self.schedules, &call.function, &name, self.target, self.shared)?;
        }
        self.shared.preambles.extend(callable.preambles(self.target)?);
        self.shared.language = self.shared.language.max(callable.language());
        Ok(callable)
    }

    /// What a callable says, as a value; `ty` is that of the call's first result.
    fn emitted(&mut self, emitted: &Emitted, code: &mut CallCode<'_>, ty: &Type) -> Result<Value, LowerError> {
        Ok(match emitted {
            Emitted::Call(function, args) => {
                let args = args.iter().map(|arg| self.emitted(arg, code, ty)).collect::<Result<Vec<_>, _>>()?;
                Value::new(ty.clone(), ValueKind::Call(function.clone(), args))
            }
            Emitted::Arg(id) => self.passed(id, code)?,
            Emitted::Address(id) => self.address(id, code)?,
            Emitted::IndexOf { id, lanes } => {
                let Some(Expr::Subscript(array, indices)) = code.argument(id).cloned() else {
                    return Err(self.refused("the address of an expression that is not an element"));
                };
                let name =
                    array.written_name().cloned().ok_or_else(|| self.refused("the address of an expression that is not an element"))?;
                let value = self.index_of(&name, &indices, *lanes)?;
                Typed::strong(value).to(ty)
            }
            Emitted::Expr(expr, Some(ty)) => self.expr_as(expr, ty)?,
            Emitted::Expr(expr, None) => self.expr(expr)?.settle(),
            Emitted::Text(text) => Value::new(ty.clone(), ValueKind::Text(text.clone())),
            Emitted::Choose(parts) => {
                let condition = number::truth(self.emitted(&parts[0], code, ty)?);
                let (yes, no) = (self.emitted(&parts[1], code, ty)?, self.emitted(&parts[2], code, ty)?);
                let (yes, no) = (Typed::strong(yes).to(ty), Typed::strong(no).to(ty));
                Value::new(ty.clone(), ValueKind::Choose(Box::new([condition, yes, no])))
            }
            Emitted::Operator(op, parts) => {
                let (left, right) = (self.emitted(&parts[0], code, ty)?, self.emitted(&parts[1], code, ty)?);
                let (left, right) = (Typed::strong(left).to(ty), Typed::strong(right).to(ty));
                self.apply(*op, Typed::strong(left), Typed::strong(right))?.settle()
            }
            Emitted::Vector(parts) => {
                let Type::Vector(dtype, _) = ty else { return Err(self.refused("a vector as a number")) };
                let lane = Type::Scalar(*dtype);
                let parts = parts.iter().map(|part| Ok(Typed::strong(self.emitted(part, code, &lane)?).to(&lane)));
                vector_of(parts.collect::<Result<Vec<Value>, LowerError>>()?)
            }
            Emitted::Lane(id, lane) => {
                if !code.known.contains_key(id) {
                    let value = self.passed(id, code)?;
                    let value = self.loaded(value);
                    code.known.insert(id.clone(), value);
                }
                lane_of(&code.known[id], *lane)
            }
            Emitted::Tuple(_) => return Err(self.refused("a call with several results inside an expression")),
        })
    }

    /// Records in shadow memory the parts of arrays that are arguments, and of those that are results. One that is both is passed once.
    fn touch_parts(&mut self, code: &CallCode<'_>) -> Result<(), LowerError> {
        let args = code.call.args.iter().chain(code.call.keywords.iter().map(|(_, arg)| arg));
        for (expr, writes) in args.map(|arg| (arg, false)).chain(code.results.iter().map(|result| (result, true))) {
            if let Expr::SubArray(part) = expr {
                self.touch_part(part, writes)?;
            }
        }
        Ok(())
    }

    /// An argument or result as the callee is passed it.
    fn passed(&mut self, id: &ArgId, code: &mut CallCode<'_>) -> Result<Value, LowerError> {
        if let Some(known) = code.known.get(id) {
            return Ok(known.clone());
        }
        let expr = code.argument(id).cloned().ok_or_else(|| self.refused(format!("a call without {id}")))?;
        match &expr {
            Expr::SubArray(part) => self.part_of_array(part, &expr, &mut code.checks),
            Expr::Variable(name) if self.arrays.get(name).is_some_and(|array| !array.axes.is_empty()) => {
                let array = self.array(name)?.clone();
                let offset = self.index(&array.offset)?;
                Ok(self.pointer(&array, offset))
            }
            _ => {
                let value = self.expr(&expr)?;
                Ok(match code.ty(id) {
                    Some(ty) => value.to(&ty),
                    None => value.settle(),
                })
            }
        }
    }

    /// A pointer to the first element.
    fn part_of_array(&mut self, part: &SubArray, access: &Expr, checks: &mut Vec<Value>) -> Result<Value, LowerError> {
        let found = infer::part(self.kernel, part).map_err(|error| self.refused(error.to_string()))?;
        let array = self.array(&part.array)?.clone();
        if matches!(array.storage, Storage::Separate(_)) {
            return Err(self.refused(format!("a part of `{}`, which consists of separate arrays,", part.array)));
        }
        checks.extend(self.part_checks(part, access, &array)?);
        let begin = self.flat(&array, &found.begin)?;
        Ok(self.pointer(&array, begin))
    }

    /// Checks that the first and the last element of a part are inside its array.
    fn part_checks(&mut self, part: &SubArray, access: &Expr, array: &Array) -> Result<Vec<Value>, LowerError> {
        // In checked mode the callee checks what it does with the part.
        let Some(axes) = self.guarded.get(access).cloned() else { return Ok(Vec::new()) };
        let mut ends = Vec::new();
        for iname in &part.inames {
            let extent = infer::extent(self.kernel, iname, &part.array).map_err(|error| self.refused(error.to_string()))?;
            let last = fold::subtract(fold::add(extent.start.clone(), extent.length), Expr::int(1));
            ends.push((iname, extent.start, last));
        }
        let mut checks = Vec::new();
        for (axis, (index, length)) in
            part.indices.iter().zip(array.lengths.iter().flatten()).enumerate().filter(|(axis, _)| axes.contains(axis))
        {
            let text = || format!("{}, axis {axis}", Expr::SubArray(part.clone().into()));
            for is_last in [false, true] {
                let at = |expr: &Expr| match expr {
                    Expr::Variable(name) => {
                        let (_, first, last) = ends.iter().find(|(iname, ..)| *iname == name)?;
                        Some(if is_last { last.clone() } else { first.clone() })
                    }
                    _ => None,
                };
                let at_end = index.rewrite(&mut |expr| at(expr));
                if is_last && at_end == *index {
                    continue;
                }
                checks.extend(self.index_check(&at_end, length, text)?);
            }
        }
        Ok(checks)
    }

    fn pointer(&self, array: &Array, begin: Value) -> Value {
        if array.storage == Storage::Number || !array.widened.is_empty() {
            let index = (array.storage != Storage::Number).then_some(begin);
            let place = self.held(array, index);
            return Value::new(array.ty.clone(), ValueKind::Address(Box::new(place)));
        }
        let offset = (begin.as_int() != Some(0)).then(|| Box::new(begin));
        Value::new(array.ty.clone(), ValueKind::Pointer(array.name.clone(), offset))
    }

    /// The address of a result that is a number; by way of a variable where the callee writes another type.
    fn address(&mut self, id: &ArgId, code: &mut CallCode<'_>) -> Result<Value, LowerError> {
        let expr = code.argument(id).cloned().ok_or_else(|| self.refused(format!("a call without {id}")))?;
        let Location { value: place, checks } = self.place(&expr)?;
        match code.ty(id) {
            Some(ty) if ty != place.ty || !checks.is_empty() => {
                let name = self.names.make("result");
                self.hoisted.push(Statement::Declare(Declaration {
                    name: name.clone(),
                    ty: ty.clone(),
                    space: AddressSpace::Private,
                    lengths: Vec::new(),
                    constant: false,
                    value: None,
                    alignment: None,
                }));
                let value = Value::name(ty.clone(), name);
                code.after.extend(self.store(&expr, Typed::strong(value.clone()))?);
                Ok(Value::new(ty, ValueKind::Address(Box::new(value))))
            }
            _ => {
                let touch = self.touch(&expr, &place, true)?;
                self.hoisted.extend(touch.map(Statement::Call));
                Ok(Value::new(place.ty.clone(), ValueKind::Address(Box::new(place))))
            }
        }
    }

    /// The place of an element, counted from the beginning of its array; in vectors unless lanes are counted.
    fn index_of(&mut self, name: &Name, indices: &[Expr], lanes: bool) -> Result<Value, LowerError> {
        let mut array = self.array(name)?.clone();
        array.offset = Expr::int(0);
        if lanes || !array.axes.contains(&Axis::Vector) {
            return self.flat(&array, indices);
        }
        let layout =
            self.layout(name).ok_or_else(|| LowerError::UnknownName { instruction: self.instruction.clone(), name: name.clone() })?;
        let place = parloop_ir::syntax::Layout { offset: parloop_ir::syntax::Offset::Zero, ..layout }.place(name, indices)?;
        self.index(&place.index)
    }

    pub(super) fn layout(&self, name: &Name) -> Option<parloop_ir::syntax::Layout> {
        if let Some(temporary) = self.kernel.temporaries.get(name) {
            return Some(temporary.layout.clone());
        }
        match &self.kernel.arguments.iter().find(|argument| argument.name == *name)?.kind {
            parloop_ir::syntax::ArgumentKind::Array { layout, .. } => Some(layout.clone()),
            _ => None,
        }
    }

    /// A name that is not a variable of the kernel but a constant of the target.
    pub(super) fn symbol(&mut self, name: &Name) -> Result<Value, LowerError> {
        match parloop_ir::functions::symbol(self.program, Some(self.target), name)? {
            Some(symbol) => Ok(Value::new(symbol.ty, ValueKind::Text(symbol.text))),
            None => Err(LowerError::UnknownName { instruction: self.instruction.clone(), name: name.clone() }),
        }
    }
}
