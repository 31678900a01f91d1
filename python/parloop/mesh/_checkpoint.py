"""Checkpoints: numbers in a file, to go on from with any number of processes."""

from __future__ import annotations

import importlib
import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .._parloop import DataTypeError, DataValueError, MeshFileError
from .._parloop import _Comm as Comm
from .._parloop import _Dat as Dat
from .._parloop import _Global as Global
from ._processes import from_rank_0

Arrays = dict[str, npt.NDArray[Any]]


def save(path: str | os.PathLike[str], /, **data: Dat | Global) -> None:
    """Writes data to a file by the names that are given.

    Numbers are in the order that sets had before they were distributed, so that any number of processes can :func:`load` them. The file is
    written under another name and renamed when it is complete: a process that is killed while writing leaves the previous file intact. All processes that share
    the data must call it.

    Parameters
    ----------
    path : path
        A file of HDF5 (``.h5``, needs h5py) or of NumPy (``.npz``).
    **data : Dat or Global
        What is written.

    Examples
    --------
    >>> import os, tempfile, parloop.mesh as op2
    >>> u, path = op2.Dat(op2.Set(3), [1, 2, 3], float), os.path.join(tempfile.mkdtemp(), "step.npz")
    >>> op2.save(path, u=u)
    >>> u.zero()
    >>> op2.load(path, u=u)
    >>> u.data_ro
    array([1., 2., 3.])
    """
    target = _target(path)
    _check(data)
    arrays = {name: part.gather() if isinstance(part, Dat) else np.array(part.data_ro) for name, part in data.items()}
    comm = _comm(data) or Comm.world()
    # Nobody goes on before it is there, or where it could not be written.
    from_rank_0(comm, lambda: _written(target, arrays))


def load(path: str | os.PathLike[str], /, **data: Dat | Global) -> None:
    """Reads what :func:`save` wrote into data of the same types and shapes, on this process its part of it.

    All names, types and shapes are checked before anything is changed. Other data in the file is ignored. All processes that share the data
    must call it; only rank 0 reads the file.
    """
    source = _target(path)
    _check(data)
    comm = _comm(data)
    arrays: Arrays = _read(source, list(data)) if comm is None else from_rank_0(comm, lambda: _read(source, list(data)))
    for name, part in data.items():
        found, wanted = arrays[name], _shape(part)
        if found.dtype != part.dtype:
            raise DataTypeError(f"`{name}` in {source} has numbers of type {found.dtype}, but `{part.name}` of type {part.dtype}")
        if found.shape != wanted:
            raise DataValueError(f"`{name}` in {source} has shape {found.shape}, but `{part.name}` has {wanted}")
    for name, part in data.items():
        if isinstance(part, Global):
            part.data_wo[...] = arrays[name]
            continue
        on = part.dataset.set
        part.data_wo_with_halos[...] = arrays[name][on._global_rows[0]] if on.is_distributed else arrays[name]
        part.halo_valid = True


def _target(path: str | os.PathLike[str]) -> Path:
    target = Path(path)
    if target.suffix not in (".h5", ".npz"):
        raise DataValueError(f"a checkpoint must be a .h5 or .npz file, not {target.name}")
    return target


def _check(data: dict[str, Any]) -> None:
    if not data:
        raise DataValueError("a checkpoint needs at least one Dat or Global; pass them by name, as in u=u")
    for name, part in data.items():
        if not isinstance(part, (Dat, Global)):
            raise DataTypeError(f"`{name}` is an object of type {type(part).__name__}, not a Dat or a Global")
        if isinstance(part, Dat) and not part.dataset.set.is_distributed and part.dataset.size != part.dataset.total_size:
            raise DataValueError(f"`{name}` is on a set with ghosts whose global numbering is unknown")


def _comm(data: dict[str, Any]) -> Comm | None:
    """The processes that share the data."""
    for part in data.values():
        if isinstance(part, Dat) and part.dataset.set.is_distributed:
            return part.dataset.set._processes
    return None


def _shape(part: Dat | Global) -> tuple[int, ...]:
    if isinstance(part, Global) or not part.dataset.set.is_distributed:
        return part.shape
    return (part.dataset.set._global_rows[1], *part.shape[1:])


def _written(target: Path, arrays: Arrays) -> dict[str, Any]:
    """Writes a file that is there as a whole or not at all."""
    # A unique name in the same folder, so that it can be renamed.
    unfinished = target.with_name(f".{target.name}.{os.getpid()}{target.suffix}")
    try:
        _write(unfinished, arrays)
        with unfinished.open("rb") as written:
            os.fsync(written.fileno())
        unfinished.replace(target)
    except OSError as error:
        raise MeshFileError(f"{target} cannot be written: {error}") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return {}


def _write(path: Path, arrays: Arrays) -> None:
    if path.suffix == ".npz":
        # As numpy.savez does, which refuses some names.
        with zipfile.ZipFile(path, "w", allowZip64=True) as file:
            for name, array in arrays.items():
                with file.open(f"{name}.npy", "w", force_zip64=True) as entry:
                    np.lib.format.write_array(entry, array, allow_pickle=False)
        return
    with _h5py().File(path, "w") as file:
        for name, array in arrays.items():
            file[name] = array


def _read(path: Path, names: list[str]) -> Arrays:
    try:
        if path.suffix == ".npz" and path.is_file() and not zipfile.is_zipfile(path):
            raise ValueError("it is not a .npz file")
        with np.load(path, allow_pickle=False) if path.suffix == ".npz" else _h5py().File(path, "r") as file:
            known = sorted(file)
            found = {name: np.asarray(file[name]) for name in names if name in known}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise error if isinstance(error, MeshFileError) else MeshFileError(f"{path} cannot be read: {error}") from error
    missing = [name for name in names if name not in found]
    if missing:
        raise DataValueError(f"{path} has no `{missing[0]}`, only {', '.join(known)}")
    return found


def _h5py() -> Any:
    try:
        return importlib.import_module("h5py")
    except ImportError:
        raise MeshFileError(".h5 files need h5py (pip install parloop[mesh]); .npz files need no package") from None
