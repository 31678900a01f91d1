//! Programs in files: the binary with all that is needed to call what is in it. Loading one needs no compiler.
//!
//! A file is the magic, the number of its format, the version of parloop that saved it, the blake3 hash of all the rest, and the rest.

use std::fmt;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use parloop_device::{Device, DeviceKind};

use crate::codec::{Reader, Writer};
use crate::error::{KernelError, Result};
use crate::grid::Grid;
use crate::signature::Signature;
use crate::trust::{self, Owner};
use crate::version::VERSION;

const MAGIC: [u8; 8] = *b"parloop\0";
/// Changes with what a file holds and with how its binary is called.
const FORMAT: u32 = 1;

/// A program as a file holds it.
#[derive(Clone, PartialEq)]
pub struct SavedProgram {
    pub(crate) kind: DeviceKind,
    /// As [`Device::binary_target`].
    pub(crate) target: String,
    /// The words of the check sites, in checked mode.
    pub(crate) check_sites: Option<Vec<String>>,
    /// What the binary can be asked for, as the source declares it.
    pub(crate) functions: Vec<Signature>,
    pub(crate) kernels: Vec<SavedKernel>,
    pub(crate) binary: Vec<u8>,
}

/// A kernel under the name and with the grid it was described with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SavedKernel {
    pub(crate) name: String,
    pub(crate) signature: Signature,
    pub(crate) grid: Grid,
    pub(crate) block: Option<u32>,
}

impl SavedProgram {
    /// The kind of device it is for.
    pub fn kind(&self) -> DeviceKind {
        self.kind
    }

    /// The names of its kernels.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.kernels.iter().map(|kernel| kernel.name.as_str())
    }

    /// Reads the bytes of a file; `path` is for messages.
    ///
    /// ```
    /// use parloop_kernel::{KernelError, SavedProgram};
    /// let error = SavedProgram::from_bytes(b"something else", "my.prog").unwrap_err();
    /// assert_eq!(error.to_string(), "my.prog is not a program that parloop saved");
    /// ```
    ///
    /// # Errors
    /// [`KernelError::NoProgram`], [`KernelError::OtherVersion`], [`KernelError::Damaged`].
    pub fn from_bytes(bytes: &[u8], path: impl AsRef<Path>) -> Result<SavedProgram> {
        let path = || path.as_ref().to_owned();
        let damaged = || KernelError::Damaged { path: path() };
        let body = bytes.strip_prefix(&MAGIC).ok_or_else(|| KernelError::NoProgram { path: path() })?;
        let (format, rest) = body.split_first_chunk::<4>().ok_or_else(damaged)?;
        let mut input = Reader(rest);
        let (format, version) = (u32::from_le_bytes(*format), input.text().ok_or_else(damaged)?);
        if (format, version.as_str()) != (FORMAT, VERSION) {
            return Err(KernelError::OtherVersion { path: path(), saved: version, format, reads: FORMAT });
        }
        let (hash, content) = input.0.split_first_chunk::<32>().ok_or_else(damaged)?;
        if blake3::hash(content) != *hash {
            return Err(damaged());
        }
        SavedProgram::decode(content).ok_or_else(damaged)
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        SavedProgram::seal(&self.encode())
    }

    /// The bytes of a file with this content.
    #[doc(hidden)]
    pub fn seal(content: &[u8]) -> Vec<u8> {
        let mut out = Writer(MAGIC.to_vec());
        out.0.extend(FORMAT.to_le_bytes());
        out.text(VERSION);
        out.0.extend(blake3::hash(content).as_bytes());
        out.0.extend(content);
        out.0
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.text(self.kind.name());
        out.text(&self.target);
        out.list(self.check_sites.as_slice(), |out, sites| out.list(sites, |out, site| out.text(site)));
        out.list(&self.functions, |out, signature| out.signature(signature));
        out.list(&self.kernels, |out, kernel| {
            out.text(&kernel.name);
            out.signature(&kernel.signature);
            out.grid(&kernel.grid, kernel.block);
        });
        out.bytes(&self.binary);
        out.0
    }

    fn decode(content: &[u8]) -> Option<SavedProgram> {
        let mut input = Reader(content);
        let kind = input.text()?;
        let kind = DeviceKind::ALL.into_iter().find(|known| known.name() == kind)?;
        let target = input.text()?;
        let check_sites = input.list(|input| input.list(Reader::text))?.pop();
        let functions = input.list(Reader::signature)?;
        let kernels = input.list(|input| {
            let (name, signature) = (input.text()?, input.signature()?);
            let (grid, block) = input.grid()?;
            Some(SavedKernel { name, signature, grid, block })
        })?;
        let binary = input.bytes()?.to_vec();
        input.0.is_empty().then_some(SavedProgram { kind, target, check_sites, functions, kernels, binary })
    }

    /// Writes the file whole or not at all.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let refused = |reason: String| KernelError::ProgramFile { path: path.to_owned(), action: "saved", reason };
        let failed = |e: std::io::Error| refused(e.to_string());
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            return Err(refused(format!("folder {} does not exist", folder.display())));
        }
        let mut file = tempfile::Builder::new().prefix(".parloop-").tempfile_in(folder).map_err(failed)?;
        file.write_all(&self.to_bytes()).map_err(failed)?;
        // A temporary file is for its owner's eyes alone; a saved one is as any other file, but nobody else writes what we run.
        use std::os::unix::fs::PermissionsExt;
        let open = std::fs::Permissions::from_mode(0o644 & !umask());
        file.as_file().set_permissions(open).map_err(failed)?;
        file.persist(path).map_err(|e| failed(e.error)).map(|_| ())
    }

    /// Reads a file that nobody else can have written: what is in it will be run.
    pub(crate) fn read(path: &Path) -> Result<SavedProgram> {
        let refused = |action: &'static str, reason: String| KernelError::ProgramFile { path: path.to_owned(), action, reason };
        let failed = |e: std::io::Error| refused(if e.kind() == ErrorKind::InvalidData { "trusted" } else { "read" }, e.to_string());
        // Links are followed here, and the folders that they lead to are looked at.
        let real = path.canonicalize().map_err(failed)?;
        if let Some(folder) = real.parent() {
            trust::check_folder(folder, Owner::UsOrRoot).map_err(|reason| refused("trusted", reason))?;
        }
        let (mut file, _) = trust::open(&real, Owner::UsOrRoot).map_err(failed)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        SavedProgram::from_bytes(&bytes, path)
    }

    /// Whether `device` can run its binary.
    pub(crate) fn check_target(&self, device: &Device, path: &Path) -> Result<()> {
        let here = device.binary_target();
        let other = |saved: String, found: String| {
            Err(KernelError::OtherTarget { path: path.to_owned(), saved, device: device.id().to_string(), found })
        };
        if self.kind != DeviceKind::Cpu || device.kind() != DeviceKind::Cpu {
            return match (self.kind, &self.target) == (device.kind(), &here) {
                true => Ok(()),
                false => other(described(self.kind, &self.target), described(device.kind(), &here)),
            };
        }
        // The instructions of a CPU are a list: it may have more than are needed.
        let here: Vec<&str> = here.split(' ').collect();
        let lacking: Vec<&str> = self.target.split(' ').filter(|needed| !here.contains(needed)).collect();
        match *lacking {
            [] => Ok(()),
            _ if self.target.split(' ').next() != here.first().copied() => {
                other(described(self.kind, &self.target), format!("cpu {}", here[0]))
            }
            _ => other(format!("a CPU with {}", lacking.join(", ")), "a CPU without".into()),
        }
    }
}

/// A target in words; of a CPU the instructions are left out.
fn described(kind: DeviceKind, target: &str) -> String {
    let target = if kind == DeviceKind::Cpu { target.split(' ').next().unwrap_or_default() } else { target };
    format!("{kind} {target}")
}

/// What the user's files are closed to. Reading it is setting it, so that the file that says it is read instead.
fn umask() -> u32 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    line.and_then(|mask| u32::from_str_radix(mask.trim(), 8).ok()).unwrap_or(0o022)
}

impl fmt::Debug for SavedProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.names().collect();
        write!(f, "<SavedProgram {} for {}>", names.join(", "), described(self.kind, &self.target))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::program::signatures;
    use crate::source::Source;

    fn sample() -> SavedProgram {
        let text = "GPUKERN void k(double *x, int64_t n) { VECTORIZE_OVER(i, n + 1) END_VECTORIZE }\nint f(int x) { return x; }";
        let functions = signatures(&[Source::text(text)], DeviceKind::Cpu, &[]).unwrap();
        let kernels = vec![SavedKernel { name: "mine".into(), signature: functions[0].clone(), grid: Grid::Items(3), block: Some(4) }];
        let check_sites = Some(vec!["A.b".into()]);
        SavedProgram { kind: DeviceKind::Cuda, target: "sm_90".into(), check_sites, functions, kernels, binary: vec![1, 2, 3] }
    }

    fn message(bytes: &[u8]) -> String {
        SavedProgram::from_bytes(bytes, "f.prog").unwrap_err().to_string()
    }

    #[test]
    fn a_file_reads_back_as_it_was_written() {
        for sites in [None, Some(vec![]), Some(vec!["a".into(), "b".into()])] {
            let program = SavedProgram { check_sites: sites, ..sample() };
            assert_eq!(SavedProgram::from_bytes(&program.to_bytes(), "f"), Ok(program));
        }
    }

    #[test]
    fn what_is_wrong_with_a_file_is_told() {
        let whole = sample().to_bytes();
        for other in [&b""[..], b"parloop", b"PK\x03\x04 something long enough to be a program"] {
            assert_eq!(message(other), "f.prog is not a program that parloop saved");
        }
        let damaged = "program file f.prog is damaged: its content does not match its checksum; save the program again";
        assert_eq!(message(&whole[..whole.len() - 1]), damaged);
        assert_eq!(message(&[&whole[..], b"x"].concat()), damaged);
        let mut newer = whole.clone();
        newer[8] = 2;
        let told = format!(
            "program file f.prog was saved by parloop {VERSION} in format 2, but this is parloop {VERSION}, which reads format 1; compile \
             and save the program again"
        );
        assert_eq!(message(&newer), told);
        let mut other = whole;
        let at = other.windows(VERSION.len()).position(|part| part == VERSION.as_bytes()).unwrap();
        other[at] = b'9';
        let saved = format!("9{}", &VERSION[1..]);
        assert_eq!(message(&other), told.replace(&format!("by parloop {VERSION} in format 2"), &format!("by parloop {saved} in format 1")));
    }

    #[test]
    fn content_that_is_whole_but_senseless_is_damage() {
        assert!(message(&SavedProgram::seal(b"")).contains("is damaged"));
        let content = sample().encode();
        assert!(message(&SavedProgram::seal(&[&content[..], b"x"].concat())).contains("is damaged"));
        assert!(SavedProgram::from_bytes(&SavedProgram::seal(&content), "f").is_ok());
    }

    #[test]
    fn a_binary_is_loaded_where_it_can_run() {
        let cpu = Device::open("cpu:1").unwrap();
        let target = |kind, target: &str| SavedProgram { kind, target: target.into(), ..sample() }.check_target(&cpu, Path::new("f.prog"));
        let here = cpu.binary_target();
        let arch = here.split(' ').next().unwrap();
        assert_eq!(target(DeviceKind::Cpu, &here), Ok(()));
        assert_eq!(target(DeviceKind::Cpu, arch), Ok(()));
        let told = |result: Result<()>| result.unwrap_err().to_string();
        assert_eq!(
            told(target(DeviceKind::Cpu, &format!("{here} avx9000 amx9000"))),
            "program file f.prog is for a CPU with avx9000, amx9000, but cpu:1 is a CPU without; compile the program for this device"
        );
        assert_eq!(
            told(target(DeviceKind::Cpu, "z80 index")),
            format!("program file f.prog is for cpu z80, but cpu:1 is cpu {arch}; compile the program for this device")
        );
        assert_eq!(
            told(target(DeviceKind::Cuda, "sm_90")),
            format!("program file f.prog is for cuda sm_90, but cpu:1 is cpu {arch}; compile the program for this device")
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_refused_without_a_panic(bytes: Vec<u8>, magic: bool) {
            let bytes = if magic { [&MAGIC[..], &bytes].concat() } else { bytes };
            prop_assert!(SavedProgram::from_bytes(&bytes, "f").is_err());
        }

        #[test]
        fn any_content_is_read_without_a_panic(content: Vec<u8>) {
            let _ = SavedProgram::from_bytes(&SavedProgram::seal(&content), "f");
        }

        #[test]
        fn changed_content_is_read_without_a_panic(at: prop::sample::Index, value: u8, cut: prop::sample::Index) {
            let mut content = sample().encode();
            let place = at.index(content.len());
            content[place] = value;
            let _ = SavedProgram::from_bytes(&SavedProgram::seal(&content), "f");
            let _ = SavedProgram::from_bytes(&SavedProgram::seal(&content[..cut.index(content.len())]), "f");
        }

        #[test]
        fn every_changed_byte_of_a_file_is_found(at: prop::sample::Index, change in 1..=255u8) {
            let mut bytes = sample().to_bytes();
            let place = at.index(bytes.len());
            bytes[place] ^= change;
            prop_assert!(SavedProgram::from_bytes(&bytes, "f").is_err());
        }
    }
}
