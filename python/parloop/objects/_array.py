"""Arrays of numbers, texts, structs and references."""

from __future__ import annotations

import copyreg
import math
import weakref
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from .. import _shown
from .._html import numbers, table
from .._parloop import Buffer, _ArrayObject, _ObjectType
from ._capi import CApi
from ._scalar import Info, Scalar
from ._show import shown


def split_shape(shape: Any) -> tuple[tuple[int | None, ...], tuple[int, ...]]:
    """Dimensions and order of what stands between brackets: `3`, `:`, `3, 4`, or `3:1, 4:0` with places in the order."""
    dims: list[int | None] = []
    order: list[int] = []
    for axis, dim in enumerate(shape if isinstance(shape, tuple) else (shape,)):
        if isinstance(dim, slice):
            if dim.step is not None:
                raise TypeError(f"a dimension must be n, :, or n:position in the order, not {dim}")
            dims.append(None if dim.start is None else int(dim.start))
            order.append(axis if dim.stop is None else int(dim.stop))
        else:
            dims.append(None if dim is None else int(dim))
            order.append(axis)
    if any(dim is not None and dim < 0 for dim in dims):
        raise ValueError(f"a dimension cannot be negative: {shape}")
    return tuple(dims), tuple(order)


_classes: dict[tuple[int, tuple[int | None, ...], tuple[int, ...]], weakref.ref[type[Array]]] = {}


def array_class(item: Any, shape: Any) -> type[Array]:
    """The class of arrays of `item` with this shape; repeated calls return the same class."""
    return array_class_in_order(item, *split_shape(shape))


def array_class_in_order(item: Any, dims: tuple[int | None, ...], order: tuple[int, ...]) -> type[Array]:
    """The class of arrays of `item` with these dimensions, and with their axes from the slowest to the fastest in `order`."""
    key = (id(item), dims, order)
    known = _classes.get(key)
    found = known() if known is not None else None
    if found is not None and found._itemtype is item:
        return found
    ty = _ObjectType.array(item._type, dims, order)
    body = {"_itemtype": item, "_shape": dims, "_order": order, "__module__": "parloop.objects"}
    made: Any = MetaArray(ty.name, (Array,), body)
    _classes[key] = weakref.ref(made)
    return made  # type: ignore[no-any-return]


class MetaArray(CApi):
    """The class of array classes."""

    _type: _ObjectType
    _itemtype: Any
    _class_shape: tuple[int | None, ...]
    _order: tuple[int, ...]
    _c_type: str
    _has_refs: bool
    _data_offset: int
    _is_static_shape: bool
    _is_static_type: bool
    _dshape_idx: list[int]

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> MetaArray:
        base: Any = next((base for base in bases if getattr(base, "_itemtype", None) is not None), None)
        if "_itemtype" in body:
            item, shape, order = body["_itemtype"], tuple(body.get("_shape", ())), body.get("_order", "C")
            if "_shape" not in body:
                raise ValueError(f"array {name} needs a _shape")
        elif base is not None:
            item, shape, order = base._itemtype, base._class_shape, base._order
        else:
            return super().__new__(cls, name, bases, body)
        axes = len(shape)
        order = {"C": tuple(range(axes)), "F": tuple(reversed(range(axes)))}[order] if isinstance(order, str) else tuple(order)
        ty = _ObjectType.array(item._type, shape, order, name)
        body = {key: value for key, value in body.items() if key not in ("_shape", "_order")}
        new = super().__new__(cls, name, bases, body)
        new._type = ty
        new._itemtype = item
        new._class_shape = shape
        new._order = order
        new._c_type = name
        new._has_refs = ty.has_refs
        new._data_offset = ty.data_offset
        new._is_static_shape = None not in shape
        new._is_static_type = item._type.size is not None
        new._dshape_idx = [axis for axis, dim in enumerate(shape) if dim is None]
        ty.set_class(new)
        return new

    # Any, since it also is the type of a field in the body of a struct.
    def __getitem__(cls, shape: Any) -> Any:
        return array_class(cls, shape)

    # What a class says of all its objects; each object has the same names for itself.
    @property
    def _size(cls) -> int | None:
        return cls._type.size

    @property
    def _shape(cls) -> tuple[int | None, ...]:
        return cls._class_shape

    @property
    def _strides(cls) -> tuple[int, ...]:
        strides = cls._type.strides
        if strides is None:
            raise AttributeError(f"each {cls.__name__} has its own strides")
        return tuple(strides)

    def __repr__(cls) -> str:
        return f"<array {cls.__name__}>"

    def _get_inner_types(cls) -> list[Any]:
        return [cls._itemtype]

    def _get_n_items(cls) -> int:
        if not cls._is_static_shape:
            raise ValueError("Cannot get n items from dynamic shapes")
        return math.prod(dim or 0 for dim in cls._class_shape)

    def _inspect_args(cls, *args: Any) -> Info:
        value = None
        if args and args[0] is not None and not isinstance(args[0], (int, np.integer)):
            value = args[0]
        made = cls(*args)
        return Info(size=made._get_size(), shape=made._shape, strides=made._strides, value=value, items=len(made))


def _reduce_class(cls: MetaArray) -> str | tuple[Any, ...]:
    known = _classes.get((id(getattr(cls, "_itemtype", None)), getattr(cls, "_class_shape", ()), getattr(cls, "_order", ())))
    if known is not None and known() is cls:
        return array_class_in_order, (cls._itemtype, cls._class_shape, cls._order)
    return cls.__qualname__


# Classes that were made from brackets are found again by what they are made of.
copyreg.pickle(MetaArray, _reduce_class)


class Array(_ArrayObject, metaclass=MetaArray):
    """An array in a buffer. Its shape is fixed when it is made.

    Make it from dimensions, lists, NumPy arrays of any order, or other arrays.

    >>> import numpy as np, parloop.objects as xo
    >>> a = xo.Float64[:, :]([[1, 2, 3], [4, 5, 6]])
    >>> a[1, -1], a._shape, a._size
    (6.0, (2, 3), 88)
    >>> a[:, 0]
    array([1., 4.])
    >>> np.sum(a)
    np.float64(21.0)
    """

    _itemtype: ClassVar[Any]
    _class_shape: ClassVar[tuple[int | None, ...]]
    _order: ClassVar[tuple[int, ...]]
    _c_type: ClassVar[str]
    _data_offset: ClassVar[int]
    _is_static_shape: ClassVar[bool]
    _is_static_type: ClassVar[bool]
    _dshape_idx: ClassVar[list[int]]
    _has_refs: ClassVar[bool]
    _type: ClassVar[_ObjectType]

    @property
    def _shape(self) -> tuple[int, ...]:
        return self._dims

    @property
    def _strides(self) -> tuple[int, ...]:
        return self._steps

    @property
    def _size(self) -> int:
        return self._get_size()

    @property
    def shape(self) -> tuple[int, ...]:
        """Its dimensions."""
        return self._dims

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its numbers."""
        if not isinstance(self._itemtype, Scalar):
            raise AttributeError(f"{type(self).__name__} holds objects, which have no dtype")
        return self._itemtype._dtype

    @classmethod
    def _to_buffer(cls, buffer: Buffer, offset: int, value: Any, info: Any = None) -> None:
        cls(value, _buffer=buffer, _offset=offset)

    def _get_offset(self, index: Any) -> int:
        return self._item_offset(index)

    def _iter_index(self) -> Iterator[Any]:
        return iter_index(self._dims, self._order)

    def __iter__(self) -> Iterator[Any]:
        if isinstance(self._itemtype, Scalar):
            return iter(self.to_nparray())
        return (self[index] for index in np.ndindex(*self._dims))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        array = self.to_nparray()
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack__(self, **options: Any) -> Any:
        return self.to_nplike().__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.to_nplike().__dlpack_device__()

    def _to_dict(self) -> Any:
        if isinstance(self._itemtype, Scalar):
            return self.to_nparray().tolist()
        from ._ref import MetaUnionRef

        is_union = isinstance(self._itemtype, MetaUnionRef)
        out = np.empty(self._dims, dtype=object)
        for index in np.ndindex(*self._dims):
            item = self[index]
            value = item._to_dict() if hasattr(item, "_to_dict") else item
            out[index] = (type(item).__name__, value) if is_union and item is not None else value
        return out.tolist()

    def __repr__(self) -> str:
        shape = "x".join(map(str, self._dims))
        if not isinstance(self._itemtype, Scalar):
            return f"<{type(self).__name__} {shape} at {self._offset}>"
        if len(self) <= 20:
            return f"<{type(self).__name__} {shape}: {self.to_nparray().tolist()}>"
        return f"<{type(self).__name__} {shape}: {_shown.text(*_shown.of_array(self.to_nplike()), separator=', ')}>"

    def _repr_html_(self) -> str:
        about = f"{type(self).__name__}, shape {tuple(self._dims)}, on {self._context.device.name}"
        if isinstance(self._itemtype, Scalar):
            return numbers(*_shown.of_array(self.to_nplike()), about)
        rows: list[tuple[object, str]] = [(index, shown(item)) for index, item in zip(range(10), self, strict=False)]
        return table(("", "item"), rows + [("…", "")] * (math.prod(self._dims) > len(rows)), caption=about)

    def __reduce__(self) -> Any:
        from ._pickle import reduce

        return reduce(self)


def iter_index(shape: tuple[int, ...], order: Any) -> Iterator[Any]:
    """Every index of a shape in the order of memory; plain integers along one axis."""
    if len(shape) == 1:
        yield from range(shape[0])
        return
    back = [list(order).index(axis) for axis in range(len(shape))]
    for index in np.ndindex(*[shape[axis] for axis in order]):
        yield tuple(index[place] for place in back)
