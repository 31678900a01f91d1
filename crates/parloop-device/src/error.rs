//! Errors of devices and compilers, as data.

use crate::kind::{DeviceKind, Language};

/// A device, its driver or the user's request to it failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum DeviceError {
    #[error(
        "unknown device `{asked}`: valid names are `cpu`, `cpu:N` (N threads), `opencl`, `opencl:P.D` (platform, device), \
         `cuda:I` and `hip:I`; `parloop devices` lists the devices found"
    )]
    UnknownName { asked: String },
    #[error("device `{asked}` not found: {}; run `parloop doctor` to see what is missing", list_found(.found))]
    NotFound { asked: String, found: Vec<String> },
    #[error("the environment variable {name} is `{value}`, but it must be {expected}")]
    Variable { name: &'static str, value: String, expected: String },
    #[error("{kind} driver not found: none of {} could be opened; {hint}", .tried.join(", "))]
    DriverMissing { kind: DeviceKind, tried: Vec<String>, hint: String },
    #[error("{name} not found: none of {} could be used; {hint}", .tried.join(", "))]
    LibraryMissing { name: &'static str, tried: Vec<String>, hint: String },
    #[error("{device}: could not allocate {asked} bytes of memory{}; free memory or split the work", free_memory(.free))]
    OutOfMemory { device: String, asked: u64, free: Option<u64> },
    #[error(
        "{device}: memory of {len} bytes cannot grow to {asked}, because its address is held by {holds} view{}; \
         drop the views first, or create it with its full length", if *.holds == 1 { "" } else { "s" }
    )]
    AddressHeld { device: String, len: usize, asked: usize, holds: usize },
    #[error("{operation}: bytes {offset}..{offset}+{len} were requested, but the memory has {size} bytes")]
    OutOfBounds { operation: &'static str, offset: usize, len: usize, size: usize },
    #[error("{device}: data for a transform must start at a multiple of {alignment} bytes, not at {offset}; transform a copy instead")]
    Misaligned { device: String, offset: usize, alignment: usize },
    #[error("{operation}: this belongs to device `{found}`, but the work is on `{expected}`; copy it there first")]
    OtherDevice { operation: &'static str, expected: String, found: String },
    #[error("address {address:#x} is not memory of a {kind} device; pass an array that is on one")]
    UnknownPointer { kind: DeviceKind, address: u64 },
    #[error(
        "the {kind} driver was used before this process was forked, and does not work in a forked child; start processes with spawn \
         (in Python: `multiprocessing.get_context(\"spawn\")`), or use {kind} devices in the children only"
    )]
    Forked { kind: DeviceKind },
    #[error("another thread was using {what} when this process was forked; create it again in the child, or start processes with spawn")]
    LeftLocked { what: &'static str },
    #[error("{device} cannot {what}")]
    Unsupported { device: String, what: String },
    #[error("{device}: the module has no function `{name}`")]
    UnknownFunction { device: String, name: String },
    #[error("{device}: {reason}")]
    InvalidLaunch { device: String, reason: String },
    #[error("{device}: the event has not been recorded; record it on a stream first")]
    EventNotRecorded { device: String },
    #[error("{device}: {what} cannot be recorded; {hint}")]
    NotRecordable { device: String, what: String, hint: &'static str },
    #[error("{device}: this thread is already recording this stream; finish that recording first")]
    AlreadyRecording { device: String },
    #[error("{device}: cannot record a launch: this thread is not recording this stream; begin a recording first")]
    NotRecording { device: String },
    #[error("{device}: the recording was abandoned, because {what} cannot be recorded; leave that out and record again")]
    RecordingAbandoned { device: String, what: String },
    #[error("{device}: the compiled module could not be loaded: {reason}")]
    Load { device: String, reason: String },
    #[error("{device}: {call} failed with {code} ({message})")]
    Driver { device: String, call: &'static str, code: i64, message: String },
    #[error("{what} was abandoned by Ctrl-C; {effect}")]
    Interrupted { what: String, effect: &'static str },
    #[error("{device}: a wait for it was abandoned by Ctrl-C, and it cannot be used in this process any more; start another process")]
    Abandoned { device: String },
    #[error(transparent)]
    Compile(#[from] CompileError),
}

fn list_found(found: &[String]) -> String {
    match found {
        [] => "there is no device of that kind".into(),
        names => format!("there {} {}", if names.len() == 1 { "is only" } else { "are" }, names.join(", ")),
    }
}

fn free_memory(free: &Option<u64>) -> String {
    free.map_or_else(String::new, |free| format!(", {free} are free"))
}

/// A compiler is missing, died, or rejected the source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum CompileError {
    #[error("no compiler for {target} kernels was found: tried {}; {hint}", .tried.join(", "))]
    NoCompiler { target: DeviceKind, tried: Vec<String>, hint: String },
    #[error("{target} does not support kernels in {language}; write the kernel in C, or run it on cpu, cuda or hip")]
    Language { target: DeviceKind, language: Language },
    #[error("the compiler {compiler} could not be started: {reason}")]
    NotStarted { compiler: String, reason: String },
    #[error(
        "the compiler {compiler} was killed by signal {signal} before it finished; compile again, with more free memory if it was signal 9"
    )]
    Killed { compiler: String, signal: i32 },
    #[error("the compiler {compiler} rejected the source:\n{log}")]
    Refused { compiler: String, log: String },
    #[error("the compiler {compiler} failed: {reason}")]
    Failed { compiler: String, reason: String },
}

/// Result of a device operation.
pub type Result<T, E = DeviceError> = std::result::Result<T, E>;
