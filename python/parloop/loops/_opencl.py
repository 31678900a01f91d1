"""Calls on a queue of pyopencl's: its arrays go in and come out."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from .. import Context
from .._parloop import _LoopProgram

__all__ = ["call"]

# One context for each queue, so that what was compiled for it is found again; the oldest goes.
_contexts: dict[Any, Context] = {}


def _context(queue: Any) -> Context:
    found = _contexts.get(queue)
    if found is None:
        if len(_contexts) >= 32:
            del _contexts[next(iter(_contexts))]
        found = _contexts[queue] = Context(queue)
    return found


def call(program: _LoopProgram, queue: Any, named: dict[str, Any] | None) -> tuple[Any, Any]:
    """Runs a program with arrays of pyopencl's; results are such arrays too, unless all that was given lies on the host."""
    cla: Any = importlib.import_module("pyopencl.array")
    given = dict(named or {})
    out_host = given.pop("out_host", None)
    theirs = {name: value for name, value in given.items() if isinstance(value, cla.Array)}
    if out_host is None:
        out_host = not theirs and any(hasattr(value, "__array_interface__") and value.ndim for value in given.values())
    for name, value in theirs.items():
        given[name] = _read(queue, value)
    event, results = program(_context(queue), _by_name=True, out_host=True, **given)
    for name in results:
        if name in theirs:
            _write(queue, theirs[name], given[name])
            results[name] = results[name] if out_host else theirs[name]
        elif given.get(name) is None and not out_host:
            results[name] = cla.to_device(queue, results[name])
    return event, results if program._returns_dict else tuple(results.values())


def _is_whole(array: Any) -> bool:
    return bool(array.size and array.ndim and (array.flags.c_contiguous or array.flags.f_contiguous))


def _read(queue: Any, array: Any) -> Any:
    """A copy on the host. One that has gaps, or starts inside of its memory, is a view of a copy of all of that memory."""
    if _is_whole(array) or not array.size:
        return array.get(queue)
    whole = np.empty(array.base_data.size, np.uint8)
    importlib.import_module("pyopencl").enqueue_copy(queue, whole, array.base_data)
    return np.ndarray(array.shape, array.dtype, buffer=whole, offset=array.offset, strides=array.strides)


def _write(queue: Any, array: Any, host: Any) -> None:
    """Copies back what `_read` gave and a kernel changed."""
    if _is_whole(array):
        array.set(host, queue=queue)
    elif array.size:
        importlib.import_module("pyopencl").enqueue_copy(queue, array.base_data, host.base)
