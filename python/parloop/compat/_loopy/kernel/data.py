"""Arguments, temporaries and instructions."""

from ....loops import (
    AddressSpace as AddressSpace,
    ArrayArg as ArrayArg,
    Assignment as Assignment,
    BarrierInstruction as BarrierInstruction,
    CallInstruction as CallInstruction,
    CallMangleInfo as CallMangleInfo,
    CInstruction as CInstruction,
    ConstantArg as ConstantArg,
    GlobalArg as GlobalArg,
    ImageArg as ImageArg,
    NoOpInstruction as NoOpInstruction,
    SubstitutionRule as SubstitutionRule,
    TemporaryVariable as TemporaryVariable,
    ValueArg as ValueArg,
    auto as auto,
)
from ....loops._data import _Data as KernelArgument

__all__ = ["KernelArgument"]
temp_var_scope = AddressSpace
