"""A PyOP2 loop over a part of its set, as a Parloop loop."""

from __future__ import annotations

import contextlib
import dataclasses
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import mesh
from ..mesh._described import AnyArg, DatArg, GlobalArg, GridArg, Loop, MatArg, MixedArg
from ._adopt import Span, dat_of, global_of, map_of, set_of, target_set, whole, written_global
from ._collected import Collected, Over, collect
from ._kernels import Call, source_of
from ._left import LeftToPyOP2, OutOfPlace
from ._matrices import Adopted, adopt

Step = Callable[[], None]


class LoopArguments:
    """What a loop of PyOP2's runs over and with: its kernel, set, data and maps, and rows and columns that matrices do not get. It keeps no data;
    `forget` is called when some of it goes."""

    def __init__(self, loop: Any, forget: Callable[[], object] = lambda: None) -> None:
        self._kernel = loop.global_kernel
        self._objects = tuple(_reference(of, forget) for of in _objects(loop))
        self._lgmaps = tuple(_lgmaps_of(arg) for arg in loop.arguments)

    def is_same(self, loop: Any) -> bool:
        """Whether a loop has them."""
        objects = _objects(loop)
        if self._kernel is not loop.global_kernel or len(objects) != len(self._objects):
            return False
        if any(known() is not of for known, of in zip(self._objects, objects, strict=True)):
            return False
        lgmaps = (_lgmaps_of(arg) for arg in loop.arguments)
        return all(_are_same(*both, loop.comm.size == 1) for both in zip(self._lgmaps, lgmaps, strict=True))


def _objects(loop: Any) -> list[Any]:
    """The set, data and maps of a loop."""
    objects = [loop.iterset]
    for arg in loop.arguments:
        maps = getattr(arg, "maps", getattr(arg, "map_", None))
        objects += [arg.data, *(maps if isinstance(maps, tuple) else [maps])]
    return objects


def matrix_of(arg: Any) -> Any:
    """The matrix of an argument, if it is one that is not mixed."""
    return arg.data if type(arg).__name__ == "MatParloopArg" else None


def _lgmaps_of(arg: Any) -> Any:
    """The local-to-global maps of a matrix: those of the argument, or PETSc's."""
    given = getattr(arg, "lgmaps", None)
    return given if given is not None or matrix_of(arg) is None else arg.data.handle.getLGMap()


def _are_same(known: Any, lgmaps: Any, compares: bool) -> bool:
    """Whether local-to-global maps are those that are known. Firedrake makes new ones for each assembly with boundary conditions, so that their
    numbers are compared; several processes, which must come to the same conclusion, compare nothing."""
    if known is lgmaps or known is None or lgmaps is None:
        return known is lgmaps
    if isinstance(known, (tuple, list)):
        return len(known) == len(lgmaps) and all(_are_same(*pair, compares) for pair in zip(known, lgmaps, strict=True))
    if known.handle == lgmaps.handle:
        return True
    # PETSc's matrices that were transposed or converted in place have none.
    if not compares or not known.handle or not lgmaps.handle or known.block_size != lgmaps.block_size:
        return False
    return bool(np.array_equal(known.block_indices, lgmaps.block_indices))


def _reference(of: Any, forget: Callable[[], object]) -> Callable[[], Any]:
    """What gives the object as long as it lives; addresses, which are passed as numbers, are kept."""
    return (lambda: of) if of is None or isinstance(of, int) else weakref.ref(of, lambda _: forget())


@dataclasses.dataclass
class Prepared:
    """A Parloop loop, and what is done around it."""

    described: Loop
    run: Any
    #: Done before and after each run.
    before: list[Step]
    after: list[Step]
    #: Matrices whose numbers may have moved since.
    matrices: list[Adopted | Collected]

    def is_valid(self) -> bool:
        """Whether the numbers of all matrices are where they were."""
        return all(mat.is_there() for mat in self.matrices)

    def is_in_place(self) -> bool:
        """Whether matrices are written where PETSc has them."""
        return all(isinstance(mat, Adopted) for mat in self.matrices)

    def __call__(self, around: Callable[[Loop], contextlib.AbstractContextManager[None]] | None = None) -> None:
        """Runs it; `around` is entered between what is done before and the run itself."""
        for step in self.before:
            step()
        with around(self.described) if around is not None else contextlib.nullcontext():
            self.run()
        for step in self.after:
            step()


def prepare(loop: Any, part: Any, context: Any) -> Prepared:
    """Makes ready what PyOP2 would run over a part of the loop's set."""
    return _Preparing(loop, part, context).made()


class _Preparing:
    """What is gathered of the arguments of a loop."""

    def __init__(self, loop: Any, part: Any, context: Any) -> None:
        self.loop, self.part, self.context = loop, part, context
        self.kernel = loop.global_kernel
        self.is_facets = _region(self.kernel) == "ON_INTERIOR_FACETS"
        iterset = loop.iterset
        #: Which rows of maps and data the loop has.
        self.span: Span = (int(part.offset), int(part.size))
        self.base = self.set = set_of(iterset, self.span)
        if type(iterset).__name__ == "Subset":
            # It has numbers of the whole set, whose rows it picks.
            self.span = whole(iterset.superset)
            self.base = set_of(iterset.superset, self.span)
        self.before: list[Step] = []
        self.after: list[Step] = []
        self.matrices: list[Adopted | Collected] = []
        self.zeroed: list[int] = []

    def made(self) -> Prepared:
        kernel, local = self.kernel, self.loop.local_kernel
        args = [self.argument(access.access, given, arg) for access, given, arg in self.loop.zipped_arguments]
        call = Call(tuple(self.zeroed), bool(kernel._pass_layer_arg))
        source = source_of(local, call)
        if source.libraries and self.context.device.kind != "cpu":
            raise LeftToPyOP2("a kernel with arguments for the linker, on a device")
        described = Loop(source, self.set, tuple(args), _region(kernel), call.passes_layer)
        return Prepared(described, described.made(self.context), self.before, self.after, self.matrices)

    def argument(self, access: Any, given: Any, arg: Any) -> AnyArg:
        """One argument; how many numbers of it are to be zero first is noted."""
        made: AnyArg
        kind, zeroed = type(given).__name__, 0
        if kind == "GlobalKernelArg":
            if access.name in ("WRITE", "RW"):
                made, zeroed = self.written(access.name, arg.data)
            else:
                made = self.shared(access.name, given, arg.data)
        elif kind == "DatKernelArg":
            made, zeroed = self.dat(access.name, arg.data, arg.map_)
        elif kind == "MixedDatKernelArg":
            parts = [self.dat(access.name, dat, map_) for dat, map_ in zip(arg.data, arg.map_, strict=True)]
            made, zeroed = MixedArg(tuple(part for part, _ in parts)), sum(count for _, count in parts)
        elif kind == "MatKernelArg":
            made = self.matrix(access.name, arg.data, arg.maps, None if arg.lgmaps is None else arg.lgmaps[0])
        elif kind == "MixedMatKernelArg":
            made = self.grid(access.name, arg)
        else:
            raise LeftToPyOP2(f"a {kind}")
        self.zeroed.append(zeroed)
        return made

    def shared(self, access: str, given: Any, data: Any) -> GlobalArg:
        if access in ("MIN", "MAX") and self.loop.local_kernel.requires_zeroed_output_arguments:
            raise LeftToPyOP2(f"{access} of a kernel that needs zeros")
        if not given.double:
            made = global_of(data, access)
            self.follow(made, access)
            return GlobalArg(made, access)
        # The kernel gets the numbers for both cells of a facet.
        if access != "READ":
            raise LeftToPyOP2(f"a Global with {access} for both cells of a facet")
        source = data._data.reshape(-1)
        twice = mesh.Global(2 * source.size, np.tile(source, 2))

        def renew() -> None:
            twice.data = np.tile(source, 2)

        self.before.append(renew)
        return GlobalArg(twice, access)

    def written(self, access: str, data: Any) -> tuple[DatArg, int]:
        """A Global that elements write, one after another: data on the one element to which a map leads from all of them."""
        if self.is_facets:
            raise LeftToPyOP2(f"a Global with {access} on facets between layers")
        made, through = written_global(data, self.base, self.span[1], access, self.kernel._extruded)
        self.follow(made, access)
        return DatArg(made, access, through), made.cdim if access == "WRITE" else 0

    def dat(self, access: str, data: Any, map_: Any) -> tuple[DatArg, int]:
        index = None
        if type(data).__name__ == "DatView":
            index, data = data.index, data._parent
        if type(data).__name__ != "Dat":
            raise LeftToPyOP2(f"a {type(data).__name__} as an argument with a map")
        if map_ is None:
            return self.direct(access, data, index), 0
        if access in ("MIN", "MAX") and self.loop.local_kernel.requires_zeroed_output_arguments:
            raise LeftToPyOP2(f"{access} of a kernel that needs zeros")
        through = map_of(map_, self.span)
        on = target_set(data.dataset.set)
        made = dat_of(data, on, data._data, access)
        self.follow(made, access)
        count = map_.arity * (2 if self.is_facets else 1) * (1 if index is not None else made.cdim)
        return DatArg(made, access, through, index), count if access == "WRITE" else 0

    def direct(self, access: str, data: Any, index: Any) -> DatArg:
        """Data of the elements themselves. PyOP2 hands kernels the address of it: they may read what is there and leave it alone."""
        first, count = self.span
        on = self.base.parent if self.kernel._extruded else self.base
        array = data._data if (first, count) == whole(data.dataset.set) else data._data[first : first + count]
        made = dat_of(data, on, array, access)
        self.follow(made, access)
        if not self.kernel._extruded:
            return DatArg(made, "READ" if access == "READ" else "RW", None, index)
        if access in ("WRITE", "RW"):
            raise LeftToPyOP2(f"{access} of data that all cells of a column share")
        return DatArg(made, access, None, index)

    def matrix(self, access: str, mat: Any, maps: Any, lgmaps: Any) -> MatArg:
        if access not in ("INC", "WRITE"):
            raise LeftToPyOP2(f"a matrix with {access}")
        row_map, column_map = (map_of(map_, self.span) for map_ in maps)
        of_ours: Adopted | Collected
        try:
            of_ours = adopt(mat)
            rows, columns = of_ours.dropped(mat.handle.getLGMap() if lgmaps is None else lgmaps)
        except OutOfPlace:
            over = Over(self.set, _region(self.kernel), maps[0])
            of_ours = collect(mat, access, over, (row_map, column_map), mat.dims[0][0])
            rows, columns = of_ours.dropped()
        self.matrices.append(of_ours)
        self.before.append(of_ours.fetch)
        self.follow(of_ours.mat, access)
        self.after.append(of_ours.store)
        return MatArg(of_ours.mat, access, (row_map, column_map), (rows, columns))

    def grid(self, access: str, arg: Any) -> GridArg:
        row_maps, column_maps = (tuple(maps) for maps in arg.maps)
        rows = []
        for i, row_map in enumerate(row_maps):
            row = []
            for j, column_map in enumerate(column_maps):
                place = i * len(column_maps) + j
                lgmaps = None if arg.lgmaps is None else arg.lgmaps[place]
                row.append(self.matrix(access, arg.data[i, j], (row_map, column_map), lgmaps))
            rows.append(tuple(row))
        return GridArg(tuple(rows))

    def follow(self, made: Any, access: str) -> None:
        """On a device with memory of its own, numbers go there before each run, and come back after it."""
        if self.context.device.kind == "cpu":
            return
        self.before.append(lambda: made.data_with_halos if hasattr(made, "data_with_halos") else made.data)
        if access != "READ":
            self.after.append(lambda: made.data_ro)


def _region(kernel: Any) -> str:
    region = kernel._iteration_region
    if not kernel._extruded or region is None:
        return "ALL"
    return {"ALL": "ALL", "BOTTOM": "ON_BOTTOM", "TOP": "ON_TOP", "INTERIOR_FACETS": "ON_INTERIOR_FACETS"}[region.name]
