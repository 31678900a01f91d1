//! Bytes as text of 64 letters, as XML files carry them.

use std::io::{self, Write};

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Writes bytes as base64, whatever the pieces they come in.
pub(crate) struct Base64<W> {
    out: W,
    /// The bytes that do not fill a group of three yet.
    open: [u8; 3],
    count: usize,
}

impl<W: Write> Base64<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, open: [0; 3], count: 0 }
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        for &byte in bytes {
            self.open[self.count] = byte;
            self.count += 1;
            if self.count == 3 {
                self.out.write_all(&letters(self.open))?;
                self.count = 0;
            }
        }
        Ok(())
    }

    /// Writes what is left, filled up with `=`.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        if self.count > 0 {
            self.open[self.count..].fill(0);
            let mut group = letters(self.open);
            group[self.count + 1..].fill(b'=');
            self.out.write_all(&group)?;
        }
        Ok(())
    }
}

fn letters([a, b, c]: [u8; 3]) -> [u8; 4] {
    let letter = |bits: u8| LETTERS[usize::from(bits & 63)];
    [letter(a >> 2), letter(a << 4 | b >> 4), letter(b << 2 | c >> 6), letter(c)]
}

#[cfg(test)]
mod tests {
    use super::Base64;

    #[test]
    fn groups_are_filled_up_at_the_end_alone() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy"), ("\u{3ff}~", "z79+")] {
            for piece in 1..4 {
                let mut out = Vec::new();
                let mut encoder = Base64::new(&mut out);
                bytes.as_bytes().chunks(piece).for_each(|piece| encoder.bytes(piece).expect("memory takes all"));
                encoder.finish().expect("memory takes all");
                assert_eq!(String::from_utf8(out).expect("letters"), text);
            }
        }
    }
}
