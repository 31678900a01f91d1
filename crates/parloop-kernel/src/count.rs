//! How often a loop runs, as a formula over the arguments of its kernel.

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

    /// The count for these argument values; `None` when it cannot be known or does not fit.
    pub(crate) fn evaluate(&self, argument: &impl Fn(usize) -> Option<i64>) -> Option<i64> {
        match self {
            Count::Literal(value) => Some(*value),
            Count::Param(index) => argument(*index),
            Count::Unknown => None,
            Count::Binary(operator, left, right) => {
                let (left, right) = (left.evaluate(argument)?, right.evaluate(argument)?);
                match operator {
                    '+' => left.checked_add(right),
                    '-' => left.checked_sub(right),
                    '*' => left.checked_mul(right),
                    '/' => left.checked_div(right),
                    _ => left.checked_rem(right),
                }
            }
        }
    }
}
