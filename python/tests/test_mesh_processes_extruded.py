"""Columns of cells that processes share, against the same numbers of one process."""

import pathlib
import textwrap

import numpy as np
import parloop as pl
import parloop.mesh as op2
import pytest
from mpirun import EVERY, HEAD, passes

#: A ring of twelve columns over edges, with nodes above each point and a middle in each cell. `LAYERS` is a number or two for each column.
RING = """
ints = np.random.default_rng(5).integers
edges, points = op2.Set(12, "edges"), op2.Set(12, "points")
ends = op2.Map(edges, points, 2, [[e, (e + 1) % 12] for e in range(12)], "ends")
nodes = op2.Set(12 * 7, "nodes")
lowest = np.array([[7 * e, 7 * ((e + 1) % 12)] for e in range(12)])
BEFORE
corners = op2.Map(COLUMNS, nodes, 4, np.concatenate([lowest, lowest + 1], 1), "corners", offset=[1, 1, 1, 1])
u = op2.Dat(nodes, ints(0, 9, nodes.size), np.int64, "u")
v = op2.Dat(nodes**2, ints(0, 9, (nodes.size, 2)), np.int64, "v")
b = op2.Dat(edges, ints(0, 9, edges.size), np.int64, "b")
p = op2.Dat(points, ints(0, 9, points.size), np.int64, "p")
total, least = op2.Global(1, 5, np.int64, "total"), op2.Global(1, 99, np.int64, "least")
"""

STEPS = """
number = kernel("void number(long *c, const long *b, int layer) { c[0] = 10 * b[0] + layer; }")
spread = kernel("void spread(long *v, const long *c) { for (int i = 0; i < 4; i++) { v[2*i] += c[0] % 5; v[2*i+1] += i; } }")
gather = kernel("void gather(long *c, const long *u, const long *p) { c[0] = (c[0] + u[0] + 2 * u[1] + 3 * u[2] + 4 * u[3] + p[0] + 2 * p[1]) % 101; }")
stack = kernel("void stack(long *b, long *p, const long *c, long *t, long *m) { b[0] += c[0]; p[0] += c[0]; p[1] += 1; t[0] += c[0]; if (c[0] < m[0]) m[0] = c[0]; }")
mark = kernel("void mark(long *u, const long *c, int layer) { for (int i = 0; i < 4; i++) u[i] = 10 * c[0] + i + layer; }")
lower = kernel("void lower(long *u, const long *b) { for (int i = 0; i < 4; i++) if (b[0] < u[i]) u[i] = b[0]; }")
mix = kernel("void mix(long *u, const long *c) { for (int i = 0; i < 4; i++) u[i] = u[i] + c[0] % 7; }")
between = kernel("void between(long *v, const long *u) { for (int i = 0; i < 8; i++) { v[2*i] += u[i] % 3; v[2*i+1] -= i; } }")

def steps():
    op2.par_loop(number, columns, c(WRITE), b(READ), pass_layer_arg=True)
    for _ in range(2):
        op2.par_loop(spread, columns, v(INC, corners), c(READ))
        op2.par_loop(mark, columns, u(WRITE, corners), c(READ), pass_layer_arg=True)
        op2.par_loop(gather, columns, c(RW), u(READ, corners), p(READ, ends))
        op2.par_loop(stack, columns, b(INC), p(INC, ends), c(READ), total(INC), least(MIN))
        op2.par_loop(lower, columns, u(MIN, corners), b(READ), iteration_region=op2.ON_BOTTOM)
        op2.par_loop(spread, columns, v(INC, corners), c(READ), iteration_region=op2.ON_TOP)
        op2.par_loop(between, columns, v(INC, corners), u(READ, corners), iteration_region=op2.ON_INTERIOR_FACETS)
        op2.par_loop(spread, some, v(INC, corners), c(READ), deterministic=True)
        op2.par_loop(mix, columns, u(RW, corners), c(READ))
"""

NAMES = ("u", "v", "b", "p", "c", "total", "least")
VARIED = [[e % 2, e % 2 + 1 + (5 * e + 1) % 7] for e in range(12)]


def ring(layers, late, distribute):
    """A program on columns that are made before or after the mesh is distributed."""
    made = f"columns = op2.ExtrudedSet(edges, {layers})"
    after = made if isinstance(layers, int) else f"columns = op2.ExtrudedSet(edges, np.array({layers})[edges.global_numbers])"
    chosen = "some = op2.Subset(columns, np.flatnonzero(np.isin(edges.global_numbers, [0, 1, 4, 5, 6, 11])))"
    data = 'c = op2.Dat(columns, dtype=np.int64, name="c")'
    mesh = RING.replace("BEFORE", "" if late else made).replace("COLUMNS", "edges" if late else "columns")
    return "\n".join([mesh, "" if late else f"{data}\n{chosen}", distribute, f"{after}\n{data}\n{chosen}" if late else "", STEPS, "steps()"])


@pytest.mark.parametrize("layers", [2, 6, VARIED], ids=["one cell", "constant", "varied"])
@pytest.mark.parametrize("late", [False, True], ids=["before", "afterwards"])
@pytest.mark.parametrize(("launcher", "ranks"), [("openmpi", 2), ("mpich", 3)])
def test_loops_over_columns_give_the_numbers_of_one_process(launcher, ranks, late, layers, tmp_path):
    serial: dict[str, np.ndarray] = {}
    exec(HEAD + ring(layers, late, ""), serial)
    expected = {name: serial[name].data_ro.tolist() for name in NAMES}
    # The last process of three has no columns at first.
    by = "'graph'" if ranks == 2 else "[e // 3 % 2 for e in range(12)]" if late else "[2, 0, 0, 1, 1, 2, 0, 1, 2, 2, 0, 1]"
    program = f"""
    {textwrap.indent(ring(layers, late, f"op2.distribute(edges, {by})"), "    ").strip()}
    expected = {expected!r}
    for name in {NAMES!r}:
        found = globals()[name].gather() if name not in ("total", "least") else globals()[name].data_ro
        assert found.tolist() == expected[name], name
    # Ghosts are whole columns, and have the numbers of their owners.
    assert c.data_ro_with_halos.tolist() == np.array(expected["c"])[columns._global_rows[0]].tolist()
    layers = np.broadcast_to({layers if isinstance(layers, int) else "columns.layers_array[:columns.size] @ [-1, 1]"}, columns.size)
    assert c.data_ro.shape == (sum(layers - 1),)
    assert columns.is_distributed and columns.global_size == 12 and (columns.global_numbers == edges.global_numbers).all()
    # The nodes above a point stay next to each other.
    assert corners.offset.tolist() == [1] * 4
    """
    passes(launcher, ranks, program, tmp_path)


@pytest.mark.parametrize(("launcher", "ranks"), EVERY)
def test_nodes_of_every_numbering_move_as_whole_columns(launcher, ranks, tmp_path):
    program = """
    add = op2.Kernel("void add(long *n, const long *b, int layer) { for (int i = 0; i < 4; i++) n[i] += (b[0] + 1) * (i + 1) + layer; }", "add")
    # Layer by layer; two nodes for each layer of a point; downwards.
    layered = (5 * 9, [[e, e + 1, e + 9, e + 10] for e in range(8)], [9] * 4, 1)
    double = (9 * 9, [[9 * e, 9 * e + 2, 9 * e + 9, 9 * e + 10] for e in range(8)], [2] * 4, 1)
    down = (5 * 9, [[5 * e + 4, 5 * e + 3, 5 * e + 9, 5 * e + 8] for e in range(8)], [-1] * 4, -1)
    mixed = (9 * 13, [[13 * e, 13 * e + 1, 13 * e + 13, 13 * e + 14] for e in range(8)], [3, 2, 3, 2], None)
    for count, values, offset, step in (layered, double, down, mixed):
        found = []
        for whole in (True, False):
            edges, nodes = op2.Set(8, "edges"), op2.Set(count, "nodes")
            wall = op2.ExtrudedSet(edges, 5)
            # From the columns, or from what they stand on.
            corners = op2.Map(wall if rank >= 0 and step else edges, nodes, 4, values, "corners", offset=offset)
            n, b = op2.Dat(nodes, dtype=np.int64), op2.Dat(edges, np.arange(8) ** 2, np.int64)
            if not whole:
                op2.distribute(edges, [0, 1, 1, 0, 0, 1, 1, 0] if size == 2 else [0, 1, 2, 2, 1, 0, 0, 2])
                assert step is None or corners.offset.tolist() == [step] * 4, corners.offset
                assert nodes.total_size <= count
            op2.par_loop(add, wall, n(INC, corners), b(READ), pass_layer_arg=True)
            found.append(n.gather().tolist())
        assert found[0] == found[1], (offset, found)
    """
    passes(launcher, ranks, program, tmp_path)


@pytest.mark.parametrize(("launcher", "ranks"), [("openmpi", 3), ("mpich", 2)])
def test_sums_over_columns_are_those_of_one_process_bit_by_bit(launcher, ranks, tmp_path):
    program = """
    add = op2.Kernel("void add(double *n, double *m, const double *c) { for (int i = 0; i < 4; i++) n[i] += c[0] / (i + 3); for (int i = 0; i < 2; i++) m[i] += c[0] / 7; }", "add")
    found = []
    for whole in (True, False):
        edges, nodes, points = op2.Set(30, "edges"), op2.Set(31 * 8, "nodes"), op2.Set(31, "points")
        order = np.random.default_rng(1).permutation(30)
        wall = op2.ExtrudedSet(edges, 8)
        corners = op2.Map(wall, nodes, 4, [[8 * e, 8 * e + 1, 8 * e + 8, 8 * e + 9] for e in order], "corners", offset=[1] * 4)
        ends = op2.Map(edges, points, 2, [[e, e + 1] for e in order], "ends")
        c = op2.Dat(wall, np.random.default_rng(2).random(210))
        n, m = op2.Dat(nodes), op2.Dat(points)
        if not whole:
            op2.distribute(edges, np.random.default_rng(3).integers(0, size, 30))
        op2.par_loop(add, wall, n(INC, corners), m(INC, ends), c(READ), deterministic=True)
        found.append((n.gather(), m.gather()))
    assert all(one.tobytes() == other.tobytes() for one, other in zip(*found)) and found[0][0].any()
    """
    passes(launcher, ranks, program, tmp_path)


@pytest.mark.parametrize(("launcher", "ranks"), [("openmpi", 2), ("mpich", 3)])
def test_matrices_and_files_of_columns(launcher, ranks, tmp_path):
    program = f"""
    fill = op2.Kernel("void fill(double a[4][4], const double *c) {{ for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) a[i][j] += c[0] * (i == j ? 4 : -1); }}", "fill")
    bottom = op2.Kernel("void bottom(double a[4][4]) {{ a[0][0] += 1; a[2][2] += 1; }}", "bottom")
    found = []
    for whole in (True, False):
        edges, nodes = op2.Set(10, "edges"), op2.Set(11 * 6, "nodes")
        wall = op2.ExtrudedSet(edges, [[0, 2 + e % 5] for e in range(10)])
        corners = op2.Map(wall, nodes, 4, [[6 * e, 6 * e + 1, 6 * e + 6, 6 * e + 7] for e in range(10)], "corners", offset=[1] * 4)
        c = op2.Dat(wall, 1 + np.arange(30) % 5, float, "c")
        b, x, y = op2.Dat(nodes, np.arange(66) % 7, float), op2.Dat(nodes), op2.Dat(nodes)
        if not whole:
            op2.distribute(edges, [e * size // 10 for e in range(10)])
        mat = op2.Mat(op2.Sparsity((nodes**1, nodes**1), [(corners, corners)]), float)
        op2.par_loop(fill, wall, mat(INC, (corners, corners)), c(READ))
        op2.par_loop(bottom, wall, mat(INC, (corners, corners)), iteration_region=op2.ON_BOTTOM)
        mat.mult(b, y)
        found.append(y.gather())
        if not whole:
            c *= 3
            op2.save({str(tmp_path / "step.npz")!r}, c=c)
            c.zero()
            op2.load({str(tmp_path / "step.npz")!r}, c=c)
            assert c.gather().tolist() == (3.0 + 3 * (np.arange(30) % 5)).tolist() and c.halo_valid
            assert c.data_ro_with_halos.tolist() == c.gather()[wall._global_rows[0]].tolist()
            assert abs(c.norm - np.linalg.norm(c.gather())) < 1e-12
    assert found[0].tolist() == found[1].tolist() and found[0].any()
    """
    passes(launcher, ranks, program, tmp_path)


def test_what_cannot_be_kept_of_columns_is_told(tmp_path):
    program = """
    def refused(kind, words, what):
        try:
            what()
        except kind as error:
            assert words in str(error), error
        else:
            raise AssertionError(words)

    def mesh():
        edges, nodes = op2.Set(4, "edges"), op2.Set(20, "nodes")
        wall = op2.ExtrudedSet(edges, 3)
        corners = op2.Map(edges, nodes, 2, [[4 * e, 4 * e + 4] for e in range(4)], "corners", offset=[1, 1])
        return edges, nodes, wall, corners, op2.Dat(nodes, name="n")

    add = op2.Kernel("void add(double *n) { n[0] += 1; n[1] += 1; }", "add")
    edges, nodes, wall, corners, n = mesh()
    # The nodes of a column belong to one process.
    refused(pl.errors.SetValueError, "elements 0 and 1 are in one column of an extruded set, but are assigned to ranks 0 and 1", lambda: op2.distribute(nodes, [0, 1] * 10))
    refused(pl.errors.SetValueError, "it is not a plain set; distribute the set that it was made from", lambda: op2.distribute(wall))
    op2.distribute(nodes, [node // 10 for node in range(8)] + [0, 0] + [1] * 10)
    assert wall.is_distributed
    op2.par_loop(add, wall, n(INC, corners))
    assert n.gather().tolist() == [1, 1, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 1, 1, 0, 0]

    # Higher columns than those that were known.
    edges, nodes, wall, corners, n = mesh()
    op2.distribute(edges, [0, 0, 1, 1])
    low, high = op2.ExtrudedSet(edges, 2), op2.ExtrudedSet(edges, 5)
    op2.par_loop(add, low, n(INC, corners))
    assert n.gather().sum() == 8
    words = "map `corners`: the mesh was distributed before columns of 4 cells were known; extrude set `edges` before calling distribute"
    refused(pl.errors.MapValueError, words, lambda: op2.par_loop(add, high, n(INC, corners)))

    # Columns that processes do not agree on.
    mine = [[0, 2 + rank]] * edges.total_size
    refused(pl.errors.SizeTypeError, "processes gave different layers for element", lambda: op2.ExtrudedSet(edges, mine))
    edges = op2.Set(4, "edges")
    wall, points = op2.ExtrudedSet(edges, 3 + rank), op2.Set(4, "points")
    across = op2.Map(edges, points, 1, [0, 1, 2, 3], "across")
    refused(pl.errors.SetValueError, "set `edges_extruded` differs between rank", lambda: op2.distribute(edges))
    """
    passes("openmpi", 2, program, tmp_path)


@pytest.mark.parametrize(("launcher", "ranks"), [("openmpi", 3), ("mpich", 2)])
def test_random_programs_on_columns_give_the_numbers_of_one_process(launcher, ranks, tmp_path):
    folder = pathlib.Path(__file__).parent
    program = f"""
    sys.path.insert(0, {str(folder)!r})
    import random_columns
    random_columns.main(["--cases", "20", "--seconds", "4"])
    """
    passes(launcher, ranks, program, tmp_path)


def test_one_process_keeps_its_columns():
    edges, nodes = op2.Set(3, "edges"), op2.Set(12, "nodes")
    wall = op2.ExtrudedSet(edges, 4)
    corners = op2.Map(wall, nodes, 1, [0, 4, 8], "corners", offset=[1])
    assert op2.distribute(edges).owned == [3] and op2.distribute(nodes).owned == [12]
    n = op2.Dat(nodes, dtype=np.int32)
    op2.par_loop(op2.Kernel("void one(int *n) { n[0] += 1; }", "one"), wall, n(op2.INC, corners))
    assert n.data_ro.tolist() == [1, 1, 1, 0] * 3 and not wall.is_distributed
    with pytest.raises(pl.errors.SetValueError, match="1 ranks were given for 12 elements"):
        op2.distribute(nodes, [0])
