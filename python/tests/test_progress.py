"""`parloop.progress`: a bar of tqdm's, a plain line, or nothing."""

import contextlib
import io
import os
import pty
import subprocess
import sys
import textwrap
import types

import pytest
from conftest import run_python

import parloop as pl

#: Without tqdm, whether it is installed or not.
PLAIN = "import sys\nsys.modules['tqdm'] = sys.modules['tqdm.auto'] = None\nimport parloop as pl\n"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def plain(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)


def on_terminal():
    return contextlib.redirect_stderr(Terminal())


def test_it_gives_the_items_and_counts_them(capsys):
    steps = pl.progress("abc", desc="letters")
    assert len(steps) == 3 and list(steps) == ["a", "b", "c"] and steps.done == 3
    assert list(pl.progress(iter([1, 2]))) == [1, 2]
    assert capsys.readouterr() == ("", "")


def test_it_is_silent_where_standard_error_is_not_a_terminal(capsys, plain):
    list(pl.progress(range(3), delay=0.0))
    assert capsys.readouterr().err == ""
    with pl.progress(total=2, desc="solve", show=True, delay=0.0) as steps:
        steps.update(note="residual 1")
    assert capsys.readouterr().err == "solve, 1/2 (50 %), 0 s left, residual 1\n"


def test_what_is_short_shows_nothing_on_a_terminal_either(plain):
    with on_terminal() as terminal:
        list(pl.progress(range(3), desc="short", delay=1e9))
    assert terminal.getvalue() == ""


def test_a_line_on_a_terminal_is_replaced_and_taken_away(plain, monkeypatch):
    monkeypatch.setattr("parloop._progress.PAUSE", 0.0)
    with on_terminal() as terminal:
        list(pl.progress(range(2), desc="steps", delay=0.0))
    assert terminal.getvalue() == "\r\033[Ksteps, 1/2 (50 %), 0 s left\r\033[Ksteps, 2/2 (100 %), 0 s left\r\033[K"


def test_without_a_total_the_steps_and_seconds_are_shown(plain):
    with on_terminal() as terminal:
        steps = pl.progress(desc="cg: iteration", delay=0.0)
        steps.update(7, note="residual 2e-3")
        assert terminal.getvalue() == "\r\033[Kcg: iteration, 7, 0 s, residual 2e-3"
        steps.close()
        steps.update()
    assert terminal.getvalue() == "\r\033[Kcg: iteration, 7, 0 s, residual 2e-3\r\033[K"


def test_an_error_in_a_loop_takes_the_line_away(plain):
    with on_terminal() as terminal, pytest.raises(ZeroDivisionError):
        for number in pl.progress([1, 0], delay=0.0):
            1 / number
    assert terminal.getvalue() == "\r\033[K1/2 (50 %), 0 s left\r\033[K"


def test_what_has_no_iterable_or_total_says_so():
    with pytest.raises(TypeError, match="has no iterable to go through; call update"):
        list(pl.progress(total=3))
    with pytest.raises(TypeError, match="does not know how many steps"):
        len(pl.progress())


def test_tqdm_is_used_where_it_is_installed(monkeypatch):
    made = []

    class Bar:
        def __init__(self, **options):
            self.options, self.steps, self.notes, self.is_closed = options, 0, [], False
            made.append(self)

        def update(self, steps):
            self.steps += steps

        def set_postfix_str(self, note, refresh):
            self.notes.append(note)

        def close(self):
            self.is_closed = True

    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    auto = types.ModuleType("tqdm.auto")
    auto.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm.auto", auto)
    assert list(pl.progress(range(3), desc="steps", show=True)) == [0, 1, 2]
    (bar,) = made
    assert bar.options["total"] == 3 and bar.options["desc"] == "steps" and bar.options["delay"] == 1.0
    assert bar.steps == 3 and bar.is_closed
    list(pl.progress(range(3), show=False))
    assert len(made) == 1


def test_tqdm_itself_shows_a_bar():
    pytest.importorskip("tqdm")
    text = "import parloop as pl\nlist(pl.progress(range(5), desc='steps', show=True, delay=0.0))"
    result = run_python(text, check=False)
    assert result.returncode == 0 and "steps:" in result.stderr


def test_solve_shows_the_residual_when_asked():
    text = PLAIN + textwrap.dedent("""
    import numpy as np, parloop.mesh as op2
    n = 40_000
    nodes, edges = op2.Set(n), op2.Set(n - 1)
    ends = op2.Map(edges, nodes, 2, np.column_stack([np.arange(n - 1), np.arange(1, n)]))
    mat = op2.Mat(op2.Sparsity(nodes ** 1, ends))
    spring = op2.Kernel("void spring(double k[2][2]) { k[0][0] += 1.0000001; k[0][1] -= 1; k[1][0] -= 1; k[1][1] += 1.0000001; }", "spring")
    op2.par_loop(spring, edges, mat(op2.INC, (ends, ends)))
    x, b = op2.Dat(nodes), op2.Dat(nodes, np.random.default_rng(1).random(n))
    op2.solve(mat, x, b, progress=PROGRESS, maxiter=500)
    """)
    shown = run_python(text.replace("PROGRESS", "True"), check=False)
    assert shown.returncode == 0 and "cg: iteration, " in shown.stderr and ", residual " in shown.stderr, shown.stderr
    assert run_python(text.replace("PROGRESS", "None"), check=False).stderr == ""


def test_a_real_terminal_gets_a_line():
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as stderr:
        code = PLAIN + "list(pl.progress(range(5), desc='steps', delay=0.0))"
        subprocess.run([sys.executable, "-c", code], stderr=stderr, check=True, timeout=120)
        assert b"steps, 1/5 (20 %)" in os.read(ours, 10_000)
    os.close(ours)
