"""Descriptions of kernels that the source is checked against."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


class Arg:
    """One argument of a kernel, as its caller describes it.

    Parameters
    ----------
    atype
        A scalar type (a NumPy dtype or its name), the name of one of the program's classes or a Python class that has it as
        `_c_type`, or None to leave it to the source.
    pointer : bool
        Whether it is a pointer to values of that type; an object of a class is none.
    name : str, optional
        The name it is given by; the source's name if it is left out.
    const : bool
        Whether what it points at is only read.

    Examples
    --------
    >>> import parloop as pl
    >>> pl.Arg("float64", pointer=True, name="x", const=True)
    Arg('float64', pointer=True, name='x', const=True)
    """

    def __init__(self, atype: Any = None, pointer: bool = False, name: str | None = None, const: bool = False, factory: Any = None) -> None:
        self.atype = atype
        self.pointer = pointer
        self.name = name
        self.const = const
        self.factory = factory

    def __repr__(self) -> str:
        parts = [repr(self.atype)]
        for field, default in (("pointer", False), ("name", None), ("const", False), ("factory", None)):
            value = getattr(self, field)
            if value != default:
                parts.append(f"{field}={value!r}")
        return f"Arg({', '.join(parts)})"


class Source:
    """Text of portable C with a name, by which messages call it.

    Parameters
    ----------
    source : str
        The text.
    name : str, optional
        What messages call it.
    """

    def __init__(self, source: str, name: str | None = None) -> None:
        self.source = source
        self.name = name

    def __repr__(self) -> str:
        return f"<Source {self.name or 'without a name'}, {len(self.source.splitlines())} lines>"


class Kernel:
    """A kernel, as its caller describes it: checked against the source when it is compiled.

    Parameters
    ----------
    args : list of Arg, optional
        Its arguments, in order.
    c_name : str, optional
        Its name in the source, if that is another than the one it is called by.
    ret : Arg or scalar type, optional
        What it returns (on a CPU).
    grid, n_threads : int, str, tuple or callable, optional
        How many work items it is launched with: a number, the name of an argument, a tuple of them for several axes, or a
        function of the arguments by name. Left out, the counts of its loops decide. The two are the same.
    block : int, optional
        Work items of a block on a GPU.

    Examples
    --------
    >>> import numpy as np, parloop as pl
    >>> ctx = pl.Context("cpu:1")
    >>> prog = ctx.compile(
    ...     "GPUKERN void scale(double *x, double by, int n) { VECTORIZE_OVER(i, n) x[i] *= by; END_VECTORIZE }",
    ...     kernels={"grow": pl.Kernel(c_name="scale", args=[pl.Arg("float64", pointer=True, name="values"),
    ...                                                       pl.Arg("float64"), pl.Arg("int32")], n_threads="n")})
    >>> x = np.ones(3)
    >>> prog.grow(values=x, by=3.0, n=3)
    >>> x
    array([3., 3., 3.])
    """

    def __init__(
        self,
        args: Sequence[Arg] | None = None,
        c_name: str | None = None,
        ret: Any = None,
        grid: int | str | Sequence[int | str] | Callable[..., Any] | None = None,
        n_threads: int | str | Sequence[int | str] | Callable[..., Any] | None = None,
        block: int | None = None,
    ) -> None:
        if grid is not None and n_threads is not None:
            raise TypeError("a kernel's size is given once: grid and n_threads are the same")
        self.args = args
        self.c_name = c_name
        self.ret = ret
        self.grid = grid if grid is not None else n_threads
        self.block = block

    @property
    def n_threads(self) -> int | str | Sequence[int | str] | Callable[..., Any] | None:
        return self.grid

    def __repr__(self) -> str:
        parts = [f"{f}={getattr(self, f)!r}" for f in ("args", "c_name", "ret", "grid", "block") if getattr(self, f) is not None]
        return f"Kernel({', '.join(parts)})"
