"""The file: a ZIP archive of one text in JSON and arrays in NumPy's format. Here it is read and checked; nothing is made of it."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import CaptureError as CaptureError

FORMAT = "parloop capture"
VERSION = 1
MANIFEST = "capture.json"

#: The tables of the text.
TABLES = ("arrays", "sets", "maps", "sparsities", "kernels", "loops")

_MOST_TEXT = 256 << 20
#: What the header of an array may take besides its numbers.
_MOST_HEADER = 1 << 16
_TYPES = frozenset(np.dtype(name).str for name in ("f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"))


def array_name(number: int) -> str:
    """The member of the archive that an array is in."""
    return f"arrays/{number}.npy"


@dataclasses.dataclass(frozen=True)
class File:
    """A capture as it was read: tables of objects, whose entries are checked as they are used, and all arrays."""

    path: str
    tables: dict[str, list[Any]]
    arrays: list[Any]

    def wrong(self, what: str) -> CaptureError:
        """The error that something in the file is not as it must be."""
        return CaptureError(f"{self.path} is not a valid capture: {what}")


class Entry:
    """An object of the text, whose fields are looked up and checked one by one."""

    def __init__(self, file: File, value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise file.wrong(f"{where} is not an object")
        self.file, self.value, self.where = file, value, where

    def wrong(self, what: str) -> CaptureError:
        """The error that this object is not as it must be."""
        return self.file.wrong(f"{self.where}: {what}")

    def get(self, name: str, is_right: Callable[[Any], bool], what: str) -> Any:
        """A field of a kind."""
        value = self.value.get(name)
        if not is_right(value):
            raise self.wrong(f"`{name}` is not {what}")
        return value

    def text(self, name: str) -> str:
        """A field with a text."""
        return str(self.get(name, lambda value: isinstance(value, str), "a text"))

    def texts(self, name: str) -> tuple[str, ...]:
        """A field with a list of texts."""
        right = lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value)  # noqa: E731 - as short as its use
        return tuple(self.get(name, right, "a list of texts"))

    def one_of(self, name: str, names: tuple[str, ...]) -> str:
        """A field with one of these texts."""
        return str(self.get(name, lambda value: isinstance(value, str) and value in names, f"one of {', '.join(names)}"))

    def boolean(self, name: str) -> bool:
        """A field that is true or false."""
        return bool(self.get(name, lambda value: isinstance(value, bool), "true or false"))

    def integer(self, name: str) -> int:
        """A field with a number that is not negative."""
        return int(self.get(name, _is_count, "a number of at least 0"))

    def integers(self, name: str) -> list[int]:
        """A field with a list of numbers, which may be negative."""
        right = lambda value: isinstance(value, list) and all(_is_integer(item) for item in value)  # noqa: E731
        return list(self.get(name, right, "a list of integers"))

    def has(self, name: str) -> bool:
        """Whether the field is there and not null."""
        return self.value.get(name) is not None

    def entries(self, name: str) -> list[Entry]:
        """A field with a list of objects."""
        values = self.get(name, lambda value: isinstance(value, list), "a list")
        return [Entry(self.file, value, f"{self.where}, {name}[{place}]") for place, value in enumerate(values)]

    def number_of(self, name: str, table: str, below: int | None = None) -> int:
        """A field with the number of an entry of a table, where `below` is given one in front of that."""
        number, count = self.integer(name), len(self.file.tables[table])
        if number >= (count if below is None else below):
            raise self.wrong(f"`{name}` is {number}, which is not one of {table}" + ("" if below is None else " in front of it"))
        return number

    def array(self, name: str) -> Any:
        """The array whose number a field has."""
        return self.file.arrays[self.number_of(name, "arrays")]


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_integer(value) and 0 <= value < 2**63


def read(path: str | os.PathLike[str]) -> File:
    """Reads a capture whole: the archive's checksums, the text and every array with its type and shape."""
    name = os.fspath(path)
    try:
        with zipfile.ZipFile(name) as archive:
            return _read(name, archive)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise CaptureError(f"{name} is not a valid capture: {error}") from error


def _read(path: str, archive: zipfile.ZipFile) -> File:
    empty = File(path, {table: [] for table in TABLES}, [])
    members = {member.filename: member for member in archive.infolist()}
    if MANIFEST not in members:
        raise empty.wrong(f"it has no {MANIFEST}")
    if members[MANIFEST].file_size > _MOST_TEXT:
        raise empty.wrong(f"{MANIFEST} has {members[MANIFEST].file_size} bytes")
    try:
        text = json.loads(archive.read(MANIFEST).decode())
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise empty.wrong(f"{MANIFEST} is not valid JSON: {error}") from error
    top = Entry(empty, text, MANIFEST)
    if top.text("format") != FORMAT:
        raise empty.wrong(f"its format is {top.text('format')!r}, not {FORMAT!r}")
    if (version := top.integer("version")) != VERSION:
        raise CaptureError(f"{path} is a capture of version {version}; this Parloop reads version {VERSION}")
    tables = {table: top.get(table, lambda value: isinstance(value, list), "a list") for table in TABLES}
    wanted = {MANIFEST, *(array_name(number) for number in range(len(tables["arrays"])))}
    if len(members) != len(archive.infolist()) or set(members) != wanted:
        other = min(set(members) ^ wanted, default="a duplicate")
        raise empty.wrong(f"its members are not those that {MANIFEST} names: {other}")
    arrays = [
        _array(archive, members[array_name(number)], Entry(empty, value, f"arrays[{number}]")) for number, value in enumerate(tables["arrays"])
    ]
    return File(path, tables, arrays)


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo, entry: Entry) -> Any:
    dtype, shape = entry.one_of("dtype", tuple(sorted(_TYPES))), tuple(entry.integers("shape"))
    if any(length < 0 for length in shape):
        raise entry.wrong("`shape` has a negative length")
    count = 1
    for length in shape:
        count *= length
    size = count * np.dtype(dtype).itemsize
    # Before anything is unpacked: an archive may claim to be much larger than it is.
    if not size <= member.file_size <= size + _MOST_HEADER:
        raise entry.wrong(f"{member.filename} has {member.file_size} bytes, not those of {count} numbers of type {dtype}")
    try:
        found = np.lib.format.read_array(io.BytesIO(archive.read(member)), allow_pickle=False)
    except ValueError as error:
        raise entry.wrong(f"{member.filename} is not an array in NumPy's format: {error}") from error
    if found.dtype.str != dtype or found.shape != shape:
        raise entry.wrong(f"{member.filename} has shape {found.shape} and type {found.dtype.str}, not {shape} and {dtype}")
    return np.ascontiguousarray(found)
