"""Matrices as those of CuPy and PyTorch, over the same memory. Only this file imports them."""

from __future__ import annotations

import importlib
import weakref
from collections.abc import Callable
from typing import Any

from .._parloop import DataValueError, _numbers_on_context

#: Where the blocks of a sparsity are, in the arrays of a library on a device.
_INDICES: weakref.WeakKeyDictionary[Any, dict[tuple[str, str], tuple[Any, Any]]] = weakref.WeakKeyDictionary()


def _library(name: str, install: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(f"{name} is not installed; install it with `pip install {install}`") from None


def _indices(mat: Any, library: str, device: str, convert: Callable[[Any], Any]) -> tuple[Any, Any]:
    """Starts of rows and columns of blocks; they are copied once for each device."""
    known = _INDICES.setdefault(mat.sparsity, {})
    if (library, device) not in known:
        known[library, device] = convert(mat.sparsity.rowptr), convert(mat.sparsity.colidx)
    return known[library, device]


def to_cupy(mat: Any) -> Any:
    """A ``csr_matrix`` of CuPy's over the numbers on the current context."""
    if mat.sparsity.block_shape != (1, 1):
        height, width = mat.sparsity.block_shape
        raise DataValueError(f"CuPy does not support block matrices, but the blocks of `{mat.name}` are {height} × {width}; use to_torch or to_scipy")
    numbers = _numbers_on_context(mat)
    if numbers.context.device.kind != "cuda":
        where = numbers.context.device.name
        raise DataValueError(f"CuPy needs data on CUDA, but `{mat.name}` is on {where}; use it inside `with pl.Context(\"cuda\"):`")
    cupy, sparse = _library("cupy", "cupy-cuda12x"), _library("cupyx.scipy.sparse", "cupy-cuda12x")
    rows, columns = _indices(mat, "cupy", numbers.context.device.name, cupy.asarray)
    return sparse.csr_matrix((cupy.asarray(numbers), columns, rows), shape=mat.shape, copy=False)


def to_torch(mat: Any) -> Any:
    """A sparse tensor of PyTorch's, by rows or by rows of blocks, over the numbers on the current context."""
    numbers = _numbers_on_context(mat)
    device = numbers.context.device
    if device.kind == "opencl":
        raise DataValueError(f"PyTorch does not support OpenCL, where `{mat.name}` is; use it inside `with pl.Context(\"cpu\"):`")
    torch = _library("torch", "torch")
    values = torch.from_dlpack(numbers)
    rows, columns = _indices(mat, "torch", device.name, lambda part: torch.tensor(part, device=values.device))
    make = torch.sparse_csr_tensor if mat.sparsity.block_shape == (1, 1) else torch.sparse_bsr_tensor
    return make(rows, columns, values, size=mat.shape)
