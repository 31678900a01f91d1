"""Programs, by loopy's names: expressions in them are pymbolic's, and code is for OpenCL unless another target is said."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from ...loops import Kernel, Program
from ...loops._generate import einsum, infer_unknown_types
from ...loops._program import build
from .diagnostic import LoopyWarning
from .symbolic import SPECIAL


class LoopKernel(Kernel):
    """One kernel."""

    _special = SPECIAL

    @property
    def subkernel(self) -> LoopKernel:
        """Itself, as an entry of a table of callables."""
        return self

    def stringify(self, what: Any = None, with_dependencies: bool = False, use_separators: bool = True, show_labels: bool = True) -> str:
        """Its text, with the dependencies of each instruction."""
        return str(self)

    def update_persistent_hash(self, key_hash: Any, key_builder: Any) -> None:
        """Adds what it is to a key of a cache on disk."""
        key_builder.rec(key_hash, str(self))


class TranslationUnit(Program):
    """Kernels and what they call."""

    _kernel_class = LoopKernel

    def executor(self, *unused: Any, entrypoint: str | None = None) -> Any:
        """Something that runs the program on a queue."""
        return self if entrypoint is None else self[entrypoint]

    def update_persistent_hash(self, key_hash: Any, key_builder: Any) -> None:
        """Adds what it is to a key of a cache on disk."""
        key_builder.rec(key_hash, (str(self), tuple(sorted(self.entrypoints)), self._target))


def make_kernel(domains: Any, instructions: Any, kernel_data: Iterable[Any] | None = None, **said: Any) -> TranslationUnit:
    """A program of one kernel, for OpenCL unless another target is said."""
    domains, data, said = _read(domains, kernel_data, said)
    return build(TranslationUnit, domains, instructions, data, {"target": "opencl", **said}, function=False)


def make_function(domains: Any, instructions: Any, kernel_data: Iterable[Any] | None = None, **said: Any) -> TranslationUnit:
    """A program of a kernel that others call."""
    domains, data, said = _read(domains, kernel_data, said)
    return build(TranslationUnit, domains, instructions, data, said, function=True)


def make_einsum(spec: str, arg_names: Any, **said: Any) -> TranslationUnit:
    """A kernel that sums products, in Einstein's notation."""
    return einsum(TranslationUnit, spec, arg_names, {"target": "opencl", **_read([], None, said)[2]})


def _read(domains: Any, data: Iterable[Any] | None, said: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """Domains, data and other arguments as `parloop.loops` takes them."""
    said = {key: value for key, value in said.items() if key != "target" or value is not None}
    rules = (said.pop("substitutions", None) or {}).values()
    temporaries = (said.pop("temporary_variables", None) or {}).values()
    if rules or temporaries:
        given = ["..."] if data is None else [data] if isinstance(data, str) else list(data)
        data = [*given, *rules, *temporaries]
    several = [domains] if isinstance(domains, str) or not isinstance(domains, Iterable) else list(domains)
    return [_domain(item) for item in several], data, said


def _domain(given: Any) -> Any:
    """A domain without what stands behind its last brace, which isl does not read."""
    text = str(given)
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if letter == "}" and depth == 0:
            rest = text[at + 1 :].strip()
            if rest:
                warnings.warn(f"the domain {text!r} goes on behind its closing brace; {rest!r} is ignored", LoopyWarning, stacklevel=4)
                return text[: at + 1]
            break
    return given


def resolve_callables(program: Program) -> Program:
    """The program with the functions resolved that its kernels call."""
    return infer_unknown_types(program)
