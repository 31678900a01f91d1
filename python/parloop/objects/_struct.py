"""Structs: named fields in a buffer."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from .._description import Arg, Kernel
from .._html import table
from .._parloop import Buffer, Field, UnknownFieldError, _Object, _ObjectType
from ._array import array_class
from ._body import check_annotations, check_value
from ._capi import CApi
from ._show import shortened, shown
from ._ref import MetaUnionRef
from ._scalar import Info, Scalar


class ThisClass:
    """Stands for the class itself in the descriptions of its kernels."""


def _is_type(value: Any) -> bool:
    return isinstance(getattr(value, "_type", None), _ObjectType) or hasattr(value, "_XoStruct")


def _type_of(struct: str, name: str, ftype: Any) -> _ObjectType:
    """The type behind the class of a field."""
    if not _is_type(ftype):
        raise TypeError(f"{struct}.{name}: {ftype!r} is not a type of parloop.objects")
    return _plain(ftype)._type  # type: ignore[no-any-return]


def _plain(ftype: Any) -> Any:
    """The struct inside a hybrid class; any other type itself."""
    return getattr(ftype, "_XoStruct", ftype)


def _resolved(owner: Any, kernel: Kernel) -> Kernel:
    """A kernel's description with the class where `ThisClass` stands."""

    def resolve(arg: Any) -> Any:
        if not isinstance(arg, Arg):
            return owner if arg is ThisClass else _plain(arg)
        new = copy.copy(arg)
        new.atype = owner if arg.atype is ThisClass else _plain(arg.atype)
        return new

    new = copy.copy(kernel)
    new.args = [resolve(arg) for arg in kernel.args or ()]
    new.ret = resolve(kernel.ret) if kernel.ret is not None else None
    return new


class MetaStruct(CApi):
    """The class of struct classes: turns the types in a class body into fields."""

    _type: _ObjectType
    _fields: list[Field]
    _field_names: frozenset[str]
    _s_fields: list[Field]
    _d_fields: list[Field]
    _c_type: str
    _has_refs: bool
    _extra_c_sources: list[Any]
    _depends_on: list[Any]
    _kernels: dict[str, Kernel]

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> MetaStruct:
        declared: dict[str, Field] = {}
        for base in reversed(bases):
            for field in getattr(base, "_fields", ()):
                declared[field.name] = _fresh(field)
        for key, value in body.items():
            if isinstance(value, Field):
                declared[key] = _fresh(value) if value._is_bound else value
            elif not key.startswith("__") and _is_type(value):
                declared[key] = Field(_plain(value))
            elif not key.startswith("_"):
                check_value(name, key, value)
        new = super().__new__(cls, name, bases, {**body, **declared})
        check_annotations(new, declared)
        parts = [(key, _type_of(name, key, field.ftype), field.default, field.default_factory) for key, field in declared.items()]
        ty = _ObjectType.structure(name, parts)
        for index, field in enumerate(declared.values()):
            field._set_owner(ty, index)
        new._type = ty
        new._fields = list(declared.values())
        new._field_names = frozenset(declared)
        new._s_fields = [field for field in new._fields if _plain(field.ftype)._type.size is not None]
        new._d_fields = [field for field in new._fields if _plain(field.ftype)._type.size is None]
        new._c_type = body.get("_c_type", name)
        new._has_refs = ty.has_refs
        new._extra_c_sources = list(body.get("_extra_c_sources", ()))
        new._depends_on = list(body.get("_depends_on", ()))
        new._kernels = {key: _resolved(new, kernel) for key, kernel in (body.get("_kernels") or {}).items()}
        own = [base.__dict__ for base in new.__mro__ if base.__module__ != __name__]
        ty.set_class(new, any("_pre_init" in found for found in own), any("_post_init" in found for found in own))
        from ._methods import add_methods

        add_methods(new)
        return new

    def __getitem__(cls, shape: Any) -> Any:
        return array_class(cls, shape)

    @property
    def _size(cls) -> int | None:
        return cls._type.size

    def _get_inner_types(cls) -> list[Any]:
        return [_plain(field.ftype) for field in cls._fields]

    def _inspect_args(cls, *args: Any, **named: Any) -> Info:
        made = cls(*args, **named)
        offsets = {field.index: made._field_offset(field.index) - made._offset for field in cls._d_fields}
        known: dict[str, Any] = {"_offsets": offsets} if offsets else {}
        return Info(size=made._get_size(), value=args[0] if len(args) == 1 else named, **known)

    def __repr__(cls) -> str:
        return f"<struct {cls.__name__}>"


def _fresh(field: Field) -> Field:
    """The same field, not yet of any struct."""
    return Field(field.ftype, default=field.default, readonly=field.readonly, default_factory=field.default_factory)


class Struct(_Object, metaclass=MetaStruct):
    """Named fields in a buffer. Subclass it and say the type of each field.

    Make objects from fields by name, from a dict, or from another object (which is copied). `_context=`, `_buffer=` and `_offset=`
    say where. A class may have C functions and kernels of its own: see `_extra_c_sources`, `_depends_on` and `_kernels`.

    >>> import parloop.objects as xo
    >>> class Particle(xo.Struct):
    ...     x = xo.Float64
    ...     charge = xo.Field(xo.Int32, default=-1)
    >>> p = Particle(x=0.5)
    >>> p.x, p.charge, Particle._size
    (0.5, -1, 16)
    >>> p
    Particle(x=0.5, charge=-1)

    Other attributes are Python's own, but one whose name is nearly that of a field is an error.

    >>> p.chrage = 2
    Traceback (most recent call last):
        ...
    parloop.errors.UnknownFieldError: Particle has no field `chrage`; did you mean `charge`? (for an attribute of that name, write `chrage = None` in the class body)
    """

    _type: ClassVar[_ObjectType]
    _fields: ClassVar[list[Field]]
    _field_names: ClassVar[frozenset[str]]
    _s_fields: ClassVar[list[Field]]
    _d_fields: ClassVar[list[Field]]
    _c_type: ClassVar[str]
    _has_refs: ClassVar[bool]
    _extra_c_sources: ClassVar[list[Any]]
    _depends_on: ClassVar[list[Any]]
    _kernels: ClassVar[dict[str, Kernel]]

    @classmethod
    def _pre_init(cls, *args: Any, **named: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return args, named

    def _post_init(self) -> None:
        pass

    @property
    def _size(self) -> int:
        return self._get_size()

    @classmethod
    def _to_buffer(cls, buffer: Buffer, offset: int, value: Any, info: Any = None) -> None:
        cls(value, _buffer=buffer, _offset=offset)

    def _get_offset(self, name: str) -> int:
        """Where in the buffer the field is."""
        found = next((field for field in self._fields if field.name == name), None)
        if found is None:
            fields = ", ".join(self)
            raise UnknownFieldError(f"{type(self).__name__} has no field `{name}`; its fields are {fields}")
        return self._field_offset(found.index)

    @property
    def _offsets(self) -> dict[int, int]:
        """Where the fields of changing size are, from the struct's beginning, by their positions."""
        return {int(field.index): self._field_offset(field.index) - self._offset for field in self._d_fields}

    def _to_dict(self) -> dict[str, Any]:
        """Its values by field, nested, such that an object of the class can be made from them again."""
        out = {}
        for field in self._fields:
            value = getattr(self, field.name)
            plain = value._to_dict() if hasattr(value, "_to_dict") else value
            if isinstance(_plain(field.ftype), MetaUnionRef) and value is not None:
                plain = (type(value).__name__, plain)
            out[field.name] = plain
        return out

    def to(self, context: Any) -> Any:
        """A copy on another context."""
        from .._parloop import Context

        return type(self)(self, _context=context if isinstance(context, Context) else Context(context))

    def copy(self, _context: Any = None, _buffer: Buffer | None = None, _offset: Any = None) -> Any:
        """A copy, on the same context unless another place is named."""
        if _context is None and _buffer is None:
            _context = self._context
        return type(self)(self, _context=_context, _buffer=_buffer, _offset=_offset)

    def __iter__(self) -> Iterator[str]:
        return (field.name for field in self._fields)

    def __getitem__(self, name: str) -> Any:
        if name not in self:
            raise KeyError(f"{type(self).__name__} has no field `{name}`")
        return getattr(self, name)

    def __contains__(self, name: object) -> bool:
        return any(field.name == name for field in self._fields)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({shortened([(field.name, getattr(self, field.name)) for field in self._fields])})"

    def _repr_html_(self) -> str:
        rows = [(field.name, getattr(field.ftype, "__name__", str(field.ftype)), shown(getattr(self, field.name))) for field in self._fields]
        return table(("field", "type", "value"), rows, caption=f"{type(self).__name__} on {self._context.device.name}")

    def __reduce__(self) -> Any:
        from ._pickle import reduce

        return reduce(self)

    @classmethod
    def compile_class_kernels(
        cls,
        context: Any,
        only_if_needed: bool = False,
        apply_to_source: Sequence[Any] = (),
        save_source_as: Any = None,
        extra_classes: Sequence[Any] = (),
        extra_compile_args: Sequence[str] = (),
    ) -> None:
        """Compiles the kernels of the class and adds them to `context.kernels`."""
        if only_if_needed and all(name in context.kernels for name in cls._kernels):
            return
        context.add_kernels(
            sources=[],
            kernels=cls._kernels,
            extra_classes=[cls, *extra_classes],
            apply_to_source=apply_to_source,
            save_source_as=save_source_as,
            extra_compile_args=extra_compile_args,
        )

    def compile_kernels(self, only_if_needed: bool = False, **options: Any) -> None:
        """Compiles the kernels of the class for the object's context."""
        type(self).compile_class_kernels(self._context, only_if_needed=only_if_needed, **options)


__all__ = ["Field", "Scalar", "Struct", "ThisClass"]
