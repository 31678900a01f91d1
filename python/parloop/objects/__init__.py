"""Typed objects that live in the memory of any device, and kernels that take them.

>>> import parloop as pl, parloop.objects as xo
>>> class Multipole(xo.Struct):
...     order = xo.Int64
...     knl = xo.Float64[:]
...     name = xo.String
>>> m = Multipole(order=2, knl=[0.1, 0.2, 0.3], name="mq1")
>>> m.knl[1], m.name, m._size
(0.2, 'mq1', 80)
>>> ctx = m._context
>>> ctx.add_kernels(
...     sources=['''
...         GPUKERN void scale(Multipole el, const double by) {
...             VECTORIZE_OVER(i, Multipole_len_knl(el))
...                 Multipole_set_knl(el, i, by * Multipole_get_knl(el, i));
...             END_VECTORIZE
...         }'''],
...     extra_classes=[Multipole])
>>> ctx.kernels.scale(el=m, by=10.0)
>>> m.knl.to_nparray()
array([1., 2., 3.])
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from .._description import Arg as Arg
from .._description import Kernel as Kernel
from .._parloop import Buffer as Buffer
from .._parloop import Chunk as Chunk
from .._parloop import Field as Field
from ._array import Array as Array
from ._hybrid import HybridClass as HybridClass
from ._hybrid import JEncoder as JEncoder
from ._hybrid import MetaHybridClass as MetaHybridClass
from ._kernels import KernelDict as KernelDict
from ._kernels import Method as Method
from ._kernels import Source as Source
from ._kernels import add_kernels as add_kernels
from ._kernels import build_kernels as build_kernels
from ._kernels import load_kernels as load_kernels
from ._linked import BypassLinked as BypassLinked
from ._linked import LinkedArray as LinkedArray
from ._methods import CFunction as CFunction
from ._methods import CKernel as CKernel
from ._methods import CMethod as CMethod
from ._methods import CProperty as CProperty
from ._ref import Ref as Ref
from ._ref import UnionRef as UnionRef
from ._scalar import (
    Bool as Bool,
    Complex64 as Complex64,
    Complex128 as Complex128,
    Float32 as Float32,
    Float64 as Float64,
    Int8 as Int8,
    Int16 as Int16,
    Int32 as Int32,
    Int64 as Int64,
    Scalar as Scalar,
    UInt8 as UInt8,
    UInt16 as UInt16,
    UInt32 as UInt32,
    UInt64 as UInt64,
)
from ._struct import Struct as Struct
from ._struct import ThisClass as ThisClass

if _TYPE_CHECKING:
    # In the body of a struct a class is an alias to type checkers; `name = String` is to be a field that they know nothing of.
    String: _Any
else:
    from ._string import String as String

__all__ = [name for name in dir() if not name.startswith("_")]
