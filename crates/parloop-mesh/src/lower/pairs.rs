//! Rows of two and more numbers for the lanes of a batch: numbers next to each other are read two at a time and put in order in registers, which takes half
//! of the loads and a third of the shuffles of numbers that are read one by one.

use parloop_loop::Name;
use parloop_loop::callable::{Access, CFunction};
use parloop_loop::syntax::{CallInstruction, Expr, Instruction, InstructionKind, SyncScope};

use super::LANES;
use super::frame::BatchPlaces;
use super::names::Array;
use super::piece::{Piece, UNROLLED};
use super::stage::Body;
use crate::access::Access as ArgAccess;
use crate::shape::{PartShape, Reach, Shape};
use crate::storage::Layout;

/// What the function that reads pairs is called in loop kernels, and in C.
pub(super) const PAIRS: &str = "pl_pairs";

/// Reads the first two numbers of eight rows: first those of all rows are written, then the second ones. Lanes are shuffled in vectors of the width
/// of the machine, as the kernel takes them. Names begin with `pl_`, since headers of the kernel may define others.
const SOURCE: &str = "\
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

/// The function that reads pairs.
pub(super) fn function() -> CFunction {
    // SAFETY: it writes 16 numbers and reads two of each row, as the calls below say.
    let function = unsafe { CFunction::parse(SOURCE, PAIRS) };
    let rows = [Access::Read; LANES];
    function.expect("invariant: the source is known").with_access([Access::Write].into_iter().chain(rows))
}

/// Whether numbers of a part are read in pairs.
pub(super) fn are_paired(shape: &Shape, part: &PartShape) -> bool {
    let is_read = !matches!(part.access, ArgAccess::Inc) && part.block.is_none() && !shape.params[part.param].in_place;
    is_read && part.reach != Reach::Global && part.layout == Layout::Rows && part.count > 1 && part.size(shape) <= UNROLLED
}

impl Body<'_> {
    /// Fetches a part for all lanes into the array of the batch: in pairs, and the last number of rows of an odd number of them one by one.
    pub fn fetch_pairs(&self, index: usize, part: &PartShape, batch: &Name, places: &BatchPlaces) -> Piece {
        let slots = part.map().map_or(1, |map| self.shape.maps[map].slots);
        let [pair, lane] = ["p", "l"].map(|axis| Name::from(format!("pl_z{index}{axis}")));
        let mut piece = Piece::default().loop_over(&pair, 2, false).loop_over(&lane, LANES, false);
        let scopes: Vec<_> = (0..LANES).map(|lane| places.scope(lane)).collect();
        let fetched = |id: String, kind: InstructionKind| {
            Instruction::bare(id, kind)
                .after(places.ready.clone())
                .within(places.inames.clone())
                .without_barriers("pl_*", SyncScope::Global)
        };
        for slot in 0..slots {
            for number in (0..part.count).step_by(2) {
                let step = self.step(part, slot, number);
                if number + 1 == part.count {
                    for (lane, scope) in scopes.iter().enumerate() {
                        let there = Expr::from(batch).at([step.place.clone(), Expr::from(lane)]);
                        let assigned = Instruction::assign(format!("pl_q{index}_{slot}_{lane}"), there, self.public(scope, part, &step));
                        piece = piece.then(fetched(assigned.id.to_string(), assigned.kind));
                    }
                    continue;
                }
                let row = |scope| {
                    let (row, number) = (self.row(scope, part, &step), step.number.clone() + &pair);
                    Expr::sub_array(vec![pair.clone()], Array::Table(part.table).name(), [row, number])
                };
                let there =
                    Expr::sub_array(vec![pair.clone(), lane.clone()], batch.clone(), [step.place.clone() + &pair, Expr::from(&lane)]);
                let rhs = Expr::call(PAIRS, scopes.iter().map(row));
                let call = CallInstruction { lhs: vec![there], rhs, declares: vec![None] };
                piece = piece.then(fetched(format!("pl_q{index}_{slot}_{number}p"), InstructionKind::Call(call)));
            }
        }
        piece
    }
}
