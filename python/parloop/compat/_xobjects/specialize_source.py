"""What a source with comment marks becomes for one target."""

from __future__ import annotations

from collections.abc import Sequence


def specialize_source(source: str, specialize_for: str, search_in_folders: Sequence[str] = ()) -> str:
    """The source as it is: marks are understood when kernels are compiled."""
    if specialize_for not in ("cpu_serial", "cpu_openmp", "opencl", "cuda"):
        raise ValueError(f"cannot specialize for {specialize_for!r}")
    return source
