"""Data at several times as an XDMF file with its numbers in HDF5, through meshio."""

from __future__ import annotations

import contextlib
import math
import os
from types import TracebackType
from typing import Any, SupportsFloat
from xml.etree import ElementTree

from .._parloop import DataTypeError, DataValueError, MeshFileError
from ._formats import checked_fields
from ._mesh import Mesh
from ._meshio import require, translated
from ._parts import kind
from ._replaced import replaced
from ._write import padded, split_fields


class TimeSeries:
    """Write data at one time after another for ParaView: ``.xdmf``, and the numbers in an ``.h5`` file next to it.

    Parameters
    ----------
    path : path
        The file, which ends in ``.xdmf``. It is complete when the series is closed, and takes the place of one that is there at once.
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
        if not isinstance(mesh, Mesh):
            raise DataTypeError(f"a time series needs a Mesh, not {kind(mesh)}")
        try:
            self.path, self.mesh = os.fsdecode(path), mesh
        except TypeError:
            raise MeshFileError(f"the path of a time series must be a string, not {kind(path)}") from None
        # Other folders may be the current one later.
        self._file = os.path.abspath(self.path)
        stem, ending = os.path.splitext(self._file)
        if ending.lower() != ".xdmf":
            raise MeshFileError(f"the path of a time series must end in .xdmf, not in {ending or 'nothing'}: `{self.path}`")
        meshio, h5py = require("meshio", "a time series"), require("h5py", "a time series")
        self._maps = {name: mesh.maps[name] for name in mesh._connectivity.cell_types}
        self._writer: Any = None
        writer = meshio.xdmf.TimeSeriesWriter(self._file)
        # meshio would put the numbers into the current folder. The file is renamed while it is open.
        writer.h5_filename = f"{stem}.h5"
        with replaced(writer.h5_filename) as place, translated("write", self.path):
            writer.h5_file = h5py.File(place, "w")
            try:
                writer.write_points_cells(padded(mesh.coordinates), [(name, map.values) for name, map in self._maps.items()])
                # Times of an earlier series do not belong to these numbers.
                with contextlib.suppress(FileNotFoundError):
                    os.remove(self._file)
            except BaseException:
                writer.h5_file.close()
                raise
        self._writer = writer
        self.flush()

    def write(self, time: SupportsFloat, /, **fields: Any) -> None:
        """Add data on the vertices or cells of the mesh at a time; fields are those of :meth:`Mesh.write`."""
        if self._writer is None:
            raise MeshFileError(f"the time series `{self.path}` is closed")
        try:
            now = float(time)
        except (TypeError, ValueError):
            now = math.nan
        if not math.isfinite(now):
            raise DataValueError(f"a time must be a finite number, not {time!r}")
        on_points, on_cells = checked_fields(self.path, "xdmf", *split_fields(self.mesh.coordinates, self._maps, fields))
        steps, numbers = len(self._writer.collection), self._writer.data_counter
        with translated("write", self.path):
            try:
                self._writer.write_data(now, point_data=on_points, cell_data=on_cells)
            except BaseException:
                self._forget(steps, numbers)
                raise

    def _forget(self, steps: int, numbers: int) -> None:
        """Takes back what was written after this many steps and arrays of numbers."""
        del self._writer.collection[steps:]
        for each in range(numbers, self._writer.data_counter):
            self._writer.h5_file.pop(f"data{each}", None)
        self._writer.data_counter = numbers

    def flush(self) -> None:
        """Write down what there is, so that it can be read while the series goes on."""
        if self._writer is not None:
            with replaced(self._file) as place, translated("write", self.path):
                self._writer.h5_file.flush()
                ElementTree.ElementTree(self._writer.xdmf_file).write(place)

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
