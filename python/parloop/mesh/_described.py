"""Loops as values: a kernel's source, a set, and what is passed, before anything is compiled. What is described can be made, run and written down."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any, Union

from .._parloop import _Access as Access
from .._parloop import _Arg as Arg
from .._parloop import _Kernel as Kernel
from .._parloop import _ParLoop as ParLoop
from .._parloop import _Region as Region


@dataclasses.dataclass(frozen=True)
class Source:
    """A kernel in C or C++."""

    code: str
    name: str
    headers: tuple[str, ...] = ()
    include_dirs: tuple[str, ...] = ()
    cpp: bool = False
    #: Libraries to link with, on a CPU. Their functions may not be meant for several threads.
    libraries: tuple[str, ...] = ()

    @functools.cached_property
    def kernel(self) -> Kernel:
        """The kernel, made once."""
        return Kernel(self.code, self.name, self.headers, self.include_dirs, opts=self.libraries, cpp=self.cpp)


@dataclasses.dataclass(frozen=True)
class DatArg:
    """Data on a set, or one component of it."""

    data: Any
    access: str
    map: Any = None
    index: tuple[int, ...] | None = None

    def made(self) -> Arg:
        """The argument."""
        data = self.data if self.index is None else self.data[self.index]
        made: Arg = data(getattr(Access, self.access), self.map)
        return made


@dataclasses.dataclass(frozen=True)
class GlobalArg:
    """Numbers that all elements share."""

    data: Any
    access: str

    def made(self) -> Arg:
        """The argument."""
        made: Arg = self.data(getattr(Access, self.access))
        return made


@dataclasses.dataclass(frozen=True)
class MatArg:
    """A matrix, through a map to its rows and one to its columns; rows and columns with negative numbers in `lgmaps` get nothing."""

    data: Any
    access: str
    maps: tuple[Any, Any]
    lgmaps: tuple[Any, Any]

    def made(self) -> Arg:
        """The argument."""
        made: Arg = self.data(getattr(Access, self.access), self.maps, lgmaps=self.lgmaps, unroll_map=True)
        return made


@dataclasses.dataclass(frozen=True)
class MixedArg:
    """Several arguments that the kernel gets as one, one after another."""

    parts: tuple[DatArg | GlobalArg, ...]

    def made(self) -> Arg:
        """The argument."""
        return Arg.mixed([part.made() for part in self.parts])


@dataclasses.dataclass(frozen=True)
class GridArg:
    """Several matrices that the kernel gets as one, row by row."""

    rows: tuple[tuple[MatArg, ...], ...]

    def made(self) -> Arg:
        """The argument."""
        return Arg.grid([[part.made() for part in row] for row in self.rows])


Single = Union[DatArg, GlobalArg, MatArg]
AnyArg = Union[Single, MixedArg, GridArg]


@dataclasses.dataclass(frozen=True)
class Loop:
    """A loop over a set."""

    source: Source
    set: Any
    args: tuple[AnyArg, ...]
    region: str = "ALL"
    passes_layer: bool = False

    def made(self, context: Any, plan: Any = None) -> ParLoop:
        """The loop, checked, to run on a context, by a plan if one is given."""
        args, region = [arg.made() for arg in self.args], getattr(Region, self.region)
        if self.source.libraries:
            plan = "sequential"
        return ParLoop(self.source.kernel, self.set, *args, plan=plan, context=context, iteration_region=region, pass_layer_arg=self.passes_layer)

    def singles(self) -> Iterator[Single]:
        """Its arguments, and in place of those of several parts their parts."""
        for arg in self.args:
            if isinstance(arg, MixedArg):
                yield from arg.parts
            elif isinstance(arg, GridArg):
                for row in arg.rows:
                    yield from row
            else:
                yield arg
