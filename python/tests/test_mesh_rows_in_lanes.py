"""Rows of one to five numbers in the lanes of vectors: each lane gets the numbers of its own elements, whatever the width of vectors is."""

import numpy as np
import pytest

import parloop.mesh as op2

ELEMENTS, NODES = 203, 97
#: Vectors of eight, of four and of two doubles, where the machine has them.
WIDTHS = {"widest": [], "four": ["-mno-avx512f"], "two": ["-mno-avx512f", "-mno-avx"]}


@pytest.fixture(params=["in order", "subset"])
def elements(request):
    cells = op2.Set(ELEMENTS, "cells")
    if request.param == "in order":
        return cells, cells, np.arange(ELEMENTS)
    chosen = np.flatnonzero(np.arange(ELEMENTS) % 3)
    return cells, op2.Subset(cells, chosen), chosen


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("numbers", range(1, 6))
def test_rows_arrive_in_their_lanes(elements, width, numbers):
    cells, over, chosen = elements
    rng = np.random.default_rng(numbers)
    nodes = op2.Set(NODES, "nodes")
    corners = rng.integers(0, NODES, (ELEMENTS, 3)).astype(np.int32)
    map = op2.Map(cells, nodes, 3, corners, "corners")
    x, own = rng.integers(-50, 50, (NODES, numbers)).astype(float), rng.integers(-50, 50, (ELEMENTS, numbers)).astype(float)
    x[5, 0], own[7, -1] = np.nan, np.inf
    # Every number has a factor of its own, so that no two can change places.
    weight = np.arange(1.0, 3 * numbers + 1).reshape(3, numbers)
    source = f"""void k(double *first, const double *x, double *own) {{
        double sum = 0;
        for (int i = 0; i < {3 * numbers}; i++) sum += (i + 1) * x[i];
        for (int i = 0; i < {numbers}; i++) {{ sum += (i + 100) * own[i]; own[i] = own[i] + x[i]; }}
        first[0] = sum;
    }}"""
    kernel = op2.Kernel(source, "k", opts=WIDTHS[width])
    for context in ("cpu:1", "cpu:3"):
        first, dat = op2.Dat(cells, np.zeros(ELEMENTS)), op2.Dat(cells**numbers, own.copy())
        args = first(op2.WRITE), op2.Dat(nodes**numbers, x)(op2.READ, map), dat(op2.RW)
        loop = op2.ParLoop(kernel, over, *args, lanes=True, context=context)
        code = str(loop.code())
        assert "pl_lanes_k" in code and ("pl_pairs(pl_b1" in code) == (numbers > 1)
        loop()
        expected, changed = np.zeros(ELEMENTS), own.copy()
        sums = np.einsum("eij,ij->e", x[corners], weight) + own @ (np.arange(numbers) + 100.0)
        expected[chosen] = sums[chosen]
        changed[chosen] += x[corners[chosen, 0]]
        np.testing.assert_array_equal(first.data_ro, expected)
        np.testing.assert_array_equal(dat.data_ro.reshape(changed.shape), changed)


def test_a_component_of_rows_is_that_component():
    nodes, cells = op2.Set(NODES, "nodes"), op2.Set(64, "cells")
    corners = np.random.default_rng(1).integers(0, NODES, (64, 2)).astype(np.int32)
    x = np.random.default_rng(2).random((NODES, 3))
    out, map = op2.Dat(cells**2), op2.Map(cells, nodes, 2, corners)
    kernel = op2.Kernel("void k(double *out, const double *x) { out[0] = x[0]; out[1] = x[1]; }", "k")
    op2.par_loop(kernel, cells, out(op2.WRITE), op2.Dat(nodes**3, x)[1](op2.READ, map), lanes=True, context="cpu:1")
    np.testing.assert_array_equal(out.data_ro, x[corners, 1])
