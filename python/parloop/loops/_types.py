"""Types of elements."""

from __future__ import annotations

import re
import zlib
from typing import Any

import numpy as np

__all__ = ["NumpyType", "to_type", "vector"]


class NumpyType:
    """A `numpy.dtype`, as functions written in Python are given it.

    >>> import numpy as np, parloop.loops as lp
    >>> lp.NumpyType(np.float32).numpy_dtype
    dtype('float32')
    """

    def __init__(self, dtype: Any, target: Any = None) -> None:
        self.dtype: np.dtype[Any] = np.dtype(getattr(dtype, "numpy_dtype", dtype))

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The dtype itself."""
        return self.dtype

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    def is_integral(self) -> bool:
        """Whether it is an integer."""
        return self.dtype.kind in "iu"

    def is_complex(self) -> bool:
        """Whether it is a complex number."""
        return self.dtype.kind == "c"

    def involves_complex(self) -> bool:
        """Whether it is a complex number."""
        return self.dtype.kind == "c"

    def with_target(self, target: Any) -> NumpyType:
        """The same: a type is the same on all targets."""
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NumpyType) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return f"np:{self.dtype!r}"


def to_type(dtype: Any, allow_auto: bool = False, allow_none: bool = False, **unused: Any) -> Any:
    """A `NumpyType` of anything that names a dtype."""
    from ._data import auto

    if dtype is None or dtype is auto or isinstance(dtype, NumpyType):
        return dtype
    if getattr(dtype, "dtype", None) is not None and not isinstance(dtype, (np.dtype, type)):
        dtype = dtype.dtype
    return NumpyType(dtype)


_LANES = (2, 3, 4, 8, 16)


def vector(dtype: Any, lanes: int) -> np.dtype[Any]:
    """The dtype of vectors: that of pyopencl's `cltypes.float4` for `vector(np.float32, 4)`.

    The components of an array are `a["x"]`, `a["y"]`, `a["z"]`, `a["w"]`, or `a["s0"]`, `a["s1"]`, … One of three numbers has the memory of
    four.

    Parameters
    ----------
    dtype
        The type of the numbers: integers or floats.
    lanes : int
        How many: 2, 3, 4, 8 or 16.

    >>> import numpy as np, parloop.loops as lp
    >>> float4 = lp.vector(np.float32, 4)
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i] + a[i].w", [lp.GlobalArg("a,out", float4), ...])
    >>> _, (out,) = knl(a=np.array([(1, 2, 3, 4)], float4))
    >>> out["x"], out["s3"]
    (array([6.], dtype=float32), array([12.], dtype=float32))
    """
    base = np.dtype(dtype)
    if lanes not in _LANES:
        raise ValueError(f"a vector has 2, 3, 4, 8 or 16 numbers, not {lanes!r}")
    if base.kind not in "iuf" or base.itemsize not in (1, 2, 4, 8) or base == np.float16:
        raise TypeError(f"a vector consists of integers or floats, not {base}")
    names = [f"s{lane}" for lane in range(lanes)] + ["padding0"] * (lanes == 3)
    titles = [*"xyzw"[: min(lanes, 4)], *[None] * (len(names) - min(lanes, 4))]
    return np.dtype({"names": names, "formats": [base] * len(names), "titles": titles})


def component_text(dtype: Any) -> str | None:
    """The text of a structured dtype as a type of elements: a vector, or a record; `None` for others."""
    if not isinstance(dtype, np.dtype):
        dtype = getattr(dtype, "numpy_dtype", dtype)
        try:
            dtype = np.dtype(dtype)
        except TypeError:
            return None
    if dtype.names is None:
        return None
    if not dtype.names:
        raise TypeError(f"dtype {dtype} has no fields; a record has one at least")
    fields = sorted(((name, *dtype.fields[name][:2]) for name in dtype.names), key=lambda field: field[2])
    base, names = fields[0][1], [name for name, _, _ in fields]
    # The memory of a vector of three is that of four.
    lanes = names[:3] if len(names) == 4 and names[3].startswith("padding") else names
    is_even = all(kind == base and offset == place * base.itemsize for place, (_, kind, offset) in enumerate(fields))
    is_named = lanes in ([f"s{lane}" for lane in range(len(lanes))], list("xyzw"[: len(lanes)]))
    if is_even and is_named and len(lanes) in _LANES and base.kind in "iuf" and base.isnative and base != np.float16:
        if dtype.itemsize == base.itemsize * len(fields) == base.itemsize * (4 if len(lanes) == 3 else len(lanes)):
            return f"{base.name}x{len(lanes)}"
    for name, kind, _ in fields:
        if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name) or name in ("and", "or", "not"):
            raise TypeError(f"field {name!r} of dtype {dtype} cannot be named in a kernel; use letters, digits and _, and not and, or, not")
        if kind.kind not in "biufc" or not kind.isnative or kind == np.float16 or kind.itemsize > (16 if kind.kind == "c" else 8):
            raise TypeError(f"field {name!r} of dtype {dtype} is {kind}; the fields of a record must be numbers in native byte order")
    parts = ", ".join(f"{name}: {kind.name} at {offset}" for name, kind, offset in fields)
    name = (dtype.metadata or {}).get("name") or f"r{zlib.crc32(f'{dtype.itemsize}, {parts}'.encode()):08x}"
    return f'record("{name}", {dtype.itemsize}, {parts})'


def component_dtype(text: str) -> np.dtype[Any]:
    """The structured dtype of a type of elements by its text."""
    if not text.startswith("record("):
        base, _, lanes = text.rpartition("x")
        return vector(base, int(lanes))
    found = re.match(r'record\("(\w+)", (\d+)', text)
    assert found is not None
    fields = re.findall(r"(\w+): (\w+) at (\d+)", text)
    described = {
        "names": [name for name, _, _ in fields],
        "formats": [np.dtype(kind) for _, kind, _ in fields],
        "offsets": [int(offset) for _, _, offset in fields],
        "itemsize": int(found[2]),
    }
    return np.dtype(described)  # type: ignore[call-overload, no-any-return]


def _unnamed(text: str) -> str:
    """The text of a type without the name of a record, which its memory does not depend on."""
    return re.sub(r'^record\("\w+"', "record(", text)


class _Memory:
    """The memory of an array, to be seen with another dtype of the same bytes."""

    def __init__(self, owner: Any, typestr: str, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
        self.owner = owner
        data = owner.__array_interface__["data"]
        self.__array_interface__ = {"version": 3, "data": data, "typestr": typestr, "shape": shape, "strides": strides}


def as_numbers(value: Any, argument: str, wanted: str) -> Any:
    """An array of a structured dtype as one of numbers with a further axis, in the same memory; other values as they are.

    The dtype must be that of the argument, whose type has the text `wanted`.
    """
    if isinstance(value, np.void):
        value = np.asarray(value)
    if not isinstance(value, np.ndarray) or value.dtype.names is None:
        return value
    if isinstance(value, np.ma.MaskedArray) and any(np.ma.getmaskarray(value)[name].any() for name in value.dtype.names):
        raise TypeError(f"argument {argument!r} has masked elements, but masks are not supported; pass `x.filled(…)`, `x.compressed()` or `x.data`")
    text = component_text(value.dtype)
    assert text is not None
    if _unnamed(text) != _unnamed(wanted):
        raise TypeError(f"argument {argument!r} has elements of type {wanted}, but the array has {text} (dtype {value.dtype})")
    base = np.dtype(np.uint8) if text.startswith("record(") else value.dtype.fields[value.dtype.names[0]][0]
    count = value.dtype.itemsize // base.itemsize
    return np.asarray(_Memory(value, base.str, (*value.shape, count), (*value.strides, base.itemsize)))


def as_elements(value: Any, dtype: np.dtype[Any]) -> Any:
    """The array of which `as_numbers` made one of numbers; of another array of numbers, a view with that dtype."""
    if isinstance(value.base, _Memory):
        return value.base.owner
    memory = _Memory(value, f"|V{dtype.itemsize}", value.shape[:-1], value.strides[:-1])
    return np.asarray(memory).view(dtype)
