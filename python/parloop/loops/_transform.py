"""Transformations: each makes another program, and leaves the one that it is given as it is.

All take a `Program`, or one `Kernel` of it, and return the same. What they do is done by the compiler; here are their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from ._expressions import text
from ._kernel import Kernel
from ._program import Program, apply, fused, then

_P = TypeVar("_P", Program, Kernel)
_Names = str | Iterable[str]

__all__ = [
    "add_barrier",
    "add_dependency",
    "add_inames_for_unused_hw_axes",
    "add_inames_to_insn",
    "add_nosync",
    "add_padding",
    "add_prefetch",
    "affine_map_inames",
    "alias_temporaries",
    "allocate_temporaries_for_base_storage",
    "assignment_to_subst",
    "assume",
    "buffer_array",
    "chunk_iname",
    "collect_common_factors_on_increment",
    "concatenate_arrays",
    "duplicate_inames",
    "expand_subst",
    "extract_subst",
    "fix_parameters",
    "fuse_kernels",
    "get_kennedy_unweighted_fusion_candidates",
    "inline_callable_kernel",
    "join_inames",
    "make_reduction_inames_unique",
    "map_domain",
    "pack_and_unpack_args_for_call",
    "precompute",
    "prioritize_loops",
    "privatize_temporaries_with_inames",
    "realize_reduction",
    "reduction_arg_to_subst_rule",
    "remove_inames_from_insn",
    "remove_instructions",
    "remove_predicates_from_insn",
    "remove_unused_arguments",
    "remove_unused_inames",
    "rename_argument",
    "rename_iname",
    "rename_inames",
    "rename_inames_in_batch",
    "set_argument_order",
    "set_array_axis_names",
    "set_instruction_priority",
    "set_loop_priority",
    "set_temporary_address_space",
    "simplify_indices",
    "split_array_axis",
    "split_iname",
    "split_reduction_inward",
    "split_reduction_outward",
    "tag_array_axes",
    "tag_inames",
    "tag_instructions",
    "to_batched",
    "unprivatize_temporaries_with_inames",
    "untag_inames",
]

# Stands for an argument that was not given where `None` says something.
_NOT_GIVEN = object()


def _query(within: Any) -> Any:
    """A query as text."""
    return None if within is None else str(within)


def split_iname(
    kernel: _P,
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
) -> _P:
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
        within=_query(within),
    )


def chunk_iname(
    kernel: _P,
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
) -> _P:
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
        within=_query(within),
    )


def join_inames(kernel: _P, inames: _Names, new_iname: str | None = None, tag: Any = None, within: Any = None) -> _P:
    """Makes one iname of several, the last of which varies fastest.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i,j]: 0<=i<n and 0<=j<4}", "out[i,j] = 2*a[i,j]")
    >>> sorted(lp.join_inames(knl, "i,j", "ij").default_entrypoint.all_inames())
    ['ij']
    """
    return apply(kernel, "join_inames", inames, new_iname=new_iname, tag=tag, within=_query(within))


def tag_inames(kernel: _P, iname_to_tag: Any = None, force: bool = False, ignore_nonexistent: bool = False, **tags: Any) -> _P:
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


_TAG = re.compile(r"[gl]\.(\d+|auto)|for|ord|unr|unr_hint|vec|ilp(\.\w+)?|like\..*|unused\.[gl]|@.*")


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


def untag_inames(kernel: _P, iname_to_untag: str, tag: Any = None) -> _P:
    """Takes tags of an iname away: one kind, or all."""
    return apply(kernel, "untag_inames", iname_to_untag, tag=tag)


def duplicate_inames(
    kernel: _P,
    inames: _Names,
    within: Any,
    new_inames: _Names | None = None,
    suffix: str | None = None,
    tags: Mapping[str, Any] | None = None,
) -> _P:
    """Gives some instructions inames of their own, so that their loops are not shared.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", ["b[i] = 2*a[i] {id=first}", "c[i] = a[i] + 1 {id=second}"])
    >>> knl = lp.duplicate_inames(knl, "i", "id:second", new_inames="k")
    >>> print(knl.default_entrypoint.instructions[1])
    c[k] = a[k] + 1 {id=second, inames=+k}
    """
    return apply(kernel, "duplicate_inames", inames, _query(within), new_inames=new_inames, suffix=suffix, tags=tags)


def rename_iname(
    kernel: _P, old_iname: str, new_iname: str, existing_ok: bool = False, within: Any = None, preserve_tags: bool = True
) -> _P:
    """Gives an iname another name; one that exists already if `existing_ok`.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")
    >>> lp.rename_iname(knl, "i", "row").default_entrypoint.all_inames()
    frozenset({'row'})
    """
    return apply(kernel, "rename_iname", old_iname, new_iname, existing_ok, within=_query(within), preserve_tags=preserve_tags)


def rename_inames(kernel: _P, old_inames: _Names, new_iname: str, existing_ok: bool = False, within: Any = None) -> _P:
    """Gives several inames one name.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i,j]: 0<=i,j<n}", ["b[i] = 2*a[i] {id=b}", "c[j] = 2*b[j] {dep=b}"])
    >>> lp.rename_inames(knl, ["j"], "i", existing_ok=True).default_entrypoint.all_inames()
    frozenset({'i'})
    """
    return apply(kernel, "rename_inames", old_inames, new_iname, existing_ok, within=_query(within))


def rename_inames_in_batch(kernel: _P, batches: Mapping[str, Iterable[str]]) -> _P:
    """Gives several inames other names at once: each name with those that it stands for.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i,j]: 0<=i,j<n}", ["b[i] = 2*a[i] {id=b}", "c[j] = 2*b[j] {dep=b}"])
    >>> lp.rename_inames_in_batch(knl, {"row": ["i", "j"]}).default_entrypoint.all_inames()
    frozenset({'row'})
    """
    return apply(kernel, "rename_inames_in_batch", {name: list(olds) for name, olds in batches.items()})


def get_kennedy_unweighted_fusion_candidates(
    kernel: Program | Kernel, candidate_inames: _Names, *, prefix: str = "ifused_"
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


def remove_unused_inames(kernel: _P, inames: _Names | None = None) -> _P:
    """Takes away inames that no instruction uses: those given, or all.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i,j]: 0<=i,j<n}", ["b[i] = 2*a[i] {id=b}", "c[j] = 2*b[j] {dep=b}"])
    >>> knl = lp.remove_instructions(knl, {"insn"})
    >>> lp.remove_unused_inames(knl).default_entrypoint.all_inames()
    frozenset({'i'})
    """
    return apply(kernel, "remove_unused_inames", inames=inames)


def prioritize_loops(kernel: _P, loop_priority: _Names) -> _P:
    """Says in which order loops nest, the outermost first.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i,j]: 0<=i,j<n}", "out[i,j] = 2*a[i,j]")
    >>> lp.prioritize_loops(knl, "j,i").default_entrypoint.loop_priority
    frozenset({('j', 'i')})
    """
    return apply(kernel, "prioritize_loops", loop_priority)


def set_loop_priority(kernel: _P, loop_priority: _Names) -> _P:
    """`prioritize_loops` by its older name."""
    return prioritize_loops(kernel, loop_priority)


def map_domain(kernel: _P, transform_map: Any) -> _P:
    """Replaces inames by others that a relation gives: ``"{[i] -> [j]: j = n-1-i}"``.

    >>> import numpy as np, parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")
    >>> knl = lp.map_domain(knl, "[n] -> {[i] -> [back]: back = n - 1 - i}")
    >>> knl(a=np.arange(3.0))[1][0]
    array([0., 2., 4.])
    """
    return apply(kernel, "map_domain", str(transform_map))


def assume(kernel: _P, assumptions: Any) -> _P:
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


def fix_parameters(kernel: _P, within: Any = None, **values: Any) -> _P:
    """Puts numbers in the place of arguments.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")
    >>> lp.fix_parameters(knl, n=16).default_entrypoint.arg_dict["out"].shape
    (16,)
    """
    return apply(kernel, "fix_parameters", values)


def add_prefetch(
    kernel: _P,
    var_name: str,
    sweep_inames: _Names = (),
    dim_arg_names: Any = None,
    default_tag: Any = _NOT_GIVEN,
    rule_name: str | None = None,
    temporary_name: str | None = None,
    temporary_address_space: Any = None,
    footprint_subscripts: Any = None,
    fetch_bounding_box: bool = False,
    fetch_outer_inames: _Names | None = None,
    prefetch_insn_id: str | None = None,
    within: Any = None,
) -> _P:
    """Copies what a part of the loops reads of an array into memory that is nearer, before it is read.

    Parameters
    ----------
    var_name : str
        The array: all reads of it in the selected instructions are fetched together. With indices, ``"p[16*j_outer + j_inner]"``, only
        reads with these indices are, which is how one of several is selected: of ``p[i]`` and ``p[j]``, write which.
    sweep_inames : list of str
        The inames over which all that is read is fetched at once.
    default_tag : str, optional
        The tag of the loops that fetch. Left out, it is ``"l.auto"`` where a swept iname is on a local axis, so that the items of a group
        share the work, and none otherwise. ``"l.auto"`` gives each loop a local axis of the group: the longest ones, the loop
        with the smallest steps through memory on the first of them; a loop that is longer than its axis is split. ``"for"`` and `None`
        make plain loops: on a GPU each item then fetches everything for itself.
    within : str, optional
        Which instructions are selected, such as ``"id:update*"``.
    temporary_address_space : optional
        `AddressSpace.LOCAL` or `AddressSpace.PRIVATE`; found from the tags when not given.

    Examples
    --------
    >>> import numpy as np, parloop.loops as lp
    >>> knl = lp.make_kernel("{[i,j]: 0<=i<16 and 0<=j<4}", "out[i] = sum(j, a[i+j])", [lp.GlobalArg("a", shape=(20,)), ...])
    >>> knl = lp.add_prefetch(knl, "a", ["i", "j"], default_tag="for")
    >>> knl(a=np.ones(20))[1][0][:2]
    array([4., 4.])

    One of two reads of an array, for a kernel in which every point meets every other:

    >>> knl = lp.make_kernel("{[i,j]: 0<=i,j<n}", "f[i] = sum(j, p[i] - p[j])")
    >>> knl = lp.split_iname(knl, "j", 16)
    >>> knl = lp.add_prefetch(knl, "p[j_inner + 16*j_outer]", ["j_inner"], fetch_outer_inames=["i", "j_outer"])
    >>> knl(p=np.arange(3.0))[1][0]
    array([-3.,  0.,  3.])
    """
    given: dict[str, Any] = {"default_tag": default_tag} if default_tag is not _NOT_GIVEN and default_tag is not None else {}
    args: list[Any] = [var_name, sweep_inames if isinstance(sweep_inames, str) else list(sweep_inames)]
    if default_tag is None:
        args += [dim_arg_names, None]
        dim_arg_names = None
    return apply(
        kernel,
        "add_prefetch",
        *args,
        dim_arg_names=dim_arg_names,
        rule_name=rule_name,
        temporary_name=temporary_name,
        temporary_address_space=temporary_address_space,
        footprint_subscripts=footprint_subscripts,
        fetch_bounding_box=fetch_bounding_box,
        fetch_outer_inames=fetch_outer_inames,
        prefetch_insn_id=prefetch_insn_id,
        within=_query(within),
        **given,
    )


def precompute(
    kernel: _P,
    subst_use: Any,
    sweep_inames: _Names = (),
    within: Any = None,
    *,
    storage_axes: Any = None,
    temporary_name: str | None = None,
    precompute_inames: Any = None,
    precompute_outer_inames: Any = None,
    storage_axis_to_tag: Mapping[str, Any] | None = None,
    default_tag: Any = _NOT_GIVEN,
    dtype: Any = None,
    fetch_bounding_box: bool = False,
    temporary_address_space: Any = None,
    compute_insn_id: str | None = None,
) -> _P:
    """Computes what a substitution rule stands for once, for a part of the loops, and keeps it.

    Parameters
    ----------
    subst_use : str or list of str
        The rule, or uses of it that say for which arguments it is computed.
    sweep_inames : list of str
        The inames over which all values are computed at once.

    Examples
    --------
    >>> import numpy as np, parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<8}", "f(k) := k*k\\nout[i] = f(i) + 1.0")
    >>> lp.precompute(knl, "f", "i")()[1][0][:3]
    array([1., 2., 5.], dtype=float32)
    """
    given: dict[str, Any] = {} if default_tag is _NOT_GIVEN or default_tag is None else {"default_tag": default_tag}
    uses = [text(use) for use in subst_use] if isinstance(subst_use, (list, tuple)) else text(subst_use)
    sweep = sweep_inames if isinstance(sweep_inames, str) else list(sweep_inames)
    named: dict[str, Any] = {
        "storage_axes": storage_axes,
        "temporary_name": temporary_name,
        "precompute_inames": precompute_inames,
        "precompute_outer_inames": precompute_outer_inames,
        "storage_axis_to_tag": {str(axis): tag for axis, tag in storage_axis_to_tag.items()} if storage_axis_to_tag else None,
        "dtype": dtype,
        "fetch_bounding_box": fetch_bounding_box,
        "temporary_address_space": temporary_address_space,
        "compute_insn_id": compute_insn_id,
        **given,
    }
    if default_tag is None:
        order = ("storage_axes", "temporary_name", "precompute_inames", "precompute_outer_inames", "storage_axis_to_tag")
        places = [named.pop(name) for name in order]
        return apply(kernel, "precompute", uses, sweep, _query(within), *places, None, **named)
    return apply(kernel, "precompute", uses, sweep, within=_query(within), **named)


def alias_temporaries(
    kernel: _P, names: _Names, base_name_prefix: str | None = None, synchronize_for_exclusive_use: bool = True
) -> _P:
    """Lets temporaries that are not in use at the same time share memory."""
    return apply(
        kernel,
        "alias_temporaries",
        names,
        base_name_prefix=base_name_prefix,
        synchronize_for_exclusive_use=synchronize_for_exclusive_use,
    )


def rename_argument(kernel: _P, old_name: str, new_name: str) -> _P:
    """Gives an argument another name.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")
    >>> print(lp.rename_argument(knl, "a", "source").default_entrypoint.instructions[0])
    out[i] = 2*source[i] {id=insn, inames=+i}
    """
    return apply(kernel, "rename_argument", old_name, new_name)


def set_argument_order(kernel: _P, arg_names: _Names) -> _P:
    """Says in which order arguments come.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")
    >>> [arg.name for arg in lp.set_argument_order(knl, ["n", "a", "out"]).default_entrypoint.args]
    ['n', 'a', 'out']
    """
    return apply(kernel, "set_argument_order", arg_names)


def set_array_axis_names(kernel: _P, ary_names: _Names, dim_names: _Names) -> _P:
    """Gives the axes of arrays names."""
    return apply(kernel, "set_array_axis_names", ary_names, dim_names)


def set_temporary_address_space(kernel: _P, temp_var_names: _Names, address_space: Any) -> _P:
    """Says in which memory temporaries live.

    >>> import numpy as np, parloop.loops as lp
    >>> knl = lp.make_kernel(
    ...     "{[i,j]: 0<=i,j<8}",
    ...     ["<> t[i] = 2*a[i] {id=t}", "out[j] = t[7 - j] {dep=t}"],
    ...     [lp.GlobalArg("a,out", np.float64), ...],
    ... )
    >>> knl = lp.set_temporary_address_space(lp.tag_inames(knl, {"i": "l.0", "j": "l.0"}), "t", "local")
    >>> "__local double t[8]" in knl.code("opencl")
    True
    """
    return apply(kernel, "set_temporary_address_space", temp_var_names, address_space)


def tag_array_axes(kernel: _P, ary_names: _Names, dim_tags: Any) -> _P:
    """Says how the axes of arrays lie in memory: ``"C"``, ``"F"``, ``"N0,N1"``, ``"stride:auto"``, ``"vec"`` ….

    >>> import numpy as np, parloop.loops as lp
    >>> knl = lp.make_kernel("{[i,j]: 0<=i,j<n}", "out[i,j] = 2*a[i,j]")
    >>> knl = lp.tag_array_axes(knl, "out", "N0,N1")
    >>> knl(a=np.ones((2, 2)))[1][0].flags.f_contiguous
    True
    """
    return apply(kernel, "tag_array_axes", ary_names, dim_tags)


def expand_subst(kernel: _P, within: Any = None) -> _P:
    """Puts what substitution rules stand for in the place of their uses."""
    return apply(kernel, "expand_subst", within=_query(within))


def extract_subst(kernel: _P, subst_name: str, template: Any, parameters: _Names = (), within: Any = None) -> _P:
    """Makes a substitution rule of an expression that occurs in the instructions.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i,j]: 0<=i<n and 0<=j<4}", "out[i,j] = exp(a[i])*j + exp(a[i])")
    >>> knl = lp.extract_subst(knl, "e", "exp(a[x])", "x")  # and then, say, lp.precompute(knl, "e")
    >>> print(knl.default_entrypoint.instructions[0])
    out[i, j] = e(i)*j + e(i) {id=insn, inames=+i:j}
    """
    return apply(kernel, "extract_subst", subst_name, text(template), parameters, within=_query(within))


def add_dependency(kernel: _P, insn_match: Any, depends_on: Any) -> _P:
    """Lets instructions depend on others.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", ["b[i] = 2*a[i] {id=first}", "c[i] = a[i] + 1 {id=second}"])
    >>> lp.add_dependency(knl, "id:second", "id:first").default_entrypoint.id_to_insn["second"].depends_on
    frozenset({'first'})
    """
    return apply(kernel, "add_dependency", str(insn_match), str(depends_on))


def add_nosync(
    kernel: _P,
    scope: str,
    source: Any,
    sink: Any,
    bidirectional: bool = False,
    force: bool = False,
    empty_ok: bool = False,
) -> _P:
    """Promises that no barrier is needed between instructions.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", ["b[i] = a[i] {id=first}", "c[i] = b[i] {id=second, dep=first}"])
    >>> knl = lp.add_nosync(knl, "global", "id:first", "id:second")
    >>> knl.default_entrypoint.id_to_insn["second"].no_sync_with
    frozenset({('first', 'global')})
    """
    return apply(kernel, "add_nosync", scope, str(source), str(sink), bidirectional, force, empty_ok)


def add_barrier(
    kernel: _P,
    insn_before: Any,
    insn_after: Any,
    id_based_on: str | None = None,
    tags: _Names | None = None,
    synchronization_kind: str = "global",
    mem_kind: str | None = None,
    within_inames: _Names | None = None,
) -> _P:
    """Puts a barrier between instructions.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", ["b[i] = a[i] {id=first}", "c[i] = b[i] {id=second, dep=first}"])
    >>> [insn.kind for insn in lp.add_barrier(knl, "id:first", "id:second").default_entrypoint.instructions]
    ['assignment', 'assignment', 'barrier']
    """
    return apply(
        kernel,
        "add_barrier",
        str(insn_before),
        str(insn_after),
        id_based_on=id_based_on,
        tags=tags,
        synchronization_kind=synchronization_kind,
        mem_kind=mem_kind,
        within_inames=within_inames,
    )


def realize_reduction(
    kernel: _P,
    insn_id_filter: _Names | None = None,
    unknown_types_ok: bool = True,
    automagic_scans_ok: bool = False,
    force_scan: bool = False,
    force_outer_iname_for_scan: str | None = None,
) -> _P:
    """Makes instructions of reductions; scans if `force_scan`, where that is possible if `automagic_scans_ok`.

    >>> import numpy as np, parloop.loops as lp
    >>> knl = lp.make_kernel("{[i,j]: 0<=i<n and 0<=j<=i}", "out[i] = sum(j, a[j])")
    >>> lp.realize_reduction(knl, force_scan=True)(a=np.ones(4))[1][0]
    array([1., 2., 3., 4.])
    """
    return apply(
        kernel,
        "realize_reduction",
        insn_id_filter=insn_id_filter,
        unknown_types_ok=unknown_types_ok,
        automagic_scans_ok=automagic_scans_ok,
        force_scan=force_scan,
        force_outer_iname_for_scan=force_outer_iname_for_scan,
    )


def inline_callable_kernel(program: Program, function_name: str) -> Program:
    """Puts the instructions of a kernel in the place of all calls of it.

    >>> import numpy as np, parloop.loops as lp
    >>> twice = lp.make_function("{[i]: 0<=i<4}", "y[i] = 2*x[i]", name="twice")
    >>> knl = lp.make_kernel("{[i]: 0<=i<4}", "[i]: b[i] = twice([i]: a[i])", [lp.GlobalArg("a,b", shape=(4,))])
    >>> knl = lp.inline_callable_kernel(lp.merge([knl, twice]), "twice")
    >>> list(knl.callables_table)
    ['loopy_kernel']
    """
    return then(program, "_inline", function_name)


def add_inames_to_insn(kernel: _P, inames: _Names, insn_match: Any) -> _P:
    """Lets instructions run in further inames."""
    return apply(kernel, "add_inames_to_insn", inames if isinstance(inames, str) else sorted(inames), str(insn_match))


def remove_inames_from_insn(kernel: _P, inames: _Names, insn_match: Any) -> _P:
    """Lets instructions run in fewer inames."""
    return apply(kernel, "remove_inames_from_insn", inames if isinstance(inames, str) else sorted(inames), str(insn_match))


def remove_instructions(kernel: _P, insn_ids: _Names) -> _P:
    """Takes instructions away; what depended on them depends on what they depended on.

    That they are not needed is the caller's promise: what they wrote keeps the value that it had before.
    """
    return apply(kernel, "remove_instructions", insn_ids if isinstance(insn_ids, str) else sorted(insn_ids))


def set_instruction_priority(kernel: _P, insn_match: Any, priority: int) -> _P:
    """Says which instructions go first where dependencies leave a choice: the larger number."""
    return apply(kernel, "set_instruction_priority", str(insn_match), priority)


def tag_instructions(kernel: _P, new_tag: str, within: Any = None) -> _P:
    """Gives instructions a further tag."""
    return apply(kernel, "tag_instructions", new_tag, within=_query(within))


def affine_map_inames(kernel: _P, old_inames: _Names, new_inames: _Names, equations: Any) -> _P:
    """Replaces inames by others that equations give, such as ``"i + j = k"``."""
    return apply(kernel, "affine_map_inames", old_inames, new_inames, equations)


def split_reduction_inward(kernel: _P, inames: _Names, within: Any = None) -> _P:
    """Makes two reductions of one: the inner over those inames, the outer over the others.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i,j]: 0<=i,j<n}", "out = sum((i,j), a[i,j])", [lp.GlobalArg("out", shape=()), ...])
    >>> print(lp.split_reduction_inward(knl, "j").default_entrypoint.instructions[0])
    out = sum(i, sum(j, a[i, j])) {id=insn}
    """
    return apply(kernel, "split_reduction_inward", inames, within=_query(within))


def split_reduction_outward(kernel: _P, inames: _Names, within: Any = None) -> _P:
    """Makes two reductions of one: the outer over those inames, the inner over the others."""
    return apply(kernel, "split_reduction_outward", inames, within=_query(within))


def make_reduction_inames_unique(kernel: _P, inames: _Names | None = None, within: Any = None) -> _P:
    """Gives each reduction inames of its own."""
    return apply(kernel, "make_reduction_inames_unique", inames=inames, within=_query(within))


def assignment_to_subst(
    kernel: _P, lhs_name: str, extra_arguments: _Names = (), within: Any = None, force_retain_argument: bool = False
) -> _P:
    """Makes a substitution rule of the assignment of a temporary."""
    extra = extra_arguments if isinstance(extra_arguments, str) else list(extra_arguments)
    return apply(kernel, "assignment_to_subst", lhs_name, extra, within=_query(within), force_retain_argument=force_retain_argument)


def reduction_arg_to_subst_rule(kernel: _P, inames: _Names, insn_match: Any = None, subst_rule_name: str | None = None) -> _P:
    """Makes a substitution rule of what a reduction over those inames reduces."""
    names = inames if isinstance(inames, str) else list(inames)
    return apply(kernel, "reduction_arg_to_subst_rule", names, subst_rule_name=subst_rule_name, within=_query(insn_match))


def split_array_axis(kernel: _P, array_names: _Names, axis_nr: int, count: int, order: str = "C") -> _P:
    """Makes two axes of one, the second of length `count` (the first, in Fortran's order)."""
    return apply(kernel, "split_array_axis", array_names, axis_nr, count, order=order)


def privatize_temporaries_with_inames(kernel: _P, privatizing_inames: _Names, only_var_names: _Names | None = None) -> _P:
    """Gives temporaries that depend on inames a further axis for each of them."""
    return apply(kernel, "privatize_temporaries_with_inames", privatizing_inames, only_var_names=only_var_names)


def allocate_temporaries_for_base_storage(
    kernel: _P, only_address_space: Any = None, aliased: bool = True, max_nbytes: int | None = None
) -> _P:
    """Makes one temporary of the memory that several share by the name of it."""
    return apply(
        kernel, "allocate_temporaries_for_base_storage", only_address_space=only_address_space, aliased=aliased, max_nbytes=max_nbytes
    )


def remove_unused_arguments(kernel: _P) -> _P:
    """Takes away arguments that nothing uses."""
    return apply(kernel, "remove_unused_arguments")


def simplify_indices(kernel: _P) -> _P:
    """Simplifies divisions and remainders in indices, where the domains allow it."""
    return apply(kernel, "simplify_indices")


def add_inames_for_unused_hw_axes(kernel: _P, within: Any = None) -> _P:
    """Lets instructions run on every axis of the hardware that some instruction uses.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<16}", ["<>t = 2 {id=t}", "a[i] = t*b[i] {dep=t}"])
    >>> knl = lp.add_inames_for_unused_hw_axes(lp.tag_inames(knl, "i:l.0"))
    >>> knl.default_entrypoint.id_to_insn["t"].within_inames
    frozenset({'i'})
    """
    return apply(kernel, "add_inames_for_unused_hw_axes", within=_query(within))


def add_padding(kernel: _P, variable: str, axis: int, elements: int) -> _P:
    """Makes the stride of an axis of an array a multiple of so many elements.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i,j]: 0<=i<n and 0<=j<36}", "a[i,j] = 1")
    >>> lp.add_padding(knl, "a", 0, 16).default_entrypoint.arg_dict["a"].dim_tags
    ('nested(1, 16)', 'N0')
    """
    return apply(kernel, "add_padding", variable, axis, elements)


def concatenate_arrays(kernel: _P, array_names: _Names, new_name: str | None = None, axis_nr: int = 0) -> _P:
    """Places temporaries one after another in one array.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<10}", ["<float64>a[i] = x[i] {id=a}", "<float64>b[i] = y[i] {id=b}", "z[i] = a[i] + b[i]"])
    >>> lp.concatenate_arrays(knl, ["a", "b"], "c").default_entrypoint.temporary_variables["c"].shape
    (20,)
    """
    names = [name.strip() for name in array_names.split(",")] if isinstance(array_names, str) else list(array_names)
    return apply(kernel, "concatenate_arrays", names, new_name or names[0], axis_nr)


def fuse_kernels(
    kernels: Iterable[Program | Kernel],
    suffixes: Iterable[str] | None = None,
    data_flow: Iterable[tuple[str, int, int]] | None = None,
) -> Program:
    """One kernel that does what several do, one after the other.

    Parameters
    ----------
    kernels : list
        Kernels, or programs of one kernel. Arguments of one name are one argument.
    suffixes : list of str, optional
        What names that collide end in, one for each kernel.
    data_flow : list of tuples, optional
        ``(variable, from, to)``: what kernel `to` does with the variable waits for what kernel `from` writes to it.

    Examples
    --------
    >>> import numpy as np, parloop.loops as lp
    >>> first = lp.make_kernel("{[i]: 0<=i<3}", "b[i] = 2*a[i]")
    >>> second = lp.make_kernel("{[i]: 0<=i<3}", "c[i] = b[i] + 1", [lp.GlobalArg("b", is_input=False), ...])
    >>> knl = lp.fuse_kernels([first, second], data_flow=[("b", 0, 1)])
    >>> event, (b, c) = knl(a=np.arange(3.0))
    >>> c
    array([1., 3., 5.])
    """
    items = [item if isinstance(item, Kernel) else item.default_entrypoint for item in kernels]
    flows = [(str(name), int(source), int(sink)) for name, source, sink in data_flow or ()]
    return fused([(item.program, item.name) for item in items], list(suffixes or ()), flows)


def remove_predicates_from_insn(kernel: _P, predicates: Iterable[Any], insn_match: Any) -> _P:
    """Takes conditions away from instructions. The caller guarantees that they hold, or that removing them is harmless.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<10}", "a[i] = 1 {id=a, if=i >= 0}")
    >>> lp.remove_predicates_from_insn(knl, ["i >= 0"], "id:a").default_entrypoint.id_to_insn["a"].predicates
    frozenset()
    """
    return apply(kernel, "remove_predicates_from_insn", [text(item) for item in predicates], str(insn_match))


def to_batched(
    kernel: _P, nbatches: str | int, batch_varying_args: _Names, batch_iname_prefix: str = "ibatch", sequential: bool = False
) -> _P:
    """Does what a kernel does for each of several batches: arguments that vary get a first axis of that length.

    >>> import numpy as np, parloop.loops as lp
    >>> knl = lp.to_batched(lp.make_kernel("{[i]: 0<=i<2}", "y[i] = c*x[i]"), "nbatches", "x,y")
    >>> knl(x=np.ones((3, 2)), c=2.0)[1][0].shape
    (3, 2)
    """
    names = [name.strip() for name in batch_varying_args.split(",")] if isinstance(batch_varying_args, str) else list(batch_varying_args)
    return apply(kernel, "to_batched", nbatches, names, batch_iname_prefix)


def unprivatize_temporaries_with_inames(kernel: _P, inames: _Names, only_var_names: _Names | None = None) -> _P:
    """Takes the axes of inames away from temporaries, all uses of which have the iname there.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<16}", ["<>t[i] = 2*a[i] {id=t}", "b[i] = t[i] {dep=t}"])
    >>> lp.unprivatize_temporaries_with_inames(knl, {"i"}).default_entrypoint.temporary_variables["t"].shape
    ()
    """
    return apply(kernel, "unprivatize_temporaries_with_inames", inames, only_var_names=only_var_names)


def buffer_array(
    kernel: _P,
    var_name: str,
    buffer_inames: _Names,
    init_expression: Any = None,
    within: Any = None,
    *,
    default_tag: Any = None,
    temporary_name: str | None = None,
    temporary_address_space: Any = None,
    fetch_bounding_box: bool = False,
) -> _P:
    """Lets instructions use a temporary in the place of part of an array: it is filled before them and stored after them.

    Parameters
    ----------
    var_name : str
        The array.
    buffer_inames : list of str
        The inames through all values of which the buffer lasts.
    init_expression : optional
        What the buffer begins with, in the place of what the array has.

    Examples
    --------
    >>> import numpy as np, parloop.loops as lp
    >>> knl = lp.make_kernel("{[i,j]: 0<=i<4 and 0<=j<3}", "b[i] = b[i] + a[i,j]", [lp.GlobalArg("a,b", np.float64), ...])
    >>> knl = lp.buffer_array(knl, "b", ["i"])
    >>> [insn.id for insn in knl.default_entrypoint.instructions]
    ['init_b', 'insn', 'store_b']
    >>> knl(a=np.ones((4, 3)), b=np.zeros(4))[1][0]
    array([3., 3., 3., 3.])
    """
    inames = [name.strip() for name in buffer_inames.split(",") if name.strip()] if isinstance(buffer_inames, str) else list(buffer_inames)
    return apply(
        kernel,
        "buffer_array",
        var_name,
        inames,
        init_expression=None if init_expression is None else text(init_expression),
        within=_query(within),
        default_tag=default_tag,
        temporary_name=temporary_name,
        temporary_address_space=temporary_address_space,
        fetch_bounding_box=fetch_bounding_box,
    )


def pack_and_unpack_args_for_call(program: Program, call_name: str) -> Program:
    """Copies the parts of arrays that calls of a kernel take into temporaries of its shapes, and what it writes back.

    >>> import numpy as np, parloop.loops as lp
    >>> twice = lp.make_function("{[k]: 0<=k<6}", "y[k] = 2*x[k]", name="twice")
    >>> knl = lp.make_kernel("{[i,j]: 0<=i<3 and 0<=j<2}", "[i,j]: b[i,j] = twice([i,j]: a[i,j])", [lp.GlobalArg("a,b", shape=(3, 2))])
    >>> knl = lp.pack_and_unpack_args_for_call(lp.merge([knl, twice]), "twice")
    >>> float(knl(a=np.ones((3, 2)))[1][0].sum())
    12.0
    """
    return apply(program, "pack_and_unpack_args_for_call", call_name)


def collect_common_factors_on_increment(kernel: _P, var_name: str) -> _P:
    """Multiplies by the factors that all terms of an accumulation have once, where the sum is used. Floating-point numbers are rounded otherwise.

    >>> import parloop.loops as lp
    >>> lines = ["<float64>s = 0 {id=s, inames=i}", "s = s + w[i]*a[i,j]*x[j] {id=add, dep=s}", "y[i] = s {id=y, dep=add}"]
    >>> knl = lp.collect_common_factors_on_increment(lp.make_kernel("{[i,j]: 0<=i,j<n}", lines), "s")
    >>> print(knl.default_entrypoint.id_to_insn["y"])
    y[i] = s*w[i] {id=y, dep=add, inames=+i}
    """
    return apply(kernel, "collect_common_factors_on_increment", var_name)
