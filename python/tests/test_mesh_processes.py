"""Meshes that processes share: programs under every mpirun that is installed, against the same numbers of one process."""

import importlib.util
import pathlib
import textwrap

import numpy as np
import parloop as pl
import parloop.mesh as op2
import pytest
from conftest import missing, open_context
from mpirun import EVERY, HEAD, LAUNCHERS, mpirun, passes


@pytest.mark.parametrize(("launcher", "ranks"), [("openmpi", 3), ("mpich", 2), ("standard", 2)])
def test_the_airfoil_has_the_same_residuals(launcher, ranks, tmp_path):
    program = """
    import importlib
    from airfoil_mesh import airfoil_mesh
    example = importlib.import_module("05_airfoil")
    flow = example.Airfoil(airfoil_mesh(40, 60))
    found = op2.distribute(flow.cells, by="graph")
    assert sum(found.owned) == 7200 and found.imbalance < 1.05 and 0 < found.cut < 400 and found.neighbours > 0
    assert flow.cells.size == found.owned[rank] and flow.cells.global_size == 7200
    known = example.KNOWN[40, 60]
    for done in range(1, 101):
        flow.step()
        if done in known:
            assert example.agrees(flow.residual, known[done]), (done, flow.residual, known[done])
    """
    program += f"""
    assert ("libmpi_abi" in open("/proc/self/maps").read()) == {launcher == "standard"}
    """
    passes(launcher, ranks, program, tmp_path, alone=True)


PLATE = """
mesh = op2.box_mesh((9, 7))
cells, vertices, facets = mesh.cells, mesh.vertices, mesh.sets["interior"]
corners, sides = mesh.map("cells", "vertices"), mesh.map("interior", "cells")
outer = mesh.map("boundary", "cells")
outside = op2.ComposedMap(corners, outer)
left = mesh.region("left", on="vertices")
ints = np.random.default_rng(7).integers
u = op2.Dat(cells, ints(0, 9, cells.size), np.int64, "u")
v = op2.Dat(vertices**2, ints(0, 9, (vertices.size, 2)), np.int64, "v")
w = op2.Dat(facets, ints(0, 9, facets.size), np.int64, "w")
total = op2.Global(1, 5, np.int64, "total")
least = op2.Global(1, 99, np.int64, "least")

spread = kernel("void spread(long *v, const long *u) { for (int i = 0; i < 3; i++) { v[2*i] += u[0] % 5; v[2*i+1] += i; } }")
collect = kernel("void collect(long *u, const long *v) { u[0] = (u[0] + v[0] + 2 * v[2] + 3 * v[5]) % 11; }")
flow = kernel("void flow(long *u, const long *w, long *t, long *m) { u[0] += w[0]; u[1] -= w[0]; t[0] += w[0]; if (u[0] < m[0]) m[0] = w[0]; }")
mark = kernel("void mark(long *v, const long *u) { for (int i = 0; i < 3; i++) { v[2*i] = u[0] + i; v[2*i+1] = -u[0]; } }")
lower = kernel("void lower(long *v, const long *u) { for (int i = 0; i < 6; i++) if (u[0] < v[i]) v[i] = u[0]; }")
twice = kernel("void twice(long *v) { v[0] = 2 * v[0] % 13; }")
mix = kernel("void mix(long *u, const long *w) { u[0] = u[0] + w[0]; u[1] = u[1] + 2 * w[0]; }")
edge = kernel("void edge(long *v) { for (int i = 0; i < 6; i++) v[i] += 1; }")

def steps():
    for _ in range(3):
        op2.par_loop(spread, cells, v(INC, corners), u(READ))
        op2.par_loop(collect, cells, u(RW), v(READ, corners))
        op2.par_loop(flow, facets, u(INC, sides), w(READ), total(INC), least(MIN))
        op2.par_loop(twice, left, v[1](RW))
        op2.par_loop(edge, mesh.boundary, v(INC, outside))
        op2.par_loop(lower, cells, v(MIN, corners), u(READ))
        op2.par_loop(mix, facets, u(RW, sides), w(READ))
    op2.par_loop(mark, cells, v(WRITE, corners), u(READ))
    op2.par_loop(collect, cells, u(RW), v(READ, corners))
"""


@pytest.mark.parametrize(("launcher", "ranks", "device"), [*((*each, "cpu:1") for each in (*EVERY, ("standard", 3))), ("openmpi", 2, "opencl"), ("mpich", 3, "opencl")])
def test_loops_of_every_access_give_the_numbers_of_one_process(launcher, ranks, device, tmp_path):
    open_context(device)
    serial: dict[str, np.ndarray] = {}
    exec(HEAD + PLATE + "\nsteps()\n", serial)
    expected = {name: serial[name].data_ro.tolist() for name in ("u", "v", "w", "total", "least")}
    program = f"""
    {textwrap.indent(PLATE, "    ").strip()}
    by = np.random.default_rng(3).integers(0, size, cells.size) if size == 3 else "graph"
    op2.distribute(cells, by)
    assert cells.total_size > cells.size and facets.is_distributed and left.is_distributed
    assert sorted(sum((list(np.frombuffer(part, np.int32)) for part in world.gather_bytes(cells.global_numbers[:cells.size].tobytes())), [])) == list(range(126))
    steps()
    expected = {expected!r}
    for name in "uvw":
        assert globals()[name].gather().tolist() == expected[name], name
    assert (total.data_ro.tolist(), least.data_ro.tolist()) == (expected["total"], expected["least"])
    # Ghosts that are looked at have the numbers of their owners.
    assert u.data_ro_with_halos.tolist() == np.array(expected["u"])[cells.global_numbers].tolist() and u.halo_valid
    # Arithmetic and sums are those of all processes.
    assert (u + u).gather().tolist() == (2 * np.array(expected["u"])).tolist()
    assert int(u.inner(u)) == int(np.square(expected["u"]).sum())
    """
    passes(launcher, ranks, program, tmp_path, PARLOOP_DEVICE=device)


def test_a_profile_shows_the_exchanges_of_ghosts(tmp_path):
    program = f"""
    {textwrap.indent(PLATE, "    ").strip()}
    op2.distribute(cells)
    with pl.profile() as profile:
        for _ in range(3):
            op2.par_loop(collect, cells, u(RW), v(READ, corners))
    calls = {{row.kernel: row.calls for row in profile.table if row.kernel.startswith("halo")}}
    assert calls == {{"halo exchange: send": 1, "halo exchange: receive": 1}}, calls  # fresh ghosts are not exchanged again
    """
    passes("mpich", 2, program, tmp_path)


@pytest.mark.parametrize(("launcher", "ranks"), [("openmpi", 2), ("mpich", 3)])
def test_matrices_have_the_rows_of_their_process(launcher, ranks, tmp_path):
    program = """
    def system():
        mesh = op2.box_mesh((12, 10))
        cells, vertices, corners = mesh.cells, mesh.vertices, mesh.map("cells", "vertices")
        x, b = op2.Dat(vertices, name="x"), op2.Dat(vertices, np.arange(vertices.size) % 7, float, "b")
        return mesh, cells, vertices, corners, x, b

    stiffness = op2.Kernel('''
    void stiffness(double a[3][3], const double *p[2]) {
        double x1 = p[1][0] - p[0][0], y1 = p[1][1] - p[0][1], x2 = p[2][0] - p[0][0], y2 = p[2][1] - p[0][1];
        double area = 0.5 * (x1 * y2 - x2 * y1), size = area < 0 ? -area : area;
        double g[3][2] = {{(y1 - y2) / (2 * area), (x2 - x1) / (2 * area)}, {y2 / (2 * area), -x2 / (2 * area)}, {-y1 / (2 * area), x1 / (2 * area)}};
        for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++)
            a[i][j] += size * (g[i][0] * g[j][0] + g[i][1] * g[j][1]) + (i == j ? size : 0.1 * size);
    }''', "stiffness")

    def solved(mesh, cells, vertices, corners, x, b):
        mat = op2.Mat(op2.Sparsity((vertices**1, vertices**1), [(corners, corners)]), float)
        op2.par_loop(stiffness, cells, mat(INC, (corners, corners)), mesh.coordinates(READ, corners))
        y = op2.Dat(vertices)
        mat.mult(b, y)
        assert op2.solve(mat, x, b).converged
        return y.gather(), x.gather()

    alone = solved(*system())
    parts = system()
    op2.distribute(parts[1], "coordinates", coordinates=parts[0].coordinates)
    together = solved(*parts)
    for one, other in zip(alone, together):
        assert np.abs(one).max() > 1 and np.allclose(one, other, rtol=1e-9, atol=1e-9), np.abs(one - other).max()
    """
    passes(launcher, ranks, program, tmp_path)


@pytest.mark.parametrize(("launcher", "ranks", "device"), [*((*each, "cpu:1") for each in EVERY), ("openmpi", 2, "opencl")])
def test_products_with_the_transpose_have_what_rows_of_others_add(launcher, ranks, device, tmp_path):
    open_context(device)
    program = """
    # Blocks of two by three numbers between vertices and cells: neither square nor symmetric.
    fill = op2.Kernel('''
    void fill(double a[6][3], const double *u) {
        for (int i = 0; i < 6; i++) for (int j = 0; j < 3; j++) a[i][j] += u[0] + 3 * i + j;
    }''', "fill")
    found = []
    for whole in (True, False):
        mesh = op2.box_mesh((5, 4))
        corners, own = mesh.map("cells", "vertices"), op2.Map(mesh.cells, mesh.cells, 1, np.arange(40), "own")
        # Columns are cells that other processes may own: the next one of each.
        next = op2.Map(mesh.cells, mesh.cells, 1, (np.arange(40) + 7) % 40, "next")
        u = op2.Dat(mesh.cells, np.arange(40) % 5, float, "u")
        x = op2.Dat(mesh.vertices**2, np.arange(60).reshape(30, 2) % 11, float, "x")
        if not whole:
            op2.distribute(mesh.cells, np.random.default_rng(4).integers(0, size, 40))
        mat = op2.Mat(op2.Sparsity((mesh.vertices**2, mesh.cells**3), [(corners, next)]), float)
        op2.par_loop(fill, mesh.cells, mat(INC, (corners, next)), u(READ))
        y = op2.Dat(mesh.cells**3, name="y")
        y.data[:] = 77  # numbers from before are replaced
        for _ in range(2):
            assert mat.mult(x, y, transposed=True) is y
        # Ghosts of the result are updated when they are read.
        ghosts = y.data_ro_with_halos[mesh.cells.size:], mesh.cells.global_numbers[mesh.cells.size:]
        assert (ghosts[0] == y.gather()[ghosts[1]]).all()
        found.append(y.gather().tolist())
        dense = mat.mult(mat.mult(x, transposed=True)).gather()
        found.append(dense.tolist())
    assert found[:2] == found[2:] and np.any(found[0])
    """
    passes(launcher, ranks, program, tmp_path, PARLOOP_DEVICE=device)


@pytest.mark.parametrize(("launcher", "ranks"), [("openmpi", 2), ("mpich", 3)])
def test_processes_with_different_data_are_told(launcher, ranks, tmp_path):
    program = """
    def mesh(kind, rank):
        cells, nodes = op2.Set(4, "cells"), op2.Set(5, "nodes")
        ends = op2.Map(cells, nodes, 2, [[0, 1], [1, 2], [2, 3], [3, 4 if kind != "map" else 4 - rank]], "ends")
        x = op2.Dat(nodes**2, np.arange(10.0) + (rank * 1e-15 if kind == "float" else 0), name="x")
        m = op2.Dat(cells, [1, 2, 3, 4 + (rank if kind == "integer" else 0)], np.int16, name="m")
        some = op2.Subset(cells, [1, 2 + (rank > 0 and kind == "subset")])
        more = [op2.Dat(nodes, [float(rank)] * 5, name="mine")] * (kind == "own" and rank > 0)
        return cells, ends, x, m, some, more

    last = size - 1
    for kind, what in (("map", "map `ends`"), ("float", "data `x`"), ("integer", "data `m`"), ("subset", "a subset of `cells`")):
        # One process differs from all others.
        parts = mesh(kind, int(rank == last))
        other = 0 if rank == last else last
        words = f"set `cells` cannot be distributed: {what} differs between rank {rank} and rank {other}; all processes must start with the same mesh and the same numbers on it"
        try:
            op2.distribute(parts[0], np.arange(4) % size)
        except pl.errors.SetValueError as error:
            assert words in str(error), error
        else:
            raise AssertionError(what)
        assert not parts[0].is_distributed and parts[2].data_ro.shape == (5, 2)
    # Data that only some have is their own.
    for kind in ("same", "own"):
        parts = mesh(kind, int(rank == last))
        op2.distribute(parts[0], np.arange(4) % size)
        assert parts[0].is_distributed
    """
    passes(launcher, ranks, program, tmp_path)


def test_maps_of_three_maps_lead_through_elements_of_others(tmp_path):
    # The elements between are of other processes, and no single map leads to them.
    program = """
    rng = np.random.default_rng(5)
    cells, nodes = op2.Set(200, "cells"), op2.Set(300, "nodes")
    first = op2.Map(cells, nodes, 1, rng.integers(0, 300, 200), "first")
    jump = op2.Map(nodes, nodes, 1, rng.permutation(300), "jump")
    far = op2.ComposedMap(op2.ComposedMap(jump, jump, name="twice"), first, name="far")
    reached = far.values.ravel().copy()
    x = op2.Dat(nodes, dtype=np.int64, name="x")
    op2.distribute(cells, by=np.arange(200) * size // 200)
    for access, verb in ((WRITE, "="), (INC, "+=")):
        op2.par_loop(op2.Kernel("void set(long *x) { x[0] %s 1; }" % verb, "set"), cells, x(access, far))
    expected = np.bincount(reached, minlength=300)
    assert x.gather().tolist() == (expected + (expected > 0)).tolist()
    """
    passes("openmpi", 3, program, tmp_path)


def test_processes_agree_on_what_only_some_have(tmp_path):
    # A process without elements, and subsets that are all elements on one process only.
    program = """
    nodes, edges = op2.Set(6, "nodes"), op2.Set(6, "edges")
    ends = op2.Map(edges, nodes, 2, [[i, (i + 1) % 6] for i in range(6)], "ends")
    op2.distribute(nodes, by=[0, 0, 0, 0, 1, 1] if size == 2 else [0, 0, 0, 2, 2, 2])
    numbers = np.asarray(nodes.global_numbers)
    x = op2.Dat(nodes, 10 * numbers, dtype=np.int64, name="x")
    low, high = (op2.Subset(nodes, np.flatnonzero(chosen)) for chosen in (numbers < 3, (numbers >= 3) & (numbers < 5)))
    add = op2.Kernel("void add(long *x) { x[0] += 1; }", "add")
    op2.ParLoop(add, low.union(high), x(RW), checked=True)()
    op2.ParLoop(add, low.difference(high), x(RW), checked=True)()
    s = op2.Dat(edges, dtype=np.int64, name="s")
    total = op2.Kernel("void total(long *s, const long *x) { s[0] = x[0] + x[1]; }", "total")
    op2.ParLoop(total, edges, s(WRITE), x(READ, ends), checked=True)()
    expected = 10 * np.arange(6) + [2, 2, 2, 1, 1, 0]
    assert x.gather().tolist() == expected.tolist()
    assert s.gather().tolist() == [int(expected[i] + expected[(i + 1) % 6]) for i in range(6)]
    """
    for ranks in (2, 3):
        passes("openmpi", ranks, program, tmp_path)


def test_parts_of_a_mesh_run_in_strips_where_they_can(tmp_path):
    program = """
    mesh = op2.box_mesh((60, 60))
    corners, table = mesh.map("cells", "vertices"), mesh.map("cells", "vertices").values.copy()
    v, w = op2.Dat(mesh.vertices, name="v"), op2.Dat(mesh.vertices, np.ones(mesh.vertices.size), name="w")
    op2.distribute(mesh.cells)
    read = kernel("void read(double *v, const double *w) { for (int i = 0; i < 3; i++) v[i] += w[0] + w[1] + w[2]; }")
    for turn in (1, 2, 3):
        op2.par_loop(read, mesh.cells, v(INC, corners), w(READ, corners), plan="strips")
        expected = np.zeros(61 * 61)
        np.add.at(expected, table, 3.0 * turn)
        assert np.array_equal(v.gather(), expected)
        w.data[:] = 1.0  # ghosts are stale
    """
    passes("openmpi", 2, program, tmp_path, PARLOOP_DEVICE="cpu:2")


def test_a_loop_that_is_refused_leaves_all_processes_in_step(tmp_path):
    program = """
    mesh = op2.box_mesh((20, 20))
    corners, table = mesh.map("cells", "vertices"), mesh.map("cells", "vertices").values.copy()
    v, w = op2.Dat(mesh.vertices, name="v"), op2.Dat(mesh.vertices, name="w")
    # The last process has no cells.
    owners = np.minimum(np.arange(mesh.cells.size) * size // mesh.cells.size, size - 2).astype(np.int32)
    op2.distribute(mesh.cells, owners)
    count = kernel("void count(double *v) { v[0] += 1; }")
    read = kernel("void read(double *v, const double *w) { for (int i = 0; i < 3; i++) v[i] += w[0] + w[1] + w[2]; }")
    grow = kernel("void grow(double *w) { w[0] += 1; }")
    refused = [
        (count, [v(RW, corners)], dict(lanes=True), "in place through a map"),
        (read, [v(INC, corners), w(READ, corners)], dict(plan="atomic"), "only on GPUs"),
        (read, [v(INC, corners), w(READ, corners)], dict(plan="strips", deterministic=True), "depends on the threads"),
    ]
    broken = kernel("void broken(double *v, const double *w) { v[0] += undeclared; }")
    refused += [
        (broken, [v(INC, corners), w(READ, corners)], dict(), "undeclared"),
        (broken, [v(RW, corners), w(READ, corners)], dict(), "undeclared"),
    ]
    for turn, (refuser, args, options, reason) in enumerate(2 * refused, 1):
        op2.par_loop(grow, mesh.vertices, w(RW))  # ghosts are stale
        before = v.gather()
        try:
            op2.par_loop(refuser, mesh.cells, *args, **options)
            raise AssertionError(f"{refuser} ran with {options}")
        except (op2.MeshError, pl.CompileError) as error:
            assert reason in str(error), error
        assert np.array_equal(v.gather(), before)
        v.zero()
        for _ in range(2):
            op2.par_loop(read, mesh.cells, v(INC, corners), w(READ, corners))
            op2.par_loop(count, mesh.cells, v(RW, corners))
        expected = np.zeros(len(before))
        np.add.at(expected, table, 6.0 * turn)
        np.add.at(expected, table[:, 0], 2)
        assert np.array_equal(v.gather(), expected)
    """
    passes("openmpi", 3, program, tmp_path)


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_a_process_that_raises_ends_all(launcher, tmp_path):
    program = """
    mesh = op2.box_mesh((4, 4))
    u = op2.Dat(mesh.vertices)
    op2.distribute(mesh.cells, [0] * 16 + [1] * 16)
    if rank == 1:
        raise KeyError("what went wrong")
    u.data[:] = 1
    print(u.data_ro_with_halos)
    world.barrier()
    """
    status, text = mpirun(launcher, 2, program, tmp_path)
    assert status != 0 and "KeyError: 'what went wrong'" in text and "rank 1 of 2 raised KeyError; all ranks are aborted" in text, text


def test_processes_with_different_meshes_or_loops_are_told(tmp_path):
    program = """
    def refused(kind, words, what):
        try:
            what()
        except kind as error:
            assert words in str(error), error
        else:
            raise AssertionError(words)

    cells, nodes = op2.Set(4, "cells"), op2.Set(5, "nodes")
    ends = op2.Map(cells, nodes, 2, [[0, 1], [1, 2], [2, 3], [3 + rank, 4]], "ends")
    refused(pl.errors.SetValueError, "map `ends` differs between rank", lambda: op2.distribute(cells))
    assert not cells.is_distributed and cells.size == 4

    ends = op2.Map(cells, nodes, 2, [[0, 1], [1, 2], [2, 3], [3, 4]], "ends")
    del ends

    cells, nodes = op2.Set(4, "cells"), op2.Set(5, "nodes")
    ends = op2.Map(cells, nodes, 2, [[0, 1], [1, 2], [2, 3], [3, 4]], "ends")
    x = op2.Dat(nodes, name="x")
    add = op2.Kernel("void add(double *x) { x[0] += 1; x[1] += 1; }", "add")
    early = op2.ParLoop(add, cells, x(op2.INC, ends))
    mat = op2.Mat(op2.Sparsity((nodes**1, nodes**1), [(ends, ends)]), float, name="mat")
    op2.distribute(cells, [0, 0, 1, 1])
    refused(pl.DeviceError, "was distributed over processes; create loops and matrices and request arrays after that", early)
    fill = op2.Kernel("void fill(double a[2][2]) { a[0][0] += 1; }", "fill")
    refused(pl.errors.SetValueError, "`mat` was created before its set `nodes` was distributed", lambda: op2.par_loop(fill, cells, mat(op2.INC, (ends, ends))))
    refused(pl.errors.SetValueError, "it is already distributed", lambda: op2.distribute(cells))

    mesh = op2.box_mesh((4, 4))
    corners, points, _ = mesh.map("cells", "vertices"), mesh.coordinates, mesh.boundary
    op2.distribute(mesh.cells)
    shared = "needs all of set `vertices`, which is distributed"
    refused(pl.errors.SetValueError, shared, lambda: op2.write_vtk("never.vtu", points, corners))
    refused(pl.errors.SetValueError, shared, lambda: mesh.write("never.vtu"))
    refused(pl.errors.SetValueError, shared, lambda: points.plot(points, corners))
    late = "needs the whole mesh, but the mesh is distributed; create it before distributing the mesh"
    refused(pl.errors.SetValueError, "the map from `edges` to `vertices` " + late, lambda: mesh.map("edges", "vertices"))
    refused(pl.errors.SetValueError, "set `edges` " + late, lambda: mesh.sets["edges"])
    refused(pl.errors.SetValueError, late, lambda: mesh.space(2))
    left = mesh.region("left", on="vertices")
    assert points.data_ro_with_halos[left.indices, 0].tolist() == [0] * left.total_size

    # Numbers that other data shares stay usable there.
    numbers = np.arange(5.0)
    def line():
        cells, nodes = op2.Set(4, "cells"), op2.Set(5, "nodes")
        ends = op2.Map(cells, nodes, 2, [[0, 1], [1, 2], [2, 3], [3, 4]], "ends")
        y = op2.Dat(nodes, numbers, name="y")
        assert np.shares_memory(y.data_ro, numbers)
        return cells, ends, y
    first, second = line(), line()
    early = op2.ParLoop(add, first[0], first[2](op2.INC, first[1]))
    op2.distribute(first[0], [0, 0, 1, 1])
    refused(pl.DeviceError, "was distributed over processes; create loops", early)
    op2.par_loop(add, first[0], first[2](op2.INC, first[1]))
    op2.par_loop(add, second[0], second[2](op2.INC, second[1]))
    assert first[2].gather().tolist() == second[2].data_ro.tolist() == numbers.tolist() == [1, 3, 4, 5, 5]

    names = ["add", "more"]
    other = op2.Kernel("void NAME(double *x) { x[0] += 1; x[1] += 1; }".replace("NAME", names[rank]), names[rank])
    words = f"rank {rank} runs kernel `{names[rank]}` over `cells` with x(INC, ends), but rank {1 - rank} runs kernel `{names[1 - rank]}`"
    refused(pl.MeshError, words, lambda: op2.par_loop(other, cells, x(op2.INC, ends), checked=True))
    op2.par_loop(add, cells, x(op2.INC, ends), checked=True)
    assert x.gather().tolist() == [1, 2, 2, 2, 1]
    refused(pl.MeshError, "but rank", lambda: op2.par_loop(add, cells, x(op2.INC, ends), checked=True, deterministic=rank == 0))
    # An array that only one process takes.
    both = op2.Kernel("void both(double *c, const double *x) { c[0] = x[0] + x[1]; }", "both")
    c = op2.Dat(cells, name="c")
    op2.par_loop(both, cells, c(WRITE), x(READ, ends), checked=True)
    if rank == 0:
        x.data
    words = "x(READ, ends) with stale ghosts" if rank == 0 else "c(WRITE), x(READ, ends), but rank 0 runs"
    refused(pl.MeshError, words, lambda: op2.par_loop(both, cells, c(WRITE), x(READ, ends), checked=True))

    late = "cannot be created on distributed set `cells`; create it before the set is distributed"
    refused(pl.errors.MapValueError, "map `late` " + late, lambda: op2.Map(cells, nodes, 2, ends.values_with_halo, "late"))
    edges, sides = op2.Set(3, "edges"), op2.Set(3, "sides")
    one, two = op2.Map(edges, sides, 1, [0, 1, 2], "one"), op2.Map(sides, edges, 2, [0, 1, 2, 0, 1, 2], "two")
    op2.distribute(edges, [0, 1, 1])
    refused(pl.MeshError, "cannot be created on distributed set `edges`", lambda: op2.ComposedMap(two, one))
    assert op2.PermutedMap(two, [1, 0]).arity == 2
    """
    passes("openmpi", 2, program, tmp_path)


@pytest.mark.parametrize(("launcher", "ranks"), [("openmpi", 3), ("mpich", 2)])
def test_ghosts_of_data_in_two_roles(launcher, ranks, tmp_path):
    program = """
    def line():
        cells, nodes = op2.Set(12, "cells"), op2.Set(13, "nodes")
        ends = op2.Map(cells, nodes, 2, [[i, i + 1] for i in range(12)], "ends")
        return cells, nodes, ends, op2.Dat(nodes**2, np.arange(26).reshape(-1, 2), np.int64, "x"), op2.Dat(cells, name="t")

    # One component is read, another written in turn.
    add = op2.Kernel("void add(const long *r, long *w) { for (int i = 0; i < 2; i++) w[i] = w[i] + r[i] + 1; }", "add")
    found = []
    for is_shared in (False, True):
        cells, nodes, ends, x, t = line()
        table = ends.values.copy()
        if is_shared:
            op2.distribute(cells, np.arange(12) % size)
        for _ in range(2):
            op2.par_loop(add, cells, x[0](READ, ends), x[1](RW, ends))
        found.append(x.gather().tolist())
    assert found[0] == found[1]

    # A copy of data that was written through an array which is kept.
    u = op2.Dat(nodes, nodes.global_numbers.astype(float), name="u")
    sums = op2.Kernel("void sums(double *t, const double *u) { t[0] = u[0] + u[1]; }", "sums")
    held = u.data
    for copied in (lambda: op2.Dat(u), u.copy, lambda: (u.copy_to(spare), spare)[1]):
        op2.par_loop(sums, cells, t(WRITE), u(READ, ends))
        held[:] += 100
        spare = op2.Dat(nodes)
        copy = copied()
        op2.par_loop(sums, cells, t(WRITE), copy(READ, ends))
        assert np.array_equal(t.gather(), copy.gather()[table].sum(1)) and copy.gather()[0] >= 100

    # Bit by bit, with a sum over all elements too.
    def scattered():
        rng = np.random.default_rng(1)
        cells, nodes = op2.Set(60, "cells"), op2.Set(25, "nodes")
        corners = op2.Map(cells, nodes, 3, rng.integers(0, 25, (60, 3)), "corners")
        return cells, corners, op2.Dat(nodes, rng.random(25)), op2.Dat(cells, rng.random(60) * 10.0 ** rng.integers(-6, 6, 60)), op2.Global(1, 0.0)

    code = "void add(double *x, const double *y, double *g) { x[0] += y[0]; x[1] += 2 * y[0]; x[2] -= y[0] / 3; g[0] += y[0]; }"
    spread, found, totals = op2.Kernel(code, "add"), [], []
    for is_shared in (False, True):
        cells, corners, x, y, g = scattered()
        if is_shared:
            op2.distribute(cells, np.arange(60) * 7 % size)
        op2.par_loop(spread, cells, x(INC, corners), y(READ), g(INC), deterministic=True)
        found.append(x.gather().tolist())
        totals.append(g.data_ro[0])
    assert found[0] == found[1] and np.isclose(*totals, rtol=1e-12)
    """
    passes(launcher, ranks, program, tmp_path)


def test_parts_of_a_mesh_without_order_are_numbered_well(tmp_path):
    program = """
    def mesh():
        box, rng = op2.box_mesh((90, 90)), np.random.default_rng(5)
        table, count = box.map("cells", "vertices").values, box.vertices.size
        table = rng.permutation(count)[table][rng.permutation(len(table))]
        cells, nodes = op2.Set(len(table), "cells"), op2.Set(count, "nodes")
        return cells, nodes, op2.Map(cells, nodes, 3, table, "corners"), op2.Dat(nodes, np.arange(count) % 7, np.int64), op2.Dat(cells, dtype=np.int64)

    spread = op2.Kernel("void spread(long *v, const long *u) { for (int i = 0; i < 3; i++) v[i] += u[0]; }", "spread")
    collect = op2.Kernel("void collect(long *u, const long *v) { u[0] = (v[0] + 2 * v[1] + 3 * v[2]) % 11; }", "collect")
    found, spans = [], []
    for is_shared in (False, True):
        cells, nodes, corners, v, u = mesh()
        if is_shared:
            op2.distribute(cells)
        for _ in range(3):
            op2.par_loop(collect, cells, u(WRITE), v(READ, corners))
            op2.par_loop(spread, cells, v(INC, corners), u(READ))
        found.append(v.gather().tolist())
        core = corners.values[: cells.core_size]
        spans.append([np.ptp(core, axis=1).mean(), np.abs(np.diff(core[:, 0])).mean()])
    assert found[0] == found[1]
    assert all(there < 0.1 * here for here, there in zip(*spans)), spans
    """
    passes("openmpi", 2, program, tmp_path)


def test_communicators_that_are_freed_are_forgotten(tmp_path):
    if importlib.util.find_spec("mpi4py") is None:
        missing("mpi4py")
    program = """
    from mpi4py import MPI
    # The library gives the handle of one that was freed to another.
    for colour in (rank // 2, rank % 2, 0):
        comm = MPI.COMM_WORLD.Split(colour, rank)
        cells, nodes = op2.Set(12, "cells"), op2.Set(13, "nodes")
        ends = op2.Map(cells, nodes, 2, [[i, i + 1] for i in range(12)], "ends")
        u = op2.Dat(nodes, name="u")
        assert op2.distribute(cells, np.arange(12) % comm.size, comm=comm).comm.size == comm.size
        op2.par_loop(op2.Kernel("void one(double *u) { u[0] += 1; u[1] += 1; }", "one"), cells, u(INC, ends))
        assert u.gather().tolist() == [1, *[2] * 11, 1]
        comm.Free()
    """
    passes("openmpi", 3, program, tmp_path)


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_a_forked_child_does_not_communicate(launcher, tmp_path):
    program = """
    import os
    mesh = op2.box_mesh((4, 4))
    corners, u, t = mesh.map("cells", "vertices"), op2.Dat(mesh.vertices), op2.Dat(mesh.cells)
    op2.distribute(mesh.cells)
    sums = op2.Kernel("void sums(double *t, const double *u) { t[0] = u[0] + u[1] + u[2]; }", "sums")
    u.data[:] = 1
    for ending in ("return", "raise"):
        child = os.fork()
        if child == 0:
            assert u.data_ro.tolist() == [1] * mesh.vertices.size  # what it has it may read
            for what in (lambda: op2.par_loop(sums, mesh.cells, t(WRITE), u(READ, corners)), u.gather, world.barrier, op2.Comm.world):
                try:
                    what()
                except pl.errors.ForkedError as error:
                    assert "MPI works only in the processes that the launcher started, not in a forked child" in str(error), error
                else:
                    os._exit(1)
            if ending == "raise":
                raise KeyError("of the child")  # ends the child alone
            sys.exit(7)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == (7 if ending == "return" else 1), status
    op2.par_loop(sums, mesh.cells, t(WRITE), u(READ, corners))
    assert t.gather().tolist() == [3] * 32
    """
    passes(launcher, 2, program, tmp_path, alone=True)


@pytest.mark.parametrize(
    ("launcher", "ranks", "device", "contributions"),
    [("openmpi", 3, "cpu:1", "auto"), ("openmpi", 3, "cpu:1", "send"), ("mpich", 2, "cpu:1/opencl", "auto"), ("mpich", 2, "cpu:1/opencl", "send")],
)
def test_random_programs_give_the_numbers_of_one_process(launcher, ranks, device, contributions, tmp_path):
    open_context("opencl" if "opencl" in device else device)
    folder = pathlib.Path(__file__).parent
    program = f"""
    sys.path.insert(0, {str(folder)!r})
    import random_processes
    random_processes.main(["--device", {device!r}, "--kernels", "3", "--seconds", "2", "--folder", {str(tmp_path)!r}])
    """
    passes(launcher, ranks, program, tmp_path, PARLOOP_MPI_INC=contributions)


def test_one_process_keeps_everything_as_it_is():
    cells, nodes = op2.Set(2, "cells"), op2.Set(3, "nodes")
    ends = op2.Map(cells, nodes, 2, [[0, 1], [1, 2]], "ends")
    x = op2.Dat(nodes, [1, 2, 3], float, "x")
    before = x.data_ro
    found = op2.distribute(cells)
    assert (found.owned, found.imbalance, found.cut, found.comm.size) == ([2], 1, 0, 1)
    assert not cells.is_distributed and cells.global_size == 2 and nodes.global_numbers.tolist() == [0, 1, 2]
    assert np.shares_memory(before, x.data_ro) and x.gather().tolist() == [1, 2, 3] and ends.values.tolist() == [[0, 1], [1, 2]]


def test_what_cannot_be_distributed_is_told():
    cells, nodes = op2.Set(2, "cells"), op2.Set(3, "nodes")
    ends = op2.Map(cells, nodes, 2, [[0, 1], [1, 2]], "ends")
    with pytest.raises(pl.errors.SetValueError, match='unknown partitioning "halves"; use "graph", "coordinates" or an array of ranks'):
        op2.distribute(cells, "halves")
    with pytest.raises(pl.errors.SetValueError, match="1 ranks were given for 2 elements"):
        op2.distribute(cells, [0])
    with pytest.raises(pl.errors.SetValueError, match="element 1 is assigned to rank 1, but there are 1 processes"):
        op2.distribute(cells, [0, 1])
    with pytest.raises(pl.errors.SetValueError, match="element 0 is assigned to rank -1"):
        op2.distribute(cells, [-1, 0])
    with pytest.raises(pl.errors.SetValueError, match="ranks must be integers, not numbers of type float64"):
        op2.distribute(cells, [0.5, 1])
    with pytest.raises(pl.errors.SetValueError, match='by="coordinates" needs coordinates='):
        op2.distribute(cells, "coordinates")
    lonely = op2.Dat(op2.Set(2, "others"), name="x")
    with pytest.raises(pl.errors.SetValueError, match="no map leads from it to set `others`, on which the coordinates `x` are"):
        op2.distribute(cells, "coordinates", coordinates=lonely)
    with pytest.raises(pl.errors.SetValueError, match="it is not a plain set"):
        op2.distribute(cells(0))
    with pytest.raises(pl.errors.SetValueError, match="set `parts` has ghosts; every process must start with the whole mesh"):
        op2.distribute(op2.Set((1, 2, 3), "parts"))
    with pytest.raises(pl.MeshError, match="expected a Comm or an mpi4py communicator, not"):
        op2.distribute(cells, comm=3)
    del ends


@pytest.mark.parametrize(("launcher", "ranks"), [("openmpi", 3), ("mpich", 2)])
def test_ghosts_follow_an_array_that_was_asked_for_before(launcher, ranks, tmp_path):
    program = """
    mesh = op2.box_mesh((6, 5))
    cells, nodes, corners = mesh.cells, mesh.vertices, mesh.maps["triangle"]
    u, total = op2.Dat(nodes, np.arange(1.0 * nodes.size), name="u"), op2.Dat(cells, np.zeros(cells.size), name="total")
    op2.distribute(cells)
    kernel = op2.Kernel("void add(double *total, const double *u) { total[0] = u[0] + u[1] + u[2]; }", "add")
    numbers, column = u.data, u[0].data
    for turn in range(1, 5):
        # Only one process keeps the array, and writes to it after a loop has exchanged its ghosts.
        if rank == turn % size:
            (numbers if turn % 2 else column)[:] += turn
        op2.par_loop(kernel, cells, total(WRITE), u(READ, corners))
        whole = u.gather()
        assert np.array_equal(total.gather(), whole[corners_of].sum(1)), (turn, rank)
        if turn == 3:
            del numbers, column
            numbers = column = u.data if rank == 0 else (u.data, np.zeros(nodes.size))[1]
    """
    program = program.replace("op2.distribute", "corners_of = corners.values.copy()\n    op2.distribute")
    passes(launcher, ranks, program, tmp_path)


OWN_HALO = """
import parloop.compat
parloop.compat.install("pyop2")
from pyop2 import op2
from pyop2.mpi import COMM_WORLD as world

count = 23  # nodes of a line; edge e joins e and e + 1, and belongs to the owner of e
first, last = count * rank // size, count * (rank + 1) // size
numbers = np.array([*range(first, last), *([first - 1] if rank > 0 else []), *([last] if rank < size - 1 else [])])
place = {int(number): index for index, number in enumerate(numbers)}
edges = [(edge, edge + 1) for edge in range(first, min(last, count - 1))]


class LineHalo(op2.Halo):
    comm, local_to_global_numbering, calls = world, numbers, []

    def pairs(self):  # another process, our node that is its ghost, our ghost of its node
        if rank > 0:
            yield rank - 1, 0, last - first
        if rank < size - 1:
            yield rank + 1, last - first - 1, len(numbers) - 1

    def global_to_local_begin(self, dat, mode):
        assert mode == op2.WRITE
        self.calls.append(("to ghosts", dat.name))

    def global_to_local_end(self, dat, mode):
        for other, own, ghost in self.pairs():
            dat._data[ghost] = world.sendrecv(dat._data[own].copy(), other, source=other)

    def local_to_global_begin(self, dat, mode):
        self.calls.append(("to owners", dat.name))

    def local_to_global_end(self, dat, mode):
        combine = {op2.INC: np.add, op2.MIN: np.minimum, op2.MAX: np.maximum}[mode]
        for other, own, ghost in self.pairs():
            dat._data[own] = combine(dat._data[own], world.sendrecv(dat._data[ghost].copy(), other, source=other))


assert (world.rank, world.size) == (rank, size)
halo = LineHalo()
nodes = op2.Set((0, last - first, len(numbers)), "nodes", halo=halo, comm=world)
cells = op2.Set(len(edges), "edges", comm=world)
ends = op2.Map(cells, nodes, 2, [[place[a], place[b]] for a, b in edges], "ends")
values = np.arange(count) ** 2 % 7 + 1.0
products, left, right = values[:-1] * values[1:], np.arange(count - 1), np.arange(1, count)
sums, least = np.zeros(count), np.full(count, 100.0)
np.add.at(sums, left, products)
np.add.at(sums, right, -2 * products)
np.minimum.at(least, left, values[1:])
np.minimum.at(least, right, values[:-1])

# Ghosts of x are wrong until they are exchanged.
x = op2.Dat(nodes, np.where(np.arange(len(numbers)) < last - first, values[numbers], np.nan), name="x")
x.halo_valid = False
y, low = op2.Dat(nodes, np.zeros(len(numbers)), name="y"), op2.Dat(nodes, np.full(len(numbers), 100.0), name="low")
pair = op2.Dat(nodes**2, np.zeros((len(numbers), 2)), name="pair")
g, top = op2.Global(1, 5.0, name="g", comm=world), op2.Global(1, -1.0, name="top", comm=world)
kernel = op2.Kernel('''void k(double *y, double *second, double *g, double *top, const double *x) {
  double t = x[0] * x[1];
  y[0] += t; y[1] -= 2*t; second[0] += t; second[1] -= 2*t; g[0] += t; if (t > top[0]) top[0] = t; }''', "k")
loop = op2.ParLoop(kernel, cells, y(op2.INC, ends), op2.DatView(pair, 1)(op2.INC, ends), g(op2.INC), top(op2.MAX), x(op2.READ, ends))
for turn in (1, 2):
    loop()
    assert np.array_equal(y.data_ro, turn * sums[first:last]) and np.array_equal(pair.data_ro[:, 1], turn * sums[first:last])
    assert g.data_ro[0] == 5 + turn * products.sum() and top.data_ro[0] == products.max() and not pair.data_ro[:, 0].any()
assert halo.calls.count(("to ghosts", "x")) == 1 and halo.calls.count(("to owners", "y")) == 2
assert np.array_equal(y.data_ro_with_halos, 2 * sums[numbers]) and y.halo_valid
code = "void m(double *low, const double *x) { for (int i = 0; i < 2; i++) low[i] = fmin(low[i], x[1 - i]); }"
op2.par_loop(op2.Kernel(code, "m"), cells, low(op2.MIN, ends), x(op2.READ, ends))
assert np.array_equal(low.data_ro, least[first:last])
assert x.inner(x) == (values**2).sum() and np.isclose(x.norm, np.sqrt((values**2).sum()), rtol=1e-14)
x.data[:] += 1
assert not x.halo_valid and np.array_equal(x.data_ro_with_halos, values[numbers] + 1)
with y.frozen_halo(op2.INC):
    before = len(halo.calls)
    op2.par_loop(op2.Kernel("void n(double *y) { y[0] += 1; }", "n"), cells, y(op2.INC, ends))
    assert len(halo.calls) == before
try:
    op2.Sparsity(nodes**1, [(ends, ends, None)])
    raise AssertionError("a matrix over several processes was made")
except NotImplementedError as error:
    assert "several processes" in str(error)
"""


@pytest.mark.parametrize("ranks", [2, 3])
def test_a_program_of_pyop2_exchanges_ghosts_by_a_halo_of_its_own(ranks, tmp_path):
    if importlib.util.find_spec("mpi4py") is None:
        missing("mpi4py")
    passes("openmpi", ranks, OWN_HALO, tmp_path)


@pytest.mark.parametrize(("named", "reason"), [("/etc/passwd", "invalid ELF header"), ("/nowhere/libmpi.so", "No such file"), ("libm.so.6", "MPI_Get_library_version")])
def test_a_library_that_is_not_mpi_is_an_error_with_the_reason(named, reason, tmp_path):
    status, text = mpirun("mpich", 2, "", tmp_path, PARLOOP_MPI=named)
    assert status != 0 and named in text and reason in text, text
