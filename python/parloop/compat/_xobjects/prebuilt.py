"""Kernels in shared libraries that others compiled: called by the names of their symbols, as their descriptions say."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import parloop as pl
from parloop.objects._scalar import Scalar

_ELF = b"\x7fELF"


def is_library(path: Path) -> bool:
    """Whether the file is a shared library, and not a program that `parloop.Program.save` wrote."""
    with path.open("rb") as file:
        return file.read(len(_ELF)) == _ELF


class Library:
    """A shared library of kernels."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._library = ctypes.CDLL(str(path.absolute()))

    def kernel(self, description: Any) -> LibraryKernel:
        """The function that the description names."""
        name = description.c_name
        try:
            function = self._library[name]
        except AttributeError:
            raise pl.KernelNotFoundError(
                f"{self._path} has no function `{name}`; build the kernels from source, or look with `nm -D` for what it has"
            ) from None
        return LibraryKernel(function, description)

    def set_threads(self, count: int) -> None:
        """How many threads of OpenMP its functions use when this thread calls them."""
        self._library["xo_omp_set_num_threads"](ctypes.c_int(count))


class LibraryKernel:
    """A function of a shared library. Its arguments are checked against the description, which the library cannot contradict."""

    def __init__(self, function: Any, description: Any) -> None:
        self._function = function
        self._name = description.c_name
        self._arguments = [(arg.name, _conversion(arg, self._name)) for arg in description.args or ()]
        returned = getattr(description.ret, "atype", description.ret)
        self._function.restype = None if returned is None else np.ctypeslib.as_ctypes_type(returned._dtype)

    def __call__(self, **named: Any) -> Any:
        names = [name for name, _ in self._arguments]
        if named.keys() != set(names):
            raise TypeError(f"{self._name} takes the arguments {', '.join(names)}; {', '.join(named) or 'none'} were given")
        # The second part of each is what owns the memory, which lives to the end of the call.
        converted = [convert(named[name]) for name, convert in self._arguments]
        return self._function(*[value for value, _ in converted])


def _conversion(arg: Any, kernel: str) -> Callable[[Any], tuple[Any, Any]]:
    """From a value of Python's to what C is passed, and to what owns the memory behind that."""
    if isinstance(arg.atype, Scalar):
        if arg.pointer:
            return lambda value: _array(value, arg, kernel)
        number = np.ctypeslib.as_ctypes_type(arg.atype._dtype)
        cast = arg.atype._dtype.type
        return lambda value: (number(cast(value).item()), None)
    return lambda value: _object(value, arg, kernel)


def _address(array: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.__array_interface__["data"][0])


def _array(value: Any, arg: Any, kernel: str) -> tuple[Any, Any]:
    if value is None:
        return ctypes.c_void_p(None), None
    array = value.to_nplike() if hasattr(value, "to_nplike") else value
    if not isinstance(array, np.ndarray):
        raise TypeError(f"argument `{arg.name}` of {kernel} is an array of {arg.atype._dtype}; {type(value).__name__} was given")
    same = array.dtype == arg.atype._dtype or (array.dtype.itemsize == 1 and arg.atype._dtype.itemsize == 1)
    if not same:
        raise TypeError(f"argument `{arg.name}` of {kernel} is an array of {arg.atype._dtype}; one of {array.dtype} was given")
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise ValueError(f"argument `{arg.name}` of {kernel} must be contiguous; pass a copy of it")
    return _address(array), array


def _object(value: Any, arg: Any, kernel: str) -> tuple[Any, Any]:
    value = getattr(value, "_xobject", value)
    if type(value).__name__ != arg.atype.__name__:
        raise TypeError(f"argument `{arg.name}` of {kernel} is an object of {arg.atype.__name__}; one of {type(value).__name__} was given")
    if value._context.device.kind != "cpu":
        raise TypeError(f"argument `{arg.name}` of {kernel} is on {value._context}; copy it to a ContextCpu")
    memory = value._buffer.to_pointer_arg(value._offset, value._get_size())
    return _address(memory), memory
