"""Pickling: an object goes with its buffer, so that objects which share one do so again."""

from __future__ import annotations

from typing import Any

from .._parloop import Buffer, Context, ObjectValueError, current_context

VERSION = 1


def reduce(item: Any) -> tuple[Any, ...]:
    """How to make the object again. Fails for one whose memory was freed."""
    item._get_size()
    return _object, (VERSION, type(item), type(item)._type.name, type(item)._type.size, item._buffer, item._offset)


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


def _object(version: int, cls: Any, name: str, size: int | None, buffer: Buffer, offset: int) -> Any:
    _check(version, name)
    if (cls._type.name, cls._type.size) != (name, size):
        raise ObjectValueError(
            f"the pickle holds a {name} of {size} bytes, but class {cls.__name__} has objects of {cls._type.size}; it was changed since"
        )
    return cls._at(buffer, offset)


def _check(version: int, name: str) -> None:
    if version != VERSION:
        raise ObjectValueError(f"the pickle of {name} has format {version}; this parloop reads format {VERSION}")
