"""Matrices as arrays of NumPy and matrices of SciPy, changes of single rows and entries, and rows that loops leave out."""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from .._parloop import DataTypeError, DataValueError, IndexTypeError, IndexValueError, MapTypeError, MapValueError
from .._parloop import _Subset as Subset
from ._parts import kind

#: A change of a matrix that was checked and cannot fail.
Change = Callable[[], None]


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
        raise ImportError("to_scipy needs SciPy, which is not installed; pip install parloop[sparse]") from None
    # The numbers are shared, and so that they stay where they are the structure cannot be changed.
    columns, starts = mat.sparsity.colidx, mat.sparsity.rowptr
    columns.flags.writeable = starts.flags.writeable = False
    parts = (mat.data, columns, starts)
    if mat.sparsity.block_shape == (1, 1):
        made = sparse.csr_matrix(parts, shape=mat.shape, copy=False)
    else:
        made = sparse.bsr_matrix(parts, shape=mat.shape, blocksize=mat.sparsity.block_shape, copy=False)
    # That of blocks would move numbers before it writes indices.
    made.eliminate_zeros = functools.partial(_refuse_to_move, mat.name)
    return made


def _refuse_to_move(name: str) -> None:
    what = f"eliminate_zeros would move the values of matrix `{name}`, which shares this memory"
    raise DataValueError(f"{what}; use to_scipy().copy() to change the sparsity")


def _array(given: Any) -> Any:
    """An array of what was given; of objects, where that is not a table."""
    try:
        return np.asarray(given)
    except ValueError:
        return np.asarray(object())


def integers(given: Any, what: str) -> Any:
    """The numbers of rows or columns that were given, one after another."""
    numbers = _array(given).ravel()
    if numbers.dtype.kind == "b":
        raise IndexTypeError(f"{what} must be given by index, not by a boolean mask; use np.flatnonzero(mask)")
    if numbers.dtype.kind not in "iu" and numbers.size:
        raise IndexTypeError(f"{what} must be given by integer index, not {numbers.dtype}")
    if numbers.dtype == np.uint64 and numbers.size and numbers.max() > np.iinfo(np.int64).max:
        raise IndexValueError(f"{what} have no index {numbers.max()}")
    return numbers.astype(np.int64)


def converted(mat: Any, given: Any) -> Any:
    """Numbers in the type of a matrix, which must not change them but for the rounding of floating-point numbers."""
    values, to = _array(given), mat.dtype
    if values.dtype.kind == "O" and to.kind in "fc" and all(isinstance(value, Real) for value in values.flat):
        # Integers beyond 64 bits, and fractions.
        with contextlib.suppress(OverflowError):
            values = values.astype(np.float64)
    if values.dtype.kind not in "biufc":
        raise DataTypeError(f"the entries of matrix `{mat.name}` must be numbers of type {to}, not {kind(given)}")
    if values.dtype.kind == "c" and to.kind != "c":
        raise DataTypeError(f"matrix `{mat.name}` has type {to}, which cannot hold complex numbers")
    if to.kind in "iub" and values.dtype.kind != "b":
        low, high = (0, 1) if to.kind == "b" else (int(np.iinfo(to).min), int(np.iinfo(to).max))
        if values.dtype.kind == "f":
            # `high` may have no floating-point number of its own, but the power of two behind it has.
            fits = (values >= float(low)) & (values < float(high + 1)) & (values == np.trunc(values))
        else:
            inside = values.size == 0 or low <= int(values.min()) <= int(values.max()) <= high
            fits = np.array([inside or low <= value <= high for value in values.ravel().tolist()])
        if not fits.all():
            wrong = values.ravel()[int(np.argmin(fits.ravel()))]
            raise DataValueError(f"matrix `{mat.name}` has type {to}, which cannot hold {wrong}")
    with np.errstate(over="ignore"):
        result = values.astype(to)
    if to.kind in "fc" and values.dtype.kind in "fc" and (np.isfinite(values) & ~np.isfinite(result)).any():
        wrong = values.ravel()[int(np.argmax((np.isfinite(values) & ~np.isfinite(result)).ravel()))]
        raise DataValueError(f"matrix `{mat.name}` has type {to}, which cannot hold {wrong}")
    return result


def dropped(mat: Any, lgmaps: Any, unrolled: bool) -> tuple[Any, Any, Any, Any]:
    """What gets nothing: rows and columns of blocks, and single rows and columns, those with negative numbers in the lists for both."""
    both = lgmaps
    if isinstance(both, (list, tuple)) and len(both) == 1 and isinstance(both[0], tuple):
        both = both[0]
    if not isinstance(both, (list, tuple, np.ndarray)) or isinstance(both, np.ndarray) and both.ndim == 0:
        raise MapTypeError(f"lgmaps must be two lists, one for rows and one for columns, not {kind(lgmaps)}")
    if len(both) != 2:
        raise MapValueError(f"lgmaps must be two lists, one for rows and one for columns, but {len(both)} were given")
    sparsity = mat.sparsity
    sides = zip(both, (sparsity.nrows, sparsity.ncols), sparsity.block_shape, ("row", "column"), strict=True)
    rows, columns = (_negative(mat, given, (blocks, lines), side, unrolled) for given, blocks, lines, side in sides)
    return rows[0], columns[0], rows[1], columns[1]


def _negative(mat: Any, given: Any, size: tuple[int, int], side: str, unrolled: bool) -> tuple[Any, Any]:
    """The blocks, and the lines of other blocks, that a list of one side marks with negative numbers; `size` is how many blocks there are and
    how many lines each has."""
    if given is None:
        return np.zeros(0, np.int32), np.zeros(0, np.int32)
    # PETSc's objects have a number for each line, and one for each block.
    numbers = _array(getattr(given, "indices" if unrolled else "block_indices", getattr(given, "indices", given)))
    if numbers.dtype.kind not in "iu" and numbers.size or numbers.dtype.kind == "O":
        found = kind(given) if numbers.dtype.kind == "O" else numbers.dtype
        raise MapTypeError(f"lgmaps must have integers for the {side}s of matrix `{mat.name}`, not {found}")
    if numbers.ndim != 1:
        raise MapValueError(f"lgmaps must be one-dimensional, but the one for the {side}s of matrix `{mat.name}` has shape {numbers.shape}")
    (blocks, lines), what = size, side if unrolled else f"{side} of blocks"
    if numbers.size != blocks * (lines if unrolled else 1):
        wanted = f"lgmaps need a number for each {what} of matrix `{mat.name}`, {blocks * (lines if unrolled else 1)} in total"
        other = f"; with unroll_map=True they need one for each {side}" if not unrolled and lines > 1 and numbers.size == blocks * lines else ""
        raise MapValueError(f"{wanted}, but {numbers.size} were given{other}")
    negative = numbers.reshape(blocks, -1) < 0 if blocks else np.zeros((0, 1), bool)
    whole: Any = negative.all(axis=1)
    singles = np.flatnonzero(negative & ~whole[:, None])
    return np.flatnonzero(whole).astype(np.int32), singles.astype(np.int32)


def _blocks(mat: Any, rows: Any, columns: Any) -> Any:
    """Where the blocks in these rows and columns of blocks are stored."""
    sparsity = mat.sparsity
    for numbers, size, side in ((rows, sparsity.nrows, "row"), (columns, sparsity.ncols, "column")):
        _check_inside(mat, numbers, size, side)
    keys = np.repeat(np.arange(sparsity.nrows, dtype=np.int64), np.diff(sparsity.rowptr)) * sparsity.ncols + sparsity.colidx
    wanted = rows * sparsity.ncols + columns
    places = np.searchsorted(keys, wanted)
    missing = (places == keys.size) | (keys[np.minimum(places, max(keys.size - 1, 0))] != wanted if keys.size else True)
    if np.any(missing):
        first = np.argmax(missing)
        raise IndexValueError(f"matrix `{mat.name}` does not store a block in row {rows.flat[first]} and column {columns.flat[first]}")
    return places


def _rows_of(mat: Any, rows: Any) -> Any:
    """The rows of blocks that a subset or a list names."""
    sparsity = mat.sparsity
    if isinstance(rows, Subset):
        place = sparsity.dsets[0].set
        if rows.superset != place:
            raise IndexValueError(f"the rows of matrix `{mat.name}` are on set `{place.name}`, but the subset is of set `{rows.superset.name}`")
        if place.total_size != sparsity.nrows:
            raise IndexValueError(f"the subset has columns of `{place.name}`, not rows of matrix `{mat.name}`; pass row numbers")
    numbers = np.unique(integers(getattr(rows, "indices", rows), f"rows of matrix `{mat.name}`"))
    _check_inside(mat, numbers, sparsity.nrows, "row")
    return numbers


def _check_inside(mat: Any, numbers: Any, size: int, side: str) -> None:
    outside = numbers[(numbers < 0) | (numbers >= size)]
    if outside.size:
        raise IndexValueError(f"matrix `{mat.name}` has {size} {side}s of blocks, not one with number {outside[0]}")


def _lines(mat: Any, index: int | None, count: int) -> Any:
    """The lines of a block: one, or all of this many."""
    if index is not None and not 0 <= index < count:
        raise IndexValueError(f"a block of matrix `{mat.name}` has no component {index}; it has {mat.sparsity.block_shape[0]} rows")
    return np.arange(count) if index is None else np.array([index])


def _diagonal(mat: Any, rows: Any, index: int | None) -> tuple[Any, Any, Any]:
    """Where the numbers on the diagonal of some rows of blocks are."""
    places, lines = _blocks(mat, rows, rows), _lines(mat, index, min(mat.sparsity.block_shape))
    return places[:, None], lines, lines


def single(mat: Any, value: Any) -> Any:
    """One number in the type of a matrix; 1 where none is given."""
    number = converted(mat, 1 if value is None else value)
    if number.ndim:
        raise DataValueError(f"the diagonal of matrix `{mat.name}` must be set to one number, not to an array of shape {number.shape}")
    return number[()]


def set_diagonal(mat: Any, rows: Any, value: Any, index: int | None) -> None:
    """Sets the diagonal of some rows of blocks."""
    checked_diagonal(mat, rows, value, index, False)()


def add_to_diagonal(mat: Any, rows: Any, value: Any, index: int | None) -> None:
    """Adds to the diagonal of some rows of blocks."""
    checked_diagonal(mat, rows, value, index, True)()


def checked_diagonal(mat: Any, rows: Any, value: Any, index: int | None, adds: bool) -> Change:
    """What sets the diagonal of some rows of blocks, or adds to it."""
    number = single(mat, value)
    return functools.partial(_write, mat, _diagonal(mat, _rows_of(mat, rows), index), number, adds)


def zero_rows(mat: Any, rows: Any, value: Any, index: int | None) -> None:
    """Sets some rows of blocks to zero, but for the diagonal. A diagonal of zero need not be stored."""
    checked_zero_rows(mat, rows, value, index)()


def checked_zero_rows(mat: Any, rows: Any, value: Any, index: int | None) -> Change:
    """What sets some rows of blocks to zero, but for the diagonal."""
    number, rows = single(mat, value), _rows_of(mat, rows)
    if number == 0:
        _lines(mat, index, mat.sparsity.block_shape[0])
        return functools.partial(clear_rows, mat, rows, index)
    where = _diagonal(mat, rows, index)

    def change() -> None:
        clear_rows(mat, rows, index)
        _write(mat, where, number, False)

    return change


def clear_rows(mat: Any, rows: Any, index: int | None) -> None:
    """Sets some rows of blocks to zero, or of each the line with that number."""
    (height, width), starts = mat.sparsity.block_shape, mat.sparsity.rowptr
    blocks = mat.data.reshape(-1, height, width)
    for row in rows:
        blocks[starts[row] : starts[row + 1], slice(None) if index is None else index] = 0


def dense_part(mat: Any, rows: Any, columns: Any, values: Any) -> Any:
    """Numbers as a table of rows and columns; a flat list has them row by row."""
    if values.shape != (rows.size, columns.size) and (values.ndim > 1 or values.size != rows.size * columns.size):
        wanted = f"{rows.size} rows and {columns.size} columns of matrix `{mat.name}`"
        raise DataValueError(f"{wanted} need an array of shape ({rows.size}, {columns.size}), not {values.shape}")
    return values.reshape(rows.size, columns.size)


def put(mat: Any, rows: Any, columns: Any, values: Any, adds: bool) -> None:
    """Adds a dense part to rows and columns of numbers, or sets them."""
    checked_put(mat, rows, columns, values, adds)()


def checked_put(mat: Any, rows: Any, columns: Any, values: Any, adds: bool) -> Change:
    """What adds a dense part to rows and columns of numbers, or sets them."""
    height, width = mat.sparsity.block_shape
    rows, columns = integers(rows, f"rows of matrix `{mat.name}`"), integers(columns, f"columns of matrix `{mat.name}`")
    values = dense_part(mat, rows, columns, converted(mat, values))[np.ix_(rows >= 0, columns >= 0)]
    rows, columns = np.meshgrid(rows[rows >= 0], columns[columns >= 0], indexing="ij")
    where = (_blocks(mat, rows // height, columns // width), rows % height, columns % width)
    return functools.partial(_write, mat, where, values, adds)


def _write(mat: Any, where: tuple[Any, Any, Any], values: Any, adds: bool) -> None:
    """Adds numbers at places of stored blocks, lines and columns in them, or sets them."""
    blocks = mat.data.reshape(-1, *mat.sparsity.block_shape)
    if adds:
        np.add.at(blocks, where, values)
    else:
        blocks[where] = values
