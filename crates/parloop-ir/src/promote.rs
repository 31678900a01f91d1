//! Type promotion: NumPy's rules, but 32-bit integers do not widen 32-bit floats.

use parloop_device::DType;

use crate::syntax::Type;

/// The type of `a op b`.
///
/// ```
/// use parloop_loop::infer::promote;
/// use parloop_device::DType;
/// assert_eq!(promote(DType::I32, DType::F32), DType::F32);
/// assert_eq!(promote(DType::I64, DType::F32), DType::F64);
/// assert_eq!(promote(DType::I8, DType::U8), DType::I16);
/// ```
pub fn promote(a: DType, b: DType) -> DType {
    if a == b {
        return a;
    }
    match (a, b) {
        (DType::I32, DType::F32) | (DType::F32, DType::I32) => DType::F32,
        (DType::Bool, other) | (other, DType::Bool) => other,
        _ if a.is_integer() && b.is_integer() => promote_integers(a, b),
        _ => {
            let double = needs_double(a) || needs_double(b);
            match (a.is_complex() || b.is_complex(), double) {
                (true, true) => DType::C128,
                (true, false) => DType::C64,
                (false, true) => DType::F64,
                (false, false) => DType::F32,
            }
        }
    }
}

/// Whether values of the type need a double (or two) to be held.
fn needs_double(dtype: DType) -> bool {
    match dtype {
        DType::F64 | DType::C128 => true,
        _ => dtype.is_integer() && dtype.size() >= 4,
    }
}

/// The smallest type that holds all values of both; a float where there is none.
fn promote_integers(a: DType, b: DType) -> DType {
    match (is_signed(a), is_signed(b)) {
        (same, other) if same == other => {
            if a.size() >= b.size() {
                a
            } else {
                b
            }
        }
        (signed, _) => {
            let (signed, unsigned) = if signed { (a, b) } else { (b, a) };
            match unsigned.size() {
                size if size < signed.size() => signed,
                1 => DType::I16,
                2 => DType::I32,
                4 => DType::I64,
                _ => DType::F64,
            }
        }
    }
}

/// As [`promote`] for `//` and `%`, where integers stay integers.
pub fn promote_division(a: DType, b: DType) -> DType {
    match promote(a, b) {
        DType::F64 if a.is_integer() && b.is_integer() => DType::I64,
        DType::Bool => DType::I8,
        dtype => dtype,
    }
}

/// The type of `a op b` where one or both may be *weak*: made only of literals (and integers combined with float literals). A weak value
/// takes the type of its partner, as NumPy's scalars do; `literals` are the values of integer operands, which must fit. Also returns
/// whether the result is weak.
pub fn meet(a: DType, a_weak: bool, b: DType, b_weak: bool, literals: [Option<i128>; 2]) -> (DType, bool) {
    match (a_weak, b_weak) {
        (true, true) | (false, false) if rank(a) == rank(b) => (promote(a, b), a_weak),
        (true, true) => (if rank(a) > rank(b) { a } else { b }, true),
        (false, false) => (promote(a, b), false),
        (true, false) => follow(a, b, literals[0]),
        (false, true) => follow(b, a, literals[1]),
    }
}

/// 1 for integers, 2 for floating-point numbers, 3 for complex ones.
pub fn rank(dtype: DType) -> u8 {
    match dtype {
        DType::Bool => 0,
        _ if dtype.is_complex() => 3,
        _ if dtype.is_float() => 2,
        _ => 1,
    }
}

/// The type of a weak value and a strong one.
fn follow(weak: DType, strong: DType, literal: Option<i128>) -> (DType, bool) {
    match (rank(weak), rank(strong)) {
        (0, _) => (strong, false),
        (1, 0) => (weak, false),
        (1, 1) => {
            let fits = literal.is_none_or(|number| strong.integer_range().is_some_and(|(least, most)| (least..=most).contains(&number)));
            (if fits { strong } else { promote(weak, strong) }, false)
        }
        (3, 2) => (if strong == DType::F32 { DType::C64 } else { DType::C128 }, false),
        (weak_rank, strong_rank) if weak_rank <= strong_rank => (strong, false),
        // An integer combined with a float literal: the use of the result decides the width.
        _ => (promote(weak, strong), true),
    }
}

/// Whether values may be negative; only for integers.
pub fn is_signed(dtype: DType) -> bool {
    dtype.integer_range().is_some_and(|(smallest, _)| smallest < 0)
}

/// The float type to which functions such as `sin` convert an integer: as in NumPy, but without half floats.
pub fn as_float(dtype: DType) -> DType {
    match dtype {
        DType::Bool => DType::F32,
        _ if dtype.is_integer() && dtype.size() <= 2 => DType::F32,
        _ if dtype.is_integer() => DType::F64,
        _ => dtype,
    }
}

/// The type of the real part.
pub fn real_of(dtype: DType) -> DType {
    match dtype {
        DType::C64 => DType::F32,
        DType::C128 => DType::F64,
        _ => dtype,
    }
}

/// [`promote`] for all types. What vectors are combined with is combined with each lane; records, classes and opaque types only combine
/// with themselves.
pub fn combine(a: &Type, b: &Type) -> Option<Type> {
    match (a, b) {
        _ if a == b => Some(a.clone()),
        (Type::Scalar(a), Type::Scalar(b)) => Some(Type::Scalar(promote(*a, *b))),
        (Type::Vector(a, lanes), Type::Vector(b, others)) if lanes == others => Type::vector(promote(*a, *b), *lanes),
        (Type::Vector(a, lanes), Type::Scalar(b)) | (Type::Scalar(b), Type::Vector(a, lanes)) => Type::vector(promote(*a, *b), *lanes),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promotion_is_symmetric_and_gives_a_type_that_both_go_into() {
        for a in DType::ALL {
            for b in DType::ALL {
                let both = promote(a, b);
                assert_eq!(both, promote(b, a), "{a} {b}");
                assert_eq!(promote(both, a), both, "{a} {b}");
            }
        }
    }

    #[test]
    fn promotion_is_numpys_in_the_cases_that_surprise() {
        assert_eq!(promote(DType::U64, DType::I32), DType::F64);
        assert_eq!(promote(DType::U32, DType::I32), DType::I64);
        assert_eq!(promote(DType::U32, DType::F32), DType::F64);
        assert_eq!(promote(DType::I16, DType::F32), DType::F32);
        assert_eq!(promote(DType::C64, DType::F64), DType::C128);
        assert_eq!(promote(DType::C64, DType::I32), DType::C128);
        assert_eq!(promote(DType::Bool, DType::I8), DType::I8);
        assert_eq!(promote_division(DType::U64, DType::I32), DType::I64);
    }
}
