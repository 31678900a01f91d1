//! The wrapping of program binaries: drivers trust the bytes they are given, so damage must be detected first.

const MAGIC: [u8; 8] = *b"parlocl1";
const HEADER: usize = 24;

/// `binary` behind a header with its length and check sum.
pub(super) fn seal(binary: &[u8]) -> Vec<u8> {
    let length = (binary.len() as u64).to_le_bytes();
    [&MAGIC, &length, &check_sum(binary).to_le_bytes(), binary].concat()
}

/// The binary inside, if it is whole.
pub(super) fn unseal(bytes: &[u8]) -> Result<&[u8], &'static str> {
    let Some((header, binary)) = bytes.split_at_checked(HEADER) else {
        return Err("it is too short to be an OpenCL module");
    };
    if header[..8] != MAGIC {
        return Err("it does not start with the header of an OpenCL module of this version");
    }
    if header[8..16] != (binary.len() as u64).to_le_bytes() {
        return Err("it is truncated or has extra bytes");
    }
    if header[16..] != check_sum(binary).to_le_bytes() {
        return Err("it is corrupt: its bytes have changed");
    }
    Ok(binary)
}

/// FNV-1a, over words of eight bytes to be quick.
fn check_sum(bytes: &[u8]) -> u64 {
    let step = |sum: u64, word: u64| (sum ^ word).wrapping_mul(0x0000_0100_0000_01b3);
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = words.iter().fold(0xcbf2_9ce4_8422_2325, |sum, word| step(sum, u64::from_le_bytes(*word)));
    rest.iter().fold(sum, |sum, &byte| step(sum, u64::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_binary_comes_back_whole() {
        for length in [0, 1, 7, 8, 9, 1000] {
            let binary: Vec<u8> = (0..length).map(|i| i as u8).collect();
            assert_eq!(unseal(&seal(&binary)), Ok(&binary[..]));
        }
    }

    #[test]
    fn every_changed_byte_and_every_cut_is_found() {
        let sealed = seal(b"thirteen byte");
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(unseal(&changed).is_err(), "byte {at}");
            assert!(unseal(&sealed[..at]).is_err(), "cut at {at}");
        }
        assert!(unseal(&[&sealed[..], b"x"].concat()).is_err());
    }
}
