//! Errors between a kernel's source and its launch, as data.

use std::path::PathBuf;

use parloop_device::{CompileError, DType, DeviceError};

use crate::version::VERSION;

/// An error in a source, a signature, an argument or a launch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum KernelError {
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error("{error}{}", note_on_source(.saved))]
    Compile { error: CompileError, saved: Option<PathBuf> },
    #[error("source file {path} could not be read: {reason}")]
    SourceFile { path: String, reason: String },
    #[error("{file}:{line}: {reason}")]
    Source { file: String, line: usize, reason: String },
    #[error("the full source could not be saved as {path}: {reason}")]
    SaveSource { path: PathBuf, reason: String },
    #[error("program file {} could not be {action}: {reason}", .path.display())]
    ProgramFile { path: PathBuf, action: &'static str, reason: String },
    #[error("{} is not a program that parloop saved", .path.display())]
    NoProgram { path: PathBuf },
    #[error("program file {} is damaged: its content does not match its checksum; save the program again", .path.display())]
    Damaged { path: PathBuf },
    #[error(
        "program file {} was saved by parloop {saved} in format {format}, but this is parloop {VERSION}, which reads format {reads}; \
         compile and save the program again",
        .path.display()
    )]
    OtherVersion { path: PathBuf, saved: String, format: u32, reads: u32 },
    #[error("program file {} is for {saved}, but {device} is {found}; compile the program for this device", .path.display())]
    OtherTarget { path: PathBuf, saved: String, device: String, found: String },
    #[error("the program has no kernel `{asked}`; it has {}", list_names(.found))]
    NoSuchKernel { asked: String, found: Vec<String> },
    #[error("the source has no function `{asked}`; it has {}", if .found.is_empty() { "none".to_owned() } else { .found.join(", ") })]
    NoSuchFunction { asked: String, found: Vec<String> },
    #[error("`{name}` cannot be called from the host: {reason}")]
    NotCallable { name: String, reason: String },
    #[error("`{name}` is a plain function: only a GPUKERN function can be launched on {device}")]
    NotAKernel { name: String, device: String },
    #[error("`{name}` is static, GPUFUN or part of an API, so it can be called from the host only if it is described; add a description")]
    NotDescribed { name: String },
    #[error("kernel `{kernel}` was described with {what}, but its source says `{source_says}` (line {line})")]
    Description { kernel: String, what: String, source_says: String, line: usize },
    #[error("kernel `{kernel}` takes {expected} arguments {signature}, but {given} were given")]
    WrongCount { kernel: String, expected: usize, given: usize, signature: String },
    #[error("kernel `{kernel}` has no argument `{name}`; its arguments are {signature}")]
    UnknownArgument { kernel: String, name: String, signature: String },
    #[error("kernel `{kernel}` was given argument `{name}` twice")]
    GivenTwice { kernel: String, name: String },
    #[error("kernel `{kernel}` needs argument `{name}` ({declared})")]
    MissingArgument { kernel: String, name: String, declared: String },
    #[error("argument `{name}` of kernel `{kernel}` is declared `{declared}`, but {given} was given{}", with_hint(.hint))]
    WrongType { kernel: String, name: String, declared: String, given: String, hint: &'static str },
    #[error("argument `{name}` of kernel `{kernel}` is declared `{declared}`, but {value} does not fit into {dtype}")]
    OutOfRange { kernel: String, name: String, declared: String, value: String, dtype: DType },
    #[error(
        "argument `{name}` of kernel `{kernel}` is declared `{declared}`, but the {given} is read-only; declare it const or pass a copy"
    )]
    ReadOnly { kernel: String, name: String, declared: String, given: &'static str },
    #[error("argument `{name}` of kernel `{kernel}`: the memory of this `{class}` object was freed; pass a live object")]
    Freed { kernel: String, name: String, class: String },
    #[error("argument `{name}` of kernel `{kernel}` is declared `{declared}`, but the array is not contiguous; pass a contiguous copy")]
    NotContiguous { kernel: String, name: String, declared: String },
    #[error(
        "argument `{name}` of kernel `{kernel}` is declared `{declared}`, but the array is not aligned to its element type; pass a copy"
    )]
    Unaligned { kernel: String, name: String, declared: String },
    #[error("argument `{name}` of kernel `{kernel}` is on device `{found}`, but the kernel runs on `{expected}`; copy it there first")]
    OtherDevice { kernel: String, name: String, expected: String, found: String },
    #[error("arguments `{first}` and `{second}` of kernel `{kernel}` overlap partially; pass a copy of one of them")]
    Overlap { kernel: String, first: String, second: String },
    #[error("an FFT along axis {axis} was requested, but {}", axes_there(*.ndim))]
    FftAxis { axis: i64, ndim: usize },
    #[error("an FFT along axis {axis} was requested twice; name each axis once")]
    FftAxisTwice { axis: usize },
    #[error("an FFT of {dtype} was requested, but only complex64 and complex128 can be transformed; convert the data first")]
    FftType { dtype: String },
    #[error("an FFT of {given} was requested, but only contiguous data, in C or Fortran order, can be transformed; pass a copy")]
    FftGaps { given: String },
    #[error("this FFT was planned for {planned}, but {given} was given; plan one for that, or convert the data")]
    FftData { planned: String, given: String },
    #[error("an FFT works in place, but the data is read-only; pass a copy")]
    FftReadOnly,
    #[error("{}", failed_check(.kernel, .what, *.index, *.limit))]
    Check { kernel: String, what: String, index: i64, limit: i64 },
    /// Two dependent accesses without an order, or in the wrong order.
    #[error("kernel `{kernel}`: {what}")]
    Conflict { kernel: String, what: String },
    #[error("the grid of kernel `{kernel}`: {reason}")]
    Grid { kernel: String, reason: String },
}

impl KernelError {
    /// With the name of the argument whose memory is that of another device.
    pub fn of_argument(self, kernel: &str, name: &str) -> KernelError {
        match self {
            KernelError::Device(DeviceError::OtherDevice { expected, found, .. }) => {
                KernelError::OtherDevice { kernel: kernel.to_owned(), name: name.to_owned(), expected, found }
            }
            other => other,
        }
    }
}

impl From<CompileError> for KernelError {
    fn from(error: CompileError) -> KernelError {
        KernelError::Compile { error, saved: None }
    }
}

fn list_names(found: &[String]) -> String {
    if found.is_empty() { "none: mark one with GPUKERN".into() } else { found.join(", ") }
}

/// A limit of -1 says that the reference itself is null, one of -2 that an integer is divided by zero.
fn failed_check(kernel: &str, what: &str, index: i64, limit: i64) -> String {
    match limit {
        -1 => format!("kernel `{kernel}`: the reference {what} is null"),
        -2 => format!("kernel `{kernel}`: integer division by zero in {what}"),
        _ => format!("kernel `{kernel}`: index {index} is outside 0..{limit} of {what}"),
    }
}

fn with_hint(hint: &str) -> String {
    if hint.is_empty() { String::new() } else { format!("; {hint}") }
}

fn axes_there(ndim: usize) -> String {
    match ndim {
        0 => "the data has no axes".into(),
        1 => "the data has one axis; use axis 0".into(),
        ndim => format!("the data has {ndim} axes; use axes 0 to {}", ndim - 1),
    }
}

fn note_on_source(saved: &Option<PathBuf>) -> String {
    match saved {
        Some(path) => format!("\nthe full source is in {}", path.display()),
        None => String::new(),
    }
}

/// Result of a kernel operation.
pub type Result<T, E = KernelError> = std::result::Result<T, E>;
