"""What `parloop.Array` does for `+`, `<`, `sum` and their like.

On a CPU NumPy does it, on the memory that both share. On a GPU small kernels do it and the results stay there; NumPy is asked for the
types of results and for the words of errors, with arrays without elements. Where NumPy warns (of a division by zero, of an overflow),
a GPU does not, and gives the same value. Values that NumPy leaves to the processor (a not-a-number or a number out of range that becomes
an integer) may be others on a GPU.
"""

from __future__ import annotations

import operator
from typing import Any, TypeAlias

import numpy as np

from . import _elementwise, _functions, _reduction
from ._operations import C_TYPES
from ._parloop import Array, Context, OtherDeviceError

_SYMBOLS = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "floor_divide": "//",
    "remainder": "%",
    "power": "**",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
    "left_shift": "<<",
    "right_shift": ">>",
}
_COMPARISONS = {
    "less": operator.lt,
    "less_equal": operator.le,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}

#: The other operand: an array of the same device, an array of the host, or a Python or NumPy scalar.
Other: TypeAlias = "Array | np.ndarray[Any, Any] | bool | int | float | complex | np.generic[Any]"


def on_cpu(x: Array) -> bool:
    """Whether NumPy can work on the memory of this array."""
    return x.device.kind == "cpu"


def result(context: Context, values: Any) -> Any:
    """What NumPy made on the host, as an array of the context; a scalar stays one."""
    if not isinstance(values, np.ndarray):
        return values
    return context.array(values, copy=None) if values.ndim else values[()]


def scalar_or_array(x: Array) -> Any:
    """The array, or its element where it has no axes."""
    return x if x.ndim else x.numpy()[()]


def check_device(operation: str, x: Array, other: Array, names: tuple[str, str] = ("operand 1", "operand 2")) -> None:
    """Arrays of two devices have no result. The names are those of the two in messages."""
    if x.device != other.device and not (on_cpu(x) and on_cpu(other)):
        there = x.device.name
        raise OtherDeviceError(
            f"{operation}: {names[1]} is on device `{other.device.name}`, but {names[0]} is on `{there}`; copy one of them first, with .to('{there}') for instance"
        )


def other_operand(operation: str, x: Array, other: Any) -> Other | None:
    """What `x` can be combined with; None for everything else."""
    if isinstance(other, Array):
        check_device(operation, x, other)
        return other
    if isinstance(other, (bool, int, float, complex, np.number, np.bool_)):
        return other
    if isinstance(other, (list, tuple)):
        other = np.asarray(other)
    if isinstance(other, np.ndarray) and other.dtype.kind in "biufc":
        return other if other.ndim else other[()]
    return None


def _host(operand: Other) -> Any:
    return operand.numpy() if isinstance(operand, Array) else operand


def _probe(operand: Other) -> Any:
    """What NumPy reads the type from: no elements of an array, a single value itself."""
    return np.empty(0, operand.dtype) if isinstance(operand, (Array, np.ndarray)) else operand


def _shape(operand: Other) -> tuple[int, ...]:
    return operand.shape if isinstance(operand, (Array, np.ndarray)) else ()


def _on_device(context: Context, operand: Other, dtype: np.dtype[Any]) -> _elementwise.Operand:
    """The operand as a kernel takes it; a single value has the type it is computed in."""
    if isinstance(operand, Array):
        return aligned(operand)
    if isinstance(operand, np.ndarray):
        supported = operand.dtype.isnative and operand.dtype.name in C_TYPES
        return context.array(operand if supported else operand.astype(dtype), copy=None)
    with np.errstate(all="ignore"):
        value: Any = np.asarray(operand).astype(dtype)[()]
    return value  # type: ignore[no-any-return]


def aligned(x: Array) -> Array:
    """The array, or a copy where its elements lie at addresses at which a GPU cannot read them."""
    if _elementwise.is_aligned(x):
        return x
    return x.context.array(x.numpy(), copy=None)


# operators ------------------------------------------------------------------------------------------------------------------------


def binary(name: str, x: Array, other: Any, reflected: bool) -> Any:
    """`x op other`, or `other op x`; NotImplemented for what is neither a number nor an array. A result without axes is a NumPy scalar."""
    out = combined(name, x, other, reflected)
    return out if out is NotImplemented else scalar_or_array(out)


def combined(name: str, x: Array, other: Any, reflected: bool) -> Any:
    """NumPy's function of `x` and `other`, or of `other` and `x`, as an array; NotImplemented for what is neither a number nor an array."""
    operand = other_operand(name, x, other)
    if operand is None:
        return NotImplemented
    first, second = (operand, x) if reflected else (x, operand)
    if on_cpu(x):
        values = _by_numpy(name)(*(_not_half(name, side, first, second) for side in (first, second)))
        return x.context.array(np.asarray(values), copy=None)
    shape = np.broadcast_shapes(_shape(first), _shape(second))
    constant = _constant_comparison(name, first, second)
    if constant is not None:
        out = x.context.empty(shape, np.bool_)
        _elementwise.run("positive", out, [constant], [constant.dtype])
        return out
    dtype, computed = _types(name, first, second)
    out = x.context.empty(shape, dtype)
    _compute(name, out, first, second, computed)
    return out


def _not_half(name: str, operand: Other, first: Other, second: Other) -> Any:
    """The operand on the host, in a type that does not make NumPy compute in half precision, which no array has."""
    host = _host(operand)
    if isinstance(host, np.ndarray) and host.dtype.itemsize == 1 and _by_numpy(name)(_probe(first), _probe(second)).dtype == np.float16:
        return host.astype(np.float32)
    return host


def in_place(name: str, x: Array, other: Any) -> None:
    """`x op= other`, where the result's type is of the same kind as that of `x`, or a lower one."""
    if not x._writeable:
        raise ValueError("the array is read-only")
    operand = other_operand(name, x, other)
    if operand is None:
        raise TypeError(f"unsupported operand type(s) for {_SYMBOLS[name]}=: 'Array' and '{type(other).__name__}'")
    ufunc = getattr(np, name)
    if on_cpu(x):
        host = x.numpy()
        ufunc(host, _host(operand), out=host)
        return
    ufunc(_probe(x), _probe(operand), out=np.empty(0, x.dtype))
    shape = np.broadcast_shapes(x.shape, _shape(operand))
    if shape != x.shape:
        raise ValueError(f"the result has shape {shape}, which does not fit into the array's shape {x.shape}")
    if isinstance(operand, Array) and may_overlap(x, operand) and not same_elements(x, operand):
        operand = operand.copy()
    _, computed = _types(name, x, operand)
    _compute(name, x, x, operand, computed)


def _compute(name: str, out: Array, first: Other, second: Other, computed: tuple[np.dtype[Any], np.dtype[Any]]) -> None:
    operands = [_on_device(out.context, operand, dtype) for operand, dtype in zip((first, second), computed)]
    if name == "power" and computed[1].kind == "i":
        exponent: Any = operands[1]
        if exponent.size and exponent.min() < 0:
            raise ValueError("Integers to negative integer powers are not allowed.")
    _elementwise.run(name, out, operands, computed)


def _by_numpy(name: str) -> Any:
    """NumPy's function for an operation. That for powers is its operator, which gives truth values to the power of 2 another type."""
    return operator.pow if name == "power" else getattr(np, name)


def _types(name: str, first: Other, second: Other) -> tuple[np.dtype[Any], tuple[np.dtype[Any], np.dtype[Any]]]:
    """The type of the result, and those to which the operands are converted first."""
    probes = _probe(first), _probe(second)
    dtype: np.dtype[Any] = single_of_half(_by_numpy(name)(*probes).dtype)
    if name not in _COMPARISONS and name not in _functions.OF_COMMON_TYPE:
        return dtype, (dtype, dtype)
    if "qQ->?" in np.less.types and name in _COMPARISONS:
        # A signed integer and a uint64, which no type holds both of, are compared exactly.
        kinds = [(probe.dtype.kind, probe.dtype.itemsize) for probe in probes if isinstance(probe, (np.ndarray, np.generic))]
        if len(kinds) == 2 and ("u", 8) in kinds and "i" in (kinds[0][0], kinds[1][0]):
            signed, unsigned = np.dtype("int64"), np.dtype("uint64")
            return dtype, (signed, unsigned) if kinds[0][0] == "i" else (unsigned, signed)
    common = np.result_type(*probes)
    return dtype, (common, common)


def _constant_comparison(name: str, first: Other, second: Other) -> np.generic[Any] | None:
    """The result for every element where a Python integer is out of the range of the array's type."""
    if name not in _COMPARISONS:
        return None
    for own, other in ((first, second), (second, first)):
        if isinstance(other, int) and isinstance(own, (Array, np.ndarray)) and own.dtype.kind in "iu":
            limits = np.iinfo(own.dtype)
            if not limits.min <= other <= limits.max:
                # Zero stands for every element: all of them are on the same side.
                return np.bool_(_COMPARISONS[name](*((0, other) if own is first else (other, 0))))
    return None


def may_overlap(x: Array, y: Array) -> bool:
    """Whether some element of one may be an element of the other."""
    if x.size == 0 or y.size == 0:
        return False
    if x.device.kind == "opencl":
        # Parts of a buffer are objects of their own there, whose places are not known.
        return True
    (x_low, x_high), (y_low, y_high) = _span(x), _span(y)
    return x_low < y_high and y_low < x_high


def _span(x: Array) -> tuple[int, int]:
    reaches = [(length - 1) * stride for length, stride in zip(x.shape, x.strides)]
    start = x.memory.handle + x.offset
    return start + sum(reach for reach in reaches if reach < 0), start + sum(reach for reach in reaches if reach > 0) + x.dtype.itemsize


def same_elements(x: Array, y: Array) -> bool:
    """Whether both have the same elements in the same places."""
    own = (x.memory.handle, x.offset, x.shape, x.strides, x.dtype)
    return own == (y.memory.handle, y.offset, y.shape, y.strides, y.dtype)


def single_of_half(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type, or single precision for half precision, which arrays do not have."""
    return np.dtype(np.float32) if dtype == np.float16 else dtype


def unary(name: str, x: Array) -> Any:
    """NumPy's function of that name; a result without axes is a NumPy scalar."""
    return scalar_or_array(mapped(name, x))


def mapped(name: str, x: Array) -> Array:
    """NumPy's function of that name, of each element."""
    ufunc = getattr(np, name)
    dtype: np.dtype[Any] = ufunc(_probe(x)).dtype
    if on_cpu(x):
        host = x.numpy()
        return x.context.array(np.asarray(ufunc(host.astype(np.float32) if dtype == np.float16 else host)), copy=None)
    dtype = single_of_half(dtype)
    out = x.context.empty(x.shape, dtype)
    # Functions of real numbers take integers as those.
    computed = dtype if dtype.kind == "f" and x.dtype.kind in "biu" else x.dtype
    _elementwise.run(name, out, [aligned(x)], [computed])
    return out


# reductions -----------------------------------------------------------------------------------------------------------------------

_REDUCTIONS = {"sum": "add", "prod": "multiply", "min": "minimum", "max": "maximum", "any": "maximum", "all": "minimum", "mean": "add"}


def reduce(name: str, x: Array, axis: Any, dtype: Any, keepdims: bool) -> Any:
    """NumPy's method of that name; a result without axes is a NumPy scalar."""
    return scalar_or_array(reduced(name, x, axis, dtype, keepdims))


def reduced(name: str, x: Array, axis: Any, dtype: Any, keepdims: bool) -> Array:
    """NumPy's method of that name."""
    options: dict[str, Any] = {"axis": axis, "keepdims": keepdims}
    if dtype is not None:
        options["dtype"] = dtype
    if on_cpu(x):
        return x.context.array(np.asarray(getattr(x.numpy(), name)(**options)), copy=None)
    if x.size == 0:
        return x.context.array(np.asarray(getattr(np.empty(x.shape, x.dtype), name)(**options)), copy=None)
    # NumPy's word on the type and the axes, from an array of one element.
    found = getattr(np.ones((1,) * x.ndim, x.dtype), name)(**options).dtype
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    gone = sorted(int(own) % x.ndim for own in axes) if x.ndim else []
    out = _reduction.reduce(_REDUCTIONS[name], aligned(x), gone, found)
    if name == "mean":
        count = np.prod([x.shape[own] for own in gone], dtype=np.int64)
        _elementwise.run("divide", out, [out, found.type(count)], [found, found])
    if keepdims:
        shape = [1 if own in gone else length for own, length in enumerate(x.shape)]
        out = out._view(shape, _kept_strides(out, gone, x.ndim), out.offset, found)
    return out


def _kept_strides(out: Array, gone: list[int], ndim: int) -> list[int]:
    own = iter(out.strides)
    return [0 if axis in gone else next(own) for axis in range(ndim)]


# products -------------------------------------------------------------------------------------------------------------------------


def dot(x: Array, other: Any) -> Any:
    """`numpy.dot`."""
    operand = other_operand("dot", x, other)
    if operand is None:
        raise TypeError(f"dot takes arrays and numbers, not {type(other).__name__}")
    if on_cpu(x):
        return result(x.context, np.dot(x.numpy(), _host(operand)))
    if not _shape(operand) or not x.ndim:
        return binary("multiply", x, operand, False)
    second = operand if isinstance(operand, Array) else x.context.array(operand, copy=None)
    return scalar_or_array(_dot(aligned(x), aligned(second)))


def matmul(x: Array, other: Any, reflected: bool) -> Any:
    """`x @ other`, or `other @ x`; NotImplemented for what is not an array. A result without axes is a NumPy scalar."""
    out = matrix_product(x, other, reflected)
    return out if out is NotImplemented else scalar_or_array(out)


def matrix_product(x: Array, other: Any, reflected: bool) -> Any:
    """`numpy.matmul`, as an array; NotImplemented for what is neither a number nor an array."""
    operand = other_operand("matmul", x, other)
    if operand is None:
        return NotImplemented
    if on_cpu(x):
        pair = (_host(operand), x.numpy()) if reflected else (x.numpy(), _host(operand))
        return x.context.array(np.asarray(np.matmul(*pair)), copy=None)
    if not _shape(operand) or not x.ndim:
        raise ValueError(f"matmul multiplies arrays of one or more axes, not of {x.ndim} and {len(_shape(operand))}")
    array = operand if isinstance(operand, Array) else x.context.array(operand, copy=None)
    first, second = (array, x) if reflected else (x, array)
    return _matrix_product(aligned(first), aligned(second))


def _check_lengths(first: Array, second: Array, inner: int) -> None:
    if first.shape[-1] != second.shape[inner]:
        raise ValueError(
            f"shapes {first.shape} and {second.shape} do not fit: "
            f"{first.shape[-1]} (axis {first.ndim - 1}) is not {second.shape[inner]} (axis {inner})"
        )


def _inner_product(first: Array, second: Array) -> Array:
    """Of two arrays of one axis."""
    dtype = np.result_type(first.dtype, second.dtype)
    if first.size == 0:
        return first.context.zeros((), dtype)
    return _reduction.reduce("add", combined("multiply", first, second, False), [0], dtype)


def _dot(first: Array, second: Array) -> Array:
    inner = max(second.ndim - 2, 0)
    _check_lengths(first, second, inner)
    if first.ndim == second.ndim == 1:
        return _inner_product(first, second)
    length = first.shape[-1]
    dtype = np.result_type(first.dtype, second.dtype)
    shape = first.shape[:-1] + second.shape[:inner] + second.shape[inner + 1 :]
    if length == 0 or 0 in shape:
        return first.context.zeros(shape, dtype)
    rows = first.reshape(-1, length)
    columns = second.transpose(inner, *(axis for axis in range(second.ndim) if axis != inner)).reshape(length, -1)
    return _reduction.product(rows, columns, dtype).reshape(shape)


def _matrix_product(first: Array, second: Array) -> Array:
    _check_lengths(first, second, max(second.ndim - 2, 0))
    if first.ndim == second.ndim == 1:
        return _inner_product(first, second)
    dtype = np.result_type(first.dtype, second.dtype)
    x = first if first.ndim > 1 else first.reshape(1, -1)
    y = second if second.ndim > 1 else second.reshape(-1, 1)
    batch = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    out = _reduction.product(broadcast(x, batch + x.shape[-2:]), broadcast(y, batch + y.shape[-2:]), dtype)
    shape = batch + (first.shape[-2:-1] if first.ndim > 1 else ()) + (second.shape[-1:] if second.ndim > 1 else ())
    return out.reshape(shape)


def broadcast(x: Array, shape: tuple[int, ...]) -> Array:
    """The elements in another shape, which they are repeated to fill, in place."""
    if np.broadcast_shapes(x.shape, shape) != shape:
        raise ValueError(f"an array of shape {x.shape} cannot be broadcast to shape {shape}")
    return x._view(list(shape), list(_elementwise.broadcast_strides(x, shape)), x.offset if x.size and 0 not in shape else 0, x.dtype)
