//! Conversion of values to isl objects and back. Names stay outside: isl sees only positions of parameters and dimensions.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint};

use super::Solver;
use super::api::*;
use super::handle::{AffHandle, Handle, SetHandle};
use crate::affine::{Affine, Atom};
use crate::constraint::{Constraint, ConstraintKind, Piece, normalise};
use crate::error::{IslError, Result};
use crate::name::Name;
use crate::set::{NamePosition, Set};

/// The order of columns in matrices of constraints.
const COLUMNS: [Dim; 4] = [Dim::Constant, Dim::Param, Dim::Set, Dim::Div];

const READ: &str = "give a set back";
const MAKE: &str = "take a set";

/// The names of parameters and dimensions, by position.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    pub params: &'a [Name],
    pub dims: &'a [Name],
}

impl Names<'_> {
    fn place(&self, name: &Name) -> Option<NamePosition> {
        let dim = self.dims.iter().position(|dim| dim == name).map(NamePosition::Dim);
        dim.or_else(|| self.params.iter().position(|param| param == name).map(NamePosition::Param))
    }

    fn column(&self, place: NamePosition) -> usize {
        match place {
            NamePosition::Param(param) => 1 + param,
            NamePosition::Dim(dim) => 1 + self.params.len() + dim,
        }
    }
}

impl Solver {
    // ---- values to isl ----

    /// The isl object for a set.
    pub(crate) fn load(&self, set: &Set) -> Result<SetHandle<'_>> {
        let known = self.remembered.borrow().get(set).copied();
        let raw = match known {
            Some(raw) => raw,
            None => {
                let raw = self.make_set(set)?.into_raw();
                self.remembered.borrow_mut().insert(set.clone(), raw);
                raw
            }
        };
        // SAFETY: the solver owns the object; isl counts the references to it.
        Handle { raw: unsafe { (self.api.isl_set_copy)(raw) }, solver: self }.check(MAKE)
    }

    fn make_set(&self, set: &Set) -> Result<SetHandle<'_>> {
        let names = Names { params: set.params(), dims: set.dims() };
        // SAFETY: the context is alive.
        let raw = unsafe { (self.api.isl_space_set_alloc)(self.ctx, names.params.len() as c_uint, names.dims.len() as c_uint) };
        let space = Handle { raw, solver: self }.check(MAKE)?;
        let mut union: Option<SetHandle<'_>> = None;
        for piece in set.pieces() {
            let piece = self.make_piece(&space, piece, names)?;
            // SAFETY: isl takes ownership of the piece.
            let piece = Handle { raw: unsafe { (self.api.isl_set_from_basic_set)(piece.into_raw()) }, solver: self };
            union = Some(match union {
                Some(union) => union.union(piece),
                None => piece,
            });
        }
        let empty = || {
            // SAFETY: isl takes ownership of a copy of the space.
            let raw = unsafe { (self.api.isl_set_empty)((self.api.isl_space_copy)(space.raw)) };
            Handle { raw, solver: self }
        };
        union.unwrap_or_else(empty).check(MAKE)
    }

    fn make_piece<'s>(&'s self, space: &Handle<'s, isl_space>, piece: &Piece, names: Names<'_>) -> Result<Handle<'s, isl_basic_set>> {
        let plain = |kind| piece.iter().filter(move |c| c.kind == kind && !c.affine.has_floors());
        let equalities = self.matrix(&plain(ConstraintKind::Zero).collect::<Vec<_>>(), names)?;
        let inequalities = self.matrix(&plain(ConstraintKind::NotNegative).collect::<Vec<_>>(), names)?;
        let [a, b, c, d] = COLUMNS;
        // SAFETY: isl takes ownership of a copy of the space and both matrices.
        let raw = unsafe {
            let space = (self.api.isl_space_copy)(space.raw);
            (self.api.isl_basic_set_from_constraint_matrices)(space, equalities.into_raw(), inequalities.into_raw(), a, b, c, d)
        };
        let mut result = Handle { raw, solver: self };
        for constraint in piece.iter().filter(|c| c.affine.has_floors()) {
            let affine = self.make_affine(space, &constraint.affine, names)?.into_raw();
            // SAFETY: isl takes ownership of the expression, then both sets.
            let raw = unsafe {
                let bounded = match constraint.kind {
                    ConstraintKind::Zero => (self.api.isl_aff_zero_basic_set)(affine),
                    ConstraintKind::NotNegative => (self.api.isl_aff_nonneg_basic_set)(affine),
                };
                (self.api.isl_basic_set_intersect)(result.into_raw(), bounded)
            };
            result = Handle { raw, solver: self };
        }
        result.check(MAKE)
    }

    fn matrix(&self, constraints: &[&Constraint], names: Names<'_>) -> Result<Handle<'_, isl_mat>> {
        let columns = 1 + names.params.len() + names.dims.len();
        // SAFETY: the context is alive.
        let raw = unsafe { (self.api.isl_mat_alloc)(self.ctx, constraints.len() as c_uint, columns as c_uint) };
        let mut matrix = Handle { raw, solver: self };
        let mut row_values = vec![0; columns];
        for (row, constraint) in constraints.iter().enumerate() {
            row_values.fill(0);
            row_values[0] = constraint.affine.constant_term();
            for (atom, coefficient) in constraint.affine.terms() {
                let Atom::Name(name) = atom else { continue };
                row_values[names.column(self.known_place(name, names)?)] = coefficient;
            }
            for (column, &value) in row_values.iter().enumerate() {
                // isl does not initialise matrices, so zeros are set too.
                matrix = self.set_element(matrix, row as c_int, column as c_int, value);
            }
        }
        matrix.check(MAKE)
    }

    fn set_element<'s>(&'s self, matrix: Handle<'s, isl_mat>, row: c_int, column: c_int, value: i64) -> Handle<'s, isl_mat> {
        // SAFETY: row and column are inside the matrix, which isl takes over and gives back.
        let raw = unsafe {
            match c_int::try_from(value) {
                Ok(value) => (self.api.isl_mat_set_element_si)(matrix.into_raw(), row, column, value),
                Err(_) => (self.api.isl_mat_set_element_val)(matrix.into_raw(), row, column, self.val(value).into_raw()),
            }
        };
        Handle { raw, solver: self }
    }

    fn known_place(&self, name: &Name, names: Names<'_>) -> Result<NamePosition> {
        names
            .place(name)
            .ok_or_else(|| IslError::UnknownName { name: name.to_string(), set: format!("{:?} -> {:?}", names.params, names.dims) })
    }

    fn make_affine<'s>(&'s self, space: &Handle<'s, isl_space>, affine: &Affine, names: Names<'_>) -> Result<AffHandle<'s>> {
        let constant = self.val(affine.constant_term());
        // SAFETY: isl takes over a copy of the space, then the expression and the constant.
        let raw = unsafe {
            let zero = (self.api.isl_aff_zero_on_domain)((self.api.isl_local_space_from_space)((self.api.isl_space_copy)(space.raw)));
            (self.api.isl_aff_set_constant_val)(zero, constant.into_raw())
        };
        let mut result: AffHandle<'_> = Handle { raw, solver: self };
        for (atom, coefficient) in affine.terms() {
            let factor = self.val(coefficient).into_raw();
            let raw = match atom {
                Atom::Name(name) => {
                    let (kind, place) = match self.known_place(name, names)? {
                        NamePosition::Dim(place) => (Dim::In, place),
                        NamePosition::Param(place) => (Dim::Param, place),
                    };
                    // SAFETY: the position is inside the space; isl takes the expression and the factor over.
                    unsafe { (self.api.isl_aff_set_coefficient_val)(result.into_raw(), kind, place as c_int, factor) }
                }
                Atom::Floor(inner, divisor) => {
                    let inner = self.make_affine(space, inner, names)?;
                    let divisor = self.val(*divisor);
                    // SAFETY: isl takes ownership of all of them.
                    unsafe {
                        let floor = (self.api.isl_aff_floor)((self.api.isl_aff_scale_down_val)(inner.into_raw(), divisor.into_raw()));
                        (self.api.isl_aff_add)(result.into_raw(), (self.api.isl_aff_scale_val)(floor, factor))
                    }
                }
            };
            result = Handle { raw, solver: self };
        }
        result.check("take an expression")
    }

    // ---- isl to values ----

    /// The value of a set whose parameters and dimensions have those names. Parameters are sorted.
    pub(crate) fn store(&self, set: SetHandle<'_>, names: Names<'_>) -> Result<Set> {
        let set = set.compute_divs().check(READ)?;
        // SAFETY: isl reads the set and returns a list that the handle owns.
        let list = Handle { raw: unsafe { (self.api.isl_set_get_basic_set_list)(set.raw) }, solver: self }.check(READ)?;
        // SAFETY: isl reads the list.
        let count = unsafe { (self.api.isl_basic_set_list_n_basic_set)(list.raw) };
        let mut pieces = Vec::new();
        for place in 0..count {
            // SAFETY: the position is inside the list.
            let raw = unsafe { (self.api.isl_basic_set_list_get_basic_set)(list.raw, place) };
            let piece = Handle { raw, solver: self }.check(READ)?;
            pieces.extend(normalise(self.read_piece(&piece, names)?));
        }
        if self.failed() {
            return Err(self.error(READ));
        }
        Ok(Set::from_pieces(names.params.to_vec(), names.dims.to_vec(), pieces))
    }

    fn read_piece(&self, piece: &Handle<'_, isl_basic_set>, names: Names<'_>) -> Result<Piece> {
        let mut atoms: Vec<Affine> = names.params.iter().chain(names.dims).map(Affine::name).collect();
        // SAFETY: isl reads the set.
        let divs = unsafe { (self.api.isl_basic_set_dim)(piece.raw, Dim::Div) };
        for place in 0..divs {
            // SAFETY: the position is one of the divisions; isl gives an expression that the handle owns.
            let div = Handle { raw: unsafe { (self.api.isl_basic_set_get_div)(piece.raw, place) }, solver: self };
            let (numerator, denominator) = self.read_fraction(&div.check(READ)?, names, &atoms)?;
            atoms.push(Affine::floor(&numerator, denominator)?);
        }
        let [a, b, c, d] = COLUMNS;
        // SAFETY: isl reads the set and returns matrices that the handles own.
        let (equalities, inequalities) = unsafe {
            let equalities = (self.api.isl_basic_set_equalities_matrix)(piece.raw, a, b, c, d);
            let inequalities = (self.api.isl_basic_set_inequalities_matrix)(piece.raw, a, b, c, d);
            (Handle { raw: equalities, solver: self }, Handle { raw: inequalities, solver: self })
        };
        let mut constraints = Piece::new();
        self.read_matrix(&equalities.check(READ)?, &atoms, |affine| constraints.push(Constraint::zero(affine)))?;
        self.read_matrix(&inequalities.check(READ)?, &atoms, |affine| constraints.push(Constraint::not_negative(affine)))?;
        Ok(constraints)
    }

    fn read_matrix(&self, matrix: &Handle<'_, isl_mat>, atoms: &[Affine], mut push: impl FnMut(Affine)) -> Result<()> {
        // SAFETY: isl reads the matrix.
        let rows = unsafe { (self.api.isl_mat_rows)(matrix.raw) };
        for row in 0..rows {
            let element = |column: usize| {
                // SAFETY: row and column are inside the matrix.
                let raw = unsafe { (self.api.isl_mat_get_element_val)(matrix.raw, row, column as c_int) };
                self.number(Handle { raw, solver: self })
            };
            let coefficients = (1..=atoms.len()).map(element).collect::<Result<Vec<i64>>>()?;
            push(combine(element(0)?, &coefficients, atoms)?);
        }
        Ok(())
    }

    /// The value of an expression in terms of parameters (and dimensions, when `names` has them). All of it is integral.
    pub(crate) fn read_affine(&self, affine: &AffHandle<'_>, names: Names<'_>) -> Result<Affine> {
        let mut atoms: Vec<Affine> = names.params.iter().chain(names.dims).map(Affine::name).collect();
        // SAFETY: isl reads the expression.
        let divs = unsafe { (self.api.isl_aff_dim)(affine.raw, Dim::Div) };
        for place in 0..divs {
            // SAFETY: the position is one of the divisions; isl gives an expression that the handle owns.
            let div = Handle { raw: unsafe { (self.api.isl_aff_get_div)(affine.raw, place) }, solver: self }.check(READ)?;
            let (numerator, denominator) = self.read_fraction(&div, names, &atoms)?;
            atoms.push(Affine::floor(&numerator, denominator)?);
        }
        let (numerator, denominator) = self.read_fraction(affine, names, &atoms)?;
        if self.failed() {
            return Err(self.error("give an expression back"));
        }
        match denominator {
            1 => Ok(numerator),
            _ => Err(IslError::Isl {
                what: "give an expression back".to_string(),
                message: format!("({numerator})/{denominator} is not whole"),
            }),
        }
    }

    /// Numerator and denominator of an expression, in terms of the atoms: parameters, dimensions, then divisions.
    fn read_fraction(&self, affine: &AffHandle<'_>, names: Names<'_>, atoms: &[Affine]) -> Result<(Affine, i64)> {
        // SAFETY: isl reads the expression.
        let denominator = self.number(Handle { raw: unsafe { (self.api.isl_aff_get_denominator_val)(affine.raw) }, solver: self })?;
        let scaled = |value: Handle<'_, isl_val>| {
            // SAFETY: isl reads the value.
            let part = unsafe { (self.api.isl_val_get_den_si)(value.raw) };
            let number = self.number(value)?;
            let scaled = denominator.checked_div(part).and_then(|factor| number.checked_mul(factor));
            scaled.ok_or_else(|| IslError::Overflow { what: "a division".to_string() })
        };
        let coefficient = |place: usize| {
            let (params, dims) = (names.params.len(), names.dims.len());
            let (kind, place) = match place {
                place if place < params => (Dim::Param, place),
                place if place < params + dims => (Dim::In, place - params),
                place => (Dim::Div, place - params - dims),
            };
            // SAFETY: the position is inside the space of the expression.
            scaled(Handle { raw: unsafe { (self.api.isl_aff_get_coefficient_val)(affine.raw, kind, place as c_int) }, solver: self })
        };
        let coefficients = (0..atoms.len()).map(coefficient).collect::<Result<Vec<i64>>>()?;
        // SAFETY: isl reads the expression.
        let constant = scaled(Handle { raw: unsafe { (self.api.isl_aff_get_constant_val)(affine.raw) }, solver: self })?;
        Ok((combine(constant, &coefficients, atoms)?, denominator))
    }
}

/// `constant + sum of coefficient * atom`.
fn combine(constant: i64, coefficients: &[i64], atoms: &[Affine]) -> Result<Affine> {
    let mut plain = BTreeMap::new();
    let mut floors = Affine::default();
    for (&coefficient, atom) in coefficients.iter().zip(atoms).filter(|(coefficient, _)| **coefficient != 0) {
        match atom.as_name().map(|name| Atom::Name(name.clone())) {
            // A floor can reduce to a name that already occurs.
            Some(name) if !plain.contains_key(&name) => {
                plain.insert(name, coefficient);
            }
            _ => floors = floors.plus(atom, coefficient)?,
        }
    }
    let plain = Affine::from_parts(plain.into_iter().collect(), constant);
    if floors == Affine::default() { Ok(plain) } else { plain.add(&floors) }
}
