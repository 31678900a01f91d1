"""Reports of mesh loops."""

import numpy as np
import pytest
from conftest import missing

import parloop as pl
import parloop.mesh as op2


def ring(n):
    nodes, edges = op2.Set(n, "nodes"), op2.Set(n, "edges")
    ends = op2.Map(edges, nodes, 2, np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1), "ends")
    return nodes, edges, ends


def test_bytes_are_those_that_a_run_moves_at_least(ctx):
    nodes, edges, ends = ring(1000)
    x, y, flux = op2.Dat(nodes**2), op2.Dat(nodes), op2.Dat(edges)
    kernel = op2.Kernel("void k(double *flux, double *x[2], double *y, const double *dt) { flux[0] = x[0][0] + dt[0]; y[0] += 1; }", "k")
    loop = op2.ParLoop(kernel, edges, flux(op2.WRITE), x(op2.READ, ends), y(op2.INC, ends), 0.5, context=ctx)
    loop()
    report = loop.report()
    # flux is written, x read, y read and written, dt read, and so is the map of 32-bit integers.
    assert report.bytes == 8 * (1000 + 2000 + 2 * 1000 + 1) + 4 * 2000
    assert (report.kernel, report.set, report.elements, report.device, report.runs) == ("k", "edges", 1000, ctx.device.name, 1)
    twice = op2.ParLoop(op2.Kernel("void t(double *x, double *y) { y[0] = x[0]; }", "t"), nodes, y(op2.RW), y(op2.RW), context=ctx)
    assert twice.report().bytes == 8 * 2 * 1000


def test_a_report_shows_the_plan_and_its_alternatives():
    nodes, edges, ends = ring(100000)
    y = op2.Dat(nodes)
    kernel = op2.Kernel("void report_me(double *y) { y[0] += 1; y[1] += 1; }", "report_me")
    loop = op2.ParLoop(kernel, edges, y(op2.INC, ends), context="cpu:2")
    before = loop.report()
    assert before.runs == 0 and before.seconds is None and "not timed yet" in str(before)
    runs = 0
    while not all(plan.seconds for plan in loop.report().plans if plan.state != "not tried") or runs < 3:
        loop()
        runs += 1
        assert runs < 100000
    report = loop.report()
    assert report.runs == runs and report.seconds > 0
    assert report.bandwidth_share is None or 0 < report.bandwidth_share <= 1
    assert report.plan.startswith("strips") and len(report.plans) > 1
    assert {plan.state for plan in report.plans} <= {"chosen", "best so far", "slower", "not tried"}
    text = str(report)
    assert text.startswith(f"loop report_me over edges (100000 elements) on cpu:2: {runs} runs")
    assert all(plan.plan in text for plan in report.plans)
    assert report._repr_html_().startswith("<pre>loop report_me")
    np.testing.assert_array_equal(y.data_ro, np.full(100000, 2.0 * runs))


def test_only_elements_of_few_targets_begin_with_gathering_on_a_gpu():
    opencl = [device.name for device in pl.devices() if device.kind == "opencl"]
    if not opencl:
        missing("an OpenCL device")
    nodes = op2.Set(100, "nodes")
    for arity, first in ((2, "gather"), (3, "atomic"), (8, "atomic")):
        elements = op2.Set(50, "elements")
        targets = op2.Map(elements, nodes, arity, np.arange(50 * arity).reshape(50, arity) % 100, "targets")
        y = op2.Dat(nodes)
        body = " ".join(f"y[{slot}] += {slot + 1};" for slot in range(arity))
        loop = op2.ParLoop(op2.Kernel(f"void add{arity}(double *y) {{ {body} }}", f"add{arity}"), elements, y(op2.INC, targets), context=opencl[0])
        loop()
        assert loop.report().plan.startswith(first), (arity, loop.report())
        wanted = np.zeros(100)
        np.add.at(wanted, targets.values.ravel(), np.tile(np.arange(1.0, arity + 1), 50))
        np.testing.assert_array_equal(y.data_ro, wanted)


def test_a_plan_that_was_asked_for_has_no_alternatives():
    nodes, edges, ends = ring(100)
    y = op2.Dat(nodes)
    loop = op2.ParLoop(op2.Kernel("void one(double *y) { y[0] += 1; }", "one"), edges, y(op2.INC, ends), plan="colour", lanes=False, context="cpu:2")
    loop()
    assert [plan[:2] for plan in loop.report().plans] == [("colour", "chosen")]


def test_code_is_one_text():
    cells = op2.Set(3, "cells")
    x = op2.Dat(cells)
    loop = op2.ParLoop(op2.Kernel("void twice(double *x) { x[0] *= 2; }", "twice"), cells, x(op2.RW))
    assert isinstance(loop.code("cpu:1"), str) and "twice" in loop.code("cpu:1")
    with pytest.raises(pl.ParloopError):
        loop.report("nothing")
