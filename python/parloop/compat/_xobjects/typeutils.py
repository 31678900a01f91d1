"""Where objects go when nothing is said, by xobjects' names."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from parloop._parloop import _set_default_context
from parloop.compat import installed
from parloop.objects._scalar import Info as Info

from .context import ContextCpu


class _Module(ModuleType):
    """This module: where its `context_default` is replaced, objects go to the new one."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "context_default" and "xobjects" in installed():
            _set_default_context(value)


context_default = ContextCpu()
sys.modules[__name__].__class__ = _Module
if "xobjects" in installed():
    # A program that was written for xobjects finds its objects there when it says nothing.
    _set_default_context(context_default)


def get_a_buffer(context: Any = None, buffer: Any = None, size: int | None = None) -> Any:
    """The buffer given, or a new one of the context."""
    if buffer is not None:
        return buffer
    context = context or context_default
    return context.new_buffer() if size is None else context.new_buffer(size)


def allocate_on_buffer(size: int, context: Any = None, buffer: Any = None, offset: Any = None) -> tuple[Any, int]:
    """A buffer, and a place of `size` bytes in it."""
    if buffer is None:
        if offset is not None:
            raise ValueError("Cannot set `offset` without buffer")
        buffer = (context or context_default).new_buffer(size)
    elif context is not None and buffer.context is not context:
        raise ValueError(f"Mismatched buffer ({buffer}) and context ({context})")
    if offset is None or offset == "aligned":
        offset = buffer.allocate(size)
    elif offset == "packed":
        offset = buffer.allocate(size, align=False)
    return buffer, offset


def is_integer(value: Any) -> bool:
    import numpy as np

    return isinstance(value, (int, np.integer))


def get_c_type(atype: Any) -> str:
    """The name of a type in C."""
    return str(atype._c_type)


def _to_slot_size(size: int) -> int:
    return (size + 7) & -8


def _is_dynamic(cls: Any) -> bool:
    return cls._size is None
