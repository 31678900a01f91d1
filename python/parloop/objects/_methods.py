"""C functions as methods and properties of a class."""

from __future__ import annotations

import functools
import re
import weakref
from collections.abc import Sequence
from typing import Any, TypeAlias

from .._description import Arg, Kernel
from .._parloop import _c_signature
from ._capi import c_type
from ._kernels import build_kernels, sort_classes
from ._scalar import Scalar


class CFunction:
    """A C function of a class, callable as `Class.name(...)`.

    Say it in one of three ways: `source` is the whole function; `header` its declaration, with the `body` beside it or its source
    among the class's `_extra_c_sources`; or `args`, `ret` and `body`. Its C name is `<Class>_<name>` unless the text says another.
    On a GPU a function that returns a value runs in a kernel of one work item.

    Parameters
    ----------
    source, header, body : str
        The C text.
    args : list of Arg
        The arguments after the object, for functions given by their body.
    ret
        The type of the result, None for none.
    """

    takes_object = False
    is_kernel = False

    def __init__(
        self,
        source: str | None = None,
        *,
        header: str | None = None,
        body: str | None = None,
        args: Sequence[Arg] = (),
        ret: Any = None,
        n_threads: Any = None,
    ) -> None:
        if (source is not None) + (header is not None) + (body is not None and header is None) != 1:
            raise TypeError("a C function needs its source, a header (with or without a body), or a body")
        self.source = source
        self.header = header
        self.body = body
        self.args = list(args)
        self.ret = ret
        self.n_threads = n_threads
        self.c_name = ""
        #: Its result and its parameters (type and name), in C.
        self.returned = "void"
        self.params: list[tuple[str, str]] = []

    def bind(self, owner: Any, name: str) -> str:
        """Makes it a function of the class; the C text that the class needs for it."""
        qualifier = "GPUKERN" if self.is_kernel else "GPUFUN"
        if self.body is not None and self.header is None:
            self.c_name = f"{owner.__name__}_{name}"
            self.returned = "void" if self.ret is None else c_type(self.ret)
            self.params = [(owner.__name__, "self")] if self.takes_object else []
            self.params += [(c_type(arg), str(arg.name)) for arg in self.args]
            params = ", ".join(f"{ctype} {name}" for ctype, name in self.params) or "void"
            return f"{qualifier} {self.returned} {self.c_name}({params}) {{\n{self.body}\n}}\n"
        text = self.source if self.source is not None else str(self.header).rstrip().rstrip(";")
        found = _c_signature(text if self.source is not None else f"{text} {{}}", [cls.__name__ for cls in sort_classes([owner])])
        if found is None:
            raise ValueError(f"{owner.__name__}.{name}: no function was found in `{text.strip()[:60]}`")
        self.c_name, returned, self.params = found
        self.returned = returned or "void"
        marked = text if re.search(r"\b(GPUFUN|GPUKERN)\b|/\*gpu(fun|kern)\*/", text) else f"{qualifier} {text.lstrip()}"
        if self.source is not None:
            return marked + "\n"
        return f"{marked} {{\n{self.body}\n}}\n" if self.body is not None else f"{marked};\n"

    def __set_name__(self, owner: Any, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if self.takes_object and instance is None:
            return self
        context = instance._context if instance is not None else None
        return _Call(self, owner, context, instance if self.takes_object else None)


class CMethod(CFunction):
    """A C function whose first argument is the object.

    >>> import parloop.objects as xo
    >>> class Rectangle(xo.Struct):
    ...     a = xo.Float64
    ...     b = xo.Float64
    ...     scaled = xo.CMethod("double Rectangle_scaled(Rectangle self, double by) { return by * Rectangle_get_a(self); }")
    ...     area = xo.CProperty(body="return Rectangle_get_a(self) * Rectangle_get_b(self);", ret=xo.Float64)
    >>> r = Rectangle(a=2, b=3)
    >>> r.scaled(10.0), r.area
    (20.0, 6.0)
    """

    takes_object = True


class CProperty(CMethod):
    """A C function of the object alone, seen as an attribute."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        found = super().__get__(instance, owner)
        return found if instance is None else found()

    def __set__(self, instance: Any, value: Any) -> None:
        raise AttributeError(f"{self.name} is computed and cannot be set")


class CKernel(CMethod):
    """A C function over many work items, whose first argument is the object."""

    is_kernel = True


class _Call:
    """A C function with its object, ready to be called."""

    def __init__(self, function: CFunction, owner: Any, context: Any, instance: Any) -> None:
        self.function, self.owner, self.context, self.instance = function, owner, context, instance

    def __call__(self, *args: Any, _context: Any = None, **named: Any) -> Any:
        from .._parloop import current_context

        context = self.context or _context or current_context()
        runner = _compiled(self.owner, self.function, context)
        first = () if self.instance is None else (self.instance,)
        return runner(*first, *args, **named)

    def __repr__(self) -> str:
        return f"<C function {self.function.c_name}>"


_Runners: TypeAlias = "weakref.WeakKeyDictionary[Any, dict[str, Any]]"
_runners: weakref.WeakKeyDictionary[Any, _Runners] = weakref.WeakKeyDictionary()


def _compiled(owner: Any, function: CFunction, context: Any) -> Any:
    """The function compiled for a context, with all others of its class."""
    known = _runners.setdefault(context, weakref.WeakKeyDictionary())
    definer = next((base for base in owner.__mro__ if function in vars(base).values()), owner)
    if function.takes_object and definer is not owner:
        raise TypeError(
            f"{function.c_name} takes objects of {definer.__name__}, not of {owner.__name__}; define {function.name} for that class as well"
        )
    owner = definer
    if owner not in known:
        known[owner] = _compile_all(owner, context)
    if function.c_name not in known[owner]:
        raise _no_number(owner, function)
    return known[owner][function.c_name]


def _compile_all(owner: Any, context: Any) -> dict[str, Any]:
    """The functions of a class by their C names. On a GPU those that are not kernels run in kernels of one work item."""
    functions = {function.c_name: function for function in vars(owner).values() if isinstance(function, CFunction)}
    on_cpu = context.device.kind == "cpu"
    kernels: dict[str, Kernel] = {}
    wrappers: list[str] = []
    for name, function in functions.items():
        if on_cpu or function.is_kernel:
            kernels[name] = Kernel(c_name=name, n_threads=function.n_threads if function.is_kernel else None)
        elif function.returned == "void" or _c_name(function) in _dtypes():
            kernels[name] = Kernel(c_name=f"{name}_kernel", n_threads=1)
            wrappers.append(_wrapper(function))
    built = build_kernels(context, kernels, wrappers, extra_classes=[owner])
    for name, kernel in built.items():
        if not on_cpu and not functions[name].is_kernel and functions[name].returned != "void":
            built[name] = _through_array(kernel, context, _dtypes()[_c_name(functions[name])])
    return built


def _wrapper(function: CFunction) -> str:
    """A kernel that calls the function, and puts its result into an array of one element."""
    declared = [f"{ctype} {name}" for ctype, name in function.params]
    call = f"{function.c_name}({', '.join(name for _, name in function.params)})"
    if function.returned != "void":
        declared.append(f"GPUGLMEM {_c_name(function)} *result")
        call = f"*result = {call}"
    return f"GPUKERN void {function.c_name}_kernel({', '.join(declared)}) {{ {call}; }}\n"


def _through_array(kernel: Any, context: Any, dtype: Any) -> Any:
    def run(*args: Any, **named: Any) -> Any:
        result = context.zeros(1, dtype)
        kernel(*args, result=result, **named)
        return result.numpy()[0].item()

    return run


def _c_name(function: CFunction) -> str:
    """The C type of a function's result, without qualifiers."""
    return function.returned.removeprefix("const ").strip()


@functools.cache
def _dtypes() -> dict[str, Any]:
    """The types of numbers by their names in C."""
    from . import _scalar

    known = {scalar._c_type: scalar._dtype for scalar in vars(_scalar).values() if isinstance(scalar, Scalar) and scalar._dtype.kind != "c"}
    return {**known, "int": known["int32_t"], "unsigned": known["uint32_t"], "long": known["int64_t"], "_Bool": known["bool"]}


def _no_number(owner: Any, function: CFunction) -> TypeError:
    return TypeError(
        f"{owner.__name__}.{function.name}: a result of type `{_c_name(function)}` cannot be returned from a GPU; return a number"
    )


def add_methods(cls: Any) -> None:
    """Gives a class the C text of the functions in its body."""
    functions = {name: value for name, value in cls.__dict__.items() if isinstance(value, CFunction)}
    texts = [function.bind(cls, name) for name, function in functions.items()]
    cls._extra_c_sources = [*cls._extra_c_sources, *texts]
