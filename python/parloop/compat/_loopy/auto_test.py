"""`auto_test_vs_ref` with loopy's arguments."""

from __future__ import annotations

import importlib
from typing import Any

from ... import loops
from ...loops import Program, infer_unknown_types
from .diagnostic import AutomaticTestFailure


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
    typed = infer_unknown_types(ref_prog)
    kernel = typed[ref_entrypoint] if ref_entrypoint else typed.default_entrypoint
    # Parameters that were fixed since are not arguments any more.
    own = {arg.name for arg in kernel.args}
    try:
        loops.auto_test_vs_ref(
            ref_prog,
            importlib.import_module("pyopencl").CommandQueue(ctx),
            test_prog,
            # Arrays are always random.
            parameters={name: value for name, value in (parameters or {}).items() if name in own and not getattr(value, "ndim", 0)},
            check_result=check_result if do_check else lambda ours, theirs: (True, ""),
            ref_entrypoint=ref_entrypoint,
            test_entrypoint=test_entrypoint,
        )
    except AssertionError as error:
        raise AutomaticTestFailure(str(error)) from error
    return {}
