"""How an axis lies in memory, as texts that know their parts."""

from __future__ import annotations

from typing import Any

from .._parloop import _loop_expression_tree
from ._expressions import build

__all__ = ["DimTag", "NestedTag", "SeparateTag", "StrideTag", "VectorTag", "dim_tag"]


class DimTag(str):
    """How one axis of an array lies in memory.

    >>> import parloop.loops as lp
    >>> tag = lp.StrideTag(3)
    >>> tag, tag.stride
    ('stride:3', 3)
    """

    target_axis = 0

    def __getnewargs__(self) -> tuple[str]:
        return (str(self),)

    def stringify(self, include_target_axis: bool = False) -> str:
        """Its text."""
        return str(self)


class StrideTag(DimTag):
    """An axis whose neighbours are `stride` elements apart; ``auto`` for what an array that is passed says."""

    def __new__(cls, stride: Any, target_axis: int = 0) -> StrideTag:
        written = str(stride)
        return super().__new__(cls, written if written.startswith("stride:") else f"stride:{_text(stride)}")

    @property
    def stride(self) -> Any:
        """How many elements apart: an integer, an expression, or `auto`."""
        from ._data import auto

        written = str(self).removeprefix("stride:")
        return auto if written == "auto" else _number(written)


class NestedTag(DimTag):
    """An axis whose stride follows from the lengths of those nested inside of it: ``N0`` is the innermost."""

    def __new__(cls, layout_nesting_level: int | str, pad_to: int | None = None, target_axis: int = 0) -> NestedTag:
        if isinstance(layout_nesting_level, str):
            return super().__new__(cls, layout_nesting_level)
        return super().__new__(cls, f"N{layout_nesting_level}" + ("" if pad_to is None else f":pad:{pad_to}"))

    @property
    def layout_nesting_level(self) -> int | None:
        """How many axes are nested inside of it."""
        digits = str(self).partition(":")[0].removeprefix("N")
        return int(digits) if digits.isdigit() else None


class SeparateTag(DimTag):
    """An axis each place of which is an array of its own."""

    def __new__(cls, text: str = "sep") -> SeparateTag:
        return super().__new__(cls, text)


class VectorTag(DimTag):
    """An axis whose places are the lanes of a vector."""

    def __new__(cls, text: str = "vec") -> VectorTag:
        return super().__new__(cls, text)


def dim_tag(text: str) -> DimTag:
    """The tag that a text is."""
    if text.startswith(("stride:", "stride(")) or text == "auto":
        return StrideTag(text[7:-1] if text.startswith("stride(") else text)
    if text.startswith("sep"):
        return SeparateTag(text)
    return VectorTag(text) if text.startswith("vec") else NestedTag(text)


def _text(stride: Any) -> str:
    from ._data import auto
    from ._expressions import text

    return "auto" if stride is auto else text(stride)


def _number(text: str) -> Any:
    """An integer, else an expression."""
    if text.lstrip("-").isdigit():
        return int(text)
    built = build(_loop_expression_tree(text))
    return text if isinstance(built, tuple) else built
