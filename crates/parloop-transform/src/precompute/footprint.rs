//! Footprints: which values a swept access takes, the box that stores them, and the loops that fill it.

use std::collections::BTreeSet;

use parloop_ir::domain::Forest;
use parloop_ir::syntax::LoopKernel;
use parloop_isl::{Affine, Constraint, IslError, Name, Set};

/// What a footprint is asked for.
pub(crate) struct Question<'a> {
    pub kernel: &'a LoopKernel,
    /// The inames that are swept.
    pub sweep: &'a BTreeSet<Name>,
    /// The inames around the loops that fill the box: it may differ from one of their values to the next.
    pub outer: &'a BTreeSet<Name>,
    /// A name for each axis of the box, in use nowhere else.
    pub axes: &'a [Name],
    /// What is taken along the axes, for each access.
    pub accesses: &'a [Vec<Affine>],
}

/// Why there is no such footprint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FootprintError {
    Solver(IslError),
    /// Along that axis it is not bounded, or its length has no bound that the kernel's parameters give.
    Unbounded(usize),
    /// Nothing is taken for any parameters.
    Empty,
    /// It has holes or dents.
    NotConvex(Set),
}

impl From<IslError> for FootprintError {
    fn from(error: IslError) -> FootprintError {
        FootprintError::Solver(error)
    }
}

/// The values taken, as a set over the axes, and the box around them.
pub(crate) struct Footprint {
    /// Over the axes; inames around are parameters.
    set: Set,
    /// What holds for the parameters and the inames around.
    context: Set,
    /// Where the box begins along each axis.
    pub bases: Vec<Affine>,
    /// How long it is, in terms of the kernel's parameters.
    pub lengths: Vec<Affine>,
}

impl Question<'_> {
    pub(crate) fn answer(&self) -> Result<Footprint, FootprintError> {
        let mut images = self.accesses.iter().map(|access| self.image(access));
        let first = images.next().ok_or(FootprintError::Empty)??;
        let set = images.try_fold(first, |set, image| set.union(&image?))?;
        let set = if self.accesses.len() > 1 { set.simplify()? } else { set };
        if set.pieces().is_empty() {
            return Err(FootprintError::Empty);
        }
        let outer: Vec<Name> = self.parameters().into_iter().collect();
        let context = domain_of(self.kernel, &outer)?.project_onto(&outer)?.to_params(&outer);
        let mut footprint = Footprint { set, context, bases: Vec::new(), lengths: Vec::new() };
        for axis in 0..self.axes.len() {
            let (base, length) = self.measure(&footprint.set, axis)?;
            footprint.bases.push(base);
            footprint.lengths.push(length);
        }
        Ok(footprint)
    }

    /// Whether everything that an access takes, swept, is in the footprint.
    pub(crate) fn covers(&self, footprint: &Footprint, access: &[Affine]) -> Result<bool, IslError> {
        self.image(access)?.is_subset(&footprint.set)
    }

    /// The inames around that are not swept.
    fn parameters(&self) -> BTreeSet<Name> {
        self.outer.difference(self.sweep).cloned().collect()
    }

    /// What an access takes while the sweep inames, and all that are not around, have any of their values.
    fn image(&self, access: &[Affine]) -> Result<Set, IslError> {
        self.image_within(access, &BTreeSet::new())
    }

    /// What an access takes where loops over some inames run.
    pub(crate) fn image_within(&self, access: &[Affine], within: &BTreeSet<Name>) -> Result<Set, IslError> {
        let parameters = self.parameters();
        let mut inames: Vec<Name> = parameters.union(within).cloned().collect();
        inames.extend(access.iter().flat_map(Affine::names).filter(|name| self.kernel.inames.contains_key(name)));
        let domain = domain_of(self.kernel, &inames)?;
        let parameters: Vec<Name> = parameters.into_iter().filter(|name| domain.has_dim(name)).collect();
        let functions: Vec<(Name, Affine)> = self.axes.iter().cloned().zip(access.iter().cloned()).collect();
        domain.to_params(&parameters).image(&functions)
    }

    /// Where the box begins along an axis, and how long it is: of all limits from below, the one that leaves the shortest box.
    fn measure(&self, set: &Set, axis: usize) -> Result<(Affine, Affine), FootprintError> {
        let name = &self.axes[axis];
        let line = set.project_onto(std::slice::from_ref(name))?;
        let outer: Vec<Name> = line.params().iter().filter(|param| self.outer.contains(*param)).cloned().collect();
        let mut best: Option<(Affine, Affine)> = None;
        for bound in line.bounds(name)?.lower {
            let base = match bound.divisor {
                1 => bound.affine,
                divisor => Affine::floor(&bound.affine.add(&Affine::constant(divisor - 1))?, divisor)?,
            };
            let Some(length) = self.length(&line, name, &outer, &base)? else { continue };
            if length.as_constant().is_some_and(|length| length < 1) {
                return Err(FootprintError::Empty);
            }
            if best.as_ref().is_none_or(|(_, known)| rank(&length) < rank(known)) {
                best = Some((base, length));
            }
        }
        best.ok_or(FootprintError::Unbounded(axis))
    }

    /// How many places there are from `base` to the end of the line, at most, for all values of the inames around.
    fn length(&self, line: &Set, name: &Name, outer: &[Name], base: &Affine) -> Result<Option<Affine>, IslError> {
        let counted = length_name(name);
        let length = Affine::name(name.clone()).sub(base)?.add(&Affine::constant(1))?;
        let plane = line.add_dims(outer);
        let equal = Constraint::zero(Affine::name(counted.clone()).sub(&length)?);
        let with_length = plane.add_dims(std::slice::from_ref(&counted)).constrain(&[equal])?;
        if let Some(longest) = with_length.constant_max(&counted, &self.kernel.assumptions)? {
            return Ok(Some(Affine::constant(longest)));
        }
        match plane.image(&[(counted.clone(), length)])?.static_max(&counted, &self.kernel.assumptions) {
            Ok(longest) => Ok(Some(longest)),
            Err(IslError::Unbounded { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn length_name(axis: &Name) -> Name {
    format!("{axis}_length").into()
}

/// Constants before others, short before long.
fn rank(length: &Affine) -> (usize, i64) {
    (length.names().len(), length.constant_term())
}

impl Footprint {
    /// Whether the box has more than one place along the axis.
    pub(crate) fn is_wide(&self, axis: usize) -> bool {
        self.lengths[axis].as_constant() != Some(1)
    }

    /// The values of the loops that fill the box, each counted from the box's beginning: the footprint, or all of the box around it.
    /// `loops` has a name for each wide axis.
    pub(crate) fn loops(&self, axes: &[Name], loops: &[(usize, Name)], all_of_box: bool) -> Result<Set, FootprintError> {
        let mut set = self.filled(axes, all_of_box)?;
        for (axis, name) in loops {
            let value = Affine::name(name.clone()).add(&self.bases[*axis])?;
            set = set.add_dims(std::slice::from_ref(name)).substitute(&axes[*axis], &value)?;
        }
        let names: Vec<Name> = loops.iter().map(|(_, name)| name.clone()).collect();
        let set = set.project_onto(&names)?;
        Ok(set.gist(&self.context.add_dims(&names))?)
    }

    /// What the loops take: the footprint, or all of the box around it.
    pub(crate) fn filled(&self, axes: &[Name], all_of_box: bool) -> Result<Set, FootprintError> {
        if all_of_box { Ok(self.surrounding(axes)?) } else { self.convex() }
    }

    fn convex(&self) -> Result<Set, FootprintError> {
        if self.set.pieces().len() == 1 {
            return Ok(self.set.clone());
        }
        let hull = self.set.hull()?;
        match hull.is_subset(&self.set)? {
            true => Ok(hull),
            false => Err(FootprintError::NotConvex(self.set.clone())),
        }
    }

    fn surrounding(&self, axes: &[Name]) -> Result<Set, IslError> {
        let mut surrounding = Set::universe(&[], &[]);
        for axis in axes {
            surrounding = surrounding.join(&self.set.project_onto(std::slice::from_ref(axis))?.hull()?)?;
        }
        Ok(surrounding)
    }

    /// What holds for the parameters and the inames around.
    pub(crate) fn context(&self) -> &Set {
        &self.context
    }
}

/// The values of the inames together with what bounds them: their domains, those that these lean on, and the assumptions.
pub fn domain_of(kernel: &LoopKernel, inames: &[Name]) -> Result<Set, IslError> {
    Forest::of(kernel).domain_of(inames)?.join(&kernel.assumptions)
}
