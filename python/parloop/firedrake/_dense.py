"""Small dense systems and products in C of our own, in place of those of LAPACK and BLAS that kernels of Slate and of p-multigrid call.

Theirs keep work arrays in static variables and must be linked; ours need neither, so they run on threads and on every device.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ._left import LeftToPyOP2

#: The largest matrix for which a kernel may have a copy in its own memory.
_LARGEST = 100

#: LU with row exchanges, row by row. A singular matrix gives values that are not numbers.
_FACTOR = """
static void pl_factor(double *a, int *from, int n)
{
    for (int i = 0; i < n; i++) from[i] = i;
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[best * n + k])) best = i;
        if (best != k) {
            for (int j = 0; j < n; j++) {
                double held = a[k * n + j];
                a[k * n + j] = a[best * n + j];
                a[best * n + j] = held;
            }
            int row = from[k];
            from[k] = from[best];
            from[best] = row;
        }
        for (int i = k + 1; i < n; i++) {
            double factor = a[i * n + k] /= a[k * n + k];
            for (int j = k + 1; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
        }
    }
}

static void pl_substitute(double *x, int stride, const double *a, int n)
{
    for (int i = 1; i < n; i++)
        for (int j = 0; j < i; j++) x[i * stride] -= a[i * n + j] * x[j * stride];
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) x[i * stride] -= a[i * n + j] * x[j * stride];
        x[i * stride] /= a[i * n + i];
    }
}
"""

_FUNCTIONS = {
    "solve": """
static void solve(double *out, const double *a, const double *b, int n)
{
    double work[%(numbers)d];
    int from[%(rows)d];
    for (int i = 0; i < n * n; i++) work[i] = a[i];
    pl_factor(work, from, n);
    for (int i = 0; i < n; i++) out[i] = b[from[i]];
    pl_substitute(out, 1, work, n);
}
""",
    "inverse": """
static void inverse(double *out, const double *a, int n)
{
    double work[%(numbers)d];
    int from[%(rows)d];
    for (int i = 0; i < n * n; i++) work[i] = a[i];
    pl_factor(work, from, n);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) out[i * n + j] = from[i] == j ? 1 : 0;
        pl_substitute(out + j, n, work, n);
    }
}
""",
}

#: BLAS' product of matrices, column by column.
GEMM = """
static void BLASgemm_(const char *transposed_a, const char *transposed_b, const int *m, const int *n, const int *k, const double *alpha,
                      const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c, const int *ldc)
{
    int a_row = *transposed_a == 'N' ? 1 : *lda, a_column = *transposed_a == 'N' ? *lda : 1;
    int b_row = *transposed_b == 'N' ? 1 : *ldb, b_column = *transposed_b == 'N' ? *ldb : 1;
    for (int j = 0; j < *n; j++)
        for (int i = 0; i < *m; i++) {
            double sum = 0;
            for (int l = 0; l < *k; l++) sum += a[i * a_row + l * a_column] * b[l * b_row + j * b_column];
            c[i + j * *ldc] = *alpha * sum + (*beta == 0 ? 0 : *beta * c[i + j * *ldc]);
        }
}
"""


def with_own_systems(code: str, theirs: Mapping[str, str]) -> str:
    """The code of a kernel with functions of ours in place of `theirs`, by name, which solve dense systems with LAPACK."""
    found = [name for name, text in theirs.items() if text and text.strip() in code]
    for name in found:
        code = code.replace(theirs[name].strip(), "")
        code = f"{_FUNCTIONS[name] % _sizes(code, name)}\n{code}"
    return _FACTOR + code if found else code


def _sizes(code: str, name: str) -> dict[str, int]:
    """The largest matrix that the function gets: its size is the last argument, a number."""
    calls, sizes = len(re.findall(rf"\b{name}\(", code)), [int(size) for size in re.findall(rf"\b{name}\([^;]*?,\s*(\d+)\);", code)]
    if len(sizes) != calls or not sizes:
        raise LeftToPyOP2("a kernel that solves dense systems whose size is not known")
    if max(sizes) > _LARGEST:
        raise LeftToPyOP2(f"a kernel that solves dense systems of more than {_LARGEST} unknowns")
    return {"rows": max(sizes), "numbers": max(sizes) ** 2}
