"""Pictures of data on triangles and quadrilaterals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._parloop import DataValueError, MapValueError
from ._processes import check_whole

if TYPE_CHECKING:
    from .._parloop import _Dat, _Map


def _values(dat: _Dat, component: int | None) -> Any:
    values = dat.data_ro_with_halos.reshape(dat.shape[0], -1)
    if component is None and dat.cdim > 1:
        raise DataValueError(f"`{dat.name}` has {dat.cdim} numbers for each element; select one with component=")
    if component is not None and component >= dat.cdim:
        raise DataValueError(f"`{dat.name}` has no component {component}; each element has {dat.cdim}")
    return values[:, component or 0]


def plot(dat: _Dat, coordinates: _Dat, map: _Map, ax: Any, component: int | None, options: dict[str, Any] | None) -> Any:
    """Draws data on the nodes or the cells and returns matplotlib's axes."""
    nodes, cells = map.toset, map.iterset
    check_whole(nodes, "a picture")
    if coordinates.dataset.set is not nodes or coordinates.cdim != 2:
        raise MapValueError(f"the coordinates must be two numbers on each element of `{nodes.name}`, the target set of the map")
    if map.arity not in (3, 4):
        raise MapValueError(f"only triangles and quadrilaterals can be drawn, but map `{map.name}` has arity {map.arity}")
    if dat.dataset.set is not nodes and dat.dataset.set is not cells:
        raise MapValueError(f"`{dat.name}` is on `{dat.dataset.set.name}`, but the mesh has `{nodes.name}` and `{cells.name}`")
    values = _values(dat, component)
    try:
        import matplotlib.pyplot as plt  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise ImportError("drawing needs matplotlib, which is not installed; pip install parloop[plot]") from None
    if ax is None:
        ax = plt.subplots()[1]
    corners = map.values_with_halo
    # A quadrilateral is drawn as the triangles on both sides of a diagonal.
    triangles = corners if map.arity == 3 else np.concatenate([corners[:, [0, 1, 2]], corners[:, [0, 2, 3]]])
    x, y = coordinates.data_ro_with_halos.reshape(-1, 2).T
    if dat.dataset.set is nodes:
        drawn = ax.tripcolor(x, y, triangles, values, **{"shading": "gouraud", **(options or {})})
    else:
        drawn = ax.tripcolor(x, y, triangles, facecolors=np.tile(values, len(triangles) // len(corners)), **(options or {}))
    ax.set_aspect("equal")
    ax.figure.colorbar(drawn, ax=ax, label=dat.name)
    return ax
