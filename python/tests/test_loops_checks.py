"""Mistakes that only show as a kernel runs: checked mode, comparison with a reference, arrays of another layout."""

import re

import numpy as np
import parloop.loops as lp
import pytest

import parloop as pl


def gather(**options):
    data = [lp.GlobalArg("a", np.float64, shape="m"), lp.GlobalArg("k", np.int32), lp.GlobalArg("out", np.float64), ...]
    return lp.make_kernel("{[i]: 0<=i<n}", "out[i] = a[k[i]]", data, name="gather", options=lp.Options(**options))


def scatter(**options):
    data = [lp.GlobalArg("a", np.float64), lp.GlobalArg("k", np.int32), lp.GlobalArg("out", np.float64, shape="m,2"), ...]
    return lp.make_kernel("{[i]: 0<=i<n}", "out[k[i], 1] = a[i]", data, name="scatter", options=lp.Options(**options))


@pytest.mark.parametrize("bad", [5, -1, 2**31 - 1])
def test_a_read_outside_is_named_with_the_array_the_index_and_the_limit(ctx, bad):
    knl = gather(checked=True)
    k = np.array([0, 4, bad, 1], np.int32)
    with pytest.raises(pl.CheckError, match=re.escape(f"kernel `gather`: index {bad} is outside 0..5 of a[k[i]], axis 0")) as caught:
        knl(ctx, a=np.arange(5.0), k=k)
    assert isinstance(caught.value, IndexError)
    _, (out,) = knl(ctx, a=np.arange(5.0), k=np.array([4, 0], np.int32))
    np.testing.assert_array_equal(out, [4.0, 0.0])


def test_a_write_outside_is_named_and_leaves_everything_else_alone(ctx):
    out = np.zeros((3, 2))
    with pytest.raises(pl.CheckError, match=re.escape("kernel `scatter`: index 3 is outside 0..3 of out[k[i], 1], axis 0")):
        scatter(checked=True)(ctx, a=np.ones(3), k=np.array([2, 3, 0], np.int32), out=out)
    assert not out[:, 0].any() and out[1, 1] == 0


def test_work_items_are_checked_too(ctx):
    knl = lp.split_iname(gather(checked=True), "i", 8, outer_tag="g.0", inner_tag="l.0")
    k = np.zeros(100, np.int32)
    knl(ctx, a=np.arange(5.0), k=k)
    k[77] = 6
    with pytest.raises(pl.CheckError, match=re.escape("index 6 is outside 0..5 of a[k[i_inner + i_outer*8]], axis 0")):
        knl(ctx, a=np.arange(5.0), k=k)


def update(tag, **said):
    data = [lp.GlobalArg("x", np.float64, shape="8"), lp.GlobalArg("p", np.int32, shape="8")]
    knl = lp.make_kernel("{[i]: 0<=i<8}", "x[p[i]] = 2*x[p[i]] + i {id=put}", data, name="update", **said)
    return lp.tag_inames(knl, {"i": tag})


PERMUTATION = np.array([3, 1, 7, 5, 0, 2, 6, 4], np.int32)
REPEATED = np.array([3, 1, 7, 5, 0, 2, 1, 4], np.int32)


@pytest.mark.parametrize("tag", ["g.0", "l.0"])
def test_an_order_that_the_data_decides_warns_once(cpu, tag):
    knl = update(tag)
    message = (
        "order(update): instances of `put` may access the same elements of `x` in a different order along `i`; this depends on the data: "
        "call it with checked=True to find out"
    )
    with pytest.warns(lp.LoopWarning, match=re.escape(message)) as caught:
        _, (x,) = knl(cpu, x=np.ones(8), p=PERMUTATION)
        knl(cpu, x=np.ones(8), p=REPEATED)
        knl.code("c")
    assert len(caught) == 1 and caught[0].filename == __file__
    np.testing.assert_array_equal(x[PERMUTATION], 2 + np.arange(8))
    with pytest.warns(lp.LoopWarning, match=re.escape("order(update): ")) as caught:
        assert "void update" in update(tag).code("c")
    assert len(caught) == 1 and caught[0].filename == __file__


@pytest.mark.filterwarnings("error")
def test_the_warning_can_be_silenced_and_is_given_for_nothing_else(cpu):
    for silenced in (["order(update)"], ["order(*)"], "*"):
        update("g.0", silenced_warnings=silenced)(cpu, x=np.ones(8), p=PERMUTATION)
    knl = update("g.0")
    knl(cpu, x=np.ones(8), p=PERMUTATION, checked=True)
    update("for")(cpu, x=np.ones(8), p=REPEATED)
    scatter()(cpu, a=np.ones(3), k=np.array([2, 1, 0], np.int32), out=np.zeros((3, 2)))


@pytest.mark.parametrize(("tag", "cause"), [("g.0", "work-groups run in any order"), ("l.0", "work items run in any order between barriers")])
def test_checked_calls_find_out_what_the_data_decides(cpu, tag, cause):
    knl = update(tag, silenced_warnings=["order(*)"])
    for _ in range(3):
        _, (x,) = knl(cpu, x=np.ones(8), p=PERMUTATION, checked=True)
        np.testing.assert_array_equal(x[PERMUTATION], 2 + np.arange(8))
        with pytest.raises(pl.CheckError, match=re.escape("kernel `update`: instruction `put`: `i = 1` ")) as caught:
            knl(cpu, x=np.ones(8), p=REPEATED, checked=True)
        assert " `x[1]`, which `i = 6` " in str(caught.value) and str(caught.value).endswith(cause)
        knl(cpu, x=np.ones(8), p=REPEATED)
        knl(cpu, x=np.ones(8), p=REPEATED, checked=False)
    with pytest.raises(pl.CheckError, match="instruction `put`"):
        lp.set_options(knl, checked=True)(cpu, x=np.ones(8), p=REPEATED)


def test_a_replay_of_checked_calls_is_watched_like_them():
    ctx = pl.Context("cpu:2")
    knl = update("g.0", options=lp.Options(checked=True))
    x, p = np.ones(8), PERMUTATION.copy()
    with ctx.recording() as steps:
        knl(ctx, x=x, p=p)
        knl(ctx, x=x, p=p)
    for _ in range(2):
        steps()
    p[:] = REPEATED
    with pytest.raises(pl.CheckError, match="instruction `put`"):
        steps()
    p[:] = PERMUTATION
    steps()


def test_an_argument_may_be_called_checked(cpu):
    knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = checked*a[i]", [lp.GlobalArg("a", np.float64), lp.ValueArg("checked", np.float64), ...])
    _, (out,) = knl(cpu, a=np.ones(3), checked=2.0)
    np.testing.assert_array_equal(out, [2.0, 2.0, 2.0])


def test_what_the_program_says_of_checks_goes_before_the_environment(in_new_process):
    code = """
        import numpy as np, parloop as pl, parloop.loops as lp
        knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = a[i] // k[i]", [lp.GlobalArg("a, k, out", np.int32, shape="n"), ...])
        def is_checked(program, **said):
            try:
                # Without checks it is 0.
                program(pl.Context("cpu:1"), a=np.ones(2, np.int32), k=np.array([1, 0], np.int32), **said)
            except pl.CheckError as error:
                assert "division by zero" in str(error)
                return True
            return False
        for option in (None, True, False):
            program = lp.set_options(knl, checked=option)
            print(*(int(is_checked(program, **said)) for said in ({}, {"checked": None}, {"checked": True}, {"checked": False})))
        print(int(is_checked(knl)))
    """
    for environment in ("1", "0", None):
        own = int(environment == "1")
        lines = [f"{own} {own} 1 0", "1 1 1 0", "0 0 1 0", f"{own}"]
        assert in_new_process(code, env={"PARLOOP_CHECKED": environment}).split("\n")[:4] == lines, environment


def product():
    return lp.make_kernel(
        "{[i,j,k]: 0<=i<n and 0<=j<m and 0<=k<l}",
        "c[i,j] = sum(k, a[i,k]*b[k,j])",
        [lp.GlobalArg("a,b,c", np.float32, order="F"), ...],
    )


def test_a_right_transformation_gives_the_numbers_of_the_reference(ctx):
    knl = product()
    fast = lp.split_iname(knl, "i", 8, outer_tag="g.0", inner_tag="l.1")
    fast = lp.split_iname(fast, "j", 8, outer_tag="g.1", inner_tag="l.0")
    fast = lp.split_iname(fast, "k", 4)
    fast = lp.add_prefetch(fast, "a", ["i_inner", "k_inner"], default_tag="l.auto")
    for sizes in ({"n": 16, "m": 8, "l": 12}, {"n": 13, "m": 9, "l": 7}):
        lp.auto_test_vs_ref(knl, ctx, fast, parameters=sizes)


def test_a_transformation_that_loses_an_instruction_is_found(ctx):
    knl = lp.make_kernel(
        "{[i]: 0<=i<n}", ["out[i] = a[i] {id=first}", "out[i] = 2*out[i] {id=second, dep=first}"], [lp.GlobalArg("a,out", np.float64), ...]
    )
    wrong = lp.remove_instructions(knl, {"second"})
    with pytest.raises(AssertionError, match=r"^out\[0\] is .*, but .* is expected; 20 of 20 numbers differ$"):
        lp.auto_test_vs_ref(knl, ctx, wrong, parameters={"n": 20})


def test_a_promise_that_does_not_hold_is_found(gpu):
    knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]", [lp.GlobalArg("a,out", np.float64), ...])
    wrong = lp.split_iname(lp.assume(knl, "n <= 64"), "i", 64, outer_tag="g.0", inner_tag="l.0")
    lp.auto_test_vs_ref(knl, gpu, wrong, parameters={"n": 64})
    with pytest.raises(pl.LoopError, match=r"assumes `n <= 64`, but is called with n = 100"):
        lp.auto_test_vs_ref(knl, gpu, wrong, parameters={"n": 100})


def test_integers_must_agree_to_the_last_one():
    knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = a[i] {id=copy}", [lp.GlobalArg("a,out", np.int32), ...])
    wrong = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = a[i] + 1 if i == 9 else a[i]", [lp.GlobalArg("a,out", np.int32), ...])
    with pytest.raises(AssertionError, match=r"^out\[9\] is .*; 1 of 10 numbers differ$"):
        lp.auto_test_vs_ref(knl, None, wrong, parameters={"n": 10})


def test_a_size_that_is_not_given_is_asked_for():
    knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]", [lp.GlobalArg("a,out", np.float64), ...])
    with pytest.raises(pl.LoopError, match="argument `n` is missing"):
        lp.auto_test_vs_ref(knl, None, knl)


def test_numbers_and_arrays_may_be_given_and_a_comparison_of_ones_own():
    knl = lp.make_kernel(
        "{[i]: 0<=i<n}", "out[i] = c*a[i]", [lp.GlobalArg("a,out", np.float64), lp.ValueArg("c", np.float64), ...]
    )
    seen = []

    def check(found, expected):
        seen.append((found, expected))
        return False, "never"

    lp.auto_test_vs_ref(knl, None, knl, parameters={"n": 5})
    with pytest.raises(AssertionError, match="^never$"):
        lp.auto_test_vs_ref(knl, None, knl, parameters={"n": 5, "c": 3.0, "a": np.arange(5.0)}, check_result=check)
    np.testing.assert_array_equal(seen[0][0], 3.0 * np.arange(5.0))


def test_an_array_with_another_number_of_axes_is_refused_where_only_its_strides_are_known(ctx):
    knl = lp.make_kernel(
        "{[i,j]: 0<=i,j<n}",
        "out[i,j] = a[i,j]",
        [lp.GlobalArg("a", np.float64, shape=None, dim_tags="stride:auto,stride:auto"), lp.GlobalArg("out", np.float64, shape="n,n"), ...],
        name="copy",
    )
    a = np.arange(16.0).reshape(4, 4)
    _, (out,) = knl(ctx, a=a, n=4)
    np.testing.assert_array_equal(out, a)
    with pytest.raises(pl.LoopError, match="^kernel `copy`: argument `a` has 1 axes, but the kernel was compiled for 2$"):
        knl(ctx, a=a.ravel(), n=4)


def twice(index="i"):
    data = [lp.GlobalArg("a,out", np.float64, shape="n", strides="auto"), ...]
    return lp.make_kernel("{[i]: 0<=i<n}", f"out[i] = 2*a[{index}]", data, name="twice")


def test_arguments_that_share_memory_are_refused_where_one_is_written(ctx):
    x = np.arange(1, 17.0)
    message = re.escape("kernel `twice`: arguments `out` and `a` share memory, and `out` is written; pass a copy of one of them")
    with pytest.raises(pl.LoopError, match=message):
        twice()(ctx, a=x[:-1], out=x[1:])
    with pytest.raises(pl.LoopError, match=message):
        twice("n - 1 - i")(ctx, a=x, out=x)
    np.testing.assert_array_equal(x, np.arange(1, 17.0))
    y = ctx.array(x.copy())
    with pytest.raises(pl.LoopError, match=message):
        twice("n - 1 - i")(ctx, a=y, out=y)
    twice()(ctx, a=y, out=y)  # each instance reads the element that it writes
    np.testing.assert_array_equal(y.numpy(), 2 * x)


def test_parts_without_common_elements_do_not_share_memory():
    ctx, x = pl.Context("cpu:1"), np.arange(16.0)
    twice()(ctx, a=x[::2], out=x[1::2])
    np.testing.assert_array_equal(x[1::2], 2 * x[::2])
    x = np.arange(16.0)
    with pytest.raises(pl.LoopError, match="share memory"):
        twice()(ctx, a=x[:8], out=x[1::2])


def test_a_view_that_repeats_elements_is_not_written():
    with pytest.raises(pl.LoopError, match="some of its elements share memory"):
        twice()(pl.Context("cpu:1"), a=np.arange(5.0), out=np.lib.stride_tricks.as_strided(np.zeros(1), (5,), (0,)))


def test_lengths_are_compared_with_what_the_loops_reach_in_each_call(ctx):
    knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = a[i]", [lp.GlobalArg("a", np.float64, shape="n"), lp.GlobalArg("out", np.float64, shape="m"), ...])
    big = np.zeros(100)
    with pytest.raises(pl.errors.LoopIndexError, match=re.escape("index 1 is 49, but the axis has 4 elements with m = 4, n = 50")):
        knl(ctx, a=np.ones(50), out=big[:4])
    assert not big.any()
    knl(ctx, a=np.ones(50), out=big[:60])
    assert big.sum() == 50


def test_an_output_with_an_offset_is_passed():
    knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 7", [lp.GlobalArg("out", np.float64, shape="n", offset=5), lp.ValueArg("n", np.int32)])
    big = np.zeros(100)
    with pytest.raises(pl.LoopError, match="the call cannot allocate it; pass it"):
        knl(pl.Context("cpu:1"), n=4)
    with pytest.raises(pl.LoopError, match="its memory must have 9, but it has 4"):
        knl(pl.Context("cpu:1"), out=big[:4])
    assert not big.any()


@pytest.mark.parametrize("wrong", [1.5, float("nan"), True, 2 + 0j, 2**63])
def test_a_number_that_is_no_integer_is_not_called_missing(wrong):
    knl = lp.make_kernel("{[i]: 0<=i<2}", "o[i] = m", [lp.GlobalArg("o", np.int64, shape="2"), lp.ValueArg("m", np.int32)])
    with pytest.raises(pl.LoopError, match="argument `m` must be an integer of type int32"):
        knl(pl.Context("cpu:1"), m=wrong)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint32", "uint64"])
def test_an_integer_divided_by_zero_is_zero_as_in_numpy(ctx, dtype):
    kernel = lp.make_kernel("{[i]: 0<=i<n}", ["q[i] = a[i] // b[i]", "r[i] = a[i] % b[i]"])
    least = np.iinfo(dtype).min
    a = np.array([7, 0, 100, least, least], dtype)
    b = np.array([0, 0, 3, -1 if least else 1, 0], dtype)
    _, (q, r) = kernel(ctx, a=a, b=b)
    with np.errstate(all="ignore"):
        assert q.tolist() == (a // b).tolist() and r.tolist() == (a % b).tolist()


@pytest.mark.parametrize("division", ["a[i] // 0", "a[i] % 0", "a[i] // (2 - 2)"])
def test_a_division_by_the_number_zero_is_refused(division):
    kernel = lp.make_kernel("{[i]: 0<=i<n}", f"out[i] = {division}")
    with pytest.raises(pl.LoopError, match="of an integer by zero"):
        kernel(pl.Context("cpu:1"), a=np.arange(3))


STEP = [lp.GlobalArg("a", np.float64, shape="n"), lp.GlobalArg("q", np.int32, shape="1")]


def stepped(condition, dtype=np.uint8):
    """Each element needs the one before it, where the condition holds."""
    knl = lp.make_kernel("{[i]: 1<=i<n}", f"a[i] = 2*a[i-1] {{id=step,if={condition}}}", [*STEP, lp.ValueArg("k", dtype), ...], name="steps")
    return lp.tag_inames(knl, {"i": "g.0"})


@pytest.mark.parametrize(("dtype", "k"), [(np.uint8, 3), (np.uint32, 3), (np.int8, -126)])
def test_conditions_that_wrap_around_do_not_hide_a_lost_order(dtype, k):
    """In exact numbers both cannot hold; `k-5` of a type that wraps around is a large number."""
    knl, a = stepped("k-5>=0 and k<5", dtype), np.ones(40)
    with pytest.raises(pl.CheckError, match=re.escape("`i = 1` writes `a[1]`, which `i = 2` reads; work-groups run in any order")):
        knl(pl.Context("cpu:3"), a=a, q=np.ones(1, np.int32), k=k, checked=True)


@pytest.mark.parametrize("condition", ["k-5>=0", "k-5>=0 and k<9", "i+k<n", "2*k<n"])
@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.int64])
def test_an_order_that_is_lost_without_any_number_that_wraps_around_is_refused(condition, dtype):
    with pytest.raises(pl.errors.LoopRaceError, match=re.escape("`i = 1` writes `a[1]`, which `i = 2` reads")):
        lp.generate_code(stepped(condition, dtype), target="c")
