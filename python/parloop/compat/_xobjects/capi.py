"""By xobjects' name: see `parloop.objects._capi`."""

from typing import Any

from parloop.objects._capi import c_type


def is_compound(atype: Any) -> bool:
    """Whether a type has C functions."""
    return hasattr(atype, "_gen_c_api")


def is_type(atype: Any) -> bool:
    """Whether this is a type of objects or numbers."""
    return hasattr(atype, "_type")


def gen_c_type_from_arg(arg: Any, conf: Any = None) -> str:
    """The type of an argument in C."""
    return c_type(arg)


def gen_c_arg_from_arg(arg: Any, conf: Any = None) -> str:
    """The declaration of an argument in C."""
    return f"{c_type(arg)} {arg.name}"


def gen_c_decl_from_kernel(kernel: Any, conf: Any = None) -> str:
    """The declaration of a kernel in C."""
    returned = "void" if kernel.ret is None else c_type(kernel.ret)
    return f"{returned} {kernel.c_name}({', '.join(gen_c_arg_from_arg(arg) for arg in kernel.args)})"
