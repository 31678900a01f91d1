"""Meshes that no process holds as a whole: each gives slices and gets its part."""

import pathlib

import numpy as np
import parloop as pl
import parloop.mesh as op2
import pytest
from mpirun import passes

RANDOM = pathlib.Path(__file__).parent / "random_slices.py"

#: A plate of triangles in slices, as a program would read them from a file.
PLATE = """
plate = op2.box_mesh((20, 15))
whole = {"cells": plate.map("cells", "vertices").values.copy(), "x": plate.coordinates.data_ro.copy()}

def slice_of(array):
    return array[len(array) * rank // size : len(array) * (rank + 1) // size]

def given(**changed):
    arguments = dict(
        maps={"corners": ("cells", "vertices", slice_of(whole["cells"]))},
        data={"x": ("vertices", slice_of(whole["x"])), "area": ("cells", np.zeros(len(slice_of(whole["cells"]))))},
        coordinates="x",
    )
    return {**arguments, **changed}
"""


@pytest.mark.parametrize(("launcher", "ranks"), [("openmpi", 3), ("mpich", 2)])
def test_parts_are_those_of_the_whole_mesh(launcher, ranks, tmp_path):
    """Sets, maps and data of 40 random meshes, with slices of any lengths."""
    passes(launcher, ranks, f"sys.argv = ['', '--cases', '40', '--seconds', '60']\nexec(open({str(RANDOM)!r}).read(), {{'__name__': '__main__'}})", tmp_path)


@pytest.mark.parametrize(("launcher", "ranks"), [("openmpi", 2), ("mpich", 3)])
def test_loops_on_parts_give_the_numbers_of_the_whole(launcher, ranks, tmp_path):
    program = (
        PLATE
        + """
part = op2.distribute_slices("cells", **given())
assert sum(part.distribution.owned) == 600 and part.distribution.imbalance < 1.02 and part.distribution.cut is None
assert part.cells is part.sets["cells"] and part.cells.global_size == 600 and part.vertices.total_size < 336
mass = op2.Dat(part.vertices, name="mass")
measure = op2.Kernel('''void measure(double *area, double *mass, const double *x) {
    area[0] = 0.5 * ((x[2] - x[0]) * (x[5] - x[1]) - (x[4] - x[0]) * (x[3] - x[1]));
    for (int i = 0; i < 3; i++) mass[i] += area[0] / 3;
}''', "measure")
op2.par_loop(measure, part.cells, part.area(WRITE), mass(INC, part.corners), part.x(READ, part.corners))
corners = whole["x"][whole["cells"]]
one, other = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
area = 0.5 * (one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0])
expected = np.zeros(336)
np.add.at(expected, whole["cells"], area[:, None] / 3)
assert np.allclose(part.area.gather(), area, rtol=1e-14) and np.allclose(mass.gather(), expected, rtol=1e-13)
# Sets of which nothing else is known need a size; ranks may be given.
ranks = np.arange(600) % size
again = op2.distribute_slices("cells", maps=given()["maps"], sizes={"vertices": len(slice_of(whole["x"]))}, by=slice_of(ranks))
assert sorted(again.cells.global_numbers[: again.cells.size]) == np.flatnonzero(ranks == rank).tolist()
"""
    )
    passes(launcher, ranks, program, tmp_path)


def test_what_is_wrong_on_one_process_is_an_error_on_all(tmp_path):
    program = (
        PLATE
        + """
def refused(text, **changed):
    try:
        op2.distribute_slices("cells", **given(**changed))
    except pl.errors.SetValueError as error:
        assert text in str(error), (text, str(error))
    else:
        raise AssertionError(text)
    world.barrier()

far = slice_of(whole["cells"]).copy()
if rank == 1:
    far[4, 2] = 336
row = 4 + 600 * 1 // size
refused(f"map `corners`: entry [{row}, 2] is 336, but set `vertices` has 336 elements (on rank 1)", maps={"corners": ("cells", "vertices", far)})
refused("must be integers, not numbers of type float64", maps={"corners": ("cells", "vertices", far.astype(float) if rank == 2 else far)})
refused("200 ranks are needed", by=np.zeros(7 if rank == 0 else 200, int), coordinates=None)
refused("is assigned to rank 3, but there are 3 processes (on rank 2)", by=np.full(200, 3 if rank == 2 else 0), coordinates=None)
other = {"other" if rank == 1 else "corners": given()["maps"]["corners"]}
refused("all processes must add the same", maps=other)
class Odd:
    def __array__(self, *_, **__):
        raise AssertionError
for wrong in (np.zeros(len(slice_of(whole["x"])), np.float16), Odd()):
    data = {**given()["data"], "d": ("vertices", wrong if rank == 1 else np.zeros(len(slice_of(whole["x"]))))}
    try:
        op2.distribute_slices("cells", **given(data=data))
    except (pl.errors.SetValueError, pl.errors.DataTypeError, AssertionError) as error:
        assert rank == 1 or "(on rank 1)" in str(error), error
    else:
        raise AssertionError("data of a wrong type is refused")
refused("coordinates must be of type float64", data={"x": ("vertices", slice_of(whole["x"]).astype(np.float32))})
refused("no map connects it with set `lonely`", sizes={"lonely": 5})
assert op2.distribute_slices("cells", **given()).cells.global_size == 600, "nothing is left in flight"
"""
    )
    passes("openmpi", 3, program, tmp_path, PARLOOP_MPI_ERRORS="return")


def test_one_process_keeps_everything_as_it_is():
    rows = np.array([[0, 1], [1, 2], [2, 0]])
    part = op2.distribute_slices("edges", maps={"ends": ("edges", "nodes", rows)}, data={"x": ("nodes", [[0.0, 0], [1, 0], [0, 1]])}, coordinates="x")
    assert part.ends.values.tolist() == rows.tolist() and part.x.data_ro.tolist() == [[0, 0], [1, 0], [0, 1]]
    for dtype in (">f8", ">i4", ">c16", "<u2", "?"):
        numbers = np.arange(6).reshape(3, 2).astype(dtype)
        other = op2.distribute_slices("edges", maps={"ends": ("edges", "nodes", rows.astype(">i8"))}, data={"d": ("nodes", numbers)}, by=[0, 0, 0])
        assert other.d.data_ro.tolist() == numbers.tolist() and other.ends.values.tolist() == rows.tolist(), dtype
    assert not part.edges.is_distributed and part.distribution.owned == [3]
    assert repr(part) == "<MeshPart of rank 0 of 1: edges 3 of 3, nodes 3 of 3; maps: ends; data: x>"
    assert {"edges", "ends", "x"} <= set(dir(part))
    with pytest.raises(AttributeError, match="the mesh has no set, map or data 'cells'"):
        _ = part.cells


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"maps": {"ends": ("edges", "nodes")}}, r"map `ends` must be given as \(from, to, values\)"),
        ({"maps": {"ends": ("edges", "nodes", [[0, -1]])}}, r"map `ends`: entry \[0, 1\] of its slice is -1, which is not an element of set `nodes`"),
        ({"maps": {"ends": ("edges", "nodes", [[0, 2**31]])}}, r"entry \[0, 1\] of its slice is 2147483648, which is not an element of set `nodes`"),
        ({"maps": {"ends": ("edges", "nodes", [[0, 3]])}}, r"entry \[0, 1\] is 3, but set `nodes` has 3 elements"),
        ({"maps": {"ends": ("edges", "nodes", np.zeros((2, 0), int))}}, r"must be an array with a row for each element, not of shape \(2, 0\)"),
        ({"maps": {"ends": ("edges", "points", [[0, 1]])}}, "map `ends` leads to set `points`, whose size is not known"),
        ({"maps": {"nodes": ("edges", "nodes", [[0, 1]])}}, "`nodes` is the name of a set and of a map"),
        ({"data": {"x": ("nodes", 1.0)}}, "data `x` must be an array with a row for each element"),
        ({"data": {"x": ("edges", [1.0, 2.0])}}, r"set `edges`: data `x` has 2 rows .* but 3 elements were given before"),
        ({"maps": {"ends": ("edges", "nodes", [])}}, r"map `ends` has no rows in the slice of this process: give an array of shape \(0, arity\)"),
        ({"maps": None}, "maps must be a dict by names, not None"),
        ({"maps": {1: ("edges", "nodes", [[0, 1]])}}, "maps: names must be strings, not 1"),
        ({"maps": {"ends": (["edges"], "nodes", [[0, 1]])}}, r"map `ends`: names must be strings, not \['edges'\]"),
        ({"data": {"data": ("nodes", [1.0, 2, 3])}}, "data: a mesh has an attribute `data` already; use another name"),
        ({"data": {"x": ("nodes", np.zeros((3, 0)))}}, "data `x` has no numbers for an element"),
        ({"data": {"x": ("nodes", [0.0, np.nan, 1.0])}}, "coordinates `x`: row 1 of its slice has a number that is not finite"),
        ({"sizes": {"edges": -1}}, "the size of set `edges` must be an integer from 0 to 2147483647, not -1"),
        ({"sizes": {"edges": 2.5}}, "the size of set `edges` must be an integer from 0 to 2147483647, not 2.5"),
        ({"sizes": {"edges": 2**64}}, "the size of set `edges` must be an integer from 0"),
        ({"by": "graph"}, "cannot be distributed by 'graph'"),
        ({"coordinates": None}, 'by="coordinates" needs coordinates='),
        ({"by": [0, 0, 0]}, "coordinates were given but are not used"),
        ({"by": [0, 0, -1], "coordinates": None}, "ranks are from 0 on"),
        ({"by": [0.0, 0, 1], "coordinates": None}, "3 ranks are needed as integers"),
        ({"by": [0, 0, 1], "coordinates": None}, "element 2 of its slice is assigned to rank 1, but there are 1 processes"),
        ({"sizes": {"edges": 4}}, r"map `ends` has 3 rows .* but 4 elements were given before"),
    ],
)
def test_mistakes_are_named(changed, message):
    arguments = {"maps": {"ends": ("edges", "nodes", [[0, 1], [1, 2], [2, 0]])}, "data": {"x": ("nodes", [0.0, 1.0, 2.0])}, "coordinates": "x", **changed}
    with pytest.raises(pl.errors.SetValueError, match=message):
        op2.distribute_slices("edges", **arguments)
    with pytest.raises(pl.errors.SetValueError, match="there is no set `cells`; sets are `edges`, `nodes`"):
        op2.distribute_slices("cells", maps={"ends": ("edges", "nodes", [[0, 0]])}, data={"x": ("nodes", [0.0])}, coordinates="x")
