//! Reads the count of a loop from its text in C.

use crate::count::Count;
use crate::ctype::integer;
use crate::signature::{Param, ParamType};

impl Count {
    /// Reads a count in C: literals, integer parameters, `+ - * / %` and parentheses. Anything else is `Unknown`.
    pub(crate) fn parse(text: &str, params: &[Param]) -> Count {
        let mut reader = Reader { rest: text, params, depth: 0 };
        match reader.sum() {
            Some(count) if reader.rest.trim_start().is_empty() => count,
            _ => Count::Unknown,
        }
    }
}

/// Counts nested deeper than this are not worth knowing.
const DEEPEST_COUNT: usize = 32;

struct Reader<'a> {
    rest: &'a str,
    params: &'a [Param],
    depth: usize,
}

impl Reader<'_> {
    fn take(&mut self, choices: &[char]) -> Option<char> {
        self.rest = self.rest.trim_start();
        let found = self.rest.chars().next().filter(|c| choices.contains(c))?;
        self.rest = &self.rest[found.len_utf8()..];
        Some(found)
    }

    fn sum(&mut self) -> Option<Count> {
        let mut left = self.product()?;
        while let Some(operator) = self.take(&['+', '-']) {
            left = Count::Binary(operator, Box::new(left), Box::new(self.product()?));
        }
        Some(left)
    }

    fn product(&mut self) -> Option<Count> {
        let mut left = self.atom()?;
        while let Some(operator) = self.take(&['*', '/', '%']) {
            left = Count::Binary(operator, Box::new(left), Box::new(self.atom()?));
        }
        Some(left)
    }

    fn atom(&mut self) -> Option<Count> {
        if self.take(&['(']).is_some() {
            self.depth += 1;
            let inner = (self.depth < DEEPEST_COUNT).then(|| self.sum())??;
            self.depth -= 1;
            return self.take(&[')']).map(|_| inner);
        }
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return literal(word);
        }
        let index = self.params.iter().position(|param| param.name == word)?;
        matches!(self.params[index].ty, ParamType::Scalar(dtype) if dtype.is_integer()).then_some(Count::Param(index))
    }
}

/// A number with a sign. One without, by a suffix or as hexadecimal and octal ones may be, is not read.
fn literal(word: &str) -> Option<Count> {
    let value = integer(word)?;
    let is_unsigned = word.contains(['u', 'U']) || word.starts_with('0') && u32::try_from(value).is_ok() && i32::try_from(value).is_err();
    (!is_unsigned).then_some(Count::Literal(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use parloop_device::DType;
    use proptest::prelude::*;

    fn params() -> Vec<Param> {
        ["n", "m"].map(|name| Param { name: name.into(), ty: ParamType::Scalar(DType::I64) }).to_vec()
    }

    #[test]
    fn counts_follow_c_precedence() {
        let value = |text: &str| Count::parse(text, &params()).evaluate(&|i| Some(([10, 3][i], DType::I64)));
        assert_eq!(value("n"), Some(10));
        assert_eq!(value("n * (m + 2) - 0x10L / 5"), Some(47));
        assert_eq!(value("n % m"), Some(1));
        assert_eq!(value("010"), Some(8));
        for unknown in ["", "f(n)", "k", "n +", "(n", "n m", "n / 0", "n->size", "2u", "0xffffffff", "99999999999999999999"] {
            assert_eq!(value(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn deep_nesting_is_given_up_not_overflowed() {
        let text = "(".repeat(100_000);
        assert_eq!(Count::parse(&text, &params()), Count::Unknown);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "[nm0-9x+*/%() -]{0,40}") {
            let _ = Count::parse(&text, &params()).evaluate(&|_| Some((i128::from(i64::MAX), DType::I64)));
        }
    }
}
