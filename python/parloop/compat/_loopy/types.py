"""Types of elements, by loopy's names."""

from ...loops._types import NumpyType as NumpyType
from ...loops._types import to_type as to_loopy_type

__all__ = ["LoopyType", "NumpyType", "to_loopy_type"]

LoopyType = NumpyType
