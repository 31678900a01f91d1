"""What the modules of transformations share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from .._kernel import Kernel
from .._program import Program

P = TypeVar("P", Program, Kernel)
Names = str | Iterable[str]

#: Stands for an argument that was not given where `None` says something.
NOT_GIVEN: Any = object()


def query(within: Any) -> Any:
    """A query as text."""
    return None if within is None else str(within)
