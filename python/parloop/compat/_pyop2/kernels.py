"""PyOP2's kernels and loops. A kernel in C is read when a loop first needs it, as PyOP2 does."""

from __future__ import annotations

import functools
import hashlib
import warnings
from typing import Any

from ... import mesh
from ...errors import KernelTypeError
from ...loops._program import Program
from .arguments import native_arguments
from .caching import memory_cache
from .exceptions import NameTypeError, SetTypeError
from .halos import exchanged, needs_exchange
from .libraries import load_libraries
from .mpi import COMM_WORLD

__all__ = ["CStringLocalKernel", "Kernel", "LoopyLocalKernel", "ParLoop", "Parloop", "par_loop", "parloop"]


@memory_cache()
def _kernel_in_c(code: str, name: str, headers: tuple[str, ...], include_dirs: tuple[str, ...], cpp: bool, comm: Any) -> mesh.Kernel:
    """The kernel of some C or C++. Programs make the same one again for each loop; it is read and compiled once."""
    return mesh.Kernel(code, name, list(headers), list(include_dirs), cpp=cpp)


class LocalKernel:
    """What is done for each element."""

    def __init__(
        self, code: Any, name: Any, accesses: Any = None, dtypes: Any = None, *, cpp: bool = False, flop_count: Any = None, headers: Any = (),
        include_dirs: Any = (), ldargs: Any = (), opts: Any = None, requires_zeroed_output_arguments: bool = False, user_code: str = "",
        events: Any = (),
    ) -> None:  # fmt: skip
        if not isinstance(name, str):
            raise NameTypeError(f"a name is text, not {name!r}")
        self.code = code
        self.name = name
        self.accesses = accesses
        self.dtypes = dtypes
        self.cpp = cpp
        self.flop_count = flop_count
        self.num_flops = flop_count or 0
        self.headers = tuple(headers)
        self.include_dirs = tuple(include_dirs)
        self.ldargs = tuple(ldargs)
        self.opts = opts or {}
        self.requires_zeroed_output_arguments = requires_zeroed_output_arguments
        self.user_code = user_code
        self.events = events

    @functools.cached_property
    def _made(self) -> mesh.Kernel:
        if self.user_code:
            warnings.warn(f"kernel `{self.name}` has user_code, which PyOP2 ignores too; put it into the code of the kernel", stacklevel=2)
        load_libraries(self.ldargs)
        if not isinstance(self.code, str):
            return mesh.Kernel(self.code, self.name, list(self.headers), list(self.include_dirs))
        return _kernel_in_c(self.code, self.name, self.headers, tuple(map(str, self.include_dirs)), bool(self.cpp), COMM_WORLD)

    @property
    def cache_key(self) -> str:
        """What tells kernels apart."""
        parts = (str(self.code), self.name, self.cpp, self.headers, self.include_dirs, self.ldargs, self.user_code, self.accesses)
        return hashlib.md5(str(parts).encode(), usedforsecurity=False).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LocalKernel) and self.cache_key == other.cache_key

    def __hash__(self) -> int:
        return hash(self.cache_key)

    def __str__(self) -> str:
        return f"OP2 Kernel: {self.name}"

    def __repr__(self) -> str:
        return f'Kernel("""{self.code}""", {self.name!r})'


class CStringLocalKernel(LocalKernel):
    """A kernel in C."""


class LoopyLocalKernel(LocalKernel):
    """A loop kernel."""


def Kernel(code: Any, name: Any, **options: Any) -> LocalKernel:
    """A kernel in C or of a loop kernel."""
    if not isinstance(name, str):
        raise NameTypeError(f"a name is text, not {name!r}")
    if isinstance(code, str):
        return CStringLocalKernel(code, name, **options)
    if isinstance(code, Program):
        return LoopyLocalKernel(code, name, **options)
    raise KernelTypeError(f"the code of a kernel is text in C or a loop kernel, not {type(code).__name__}")


def _native(kernel: Any, iterset: Any) -> Any:
    if not isinstance(iterset, mesh.Set):
        raise SetTypeError(f"a Set is needed, not {type(iterset).__name__}")
    if isinstance(kernel, LocalKernel):
        return kernel._made
    raise KernelTypeError(f"a Kernel is needed, not {type(kernel).__name__}")


def _columns(options: dict[str, Any]) -> dict[str, Any]:
    """Which cells of the columns of an extruded set, and whether kernels get the number of the layer."""
    unknown = {name for name, value in options.items() if value} - {"iterate", "iteration_region", "pass_layer_arg"}
    if unknown:
        raise TypeError(f"par_loop does not take {', '.join(sorted(unknown))}")
    region = options.get("iteration_region") or options.get("iterate")
    return {"iteration_region": region, "pass_layer_arg": bool(options.get("pass_layer_arg"))}


class ParLoop(mesh.ParLoop):
    """A kernel over a set with its arguments, ready to be called."""

    def __new__(cls, kernel: Any, iterset: Any, *args: Any, **options: Any) -> Any:
        made = _ExchangingParLoop if cls is ParLoop and needs_exchange(iterset, args) else cls
        return mesh.ParLoop.__new__(made, _native(kernel, iterset), iterset, *native_arguments(args), **_columns(options))

    def __init__(self, kernel: Any, iterset: Any, *args: Any, **options: Any) -> None:
        self.local_kernel = kernel


class _ExchangingParLoop(ParLoop):
    """A loop in which other processes have a part."""

    def __init__(self, kernel: Any, iterset: Any, *args: Any, **options: Any) -> None:
        super().__init__(kernel, iterset, *args, **options)
        self._iterset, self._args = iterset, args

    def __call__(self) -> None:
        exchanged(super().__call__, self._iterset, self._args)

    compute = __call__


Parloop = ParLoop


def par_loop(kernel: Any, iterset: Any, *args: Any, **options: Any) -> None:
    """Runs a kernel for each element of a set."""
    run = functools.partial(mesh.par_loop, _native(kernel, iterset), iterset, *native_arguments(args), **_columns(options))
    if needs_exchange(iterset, args):
        exchanged(run, iterset, args)
    else:
        run()


parloop = par_loop
