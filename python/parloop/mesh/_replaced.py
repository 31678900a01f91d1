"""Files that are written beside those whose place they take, so that a write that fails leaves what was there."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator

from .._parloop import MeshFileError


@contextlib.contextmanager
def replaced(file: str) -> Iterator[str]:
    """Where to write a file, and files that belong to it, which get their places at the end if nothing goes wrong.

    They have the same names in a folder of their own, since some refer to each other by name.
    """
    target = os.path.realpath(file)
    folder, name = os.path.split(target)
    if not os.path.isdir(folder) or os.path.exists(target) and not os.path.isfile(target):
        # A device, or the error that the writer has for it.
        yield file
        return
    try:
        own = tempfile.mkdtemp(prefix=".parloop-", dir=folder if os.access(folder, os.W_OK) else None)
    except OSError as error:
        raise MeshFileError(f"cannot write `{file}`: {error.strerror}") from error
    try:
        written = os.path.join(own, name)
        try:
            yield written
        except MeshFileError as error:
            raise MeshFileError(str(error).replace(written, file)) from error.__cause__
        try:
            # The file itself comes last: it refers to the others.
            for each in sorted(os.listdir(own), key=name.__eq__):
                place = os.path.join(folder, each)
                if os.path.isfile(place):
                    shutil.copymode(place, os.path.join(own, each))
                if os.path.dirname(own) == folder:
                    os.replace(os.path.join(own, each), place)
                else:
                    shutil.copyfile(os.path.join(own, each), place)
        except OSError as error:
            raise MeshFileError(f"cannot write `{file}`: {error.strerror}") from error
    finally:
        shutil.rmtree(own, ignore_errors=True)
