"""`make_copy_kernel`: a kernel that copies an array into another layout."""

from __future__ import annotations

from typing import Any

from ...loops import GlobalArg, tag_inames
from ...loops import auto
from .translation_unit import TranslationUnit, make_kernel

__all__ = ["make_copy_kernel"]


def make_copy_kernel(new_dim_tags: Any, old_dim_tags: Any = None) -> TranslationUnit:
    """A kernel that copies ``input``, laid out as `old_dim_tags` say, to ``output``, laid out as `new_dim_tags` say; its lengths are
    ``n0``, ``n1`` ….
    """
    new = _tags(new_dim_tags)
    old = ["c"] * len(new) if old_dim_tags is None else _tags(old_dim_tags)
    if len(old) != len(new):
        raise ValueError(f"the layouts have {len(old)} and {len(new)} axes; both are of one array")
    inames = [f"i{axis}" for axis in range(len(new))]
    lengths = [f"n{axis}" for axis in range(len(new))]
    bounds = " and ".join(f"0<={iname}<{length}" for iname, length in zip(inames, lengths))
    index = ", ".join(inames)
    shape = tuple(lengths)
    made = make_kernel(
        f"{{[{index}]: {bounds}}}",
        f"output[{index}] = input[{index}]",
        [
            GlobalArg("input", shape=shape, dim_tags=",".join(old), offset=auto),
            GlobalArg("output", shape=shape, dim_tags=",".join(new), is_input=False, is_output=True, offset=auto),
            "...",
        ],
    )
    # Each array of a separate axis has code of its own.
    separate = [iname for iname, *tags in zip(inames, old, new) if "sep" in tags]
    return tag_inames(made, {iname: "unr" for iname in separate}) if separate else made  # type: ignore[return-value]


def _tags(given: Any) -> list[str]:
    return [tag.strip() for tag in given.split(",")] if isinstance(given, str) else [str(tag) for tag in given]
