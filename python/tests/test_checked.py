"""Checked mode: a bad index or a null reference is an error that names the object, the index and the limit."""

import kernels
import numpy as np
import pytest
from conftest import missing, run_python

import parloop as pl

API = """
typedef GPUGLMEM struct Table_s *Table;
GPUFUN int64_t Table_len(const Table t) { return *(GPUGLMEM const int64_t *)t; }
GPUFUN double Table_get(const Table t, int64_t i) {
#ifdef PARLOOP_CHECKED
    if (!PARLOOP_CHECK(t != NULL, 1, 0, -1) || !PARLOOP_CHECK(i >= 0 && i < Table_len(t), 0, i, Table_len(t))) return 0;
#endif
    return ((GPUGLMEM const double *)t)[i + 1];
}
"""

SOURCE = """
#define PLUS_ONE(t, i) (Table_get(t, i) + 1)
GPUKERN void look(const Table t, const int64_t *at, double *out, const int64_t n) {
    VECTORIZE_OVER(i, n)
        out[i] = PLUS_ONE(t, at[i]);
    END_VECTORIZE
}
"""

OPTIONS = {"api": API, "classes": ["Table"], "check_sites": ["Table.values", "Table.base"]}


@pytest.fixture
def table(ctx):
    return ctx.array(np.concatenate([np.array([3]).view(float), [10.0, 20.0, 30.0]])).memory


def test_a_bad_index_is_an_error_and_the_next_launch_is_judged_by_itself(ctx, table):
    look = ctx.compile(SOURCE, checked=True, **OPTIONS).look
    out = np.zeros(4)
    look(table, np.array([0, 2, 1, 0]), out, 4)
    assert out.tolist() == [11, 31, 21, 11]
    with pytest.raises(IndexError) as caught:
        look(table, np.array([0, 7, 1, 0]), out, 4)
    assert isinstance(caught.value, pl.CheckError)
    assert str(caught.value) == "kernel `look`: index 7 is outside 0..3 of Table.values"
    look(table, np.array([1, 1, 1, 1]), out, 4)
    assert out.tolist() == [21] * 4


def test_a_null_reference_is_an_error(ctx):
    look = ctx.compile(SOURCE, checked=True, **OPTIONS).look
    with pytest.raises(pl.CheckError) as caught:
        look(None, np.zeros(1, np.int64), np.zeros(1), 1)
    assert str(caught.value) == "kernel `look`: the reference Table.base is null"


def test_bound_calls_and_large_launches_are_checked(ctx, table):
    look = ctx.compile(SOURCE, checked=True, **OPTIONS).look
    at = np.zeros(100_000, np.int64)
    at[77_777] = -5
    with pytest.raises(pl.CheckError, match="^kernel `look`: index -5 is outside 0..3 of Table.values$"):
        look(table, at, np.zeros(at.size), at.size)
    step = look.bind(table, ctx.array(at), ctx.zeros(at.size), at.size)
    for _ in range(2):
        with pytest.raises(pl.CheckError):
            step()


def test_without_checks_nothing_of_them_is_compiled(ctx, table):
    prog = ctx.compile(SOURCE, checked=False, **OPTIONS)
    assert "parloop_check" not in prog.source and "parloop_record" not in prog.source
    out = np.zeros(1)
    prog.look(table, np.array([1]), out, 1)
    assert out[0] == 21


def test_the_environment_sets_the_default():
    code = f"""
        import numpy as np, parloop as pl
        ctx = pl.Context("cpu:1")
        table = ctx.array(np.concatenate([np.array([1]).view(float), np.zeros(8)])).memory
        for checked in (None, True, False):
            try:
                ctx.compile({SOURCE!r}, checked=checked, **{OPTIONS!r}).look(table, np.array([3]), np.zeros(1), 1)
                print("silent")
            except pl.ParloopError as error:
                print(type(error).__name__)
    """
    assert run_python(code, env={"PARLOOP_CHECKED": "1"}).split() == ["CheckError", "CheckError", "silent"]
    assert run_python(code, env={"PARLOOP_CHECKED": "0"}).split() == ["silent", "CheckError", "silent"]
    assert run_python(code, env={"PARLOOP_CHECKED": None}).split() == ["silent", "CheckError", "silent"]
    wrong = """
        import parloop as pl
        try:
            pl.Context("cpu:1").compile("GPUKERN void k(void) {}")
        except pl.ParloopError as error:
            print(error)
    """
    assert run_python(wrong, env={"PARLOOP_CHECKED": "on"}) == "the environment variable PARLOOP_CHECKED is `on`, but it must be 0 or 1\n"


def test_checks_compile_for_cuda_without_a_gpu(nvrtc):
    sources = [API, SOURCE]
    checked, plain = (pl.compile_for("cuda", "sm_90", sources, classes=["Table"], checked=checked) for checked in (True, False))
    assert b"parloop_take_check" in checked and b"parloop_take_check" not in plain


def test_checks_compile_for_hip_without_a_gpu():
    code = f"""
        import parloop as pl
        try:
            pl.compile_for("hip", "gfx90a", {kernels.ONCE!r})
        except pl.errors.CompilerMissingError as error:
            print("MISSING", error)
            raise SystemExit
        print(b"parloop_take_check" in pl.compile_for("hip", "gfx90a", [{API!r}, {SOURCE!r}], classes=["Table"], checked=True))
    """
    printed = run_python(code)
    if printed.startswith("MISSING"):
        missing(f"AMD's hiprtc ({printed})")
    assert printed.strip() == "True"
