//! Parts of a loop kernel: domains, instructions, data and tags that belong together, and that compose.

use parloop_device::DType;
use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::error::LoopError;
use parloop_loop::syntax::{DimTag, Expr, InameTag, Instruction, KernelOptions, LoopKernel, Program, Stride};
use parloop_loop::transform::{Tags, TransformError, prioritize_loops, tag_inames};
use parloop_loop::{Affine, Constraint, Name, Set};

use super::names::{Array, Number};

/// A loop kernel with what it takes, by the names of its arguments.
#[derive(Clone, Debug)]
pub struct Lowered {
    pub program: Program,
    pub arrays: Vec<(Name, Array)>,
    pub numbers: Vec<(Name, Number)>,
}

/// Arrays of up to this many numbers are fetched and kept without loops, so that compilers can hold them in registers.
pub(super) const UNROLLED: usize = 64;

/// A part of a loop kernel.
#[derive(Debug, Default)]
pub(super) struct Piece {
    pub domains: Vec<Set>,
    pub instructions: Vec<Instruction>,
    pub data: Vec<Data>,
    pub tags: Vec<(Name, InameTag)>,
    /// Loops, each of which is around the next.
    pub priorities: Vec<Vec<Name>>,
    /// The instructions that write where others might; the plan keeps them apart.
    pub planned: Vec<Name>,
    pub arrays: Vec<(Name, Array)>,
    pub numbers: Vec<(Name, Number)>,
}

impl Piece {
    /// With the other part behind it.
    pub fn and(mut self, other: Piece) -> Piece {
        self.domains.extend(other.domains);
        self.instructions.extend(other.instructions);
        self.data.extend(other.data);
        self.tags.extend(other.tags);
        self.priorities.extend(other.priorities);
        self.planned.extend(other.planned);
        self.arrays.extend(other.arrays);
        self.numbers.extend(other.numbers);
        self
    }

    /// These parts, one after another.
    pub fn all(pieces: impl IntoIterator<Item = Piece>) -> Piece {
        pieces.into_iter().fold(Piece::default(), Piece::and)
    }

    /// With one more instruction.
    pub fn then(mut self, instruction: Instruction) -> Piece {
        self.instructions.push(instruction);
        self
    }

    /// With an instruction that writes where others might.
    pub fn then_planned(mut self, instruction: Instruction) -> Piece {
        self.planned.push(instruction.id.clone());
        self.then(instruction)
    }

    /// With an iname from 0 to a length; short loops are unrolled.
    pub fn loop_over(mut self, iname: &Name, length: usize, unroll: bool) -> Piece {
        self.domains.push(range(iname, Affine::constant(0), Affine::constant(length as i64)));
        if unroll {
            self.tags.push((iname.clone(), InameTag::Unroll));
        }
        self
    }

    /// With a private array of this many numbers.
    pub fn private(mut self, name: &Name, dtype: DType, lengths: &[usize]) -> Piece {
        self.data.push(Data::temporary(name.as_str()).dtype(dtype).shape_of(lengths.iter().map(|&length| length.into())));
        self
    }

    /// With an array that the kernel takes, of rows of this many numbers. Nothing is known of its length.
    pub fn take(self, array: Array, dtype: DType, row: Option<usize>) -> Piece {
        let data = Data::global(array.name().as_str()).dtype(dtype).unknown_shape();
        let strides: Vec<Expr> = row.into_iter().map(Expr::from).chain([Expr::int(1)]).collect();
        self.take_data(array, data, strides)
    }

    /// With an array that the kernel takes, and the distances between neighbours along its axes.
    pub fn take_data(mut self, array: Array, data: Data, strides: impl IntoIterator<Item = Expr>) -> Piece {
        let tags = strides.into_iter().map(|stride| DimTag::Stride(Stride::Fixed(stride)));
        self.data.push(data.dim_tags_of(tags));
        self.arrays.push((array.name(), array));
        self
    }

    /// With a number that the kernel takes.
    pub fn take_number(mut self, number: Number, dtype: DType) -> Piece {
        self.data.push(Data::value(number.name().as_str()).dtype(dtype));
        self.numbers.push((number.name(), number));
        self
    }

    /// The loop kernel of that name that is made of it. Indices of tables are right by construction, and the plan says that no two
    /// elements meet.
    pub fn build(self, name: String, index: DType, options: KernelOptions) -> Result<(Lowered, Tags), LoopError> {
        let silenced = self.planned.iter().map(|id| format!("write_race({id})").into()).collect();
        let mut options = KernelOptions { silenced, ..options };
        // SAFETY: maps and lists of plans lead to rows that tables have, which is checked when they are made, and the plan says that no two
        // elements which run at the same time meet.
        unsafe {
            options.set_check_bounds(false);
            options.set_planned_order(true);
        }
        let mut builder = KernelBuilder::new().name(name).index_type(index).options(options).domains(self.domains);
        builder = self.instructions.into_iter().fold(builder, KernelBuilder::instruction);
        builder = self.data.into_iter().fold(builder, KernelBuilder::data);
        let tags = self.tags.into_iter().fold(Tags::default(), |tags, (iname, tag)| tags.with(iname, tag));
        let mut program = builder.build()?;
        for chain in &self.priorities {
            program = changed(program, |kernel| prioritize_loops(kernel, chain).map_err(TransformError::from))?;
        }
        Ok((Lowered { program, arrays: self.arrays, numbers: self.numbers }, tags))
    }
}

/// With inames tagged.
pub(super) fn tagged(program: Program, tags: &Tags) -> Result<Program, LoopError> {
    changed(program, |kernel| tag_inames(kernel, tags).map_err(TransformError::from))
}

/// With another kernel in the place of the one that is called.
fn changed(program: Program, change: impl FnOnce(&LoopKernel) -> Result<LoopKernel, TransformError>) -> Result<Program, LoopError> {
    let entry = program.entry().ok_or_else(|| LoopError::NoEntry { names: Vec::new() })?;
    let changed = change(entry)?;
    Ok(program.with_kernel(changed))
}

/// `{[iname]: from <= iname < to}`.
pub(super) fn range(iname: &Name, from: Affine, to: Affine) -> Set {
    bounded(&[iname], &[(from, Affine::name(iname.clone()), 0), (Affine::name(iname.clone()), to, 1)])
}

/// The points at which `left + distance <= right` holds for each of the limits.
pub(super) fn bounded(inames: &[&Name], limits: &[(Affine, Affine, i64)]) -> Set {
    let constraint = |(left, right, distance): &(Affine, Affine, i64)| {
        let slack = right.sub(left).and_then(|slack| slack.sub(&Affine::constant(*distance)));
        Constraint::not_negative(slack.expect("invariant: coefficients are small"))
    };
    Set::bounded(&inames.iter().map(|&iname| iname.clone()).collect::<Vec<_>>(), limits.iter().map(constraint).collect())
}

/// The sum of these multiples of inames.
pub(super) fn affine(terms: &[(i64, &Name)]) -> Affine {
    terms.iter().fold(Affine::constant(0), |sum, (factor, name)| {
        sum.plus(&Affine::name((*name).clone()), *factor).expect("invariant: coefficients are small")
    })
}

/// The same as an expression, with a constant in front: what is zero is left out.
pub(super) fn linear(constant: usize, terms: &[(usize, &Name)]) -> Expr {
    let terms = terms.iter().filter(|(factor, _)| *factor > 0).map(|&(factor, name)| match factor {
        1 => Expr::from(name),
        factor => Expr::from(factor) * name,
    });
    let constant = (constant > 0).then(|| Expr::from(constant));
    terms.chain(constant).reduce(|sum, term| sum + term).unwrap_or(Expr::int(0))
}
