"""The C functions of a class: by which kernels read and write its objects."""

from __future__ import annotations

from typing import Any

from .._description import Arg, Kernel
from .._parloop import _class_api, _ClassApi


def class_api(cls: Any, checked: bool = False, first_site: int = 0) -> _ClassApi:
    """The C functions of a class, as text and as descriptions."""
    methods = [
        (
            method.c_name,
            [(arg.name, c_type(arg)) for arg in method.args],
            None if method.ret is None else c_type(method.ret),
        )
        for method in getattr(cls, "_methods", ())
    ]
    return _class_api(cls._type, methods, checked, first_site)


def c_type(arg: Any) -> str:
    """The C type of a described argument."""
    if not isinstance(arg, Arg):
        return str(arg._c_type)
    name = getattr(arg.atype, "_c_type", None) or arg.atype._type.name
    const = "const " if arg.const else ""
    return f"GPUGLMEM {const}{name} *" if arg.pointer else f"{const}{name}"


class CApi(type):
    """A class with C functions."""

    def _gen_c_api(cls, checked: bool = False) -> str:
        """The C functions of the class: what kernels that take its objects are compiled with."""
        return class_api(cls, checked).source

    def _get_c_api(cls, checked: bool = False) -> str:
        """As `_gen_c_api`."""
        return cls._gen_c_api(checked)

    def _gen_c_decl(cls, conf: Any = None) -> str:
        """The declarations of its C functions."""
        return "\n".join(function.declaration + ";" for function in class_api(cls).functions)

    def _gen_kernels(cls, conf: Any = None) -> dict[str, Kernel]:
        """Descriptions by which its C functions can be called from Python on a CPU."""
        kernels = {}
        for function in class_api(cls).functions:
            args = [Arg(cls if index == 0 else None, name=name) for index, name in enumerate(function.parameters)]
            kernels[function.name] = Kernel(args=args, c_name=function.name)
        return kernels
