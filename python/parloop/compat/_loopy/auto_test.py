"""Compares a transformed kernel with the one it was made of, on random arrays."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from ...loops import ArrayArg, ConstantArg, GlobalArg, Program, infer_unknown_types


def auto_test_vs_ref(
    ref_prog: Program,
    ctx: Any,
    test_prog: Program | None = None,
    op_count: Any = (),
    op_label: Any = (),
    parameters: dict[str, Any] | None = None,
    print_ref_code: bool = False,
    print_code: bool = True,
    warmup_rounds: int = 2,
    dump_binary: bool = False,
    fills_entire_output: bool | None = None,
    do_check: bool = True,
    check_result: Any = None,
    max_test_kernel_count: int = 1,
    quiet: bool = False,
    blacklist_ref_vendors: Any = (),
    ref_entrypoint: str | None = None,
    test_entrypoint: str | None = None,
) -> dict[str, Any]:
    """Runs both with the same random arguments and compares what they give."""
    queue = importlib.import_module("pyopencl").CommandQueue(ctx)
    test_prog = ref_prog if test_prog is None else test_prog
    given = dict(parameters or {})
    typed = infer_unknown_types(ref_prog, expect_completion=True)
    kernel = typed[ref_entrypoint] if ref_entrypoint else typed.default_entrypoint
    rng = np.random.default_rng(17)
    for arg in kernel.args:
        if isinstance(arg, (GlobalArg, ConstantArg, ArrayArg)) and arg.name not in given:
            given[arg.name] = _random(rng, arg, given)
    results = []
    for program, entry in ((ref_prog, ref_entrypoint), (test_prog, test_entrypoint)):
        named = {} if entry is None else {"entrypoint": entry}
        arrays = {name: np.copy(value, order="K") if isinstance(value, np.ndarray) else value for name, value in given.items()}
        _, found = program(queue, out_host=True, **arrays, **named)
        results.append(tuple(found.values()) if isinstance(found, dict) else found)
    if do_check:
        for ours, theirs in zip(*results):
            if check_result is not None:
                fine, message = check_result(ours, theirs)
                assert fine, message
            else:
                exact = ours.dtype.kind in "iub"
                assert np.array_equal(ours, theirs) if exact else np.allclose(ours, theirs, rtol=1e-3, atol=1e-3, equal_nan=True)
    return {}


def _random(rng: Any, arg: Any, given: dict[str, Any]) -> Any:
    """An array of the argument's shape, in the order of its axes."""
    shape = tuple(int(eval(str(length), {"min": min, "max": max}, given)) for length in arg.shape)
    dtype = np.dtype(arg.dtype)
    if dtype.kind in "iub":
        values = rng.integers(0, 10, size=shape).astype(dtype)
    elif dtype.kind == "c":
        values = (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)
    else:
        values = rng.normal(size=shape).astype(dtype)
    return np.asarray(values, order="F" if _is_fortran(arg) else "C")


def _is_fortran(arg: Any) -> bool:
    tags = arg.dim_tags
    if not tags:
        return bool(arg.order == "F")
    return len(tags) > 1 and all(str(tag).startswith("N") for tag in tags) and str(tags[0]).startswith("N0")
