"""Truth values as data on meshes, on every device."""

import numpy as np
import pytest

import parloop.mesh as op2
from meshes import Mesh


def test_truth_values_are_data_on_every_device(ctx):
    mesh = Mesh()
    values = np.arange(mesh.nodes.size) % 3 == 0
    on, some, all_ = op2.Dat(mesh.nodes, values.copy()), op2.Dat(mesh.cells, dtype=bool), op2.Global(1, True, dtype=bool)
    marked = op2.Dat(mesh.nodes, dtype=bool)
    kernel = op2.Kernel("void any(bool *some, bool *x, const bool *all) { some[0] = (x[0] || x[1] || x[2]) && all[0]; }", "any")
    mark = op2.Kernel("#include <stdbool.h>\nvoid mark(_Bool **m, const bool *some) { for (int i = 0; i < 3; i++) m[i][0] = m[i][0] || some[0]; }", "mark")
    turn = op2.Kernel("void turn(bool *x) { x[0] = !x[0]; }", "turn")
    with ctx:
        op2.par_loop(kernel, mesh.cells, some(op2.WRITE), on(op2.READ, mesh.map), all_(op2.READ))
        op2.par_loop(mark, mesh.cells, marked(op2.RW, mesh.map), some(op2.READ))
        op2.par_loop(turn, mesh.nodes, on(op2.RW))
        expected = values[mesh.table].any(axis=1)
        assert np.array_equal(some.data_ro, expected) and np.array_equal(on.data_ro, ~values)
        assert np.array_equal(marked.data_ro, np.isin(np.arange(mesh.nodes.size), mesh.table[expected]))
        copied = op2.Dat(on)
        on.zero()
        assert copied.inner(copied) == (~values).sum() and not on.data_ro.any()


@pytest.mark.parametrize("plan", ["auto", "colour"])
def test_sums_of_truth_values_are_truth_values(ctx, plan):
    mesh = Mesh()
    ones = op2.Dat(mesh.nodes, np.ones(mesh.nodes.size))
    a, b = (op2.Dat(mesh.nodes, np.arange(mesh.nodes.size) % step == 0) for step in (2, 3))
    either, differ, hit = a.data_ro | b.data_ro, a.data_ro != b.data_ro, op2.Dat(mesh.nodes, dtype=bool)
    increment = op2.Kernel("#include <stdbool.h>\nvoid hit(bool *m) { for (int i = 0; i < 3; i++) m[i] += 1; }", "hit")
    with ctx:
        sums = a + b
        assert (ones * sums).data_ro.tolist() == either.tolist() and (a - b).data_ro.tolist() == differ.tolist()
        for _ in range(3):
            op2.par_loop(increment, mesh.cells, hit(op2.INC, mesh.map), plan=plan)
            sums += True
        assert set(hit.data_ro.view(np.uint8)) == {1} and set(sums.data_ro.view(np.uint8)) == {1}
