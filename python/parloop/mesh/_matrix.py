"""Matrices as arrays of NumPy and matrices of SciPy, and changes of single rows and entries."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from .._parloop import IndexValueError


def dense(mat: Any) -> Any:
    """All numbers of a matrix, zeros and all."""
    sparsity = mat.sparsity
    (height, width), (rows, columns) = sparsity.block_shape, (sparsity.nrows, sparsity.ncols)
    values = np.zeros((rows, height, columns, width), mat.dtype)
    row_of = np.repeat(np.arange(rows), np.diff(sparsity.rowptr))
    values[row_of, :, sparsity.colidx, :] = mat.data_ro.reshape(-1, height, width)
    return values.reshape(rows * height, columns * width)


def to_scipy(mat: Any) -> Any:
    """The matrix in SciPy's form, over the same numbers."""
    try:
        sparse = importlib.import_module("scipy.sparse")
    except ImportError:
        raise ImportError("SciPy is not installed; install it with `pip install scipy`") from None
    parts = (mat.data, mat.sparsity.colidx, mat.sparsity.rowptr)
    if mat.sparsity.block_shape == (1, 1):
        return sparse.csr_matrix(parts, shape=mat.shape, copy=False)
    return sparse.bsr_matrix(parts, shape=mat.shape, blocksize=mat.sparsity.block_shape, copy=False)


def _blocks(mat: Any, rows: Any, columns: Any) -> Any:
    """Where the blocks in these rows and columns of blocks are stored."""
    sparsity = mat.sparsity
    rows, columns = np.asarray(rows, np.int64), np.asarray(columns, np.int64)
    for numbers, size, kind in ((rows, sparsity.nrows, "row"), (columns, sparsity.ncols, "column")):
        outside = numbers[(numbers < 0) | (numbers >= size)]
        if outside.size:
            raise IndexValueError(f"matrix `{mat.name}` has {size} {kind}s of blocks, not one with number {outside[0]}")
    keys = np.repeat(np.arange(sparsity.nrows, dtype=np.int64), np.diff(sparsity.rowptr)) * sparsity.ncols + sparsity.colidx
    wanted = rows * sparsity.ncols + columns
    places = np.searchsorted(keys, wanted)
    missing = (places == keys.size) | (keys[np.minimum(places, max(keys.size - 1, 0))] != wanted if keys.size else True)
    if np.any(missing):
        first = np.argmax(missing)
        raise IndexValueError(f"matrix `{mat.name}` stores no block in row {rows.flat[first]} and column {columns.flat[first]}")
    return places


def _rows_of(rows: Any) -> Any:
    """The rows of blocks that a subset or a list names."""
    return np.unique(np.asarray(getattr(rows, "indices", rows), np.int64).ravel())


def _diagonal(mat: Any, rows: Any, index: int | None) -> tuple[Any, Any]:
    """The numbers of all blocks, and where those on the diagonal of some rows of blocks are."""
    height, width = mat.sparsity.block_shape
    places = _blocks(mat, rows, rows)
    lines = np.arange(min(height, width)) if index is None else np.array([index])
    if lines.size and not 0 <= lines.min() <= lines.max() < min(height, width):
        raise IndexValueError(f"a block of matrix `{mat.name}` has no component {index}; it has {height} rows")
    return mat.data.reshape(-1, height, width), (places[:, None], lines, lines)


def set_diagonal(mat: Any, rows: Any, value: float, index: int | None) -> None:
    """Sets the diagonal of some rows of blocks."""
    blocks, where = _diagonal(mat, _rows_of(rows), index)
    blocks[where] = value


def add_to_diagonal(mat: Any, rows: Any, value: float, index: int | None) -> None:
    """Adds to the diagonal of some rows of blocks."""
    blocks, where = _diagonal(mat, _rows_of(rows), index)
    blocks[where] += value


def zero_rows(mat: Any, rows: Any, value: float, index: int | None) -> None:
    """Sets some rows of blocks to zero, but for the diagonal."""
    rows = _rows_of(rows)
    blocks, where = _diagonal(mat, rows, index)
    clear_rows(mat, rows, index)
    blocks[where] = value


def clear_rows(mat: Any, rows: Any, index: int | None) -> None:
    """Sets some rows of blocks to zero, or of each the line with that number."""
    (height, width), starts = mat.sparsity.block_shape, mat.sparsity.rowptr
    blocks = mat.data.reshape(-1, height, width)
    for row in rows:
        blocks[starts[row] : starts[row + 1], slice(None) if index is None else index] = 0


def put(mat: Any, rows: Any, columns: Any, values: Any, adds: bool) -> None:
    """Adds a dense part to rows and columns of numbers, or sets them."""
    (height, width), rows, columns = mat.sparsity.block_shape, np.asarray(rows).ravel(), np.asarray(columns).ravel()
    values = np.asarray(values, mat.dtype).reshape(rows.size, columns.size)[np.ix_(rows >= 0, columns >= 0)]
    rows, columns = np.meshgrid(rows[rows >= 0], columns[columns >= 0], indexing="ij")
    where = (_blocks(mat, rows // height, columns // width), rows % height, columns % width)
    blocks = mat.data.reshape(-1, height, width)
    if adds:
        np.add.at(blocks, where, values)
    else:
        blocks[where] = values
