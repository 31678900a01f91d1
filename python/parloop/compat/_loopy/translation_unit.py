"""Programs, by loopy's names: expressions in them are pymbolic's, and code is for OpenCL unless another target is said."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...loops import Kernel, Program
from ...loops._generate import einsum, infer_unknown_types
from ...loops._program import build
from .symbolic import SPECIAL


class LoopKernel(Kernel):
    """One kernel."""

    _special = SPECIAL


class TranslationUnit(Program):
    """Kernels and what they call."""

    _kernel_class = LoopKernel

    def executor(self, *unused: Any, entrypoint: str | None = None) -> Any:
        """Something that runs the program on a queue."""
        return self if entrypoint is None else self[entrypoint]


def make_kernel(domains: Any, instructions: Any, kernel_data: Iterable[Any] | None = None, **said: Any) -> TranslationUnit:
    """A program of one kernel, for OpenCL unless another target is said."""
    return build(TranslationUnit, domains, instructions, kernel_data, {"target": "opencl", **_said(said)}, function=False)


def make_function(domains: Any, instructions: Any, kernel_data: Iterable[Any] | None = None, **said: Any) -> TranslationUnit:
    """A program of a kernel that others call."""
    return build(TranslationUnit, domains, instructions, kernel_data, _said(said), function=True)


def make_einsum(spec: str, arg_names: Any, **said: Any) -> TranslationUnit:
    """A kernel that sums products, in Einstein's notation."""
    return einsum(TranslationUnit, spec, arg_names, {"target": "opencl", **_said(said)})


def _said(said: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in said.items() if key != "target" or value is not None}


def resolve_callables(program: Program) -> Program:
    """The program with the functions resolved that its kernels call."""
    return infer_unknown_types(program)
