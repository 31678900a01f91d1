"""Reading with meshio files of formats whose readers go on forever where a file ends too early."""

from __future__ import annotations

import io
import os
import re
from typing import Any

#: Formats whose readers loop forever at the end of a file, and how they open it.
_MODES = {"ansys": "rb", "mdpa": "rb", "ply": "rb", "nastran": "r", "off": "r", "tecplot": "r"}

#: Readers that come to an end ask a few times.
_PATIENCE = 1000

_EARLY = "the file ends too early"


class _Bytes(io.BufferedReader):
    """A file that does not let itself be read at its end forever."""

    ended = 0

    def _counted(self, found: bytes, size: int | None) -> bytes:
        self.ended += not found and size != 0
        if self.ended > _PATIENCE:
            raise EOFError(_EARLY)
        return found

    def read(self, size: int | None = -1, /) -> bytes:
        return self._counted(super().read(size), size)

    def readline(self, size: int | None = -1, /) -> bytes:
        return self._counted(super().readline(size), size)


class _Text(io.TextIOWrapper):
    """The same of text."""

    ended = 0

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        found = super().readline(size)
        self.ended += not found and size != 0
        if self.ended > _PATIENCE:
            raise EOFError(_EARLY)
        return found


def read(meshio: Any, file: str, file_format: str | None) -> Any:
    """What meshio reads, or an error."""
    chosen = file_format or _format_of(meshio, file)
    if chosen == "tetgen":
        _check_tetgen(file)
    if chosen == "wkt":
        _check_wkt(file)
    if chosen not in _MODES:
        return meshio.read(file, file_format)
    with _Bytes(io.FileIO(file)) as opened:
        try:
            return meshio.read(opened if _MODES[chosen] == "rb" else _Text(opened), chosen)
        except meshio.ReadError as error:
            raise error if str(error) else ValueError(f"it is not a file of format {chosen}") from error


def _format_of(meshio: Any, file: str) -> str | None:
    """The format, where the ending of a file leaves one only."""
    if file.lower().endswith(".msh"):
        with open(file, "rb") as opened:
            return "ansys" if opened.read(1000).lstrip().startswith(b"(") else None
    formats = meshio.extension_to_filetypes.get(os.path.splitext(file)[1].lower(), [])
    return formats[0] if len(formats) == 1 else None


def _check_tetgen(file: str) -> None:
    """Both files begin with a line of sizes, after comments."""
    for ending in (".node", ".ele"):
        with open(os.path.splitext(file)[0] + ending) as opened:
            if all(not line.strip() or line.strip().startswith("#") for line in opened):
                raise ValueError(f"the TetGen {ending} file has no numbers")


def _check_wkt(file: str) -> None:
    """A list of triangles that are closed rings of four points. meshio's own pattern takes forever to refuse others."""
    with open(file) as opened:
        text = opened.read().strip()
    triangle, number = re.compile(r"\(\s*\(([^()]*)\)\s*\)"), re.compile(r"[+-]?(\d+\.?\d*|\.\d+)")
    begin = re.match(r"TIN\s*\(", text)
    if begin is None or not text.endswith(")") or triangle.sub("", text[begin.end() : -1]).replace(",", "").strip():
        raise ValueError("it is not a list of triangles (TIN)")
    for ring in triangle.finditer(text, begin.end()):
        points = [point.split() for point in ring[1].split(",")]
        wrong = next((each for point in points for each in point if not number.fullmatch(each)), None)
        if wrong is not None:
            raise ValueError(f"`{wrong}` is not a number that meshio can read in this format")
        if len(points) != 4 or any(len(point) not in (3, 4) for point in points):
            raise ValueError("a triangle needs four points of three coordinates, and the last must equal the first")
