"""Instructions."""

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
