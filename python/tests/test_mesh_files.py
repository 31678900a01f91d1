"""Files of meshes: what a format cannot have, writes that fail, series of times, and files that end too early."""

import os
import re
import stat
import subprocess
import sys

import numpy as np
import pytest

import parloop as pl
import parloop.mesh as op2
from conftest import IN_CI
from parloop.mesh._second_order import SECOND_ORDER

try:
    import h5py
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


def numbers(mesh, first=0.0, dim=1):
    return op2.Dat(mesh.vertices**dim, first + np.arange(9.0 * dim).reshape((9, dim) if dim > 1 else 9))


class TestFields:
    @pytest.mark.parametrize("ending", ["stl", "off", "obj", "mesh", "inp", "bdf", "vol", "vol.gz", "post", "wkt", "mdpa", "xml", "svg", "node"])
    def test_formats_without_data_refuse_fields(self, here, mesh, ending):
        what = f"which a .{ending.split('.')[-1]} file does not support; write a .vtu or .xdmf file"
        with refuses(pl.errors.DataValueError, f"field `u` is on points, {what}"):
            mesh.write(f"a.{ending}", u=numbers(mesh))
        with refuses(pl.errors.DataValueError, f"field `c` is on cells, {what}"):
            mesh.write(f"a.{ending}", c=op2.Dat(mesh.cells))
        assert os.listdir(here) == []

    @pytest.mark.parametrize("ending", ["ply", "h5m", "msh"])
    def test_formats_with_data_on_points_refuse_fields_on_cells(self, here, mesh, ending):
        what = "a Gmsh file" if ending == "msh" else f"a .{ending} file"
        with refuses(pl.errors.DataValueError, f"field `c` is on cells, which {what} does not support; write a .vtu or .xdmf file"):
            mesh.write(f"a.{ending}", u=numbers(mesh), c=op2.Dat(mesh.cells))

    @pytest.mark.filterwarnings("ignore:meshio")
    @pytest.mark.parametrize("ending", ["vtu", "vtk", "xdmf", "xmf", "med", "avs", "tec", "hmf", "ply", "h5m", "msh"])
    def test_fields_are_read_back_from_formats_that_have_them(self, here, mesh, ending):
        mesh.write(f"a.{ending}", u=numbers(mesh, 0.1))
        np.testing.assert_allclose(op2.read_mesh(f"a.{ending}").data("u").data_ro, 0.1 + np.arange(9), rtol=1e-14)
        if ending not in ("ply", "h5m", "msh"):
            mesh.write(f"a.{ending}", c=op2.Dat(mesh.cells, np.arange(8.0)))
            assert op2.read_mesh(f"a.{ending}").data("c", on="triangle").data_ro.tolist() == list(range(8))

    @pytest.mark.parametrize(
        ("name", "dim", "message"),
        [
            ("a.msh", 2, "field `u` has 2 components, but a Gmsh file has fields of 1, 3 or 9; write a .vtu file"),
            ("a.xdmf", 5, "field `u` has 5 components, but an .xdmf file has fields of 1, 2, 3, 6 or 9; write a .vtu file"),
            ("a.ply", 3, "field `u` has 3 components, but a .ply file has fields of 1; write a .vtu file"),
        ],
    )
    def test_formats_refuse_numbers_of_components_that_they_do_not_have(self, here, mesh, name, dim, message):
        with refuses(pl.errors.DataValueError, message):
            mesh.write(name, u=numbers(mesh, dim=dim))

    @pytest.mark.parametrize("ending", ["vtu", "xdmf", "vtk", "msh"])
    def test_types_that_no_file_has_are_refused_by_the_name_of_the_field(self, here, mesh, ending):
        with refuses(pl.errors.DataTypeError, "field `u` has type bool, which a file cannot hold; write it as integers"):
            mesh.write(f"a.{ending}", u=op2.Dat(mesh.vertices, np.ones(9, bool), name="other"))

    @pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.uint32])
    @pytest.mark.parametrize("ending", ["vtu", "vtk", "xdmf"])
    def test_integers_keep_all_their_bits(self, here, mesh, dtype, ending):
        largest = int(np.iinfo(dtype).max)
        values = np.array([0, 1, *(largest - i for i in range(7))], dtype)
        mesh.write(f"a.{ending}", q=op2.Dat(mesh.vertices, values))
        assert [int(value) for value in meshio.read(f"a.{ending}").point_data["q"]] == values.tolist()

    @pytest.mark.parametrize(("ending", "largest", "what"), [("msh", 2**53, "a Gmsh file"), ("avs", 10**14, "a .avs file")])
    def test_formats_of_doubles_refuse_integers_that_are_none(self, here, mesh, ending, largest, what):
        mesh.write(f"a.{ending}", q=op2.Dat(mesh.vertices, largest - np.arange(9)))
        assert [int(value) for value in meshio.read(f"a.{ending}").point_data["q"]] == [largest - i for i in range(9)]
        for wrong in (largest + np.arange(9), -largest - np.arange(9)):
            with refuses(pl.errors.DataValueError, f"field `q` has integers beyond {largest}, which {what} does not support; write a .vtu or .xdmf file"):
                mesh.write(f"a.{ending}", q=op2.Dat(mesh.vertices, wrong))

    @pytest.mark.parametrize("name", ["path", "coordinates", "map", "shape", "time"])
    def test_fields_may_have_any_name(self, here, mesh, name):
        mesh.write("a.vtu", **{name: numbers(mesh)})
        assert op2.read_mesh("a.vtu").data(name).data_ro.tolist() == list(range(9))
        with op2.TimeSeries("a.xdmf", mesh) as series:
            series.write(0, **{name: numbers(mesh)})
        assert steps("a.xdmf") == [(0, {name: 0})]

    @pytest.mark.parametrize("counts", [(3,), (2, 1), (1, 1, 1)])
    @pytest.mark.parametrize("degree", [1, 2])
    def test_spaces_are_written_in_gmshs_format(self, here, counts, degree):
        mesh = op2.box_mesh(counts)
        space = mesh.space(degree)
        space.write("a.msh", u=op2.Dat(space.nodes, np.arange(space.nodes.size, dtype=float)))
        assert (here / "a.msh").read_bytes().startswith(b"$MeshFormat")
        again = op2.read_mesh("a.msh")
        assert again.cell_type == (mesh.cell_type if degree == 1 else SECOND_ORDER[mesh.cell_type])
        assert (again.maps[again.cell_type].values == space.map.values).all() and not again.regions
        assert again.data("u").data_ro.tolist() == list(range(space.nodes.size))


class TestReplacing:
    @pytest.mark.parametrize("ending", ["vtu", "msh", "xdmf", "vtk", "avs", "med"])
    def test_a_write_that_fails_leaves_the_file_that_was_there(self, here, mesh, ending, monkeypatch):
        mesh.write(f"a.{ending}", u=numbers(mesh))
        before = {name: (here / name).read_bytes() for name in os.listdir(here)}
        with pytest.raises(pl.MeshError):
            mesh.write(f"a.{ending}", u=op2.Dat(mesh.vertices, np.ones(9, bool)))

        def fails(file, *_, **__):
            with open(file, "w") as opened:
                opened.write("half")
            raise pl.errors.MeshFileError(f"cannot write `{file}`: no space left")

        monkeypatch.setattr("parloop.mesh._write.write_vtk", fails)
        monkeypatch.setattr(meshio.Mesh, "write", lambda self, file, **_: fails(file))
        with pytest.raises(pl.errors.MeshFileError, match=f"cannot write `a.{ending}`.*no space left"):
            mesh.write(f"a.{ending}", u=numbers(mesh))
        assert {name: (here / name).read_bytes() for name in os.listdir(here)} == before

    def test_files_that_are_replaced_keep_their_permissions_and_links(self, here, mesh):
        (here / "there").mkdir()
        for ending in ("vtu", "vtk"):
            real, link = here / "there" / f"real.{ending}", here / f"link.{ending}"
            real.write_text("old")
            real.chmod(0o640)
            link.symlink_to(real)
            mesh.write(link)
            assert link.is_symlink() and op2.read_mesh(real).cells.size == 8 and stat.S_IMODE(real.stat().st_mode) == 0o640
        assert sorted(os.listdir(here / "there")) == ["real.vtk", "real.vtu"]

    def test_what_is_not_a_file_is_not_replaced(self, here, mesh):
        (here / "a.vtk").mkdir()
        with pytest.raises(pl.errors.MeshFileError, match="cannot write `a.vtk`: .*Is a directory"):
            mesh.write("a.vtk")
        assert (here / "a.vtk").is_dir() and os.listdir(here) == ["a.vtk"]


def steps(path):
    with meshio.xdmf.TimeSeriesReader(path) as reader:
        reader.read_points_cells()
        return [(time, {name: values[0] for name, values in points.items()}) for time, points, _ in map(reader.read_data, range(reader.num_steps))]


class TestSeries:
    def test_a_series_that_is_not_closed_has_no_times_of_an_earlier_one(self, here, mesh):
        with op2.TimeSeries("a.xdmf", mesh) as series:
            for time in range(3):
                series.write(time, u=numbers(mesh, time + 1))
        assert steps("a.xdmf") == [(0, {"u": 1}), (1, {"u": 2}), (2, {"u": 3})]
        program = (
            "import os, numpy as np, parloop.mesh as op2\n"
            "mesh = op2.box_mesh((2, 2))\n"
            "series = op2.TimeSeries('a.xdmf', mesh)\n"
            "series.write(100, u=op2.Dat(mesh.vertices, np.full(9, 777.0)))\n"
            "{}series.write(101, u=op2.Dat(mesh.vertices, np.full(9, 778.0)))\n"
            "series._writer.h5_file.flush()\n"
            "os._exit(3)\n"
        )
        for flush, expected in (("", []), ("series.flush();", [(100, {"u": 777})])):
            assert subprocess.run([sys.executable, "-c", program.format(flush)], cwd=here).returncode == 3
            assert steps("a.xdmf") == expected

    def test_a_series_that_cannot_begin_leaves_what_was_there(self, here, mesh, monkeypatch):
        with op2.TimeSeries("a.xdmf", mesh) as series:
            series.write(0, u=numbers(mesh, 5))
        with refuses(pl.errors.DataTypeError, "a time series needs a Mesh, not 3"):
            op2.TimeSeries("a.xdmf", 3)
        with refuses(pl.errors.MeshFileError, "the path of a time series must be a string, not 3"):
            op2.TimeSeries(3, mesh)
        monkeypatch.setattr(meshio.xdmf.TimeSeriesWriter, "write_points_cells", lambda *_: 1 / 0)
        with refuses(pl.errors.MeshFileError, "cannot write `a.xdmf`: division by zero"):
            op2.TimeSeries("a.xdmf", mesh)
        assert steps("a.xdmf") == [(0, {"u": 5})] and sorted(os.listdir(here)) == ["a.h5", "a.xdmf"]

    def test_a_step_that_fails_is_not_in_the_file(self, here, mesh, monkeypatch):
        with op2.TimeSeries("a.xdmf", mesh) as series:
            series.write(0, u=numbers(mesh))
            with refuses(pl.errors.DataValueError, "field `v` has 5 components, but an .xdmf file has fields of 1, 2, 3, 6 or 9; write a .vtu file"):
                series.write(1, u=numbers(mesh), v=numbers(mesh, dim=5))
            with monkeypatch.context() as patched:
                patched.setattr(meshio.xdmf.TimeSeriesWriter, "cell_data", lambda *_: 1 / 0)
                with refuses(pl.errors.MeshFileError, "cannot write `a.xdmf`: division by zero"):
                    series.write(1, u=numbers(mesh), c=op2.Dat(mesh.cells))
            series.write(2, u=numbers(mesh, 2))
        assert steps("a.xdmf") == [(0, {"u": 0}), (2, {"u": 2})]
        with h5py.File("a.h5") as file:
            assert len(file) == 4  # points, cells, and u twice

    def test_a_series_stays_in_the_folder_where_it_began(self, here, mesh, monkeypatch):
        (here / "other").mkdir()
        (here / "other" / "a.xdmf").write_text("of somebody else")
        series = op2.TimeSeries("a.xdmf", mesh)
        series.write(0, u=numbers(mesh))
        monkeypatch.chdir(here / "other")
        series.flush()
        series.close()
        assert (here / "other" / "a.xdmf").read_text() == "of somebody else" and os.listdir(here / "other") == ["a.xdmf"]
        assert steps(here / "a.xdmf") == [(0, {"u": 0})]


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
            ("a.wkt", "TIN (((0 0 0, 1 0 0, 1e-5 1 0, 0 0 0)))", "`1e-5` is not a number that meshio can read in this format"),
            ("a.wkt", "TIN (((0 0 0, 1 0 0, 1 1 0)))", "a triangle needs four points of three coordinates, and the last must equal the first"),
            ("a.node", "# nothing\n", "the TetGen .node file has no numbers"),
            ("a.vtu", '<VTKFile type="UnstructuredGrid"><UnstructuredGrid><Piece NumberOfPoints="1" NumberOfCells="0">', "it has no cells"),
        ],
    )  # fmt: skip
    def test_files_that_end_too_early_are_refused(self, here, name, text, message):
        (here / name).write_text(text)
        with refuses(pl.errors.MeshFileError, f"cannot read `{name}`: {message}"):
            op2.read_mesh(name)

    @pytest.mark.filterwarnings("ignore")  # of NumPy's, about numbers that are not there
    @pytest.mark.parametrize("ending", ["off", "ply", "bdf", "tec", "mdpa", "wkt", "avs", "obj", "stl", "mesh", "inp", "vol", "vtk", "msh", "dato"])
    def test_no_part_of_a_file_is_read_forever(self, here, mesh, ending):
        meshio.Mesh(np.pad(mesh.coordinates.data_ro, ((0, 0), (0, 1))), [("triangle", mesh.maps["triangle"].values)]).write(f"a.{ending}")
        assert op2.read_mesh(f"a.{ending}").cells.size == 8
        whole = (here / f"a.{ending}").read_bytes()
        for end in range(0, len(whole), max(1, len(whole) // 15)):
            (here / f"a.{ending}").write_bytes(whole[:end])
            try:
                op2.read_mesh(f"a.{ending}")
            except pl.errors.MeshFileError as error:
                assert str(error).startswith(f"cannot read `a.{ending}`: ")

    def test_tetgens_files_are_read_and_those_without_tetrahedra_refused(self, here, mesh):
        op2.box_mesh((1, 1, 1)).write("a.node")
        assert op2.read_mesh("a.ele").cells.size == op2.read_mesh("a.node").cells.size == 6
        with pytest.warns(UserWarning, match="TetGen only supports tetrahedra"):
            mesh.write("a.node")
        with refuses(pl.errors.MeshFileError, "cannot read `a.node`: the TetGen .ele file has no numbers"):
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
        with refuses(pl.errors.MeshFileError, f"cannot read `a.off`: {message}"):
            op2.read_mesh("a.off")


def test_names_of_meshes_are_text():
    with refuses(pl.errors.NameTypeError, "the name of a mesh must be a string, not an object of type int"):
        op2.box_mesh(3, name=3)


@pytest.mark.filterwarnings("error")
def test_boxes_may_be_as_large_as_numbers_are():
    assert op2.box_mesh(4, lower=-1e308, upper=1e308).coordinates.data_ro.tolist() == [-1e308, -5e307, 0, 5e307, 1e308]
