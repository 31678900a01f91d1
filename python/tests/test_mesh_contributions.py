"""How sums through maps reach the processes that own their targets: computed again by the owners, or sent to them."""

import pytest
from mpirun import passes


@pytest.mark.parametrize(("launcher", "ranks"), [("openmpi", 3), ("mpich", 2)])
@pytest.mark.parametrize("contributions", ["auto", "recompute", "send"])
def test_sums_are_right_however_contributions_reach_their_owners(launcher, ranks, contributions, tmp_path):
    program = f"""
    contributions = {contributions!r}
    mesh = op2.box_mesh((6, 5))
    cells, corners, edges = mesh.cells, mesh.map("cells", "vertices"), mesh.map("cells", "edges")
    around = np.bincount(corners.values.ravel())
    beside = np.bincount(edges.values.ravel())
    u = op2.Dat(cells, np.arange(cells.size), np.int64)
    degree, sides = op2.Dat(mesh.vertices**2, None, np.int32), op2.Dat(mesh.sets["edges"], None, np.int8)
    weight = op2.Dat(mesh.vertices, 1 + np.arange(mesh.vertices.size), np.int64)
    total = op2.Global(1, 0, np.int64)
    expected = int(weight.data_ro[corners.values].sum())
    op2.distribute(cells)
    text = "void add(int *n, signed char *m, const long *w, const long *u, long *t) {{"
    text += " for (int i = 0; i < 3; i++) {{ n[2*i] += 1; n[2*i+1] += 2 * (int)u[0]; m[i] += 100; t[0] += w[i]; }} }}"
    add = kernel(text)
    loop = op2.ParLoop(add, cells, degree(INC, corners), sides(INC, edges), weight(READ, corners), u(READ), total(INC))
    sent = []
    for turn in range(1, 60):
        if turn % 3 == 0:
            weight.halo_valid = False
        if turn % 4 == 0:
            u.halo_valid = False
        with pl.profile() as seen:
            if turn % 2:
                loop()
            else:
                op2.par_loop(add, cells, degree(INC, corners), sides(INC, edges), weight(READ, corners), u(READ), total(INC))
        rows = sum(row.calls for row in seen.table if row.kernel == "halo exchange: send")
        if turn > 1 and turn % 3 and turn % 4:  # no ghosts are stale
            sent.append(rows)
        counted = degree.gather()
        assert counted[:, 0].tolist() == (turn * around).tolist(), turn
        assert sides.gather().tolist() == (turn * 100 * beside).astype(np.int8).tolist(), turn
        assert total.data[0] == turn * expected, turn
        if turn > 1:
            assert ((counted[:, 1] - before) == counted_once).all(), turn
        else:
            counted_once = counted[:, 1].copy()
        before = counted[:, 1].copy()
    expected = {{"recompute": {{0}}, "send": {{1}}, "auto": {{0, 1}}}}[contributions]
    assert set(sent) == expected, (contributions, sent)
    """
    passes(launcher, ranks, program, tmp_path, PARLOOP_MPI_INC=contributions)


def test_processes_stay_in_step_whatever_else_they_do(tmp_path):
    """Processes decide together how contributions are sent: numbers of kernels and maps, plans and garbage must not count."""
    program = """
    mesh = op2.box_mesh((6, 5))
    corners, n = mesh.map("cells", "vertices"), op2.Dat(mesh.vertices, None, np.int64)
    w, expected = op2.Dat(mesh.cells, None, np.int64), np.bincount(corners.values.ravel())
    op2.distribute(mesh.cells)
    text = "void one(long *n, long *w) { n[0] += 1; n[1] += 1; n[2] += 1; w[0] = %d; }"
    look = kernel("void look(long *w, const long *n) { w[0] = n[0]; }")
    plan = {"plan": "sequential"} if rank == 1 else {}
    kept = op2.PermutedMap(corners, [2, 1, 0])
    turns = 70
    for turn in range(turns):
        # Kernels that are alike on one process and not on another, maps that are kept or not, and kernels that only one process makes.
        op2.par_loop(kernel(text % (rank * (turn % 3))), mesh.cells, n(INC, corners), w(WRITE), **plan)
        through = kept if rank == 0 else op2.PermutedMap(corners, [2, 1, 0])
        op2.par_loop(kernel(text % 7), mesh.cells, n(INC, through), w(WRITE))
        op2.par_loop(look, mesh.cells, w(WRITE), n(READ, corners))
        if turn == 5 and rank == 0:
            others = [kernel(f"void other{number}(long *n) {{ n[0] = {number}; }}") for number in range(1100)]
    assert n.gather().tolist() == (2 * turns * expected).tolist()
    """
    passes("openmpi", 3, program, tmp_path)


@pytest.mark.parametrize("contributions", ["auto", "send"])
def test_a_loop_that_fails_on_one_process_leaves_the_others_in_step(contributions, tmp_path):
    program = """
    mesh = op2.box_mesh((6, 5))
    cells, corners = mesh.cells, mesh.map("cells", "vertices")
    n, w, bad = op2.Dat(mesh.vertices, None, np.int64), op2.Dat(cells, None, np.int64), op2.Dat(cells, None, np.int64)
    op2.distribute(cells)
    text = "void one(long *n, long *w, const long *bad) { n[0] += 1; n[1] += 1; n[2] += 1; if (!bad[0]) w[0] = 1; }"
    one, failed = kernel(text), []
    for turn in range(45):
        numbers = bad.data
        numbers[:] = 0
        if turn in (3, 21, 22, 23, 30, 43) and rank == 2:
            numbers[-1] = 99  # an element at the border
        del numbers
        try:
            op2.par_loop(one, cells, n(INC, corners), w(WRITE), bad(READ), checked=True)
        except pl.CheckError:
            failed.append(turn)
        assert len(world.gather_bytes(bytes([turn]))) == size
    assert failed == ([3, 21, 22, 23, 30, 43] if rank == 2 else failed), failed
    """
    passes("openmpi", 3, program, tmp_path, PARLOOP_MPI_INC=contributions)


@pytest.mark.parametrize(
    ("given", "told"),
    [("'sometimes'", "auto, recompute or send"), ("['auto', 'send'][rank]", "the same value on all processes")],
)
def test_a_setting_that_is_not_valid_is_told_on_all_processes(given, told, tmp_path):
    program = f"""
    import os
    os.environ["PARLOOP_MPI_INC"] = {given}
    mesh = op2.box_mesh((3, 3))
    corners, n = mesh.map("cells", "vertices"), op2.Dat(mesh.vertices)
    op2.distribute(mesh.cells)
    try:
        op2.par_loop(kernel("void one(double *n) {{ n[0] += 1; }}"), mesh.cells, n(INC, corners))
    except pl.errors.SettingError as error:
        assert "PARLOOP_MPI_INC" in str(error) and {told!r} in str(error), error
    else:
        raise AssertionError
    """
    passes("openmpi", 2, program, tmp_path)
