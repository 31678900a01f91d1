"""Caches of what functions return, in the memory of a communicator and on disk.

Keys are exact: what has no text that tells it apart is compared itself in memory, and cannot be a key on disk.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import tempfile
from collections.abc import Callable, Iterator, MutableMapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from .configuration import configuration
from .exceptions import CachingError, HashError
from .mpi import Comm, cache_keyval, is_shared, temp_internal_comm

__all__ = [
    "CachingError", "DEFAULT_CACHE", "DictLikeDiskAccess", "HashError", "clear_memory_cache", "default_comm_fetcher",
    "default_parallel_hashkey", "disk_only_cache", "memory_and_disk_cache", "memory_cache", "parallel_cache", "serial_cache",
]  # fmt: skip

_Function = TypeVar("_Function", bound=Callable[..., Any])
_MISS = object()


class DEFAULT_CACHE(dict[Any, Any]):
    """The cache in memory: a dictionary."""


def _is_comm(argument: Any) -> bool:
    """Whether an argument is a communicator, ours or mpi4py's."""
    return isinstance(argument, Comm) or (hasattr(argument, "Get_rank") and hasattr(argument, "py2f"))


def default_comm_fetcher(*args: Any, **kwargs: Any) -> Any:
    """The first communicator among the arguments."""
    for argument in (*args, *kwargs.values()):
        if _is_comm(argument):
            return argument
    raise TypeError("the function is cached on a communicator, but none is among its arguments; pass comm=")


def default_parallel_hashkey(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """All arguments but communicators."""
    named = sorted((name, value) for name, value in kwargs.items() if not _is_comm(value))
    return (*(value for value in args if not _is_comm(value)), *named)


#: Types whose text tells their values apart.
_PLAIN = (str, bytes, int, float, complex, np.generic, np.dtype, os.PathLike, type, type(None))


def _described(value: Any, plain_only: bool) -> Iterator[bytes]:
    """Text that is the same for equal values only, in every process."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}".encode()
    if isinstance(value, (tuple, list, dict, set, frozenset)):
        items: Any = value.items() if isinstance(value, dict) else value
        parts = [b"".join(_described(item, plain_only)) for item in items]
        yield kind + b"(" + b",".join(sorted(parts) if isinstance(value, (set, frozenset)) else parts) + b")"
    elif isinstance(value, np.ndarray) and value.dtype.kind != "O":
        yield f"ndarray:{value.dtype.str}:{value.shape}:".encode()
        yield hashlib.sha256(np.ascontiguousarray(value).tobytes()).digest()
    else:
        text = repr(value)
        if " at 0x" in text or (plain_only and not isinstance(value, _PLAIN)):
            raise HashError(f"an object of type {type(value).__name__} has no text that tells it apart: {text}; give the cache a hashkey")
        yield kind + f":{len(text)}:{text}".encode()


def _check_key(key: Any) -> None:
    if any(map(_is_comm, key if isinstance(key, tuple) else (key,))):
        raise HashError("a communicator cannot be a part of a key; leave it out of the hashkey")


def _digest(value: Any, plain_only: bool = False) -> str:
    return hashlib.sha256(b"".join(_described(value, plain_only))).hexdigest()


class DictLikeDiskAccess(MutableMapping[Any, Any]):
    """Values in files of a folder, by keys. They are written and read with pickle, so use a folder that only you can write to."""

    def __init__(self, cachedir: str | os.PathLike[str], extension: str = ".pickle") -> None:
        self.cachedir, self.extension = cachedir, extension

    def _path(self, key: Any) -> Path:
        return Path(self.cachedir, _digest(key) + self.extension)

    def __getitem__(self, key: Any) -> Any:
        try:
            with self.open(self._path(key), mode="rb") as file:
                return self.read(file)
        except (FileNotFoundError, EOFError, pickle.UnpicklingError):
            # A file that was cut off is as good as none.
            raise KeyError(key) from None

    def __setitem__(self, key: Any, value: Any) -> None:
        path = self._path(key)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        os.close(descriptor)
        try:
            with self.open(Path(name), mode="wb") as file:
                self.write(file, value)
            # Readers see the whole file or none.
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise

    def __delitem__(self, key: Any) -> None:
        try:
            self._path(key).unlink()
        except FileNotFoundError:
            raise KeyError(key) from None

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError("keys cannot be read back from files")

    def __len__(self) -> int:
        return sum(1 for _ in Path(self.cachedir).glob(f"*{self.extension}"))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(cachedir={self.cachedir}, extension={self.extension})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DictLikeDiskAccess) and (self.cachedir, self.extension) == (other.cachedir, other.extension)

    def open(self, *args: Any, **kwargs: Any) -> Any:
        """Opens a file."""
        return open(*args, **kwargs)  # noqa: SIM115 - the caller closes it

    def read(self, filehandle: Any) -> Any:
        """Reads a value."""
        return pickle.load(filehandle)

    def write(self, filehandle: Any, value: Any) -> None:
        """Writes a value."""
        pickle.dump(value, filehandle)


def _of_comm(comm: Any, factory: Callable[[], MutableMapping[Any, Any]]) -> MutableMapping[Any, Any]:
    """The cache of a communicator that is of the same class as the factory's; on disk also in the same folder."""
    keyval = cache_keyval(comm)
    caches = comm.Get_attr(keyval)
    if caches is None:
        caches = {}
        comm.Set_attr(keyval, caches)
    made = factory()
    name = type(made).__name__
    folder = getattr(made, "cachedir", None)
    cache: MutableMapping[Any, Any] = caches.setdefault(name if folder is None else f"{name}:{folder}", made)
    return cache


def parallel_cache(
    hashkey: Callable[..., Any] = default_parallel_hashkey,
    comm_fetcher: Callable[..., Any] = default_comm_fetcher,
    cache_factory: Callable[[], MutableMapping[Any, Any]] = DEFAULT_CACHE,
) -> Callable[[_Function], _Function]:
    """A function that is called once for each key and communicator.

    `hashkey` makes the key of the arguments, `comm_fetcher` finds the communicator among them, and `cache_factory` makes the cache when a
    communicator has none of its class.

    >>> from parloop.compat._pyop2.caching import memory_cache
    >>> from parloop.compat._pyop2.mpi import COMM_WORLD
    >>> @memory_cache()
    ... def squares(n, comm):
    ...     print("computed")
    ...     return [i * i for i in range(n)]
    >>> squares(3, comm=COMM_WORLD) is squares(3, comm=COMM_WORLD)
    computed
    True
    """

    def decorate(function: _Function) -> _Function:
        place = f"{function.__module__}.{function.__qualname__}"

        @functools.wraps(function)
        def cached(*args: Any, **kwargs: Any) -> Any:
            key = hashkey(*args, **kwargs)
            _check_key(key)
            with temp_internal_comm(comm_fetcher(*args, **kwargs)) as comm:
                cache = _of_comm(comm, cache_factory)
            is_on_disk = isinstance(cache, DictLikeDiskAccess)
            full = (place, key) if is_on_disk else (function, _memory_key(key))
            value = cache.get(full, _MISS)
            # A file may appear between the looks of two processes: the function may be one that all call together, or none.
            if is_on_disk and is_shared(comm) and not all(comm.allgather(value is not _MISS)):
                value = _MISS
            if value is _MISS:
                value = function(*args, **kwargs)
                value = cache.setdefault(full, value)
            return value

        return cached  # type: ignore[return-value]

    return decorate


def _memory_key(key: Any) -> Any:
    """Text that tells keys of plain values apart, so that 1 and True differ and lists can be keys; of other values, the key itself."""
    try:
        return _digest(key, plain_only=True)
    except HashError:
        return key


memory_cache = parallel_cache


def serial_cache(
    hashkey: Callable[..., Any], cache_factory: Callable[[], MutableMapping[Any, Any]] = DEFAULT_CACHE
) -> Callable[[_Function], _Function]:
    """A function that is called once for each key, whatever the communicator."""

    def decorate(function: _Function) -> _Function:
        cache = cache_factory()

        @functools.wraps(function)
        def cached(*args: Any, **kwargs: Any) -> Any:
            key = _memory_key(hashkey(*args, **kwargs))
            value = cache.get(key, _MISS)
            if value is _MISS:
                value = cache.setdefault(key, function(*args, **kwargs))
            return value

        return cached  # type: ignore[return-value]

    return decorate


def _folder(cachedir: Any) -> Any:
    """The folder that was given, that of the settings, or one of the user's own."""
    given = cachedir if cachedir is not None else configuration["cache_dir"]
    if given:
        return given
    caches = os.environ.get("PARLOOP_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches, "parloop", "pyop2")


def disk_only_cache(
    hashkey: Callable[..., Any] = default_parallel_hashkey, comm_fetcher: Callable[..., Any] = default_comm_fetcher, cachedir: Any = None
) -> Callable[[_Function], _Function]:
    """As `parallel_cache`, with files in the place of memory: each call reads its own copy of the value."""
    return parallel_cache(hashkey, comm_fetcher, lambda: DictLikeDiskAccess(_folder(cachedir)))


def memory_and_disk_cache(
    hashkey: Callable[..., Any] = default_parallel_hashkey, comm_fetcher: Callable[..., Any] = default_comm_fetcher, cachedir: Any = None
) -> Callable[[_Function], _Function]:
    """As `parallel_cache`, with files behind the memory that other processes read too."""

    def decorate(function: _Function) -> _Function:
        return memory_cache(hashkey, comm_fetcher)(disk_only_cache(hashkey, comm_fetcher, cachedir)(function))

    return decorate


def clear_memory_cache(comm: Any) -> None:
    """Drops all caches of a communicator. Files stay."""
    with temp_internal_comm(comm) as inner:
        keyval = cache_keyval(inner)
        if inner.Get_attr(keyval) is not None:
            inner.Set_attr(keyval, {})
