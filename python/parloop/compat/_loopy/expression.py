"""What code a number is written as where its type matters. The compiler knows the types of all values, so that nothing depends on it."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["dtype_to_type_context"]


def dtype_to_type_context(target: Any, dtype: Any) -> str | None:
    """A letter for integers, single and double precision."""
    kind = np.dtype(getattr(dtype, "numpy_dtype", dtype))
    if kind.kind in "iub":
        return "i"
    if kind in (np.dtype(np.float32), np.dtype(np.complex64)):
        return "f"
    return "d" if kind.kind in "fc" else None
