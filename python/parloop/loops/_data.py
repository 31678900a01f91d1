"""Arguments and temporaries of kernels, as a user describes them."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

from ._expressions import text as value_text

__all__ = [
    "AddressSpace",
    "ArrayArg",
    "ConstantArg",
    "GlobalArg",
    "ImageArg",
    "ObjectArg",
    "SubstitutionRule",
    "TemporaryVariable",
    "ValueArg",
    "auto",
]


class auto:  # noqa: N801 (the name users know)
    """Stands for what is found from how a name is used."""


class AddressSpace(enum.IntEnum):
    """Which memory, seen by whom."""

    PRIVATE = 0
    LOCAL = 1
    GLOBAL = 2


# What an attribute is that was not said.
_UNSAID: dict[str, Any] = {
    "dtype": None,
    "shape": auto,
    "strides": None,
    "dim_tags": None,
    "dim_names": None,
    "order": None,
    "offset": 0,
    "alignment": None,
    "is_input": None,
    "is_output": None,
    "tags": frozenset(),
    "initializer": None,
    "read_only": False,
    "base_storage": None,
    "address_space": auto,
}


class _Data:
    """What a kernel is told of a name: only what was said."""

    _kind = ""
    _order: tuple[str, ...] = ("name", "dtype", "shape")

    def __init__(self, *args: Any, **said: Any) -> None:
        if len(args) > len(self._order):
            raise TypeError(f"{type(self).__name__} takes {len(self._order)} arguments by position, but {len(args)} were given")
        for name, value in zip(self._order, args):
            if name in said:
                raise TypeError(f"{type(self).__name__} got {name} twice")
            said[name] = value
        self.name: str = said.pop("name")
        self._said = said

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._said[name]
        except KeyError:
            if name in _UNSAID:
                return _UNSAID[name]
            raise AttributeError(f"{type(self).__name__} {self.name!r} has no value for {name!r}") from None

    def copy(self, **changed: Any) -> Any:
        """The same with some things said otherwise."""
        return type(self)(**{"name": self.name, **self._said, **changed})

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        said = "".join(f", {name}={value!r}" for name, value in self._said.items())
        return f"{type(self).__name__}({self.name!r}{said})"

    def update_persistent_hash(self, key_hash: Any, key_builder: Any) -> None:
        """Adds what it is to a key of a cache on disk, as pytools makes them."""
        key_builder.rec(key_hash, repr(self))

    def _describe(self) -> dict[str, Any]:
        """As Rust takes it."""
        described: dict[str, Any] = {"kind": self._kind, "name": self.name}
        for name, value in self._said.items():
            described[name] = _plain(name, value)
        return described


def _plain(name: str, value: Any) -> Any:
    if value is auto:
        return None if name in ("dtype", "address_space", "dim_tags") else "auto"
    if name == "shape" and value is None:
        return "unknown"
    if isinstance(value, AddressSpace):
        return value.name.lower()
    if name in ("shape", "strides", "offset") and value is not None:
        if isinstance(value, (tuple, list)):
            return [_length_text(item) for item in value]
        return value if isinstance(value, str) else [_length_text(value)] if name == "shape" else _length_text(value)
    if name == "dtype":
        return getattr(value, "numpy_dtype", value)
    return value


def _length_text(value: Any) -> str:
    """A length or stride as text; of numpy's integers their type does not matter."""
    return str(int(value)) if hasattr(value, "__index__") else value_text(value)


class ArrayArg(_Data):
    """An array that is passed to a kernel.

    Parameters
    ----------
    name : str
        One name, or several with commas between them.
    dtype : optional
        The type of its elements; found from what is passed when not given.
    shape : optional
        A tuple, or text such as ``"n, 3"``; found from how it is used when not given.
    dim_tags, strides, order, offset, dim_names, alignment, is_input, is_output, address_space, tags : optional
        How its axes lie in memory, and what is done with it.
    """

    @property
    def _kind(self) -> str:  # type: ignore[override]
        space = self._said.get("address_space", AddressSpace.GLOBAL)
        return {"PRIVATE": "private", "LOCAL": "local"}.get(getattr(space, "name", ""), "global")

    def _describe(self) -> dict[str, Any]:
        described = super()._describe()
        described.pop("address_space", None)
        return described


class GlobalArg(ArrayArg):
    """An array in global memory."""


class ConstantArg(_Data):
    """An array that is never written."""

    _kind = "constant"

    def _describe(self) -> dict[str, Any]:
        described = super()._describe()
        described.pop("address_space", None)
        return described


class ImageArg(_Data):
    """An image, which only OpenCL has."""

    _kind = "image"


class ValueArg(_Data):
    """A number that is passed by value."""

    _kind = "value"
    _order = ("name", "dtype", "approximately")

    def _describe(self) -> dict[str, Any]:
        described = super()._describe()
        for unused in ("approximately", "is_input", "is_output"):
            described.pop(unused, None)
        return described


class ObjectArg(_Data):
    """A typed object: ``p.x[i]`` is its field ``x``, and ``p.inner.y[i, j]`` that of a struct inside of it.

    Parameters
    ----------
    name : str
        One name, or several with commas between them.
    dtype : optional
        The class: a `Struct` of `parloop.objects`, say. That of the object that is passed when not given.

    >>> import parloop.loops as lp, parloop.objects as xo
    >>> class Particle(xo.Struct):
    ...     x = xo.Float64[:]
    ...     px = xo.Float64[:]
    >>> drift = lp.make_kernel(
    ...     "{[i]: 0<=i<n}", "p.x[i] = p.x[i] + l*p.px[i]", [lp.ObjectArg("p", Particle), lp.ValueArg("l", float), ...]
    ... )
    >>> p = Particle(x=[0, 1, 2], px=[2, 2, 4])
    >>> event, (moved,) = drift(p=p, l=0.5)
    >>> moved is p, [float(x) for x in p.x]
    (True, [1.0, 2.0, 4.0])
    """

    _kind = "object"
    _order = ("name", "dtype")


class TemporaryVariable(_Data):
    """A variable of the kernel's own."""

    _kind = "temporary"
    _order = ("name", "dtype", "shape", "address_space")


class SubstitutionRule:
    """``name(arguments) := expression``."""

    def __init__(self, name: str, arguments: tuple[str, ...], expression: Any) -> None:
        self.name, self.arguments, self.expression = name, tuple(arguments), expression

    def __repr__(self) -> str:
        return f"SubstitutionRule({self.name!r}, {self.arguments!r}, {self.expression!r})"

    def _describe(self) -> Mapping[str, Any]:
        return {"kind": "substitution", "name": self.name, "parameters": list(self.arguments), "body": value_text(self.expression)}
