"""Programs: kernels and what they call."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from .._parloop import LoopProgram as _LoopProgram
from .._parloop import make_loop_program as _make

__all__ = ["LoopWarning", "Program", "generate_code", "make_function", "make_kernel"]


class LoopWarning(UserWarning):
    """What may be a mistake in a kernel."""


class Program(_LoopProgram):
    """Kernels and what they call. Made by `make_kernel`; transformations make others of it; a call runs it.

    >>> import numpy as np, parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")
    >>> event, (out,) = knl(a=np.arange(4.0))
    >>> out
    array([0., 2., 4., 6.])
    """

    def code(self, target: str | None = None) -> str:
        """The source for a target: c, opencl, cuda, hip or ispc.

        >>> import numpy as np, parloop.loops as lp
        >>> knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]", [lp.GlobalArg("a", np.float32), ...])
        >>> print(knl.code("c").split("{")[0].split("\\n")[-2])
        void loopy_kernel(float const *__restrict__ a, float *__restrict__ out, int32_t const n)
        """
        return self._code(_target_name(target))


def _target_name(target: Any) -> str | None:
    return target if target is None or isinstance(target, str) else target._name


def _apply(program: Program, name: str, *args: Any, **named: Any) -> Program:
    return type(program)(program._apply(name, args, {key: value for key, value in named.items() if value is not None}))


def make_kernel(domains: Any, instructions: Any, kernel_data: Iterable[Any] | None = None, **said: Any) -> Program:
    """A program of one kernel: what to compute for each point of its domains.

    Parameters
    ----------
    domains : str or list of str
        Sets of integers in isl's notation: ``"{[i,j]: 0<=i,j<n}"``.
    instructions : str or list of str
        One a line: ``"c[i,j] = sum(k, a[i,k]*b[k,j])"``.
    kernel_data : list, optional
        Arguments and temporaries; ``...`` stands for all others. Everything is found from the instructions when it is not given.
    name, assumptions, default_order, default_offset, fixed_parameters, options, target, seq_dependencies, index_dtype : optional
        See the guide.

    Examples
    --------
    >>> import numpy as np, parloop.loops as lp
    >>> knl = lp.make_kernel("{[i,k]: 0<=i,k<n}", "y[i] = sum(k, a[i,k]*x[k])")
    >>> event, (y,) = knl(a=np.eye(3), x=np.array([1.0, 2.0, 3.0]))
    >>> y
    array([1., 2., 3.])
    """
    return _build(domains, instructions, kernel_data, said, function=False)


def make_function(domains: Any, instructions: Any, kernel_data: Iterable[Any] | None = None, **said: Any) -> Program:
    """As `make_kernel`, for a kernel that others call."""
    return _build(domains, instructions, kernel_data, said, function=True)


def _build(domains: Any, instructions: Any, data: Iterable[Any] | None, said: dict[str, Any], function: bool) -> Program:
    if isinstance(domains, str) or not isinstance(domains, Iterable):
        domains = [domains]
    if isinstance(instructions, str) or not isinstance(instructions, Iterable):
        instructions = [instructions]
    described = {key: value for key, value in said.items() if value is not None and key != "lang_version"}
    if "target" in described:
        described["target"] = _target_name(described["target"])
    described.update(domains=domains, instructions=instructions, function=function)
    if data is not None:
        items = [data] if isinstance(data, str) else data
        described["data"] = [item._describe() if hasattr(item, "_describe") else _loose(item) for item in items]
    program, found = _make(described)
    for name, message in found:
        warnings.warn(f"{name}: {message}", LoopWarning, stacklevel=3)
    return Program(program)


def _loose(item: Any) -> Any:
    """A name whose use says what it is; `...` stays as it is."""
    return item if item is ... or item == "..." else {"kind": "named", "name": str(item)}


def generate_code(program: Program, target: Any = None) -> str:
    """The source of a program's kernel for a target."""
    return program.code(target)
