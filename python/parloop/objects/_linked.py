"""Views of arrays that are read-only, or that write through the object they belong to."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import numpy as np


class LinkedArray(np.ndarray[Any, Any]):
    """A view of an array along one axis which knows its container.

    `mode` is None (an ordinary view), "readonly", or "setitem_from_container": then setting items calls the container's method
    `container_setitem_name` with the index and the value.

    >>> import numpy as np, parloop.objects as xo
    >>> frozen = xo.LinkedArray.from_array(np.zeros(3), mode="readonly")
    >>> frozen[0] = 1
    Traceback (most recent call last):
        ...
    ValueError: This array is read only
    """

    mode: str | None = None
    container: Any = None
    container_setitem_name: str | None = None

    @classmethod
    def from_array(cls, a: Any, mode: str | None = None, container: Any = None, container_setitem_name: str | None = None) -> Any:
        """A linked view of `a`: of a NumPy array, or of an `Array` on a device."""
        if len(a.shape) != 1:
            raise ValueError(f"a linked array must have one axis, not {len(a.shape)}")
        if mode not in (None, "readonly", "setitem_from_container"):
            raise ValueError(f'mode must be None, "readonly" or "setitem_from_container", not {mode!r}')
        if not isinstance(a, np.ndarray):
            return LinkedDeviceArray(a, mode, container, container_setitem_name)
        new = a.view(cls)
        new.mode, new.container, new.container_setitem_name = mode, container, container_setitem_name
        return new

    def __setitem__(self, index: Any, value: Any) -> None:
        if _set_by_container(self, index, value):
            super().__setitem__(index, value)

    def copy(self, order: Any = "C") -> Any:
        return np.array(self, order=order, subok=False)

    # Arithmetic gives ordinary arrays; in place it goes through `__setitem__`.
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        plain = [value.view(np.ndarray) if isinstance(value, LinkedArray) else value for value in inputs]
        if out is None:
            return getattr(ufunc, method)(*plain, **options)
        (target,) = out
        if not isinstance(target, LinkedArray):
            return getattr(ufunc, method)(*plain, out=out, **options)
        target[:] = getattr(ufunc, method)(*plain, **options)
        return target

    def __array_finalize__(self, source: Any) -> None:
        # Parts of a linked array are ordinary views: only the whole knows its container.
        self.mode = self.container = self.container_setitem_name = None


def _set_by_container(linked: Any, index: Any, value: Any) -> bool:
    """Sets items by the container, if that is the mode; whether the array itself is still to be set."""
    if linked.mode is None or getattr(linked.container, "_flag_bypass_linked", False):
        return True
    if linked.mode == "readonly":
        raise ValueError("This array is read only")
    getattr(linked.container, linked.container_setitem_name)(index, value)
    return False


class LinkedDeviceArray:
    """As `LinkedArray`, over an `Array` on a device. Everything but setting is the array's own."""

    def __init__(self, array: Any, mode: str | None, container: Any, container_setitem_name: str | None) -> None:
        self._array = array
        self.mode = mode
        self.container = container
        self.container_setitem_name = container_setitem_name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._array, name)

    def __getitem__(self, index: Any) -> Any:
        return self._array[_plain(index)]

    def __setitem__(self, index: Any, value: Any) -> None:
        if _set_by_container(self, _plain(index), _plain(value)):
            self._array[_plain(index)] = _plain(value)

    def __len__(self) -> int:
        return len(self._array)

    def __array__(self, *args: Any, **options: Any) -> Any:
        return np.asarray(self._array.numpy(), *args, **options)

    def __repr__(self) -> str:
        return f"<linked {self._array!r}>"


def _plain(value: Any) -> Any:
    return value._array if isinstance(value, LinkedDeviceArray) else value


def _forward(name: str) -> Any:
    def operator(self: LinkedDeviceArray, *others: Any) -> Any:
        return getattr(self._array, name)(*map(_plain, others))

    operator.__name__ = name
    return operator


def _in_place(name: str) -> Any:
    def operator(self: LinkedDeviceArray, other: Any) -> Any:
        self[:] = getattr(self._array, name)(_plain(other))
        return self

    return operator


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    for _kind in (f"__{_name}__", f"__r{_name}__"):
        setattr(LinkedDeviceArray, _kind, _forward(_kind))
    setattr(LinkedDeviceArray, f"__i{_name}__", _in_place(f"__{_name}__"))
for _name in ("neg", "pos", "abs", "lt", "le", "gt", "ge", "eq", "ne"):
    setattr(LinkedDeviceArray, f"__{_name}__", _forward(f"__{_name}__"))


class BypassLinked:
    """Inside `with BypassLinked(container):` linked arrays of the container are set directly."""

    def __init__(self, container: Any) -> None:
        self.container = container

    def __enter__(self) -> None:
        self.container._flag_bypass_linked = True

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        del self.container._flag_bypass_linked
