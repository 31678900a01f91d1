//! What is asked of ELF files: whether a library is whole, and what an object needs of others.

/// Truncated files would load and then fault on access, so the loader gets only complete files.
pub(super) fn check(bytes: &[u8]) -> Result<(), &'static str> {
    if bytes.get(..5) != Some(b"\x7fELF\x02") {
        return Err("not a 64-bit ELF shared library");
    }
    let sections_end = word(bytes, 40, 8)?.checked_add(word(bytes, 58, 2)? * word(bytes, 60, 2)?).ok_or("damaged")?;
    if sections_end > bytes.len() as u64 { Err("cut short") } else { Ok(()) }
}

/// The names that an object file of 64 bits refers to and does not define.
pub(super) fn undefined(bytes: &[u8]) -> Result<Vec<&[u8]>, &'static str> {
    const SYMBOLS: u64 = 2;
    check(bytes)?;
    let (sections, size, count) = (word(bytes, 40, 8)?, word(bytes, 58, 2)?, word(bytes, 60, 2)?);
    if count == 0 {
        return Err("has more sections than are counted here");
    }
    let header = |section: u64| {
        let offset = section.checked_mul(size).and_then(|offset| offset.checked_add(sections)).ok_or("damaged")?;
        part(bytes, offset, 64)
    };
    let content = |header: &[u8]| part(bytes, word(header, 24, 8)?, word(header, 32, 8)?);
    let mut names = Vec::new();
    for section in 0..count {
        let symbols = header(section)?;
        if word(symbols, 4, 4)? != SYMBOLS {
            continue;
        }
        let texts = content(header(word(symbols, 40, 4)?)?)?;
        // The first symbol stands for none.
        for symbol in content(symbols)?.chunks_exact(24).skip(1).filter(|symbol| symbol[6..8] == [0, 0]) {
            let name = texts.get(word(symbol, 0, 4)? as usize..).ok_or("damaged")?;
            names.push(name.split(|byte| *byte == 0).next().unwrap_or_default());
        }
    }
    Ok(names)
}

fn part(bytes: &[u8], at: u64, len: u64) -> Result<&[u8], &'static str> {
    let range = usize::try_from(at).ok().zip(at.checked_add(len).and_then(|end| usize::try_from(end).ok()));
    range.and_then(|(begin, end)| bytes.get(begin..end)).ok_or("cut short")
}

fn word(bytes: &[u8], at: u64, len: usize) -> Result<u64, &'static str> {
    let mut value = [0; 8];
    value[..len].copy_from_slice(part(bytes, at, len as u64)?);
    Ok(u64::from_le_bytes(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_whole_is_refused() {
        assert_eq!(check(b""), Err("not a 64-bit ELF shared library"));
        assert_eq!(check(b"\x7fELF\x02"), Err("cut short"));
        let own = std::fs::read("/proc/self/exe").unwrap();
        assert_eq!(check(&own), Ok(()));
        assert_eq!(check(&own[..own.len() - 1]), Err("cut short"));
    }

    /// An object in which `f` calls `sin` and `sum`, and defines `f` and `scale`.
    fn object() -> Vec<u8> {
        compiled("double sin(double), sum(double), scale; double f(double x) { return sin(x) + sum(x) * scale; }")
    }

    fn compiled(text: &str) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let (source, object) = (folder.path().join("f.c"), folder.path().join("f.o"));
        std::fs::write(&source, text).unwrap();
        let status = std::process::Command::new("cc").arg("-c").arg(&source).arg("-o").arg(&object).status().unwrap();
        assert!(status.success());
        std::fs::read(object).unwrap()
    }

    #[test]
    fn names_that_an_object_does_not_define_are_found() {
        let object = object();
        let mut names = undefined(&object).unwrap();
        names.retain(|name| *name != b"_GLOBAL_OFFSET_TABLE_");
        names.sort_unstable();
        assert_eq!(names, [&b"sin"[..], b"sum"]);
    }

    #[test]
    fn an_object_of_more_sections_than_its_header_can_count_is_refused() {
        let many = r#"__asm__(".altmacro\n.macro one n\n.section .rodata.s\\n\n.byte 1\n.endm\n.set i,0\n.rept 65300\none %i\n.set i,i+1\n.endr\n.text");"#;
        let object = compiled(&format!("{many} double sin(double); double f(double x) {{ return sin(x); }}"));
        assert_eq!(undefined(&object), Err("has more sections than are counted here"));
    }

    #[test]
    fn damaged_objects_are_read_without_harm() {
        let object = object();
        for len in 0..object.len() {
            assert!(undefined(&object[..len]).is_err(), "{len} bytes");
        }
        for at in 0..object.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut damaged = object.clone();
                damaged[at..(at + 4).min(object.len())].fill(value);
                let _ = undefined(&damaged);
            }
        }
    }
}
