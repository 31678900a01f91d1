"""What is done to a program before a schedule is made."""

from __future__ import annotations

from typing import TypeVar

from ...errors import LoopTypeError
from ... import loops
from ...loops import Kernel, Program

_P = TypeVar("_P", Program, Kernel)

__all__ = ["preprocess_kernel", "preprocess_program"]


def preprocess_program(program: _P) -> _P:
    """Finds types, realises reductions and decides where temporaries live. Of a program whose types are not known yet, those that
    can be found are; the rest is done when its code is written.
    """
    try:
        return loops.preprocess_kernel(program)
    except LoopTypeError as error:
        if "cannot be found" not in str(error):
            raise
        return loops.infer_unknown_types(program)


def preprocess_kernel(program: _P) -> _P:
    """`preprocess_program` by its older name."""
    return preprocess_program(program)
