"""Transformations of inames and loops."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from .._expressions import text
from .._kernel import Kernel
from .._program import Program, apply, fused
from .common import Names, P, query

_TAG = re.compile(r"[gl]\.(\d+|auto)|for|ord|unr|unr_hint|vec|ilp(\.\w+)?|like\..*|unused\.[gl]|@.*")


def split_iname(
    kernel: P,
    split_iname: str,
    inner_length: int,
    *,
    outer_iname: str | None = None,
    inner_iname: str | None = None,
    outer_tag: Any = None,
    inner_tag: Any = None,
    slabs: tuple[int, int] = (0, 0),
    do_tagged_check: bool = True,
    within: Any = None,
) -> P:
    """Makes two inames of one: `outer` counts blocks of `inner_length`, `inner` runs inside of a block.

    Parameters
    ----------
    split_iname : str
        The iname.
    inner_length : int
        How many values the inner iname has.
    outer_iname, inner_iname : str, optional
        Their names; by default the iname's with ``_outer`` and ``_inner``.
    outer_tag, inner_tag : str, optional
        Their tags: ``"g.0"``, ``"l.0"``, ``"unr"`` ….
    slabs : pair of int
        How many of the first and last blocks get code of their own.
    within : str, optional
        Which instructions: a query such as ``"id:a* and not writes:b"``.

    Examples
    --------
    >>> import numpy as np, parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")
    >>> knl = lp.split_iname(knl, "i", 128, outer_tag="g.0", inner_tag="l.0")
    >>> sorted(knl.default_entrypoint.all_inames())
    ['i_inner', 'i_outer']
    >>> knl(a=np.arange(3.0))[1][0]
    array([0., 2., 4.])
    """
    return apply(
        kernel,
        "split_iname",
        split_iname,
        inner_length,
        outer_iname=outer_iname,
        inner_iname=inner_iname,
        outer_tag=outer_tag,
        inner_tag=inner_tag,
        slabs=tuple(slabs),
        do_tagged_check=do_tagged_check,
        within=query(within),
    )


def chunk_iname(
    kernel: P,
    split_iname: str,
    num_chunks: int,
    *,
    outer_iname: str | None = None,
    inner_iname: str | None = None,
    outer_tag: Any = None,
    inner_tag: Any = None,
    slabs: tuple[int, int] = (0, 0),
    do_tagged_check: bool = True,
    within: Any = None,
) -> P:
    """As `split_iname`, but the number of blocks is given instead of their length.

    >>> import numpy as np, parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]", assumptions="n >= 1")
    >>> lp.chunk_iname(knl, "i", 4)(a=np.arange(6.0))[1][0]
    array([ 0.,  2.,  4.,  6.,  8., 10.])
    """
    return apply(
        kernel,
        "chunk_iname",
        split_iname,
        num_chunks,
        outer_iname=outer_iname,
        inner_iname=inner_iname,
        outer_tag=outer_tag,
        inner_tag=inner_tag,
        slabs=tuple(slabs),
        do_tagged_check=do_tagged_check,
        within=query(within),
    )


def join_inames(kernel: P, inames: Names, new_iname: str | None = None, tag: Any = None, within: Any = None) -> P:
    """Makes one iname of several, the last of which varies fastest.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i,j]: 0<=i<n and 0<=j<4}", "out[i,j] = 2*a[i,j]")
    >>> sorted(lp.join_inames(knl, "i,j", "ij").default_entrypoint.all_inames())
    ['ij']
    """
    return apply(kernel, "join_inames", inames, new_iname=new_iname, tag=tag, within=query(within))


def tag_inames(kernel: P, iname_to_tag: Any = None, force: bool = False, ignore_nonexistent: bool = False, **tags: Any) -> P:
    """Says how inames are run.

    Parameters
    ----------
    iname_to_tag : str, dict or list of pairs
        ``"i:g.0, j:l.0"`` or ``{"i": "g.0", "j": "l.0"}``.
    ignore_nonexistent : bool
        Whether inames that the kernel does not have are passed over.

    Examples
    --------
    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")
    >>> lp.tag_inames(knl, {"i": "g.0"}).default_entrypoint.iname_tags("i")
    frozenset({'g.0'})
    """
    named = dict((kernel.program if isinstance(kernel, Kernel) else kernel)._tag_objects)
    if isinstance(iname_to_tag, Mapping):
        iname_to_tag = {iname: _tags(tag, named) for iname, tag in iname_to_tag.items()}
    elif iname_to_tag is not None and not isinstance(iname_to_tag, str):
        iname_to_tag = [(iname, _tags(tag, named)) for iname, tag in iname_to_tag]
    given = {"force": True} if force else {}
    ignored = {"ignore_nonexistent": True} if ignore_nonexistent else {}
    tagged = apply(kernel, "tag_inames", *([] if iname_to_tag is None else [iname_to_tag]), **given, **ignored, **tags)
    (tagged.program if isinstance(tagged, Kernel) else tagged)._tag_objects = named
    return tagged


def _tags(given: Any, named: dict[str, Any]) -> Any:
    """One tag as text, or several in a list. An object that is not a tag of the compiler's gets a name."""
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, (list, tuple, set, frozenset)):
        return [_tags(tag, named) for tag in given]
    if _TAG.fullmatch(str(given)):
        return str(given)
    for name, present in named.items():
        if present == given:
            return name
    plain = name = f"@{type(given).__name__}"
    count = 0
    while name in named:
        count += 1
        name = f"{plain}_{count}"
    named[name] = given
    return name


def untag_inames(kernel: P, iname_to_untag: str, tag: Any = None) -> P:
    """Takes tags of an iname away: one kind, or all."""
    return apply(kernel, "untag_inames", iname_to_untag, tag=tag)


def duplicate_inames(
    kernel: P,
    inames: Names,
    within: Any,
    new_inames: Names | None = None,
    suffix: str | None = None,
    tags: Mapping[str, Any] | None = None,
) -> P:
    """Gives some instructions inames of their own, so that their loops are not shared.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", ["b[i] = 2*a[i] {id=first}", "c[i] = a[i] + 1 {id=second}"])
    >>> knl = lp.duplicate_inames(knl, "i", "id:second", new_inames="k")
    >>> print(knl.default_entrypoint.instructions[1])
    c[k] = a[k] + 1 {id=second, inames=+k}
    """
    return apply(kernel, "duplicate_inames", inames, query(within), new_inames=new_inames, suffix=suffix, tags=tags)


def rename_iname(
    kernel: P, old_iname: str, new_iname: str, existing_ok: bool = False, within: Any = None, preserve_tags: bool = True
) -> P:
    """Gives an iname another name; one that exists already if `existing_ok`.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")
    >>> lp.rename_iname(knl, "i", "row").default_entrypoint.all_inames()
    frozenset({'row'})
    """
    return apply(kernel, "rename_iname", old_iname, new_iname, existing_ok, within=query(within), preserve_tags=preserve_tags)


def rename_inames(kernel: P, old_inames: Names, new_iname: str, existing_ok: bool = False, within: Any = None) -> P:
    """Gives several inames one name.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i,j]: 0<=i,j<n}", ["b[i] = 2*a[i] {id=b}", "c[j] = 2*b[j] {dep=b}"])
    >>> lp.rename_inames(knl, ["j"], "i", existing_ok=True).default_entrypoint.all_inames()
    frozenset({'i'})
    """
    return apply(kernel, "rename_inames", old_inames, new_iname, existing_ok, within=query(within))


def rename_inames_in_batch(kernel: P, batches: Mapping[str, Iterable[str]]) -> P:
    """Gives several inames other names at once: each name with those that it stands for.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i,j]: 0<=i,j<n}", ["b[i] = 2*a[i] {id=b}", "c[j] = 2*b[j] {dep=b}"])
    >>> lp.rename_inames_in_batch(knl, {"row": ["i", "j"]}).default_entrypoint.all_inames()
    frozenset({'row'})
    """
    return apply(kernel, "rename_inames_in_batch", {name: list(olds) for name, olds in batches.items()})


def get_kennedy_unweighted_fusion_candidates(
    kernel: Program | Kernel, candidate_inames: Names, *, prefix: str = "ifused_"
) -> dict[str, list[str]]:
    """Which loops may be fused: what to give to `rename_inames_in_batch`.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i,j]: 0<=i,j<n}", ["b[i] = 2*a[i] {id=b}", "c[j] = 2*b[j] {dep=b}"])
    >>> batches = lp.get_kennedy_unweighted_fusion_candidates(knl, ["i", "j"])
    >>> sorted(*batches.values())
    ['i', 'j']
    >>> len(lp.rename_inames_in_batch(knl, batches).default_entrypoint.all_inames())
    1
    """
    names = [name.strip() for name in candidate_inames.split(",")] if isinstance(candidate_inames, str) else list(candidate_inames)
    program = kernel.program if isinstance(kernel, Kernel) else kernel
    name = kernel.name if isinstance(kernel, Kernel) else program.default_entrypoint.name
    return program._fusion_candidates(name, names, prefix)


def remove_unused_inames(kernel: P, inames: Names | None = None) -> P:
    """Takes away inames that no instruction uses: those given, or all.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i,j]: 0<=i,j<n}", ["b[i] = 2*a[i] {id=b}", "c[j] = 2*b[j] {dep=b}"])
    >>> knl = lp.remove_instructions(knl, {"insn"})
    >>> lp.remove_unused_inames(knl).default_entrypoint.all_inames()
    frozenset({'i'})
    """
    return apply(kernel, "remove_unused_inames", inames=inames)


def prioritize_loops(kernel: P, loop_priority: Names) -> P:
    """Says in which order loops nest, the outermost first.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i,j]: 0<=i,j<n}", "out[i,j] = 2*a[i,j]")
    >>> lp.prioritize_loops(knl, "j,i").default_entrypoint.loop_priority
    frozenset({('j', 'i')})
    """
    return apply(kernel, "prioritize_loops", loop_priority)


def set_loop_priority(kernel: P, loop_priority: Names) -> P:
    """`prioritize_loops` by its older name."""
    return prioritize_loops(kernel, loop_priority)


def map_domain(kernel: P, transform_map: Any) -> P:
    """Replaces inames by others that a relation gives: ``"{[i] -> [j]: j = n-1-i}"``.

    >>> import numpy as np, parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")
    >>> knl = lp.map_domain(knl, "[n] -> {[i] -> [back]: back = n - 1 - i}")
    >>> knl(a=np.arange(3.0))[1][0]
    array([0., 2., 4.])
    """
    return apply(kernel, "map_domain", str(transform_map))


def assume(kernel: P, assumptions: Any) -> P:
    """Promises something of the parameters, such as ``"n mod 16 = 0 and n > 0"``.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")
    >>> lp.assume(knl, "n >= 1").default_entrypoint.assumptions
    '[n] -> { [] : n >= 1 }'
    """
    condition = str(assumptions)
    if "{" in condition:
        # A set without dimensions: what stands behind its colon.
        condition = condition.partition("{")[2].partition(":")[2].rpartition("}")[0]
    return apply(kernel, "assume", condition.strip())


def fix_parameters(kernel: P, within: Any = None, **values: Any) -> P:
    """Puts numbers in the place of arguments.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")
    >>> lp.fix_parameters(knl, n=16).default_entrypoint.arg_dict["out"].shape
    (16,)
    """
    return apply(kernel, "fix_parameters", values)


def affine_map_inames(kernel: P, old_inames: Names, new_inames: Names, equations: Any) -> P:
    """Replaces inames by others that equations give, such as ``"i + j = k"``."""
    return apply(kernel, "affine_map_inames", old_inames, new_inames, equations)


def make_reduction_inames_unique(kernel: P, inames: Names | None = None, within: Any = None) -> P:
    """Gives each reduction inames of its own."""
    return apply(kernel, "make_reduction_inames_unique", inames=inames, within=query(within))


def add_inames_for_unused_hw_axes(kernel: P, within: Any = None) -> P:
    """Lets instructions run on every axis of the hardware that some instruction uses.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<16}", ["<>t = 2 {id=t}", "a[i] = t*b[i] {dep=t}"])
    >>> knl = lp.add_inames_for_unused_hw_axes(lp.tag_inames(knl, "i:l.0"))
    >>> knl.default_entrypoint.id_to_insn["t"].within_inames
    frozenset({'i'})
    """
    return apply(kernel, "add_inames_for_unused_hw_axes", within=query(within))
