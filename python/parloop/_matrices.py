"""Systems of linear equations by portable kernels: one work item for each matrix.

A decomposition overwrites its matrix. It pivots by rows, as LAPACK does.
"""

from __future__ import annotations

import functools

from ._elementwise import compiled, with_complex
from ._operations import is_complex, written
from ._parloop import Array

_REAL = """
T minus(const T a, const T b, const T c) { return a - b * c; }
T over(const T a, const T b) { return a / b; }
R size_of(const T a) { return fabs(a); }
T conjugate_of(const T a) { return a; }
R real_of(const T a) { return a; }
T from_real(const R a) { return a; }
int is_zero(const T a) { return a == 0; }
"""

_COMPLEX = """
T minus(const T a, const T b, const T c) { return make_T(a.re - (b.re * c.re - b.im * c.im), a.im - (b.re * c.im + b.im * c.re)); }
T over(const T a, const T b) {
    if (fabs(b.re) >= fabs(b.im)) {
        const R ratio = b.im / b.re, scale = 1 / (b.re + b.im * ratio);
        return make_T((a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale);
    }
    const R ratio = b.re / b.im, scale = 1 / (b.im + b.re * ratio);
    return make_T((a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale);
}
R size_of(const T a) { return fabs(a.re) + fabs(a.im); }
T conjugate_of(const T a) { return make_T(a.re, -a.im); }
R real_of(const T a) { return a.re; }
T from_real(const R a) { return make_T(a, 0); }
int is_zero(const T a) { return a.re == 0 && a.im == 0; }
"""

_KERNELS = """
GPUKERN void decompose(const int64_t n, const int64_t order, GPUGLMEM T *x, GPUGLMEM int64_t *rows, GPUGLMEM int64_t *sign) {
    VECTORIZE_OVER(i, n)
        GPUGLMEM T *a = x + i * order * order;
        GPUGLMEM int64_t *p = rows + i * order;
        int64_t parity = 1;
        for (int64_t k = 0; k < order; k++) p[k] = k;
        for (int64_t k = 0; k < order; k++) {
            int64_t best = k;
            for (int64_t r = k + 1; r < order; r++)
                if (size_of(a[r * order + k]) > size_of(a[best * order + k])) best = r;
            if (best != k) {
                for (int64_t c = 0; c < order; c++) {
                    const T other = a[k * order + c];
                    a[k * order + c] = a[best * order + c];
                    a[best * order + c] = other;
                }
                const int64_t row = p[k];
                p[k] = p[best];
                p[best] = row;
                parity = -parity;
            }
            if (is_zero(a[k * order + k])) continue;
            for (int64_t r = k + 1; r < order; r++) {
                const T factor = over(a[r * order + k], a[k * order + k]);
                a[r * order + k] = factor;
                for (int64_t c = k + 1; c < order; c++) a[r * order + c] = minus(a[r * order + c], factor, a[k * order + c]);
            }
        }
        sign[i] = parity;
    END_VECTORIZE
}
GPUKERN void substitute(const int64_t n, const int64_t order, const int64_t columns, GPUGLMEM T *z, GPUGLMEM const T *b,
                        GPUGLMEM const T *x, GPUGLMEM const int64_t *rows) {
    VECTORIZE_OVER(i, n)
        const int64_t matrix = i / columns, c = i % columns;
        GPUGLMEM const T *a = x + matrix * order * order;
        GPUGLMEM T *y = z + matrix * order * columns + c;
        for (int64_t r = 0; r < order; r++) {
            T sum = b[matrix * order * columns + rows[matrix * order + r] * columns + c];
            for (int64_t k = 0; k < r; k++) sum = minus(sum, a[r * order + k], y[k * columns]);
            y[r * columns] = sum;
        }
        for (int64_t r = order - 1; r >= 0; r--) {
            T sum = y[r * columns];
            for (int64_t k = r + 1; k < order; k++) sum = minus(sum, a[r * order + k], y[k * columns]);
            y[r * columns] = over(sum, a[r * order + r]);
        }
    END_VECTORIZE
}
GPUKERN void cholesky(const int64_t n, const int64_t order, GPUGLMEM T *x, GPUGLMEM int64_t *failed) {
    VECTORIZE_OVER(i, n)
        GPUGLMEM T *a = x + i * order * order;
        failed[i] = 0;
        for (int64_t k = 0; k < order; k++) {
            T rest = a[k * order + k];
            for (int64_t c = 0; c < k; c++) rest = minus(rest, a[k * order + c], conjugate_of(a[k * order + c]));
            if (!(real_of(rest) > 0)) failed[i] = 1;
            const R root = sqrt(real_of(rest));
            a[k * order + k] = from_real(root);
            for (int64_t r = k + 1; r < order; r++) {
                T sum = a[r * order + k];
                for (int64_t c = 0; c < k; c++) sum = minus(sum, a[r * order + c], conjugate_of(a[k * order + c]));
                a[r * order + k] = over(sum, from_real(root));
            }
            for (int64_t c = k + 1; c < order; c++) a[k * order + c] = from_real(0);
        }
    END_VECTORIZE
}
"""


@functools.lru_cache(maxsize=4)
def _source(dtype: str) -> str:
    parts = (_COMPLEX if is_complex(dtype) else _REAL) + _KERNELS
    text = written(parts, dtype)
    return with_complex(text, [dtype])


def decompose(x: Array) -> tuple[Array, Array, Array]:
    """L and U of each matrix, the order of its rows, and the sign of that order. Of arrays (matrices, order, order)."""
    count, order = x.shape[:2]
    factors = x.copy()
    rows, sign = x.context.empty((count, order), "int64"), x.context.empty(count, "int64")
    if factors.size:
        compiled(x.context, _source(x.dtype.name), "decompose")(count, order, factors.memory, rows.memory, sign.memory)
    elif count:
        sign[...] = 1
    return factors, rows, sign


def substitute(factors: Array, rows: Array, b: Array) -> Array:
    """The solutions of the systems of `decompose`d matrices with these right-hand sides, (matrices, order, columns)."""
    count, order, columns = b.shape
    out = b.context.empty(b.shape, b.dtype)
    if out.size:
        kernel = compiled(b.context, _source(b.dtype.name), "substitute")
        kernel(count * columns, order, columns, out.memory, b.copy().memory, factors.memory, rows.memory)
    return out


def cholesky(x: Array) -> tuple[Array, Array]:
    """The lower factor of each matrix, and whether it has none."""
    count, order = x.shape[:2]
    out, failed = x.copy(), x.context.zeros(count, "int64")
    if out.size:
        compiled(x.context, _source(x.dtype.name), "cholesky")(count, order, out.memory, failed.memory)
    return out, failed
