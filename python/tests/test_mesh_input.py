"""Meshes from files and boxes: connectivity, regions, refinement, spaces and output, against brute force and known sums."""

import itertools
import os
import re
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import parloop as pl
import parloop.mesh as op2
from conftest import IN_CI
from parloop.mesh._second_order import SECOND_ORDER
from parloop.mesh._shapes import CELL_TYPES, SHAPES
from parloop.mesh._topology import find_entities, find_sides, locate, number_rows

try:
    import h5py  # noqa: F401
    import meshio

    from parloop.mesh._meshio import require

    require("meshio", "a test")
except ImportError:
    meshio = None

needs_meshio = pytest.mark.skipif(meshio is None and not IN_CI, reason="meshio or h5py is not installed")

BOXES = [((5,), "line"), ((3, 2), "triangle"), ((3, 2), "quad"), ((3, 2, 2), "tetra"), ((3, 2, 2), "hexahedron")]

#: A cell of each shape whose volume is positive, and the volume.
CELLS = {
    "line": ([[0], [2]], 2),
    "triangle": ([[0, 0], [1, 0], [0, 1]], 1 / 2),
    "quad": ([[0, 0], [1, 0], [1, 1], [0, 1]], 1),
    "tetra": ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], 1 / 6),
    "pyramid": ([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]], 1 / 3),
    "wedge": ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]], 1 / 2),
    "hexahedron": ([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]], 1),
}


def refuses(error, message):
    return pytest.raises(error, match="^" + re.escape(message) + "$")


def volumes(x, shape, table):
    """Signed volumes of first-order cells whose faces are flat, by the divergence theorem."""
    return six_volumes(x, shape, table) / 6


def six_volumes(x, shape, table):
    """Six times the volumes, which are exact where coordinates are small multiples of a power of two."""
    if shape == "line":
        return 6 * (x[table[:, 1]] - x[table[:, 0]])[:, 0]
    if SHAPES[shape].dim == 2:
        a, b = x[table], x[np.roll(table, -1, axis=1)]
        return (a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]).sum(axis=1) * 3
    total = np.zeros(len(table))
    for face in SHAPES[shape].faces:
        for k in range(1, len(face) - 1):
            a, b, c = (x[table[:, face[i]]] for i in (0, k, k + 1))
            total += np.einsum("ni,ni->n", a, np.cross(b, c))
    return total


def mesh_volumes(mesh):
    return volumes(points_of(mesh), mesh.cell_type, mesh.maps[mesh.cell_type].values)


def points_of(mesh):
    """The coordinates, a row for each vertex or node."""
    return mesh.coordinates.data_ro.reshape(-1, mesh.coordinates.cdim)


def euler(mesh):
    """Vertices - edges + faces - cells."""
    counts = [mesh.vertices.size]
    if mesh.dim > 1:
        counts.append(mesh.sets["edges"].size)
    if mesh.dim > 2:
        counts.append(mesh.sets["faces"].size)
    return sum((-1) ** i * n for i, n in enumerate([*counts, mesh.cells.size]))


def check_conforming(mesh, volume):
    """Cells of positive volume that fill the box, facets with one or two cells, and no hole."""
    each = six_volumes(points_of(mesh), mesh.cell_type, mesh.maps[mesh.cell_type].values)
    assert (each > 0).all() and each.sum() == 6 * volume
    assert euler(mesh) == 1
    facets, boundary, interior = mesh.map("cells", "facets"), mesh.sets["boundary"], mesh.sets["interior"]
    assert boundary.size + interior.size == mesh.sets["facets"].size
    assert boundary.size + 2 * interior.size == facets.values.size
    count = np.bincount(facets.values.ravel(), minlength=facets.toset.size)
    assert (count[mesh.map("interior", "facets").values] == 2).all() and (count[mesh.map("boundary", "facets").values] == 1).all()


def check_outward(mesh):
    """The boundary is closed, and its facets have the volume inside by the divergence theorem."""
    x, rows = mesh.coordinates.data_ro, mesh.map("boundary", "vertices").values
    if mesh.dim == 2:
        a, b = x[rows[:, 0]], x[rows[:, 1]]
        inside = (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum() / 2
    else:
        inside = sum(np.einsum("ni,ni->n", x[rows[:, 0]], np.cross(x[rows[:, k]], x[rows[:, k + 1]])).sum() / 6 for k in range(1, rows.shape[1] - 1))
    assert np.isclose(inside, mesh_volumes(mesh).sum())


def random_box(counts, kind, seed):
    """A box with vertices and cells in random order."""
    rng, box = np.random.default_rng(seed), op2.box_mesh(counts, kind)
    numbers = rng.permutation(box.vertices.size)
    points = np.empty_like(points_of(box))
    points[numbers] = points_of(box)
    return op2.Mesh(points, {kind: rng.permutation(numbers[box.maps[kind].values])})


class TestBoxes:
    @pytest.mark.parametrize(("counts", "kind"), BOXES)
    def test_a_box_is_conforming_and_fills_its_volume(self, counts, kind):
        upper = (2.0, 4.0, 8.0)[: len(counts)]
        mesh = op2.box_mesh(counts, kind, lower=-1.0, upper=upper)
        whole = op2.box_mesh([2 ** len(counts)] * len(counts), kind, lower=0.0, upper=1.0)
        check_conforming(whole, 1.0)
        assert (mesh_volumes(mesh) > 0).all() and np.isclose(mesh_volumes(mesh).sum(), np.prod(np.array(upper) + 1)) and euler(mesh) == 1
        assert points_of(mesh).min(axis=0).tolist() == [-1.0] * len(counts) and points_of(mesh).max(axis=0).tolist() == list(upper)
        if mesh.dim > 1:
            check_outward(mesh)

    @pytest.mark.parametrize(("counts", "kind"), BOXES)
    def test_the_sides_of_a_box_are_regions(self, counts, kind):
        mesh = op2.box_mesh(counts, kind, lower=0, upper=range(1, len(counts) + 1))
        names = ["left", "right", "bottom", "top", "back", "front"][: 2 * len(counts)]
        assert list(mesh.regions) == names and sum(mesh.region(name).size for name in names) == mesh.boundary.size
        x = points_of(mesh)
        for axis, side in itertools.product(range(len(counts)), (0, 1)):
            name, where = names[2 * axis + side], side * (axis + 1.0)
            assert mesh.region(name, on="vertices").indices.tolist() == np.flatnonzero(x[:, axis] == where).tolist()
            facets = mesh.map("boundary", "vertices").values[mesh.region(name, on="boundary").indices]
            assert (x[facets][:, :, axis] == where).all() and len(facets) == mesh.region(name).size
        # The facets are turned as the boundary is: lines have the same ends, faces the same vertices up to where they begin.
        given, found = ({tuple(row if len(row) == 2 else np.roll(row, -row.argmin())) for row in table} for table in
                        (mesh.maps[mesh.region("left").superset.name].values, mesh.map("boundary", "vertices").values))  # fmt: skip
        assert given == found

    @pytest.mark.parametrize(
        ("make", "error", "message"),
        [
            (lambda: op2.box_mesh((2, 0)), pl.errors.DataValueError, "the counts of a box must be one, two or three positive integers, not (2, 0)"),
            (lambda: op2.box_mesh((2, 2.0)), pl.errors.DataValueError, "the counts of a box must be one, two or three positive integers, not (2, 2.0)"),
            (lambda: op2.box_mesh((1, 1, 1, 1)), pl.errors.DataValueError, "the counts of a box must be one, two or three positive integers, not (1, 1, 1, 1)"),
            (lambda: op2.box_mesh((2, 2), "tetra"), pl.errors.SetValueError, "a box with 2 counts can have cells of kind triangle or quad, not tetra"),
            (lambda: op2.box_mesh((2, 2), "triangel"), pl.errors.SetValueError, 'unknown kind of cells "triangel"; did you mean "triangle"? (line, triangle, quad, tetra, hexahedron)'),
            (lambda: op2.box_mesh((2, 2), lower=(0, 0, 0)), pl.errors.DataValueError, "the lower corner must be a number or one for each of 2 axes, not (0, 0, 0)"),
            (lambda: op2.box_mesh((2, 2), upper="a"), pl.errors.DataValueError, "the upper corner must be a number or one for each of 2 axes, not 'a'"),
            (lambda: op2.box_mesh((2, 2), upper=(1, 0)), pl.errors.DataValueError, "the lower corner (0.0, 0.0) is not below the upper corner (1.0, 0.0)"),
        ],
    )  # fmt: skip
    def test_what_is_not_a_box_is_refused(self, make, error, message):
        with refuses(error, message):
            make()


class TestConnectivity:
    @pytest.mark.parametrize("shape", CELLS)
    def test_every_shape_has_edges_and_outward_faces(self, shape):
        points, volume = CELLS[shape]
        assert np.isclose(volumes(np.array(points, float), shape, np.arange(len(points))[None, :])[0], volume)
        reference = SHAPES[shape]
        if reference.dim == 3:
            assert len(points) - len(reference.edges) + len(reference.faces) == 2
            # Each edge belongs to two faces, which go along it in opposite directions.
            along = [(face[i - 1], face[i]) for face in reference.faces for i in range(len(face))]
            assert len(set(along)) == len(along) and set(along) == {edge[::turn] for edge in reference.edges for turn in (1, -1)}

    @pytest.mark.parametrize("width", [1, 2, 3, 4, 8])
    @pytest.mark.parametrize("largest", [3, 2**20, 2**31 - 1])
    def test_rows_with_the_same_vertices_have_one_number(self, width, largest):
        rng = np.random.default_rng(width)
        values = rng.integers(0, largest, 6, endpoint=True)
        # Rows that differ in their first vertex alone, by which keys of a wrong size would not differ.
        rows = rng.permuted(np.concatenate([rng.choice(values, (60, width)), [[first] + [largest] * (width - 1) for first in (0, 1, 2)]]), axis=1)
        first, numbers = number_rows(rows)
        by_hand = sorted({tuple(sorted(row)) for row in rows.tolist()})
        assert [by_hand[i] for i in numbers] == [tuple(sorted(row)) for row in rows.tolist()]
        assert first.tolist() == [numbers.tolist().index(i) for i in range(len(by_hand))]
        if largest > 2**20:
            return  # looking rows up marks vertices, as many as there are
        found = locate(rows[::2], rows[:30])
        assert all((i < 0) == (number not in numbers[:30]) and (i < 0 or numbers[i] == number) for i, number in zip(found, numbers[::2], strict=True))

    def test_facets_of_the_boundary_have_no_second_cell(self):
        sides = find_sides(find_entities("line", {"triangle": np.array([[0, 1, 2], [0, 2, 3]])}, {"triangle": "triangle"}))
        assert sides.number.tolist() == [1, 2, 1, 1, 1] and sides.first.tolist() == [0, 0, 1, 0, 1] and sides.second.tolist() == [-1, 1, -1, -1, -1]
        assert sides.first_local.tolist() == [0, 2, 2, 1, 1]

    @pytest.mark.parametrize(("counts", "kind"), BOXES)
    def test_edges_and_faces_are_those_of_a_search_by_hand(self, counts, kind):
        mesh = random_box(counts, kind, 3)
        table = mesh.maps[kind].values
        for name in ["edges", "faces"][: mesh.dim - 1]:
            local = SHAPES[kind].edges if name == "edges" else SHAPES[kind].faces
            expected = {frozenset(row[list(part)]) for row in table for part in local}
            found = [frozenset(row) for row in mesh.map(name, "vertices").values]
            assert len(found) == len(set(found)) and set(found) == expected
            for row, numbers in zip(table, mesh.map("cells", name).values, strict=True):
                assert [found[i] for i in numbers] == [frozenset(row[list(part)]) for part in local]
        if mesh.dim > 1:
            check_outward(mesh)
            ends = mesh.map("edges", "vertices").values
            assert (ends[:, 0] < ends[:, 1]).all()
        if mesh.dim == 3:
            edges = mesh.map("faces", "edges").values
            faces = mesh.map("faces", "vertices").values
            assert [set(ends[row].ravel()) for row in edges] == [set(row) for row in faces]

    @pytest.mark.parametrize(("counts", "kind"), BOXES)
    def test_facets_know_their_cells(self, counts, kind):
        mesh = random_box(counts, kind, 5)
        facets = mesh.map("cells", "facets").values
        for name, arity in (("boundary", 1), ("interior", 2)):
            cells, ids = mesh.map(name, "cells").values, mesh.map(name, "facets").values
            assert cells.shape[1] == arity and (facets[cells] == ids[:, :, None]).any(axis=2).all()
            assert (np.sort(cells, axis=1)[:, 1:] > np.sort(cells, axis=1)[:, :-1]).all()

    @given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 100))
    def test_the_numbering_of_a_mesh_does_not_change_what_it_is(self, nx, ny, seed):
        mesh = random_box((nx, ny), "triangle", seed)
        assert euler(mesh) == 1 and mesh.boundary.size == 2 * (nx + ny) and mesh.sets["edges"].size == 3 * nx * ny + nx + ny

    def test_a_loop_over_boundary_facets_sees_the_cells_behind(self):
        mesh = op2.box_mesh((4, 3), upper=(4, 3))
        length = op2.Dat(mesh.cells, name="length")
        kernel = op2.Kernel(
            "void add(double *length, double *x[2]) { length[0] += fabs(x[1][0] - x[0][0]) + fabs(x[1][1] - x[0][1]); }", "add", headers=["#include <math.h>"]
        )
        args = length(op2.INC, mesh.map("boundary", "cells")), mesh.coordinates(op2.READ, mesh.map("boundary", "vertices"))
        op2.par_loop(kernel, mesh.region("left", on="boundary"), *args, context="cpu:1")
        assert length.data_ro.sum() == 3
        op2.par_loop(kernel, mesh.boundary, *args, context="cpu:1")
        assert length.data_ro.sum() == 3 + 14

    def test_cells_of_several_types_share_edges(self):
        mesh = op2.Mesh([[0, 0], [1, 0], [1, 1], [0, 1], [2, 0]], {"quad": [[0, 1, 2, 3]], "triangle": [[1, 4, 2]]})
        assert mesh.sets["edges"].size == 6 and mesh.sets["interior"].size == 1 and mesh.boundary.size == 5
        shared = set(mesh.map("quad", "edges").values.ravel()) & set(mesh.map("triangle", "edges").values.ravel())
        assert mesh.map("interior", "facets").values.ravel().tolist() == list(shared)
        assert mesh.map("edges", "vertices").values[shared.pop()].tolist() == [1, 2]
        with refuses(pl.errors.SetValueError, 'the mesh has cells of several types, so `cells` is ambiguous; use one of mesh.sets["quad"], mesh.sets["triangle"]'):
            mesh.cells  # noqa: B018 - a property that refuses
        with refuses(pl.errors.MapValueError, "there is no map from `boundary` to `quad`: the cells behind them are of several types (quad, triangle)"):
            mesh.map("boundary", "quad")

    def test_faces_of_several_shapes_are_sets_of_their_own(self):
        points, _ = CELLS["wedge"]
        mesh = op2.Mesh([*points, [0, 0, 2]], {"wedge": [[0, 1, 2, 3, 4, 5]], "tetra": [[3, 4, 5, 6]]})
        assert mesh.map("wedge", "triangle faces").shape == (1, 2) and mesh.map("wedge", "quad faces").shape == (1, 3)
        assert mesh.sets["triangle interior"].size == 1 and mesh.sets["triangle boundary"].size == 4 and mesh.sets["quad boundary"].size == 3
        assert mesh.sets["quad interior"].size == 0
        with refuses(pl.errors.SetValueError, "the mesh has faces of several shapes; use one of triangle faces, quad faces"):
            mesh.map("wedge", "faces")

    def test_lines_of_a_file_find_their_facets_and_cells(self):
        mesh = op2.box_mesh((2, 2))
        for to in ("facets", "boundary"):
            assert [sorted(mesh.map(to, "vertices").values[i]) for (i,) in mesh.map("line", to).values] == np.sort(mesh.maps["line"].values).tolist()
        cells = mesh.maps["triangle"].values[mesh.map("line", "cells").values[:, 0]]
        assert all(set(line) <= set(cell) for line, cell in zip(mesh.maps["line"].values, cells, strict=True))

    def test_sets_and_maps_are_made_once(self):
        mesh = op2.box_mesh((2, 2))
        assert mesh.map("cells", "edges") is mesh.map("triangle", "facets") and mesh.map("cells", "vertices") is mesh.maps["triangle"]
        assert mesh.sets["edges"] is mesh.map("cells", "edges").toset and mesh.cells is mesh.sets["triangle"] and mesh.space(2) is mesh.space(2)
        assert list(mesh.sets) == ["vertices", "triangle", "line", "edges", "boundary", "interior"] and "faces" not in mesh.sets
        assert mesh.sets.get("faces") is None and mesh.maps.get("line") is mesh.maps["line"]

    @pytest.mark.parametrize(
        ("ask", "error", "message"),
        [
            (lambda m: m.sets["edge"], pl.errors.SetValueError, 'unknown set "edge"; did you mean "edges"? (vertices, triangle, line, edges, boundary, interior, cells, facets)'),
            (lambda m: m.sets["faces"], pl.errors.SetValueError, "a mesh of dimension 2 has no faces; it has vertices, triangle, line, edges, boundary, interior"),
            (lambda m: m.maps["quad"], pl.errors.MapValueError, 'unknown cell type "quad" (triangle, line); mesh.map() makes other maps'),
            (lambda m: m.map("cells", "triangle"), pl.errors.MapValueError, "a map needs two different sets, but both are `triangle`"),
            (lambda m: m.map("vertices", "cells"), pl.errors.MapValueError, "there is no map from `vertices` to `triangle`: elements of `vertices` belong to any number of cells"),
            (lambda m: m.map("vertices", "edges"), pl.errors.MapValueError, "a vertex belongs to any number of `edges`, so there is no map from `vertices` to `edges`"),
            (lambda m: m.map("cells", "boundary"), pl.errors.MapValueError, "there is no map from `triangle` to `boundary`: the line with vertices 2, 0 of element 0 is not in `boundary`"),
            (lambda m: m.region("wal"), pl.errors.SetValueError, 'unknown region "wal"; did you mean "wall"? (wall, inside, all, tip, none)'),
            (lambda m: m.regions["xyz"], pl.errors.SetValueError, 'unknown region "xyz" (wall, inside, all, tip, none)'),
            (lambda m: m.region("all"), pl.errors.SetValueError, "region `all` has elements of line, triangle; select one with on="),
            (lambda m: m.region("none"), pl.errors.SetValueError, "region `none` is empty; give its set with on="),
            (lambda m: m.region("inside", on="boundary"), pl.errors.SetValueError, "region `inside` has elements of triangle, of which none is a line of `boundary`"),
            (lambda m: m.data("u"), pl.errors.DataValueError, 'unknown data "u" (v)'),
            (lambda m: m.data("v"), pl.errors.DataValueError, "data `v` is on vertices, line; select one with on="),
            (lambda m: m.data("v", on="cells"), pl.errors.DataValueError, "data `v` is on vertices, line, not on `triangle`"),
            (lambda m: m.map(3, "cells"), pl.errors.NameTypeError, "the name of a set must be a string, not an object of type int"),
            (lambda m: m.region(["wall"]), pl.errors.NameTypeError, "the name of a region must be a string, not an object of type list"),
            (lambda m: m.data(None), pl.errors.NameTypeError, "the name of a field must be a string, not an object of type NoneType"),
            (lambda m: m.space(True), pl.errors.DataValueError, "a space must have degree 1 or 2, not True"),
            (lambda m: m.space(3), pl.errors.DataValueError, "a space must have degree 1 or 2, not 3"),
        ],
    )  # fmt: skip
    def test_what_a_mesh_does_not_have_is_refused(self, ask, error, message):
        mesh = op2.Mesh(
            [[0, 0], [1, 0], [1, 1], [0, 1]],
            {"triangle": [[0, 1, 2], [0, 2, 3]], "line": [[0, 1]]},
            regions={"wall": {"line": [0]}, "inside": {"triangle": [1]}, "all": {"line": [0], "triangle": [0, 1]}, "tip": {"vertices": [2]}, "none": {}},
            point_data={"v": np.zeros(4)},
            cell_data={"v": {"line": [1.0]}},
        )
        with refuses(error, message):
            ask(mesh)

    @pytest.mark.parametrize(
        ("make", "error", "message"),
        [
            (lambda x: op2.Mesh(x, {"triangles": [[0, 1, 2]]}), pl.errors.SetValueError, 'unknown cell type "triangles"; did you mean "triangle"? (' + ", ".join(CELL_TYPES) + ")"),
            (lambda x: op2.Mesh(x, {"triangle": [[0, 1]]}), pl.errors.MapValueError, "a cell of type `triangle` has 3 vertices, but the table has shape (1, 2)"),
            (lambda x: op2.Mesh(x, {"triangle": [[0, 1.0, 2]]}), pl.errors.MapTypeError, "the vertices of `triangle` must be integers, not numbers of type float64"),
            (lambda x: op2.Mesh(x, {"triangle": [[0, 1, 3]]}), pl.errors.MapValueError, "map `triangle vertices`: entry [0, 2] is 3, but set `vertices` has 3 elements"),
            (lambda x: op2.Mesh(x, [[0, 1, 2]]), pl.errors.MapTypeError, "cells must be a dict from cell types to tables, not an object of type list"),
            (lambda x: op2.Mesh(x, {}, regions={"a": [0]}), pl.errors.IndexTypeError, "region `a` must be a dict from sets to elements, not an object of type list"),
            (lambda x: op2.Mesh(x, {"triangle": np.array([[0, 1, 2**62]], "uint64")}), pl.errors.MapValueError, "map `triangle vertices`: entry [0, 2] is 4611686018427387904, but set `vertices` has 3 elements"),
            (lambda x: op2.Mesh(x[0], {}), pl.errors.DataValueError, "points must be rows of one, two or three coordinates, not an array of shape (2,)"),
            (lambda x: op2.Mesh([["a"]], {}), pl.errors.DataValueError, "coordinates must be real numbers, not <U1"),
            (lambda x: op2.Mesh([[0, np.nan]], {}), pl.errors.DataValueError, "point 0 has coordinates that are not finite"),
            (lambda x: op2.Mesh(x, {"tetra": [[0, 1, 2, 0]]}), pl.errors.DataValueError, "points have 2 coordinates, but cells have dimension 3"),
            (lambda x: op2.Mesh(x, {"line": [[0, 1]]}, regions={"a": {"lin": [0]}}), pl.errors.SetValueError, 'region `a`: unknown set "lin"; did you mean "line"? (vertices, line)'),
            (lambda x: op2.Mesh(x, {"line": [[0, 1]]}, regions={"a": {"line": [1]}}), pl.errors.SetValueError, "region `a` has element 1, but set `line` has 1 elements"),
            (lambda x: op2.Mesh(x, {"line": [[0, 1]]}, regions={"a": {"line": [0.5]}}), pl.errors.IndexTypeError, "elements of region `a` must be integers, not float64"),
            (lambda x: op2.Mesh(x, {}, point_data={"u": [1.0]}), pl.errors.DataValueError, "data `u` has shape (1,), but set `vertices` has 3 elements"),
            (lambda x: op2.Mesh(x, {}).cells, pl.errors.SetValueError, "the mesh has vertices only, no cells"),
            (lambda x: op2.Mesh(x, {"line": [[0, 1], [0, 2], [1, 0]]}).boundary, pl.errors.MapValueError,
             "the facet with vertices 0 belongs to 3 cells; in a conforming mesh it has at most two"),
        ],
    )  # fmt: skip
    def test_what_is_not_a_mesh_is_refused(self, make, error, message):
        with refuses(error, message):
            make(np.array([[0.0, 0], [1, 0], [0, 1]]))

    def test_coordinates_have_as_many_columns_as_they_need(self):
        flat, cells = np.pad(np.array([[0.0, 0], [1, 0], [0, 1]]), ((0, 0), (0, 1))), {"triangle": [[0, 1, 2]]}
        assert op2.Mesh(flat, cells).coordinates.cdim == 2 and op2.Mesh(flat + [0, 0, 1], cells).coordinates.cdim == 3
        assert op2.Mesh(flat * [1, 0, 0], {"line": [[0, 1]]}).coordinates.cdim == 1
        assert op2.Mesh(flat[[0, 1, 2, 0]], {"tetra": [[0, 1, 2, 3]]}).coordinates.cdim == 3

    def test_a_region_of_vertices_is_a_region_of_what_is_inside(self):
        mesh = op2.box_mesh((2, 2), "quad")
        again = op2.Mesh(mesh.coordinates.data_ro, {"quad": mesh.maps["quad"].values}, regions={"low": {"vertices": [0, 1, 2, 3, 4, 5]}})
        assert again.region("low", on="cells").indices.tolist() == [0, 1]
        assert sorted(map(sorted, again.map("boundary", "vertices").values[again.region("low", on="boundary").indices].tolist())) == [[0, 1], [0, 3], [1, 2], [2, 5]]
        assert again.region("low").superset is again.vertices

    def test_a_mesh_may_have_no_cells(self):
        for cells in ({}, {"triangle": []}, {"tetra": np.zeros((0, 4), int)}):
            mesh = op2.Mesh(np.eye(3), cells, regions={"some": {"vertices": [1]}})
            assert mesh.refine().vertices.size == 3 and mesh.refine().region("some").indices.tolist() == [1] and mesh.vertices.size == 3
            if cells:
                assert mesh.boundary.size == mesh.sets["edges"].size == mesh.sets["interior"].size == mesh.space(2).nodes.size == 0

    @pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint64", ">i4"])
    def test_tables_have_integers_of_any_type(self, dtype):
        box = op2.box_mesh((2, 2), "quad")
        mesh = op2.Mesh(box.coordinates.data_ro, {"quad": box.maps["quad"].values.astype(dtype)})
        assert (mesh.space(2).map.values == box.space(2).map.values).all() and (mesh.refine().maps["quad"].values == box.refine().maps["quad"].values).all()
        assert (mesh.map("interior", "cells").values == box.map("interior", "cells").values).all()

    def test_a_mesh_says_what_it_has(self):
        mesh = op2.Mesh(
            [[0.0, 0], [1, 0], [0, 1]], {"line": [[0, 1]], "triangle": [[0, 1, 2]]}, regions={"low": {"line": [0]}, "tip": {"vertices": [2]}},
            point_data={"u": [1, 2, 3]}, cell_data={"p": {"triangle": [1.5]}}, name="wing.msh",
        )  # fmt: skip
        assert repr(mesh) == (
            "<Mesh wing.msh: 1 triangle, 1 line on 3 vertices in 2 dimensions\n  regions: low (1 line), tip (1 vertices)\n"
            "  point data: u\n  cell data: p (triangle)>"
        )
        assert repr(mesh.sets) == "<vertices, line, triangle, edges, boundary, interior>"


class TestRefinement:
    @pytest.mark.parametrize(("counts", "kind"), BOXES)
    def test_a_refined_mesh_is_conforming_and_its_regions_follow(self, counts, kind):
        mesh = op2.box_mesh([2] * len(counts), kind)
        for _ in range(2):
            coarse, mesh = mesh, mesh.refine()
            check_conforming(mesh, 1.0)
            assert mesh.cells.size == 2**mesh.dim * coarse.cells.size and (mesh.coordinates.data_ro[: coarse.vertices.size] == coarse.coordinates.data_ro).all()
            x = points_of(mesh)
            for name, where in (("left", 0.0), ("right", 1.0)):
                assert mesh.region(name, on="vertices").indices.tolist() == np.flatnonzero(x[:, 0] == where).tolist()
                assert mesh.region(name, on="boundary").size == 2 ** (mesh.dim - 1) * coarse.region(name, on="boundary").size

    @pytest.mark.parametrize(("counts", "kind"), BOXES)
    def test_children_lie_in_their_parents(self, counts, kind):
        mesh = op2.box_mesh(counts, kind)
        each = 2**mesh.dim
        fine = mesh.refine()
        assert np.allclose(mesh_volumes(fine).reshape(-1, each), np.repeat(mesh_volumes(mesh)[:, None] / each, each, axis=1))
        middles = points_of(fine)[fine.maps[kind].values].mean(axis=1).reshape(-1, each, mesh.dim).mean(axis=1)
        assert np.allclose(middles, points_of(mesh)[mesh.maps[kind].values].mean(axis=1))

    def test_tetrahedra_do_not_degenerate(self):
        mesh = op2.Mesh(*[[[0, 0, 0], [1, 0, 0], [0.3, 0.9, 0], [0.4, 0.2, 0.8]], {"tetra": [[0, 1, 2, 3]]}])
        def worst(mesh):
            x = mesh.coordinates.data_ro[mesh.maps["tetra"].values]
            longest = max(np.linalg.norm(x[:, a] - x[:, b], axis=1).max() for a, b in itertools.combinations(range(4), 2))
            return mesh_volumes(mesh).min() / longest**3
        first = worst(mesh)
        for _ in range(4):
            mesh = mesh.refine()
        assert worst(mesh) > 0.3 * first

    def test_data_and_regions_of_every_kind_follow(self):
        box = op2.box_mesh((2, 2))
        x = box.coordinates.data_ro
        mesh = op2.Mesh(
            x, {"triangle": box.maps["triangle"].values}, point_data={"u": x[:, 0] + 2 * x[:, 1], "n": np.arange(9), "x": x},
            cell_data={"p": {"triangle": np.arange(8)}},
            regions={"rim": {"vertices": np.flatnonzero((x == 0).any(axis=1) | (x == 1).any(axis=1))}, "half": {"triangle": [0, 1, 4, 5]}, "tip": {"vertices": [4]}},
        )  # fmt: skip
        fine = mesh.refine()
        y = fine.coordinates.data_ro
        assert (fine.data("u").data_ro == y[:, 0] + 2 * y[:, 1]).all() and (fine.data("x").data_ro == y).all() and "n" not in fine.point_data
        assert fine.data("p").data_ro.tolist() == np.repeat(np.arange(8), 4).tolist()
        # The diagonals at two corners have both ends on the rim, but their middles are inside.
        assert fine.region("rim").indices.tolist() == np.flatnonzero((y == 0).any(axis=1) | (y == 1).any(axis=1)).tolist()
        assert fine.region("half").indices.tolist() == [*range(8), *range(16, 24)] and fine.region("tip").indices.tolist() == [4]

    def test_several_types_are_refined_together(self):
        mesh = op2.Mesh([[0, 0], [1, 0], [1, 1], [0, 1], [2, 0]], {"quad": [[0, 1, 2, 3]], "triangle": [[1, 4, 2]]}).refine()
        assert (mesh.sets["quad"].size, mesh.sets["triangle"].size, mesh.vertices.size, mesh.boundary.size) == (4, 4, 12, 10)
        x = mesh.coordinates.data_ro
        assert sum(volumes(x, name, mesh.maps[name].values).sum() for name in ("quad", "triangle")) == 1.5

    def test_what_cannot_be_refined_is_refused(self):
        points, _ = CELLS["wedge"]
        with refuses(pl.errors.SetValueError, "cells of type wedge cannot be refined, only line, triangle, quad, tetra and hexahedron"):
            op2.Mesh(points, {"wedge": [range(6)]}).refine()


class TestSpaces:
    @pytest.mark.parametrize(("shape", "nodes"), [("line", 3), ("triangle", 6), ("quad", 9), ("tetra", 10), ("pyramid", 14), ("wedge", 18), ("hexahedron", 27)])
    def test_nodes_of_degree_two_are_in_the_documented_order(self, shape, nodes):
        points = np.array(CELLS[shape][0], float)
        space = op2.Mesh(points, {shape: [range(len(points))]}).space(2)
        x = points_of(space)[space.map.values[0]]
        middles = [points[list(part)].mean(axis=0) for part in SHAPES[shape].edges]
        middles += [points[list(part)].mean(axis=0) for part in SHAPES[shape].faces if len(part) == 4]
        middles += [points.mean(axis=0)] if shape == "hexahedron" else []
        assert len(x) == nodes == CELL_TYPES[SECOND_ORDER[shape]][1] and np.allclose(x, [*points, *middles])

    @pytest.mark.parametrize(("counts", "kind"), BOXES)
    @pytest.mark.parametrize("degree", [1, 2])
    def test_cells_share_nodes_and_regions_have_all_of_theirs(self, counts, kind, degree):
        space = op2.box_mesh(counts, kind).space(degree)
        x = points_of(space)
        assert space.nodes.size == np.prod([degree * n + 1 for n in counts]) == len(np.unique(x, axis=0))
        for axis, (low, high) in enumerate([("left", "right"), ("bottom", "top"), ("back", "front")][: len(counts)]):
            assert space.region(low).indices.tolist() == np.flatnonzero(x[:, axis] == 0).tolist()
            assert space.region(high).indices.tolist() == np.flatnonzero(x[:, axis] == 1).tolist()
        assert space.boundary.indices.tolist() == np.flatnonzero(((x == 0) | (x == 1)).any(axis=1)).tolist()

    def test_the_first_nodes_are_the_vertices(self):
        mesh = op2.box_mesh((3, 3, 3))
        assert mesh.space(1).nodes is mesh.vertices and mesh.space().map is mesh.maps["tetra"] and mesh.space(1).coordinates is mesh.coordinates
        assert (mesh.space(2).coordinates.data_ro[: mesh.vertices.size] == mesh.coordinates.data_ro).all() and mesh.space(2).map.arity == 10

    def test_a_second_order_mesh_is_its_own_space(self):
        space = op2.box_mesh((2, 2)).space(2)
        curved = op2.Mesh(
            space.coordinates.data_ro, {"triangle6": space.map.values, "line3": [[0, 1, 9]]}, regions={"low": {"line3": [0]}, "all": {"vertices": range(9)}}
        )  # fmt: skip
        assert curved.space(2).nodes is curved.vertices and curved.space(2).map is curved.maps["triangle6"]
        assert curved.space(2).region("low").indices.tolist() == curved.region("low", on="vertices").indices.tolist() == [0, 1, 9]
        corners = curved.space(1)
        assert corners.nodes.size == 9 and (corners.map.values == op2.box_mesh((2, 2)).maps["triangle"].values).all()
        assert corners.region("low").indices.tolist() == [0, 1] and curved.sets["edges"].size == 16 and curved.boundary.size == 8
        assert curved.space(2).region("all").size == 9 + 8
        with refuses(pl.errors.DataValueError, "cells of type quad8 do not have all nodes of degree 2; use quad9"):
            op2.Mesh(np.random.rand(8, 2), {"quad8": [range(8)]}).space(2)

    def test_regions_of_every_dimension_have_nodes(self):
        box = op2.box_mesh((1, 1, 1), "hexahedron")
        mesh = op2.Mesh(
            box.coordinates.data_ro, {"hexahedron": box.maps["hexahedron"].values, "line": [[0, 1]], "vertex": [[7]]},
            regions={"rail": {"line": [0]}, "tip": {"vertex": [0]}, "all": {"hexahedron": [0]}, "floor": {"vertices": [0, 1, 2, 3]}},
        )  # fmt: skip
        x = mesh.space(2).coordinates.data_ro
        where = {name: x[mesh.space(2).region(name).indices] for name in mesh.regions}
        assert where["rail"].tolist() == [[0, 0, 0], [1, 0, 0], [0.5, 0, 0]] and where["tip"].tolist() == [[1, 1, 1]] and len(where["all"]) == 27
        assert len(where["floor"]) == 9 and not where["floor"][:, 2].any()

    def test_vertices_without_cells_are_not_nodes(self):
        mesh = op2.Mesh([[5, 5], [0, 0], [1, 0], [0, 1]], {"triangle": [[1, 2, 3]]}, regions={"all": {"vertices": range(4)}})
        assert mesh.space(1).map.values.tolist() == [[0, 1, 2]] and mesh.space(2).nodes.size == 6
        assert mesh.space(1).region("all").indices.tolist() == [0, 1, 2] and 5 not in mesh.space(2).coordinates.data_ro

    @pytest.mark.parametrize("shape", list(CELLS))
    def test_nodes_follow_a_mesh_that_is_moved(self, shape):
        points = np.array([*CELLS[shape][0], [7.0] * len(CELLS[shape][0][0])])  # the last belongs to no cell
        mesh = op2.Mesh(points, {shape: [range(len(points) - 1)]})
        spaces = {degree: mesh.space(degree) for degree in (1, 2)}
        before = {degree: (space.coordinates, space.coordinates.data_ro.copy()) for degree, space in spaces.items()}
        mesh.coordinates.data[:] *= 10
        for degree, (dat, x) in before.items():
            assert mesh.space(degree) is spaces[degree] and spaces[degree].coordinates is dat
            np.testing.assert_allclose(dat.data_ro, 10 * x)
        # Nodes that were moved by hand stay until the mesh is moved.
        dat.data[-1] = 3
        assert (spaces[2].coordinates.data_ro[-1] == 3).all()
        mesh.coordinates.data[0] += 1
        assert not (spaces[2].coordinates.data_ro[-1] == 3).any()

    def test_a_loop_that_moves_a_mesh_moves_its_nodes(self):
        mesh = op2.box_mesh((2, 2))
        space, move = mesh.space(2), op2.Kernel("void move(double *x) { x[0] += 1; x[1] *= 2; }", "move")
        x = space.coordinates.data_ro.copy()
        op2.par_loop(move, mesh.vertices, mesh.coordinates(op2.RW))
        np.testing.assert_allclose(space.coordinates.data_ro, x * [1, 2] + [1, 0])
        np.testing.assert_allclose(mesh.refine().coordinates.data_ro.max(0), space.coordinates.data_ro.max(0))

    def test_quadratic_functions_are_integrated_exactly_over_a_space(self):
        mesh = op2.box_mesh((3, 2))
        space = mesh.space(2)
        x, y = space.coordinates.data_ro.T
        u, total = op2.Dat(space.nodes, x * x + x * y), op2.Global(1, 0.0)
        kernel = op2.Kernel(
            "void add(double *total, double *x[2], double *u[1]) {\n"
            "  double area = ((x[1][0] - x[0][0]) * (x[2][1] - x[0][1]) - (x[1][1] - x[0][1]) * (x[2][0] - x[0][0])) / 2;\n"
            "  total[0] += area * (u[3][0] + u[4][0] + u[5][0]) / 3;\n}", "add"
        )  # fmt: skip
        op2.par_loop(kernel, mesh.cells, total(op2.INC), mesh.coordinates(op2.READ, mesh.maps["triangle"]), u(op2.READ, space.map), context="cpu:1")
        assert np.isclose(total.data_ro[0], 1 / 3 + 1 / 4)


#: Barycentric points of quadratures that are exact for degree 2.
QUADRATURE = {
    "triangle": np.array([[0.5, 0.5, 0], [0, 0.5, 0.5], [0.5, 0, 0.5]]),
    "tetra": np.full((4, 4), (5 - 5**0.5) / 20) + np.eye(4) * 5**0.5 / 5,
}


@pytest.mark.parametrize(("counts", "kind"), [((3, 2), "triangle"), ((2, 2, 2), "tetra")])
def test_quadratic_elements_solve_for_a_quadratic_function_exactly(counts, kind):
    """-Δu = f with u = x² + xy, assembled by hand from the nodes, their documented order and the nodes of the boundary."""
    space = op2.box_mesh(counts, kind, upper=2).refine().space(2)
    x, table, edges = space.coordinates.data_ro, space.map.values, np.array(SHAPES[kind].edges)
    dim, size = x.shape[1], len(x)
    exact = x[:, 0] ** 2 + x[:, 0] * x[:, 1]
    matrix, right = np.zeros((size, size)), np.zeros(size)
    for nodes in table:
        corners = x[nodes[: dim + 1]]
        inverse = np.linalg.inv(np.vstack([np.ones(dim + 1), corners.T]))
        slopes, volume = inverse[:, 1:], volumes(x, kind, nodes[None, : dim + 1])[0]
        for point in QUADRATURE[kind]:
            a, b = edges.T
            value = np.concatenate([point * (2 * point - 1), 4 * point[a] * point[b]])
            slope = np.concatenate([(4 * point - 1)[:, None] * slopes, 4 * (point[a, None] * slopes[b] + point[b, None] * slopes[a])])
            weight = volume / len(QUADRATURE[kind])
            matrix[np.ix_(nodes, nodes)] += weight * slope @ slope.T
            right[nodes] += weight * value * -2
    fixed = space.boundary.indices
    free = np.setdiff1d(np.arange(size), fixed)
    found = exact.copy()
    found[free] = np.linalg.solve(matrix[np.ix_(free, free)], right[free] - matrix[np.ix_(free, fixed)] @ exact[fixed])
    assert len(free) > 10 and np.allclose(found, exact, atol=1e-12)


GMSH = """$MeshFormat
4.1 0 8
$EndMeshFormat
$PhysicalNames
3
1 1 "wall"
1 2 "outer wall"
2 7 "plate"
$EndPhysicalNames
$Entities
0 2 2 0
1 0 0 0 1 0 0 2 1 2 0
2 1 0 0 1 1 0 1 2 0
1 0 0 0 1 1 0 1 7 0
2 1 0 0 2 1 0 1 9 0
$EndEntities
$Nodes
1 5 1 5
2 1 0 5
1
2
3
4
5
0 0 0
1 0 0
1 1 0
0 1 0
2 0 0
$EndNodes
$Elements
4 5 1 5
1 1 1 1
1 1 2
1 2 1 1
2 2 3
2 1 2 2
3 1 2 3
4 1 3 4
2 2 2 1
5 2 5 3
$EndElements
"""


@needs_meshio
class TestFiles:
    def test_gmsh_groups_become_regions(self, tmp_path):
        (tmp_path / "plate.msh").write_text(GMSH)
        mesh = op2.read_mesh(tmp_path / "plate.msh")
        assert (mesh.cells.size, mesh.sets["line"].size, mesh.vertices.size, mesh.coordinates.cdim, mesh.name) == (3, 2, 5, 2, "plate.msh")
        assert mesh.region("wall").indices.tolist() == [0] and mesh.region("outer wall").indices.tolist() == [0, 1]
        assert mesh.region("plate").indices.tolist() == [0, 1] and mesh.region("9").indices.tolist() == [2]
        assert mesh.data("gmsh:physical", on="cells").data_ro.tolist() == [7, 7, 9]
        with refuses(pl.errors.SetValueError, 'unknown region "plates"; did you mean "plate"? (wall, outer wall, plate, 9)'):
            mesh.region("plates")

    @pytest.mark.parametrize(("counts", "kind"), BOXES)
    def test_a_mesh_with_regions_survives_gmshs_format(self, tmp_path, counts, kind):
        mesh = op2.box_mesh(counts, kind)
        mesh.write(tmp_path / "box.msh", u=op2.Dat(mesh.vertices, np.arange(mesh.vertices.size)))
        again = op2.read_mesh(tmp_path / "box.msh")
        assert (again.maps[kind].values == mesh.maps[kind].values).all() and (again.coordinates.data_ro == mesh.coordinates.data_ro).all()
        assert list(again.regions) == list(mesh.regions)
        for name in mesh.regions:
            assert again.region(name).indices.tolist() == mesh.region(name).indices.tolist() and again.region(name).superset.name == mesh.region(name).superset.name
        assert again.data("u").data_ro.ravel().tolist() == list(range(mesh.vertices.size))

    @pytest.mark.parametrize("cell_type", [name for name in CELL_TYPES if name not in ("vertex", "pyramid14")])
    def test_every_cell_type_is_read_with_all_its_nodes(self, tmp_path, cell_type):
        shape, nodes = CELL_TYPES[cell_type]
        points = np.random.default_rng(1).random((nodes + 2, 3))
        rows = np.stack([np.arange(nodes), np.arange(nodes) + 2])
        meshio.write_points_cells(tmp_path / "a.vtu", points, [(cell_type, rows[:1]), ("vertex", [[1]]), (cell_type, rows[1:])],
                                  point_data={"u": points}, cell_data={"p": [[1.0], [2.0], [3.0]]})  # fmt: skip
        mesh = op2.read_mesh(tmp_path / "a.vtu")
        assert mesh.cell_type == cell_type and mesh.maps[cell_type].values.tolist() == rows.tolist() and mesh.dim == SHAPES[shape].dim
        assert (mesh.data("u").data_ro == points).all() and mesh.data("p", on="cells").data_ro.tolist() == [1, 3] and mesh.data("p", on="vertex").data_ro.tolist() == [2]

    def test_point_sets_and_cell_sets_become_regions(self, tmp_path):
        points, cells = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0]], [("triangle", [[0, 1, 2], [0, 2, 3]]), ("triangle", [[1, 4, 2]])]
        sets = {"FIRST": [np.array([1]), np.array([], int)], "SECOND": [np.array([], int), np.array([0])]}
        meshio.Mesh(points, cells, point_sets={"NODES": np.array([1, 4])}, cell_sets=sets).write(tmp_path / "a.inp")
        mesh = op2.read_mesh(tmp_path / "a.inp")
        assert mesh.region("NODES").superset is mesh.vertices and mesh.region("NODES").indices.tolist() == [1, 4]
        assert mesh.region("FIRST").indices.tolist() == [1] and mesh.region("SECOND").indices.tolist() == [2]
        assert mesh.region("NODES", on="boundary").size == 1

    def test_numbers_and_families_of_groups_become_regions(self, tmp_path):
        points, cells = [[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [("triangle", [[0, 1, 2], [0, 2, 3]]), ("line", [[0, 1]])]
        meshio.Mesh(points, cells, cell_data={"medit:ref": [[4, 0], [4]]}).write(tmp_path / "a.mesh")
        mesh = op2.read_mesh(tmp_path / "a.mesh")
        assert list(mesh.regions) == ["4"] and mesh.region("4", on="triangle").indices.tolist() == [0] and mesh.region("4", on="line").size == 1
        med = meshio.Mesh(points, cells, point_data={"point_tags": [0, 2, 0, 2]}, cell_data={"cell_tags": [[-6, -7], [0]]})
        med.cell_tags, med.point_tags = {-6: ["hot", "all"], -7: ["all"]}, {2: ["pins"]}
        med.write(tmp_path / "a.med")
        mesh = op2.read_mesh(tmp_path / "a.med")
        assert {name: mesh.region(name).indices.tolist() for name in mesh.regions} == {"hot": [0], "all": [0, 1], "pins": [1, 3]}

    def test_what_meshio_prints_is_a_warning(self, tmp_path, capsys):
        with pytest.warns(UserWarning, match=r"meshio, while trying to write `.*a.off`: OFF only supports triangle cells"):
            op2.box_mesh((1, 1, 1)).write(tmp_path / "a.off")
        assert capsys.readouterr() == ("", "")

    def test_vertices_of_a_region_are_a_group_of_points(self, tmp_path):
        mesh = op2.Mesh([[0, 0], [1, 0], [0, 1]], {"triangle": [[0, 1, 2]]}, regions={"tips": {"vertices": [0, 2]}})
        mesh.write(tmp_path / "a.msh")
        assert op2.read_mesh(tmp_path / "a.msh").region("tips", on="vertices").indices.tolist() == [0, 2]

    def test_a_vtk_file_of_ours_is_read_back(self, tmp_path):
        mesh = op2.box_mesh((2, 1, 1), "hexahedron")
        mesh.write(tmp_path / "a.vtu", u=op2.Dat(mesh.vertices**3, mesh.coordinates.data_ro.copy()), p=op2.Dat(mesh.cells, [1.0, 2.0]))
        again = op2.read_mesh(tmp_path / "a.vtu")
        assert (again.maps["hexahedron"].values == mesh.maps["hexahedron"].values).all() and (again.data("u").data_ro == mesh.coordinates.data_ro).all()
        assert again.data("p").data_ro.tolist() == [1, 2]

    def test_cells_of_several_types_and_their_data_are_written(self, tmp_path):
        mesh = op2.Mesh([[0, 0], [1, 0], [1, 1], [0, 1], [2, 0]], {"quad": [[0, 1, 2, 3]], "triangle": [[1, 4, 2]]})
        parts = [op2.Dat(mesh.sets["triangle"], [2.0], name="t"), op2.Dat(mesh.sets["quad"], [1.0], name="q")]
        mesh.write(tmp_path / "a.vtu", p=parts)
        again = op2.read_mesh(tmp_path / "a.vtu")
        assert again.data("p", on="quad").data_ro.tolist() == [1] and again.data("p", on="triangle").data_ro.tolist() == [2] and again.coordinates.cdim == 2
        with refuses(pl.errors.DataValueError, "field `p` needs a Dat on each set of cells; quad is missing or given twice"):
            mesh.write(tmp_path / "a.vtu", p=parts[0])

    def test_data_of_degree_two_is_written_as_second_order_cells(self, tmp_path):
        space = op2.box_mesh((2, 2)).space(2)
        u = op2.Dat(space.nodes, np.arange(25.0))
        space.write(tmp_path / "a.vtu", u=u)
        again = op2.read_mesh(tmp_path / "a.vtu")
        assert (again.maps["triangle6"].values == space.map.values).all() and again.data("u").data_ro.tolist() == list(range(25))

    def test_a_time_series_is_read_back(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "out").mkdir()
        mesh = op2.box_mesh((2, 2))
        u, p = op2.Dat(mesh.vertices, name="u"), op2.Dat(mesh.cells**2, name="p")
        with op2.TimeSeries(tmp_path / "out" / "heat.xdmf", mesh) as series:
            assert repr(series) == f"<TimeSeries {tmp_path}/out/heat.xdmf: open>"
            for step in range(3):
                u.data[:] = step
                p.data[:] = 10 * step
                series.write(0.5 * step, temperature=u, flux=p)
                if step == 1:
                    series.flush()
                    with meshio.xdmf.TimeSeriesReader(tmp_path / "out" / "heat.xdmf") as reader:
                        assert reader.num_steps == 2
        assert sorted(os.listdir(tmp_path)) == ["out"] and sorted(os.listdir(tmp_path / "out")) == ["heat.h5", "heat.xdmf"]
        with meshio.xdmf.TimeSeriesReader(tmp_path / "out" / "heat.xdmf") as reader:
            points, cells = reader.read_points_cells()
            assert (points[:, :2] == mesh.coordinates.data_ro).all() and (cells[0].data == mesh.maps["triangle"].values).all() and reader.num_steps == 3
            for step in range(3):
                time, on_points, on_cells = reader.read_data(step)
                assert time == 0.5 * step and (on_points["temperature"] == step).all() and (on_cells["flux"][0] == 10 * step).all()
        series.close()
        with refuses(pl.errors.MeshFileError, f"the time series `{tmp_path}/out/heat.xdmf` is closed"):
            series.write(2.0, temperature=u)

    def test_what_is_no_file_of_a_mesh_is_refused(self, tmp_path, capsys):
        with refuses(pl.errors.MeshFileError, f"cannot read `{tmp_path}/a.msh`: no such file"):
            op2.read_mesh(tmp_path / "a.msh")
        with refuses(pl.errors.MeshFileError, "the path of a mesh must be a string, not an object of type int"):
            op2.read_mesh(3)
        (tmp_path / "a.unknown").write_text("")
        with refuses(pl.errors.MeshFileError, f"cannot read `{tmp_path}/a.unknown`: Could not deduce file format from path '{tmp_path}/a.unknown'."):
            op2.read_mesh(tmp_path / "a.unknown")
        for ending in ("msh", "vtu", "vtk", "inp", "xdmf", "stl", "mesh", "obj", "off", "su2"):
            (tmp_path / f"bad.{ending}").write_text("no mesh\n1 2 3\n")
            try:
                assert op2.read_mesh(tmp_path / f"bad.{ending}").vertices.size == 0
            except pl.MeshError as error:
                assert "\n" not in str(error)
        (tmp_path / "empty.stl").write_text("solid\nendsolid\n")
        with refuses(pl.errors.MeshFileError, f"cannot read `{tmp_path}/empty.stl`: it has no points"):
            op2.read_mesh(tmp_path / "empty.stl")
        meshio.write_points_cells(tmp_path / "b.vtu", np.random.rand(5, 3), [("polygon", [[0, 1, 2, 3, 4]])])
        with refuses(pl.errors.MeshFileError, f"cannot read `{tmp_path}/b.vtu`: cells of type polygon are not supported, only {', '.join(CELL_TYPES)}"):
            op2.read_mesh(tmp_path / "b.vtu")
        assert capsys.readouterr() == ("", "")

    @pytest.mark.parametrize(
        ("write", "error", "message"),
        [
            (lambda m: m.write("/nowhere/a.vtu"), pl.errors.MeshFileError, "cannot write `/nowhere/a.vtu`: No such file or directory (os error 2)"),
            (lambda m: m.write("/nowhere/a.vtk"), pl.errors.MeshFileError, "cannot write `/nowhere/a.vtk`: [Errno 2] No such file or directory: '/nowhere/a.vtk'"),
            (lambda m: m.write("a.vtu", u=3), pl.errors.DatTypeError, "field `u` must be a Dat or a list of Dats on cells, not an object of type int"),
            (lambda m: m.write("a.vtu", u=op2.Dat(op2.Set(3, "t"))), pl.errors.MapValueError, "field `u` is on set `t`, but the mesh has `vertices`, `triangle`"),
            (lambda m: m.write("a.vtu", u=op2.Dat(m.vertices, dtype=complex)), pl.errors.DataTypeError, "field `u` has type complex128, which a file cannot hold; write its real and imaginary parts"),
            (lambda m: m.write("a.msh"), pl.errors.DataValueError, "a cell in the Gmsh format has one group, but regions `one` and `two` share elements of triangle"),
            (lambda m: m.write("a.msh", p=op2.Dat(m.cells)), pl.errors.DataValueError, "field `p` is on cells, which a Gmsh file does not support; write a .vtu or .xdmf file"),
            (lambda m: op2.TimeSeries("a.vtu", m), pl.errors.MeshFileError, "the path of a time series must end in .xdmf, not in .vtu: `a.vtu`"),
        ],
    )  # fmt: skip
    def test_what_cannot_be_written_is_refused(self, write, error, message):
        mesh = op2.Mesh([[0, 0], [1, 0], [0, 1]], {"triangle": [[0, 1, 2]]}, regions={"one": {"triangle": [0]}, "two": {"triangle": [0]}})
        with refuses(error, message):
            write(mesh)

    def test_times_are_finite_numbers(self, tmp_path):
        mesh = op2.box_mesh((1, 1))
        with op2.TimeSeries(tmp_path / "a.xdmf", mesh) as series:
            for time in (float("nan"), "now", None):
                with refuses(pl.errors.DataValueError, f"a time must be a finite number, not {time!r}"):
                    series.write(time)

    def test_without_meshio_the_error_says_how_to_get_it(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "meshio", None)
        ending = "needs meshio, which is not installed; pip install parloop[mesh]"
        with refuses(ImportError, f"reading a mesh {ending}"):
            op2.read_mesh("wing.msh")
        mesh = op2.box_mesh((1, 1))
        with refuses(ImportError, f"writing `{tmp_path}/a.vtk` {ending}"):
            mesh.write(tmp_path / "a.vtk")
        with refuses(ImportError, f"a time series {ending}"):
            op2.TimeSeries(tmp_path / "a.xdmf", mesh)
        mesh.write(tmp_path / "a.vtu")


def test_data_of_a_mesh_and_of_its_spaces_is_drawn():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    mesh = op2.box_mesh((2, 2))
    assert len(mesh.plot(op2.Dat(mesh.cells)).collections) == 1 and len(mesh.plot(op2.Dat(mesh.vertices)).collections) == 1
    space = mesh.space(2)
    assert len(mesh.plot(op2.Dat(space.nodes)).collections) == 1
    with refuses(pl.errors.MapValueError, "`u` is on `vertices`, but the space has `nodes of degree 2`"):
        space.plot(op2.Dat(mesh.vertices, name="u"))
