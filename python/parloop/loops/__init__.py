"""Loop kernels: say what to compute over which integers, transform how, run it anywhere.

>>> import numpy as np, parloop.loops as lp
>>> knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")
>>> knl = lp.split_iname(knl, "i", 128, outer_tag="g.0", inner_tag="l.0")
>>> event, (out,) = knl(a=np.arange(4.0))
>>> out
array([0., 2., 4., 6.])
"""

from ._auto_test import auto_test_vs_ref as auto_test_vs_ref
from ._callable import (
    ArrayArgDescriptor as ArrayArgDescriptor,
    CallMangleInfo as CallMangleInfo,
    ScalarCallable as ScalarCallable,
    ValueArgDescriptor as ValueArgDescriptor,
)
from ._data import (
    AddressSpace as AddressSpace,
    ArrayArg as ArrayArg,
    ConstantArg as ConstantArg,
    GlobalArg as GlobalArg,
    ImageArg as ImageArg,
    ObjectArg as ObjectArg,
    SubstitutionRule as SubstitutionRule,
    TemporaryVariable as TemporaryVariable,
    ValueArg as ValueArg,
    auto as auto,
)
from ._dim_tags import (
    DimTag as DimTag,
    NestedTag as NestedTag,
    SeparateTag as SeparateTag,
    StrideTag as StrideTag,
    VectorTag as VectorTag,
)
from ._expressions import Reduction as Reduction
from ._expressions import SubArrayRef as SubArrayRef
from ._expressions import TypeCast as TypeCast
from ._generate import *  # noqa: F403
from ._instructions import (
    Assignment as Assignment,
    BarrierInstruction as BarrierInstruction,
    CallInstruction as CallInstruction,
    CInstruction as CInstruction,
    InstructionBase as InstructionBase,
    MultiAssignmentBase as MultiAssignmentBase,
    NoOpInstruction as NoOpInstruction,
    make_assignment as make_assignment,
)
from ._kernel import Iname as Iname
from ._kernel import InstructionView as InstructionView
from ._kernel import Kernel as Kernel
from ._program import (
    LoopWarning as LoopWarning,
    Options as Options,
    Program as Program,
    make_function as make_function,
    make_kernel as make_kernel,
    merge as merge,
    read_kernel as read_kernel,
)
from ._report import Limits as Limits
from ._report import Report as Report
from ._report import get_mem_access_map as get_mem_access_map
from ._report import get_op_map as get_op_map
from ._report import limits as limits
from ._targets import (
    CFamilyTarget as CFamilyTarget,
    CTarget as CTarget,
    CudaTarget as CudaTarget,
    CWithGNULibcTarget as CWithGNULibcTarget,
    ExecutableCTarget as ExecutableCTarget,
    ExecutableCWithGNULibcTarget as ExecutableCWithGNULibcTarget,
    HIPTarget as HIPTarget,
    ISPCTarget as ISPCTarget,
    OpenCLTarget as OpenCLTarget,
    PyOpenCLTarget as PyOpenCLTarget,
    TargetBase as TargetBase,
)
from ._transform import *  # noqa: F403
from ._types import NumpyType as NumpyType
from ._types import vector as vector
