"""Writing loops into a capture as they run."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import mesh
from .._parloop import __version__
from ..mesh._described import AnyArg, DatArg, GridArg, Loop, MatArg, MixedArg, Single, Source
from ._format import FORMAT, MANIFEST, TABLES, VERSION, CaptureError, array_name


class Writer:
    """Writes a capture. Each loop is written once, at its first run; what loops share is written once for all of them.

    The file has its name when it is closed, and not before.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._part = f"{self.path}.part"
        self._archive: zipfile.ZipFile | None = zipfile.ZipFile(self._part, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
        self._tables: dict[str, list[Any]] = {table: [] for table in TABLES}
        self._numbers: dict[tuple[str, Any], int] = {}
        #: Objects by whose identity entries are known.
        self._kept: list[Any] = []
        self._known: set[Any] = set()
        #: Loops that were left out, with the reason.
        self.left_out: dict[str, str] = {}

    @contextlib.contextmanager
    def around(self, loop: Loop) -> Iterator[None]:
        """Writes the loop that runs inside, with its numbers before and after."""
        signature = _signature(loop)
        if self._archive is None or signature in self._known or not self._can_write(loop):
            yield
            return
        self._known.add(signature)
        data = list({id(arg.data): arg.data for arg in loop.singles()}.values())
        before = [self._array(_numbers(each)) for each in data]
        yield
        written = {id(arg.data) for arg in loop.singles() if arg.access != "READ"}
        after = [self._array(_numbers(each)) if id(each) in written else None for each in data]
        kinds = {id(arg.data): self._kind_of(arg) for arg in loop.singles()}
        tables = [{**kinds[id(each)], "before": old, "after": new} for each, old, new in zip(data, before, after, strict=True)]
        places = {id(each): place for place, each in enumerate(data)}
        self._tables["loops"].append(
            {
                "kernel": self._kernel(loop.source), "set": self._set(loop.set), "region": loop.region, "passes_layer": loop.passes_layer,
                "data": tables, "args": [self._arg(arg, places) for arg in loop.args],
            }
        )  # fmt: skip

    def close(self) -> None:
        """Ends the capture and gives the file its name."""
        if self._archive is None:
            return
        text = {"format": FORMAT, "version": VERSION, "made_by": f"parloop {__version__}", **self._tables}
        self._archive.writestr(MANIFEST, json.dumps(text))
        self._archive.close()
        self._archive = None
        os.replace(self._part, self.path)

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _can_write(self, loop: Loop) -> bool:
        if loop.source.include_dirs:
            self.left_out[loop.source.name] = "its kernel includes files from folders that are not part of a capture"
        elif loop.source.libraries:
            self.left_out[loop.source.name] = "its kernel is linked with libraries that are not part of a capture"
        return not (loop.source.include_dirs or loop.source.libraries)

    def _entry(self, table: str, key: Any, make: Callable[[], dict[str, Any]]) -> int:
        """The number of an entry, which is made where there is none of this key."""
        known = self._numbers.get((table, key))
        if known is None:
            entry = make()
            self._tables[table].append(entry)
            known = self._numbers[table, key] = len(self._tables[table]) - 1
        return known

    def _by_object(self, table: str, of: Any, make: Callable[[], dict[str, Any]]) -> int:
        if (table, id(of)) not in self._numbers:
            self._kept.append(of)
        return self._entry(table, id(of), make)

    def _array(self, array: Any) -> int:
        array = np.ascontiguousarray(array)
        key = (array.dtype.str, array.shape, hashlib.blake2b(array.data if array.size else b"").digest())

        def make() -> dict[str, Any]:
            if self._archive is None:
                raise CaptureError(f"{self.path} is closed")
            with self._archive.open(array_name(len(self._tables["arrays"])), "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)
            return {"dtype": array.dtype.str, "shape": list(array.shape)}

        return self._entry("arrays", key, make)

    def _set(self, of: Any) -> int:
        def make() -> dict[str, Any]:
            if isinstance(of, mesh.Subset):
                return {"kind": "subset", "of": self._set(of.superset), "indices": self._array(np.asarray(of.indices))}
            if isinstance(of, mesh.ExtrudedSet):
                alike, parent = of.constant_layers, self._set(of.parent)
                layers = {"layers": of.layers} if alike else {"bounds": self._array(of.layers_array)}
                return {"kind": "extruded", "of": parent, **layers, "periodic": of.extruded_periodic}
            return {"kind": "set", "size": of.total_size, "name": of.name}

        return self._by_object("sets", of, make)

    def _map(self, of: Any) -> int:
        def make() -> dict[str, Any]:
            if isinstance(of, mesh.PermutedMap):
                return {"kind": "permuted", "of": self._map(of.map_), "order": of.permutation.tolist()}
            if isinstance(of, mesh.ComposedMap):
                return {"kind": "composed", "of": [self._map(each) for each in of.maps_]}
            moves = {name: None if values is None else values.tolist() for name, values in (("offset", of.offset), ("quotient", of.offset_quotient))}
            ends = {"from": self._set(of.iterset), "to": self._set(of.toset)}
            return {"kind": "map", **ends, "arity": of.arity, "values": self._array(of.values_with_halo), **moves}

        return self._by_object("maps", of, make)

    def _kernel(self, source: Source) -> int:
        entry = {"name": source.name, "source": source.code, "headers": list(source.headers), "cpp": source.cpp}
        return self._entry("kernels", source, lambda: entry)

    def _sparsity(self, of: Any) -> int:
        def make() -> dict[str, Any]:
            rows, columns = of.dsets
            sets = {"rows": self._set(rows.set), "columns": self._set(columns.set)}
            return {**sets, "block": list(of.block_shape), "starts": self._array(of.rowptr), "stored": self._array(of.colidx)}

        return self._by_object("sparsities", of, make)

    def _kind_of(self, arg: Single) -> dict[str, Any]:
        data = arg.data
        if isinstance(arg, MatArg):
            return {"kind": "mat", "sparsity": self._sparsity(data.sparsity)}
        if isinstance(arg, DatArg):
            return {"kind": "dat", "set": self._set(data.dataset.set), "dim": list(data.dim)}
        return {"kind": "global"}

    def _arg(self, arg: AnyArg, places: dict[int, int]) -> dict[str, Any]:
        if isinstance(arg, MixedArg):
            return {"kind": "mixed", "parts": [self._arg(part, places) for part in arg.parts]}
        if isinstance(arg, GridArg):
            parts = [self._arg(part, places) for row in arg.rows for part in row]
            return {"kind": "grid", "across": len(arg.rows[0]), "parts": parts}
        entry: dict[str, Any] = {"data": places[id(arg.data)], "access": arg.access}
        if isinstance(arg, MatArg):
            dropped = [self._array(np.asarray(numbers)) for numbers in arg.lgmaps]
            return {"kind": "mat", **entry, "maps": [self._map(map_) for map_ in arg.maps], "lgmaps": dropped}
        if isinstance(arg, DatArg):
            index = None if arg.index is None else [int(at) for at in arg.index]
            return {"kind": "dat", **entry, "map": None if arg.map is None else self._map(arg.map), "index": index}
        return {"kind": "global", **entry}


def _signature(loop: Loop) -> Any:
    """What a loop is but for its numbers. Sets, maps and sparsities stand for themselves: the writer keeps those that it has seen."""

    def of(arg: Single) -> Any:
        if isinstance(arg, MatArg):
            return arg.access, id(arg.data.sparsity), *map(id, arg.maps), *(np.asarray(numbers).tobytes() for numbers in arg.lgmaps)
        if isinstance(arg, DatArg):
            return arg.access, id(arg.data.dataset.set), arg.data.dim, arg.data.dtype, id(arg.map), arg.index
        return arg.access, arg.data.cdim, arg.data.dtype

    return loop.source, id(loop.set), loop.region, loop.passes_layer, tuple(map(type, loop.args)), tuple(map(of, loop.singles()))


def _numbers(data: Any) -> Any:
    """A copy of the numbers of data, ghosts and all."""
    return np.array(data.data_ro_with_halos if isinstance(data, mesh.Dat) else data.data_ro)
