"""What a source with comment marks becomes for one target."""

from __future__ import annotations

from collections.abc import Sequence

TARGETS = ("cpu_serial", "cpu_openmp", "opencl", "cuda")


def specialize_source(source: str, specialize_for: str, search_in_folders: Sequence[str] = ()) -> str:
    """The source without the lines that are marked for other targets. All other marks are understood when kernels are compiled."""
    if specialize_for not in TARGETS:
        raise ValueError(f"unknown target {specialize_for!r}; the targets are {', '.join(TARGETS)}")
    if "//only_for_context" not in source:
        return source
    return "\n".join(_kept(line, specialize_for) for line in source.split("\n"))


def _kept(line: str, target: str) -> str:
    _, mark, targets = line.partition("//only_for_context")
    return line if not mark or target in targets.split() else ""
