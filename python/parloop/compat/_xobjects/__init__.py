"""The names of xobjects, over `parloop.objects`."""

from parloop.objects import (
    Array as Array,
    Field as Field,
    JEncoder as JEncoder,
    MetaHybridClass as MetaHybridClass,
    Method as Method,
    Ref as Ref,
    String as String,
    ThisClass as ThisClass,
    UnionRef as UnionRef,
)
from parloop.objects import BypassLinked as BypassLinked

from . import array as array
from . import capi as capi
from . import context as context
from . import context_cpu as context_cpu
from . import context_cupy as context_cupy
from . import context_pyopencl as context_pyopencl
from . import general as general
from . import hybrid_class as hybrid_class
from . import linkedarray as linkedarray
from . import ref as ref
from . import scalar as scalar
from . import string as string
from . import struct as struct
from . import typeutils as typeutils
from .context import (
    Arg as Arg,
    ContextCpu as ContextCpu,
    ContextCupy as ContextCupy,
    ContextPyopencl as ContextPyopencl,
    Kernel as Kernel,
    get_user_context as get_user_context,
)
from .general import _print as _print
from .general import allclose_with_outliers as allclose_with_outliers
from .general import assert_allclose as assert_allclose
from .hybrid_class import HybridClass as HybridClass
from .scalar import (
    Complex64 as Complex64,
    Complex128 as Complex128,
    Float32 as Float32,
    Float64 as Float64,
    Int8 as Int8,
    Int16 as Int16,
    Int32 as Int32,
    Int64 as Int64,
    UInt8 as UInt8,
    UInt16 as UInt16,
    UInt32 as UInt32,
    UInt64 as UInt64,
)
from .specialize_source import specialize_source as specialize_source
from .struct import Struct as Struct
from .typeutils import context_default as context_default
from .typeutils import get_a_buffer as get_a_buffer

__version__ = "0.6.4"
