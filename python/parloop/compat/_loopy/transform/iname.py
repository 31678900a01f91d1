"""Transformations of inames; all others are in one place."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, TypeVar

from .... import loops
from ....loops import Kernel, Program
from ....loops._transform import *  # noqa: F403
from ..diagnostic import LoopyWarning

_P = TypeVar("_P", Program, Kernel)


def tag_inames(kernel: _P, iname_to_tag: Any = None, *args: Any, **named: Any) -> _P:  # type: ignore[no-redef]
    """`parloop.loops.tag_inames`. Parts of an iname tagged ``l.auto``, which loopy makes when it splits such inames, are passed over."""
    if isinstance(iname_to_tag, Mapping):
        entry = kernel if isinstance(kernel, Kernel) else kernel.default_entrypoint
        later = {f"{name}_{part}" for name in entry.all_inames() if "l.auto" in entry.iname_tags(name) for part in ("outer", "inner")}
        ignored = sorted(name for name in iname_to_tag if name in later - entry.all_inames())
        if ignored:
            warnings.warn(f"{', '.join(ignored)}: inames tagged l.auto are not split here; the tags are ignored", LoopyWarning, stacklevel=2)
            iname_to_tag = {name: tag for name, tag in iname_to_tag.items() if name not in ignored}
    return loops.tag_inames(kernel, iname_to_tag, *args, **named)
