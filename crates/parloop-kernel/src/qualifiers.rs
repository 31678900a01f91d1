//! What is put in front of functions in plain C that become part of generated code.

use parloop_device::DeviceKind;

/// All of them. Where users write the same words, an empty comment tells them apart.
const HEADS: [&str; 4] = [
    "static inline __attribute__((always_inline)) ",
    "static inline/**/ ",
    "static __device__ __forceinline__ ",
    "static __device__ inline/**/ ",
];

/// What stands in front of each function.
pub(crate) fn head(target: DeviceKind, inlined: bool) -> &'static str {
    match (target, inlined) {
        (DeviceKind::Cpu | DeviceKind::OpenCl, true) => HEADS[0],
        (DeviceKind::Cpu | DeviceKind::OpenCl, false) => HEADS[1],
        (DeviceKind::Cuda | DeviceKind::Hip, true) => HEADS[2],
        (DeviceKind::Cuda | DeviceKind::Hip, false) => HEADS[3],
    }
}

/// A line as the user wrote it, and the column there of what is at that column of the line with heads; columns are counted from 1.
pub(crate) fn without_heads(line: &str, column: Option<usize>) -> (String, Option<usize>) {
    let mut heads: Vec<(usize, usize)> = HEADS.iter().flat_map(|head| line.match_indices(head).map(|(at, _)| (at, head.len()))).collect();
    heads.sort_unstable();
    let (mut text, mut end) = (String::with_capacity(line.len()), 0);
    let mut own_column = column;
    for (at, len) in heads {
        text.push_str(&line[end..at]);
        end = at + len;
        if let (Some(column), Some(own)) = (column, &mut own_column)
            && column > at
        {
            *own -= len.min(column - 1 - at);
        }
    }
    text.push_str(&line[end..]);
    (text, own_column)
}
