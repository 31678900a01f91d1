//! What is asked of the file system while sources are read, with the answers: where all answers are the same again, so is what was read.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::codec::{Reader, Writer};

/// Asks the file system and notes the answers. Whatever reads sources looks at files through this alone.
#[derive(Debug, Default)]
pub(crate) struct Files {
    asked: RefCell<Vec<Lookup>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Lookup {
    path: PathBuf,
    answer: Answer,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Answer {
    IsFile(bool),
    /// The hash of its content; `None` where it cannot be read.
    Content(Option<[u8; 32]>),
    /// Its path without links; `None` where there is none.
    Real(Option<PathBuf>),
}

impl Files {
    pub(crate) fn is_file(&self, path: &Path) -> bool {
        let found = path.is_file();
        self.note(path, Answer::IsFile(found));
        found
    }

    pub(crate) fn text(&self, path: &Path) -> io::Result<String> {
        let text = std::fs::read_to_string(path);
        self.note(path, Answer::Content(text.as_ref().ok().map(|text| blake3::hash(text.as_bytes()).into())));
        text
    }

    /// The path without links, or the path itself.
    pub(crate) fn real(&self, path: &Path) -> PathBuf {
        let real = path.canonicalize().ok();
        self.note(path, Answer::Real(real.clone()));
        real.unwrap_or_else(|| path.to_owned())
    }

    fn note(&self, path: &Path, answer: Answer) {
        self.asked.borrow_mut().push(Lookup { path: path.to_owned(), answer });
    }

    /// Whether the file system gives all of these answers again.
    pub(crate) fn still_hold(&self) -> bool {
        self.asked.borrow().iter().all(|asked| {
            let again = Files::default();
            match asked.answer {
                Answer::IsFile(_) => _ = again.is_file(&asked.path),
                Answer::Content(_) => _ = again.text(&asked.path),
                Answer::Real(_) => _ = again.real(&asked.path),
            }
            again.asked.into_inner() == [asked.clone()]
        })
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.list(&self.asked.borrow(), |out, Lookup { path, answer }| {
            out.bytes(path.as_os_str().as_bytes());
            match answer {
                Answer::IsFile(found) => out.byte(u8::from(*found)),
                Answer::Content(None) => out.byte(2),
                Answer::Content(Some(hash)) => {
                    out.byte(3);
                    out.bytes(hash);
                }
                Answer::Real(None) => out.byte(4),
                Answer::Real(Some(real)) => {
                    out.byte(5);
                    out.bytes(real.as_os_str().as_bytes());
                }
            }
        });
    }

    pub(crate) fn read(input: &mut Reader) -> Option<Files> {
        let path = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
        let asked = input.list(|input| {
            let about = path(input.bytes()?);
            let answer = match input.byte()? {
                found @ (0 | 1) => Answer::IsFile(found == 1),
                2 => Answer::Content(None),
                3 => Answer::Content(Some(input.bytes()?.try_into().ok()?)),
                4 => Answer::Real(None),
                5 => Answer::Real(Some(path(input.bytes()?))),
                _ => return None,
            };
            Some(Lookup { path: about, answer })
        })?;
        Some(Files { asked: RefCell::new(asked) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_read_back_as_they_were_written_and_hold_until_a_file_changes() {
        let folder = tempfile::tempdir().unwrap();
        let [file, absent, link] = ["a.h", "b.h", "c.h"].map(|name| folder.path().join(name));
        std::fs::write(&file, "int a;").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let files = Files::default();
        assert_eq!(files.text(&link).unwrap(), "int a;");
        assert!(files.is_file(&file) && !files.is_file(&absent) && files.text(&absent).is_err());
        assert_eq!(files.real(&link), file.canonicalize().unwrap());
        assert_eq!(files.real(&absent), absent);
        let mut out = Writer::default();
        files.write(&mut out);
        let known = || Files::read(&mut Reader(&out.0)).unwrap();
        assert_eq!(known().asked, files.asked);
        assert!(known().still_hold());
        std::fs::write(&file, "int b;").unwrap();
        assert!(!known().still_hold());
        std::fs::write(&file, "int a;").unwrap();
        assert!(known().still_hold());
        std::fs::write(&absent, "").unwrap();
        assert!(!known().still_hold());
        std::fs::remove_file(&absent).unwrap();
        std::fs::remove_file(&link).unwrap();
        std::fs::write(&link, "int a;").unwrap();
        assert!(!known().still_hold());
    }
}
