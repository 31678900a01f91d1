"""Statistics by loopy's names: keys, granularities, strides, sums and footprints."""

import numpy as np
import pytest

pytest.importorskip("pymbolic")

from pymbolic import var

import parloop.compat._loopy as lp
from parloop.compat._loopy.statistics import CountGranularity as CG
from parloop.compat._loopy.statistics import count


def matvec(**tags):
    data = [lp.GlobalArg("a", np.float32, shape="n,m"), lp.GlobalArg("x", np.float32, shape="m"), lp.GlobalArg("y", np.float32, shape="n"), "..."]
    return lp.make_kernel("{[i,j]: 0<=i<n and 0<=j<m}", "y[i] = sum(j, a[i,j]*x[j])", data, name="matvec", assumptions="n,m>=1")


def test_operations_are_counted_for_each_subgroup():
    found = lp.get_op_map(matvec(), subgroup_size=32)
    sizes = {"n": 10, "m": 7}
    assert found[lp.Op(np.float32, "mul", CG.SUBGROUP, "matvec")].eval_with_dict(sizes) == 70
    assert found.filter_by(dtype=[np.float32]).eval_and_sum(sizes) == 140
    assert found.group_by("name")[lp.Op(name="add")].eval_with_dict(sizes) == 70


def test_operations_of_indices_are_counted_if_they_are_asked_for():
    knl = lp.make_kernel("{[i]: 0<=i<n}", "b[i+1] = 2*a[i]", [lp.GlobalArg("a,b", np.float64, shape="n+1"), "..."])
    integer = lp.Op(np.int32, "add", CG.SUBGROUP, "loopy_kernel")
    assert lp.get_op_map(knl, subgroup_size=32)[integer].eval_with_dict({"n": 5}) == 5
    assert integer not in lp.get_op_map(knl, subgroup_size=32, count_within_subscripts=False)


def test_functions_are_counted_by_the_names_that_they_are_called_by():
    knl = lp.make_kernel("{[i]: 0<=i<n}", "b[i] = sin(a[i])", [lp.GlobalArg("a,b", np.float64, shape="n"), "..."])
    assert lp.get_op_map(knl, subgroup_size=32).filter_by(name="func:sin").eval_and_sum({"n": 5}) == 5


def test_accesses_have_strides_along_the_axes_of_the_hardware():
    knl = lp.split_iname(matvec(), "i", 16, outer_tag="g.0", inner_tag="l.0")
    found = lp.get_mem_access_map(knl, subgroup_size=32)
    sizes = {"n": 64, "m": 7}
    of_a = lp.MemAccess(
        "global",
        np.float32,
        {0: var("m")},
        {0: 16 * var("m")},
        "load",
        "a",
        count_granularity=CG.WORKITEM,
        kernel_name="matvec",
    )
    assert found[of_a].eval_with_dict(sizes) == 64 * 7
    # All items of a subgroup read one element of x together: four groups of sixteen are four subgroups.
    of_x = lp.MemAccess("global", np.float32, {}, {}, "load", "x", count_granularity=CG.SUBGROUP, kernel_name="matvec")
    assert found[of_x].eval_with_dict(sizes) == 4 * 7
    assert found.filter_by(direction=["store"]).to_bytes().eval_and_sum(sizes) == 4 * 64


def test_work_that_several_groups_do_alike_counts_for_each_if_it_is_asked_for():
    data = [lp.GlobalArg("a,b", np.float64, shape="n"), lp.GlobalArg("c", np.float64, shape="n,m"), "..."]
    knl = lp.make_kernel("{[i,j]: 0<=i<n and 0<=j<m}", ["b[i] = 2*a[i]", "c[i,j] = 1"], data, assumptions="n,m>=1")
    knl = lp.tag_inames(knl, "j:g.0")
    sizes = {"n": 3, "m": 5}
    assert lp.get_op_map(knl, subgroup_size=32).eval_and_sum(sizes) == 3
    assert lp.get_op_map(knl, subgroup_size=32, count_redundant_work=True).eval_and_sum(sizes) == 15


def test_counting_for_subgroups_needs_their_size():
    knl = lp.split_iname(matvec(), "i", 16, outer_tag="g.0", inner_tag="l.0")
    with pytest.raises(lp.LoopyError, match="counting for subgroups needs their size; give it: subgroup_size=32"):
        lp.get_op_map(knl)


def test_barriers_and_launches_are_counted():
    knl = lp.make_kernel("{[i,k]: 0<=i<16 and 0<=k<n}", ["<>t[i] = a[k, i] {id=t}", "b[k, i] = t[15-i] {dep=t}"])
    knl = lp.tag_inames(lp.add_dtypes(knl, {"a": np.float32}), "i:l.0")
    found = lp.get_synchronization_map(knl)
    assert found.filter_by(kind="kernel_launch").eval_and_sum({"n": 3}) == 1
    assert found.filter_by(kind="barrier_local").eval_and_sum({"n": 3}) == 6


def test_called_kernels_are_counted_too():
    callee = lp.make_function("{[i]: 0<=i<20}", "y[i] = 2*x[i]", name="twice")
    data = [lp.GlobalArg("x,y", np.float64, shape=(3, 20))]
    caller = lp.make_kernel("{[k]: 0<=k<3}", "y[k, :] = twice(x[k, :])", data)
    assert lp.get_op_map(lp.merge([caller, callee]), subgroup_size=32).filter_by(name="mul").eval_and_sum() == 60


def test_footprints_are_sets_whose_points_can_be_counted():
    knl = lp.make_kernel("{[i]: 0<=i<n}", "b[2*i] = a[i]", [lp.GlobalArg("a", np.float32), "..."], assumptions="n>=1")
    found = lp.gather_access_footprints(knl)
    assert count(knl, found["b", "write"]).eval_with_dict({"n": 200}) == 200
    assert lp.gather_access_footprint_bytes(knl)["a", "read"].eval_with_dict({"n": 200}) == 800


def test_only_chosen_instructions_are_counted():
    knl = lp.make_kernel("{[i]: 0<=i<10}", ["a[i] = 2.0f*i {tags=x}", "b[i] = 3*i"])
    assert lp.get_op_map(knl, subgroup_size=32, within="tag:x").eval_and_sum() == 10


def test_a_granularity_is_one_of_three():
    with pytest.raises(ValueError, match="count_granularity is a CountGranularity or None, not 'bushel'"):
        lp.Op(count_granularity="bushel")
