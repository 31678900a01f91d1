"""Sets, maps, data and loops of a capture that was read."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from .. import mesh
from .._parloop import MeshError
from ..mesh._described import AnyArg, DatArg, GlobalArg, GridArg, Loop, MatArg, MixedArg, Single, Source
from ._format import Entry, File

_ACCESSES = ("READ", "WRITE", "RW", "INC", "MIN", "MAX")
_REGIONS = ("ALL", "ON_BOTTOM", "ON_TOP", "ON_INTERIOR_FACETS")


@dataclasses.dataclass(frozen=True)
class Stored:
    """A loop of a capture, and for each data that it writes the numbers that it gave."""

    loop: Loop
    wanted: list[tuple[Any, Any]]


def build(file: File) -> list[Stored]:
    """Makes all loops of a capture, each with data of its own."""
    try:
        return _Building(file).loops()
    except MeshError as error:
        raise file.wrong(str(error)) from error


class _Building:
    def __init__(self, file: File) -> None:
        self.file = file
        self.sets: list[Any] = []
        self.maps: list[Any] = []
        self.sets += (self.set(entry) for entry in self.table("sets"))
        self.maps += (self.map(entry) for entry in self.table("maps"))
        self.sparsities = [self.sparsity(entry) for entry in self.table("sparsities")]
        self.kernels = [self.kernel(entry) for entry in self.table("kernels")]

    def table(self, name: str) -> list[Entry]:
        return [Entry(self.file, value, f"{name}[{place}]") for place, value in enumerate(self.file.tables[name])]

    def loops(self) -> list[Stored]:
        return [self.loop(entry) for entry in self.table("loops")]

    def set(self, entry: Entry) -> Any:
        kind = entry.one_of("kind", ("set", "subset", "extruded"))
        if kind == "set":
            return mesh.Set(entry.integer("size"), entry.text("name"))
        of = self.sets[entry.number_of("of", "sets", below=len(self.sets))]
        if kind == "subset":
            return mesh.Subset(of, entry.array("indices"))
        layers = entry.array("bounds") if entry.has("bounds") else entry.integer("layers")
        return mesh.ExtrudedSet(of, layers, entry.boolean("periodic"))

    def map(self, entry: Entry) -> Any:
        kind, known = entry.one_of("kind", ("map", "permuted", "composed")), len(self.maps)
        if kind == "permuted":
            return mesh.PermutedMap(self.maps[entry.number_of("of", "maps", below=known)], entry.integers("order"))
        if kind == "composed":
            numbers = entry.integers("of")
            if not all(0 <= number < known for number in numbers):
                raise entry.wrong("`of` has a number that does not refer to an earlier map")
            return mesh.ComposedMap(*(self.maps[number] for number in numbers))
        begin, to = (self.sets[entry.number_of(name, "sets")] for name in ("from", "to"))
        moves = {f"offset{of}": entry.integers(name) for of, name in (("", "offset"), ("_quotient", "quotient")) if entry.has(name)}
        return mesh.Map(begin, to, entry.integer("arity"), entry.array("values"), f"map{known}", **moves)

    def sparsity(self, entry: Entry) -> Any:
        sets, block = [self.sets[entry.number_of(name, "sets")] for name in ("rows", "columns")], entry.integers("block")
        if len(block) != 2 or min(block) < 1:
            raise entry.wrong("`block` is not two numbers of at least 1")
        dsets = tuple(on**dim for on, dim in zip(sets, block, strict=True))
        return mesh.Sparsity.from_rows(dsets, entry.array("starts"), entry.array("stored"))

    def kernel(self, entry: Entry) -> Source:
        return Source(entry.text("source"), entry.text("name"), entry.texts("headers"), (), entry.boolean("cpp"))

    def loop(self, entry: Entry) -> Stored:
        data = [self.data(each) for each in entry.entries("data")]
        args = tuple(self.arg(each, data) for each in entry.entries("args"))
        kernel, on = self.kernels[entry.number_of("kernel", "kernels")], self.sets[entry.number_of("set", "sets")]
        made = Loop(kernel, on, args, entry.one_of("region", _REGIONS), entry.boolean("passes_layer"))
        wanted = []
        for one, each in zip(data, entry.entries("data"), strict=True):
            if each.has("after"):
                after, before = each.array("after"), each.array("before")
                if (after.shape, after.dtype) != (before.shape, before.dtype):
                    raise each.wrong("`after` has a different shape or type than `before`")
                wanted.append((one, after))
        return Stored(made, wanted)

    def data(self, entry: Entry) -> Any:
        kind, before = entry.one_of("kind", ("dat", "global", "mat")), np.array(entry.array("before"))
        if kind == "global":
            if before.size == 0:
                raise entry.wrong("`before` has no numbers")
            return mesh.Global(before.size, before.reshape(-1))
        if kind == "mat":
            return mesh.Mat(self.sparsities[entry.number_of("sparsity", "sparsities")], data=before.reshape(-1))
        return mesh.Dat(self.sets[entry.number_of("set", "sets")] ** tuple(entry.integers("dim")), before)

    def arg(self, entry: Entry, data: list[Any]) -> AnyArg:
        kind = entry.one_of("kind", ("dat", "global", "mat", "mixed", "grid"))
        if kind not in ("mixed", "grid"):
            return self.single(entry, data, kind)
        parts = [self.single(part, data, part.one_of("kind", ("dat", "global", "mat"))) for part in entry.entries("parts")]
        matrices = [part for part in parts if isinstance(part, MatArg)]
        if kind == "mixed":
            others = tuple(part for part in parts if not isinstance(part, MatArg))
            if len(others) != len(parts):
                raise entry.wrong("a matrix cannot be part of a vector")
            return MixedArg(others)
        across = entry.integer("across")
        if len(matrices) != len(parts) or across == 0 or len(parts) % across:
            raise entry.wrong("the parts of a grid must be matrices in rows of equal length")
        return GridArg(tuple(tuple(matrices[first : first + across]) for first in range(0, len(parts), across)))

    def single(self, entry: Entry, data: list[Any], kind: str) -> Single:
        number, access = entry.integer("data"), entry.one_of("access", _ACCESSES)
        expected = {"dat": mesh.Dat, "global": mesh.Global, "mat": mesh.Mat}[kind]
        if number >= len(data) or not isinstance(data[number], expected):
            raise entry.wrong(f"`data` is {number}, which is not a {kind} of the loop")
        one = data[number]
        if kind == "global":
            return GlobalArg(one, access)
        if kind == "dat":
            index = tuple(entry.integers("index")) if entry.has("index") else None
            return DatArg(one, access, self.maps[entry.number_of("map", "maps")] if entry.has("map") else None, index)
        maps, lgmaps = entry.integers("maps"), entry.integers("lgmaps")
        if len(maps) != 2 or not all(0 <= each < len(self.maps) for each in maps):
            raise entry.wrong("`maps` is not a pair of maps")
        if len(lgmaps) != 2 or not all(0 <= each < len(self.file.arrays) for each in lgmaps):
            raise entry.wrong("`lgmaps` is not a pair of arrays")
        rows, columns = (self.file.arrays[each] for each in lgmaps)
        return MatArg(one, access, (self.maps[maps[0]], self.maps[maps[1]]), (rows, columns))
