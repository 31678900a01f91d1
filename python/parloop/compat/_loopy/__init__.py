"""loopy's names for loop kernels. `python -m parloop.compat` makes ``import loopy`` mean this package."""

from __future__ import annotations

import enum
from typing import Any

from ...loops import *  # noqa: F403
from ...loops import (
    AddressSpace as AddressSpace,
    ArrayArg as ArrayArg,
    Assignment as Assignment,
    auto as auto,
    infer_unknown_types,
    merge as merge,
    tag_array_axes as tag_array_axes,
)
from ...loops._data import _Data as KernelArgument
from . import diagnostic as diagnostic
from .auto_test import auto_test_vs_ref as auto_test_vs_ref  # type: ignore[assignment]
from .codegen import generate_code as generate_code  # type: ignore[assignment]
from .codegen import generate_code_v2 as generate_code_v2  # type: ignore[assignment]
from .codegen import generate_header as generate_header
from .copy_kernel import make_copy_kernel as make_copy_kernel
from .diagnostic import LoopyError as LoopyError
from .diagnostic import LoopyWarning as LoopyWarning
from .kernel import instruction as _instruction  # noqa: F401 (it warns of what loopy warns of)
from .kernel.tools import find_most_recent_global_barrier as find_most_recent_global_barrier
from .kernel.tools import get_global_barrier_order as get_global_barrier_order
from .kernel.tools import get_iname_duplication_options as get_iname_duplication_options
from .kernel.tools import has_schedulable_iname_nesting as has_schedulable_iname_nesting
from .preprocess import preprocess_kernel as preprocess_kernel
from .preprocess import preprocess_program as preprocess_program
from .statistics import (  # type: ignore[assignment]
    CountGranularity as CountGranularity,
    MemAccess as MemAccess,
    Op as Op,
    Sync as Sync,
    ToCountMap as ToCountMap,
    gather_access_footprint_bytes as gather_access_footprint_bytes,
    gather_access_footprints as gather_access_footprints,
    get_mem_access_map as get_mem_access_map,
    get_op_map as get_op_map,
    get_synchronization_map as get_synchronization_map,
)
from .symbolic import LinearSubscript as LinearSubscript
from .symbolic import Reduction as Reduction
from .symbolic import SubArrayRef as SubArrayRef
from .symbolic import TypeCast as TypeCast  # type: ignore[assignment]
from .tools import Optional as Optional
from .tools import memoize_on_disk as memoize_on_disk
from .transform.data import add_padding as add_padding
from .transform.data import add_padding_to_avoid_bank_conflicts as add_padding_to_avoid_bank_conflicts
from .transform.data import find_padding_multiple as find_padding_multiple
from .transform.data import split_array_dim as split_array_dim
from .transform.iname import tag_inames as tag_inames
from .transform.prefetch import add_prefetch as add_prefetch
from .transform.parameter import assume as assume
from .transform.precompute import precompute as precompute
from .to_python import t_unit_to_python as t_unit_to_python
from .transform.save import save_and_reload_temporaries as save_and_reload_temporaries
from .translation_unit import LoopKernel as LoopKernel
from .translation_unit import TranslationUnit as TranslationUnit
from .translation_unit import make_einsum as make_einsum
from .translation_unit import make_function as make_function
from .translation_unit import make_kernel as make_kernel
from .types import to_loopy_type as to_loopy_type
from .version import MOST_RECENT_LANGUAGE_VERSION as MOST_RECENT_LANGUAGE_VERSION
from .version import VERSION as VERSION

__all__ = ["KernelArgument", "infer_unknown_types"]

CACHING_ENABLED = True


class CacheMode:
    """Says nothing here: what was compiled is always kept on disk, and found by all that it depends on."""

    def __init__(self, new_flag: bool) -> None:
        self.new_flag = new_flag

    def __enter__(self) -> None:
        """Does nothing."""

    def __exit__(self, *unused: object) -> None:
        """Does nothing."""


def set_caching_enabled(flag: bool) -> None:
    """Says nothing here."""


class MemoryOrdering(enum.Enum):
    """Says nothing here: atomic updates are relaxed."""

    RELAXED = "relaxed"
    ACQUIRE = "acquire"
    RELEASE = "release"
    ACQ_REL = "acq_rel"
    SEQ_CST = "seq_cst"


tag_data_axes = tag_array_axes


def make_program(*args: Any, **said: Any) -> TranslationUnit:
    """`make_kernel` by its older name."""
    return make_kernel(*args, **said)  # type: ignore[return-value]
