"""Vertices, edges and faces that cells share, found and numbered with NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._shapes import SHAPES, Local, parts

Ints = npt.NDArray[np.int64]
Table = npt.NDArray[Any]


def number_rows(rows: Table) -> tuple[Ints, Ints]:
    """Rows that have the same vertices in any order get the same number.

    Returns
    -------
    first : array
        For each number, the first row that has it.
    numbers : array
        The number of each row. Numbers ascend as the sorted vertices of the rows do.
    """
    if len(rows) == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    keys = _keys(rows)
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    begins = np.empty(len(rows), bool)
    begins[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
    numbers = np.empty(len(rows), np.int64)
    numbers[order] = np.cumsum(begins) - 1
    return order[begins], numbers


def _keys(rows: Table) -> Ints:
    """One integer for each row that says which vertices it has, in any order; keys ascend as the sorted vertices do."""
    columns = list(_sorted_columns(rows.astype(np.int64, copy=False)))
    size = int(columns[-1].max()) + 1
    keys = columns[0]
    bound = size
    for column in columns[1:]:
        if bound > np.iinfo(np.int64).max // size:
            # Too many possible keys, but no more different ones than rows.
            keys = np.unique(keys, return_inverse=True)[1].reshape(-1)
            bound = len(rows)
        keys = keys * size + column
        bound *= size
    return keys


def _sorted_columns(rows: Ints) -> Sequence[Ints]:
    if rows.shape[1] == 2:  # faster than sorting short rows
        return np.minimum(rows[:, 0], rows[:, 1]), np.maximum(rows[:, 0], rows[:, 1])
    return list(np.sort(rows, axis=1).T)


def locate(rows: Table, table: Table) -> Ints:
    """For each row, the first row of the table that has the same vertices in any order, or -1."""
    if len(rows) == 0 or len(table) == 0:
        return np.full(len(rows), -1)
    # Only rows between the vertices that are asked for matter, which are few for a part of the boundary.
    touched = np.zeros(max(int(rows.max()), int(table.max())) + 1, bool)
    touched[rows] = True
    near = np.flatnonzero(touched[table].all(axis=1))
    first, numbers = number_rows(np.concatenate([table[near], rows]))
    found = np.full(len(first), -1)
    found[first < len(near)] = near[first[first < len(near)]]
    return found[numbers[len(near) :]]


class Entities(NamedTuple):
    """Vertices, edges or faces of cells, each once."""

    shape: str
    vertices: Table
    """The vertices of each: edges begin at the lower one, faces are turned outwards as seen from their first cell."""
    cells: dict[str, Ints]
    """For each cell type, the entities of each cell, in the order of its shape."""


def find_entities(shape: str, tables: dict[str, Table], shapes: dict[str, str]) -> Entities:
    """All edges or faces of one shape. `shapes` has the first-order shape of each cell type."""
    found: dict[str, tuple[int, int]] = {}
    rows: list[Table] = [np.zeros((0, SHAPES[shape].corners), np.int64)]
    for cell_type, table in tables.items():
        local = parts(SHAPES[shapes[cell_type]], shape)
        found[cell_type] = (len(table), len(local))
        if local:
            rows.append(table[:, np.array(local)].reshape(-1, SHAPES[shape].corners))
    all_rows = np.concatenate(rows)
    first, numbers = number_rows(all_rows)
    vertices = all_rows[first]
    ends = np.cumsum([cells * each for cells, each in found.values()], dtype=np.int64)
    split = np.split(numbers, ends[:-1]) if found else []
    cells = {name: part.reshape(size) for (name, size), part in zip(found.items(), split, strict=True)}
    return Entities(shape, np.sort(vertices, axis=1) if shape == "line" else vertices, cells)


class Sides(NamedTuple):
    """The cells on both sides of facets of one shape. Cells are counted through all cell types."""

    number: Ints
    """How many cells each facet belongs to."""
    first: Ints
    """The first cell of each facet, and which of the cell's facets it is."""
    first_local: Ints
    second: Ints
    """The second cell, or -1."""


def find_sides(entities: Entities) -> Sides:
    """Which cells facets belong to."""
    size, offset = len(entities.vertices), 0
    ids, owners, locals_ = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for table in entities.cells.values():
        cells, each = table.shape
        ids.append(table.ravel())
        owners.append(offset + np.repeat(np.arange(cells), each))
        locals_.append(np.tile(np.arange(each), cells))
        offset += cells
    facets, owner, local = np.concatenate(ids), np.concatenate(owners), np.concatenate(locals_)
    number = np.bincount(facets, minlength=size)
    first, first_local, second = np.full(size, -1), np.full(size, -1), np.full(size, -1)
    # Where an index is repeated, the last value stays.
    first[facets[::-1]], first_local[facets[::-1]], second[facets] = owner[::-1], local[::-1], owner
    second[number < 2] = -1
    return Sides(number, first, first_local, second)


def rows_of(table: Table, local: tuple[Local, ...], cells: Ints, which: Ints) -> Table:
    """The vertices of some facets as their cells see them, turned outwards."""
    result: Table = np.take_along_axis(table[cells], np.array(local)[which], axis=1)
    return result
