"""Files of meshes that processes share: meshes that are read, checkpoints, and pieces of what is written."""

import importlib.util

import numpy as np
import parloop as pl
import parloop.mesh as op2
import pytest
from conftest import missing
from mpirun import passes


@pytest.mark.parametrize(("launcher", "ranks", "of_mpi4py"), [("openmpi", 1, False), ("openmpi", 2, True), ("openmpi", 3, False), ("mpich", 3, False)])
def test_a_mesh_is_read_by_rank_0_for_all(launcher, ranks, of_mpi4py, tmp_path):
    pytest.importorskip("meshio")
    if of_mpi4py and importlib.util.find_spec("mpi4py") is None:
        missing("mpi4py")
    whole = op2.box_mesh((6, 5))
    height = op2.Dat(whole.vertices, np.arange(42.0), name="height")
    whole.write(tmp_path / "plate.msh", height=height)
    program = f"""
    if {of_mpi4py}:
        from mpi4py import MPI
        comm = MPI.COMM_WORLD
    else:
        comm = world
    # Only rank 0 has the file.
    mesh = op2.read_mesh({str(tmp_path / "plate.msh")!r} if rank == 0 else "elsewhere.msh", comm=comm)
    assert (mesh.cells.size, mesh.vertices.size, mesh.name, mesh.coordinates.cdim) == (60, 42, "plate.msh", 2)
    left, corners, height = mesh.region("left", on="vertices"), mesh.map("cells", "vertices"), mesh.point_data["height"]
    assert left.size == 6 and height.data_ro.tolist() == list(range(42)) and set(mesh.regions) == {{"left", "right", "bottom", "top"}}
    total = op2.Dat(mesh.cells, name="total")
    table = corners.values.copy()
    op2.distribute(mesh.cells, by="graph")
    assert mesh.cells.is_distributed == (size > 1)
    op2.par_loop(op2.Kernel("void add(double *t, const double *h) {{ t[0] = h[0] + h[1] + h[2]; }}", "add"), mesh.cells, total(WRITE), height(READ, corners))
    assert total.gather().tolist() == np.arange(42.0)[table].sum(1).tolist()
    """
    passes(launcher, ranks, program, tmp_path)


def test_a_mesh_that_rank_0_cannot_read_is_an_error_of_all(tmp_path):
    pytest.importorskip("meshio")
    (tmp_path / "wrong.msh").write_text("nothing")
    program = f"""
    for path, words in ((r"{tmp_path}/none.msh", "none.msh`: no such file"), (r"{tmp_path}/wrong.msh", "cannot read")):
        try:
            op2.read_mesh(path, comm=world)
        except pl.errors.MeshFileError as error:
            assert words in str(error) and ("(on rank 0)" in str(error)) == (rank > 0), error
        else:
            raise AssertionError(words)
    try:
        op2.read_mesh("none.msh", comm=3)
    except pl.MeshError as error:
        assert "expected a Comm or an mpi4py communicator, not" in str(error), error
    """
    passes("openmpi", 2, program, tmp_path)


@pytest.mark.parametrize(("launcher", "ranks", "suffix"), [("openmpi", 2, ".npz"), ("mpich", 3, ".h5")])
def test_a_checkpoint_is_read_by_any_number_of_processes(launcher, ranks, suffix, tmp_path):
    path = tmp_path / f"step{suffix}"
    mesh = op2.box_mesh((6, 5))
    u, t = op2.Dat(mesh.vertices**2, np.arange(84.0).reshape(42, 2)), op2.Global(1, 7.0)
    op2.save(path, u=u, t=t)
    program = f"""
    mesh = op2.box_mesh((6, 5))
    u, t = op2.Dat(mesh.vertices**2), op2.Global(1, 0.0)
    op2.distribute(mesh.cells)
    op2.load({str(path)!r}, u=u, t=t)
    assert u.halo_valid and u.data_ro_with_halos[:, 1].tolist() == (2 * mesh.vertices.global_numbers + 1).tolist() and t.data_ro[0] == 7
    u *= 3
    op2.save({str(path)!r}, u=u, t=t)
    """
    passes(launcher, ranks, program, tmp_path)
    op2.load(path, u=u)
    assert u.data_ro.ravel().tolist() == (3 * np.arange(84.0)).tolist()
    assert [file.name for file in tmp_path.iterdir() if "step" in file.name] == [path.name]


def test_a_checkpoint_that_does_not_fit_changes_nothing(tmp_path):
    path, nodes = tmp_path / "step.npz", op2.Set(3, "nodes")
    u, v = op2.Dat(nodes, [1, 2, 3], float, "u"), op2.Dat(nodes**2, dtype=float, name="v")
    op2.save(path, u=u, v=v)
    u.data[:] = 9
    with pytest.raises(pl.errors.DataValueError, match=r"step.npz has no `w`, only u, v"):
        op2.load(path, u=u, w=u)
    with pytest.raises(pl.errors.DataTypeError, match="`v` in .* has numbers of type float64, but `n` of type int32"):
        op2.load(path, u=u, v=op2.Dat(nodes**2, dtype=np.int32, name="n"))
    with pytest.raises(pl.errors.DataValueError, match=r"`v` in .* has shape \(3, 2\), but `u` has \(3,\)"):
        op2.load(path, u=u, v=u)
    assert u.data_ro.tolist() == [9, 9, 9]
    with pytest.raises(pl.errors.DataValueError, match="a checkpoint must be a .h5 or .npz file, not step.txt"):
        op2.save(tmp_path / "step.txt", u=u)
    with pytest.raises(pl.errors.DataTypeError, match="`u` is an object of type list, not a Dat or a Global"):
        op2.save(path, u=[1])
    with pytest.raises(pl.errors.DataValueError, match="at least one Dat or Global"):
        op2.save(path)
    with pytest.raises(pl.errors.MeshFileError, match="cannot be read"):
        op2.load(tmp_path / "other.npz", u=u)
    with pytest.raises(pl.errors.MeshFileError, match="cannot be written"):
        op2.save(tmp_path / "none" / "step.npz", u=u)


def test_a_checkpoint_that_rank_0_cannot_write_or_read_is_an_error_of_all(tmp_path):
    program = f"""
    mesh = op2.box_mesh((3, 3))
    u = op2.Dat(mesh.vertices, np.arange(16.0), name="u")
    op2.distribute(mesh.cells)
    folder = {str(tmp_path)!r}
    if rank == 0:
        for name, text in (("wrong.npz", b"nothing"), ("cut.npz", b"PK" + bytes(range(99))), ("wrong.h5", b"nothing")):
            open(f"{{folder}}/{{name}}", "wb").write(text)
    for what, kind, words in (
        (lambda: op2.save(f"{{folder}}/none/u.npz", u=u), pl.errors.MeshFileError, "none/u.npz cannot be written"),
        (lambda: op2.load(f"{{folder}}/none.npz", u=u), pl.errors.MeshFileError, "none.npz cannot be read"),
        (lambda: op2.load(f"{{folder}}/wrong.npz", u=u), pl.errors.MeshFileError, "wrong.npz cannot be read: it is not a .npz file"),
        (lambda: op2.load(f"{{folder}}/cut.npz", u=u), pl.errors.MeshFileError, "cut.npz cannot be read"),
        (lambda: op2.save(f"{{folder}}/u.npz", file=u, allow_pickle=u), None, ""),
        # Only rank 0 has the file.
        (lambda: op2.load(f"{{folder}}/u.npz" if rank == 0 else "elsewhere.npz", file=u), None, ""),
        (lambda: op2.load(f"{{folder}}/u.npz", v=u), pl.errors.DataValueError, "u.npz has no `v`, only allow_pickle, file"),
    ):
        try:
            what()
        except Exception as error:
            assert kind is not None and type(error) is kind and words in str(error) and ("(on rank 0)" in str(error)) == (rank > 0), error
        else:
            assert kind is None, words
    assert u.gather().tolist() == list(range(16))
    """
    passes("openmpi", 2, program, tmp_path)


@pytest.mark.parametrize(("launcher", "ranks"), [("openmpi", 3), ("mpich", 2)])
def test_each_process_writes_its_piece_of_a_file(launcher, ranks, tmp_path):
    program = f"""
    mesh = op2.box_mesh((6, 5))
    cells, nodes = mesh.cells, mesh.vertices
    number, height = op2.Dat(cells, np.arange(cells.size), name="number"), op2.Dat(nodes, np.arange(1.0 * nodes.size), name="height")
    x = mesh.coordinates
    op2.distribute(cells)
    height.data[:] *= 2  # ghosts are stale
    mesh.write({str(tmp_path / "flow.pvtu")!r}, number=number, height=height, x=x)
    try:
        mesh.write({str(tmp_path / "flow.vtu")!r})
        raise AssertionError
    except pl.errors.SetValueError as error:
        assert "which is distributed" in str(error)
    """
    passes(launcher, ranks, program, tmp_path)
    meshio = pytest.importorskip("meshio")
    index = (tmp_path / "flow.pvtu").read_text()
    assert [f"flow_{rank}.vtu" in index for rank in range(ranks + 1)] == [True] * ranks + [False] and not (tmp_path / "flow.vtu").exists()
    whole = op2.box_mesh((6, 5))
    corners, places = whole.maps["triangle"].values, whole.coordinates.data_ro
    seen = []
    for rank in range(ranks):
        piece = meshio.read(tmp_path / f"flow_{rank}.vtu")
        numbers, points = piece.cell_data["number"][0].ravel().astype(int), piece.points[:, :2]
        seen += numbers.tolist()
        # Each cell has the corners that it has in the whole mesh, and points have the fields of their places.
        assert np.array_equal(points[piece.cells[0].data], places[corners[numbers]]) and np.array_equal(piece.point_data["x"][:, :2], points)
        found = np.argmin(np.abs(points[:, None] - places[None]).sum(-1), axis=1)
        assert np.array_equal(piece.point_data["height"].ravel(), 2 * found)
    assert sorted(seen) == list(range(whole.cells.size))
