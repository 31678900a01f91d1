//! The one mapping from Rust's errors to Python's.

use parloop_device::{CompileError, DeviceError};
use parloop_kernel::KernelError;
use parloop_loop::check::CheckError;
use parloop_loop::create::CreateError;
use parloop_loop::error::LoopError;
use parloop_loop::file::FileError;
use parloop_loop::parse::ParseError;
use parloop_loop::program::NoEntry;
use parloop_loop::run::RunError;
use parloop_loop::stats::StatsError;
use parloop_loop::transform::{ApplyError, InlineError, RealizeReductionError, RegisterError};
use parloop_mesh::vtk::VtkError;
use parloop_mesh::{MeshError, MpiError};
use parloop_object::{BufferError, ObjectError, TypeError};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::exceptions::Exception;

/// Rust's error on its way to Python.
pub struct Error(PyErr);

/// Result of a method that Python calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<Error> for PyErr {
    fn from(error: Error) -> PyErr {
        error.0
    }
}

impl From<PyErr> for Error {
    fn from(error: PyErr) -> Error {
        Error(error)
    }
}

impl From<DeviceError> for Error {
    fn from(error: DeviceError) -> Error {
        Error(device_error(&error))
    }
}

impl From<KernelError> for Error {
    fn from(error: KernelError) -> Error {
        Error(match &error {
            KernelError::Device(error) => device_error(error),
            error => kernel_class(error).error(error.to_string()),
        })
    }
}

impl From<ObjectError> for Error {
    fn from(error: ObjectError) -> Error {
        let class = match &error {
            ObjectError::Buffer(inner) => return inner.clone().into(),
            ObjectError::Type(inner) => return inner.clone().into(),
            ObjectError::WrongType { .. } | ObjectError::NotAMember { .. } => Exception::ObjectTypeError,
            ObjectError::OutOfRange { .. } => Exception::ObjectRangeError,
            ObjectError::Index { .. } => Exception::ObjectIndexError,
            ObjectError::NoSuchField { .. } => Exception::UnknownFieldError,
            ObjectError::Freed { .. } => Exception::FreedError,
            _ => Exception::ObjectValueError,
        };
        Error(class.error(error.to_string()))
    }
}

impl From<BufferError> for Error {
    fn from(error: BufferError) -> Error {
        let class = match error {
            BufferError::Device(error) => return error.into(),
            BufferError::DoubleFree { .. } | BufferError::ForeignFree { .. } | BufferError::FreeOutside { .. } => {
                Exception::BufferFreeError
            }
            BufferError::OutOfBounds { .. } => Exception::MemoryRangeError,
            BufferError::TooLarge => Exception::OutOfMemoryError,
            BufferError::LeftLocked => Exception::ForkedError,
            _ => Exception::ObjectValueError,
        };
        Error(class.error(error.to_string()))
    }
}

impl From<TypeError> for Error {
    fn from(error: TypeError) -> Error {
        Error(Exception::ObjectValueError.error(error.to_string()))
    }
}

impl From<LoopError> for Error {
    fn from(error: LoopError) -> Error {
        match error {
            LoopError::Kernel(error) => error.into(),
            error => Error(loop_class(&error).error(error.to_string())),
        }
    }
}

impl From<NoEntry> for Error {
    fn from(error: NoEntry) -> Error {
        LoopError::from(error).into()
    }
}

impl From<StatsError> for Error {
    fn from(error: StatsError) -> Error {
        LoopError::from(error).into()
    }
}

impl From<MeshError> for Error {
    fn from(error: MeshError) -> Error {
        let class = match error {
            MeshError::Kernel(error) => return error.into(),
            MeshError::Loop(error) => return (*error).into(),
            MeshError::SetSizes { .. } | MeshError::SetTooLarge { .. } => Exception::SetValueError,
            MeshError::SubsetsOfDifferentSets { .. } => Exception::SetValueError,
            MeshError::Dim { .. } | MeshError::DimTooLarge { .. } | MeshError::SparsityOfNothing { .. } => Exception::DimTypeError,
            MeshError::DataOnSubset { .. } | MeshError::MapOnSubset { .. } => Exception::SetTypeError,
            MeshError::SubsetIndex { .. } => Exception::SubsetIndexOutOfBounds,
            MeshError::Arity { .. } => Exception::ArityTypeError,
            MeshError::MapRange { .. } | MeshError::LayerRange { .. } | MeshError::MapOffsets { .. } | MeshError::LateMap { .. } => {
                Exception::MapValueError
            }
            MeshError::Layers { .. } => Exception::SizeTypeError,
            MeshError::Region { .. } | MeshError::SparsityOnCells { .. } | MeshError::MapToExtruded { .. } | MeshError::NoLayers { .. } => {
                Exception::SetTypeError
            }
            MeshError::MapLength { .. } | MeshError::Length { .. } | MeshError::Shapes { .. } => Exception::DataValueError,
            MeshError::Product { .. } | MeshError::Solve { .. } => Exception::DataValueError,
            MeshError::TooLarge { .. } => Exception::OutOfMemoryError,
            MeshError::ElementType { .. } => Exception::DataTypeError,
            MeshError::Mode { .. } | MeshError::Conflict { .. } | MeshError::SharedMemory { .. } => Exception::ModeValueError,
            MeshError::WrongSet { .. } | MeshError::MapOfGlobal { .. } | MeshError::DirectOnFacets { .. } => Exception::MapValueError,
            MeshError::SparsityMaps { .. } | MeshError::SparsityFrom { .. } | MeshError::SparsityRows { .. } => Exception::MapValueError,
            MeshError::Component { .. } => Exception::IndexValueError,
            MeshError::Parts { .. } => Exception::DatTypeError,
            MeshError::Returns { .. } | MeshError::NoLoopKernel { .. } => Exception::KernelTypeError,
            MeshError::Count { .. } | MeshError::Parameter { .. } => Exception::KernelTypeError,
            MeshError::Truncates { .. } | MeshError::NoNumber { .. } => Exception::DataTypeError,
            MeshError::NumberRange { .. } => Exception::DataValueError,
            MeshError::Distribute { .. } | MeshError::MadeBefore { .. } => Exception::SetValueError,
            MeshError::Distributed { .. } => Exception::ModeValueError,
            MeshError::Mpi(MpiError::Forked) => Exception::ForkedError,
            MeshError::Unwritten { .. } => Exception::CheckError,
            _ => Exception::MeshError,
        };
        Error(class.error(error.to_string()))
    }
}

impl From<VtkError> for Error {
    fn from(error: VtkError) -> Error {
        let class = match error {
            VtkError::Io { .. } => Exception::MeshFileError,
            _ => Exception::DataValueError,
        };
        Error(class.error(error.to_string()))
    }
}

fn loop_class(error: &LoopError) -> Exception {
    match error {
        LoopError::Infer(_) | LoopError::Callable(_) => Exception::LoopTypeError,
        LoopError::Check(CheckError::OutOfBounds { .. } | CheckError::NegativeIndex { .. } | CheckError::WrongRank { .. })
        | LoopError::Run(RunError::OutOfBounds { .. }) => Exception::LoopIndexError,
        LoopError::Check(CheckError::Race { .. } | CheckError::Overwritten { .. }) => Exception::LoopRaceError,
        LoopError::Check(CheckError::VariableAccessNotOrdered { .. } | CheckError::Reordered { .. }) => Exception::LoopOrderError,
        LoopError::Check(CheckError::MissingDefinition { .. }) => Exception::LoopDefinitionError,
        LoopError::Schedule(_) | LoopError::Check(CheckError::DependencyCycle { .. }) => Exception::LoopScheduleError,
        LoopError::Reduce(_) => Exception::LoopReductionError,
        _ => Exception::LoopError,
    }
}

impl From<RegisterError> for Error {
    fn from(error: RegisterError) -> Error {
        let class = if matches!(error, RegisterError::Callable(_)) { Exception::LoopTypeError } else { Exception::LoopError };
        Error(class.error(error.to_string()))
    }
}

impl From<InlineError> for Error {
    fn from(error: InlineError) -> Error {
        let class = if matches!(error, InlineError::ShortPart { .. }) { Exception::LoopIndexError } else { Exception::LoopError };
        Error(class.error(error.to_string()))
    }
}

impl From<CreateError> for Error {
    fn from(error: CreateError) -> Error {
        LoopError::from(error).into()
    }
}

fn apply_class(error: &ApplyError) -> Exception {
    match error {
        ApplyError::Failed { error, .. } if error.is::<RealizeReductionError>() => Exception::LoopReductionError,
        ApplyError::Failed { error, .. } => error.downcast_ref::<LoopError>().map_or(Exception::LoopError, loop_class),
        ApplyError::Arguments(_) => Exception::LoopTypeError,
        ApplyError::Text { .. } => Exception::LoopSyntaxError,
        _ => Exception::LoopError,
    }
}

impl From<FileError> for Error {
    fn from(error: FileError) -> Error {
        let text = error.to_string();
        let class = match error {
            FileError::Parse(_) => Exception::LoopSyntaxError,
            FileError::Create { error, .. } => loop_class(&LoopError::from(*error)),
            FileError::Step { error, .. } => apply_class(&error),
            _ => Exception::LoopError,
        };
        Error(class.error(text))
    }
}

impl From<ApplyError> for Error {
    fn from(error: ApplyError) -> Error {
        Error(apply_class(&error).error(error.to_string()))
    }
}

impl From<ParseError> for Error {
    fn from(error: ParseError) -> Error {
        Error(Exception::LoopSyntaxError.error(error.to_string()))
    }
}

fn device_error(error: &DeviceError) -> PyErr {
    match error {
        DeviceError::Interrupted { .. } => interrupted(error.to_string()),
        error => with_code(device_class(error).error(error.to_string()), error),
    }
}

/// What a Ctrl-C is in Python. Its own handler has the signal still before it, and would raise a second one later.
fn interrupted(message: String) -> PyErr {
    let ours = PyKeyboardInterrupt::new_err(message);
    Python::attach(|py| match py.check_signals() {
        Err(raised) if !raised.is_instance_of::<PyKeyboardInterrupt>(py) => raised,
        _ => ours,
    })
}

/// A driver's failure has the driver's number as `code`.
fn with_code(made: PyErr, error: &DeviceError) -> PyErr {
    if let DeviceError::Driver { code, .. } = error {
        // Without the attribute the message still holds the number.
        let _ = Python::attach(|py| made.value(py).setattr("code", code));
    }
    made
}

impl<'a, 'py> From<pyo3::CastError<'a, 'py>> for Error {
    fn from(error: pyo3::CastError<'a, 'py>) -> Error {
        Error(error.into())
    }
}

impl<'py> From<pyo3::CastIntoError<'py>> for Error {
    fn from(error: pyo3::CastIntoError<'py>) -> Error {
        Error(error.into())
    }
}

fn device_class(error: &DeviceError) -> Exception {
    match error {
        DeviceError::UnknownName { .. } | DeviceError::NotFound { .. } => Exception::DeviceNotFoundError,
        DeviceError::Variable { .. } => Exception::SettingError,
        DeviceError::DriverMissing { .. } | DeviceError::LibraryMissing { .. } => Exception::DriverMissingError,
        DeviceError::OutOfMemory { .. } => Exception::OutOfMemoryError,
        DeviceError::OutOfBounds { .. } | DeviceError::Misaligned { .. } => Exception::MemoryRangeError,
        DeviceError::OtherDevice { .. } => Exception::OtherDeviceError,
        DeviceError::InvalidLaunch { .. } => Exception::LaunchError,
        DeviceError::Forked { .. } | DeviceError::LeftLocked { .. } => Exception::ForkedError,
        DeviceError::Abandoned { .. } => Exception::AbandonedError,
        DeviceError::NotRecordable { .. } | DeviceError::RecordingAbandoned { .. } => Exception::RecordingError,
        DeviceError::AlreadyRecording { .. } | DeviceError::NotRecording { .. } => Exception::RecordingError,
        DeviceError::Compile(error) => compile_class(error),
        _ => Exception::DeviceError,
    }
}

fn compile_class(error: &CompileError) -> Exception {
    match error {
        CompileError::NoCompiler { .. } => Exception::CompilerMissingError,
        _ => Exception::CompileError,
    }
}

fn kernel_class(error: &KernelError) -> Exception {
    match error {
        KernelError::Device(error) => device_class(error),
        KernelError::Compile { error, .. } => compile_class(error),
        KernelError::SourceFile { .. } | KernelError::Source { .. } | KernelError::SaveSource { .. } => Exception::SourceError,
        KernelError::Description { .. } => Exception::SourceError,
        KernelError::NoSuchKernel { .. }
        | KernelError::NoSuchFunction { .. }
        | KernelError::NotAKernel { .. }
        | KernelError::NotDescribed { .. }
        | KernelError::NotCallable { .. } => Exception::KernelNotFoundError,
        KernelError::OutOfRange { .. } => Exception::ArgumentRangeError,
        KernelError::OtherDevice { .. } => Exception::OtherDeviceError,
        KernelError::FftAxis { .. } | KernelError::FftAxisTwice { .. } | KernelError::FftData { .. } => Exception::ArgumentValueError,
        KernelError::FftGaps { .. } | KernelError::FftReadOnly => Exception::ArgumentValueError,
        KernelError::ReadOnly { .. } | KernelError::NotContiguous { .. } | KernelError::Unaligned { .. } | KernelError::Overlap { .. } => {
            Exception::ArgumentValueError
        }
        KernelError::Grid { .. } => Exception::LaunchError,
        KernelError::Check { .. } | KernelError::Conflict { .. } => Exception::CheckError,
        KernelError::ProgramFile { .. } | KernelError::NoProgram { .. } | KernelError::Damaged { .. } => Exception::ProgramFileError,
        KernelError::OtherVersion { .. } | KernelError::OtherTarget { .. } => Exception::ProgramFileError,
        _ => Exception::ArgumentError,
    }
}
