"""A small picture of a mesh, as SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ._mesh import Mesh

__all__ = ["picture"]

#: More lines than this are not drawn: of a large mesh its boundary is, and of a large boundary a part.
_MOST = 4000
_SIZE = 280.0


def _in_plane(points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The points as seen: along a line, in the plane, or from above the corner of a box."""
    if points.shape[1] == 1:
        return np.column_stack([points[:, 0], np.zeros(len(points))])
    if points.shape[1] == 2:
        return points
    x, y, z = points.T
    return np.column_stack([(x - y) * 0.866, z + (x + y) * 0.35])


def _lines(mesh: Mesh) -> Any:
    """The ends of the lines to draw, and what they are."""
    if mesh.dim == 1:
        return mesh.maps[mesh.cell_type].values[:, :2], "cells"
    edges = mesh.map("edges", "vertices").values[:, :2]
    if len(edges) <= _MOST:
        return edges, "edges"
    if mesh.dim == 2:
        boundary = mesh.map("boundary", "vertices").values[:, :2]
        if len(boundary) <= _MOST:
            return boundary, "edges of the boundary"
    step = -(-len(edges) // _MOST)
    return edges[::step], f"every {step}th edge"


def picture(mesh: Mesh) -> str:
    """An SVG element with the edges of the mesh, and what is drawn below it."""
    points = _in_plane(np.asarray(mesh.coordinates.data_ro_with_halos).reshape(mesh.vertices.total_size, -1))
    ends, what = _lines(mesh)
    if not len(points) or not len(ends):
        return ""
    low, extent = points.min(axis=0), float(np.ptp(points, axis=0).max()) or 1.0
    seen = (points - low) / extent * (_SIZE - 10) + 5
    height = float(seen[:, 1].max()) + 5
    seen[:, 1] = height - seen[:, 1]
    path = "".join(f"M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}" for (x0, y0), (x1, y1) in seen[ends])
    drawn = f'<path d="{path}" stroke="currentColor" stroke-width="0.7" fill="none"/>'
    size = f'width="{_SIZE:.0f}" height="{height:.0f}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img"><title>{what}</title>{drawn}</svg>'
