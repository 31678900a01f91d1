//! Detects memory that is passed as two arguments, or that two references in one object lead to, if the kernel writes to it: generated code
//! and the analysis of dependences assume that names do not alias.

use std::collections::BTreeSet;
use std::sync::Arc;

use parloop_analysis::access::accesses;
use parloop_analysis::facts::Facts;
use parloop_device::once::Once;
use parloop_ir::affine::to_affine;
use parloop_ir::syntax::{Expr, Instruction, LoopKernel};
use parloop_isl::{Affine, Constraint, Name};
use smallvec::SmallVec;

use super::planned::{GivenArgument, GivenArray, GivenObject, ObjectPart, PlannedArg};

/// Two arguments, one of which at least is written, that may not share memory.
#[derive(Clone, Debug)]
pub(super) struct Apart {
    pub(super) written: usize,
    pub(super) other: usize,
    is_other_written: bool,
    kernel: Arc<LoopKernel>,
    /// Whether the same array may be passed as both, once somebody asked.
    is_in_place: Arc<Once<bool>>,
}

/// Where an argument begins: a memory, and the byte there.
pub type Location = (u64, u64);

/// The pairs of arguments that may not share memory.
pub(super) fn pairs_apart(kernel: &LoopKernel, args: &[PlannedArg], written: &BTreeSet<Name>) -> Vec<Apart> {
    let is_memory = |arg: &PlannedArg| arg.kind.is_array() || arg.kind.class().is_some();
    let mut pairs = Vec::new();
    let mut shared: Option<Arc<LoopKernel>> = None;
    for (at, _) in args.iter().enumerate().filter(|(_, arg)| is_memory(arg) && written.contains(&arg.name)) {
        for (other_at, other) in args.iter().enumerate().filter(|(_, other)| is_memory(other)) {
            // Of two that are both written, once.
            if other_at == at || written.contains(&other.name) && other_at < at {
                continue;
            }
            let kernel = shared.get_or_insert_with(|| Arc::new(kernel.clone())).clone();
            let is_other_written = written.contains(&other.name);
            pairs.push(Apart { written: at, other: other_at, is_other_written, kernel, is_in_place: Arc::default() });
        }
    }
    pairs
}

impl Apart {
    /// Whether the two share an element and may not.
    #[inline]
    pub(super) fn is_violated(&self, given: &[GivenArgument], written: Location, other: Location) -> bool {
        if written.0 != other.0 {
            return false;
        }
        let (one, two) = (&given[self.written], &given[self.other]);
        let (GivenArgument::Array(one), GivenArgument::Array(two)) = (one, two) else {
            return self.is_shared_part(one, two, written.1, other.1);
        };
        let ((first, last), (other_first, other_last)) = (bytes(one, written.1), bytes(two, other.1));
        last > other_first && other_last > first && self.is_shared(one, two, i128::from(other.1) - i128::from(written.1))
    }

    #[cold]
    fn is_shared(&self, written: &GivenArray, other: &GivenArray, distance: i128) -> bool {
        if distance == 0 && written == other && *self.is_in_place.get_or_init(|| self.is_elementwise().unwrap_or(false)) {
            return false;
        }
        meet(written, other, distance)
    }

    /// Whether an object, or one that it refers to, shares bytes with another argument.
    fn is_shared_part(&self, written: &GivenArgument, other: &GivenArgument, start: u64, other_start: u64) -> bool {
        let (one, two) = (spans(written, start, true), spans(other, other_start, self.is_other_written));
        one.iter().any(|one| two.iter().any(|two| one.conflicts_with(two)))
    }

    /// Whether each instance reads only the element that it writes, so that both arguments may be one array.
    fn is_elementwise(&self) -> Option<bool> {
        let kernel = &self.kernel;
        let (written, other) = (&kernel.arguments.get(self.written)?.name, &kernel.arguments.get(self.other)?.name);
        let (mut indices, mut writer, mut readers): (Option<Vec<Affine>>, Option<&Instruction>, Vec<&Instruction>) =
            (None, None, Vec::new());
        for instruction in &kernel.instructions {
            for access in accesses(kernel, instruction).into_iter().filter(|access| access.name == *written || access.name == *other) {
                let found = access.indices.filter(|_| access.swept.is_empty() && matches!(access.expr, Some(Expr::Subscript(..))))?;
                let found = found.iter().map(to_affine).collect::<Option<Vec<Affine>>>()?;
                if *indices.get_or_insert_with(|| found.clone()) != found || access.write && (access.name == *other) {
                    return Some(false);
                }
                if access.write {
                    if writer.is_some_and(|writer| writer.id != instruction.id) {
                        return Some(false);
                    }
                    writer = Some(instruction);
                } else {
                    readers.push(instruction);
                }
            }
        }
        let (indices, writer) = (indices?, writer?);
        let before = dependencies(kernel, writer);
        let is_before =
            |reader: &&Instruction| (reader.id == writer.id || before.contains(&reader.id)) && reader.within_inames == writer.within_inames;
        Some(readers.iter().all(is_before) && is_injective(kernel, writer, &indices)?)
    }
}

/// All that an instruction depends on, directly or not.
fn dependencies(kernel: &LoopKernel, instruction: &Instruction) -> BTreeSet<Name> {
    let mut found: BTreeSet<Name> = instruction.depends_on.clone();
    let mut open: Vec<Name> = found.iter().cloned().collect();
    while let Some(id) = open.pop() {
        for next in kernel.instructions.iter().filter(|known| known.id == id).flat_map(|known| &known.depends_on) {
            if found.insert(next.clone()) {
                open.push(next.clone());
            }
        }
    }
    found
}

/// Whether each instance has an element of its own; `None` where that is not known.
fn is_injective(kernel: &LoopKernel, instruction: &Instruction, indices: &[Affine]) -> Option<bool> {
    let inames = &instruction.within_inames;
    let domain = Facts::of(kernel).domain(inames).ok()?;
    let twin = |name: &Name| inames.contains(name).then(|| Name::from(format!("{name}_twin")));
    let mut same = Vec::new();
    for index in indices {
        same.push(Constraint::zero(index.sub(&index.rename(&twin).ok()?).ok()?));
    }
    let both = domain.join(&domain.rename(&twin).ok()?).ok()?.constrain(&same).ok()?;
    for iname in inames {
        let distance = Affine::name(twin(iname)?).sub(&Affine::name(iname.clone())).ok()?.sub(&Affine::constant(1)).ok()?;
        if !both.constrain(&[Constraint::not_negative(distance)]).ok()?.is_empty().ok()? {
            return Some(false);
        }
    }
    Some(true)
}

/// Bytes of an argument.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: i128,
    /// The one behind the last.
    last: i128,
    is_written: bool,
}

impl Span {
    fn of(part: &ObjectPart, start: i128) -> Span {
        let first = start + i128::from(part.start);
        Span { first, last: first + part.bytes as i128, is_written: part.is_written }
    }

    fn conflicts_with(&self, other: &Span) -> bool {
        (self.is_written || other.is_written) && self.last > other.first && other.last > self.first
    }
}

/// The bytes of an argument that begins there: of an array one span, of an object also those of what it refers to.
fn spans(given: &GivenArgument, start: u64, is_written: bool) -> SmallVec<[Span; 2]> {
    match given {
        GivenArgument::Array(array) => {
            let (first, last) = bytes(array, start);
            SmallVec::from_iter([Span { first, last, is_written }])
        }
        GivenArgument::Object(object) => object.parts.iter().map(|part| Span::of(part, start.into())).collect(),
        GivenArgument::Missing | GivenArgument::Int(_) | GivenArgument::Number => SmallVec::new(),
    }
}

/// The places, among the fields of an object that a kernel uses, of two that references lead to in the same memory, the first of which is written.
pub(super) fn shared_fields(object: &GivenObject) -> Option<(usize, usize)> {
    let parts = object.parts.iter().enumerate();
    let pairs = parts.flat_map(|(index, part)| object.parts[index + 1..].iter().map(move |other| (part, other)));
    let mut shared = pairs.filter(|(one, two)| Span::of(one, 0).conflicts_with(&Span::of(two, 0)));
    let (one, two) = shared.next()?;
    Some(if one.is_written { (one.field, two.field) } else { (two.field, one.field) })
}

/// The first byte of an array that begins there, and the one behind its last.
fn bytes(array: &GivenArray, start: u64) -> (i128, i128) {
    let start = i128::from(start);
    if array.shape.contains(&0) {
        return (start, start);
    }
    let steps = array.shape.iter().zip(&array.strides).map(|(&length, &stride)| i128::from(length - 1) * i128::from(stride));
    let (before, behind) = steps.fold((0, array.size() as i128), |(before, behind), step| (before + step.min(0), behind + step.max(0)));
    (start + before, start + behind)
}

/// Whether two arrays share an element; the second begins `distance` bytes behind the first. Where that is not known, they do.
fn meet(one: &GivenArray, two: &GivenArray, distance: i128) -> bool {
    let (size, other_size) = (one.size() as i128, two.size() as i128);
    let steps = |array: &GivenArray| -> Vec<i128> {
        let moving = array.shape.iter().zip(&array.strides).filter(|(length, _)| **length > 1);
        moving.map(|(_, &stride)| i128::from(stride)).collect()
    };
    // All elements of both lie on a grid: those of different residues do not meet.
    let grid = steps(one).into_iter().chain(steps(two)).fold(0i128, gcd);
    if grid > 0 {
        let rest = distance.rem_euclid(grid);
        if rest >= size && grid - rest >= other_size {
            return false;
        }
    }
    if one.strides != two.strides || one.shape.len() != two.shape.len() {
        return true;
    }
    let mut axes: Vec<(i128, i128, i128)> = (one.shape.iter().zip(&two.shape).zip(&one.strides))
        .map(|((&length, &other), &stride)| {
            let (stride, length, other) = (i128::from(stride), i128::from(length), i128::from(other));
            // A step of `stride` from the second to the first, this many times at least and at most.
            if stride < 0 { (-stride, 1 - length, other - 1) } else { (stride, 1 - other, length - 1) }
        })
        .collect();
    axes.sort_unstable_by(|a, b| b.cmp(a));
    reaches(&axes, distance, size, other_size)
}

/// Whether steps along the axes, the longest first, lead from one element to where it overlaps with one at that distance.
fn reaches(axes: &[(i128, i128, i128)], distance: i128, size: i128, other_size: i128) -> bool {
    let Some((&(stride, least, most), inner)) = axes.split_first() else { return distance < size && -distance < other_size };
    if stride == 0 {
        return reaches(inner, distance, size, other_size);
    }
    let (below, above) = inner.iter().fold((0, 0), |(below, above), (stride, least, most)| (below + stride * least, above + stride * most));
    let first = (distance - above - size).div_euclid(stride).max(least);
    let last = ((distance - below + other_size).div_euclid(stride) + 1).min(most);
    // Axes that are not inside one another leave many ways.
    last - first > 8 || (first..=last).any(|steps| reaches(inner, distance - steps * stride, size, other_size))
}

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Whether two different indices of an array may be the same place. Axes that are inside one another keep all places apart.
pub(super) fn overlaps_itself(array: &GivenArray) -> bool {
    let moving = array.shape.iter().zip(&array.strides).filter(|(length, _)| **length > 1);
    let mut axes: Vec<(i128, i128)> = moving.map(|(&length, &stride)| (i128::from(stride).abs(), i128::from(length))).collect();
    axes.sort_unstable();
    let mut reach = array.size() as i128;
    for (stride, length) in axes {
        if stride < reach {
            return !array.shape.contains(&0);
        }
        reach += stride * (length - 1);
    }
    false
}

#[cfg(test)]
mod tests {
    use parloop_device::DType;

    use super::*;

    fn array(shape: &[i64], strides: &[i64]) -> GivenArray {
        GivenArray {
            dtype: DType::F64,
            numbers: 1,
            shape: shape.iter().copied().collect(),
            strides: strides.iter().copied().collect(),
            room: None,
        }
    }

    #[test]
    fn parts_of_one_array_meet_where_they_have_an_element_in_common() {
        let every_second = array(&[4], &[16]);
        assert!(!meet(&every_second, &every_second, 8));
        assert!(meet(&every_second, &every_second, 16));
        assert!(!meet(&every_second, &every_second, 64));
        let columns = array(&[5, 2], &[32, 8]);
        assert!(!meet(&columns, &columns, 16), "the left and the right half");
        assert!(meet(&columns, &columns, 8));
        assert!(!meet(&columns, &columns, -16));
        assert!(meet(&columns, &columns, 32));
        let backwards = array(&[4], &[-16]);
        assert!(!meet(&backwards, &every_second, -40));
        assert!(meet(&backwards, &every_second, -16));
        assert!(meet(&array(&[8], &[8]), &every_second, 8));
    }

    #[test]
    fn views_that_repeat_elements_overlap_themselves() {
        assert!(overlaps_itself(&array(&[5], &[0])));
        assert!(overlaps_itself(&array(&[3, 3], &[8, 8])));
        assert!(!overlaps_itself(&array(&[3, 4], &[32, 8])));
        assert!(!overlaps_itself(&array(&[3, 4], &[-8, 24])));
        assert!(!overlaps_itself(&array(&[0, 4], &[0, 0])));
    }
}
