//! Where a column stands in a row.

/// Longer rows are searched by halves.
const SHORT: usize = 64;

/// Columns are compared this many at a time.
const LANES: usize = 8;

/// Where a column stands among the first `length` of these, which ascend; `None` if it is not there. `columns` may go on behind the row.
///
/// Which branches are taken depends little on where it stands, so that processors predict them and search several rows at once.
#[inline]
pub(super) fn find(columns: &[i32], length: usize, column: i32) -> Option<usize> {
    if length > SHORT {
        return columns[..length].binary_search(&column).ok();
    }
    for first in (0..length).step_by(LANES) {
        let Some(chunk) = columns[first..].first_chunk() else {
            // Only the last rows of all.
            return columns[first..length].iter().position(|&stored| stored == column).map(|place| first + place);
        };
        if let Some(lane) = find_lane(chunk, column) {
            // What follows the row is not part of it.
            return Some(first + lane).filter(|&place| place < length);
        }
    }
    None
}

/// The first of these that is the column.
#[inline]
#[cfg(target_arch = "x86_64")]
fn find_lane(chunk: &[i32; LANES], column: i32) -> Option<usize> {
    use std::arch::x86_64::{_mm_cmpeq_epi32, _mm_loadu_si128, _mm_movemask_epi8, _mm_packs_epi32, _mm_set1_epi32};
    let first = chunk.as_ptr();
    // SAFETY: all processors of this kind have these instructions, and the numbers that are loaded are those of the array, four at a time.
    let equal = unsafe {
        let column = _mm_set1_epi32(column);
        let low = _mm_cmpeq_epi32(_mm_loadu_si128(first.cast()), column);
        let high = _mm_cmpeq_epi32(_mm_loadu_si128(first.add(LANES / 2).cast()), column);
        _mm_movemask_epi8(_mm_packs_epi32(low, high))
    };
    // Two bits for each.
    (equal != 0).then(|| equal.trailing_zeros() as usize / 2)
}

#[inline]
#[cfg(not(target_arch = "x86_64"))]
fn find_lane(chunk: &[i32; LANES], column: i32) -> Option<usize> {
    let equal = u64::from_le_bytes(chunk.map(|stored| u8::from(stored == column)));
    (equal != 0).then(|| equal.trailing_zeros() as usize / 8)
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn columns_are_found_in_their_row_alone() {
        for length in 0..150 {
            for behind in 0..12 {
                // Even numbers; the next row begins with some that are in this one too, and with odd ones.
                let row = (0..length).map(|number| 2 * number as i32);
                let next = (0..behind).map(|number| 3 * number);
                let columns: Vec<i32> = row.chain(next).collect();
                for column in -2..2 * length as i32 + 40 {
                    let expected = columns[..length].iter().position(|&stored| stored == column);
                    assert_eq!(find(&columns, length, column), expected, "{column} in {length} of {columns:?}");
                }
            }
        }
    }
}
