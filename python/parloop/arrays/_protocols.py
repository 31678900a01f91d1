"""NumPy's protocols, by which its functions take our arrays, and the methods that our arrays share with NumPy's.

On a CPU NumPy's own function works on the memory that both share. On other devices the function of the namespace of that name does it;
where there is none, that is an error: nothing is copied to the host without being asked.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .. import _functions
from .._arithmetic import mapped, on_cpu, scalar_or_array
from .._parloop import Array, Context
from ._creation import _set
from ._device import DeviceLike, context_of, from_host, no_device_version
from ._elementwise import combine
from ._products import matmul

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")


def namespace(api_version: str | None = None) -> Any:
    """`parloop.arrays`, for a version of the standard."""
    if api_version is not None and api_version not in VERSIONS:
        raise ValueError(f"version {api_version!r} of the array API standard is not supported; use one of {', '.join(VERSIONS)}")
    return importlib.import_module("parloop.arrays")


def to_device(x: Array, device: DeviceLike, stream: object) -> Array:
    """The array on another device."""
    if stream is not None:
        raise ValueError("a copy to another device uses the stream of its context; create a context from the stream and pass it as the device")
    return x.to(context_of(device))


def _arrays_in(values: Any) -> list[Array]:
    if isinstance(values, Array):
        return [values]
    if isinstance(values, (list, tuple)):
        return [array for value in values for array in _arrays_in(value)]
    if isinstance(values, dict):
        return _arrays_in(list(values.values()))
    return []


def _on_host(values: Any) -> Any:
    if isinstance(values, Array):
        return values.numpy()
    if type(values) in (list, tuple):
        return type(values)(_on_host(value) for value in values)
    return {key: _on_host(value) for key, value in values.items()} if isinstance(values, dict) else values


def _wrapped(context: Context, values: Any) -> Any:
    if isinstance(values, np.ndarray) and values.dtype.kind in "biufc" and values.ndim:
        return from_host(context, values)
    if type(values) in (list, tuple):
        return type(values)(_wrapped(context, value) for value in values)
    return values[()] if isinstance(values, np.ndarray) and not values.ndim else values


# universal functions --------------------------------------------------------------------------------------------------------------

_REDUCTIONS = {"add": "sum", "multiply": "prod", "minimum": "min", "maximum": "max", "logical_and": "all", "logical_or": "any"}
_ACCUMULATIONS = {"add": "cumulative_sum", "multiply": "cumulative_prod"}


def ufunc(function: Any, method: str, inputs: tuple[Any, ...], options: Mapping[str, Any] | None) -> Any:
    """A NumPy universal function, or a method of one, with at least one Parloop array among its arguments."""
    named = dict(options or {})
    out = named.pop("out", None)
    arrays = _arrays_in([*inputs, *(out or ())])
    if not all(isinstance(x, (Array, np.ndarray, np.generic, bool, int, float, complex, list, tuple)) for x in inputs):
        return NotImplemented
    if all(on_cpu(x) for x in arrays):
        if out is not None:
            named["out"] = _on_host(out)
        values = getattr(function, method)(*_on_host(inputs), **_on_host(named))
        if out is not None:
            return out[0] if len(out) == 1 else out
        return _wrapped(arrays[0].context, values)
    result = _ufunc_on_device(function, method, inputs, {name: own for name, own in named.items() if own is not None})
    if out is None:
        return scalar_or_array(result)
    if not isinstance(out[0], Array):
        raise TypeError(f"numpy.{function.__name__}: the result is on device `{result.device.name}`, and `out` is an array of the host; copy it there with .numpy()")
    out[0][...] = result
    return out[0]


def _ufunc_on_device(function: Any, method: str, inputs: tuple[Any, ...], named: dict[str, Any]) -> Array:
    name = function.__name__
    dtype = named.pop("dtype", None)
    if named.get("where") is True:
        del named["where"]
    device = next(x.device for x in _arrays_in(list(inputs)) if not on_cpu(x)) if _arrays_in(list(inputs)) else context_of(None).device
    inputs = tuple(np.asarray(x) if isinstance(x, (list, tuple)) else x for x in inputs)
    found: Array | None = None
    if method == "__call__" and not named:
        if name == "matmul":
            found = matmul(*inputs)
        elif len(inputs) == 2 and name in _functions.BINARY:
            found = combine(name, *inputs)
        elif len(inputs) == 1 and _functions.has_unary(name):
            found = mapped(name, inputs[0])
    elif method == "reduce" and name in _REDUCTIONS and set(named) <= {"axis", "keepdims"}:
        # Of several axes NumPy reduces the first where none is named.
        return getattr(namespace(), _REDUCTIONS[name])(inputs[0], **{"axis": 0, **named}, **({} if dtype is None else {"dtype": dtype}))  # type: ignore[no-any-return]
    elif method == "accumulate" and name in _ACCUMULATIONS and set(named) <= {"axis"}:
        return getattr(namespace(), _ACCUMULATIONS[name])(inputs[0], **{"axis": 0, **named}, dtype=dtype)  # type: ignore[no-any-return]
    if found is None:
        no_device_version(f"numpy.{name}" + ("" if method == "__call__" else f".{method}") + (f" with {', '.join(named)}" if named else ""), device)
    return found if dtype is None else found.astype(dtype)


# other functions ------------------------------------------------------------------------------------------------------------------

#: Keywords of NumPy's functions that have other names in the standard.
_KEYWORDS = {"ddof": "correction", "a_min": "min", "a_max": "max"}
#: Keywords whose values change nothing here.
_IGNORED = {"kind", "order", "subok", "like", "casting"}


def function(function: Callable[..., Any], types: Any, arguments: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
    """A NumPy function with Parloop arrays among its arguments."""
    arrays = _arrays_in([arguments, dict(options)])
    if not arrays or all(on_cpu(x) for x in arrays):
        context = arrays[0].context if arrays else context_of(None)
        out = options.get("out")
        values = function(*_on_host(arguments), **_on_host(dict(options)))
        return out if isinstance(out, Array) else _wrapped(context, values)
    name = function.__name__
    module = (function.__module__ or "numpy").partition(".")[2]
    space = namespace() if not module or module.startswith("_") or module == "lib" else getattr(namespace(), module.split(".")[0], None)
    own = getattr(space, name, None)
    device = next(x.device for x in arrays if not on_cpu(x))
    if own is None or not callable(own):
        no_device_version(f"{function.__module__}.{name}", device)
    values = _called(function, own, arguments, options)
    return scalar_or_array(values) if isinstance(values, Array) else values


@functools.lru_cache(maxsize=512)
def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def _called(function: Callable[..., Any], own: Callable[..., Any], arguments: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
    """Our function with the arguments that were given to NumPy's."""
    theirs, ours = _signature(function), _signature(own)
    options = {name: value for name, value in options.items() if name not in _IGNORED}
    if theirs is None or ours is None or any(p.kind is p.VAR_POSITIONAL for p in theirs.parameters.values()):
        return own(*arguments, **options)
    bound = theirs.bind(*arguments, **options)
    places = [p.name for p in ours.parameters.values() if p.kind is p.POSITIONAL_ONLY]
    names = {p.name for p in ours.parameters.values() if p.kind is not p.POSITIONAL_ONLY}
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        target = _KEYWORDS.get(name, name)
        default = theirs.parameters[name].default
        if len(positional) < len(places) and target not in names:
            positional.append(value)
        elif target in names:
            if value is not default:
                named[target] = value
        elif value is not default and not name == "out" and name not in _IGNORED:
            raise TypeError(f"numpy.{function.__name__} has no version with `{name}` for arrays of this device")
    out = bound.arguments.get("out")
    values = own(*positional, **named)
    if isinstance(out, Array):
        _set(out, values)
        return out
    return values


# methods --------------------------------------------------------------------------------------------------------------------------


def _take(xp: Any, x: Array, indices: Any, axis: int | None) -> Any:
    return xp.take(x.reshape(-1) if axis is None else x, indices, axis=0 if axis is None else axis)


_METHODS: dict[str, Callable[..., Any]] = {
    "argmax": lambda xp, x, axis, keepdims: xp.argmax(x, axis=axis, keepdims=keepdims),
    "argmin": lambda xp, x, axis, keepdims: xp.argmin(x, axis=axis, keepdims=keepdims),
    "argsort": lambda xp, x, axis: xp.argsort(x, axis=axis),
    "cumsum": lambda xp, x, axis, dtype: xp.cumsum(x, axis, dtype),
    "std": lambda xp, x, axis, ddof, keepdims: xp.std(x, axis=axis, correction=ddof, keepdims=keepdims),
    "var": lambda xp, x, axis, ddof, keepdims: xp.var(x, axis=axis, correction=ddof, keepdims=keepdims),
    "squeeze": lambda xp, x, axis: xp.squeeze(x, axis),
    "nonzero": lambda xp, x: xp.nonzero(x),
    "round": lambda xp, x, decimals: xp.round(x, decimals),
    "clip": lambda xp, x, least, most: xp.clip(x, least, most),
    "repeat": lambda xp, x, repeats, axis: xp.repeat(x, repeats, axis=axis),
    "take": _take,
}


def method(name: str, x: Array, arguments: tuple[Any, ...]) -> Any:
    """A method of NumPy's arrays; a result without axes is a NumPy scalar."""
    values = _METHODS[name](namespace(), x, *arguments)
    return scalar_or_array(values) if isinstance(values, Array) and name != "squeeze" else values
