"""Meshes of intervals, rectangles and boxes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .._parloop import DataValueError, SetValueError
from ._mesh import Mesh
from ._names import check_name, unknown
from ._topology import Table

KINDS = {"line": 1, "triangle": 2, "quad": 2, "tetra": 3, "hexahedron": 3}
DEFAULT_KINDS = {1: "line", 2: "triangle", 3: "tetra"}
NAMES = ("left", "right", "bottom", "top", "back", "front")

#: Corners of a square or a cube in VTK's order, as steps along x, y and z.
_QUAD = [(0, 0), (1, 0), (1, 1), (0, 1)]
_HEXAHEDRON = [(*corner, z) for z in (0, 1) for corner in _QUAD]


def _pieces(kind: str) -> list[list[tuple[int, ...]]]:
    """The cells that one box of the lattice is cut into, as steps from its lowest corner."""
    if kind == "line":
        return [[(0,), (1,)]]
    if kind == "quad":
        return [list(_QUAD)]
    if kind == "hexahedron":
        return [list(_HEXAHEDRON)]
    # Simplices are the ways from the lowest corner to the highest one, a step at a time; an odd order of the axes mirrors them.
    dim, cells = KINDS[kind], []
    for axes in itertools.permutations(range(dim)):
        corners = [tuple(int(axis in axes[:steps]) for axis in range(dim)) for steps in range(dim + 1)]
        if round(float(np.linalg.det(np.diff(np.array(corners), axis=0)))) < 0:
            corners[-1], corners[-2] = corners[-2], corners[-1]
        cells.append(corners)
    return cells


def box_mesh(
    counts: int | Sequence[int],
    kind: str | None = None,
    *,
    lower: npt.ArrayLike = 0.0,
    upper: npt.ArrayLike = 1.0,
    name: str = "",
) -> Mesh:
    """A mesh of an interval, a rectangle or a box.

    Parameters
    ----------
    counts : tuple of int
        The number of boxes along x, y and z. A square becomes two triangles, a cube six tetrahedra.
    kind : str, optional
        ``"line"``, ``"triangle"`` or ``"quad"``, ``"tetra"`` or ``"hexahedron"``; by default simplices.
    lower, upper : float or tuple, optional
        The corners of the box, by default 0 and 1.

    Returns
    -------
    Mesh
        With vertices numbered along x first, cells of positive volume, and facets in regions: ``left`` and ``right`` (x), ``bottom`` and
        ``top`` (y), ``back`` and ``front`` (z), each the lower and the upper side.

    Examples
    --------
    >>> import parloop.mesh as op2
    >>> op2.box_mesh((4, 2), "quad", upper=(2, 1))
    <Mesh: 8 quad, 12 line on 15 vertices in 2 dimensions
      regions: left (2 line), right (2 line), bottom (4 line), top (4 line)>
    """
    sizes = tuple(counts) if isinstance(counts, (Sequence, np.ndarray)) else (counts,)
    if not 1 <= len(sizes) <= 3 or not all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) and n > 0 for n in sizes):
        raise DataValueError(f"the counts of a box must be one, two or three positive integers, not {counts!r}")
    dim = len(sizes)
    chosen = DEFAULT_KINDS[dim] if kind is None else kind
    check_name("kind of cells", chosen)
    if chosen not in KINDS:
        raise SetValueError(unknown("kind of cells", chosen, KINDS))
    if KINDS[chosen] != dim:
        possible = " or ".join(name for name, its in KINDS.items() if its == dim)
        raise SetValueError(f"a box with {dim} count{'s' * (dim > 1)} can have cells of kind {possible}, not {chosen}")
    low, high = _corner(lower, "lower", dim), _corner(upper, "upper", dim)
    if not (low < high).all():
        raise DataValueError(f"the lower corner {tuple(low.tolist())} is not below the upper corner {tuple(high.tolist())}")
    # Vertices in the order of their numbers: x runs fastest. Weights keep both corners exact.
    lattice = np.stack(np.meshgrid(*(np.arange(n + 1) for n in sizes), indexing="ij"), axis=-1)
    lattice = lattice.transpose(*reversed(range(dim)), dim).reshape(-1, dim)
    with np.errstate(over="ignore", invalid="ignore"):
        points = (low * (np.array(sizes) - lattice) + high * lattice) / np.array(sizes)
    if not np.isfinite(points).all():
        # The products are too large, but the points are not.
        points = low * ((np.array(sizes) - lattice) / np.array(sizes)) + high * (lattice / np.array(sizes))
    facet_type = {"line": "vertex", "triangle": "line", "quad": "line", "tetra": "triangle", "hexahedron": "quad"}[chosen]
    facets, regions, count = [], {}, 0
    for axis, side in itertools.product(range(dim), (0, 1)):
        facets.append(_side(sizes, facet_type, axis, side))
        regions[NAMES[2 * axis + side]] = {facet_type: count + np.arange(len(facets[-1]))}
        count += len(facets[-1])
    cells = {chosen: _cells(sizes, _strides(sizes), chosen), facet_type: np.concatenate(facets)}
    return Mesh(points, cells, regions=regions, name=name)


def _strides(sizes: tuple[int, ...]) -> Table:
    """How much the number of a vertex grows by a step along each axis."""
    return np.cumprod([1, *(n + 1 for n in sizes[:-1])])


def _side(sizes: tuple[int, ...], kind: str, axis: int, side: int) -> Table:
    """The facets of one side of the box, turned outwards; simplices are cut as those inside are."""
    strides, rest = _strides(sizes), [other for other in range(len(sizes)) if other != axis]
    begin = side * sizes[axis] * strides[axis]
    if not rest:
        return np.array([[begin]])
    facets: Table = begin + _cells(tuple(sizes[other] for other in rest), strides[rest], kind)
    return facets if (axis + side) % 2 else facets[:, ::-1]


def _cells(sizes: tuple[int, ...], strides: Table, kind: str) -> Table:
    """The corners of the cells that the boxes of a lattice are cut into."""
    dim = len(sizes)
    boxes = np.stack(np.meshgrid(*(np.arange(n) for n in sizes), indexing="ij"), axis=-1)
    lowest = boxes.transpose(*reversed(range(dim)), dim).reshape(-1, dim) @ strides
    steps = np.array(_pieces(kind)) @ strides
    corners: Table = lowest[:, None, None] + steps
    return corners.reshape(-1, steps.shape[1])


def _corner(given: npt.ArrayLike, which: str, dim: int) -> npt.NDArray[np.float64]:
    try:
        corner = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        corner = np.full(4, np.nan)
    if corner.ndim > 1 or corner.ndim == 1 and len(corner) != dim or not np.isfinite(corner).all():
        raise DataValueError(f"the {which} corner must be a number or one for each of {dim} axes, not {given!r}")
    return np.array(np.broadcast_to(corner, (dim,)))
