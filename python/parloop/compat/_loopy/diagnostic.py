"""Errors and warnings by loopy's names."""

from ...errors import (
    LoopDefinitionError,
    LoopError,
    LoopIndexError,
    LoopOrderError,
    LoopReductionError,
    LoopScheduleError,
    LoopSyntaxError,
    LoopTypeError,
)
from ...loops import LoopWarning

LoopyError = LoopError


class AutomaticTestFailure(LoopError):
    """A transformed kernel does not give the numbers of the one that it was made of."""


LoopyIndexError = LoopIndexError
LoopyTypeError = LoopTypeError
TypeInferenceFailure = LoopTypeError
DependencyTypeInferenceFailure = LoopTypeError
CannotBranchDomainTree = LoopError
MissingBarrierError = LoopOrderError
MissingDefinitionError = LoopDefinitionError
UnscheduledInstructionError = LoopScheduleError
DependencyCycleFound = LoopScheduleError
VariableAccessNotOrdered = LoopOrderError
ReductionIsNotTriangularError = LoopReductionError
ReductionWithNonlocalInameError = LoopReductionError
ExpressionToAffineConversionError = LoopError
ExpressionNotAffineError = LoopError
StaticValueFindingError = LoopError
ParameterFinderError = LoopError
SubstitutionRuleNotFound = LoopError
CannotParseError = LoopSyntaxError
LoopyWarning = LoopWarning
LoopyAdvisory = LoopWarning
LoopyWarningBase = LoopWarning
WriteRaceConditionWarning = LoopWarning
ParameterFinderWarning = LoopWarning
DirectCallUncachedWarning = LoopWarning
