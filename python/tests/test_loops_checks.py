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


def test_options_and_the_environment_turn_checks_on(in_new_process):
    code = """
        import numpy as np, parloop as pl, parloop.loops as lp
        knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = a[k[i]]", [lp.GlobalArg("a", np.float64, shape="m"), ...])
        try:
            lp.set_options(knl, checked=CHECKED)(a=np.arange(5.0), k=np.array([-1], np.int32))
        except pl.CheckError as error:
            print(error)
    """
    assert "outside 0..5" in in_new_process(code.replace("CHECKED", "True"))
    assert "outside 0..5" in in_new_process(code.replace("CHECKED", "False"), env={"PARLOOP_CHECKED": "1"})


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
    with pytest.raises(AssertionError, match=r"^out\[64\] is .*, but .* is expected; 36 of 100 numbers differ$"):
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
    with pytest.raises(pl.LoopError, match="^kernel `copy`: argument `a` has 1 axes, but the kernel was made for 2$"):
        knl(ctx, a=a.ravel(), n=4)
