"""Data at several times as an XDMF file with its numbers in HDF5, through meshio."""

from __future__ import annotations

import math
import os
from types import TracebackType
from typing import TYPE_CHECKING, Any, SupportsFloat
from xml.etree import ElementTree

from .._parloop import DataValueError, MeshFileError
from ._meshio import require, translated
from ._write import padded, split_fields

if TYPE_CHECKING:
    from ._mesh import Mesh


class TimeSeries:
    """Write data at one time after another for ParaView: ``.xdmf``, and the numbers in an ``.h5`` file next to it.

    Parameters
    ----------
    path : path
        The file, which ends in ``.xdmf``. It is complete when the series is closed.
    mesh : Mesh
        Its cells are written once.

    Examples
    --------
    >>> import os, tempfile, parloop.mesh as op2
    >>> mesh = op2.box_mesh((4, 4))
    >>> u = op2.Dat(mesh.vertices, name="u")
    >>> with op2.TimeSeries(os.path.join(tempfile.mkdtemp(), "heat.xdmf"), mesh) as series:
    ...     for step in range(3):
    ...         series.write(0.1 * step, temperature=u)
    ...         u += 1.0
    """

    def __init__(self, path: str | os.PathLike[str], mesh: Mesh) -> None:
        self.path, self.mesh = os.fsdecode(path), mesh
        stem, ending = os.path.splitext(self.path)
        if ending.lower() != ".xdmf":
            raise MeshFileError(f"a time series ends in .xdmf, not in {ending or 'nothing'}: `{self.path}`")
        meshio, h5py = require("meshio", "a time series"), require("h5py", "a time series")
        self._maps = {name: mesh.maps[name] for name in mesh._connectivity.cell_types}
        self._writer: Any = meshio.xdmf.TimeSeriesWriter(self.path)
        with translated("write", self.path):
            # meshio would put the numbers into the current folder.
            self._writer.h5_filename = f"{stem}.h5"
            self._writer.h5_file = h5py.File(f"{stem}.h5", "w")
            self._writer.write_points_cells(padded(mesh.coordinates), [(name, map.values) for name, map in self._maps.items()])

    def write(self, time: SupportsFloat, **fields: Any) -> None:
        """Add data on the vertices or cells of the mesh at a time; fields are those of :meth:`Mesh.write`."""
        if self._writer is None:
            raise MeshFileError(f"the time series `{self.path}` is closed")
        try:
            now = float(time)
        except (TypeError, ValueError):
            now = math.nan
        if not math.isfinite(now):
            raise DataValueError(f"a time is a finite number, not {time!r}")
        on_points, on_cells = split_fields(self.mesh.coordinates, self._maps, fields)
        with translated("write", self.path):
            self._writer.write_data(now, point_data=on_points, cell_data=on_cells)

    def flush(self) -> None:
        """Write down what there is, so that it can be read while the series goes on."""
        if self._writer is not None:
            with translated("write", self.path):
                self._writer.h5_file.flush()
                ElementTree.ElementTree(self._writer.xdmf_file).write(self.path)

    def close(self) -> None:
        """Write the file. A second time nothing happens."""
        self.flush()
        if self._writer is not None:
            self._writer.h5_file.close()
            self._writer = None

    def __enter__(self) -> TimeSeries:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<TimeSeries {self.path}: {'closed' if self._writer is None else 'open'}>"
