"""Calls on a queue of pyopencl's: its arrays go in and come out."""

from __future__ import annotations

import importlib
from typing import Any

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
        given[name] = value.get(queue)
    event, results = program(_context(queue), _by_name=True, out_host=True, **given)
    for name in results:
        if name in theirs:
            theirs[name].set(results[name].astype(theirs[name].dtype, copy=False), queue=queue)
            results[name] = results[name] if out_host else theirs[name]
        elif given.get(name) is None and not out_host:
            results[name] = cla.to_device(queue, results[name])
    return event, results if program._returns_dict else tuple(results.values())
