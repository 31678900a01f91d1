"""What files of each format can have of data on a mesh. meshio leaves out, rounds or fails on the rest."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._parloop import DataValueError

Arrays = dict[str, npt.NDArray[Any]]
CellArrays = dict[str, list[npt.NDArray[Any]]]


class FieldSupport(NamedTuple):
    """The fields that a format keeps."""

    places: tuple[str, ...] = ("points", "cells")
    components: tuple[int, ...] = ()
    """How many numbers there may be for each point or cell; none are any."""
    largest: int | None = None
    """The integers up to which all are kept, where they are written as floating-point numbers."""
    shaped: bool = False
    """Whether numbers may have several axes."""


#: Formats by meshio's names; others keep no fields.
FIELD_SUPPORT = {
    "vtk": FieldSupport(), "vtu": FieldSupport(), "med": FieldSupport(), "tecplot": FieldSupport(),
    "hmf": FieldSupport(shaped=True), "xdmf": FieldSupport(components=(1, 2, 3, 6, 9), shaped=True),
    "avsucd": FieldSupport(largest=10**14), "gmsh22": FieldSupport(("points",), (1, 3, 9), 2**53),
    "h5m": FieldSupport(("points",)), "ply": FieldSupport(("points",), (1,)), "exodus": FieldSupport(("points",), (1,)),
}  # fmt: skip


def format_of(meshio: Any, file: str) -> str | None:
    """meshio's name of the format that the ending of a file says; without one it is meshio that complains."""
    ending, found = "", None
    for part in reversed(os.path.basename(file).lower().split(".")[1:]):
        ending = f".{part}{ending}"
        found = found or next(iter(meshio.extension_to_filetypes.get(ending, [])), None)
    # The other format with this ending, ANSYS's, has no data.
    return "gmsh22" if file.lower().endswith(".msh") else found


def checked_fields(file: str, file_format: str | None, on_points: Arrays, on_cells: CellArrays) -> tuple[Arrays, CellArrays]:
    """The fields as the format wants them, or an error that names one that it does not keep."""
    if file_format is None:
        return on_points, on_cells
    support, ending = FIELD_SUPPORT.get(file_format, FieldSupport(())), os.path.splitext(file)[1].lower()
    what = "a Gmsh file" if file_format == "gmsh22" else f"{'an' if file_format == 'xdmf' else 'a'} {ending} file"

    def checked(name: str, place: str, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if place not in support.places:
            raise DataValueError(f"field `{name}` is on {place}, which {what} does not support; write a .vtu or .xdmf file")
        if not support.shaped or values.ndim < 3:
            values = values.reshape(len(values), -1) if values.ndim > 2 and values.size else values
            count = int(np.prod(values.shape[1:]))
            if support.components and count not in support.components:
                counts = " or ".join(filter(None, [", ".join(map(str, support.components[:-1])), str(support.components[-1])]))
                raise DataValueError(f"field `{name}` has {count} components, but {what} has fields of {counts}; write a .vtu file")
        if support.largest and values.dtype.kind in "iu" and values.size and max(int(values.max()), -int(values.min())) > support.largest:
            raise DataValueError(f"field `{name}` has integers beyond {support.largest}, which {what} does not support; write a .vtu or .xdmf file")
        return values

    points = {name: checked(name, "points", values) for name, values in on_points.items()}
    cells = {name: [checked(name, "cells", part) for part in parts] for name, parts in on_cells.items()}
    return points, cells
