"""Loop kernels: say what to compute over which integers, transform how, run it anywhere."""

from ._data import (
    AddressSpace as AddressSpace,
    ArrayArg as ArrayArg,
    ConstantArg as ConstantArg,
    GlobalArg as GlobalArg,
    ImageArg as ImageArg,
    SubstitutionRule as SubstitutionRule,
    TemporaryVariable as TemporaryVariable,
    ValueArg as ValueArg,
    auto as auto,
)
from ._program import (
    LoopWarning as LoopWarning,
    Program as Program,
    generate_code as generate_code,
    make_function as make_function,
    make_kernel as make_kernel,
)
