"""Functions of linear algebra that loop kernels call: `inverse` and `solve` of small matrices.

PyOP2 calls LAPACK for them. Here they are plain C in front of the kernel, so that they need no library and run on every device.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ....loops import NumpyType, ScalarCallable

__all__ = ["INVCallable", "LACallable", "SolveCallable"]

#: Elimination with the largest entry of a column as the pivot: `a` becomes the identity, and `b` the solution.
_ELIMINATE = """
for (int column = 0; column < {n}; column++) {{
  int pivot = column;
  for (int row = column + 1; row < {n}; row++) {{
    {type} here = a[row][column] < 0 ? -a[row][column] : a[row][column], best = a[pivot][column] < 0 ? -a[pivot][column] : a[pivot][column];
    if (here > best)
      pivot = row;
  }}
  for (int i = 0; i < {n}; i++) {{
    {type} kept = a[column][i]; a[column][i] = a[pivot][i]; a[pivot][i] = kept;
  }}
  for (int i = 0; i < {m}; i++) {{
    {type} kept = b[column][i]; b[column][i] = b[pivot][i]; b[pivot][i] = kept;
  }}
  {type} scale = 1 / a[column][column];
  for (int i = 0; i < {n}; i++)
    a[column][i] *= scale;
  for (int i = 0; i < {m}; i++)
    b[column][i] *= scale;
  for (int row = 0; row < {n}; row++) {{
    {type} factor = a[row][column];
    if (row == column)
      continue;
    for (int i = 0; i < {n}; i++)
      a[row][i] -= factor * a[column][i];
    for (int i = 0; i < {m}; i++)
      b[row][i] -= factor * b[column][i];
  }}
}}
"""


class LACallable(ScalarCallable):
    """A function of square matrices of float32 or float64. Of a singular matrix it gives infinities and NaNs."""

    name: str = ""

    def __init__(self, name: str | None = None, arg_id_to_dtype: Any = None, arg_id_to_descr: Any = None, name_in_target: Any = None) -> None:
        super().__init__(name or type(self).name, arg_id_to_dtype, arg_id_to_descr, name_in_target or name or type(self).name)

    def with_types(self, arg_id_to_dtype: Mapping[Any, Any], clbl_inf_ctx: Any) -> Any:
        given = {key: dtype for key, dtype in arg_id_to_dtype.items() if key >= 0 and dtype is not None}
        if not given:
            return self.copy(arg_id_to_dtype=arg_id_to_dtype), clbl_inf_ctx
        dtypes = {np.dtype(dtype.numpy_dtype) for dtype in given.values()}
        if len(dtypes) != 1 or not dtypes <= {np.dtype(np.float32), np.dtype(np.float64)}:
            found = ", ".join(sorted(map(str, dtypes)))
            raise TypeError(f"`{self.name}` takes arrays of float32 or of float64, not of {found}")
        return self.copy(arg_id_to_dtype={**given, -1: NumpyType(dtypes.pop())}), clbl_inf_ctx

    def _rows(self) -> int:
        """The rows of the matrix, which is the first argument."""
        shape = tuple(self.arg_id_to_descr[0].shape) if self.arg_id_to_descr else ()
        if len(shape) != 2 or shape[0] != shape[1]:
            raise TypeError(f"`{self.name}` takes a square matrix, not an array of shape {shape}")
        return int(shape[0])

    def _type(self) -> str:
        assert self.arg_id_to_dtype is not None
        return "float" if np.dtype(self.arg_id_to_dtype[0].numpy_dtype) == np.float32 else "double"

    def _function(self) -> str:
        """The name of the function for this type and size."""
        return f"parloop_{self.name}_{self._type()}_{self._rows()}"

    def emit_call_insn(self, insn: Any, target: Any, expression_to_code_mapper: Any) -> tuple[Any, bool]:
        """The call: the result first, then the arguments."""
        given = [expression_to_code_mapper(part) for part in (*insn.assignees, *insn.expression.parameters)]
        return f"{self._function()}({', '.join(map(str, given))})", False


class INVCallable(LACallable):
    """``B[:,:] = inverse(A[:,:])``."""

    name = "inverse"

    def generate_preambles(self, target: Any) -> Iterable[tuple[str, str]]:
        n, kind = self._rows(), self._type()
        yield (
            f"20_{self._function()}",
            f"static void {self._function()}({kind} *out, const {kind} *in) {{\n"
            f"{kind} a[{n}][{n}], b[{n}][{n}];\n"
            f"for (int i = 0; i < {n}; i++)\n  for (int j = 0; j < {n}; j++) {{\n    a[i][j] = in[i * {n} + j];\n    b[i][j] = i == j;\n  }}"
            f"{_ELIMINATE.format(n=n, m=n, type=kind)}"
            f"for (int i = 0; i < {n}; i++)\n  for (int j = 0; j < {n}; j++)\n    out[i * {n} + j] = b[i][j];\n}}\n",
        )


class SolveCallable(LACallable):
    """``x[:] = solve(A[:,:], b[:])``."""

    name = "solve"

    def generate_preambles(self, target: Any) -> Iterable[tuple[str, str]]:
        n, kind = self._rows(), self._type()
        yield (
            f"20_{self._function()}",
            f"static void {self._function()}({kind} *out, const {kind} *in, const {kind} *right) {{\n"
            f"{kind} a[{n}][{n}], b[{n}][1];\n"
            f"for (int i = 0; i < {n}; i++) {{\n  b[i][0] = right[i];\n  for (int j = 0; j < {n}; j++)\n    a[i][j] = in[i * {n} + j];\n}}"
            f"{_ELIMINATE.format(n=n, m=1, type=kind)}"
            f"for (int i = 0; i < {n}; i++)\n  out[i] = b[i][0];\n}}\n",
        )
