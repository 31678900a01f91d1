"""Transformations of whole programs: kernels that are inlined, fused or run as a batch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._kernel import Kernel
from .._program import Program, apply, fused, then
from .common import Names, P


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


def to_batched(
    kernel: P, nbatches: str | int, batch_varying_args: Names, batch_iname_prefix: str = "ibatch", sequential: bool = False
) -> P:
    """Does what a kernel does for each of several batches: arguments that vary get a first axis of that length.

    >>> import numpy as np, parloop.loops as lp
    >>> knl = lp.to_batched(lp.make_kernel("{[i]: 0<=i<2}", "y[i] = c*x[i]"), "nbatches", "x,y")
    >>> knl(x=np.ones((3, 2)), c=2.0)[1][0].shape
    (3, 2)
    """
    names = [name.strip() for name in batch_varying_args.split(",")] if isinstance(batch_varying_args, str) else list(batch_varying_args)
    return apply(kernel, "to_batched", nbatches, names, batch_iname_prefix)


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
