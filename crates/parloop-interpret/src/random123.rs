//! Philox and Threefry, as the reference defines them.

/// The constants of a width of words.
struct Words {
    bits: u32,
    mask: u128,
}

impl Words {
    fn rotate(&self, word: u128, by: u32) -> u128 {
        ((word << by) | (word >> (self.bits - by))) & self.mask
    }
}

/// The numbers of a generator for a counter and a key, of words of 32 or 64 bits; `None` if there is no such generator.
pub(super) fn generate(name: &str, counter: &[u128], key: &[u128]) -> Option<Vec<u128>> {
    let (is_philox, size) = match name.strip_prefix("philox") {
        Some(size) => (true, size),
        None => (false, name.strip_prefix("threefry")?),
    };
    let bits = match size {
        "2x32" | "4x32" => 32,
        "2x64" | "4x64" => 64,
        _ => return None,
    };
    let words = Words { bits, mask: (1 << bits) - 1 };
    Some(if is_philox { philox(&words, counter, key) } else { threefry(&words, counter, key) })
}

/// The counter behind that one.
pub(super) fn next(counter: &[u128], bits: u32) -> Vec<u128> {
    let mut next = counter.to_vec();
    let counted = next.len().min(3);
    for word in &mut next[..counted] {
        *word = (*word + 1) & ((1 << bits) - 1);
        if *word != 0 {
            break;
        }
    }
    next
}

fn philox(words: &Words, counter: &[u128], key: &[u128]) -> Vec<u128> {
    let factors: [u128; 2] = match (counter.len(), words.bits) {
        (2, 32) => [0xd256d193, 0],
        (2, _) => [0xd2b74407b1ce6e93, 0],
        (_, 32) => [0xd2511f53, 0xcd9e8d57],
        _ => [0xd2e7470ee14c6c93, 0xca5a826395121157],
    };
    let steps: [u128; 2] = if words.bits == 32 { [0x9e3779b9, 0xbb67ae85] } else { [0x9e3779b97f4a7c15, 0xbb67ae8584caa73b] };
    let mut found = counter.to_vec();
    let mut key = key.to_vec();
    let product = |factor: u128, word: u128| ((factor * word) >> words.bits, (factor * word) & words.mask);
    for _ in 0..10 {
        let (upper, lower) = product(factors[0], found[0]);
        found = match found[..] {
            [_, b] => vec![upper ^ key[0] ^ b, lower],
            [_, b, c, d] => {
                let (other_upper, other_lower) = product(factors[1], c);
                vec![other_upper ^ b ^ key[0], other_lower, upper ^ d ^ key[1], lower]
            }
            _ => return found,
        };
        for (word, step) in key.iter_mut().zip(steps) {
            *word = (*word + step) & words.mask;
        }
    }
    found
}

fn threefry(words: &Words, counter: &[u128], key: &[u128]) -> Vec<u128> {
    const OF_TWO: [[u32; 8]; 2] = [[13, 15, 26, 6, 17, 29, 16, 24], [16, 42, 12, 31, 16, 32, 24, 21]];
    const OF_FOUR: [[[u32; 8]; 2]; 2] = [
        [[10, 11, 13, 23, 6, 17, 25, 18], [26, 21, 27, 5, 20, 11, 10, 20]],
        [[14, 52, 23, 5, 25, 46, 58, 32], [16, 57, 40, 37, 33, 12, 22, 32]],
    ];
    let count = counter.len();
    let wide = usize::from(words.bits == 64);
    let mut schedule = key[..count].to_vec();
    let parity: u128 = if wide == 1 { 0x1bd11bdaa9fc1a22 } else { 0x1bd11bda };
    schedule.push(schedule.iter().fold(parity, |sum, word| sum ^ word));
    let mut found: Vec<u128> = counter.iter().zip(&schedule).map(|(word, key)| (word + key) & words.mask).collect();
    for round in 0..20 {
        let mut mix = |to: usize, from: usize, by: u32| {
            found[to] = (found[to] + found[from]) & words.mask;
            found[from] = words.rotate(found[from], by) ^ found[to];
        };
        let (even, at) = (round % 2 == 0, round % 8);
        match count {
            2 => mix(0, 1, OF_TWO[wide][at]),
            _ => {
                mix(0, if even { 1 } else { 3 }, OF_FOUR[wide][0][at]);
                mix(2, if even { 3 } else { 1 }, OF_FOUR[wide][1][at]);
            }
        }
        if round % 4 == 3 {
            let turn = round / 4 + 1;
            for (place, word) in found.iter_mut().enumerate() {
                let more = if place == count - 1 { turn as u128 } else { 0 };
                *word = (*word + schedule[(turn + place) % (count + 1)] + more) & words.mask;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::generate;

    const PI: [u128; 8] = [
        0x243f6a8885a308d3,
        0x13198a2e03707344,
        0xa4093822299f31d0,
        0x082efa98ec4e6c89,
        0x452821e638d01377,
        0xbe5466cf34e90c6c,
        0xbe5466cf34e90c6c,
        0xc0ac29b7c97c50dd,
    ];

    /// The words of the published known answers: counters and keys of zeros, of ones, and of the digits of pi.
    #[test]
    fn generators_give_the_published_numbers() {
        let halves: Vec<u128> = PI[..4].iter().flat_map(|word| [word >> 32, word & 0xffff_ffff]).collect();
        let known: [(&str, usize, [&[u128]; 3]); 8] = [
            ("philox2x32", 1, [&[0xff1dae59, 0x6cd10df2], &[0x2c3f628b, 0xab4fd7ad], &[0xdd7ce038, 0xf62a4c12]]),
            (
                "philox4x32",
                2,
                [
                    &[0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8],
                    &[0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd],
                    &[0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
                ],
            ),
            (
                "philox2x64",
                1,
                [
                    &[0xca00a0459843d731, 0x66c24222c9a845b5],
                    &[0x65b021d60cd8310f, 0x4d02f3222f86df20],
                    &[0x0a5e742c2997341c, 0xb0f883d38000de5d],
                ],
            ),
            (
                "philox4x64",
                2,
                [
                    &[0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b],
                    &[0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0],
                    &[0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6],
                ],
            ),
            ("threefry2x32", 2, [&[0x6b200159, 0x99ba4efe], &[0x1cb996fc, 0xbb002be7], &[0xc4923a9c, 0x483df7a0]]),
            (
                "threefry4x32",
                4,
                [
                    &[0x9c6ca96a, 0xe17eae66, 0xfc10ecd4, 0x5256a7d8],
                    &[0x2a881696, 0x57012287, 0xf6c7446e, 0xa16a6732],
                    &[0x59cd1dbb, 0xb8879579, 0x86b5d00c, 0xac8b6d84],
                ],
            ),
            (
                "threefry2x64",
                2,
                [
                    &[0xc2b6e3a8c2c69865, 0x6f81ed42f350084d],
                    &[0xe02cb7c4d95d277a, 0xd06633d0893b8b68],
                    &[0x263c7d30bb0f0af1, 0x56be8361d3311526],
                ],
            ),
            (
                "threefry4x64",
                4,
                [
                    &[0x09218ebde6c85537, 0x55941f5266d86105, 0x4bd25e16282434dc, 0xee29ec846bd2e40b],
                    &[0x29c24097942bba1b, 0x0371bbfb0f6f4e11, 0x3c231ffa33f83a1c, 0xcd29113fde32d168],
                    &[0xa7e8fde591651bd9, 0xbaafd0c30138319b, 0x84a5c1a729e685b9, 0x901d406ccebc1ba4],
                ],
            ),
        ];
        for (name, keys, [zeros, ones, pi]) in known {
            let count = zeros.len();
            let (ff, digits) = if name.ends_with("32") { (0xffff_ffff, &halves[..]) } else { (0xffff_ffff_ffff_ffff, &PI[..]) };
            assert_eq!(generate(name, &vec![0; count], &vec![0; keys]).unwrap(), zeros, "{name}");
            assert_eq!(generate(name, &vec![ff; count], &vec![ff; keys]).unwrap(), ones, "{name}");
            assert_eq!(generate(name, &digits[..count], &digits[count..count + keys]).unwrap(), pi, "{name}");
        }
    }
}
