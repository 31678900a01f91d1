"""Loop kernels: made, transformed, written and run from Python."""


import numpy as np
import pytest

import parloop as pl
import parloop.loops as lp


def doubling(**said):
    return lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]", **said)


def test_a_kernel_runs_on_every_device(ctx):
    knl = lp.split_iname(doubling(), "i", 16, outer_tag="g.0", inner_tag="l.0")
    a = np.arange(100, dtype=np.float32)
    event, (out,) = knl(ctx, a=a)
    event.wait()
    assert out.dtype == np.float32
    np.testing.assert_array_equal(out, 2 * a)


def test_an_array_of_the_device_comes_back_as_one(ctx):
    a = ctx.array(np.arange(8.0))
    _, (out,) = doubling()(ctx, a=a)
    np.testing.assert_array_equal(np.asarray(out.numpy() if isinstance(out, pl.Array) else out), 2 * np.arange(8.0))


def test_one_kernel_is_compiled_for_each_type_that_it_is_called_with():
    knl = doubling()
    for dtype in (np.float32, np.float64, np.int32, np.complex128):
        _, (out,) = knl(a=np.arange(5).astype(dtype))
        assert out.dtype == dtype
        np.testing.assert_array_equal(out, 2 * np.arange(5))


def test_an_output_that_is_given_is_written_in_place():
    out = np.zeros(4)
    _, (result,) = doubling()(a=np.ones(4), out=out)
    assert result is out and out.tolist() == [2.0] * 4


def test_sizes_are_found_from_shapes_and_must_fit():
    knl = lp.make_kernel("{[i,j]: 0<=i<n and 0<=j<m}", "out[i,j] = a[i,j] + b[j]")
    _, (out,) = knl(a=np.ones((3, 2)), b=np.ones(2))
    assert out.shape == (3, 2)
    with pytest.raises(pl.LoopError, match="`b` has shape"):
        knl(a=np.ones((3, 2)), b=np.ones(5))


def test_a_name_that_the_kernel_does_not_have_is_an_error():
    with pytest.raises(pl.LoopError, match="has no argument `x`"):
        doubling()(x=np.ones(3))


def test_results_come_by_name_if_asked_for():
    knl = lp.set_options(doubling(), return_dict=True)
    _, results = knl(a=np.ones(2))
    assert set(results) == {"out"}


def test_every_target_has_code():
    knl = lp.tag_inames(doubling(kernel_data=[lp.GlobalArg("a", np.float32), ...]), "i:g.0")
    for target, sign in (("c", "void loopy_kernel"), ("opencl", "__kernel"), ("cuda", "__global__"), ("hip", "__global__"), ("ispc", "uniform")):
        assert sign in knl.code(target)
    assert "__kernel" in lp.generate_code_v2(knl, lp.OpenCLTarget()).device_code()


def test_instructions_are_objects_too():
    lines = [
        lp.Assignment("t", "a[i]", id="read", temp_var_type=lp.auto, within_inames={"i"}),
        lp.Assignment("out[i]", "t + 1", depends_on={"read"}),
    ]
    _, (out,) = lp.make_kernel("{[i]: 0<=i<n}", lines)(a=np.zeros(3))
    assert out.tolist() == [1.0] * 3


def test_a_kernel_says_what_it_is_made_of():
    knl = lp.make_kernel("{[i]: 0<=i<n}", "<>t = a[i] {id=read}\nout[i] = t*t {id=write,dep=read}", [lp.GlobalArg("a", np.float32), ...])
    kernel = knl["loopy_kernel"]
    assert [arg.name for arg in kernel.args] == ["a", "n", "out"]
    assert kernel.id_to_insn["write"].depends_on == {"read"}
    assert set(kernel.temporary_variables) == {"t"}
    assert kernel.all_inames() == {"i"}
    assert "out[i]" in str(kernel)
    with pytest.raises(KeyError):
        knl["other"]


def test_a_transformation_of_one_kernel_goes_back_into_its_program():
    knl = doubling()
    changed = knl.with_kernel(lp.split_iname(knl.default_entrypoint, "i", 4))
    assert changed.default_entrypoint.all_inames() == {"i_outer", "i_inner"}
    assert knl.default_entrypoint.all_inames() == {"i"}


def test_kernels_call_kernels_and_give_the_same_when_inlined():
    twice = lp.make_function("{[j]: 0<=j<4}", "y[j] = 2*x[j]", name="twice")
    knl = lp.make_kernel("{[i,j]: 0<=i<3 and 0<=j<4}", "[j]: b[i,j] = twice([j]: a[i,j])", [lp.GlobalArg("a,b", shape=(3, 4))])
    knl = lp.merge([knl, twice])
    a = np.arange(12.0).reshape(3, 4)
    for program in (knl, lp.inline_callable_kernel(knl, "twice")):
        np.testing.assert_array_equal(program(a=a)[1][0], 2 * a)


class Cube(lp.ScalarCallable):
    """`cube(x)`, defined in a preamble."""

    pair = True

    def with_types(self, arg_id_to_dtype, ctx):
        if 0 not in arg_id_to_dtype:
            return (self, ctx) if self.pair else self
        double = lp.NumpyType(np.float64)
        made = self.copy(arg_id_to_dtype={0: double, -1: double}, name_in_target="my_cube")
        return (made, ctx) if self.pair else made

    def generate_preambles(self, target):
        yield "cube", "static inline double my_cube(double x) { return x * x * x; }"


class CubeOfOld(Cube):
    pair = False


@pytest.mark.parametrize("function", [Cube, CubeOfOld])
def test_a_function_written_in_python_is_called_in_either_convention(function):
    knl = lp.register_callable(lp.make_kernel("{[i]: 0<=i<n}", "out[i] = cube(a[i])"), "cube", function("cube"))
    np.testing.assert_array_equal(knl(a=np.arange(3.0))[1][0], [0.0, 1.0, 8.0])


def test_a_function_is_found_by_a_lookup():
    def lookup(target, name):
        return Cube(name) if name == "cube" else None

    knl = lp.register_function_lookup(lp.make_kernel("{[i]: 0<=i<n}", "out[i] = cube(a[i])"), lookup)
    np.testing.assert_array_equal(knl(a=np.arange(3.0))[1][0], [0.0, 1.0, 8.0])


class Refusing(lp.ScalarCallable):
    def with_types(self, arg_id_to_dtype, ctx):
        raise RuntimeError("not these types")


def test_what_a_function_raises_is_told():
    knl = lp.register_callable(lp.make_kernel("{[i]: 0<=i<n}", "out[i] = f(a[i])"), "f", Refusing("f"))
    with pytest.raises(pl.errors.LoopTypeError, match="not these types"):
        knl(a=np.ones(3))


def test_reductions_and_scans():
    total = lp.make_kernel("{[i]: 0<=i<n}", "out = sum(i, a[i])", [lp.GlobalArg("out", shape=()), ...])
    assert total(a=np.arange(5.0))[1][0] == 10
    prefix = lp.make_kernel("{[i,j]: 0<=i<n and 0<=j<=i}", "out[i] = sum(j, a[j])")
    prefix = lp.realize_reduction(prefix, force_scan=True)
    np.testing.assert_array_equal(prefix(a=np.arange(5.0))[1][0], np.cumsum(np.arange(5.0)))


def test_what_is_no_scan_is_an_error_of_reductions():
    knl = lp.make_kernel("{[i,j]: 0<=i<16 and 0<=j<5}", "out[i] = sum(j, a[j])")
    with pytest.raises(pl.errors.LoopReductionError, match="not a scan"):
        lp.realize_reduction(knl, force_scan=True)


def test_an_index_outside_of_its_array_is_an_error_before_any_code():
    knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = a[i+1]", [lp.GlobalArg("a,out", np.float32, shape="n"), ...])
    with pytest.raises(pl.errors.LoopIndexError, match="out of bounds"):
        knl.code("c")


def test_text_that_cannot_be_read_is_an_error():
    with pytest.raises(pl.LoopError, match="line 1"):
        lp.make_kernel("{[i]: 0<=i<n}", "out[i] = = 2")


def test_an_unknown_argument_of_make_kernel_is_an_error():
    with pytest.raises(TypeError, match="unknown argument `asumptions`"):
        doubling(asumptions="n > 1")


def test_arrays_in_fortran_order_are_used_in_place():
    knl = lp.make_kernel("{[i,j]: 0<=i<n and 0<=j<m}", "a[i,j] = a[i,j] + 1", [lp.GlobalArg("a", np.float64, shape="n,m", order="F"), ...])
    a = np.asfortranarray(np.zeros((3, 2)))
    knl(a=a)
    assert a.tolist() == [[1.0, 1.0]] * 3
    with pytest.raises(pl.LoopError, match="stride"):
        knl(a=np.zeros((3, 2)))


def test_einsum_is_numpys():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
    np.testing.assert_allclose(lp.make_einsum("ik,kj->ij", "a,b")(a=a, b=b)[1][0], a @ b)
    with pytest.raises(pl.LoopError, match="2 operands"):
        lp.make_einsum("ik,kj->ij", "a")


@pytest.mark.parametrize("said", [{"default_order": lp.auto}, {"default_offset": lp.auto}, {"default_order": lp.auto, "default_offset": lp.auto}])
def test_strides_and_offsets_are_found_in_each_call_also_for_outputs(ctx, said):
    knl = lp.make_kernel("{[i,j]: 0<=i<n and 0<=j<m}", "out[i,j] = 2*a[i,j]", **said)
    a = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(knl(ctx, a=a)[1][0], 2 * a)
    if "default_order" in said:
        np.testing.assert_array_equal(knl(ctx, a=a.T)[1][0], 2 * a.T)
        np.testing.assert_array_equal(knl(ctx, a=np.arange(24.0).reshape(3, 8)[:, ::2])[1][0], 2 * np.arange(24.0).reshape(3, 8)[:, ::2])


def test_constants_of_c_need_no_declaration():
    knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = a[i] + INFINITY")
    assert np.isinf(knl(a=np.ones(2))[1][0]).all()


def test_a_rule_of_an_expression_with_a_function_call_is_computed_ahead():
    knl = lp.make_kernel("{[i,j]: 0<=i<n and 0<=j<4}", "out[i,j] = exp(a[i])*j + exp(a[i])")
    ahead = lp.precompute(lp.extract_subst(knl, "e", "exp(a[x])", "x"), "e")
    a = np.arange(5.0)
    np.testing.assert_array_equal(ahead(a=a)[1][0], knl(a=a)[1][0])
    assert lp.add_dtypes(ahead, {"a,out": np.float64}).code("c").count("exp(") == 1


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "f{next}(x) + f{next}(x)",
            "substitution rule `f24` expands to an expression with more than 100000 parts in `insn`; store values that are used often in temporaries",
        ),
        (
            "f{next}(x + x)",
            "substitution rule `f25` expands to an expression with more than 100000 parts in `insn`; store values that are used often in temporaries",
        ),
        (
            "(" * 40 + "f{next}(x)" + " + 1)*2" * 40,
            "substitution rule `f6` expands to an expression more than 500 levels deep in `insn`; store intermediate values in temporaries",
        ),
    ],
)
def test_rules_that_make_too_much_of_an_expression_are_an_error(body, message):
    rules = "".join(f"f{i}(x) := {body.format(next=i + 1)}\n" for i in range(40))
    with pytest.raises(pl.LoopError) as caught:
        lp.make_kernel("{[i]: 0 <= i < 4}", rules + "f40(x) := x\nout[i] = f0(a[i])")(a=np.ones(4))
    assert str(caught.value) == message


def test_rules_that_call_each_other_through_thousands_are_an_error():
    rules = "".join(f"f{i}(x) := f{i + 1}(x) + 1\n" for i in range(5000))
    with pytest.raises(pl.LoopError) as caught:
        lp.make_kernel("{[i]: 0 <= i < 4}", rules + "f5000(x) := x\nout[i] = f0(a[i])")(a=np.ones(4))
    message = "substitution rules call each other more than 100 levels deep in `insn`; store intermediate values in temporaries"
    assert str(caught.value) == message


def test_a_misspelt_option_is_an_error():
    knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")
    with pytest.raises(ValueError, match="unknown option `cheked`; did you mean `checked`?"):
        lp.set_options(knl, cheked=True)
    with pytest.raises(ValueError, match="unknown option `return_dit`; did you mean `return_dict`?"):
        lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]", options=lp.Options(return_dit=True))
    # An option of loopy's without a meaning here.
    lp.set_options(knl, write_code=True, allow_terminal_colors=False, disable_global_barriers=True, edit_code=False, check_dep_resolution=False)


def test_a_query_that_matches_nothing_is_an_error():
    knl = lp.make_kernel("{[i]: 0<=i<n}", "b[i] = 2*a[i] {id=first}\nc[i] = a[i] {id=second}")
    for made, step, argument in [
        (lambda q: lp.split_iname(knl, "i", 4, within=q), "split_iname", "within"),
        (lambda q: lp.tag_instructions(knl, "t", within=q), "tag_instructions", "within"),
        (lambda q: lp.remove_instructions(knl, q), "remove_instructions", "insn_ids"),
    ]:
        with pytest.raises(pl.LoopError) as caught:
            made("id:secnd")
        told = "which matches no instruction of kernel `loopy_kernel`; its instructions are `first`, `second`"
        assert str(caught.value) == f"`{step}`: `{argument}` is `id:secnd`, {told}"
        made("id:second")


def test_a_report_on_a_cpu_says_that_items_of_groups_are_loops():
    plain = lp.make_kernel(
        "{[i, j]: 0 <= i < n and 0 <= j < n}", "out[i] = sum(j, a[j]*a[i])", [lp.GlobalArg("a, out", np.float32, shape="n"), ...]
    )
    tiles = lp.split_iname(lp.split_iname(plain, "i", 16, outer_tag="g.0", inner_tag="l.0"), "j", 16)
    blocks = lp.split_iname(plain, "i", 16, outer_tag="g.0")
    direct = lp.split_iname(lp.make_kernel("{[i]: 0 <= i < n}", "out[i] = 2*a[i]"), "i", 16, outer_tag="g.0", inner_tag="l.0")
    context = pl.Context("cpu:1")
    for knl, is_slow in [(plain, False), (tiles, True), (blocks, False), (direct, False)]:
        knl(context, a=np.ones(32, np.float32))
        advice = knl.report().advice
        assert (advice is not None) == is_slow
        if advice is not None:
            assert advice.startswith("on a CPU the items of a group are a loop: `i_inner` runs inside `j_inner`, `j_outer`, and")
            assert advice in str(knl.report())
