//! Cases that random chains found, as small as they can be: each must be refused, or keep its numbers.

use super::case::Case;
use super::verify::{Outcome, Place, verify};

/// What becomes of a case on every device.
fn outcome(text: &str) -> Outcome {
    verify(&Case::parse(text).unwrap(), &Place::all(), None)
}

#[test]
fn lanes_keep_the_limits_of_their_loops_behind_a_barrier() {
    let found = outcome(
        "; sizes 2 5
kernel f
domain {[i]: 0 <= i < n}
domain {[j]: 0 <= j < e}
data
  b: global int32[2*n + 16, 2*n + 16]
  e: temp int32
  n: value int32
instructions
  e = b[i + 3, i] % 4 {id=limit, dep=*, inames=i}
  b[i + 2, j] = 1 {id=set, dep=*limit, inames=i:j}

; chain
split_iname i 3 inner_tag=l.0
",
    );
    assert_eq!(found, Outcome::Same);
}
