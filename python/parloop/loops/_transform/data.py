"""Transformations of arrays, temporaries and arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._expressions import text
from .._program import apply, then
from .common import Names, NOT_GIVEN, P, query


def add_prefetch(
    kernel: P,
    var_name: str,
    sweep_inames: Names = (),
    dim_arg_names: Any = None,
    default_tag: Any = NOT_GIVEN,
    rule_name: str | None = None,
    temporary_name: str | None = None,
    temporary_address_space: Any = None,
    footprint_subscripts: Any = None,
    fetch_bounding_box: bool = False,
    fetch_outer_inames: Names | None = None,
    prefetch_insn_id: str | None = None,
    within: Any = None,
) -> P:
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
    given: dict[str, Any] = {"default_tag": default_tag} if default_tag is not NOT_GIVEN and default_tag is not None else {}
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
        within=query(within),
        **given,
    )


def precompute(
    kernel: P,
    subst_use: Any,
    sweep_inames: Names = (),
    within: Any = None,
    *,
    storage_axes: Any = None,
    temporary_name: str | None = None,
    precompute_inames: Any = None,
    precompute_outer_inames: Any = None,
    storage_axis_to_tag: Mapping[str, Any] | None = None,
    default_tag: Any = NOT_GIVEN,
    dtype: Any = None,
    fetch_bounding_box: bool = False,
    temporary_address_space: Any = None,
    compute_insn_id: str | None = None,
) -> P:
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
    given: dict[str, Any] = {} if default_tag is NOT_GIVEN or default_tag is None else {"default_tag": default_tag}
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
        return apply(kernel, "precompute", uses, sweep, query(within), *places, None, **named)
    return apply(kernel, "precompute", uses, sweep, within=query(within), **named)


def alias_temporaries(
    kernel: P, names: Names, base_name_prefix: str | None = None, synchronize_for_exclusive_use: bool = True
) -> P:
    """Lets temporaries that are not in use at the same time share memory."""
    return apply(
        kernel,
        "alias_temporaries",
        names,
        base_name_prefix=base_name_prefix,
        synchronize_for_exclusive_use=synchronize_for_exclusive_use,
    )


def rename_argument(kernel: P, old_name: str, new_name: str) -> P:
    """Gives an argument another name.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")
    >>> print(lp.rename_argument(knl, "a", "source").default_entrypoint.instructions[0])
    out[i] = 2*source[i] {id=insn, inames=+i}
    """
    return apply(kernel, "rename_argument", old_name, new_name)


def set_argument_order(kernel: P, arg_names: Names) -> P:
    """Says in which order arguments come.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")
    >>> [arg.name for arg in lp.set_argument_order(knl, ["n", "a", "out"]).default_entrypoint.args]
    ['n', 'a', 'out']
    """
    return apply(kernel, "set_argument_order", arg_names)


def set_array_axis_names(kernel: P, ary_names: Names, dim_names: Names) -> P:
    """Gives the axes of arrays names."""
    return apply(kernel, "set_array_axis_names", ary_names, dim_names)


def set_temporary_address_space(kernel: P, temp_var_names: Names, address_space: Any) -> P:
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


def tag_array_axes(kernel: P, ary_names: Names, dim_tags: Any) -> P:
    """Says how the axes of arrays lie in memory: ``"C"``, ``"F"``, ``"N0,N1"``, ``"stride:auto"``, ``"vec"`` ….

    >>> import numpy as np, parloop.loops as lp
    >>> knl = lp.make_kernel("{[i,j]: 0<=i,j<n}", "out[i,j] = 2*a[i,j]")
    >>> knl = lp.tag_array_axes(knl, "out", "N0,N1")
    >>> knl(a=np.ones((2, 2)))[1][0].flags.f_contiguous
    True
    """
    return apply(kernel, "tag_array_axes", ary_names, dim_tags)


def split_array_axis(kernel: P, array_names: Names, axis_nr: int, count: int, order: str = "C") -> P:
    """Makes two axes of one, the second of length `count` (the first, in Fortran's order)."""
    return apply(kernel, "split_array_axis", array_names, axis_nr, count, order=order)


def privatize_temporaries_with_inames(kernel: P, privatizing_inames: Names, only_var_names: Names | None = None) -> P:
    """Gives temporaries that depend on inames a further axis for each of them."""
    return apply(kernel, "privatize_temporaries_with_inames", privatizing_inames, only_var_names=only_var_names)


def allocate_temporaries_for_base_storage(
    kernel: P, only_address_space: Any = None, aliased: bool = True, max_nbytes: int | None = None
) -> P:
    """Makes one temporary of the memory that several share by the name of it."""
    return apply(
        kernel, "allocate_temporaries_for_base_storage", only_address_space=only_address_space, aliased=aliased, max_nbytes=max_nbytes
    )


def remove_unused_arguments(kernel: P) -> P:
    """Takes away arguments that nothing uses."""
    return apply(kernel, "remove_unused_arguments")


def simplify_indices(kernel: P) -> P:
    """Simplifies divisions and remainders in indices, where the domains allow it."""
    return apply(kernel, "simplify_indices")


def add_padding(kernel: P, variable: str, axis: int, elements: int) -> P:
    """Makes the stride of an axis of an array a multiple of this many elements.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i,j]: 0<=i<n and 0<=j<36}", "a[i,j] = 1")
    >>> lp.add_padding(knl, "a", 0, 16).default_entrypoint.arg_dict["a"].dim_tags
    ('nested(1, 16)', 'N0')
    """
    return apply(kernel, "add_padding", variable, axis, elements)


def concatenate_arrays(kernel: P, array_names: Names, new_name: str | None = None, axis_nr: int = 0) -> P:
    """Places temporaries one after another in one array.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<10}", ["<float64>a[i] = x[i] {id=a}", "<float64>b[i] = y[i] {id=b}", "z[i] = a[i] + b[i]"])
    >>> lp.concatenate_arrays(knl, ["a", "b"], "c").default_entrypoint.temporary_variables["c"].shape
    (20,)
    """
    names = [name.strip() for name in array_names.split(",")] if isinstance(array_names, str) else list(array_names)
    return apply(kernel, "concatenate_arrays", names, new_name or names[0], axis_nr)


def unprivatize_temporaries_with_inames(kernel: P, inames: Names, only_var_names: Names | None = None) -> P:
    """Takes the axes of inames away from temporaries, all uses of which have the iname there.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<16}", ["<>t[i] = 2*a[i] {id=t}", "b[i] = t[i] {dep=t}"])
    >>> lp.unprivatize_temporaries_with_inames(knl, {"i"}).default_entrypoint.temporary_variables["t"].shape
    ()
    """
    return apply(kernel, "unprivatize_temporaries_with_inames", inames, only_var_names=only_var_names)


def buffer_array(
    kernel: P,
    var_name: str,
    buffer_inames: Names,
    init_expression: Any = None,
    within: Any = None,
    *,
    default_tag: Any = None,
    temporary_name: str | None = None,
    temporary_address_space: Any = None,
    fetch_bounding_box: bool = False,
) -> P:
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
        within=query(within),
        default_tag=default_tag,
        temporary_name=temporary_name,
        temporary_address_space=temporary_address_space,
        fetch_bounding_box=fetch_bounding_box,
    )
