"""Captures: loops of a program in a file, run again and compared; files that are damaged or not captures are refused."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from devices import DEVICES, opened

import parloop as pl
import parloop.mesh as op2
from parloop.captured import CaptureError, Writer, rerun
from parloop.captured._rerun import command
from parloop.mesh._described import DatArg, GlobalArg, GridArg, Loop, MatArg, MixedArg, Source

#: Loops of Firedrake 2026.4.3: vectors, a functional, matrices with boundary conditions, facets, an extruded mesh.
STORED = Path(__file__).parent / "captures" / "firedrake.plz"


def run(writer, loop):
    made = loop.made(pl.Context("cpu:2"))
    with writer.around(loop):
        made()


def loops():
    """Loops with arguments of all kinds."""
    random = np.random.default_rng(3)
    cells, nodes, facets = op2.Set(12, "cells"), op2.Set(13, "nodes"), op2.Set(4, "facets")
    ends = op2.Map(cells, nodes, 2, [[i, i + 1] for i in range(12)], "ends")
    inside = op2.Map(facets, cells, 1, [1, 4, 7, 10], "inside")
    x = op2.Dat(nodes**2, random.random((13, 2)), name="x")
    y, w = op2.Dat(nodes, random.random(13), name="y"), op2.Dat(cells, random.random(12), name="w")
    total = op2.Global(1, np.array([3.0]))
    add = Source("void add(double *y, const double *x, const double *w) { y[0] += x[0] * w[0]; y[1] += x[1]; }", "add")
    yield Loop(add, cells, (DatArg(y, "INC", ends), DatArg(x, "READ", ends, (1,)), DatArg(w, "READ")))
    yield Loop(add, op2.Subset(cells, [2, 3, 9]), (DatArg(y, "INC", op2.PermutedMap(ends, [1, 0])), DatArg(x, "READ", ends, (0,)), DatArg(w, "READ")))
    sums = Source("void sums(double *t, const double *y) { t[0] += y[0] + y[1]; }", "sums")
    yield Loop(sums, facets, (GlobalArg(total, "INC"), DatArg(y, "READ", op2.ComposedMap(ends, inside))))
    mat = op2.Mat(op2.Sparsity(nodes**1, ends), float)
    block = Source("void block(double *a, const double *w) { for (int i = 0; i < 4; i++) a[i] += (i + 1) * w[0]; }", "block")
    dropped = np.arange(13)
    dropped[[0, 5]] = -1
    yield Loop(block, cells, (MatArg(mat, "INC", (ends, ends), (dropped, np.arange(13))), DatArg(w, "READ")))
    both = Source("void both(const double *x, double *a) { for (int i = 0; i < 6; i++) for (int j = 0; j < 2; j++) a[2 * i + j] += x[i]; }", "both")
    wide = op2.Mat(op2.Sparsity((nodes**2, nodes**1), [(ends, ends)]), float)
    parts = (MatArg(wide, "INC", (ends, ends), (np.arange(26), np.arange(13))),), (MatArg(mat, "INC", (ends, ends), (np.arange(13),) * 2),)
    yield Loop(both, cells, (MixedArg((DatArg(x, "READ", ends), DatArg(y, "READ", ends))), GridArg(parts)))
    columns = op2.ExtrudedSet(cells, 4)
    levels = op2.Set(13 * 4, "levels")
    up = op2.Map(columns, levels, 2, [[4 * i, 4 * i + 4] for i in range(12)], "up", offset=[1, 1])
    z = op2.Dat(levels, random.random(52), name="z")
    facet = Source("void facet(double *z, const double *w, int layer) { for (int i = 0; i < 4; i++) z[i] += w[0] * layer; }", "facet")
    yield Loop(facet, columns, (DatArg(z, "INC", up), DatArg(w, "READ")), "ON_INTERIOR_FACETS", True)


@pytest.fixture
def written(tmp_path):
    file = tmp_path / "loops.plz"
    with Writer(file) as writer:
        for loop in loops():
            run(writer, loop)
    return file


@pytest.mark.parametrize("device", DEVICES)
def test_loops_of_all_kinds_are_run_again(written, device):
    outcomes = rerun(written, opened(device), 1)
    assert [outcome.kernel for outcome in outcomes] == ["add", "add", "sums", "block", "both", "facet"]
    assert [outcome.elements for outcome in outcomes] == [12, 3, 4, 12, 12, 12]
    assert all(outcome.is_same and outcome.difference < 1e-13 for outcome in outcomes), outcomes


@pytest.mark.parametrize("device", DEVICES)
def test_loops_of_firedrake_are_run_again(device, capsys):
    opened(device)
    assert command([str(STORED), "--repeat", "1", "--device", device]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == "11 loops, 0 with results that differ from the file"
    assert "form00_cell_integral" in out and "form0_interior_facet_horiz_integral" in out


def test_other_numbers_are_told(written, tmp_path, capsys):
    changed = rewritten(written, tmp_path, change=lambda text: text["kernels"][0].update(source=text["kernels"][0]["source"].replace("y[1] +=", "y[1] -=")))
    outcomes = rerun(changed, "cpu:1", 1)
    assert [outcome.is_same for outcome in outcomes] == [False, False, True, True, True, True]
    assert command([str(changed), "--repeat", "1"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "6 loops, 2 with results that differ from the file"


def test_a_loop_is_written_once_and_arrays_are_shared(tmp_path):
    file = tmp_path / "once.plz"
    loop = next(loops())
    with Writer(file) as writer:
        for _ in range(3):
            run(writer, loop)
        assert not file.exists()
    with zipfile.ZipFile(file) as archive:
        text = json.loads(archive.read("capture.json"))
    assert len(text["loops"]) == 1 and len(text["arrays"]) == len({json.dumps(entry) for entry in text["arrays"]}) + 1


def rewritten(file, folder, change=lambda text: None, members=lambda found: found):
    """The file with another text or other members."""
    with zipfile.ZipFile(file) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    text = json.loads(found["capture.json"])
    change(text)
    found["capture.json"] = json.dumps(text).encode()
    path = folder / "changed.plz"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members(found).items():
            archive.writestr(name, data)
    return path


def array_bytes(array, **options):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, **options)
    return file.getvalue()


def first(text, name, **fields):
    text[name][0].update(fields)


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda text: text.update(format="zip"), "its format is 'zip', not 'parloop capture'"),
        (lambda text: text.update(version="1"), "capture.json: `version` is not a number of at least 0"),
        (lambda text: text.pop("loops"), "capture.json: `loops` is not a list"),
        (lambda text: text["arrays"].pop(), "its members are not those that capture.json names: arrays/"),
        (lambda text: first(text, "arrays", dtype="|O"), "arrays[0]: `dtype` is not one of "),
        (lambda text: first(text, "arrays", shape=[1]), "arrays[0]: arrays/0.npy has shape"),
        (lambda text: first(text, "arrays", shape=[2**40]), "arrays[0]: arrays/0.npy has"),
        (lambda text: first(text, "arrays", shape=[-1]), "arrays[0]: `shape` has a negative length"),
        (lambda text: first(text, "sets", kind="heap"), "sets[0]: `kind` is not one of set, subset, extruded"),
        (lambda text: first(text, "sets", size=True), "sets[0]: `size` is not a number of at least 0"),
        (lambda text: text["sets"][2].update(of=2), "sets[2]: `of` is 2, which is not one of sets in front of it"),
        (lambda text: first(text, "maps", to=99), "maps[0]: `to` is 99, which is not one of sets"),
        (lambda text: first(text, "maps", arity=3), "map `map0`"),
        (lambda text: first(text, "kernels", headers="#include <math.h>"), "kernels[0]: `headers` is not a list of texts"),
        (lambda text: first(text, "loops", kernel=-1), "loops[0]: `kernel` is not a number of at least 0"),
        (lambda text: first(text, "loops", region="ABOVE"), "loops[0]: `region` is not one of ALL, ON_BOTTOM, ON_TOP, ON_INTERIOR_FACETS"),
        (lambda text: text["loops"][0]["args"][0].update(access="ADD"), "loops[0], args[0]: `access` is not one of READ, WRITE, RW, INC, MIN, MAX"),
        (lambda text: text["loops"][0]["args"][0].update(data=7), "loops[0], args[0]: `data` is 7, which is not a dat of the loop"),
        (lambda text: text["loops"][3]["args"][0].update(maps=[0]), "loops[3], args[0]: `maps` is not a pair of maps"),
        (lambda text: text["loops"][0]["data"][0].update(after=1), "loops[0], data[0]: `after` has a different shape or type than `before`"),
    ],
)
def test_a_text_that_is_not_that_of_a_capture_is_refused(written, tmp_path, change, message):
    with pytest.raises(CaptureError) as error:
        rerun(rewritten(written, tmp_path, change))
    assert "changed.plz is not a valid capture: " in str(error.value) and message in str(error.value)


def test_another_version_is_refused(written, tmp_path):
    with pytest.raises(CaptureError, match="is a capture of version 2; this Parloop reads version 1"):
        rerun(rewritten(written, tmp_path, lambda text: text.update(version=2)))


def test_members_that_are_not_arrays_are_refused(written, tmp_path):
    pickled = array_bytes(np.array([{}], object), allow_pickle=True)
    for members, message in (
        (lambda found: {**found, "other": b""}, "its members are not those that capture.json names: other"),
        (lambda found: {**found, "arrays/0.npy": b"\x93NUMPY" + b"\0" * 200}, "arrays[0]: arrays/0.npy"),
        (lambda found: {**found, "arrays/0.npy": pickled + b"\0" * 200}, "arrays[0]: arrays/0.npy"),
        (lambda found: {name: data for name, data in found.items() if name != "capture.json"}, "it has no capture.json"),
        (lambda found: {**found, "capture.json": b"\xff{"}, "capture.json is not valid JSON"),
        (lambda found: {**found, "capture.json": b"[]"}, "capture.json is not an object"),
    ):
        with pytest.raises(CaptureError) as error:
            rerun(rewritten(written, tmp_path, members=members))
        assert message in str(error.value)


def test_damaged_bytes_are_refused_or_change_nothing(written, tmp_path):
    data, random = written.read_bytes(), np.random.default_rng(0)
    for _ in range(60):
        damaged = bytearray(data)
        damaged[int(random.integers(len(data)))] ^= int(random.integers(1, 256))
        path = tmp_path / "damaged.plz"
        path.write_bytes(damaged)
        try:
            outcomes = rerun(path, "cpu:1", 1)
        except CaptureError:
            continue
        assert all(outcome.is_same for outcome in outcomes)


def test_loops_run_by_the_plan_that_is_asked_for(written, capsys):
    assert command([str(written), "--device", "cpu:1", "--repeat", "1", "--plan", "sequential"]) == 0
    assert command([str(written), "--device", "cpu:1", "--plan", "gather"]) == 1
    table = capsys.readouterr().out
    assert "targets gather only on GPUs" in table and table.endswith("that the plan cannot run\n") and "with results that differ" in table
    assert command([str(written), "--device", "cpu:1", "--plan", "colours"]) == 1
    assert 'unknown plan "colours"; did you mean "colour"?' in capsys.readouterr().err


def test_files_that_are_not_there_or_no_archives_are_errors_of_the_command(tmp_path, capsys):
    path = tmp_path / "text.plz"
    path.write_text("hello")
    assert command([str(path)]) == 1 and command([str(tmp_path / "none.plz")]) == 1
    errors = capsys.readouterr().err.splitlines()
    assert errors[0] == f"parloop rerun: {path} is not a valid capture: File is not a zip file" and "No such file" in errors[1]


def test_kernels_with_folders_of_their_own_are_left_out(tmp_path):
    loop = next(loops())
    file = tmp_path / "none.plz"
    with Writer(file) as writer:
        source = Source(loop.source.code, loop.source.name, (), (str(tmp_path),))
        run(writer, Loop(source, loop.set, loop.args))
        assert writer.left_out == {"add": "its kernel includes files from folders that are not part of a capture"}
    assert rerun(file) == []


def test_kernels_with_libraries_are_left_out_and_run_on_one_thread(tmp_path):
    loop = next(loops())
    file = tmp_path / "none.plz"
    with Writer(file) as writer:
        linked = Loop(Source(loop.source.code, loop.source.name, libraries=("-lm",)), loop.set, loop.args)
        made = linked.made(pl.Context("cpu:2"), "owner")
        made()
        assert [plan.plan for plan in made.report().plans] == ["sequential"]
        run(writer, linked)
        assert writer.left_out == {"add": "its kernel is linked with libraries that are not part of a capture"}
    assert rerun(file) == []
