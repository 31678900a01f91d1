"""References to objects in the same buffer."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any, ClassVar

from .._parloop import Buffer, _Object, _ObjectType
from ._array import array_class
from ._capi import CApi
from ._scalar import FieldType, Info


_refs: weakref.WeakValueDictionary[int, Ref] = weakref.WeakValueDictionary()


class _MetaRef(type):
    """Makes one type for each target, so that arrays of references are of one class too."""

    def __call__(cls, target: Any) -> Any:
        target = getattr(target, "_XoStruct", target)
        found = _refs.get(id(target))
        if found is None:
            found = _refs[id(target)] = super().__call__(target)
        return found

    def __getitem__(cls, target: Any) -> Any:
        return cls(target)


class Ref(FieldType, metaclass=_MetaRef):
    """The type of a reference: `Ref(T)` or `Ref[T]`. None is null.

    An object of the same buffer is referred to; anything else is copied into the buffer first.

    >>> import parloop.objects as xo
    >>> class Line(xo.Struct):
    ...     points = xo.Ref(xo.Float64[:])
    >>> line = Line(points=[1, 2, 3])
    >>> other = Line(points=line.points, _buffer=line._buffer)
    >>> other.points[0] = 10
    >>> line.points[0]
    10.0
    """

    _has_refs = True
    _size = 8

    def __init__(self, target: Any) -> None:
        self._reftype = target
        self._type = _ObjectType.reference(self._reftype._type)
        self.__name__ = self._type.name
        self._c_type = self.__name__

    def __call__(self, *args: Any) -> Any:
        return self._reftype(*args) if args else None

    def __getitem__(self, shape: Any) -> Any:
        return array_class(self, shape)

    def _inspect_args(self, value: Any = None) -> Info:
        return Info(size=8)

    def _get_inner_types(self) -> list[Any]:
        return [self._reftype]

    def __repr__(self) -> str:
        return f"<ref {self.__name__}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Ref, (self._reftype,)


class MetaUnionRef(CApi):
    """The class of union references."""

    _type: _ObjectType
    _reftypes: Sequence[Any]
    _methods: list[Any]
    _c_type: str
    _has_refs = True

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> MetaUnionRef:
        members = [getattr(member, "_XoStruct", member) for member in body.get("_reftypes", ())]
        new = super().__new__(cls, name, bases, {**body, "_reftypes": members, "_methods": list(body.get("_methods", ()))})
        new._c_type = name
        new._type = _ObjectType.union(name, [member._type for member in members])
        new._type.set_class(new, any("_pre_init" in base.__dict__ for base in new.__mro__ if base.__module__ != __name__))
        return new

    @property
    def _size(cls) -> int:
        return 16

    def __getitem__(cls, shape: Any) -> Any:
        return array_class(cls, shape)

    def _get_inner_types(cls) -> list[Any]:
        return list(cls._reftypes)

    def _inspect_args(cls, *args: Any, **named: Any) -> Info:
        return Info(size=16)

    def _is_member(cls, value: Any) -> bool:
        return any(member.__name__ == type(value).__name__ for member in cls._reftypes)

    def _typeid_from_type(cls, member: Any) -> int:
        return cls._typeid_from_name(member.__name__)

    def _typeid_from_name(cls, name: str) -> int:
        for typeid, member in enumerate(cls._reftypes):
            if member.__name__ == name:
                return typeid
        raise TypeError(f"{name} is not member of {cls}")

    def _type_from_name(cls, name: str) -> Any:
        return cls._reftypes[cls._typeid_from_name(name)]

    def _type_from_typeid(cls, typeid: int) -> Any:
        if not 0 <= typeid < len(cls._reftypes):
            raise TypeError(f"Invalid id: {typeid}!")
        return cls._reftypes[typeid]

    def __repr__(cls) -> str:
        return f"<unionref {cls.__name__}>"


class UnionRef(_Object, metaclass=MetaUnionRef):
    """A reference to an object of one of several classes. Subclass it and name them in `_reftypes`.

    >>> import parloop.objects as xo
    >>> class Circle(xo.Struct):
    ...     r = xo.Float64
    >>> class Square(xo.Struct):
    ...     a = xo.Float64
    >>> class Shape(xo.UnionRef):
    ...     _reftypes = (Circle, Square)
    >>> shapes = Shape[:]([Circle(r=1), None, ("Square", {"a": 2})])
    >>> shapes[0], shapes[1], shapes[2]
    (Circle(r=1.0), None, Square(a=2.0))
    """

    _reftypes: ClassVar[Sequence[Any]]
    _methods: ClassVar[list[Any]]
    _type: ClassVar[_ObjectType]
    _c_type: ClassVar[str]
    _size = 16

    @classmethod
    def _pre_init(cls, *args: Any, **named: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return args, named

    def _post_init(self) -> None:
        pass

    def get(self) -> Any:
        """The object that it refers to, None for null."""
        return self._target()

    def set(self, value: Any) -> None:
        """Makes it refer to another object."""
        self._update(value)

    @classmethod
    def _to_buffer(cls, buffer: Buffer, offset: int, value: Any, info: Any = None) -> None:
        cls(value, _buffer=buffer, _offset=offset)

    def _to_dict(self) -> Any:
        value = self.get()
        if value is None:
            return None
        return (type(value).__name__, value._to_dict() if hasattr(value, "_to_dict") else value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.get()!r})"

    def __reduce__(self) -> Any:
        from ._pickle import reduce

        return reduce(self)
