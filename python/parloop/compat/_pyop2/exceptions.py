"""PyOP2's errors: those of `parloop.mesh`, and some that only PyOP2 has."""

from ... import (
    ArityTypeError as ArityTypeError,
    CompileError as CompilationError,
    DataSetTypeError as DataSetTypeError,
    DataTypeError as DataTypeError,
    DataValueError as DataValueError,
    DatTypeError as DatTypeError,
    DimTypeError as DimTypeError,
    IndexTypeError as IndexTypeError,
    IndexValueError as IndexValueError,
    KernelTypeError as KernelTypeError,
    MapTypeError as MapTypeError,
    MapValueError as MapValueError,
    MeshError,
    ModeValueError as ModeValueError,
    NameTypeError as NameTypeError,
    SetTypeError as SetTypeError,
    SetValueError as SetValueError,
    SizeTypeError as SizeTypeError,
    SubsetIndexOutOfBounds as SubsetIndexOutOfBounds,
)

__all__ = ["CompilationError", "ConfigurationError"]


class ConfigurationError(MeshError, RuntimeError):
    """A configuration value of another type than its key takes."""
