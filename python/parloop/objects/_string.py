"""Texts."""

from __future__ import annotations

import copyreg
from typing import Any, ClassVar

from .._parloop import Buffer, _Object, _ObjectType
from ._array import array_class
from ._scalar import Info

_SLOT = 8


class MetaString(type):
    """The class of string classes."""

    _type: _ObjectType
    _c_type = "char*"
    _has_refs = False

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> MetaString:
        new = super().__new__(cls, name, bases, body)
        new._type = _ObjectType.string(body.get("_fixed"))
        new._type.set_class(new)
        return new

    def __getitem__(cls, shape: Any) -> Any:
        return array_class(cls, shape)

    @property
    def _size(cls) -> int | None:
        return cls._type.size

    def fixed(cls, size: int) -> Any:
        """The class of strings that all take `size` bytes, 8 of them for the size and one for the closing NUL."""
        if not isinstance(size, int) or isinstance(size, bool) or size <= 0:
            raise ValueError("String needs a positive integer")
        return MetaString(f"String{size}", (String,), {"_fixed": size})

    def _inspect_args(cls, text: Any) -> Info:
        if cls._type.size is not None:
            return Info(size=cls._type.size)
        if isinstance(text, str):
            data = text.encode()
            return Info(size=(len(data) + 1 + _SLOT + 7) & -8, data=data)
        if isinstance(text, int):
            return Info(size=text + _SLOT)
        if isinstance(text, cls):
            return Info(size=text._get_size())
        raise ValueError(f"String can accept only one integer or string and not `{text}`")

    def __repr__(cls) -> str:
        return cls.__name__


def _reduce_class(cls: MetaString) -> str | tuple[Any, ...]:
    size = cls.__dict__.get("_fixed")
    return cls.__qualname__ if size is None or cls.__name__ != f"String{size}" else (_fixed_class, (size,))


def _fixed_class(size: int) -> Any:
    return String.fixed(size)


copyreg.pickle(MetaString, _reduce_class)


class String(_Object, metaclass=MetaString):
    """A text in a buffer; in structs and arrays it is seen as a `str`.

    `String("text")` has just the room it needs, `String(100)` room for 100 bytes with the closing NUL. Its room never changes: a
    longer text is an error.

    >>> import parloop.objects as xo
    >>> s = xo.String(20)
    >>> s.update("hello")
    >>> s.to_str(), s._size
    ('hello', 28)
    """

    _fixed: ClassVar[int | None] = None

    @property
    def _size(self) -> int:
        return self._get_size()

    def to_str(self) -> str:
        """The text."""
        return self._text()

    __str__ = to_str

    def to_bytes(self) -> bytes:
        """The text as bytes, with the NULs that fill its room."""
        return self._bytes()[_SLOT:]

    def update(self, value: Any) -> None:
        """Gives it another text that fits."""
        self._update(value)

    @classmethod
    def _to_buffer(cls, buffer: Buffer, offset: int, value: Any, info: Any = None) -> None:
        cls(value, _buffer=buffer, _offset=offset)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (str, String)):
            return self.to_str() == str(other)
        return NotImplemented

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __repr__(self) -> str:
        return f"String({self.to_str()!r})"

    def __reduce__(self) -> Any:
        from ._pickle import reduce

        return reduce(self)
