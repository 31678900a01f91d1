"""xobjects' contexts, each a context of parloop on the device it means."""

from __future__ import annotations

import copy
import os
import sysconfig
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import parloop as pl
from parloop import Arg as Arg
from parloop import Kernel as Kernel
from parloop.objects import Buffer as Buffer
from parloop.objects import LinkedArray
from parloop.objects import Method as Method
from parloop.objects import build_kernels as _build_kernels
from parloop.objects import load_kernels as _load_kernels
from parloop.objects._kernels import KernelDict as KernelDict
from parloop.objects._kernels import Source as Source
from parloop.objects._kernels import sort_classes as _sort_classes

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
    _macros: tuple[str, ...] = ()

    def __str__(self) -> str:
        return type(self).__name__

    __repr__ = __str__

    def __init__(self) -> None:
        self._buffers: weakref.WeakSet[Any] = weakref.WeakSet()

    @property
    def buffers(self) -> list[Any]:
        return list(self._buffers)

    def new_buffer(self, capacity: int = 1048576) -> Buffer:
        return self._make_buffer(capacity)

    def _make_buffer(self, capacity: int) -> Buffer:
        buffer = Buffer(capacity=capacity, context=self, default_alignment=self.minimum_alignment)
        self._buffers.add(buffer)
        return buffer

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
        if os.environ.get("XOBJECTS_FORBID_COMPILE"):
            raise RuntimeError("Compilation is forbidden by the environment variable XOBJECTS_FORBID_COMPILE")
        folder = Path(containing_dir)
        if module_name is not None or save_source_as is not None:
            folder.mkdir(parents=True, exist_ok=True)
        return _build_kernels(
            self,
            {name: _with_name(name, kernel) for name, kernel in kernel_descriptions.items()},
            sources,
            apply_to_source=apply_to_source,
            save_source_as=folder / save_source_as if save_source_as is not None else None,
            extra_classes=extra_classes,
            extra_headers=extra_headers,
            extra_compile_args=[*extra_compile_args, *extra_link_args, *self._macros],
            include=[_INCLUDE, *self.get_installed_c_source_paths()],
            save_as=_module_file(module_name, folder) if module_name is not None else None,
        )

    def kernels_from_file(
        self, module_name: str, kernel_descriptions: Mapping[str, Kernel], containing_dir: str | os.PathLike[str] = "."
    ) -> dict[str, Any]:
        described = {name: _with_name(name, kernel) for name, kernel in kernel_descriptions.items()}
        return _load_kernels(self, _module_file(module_name, Path(containing_dir)), described)

    def get_installed_c_source_paths(self) -> list[str]:
        """Folders of packages that offer C sources by the entry point group "xobjects"."""
        from importlib.metadata import entry_points

        return [str(Path(entry.load().__file__).parents[1]) for entry in entry_points(group="xobjects", name="include")]

    @property
    def linked_array_type(self) -> type[LinkedArray]:
        return LinkedArray

    def nparray_to_context_array(self, arr: Any, copy: bool = False) -> Any:
        return self.array(np.array(arr, copy=True))

    def nparray_from_context_array(self, dev_arr: Any, copy: bool = False) -> Any:
        return dev_arr.numpy()

    @property
    def nplike_array_type(self) -> type[Any]:
        return pl.Array

    @property
    def nplike_lib(self) -> Any:
        return _DeviceLibrary(self)

    def __reduce__(self) -> Any:
        return get_context_from_string, (str(self),)


class _DeviceLibrary:
    """What programs use of numpy's functions, on a device."""

    def __init__(self, context: XContext) -> None:
        self._context = context

    def array(self, values: Any, dtype: Any = None) -> Any:
        return self._context.array(np.array(values, dtype=dtype))

    asarray = array

    def zeros(self, shape: Any, dtype: Any = np.float64) -> Any:
        return self._context.zeros(shape, dtype)

    def ones(self, shape: Any, dtype: Any = np.float64) -> Any:
        return self._context.array(np.ones(shape, dtype))

    def empty(self, shape: Any, dtype: Any = np.float64) -> Any:
        return self._context.empty(shape, dtype)

    def arange(self, *args: Any, **options: Any) -> Any:
        return self._context.array(np.arange(*args, **options))

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def _with_name(name: str, kernel: Kernel) -> Kernel:
    """The description with its C name, and with one work item where xobjects would have one."""
    new = copy.copy(kernel)
    new.c_name = kernel.c_name or name
    return new


def _module_file(name: str, folder: Path) -> Path:
    return folder / f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}"


class ContextCpu(XContext):
    """The CPU: one thread, or `omp_num_threads` of them, or "auto"."""

    def __new__(cls, omp_num_threads: int | str = 0) -> ContextCpu:
        return super().__new__(cls, {0: "cpu:1", "auto": "cpu"}.get(omp_num_threads, f"cpu:{omp_num_threads}"))

    def __init__(self, omp_num_threads: int | str = 0) -> None:
        super().__init__()
        self.omp_num_threads = omp_num_threads
        self.allow_prebuilt_kernels = omp_num_threads == 0
        kind = "-DXO_CONTEXT_CPU_OPENMP" if self.openmp_enabled else "-DXO_CONTEXT_CPU_SERIAL"
        self._macros = ("-DXO_CONTEXT_CPU", kind)

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


class ContextPyopencl(XContext):
    """An OpenCL device: "platform.device", an index or a device of `get_devices`."""

    _macros = ("-DXO_CONTEXT_CL",)

    def __new__(cls, device: Any = None, patch_pyopencl_array: bool = True, minimum_alignment: int | None = None) -> ContextPyopencl:
        if isinstance(device, pl.Device):
            return super().__new__(cls, device)
        return super().__new__(cls, "opencl" if device is None else f"opencl:{device}")

    def __init__(self, device: Any = None, patch_pyopencl_array: bool = True, minimum_alignment: int | None = None) -> None:
        super().__init__()

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

    _macros = ("-DXO_CONTEXT_CUDA",)
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
