"""Values that live across global barriers."""

from __future__ import annotations

from typing import TypeVar

from ....loops import Kernel, Program

_P = TypeVar("_P", Program, Kernel)

__all__ = ["save_and_reload_temporaries"]


def save_and_reload_temporaries(program: _P, entrypoint: str | None = None) -> _P:
    """The program itself: every schedule keeps temporaries in global memory across its global barriers. Which of them, and how, is
    decided here already, so that a temporary that cannot be kept is an error of this call.
    """
    whole = program.program if isinstance(program, Kernel) else program
    for name in [entrypoint] if entrypoint else whole.entrypoints:
        whole._schedule(None, name)
    return program
