"""Data of several parts: on several sets, and Globals among them."""

from __future__ import annotations

import contextlib
import functools
import math
import operator
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._parloop import DataSetTypeError, DataValueError, MapTypeError, MapValueError, _Access, _overlaps
from .._parloop import _Arg as Arg
from .._parloop import _Dat as Dat
from .._parloop import _DataSet as DataSet
from .._parloop import _Global as Global
from .._parloop import _Map as Map
from .._parloop import _Set as Set
from ._mixed import GlobalDataSet, MixedDataSet, MixedMap, MixedSet
from ._parts import Parts, kind, listed
from ._petsc import mixed_vector

if TYPE_CHECKING:
    # Only checkers of types need it.
    from typing_extensions import Self


class MixedDat(Parts["Dat | Global"]):
    """Numbers on several sets, used as one: a velocity and a pressure, say. Parts can be Globals.

    Parameters
    ----------
    parts
        Dats and Globals, which are used as they are, or sets, data sets, a :class:`MixedSet` or a :class:`MixedDataSet`, on which zeros are put.
        Of another MixedDat it becomes a copy.
    dtype
        The type of parts that are made here; ``float64`` unless said otherwise. All parts have the same type.

    Notes
    -----
    ``mixed(access, mixed_map)`` is an argument of a loop: the kernel gets the numbers of all parts as one array, part after part.
    Arithmetic takes a MixedDat or a list with as many parts, a number or a Global. A part that occurs twice is changed twice. Arithmetic in place,
    `axpy` and `copy` read the numbers of the other side as they were before any part was changed, also where both sides have the same parts in another
    order, or different Dats and Globals over the same memory. What does not fit is refused before a part is changed.

    Examples
    --------
    >>> import parloop.mesh as op2
    >>> cells, nodes = op2.Set(2, "cells"), op2.Set(3, "nodes")
    >>> u = op2.MixedDat([op2.Dat(cells, [3.0, 0.0], name="p"), op2.Dat(nodes, [0.0, 4.0, 0.0], name="v")])
    >>> u.norm
    5.0
    >>> u += 1
    >>> [values.tolist() for values in (2 * u).data_ro]
    [[8.0, 2.0], [2.0, 10.0, 2.0]]
    >>> u.axpy(-1.0, u)
    >>> u.norm
    0.0
    """

    #: NumPy's numbers leave arithmetic to this class.
    __array_ufunc__ = None

    def __init__(self, parts: Iterable[Dat | Global | DataSet | Set], dtype: npt.DTypeLike | None = None) -> None:
        given = listed(parts, "a MixedDat", DataSetTypeError)
        made = [self._copied(part) if isinstance(parts, MixedDat) else self._made(part, number, dtype) for number, part in enumerate(given)]
        for part in made[1:]:
            if part.dtype != made[0].dtype:
                what = f"`{made[0].name}` has {made[0].dtype}, but `{part.name}` has {part.dtype}"
                raise DataValueError(f"the parts of a MixedDat must have the same type: {what}")
        self._parts = tuple(made)

    def _made(self, part: Any, number: int, dtype: npt.DTypeLike | None) -> Dat | Global:
        """A part as it was given, or zeros on what was given."""
        if isinstance(part, (Dat, Global)):
            return part
        if isinstance(part, GlobalDataSet):
            return self._zero_global(part.dim, dtype)
        if isinstance(part, (Set, DataSet)):
            return self._zeros(part, dtype)
        raise DataSetTypeError(f"part {number} of a MixedDat is {kind(part)}; give a Dat, a Global, a DataSet or a Set")

    def _copied(self, part: Any) -> Dat | Global:
        return Global(part) if isinstance(part, Global) else Dat(part)

    def _zeros(self, dataset: DataSet | Set, dtype: npt.DTypeLike | None) -> Dat:
        return Dat(dataset, dtype=dtype)

    def _zero_global(self, dim: tuple[int, ...], dtype: npt.DTypeLike | None) -> Global:
        return Global(dim, dtype=dtype)

    def __call__(self, access: _Access, map: MixedMap | Sequence[Map | None] | None = None) -> Arg:
        """An argument of a loop: of each element, or through a map for each part. A Global has no map, or ``None``."""
        if map is None:
            maps: Sequence[Map | None] = [None] * len(self)
        elif isinstance(map, Map):
            raise MapTypeError(f"data of {len(self)} parts needs a MixedMap, not the Map `{map.name}`")
        else:
            maps = (map if isinstance(map, MixedMap) else MixedMap(map)).split
        if len(maps) != len(self):
            raise MapValueError(f"data of {len(self)} parts needs a MixedMap with the same number of maps, not {len(maps)}")
        return Arg.mixed([_argument(part, access, via) for part, via in zip(self, maps)])

    @property
    def dataset(self) -> MixedDataSet:
        """The data sets of the parts."""
        return MixedDataSet(GlobalDataSet(part) if isinstance(part, Global) else part.dataset for part in self)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers."""
        return self._parts[0].dtype

    @property
    def name(self) -> tuple[str, ...]:
        """The names of the parts."""
        return tuple(part.name for part in self)

    @property
    def dim(self) -> tuple[tuple[int, ...], ...]:
        """The dimension of each part."""
        return tuple(part.dim for part in self)

    @property
    def cdim(self) -> int:
        """The numbers on one element of each part, summed up."""
        return sum(part.cdim for part in self)

    @property
    def shape(self) -> tuple[tuple[int, ...], ...]:
        """The shape of each part's numbers, ghosts and all."""
        return tuple(part.shape for part in self)

    @property
    def nbytes(self) -> int:
        """The bytes of all numbers."""
        return sum(part.nbytes for part in self)

    @property
    def data(self) -> tuple[npt.NDArray[Any], ...]:
        """The numbers of each part, which may be changed through the arrays."""
        return tuple(part.data for part in self)

    @property
    def data_ro(self) -> tuple[npt.NDArray[Any], ...]:
        """The numbers of each part, to look at."""
        return tuple(part.data_ro for part in self)

    @property
    def data_wo(self) -> tuple[npt.NDArray[Any], ...]:
        """The numbers of each part, all of which are to be written."""
        return tuple(part.data_wo for part in self)

    @property
    def data_with_halos(self) -> tuple[npt.NDArray[Any], ...]:
        """As `data`, with the ghosts."""
        return tuple(part.data if isinstance(part, Global) else part.data_with_halos for part in self)

    @property
    def data_ro_with_halos(self) -> tuple[npt.NDArray[Any], ...]:
        """As `data_ro`, with the ghosts."""
        return tuple(part.data_ro if isinstance(part, Global) else part.data_ro_with_halos for part in self)

    @property
    def data_wo_with_halos(self) -> tuple[npt.NDArray[Any], ...]:
        """As `data_wo`, with the ghosts."""
        return tuple(part.data_wo if isinstance(part, Global) else part.data_wo_with_halos for part in self)

    @property
    def vec(self) -> contextlib.AbstractContextManager[Any]:
        """``with mixed.vec as v:`` gives all numbers as a vector of PETSc's. It is a copy, which is put back at the end."""
        return mixed_vector(self, "rw")

    @property
    def vec_ro(self) -> contextlib.AbstractContextManager[Any]:
        """As `vec`, to read."""
        return mixed_vector(self, "ro")

    @property
    def vec_wo(self) -> contextlib.AbstractContextManager[Any]:
        """As `vec`, to write all of it."""
        return mixed_vector(self, "wo")

    @property
    def dat_version(self) -> int:
        """How often the numbers of each part were, or may have been, changed, summed up."""
        return sum(part.dat_version for part in self)

    def _dats(self) -> list[Dat]:
        """The parts that have ghosts."""
        return [part for part in self if isinstance(part, Dat)]

    @property
    def halo_valid(self) -> bool:
        """Whether the ghosts of all parts have the values of their owners."""
        return all(part.halo_valid for part in self._dats())

    @halo_valid.setter
    def halo_valid(self, valid: bool) -> None:
        for part in self._dats():
            part.halo_valid = valid

    @contextlib.contextmanager
    def frozen_halo(self, access: _Access) -> Iterator[None]:
        """Inside ``with mixed.frozen_halo(access):`` ghosts are not exchanged, and loops use the data with that access only."""
        with contextlib.ExitStack() as stack:
            for part in self._dats():
                stack.enter_context(part.frozen_halo(access))
            yield

    def freeze_halo(self, access: _Access) -> None:
        """Defers ghost exchanges; loops may use the data with that access only."""
        for part in self._dats():
            part.freeze_halo(access)

    def unfreeze_halo(self) -> None:
        """Ends `freeze_halo`."""
        for part in self._dats():
            part.unfreeze_halo()

    def zero(self) -> None:
        """Sets all numbers to zero."""
        for part in self:
            part.zero()

    def copy(self, other: MixedDat | None = None) -> MixedDat | None:
        """Another with the same numbers. ``mixed.copy(other)`` is `copy_to` by its older name."""
        if other is None:
            return MixedDat(self)
        warnings.warn("copy() takes no arguments and returns a copy; use copy_to(other) to copy into existing data", DeprecationWarning, stacklevel=2)
        self.copy_to(other)
        return None

    def copy_to(self, other: MixedDat) -> None:
        """Copies the numbers into another with the same parts."""
        targets = self._matching(other)
        for number, (part, to) in enumerate(zip(self, targets)):
            if any(_overlaps(to, before) and part is not mine for before, mine in zip(targets[:number], self)):
                raise DataValueError(f"`{to.name}` appears twice among the destinations, but cannot hold the values of both")
            if not _is_alike(part, to):
                trial: Any = self._copied(to) if isinstance(to, (Dat, Global)) else to
                part.copy_to(trial)
        for part, to in zip(self._before(targets, self.split), targets):
            part.copy_to(to)

    def save(self, filename: str | os.PathLike[str]) -> None:
        """Writes the numbers of this process's elements to a file of NumPy's, ``.npy``: one array, part after part."""
        np.save(filename, np.concatenate([values.ravel() for values in self.data_ro]))

    def load(self, filename: str | os.PathLike[str]) -> None:
        """Reads what `save` wrote. The suffix ``.npy`` is added where it is missing."""
        path = os.fspath(filename)
        path = path if path.endswith(".npy") else f"{path}.npy"
        found, sizes = np.load(path), [values.size for values in self.data_ro]
        if found.size != sum(sizes):
            raise DataValueError(f"the parts of {self!r} have {sum(sizes)} numbers without ghosts, but {path} has {found.size}")
        # A Dat checks that its type holds the numbers.
        numbers = Dat(Set(found.size), found.ravel(), self.dtype).data_ro
        for values, end, size in zip(self.data_wo, np.cumsum(sizes), sizes):
            values[...] = numbers[end - size : end].reshape(values.shape)

    def inner(self, other: MixedDat) -> Any:
        """The sum of the inner products of the parts."""
        return sum(part.inner(theirs) for part, theirs in zip(self, self._matching(other)))

    @property
    def norm(self) -> float:
        """The square root of the sum of squares of all numbers."""
        return math.hypot(*(float(np.linalg.norm(part.data_ro)) if isinstance(part, Global) else part.norm for part in self))

    def axpy(self, alpha: complex | Global, other: MixedDat) -> None:
        """Adds `alpha` times another's numbers."""
        self.maxpy([alpha], [other])

    def maxpy(self, alphas: Iterable[complex | Global], others: Iterable[MixedDat]) -> None:
        """Adds the numbers of several others, each times its `alpha`. Parts among them count as they were before."""
        alphas, others = list(alphas), list(others)
        if len(alphas) != len(others):
            raise DataValueError(f"maxpy needs a factor for each summand, but got {len(alphas)} factors and {len(others)} summands")
        summands = [self._matching(other) for other in others]
        for alpha, beside in zip(alphas, summands):
            self._try(functools.partial(_add_multiple, alpha), beside, functools.partial(_is_plain_multiple, alpha))
        # A factor that is a part keeps its number as the parts change.
        factors: list[Any] = [self._copied(alpha) if any(_overlaps(alpha, part) for part in self) else alpha for alpha in alphas]
        # And so does a later summand.
        summands[1:] = [[self._copied(each) if any(_overlaps(each, part) for part in self) else each for each in beside] for beside in summands[1:]]
        for alpha, beside in zip(factors, summands):
            for part, theirs in zip(self, self._before(self.split, beside)):
                _add_multiple(alpha, part, theirs)

    def _matching(self, other: Any) -> Sequence[Any]:
        """The parts of another that stand beside these."""
        parts = list(other) if isinstance(other, (MixedDat, list, tuple)) else None
        if parts is None:
            raise DataValueError(f"expected data of {len(self)} parts, not {kind(other)}; pass a MixedDat")
        if len(parts) != len(self):
            raise DataValueError(f"expected data of {len(self)} parts, not {len(parts)}")
        for number, (part, theirs) in enumerate(zip(self, parts)):
            if isinstance(part, Global) != isinstance(theirs, Global):
                mine, found = ("a Global", kind(theirs)) if isinstance(part, Global) else (f"on `{part.dataset.set.name}`", kind(theirs))
                raise DataValueError(f"part {number} is {mine}, but its counterpart is {found}")
        return parts

    def _beside(self, other: Any) -> Sequence[Any] | None:
        """What stands beside each part in arithmetic; nothing where it cannot."""
        if isinstance(other, (MixedDat, list, tuple)):
            return self._matching(other)
        return [other] * len(self) if isinstance(other, (int, float, complex, np.number, Global)) else None

    def _before(self, changed: Sequence[Any], read: Sequence[Any]) -> list[Any]:
        """What is read at each place, copied where a change at an earlier place would be seen, or one of other data at this place."""

        def is_changed(number: int, each: Any) -> bool:
            return any(_overlaps(each, other) for other in changed[:number]) or each is not changed[number] and _overlaps(each, changed[number])

        return [self._copied(each) if is_changed(number, each) else each for number, each in enumerate(read)]

    def _try(self, operation: Callable[[Any, Any], Any], beside: Sequence[Any], is_plain: Callable[[Any, Any], bool]) -> None:
        """Fails where an operation in place would fail for some part. Where it is not plain that it cannot, it is done with a copy of the part."""
        for part, theirs in zip(self, beside):
            if not is_plain(part, theirs):
                operation(self._copied(part), theirs)

    def _like(self, parts: Iterable[Dat | Global]) -> Self:
        return type(self)(list(parts))

    def _with(self, other: Any, operation: Callable[[Any, Any], Any], turned: bool = False) -> Any:
        beside = self._beside(other)
        if beside is None:
            return NotImplemented
        return self._like(operation(theirs, part) if turned else operation(part, theirs) for part, theirs in zip(self, beside))

    def _change(self, other: Any, operation: Callable[[Any, Any], Any]) -> Any:
        beside = self._beside(other)
        if beside is None:
            return NotImplemented
        self._try(operation, beside, _is_plain)
        for part, theirs in zip(self, self._before(self.split, beside)):
            operation(part, theirs)
        return self

    def __pos__(self) -> Self:
        return self._like(+part for part in self)

    def __neg__(self) -> Self:
        return self._like(-part for part in self)

    def __add__(self, other: Any) -> Self:
        return self._with(other, operator.add)  # type: ignore[no-any-return]

    def __radd__(self, other: Any) -> Self:
        return self._with(other, operator.add, True)  # type: ignore[no-any-return]

    def __sub__(self, other: Any) -> Self:
        return self._with(other, operator.sub)  # type: ignore[no-any-return]

    def __rsub__(self, other: Any) -> Self:
        return self._with(other, operator.sub, True)  # type: ignore[no-any-return]

    def __mul__(self, other: Any) -> Self:
        return self._with(other, operator.mul)  # type: ignore[no-any-return]

    def __rmul__(self, other: Any) -> Self:
        return self._with(other, operator.mul, True)  # type: ignore[no-any-return]

    def __truediv__(self, other: Any) -> Self:
        return self._with(other, operator.truediv)  # type: ignore[no-any-return]

    def __rtruediv__(self, other: Any) -> Self:
        return self._with(other, operator.truediv, True)  # type: ignore[no-any-return]

    def __iadd__(self, other: Any) -> Self:
        return self._change(other, operator.iadd)  # type: ignore[no-any-return]

    def __isub__(self, other: Any) -> Self:
        return self._change(other, operator.isub)  # type: ignore[no-any-return]

    def __imul__(self, other: Any) -> Self:
        return self._change(other, operator.imul)  # type: ignore[no-any-return]

    def __itruediv__(self, other: Any) -> Self:
        return self._change(other, operator.itruediv)  # type: ignore[no-any-return]


def _is_alike(part: Dat | Global, other: Any) -> bool:
    """Whether both have numbers of one type at the same places."""
    if isinstance(part, Global):
        return isinstance(other, Global) and (other.dtype, other.dim) == (part.dtype, part.dim)
    return isinstance(other, Dat) and other.dtype == part.dtype and other.dataset == part.dataset


def _is_plain(part: Dat | Global, other: Any) -> bool:
    """Whether it is plain to see that arithmetic of a part with another, a Global or a number cannot fail."""
    if part.dtype.kind not in "fc":
        return False
    kinds: Any = (int, float, np.integer, np.float32, *([complex] if part.dtype.kind == "c" else []))
    if isinstance(other, kinds):
        # Larger ones may be too large for the type.
        return bool(abs(other) < 2**31)
    return _is_alike(part, other) or isinstance(other, Global) and other.cdim == 1 and other.dtype == part.dtype


def _is_plain_multiple(alpha: complex | Global, part: Dat | Global, theirs: Any) -> bool:
    return _is_alike(part, theirs) and _is_plain(part, alpha)


def _add_multiple(alpha: complex | Global, part: Dat | Global, theirs: Any) -> None:
    if isinstance(part, Global):
        part += theirs * (alpha.data_ro if isinstance(alpha, Global) else alpha)
    else:
        part.axpy(alpha, theirs)


def _argument(part: Dat | Global, access: _Access, via: Map | None) -> Arg:
    """The argument of one part."""
    if not isinstance(part, Global):
        return Dat.__call__(part, access, via)
    if via is not None:
        raise MapValueError(f"part `{part.name}` is a Global, which is the same for all elements; use None instead of map `{via.name}`")
    return Global.__call__(part, access)
