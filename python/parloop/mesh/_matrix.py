"""Matrices as arrays of NumPy and matrices of SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np


def dense(mat: Any) -> Any:
    """All numbers of a matrix, zeros and all."""
    sparsity = mat.sparsity
    (height, width), (rows, columns) = sparsity.dims, (sparsity.nrows, sparsity.ncols)
    values = np.zeros((rows, height, columns, width), mat.dtype)
    row_of = np.repeat(np.arange(rows), np.diff(sparsity.rowptr))
    values[row_of, :, sparsity.colidx, :] = mat.data_ro.reshape(-1, height, width)
    return values.reshape(rows * height, columns * width)


def to_scipy(mat: Any) -> Any:
    """The matrix in SciPy's form, over the same numbers."""
    try:
        from scipy import sparse
    except ImportError:
        raise ImportError("SciPy is not installed; install it with `pip install scipy`") from None
    parts = (mat.data, mat.sparsity.colidx, mat.sparsity.rowptr)
    if mat.sparsity.dims == (1, 1):
        return sparse.csr_matrix(parts, shape=mat.shape, copy=False)
    return sparse.bsr_matrix(parts, shape=mat.shape, blocksize=mat.sparsity.dims, copy=False)
