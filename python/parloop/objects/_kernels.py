"""Kernels that take objects: the C functions of their classes are put in front of the source."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .._description import Arg, Kernel
from .._description import Source as Source
from .._parloop import Context, KernelNotFoundError, _checked_by_environment


class KernelDict(dict[str, Any]):
    """Kernels by name; `kernels.name` is `kernels["name"]`."""

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        if name.startswith("__"):
            raise AttributeError(name)
        raise KernelNotFoundError(f"no kernel `{name}` was added to the context; it has {', '.join(sorted(self)) or 'none'}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]

    def __repr__(self) -> str:
        return f"<kernels {', '.join(sorted(self)) or 'none'}>"


class Method:
    """A C function that all members of a union have, as a method of the union: see `UnionRef._methods`."""

    def __init__(self, args: Sequence[Arg] = (), c_name: str = "", ret: Any = None) -> None:
        self.args = list(args)
        self.c_name = c_name
        self.ret = ret


def classes_of(kernels: Mapping[str, Kernel]) -> list[Any]:
    """The classes of the arguments and results of kernels, each once."""
    found: dict[int, Any] = {}
    for kernel in kernels.values():
        for arg in [*(kernel.args or ()), *([kernel.ret] if kernel.ret is not None else ())]:
            atype = getattr(arg, "atype", arg)
            atype = getattr(atype, "_XoStruct", atype)
            if hasattr(atype, "_gen_c_api"):
                found[id(atype)] = atype
    return list(found.values())


def sort_classes(classes: Iterable[Any]) -> list[Any]:
    """The classes and all that they need, each once by name, those that others need first."""
    by_name: dict[str, Any] = {}
    order: dict[str, Any] = {}
    path: list[str] = []

    def known(cls: Any) -> Any:
        """The class that stands for all of its name, which must have the same bytes."""
        first = by_name.setdefault(cls.__name__, cls)
        if first is not cls and first._type != cls._type:
            raise ValueError(
                f"two classes with different layouts are named {cls.__name__}; kernels identify classes by name, so rename one of them "
                f"(for arrays: `class Other({cls.__name__}): pass`)"
            )
        by_name[cls.__name__] = cls
        return cls

    def visit(cls: Any) -> None:
        name = cls.__name__
        if name in order:
            return
        if name in path:
            raise ValueError(f"Class dependencies have cycles: {' -> '.join([*path[path.index(name):], name])}")
        path.append(name)
        inner = cls._get_inner_types() if hasattr(cls, "_get_inner_types") else []
        for other in [*inner, *getattr(cls, "_depends_on", ())]:
            other = getattr(other, "_XoStruct", other)
            visit(known(other))
        path.pop()
        order[name] = cls

    for cls in list(map(known, classes)):
        visit(known(cls))
    return [cls for cls in order.values() if hasattr(cls, "_gen_c_api")]


def _as_source(source: Any, name: str | None = None) -> Any:
    if isinstance(source, Source):
        return source
    if hasattr(source, "read"):
        return Source(source.read(), name=getattr(source, "name", name))
    if hasattr(source, "source"):
        return _as_source(source.source, getattr(source, "name", None) or name)
    if isinstance(source, os.PathLike):
        return Path(source)
    return Source(source, name=name)


def class_sources(classes: Sequence[Any], checked: bool) -> tuple[list[Any], list[str]]:
    """The C functions of classes and what belongs to them, and the texts of their check sites."""
    from ._capi import class_api

    sources: list[Any] = []
    sites: list[str] = []
    for cls in classes:
        api = class_api(cls, checked, len(sites))
        sites += api.sites
        sources.append(Source(api.source, name=f"<C functions of {cls.__name__}>"))
        sources += [_as_source(source, f"<{cls.__name__}._extra_c_sources>") for source in getattr(cls, "_extra_c_sources", ())]
    return sources, sites


def build_program(
    context: Context,
    kernel_descriptions: Mapping[str, Kernel],
    sources: Sequence[Any] | None = None,
    *,
    apply_to_source: Sequence[Callable[[str], str]] = (),
    save_source_as: str | os.PathLike[str] | None = None,
    extra_classes: Sequence[Any] = (),
    extra_headers: Sequence[Any] = (),
    extra_compile_args: Sequence[str] = (),
    include: Sequence[str | os.PathLike[str]] = (),
    checked: bool | None = None,
    save_as: str | os.PathLike[str] | None = None,
) -> Any:
    """Compiles kernels that may take objects, as one program.

    Parameters
    ----------
    context : Context
        Where they will run.
    kernel_descriptions : dict of Kernel
        The kernels by name. An argument's type may be a class of `parloop.objects`.
    sources : list
        Texts, paths, open files or `Source` objects, compiled as one.
    apply_to_source : list of callable
        Each changes the text of every source.
    save_source_as : path
        Where to write the full source that the compiler is given.
    extra_classes : list
        Further classes whose C functions the sources use.
    extra_headers : list
        Sources that are put before everything else.
    extra_compile_args : list of str
        Further arguments for the compiler.
    include : list of path
        Folders in which `#include` looks.
    checked : bool
        Whether indices and references are checked; None asks `PARLOOP_CHECKED`.
    save_as : path
        Where to keep the compiled kernels, for `load_kernels`.
    """
    checked = _checked_by_environment() if checked is None else checked
    extra = [getattr(cls, "_XoStruct", cls) for cls in extra_classes]
    classes = sort_classes([*classes_of(kernel_descriptions), *extra])
    from_classes, sites = class_sources(classes, checked)
    own = [_as_source(source) for source in sources or ()]

    def hook(text: str) -> str:
        for change in apply_to_source:
            text = change(text)
        return text

    program: Any = context.compile(
        own or [Source("", name="<no sources>")],
        api=[*map(_as_source, extra_headers), *from_classes],
        kernels=dict(kernel_descriptions),
        include=list(include),
        arguments=list(extra_compile_args),
        source_hook=hook if apply_to_source else None,
        save_source_as=save_source_as,
        classes=classes,
        checked=checked,
        check_sites=sites,
    )
    if save_as is not None:
        program.save(save_as)
    return program


def build_kernels(
    context: Context, kernel_descriptions: Mapping[str, Kernel] | Iterable[str] | None, sources: Sequence[Any] | None = None, **options: Any
) -> dict[str, Any]:
    """The kernels of `build_program`, by name. A list of names takes their signatures from the source; None stands for all kernels in it."""
    if kernel_descriptions is None or not isinstance(kernel_descriptions, Mapping):
        program = build_program(context, {}, sources, **options)
        return dict(program.kernels) if kernel_descriptions is None else {name: program[name] for name in kernel_descriptions}
    program = build_program(context, kernel_descriptions, sources, **options)
    return {name: program[name] for name in kernel_descriptions}


def add_kernels(
    context: Context,
    sources: Sequence[Any] | None = None,
    kernels: Mapping[str, Kernel] | Iterable[str] | None = None,
    **options: Any,
) -> None:
    """Compiles kernels and adds them to `context.kernels`.

    Parameters
    ----------
    context : Context
        Where they will run.
    sources : list
        Texts, paths, open files or `Source` objects, compiled as one.
    kernels : dict of Kernel, or list of str, optional
        Which kernels: by default all of the sources, with the signatures that they have there. Names alone select some of them. A
        description may say a grid, other names and classes of arguments; one without arguments takes them from the source.
    **options
        Those of `build_kernels`.

    Examples
    --------
    >>> import numpy as np, parloop as pl
    >>> ctx, x = pl.Context("cpu:1"), np.ones(3)
    >>> ctx.add_kernels(sources=["GPUKERN void thrice(double *x, int n) { VECTORIZE_OVER(i, n) x[i] *= 3; END_VECTORIZE }"])
    >>> ctx.kernels.thrice(x=x, n=3)
    >>> x
    array([3., 3., 3.])
    """
    context.kernels.update(build_kernels(context, kernels, sources, **options))


def load_kernels(context: Any, path: str | os.PathLike[str], kernel_descriptions: Mapping[str, Kernel]) -> dict[str, Any]:
    """The kernels that `build_kernels(save_as=path)` kept, without a compiler.

    Loading a file runs code that is in it, before any kernel is called: load only files that you trust as you trust a program. A file that
    another user could have written is refused, as `Context.load` does.
    """
    program = context.load(path, kernels=dict(kernel_descriptions))
    return {name: program[name] for name in kernel_descriptions}
