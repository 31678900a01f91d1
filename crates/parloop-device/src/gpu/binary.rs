//! Whether bytes are a whole compiled module: drivers trust the offsets inside, so damaged bytes must not reach them.
//!
//! A module is an ELF file, or, from HIP, also a bundle of ELF files.

/// Why bytes are not a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Problem {
    #[error("the {size} bytes are not a compiled module (neither an ELF file nor an offload bundle)")]
    Magic { size: usize },
    #[error("the ELF file is for machine {machine}, which is not a GPU")]
    Machine { machine: u16 },
    #[error("the compiled module is truncated: its header says {expected} bytes, but there are {size}")]
    CutOff { expected: u64, size: usize },
}

const ELF: &[u8] = b"\x7fELF";
const ELF_64_BIT_LITTLE_ENDIAN: [u8; 2] = [2, 1];
const BUNDLE: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
/// NVIDIA's and AMD's GPUs.
const GPU_MACHINES: [u16; 2] = [190, 224];
/// A section of this type takes no room in the file.
const NO_BITS: u32 = 8;

/// Checks that all that the headers point at is there.
pub(crate) fn check(bytes: &[u8]) -> Result<(), Problem> {
    let image = Image { bytes };
    if bytes.starts_with(ELF) && bytes.get(4..6) == Some(&ELF_64_BIT_LITTLE_ENDIAN[..]) {
        image.check_elf()
    } else if bytes.starts_with(BUNDLE) {
        image.check_bundle()
    } else {
        Err(Problem::Magic { size: bytes.len() })
    }
}

struct Image<'a> {
    bytes: &'a [u8],
}

impl Image<'_> {
    fn check_elf(&self) -> Result<(), Problem> {
        self.room(0, 64)?;
        let machine = self.u16(18)?;
        if !GPU_MACHINES.contains(&machine) {
            return Err(Problem::Machine { machine });
        }
        let (segments, sections) = (self.u64(32)?, self.u64(40)?);
        let (segment_size, segment_count) = (u64::from(self.u16(54)?), u64::from(self.u16(56)?));
        let (section_size, section_count) = (u64::from(self.u16(58)?), u64::from(self.u16(60)?));
        self.room(segments, segment_size * segment_count)?;
        self.room(sections, section_size * section_count)?;
        if (segment_count > 0 && segment_size < 56) || (section_count > 0 && section_size < 64) || segment_count + section_count == 0 {
            return Err(Problem::Magic { size: self.bytes.len() });
        }
        for segment in (0..segment_count).map(|i| segments + i * segment_size) {
            self.room(self.u64(segment + 8)?, self.u64(segment + 32)?)?;
        }
        for section in (0..section_count).map(|i| sections + i * section_size) {
            if self.u32(section + 4)? != NO_BITS {
                self.room(self.u64(section + 24)?, self.u64(section + 32)?)?;
            }
        }
        Ok(())
    }

    fn check_bundle(&self) -> Result<(), Problem> {
        let mut at = BUNDLE.len() as u64;
        let entries = self.u64(at)?;
        at += 8;
        for _ in 0..entries {
            let (offset, size, name_len) = (self.u64(at)?, self.u64(at + 8)?, self.u64(at + 16)?);
            self.room(offset, size)?;
            self.room(at + 24, name_len)?;
            at += 24 + name_len;
        }
        Ok(())
    }

    fn room(&self, offset: u64, len: u64) -> Result<(), Problem> {
        let expected = offset.saturating_add(len);
        let size = self.bytes.len();
        if expected <= size as u64 { Ok(()) } else { Err(Problem::CutOff { expected, size }) }
    }

    fn array<const N: usize>(&self, offset: u64) -> Result<[u8; N], Problem> {
        self.room(offset, N as u64)?;
        let start = offset as usize;
        self.bytes[start..].first_chunk().copied().ok_or(Problem::Magic { size: self.bytes.len() })
    }

    fn u16(&self, offset: u64) -> Result<u16, Problem> {
        self.array(offset).map(u16::from_le_bytes)
    }

    fn u32(&self, offset: u64) -> Result<u32, Problem> {
        self.array(offset).map(u32::from_le_bytes)
    }

    fn u64(&self, offset: u64) -> Result<u64, Problem> {
        self.array(offset).map(u64::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF header, one section header after it, and the section's four bytes at the end.
    fn small_elf() -> Vec<u8> {
        let mut bytes = vec![0; 64 + 64 + 4];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[18] = 190;
        bytes[40] = 64;
        bytes[58] = 64;
        bytes[60] = 1;
        bytes[64 + 4] = 1;
        bytes[64 + 24] = 128;
        bytes[64 + 32] = 4;
        bytes
    }

    #[test]
    fn a_whole_module_is_accepted_and_every_cut_of_it_is_refused() {
        let whole = small_elf();
        assert_eq!(check(&whole), Ok(()));
        for len in 0..whole.len() {
            assert!(check(&whole[..len]).is_err(), "{len} bytes were accepted");
        }
    }

    #[test]
    fn offsets_that_overflow_are_refused() {
        for at in [32, 40, 64 + 24, 64 + 32] {
            let mut bytes = small_elf();
            bytes[at..at + 8].fill(0xff);
            let problem = check(&bytes);
            // Where no segment is counted, where they would be does not matter, unless it is outside the file.
            assert!(matches!(problem, Err(Problem::CutOff { .. })), "{at}: {problem:?}");
        }
    }

    #[test]
    fn a_bundle_with_entries_outside_is_refused() {
        let mut bytes = BUNDLE.to_vec();
        bytes.extend(1u64.to_le_bytes());
        for number in [58u64, 0, 2] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(b"id");
        assert_eq!(check(&bytes), Ok(()));
        bytes.pop();
        assert_eq!(check(&bytes), Err(Problem::CutOff { expected: 58, size: 57 }));
        bytes[24..32].fill(0xff);
        assert!(check(&bytes).is_err());
    }

    #[test]
    fn other_bytes_are_named_for_what_they_are_not() {
        let message = check(b"garbage").unwrap_err().to_string();
        assert_eq!(message, "the 7 bytes are not a compiled module (neither an ELF file nor an offload bundle)");
        let mut bytes = small_elf();
        bytes[18] = 62;
        assert_eq!(check(&bytes).unwrap_err().to_string(), "the ELF file is for machine 62, which is not a GPU");
    }
}
