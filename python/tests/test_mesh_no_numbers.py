"""Data of zero components, on every device."""

import re

import numpy as np
import pytest

import parloop as pl
import parloop.mesh as op2
from meshes import Mesh


def test_data_of_no_numbers_is_data_like_other(ctx):
    mesh = Mesh()
    none, two = op2.Dat(mesh.nodes**0, name="none"), op2.Dat(mesh.nodes ** (2, 0), dtype="int32", name="two")
    assert none.shape == (mesh.nodes.total_size, 0) and none.data.size == 0 and none.cdim == 0 and none.nbytes == 0 and two.shape[1:] == (2, 0)
    again = op2.Dat(mesh.nodes**0, np.zeros((mesh.nodes.size, 0)))
    with ctx:
        none += again
        none *= 2
        none.axpy(1.0, again)
        none.zero()
        none.copy_to(again)
        assert none.norm == 0 and none.inner(again) == 0 and (-none + 1).data_ro.shape == none.shape
        count = op2.Dat(mesh.cells, dtype="int32")
        kernel = op2.Kernel("void count(int *n, double *direct, const double **none, int *two) { n[0] += 1; }", "count")
        for plan in ("auto", "sequential", "colour"):
            if plan == "sequential" and ctx.device.kind != "cpu":
                continue
            for access in (op2.READ, op2.INC, op2.WRITE, op2.RW, op2.MAX):
                args = (op2.Dat(mesh.cells**0)(op2.RW), none(op2.READ, mesh.map), two(access, mesh.map))
                op2.par_loop(kernel, mesh.cells, count(op2.INC), *args, plan=plan, checked=plan == "auto")
        runs = 5 * (3 if ctx.device.kind == "cpu" else 2)
        assert (count.data_ro == runs).all() and two.data_ro.size == 0
        mixed = op2.MixedDat([op2.Dat(mesh.nodes**0), op2.Dat(mesh.nodes, np.ones(mesh.nodes.size))])
        sums = op2.Kernel("void sums(int *n, double *x) { n[0] = x[0] + x[1] + x[2]; }", "sums")
        op2.par_loop(sums, mesh.cells, count(op2.WRITE), mixed(op2.READ, op2.MixedMap([mesh.map, mesh.map])))
        assert (count.data_ro == 3).all() and mixed.norm == np.sqrt(mesh.nodes.size)
    message = "sparsity `s`: data of dimension 0 on set `nodes` has no rows or columns; omit it"
    with pytest.raises(pl.errors.DimTypeError, match=re.escape(message)):
        op2.Sparsity(mesh.nodes**0, mesh.map, name="s")
