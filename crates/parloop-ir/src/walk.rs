//! Traversal of expressions and instructions: children, rewriting, and what is read and written.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_isl::Name;

use crate::syntax::{Assignment, CInstruction, Call, CallInstruction, Expr, Instruction, InstructionKind, Reduction, SubArray};

impl Expr {
    /// The expressions directly inside it, in the order written.
    ///
    /// ```
    /// use parloop_loop::syntax::{BinaryOp, Expr};
    /// let sum = Expr::binary(BinaryOp::Add, Expr::var("a"), Expr::int(1));
    /// assert_eq!(sum.children(), [&Expr::var("a"), &Expr::int(1)]);
    /// ```
    pub fn children(&self) -> Vec<&Expr> {
        match self {
            Expr::Literal(_) | Expr::Variable(_) => Vec::new(),
            Expr::Subscript(aggregate, indices) => std::iter::once(&**aggregate).chain(indices.iter()).collect(),
            Expr::LinearSubscript(aggregate, index) => vec![aggregate, index],
            Expr::Slice(parts) => parts.iter().flatten().collect(),
            Expr::SubArray(part) => part.indices.iter().collect(),
            Expr::Lookup(aggregate, _) => vec![aggregate],
            Expr::Unary(_, operand) | Expr::Cast(_, operand) | Expr::CommonSubexpression(operand, _) => vec![operand],
            Expr::Binary(_, left, right) | Expr::Compare(_, left, right) => vec![left, right],
            Expr::Chain(chain) => std::iter::once(&chain.first).chain(chain.rest.iter().map(|(_, operand)| operand)).collect(),
            Expr::Min(operands) | Expr::Max(operands) | Expr::Tuple(operands) => operands.iter().collect(),
            Expr::If(parts) => parts.iter().collect(),
            Expr::Call(call) => call.args.iter().chain(call.keywords.iter().map(|(_, value)| value)).collect(),
            Expr::Reduction(reduction) => reduction.operands.iter().collect(),
        }
    }

    /// Replaces the expressions directly inside it. Names that are not expressions (arrays of sub-arrays, inames of reductions) stay.
    ///
    /// # Errors
    /// The first error that `change` returns.
    pub fn try_map_children<E>(&self, change: &mut dyn FnMut(&Expr) -> Result<Expr, E>) -> Result<Expr, E> {
        let mut all = |operands: &[Expr]| operands.iter().map(&mut *change).collect::<Result<Vec<Expr>, E>>();
        Ok(match self {
            Expr::Literal(_) | Expr::Variable(_) => self.clone(),
            Expr::Subscript(aggregate, indices) => {
                let aggregate = all(std::slice::from_ref(aggregate))?.remove(0);
                Expr::Subscript(Arc::new(aggregate), all(indices)?.into())
            }
            Expr::LinearSubscript(aggregate, index) => Expr::LinearSubscript(Arc::new(change(aggregate)?), Arc::new(change(index)?)),
            Expr::Slice(parts) => {
                let mut part = |index: usize| parts[index].as_ref().map(&mut *change).transpose();
                Expr::Slice(Arc::new([part(0)?, part(1)?, part(2)?]))
            }
            Expr::SubArray(part) => Expr::SubArray(Arc::new(SubArray { indices: all(&part.indices)?, ..(**part).clone() })),
            Expr::Lookup(aggregate, field) => Expr::Lookup(Arc::new(change(aggregate)?), field.clone()),
            Expr::Unary(op, operand) => Expr::Unary(*op, Arc::new(change(operand)?)),
            Expr::Cast(ty, operand) => Expr::Cast(ty.clone(), Arc::new(change(operand)?)),
            Expr::CommonSubexpression(operand, prefix) => Expr::CommonSubexpression(Arc::new(change(operand)?), prefix.clone()),
            Expr::Binary(op, left, right) => Expr::binary(*op, change(left)?, change(right)?),
            Expr::Chain(chain) => {
                let first = change(&chain.first)?;
                let rest = chain.rest.iter().map(|(op, operand)| Ok((*op, change(operand)?))).collect::<Result<Vec<_>, E>>()?;
                Expr::chain(first, rest)
            }
            Expr::Compare(op, left, right) => Expr::Compare(*op, Arc::new(change(left)?), Arc::new(change(right)?)),
            Expr::Min(operands) => Expr::Min(all(operands)?.into()),
            Expr::Max(operands) => Expr::Max(all(operands)?.into()),
            Expr::Tuple(operands) => Expr::Tuple(all(operands)?.into()),
            Expr::If(parts) => Expr::If(Arc::new([change(&parts[0])?, change(&parts[1])?, change(&parts[2])?])),
            Expr::Call(call) => {
                let args = all(&call.args)?;
                let keywords = call.keywords.iter().map(|(name, value)| Ok((name.clone(), change(value)?))).collect::<Result<_, E>>()?;
                Expr::Call(Arc::new(Call { args, keywords, ..(**call).clone() }))
            }
            Expr::Reduction(reduction) => {
                Expr::Reduction(Arc::new(Reduction { operands: all(&reduction.operands)?, ..(**reduction).clone() }))
            }
        })
    }

    /// [`try_map_children`](Self::try_map_children) that cannot fail.
    pub fn map_children(&self, change: &mut dyn FnMut(&Expr) -> Expr) -> Expr {
        let mapped: Result<Expr, std::convert::Infallible> = self.try_map_children(&mut |child| Ok(change(child)));
        match mapped {
            Ok(expr) => expr,
        }
    }

    /// Rewrites from the root down: where `change` returns an expression, it is used unchanged; elsewhere the children are rewritten.
    pub fn rewrite(&self, change: &mut dyn FnMut(&Expr) -> Option<Expr>) -> Expr {
        match change(self) {
            Some(expr) => expr,
            None => self.map_children(&mut |child| child.rewrite(change)),
        }
    }

    /// [`rewrite`](Self::rewrite) that can fail.
    ///
    /// # Errors
    /// The first error that `change` returns.
    pub fn try_rewrite<E>(&self, change: &mut dyn FnMut(&Expr) -> Result<Option<Expr>, E>) -> Result<Expr, E> {
        match change(self)? {
            Some(expr) => Ok(expr),
            None => self.try_map_children(&mut |child| child.try_rewrite(change)),
        }
    }

    /// Calls `visit` for it and for everything inside it, outer first.
    pub fn visit<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        visit(self);
        for child in self.children() {
            child.visit(visit);
        }
    }

    /// Whether `test` holds for it or for anything inside it.
    pub fn any(&self, test: &mut dyn FnMut(&Expr) -> bool) -> bool {
        test(self) || self.children().into_iter().any(|child| child.any(test))
    }

    /// The names of all variables in it: inames, arguments, temporaries, parameters; arrays of sub-arrays too. Functions, fields, and the
    /// inames that reductions and sub-arrays bind are not included, unless they are used outside these.
    pub fn variables(&self) -> BTreeSet<Name> {
        let mut found = BTreeSet::new();
        self.collect_variables(&mut Vec::new(), &mut found);
        found
    }

    fn collect_variables<'a>(&'a self, bound: &mut Vec<&'a Name>, found: &mut BTreeSet<Name>) {
        let depth = bound.len();
        match self {
            Expr::Variable(name) if !bound.contains(&name) => {
                found.insert(name.clone());
            }
            Expr::SubArray(part) => {
                found.insert(part.array.clone());
                bound.extend(&part.inames);
            }
            Expr::Reduction(reduction) => bound.extend(&reduction.inames),
            _ => {}
        }
        for child in self.children() {
            child.collect_variables(bound, found);
        }
        bound.truncate(depth);
    }

    /// The inames of its reductions.
    pub fn reduction_inames(&self) -> BTreeSet<Name> {
        let mut found = BTreeSet::new();
        self.visit(&mut |expr| {
            if let Expr::Reduction(reduction) = expr {
                found.extend(reduction.inames.iter().cloned());
            }
        });
        found
    }

    /// The inames that sweep its sub-arrays.
    pub fn sub_array_inames(&self) -> BTreeSet<Name> {
        let mut found = BTreeSet::new();
        self.visit(&mut |expr| {
            if let Expr::SubArray(part) = expr {
                found.extend(part.inames.iter().cloned());
            }
        });
        found
    }

    /// Replaces variables by expressions. Names of arrays change too if the expression is a variable; names that reductions and sub-arrays
    /// bind stay inside these.
    pub fn substitute(&self, by: &BTreeMap<Name, Expr>) -> Expr {
        if by.is_empty() {
            return self.clone();
        }
        let without = |bound: &[Name]| {
            bound.iter().any(|name| by.contains_key(name)).then(|| {
                let mut rest = by.clone();
                bound.iter().for_each(|name| drop(rest.remove(name)));
                rest
            })
        };
        match self {
            Expr::Variable(name) => by.get(name).unwrap_or(self).clone(),
            Expr::SubArray(part) => {
                let rest = without(&part.inames);
                let inner = rest.as_ref().unwrap_or(by);
                let array = match by.get(&part.array) {
                    Some(Expr::Variable(array)) => array.clone(),
                    _ => part.array.clone(),
                };
                let indices = part.indices.iter().map(|index| index.substitute(inner)).collect();
                Expr::SubArray(Arc::new(SubArray { inames: part.inames.clone(), array, indices }))
            }
            Expr::Reduction(reduction) => {
                let rest = without(&reduction.inames);
                let inner = rest.as_ref().unwrap_or(by);
                self.map_children(&mut |child| child.substitute(inner))
            }
            _ => self.map_children(&mut |child| child.substitute(by)),
        }
    }

    /// The name of the array, number or object that a left side writes.
    pub fn written_name(&self) -> Option<&Name> {
        match self {
            Expr::Variable(name) => Some(name),
            Expr::Subscript(aggregate, _) | Expr::LinearSubscript(aggregate, _) | Expr::Lookup(aggregate, _) => aggregate.written_name(),
            Expr::SubArray(part) => Some(&part.array),
            _ => None,
        }
    }
}

impl Instruction {
    /// The left sides: what it writes.
    pub fn lhs(&self) -> Vec<&Expr> {
        match &self.kind {
            InstructionKind::Assign(assignment) => vec![&assignment.lhs],
            InstructionKind::Call(call) => call.lhs.iter().collect(),
            InstructionKind::C(code) => code.writes.iter().collect(),
            InstructionKind::Barrier { .. } | InstructionKind::Nop => Vec::new(),
        }
    }

    /// The expressions whose values it uses: right sides, bindings of C code, predicates. Indices of left sides are not among them.
    pub fn rhs(&self) -> Vec<&Expr> {
        let mut found: Vec<&Expr> = match &self.kind {
            InstructionKind::Assign(assignment) => vec![&assignment.rhs],
            InstructionKind::Call(call) => vec![&call.rhs],
            InstructionKind::C(code) => code.bindings.iter().map(|(_, expr)| expr).collect(),
            InstructionKind::Barrier { .. } | InstructionKind::Nop => Vec::new(),
        };
        found.extend(&self.predicates);
        found
    }

    /// All expressions in it: left sides, right sides, predicates.
    pub fn exprs(&self) -> Vec<&Expr> {
        let mut found = self.lhs();
        found.extend(self.rhs());
        found
    }

    /// The names of the variables it writes.
    pub fn writes(&self) -> BTreeSet<Name> {
        self.lhs().into_iter().filter_map(Expr::written_name).cloned().collect()
    }

    /// The names of all variables it reads: inames and parameters too, and those in the indices of its left sides. An atomic update reads
    /// what it writes.
    pub fn reads(&self) -> BTreeSet<Name> {
        let mut found: BTreeSet<Name> = self.rhs().into_iter().flat_map(Expr::variables).collect();
        for lhs in self.lhs() {
            let mut inside = lhs.variables();
            if let Some(written) = lhs.written_name()
                && !lhs.children().iter().skip(1).any(|index| index.variables().contains(written))
            {
                inside.remove(written);
            }
            found.extend(inside);
        }
        match &self.kind {
            InstructionKind::Assign(Assignment { atomic: Some(crate::syntax::Atomicity::Update), .. }) => found.extend(self.writes()),
            InstructionKind::C(code) => found.extend(code.reads.iter().cloned()),
            _ => {}
        }
        found
    }

    /// The inames of its reductions.
    pub fn reduction_inames(&self) -> BTreeSet<Name> {
        self.exprs().into_iter().flat_map(Expr::reduction_inames).collect()
    }

    /// The inames that sweep its sub-arrays.
    pub fn sub_array_inames(&self) -> BTreeSet<Name> {
        self.exprs().into_iter().flat_map(Expr::sub_array_inames).collect()
    }

    /// Changes each of its expressions: left sides, right sides, predicates.
    ///
    /// # Errors
    /// The first error that `change` returns.
    pub fn try_map_exprs<E>(&self, change: &mut dyn FnMut(&Expr) -> Result<Expr, E>) -> Result<Instruction, E> {
        let mut all = |exprs: &[Expr]| exprs.iter().map(&mut *change).collect::<Result<Vec<Expr>, E>>();
        let kind = match &self.kind {
            InstructionKind::Assign(assignment) => {
                let mut sides = all(&[assignment.lhs.clone(), assignment.rhs.clone()])?;
                let (rhs, lhs) = (sides.remove(1), sides.remove(0));
                InstructionKind::Assign(Assignment { lhs, rhs, ..assignment.clone() })
            }
            InstructionKind::Call(call) => {
                let lhs = all(&call.lhs)?;
                InstructionKind::Call(CallInstruction { lhs, rhs: change(&call.rhs)?, declares: call.declares.clone() })
            }
            InstructionKind::C(code) => {
                let writes = all(&code.writes)?;
                let bindings = code.bindings.iter().map(|(name, expr)| Ok((name.clone(), change(expr)?))).collect::<Result<_, E>>()?;
                InstructionKind::C(CInstruction { bindings, writes, ..code.clone() })
            }
            InstructionKind::Barrier { .. } | InstructionKind::Nop => self.kind.clone(),
        };
        let predicates = self.predicates.iter().map(&mut *change).collect::<Result<_, E>>()?;
        Ok(Instruction { kind, predicates, ..self.clone() })
    }

    /// [`try_map_exprs`](Self::try_map_exprs) that cannot fail.
    pub fn map_exprs(&self, change: &mut dyn FnMut(&Expr) -> Expr) -> Instruction {
        let mapped: Result<Instruction, std::convert::Infallible> = self.try_map_exprs(&mut |expr| Ok(change(expr)));
        match mapped {
            Ok(instruction) => instruction,
        }
    }
}
