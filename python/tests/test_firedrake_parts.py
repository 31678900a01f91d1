"""What runs Firedrake's loops, as far as it can be tried without Firedrake."""

import numpy as np
import pytest

import parloop.mesh as op2
from parloop.firedrake import _dense
from parloop.firedrake._left import LeftToPyOP2
from parloop.mesh._described import DatArg, Loop, Source

THEIRS = {"inverse": "void inverse(theirs) {}\n", "solve": "void solve(theirs) {}\n"}
CALLS = {
    "inverse": "void k(double *x, const double *a, const double *b) { inverse(x, a, %d); }",
    "solve": "void k(double *x, const double *a, const double *b) { solve(x, a, b, %d); }",
}


def systems(name, n, a, b):
    """The results of a kernel that solves a system for each element."""
    code = f"static int other;\n{THEIRS[name]}{CALLS[name] % n}"
    elements = op2.Set(len(a), "elements")
    x = op2.Dat(elements ** (n if name == "solve" else n * n), name="x")
    args = [op2.Dat(elements ** (n * n), a.reshape(len(a), -1), name="a"), op2.Dat(elements**n, b, name="b")]
    source = Source(_dense.with_own_systems(code, THEIRS), "k", ("#include <math.h>",))
    Loop(source, elements, (DatArg(x, "WRITE"), *(DatArg(arg, "READ") for arg in args))).made(None)()
    return x.data_ro.copy()


@pytest.mark.parametrize("n", [1, 2, 3, 10, 31])
def test_dense_systems_are_solved_as_by_lapack(n):
    random = np.random.default_rng(n)
    a, b = random.standard_normal((50, n, n)), random.standard_normal((50, n))
    # Rows must be exchanged: without that the first pivot is zero, or tiny.
    a[::2, 0, 0] = 0 if n > 1 else 3
    a[1::2, 0, 0] = 1e-14 if n > 1 else 2
    wanted = np.linalg.solve(a, b[:, :, None])[:, :, 0]
    scale = np.linalg.cond(a).max() * np.abs(wanted).max()
    assert np.abs(systems("solve", n, a, b).reshape(wanted.shape) - wanted).max() <= 1e-15 * scale
    wanted = np.linalg.inv(a)
    scale = np.linalg.cond(a).max() * np.abs(wanted).max()
    assert np.abs(systems("inverse", n, a, b).reshape(wanted.shape) - wanted).max() <= 1e-14 * scale


def test_a_singular_system_has_no_numbers_as_its_solution():
    a, b = np.ones((3, 2, 2)), np.ones((3, 2))
    assert not np.isfinite(systems("inverse", 2, a, b)).any(axis=1).all()


def test_systems_of_unknown_or_large_size_are_left():
    with pytest.raises(LeftToPyOP2, match="whose size is not known"):
        _dense.with_own_systems(THEIRS["solve"] + "void k() { solve(x, a, b, n); }", THEIRS)
    with pytest.raises(LeftToPyOP2, match="more than 100 unknowns"):
        _dense.with_own_systems(THEIRS["solve"] + "void k() { solve(x, a, b, 101); }", THEIRS)
    assert _dense.with_own_systems("void k() {}", THEIRS) == "void k() {}"


@pytest.mark.parametrize(("ta", "tb"), [("N", "N"), ("T", "N"), ("N", "T"), ("T", "T")])
def test_products_of_matrices_are_those_of_blas(ta, tb):
    m, n, k = 3, 4, 5
    random = np.random.default_rng(0)
    a, b, c = random.random((m, k)), random.random((k, n)), random.random((m, n))
    stored = [np.ravel(a if ta == "N" else a.T, "F"), np.ravel(b if tb == "N" else b.T, "F"), np.ravel(c, "F")]
    code = f"""{_dense.GEMM}
    void k(double *c, const double *a, const double *b) {{
        const char ta = '{ta}', tb = '{tb}';
        const int m = {m}, n = {n}, k = {k}, lda = {m if ta == "N" else k}, ldb = {k if tb == "N" else n};
        const double alpha = 2, beta = 0.5;
        BLASgemm_(&ta, &tb, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &m);
    }}"""
    one = op2.Set(1, "one")
    dats = [op2.Dat(one**values.size, values.reshape(1, -1)) for values in (stored[2], stored[0], stored[1])]
    access = ("RW", "READ", "READ")
    Loop(Source(code, "k"), one, tuple(DatArg(dat, name) for dat, name in zip(dats, access, strict=True))).made(None)()
    assert np.allclose(dats[0].data_ro.reshape(-1), np.ravel(2 * a @ b + 0.5 * c, "F"), rtol=1e-14)
