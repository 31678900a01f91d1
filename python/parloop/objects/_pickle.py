"""Pickling: an object goes with its buffer, so that objects which share one do so again."""

from __future__ import annotations

from typing import Any

from .._parloop import Buffer, Context, ObjectValueError, current_context

VERSION = 2

Layout = tuple[tuple[str, str], ...]


def reduce(item: Any) -> tuple[Any, ...]:
    """How to make the object again. Fails for one whose memory was freed."""
    item._get_size()
    return _object, (VERSION, type(item), type(item)._type.name, type(item)._type.layout, item._buffer, item._offset)


def reduce_buffer(buffer: Buffer) -> tuple[Any, ...]:
    """How to make the buffer again: on the CPU context for one that is on a CPU, else on the current context."""
    device = str(buffer.context.device.name)
    return _buffer, (VERSION, device, *buffer._state())


def _buffer(version: int, device: str, data: bytes, chunks: list[tuple[int, int]], alignment: int, grow_step: int | None) -> Buffer:
    _check(version, "buffer")
    context = current_context()
    if str(context.device.name) != device:
        context = Context(device)
    return Buffer._from_state(context, data, chunks, alignment, grow_step)


def _object(version: int, cls: Any, name: str, layout: Layout, buffer: Buffer, offset: int) -> Any:
    _check(version, name)
    if layout != cls._type.layout:
        raise ObjectValueError(_difference(name, layout, cls._type.layout))
    return cls._at(buffer, offset)


def _difference(name: str, pickled: Layout, present: Layout) -> str:
    """What a class had when its object was pickled and does not have any more, or the other way round."""
    had, has = dict(pickled), dict(present)
    for path, kind in pickled:
        if path not in has:
            return f"the pickle holds {name}{path} ({kind}), which class {name} does not have; the class has changed since"
        if has[path] != kind:
            return f"the pickle holds {name}{path} as {kind}, but class {name} has it as {has[path]}; the class has changed since"
    for path, kind in present:
        if path not in had:
            return f"class {name} has {name}{path} ({kind}), which the pickle does not hold; the class has changed since"
    return f"the fields of class {name} are in another order than in the pickle; the class has changed since"


def _check(version: int, name: str) -> None:
    if version != VERSION:
        raise ObjectValueError(f"the pickle of {name} has format {version}; this parloop reads format {VERSION}")
