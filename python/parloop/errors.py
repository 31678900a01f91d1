"""All exceptions of Parloop, family by family.

Each is a `ParloopError`, one of the base class of its family where it has one, and an instance of the fitting builtin. `parloop` itself has
the base classes and those that programs catch most often.

>>> from parloop import DeviceError, errors
>>> issubclass(errors.DeviceNotFoundError, DeviceError) and issubclass(errors.DeviceNotFoundError, ValueError)
True
"""

from __future__ import annotations

from ._parloop import (
    AbandonedError as AbandonedError,
    ArgumentError as ArgumentError,
    ArgumentRangeError as ArgumentRangeError,
    ArgumentValueError as ArgumentValueError,
    ArityTypeError as ArityTypeError,
    BufferFreeError as BufferFreeError,
    CheckError as CheckError,
    CompileError as CompileError,
    CompilerMissingError as CompilerMissingError,
    DatTypeError as DatTypeError,
    DataSetTypeError as DataSetTypeError,
    DataTypeError as DataTypeError,
    DataValueError as DataValueError,
    DeviceError as DeviceError,
    DeviceNotFoundError as DeviceNotFoundError,
    DimTypeError as DimTypeError,
    DriverMissingError as DriverMissingError,
    ForkedError as ForkedError,
    FreedError as FreedError,
    IndexTypeError as IndexTypeError,
    IndexValueError as IndexValueError,
    KernelNotFoundError as KernelNotFoundError,
    KernelTypeError as KernelTypeError,
    LaunchError as LaunchError,
    LoopDefinitionError as LoopDefinitionError,
    LoopError as LoopError,
    LoopIndexError as LoopIndexError,
    LoopOrderError as LoopOrderError,
    LoopRaceError as LoopRaceError,
    LoopReductionError as LoopReductionError,
    LoopScheduleError as LoopScheduleError,
    LoopSyntaxError as LoopSyntaxError,
    LoopTypeError as LoopTypeError,
    MapTypeError as MapTypeError,
    MapValueError as MapValueError,
    MemoryRangeError as MemoryRangeError,
    MeshError as MeshError,
    MeshFileError as MeshFileError,
    ModeValueError as ModeValueError,
    NameTypeError as NameTypeError,
    ObjectError as ObjectError,
    ObjectIndexError as ObjectIndexError,
    ObjectRangeError as ObjectRangeError,
    ObjectTypeError as ObjectTypeError,
    ObjectValueError as ObjectValueError,
    OtherDeviceError as OtherDeviceError,
    OutOfMemoryError as OutOfMemoryError,
    ParloopError as ParloopError,
    ProgramFileError as ProgramFileError,
    RecordingError as RecordingError,
    SetTypeError as SetTypeError,
    SetValueError as SetValueError,
    SettingError as SettingError,
    SizeTypeError as SizeTypeError,
    SourceError as SourceError,
    SparsityTypeError as SparsityTypeError,
    SubsetIndexOutOfBounds as SubsetIndexOutOfBounds,
    UnknownFieldError as UnknownFieldError,
)


class NoDeviceVersionError(ParloopError, NotImplementedError):
    """The function exists for arrays of a CPU only."""


class CaptureError(ParloopError, ValueError):
    """A file is not a capture, or not one that can be read here."""


#: The names of each family.
FAMILIES: dict[str, tuple[str, ...]] = {
    "Every family": ("ParloopError", "SettingError"),
    "Devices and their memory": (
        "DeviceError",
        "DeviceNotFoundError",
        "DriverMissingError",
        "OutOfMemoryError",
        "MemoryRangeError",
        "OtherDeviceError",
        "LaunchError",
        "ForkedError",
        "RecordingError",
        "AbandonedError",
    ),
    "Sources and compiled programs": ("CompileError", "CompilerMissingError", "SourceError", "ProgramFileError"),
    "Calls of kernels": ("ArgumentError", "ArgumentValueError", "ArgumentRangeError", "CheckError", "KernelNotFoundError"),
    "Objects": (
        "ObjectError",
        "ObjectTypeError",
        "ObjectValueError",
        "ObjectRangeError",
        "ObjectIndexError",
        "UnknownFieldError",
        "FreedError",
        "BufferFreeError",
    ),
    "Loop kernels": (
        "LoopError",
        "LoopSyntaxError",
        "LoopTypeError",
        "LoopRaceError",
        "LoopOrderError",
        "LoopDefinitionError",
        "LoopScheduleError",
        "LoopReductionError",
        "LoopIndexError",
    ),
    "Meshes": (
        "MeshError",
        "SizeTypeError",
        "NameTypeError",
        "DimTypeError",
        "ArityTypeError",
        "IndexTypeError",
        "SetTypeError",
        "DataSetTypeError",
        "MapTypeError",
        "DatTypeError",
        "SparsityTypeError",
        "DataTypeError",
        "KernelTypeError",
        "SubsetIndexOutOfBounds",
        "SetValueError",
        "MapValueError",
        "DataValueError",
        "IndexValueError",
        "ModeValueError",
        "MeshFileError",
    ),
    "Arrays and captures": ("NoDeviceVersionError", "CaptureError"),
}

__all__ = [name for family in FAMILIES.values() for name in family]
