//! A function of ours for CPUs: numbers of rows for the lanes of vectors.

use super::{Access, CFunction};

/// Reads the first two numbers of eight rows: first those of all rows are written, then the second ones. Lanes are shuffled in vectors of the width
/// of the machine, as the kernel takes them. Names begin with `pl_`, since headers of the kernel may define others.
const PAIRS: &str = "\
void pl_pairs(double *pl_to, const double *pl_a, const double *pl_b, const double *pl_c, const double *pl_d, const double *pl_e,
              const double *pl_f, const double *pl_g, const double *pl_h)
{
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define PL_SHUFFLED
#endif
#endif
#ifdef PL_SHUFFLED
    typedef double pl_two __attribute__((vector_size(16), aligned(8), may_alias));
    typedef double pl_four __attribute__((vector_size(32), aligned(8), may_alias));
    typedef double pl_eight __attribute__((vector_size(64), aligned(8), may_alias));
#define PL_TWO(A) (*(const pl_two *)(A))
#define PL_FOUR(A, B) __builtin_shufflevector(PL_TWO(A), PL_TWO(B), 0, 1, 2, 3)
#if defined(__AVX512F__)
    const pl_eight pl_even = __builtin_shufflevector(PL_FOUR(pl_a, pl_c), PL_FOUR(pl_e, pl_g), 0, 1, 2, 3, 4, 5, 6, 7);
    const pl_eight pl_odd = __builtin_shufflevector(PL_FOUR(pl_b, pl_d), PL_FOUR(pl_f, pl_h), 0, 1, 2, 3, 4, 5, 6, 7);
    *(pl_eight *)pl_to = __builtin_shufflevector(pl_even, pl_odd, 0, 8, 2, 10, 4, 12, 6, 14);
    *(pl_eight *)(pl_to + 8) = __builtin_shufflevector(pl_even, pl_odd, 1, 9, 3, 11, 5, 13, 7, 15);
#elif defined(__AVX__)
    *(pl_four *)pl_to = __builtin_shufflevector(PL_FOUR(pl_a, pl_c), PL_FOUR(pl_b, pl_d), 0, 4, 2, 6);
    *(pl_four *)(pl_to + 4) = __builtin_shufflevector(PL_FOUR(pl_e, pl_g), PL_FOUR(pl_f, pl_h), 0, 4, 2, 6);
    *(pl_four *)(pl_to + 8) = __builtin_shufflevector(PL_FOUR(pl_a, pl_c), PL_FOUR(pl_b, pl_d), 1, 5, 3, 7);
    *(pl_four *)(pl_to + 12) = __builtin_shufflevector(PL_FOUR(pl_e, pl_g), PL_FOUR(pl_f, pl_h), 1, 5, 3, 7);
#else
    *(pl_two *)pl_to = __builtin_shufflevector(PL_TWO(pl_a), PL_TWO(pl_b), 0, 2);
    *(pl_two *)(pl_to + 2) = __builtin_shufflevector(PL_TWO(pl_c), PL_TWO(pl_d), 0, 2);
    *(pl_two *)(pl_to + 4) = __builtin_shufflevector(PL_TWO(pl_e), PL_TWO(pl_f), 0, 2);
    *(pl_two *)(pl_to + 6) = __builtin_shufflevector(PL_TWO(pl_g), PL_TWO(pl_h), 0, 2);
    *(pl_two *)(pl_to + 8) = __builtin_shufflevector(PL_TWO(pl_a), PL_TWO(pl_b), 1, 3);
    *(pl_two *)(pl_to + 10) = __builtin_shufflevector(PL_TWO(pl_c), PL_TWO(pl_d), 1, 3);
    *(pl_two *)(pl_to + 12) = __builtin_shufflevector(PL_TWO(pl_e), PL_TWO(pl_f), 1, 3);
    *(pl_two *)(pl_to + 14) = __builtin_shufflevector(PL_TWO(pl_g), PL_TWO(pl_h), 1, 3);
#endif
#else
    pl_to[0] = pl_a[0], pl_to[8] = pl_a[1];
    pl_to[1] = pl_b[0], pl_to[9] = pl_b[1];
    pl_to[2] = pl_c[0], pl_to[10] = pl_c[1];
    pl_to[3] = pl_d[0], pl_to[11] = pl_d[1];
    pl_to[4] = pl_e[0], pl_to[12] = pl_e[1];
    pl_to[5] = pl_f[0], pl_to[13] = pl_f[1];
    pl_to[6] = pl_g[0], pl_to[14] = pl_g[1];
    pl_to[7] = pl_h[0], pl_to[15] = pl_h[1];
#endif
}
";

impl CFunction {
    /// A function for a CPU, `pl_pairs`, that takes eight rows of two numbers and gives two rows of eight: the first number of each, and the second.
    ///
    /// # Safety
    /// All calls pass rows of at least two numbers of type `double`, and take 16.
    pub unsafe fn pairs_of_rows() -> CFunction {
        // SAFETY: it accesses what the caller promises.
        let function = unsafe { CFunction::parse(PAIRS, "pl_pairs") };
        let access = [Access::Write].into_iter().chain([Access::Read; 8]);
        function.expect("invariant: the source is plain C").with_access(access)
    }
}
