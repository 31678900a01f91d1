//! Transforms by the host's threads, with rustfft. Lines whose elements are apart are brought together, a few beside each other at a
//! time, so that every cache line that is read is used whole.

use std::sync::{Arc, Mutex};

use parloop_device::forked::Lock;
use parloop_device::{DType, Device, Element, FftDirection, FftShape, as_bytes, as_bytes_mut};
use parloop_fft::{Complex, Fft, FftNum, FftPlanner, Real};

/// A transform of elements of either precision.
pub(super) enum HostFft {
    Single(Lines<f32>),
    Double(Lines<f64>),
}

impl HostFft {
    pub(super) fn plan(shape: &FftShape, factor: f64) -> HostFft {
        match shape.dtype {
            DType::C64 => HostFft::Single(Lines::plan(shape, factor as f32)),
            _ => HostFft::Double(Lines::plan(shape, factor)),
        }
    }

    /// Transforms all elements in place. There are as many as were planned for.
    pub(super) fn run(&self, threads: &Device, bytes: &mut [u8], direction: FftDirection) {
        match self {
            HostFft::Single(lines) => lines.run_bytes(threads, bytes, direction),
            HostFft::Double(lines) => lines.run_bytes(threads, bytes, direction),
        }
    }
}

/// A real type with plans of its own.
pub(super) trait Precision: Real {
    fn plans() -> &'static Lock<Plans<Self>>;
}

static SINGLE_PLANS: Lock<Plans<f32>> = Lock::new(Plans(None));
static DOUBLE_PLANS: Lock<Plans<f64>> = Lock::new(Plans(None));

impl Precision for f32 {
    fn plans() -> &'static Lock<Plans<f32>> {
        &SINGLE_PLANS
    }
}

impl Precision for f64 {
    fn plans() -> &'static Lock<Plans<f64>> {
        &DOUBLE_PLANS
    }
}

/// Plans of all lengths that were requested, which share their parts, and how many there are.
pub(super) struct Plans<T: FftNum>(Option<(FftPlanner<T>, usize)>);

impl<T: Precision> Plans<T> {
    fn get(&mut self, len: usize) -> [Arc<dyn Fft<T>>; 2] {
        let (planner, count) = self.0.get_or_insert_with(|| (T::planner(), 0));
        // A plan is as large as a line, and whoever asks forever other lengths does not come back to the first.
        if *count == MOST_PLANS {
            (*planner, *count) = (T::planner(), 0);
        }
        *count += 1;
        T::plan(planner, len)
    }
}

const MOST_PLANS: usize = 64;

/// The axes of a transform, one after the other.
pub(super) struct Lines<T: FftNum> {
    axes: Vec<Axis<T>>,
    /// What the inverse transform is multiplied by.
    factor: T,
}

impl<T: Precision> Lines<T>
where
    Complex<T>: Element,
{
    fn plan(shape: &FftShape, factor: T) -> Lines<T> {
        let axis = |&axis: &usize| {
            let len = shape.lengths[axis];
            let plans = T::plans().lock_or(|| Plans(None)).get(len);
            Axis { len, inner: shape.lengths[axis + 1..].iter().product(), plans }
        };
        let axes = shape.axes.iter().filter(|&&axis| shape.lengths[axis] > 1).map(axis).collect();
        Lines { axes, factor }
    }

    fn run_bytes(&self, threads: &Device, bytes: &mut [u8], direction: FftDirection) {
        // SAFETY: bytes of any value are complex numbers, and complex numbers of any value are bytes.
        let (before, values, after) = unsafe { bytes.align_to_mut::<Complex<T>>() };
        if before.is_empty() && after.is_empty() {
            return self.run(threads, values, direction);
        }
        // The elements lie between those addresses at which a CPU reads them.
        let mut copy = vec![Complex::<T>::ZERO; bytes.len() / size_of::<Complex<T>>()];
        as_bytes_mut(&mut copy).copy_from_slice(bytes);
        self.run(threads, &mut copy, direction);
        bytes.copy_from_slice(as_bytes(&copy));
    }

    fn run(&self, threads: &Device, values: &mut [Complex<T>], direction: FftDirection) {
        for (place, axis) in self.axes.iter().enumerate() {
            let is_last = place + 1 == self.axes.len();
            let task = match direction {
                FftDirection::Forward => Task { axis, fft: &*axis.plans[0], factor: None },
                FftDirection::Inverse => Task { axis, fft: &*axis.plans[1], factor: Some(self.factor).filter(|_| is_last) },
            };
            task.run(threads, values);
        }
    }
}

/// One axis: elements of a line are `inner` apart.
struct Axis<T: FftNum> {
    len: usize,
    inner: usize,
    /// Forward and inverse.
    plans: [Arc<dyn Fft<T>>; 2],
}

/// All lines along one axis, in one direction.
struct Task<'a, T: FftNum> {
    axis: &'a Axis<T>,
    fft: &'a dyn Fft<T>,
    factor: Option<T>,
}

/// Lines that are brought together at a time: a few cache lines in width.
const WIDTH: usize = 16;
/// The elements that are brought together at a time, unless a single line is longer.
const MOST_TOGETHER: usize = 1 << 20;
/// The elements of a part that threads take at a time, unless a single line is longer.
const PART: usize = 1 << 12;

impl<T: Precision> Task<'_, T>
where
    Complex<T>: Element,
{
    fn run(&self, threads: &Device, values: &mut [Complex<T>]) {
        let Axis { len, inner, .. } = *self.axis;
        let block = len * inner;
        let workers = threads.properties().compute_units as usize;
        let blocks = values.len() / block;
        if inner == 1 || workers == 1 || blocks >= 4 * workers {
            let elements = values.len();
            let parts = values.chunks_mut(block * (PART / block).max(1)).map(Mutex::new).collect::<Vec<_>>();
            self.share(threads, elements, &parts, |part, room| part.chunks_mut(block).for_each(|block| self.run_block(block, room)));
        } else {
            values.chunks_mut(block).for_each(|block| self.share_block(threads, block, workers));
        }
    }

    /// Threads take columns of one block.
    fn share_block(&self, threads: &Device, block: &mut [Complex<T>], workers: usize) {
        let Axis { len, inner, .. } = *self.axis;
        let width = inner.div_ceil(2 * workers).min(self.width());
        let mut columns: Vec<Vec<&mut [Complex<T>]>> = (0..inner.div_ceil(width)).map(|_| Vec::with_capacity(len)).collect();
        for row in block.chunks_mut(inner) {
            row.chunks_mut(width).zip(&mut columns).for_each(|(piece, column)| column.push(piece));
        }
        let parts: Vec<Mutex<Vec<&mut [Complex<T>]>>> = columns.into_iter().map(Mutex::new).collect();
        self.share(threads, len * inner, &parts, |column, room| {
            let lines = column[0].len() * len;
            gather(column.iter().map(|row| &**row), &mut room.lines[..lines], len);
            self.run_lines(&mut room.lines[..lines], &mut room.scratch);
            scatter(column.iter_mut().map(|row| &mut **row), &room.lines[..lines], len);
        });
    }

    fn run_block(&self, block: &mut [Complex<T>], room: &mut Room<T>) {
        let Axis { len, inner, .. } = *self.axis;
        if inner == 1 {
            return self.run_lines(block, &mut room.scratch);
        }
        for begin in (0..inner).step_by(self.width()) {
            let columns = begin..inner.min(begin + self.width());
            let lines = columns.len() * len;
            gather(block.chunks(inner).map(|row| &row[columns.clone()]), &mut room.lines[..lines], len);
            self.run_lines(&mut room.lines[..lines], &mut room.scratch);
            scatter(block.chunks_mut(inner).map(|row| &mut row[columns.clone()]), &room.lines[..lines], len);
        }
    }

    /// Lines one after the other.
    fn run_lines(&self, lines: &mut [Complex<T>], scratch: &mut [Complex<T>]) {
        self.fft.process_with_scratch(lines, scratch);
        if let Some(factor) = self.factor {
            lines.iter_mut().for_each(|value| *value = *value * factor);
        }
    }

    fn width(&self) -> usize {
        WIDTH.min(MOST_TOGETHER / self.axis.len).max(1)
    }

    /// Every part once, on the threads if that is worth it.
    fn share<P: Send>(&self, threads: &Device, elements: usize, parts: &[Mutex<P>], work: impl Fn(&mut P, &mut Room<T>) + Sync) {
        let Axis { len, inner, .. } = *self.axis;
        let expected_ns = elements as f64 * (2.0 + (len as f64).log2());
        threads.share(parts.len() as u64, expected_ns, |begin, end| {
            let together = if inner == 1 { 0 } else { self.width() * len };
            let zeros = |len| vec![Complex::<T>::ZERO; len];
            let mut room = Room { lines: zeros(together), scratch: zeros(self.fft.get_inplace_scratch_len()) };
            for part in &parts[begin as usize..end as usize] {
                work(&mut part.lock().unwrap_or_else(|e| e.into_inner()), &mut room);
            }
        });
    }
}

/// What one thread works in.
struct Room<T> {
    lines: Vec<Complex<T>>,
    scratch: Vec<Complex<T>>,
}

fn gather<'a, C: Copy + 'a>(rows: impl Iterator<Item = &'a [C]>, lines: &mut [C], len: usize) {
    for (at, row) in rows.enumerate() {
        row.iter().zip(lines.chunks_mut(len)).for_each(|(value, line)| line[at] = *value);
    }
}

fn scatter<'a, C: Copy + 'a>(rows: impl Iterator<Item = &'a mut [C]>, lines: &[C], len: usize) {
    for (at, row) in rows.enumerate() {
        row.iter_mut().zip(lines.chunks(len)).for_each(|(value, line)| *value = line[at]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_kept_but_not_without_end() {
        let mut plans = Plans::<f64>(None);
        let [first, _] = plans.get(12);
        let [again, _] = plans.get(12);
        assert!(Arc::ptr_eq(&first, &again));
        for len in 1..2 * MOST_PLANS {
            plans.get(len);
        }
        assert!(plans.0.is_some_and(|(_, count)| count <= MOST_PLANS));
    }

    #[test]
    fn elements_at_odd_addresses_are_transformed_too() {
        let shape = FftShape { lengths: vec![4], axes: vec![0], dtype: DType::C128 };
        let fft = HostFft::plan(&shape, 0.25);
        let threads = Device::open("cpu:1").unwrap();
        let values = [1.0, 2.0, 3.0, 4.0].map(|re| Complex::new(re, 0.0));
        let mut room = [Complex::new(0.0, 0.0); 5];
        let odd = &mut as_bytes_mut(&mut room)[1..65];
        odd.copy_from_slice(as_bytes(&values));
        fft.run(&threads, odd, FftDirection::Forward);
        let mut even = values;
        fft.run(&threads, as_bytes_mut(&mut even), FftDirection::Forward);
        assert_eq!(odd, as_bytes(&even));
        assert_eq!(even[0], Complex::new(10.0, 0.0));
    }
}
