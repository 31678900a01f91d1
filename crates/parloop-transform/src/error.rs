//! The error of any transformation, for chains of them.

use parloop_isl::IslError;

use super::*;

/// Why a transformation is not possible: the error of any of them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum TransformError {
    #[error(transparent)]
    AddBarrier(#[from] AddBarrierError),
    #[error(transparent)]
    AddDependency(#[from] AddDependencyError),
    #[error(transparent)]
    AddNoSync(#[from] AddNoSyncError),
    #[error(transparent)]
    AddPrefetch(#[from] AddPrefetchError),
    #[error(transparent)]
    AliasTemporaries(#[from] AliasTemporariesError),
    #[error(transparent)]
    AllocateTemporaries(#[from] AllocateTemporariesError),
    #[error(transparent)]
    ArgumentOrder(#[from] ArgumentOrderError),
    #[error(transparent)]
    AssignmentToSubst(#[from] AssignmentToSubstError),
    #[error(transparent)]
    Assume(#[from] AssumeError),
    #[error(transparent)]
    Chunk(#[from] ChunkError),
    #[error(transparent)]
    DuplicateInames(#[from] DuplicateInamesError),
    #[error(transparent)]
    ExpandSubst(#[from] ExpandSubstError),
    #[error(transparent)]
    ExtractSubst(#[from] ExtractSubstError),
    #[error(transparent)]
    FixParameters(#[from] FixParametersError),
    #[error(transparent)]
    Iname(#[from] InameError),
    #[error(transparent)]
    Inline(#[from] InlineError),
    #[error(transparent)]
    Isl(#[from] IslError),
    #[error(transparent)]
    Join(#[from] JoinError),
    #[error(transparent)]
    LoopFusion(#[from] LoopFusionError),
    #[error(transparent)]
    MapDomain(#[from] MapDomainError),
    #[error(transparent)]
    Precompute(#[from] PrecomputeError),
    #[error(transparent)]
    PrioritizeLoops(#[from] PrioritizeLoopsError),
    #[error(transparent)]
    Privatize(#[from] PrivatizeError),
    #[error(transparent)]
    ReductionArgToSubstRule(#[from] ReductionArgToSubstRuleError),
    #[error(transparent)]
    Register(#[from] RegisterError),
    #[error(transparent)]
    RemoveInames(#[from] RemoveInamesError),
    #[error(transparent)]
    RenameArgument(#[from] RenameArgumentError),
    #[error(transparent)]
    RenameInames(#[from] RenameInamesError),
    #[error(transparent)]
    SetArrayAxisNames(#[from] SetArrayAxisNamesError),
    #[error(transparent)]
    SetTemporaryAddressSpace(#[from] SetTemporaryAddressSpaceError),
    #[error(transparent)]
    Split(#[from] SplitError),
    #[error(transparent)]
    SplitArrayAxis(#[from] SplitArrayAxisError),
    #[error(transparent)]
    SplitReduction(#[from] SplitReductionError),
    #[error(transparent)]
    TagArrayAxes(#[from] TagArrayAxesError),
    #[error(transparent)]
    UnusedAxes(#[from] UnusedAxesError),
    #[error(transparent)]
    AddPadding(#[from] AddPaddingError),
    #[error(transparent)]
    ConcatenateArrays(#[from] ConcatenateArraysError),
    #[error(transparent)]
    FuseKernels(#[from] FuseKernelsError),
    #[error(transparent)]
    ToBatched(#[from] ToBatchedError),
    #[error(transparent)]
    Unprivatize(#[from] UnprivatizeError),
    #[error(transparent)]
    BufferArray(#[from] BufferArrayError),
    #[error(transparent)]
    CollectFactors(#[from] CollectFactorsError),
    #[error(transparent)]
    TagInames(#[from] TagInamesError),
}
