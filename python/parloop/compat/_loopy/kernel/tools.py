"""Questions about the instructions of a kernel: the order of global barriers, and whether loops can nest."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from ....loops import Kernel, Program
from ..diagnostic import LoopyError

__all__ = ["find_most_recent_global_barrier", "get_global_barrier_order", "get_iname_duplication_options", "has_schedulable_iname_nesting"]


def _kernel(given: Program | Kernel) -> Kernel:
    return given if isinstance(given, Kernel) else given.default_entrypoint


def _before(kernel: Kernel) -> dict[str, set[str]]:
    """For each instruction all that it depends on, directly or not."""
    direct = {insn.id: set(insn.depends_on) for insn in kernel.instructions}
    found: dict[str, set[str]] = {}
    for start in direct:
        reached: set[str] = set()
        waiting = list(direct[start])
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting.extend(direct.get(name, ()))
        found[start] = reached
    return found


def get_global_barrier_order(kernel: Program | Kernel) -> tuple[str, ...]:
    """The ids of the global barriers, in the order that dependencies give them.

    Raises
    ------
    LoopyError
        Where dependencies leave the order of two barriers open.
    """
    only = _kernel(kernel)
    before = _before(only)
    barriers = [insn.id for insn in only.instructions if getattr(insn, "synchronization_kind", None) == "global"]
    ordered = sorted(barriers, key=lambda name: sum(other in before[name] for other in barriers))
    for earlier, later in itertools.pairwise(ordered):
        if earlier not in before[later]:
            raise LoopyError(f"nothing says which of the global barriers {earlier!r} and {later!r} comes first; add a dependency")
    return tuple(ordered)


def find_most_recent_global_barrier(kernel: Program | Kernel, insn_id: str) -> str | None:
    """The last global barrier that an instruction depends on, directly or not."""
    only = _kernel(kernel)
    before = _before(only)[insn_id]
    return next((name for name in reversed(get_global_barrier_order(only)) if name in before), None)


def get_iname_duplication_options(kernel: Program | Kernel) -> Iterator[tuple[str, str]]:
    """Pairs of an iname and of instructions for which it could be duplicated, where loops cannot nest as they are.

    Each pair is what `duplicate_inames` takes. There are none where the loops nest.
    """
    only = _kernel(kernel)
    parallel = {name for name in only.all_inames() if any(str(tag).startswith(("g.", "l.")) for tag in only.iname_tags(name))}
    users: dict[frozenset[str], list[str]] = {}
    for insn in only.instructions:
        users.setdefault(frozenset(insn.within_inames) - parallel, []).append(insn.id)

    for iname, groups in _conflicts({names: names for names in users if names}):
        yield iname, " or ".join(f"id:{name}" for group in groups for name in users[group])


def _conflicts(nests: dict[frozenset[str], frozenset[str]]) -> Iterator[tuple[str, tuple[frozenset[str], ...]]]:
    """`nests` has for each set of inames those of them that are not nested yet."""
    if not nests:
        return
    shared = frozenset.intersection(*nests.values())
    if shared:
        yield from _conflicts({whole: left - shared for whole, left in nests.items() if left - shared})
        return
    parts = _connected(nests.values())
    if len(parts) > 1:
        for part in parts:
            yield from _conflicts({whole: left for whole, left in nests.items() if left <= part})
        return
    for iname in sorted(parts[0]):
        around = [whole for whole, left in nests.items() if iname in left]
        for count in range(1, len(around)):
            yield from ((iname, chosen) for chosen in itertools.combinations(around, count))


def _connected(sets: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    """Unions of sets that share names."""
    parts: list[frozenset[str]] = []
    for given in sets:
        touching = [part for part in parts if part & given]
        parts = [part for part in parts if not part & given] + [given.union(*touching)]
    return parts


def has_schedulable_iname_nesting(kernel: Program | Kernel) -> bool:
    """Whether the loops of a kernel can nest as they are."""
    return next(get_iname_duplication_options(kernel), None) is None


