"""The kernels that more than one test file uses: run on every device, and compiled for devices that are not present."""

AXPY = """
GPUKERN void axpy(const double a, GPUGLMEM const double *x, GPUGLMEM double *y, const int64_t n) {
    VECTORIZE_OVER(i, n)
        y[i] += a * x[i];
    END_VECTORIZE
}
"""

POLYNOMIAL = """
GPUKERN void polynomial(const double *x, double *y, const int32_t degree, const int64_t n) {
    VECTORIZE_OVER(i, n)
        double sum = 0;
        for (int k = degree; k >= 0; k--) sum = sum * x[i] + 1.0 / (k + 1);
        y[i] = sum;
    END_VECTORIZE
}
"""

POWERS = """
GPUKERN void powers(const double *x, double *y, const int64_t n) {
    VECTORIZE_OVER(i, n)
        y[6 * i] = POW2(x[i]);
        y[6 * i + 1] = POW3(x[i]);
        y[6 * i + 2] = POW4(x[i] + 1);
        y[6 * i + 3] = NONZERO(x[i]);
        y[6 * i + 4] = NONZERO_TOL(x[i], 0.5);
        y[6 * i + 5] = fabs(x[i]);
    END_VECTORIZE
}
"""

HELPERS = """
const double HALF = 0.5;
static const int TABLE[4] = {3, 1, 4, 1};
const double GRID[2][2] = {{1.5, 2.5}, {3.5, 4.5}};
double later(double x);
double scaled(double x, int k) { return HALF * x + TABLE[k % 4] + GRID[k % 2][(k / 2) % 2]; }
inline double added(double x) { return x + 1; }
static inline double both(double x) { return added(x) * 2; }
GPUFUN double marked(GPUGLMEM const double *x, int64_t i) { return x[i]; }
double later(double x) { return -x; }
GPUKERN void helped(const double *x, double *y, const int64_t n) {
    VECTORIZE_OVER(i, n)
        y[i] = later(scaled(marked(x, i), (int)(i % 8)) + both(x[i]));
    END_VECTORIZE
}
"""

TWO_LOOPS = """
GPUKERN void two_loops(double *x, const int64_t n, double *y, const int64_t m) {
    VECTORIZE_OVER(i, n)
        x[i] += 1;
    END_VECTORIZE
    VECTORIZE_OVER(j, m)
        y[j] += 10;
    END_VECTORIZE
}
"""

COUNTS = """
int64_t half_of(int64_t n) { return n / 2; }
GPUKERN void by_expression(int32_t *hits, const int32_t n, const int16_t m) {
    VECTORIZE_OVER(i, (n - 1) * m + 2)
        hits[i] += 1;
    END_VECTORIZE
}
GPUKERN void by_function(int32_t *hits, const int64_t n) {
    VECTORIZE_OVER(i, half_of(n))
        hits[i] += 1;
    END_VECTORIZE
}
GPUKERN void by_memory(int32_t *hits, const int64_t *count) {
    VECTORIZE_OVER(i, count[0])
        hits[i] += 1;
    END_VECTORIZE
}
GPUKERN void by_local(int32_t *hits, const int64_t n) {
    const int64_t m = n > 10 ? 10 : n;
    VECTORIZE_OVER(i, m)
        hits[i] += 1;
    END_VECTORIZE
}
GPUKERN void by_literal(int32_t *hits) {
    VECTORIZE_OVER(i, 7)
        hits[i] += 1;
    END_VECTORIZE
}
"""

COMMENT_STYLE = """
/*gpufun*/ double twice(double x) { return 2 * x; }
/*gpukern*/ void commented(/*gpuglmem*/ const double* /*restrict*/ x, /*gpuglmem*/ double* y, /*gpuglmem*/ int32_t* where, const int64_t n) {
    int ii = 0; //vectorize_over ii n
        y[ii] = twice(x[ii]);
        where[ii] = 1; //only_for_context cpu_serial cpu_openmp
        where[ii] = 2; //only_for_context opencl
        where[ii] = 3; //only_for_context cuda
    //end_vectorize
}
"""

MACRO_STYLE = """
GPUFUN double twice(double x) { return 2 * x; }
GPUKERN void commented(GPUGLMEM const double* RESTRICT x, GPUGLMEM double* y, GPUGLMEM int32_t* where, const int64_t n) {
    VECTORIZE_OVER(ii, n)
        y[ii] = twice(x[ii]);
        where[ii] = 0;
    END_VECTORIZE
}
"""

RETURNS = """
GPUKERN void returns(double *x, double *y, const int64_t n) {
    if (n < 0) return;
    VECTORIZE_OVER(i, n)
        if (i % 3 == 0) return;
        const double value = 5;
        x[i] = value;
        for (int k = 0; k < 3; k++) if (i % 3 == 1) return;
        x[i] = value + 1;
    END_VECTORIZE
    VECTORIZE_OVER(j, n)
        if (j % 2 == 0) return;
        y[j] = j;
    END_VECTORIZE
}
"""

ONCE = "GPUKERN void once(int32_t *count) { count[0] += 1; }"


def atomics(c_type):
    """Adds each value to one total and keeps what was there before."""
    return f"""
GPUKERN void add_all(const {c_type} *values, {c_type} *total, {c_type} *before, const int64_t n) {{
    VECTORIZE_OVER(i, n)
        before[i] = atomicAdd(&total[1], values[i]);
    END_VECTORIZE
}}
GPUKERN void histogram(const int32_t *bins, {c_type} *counts, const int64_t n) {{
    VECTORIZE_OVER(i, n)
        atomicAdd(&counts[bins[i]], ({c_type})1);
    END_VECTORIZE
}}
"""


def store(c_type):
    """Writes a scalar argument to every element of an array."""
    return f"""
GPUKERN void store(const {c_type} value, {c_type} *out, const int64_t n) {{
    VECTORIZE_OVER(i, n)
        out[i] = value;
    END_VECTORIZE
}}
"""


ATOMIC_TYPES = ["int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "float", "double"]

#: Everything that the differential tests run, by name.
ALL = {
    "axpy": AXPY,
    "polynomial": POLYNOMIAL,
    "powers": POWERS,
    "helpers": HELPERS,
    "two loops": TWO_LOOPS,
    "counts": COUNTS,
    "comment style": COMMENT_STYLE,
    "macro style": MACRO_STYLE,
    "returns": RETURNS,
    "once": ONCE,
    **{f"atomics of {c_type}": atomics(c_type) for c_type in ATOMIC_TYPES},
    **{f"scalars of {c_type}": store(c_type) for c_type in [*ATOMIC_TYPES, "bool", "size_t", "unsigned long long", "char"]},
}


def arithmetic():
    """A source for every operation of arrays on every type, as they are made on a GPU."""
    import numpy as np

    from parloop import _arithmetic, _elementwise, _operations, _reduction, _selection

    def result_of(name, *probes):
        try:
            return getattr(np, name)(*probes).dtype.name
        except TypeError:
            return None

    dtypes = list(_operations.C_TYPES)
    for dtype in dtypes:
        probe = np.ones(1, dtype)
        forms = (_elementwise.Form(dtype, True), _elementwise.Form(dtype, False))
        for name in [*_arithmetic._SYMBOLS, *_arithmetic._COMPARISONS]:
            result = result_of(name, probe, probe)
            if result is not None:
                computed = dtype if name in _arithmetic._COMPARISONS else result
                yield _elementwise._source(name, forms, (computed, computed), result, 2)
        for name in ("negative", "absolute", "invert", *(["conjugate"] if _operations.is_complex(dtype) else [])):
            result = result_of(name, probe)
            if result is not None:
                yield _elementwise._source(name, forms[:1], (dtype,), result, 1)
        for name in ("minimum", "maximum", *(["add", "multiply"] if dtype != "bool" else [])):
            yield _reduction._stage(name, "float32", dtype, 1, 2)
        yield _reduction._product(dtype, "int16", dtype, 1)
        for target in dtypes:
            yield _elementwise._source("positive", forms[:1], (target,), target, 1)
    for size in _selection._MOVED:
        yield _selection._mover(size)
    mixed = (_elementwise.Form("int8", True), _elementwise.Form("uint64", True))
    yield _elementwise._source("less", mixed, ("int64", "uint64"), "bool", 0)


def together(sources):
    """One translation unit for many kernels, each in a namespace of its own: a compilation alone takes most of its time to start."""
    spaces = [f"namespace part{number} {{\n{text}\n}}" for number, text in enumerate(sources)]
    return "\n".join(space.replace("GPUKERN void ", f"GPUKERN void k{number}_") for number, space in enumerate(spaces))
