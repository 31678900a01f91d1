"""Kernels in shared libraries that others compiled: called by the names of their symbols, as their descriptions say."""

from __future__ import annotations

import ctypes
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import parloop as pl
from parloop.objects._scalar import Scalar

from .kernel import number_conversion

_ELF = b"\x7fELF"


def is_library(path: Path) -> bool:
    """Whether the file is a shared library, and not a program that `parloop.Program.save` wrote."""
    with path.open("rb") as file:
        return file.read(len(_ELF)) == _ELF


#: What was loaded, by path and content: it is never unloaded, and what did not change is not loaded again.
_loaded: dict[tuple[Path, bytes], ctypes.CDLL] = {}


def _load(path: Path) -> ctypes.CDLL:
    """The library that the file holds now, which may have been compiled again since another was loaded from there."""
    path = path.absolute()
    content = path.read_bytes()
    key = (path, hashlib.sha256(content).digest())
    if key not in _loaded:
        # One that finds other libraries by its own place has to be loaded from there.
        if b"$ORIGIN" not in content and b"${ORIGIN}" not in content:
            _loaded[key] = _load_copy(path, content)
        elif all(path != other for other, _ in _loaded):
            _loaded[key] = ctypes.CDLL(str(path))
        else:
            raise ImportError(
                f"{path} was compiled again after it was loaded, and cannot be loaded from elsewhere, since it refers to libraries by $ORIGIN; "
                "start Python again, or give the library another name",
                path=str(path),
            )
    return _loaded[key]


def _load_copy(path: Path, content: bytes) -> ctypes.CDLL:
    """A library from a file in memory. It stays open: the loader tells libraries apart by path, and the path holds its number."""
    close_on_exec = 1
    # Some builds of Python lack `os.memfd_create` where the C library has it.
    descriptor = ctypes.CDLL(None, use_errno=True)["memfd_create"](b"parloop", close_on_exec)
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), f"{path} cannot be loaded, for want of a file in memory: {os.strerror(ctypes.get_errno())}")
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(content)
        return ctypes.CDLL(f"/proc/self/fd/{descriptor}")
    except OSError as error:
        os.close(descriptor)
        raise OSError(f"{path} cannot be loaded: {error}") from None


class Library:
    """A shared library of kernels."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._library = _load(path)

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
        self._function.restype, self._returned = _result(description.ret)

    def __call__(self, **named: Any) -> Any:
        names = [name for name, _ in self._arguments]
        if named.keys() != set(names):
            raise TypeError(f"{self._name} takes the arguments {', '.join(names)}; {', '.join(named) or 'none'} were given")
        # The second part of each is what owns the memory, which lives to the end of the call.
        converted = [convert(named[name]) for name, convert in self._arguments]
        returned = self._function(*[value for value, _ in converted])
        return returned if self._returned is None else self._returned(returned)


def _result(ret: Any) -> tuple[Any, Callable[[Any], Any] | None]:
    """What a function returns to ctypes, and what that is to Python where it is something else."""
    atype = getattr(ret, "atype", ret)
    is_number = isinstance(atype, Scalar)
    if atype is None:
        return None, None
    if is_number and not getattr(ret, "pointer", False):
        return np.ctypeslib.as_ctypes_type(atype._dtype), None
    dtype, name = (atype._dtype, None) if is_number else (None, atype.__name__)
    # To ctypes a null pointer is None.
    return ctypes.c_void_p, lambda address: pl.Pointer(address or 0, dtype, name)


def _conversion(arg: Any, kernel: str) -> Callable[[Any], tuple[Any, Any]]:
    """From a value of Python's to what C is passed, and to what owns the memory behind that."""
    if isinstance(arg.atype, Scalar):
        if arg.pointer:
            return lambda value: _array(value, arg, kernel)
        number = np.ctypeslib.as_ctypes_type(arg.atype._dtype)
        convert = number_conversion(arg, kernel)
        return lambda value: (number(convert(value).item()), None)
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
    if not (array.flags.writeable or arg.const):
        declared = f"argument `{arg.name}` of kernel `{kernel}` is declared `{arg.atype._c_type} *`"
        raise pl.errors.ArgumentValueError(f"{declared}, but the array is read-only; declare it const or pass a copy")
    return _address(array), array


def _object(value: Any, arg: Any, kernel: str) -> tuple[Any, Any]:
    value = getattr(value, "_xobject", value)
    if type(value).__name__ != arg.atype.__name__:
        raise TypeError(f"argument `{arg.name}` of {kernel} is an object of {arg.atype.__name__}; one of {type(value).__name__} was given")
    if getattr(type(value), "_type", None) != arg.atype._type:
        name = arg.atype.__name__
        raise pl.ArgumentError(
            f"argument `{arg.name}` of kernel `{kernel}` is declared `{name}`, but an object of class `{name}` was given; "
            "it is another class of that name; load the kernel again with the present one"
        )
    if value._context.device.kind != "cpu":
        raise TypeError(f"argument `{arg.name}` of {kernel} is on {value._context}; copy it to a ContextCpu")
    memory = value._buffer.to_pointer_arg(value._offset, value._get_size())
    return _address(memory), memory
