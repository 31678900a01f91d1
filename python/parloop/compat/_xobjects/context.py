"""xobjects' contexts, each a context of parloop on the device it means."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import os
import sys
import sysconfig
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import parloop as pl
from parloop import arrays
from parloop.objects import Buffer
from parloop.objects import LinkedArray
from parloop.objects import Method as Method
from parloop.objects._kernels import Source as Source
from parloop.objects._kernels import build_program as _build_program
from parloop.objects._kernels import classes_of
from parloop.objects._kernels import sort_classes as _sort_classes

from .kernel import Arg as Arg
from .kernel import BuiltKernel, compiled_description
from .kernel import Kernel as Kernel
from .kernel import KernelDict as KernelDict
from .kernel import KernelDispatcher as KernelDispatcher
from .prebuilt import Library, is_library
from .specialize_source import specialize_source

XBuffer = Buffer
_INCLUDE = Path(__file__).parent.parent / "include"


def sort_classes(classes: list[Any]) -> list[Any]:
    """The classes and all that they need, those that others need first."""
    return _sort_classes(classes)


class Chunk:
    """A part of a buffer."""

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end

    @property
    def size(self) -> int:
        return self.end - self.start

    def overlaps(self, other: Chunk) -> bool:
        """Whether both overlap or touch."""
        return other.end >= self.start and other.start <= self.end

    def merge(self, other: Chunk) -> Chunk:
        self.start, self.end = min(self.start, other.start), max(self.end, other.end)
        return self

    def copy(self) -> Chunk:
        return Chunk(self.start, self.end)

    def __repr__(self) -> str:
        return f"Chunk({self.start},{self.end})"


class XContext(pl.Context):
    """What all contexts have."""

    minimum_alignment = 1
    allow_prebuilt_kernels = False
    #: Objects stay in their buffers until `buffer.free` is called for them.
    _keeps_objects = True
    _target = ""
    _macros: tuple[str, ...] = ()
    _headers: tuple[str, ...] = ()
    _own_kernels: Mapping[str, pl.Kernel] = {}

    def __str__(self) -> str:
        return type(self).__name__

    __repr__ = __str__

    def __init__(self) -> None:
        self._buffers: weakref.WeakSet[Any] = weakref.WeakSet()
        self._kernels = KernelDict()
        self._allocations = 0

    @property
    def kernels(self) -> KernelDict:  # type: ignore[override]
        return self._kernels

    @property
    def buffers(self) -> list[Any]:
        return list(self._buffers)

    def new_buffer(self, capacity: int = 1048576) -> XBuffer:
        buffer = self._make_buffer(capacity)
        self._buffers.add(buffer)
        self._allocations += 1
        return buffer

    def _make_buffer(self, capacity: int) -> XBuffer:
        return XBuffer(capacity=capacity, context=self, default_alignment=self.minimum_alignment)

    def add_kernels(
        self, sources: Sequence[Any] | None = None, kernels: Mapping[str, Kernel] | None = None, **options: Any
    ) -> None:
        self.kernels.update(self.build_kernels(kernel_descriptions=kernels or {}, sources=sources, **options))

    def build_kernels(
        self,
        kernel_descriptions: Mapping[str, Kernel],
        module_name: str | None = None,
        containing_dir: str | os.PathLike[str] = ".",
        sources: Sequence[Any] | None = None,
        specialize: bool = True,
        apply_to_source: Sequence[Any] = (),
        save_source_as: Any = None,
        extra_compile_args: Sequence[str] = (),
        extra_link_args: Sequence[str] = (),
        extra_cdef: str | None = "",
        extra_classes: Sequence[Any] = (),
        extra_headers: Sequence[Any] = (),
        compile: bool = True,
    ) -> dict[str, Any]:
        _use_last_classes(kernel_descriptions, extra_classes)
        if not compile:
            return self._built(kernel_descriptions, None)
        if os.environ.get("XOBJECTS_FORBID_COMPILE"):
            raise RuntimeError("Compilation is forbidden by the environment variable XOBJECTS_FORBID_COMPILE")
        folder = Path(containing_dir)
        if module_name is not None or save_source_as is not None:
            folder.mkdir(parents=True, exist_ok=True)
        changes = [*apply_to_source, *([self._specialize] if specialize else [])]
        program = _build_program(
            self,
            {**self._own_kernels, **{name: compiled_description(name, kernel) for name, kernel in kernel_descriptions.items()}},
            sources,
            apply_to_source=changes,
            save_source_as=folder / save_source_as if save_source_as is not None else None,
            extra_classes=extra_classes,
            extra_headers=[*self._headers, *extra_headers],
            extra_compile_args=[*extra_compile_args, *extra_link_args, *self._macros],
            include=[_INCLUDE, *self.get_installed_c_source_paths()],
            save_as=_module_file(module_name, folder) if module_name is not None else None,
        )
        return self._built(kernel_descriptions, program)

    def _specialize(self, source: str) -> str:
        return specialize_source(source, self._target)

    def _built(self, descriptions: Mapping[str, Any], program: Any) -> dict[str, Any]:
        """What was compiled, or only described, as kernels of the context."""
        built = {}
        for name, description in descriptions.items():
            description.pyname = name
            description.c_name = description.c_name or name
            function = None if program is None else getattr(program, name)
            built[name] = BuiltKernel(function, description, self, program, self._thread_setter(program))
        return built

    def _thread_setter(self, program: Any) -> Any:
        """What says before each call how many threads a kernel of the program has; None where nothing needs to be said."""
        return None

    def _call(self, kernel: BuiltKernel, named: dict[str, Any]) -> Any:
        """Runs a kernel: over as many work items as its description says."""
        return kernel.with_threads()(**named)

    def kernels_from_file(
        self, module_name: str, kernel_descriptions: Mapping[str, Kernel], containing_dir: str | os.PathLike[str] = "."
    ) -> dict[str, Any]:
        """The kernels that `build_kernels(module_name=...)` kept, or those of a shared library that xobjects compiled."""
        path = _module_file(module_name, Path(containing_dir))
        described = {name: compiled_description(name, kernel) for name, kernel in kernel_descriptions.items()}
        return self._built(kernel_descriptions, self.load(path, kernels=described))

    def get_installed_c_source_paths(self) -> list[str]:
        """Folders of packages that offer C sources by the entry point group "xobjects"."""
        return list(_installed_c_sources())

    @property
    def linked_array_type(self) -> type[LinkedArray]:
        return LinkedArray

    def nparray_to_context_array(self, arr: Any, copy: bool = False) -> Any:
        return arrays.array(arr, device=self)

    def nparray_from_context_array(self, dev_arr: Any, copy: bool = False) -> Any:
        # Indices of one element give NumPy's scalars, which are on the host.
        return dev_arr if isinstance(dev_arr, (np.ndarray, np.generic)) else dev_arr.numpy()

    @property
    def nplike_array_type(self) -> type[Any]:
        return pl.Array

    @property
    def nplike_lib(self) -> Any:
        return _DeviceLibrary(self)

    @property
    def splike_lib(self) -> Any:
        """What programs use of SciPy on a GPU: its `fft`, which is NumPy's."""
        return _DeviceLibrary(self)

    def zeros(self, *args: Any, **options: Any) -> Any:
        return self.nplike_lib.zeros(*args, **options)

    def __reduce__(self) -> Any:
        return get_context_from_string, (str(self),)


@functools.cache
def _installed_c_sources() -> tuple[str, ...]:
    # Reads the metadata of every installed package, so it is done once.
    from importlib.metadata import entry_points

    return tuple(str(_package_file(entry).parents[1]) for entry in entry_points(group="xobjects", name="include"))


def _package_file(entry: Any) -> Path:
    """The file of the package that an entry point names; the package is not imported for it, which would take longer than all the rest."""
    if entry.module in sys.modules or entry.attr or "." in entry.module:
        return Path(entry.load().__file__)
    spec = importlib.util.find_spec(entry.module)
    return Path(spec.origin) if spec is not None and spec.origin is not None else Path(entry.load().__file__)


class _DeviceLibrary:
    """`parloop.arrays`, in which what is made of numbers is on the device of a context."""

    def __init__(self, context: XContext, module: Any = arrays) -> None:
        self._context, self._module = context, module

    def __getattr__(self, name: str) -> Any:
        try:
            found = getattr(self._module, name)
        except AttributeError:
            raise AttributeError(
                f"{self._module.__name__} has no `{name}`, so that arrays of device `{self._context.device.name}` have none; "
                f"copy them to the host with .get() for NumPy's"
            ) from None
        if inspect.ismodule(found):
            return _DeviceLibrary(self._context, found)
        return functools.partial(found, device=self._context) if callable(found) and _takes_device(found) else found

    def __dir__(self) -> list[str]:
        return dir(self._module)

    # Types by the names that NumPy has beside those of the standard.
    bool_, float_, int_ = np.bool_, np.float64, np.int64


@functools.lru_cache(maxsize=1024)
def _takes_device(function: Any) -> bool:
    try:
        return "device" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def _use_last_classes(descriptions: Mapping[str, Any], more: Sequence[Any]) -> None:
    """Of several classes with one name, the last one is meant everywhere."""
    last = {cls.__name__: cls for cls in sort_classes([*classes_of(descriptions), *(getattr(cls, "_XoStruct", cls) for cls in more)])}
    for description in descriptions.values():
        for arg in description.args or ():
            arg.atype = last.get(getattr(arg.atype, "__name__", None), arg.atype)


def _module_file(name: str, folder: Path) -> Path:
    return folder / f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}"


#: The function of a program that says how many threads its OpenMP has.
_SET_THREADS = "parloop_omp_set_num_threads"

_CONTEXT_MACROS = ("XO_CONTEXT_CPU", "XO_CONTEXT_CPU_SERIAL", "XO_CONTEXT_CPU_OPENMP", "XO_CONTEXT_CL", "XO_CONTEXT_CUDA")


def _context_macros(*defined: str) -> tuple[str, ...]:
    """The macros by which sources know the context: these are defined, and the others are not."""
    return tuple(f"-{'D' if name in defined else 'U'}{name}" for name in _CONTEXT_MACROS)


class ContextCpu(XContext):
    """The CPU: one thread, or `omp_num_threads` of them, or "auto"."""

    def __new__(cls, omp_num_threads: int | str = 0) -> ContextCpu:
        return super().__new__(cls, {0: "cpu:1", "auto": "cpu"}.get(omp_num_threads, f"cpu:{omp_num_threads}"))

    def __init__(self, omp_num_threads: int | str = 0) -> None:
        super().__init__()
        self.omp_num_threads = omp_num_threads
        if self.openmp_enabled:
            self._target = "cpu_openmp"
            self._macros = ("-fopenmp", "-D_GNU_SOURCE", *_context_macros("XO_CONTEXT_CPU", "XO_CONTEXT_CPU_OPENMP"))
            self._headers = (f"#include <omp.h>\nvoid {_SET_THREADS}(int32_t count) {{ omp_set_num_threads(count); }}\n",)
            self._own_kernels = {_SET_THREADS: pl.Kernel()}

    allow_prebuilt_kernels = True
    _target = "cpu_serial"
    # Sources use what the C library has beyond the standard, as sincos.
    _macros = ("-D_GNU_SOURCE", *_context_macros("XO_CONTEXT_CPU", "XO_CONTEXT_CPU_SERIAL"))

    def _thread_setter(self, program: Any) -> Any:
        if program is None or not self.openmp_enabled:
            return None
        return getattr(program, _SET_THREADS) if isinstance(self.omp_num_threads, int) else None

    def _call(self, kernel: BuiltKernel, named: dict[str, Any]) -> Any:
        """Runs a kernel once, whatever its description says: threads share its loops."""
        if kernel.set_threads is not None:
            kernel.set_threads(self.omp_num_threads)
        return kernel.function(**named)

    def kernels_from_file(
        self, module_name: str, kernel_descriptions: Mapping[str, Kernel], containing_dir: str | os.PathLike[str] = "."
    ) -> dict[str, Any]:
        path = _module_file(module_name, Path(containing_dir))
        if not path.exists() or not is_library(path):
            return super().kernels_from_file(module_name, kernel_descriptions, containing_dir)
        library = Library(path)
        set_threads = library.set_threads if self.openmp_enabled and isinstance(self.omp_num_threads, int) else None
        built = self._built(kernel_descriptions, None)
        for kernel in built.values():
            kernel.function = library.kernel(kernel.description)
            kernel.set_threads = set_threads
        return built

    @property
    def openmp_enabled(self) -> bool:
        return self.omp_num_threads != 0

    def __str__(self) -> str:
        return f"ContextCpu:{self.omp_num_threads}" if self.openmp_enabled else "ContextCpu"

    __repr__ = __str__

    @property
    def nplike_array_type(self) -> type[Any]:
        return np.ndarray

    @property
    def nplike_lib(self) -> Any:
        return np

    @property
    def splike_lib(self) -> Any:
        import scipy  # type: ignore[import-untyped,import-not-found,unused-ignore]

        return scipy

    def zeros(self, *args: Any, **options: Any) -> Any:
        return np.zeros(*args, **options)

    def nparray_to_context_array(self, arr: Any, copy: bool = False) -> Any:
        return np.copy(arr) if copy else arr

    def nparray_from_context_array(self, dev_arr: Any, copy: bool = False) -> Any:
        return np.copy(dev_arr) if copy else dev_arr


#: Functions of xobjects' programs take pointers of any address space. OpenCL 2 has these; PoCL, whose devices are CPUs with one kind of
#: memory, had them late.
_ANY_POINTERS, _ONE_SPACE = "-cl-std=CL2.0", "-DPARLOOP_ONE_SPACE"


class ContextPyopencl(XContext):
    """An OpenCL device: "platform.device", an index or a device of `get_devices`."""

    _target = "opencl"
    _macros = _context_macros("XO_CONTEXT_CL")
    # Names of fields are not macros of the driver.
    _headers = ("".join(f"#undef {name}\n" for name in ("cross", "distance", "dot", "length", "normalize")),)

    def __new__(cls, device: Any = None, patch_pyopencl_array: bool = True, minimum_alignment: int | None = None) -> ContextPyopencl:
        if isinstance(device, pl.Device):
            return super().__new__(cls, device)
        return super().__new__(cls, "opencl" if device is None else f"opencl:{device}")

    def __init__(self, device: Any = None, patch_pyopencl_array: bool = True, minimum_alignment: int | None = None) -> None:
        super().__init__()
        self._macros = (_ANY_POINTERS if "PoCL" not in self.device.driver else _ONE_SPACE, *self._macros)

    @classmethod
    def get_devices(cls) -> list[str]:
        return [device.name.partition(":")[2] for device in pl.devices() if device.kind == "opencl"]

    @classmethod
    def print_devices(cls) -> None:
        for device in pl.devices():
            if device.kind == "opencl":
                print(f"Device {device.name.partition(':')[2]}: {device.model}")

    def __str__(self) -> str:
        return f"ContextPyopencl:{self.device.name.partition(':')[2]}"

    __repr__ = __str__


class ContextCupy(XContext):
    """A CUDA device."""

    _target = "cuda"
    _macros = _context_macros("XO_CONTEXT_CUDA")
    default_block_size = 256
    default_shared_mem_size_bytes = 0

    def __new__(cls, default_block_size: int = 256, default_shared_mem_size_bytes: int = 0, device: Any = 0) -> ContextCupy:
        return super().__new__(cls, f"cuda:{device or 0}")

    def __init__(self, default_block_size: int = 256, default_shared_mem_size_bytes: int = 0, device: Any = 0) -> None:
        super().__init__()
        self.default_block_size = default_block_size
        self.default_shared_mem_size_bytes = default_shared_mem_size_bytes

    def __str__(self) -> str:
        return f"ContextCupy:{self.device.name.partition(':')[2]}"

    __repr__ = __str__


_kinds = {device.kind for device in pl.devices()}
available: list[type[XContext]] = [
    context for kind, context in (("cpu", ContextCpu), ("opencl", ContextPyopencl), ("cuda", ContextCupy)) if kind in _kinds
]


def get_context_from_string(text: str | None) -> XContext:
    """The context that a text such as "ContextCpu:4" or "ContextPyopencl:0.0" names."""
    if text is None:
        return ContextCpu()
    name, _, option = text.partition(":")
    option = option.split(",")[0]
    if name == "ContextCpu":
        return ContextCpu(omp_num_threads="auto" if option == "auto" else int(option or 0))
    if name == "ContextPyopencl":
        return ContextPyopencl(device=option or None)
    if name == "ContextCupy":
        return ContextCupy(device=int(option or 0))
    raise ValueError(f"Cannot create context from `{text}`")


def get_test_contexts() -> Iterator[XContext]:
    """The contexts that tests run on: those of XOBJECTS_TEST_CONTEXTS, or all."""
    asked = os.environ.get("XOBJECTS_TEST_CONTEXTS")
    if asked is not None and asked != "all":
        yield from map(get_context_from_string, asked.split(";"))
        return
    yield ContextCpu()
    yield ContextCpu(omp_num_threads="auto")
    if ContextCupy in available:
        yield ContextCupy()
    if ContextPyopencl in available:
        yield from map(ContextPyopencl, ContextPyopencl.get_devices() if asked == "all" else [None])


def get_user_context() -> XContext:
    """The context of XOBJECTS_USER_CONTEXT, or the CPU."""
    return get_context_from_string(os.environ.get("XOBJECTS_USER_CONTEXT"))
