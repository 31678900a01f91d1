//! What can go wrong: text that is not a set, a missing library, numbers that do not fit.

/// Why a query about integer sets fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IslError {
    /// The text is not a set: `n*m`, an unknown word, a missing bracket.
    #[error("{reason}\n  {text}\n  {:>width$}", "^", width = .at + 1)]
    Syntax {
        /// What is wrong, and what to write instead.
        reason: String,
        /// The line of the text.
        text: String,
        /// The column (in characters) of the mistake in that line.
        at: usize,
    },
    /// libisl was not found.
    #[error("libisl not found: {reason}; install Debian's libisl23 or PyPI's islpy, or name the file in PARLOOP_ISL")]
    Missing {
        /// What was tried.
        reason: String,
    },
    /// A coefficient or a constant does not fit into 64 bits.
    #[error("a coefficient of `{what}` does not fit into 64 bits")]
    Overflow {
        /// The set or expression.
        what: String,
    },
    /// The set has no such dimension.
    #[error("`{name}` is not a dimension or a parameter of `{set}`")]
    UnknownName {
        /// The name.
        name: String,
        /// The set.
        set: String,
    },
    /// The set is unbounded in that direction.
    #[error("`{name}` has no {which} in `{set}`; add a bound")]
    Unbounded {
        /// The dimension.
        name: String,
        /// `largest value` or `smallest value`.
        which: &'static str,
        /// The set.
        set: String,
    },
    /// A division by zero or by a negative number.
    #[error("`{dividend}` divided by {divisor}: the divisor must be 1 or more")]
    Divisor {
        /// The divisor.
        divisor: i64,
        /// The dividend.
        dividend: String,
    },
    /// Two names of a set became one.
    #[error("two names of `{set}` would both become `{name}`; choose different names")]
    SameName {
        /// The name.
        name: String,
        /// The set.
        set: String,
    },
    /// Two sets that are combined have different dimensions.
    #[error("`{left}` and `{right}` have different dimensions; give both the same names in brackets")]
    DifferentDims {
        /// One set.
        left: String,
        /// The other.
        right: String,
    },
    /// The result would have too many pieces.
    #[error("cannot {what}: the result would have more than {limit} pieces; simplify the sets first")]
    TooLarge {
        /// What was asked.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// isl gave up.
    #[error(
        "could not {what}: {message}; fix sizes with `fix_parameters`, or write its bounds, indices and conditions with fewer divisions, remainders and alternatives"
    )]
    Isl {
        /// What was asked.
        what: String,
        /// The message of isl.
        message: String,
    },
}

/// The result of a query.
pub type Result<T> = std::result::Result<T, IslError>;
