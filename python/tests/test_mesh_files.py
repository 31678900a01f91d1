"""Files of meshes: what a format cannot have, writes that fail, series of times, and files that end too early."""

import re

import numpy as np
import pytest

import parloop as pl
import parloop.mesh as op2
from conftest import IN_CI

try:
    import h5py  # noqa: F401
    import meshio
except ImportError:
    meshio = None

pytestmark = pytest.mark.skipif(meshio is None and not IN_CI, reason="meshio or h5py is not installed")


def refuses(error, message):
    return pytest.raises(error, match="^" + re.escape(message) + "$")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def mesh():
    return op2.box_mesh((2, 2))


class TestReading:
    @pytest.mark.parametrize(
        ("name", "text", "message"),
        [
            ("a.ply", "ply\n", "the file ends too early"),
            ("a.ply", "ply\nformat ascii 1.0\nelement vertex 3\n", "the file ends too early"),
            ("a.ply", "plx\n", "Expected ply"),
            ("a.off", "OFF\n# nothing\n", "the file ends too early"),
            ("a.tec", 'VARIABLES = "X", "Y", "Z"\nZONE T="", N=3, E=1, DATAPACKING=BLOCK, ZONETYPE=FETRIANGLE\n0 1', "the file ends too early"),
            ("a.bdf", "BEGIN BULK\n", "the file ends too early"),
            ("a.mdpa", "Begin Nodes\n1 0 0 0\n", "the file ends too early"),
            ("a.msh", '(1 "a', "the file ends too early"),
            ("a.wkt", "TIN (((0.0000 0.00000 0.0000, 1.0000 0.0000 0.0000, 1.0000 1.0000 0.0000, 0.0000", "it is not a list of triangles (TIN)"),
            ("a.wkt", "TIN (((0 0 0, 1 0 0, 1e-5 1 0, 0 0 0)))", "`1e-5` is not a number that meshio reads in this format"),
            ("a.wkt", "TIN (((0 0 0, 1 0 0, 1 1 0)))", "a triangle has four points of three coordinates, the last of which is the first"),
            ("a.node", "# nothing\n", "the .node file of TetGen's has no numbers"),
            ("a.vtu", '<VTKFile type="UnstructuredGrid"><UnstructuredGrid><Piece NumberOfPoints="1" NumberOfCells="0">', "it has no cells"),
        ],
    )  # fmt: skip
    def test_files_that_end_too_early_are_refused(self, here, name, text, message):
        (here / name).write_text(text)
        with refuses(pl.MeshFileError, f"cannot read `{name}`: {message}"):
            op2.read_mesh(name)

    @pytest.mark.parametrize("ending", ["off", "ply", "bdf", "tec", "mdpa", "wkt", "avs", "obj", "stl", "mesh", "inp", "vol", "vtk", "msh", "dato"])
    def test_no_part_of_a_file_is_read_forever(self, here, mesh, ending):
        meshio.Mesh(np.pad(mesh.coordinates.data_ro, ((0, 0), (0, 1))), [("triangle", mesh.maps["triangle"].values)]).write(f"a.{ending}")
        assert op2.read_mesh(f"a.{ending}").cells.size == 8
        whole = (here / f"a.{ending}").read_bytes()
        for end in range(0, len(whole), max(1, len(whole) // 15)):
            (here / f"a.{ending}").write_bytes(whole[:end])
            try:
                op2.read_mesh(f"a.{ending}")
            except pl.MeshFileError as error:
                assert str(error).startswith(f"cannot read `a.{ending}`: ")

    def test_tetgens_files_are_read_and_those_without_tetrahedra_refused(self, here, mesh):
        op2.box_mesh((1, 1, 1)).write("a.node")
        assert op2.read_mesh("a.ele").cells.size == op2.read_mesh("a.node").cells.size == 6
        with pytest.warns(UserWarning, match="TetGen only supports tetrahedra"):
            mesh.write("a.node")
        with refuses(pl.MeshFileError, "cannot read `a.node`: the .ele file of TetGen's has no numbers"):
            op2.read_mesh("a.node")

    @pytest.mark.parametrize(
        ("points", "cell", "message"),
        [
            ("0 0 0", "0 1 7", "map `triangle vertices`: entry [0, 2] is 7, but set `vertices` has 3 elements"),
            ("nan 0 0", "0 1 2", "point 0 has coordinates that are not finite"),
        ],
    )
    def test_what_is_wrong_in_a_file_is_said_with_its_name(self, here, points, cell, message):
        (here / "a.off").write_text(f"OFF\n3 1 0\n{points}\n1 0 0\n0 1 0\n3 {cell}\n")
        with refuses(pl.MeshFileError, f"cannot read `a.off`: {message}"):
            op2.read_mesh("a.off")
