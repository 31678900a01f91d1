"""Programs written for loopy: what differs from `parloop.loops` in policies, numbers, objects and calls."""

import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("pymbolic")

import parloop.compat._loopy as lp
import parloop.loops as loops
from parloop.errors import LoopError, LoopRaceError, LoopSyntaxError


def quiet(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call()


def test_quotients_of_integers_are_cut_off_where_they_are_assigned_to_integers():
    data = [lp.ValueArg("a,b", np.int32), lp.GlobalArg("x", np.int32, shape=(1,)), lp.GlobalArg("y", np.float64, shape=(1,))]
    knl = lp.make_kernel("{:}", ["x[0] = 2*(a/b)", "y[0] = a/b"], data, target="c")
    for a, b, cut in [(5, 2, 4), (-5, 2, -4), (5, -2, -4), (-5, -2, 4), (6, 3, 4), (-6, 3, -4)]:
        _, (x, y) = knl(a=a, b=b)
        assert (x[0], y[0]) == (cut, a / b)
    ours = loops.make_kernel("{:}", "x[0] = 2*(a/b)", [loops.ValueArg("a,b", np.int32), loops.GlobalArg("x", np.int32, shape=(1,))])
    assert ours(a=5, b=2)[1][0][0] == 5


def test_imaginary_literals_are_double_precision():
    knl = lp.make_kernel("{[i]: 0<=i<4}", "d[i] = b[i] + 2 + 1j", [lp.GlobalArg("b", np.float32, shape=(4,)), "..."], target="c")
    assert lp.infer_unknown_types(knl).default_entrypoint.arg_dict["d"].dtype == np.complex128


def test_a_race_is_a_warning_and_in_loops_an_error():
    text = ("{[i]: 0<=i<4}", "c[0] = i")
    knl = lp.tag_inames(lp.make_kernel(*text), "i:g.0")
    with pytest.warns(lp.LoopyWarning, match="race: instruction `insn`"):
        lp.generate_code_v2(knl)
    with pytest.raises(LoopRaceError):
        loops.tag_inames(loops.make_kernel(*text), "i:g.0").code("opencl")


def test_a_temporary_that_is_read_before_it_is_written_is_a_warning():
    knl = lp.make_kernel("{[i]: 0<=i<4}", ["<>t[i] = t[i] + a[i] {id=t}", "b[i] = t[i] {dep=t}"], target="c")
    with pytest.warns(lp.LoopyWarning, match="reads `t` before it is written"):
        lp.generate_code_v2(lp.add_dtypes(knl, {"a": np.float64}))


def test_priorities_are_wishes():
    knl = lp.make_kernel("{[i,j,k]: 0<=i,j,k<3}", "out[i,k] = sum(j, a[i,j]*b[j,k])", [lp.GlobalArg("a,b", np.float64, shape=(3, 3)), "..."], target="c")
    knl = lp.prioritize_loops(lp.prioritize_loops(knl, "j,i,k"), ["k", "i", "made_later"])
    a = np.arange(9.0).reshape(3, 3)
    assert np.array_equal(knl(a=a, b=a)[1][0], a @ a)


def test_an_assumption_that_does_not_hold_is_a_warning_and_the_numbers_are_right():
    knl = lp.make_kernel("{[i]: 0<=i<n}", "b[i] = 2*a[i]", [lp.GlobalArg("a,b", np.float64, shape="n"), "..."], assumptions="n mod 4 = 0", target="c")
    knl = lp.split_iname(knl, "i", 4)
    with pytest.warns(lp.LoopyWarning, match="made again without its assumptions"):
        _, (b,) = knl(a=np.arange(7.0))
    assert np.array_equal(b, 2 * np.arange(7.0))


def test_what_stands_behind_the_brace_of_a_domain_is_ignored_with_a_warning():
    with pytest.warns(lp.LoopyWarning, match="goes on behind its closing brace"):
        lp.make_kernel("{[k]: 0<=k<n}}", "a[k] = 1")


def test_arrays_without_a_shape_are_as_long_as_what_is_passed():
    knl = lp.make_kernel("{[i]: 0<=i<n}", "a[i] = 1", [lp.GlobalArg("a", np.int32), lp.ValueArg("n", np.int32)], target="c")
    a = np.zeros(8, np.int32)
    knl(a=a, n=4)
    assert a.tolist() == [1, 1, 1, 1, 0, 0, 0, 0]
    with pytest.raises(LoopError, match="out of bounds"):
        knl(a=a, n=9)


def test_programs_are_pickled_hashed_and_compared():
    knl = lp.split_iname(lp.make_kernel("{[i]: 0<=i<16}", "y[i] = 2*x[i]"), "i", 4, inner_tag="l.0")
    again = pickle.loads(pickle.dumps(knl))
    assert again == knl and hash(again) == hash(knl) and type(again) is type(knl)
    assert pickle.loads(pickle.dumps(lp.merge([knl]))) == lp.merge([knl])
    assert knl != lp.tag_inames(knl, "i_outer:g.0")


def test_what_the_caller_does_to_its_lists_later_does_not_reach_a_pickle():
    knl = lp.make_kernel("{[i,j]: 0<=i,j<16}", "y[i,j] = 2*x[i,j]")
    order = ["j", "i"]
    knl = lp.prioritize_loops(knl, order)
    order.reverse()
    assert pickle.loads(pickle.dumps(knl)) == knl


def test_objects_are_tags_of_inames_and_kernels():
    class Tag:
        pass

    class Other(Tag):
        pass

    tag = Tag()
    knl = lp.make_kernel("{[i]: 0<=i<16}", "y[i] = 2*x[i]", tags={tag})
    knl = lp.tag_inames(lp.tag_inames(knl, {"i": [Other()]}), "i:g.0")
    entry = lp.rename_iname(knl, "i", "k").default_entrypoint
    assert len(entry.iname_tags_of_type("k", Tag)) == 1 and entry.iname_tags("k") >= {"g.0"}
    assert entry.tags == {tag} and entry.tagged([3]).without_tags(tag).tags == {3}
    lp.generate_code_v2(lp.add_dtypes(knl, {"x": np.float32}))


def test_instructions_are_objects_of_loopys_classes():
    knl = lp.make_kernel("{[i]: 0<=i<16}", ["y[i] = 2*x[i] {id=a}", "... nop {id=b}", "... gbarrier {id=c}"]).default_entrypoint
    of = knl.id_to_insn
    assert isinstance(of["a"], lp.Assignment) and isinstance(of["a"], lp.MultiAssignmentBase)
    assert isinstance(of["b"], lp.NoOpInstruction) and isinstance(of["c"], lp.BarrierInstruction)
    assert str(of["a"].expression) == "2*x[i]"


def test_axes_know_their_strides():
    knl = lp.make_kernel("{[i,j]: 0<=i,j<4}", "y[i,j] = 1", [lp.GlobalArg("y", np.float32, shape=(4, 4), dim_tags="stride:8,stride:1")])
    assert [tag.stride for tag in knl.default_entrypoint.arg_dict["y"].dim_tags] == [8, 1]


def test_a_function_in_python_computes_leading_dimensions_from_strides():
    seen = []

    class Gemv(lp.ScalarCallable):
        def with_types(self, types, callables):
            return self.copy(arg_id_to_dtype={**types, -1: types[0]}, name_in_target="gemv"), callables

        def with_descrs(self, described, callables):
            seen.append([tag.stride for tag in described[0].dim_tags])
            return self.copy(arg_id_to_descr=described), callables

        def generate_preambles(self, target):
            yield ("gemv", "static void gemv(double const *a, double const *x, double *y) { y[0] = a[0]*x[0]; }")

    data = [lp.GlobalArg("a", np.float64, shape=(4, 5)), lp.GlobalArg("x", np.float64, shape=(5,)), lp.GlobalArg("y", np.float64, shape=(4,))]
    knl = lp.make_kernel("{:}", "y[:] = gemv(a[:, :], x[:])", data, target="c")
    lp.generate_code_v2(lp.register_callable(knl, "gemv", Gemv("gemv"))).device_code()
    assert seen[0] == [5, 1]


def test_syntax_errors_have_a_text():
    with pytest.raises(LoopSyntaxError) as caught:
        lp.expand_subst(lp.make_kernel("{[i]: 0<=i<16}", "y[i] = 2"), "id:a and and")
    assert "expected" in str(caught.value) and isinstance(caught.value, SyntaxError)
    assert issubclass(lp.LoopyError, RuntimeError)


def test_the_parts_of_a_separate_axis_are_arrays_of_their_own():
    knl = lp.fix_parameters(lp.make_copy_kernel("f,f,sep"), n2=3).copy(target="c")
    a = np.arange(24.0).reshape(2, 4, 3)
    _, parts = knl(input=a)
    assert [np.array_equal(part, a[:, :, place]) for place, part in enumerate(parts)] == [True] * 3
    back = lp.fix_parameters(lp.make_copy_kernel("c,c,c", "f,f,sep"), n2=3).copy(target="c")
    assert np.array_equal(back(input=parts)[1][0], a)


def test_python_that_makes_a_program_again_is_checked():
    knl = lp.split_iname(lp.make_kernel("{[i]: 0<=i<n}", ["f(x) := 2*x", "y[i] = f(x[i]) {id=a}"]), "i", 4, inner_tag="l.0")
    assert "lp.tag_inames(" in lp.t_unit_to_python(knl)


def test_memoized_functions_are_found_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("PARLOOP_CACHE_DIR", str(tmp_path))
    calls = []

    def split(knl):
        calls.append(knl)
        return lp.split_iname(knl, "i", 4)

    knl = lp.make_kernel("{[i]: 0<=i<16}", "y[i] = 2*x[i]")
    kept = lp.memoize_on_disk(split)
    assert kept(knl) == kept(knl) == lp.split_iname(knl, "i", 4)
    assert len(calls) == 1


def test_a_failed_comparison_has_loopys_class():
    from parloop.compat._loopy.diagnostic import AutomaticTestFailure

    assert issubclass(AutomaticTestFailure, lp.LoopyError)


def test_global_barriers_have_an_order():
    lines = ["... gbarrier {id=top}", "a[i] = 1 {id=a, dep=top}", "... gbarrier {id=end, dep=a}", "b[i] = a[i] {id=b, dep=end}"]
    knl = lp.make_kernel("{[i]: 0<=i<4}", lines)
    assert lp.get_global_barrier_order(knl) == ("top", "end")
    assert lp.find_most_recent_global_barrier(knl, "b") == "end"
    with pytest.raises(lp.LoopyError, match="comes first; add a dependency"):
        lp.get_global_barrier_order(lp.make_kernel("{[i]: 0<=i<4}", ["... gbarrier {id=x}", "... gbarrier {id=y}"]))


def test_loops_that_cannot_nest_are_found_with_what_to_duplicate():
    lines = ["a[i,j] = a[i,j] + 1 {inames=i:j, id=a}", "b[j] = b[j] + 1 {inames=j, id=b}", "c[i] = c[i] + 1 {inames=i, id=c}"]
    knl = lp.make_kernel("{[i,j]: 0<=i,j<4}", lines)
    options = list(lp.get_iname_duplication_options(knl))
    assert not lp.has_schedulable_iname_nesting(knl) and len(options) == 4
    assert all(lp.has_schedulable_iname_nesting(lp.duplicate_inames(knl, *option)) for option in options)


def test_headers_are_declarations():
    knl = lp.make_kernel("{[k]: 0<=k<200}", "T[k] = k**2", [lp.GlobalArg("T", np.float32, shape=(200,))])
    assert lp.generate_header(knl.copy(target="c")) == ["void loopy_kernel(float *__restrict__ T);"]
    assert len(lp.generate_code_v2(knl).device_programs) == 1


def test_polynomials_are_compared_by_their_terms():
    from pymbolic import var

    from parloop.compat._loopy.symbolic import get_dependencies, is_expression_equal

    x, y = var("x"), var("y")
    assert is_expression_equal((x + y) ** 2, x**2 + 2 * x * y + y**2) and not is_expression_equal(x + 2, x + 3)
    assert get_dependencies(x + y[x]) == {"x", "y"}
