"""Transformations of parameters."""

from __future__ import annotations

import re
import warnings
from typing import Any, TypeVar

from .... import loops
from ....loops import Kernel, Program
from ....loops._transform import *  # noqa: F403
from ..diagnostic import LoopyWarning

_P = TypeVar("_P", Program, Kernel)


def assume(kernel: _P, assumptions: Any) -> _P:  # type: ignore[no-redef]
    """Promises something of the parameters. What is said only of variables that are computed inside of the kernel is not used."""
    entry = kernel if isinstance(kernel, Kernel) else kernel.default_entrypoint
    text = str(assumptions)
    said = text.partition("{")[2] if "{" in text else text
    names = set(re.findall(r"[A-Za-z_]\w*", said)) - {"and", "or", "not", "mod", "floor", "exists", "true", "false"}
    inside = names & (set(entry.temporary_variables) - entry.all_params())
    if inside and inside == names:
        warnings.warn(f"{', '.join(sorted(inside))} are not parameters of a domain; the assumption is not used", LoopyWarning, stacklevel=2)
        return kernel
    return loops.assume(kernel, assumptions)
