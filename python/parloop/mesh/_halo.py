"""Ghosts whose exchange is put off."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .._parloop import _Access, _Dat


@contextlib.contextmanager
def frozen(dat: _Dat, access: _Access) -> Iterator[None]:
    """Freezes the data for one kind of access."""
    dat.freeze_halo(access)
    try:
        yield
    finally:
        dat.unfreeze_halo()
