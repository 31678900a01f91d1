"""Transformations of instructions, rules and reductions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._expressions import text
from .._program import apply, then
from .common import Names, P, query


def expand_subst(kernel: P, within: Any = None) -> P:
    """Puts what substitution rules stand for in the place of their uses."""
    return apply(kernel, "expand_subst", within=query(within))


def extract_subst(kernel: P, subst_name: str, template: Any, parameters: Names = (), within: Any = None) -> P:
    """Makes a substitution rule of an expression that occurs in the instructions.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i,j]: 0<=i<n and 0<=j<4}", "out[i,j] = exp(a[i])*j + exp(a[i])")
    >>> knl = lp.extract_subst(knl, "e", "exp(a[x])", "x")  # and then, say, lp.precompute(knl, "e")
    >>> print(knl.default_entrypoint.instructions[0])
    out[i, j] = e(i)*j + e(i) {id=insn, inames=+i:j}
    """
    return apply(kernel, "extract_subst", subst_name, text(template), parameters, within=query(within))


def add_dependency(kernel: P, insn_match: Any, depends_on: Any) -> P:
    """Lets instructions depend on others.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", ["b[i] = 2*a[i] {id=first}", "c[i] = a[i] + 1 {id=second}"])
    >>> lp.add_dependency(knl, "id:second", "id:first").default_entrypoint.id_to_insn["second"].depends_on
    frozenset({'first'})
    """
    return apply(kernel, "add_dependency", str(insn_match), str(depends_on))


def add_nosync(
    kernel: P,
    scope: str,
    source: Any,
    sink: Any,
    bidirectional: bool = False,
    force: bool = False,
    empty_ok: bool = False,
) -> P:
    """Promises that no barrier is needed between instructions.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", ["b[i] = a[i] {id=first}", "c[i] = b[i] {id=second, dep=first}"])
    >>> knl = lp.add_nosync(knl, "global", "id:first", "id:second")
    >>> knl.default_entrypoint.id_to_insn["second"].no_sync_with
    frozenset({('first', 'global')})
    """
    return apply(kernel, "add_nosync", scope, str(source), str(sink), bidirectional, force, empty_ok)


def add_barrier(
    kernel: P,
    insn_before: Any,
    insn_after: Any,
    id_based_on: str | None = None,
    tags: Names | None = None,
    synchronization_kind: str = "global",
    mem_kind: str | None = None,
    within_inames: Names | None = None,
) -> P:
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
    kernel: P,
    insn_id_filter: Names | None = None,
    unknown_types_ok: bool = True,
    automagic_scans_ok: bool = False,
    force_scan: bool = False,
    force_outer_iname_for_scan: str | None = None,
) -> P:
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


def add_inames_to_insn(kernel: P, inames: Names, insn_match: Any) -> P:
    """Lets instructions run in further inames."""
    return apply(kernel, "add_inames_to_insn", inames if isinstance(inames, str) else sorted(inames), str(insn_match))


def remove_inames_from_insn(kernel: P, inames: Names, insn_match: Any) -> P:
    """Lets instructions run in fewer inames."""
    return apply(kernel, "remove_inames_from_insn", inames if isinstance(inames, str) else sorted(inames), str(insn_match))


def remove_instructions(kernel: P, insn_ids: Names) -> P:
    """Takes instructions away; what depended on them depends on what they depended on.

    That they are not needed is the caller's promise: what they wrote keeps the value that it had before.
    """
    return apply(kernel, "remove_instructions", insn_ids if isinstance(insn_ids, str) else sorted(insn_ids))


def set_instruction_priority(kernel: P, insn_match: Any, priority: int) -> P:
    """Says which instructions go first where dependencies leave a choice: the larger number."""
    return apply(kernel, "set_instruction_priority", str(insn_match), priority)


def tag_instructions(kernel: P, new_tag: str, within: Any = None) -> P:
    """Gives instructions a further tag."""
    return apply(kernel, "tag_instructions", new_tag, within=query(within))


def split_reduction_inward(kernel: P, inames: Names, within: Any = None) -> P:
    """Makes two reductions of one: the inner over those inames, the outer over the others.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i,j]: 0<=i,j<n}", "out = sum((i,j), a[i,j])", [lp.GlobalArg("out", shape=()), ...])
    >>> print(lp.split_reduction_inward(knl, "j").default_entrypoint.instructions[0])
    out = sum(i, sum(j, a[i, j])) {id=insn}
    """
    return apply(kernel, "split_reduction_inward", inames, within=query(within))


def split_reduction_outward(kernel: P, inames: Names, within: Any = None) -> P:
    """Makes two reductions of one: the outer over those inames, the inner over the others."""
    return apply(kernel, "split_reduction_outward", inames, within=query(within))


def assignment_to_subst(
    kernel: P, lhs_name: str, extra_arguments: Names = (), within: Any = None, force_retain_argument: bool = False
) -> P:
    """Makes a substitution rule of the assignment of a temporary."""
    extra = extra_arguments if isinstance(extra_arguments, str) else list(extra_arguments)
    return apply(kernel, "assignment_to_subst", lhs_name, extra, within=query(within), force_retain_argument=force_retain_argument)


def reduction_arg_to_subst_rule(kernel: P, inames: Names, insn_match: Any = None, subst_rule_name: str | None = None) -> P:
    """Makes a substitution rule of what a reduction over those inames reduces."""
    names = inames if isinstance(inames, str) else list(inames)
    return apply(kernel, "reduction_arg_to_subst_rule", names, subst_rule_name=subst_rule_name, within=query(insn_match))


def remove_predicates_from_insn(kernel: P, predicates: Iterable[Any], insn_match: Any) -> P:
    """Takes conditions away from instructions. The caller guarantees that they hold, or that removing them is harmless.

    >>> import parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<10}", "a[i] = 1 {id=a, if=i >= 0}")
    >>> lp.remove_predicates_from_insn(knl, ["i >= 0"], "id:a").default_entrypoint.id_to_insn["a"].predicates
    frozenset()
    """
    return apply(kernel, "remove_predicates_from_insn", [text(item) for item in predicates], str(insn_match))


def collect_common_factors_on_increment(kernel: P, var_name: str) -> P:
    """Multiplies by the factors that all terms of an accumulation have once, where the sum is used. Floating-point numbers are rounded otherwise.

    >>> import parloop.loops as lp
    >>> lines = ["<float64>s = 0 {id=s, inames=i}", "s = s + w[i]*a[i,j]*x[j] {id=add, dep=s}", "y[i] = s {id=y, dep=add}"]
    >>> knl = lp.collect_common_factors_on_increment(lp.make_kernel("{[i,j]: 0<=i,j<n}", lines), "s")
    >>> print(knl.default_entrypoint.id_to_insn["y"])
    y[i] = s*w[i] {id=y, dep=add, inames=+i}
    """
    return apply(kernel, "collect_common_factors_on_increment", var_name)
