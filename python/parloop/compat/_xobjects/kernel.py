"""Kernels by xobjects' names: how they are described, and what building one gives."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, cast

import numpy as np

import parloop as pl
from parloop.objects._capi import c_type
from parloop.objects._scalar import Scalar


class Arg(pl.Arg):
    """One argument of a kernel."""

    def get_c_type(self) -> str:
        """Its type in C."""
        name = str(self.atype._c_type)
        return f"{name}*" if self.pointer else name


class Kernel(pl.Kernel):
    """A kernel, as its caller describes it. `n_threads` can be changed at any time."""

    def __init__(
        self,
        args: Any = None,
        c_name: str | None = None,
        ret: Any = None,
        n_threads: int | str | Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(args, c_name, ret, n_threads=n_threads)
        self.pyname: str | None = None

    @property
    def n_threads(self) -> Any:
        return self.grid

    @n_threads.setter
    def n_threads(self, value: Any) -> None:
        self.grid = value

    def get_classes(self) -> list[Any]:
        """The classes of its arguments and of its result."""
        types = [arg.atype for arg in self.args or ()]
        if isinstance(self.ret, pl.Arg):
            types.append(self.ret.atype)
        return [atype for atype in types if hasattr(atype, "_gen_c_api")]


def compiled_description(name: str, kernel: pl.Kernel) -> pl.Kernel:
    """The description that is compared with the source: with its name in C, and without threads, which each call asks for anew.

    Of an integer that is passed by value the source decides the width, since C converts it in the call; each call checks that it fits.
    """
    new = copy.copy(kernel)
    new.c_name = kernel.c_name or name
    new.grid = None
    if kernel.args is not None:
        new.args = [pl.Arg(None, name=arg.name) if _is_integer(arg) else arg for arg in kernel.args]
    return new


def _is_integer(arg: Any) -> bool:
    return isinstance(arg.atype, Scalar) and not arg.pointer and arg.atype._dtype.kind in "iu"


def number_conversion(arg: Any, kernel: str) -> Callable[[Any], Any]:
    """From a value to a number of the argument's type, as NumPy converts it; but integers do not wrap around."""
    dtype = arg.atype._dtype
    if dtype.kind not in "iu":
        return cast("Callable[[Any], Any]", dtype.type)
    limits = np.iinfo(dtype)
    below, above = int(limits.min) - 1, int(limits.max) + 1

    def convert(value: Any) -> Any:
        single = value.item() if isinstance(value, (np.generic, np.ndarray)) and value.size == 1 else value
        # What is behind the point is cut off. Nothing is between NaN and another number.
        if isinstance(single, (int, float, np.floating)) and not below < single < above:
            error = pl.errors.ArgumentRangeError if single == single else pl.errors.ArgumentValueError
            raise error(f"argument `{arg.name}` of kernel `{kernel}` is declared `{c_type(arg)}`, but {single} does not fit into {dtype}")
        return dtype.type(value)

    return convert


class BuiltKernel:
    """A kernel of a context, called with arguments by name."""

    def __init__(self, function: Any, description: Any, context: Any, program: Any = None, set_threads: Any = None) -> None:
        self.function = function
        self.set_threads = set_threads
        self.description = description
        self.context = context
        self._program = program
        self._source: str | None = None
        self._grids: dict[Any, Any] = {}
        args = description.args or ()
        numbers = [arg for arg in args if isinstance(arg.atype, Scalar) and not arg.pointer]
        self._casts = [(arg.name, arg.atype._dtype.type, number_conversion(arg, description.c_name)) for arg in numbers]

    @property
    def num_args(self) -> int:
        return len(self.description.args)

    @property
    def source(self) -> str | None:
        """The text that the compiler was given."""
        return self._source if self._program is None else self._program.source

    specialized_source = source

    def __call__(self, **named: Any) -> Any:
        if self.function is None:
            raise ValueError(f"Kernel {self.description.pyname} is not compiled yet; build it with compile=True")
        for name, kind, convert in self._casts:
            value = named.get(name)
            if value is not None and type(value) is not kind:
                named[name] = convert(value)
        return self.context._call(self, named)

    def with_threads(self) -> Any:
        """The compiled kernel over as many work items as the description says at present."""
        asked = self.description.n_threads
        if asked is None:
            return self.function
        key = asked if isinstance(asked, (int, str)) else id(asked)
        found = self._grids.get(key)
        if found is None:
            found = self._grids[key] = (asked, self.function.with_grid(_grid(asked)))
        return found[1]

    def __repr__(self) -> str:
        return f"<kernel {self.description.c_name}({', '.join(_declaration(arg) for arg in self.description.args or ())})>"


def _grid(asked: Any) -> Any:
    return int(asked) if isinstance(asked, np.integer) else asked


def _declaration(arg: Any) -> str:
    return f"{c_type(arg)} {arg.name}" if arg.atype is not None else str(arg.name)


class KernelDict(dict[str, Any]):
    """Kernels by name. `kernels.name` is there before the kernel is, and calls the kernel that has the name when it is called."""

    def __getattr__(self, name: str) -> KernelDispatcher:
        if name.startswith("__"):
            raise AttributeError(name)
        return KernelDispatcher(name, self)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]


class KernelDispatcher:
    """Calls the kernel that a context has under a name."""

    def __init__(self, name: str, kernels: KernelDict) -> None:
        self._name = name
        self._kernels = kernels

    def __call__(self, *args: Any, **named: Any) -> Any:
        if args:
            raise ValueError(f"Kernels can only be called with named arguments; {len(args)} without a name were given to {self._name}")
        return self._kernels[self._name](**named)

    def set_n_threads(self, n_threads: Any) -> None:
        """Says with how many work items the kernel runs from here on, on a GPU."""
        if self._name in self._kernels:
            self._kernels[self._name].description.n_threads = n_threads

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._kernels[self._name], name)

    def __repr__(self) -> str:
        return f"<kernel {self._name}>"
