"""`add_prefetch`, with inames in what is fetched that were split since."""

from __future__ import annotations

from typing import Any, TypeVar

from .... import loops
from ....loops import Kernel, Program
from ....loops._expressions import text
from ..symbolic import SubstitutionMapper, get_dependencies, parse

_P = TypeVar("_P", Program, Kernel)

__all__ = ["add_prefetch"]


def add_prefetch(kernel: _P, var_name: str, *args: Any, **named: Any) -> _P:
    """`parloop.loops.add_prefetch`. An iname in ``"a[i, k]"`` that was split before stands for what it was split into."""
    program = kernel.program if isinstance(kernel, Kernel) else kernel
    entry = kernel if isinstance(kernel, Kernel) else kernel.default_entrypoint
    if "[" in str(var_name) and ":" not in str(var_name):
        made = _rewrites(program, entry.all_inames())
        expression = parse(str(var_name))
        while get_dependencies(expression) & made.keys():
            expression = SubstitutionMapper(lambda node: made.get(getattr(node, "name", None)))(expression)
        var_name = text(expression)
    return loops.add_prefetch(kernel, var_name, *args, **named)


def _rewrites(program: Program, inames: frozenset[str]) -> dict[str | None, Any]:
    """What inames that are not there any more were split into."""
    found: dict[str | None, Any] = {}
    for method, given in program._history:
        if method != "_apply" or given[0] != "split_iname":
            continue
        (name, length, *_), said = given[1], given[2]
        if name in inames or said.get("within"):
            continue
        outer, inner = said.get("outer_iname") or f"{name}_outer", said.get("inner_iname") or f"{name}_inner"
        found[name] = parse(f"{inner} + {outer}*{length}")
    return found
