//! What PoCL needs of its surroundings: a folder for compiled kernels, and one line that is kept off stderr.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use opencl3::device::CL_DEVICE_VERSION;
use rustix::fs::{Access, MemfdFlags};

use super::context::Context;
use super::driver::{info, text};
use crate::forked::Lock;

/// Whether a device is one of PoCL's.
pub(super) fn is_pocl(context: &Context) -> bool {
    // SAFETY: the device is live; `bytes` gives a buffer of the requested size.
    let version = unsafe { info!(context.driver, clGetDeviceInfo(context.device(), CL_DEVICE_VERSION)) };
    version.is_ok_and(|version| text(&version).to_lowercase().contains("pocl"))
}

/// The folder in which PoCL keeps compiled kernels, if it cannot be written: then PoCL has no devices.
pub fn unwritable_cache() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = variable("POCL_CACHE_DIR")
        .or_else(|| Some(variable("XDG_CACHE_HOME")?.join("pocl")))
        .or_else(|| Some(variable("HOME")?.join(".cache/pocl")))?;
    (!can_be_made(&folder)).then_some(folder)
}

/// Whether a folder is there and can be written, or can be made.
fn can_be_made(folder: &Path) -> bool {
    let first = folder.ancestors().find(|part| part.symlink_metadata().is_ok() || part.as_os_str().is_empty());
    let first = first.filter(|part| !part.as_os_str().is_empty()).unwrap_or(Path::new("."));
    first.is_dir() && rustix::fs::access(first, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

/// Builds a program without the line `1 error generated.`, which PoCL's clang writes to stderr beside its log. Whatever else is written to
/// stderr meanwhile, by any thread, is written there afterwards.
pub(super) fn without_summary<T>(build: impl FnOnce() -> T) -> T {
    static ONE_AT_A_TIME: Lock<()> = Lock::new(());
    let _turn = ONE_AT_A_TIME.lock_or(|| ());
    // Where a file cannot be had, the line is the lesser evil.
    let Ok(kept) = CapturedStderr::begin() else { return build() };
    let built = build();
    drop(kept);
    built
}

/// What is written to stderr as long as it lives.
struct CapturedStderr {
    stderr: File,
    written: File,
}

impl CapturedStderr {
    fn begin() -> rustix::io::Result<CapturedStderr> {
        let stderr = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stderr(), 3)?;
        let written = rustix::fs::memfd_create("stderr", MemfdFlags::CLOEXEC)?;
        rustix::stdio::dup2_stderr(&written)?;
        Ok(CapturedStderr { stderr: stderr.into(), written: written.into() })
    }
}

impl Drop for CapturedStderr {
    fn drop(&mut self) {
        // Errors have nowhere to go.
        let _ = rustix::stdio::dup2_stderr(&self.stderr);
        let mut bytes = Vec::new();
        if self.written.rewind().is_ok() && self.written.read_to_end(&mut bytes).is_ok() {
            let others: Vec<u8> =
                bytes.split_inclusive(|&byte| byte == b'\n').filter(|line| !is_summary(line)).flatten().copied().collect();
            let _ = self.stderr.write_all(&others);
        }
    }
}

/// Whether a line is clang's `2 warnings and 1 error generated.`
fn is_summary(line: &[u8]) -> bool {
    let Ok(line) = std::str::from_utf8(line) else { return false };
    let Some(counts) = line.trim_end().strip_suffix(" generated.") else { return false };
    counts.split(" and ").all(|count| {
        let number = count.split_once(' ').filter(|(_, what)| ["error", "errors", "warning", "warnings"].contains(what));
        number.is_some_and(|(number, _)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_number_of_messages_is_a_summary() {
        for line in ["1 error generated.\n", "2 warnings and 1 error generated.\n", "12 errors generated."] {
            assert!(is_summary(line.as_bytes()), "{line}");
        }
        for line in [
            "error: nothing generated.\n",
            "generated.\n",
            "code generated.\n",
            "1 mesh generated.\n",
            "\n",
            "1 error generated. Then more\n",
        ] {
            assert!(!is_summary(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn a_folder_below_a_file_cannot_be_made() {
        assert!(!can_be_made(Path::new("/dev/null/.cache/pocl")));
        assert!(can_be_made(&std::env::temp_dir().join("a/b/c")));
        assert!(can_be_made(Path::new("a/b")));
    }
}
