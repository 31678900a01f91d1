"""Instructions. The type of a variable that an assignment declares is an `Optional`; others are deprecated, as in loopy."""

import warnings

from ....loops import _instructions
from ..tools import Optional

from ....loops import (
    Assignment as Assignment,
    BarrierInstruction as BarrierInstruction,
    CallInstruction as CallInstruction,
    CInstruction as CInstruction,
    InstructionBase as InstructionBase,
    MultiAssignmentBase as MultiAssignmentBase,
    NoOpInstruction as NoOpInstruction,
    make_assignment as make_assignment,
)


def _warn(given: object) -> None:
    if not isinstance(given, Optional):
        warnings.warn(f"give the type of a variable as lp.Optional({given!r})", DeprecationWarning, stacklevel=4)


_instructions.on_declared_type = _warn
