//! How often a loop runs, as a formula over the arguments of its kernel.

use parloop_device::DType;

/// A loop count over integer arguments, as far as it can be known before the launch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Count {
    Literal(i64),
    /// The value of a parameter.
    Param(usize),
    Binary(char, Box<Count>, Box<Count>),
    /// Known to the device code alone.
    Unknown,
}

impl Count {
    /// The parameters it depends on.
    pub(crate) fn params(&self) -> impl Iterator<Item = usize> {
        let mut found = Vec::new();
        self.collect_params(&mut found);
        found.into_iter()
    }

    fn collect_params(&self, found: &mut Vec<usize>) {
        match self {
            Count::Param(index) => found.push(*index),
            Count::Binary(_, left, right) => {
                left.collect_params(found);
                right.collect_params(found);
            }
            Count::Literal(_) | Count::Unknown => {}
        }
    }

    /// The count for these argument values, as C computes it; `None` when it cannot be known or does not fit.
    pub(crate) fn evaluate(&self, argument: &impl Fn(usize) -> Option<(i128, DType)>) -> Option<i64> {
        // It is used as a signed 64-bit integer.
        self.value(argument).map(|(value, _)| value as i64)
    }

    fn value(&self, argument: &impl Fn(usize) -> Option<(i128, DType)>) -> Option<(i128, Kind)> {
        match self {
            Count::Literal(value) => Some((i128::from(*value), Kind { is_wide: i32::try_from(*value).is_err(), is_unsigned: false })),
            Count::Param(index) => argument(*index).map(|(value, dtype)| (value, Kind::of(dtype))),
            Count::Unknown => None,
            Count::Binary(operator, left, right) => {
                let ((left, left_kind), (right, right_kind)) = (left.value(argument)?, right.value(argument)?);
                let kind = left_kind.common(right_kind);
                let (left, right) = (kind.convert(left), kind.convert(right));
                let value = match operator {
                    '+' => left.checked_add(right),
                    '-' => left.checked_sub(right),
                    '*' => left.checked_mul(right),
                    '/' => left.checked_div(right),
                    _ => left.checked_rem(right),
                };
                let value = kind.convert(value?);
                (kind.is_unsigned || i64::try_from(value).is_ok()).then_some((value, kind))
            }
        }
    }
}

/// A type of integers in which C computes.
#[derive(Clone, Copy)]
struct Kind {
    /// Whether it has 64 bits; otherwise it has 32.
    is_wide: bool,
    is_unsigned: bool,
}

impl Kind {
    /// What numbers of that type become in an expression.
    fn of(dtype: DType) -> Kind {
        Kind { is_wide: dtype.size() == 8, is_unsigned: matches!(dtype, DType::U32 | DType::U64) }
    }

    fn common(self, other: Kind) -> Kind {
        let is_unsigned = |kind: Kind| kind.is_unsigned && kind.is_wide >= (self.is_wide || other.is_wide);
        Kind { is_wide: self.is_wide || other.is_wide, is_unsigned: is_unsigned(self) || is_unsigned(other) }
    }

    /// An unsigned value is truncated to its bits.
    fn convert(self, value: i128) -> i128 {
        match (self.is_unsigned, self.is_wide) {
            (true, true) => i128::from(value as u64),
            (true, false) => i128::from(value as u32),
            (false, _) => value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_computed_as_c_computes_them() {
        let binary = |operator, right| Count::Binary(operator, Count::Param(0).into(), Count::Literal(right).into());
        let value = |count: &Count, value, dtype| count.evaluate(&|_| Some((value, dtype)));
        let wrapped = Count::Binary('%', binary('-', 5).into(), Count::Literal(10).into());
        assert_eq!(value(&wrapped, 3, DType::U32), Some(4));
        assert_eq!(value(&wrapped, 3, DType::U64), Some(4));
        assert_eq!(value(&wrapped, 3, DType::U8), Some(-2));
        assert_eq!(value(&wrapped, 3, DType::I32), Some(-2));
        assert_eq!(value(&binary('/', 1_000_000_000_000_000_000), i128::from(u64::MAX), DType::U64), Some(18));
        assert_eq!(value(&binary('+', 11), i128::from(u64::MAX), DType::U64), Some(10));
        assert_eq!(value(&binary('+', 11), i128::from(u32::MAX), DType::U32), Some(10));
        // A wider signed type holds every value of a narrower unsigned type.
        assert_eq!(value(&binary('-', 3_000_000_000), 5, DType::U32), Some(-2_999_999_995));
        assert_eq!(value(&binary('+', 1), i128::from(i64::MAX), DType::I64), None);
        assert_eq!(value(&binary('/', 0), 5, DType::I64), None);
    }
}
