"""Values that are computed ahead."""

from __future__ import annotations

from typing import Any, TypeVar

from .... import loops
from ....loops import Kernel, Program
from ....loops._transform import *  # noqa: F403

_P = TypeVar("_P", Program, Kernel)


def precompute(  # type: ignore[no-redef]
    kernel: _P, subst_use: Any, sweep_inames: Any = (), *args: Any, _enable_mirgecom_workaround: bool = False, **named: Any) -> _P:
    """`parloop.loops.precompute`. Loops of one turn always stay here, which the last argument asks for."""
    return loops.precompute(kernel, subst_use, sweep_inames, *args, **named)
