//! Arithmetic of data on sets: zeros, copies, sums, products, norms. Whole tables are filled and copied where they are; the rest are
//! loops with loop kernels (`kernels.rs`), made once for each operation and its types.

mod kernels;
mod number;

use parloop_device::{Complex32, Complex64, DType, Device, Element, refuse_recording};
use parloop_kernel::{Context, KernelError, Scalar};

use self::kernels::{Form, Kind, Operator, kernel};
use crate::Result;
use crate::access::Access;
use crate::declare::arg::Arg;
use crate::declare::dat::Dat;
use crate::declare::global::Global;
use crate::declare::set::Set;
use crate::error::MeshError;
use crate::run::options::LoopOptions;
use crate::run::par_loop::ParLoop;
use crate::storage::{Storage, take_turns};

/// What is done with two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// `a + b`
    Add,
    /// `a - b`
    Subtract,
    /// `a * b`
    Multiply,
    /// `a / b`
    Divide,
}

/// The other side of an operation.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    /// The numbers of the same elements.
    Dat(&'a Dat),
    /// One number for all, or one for each component.
    Global(&'a Global),
    /// One number.
    Number(Scalar),
}

/// The other side of an operation, on which side it stands, and what happens to results that do not fit.
#[derive(Clone, Copy, Debug)]
pub struct Sides<'a> {
    /// The other side.
    pub other: Operand<'a>,
    /// Whether it stands on the left.
    pub is_turned: bool,
    /// What happens to results that are not numbers of the data's type.
    pub rounding: Rounding,
}

/// What happens to results that are not numbers of the data's type, as 0.5 in integers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// They are an error, whatever the values are.
    #[default]
    Refuse,
    /// What is behind the point is cut off.
    Truncate,
}

impl Dat {
    /// Sets all numbers to zero, ghosts and all.
    ///
    /// # Errors
    /// When a device fails.
    pub fn zero(&self) -> Result<()> {
        let context = self.storage().newest().map_or_else(host, Ok)?;
        self.storage().zero(&context)
    }

    /// Sets the numbers of some elements to zero.
    ///
    /// # Errors
    /// [`MeshError::WrongSet`], or when a device fails.
    pub fn zero_on(&self, subset: &Set, context: &Context) -> Result<()> {
        let form = Form::Zero;
        let kernel = kernel(&form, self.dtype(), self.dtype(), width(self))?;
        run(&kernel, subset, vec![self.arg(Access::Write, None)], &self.context_or(context))
    }

    /// Copies all numbers, ghosts and all, into another of the same shape and type.
    ///
    /// # Errors
    /// [`MeshError::Shapes`], [`MeshError::ElementType`], or when a device fails.
    pub fn copy_to(&self, other: &Dat) -> Result<()> {
        let (from, to) = (self.storage(), other.storage());
        if from.is_same(to) {
            return Ok(());
        }
        self.check_copy(other)?;
        let _turns = take_turns([(from, false), (to, true)])?;
        Ok(to.copy_from(from)?)
    }

    /// Copies the numbers of some elements into another of the same shape and type.
    ///
    /// # Errors
    /// [`MeshError::Shapes`], [`MeshError::ElementType`], [`MeshError::WrongSet`], or when a device fails.
    pub fn copy_on(&self, other: &Dat, subset: &Set, context: &Context) -> Result<()> {
        if self.storage().is_same(other.storage()) {
            return Ok(());
        }
        self.check_copy(other)?;
        let kernel = kernel(&Form::Copy, other.dtype(), self.dtype(), width(self))?;
        run(&kernel, subset, vec![other.arg(Access::Write, None), self.arg(Access::Read, None)], &self.context_or(context))
    }

    fn check_copy(&self, other: &Dat) -> Result<()> {
        if self.dtype() != other.dtype() {
            return Err(MeshError::ElementType { asked: other.dtype(), found: self.dtype() });
        }
        if self.dataset() != other.dataset() { Err(shapes(self, other)) } else { Ok(()) }
    }

    /// Changes each number by an operation with another: `self += other` for [`Operation::Add`].
    ///
    /// It runs where the numbers are, or on `context` when only the host has them.
    ///
    /// ```
    /// use parloop_kernel::{Context, Scalar};
    /// use parloop_mesh::{Dat, Operand, Operation, Rounding, Set};
    /// let (context, nodes) = (Context::open("cpu")?, Set::new(3, "nodes")?);
    /// let x = Dat::new(&nodes.data(1)?, &[1.0, 2.0, 3.0], "x")?;
    /// x.update(Operation::Multiply, Operand::Number(Scalar::Float(2.0)), Rounding::Refuse, &context)?;
    /// x.update(Operation::Add, Operand::Dat(&x), Rounding::Refuse, &context)?;
    /// assert_eq!(x.to_vec::<f64>()?, [4.0, 8.0, 12.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`MeshError::Shapes`], [`MeshError::Truncates`], [`MeshError::NumberRange`], or when a device fails.
    pub fn update(&self, operation: Operation, operand: Operand<'_>, rounding: Rounding, context: &Context) -> Result<()> {
        let side = self.side(operation, operand, rounding)?;
        let operator = Operator { operation, kind: side.kind, is_turned: false, rounding };
        let kernel = kernel(&Form::Update(operator), self.dtype(), side.dtype, width(self))?;
        let mut args = vec![self.arg(Access::Rw, None)];
        args.extend(side.arg);
        run(&kernel, self.dataset().set(), args, &self.context_or(context))
    }

    /// Writes the results of an operation into data of the same kind: `self - other`, or `other - self` when it is turned.
    ///
    /// # Errors
    /// As [`update`](Self::update).
    pub fn combine_into(&self, result: &Dat, operation: Operation, sides: Sides<'_>, context: &Context) -> Result<()> {
        let Sides { other, is_turned, rounding } = sides;
        self.check_copy(result)?;
        let side = self.side(operation, other, rounding)?;
        let operator = Operator { operation, kind: side.kind, is_turned, rounding };
        let kernel = kernel(&Form::Combine(operator), self.dtype(), side.dtype, width(self))?;
        let mut args = vec![result.arg(Access::Write, None), self.arg(Access::Read, None)];
        args.extend(side.arg);
        run(&kernel, self.dataset().set(), args, &self.context_or(context))
    }

    /// Writes the negative numbers into data of the same kind.
    ///
    /// # Errors
    /// [`MeshError::Truncates`] for numbers that have no negative ones, or when a device fails.
    pub fn negate_into(&self, result: &Dat, context: &Context) -> Result<()> {
        self.check_copy(result)?;
        if rank(self.dtype()) < rank(DType::I8) {
            return Err(MeshError::Truncates { name: self.name().to_owned(), dtype: self.dtype(), what: "negative numbers".to_owned() });
        }
        let kernel = kernel(&Form::Negate, self.dtype(), self.dtype(), width(self))?;
        let args = vec![result.arg(Access::Write, None), self.arg(Access::Read, None)];
        run(&kernel, self.dataset().set(), args, &self.context_or(context))
    }

    /// Zeros of the same kind.
    ///
    /// # Errors
    /// When memory cannot be allocated.
    pub fn zeros_alike(&self) -> Result<Dat> {
        Dat::zeros(self.dataset(), self.dtype(), format!("{}_result", self.name()))
    }

    /// Adds a multiple of another: `self += factor * other`.
    ///
    /// # Errors
    /// As [`update`](Self::update).
    pub fn axpy(&self, factor: Operand<'_>, other: &Dat, context: &Context) -> Result<()> {
        self.multiple(factor, other)?.run(&self.context_or(context))
    }

    /// Adds multiples of others: `self += factors[0] * others[0] + factors[1] * others[1] + …`, where data in its own
    /// memory counts as it was before. Nothing is changed where one of them does not fit.
    ///
    /// ```
    /// use parloop_kernel::{Context, Scalar};
    /// use parloop_mesh::{Dat, Operand, Set};
    /// let (context, nodes) = (Context::open("cpu")?, Set::new(2, "nodes")?);
    /// let (x, y) = (Dat::new(&nodes.data(1)?, &[1.0, 2.0], "x")?, Dat::new(&nodes.data(1)?, &[10.0, 20.0], "y")?);
    /// let factor = |number| Operand::Number(Scalar::Float(number));
    /// y.maxpy(&[(factor(1.0), &x), (factor(2.0), &y)], &context)?;
    /// assert_eq!(y.to_vec::<f64>()?, [31.0, 62.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`update`](Self::update).
    pub fn maxpy(&self, summands: &[(Operand<'_>, &Dat)], context: &Context) -> Result<()> {
        let mut loops = summands.iter().map(|&(factor, other)| self.multiple(factor, other)).collect::<Result<Vec<ParLoop>>>()?;
        // Of what the first summand changes the others read copies.
        for (&(factor, other), sum) in summands.iter().zip(&mut loops).skip(1) {
            if other.storage().overlaps(self.storage()) {
                *sum = self.multiple(factor, &other.duplicate()?)?;
            }
        }
        let context = self.context_or(context);
        loops.iter().try_for_each(|sum| sum.run(&context))
    }

    /// The loop that adds a multiple of another.
    fn multiple(&self, factor: Operand<'_>, other: &Dat) -> Result<ParLoop> {
        let scale = match factor {
            Operand::Dat(dat) => return Err(MeshError::NoNumber { name: dat.name().to_owned() }),
            Operand::Global(global) if global.count() != 1 => return Err(MeshError::NoNumber { name: global.name().to_owned() }),
            factor => self.side(Operation::Multiply, factor, Rounding::Refuse)?,
        };
        let side = self.side(Operation::Add, Operand::Dat(other), Rounding::Refuse)?;
        let form = Form::Axpy { is_self: side.kind == Kind::Own, factor: scale.dtype };
        let kernel = kernel(&form, self.dtype(), side.dtype, width(self))?;
        let mut args = vec![self.arg(Access::Rw, None)];
        args.extend(scale.arg);
        args.extend(side.arg);
        ParLoop::new(&kernel, self.dataset().set(), args, LoopOptions::default())
    }

    /// Data of its own with the same numbers.
    fn duplicate(&self) -> Result<Dat> {
        let copy = self.zeros_alike()?;
        self.copy_to(&copy)?;
        Ok(copy)
    }

    /// The sum of the products with the conjugate numbers of another, over the elements of this process. Its type is the wider of the two; integers are added up
    /// in 64 bits.
    ///
    /// # Errors
    /// [`MeshError::Shapes`], [`MeshError::WrongSet`], while the context is recorded, or when a device fails.
    pub fn inner(&self, other: &Dat, context: &Context) -> Result<Global> {
        self.inner_in(other, summed(wider(self.dtype(), other.dtype())), context)
    }

    /// The square root of the inner product with itself. Integers are squared and added up in double precision; squares that the type of
    /// the numbers cannot hold do no harm.
    ///
    /// # Errors
    /// While the context is recorded, or when a device fails.
    pub fn norm(&self, context: &Context) -> Result<f64> {
        let dtype = if rank(self.dtype()) < rank(DType::F32) { DType::F64 } else { self.dtype() };
        let square = real(&self.inner_in(self, dtype, context)?)?;
        self.norm_by_square(square, context)
    }

    /// The norm, where the sum of squares is known; recomputed where that is too large or too small to be right.
    pub(crate) fn norm_by_square(&self, square: f64, context: &Context) -> Result<f64> {
        let dtype = if rank(self.dtype()) < rank(DType::F32) { DType::F64 } else { self.dtype() };
        let (least, factor) = match dtype {
            DType::F32 | DType::C64 => (1e-24, 2f64.powi(90)),
            _ => (1e-280, 2f64.powi(600)),
        };
        let factor = match square {
            square if square == f64::INFINITY => 1.0 / factor,
            square if square < least => factor,
            square => return Ok(square.sqrt()),
        };
        Ok(real(&self.squares(factor, dtype, context)?)?.sqrt() / factor)
    }

    fn inner_in(&self, other: &Dat, dtype: DType, context: &Context) -> Result<Global> {
        if self.dataset().axes() != other.dataset().axes() {
            return Err(shapes(self, other));
        }
        let context = self.context_for_sum(context)?;
        let result = Global::around(1, Storage::zeros(dtype, 1, 1)?, "inner", false)?;
        self.add_inner(other, &result, &context)?;
        Ok(result)
    }

    /// As [`inner`](Self::inner), into a global on the context, for the host to read later; it can be recorded.
    pub(crate) fn inner_to(&self, other: &Dat, result: &Global, context: &Context) -> Result<()> {
        if self.dataset().axes() != other.dataset().axes() {
            return Err(shapes(self, other));
        }
        result.storage().zero(context)?;
        self.add_inner(other, result, context)
    }

    fn add_inner(&self, other: &Dat, result: &Global, context: &Context) -> Result<()> {
        let (dtype, is_self) = (result.dtype(), self.storage().is_same(other.storage()));
        let kernel = kernel(&Form::Inner { is_self, result: dtype }, self.dtype(), other.dtype(), width(self))?;
        let mut args = vec![result.arg(Access::Inc), self.arg(Access::Read, None)];
        if !is_self {
            args.push(other.arg(Access::Read, None));
        }
        run(&kernel, self.dataset().set(), args, context)
    }

    /// The sum of the squares of all numbers times a factor.
    fn squares(&self, factor: f64, dtype: DType, context: &Context) -> Result<Global> {
        let context = self.context_for_sum(context)?;
        let factor = number::global(Scalar::Float(factor), dtype).expect("invariant: the factors of norms are numbers of every type")?;
        let result = Global::around(1, Storage::zeros(dtype, 1, 1)?, "squares", false)?;
        let kernel = kernel(&Form::Squares { result: dtype }, self.dtype(), self.dtype(), width(self))?;
        let args = vec![result.arg(Access::Inc), factor.arg(Access::Read), self.arg(Access::Read, None)];
        run(&kernel, self.dataset().set(), args, &context)?;
        Ok(result)
    }

    /// Where a sum is made that the host waits for, which no recording holds.
    fn context_for_sum(&self, context: &Context) -> Result<Context> {
        let place = self.context_or(context);
        for context in [context, &place] {
            context.stream().refuse_recording(|| "an inner product or a norm".to_owned(), None).map_err(KernelError::from)?;
        }
        Ok(place)
    }

    /// Where its numbers are, or the context that is given when only the host has them.
    fn context_or(&self, context: &Context) -> Context {
        self.storage().newest().unwrap_or_else(|| context.clone())
    }

    /// Checks the other side of an operation and makes an argument of it.
    fn side(&self, operation: Operation, operand: Operand<'_>, rounding: Rounding) -> Result<Side> {
        let truncates = |what: String| match rounding {
            Rounding::Truncate => Ok(()),
            Rounding::Refuse => Err(MeshError::Truncates { name: self.name().to_owned(), dtype: self.dtype(), what }),
        };
        let divides = operation == Operation::Divide && rank(self.dtype()) < rank(DType::F32);
        if divides {
            truncates("quotients".to_owned())?;
        }
        let (kind, dtype, arg) = match operand {
            Operand::Dat(other) if other.storage().is_same(self.storage()) => (Kind::Own, self.dtype(), None),
            Operand::Dat(other) => {
                if other.dataset().axes() != self.dataset().axes() {
                    return Err(shapes(self, other));
                }
                self.check_numbers(other.storage())?;
                (Kind::Each, other.dtype(), Some(other.arg(Access::Read, None)))
            }
            Operand::Global(global) => {
                let count = self.dataset().count();
                let kind = match global.count() {
                    1 => Kind::One,
                    found if found == count => Kind::Each,
                    found => return Err(MeshError::Length { asked: count, found }),
                };
                self.check_numbers(global.storage())?;
                (kind, global.dtype(), Some(global.arg(Access::Read)))
            }
            Operand::Number(number) => {
                let fitting = number::fitting(number, self.dtype());
                if rank(fitting) > rank(self.dtype()) {
                    truncates(format!("results with {}", number::text(number)))?;
                }
                let global = number::global(number, fitting).ok_or_else(|| MeshError::NumberRange {
                    number: number::text(number),
                    name: self.name().to_owned(),
                    dtype: fitting,
                })??;
                (Kind::One, fitting, Some(global.arg(Access::Read)))
            }
        };
        if rank(dtype) > rank(self.dtype()) {
            truncates(format!("results with {dtype}"))?;
        }
        Ok(Side { kind, dtype, arg })
    }

    /// Fails where integers of a type that has larger ones do not all fit into that of the data.
    fn check_numbers(&self, numbers: &Storage) -> Result<()> {
        let (own, found) = (self.dtype(), numbers.dtype());
        let (Some(limits), Some((least, most))) = (own.integer_range(), found.integer_range()) else { return Ok(()) };
        let holds = |number: i128| (limits.0..=limits.1).contains(&number);
        // Those without a sign cannot be combined with others, which is said elsewhere.
        if (holds(least) && holds(most)) || rank(found) > rank(own) {
            return Ok(());
        }
        refuse_recording(|| format!("arithmetic of {own} with {found}, whose numbers are looked at,")).map_err(KernelError::from)?;
        match outlier(numbers, &holds)? {
            None => Ok(()),
            Some(number) => Err(MeshError::NumberRange { number: number.to_string(), name: self.name().to_owned(), dtype: own }),
        }
    }
}

/// The real part of the one number.
fn real(global: &Global) -> Result<f64> {
    Ok(match global.dtype() {
        DType::F32 => f64::from(global.to_vec::<f32>()?[0]),
        DType::C64 => f64::from(global.to_vec::<Complex32>()?[0].re),
        DType::C128 => global.to_vec::<Complex64>()?[0].re,
        _ => global.to_vec::<f64>()?[0],
    })
}

/// The other side of an operation, checked.
struct Side {
    kind: Kind,
    dtype: DType,
    arg: Option<Arg>,
}

fn run(kernel: &crate::kernel::Kernel, set: &Set, args: Vec<Arg>, context: &Context) -> Result<()> {
    ParLoop::new(kernel, set, args, LoopOptions::default())?.run(context)
}

/// How many numbers of an element a kernel of arithmetic is for. Loops pass one in the place of none.
fn width(dat: &Dat) -> usize {
    dat.dataset().count().max(1)
}

fn host() -> Result<Context> {
    let stream = Device::open("cpu").and_then(|device| device.default_stream()).map_err(KernelError::from)?;
    Ok(Context::on(stream))
}

/// Types in the order in which one kind of numbers holds the other: truth values, without a sign, with one, with a point, complex.
fn rank(dtype: DType) -> u8 {
    match dtype {
        DType::Bool => 0,
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => 1,
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => 2,
        DType::F32 | DType::F64 => 3,
        DType::C64 | DType::C128 => 4,
    }
}

/// The first integer of a table that does not hold what is asked of it.
fn outlier(numbers: &Storage, holds: &dyn Fn(i128) -> bool) -> Result<Option<i128>> {
    fn first<T: Element + Into<i128>>(numbers: &Storage, holds: &dyn Fn(i128) -> bool) -> Result<Option<i128>> {
        Ok(numbers.to_vec::<T>()?.into_iter().map(Into::into).find(|&number| !holds(number)))
    }
    match numbers.dtype() {
        DType::U8 => first::<u8>(numbers, holds),
        DType::U16 => first::<u16>(numbers, holds),
        DType::U32 => first::<u32>(numbers, holds),
        DType::U64 => first::<u64>(numbers, holds),
        DType::I8 => first::<i8>(numbers, holds),
        DType::I16 => first::<i16>(numbers, holds),
        DType::I32 => first::<i32>(numbers, holds),
        DType::I64 => first::<i64>(numbers, holds),
        _ => Ok(None),
    }
}

/// The type that has both kinds of numbers, as wide as the wider.
fn wider(one: DType, other: DType) -> DType {
    let (low, high) = if (rank(one), one.size()) <= (rank(other), other.size()) { (one, other) } else { (other, one) };
    match (low, high) {
        (DType::F64, DType::C64) => DType::C128,
        (low, DType::F32 | DType::C64) if rank(low) < 3 && low.size() > 2 => wider(DType::F64, high),
        _ => high,
    }
}

/// The type in which numbers of a type are added up.
fn summed(dtype: DType) -> DType {
    match rank(dtype) {
        0 | 2 => DType::I64,
        1 => DType::U64,
        _ => dtype,
    }
}

fn shapes(first: &Dat, second: &Dat) -> MeshError {
    MeshError::Shapes {
        first: first.name().to_owned(),
        first_shape: first.dataset().axes().to_vec(),
        second: second.name().to_owned(),
        second_shape: second.dataset().axes().to_vec(),
    }
}
