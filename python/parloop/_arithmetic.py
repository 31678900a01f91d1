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

from . import _elementwise, _reduction
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
}
_COMPARISONS = {
    "less": operator.lt,
    "less_equal": operator.le,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}

#: The other operand: an array of the same device, an array of the host, or a single value of Python's or NumPy's.
Other: TypeAlias = "Array | np.ndarray[Any, Any] | bool | int | float | complex | np.generic[Any]"


def on_cpu(x: Array) -> bool:
    """Whether NumPy can work on the memory of this array."""
    return x.device.kind == "cpu"


def result(context: Context, values: Any) -> Any:
    """What NumPy made on the host, as an array of the context; a scalar stays one."""
    if not isinstance(values, np.ndarray):
        return values
    return context.array(values) if values.ndim else values[()]


def scalar_or_array(x: Array) -> Any:
    """The array, or its element where it has no axes."""
    return x if x.ndim else x.numpy()[()]


def check_device(operation: str, x: Array, other: Array) -> None:
    """Arrays of two devices have no result."""
    if x.device != other.device and not (on_cpu(x) and on_cpu(other)):
        raise OtherDeviceError(
            f"{operation}: this belongs to device `{other.device.name}`, but the work is on `{x.device.name}`; copy it there first"
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
        return context.array(operand if supported else operand.astype(dtype))
    with np.errstate(all="ignore"):
        value: Any = np.asarray(operand).astype(dtype)[()]
    return value  # type: ignore[no-any-return]


def aligned(x: Array) -> Array:
    """The array, or a copy where its elements lie at addresses at which a GPU cannot read them."""
    if _elementwise.is_aligned(x):
        return x
    return x.context.array(x.numpy())


# operators ------------------------------------------------------------------------------------------------------------------------


def binary(name: str, x: Array, other: Any, reflected: bool) -> Any:
    """`x op other`, or `other op x`; NotImplemented for what is no number and no array."""
    operand = other_operand(name, x, other)
    if operand is None:
        return NotImplemented
    first, second = (operand, x) if reflected else (x, operand)
    if on_cpu(x):
        return result(x.context, _by_numpy(name)(_host(first), _host(second)))
    shape = np.broadcast_shapes(_shape(first), _shape(second))
    constant = _constant_comparison(name, first, second)
    if constant is not None:
        out = x.context.empty(shape, np.bool_)
        _elementwise.run("positive", out, [constant], [constant.dtype])
        return scalar_or_array(out)
    dtype, computed = _types(name, first, second)
    out = x.context.empty(shape, dtype)
    _compute(name, out, first, second, computed)
    return scalar_or_array(out)


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
    dtype: np.dtype[Any] = _by_numpy(name)(*probes).dtype
    if name not in _COMPARISONS:
        return dtype, (dtype, dtype)
    if "qQ->?" in np.less.types:
        # A signed integer and a uint64, which no type holds both of, are compared exactly.
        kinds = [(probe.dtype.kind, probe.dtype.itemsize) for probe in probes if isinstance(probe, (np.ndarray, np.generic))]
        if len(kinds) == 2 and ("u", 8) in kinds and "i" in (kinds[0][0], kinds[1][0]):
            signed, unsigned = np.dtype("int64"), np.dtype("uint64")
            return dtype, (signed, unsigned) if kinds[0][0] == "i" else (unsigned, signed)
    common = np.result_type(*probes)
    return dtype, (common, common)


def _constant_comparison(name: str, first: Other, second: Other) -> np.generic[Any] | None:
    """The result for every element where an integer of Python's is out of the range of the array's type."""
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


def unary(name: str, x: Array) -> Any:
    """NumPy's function of that name."""
    ufunc = getattr(np, name)
    if on_cpu(x):
        return result(x.context, ufunc(x.numpy()))
    dtype = ufunc(_probe(x)).dtype
    out = x.context.empty(x.shape, dtype)
    _elementwise.run(name, out, [aligned(x)], [x.dtype])
    return scalar_or_array(out)


# reductions -----------------------------------------------------------------------------------------------------------------------

_REDUCTIONS = {"sum": "add", "prod": "multiply", "min": "minimum", "max": "maximum", "any": "maximum", "all": "minimum", "mean": "add"}


def reduce(name: str, x: Array, axis: Any, dtype: Any, keepdims: bool) -> Any:
    """NumPy's method of that name; a result without axes is a scalar of NumPy's."""
    options: dict[str, Any] = {"axis": axis, "keepdims": keepdims}
    if dtype is not None:
        options["dtype"] = dtype
    if on_cpu(x):
        return result(x.context, getattr(x.numpy(), name)(**options))
    if x.size == 0:
        return result(x.context, getattr(np.empty(x.shape, x.dtype), name)(**options))
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
    return scalar_or_array(out)


def _kept_strides(out: Array, gone: list[int], ndim: int) -> list[int]:
    own = iter(out.strides)
    return [0 if axis in gone else next(own) for axis in range(ndim)]


# products -------------------------------------------------------------------------------------------------------------------------


def dot(x: Array, other: Any) -> Any:
    """`numpy.dot`."""
    return _dot("dot", x, other, False)


def matmul(x: Array, other: Any, reflected: bool) -> Any:
    """`x @ other`, for arrays of one or two axes."""
    operand = other_operand("matmul", x, other)
    if operand is None:
        return NotImplemented
    if not on_cpu(x) and not {x.ndim, len(_shape(operand))} <= {1, 2}:
        raise ValueError(f"@ multiplies arrays of one or two axes on a GPU, not of {x.ndim} and {len(_shape(operand))}; use .dot()")
    return _dot("matmul", x, operand, reflected)


def _dot(name: str, x: Array, other: Any, reflected: bool) -> Any:
    operand = other_operand(name, x, other)
    if operand is None:
        raise TypeError(f"{name} takes arrays and numbers, not {type(other).__name__}")
    if on_cpu(x):
        pair = (_host(operand), x.numpy()) if reflected else (x.numpy(), _host(operand))
        return result(x.context, getattr(np, name)(*pair))
    if not _shape(operand) or not x.ndim:
        return binary("multiply", x, operand, reflected)
    array = operand if isinstance(operand, Array) else x.context.array(operand)
    first, second = (array, x) if reflected else (x, array)
    return _product(aligned(first), aligned(second))


def _product(first: Array, second: Array) -> Any:
    inner = max(second.ndim - 2, 0)
    if first.shape[-1] != second.shape[inner]:
        raise ValueError(
            f"shapes {first.shape} and {second.shape} do not fit: "
            f"{first.shape[-1]} (axis {first.ndim - 1}) is not {second.shape[inner]} (axis {inner})"
        )
    dtype = np.result_type(first.dtype, second.dtype)
    shape = first.shape[:-1] + second.shape[:inner] + second.shape[inner + 1 :]
    length = first.shape[-1]
    if length == 0:
        zeros = first.context.zeros(shape, dtype)
        return scalar_or_array(zeros)
    if first.ndim == second.ndim == 1:
        both = binary("multiply", first, second, False)
        return scalar_or_array(_reduction.reduce("add", both, [0], dtype))
    rows = first.reshape(-1, length)
    columns = second.transpose(inner, *(axis for axis in range(second.ndim) if axis != inner)).reshape(length, -1)
    return scalar_or_array(_reduction.product(rows, columns, dtype).reshape(shape))
