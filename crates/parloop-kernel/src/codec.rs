//! Signatures and grids as bytes and back. What is read may be anything: nothing that is read can make us panic.

use parloop_device::DType;

use crate::count::Count;
use crate::grid::Grid;
use crate::signature::{Param, ParamType, Pointee, Signature};

/// Writes values one after the other; numbers are little endian, and lists and texts begin with their length.
#[derive(Default)]
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn byte(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(crate) fn number(&mut self, value: u64) {
        self.0.extend(value.to_le_bytes());
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend(bytes);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub(crate) fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Writer, &T)) {
        self.number(items.len() as u64);
        items.iter().for_each(|item| write(self, item));
    }

    pub(crate) fn signature(&mut self, signature: &Signature) {
        let Signature { name, params, returns, is_kernel, needs_description, is_recorded, loops, loops_align, line } = signature;
        self.text(name);
        self.list(params, |out, param| {
            out.text(&param.name);
            out.param_type(&param.ty);
        });
        self.list(returns.as_slice(), |out, returned| out.param_type(returned));
        [is_kernel, needs_description, is_recorded, loops_align].into_iter().for_each(|flag| self.byte(u8::from(*flag)));
        self.list(loops, |out, count| out.count(count));
        self.number(*line as u64);
    }

    fn param_type(&mut self, ty: &ParamType) {
        match ty {
            ParamType::Scalar(dtype) => {
                self.byte(0);
                self.dtype(*dtype);
            }
            ParamType::Pointer { to, constant } => {
                self.byte(1 + u8::from(*constant));
                match to {
                    Pointee::Scalar(dtype) => {
                        self.byte(0);
                        self.dtype(*dtype);
                    }
                    Pointee::Char => self.byte(1),
                    Pointee::Void => self.byte(2),
                    Pointee::Class(name) => {
                        self.byte(3);
                        self.text(name);
                    }
                    Pointee::Other(name) => {
                        self.byte(4);
                        self.text(name);
                    }
                    Pointee::Struct(name) => {
                        self.byte(7);
                        self.text(name);
                    }
                    Pointee::Pointers(dtype) => {
                        self.byte(5);
                        self.dtype(*dtype);
                    }
                    Pointee::Rows(dtype, lengths) => {
                        self.byte(6);
                        self.dtype(*dtype);
                        self.number(lengths.len() as u64);
                        lengths.iter().for_each(|length| self.number(*length));
                    }
                }
            }
        }
    }

    fn dtype(&mut self, dtype: DType) {
        self.text(dtype.name());
    }

    /// In the order in which a stack machine computes it, so that reading needs no recursion.
    fn count(&mut self, count: &Count) {
        let mut steps = Vec::new();
        let mut open = vec![count];
        while let Some(count) = open.pop() {
            steps.push(count);
            if let Count::Binary(_, left, right) = count {
                open.extend([&**left, &**right]);
            }
        }
        steps.reverse();
        self.list(&steps, |out, step| match step {
            Count::Literal(value) => {
                out.byte(b'l');
                out.number(*value as u64);
            }
            Count::Param(index) => {
                out.byte(b'p');
                out.number(*index as u64);
            }
            Count::Binary(operator, _, _) => out.byte(*operator as u8),
            Count::Unknown => out.byte(b'?'),
        });
    }

    pub(crate) fn grid(&mut self, grid: &Grid, block: Option<u32>) {
        match grid {
            Grid::Auto => self.byte(0),
            Grid::Items(items) => {
                self.byte(1);
                self.number(*items);
            }
            Grid::Argument(name) => {
                self.byte(2);
                self.text(name);
            }
            Grid::Axes(axes) => {
                self.byte(3);
                axes.iter().for_each(|axis| self.number(*axis));
            }
        }
        self.list(block.as_slice(), |out, block| out.number(u64::from(*block)));
    }
}

/// Reads what [`Writer`] wrote; `None` when it is something else.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

/// Counts nested deeper than this are nobody's.
const DEEPEST_COUNT: usize = 10_000;

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn len(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.len()?;
        self.take(len)
    }

    pub(crate) fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }

    /// Every item takes at least a byte, so that a length which lies ends the reading.
    pub(crate) fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut items = Vec::new();
        for _ in 0..self.len()? {
            items.push(read(self)?);
        }
        Some(items)
    }

    /// A list of at most one.
    pub(crate) fn option<T>(&mut self, read: impl FnMut(&mut Self) -> Option<T>) -> Option<Option<T>> {
        let mut items = self.list(read)?;
        (items.len() < 2).then(|| items.pop())
    }

    pub(crate) fn flag(&mut self) -> Option<bool> {
        self.byte().filter(|byte| *byte < 2).map(|byte| byte == 1)
    }

    pub(crate) fn signature(&mut self) -> Option<Signature> {
        let name = self.text()?;
        let params = self.list(|input| Some(Param { name: input.text()?, ty: input.param_type()? }))?;
        let returns = self.option(Reader::param_type)?;
        let [is_kernel, needs_description, is_recorded, loops_align] = [self.flag()?, self.flag()?, self.flag()?, self.flag()?];
        let loops = self.list(|input| input.count(&params))?;
        let line = self.len()?;
        Some(Signature { name, params, returns, is_kernel, needs_description, is_recorded, loops, loops_align, line })
    }

    fn param_type(&mut self) -> Option<ParamType> {
        let constant = match self.byte()? {
            0 => return Some(ParamType::Scalar(self.dtype()?)),
            1 => false,
            2 => true,
            _ => return None,
        };
        let to = match self.byte()? {
            0 => Pointee::Scalar(self.dtype()?),
            1 => Pointee::Char,
            2 => Pointee::Void,
            3 => Pointee::Class(self.text()?),
            4 => Pointee::Other(self.text()?),
            5 => Pointee::Pointers(self.dtype()?),
            6 => {
                let (dtype, count) = (self.dtype()?, self.number()?);
                Pointee::Rows(dtype, (0..count).map(|_| self.number()).collect::<Option<_>>()?)
            }
            7 => Pointee::Struct(self.text()?),
            _ => return None,
        };
        Some(ParamType::Pointer { to, constant })
    }

    fn dtype(&mut self) -> Option<DType> {
        DType::from_name(&self.text()?)
    }

    fn count(&mut self, params: &[Param]) -> Option<Count> {
        let mut stack: Vec<(Count, usize)> = Vec::new();
        for _ in 0..self.len()? {
            let step = match self.byte()? {
                b'l' => (Count::Literal(self.number()? as i64), 1),
                b'p' => {
                    let index = self.len()?;
                    matches!(params.get(index)?.ty, ParamType::Scalar(dtype) if dtype.is_integer()).then_some((Count::Param(index), 1))?
                }
                b'?' => (Count::Unknown, 1),
                operator @ (b'+' | b'-' | b'*' | b'/' | b'%') => {
                    let ((right, right_depth), (left, left_depth)) = (stack.pop()?, stack.pop()?);
                    (Count::Binary(operator.into(), left.into(), right.into()), 1 + left_depth.max(right_depth))
                }
                _ => return None,
            };
            (step.1 <= DEEPEST_COUNT).then(|| stack.push(step))?;
        }
        let (count, _) = stack.pop()?;
        stack.is_empty().then_some(count)
    }

    pub(crate) fn grid(&mut self) -> Option<(Grid, Option<u32>)> {
        let grid = match self.byte()? {
            0 => Grid::Auto,
            1 => Grid::Items(self.number()?),
            2 => Grid::Argument(self.text()?),
            3 => Grid::Axes([self.number()?, self.number()?, self.number()?]),
            _ => return None,
        };
        let block = self.option(|input| u32::try_from(input.number()?).ok())?;
        Some((grid, block))
    }
}

#[cfg(test)]
mod tests {
    use parloop_device::DeviceKind;
    use proptest::prelude::*;

    use super::*;
    use crate::program::signatures;
    use crate::source::Source;

    /// Signatures of every kind.
    fn samples() -> Vec<Signature> {
        let text = "GPUKERN void a(const double *x, int64_t n, int16_t m, char *s, void *v, struct S *o) {\n\
                        VECTORIZE_OVER(i, (n - 2) * m / 3 % 5 + 0x10) END_VECTORIZE VECTORIZE_OVER(j, f(n)) END_VECTORIZE }\n\
                    const char *b(bool flag) { return 0; }\nstatic inline float _Complex c(void) { return 0; }";
        signatures(&[Source::text(text)], DeviceKind::Cpu, &[]).unwrap()
    }

    fn written(signature: &Signature) -> Vec<u8> {
        let mut out = Writer::default();
        out.signature(signature);
        out.0
    }

    #[test]
    fn signatures_and_grids_read_back_as_they_were_written() {
        for signature in samples() {
            let bytes = written(&signature);
            let mut input = Reader(&bytes);
            assert_eq!(input.signature().as_ref(), Some(&signature));
            assert!(input.0.is_empty());
        }
        let grids = [Grid::Auto, Grid::Items(7), Grid::Argument("n".into()), Grid::Axes([1, 2, 3])];
        for (grid, block) in grids.into_iter().zip([None, Some(32), None, Some(u32::MAX)]) {
            let mut out = Writer::default();
            out.grid(&grid, block);
            assert_eq!(Reader(&out.0).grid(), Some((grid, block)));
        }
    }

    #[test]
    fn a_count_of_an_argument_that_is_no_integer_is_refused() {
        let mut signature = samples().remove(0);
        signature.loops = vec![Count::Param(1)];
        assert!(Reader(&written(&signature)).signature().is_some());
        for index in [0, 3, 6, usize::MAX] {
            signature.loops = vec![Count::Param(index)];
            assert_eq!(Reader(&written(&signature)).signature(), None, "{index}");
        }
    }

    #[test]
    fn a_count_that_is_deeper_than_any_is_refused() {
        let mut bytes = Writer::default();
        bytes.number(2 * 20_000 + 1);
        bytes.byte(b'?');
        (0..20_000).for_each(|_| bytes.0.extend(b"?+"));
        assert!(Reader(&bytes.0).count(&[]).is_none());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>) {
            let _ = Reader(&bytes).signature();
            let _ = Reader(&bytes).grid();
            let _ = Reader(&bytes).count(&[]);
        }

        #[test]
        fn changed_signatures_are_read_without_a_panic(which in 0..3usize, at: prop::sample::Index, value: u8, cut: prop::sample::Index) {
            let mut bytes = written(&samples()[which]);
            let place = at.index(bytes.len());
            bytes[place] = value;
            let _ = Reader(&bytes).signature();
            let _ = Reader(&bytes[..cut.index(bytes.len())]).signature();
        }
    }
}
