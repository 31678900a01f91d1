"""PyOP2's errors: those of `parloop.mesh`, and some that only PyOP2 has."""

from ...errors import (
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
    SparsityTypeError as SparsityTypeError,
    SubsetIndexOutOfBounds as SubsetIndexOutOfBounds,
)

__all__ = ["CachingError", "CompilationError", "ConfigurationError", "HashError"]


class ConfigurationError(MeshError, RuntimeError):
    """A configuration value of another type than its key takes."""


class CachingError(MeshError, ValueError):
    """A value that cannot be kept in a cache."""


class HashError(CachingError):
    """Arguments that cannot be the key of a cache."""
