"""The airfoil program of the examples: its mesh, and the flow on every device against residuals of a program in plain C."""

import importlib
import pathlib
import sys

import numpy as np
import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))
from airfoil_mesh import FAR, WALL, airfoil_mesh  # noqa: E402


def fnv1a(data):
    """The hash that the test of the same mesh in Rust computes too."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def test_the_mesh_is_that_of_the_rust_example():
    assert fnv1a(b"".join(part.tobytes() for part in airfoil_mesh(40, 60))) == 0xBE2D9C61BDB0D36C


def test_the_mesh_of_the_published_residuals_has_its_counts():
    assert str(airfoil_mesh(400, 600)) == "720,000 cells, 721,801 nodes, 1,438,600 edges and 2,800 on the boundary"


@pytest.mark.parametrize(("third", "across"), [(1, 1), (1, 3), (4, 1), (7, 5)])
def test_every_side_of_every_cell_is_one_edge(third, across):
    mesh = airfoil_mesh(third, across)
    sides = np.zeros(len(mesh.cell_nodes), int)
    np.add.at(sides, mesh.edge_cells.ravel(), 1)
    np.add.at(sides, mesh.bedge_cells.ravel(), 1)
    assert (sides == 4).all()
    assert ((mesh.bound == WALL).sum(), (mesh.bound == FAR).sum()) == (third, 3 * third + 2 * across)
    # The lower side of the left third lies on that of the right one.
    assert np.array_equal(mesh.x[: third + 1], mesh.x[2 * third : 3 * third + 1][::-1])


def test_a_mesh_without_cells_is_refused():
    with pytest.raises(ValueError, match="at least one cell along each third and one across, not 0 and 5"):
        airfoil_mesh(0, 5)


def test_the_flow_has_the_known_residuals_on_every_device(ctx):
    example = importlib.import_module("05_airfoil")
    known = example.KNOWN[40, 60]
    with ctx:
        flow = example.Airfoil(airfoil_mesh(40, 60))
        for done in range(1, 101):
            flow.step()
            if done in known:
                assert example.agrees(flow.residual, known[done]), (done, flow.residual, known[done])


def test_a_recorded_iteration_is_replayed_on_every_device(ctx):
    example = importlib.import_module("05_airfoil")
    with ctx:
        flow = example.Airfoil(airfoil_mesh(40, 60))
        flow.step()
        with ctx.recording() as steps:
            flow.step()
        for _ in range(99):
            steps()
        assert example.agrees(flow.residual, example.KNOWN[40, 60][100]), flow.residual
