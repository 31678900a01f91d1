"""What objects look like: `repr` and the HTML of notebooks."""

import warnings
from xml.etree import ElementTree

import numpy as np
import pytest
from mpirun import passes

import parloop as pl
import parloop.loops as lp
import parloop.mesh as op2
import parloop.objects as xo
from parloop import _html


class Bunch(xo.Struct):
    x = xo.Float64[:]
    charge = xo.Float64
    name = xo.String


class Dressed(xo.HybridClass):
    _xofields = {"length": xo.Float64, "kick": xo.Float64[:]}


def test_structs_show_values_however_long_they_are():
    bunch = Bunch(x=np.arange(1000.0), charge=2, name="a" * 200)
    text = repr(bunch)
    assert text.startswith("Bunch(x=[") and "998., 999.]" in text and "charge=2.0" in text and "…" in text
    assert "\n" not in text and len(text) < 200
    assert repr(Bunch(x=[1, 2], charge=3, name="b")) == "Bunch(x=[1., 2.], charge=3.0, name='b')"
    many = type(xo.Struct)("Wide", (xo.Struct,), {f"field_{k}": xo.Float64 for k in range(40)})
    assert repr(many()).startswith("Wide(field_0=0.0, field_1=0.0") and repr(many()).endswith(" more)")
    dressed = Dressed(length=1.5, kick=np.zeros(1000))
    assert repr(dressed) == "Dressed(length=1.5, kick=[0., 0., ..., 0., 0.])"


def test_buffers_say_how_full_they_are(ctx):
    buffer = ctx.new_buffer(1000)
    kept = Bunch(x=[1.0], charge=1, name="b", _buffer=buffer)
    used = 1000 - buffer.get_free()
    assert used > 0 and repr(buffer) == f"<Buffer on {ctx.device.name}: {used} of 1000 bytes used, {1000 - used} free>"
    assert kept.charge == 1


def test_objects_are_tables_in_notebooks():
    html = Bunch(x=[1.0], charge=3, name="<b>")._repr_html_()
    ElementTree.fromstring(html)
    assert "<th>field</th>" in html and "charge" in html and "3.0" in html and "&lt;b&gt;" in html
    html = Dressed(length=2, kick=[1, 2])._repr_html_()
    ElementTree.fromstring(html)
    assert "length" in html and "[1., 2.]" in html


def test_data_of_meshes_shows_its_numbers(ctx):
    nodes = op2.Set(3, "nodes")
    u = op2.Dat(nodes, [1.0, 2.0, 3.0], name="u")
    assert repr(u) == "Dat(DataSet(Set(3, 'nodes'), 1), [1., 2., 3.], dtype=float64, name='u')"
    v = op2.Dat(nodes**2, [[1, 2], [3, 4], [5, 6]], dtype="int32", name="v")
    lines = repr(v).splitlines()
    assert lines[0] == "Dat(DataSet(Set(3, 'nodes'), 2), [[1, 2]," and lines[1].strip() == "[3, 4]," and lines[2].strip() == "[5, 6]], dtype=int32, name='v')"
    assert lines[1].index("[") == lines[0].index("[1, 2]")
    many = op2.Set(100_000, "many")
    long = op2.Dat(many**2, np.arange(200_000).reshape(-1, 2), name="long")
    add = op2.Kernel("void add(long *x) { x[0] += 1; x[1] += 2; }", "add")
    with ctx:
        op2.par_loop(add, many, long(op2.RW))
    numbers = np.arange(200_000).reshape(-1, 2) + [1, 2]
    begin = "Dat(DataSet(Set(100000, 'many'), 2), "
    shown = np.array2string(numbers, threshold=0, separator=", ", prefix=begin, max_line_width=200)
    assert repr(long) == f"{begin}{shown}, dtype=int64, name='long')"
    found = [cell.text for cell in ElementTree.fromstring(long._repr_html_()).iter("td")]
    assert found == [str(number) for number in numbers[:3].ravel()] + ["…", "…"] + [str(number) for number in numbers[-3:].ravel()]
    assert np.array_equal(long.data_ro, numbers)


@pytest.mark.parametrize(("launcher", "ranks"), [("openmpi", 2), ("mpich", 2)])
def test_a_process_shows_its_own_numbers_without_the_others(launcher, ranks, tmp_path):
    program = """
    cells = op2.Set(4, "cells")
    u = op2.Dat(cells, np.arange(4) * 10, name="u")
    op2.distribute(cells, by=[0, 0, 0, 1])
    op2.par_loop(kernel("void add(long *u) { u[0] += 1; }"), cells, u(RW))
    if rank == 0:
        assert "[ 1, 11, 21], dtype=int64, name='u')" in repr(u), repr(u)
        assert "Dat u on cells" in u._repr_html_()
    """
    passes(launcher, ranks, program, tmp_path)


def test_globals_show_their_numbers():
    assert repr(op2.Global(3, [1, 2, 3], dtype="int64", name="g")) == "Global(3, [1, 2, 3], dtype=int64, name='g')"
    assert repr(op2.Global((2, 2), [[1, 2], [3, 4]], dtype="int64", name="g")) == "Global((2, 2), [[1, 2], [3, 4]], dtype=int64, name='g')"
    long = op2.Constant(100_000, np.arange(100_000), name="table")
    assert repr(long) == "Constant(100000, [    0,     1,     2, ..., 99997, 99998, 99999], dtype=int64, name='table')"
    wide = op2.Dat(op2.Set(3, "s") ** 1000, np.arange(3000.0), name="wide")
    assert "2.999e+03" in repr(wide) and "..." in repr(wide) and len(repr(wide)) < 500


def test_data_that_is_recorded_or_resized_is_shown_without_numbers(gpu):
    many = op2.Set(3, "s")
    u = op2.Dat(many, [1.0, 2.0, 3.0], name="u")
    add = op2.Kernel("void add(double *x) { x[0] += 1; }", "add")
    with gpu:
        loop = op2.ParLoop(add, many, u(op2.RW))
        loop()
        with gpu.recording() as steps:
            loop()
            assert repr(u) == "Dat(DataSet(Set(3, 's'), 1), ..., dtype=float64, name='u')" and "Dat u on s" in u._repr_html_()
        steps()
    assert "[3., 4., 5.]" in repr(u)
    host = np.arange(3.0)
    shared = op2.Dat(many, host, name="u")
    host.__setstate__((1, (0,), host.dtype, False, b""))
    assert repr(shared) == "Dat(DataSet(Set(3, 's'), 1), ..., dtype=float64, name='u')"


def test_everything_has_html_in_which_names_are_escaped(ctx):
    name = "<b>&"
    cells, nodes = op2.Set(2, name), op2.Set(3, "nodes")
    corners = op2.Map(cells, nodes, 2, [[0, 1], [1, 2]], name)
    u, total = op2.Dat(nodes, [1.25, 2.5, 3.75], name=name), op2.Global(1, 7.5, name=name)
    loop = op2.ParLoop(op2.Kernel("void f(double *x, double *t) { t[0] += x[0]; }", "f"), cells, u(op2.READ, corners), total(op2.INC))
    prog = ctx.compile("GPUKERN void scale(GPUGLMEM double *x, const int64_t n) { VECTORIZE_OVER(i, n) x[i] *= 2; END_VECTORIZE }")
    shown = [
        (cells, ["elements", "2"]), (nodes(0, 2), ["Subset", "nodes"]), (corners, ["arity 2", "nodes"]), (op2.ComposedMap(corners, op2.Map(cells, cells, 1, [1, 0], "turned")), ["arity 2"]), (op2.PermutedMap(corners, [1, 0]), ["arity 2"]),
        (u, ["1.25", "3.75", "float64"]), (total, ["7.5", "Global"]), (loop, ["ParLoop of kernel f", "READ", "INC"]), (ctx, [ctx.device.name, "architecture"]),
        (ctx.new_buffer(1000), ["1000 bytes", ctx.device.name]), (prog.scale, ["scale", "int64_t", "<span"]), (xo.Float64[:]([1.25, 2.5], _context=ctx), ["1.25", "2.5", ctx.device.name]),
        (xo.Float64[:](np.arange(5000.0), _context=ctx), ["4999", "…"]), (xo.String[:](["<i>"] * 30, _context=ctx), ["&lt;i&gt;", "…"]), (op2.ExtrudedSet(cells, 3), ["extruded from"]),
    ]  # fmt: skip
    for item, words in shown:
        html = item._repr_html_()
        ElementTree.fromstring(html)
        assert all(word in html for word in words) and "<b>" not in html, html


def test_arrays_of_objects_show_their_numbers(ctx):
    assert repr(xo.Float64[:]([1.0, 2.0], _context=ctx)) == "<ArrNFloat64 2: [1.0, 2.0]>"
    assert repr(xo.Int64[:](np.arange(5000), _context=ctx)) == "<ArrNInt64 5000: [   0,    1,    2, ..., 4997, 4998, 4999]>"


@pytest.mark.parametrize("shape", [(3,), (2, 3), (20, 30), (2, 2, 2), (0,), ()])
def test_arrays_are_tables_in_notebooks(ctx, shape):
    values = np.arange(np.prod(shape), dtype=float).reshape(shape)
    html = ctx.array(values)._repr_html_()
    ElementTree.fromstring(html)
    assert f"shape {tuple(shape)}, on {ctx.device.name}" in html
    if shape == (20, 30):
        assert "599" in html and "…" in html and html.count("<td") == 81
    elif values.size:
        assert all(f"{value:.6g}" in html for value in values.ravel())


def test_devices_and_kernels_have_html(ctx):
    html = ctx.device._repr_html_()
    ElementTree.fromstring(html)
    assert ctx.device.model.split()[0] in html and ctx.device.name in html
    prog = ctx.compile("GPUKERN void f(GPUGLMEM double *x) { x[0] = 1 < 2; }")
    for html in (prog._repr_html_(), op2.Kernel("void f(double *x) { x[0] = 1 < 2; }", "f")._repr_html_()):
        ElementTree.fromstring(html)
        assert "<span" in html and "&lt;" in html
    knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]", [lp.GlobalArg("a", np.float32), ...])
    assert "<span" in knl._repr_html_() and "loopy_kernel" in knl._repr_html_()
    untyped = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")
    ElementTree.fromstring(untyped._repr_html_())


def test_code_is_coloured():
    source = '#define N 3\n/* so\nmany */ for (int i = 0; i < N; ++i) s = "int <";'
    tree = ElementTree.fromstring(f"<pre>{_html._coloured(source)}</pre>")
    assert "".join(tree.itertext()) == source
    assert [span.text for span in tree] == ["#define N 3", "/* so\nmany */", "for", "int", "0", '"int <"']


@pytest.mark.parametrize("shape, kind", [((4,), "line"), ((3, 2), "triangle"), ((3, 2), "quad"), ((2, 2, 2), "tetra"), ((2, 2, 2), "hexahedron")])
def test_meshes_are_pictures_in_notebooks(shape, kind):
    mesh = op2.box_mesh(shape, kind)
    html = mesh._repr_html_()
    tree = ElementTree.fromstring(html)
    path = next(element for element in tree.iter() if element.tag.endswith("path")).attrib["d"]
    lines = mesh.maps["line"].values if mesh.dim == 1 else mesh.map("edges", "vertices").values
    assert path.count("M") == len(lines) and "nan" not in path
    assert repr(mesh).split()[1] in html


def test_a_large_mesh_is_drawn_by_its_boundary():
    html = op2.box_mesh((200, 200), "triangle")._repr_html_()
    assert html.split('d="')[1].count("M") == 800 and "edges of the boundary" in html


def test_old_vtk_endings_are_refused(tmp_path):
    mesh = op2.box_mesh((2, 2), "triangle")
    with pytest.raises(ValueError) as caught:
        op2.write_vtk(tmp_path / "x.vtk", mesh.coordinates, mesh.maps["triangle"])
    better = tmp_path / "x.vtu"
    assert str(caught.value) == f"`{tmp_path / 'x.vtk'}`: write_vtk writes the VTK XML format, whose files end in .vtu; use `{better}`"
    assert not (tmp_path / "x.vtk").exists()
    op2.write_vtk(better, mesh.coordinates, mesh.maps["triangle"])
    assert better.exists()


def test_copy_makes_another_and_copy_to_fills_one():
    nodes = op2.Set(3, "nodes")
    for made, other in [
        (op2.Dat(nodes, [1.0, 2.0, 3.0]), op2.Dat(nodes)),
        (op2.Global(3, [1.0, 2.0, 3.0]), op2.Global(3)),
        (op2.MixedDat([op2.Dat(nodes, [1.0, 2.0, 3.0])]), op2.MixedDat([nodes])),
    ]:
        numbers = lambda data: np.asarray(data.data_ro).ravel().tolist()  # noqa: E731
        another = made.copy()
        made.zero()
        assert numbers(another) == [1, 2, 3] and numbers(made) == [0, 0, 0] and type(another) is type(made)
        another.copy_to(made)
        assert numbers(made) == [1, 2, 3]
        with pytest.warns(DeprecationWarning, match=r"use copy_to\(other\)"):
            assert made.copy(other) is None
        assert numbers(other) == [1, 2, 3]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        op2.Dat(nodes).copy_to(op2.Dat(nodes))


def test_operations_of_rules_are_counted_as_by_hand():
    knl = lp.make_kernel(
        "{[i,j]: 0<=i,j<n}",
        """
        dx(i,j) := x[j] - x[i]
        dy(i,j) := y[j] - y[i]
        inv(i,j) := 1/(dx(i,j)*dx(i,j) + dy(i,j)*dy(i,j) + 0.01)
        ax[i] = sum(j, dx(i,j)*inv(i,j))
        ay[i] = sum(j, dy(i,j)*inv(i,j))
        """,
        [lp.GlobalArg("x,y,ax,ay", np.float64, shape="n"), ...],
    )
    # For each pair two differences, two squares, their sum and 0.01, a quotient, two products, and two sums.
    assert lp.get_op_map(knl) == {("add", "float64"): "6*(n^2)", ("mul", "float64"): "4*(n^2)", ("div", "float64"): "n^2"}
    knl(pl.Context("cpu:1"), x=np.arange(100.0), y=np.arange(100.0))
    report = knl.report()
    assert (report.flops, report.bytes, report.exact) == (11 * 100**2, 8 * 4 * 100, True)
    for share in (report.bandwidth_share, report.flops_share):
        assert share is None or 0 <= share <= 1
    # What is written twice in a loop is computed once, whether a rule wrote it or not; in another loop it is computed again.
    twice = lp.make_kernel("{[i,j]: 0<=i,j<n}", "f(v) := v*v\na[i] = x[i]*(x[i]+1) + x[i]*(x[i]+1)\nb[i] = f(x[i]) + f(x[i])\nc[j] = f(x[j])", [lp.GlobalArg("x,a,b,c", np.float64, shape="n"), ...])
    twice(pl.Context("cpu:1"), x=np.arange(100.0))
    assert twice.report().flops == 100 * ((2 + 1) + (1 + 1) + 1)


def test_a_temporary_inside_a_loop_is_summed_over():
    knl = lp.make_kernel("{[i,j]: 0<=i,j<n}", "for i\n  <> t = a[i]\n  out[i] = sum(j, t*a[j])\nend")
    _, (out,) = knl(pl.Context("cpu:1"), a=np.arange(4.0))
    np.testing.assert_array_equal(out, [0, 6, 12, 18])
