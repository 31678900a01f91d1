"""PyOP2's data: that of `parloop.mesh`, with arithmetic that cuts off what integers cannot hold, and vectors in the place of PETSc's."""

from __future__ import annotations

import contextlib
import functools
import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import mesh
from ...errors import DataValueError, IndexValueError, MapValueError
from ...mesh._petsc import vector
from .arguments import Arg
from .datatypes import as_cstr
from .halos import Exchanged
from .mpi import internal_comm, is_shared, reduced
from .sets import GlobalDataSet
from .vector import Vec, is_for_petsc

if TYPE_CHECKING:
    # Only checkers of types need it.
    from typing_extensions import Self

__all__ = ["Constant", "Dat", "DatView", "Global"]


def _cut(values: Any, dtype: Any) -> Any:
    """The values in that type as PyOP2 converts them: what integers cannot hold is cut off."""
    if values is None or dtype is None:
        return values
    try:
        return np.asarray(values, dtype)
    except (ValueError, OverflowError) as error:
        raise DataValueError(str(error)) from None
    except TypeError:
        # The class itself says what is wrong with the type.
        return values


class _Vectors:
    """The context managers that give PETSc's vectors."""

    def _vec(self, access: str) -> contextlib.AbstractContextManager[Any]:
        return vector(self, access, counts_changes=True) if is_for_petsc(self) else contextlib.nullcontext(Vec(self))

    @property
    def vec(self) -> contextlib.AbstractContextManager[Any]:
        """A vector to read and write."""
        return self._vec("rw")

    @property
    def vec_ro(self) -> contextlib.AbstractContextManager[Any]:
        """A vector to read."""
        return self._vec("ro")

    @property
    def vec_wo(self) -> contextlib.AbstractContextManager[Any]:
        """A vector to write."""
        return self._vec("wo")


class Dat(_Vectors, Exchanged, mesh.Dat):
    """Numbers on each element of a set."""

    def __new__(cls, dataset: Any, data: Any = None, dtype: Any = None, name: Any = None) -> Self:
        return mesh.Dat.__new__(cls, dataset, _cut(data, dtype), dtype, name)

    def __init__(self, dataset: Any, data: Any = None, dtype: Any = None, name: Any = None) -> None:
        self.comm = internal_comm(getattr(dataset, "comm", None), self)

    def __call__(self, access: Any, path: Any = None) -> Any:
        return Arg(super().__call__(access, path), self, access, path)

    @property
    def ctype(self) -> str:
        """The type of the numbers in C."""
        return as_cstr(self.dtype)

    @property
    def _data(self) -> Any:
        return super().data_with_halos

    @_data.setter
    def _data(self, values: Any) -> None:
        self._data[...] = np.reshape(values, self.shape)

    @property
    def data_with_halos(self) -> Any:
        """The values with those of ghosts, which get the values of their owners first."""
        self._renew(mesh.RW)
        return super().data_with_halos

    @property
    def data_ro_with_halos(self) -> Any:
        """As `data_with_halos`, to look at."""
        self._renew(mesh.READ)
        return super().data_ro_with_halos

    def _renew(self, access: Any) -> None:
        if self._halo() is not None:
            self.global_to_local_begin(access)
            self.global_to_local_end(access)

    def freeze_halo(self, access: Any) -> None:
        super().freeze_halo(access)
        self._halo_frozen = True

    def unfreeze_halo(self) -> None:
        super().unfreeze_halo()
        self._halo_frozen = False

    def inner(self, other: Any) -> Any:
        """The sum of the products with another's, whose conjugates are taken, over the elements that the processes own."""
        own = super().inner(other)
        return reduced(self.comm, np.asarray(own), "SUM")[()] if is_shared(self.comm) else own

    @property
    def norm(self) -> float:
        """The square root of the sum of squares over the elements that the processes own."""
        return float(np.sqrt(abs(self.inner(self)))) if is_shared(self.comm) else super().norm

    def increment_dat_version(self) -> None:
        """Says that the numbers were changed."""
        self.data  # noqa: B018 - asking for it counts, and brings what a GPU has

    @property
    def split(self) -> tuple[Self, ...]:
        """Itself, as its only part."""
        return (self,)

    def __getitem__(self, index: Any) -> Self:  # type: ignore[override]
        if index != 0:
            raise IndexValueError(f"a Dat has one part, not {index}; components are had by DatView")
        return self

    def __iter__(self) -> Iterator[Self]:
        yield self

    def __len__(self) -> int:
        return 1

    def _check_subset(self, subset: Any) -> None:
        if subset is not None and subset.superset != self.dataset.set:
            raise MapValueError(f"the subset is of `{subset.superset.name}`, but the data is on `{self.dataset.set.name}`")

    def zero(self, subset: Any = None) -> None:
        self._check_subset(subset)
        super().zero(subset)

    def copy(self, other: Any, subset: Any = None) -> None:  # type: ignore[override]
        self._check_subset(subset)
        super().copy_to(other, subset)

    def __add__(self, other: Any) -> Any:
        return self._combine("add", other, False, True)

    def __radd__(self, other: Any) -> Any:
        return self._combine("add", other, True, True)

    def __sub__(self, other: Any) -> Any:
        return self._combine("sub", other, False, True)

    def __rsub__(self, other: Any) -> Any:
        return self._combine("sub", other, True, True)

    def __mul__(self, other: Any) -> Any:
        return self._combine("mul", other, False, True)

    def __rmul__(self, other: Any) -> Any:
        return self._combine("mul", other, True, True)

    def __truediv__(self, other: Any) -> Any:
        return self._combine("truediv", other, False, True)

    def __iadd__(self, other: Any) -> Self:
        self._update("add", other, True)
        return self

    def __isub__(self, other: Any) -> Self:
        self._update("sub", other, True)
        return self

    def __imul__(self, other: Any) -> Self:
        self._update("mul", other, True)
        return self

    def __itruediv__(self, other: Any) -> Self:
        self._update("truediv", other, True)
        return self

    def __str__(self) -> str:
        return f"OP2 Dat: {self.name} on ({self.dataset}) with datatype {self.dtype.name}"

    def __repr__(self) -> str:
        return f"Dat({self.dataset!r}, None, {self.dtype!r}, {self.name!r})"


class DatView(Exchanged, mesh.DatView):
    """One component of data on a set. Its arithmetic is done by the host."""

    @property
    def comm(self) -> Any:
        """The communicator of the data."""
        return internal_comm(getattr(self.parent, "comm", None), self)

    def __call__(self, access: Any, path: Any = None) -> Any:
        return Arg(super().__call__(access, path), self, access, path)

    @property
    def _data(self) -> Any:
        parent: Any = self.parent
        place = (slice(None), *self.index)
        return parent._data[place]

    @property
    def _halo_frozen(self) -> bool:  # type: ignore[override]
        return isinstance(self.parent, Dat) and self.parent._halo_frozen

    @property
    def cdim(self) -> int:
        """One number for each element."""
        return 1

    @property
    def ctype(self) -> str:
        """The type of the numbers in C."""
        return as_cstr(self.dtype)

    @property
    def nbytes(self) -> int:
        """The bytes of this component, ghosts and all."""
        return int(self.shape[0] * self.dtype.itemsize)

    @property
    def split(self) -> tuple[Self, ...]:
        """Itself, as its only part."""
        return (self,)

    def __getitem__(self, index: Any) -> Self:
        if index != 0:
            raise IndexValueError(f"a DatView has one part, not {index}")
        return self

    def __iter__(self) -> Iterator[Self]:
        yield self

    def __len__(self) -> int:
        return 1

    def increment_dat_version(self) -> None:
        """Says that the numbers were changed."""
        self.data  # noqa: B018 - asking for it counts, and brings what a GPU has

    def zero(self, subset: Any = None) -> None:
        if subset is None:
            super().zero()
        else:
            self.data_with_halos[subset.indices] = 0

    def copy(self, other: Any, subset: Any = None) -> None:
        """Copies this component into other data with one number for each element."""
        if other.cdim != 1:
            self._one_number(other)
        where = slice(None) if subset is None else subset.indices
        other.data_with_halos[where] = self.data_ro_with_halos[where]

    def _one_number(self, other: Any) -> Any:
        raise DataValueError(f"a component has one number for each element, but `{other.name}` has {other.cdim}")

    def _numbers(self, other: Any) -> Any:
        """The numbers that stand beside those of this component."""
        if isinstance(other, (mesh.Dat, mesh.DatView)):
            return other.data_ro.reshape(-1) if other.cdim == 1 else self._one_number(other)
        return other.data_ro if isinstance(other, mesh.Global) else other

    def inner(self, other: Any) -> Any:
        """The sum of the products with another's, whose conjugates are taken."""
        return np.vdot(self._numbers(other), self.data_ro)

    @property
    def norm(self) -> float:
        """The square root of the sum of squares."""
        return float(np.linalg.norm(self.data_ro))

    def save(self, filename: Any) -> None:
        """Writes the numbers of this process's elements to a file of NumPy's."""
        np.save(filename, self.data_ro)

    def load(self, filename: Any) -> None:
        """Reads what `save` wrote."""
        path = str(filename)
        self.data[:] = np.load(path if path.endswith(".npy") else f"{path}.npy")

    def _change(self, other: Any, operation: Any) -> Self:
        values = operation(self.data_ro, self._numbers(other))
        self.data[:] = values.astype(self.dtype)
        return self

    def __iadd__(self, other: Any) -> Self:
        return self._change(other, operator.add)

    def __isub__(self, other: Any) -> Self:
        return self._change(other, operator.sub)

    def __imul__(self, other: Any) -> Self:
        return self._change(other, operator.mul)

    def __itruediv__(self, other: Any) -> Self:
        return self._change(other, operator.truediv)

    def __repr__(self) -> str:
        return f"DatView({self.parent!r}, {self.index})"


class Global(_Vectors, mesh.Global):
    """Numbers that all elements share."""

    def __new__(cls, dim: Any, data: Any = None, dtype: Any = None, name: Any = None, comm: Any = None) -> Self:
        return mesh.Global.__new__(cls, dim, _cut(data, dtype), dtype, name)

    def __init__(self, dim: Any, data: Any = None, dtype: Any = None, name: Any = None, comm: Any = None) -> None:
        self.comm = internal_comm(comm, self)

    def __call__(self, access: Any, map_: Any = None) -> Any:
        if map_ is not None:
            raise MapValueError(f"`{self.name}` is the same for all elements; leave out the map")
        return Arg(super().__call__(access), self, access)

    @functools.cached_property
    def dataset(self) -> GlobalDataSet:
        """The data set of these numbers, on a set of one element."""
        return GlobalDataSet(self)

    @property
    def ctype(self) -> str:
        """The type of the numbers in C."""
        return as_cstr(self.dtype)

    @property
    def data_with_halos(self) -> Any:
        """As `data`."""
        return self.data

    @property
    def data_ro_with_halos(self) -> Any:
        """As `data_ro`."""
        return self.data_ro

    @property
    def _data(self) -> Any:
        return self.data

    @property
    def data_wo_with_halos(self) -> Any:
        """As `data_wo`."""
        return self.data_wo

    @property
    def halo_valid(self) -> bool:
        """There are no ghosts."""
        return True

    @halo_valid.setter
    def halo_valid(self, valid: bool) -> None:
        pass

    def increment_dat_version(self) -> None:
        """Says that the numbers were changed."""
        self.data  # noqa: B018 - asking for it counts, and brings what a GPU has

    @property
    def split(self) -> tuple[Self, ...]:
        """Itself, as its only part."""
        return (self,)

    def __getitem__(self, index: Any) -> Self:
        if index != 0:
            raise IndexValueError(f"a Global has one part, not {index}")
        return self

    def __iter__(self) -> Iterator[Self]:
        yield self

    def __len__(self) -> int:
        return 1

    def copy(self, other: Any, subset: Any = None) -> None:  # type: ignore[override]
        super().copy_to(other)

    def zero(self, subset: Any = None) -> None:
        super().zero()

    def duplicate(self) -> Any:
        return type(self)(self.dim, self.data_ro.copy(), self.dtype, self.name)

    def _made(self, values: Any) -> Any:
        return type(self)(self.dim, np.array(values, self.dtype), self.dtype, self.name)

    def _with(self, other: Any, operation: Any, turned: bool = False) -> Any:
        theirs = other.data_ro if isinstance(other, mesh.Global) else other
        return self._made(operation(theirs, self.data_ro) if turned else operation(self.data_ro, theirs))

    def __neg__(self) -> Any:
        return self._made(-self.data_ro)

    def __pos__(self) -> Any:
        return self.duplicate()

    def __add__(self, other: Any) -> Any:
        return self._with(other, operator.add)

    def __sub__(self, other: Any) -> Any:
        return self._with(other, operator.sub)

    def __mul__(self, other: Any) -> Any:
        return self._with(other, operator.mul)

    def __truediv__(self, other: Any) -> Any:
        return self._with(other, operator.truediv)

    def __radd__(self, other: Any) -> Any:
        return self._with(other, operator.add, True)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, operator.sub, True)

    def __rmul__(self, other: Any) -> Any:
        return self._with(other, operator.mul, True)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with(other, operator.truediv, True)

    def __str__(self) -> str:
        return f"OP2 Global Argument: {self.name} with dim {self.dim} and value {self.data_ro}"

    def __repr__(self) -> str:
        return f"Global({self.dim!r}, {self.data_ro!r}, {self.dtype!r}, {self.name!r})"


class Constant(mesh.Constant):
    """Numbers that all elements share and no loop changes."""

    def __call__(self, access: Any, map_: Any = None) -> Any:
        if map_ is not None:
            raise MapValueError(f"`{self.name}` is the same for all elements; leave out the map")
        return Arg(super().__call__(access), self, access)

    def __new__(cls, dim: Any, data: Any = None, dtype: Any = None, name: Any = None) -> Self:
        return mesh.Constant.__new__(cls, dim, _cut(data, dtype), dtype, name)

    def __str__(self) -> str:
        return f"OP2 Constant Argument: {self.name} with dim {self.dim} and value {self.data_ro}"

    def __repr__(self) -> str:
        return f"Constant({self.dim!r}, {self.data_ro!r}, {self.dtype!r}, {self.name!r})"
