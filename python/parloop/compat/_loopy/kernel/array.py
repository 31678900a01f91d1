"""How axes of arrays lie in memory."""

from ....loops import (
    DimTag as ArrayDimImplementationTag,
    NestedTag as ComputedStrideArrayDimTag,
    SeparateTag as SeparateArrayArrayDimTag,
    StrideTag as FixedStrideArrayDimTag,
    VectorTag as VectorArrayDimTag,
)

__all__ = [
    "ArrayDimImplementationTag",
    "ComputedStrideArrayDimTag",
    "FixedStrideArrayDimTag",
    "SeparateArrayArrayDimTag",
    "VectorArrayDimTag",
]
