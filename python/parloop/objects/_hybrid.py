"""Hybrid classes: Python classes dressed over a struct."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .._html import table
from .._parloop import Buffer, current_context
from ._names import check_name
from ._ref import Ref
from ._scalar import Scalar
from ._show import shown
from ._struct import MetaStruct, Struct


class JEncoder(json.JSONEncoder):
    """Encodes what `to_dict` gives: NumPy's arrays and numbers as lists and numbers.

    >>> import json, numpy as np, parloop.objects as xo
    >>> json.dumps({"a": np.arange(3), "b": np.float64(0.5)}, cls=xo.JEncoder)
    '{"a": [0, 1, 2], "b": 0.5}'
    """

    def default(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return value.tolist()
        if isinstance(value, np.generic):
            return value.item()
        if hasattr(value, "numpy"):
            return value.numpy().tolist()
        return super().default(value)


class _DressedField:
    """A field of the struct as an attribute of the hybrid: arrays of numbers as NumPy-like views, structs dressed."""

    def __init__(self, name: str, struct: Any) -> None:
        self.name = name
        ftype = getattr(struct, name).ftype
        self.is_array = isinstance(getattr(ftype, "_itemtype", None), Scalar)
        self.is_reference = isinstance(ftype, Ref)
        self.dressed = f"_dressed_{name}"

    def __get__(self, container: Any, owner: Any = None) -> Any:
        if container is None:
            return self
        if self.is_array:
            view = getattr(container._xobject, self.name).to_nplike()
            limit = getattr(container, "_lim_arrays_name", None)
            return view if limit is None else view[: getattr(container, limit)]
        found = container.__dict__.get(self.dressed)
        return getattr(container._xobject, self.name) if found is None else found

    def __set__(self, container: Any, value: Any) -> None:
        if self.is_array:
            self.__get__(container)[:] = value
            return
        if not hasattr(value, "_xobject"):
            container.__dict__.pop(self.dressed, None)
            setattr(container._xobject, self.name, value)
            return
        if self.is_reference and value._buffer is not container._buffer:
            raise MemoryError("Cannot make a reference to an object in a different buffer.")
        present = getattr(container._xobject, self.name)
        same = present is not None and container._buffer is value._buffer and present._offset == value._offset
        if not same:
            setattr(container._xobject, self.name, value._xobject)
        if self.is_reference:
            container.__dict__[self.dressed] = value
            value.__dict__["_movable"] = False
            return
        inner = getattr(container._xobject, self.name)
        dressed = value.__class__(_xobject=inner)
        # A class may refuse to have its attributes set.
        dressed.__dict__.update({**value.__dict__, "_xobject": inner, "_movable": False})
        container.__dict__[self.dressed] = dressed


def fields_of(bases: tuple[type, ...], body: dict[str, Any]) -> dict[str, Any]:
    if "_xofields" in body:
        fields = dict(body["_xofields"])
    else:
        filled = [found for base in bases if (found := getattr(base, "_xofields", None))]
        if len(filled) > 1:
            raise ValueError(f"Multiple bases have _xofields: {bases}")
        fields = dict(filled[0]) if filled else {}
    return {name: getattr(ftype, "_XoStruct", ftype) if isinstance(ftype, type) else ftype for name, ftype in fields.items()}


class MetaHybridClass(type):
    """The class of hybrid classes: makes the struct from `_xofields`, and an attribute for each field."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> MetaHybridClass:
        if "_xofields" not in body and any(hasattr(base, "_XoStruct") for base in bases):
            return super().__new__(cls, name, bases, body)
        fields = fields_of(bases, body)
        rename: dict[str, str] = dict(body.get("_rename", {}))
        if set(rename.values()) & (set(rename) | set(fields)):
            raise ValueError("Cannot rename fields to names of other fields")
        inverse = {new: old for old, new in rename.items()}
        if len(inverse) != len(rename):
            raise ValueError("Two fields are renamed to the same name")
        struct_body: dict[str, Any] = {
            **fields,
            "__module__": body.get("__module__", "parloop.objects"),
            "_extra_c_sources": list(body.get("_extra_c_sources", ())),
            "_depends_on": [getattr(other, "_XoStruct", other) for other in body.get("_depends_on", ())],
            "_kernels": body.get("_kernels", {}),
        }
        struct_base = next((base._struct_base for base in bases if hasattr(base, "_struct_base")), Struct)
        struct = MetaStruct(body.get("_cname", f"{name}Data"), (struct_base,), struct_body)
        struct.__qualname__ = f"{body.get('__qualname__', name)}._XoStruct"
        new = super().__new__(cls, name, bases, body)
        new._XoStruct = struct  # type: ignore[attr-defined]
        new._rename = rename  # type: ignore[attr-defined]
        new._inverse_rename = inverse  # type: ignore[attr-defined]
        new._xo_fnames = list(fields)  # type: ignore[attr-defined]
        new._py_fnames = [rename.get(field, field) for field in fields]  # type: ignore[attr-defined]
        new._fields = list(fields)  # type: ignore[attr-defined]
        for field in fields:
            setattr(new, rename.get(field, field), _DressedField(field, struct))
        if "_kernels" in body:
            new._kernels = struct._kernels  # type: ignore[attr-defined]
        struct._DressingClass = new  # type: ignore[attr-defined]
        return new


class HybridClass(metaclass=MetaHybridClass):
    """A Python class whose data are fields of a struct in a buffer.

    Say the fields in `_xofields`. Arrays of numbers are seen as NumPy-like views; attributes that are not fields are Python's own, but one
    whose name is nearly that of a field is an `UnknownFieldError`, which is an `AttributeError`: `e.lenght = 3` is a mistake. Names that begin
    with an underscore, and those that the class has an attribute for, are always accepted.

    >>> import parloop.objects as xo
    >>> class Element(xo.HybridClass):
    ...     _xofields = {"length": xo.Float64, "kick": xo.Float64[:]}
    >>> e = Element(length=2.0, kick=[1, 2, 3])
    >>> e.kick *= 2
    >>> e
    Element(length=2, kick=[2., 4., 6.])
    >>> Element.from_dict(e.to_dict()).kick
    array([2., 4., 6.])
    """

    _XoStruct: ClassVar[Any]
    _rename: ClassVar[dict[str, str]]
    _inverse_rename: ClassVar[dict[str, str]]
    _xo_fnames: ClassVar[list[str]]
    _py_fnames: ClassVar[list[str]]
    _fields: ClassVar[list[str]]
    _xofields: ClassVar[dict[str, Any]] = {}
    # The class of its struct's own.
    _struct_base: ClassVar[Any] = Struct
    _movable = True
    _overridable = True
    _force_moveable = False
    _xobject: Any

    if TYPE_CHECKING:
        # The fields are named at run time.
        def __getattr__(self, name: str) -> Any: ...

    def __setattr__(self, name: str, value: Any) -> None:
        check_name(self, name, self._py_fnames)
        object.__setattr__(self, name, value)

    def __init__(self, _xobject: Any = None, **named: Any) -> None:
        self.xoinitialize(_xobject=_xobject, **named)

    def xoinitialize(self, _xobject: Any = None, _kwargs_name_check: bool = True, **named: Any) -> None:
        """Makes the struct from fields by name, or takes the one given."""
        if _kwargs_name_check:
            for name in named:
                if not name.startswith("_") and name not in self._py_fnames and name not in self._xo_fnames:
                    raise NameError(f"Invalid keyword argument `{name}`; the fields are {', '.join(self._py_fnames)}")
        if _xobject is not None:
            self._reinit_from_xobject(_xobject)
            return
        dressed = {name: value for name, value in named.items() if hasattr(value, "_xobject")}
        self._check_references(dressed, named.get("_buffer"))
        fields = {self._inverse_rename.get(name, name): value for name, value in named.items()}
        # Names with an underscore that are not fields are the business of subclasses.
        known = {*self._xo_fnames, "_context", "_buffer", "_offset"}
        fields = {name: value for name, value in fields.items() if name in known}
        self._xobject = self._XoStruct(**{name: getattr(value, "_xobject", value) for name, value in fields.items()})
        for name, value in dressed.items():
            setattr(self, name, value)
        self._reinit_from_xobject(self._xobject)

    def _check_references(self, dressed: dict[str, Any], buffer: Buffer | None) -> None:
        for name, value in dressed.items():
            field = getattr(type(self), name, None)
            if isinstance(field, _DressedField) and field.is_reference and value._buffer is not buffer:
                raise MemoryError("Cannot make a reference to an object in a different buffer.")

    def _reinit_from_xobject(self, _xobject: Any) -> None:
        self._xobject = _xobject
        for field in self._XoStruct._fields:
            dressing = getattr(field.ftype, "_DressingClass", None)
            if dressing is None:
                continue
            old = self.__dict__.get(f"_dressed_{field.name}")
            new = dressing(_xobject=getattr(_xobject, field.name))
            if old is not None:
                for name, value in old.__dict__.items():
                    new.__dict__.setdefault(name, value)
            setattr(self, self._rename.get(field.name, field.name), new)

    @property
    def _buffer(self) -> Any:
        return self._xobject._buffer

    @property
    def _offset(self) -> int:
        return int(self._xobject._offset)

    @property
    def _context(self) -> Any:
        return self._xobject._context

    def move(self, _context: Any = None, _buffer: Buffer | None = None, _offset: Any = None) -> None:
        """Moves the data to another context or buffer."""
        if not self._force_moveable:
            if not self._movable:
                raise MemoryError("This object cannot be moved, likely because it lives within another. Please, make a copy.")
            if self._XoStruct._has_refs:
                raise MemoryError("This object cannot be moved, as it contains references to other objects.")
        self._reinit_from_xobject(self._XoStruct(self._xobject, _context=_context, _buffer=_buffer, _offset=_offset))

    def copy(self, _context: Any = None, _buffer: Buffer | None = None, _offset: Any = None) -> Any:
        """A copy, on the same context unless another place is named."""
        if _context is None and _buffer is None:
            _context = self._context
        new = type(self).__new__(type(self))
        for name, value in self.__dict__.items():
            if name != "_xobject" and not name.startswith("_dressed_"):
                new.__dict__[name] = value.copy() if hasattr(value, "copy") else value
        new.__dict__.pop("_movable", None)
        new._reinit_from_xobject(self._XoStruct(self._xobject, _context=_context, _buffer=_buffer, _offset=_offset))
        for name, value in self.__dict__.items():
            if name.startswith("_dressed_"):
                dressed = new._dressed_like(name, value)
                for key, inner in value.__dict__.items():
                    dressed.__dict__.setdefault(key, inner)
        return new

    def _dressed_like(self, name: str, value: HybridClass) -> HybridClass:
        """What is dressed under that name, or else the object that the reference refers to, dressed as `value` is."""
        found: HybridClass | None = self.__dict__.get(name)
        if found is None:
            found = type(value).__new__(type(value))
            found._reinit_from_xobject(getattr(self._xobject, name.removeprefix("_dressed_")))
            found.__dict__["_movable"] = False
            self.__dict__[name] = found
        return found

    def to_dict(self, copy_to_cpu: bool = True) -> dict[str, Any]:
        """Its class and the fields that differ from their defaults, such that `from_dict` makes it again."""
        item = self.copy(_context=_host_context()) if copy_to_cpu else self
        skipped = set(getattr(item, "_skip_in_to_dict", ()))
        stored = [name for name in [*item._py_fnames, *getattr(item, "_store_in_to_dict", ())] if name not in skipped]
        stored = [name for name in stored if item._inverse_rename.get(name, name) not in skipped]
        out: dict[str, Any] = {"__class__": type(self).__name__}
        for name in dict.fromkeys(stored):
            value = getattr(item, name)
            if hasattr(value, "to_dict"):
                out[name] = value.to_dict()
            elif hasattr(value, "_to_dict"):
                out[name] = value._to_dict()
            elif not _is_default(self, item._inverse_rename.get(name, name), value):
                out[name] = value
        return out

    @staticmethod
    def _static_from_dict(cls: Any, dct: dict[str, Any], _context: Any = None, _buffer: Any = None, _offset: Any = None) -> Any:
        fields = {name: value for name, value in dct.items() if name != "__class__"}
        return cls(**fields, _context=_context, _buffer=_buffer, _offset=_offset, _kwargs_name_check=False)

    @classmethod
    def from_dict(cls, dct: dict[str, Any], _context: Any = None, _buffer: Any = None, _offset: Any = None) -> Any:
        """An object from what `to_dict` gave."""
        return HybridClass._static_from_dict(cls, dct, _context=_context, _buffer=_buffer, _offset=_offset)

    def compile_kernels(self, *args: Any, **options: Any) -> None:
        """Compiles the kernels of the class for the object's context."""
        self._xobject.compile_kernels(*args, **options)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_dressed_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._reinit_from_xobject(self._xobject)

    def __repr__(self) -> str:
        names = getattr(self, "_repr_fields", None)
        if names is None:
            skipped = getattr(self, "_skip_in_repr", ())
            names = [*getattr(self, "_add_to_repr", ()), *(name for name in self._py_fnames if not name.startswith("_"))]
            names = [name for name in names if name not in skipped]
        return f"{type(self).__name__}({', '.join(f'{name}={_short(getattr(self, name))}' for name in names)})"

    def _repr_html_(self) -> str:
        rows = [(name, _short(getattr(self, name))) for name in self._py_fnames]
        return table(("field", "value"), rows, caption=f"{type(self).__name__} on {self._context.device.name}")


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, np.ndarray):
        return shown(value)
    return repr(value)


def _host_context() -> Any:
    from .._parloop import Context

    context = current_context()
    return context if context.device.kind == "cpu" else Context("cpu")


_NO_DEFAULT = object()


def _is_default(item: HybridClass, name: str, value: Any) -> bool:
    """Whether a field has the value that it gets when nothing is given."""
    default: Any = getattr(item, f"_default_{name}", None)
    if not default:
        field = next((field for field in item._XoStruct._fields if field.name == name), None)
        default = _NO_DEFAULT if field is None else _default_of(field)
    if default is _NO_DEFAULT:
        return value is None
    try:
        return bool(np.all(np.asarray(default == value)))
    except ValueError:
        return False


def _default_of(field: Any) -> Any:
    if field.default_factory is not None:
        return field.default_factory()
    if field.default is not None:
        return field.default
    ftype = field.ftype
    if isinstance(ftype, Scalar):
        return ftype()
    if isinstance(getattr(ftype, "_itemtype", None), Scalar) and ftype._is_static_shape:
        return np.zeros(ftype._shape, dtype=ftype._itemtype._dtype)
    return None if isinstance(ftype, Ref) else _NO_DEFAULT
