"""Typed objects as arguments of loop kernels: `p.x[i]` of a struct of arrays."""

import gc
import re

import numpy as np
import parloop.loops as lp
import parloop.objects as xo
import pytest

import parloop as pl


class Particle(xo.Struct):
    charge = xo.Float64
    x = xo.Float64[:]
    px = xo.Float64[:]
    name = xo.String


class Lattice(xo.Struct):
    step = xo.Float32
    field = xo.Float32[:, 3]
    particle = xo.Ref[Particle]


def drift(parallel=True, **options):
    knl = lp.make_kernel(
        "{[i]: 0<=i<n}",
        "p.x[i] = p.x[i] + l*p.px[i]*p.charge",
        [lp.ObjectArg("p", Particle), lp.ValueArg("l", np.float64), ...],
        name="drift",
        **options,
    )
    return lp.split_iname(knl, "i", 16, outer_tag="g.0", inner_tag="l.0") if parallel else knl


def particle(ctx, count, **fields):
    x, px = np.arange(count) * 0.25, np.arange(count) - 3.0
    return Particle(**{"charge": 2.0, "x": x, "px": px, "name": "probe", "_context": ctx, **fields})


def values(array):
    return np.array([array[i] for i in range(len(array))])


@pytest.mark.parametrize("count", [0, 1, 15, 16, 100])
@pytest.mark.parametrize("parallel", [False, True])
def test_fields_are_read_and_written_in_place_over_all_their_length(ctx, count, parallel):
    p = particle(ctx, count)
    x, px = values(p.x), values(p.px)
    _, (moved,) = drift(parallel)(ctx, p=p, l=0.5)
    assert moved is p
    np.testing.assert_array_equal(values(p.x), x + 0.5 * px * 2.0)
    np.testing.assert_array_equal(values(p.px), px)


def test_a_size_that_is_given_may_be_less_than_what_there_is(ctx):
    p = particle(ctx, 20)
    x, px = values(p.x), values(p.px)
    drift()(ctx, p=p, l=1.0, n=7)
    np.testing.assert_array_equal(values(p.x), np.where(np.arange(20) < 7, x + 2.0 * px, x))


def test_a_size_that_is_more_than_what_there_is_is_refused_before_anything_runs(ctx):
    p = particle(ctx, 20)
    before = values(p.x)
    message = (
        "kernel `drift`: field `x` of argument `p` has 20 elements along axis 0, but 21 are needed; "
        "pass a longer object, or bound the loops"
    )
    with pytest.raises(pl.LoopError, match="^" + re.escape(message)):
        drift()(ctx, p=p, l=1.0, n=21)
    np.testing.assert_array_equal(values(p.x), before)


def test_of_fields_that_are_not_equally_long_the_shorter_one_is_named(ctx):
    p = particle(ctx, 5, px=np.zeros(3))
    with pytest.raises(pl.LoopError, match="field `px` of argument `p` has 3 elements along axis 0, but 5 are needed"):
        drift()(ctx, p=p, l=1.0)
    drift()(ctx, p=p, l=1.0, n=3)


def test_arrays_and_objects_go_together_and_sizes_come_from_arrays_first(ctx):
    knl = lp.make_kernel(
        "{[i]: 0<=i<n}", "out[i] = p.x[i] + a[i]", [lp.ObjectArg("p", Particle), lp.GlobalArg("a,out", np.float64, shape="n"), ...]
    )
    p = particle(ctx, 9)
    a = np.arange(6) * 10.0
    _, (out,) = knl(ctx, p=p, a=a)
    np.testing.assert_array_equal(out, values(p.x)[:6] + a)


def test_several_axes_numbers_and_what_references_refer_to(ctx):
    knl = lp.make_kernel(
        "{[i,j]: 0<=i<n and 0<=j<3}",
        "s.field[i,j] = s.field[i,j]*s.step + s.particle.charge*s.particle.x[i]",
        [lp.ObjectArg("s", Lattice), ...],
    )
    knl = lp.split_iname(knl, "i", 4, outer_tag="g.0", inner_tag="l.0")
    buffer = ctx.new_buffer(4096)
    p = particle(ctx, 6, _buffer=buffer, _context=None)
    field = np.arange(18, dtype=np.float32).reshape(6, 3)
    s = Lattice(step=0.5, field=field, particle=p, _buffer=buffer)
    knl(ctx, s=s)
    expected = field * np.float32(0.5) + 2.0 * values(p.x)[:, None]
    found = np.array([[s.field[i, j] for j in range(3)] for i in range(6)])
    np.testing.assert_allclose(found, expected.astype(np.float32), rtol=1e-6)


def test_a_null_reference_on_the_way_is_an_error(ctx):
    knl = lp.make_kernel("{[i]: 0<=i<n}", "s.field[i,0] = s.particle.charge", [lp.ObjectArg("s", Lattice), ...])
    s = Lattice(step=1.0, field=np.zeros((4, 3), np.float32), _context=ctx)
    with pytest.raises(pl.ParloopError, match="on the path to `particle.charge` is null; assign an object to it first"):
        knl(ctx, s=s)


def test_a_sum_over_a_field_and_a_number_that_is_written(ctx):
    knl = lp.make_kernel("{[i]: 0<=i<n}", "p.charge = sum(i, p.x[i])", [lp.ObjectArg("p", Particle), ...], seq_dependencies=True)
    p = particle(ctx, 33)
    expected = values(p.x).sum()
    knl(ctx, p=p)
    assert p.charge == expected


def test_the_class_may_be_left_open_until_the_call(ctx):
    class Other(xo.Struct):
        x = xo.Float32[:]
        px = xo.Float32[:]

    knl = lp.make_kernel("{[i]: 0<=i<n}", "p.x[i] = 2*p.px[i]", name="twice")
    p, q = particle(ctx, 5), Other(x=np.zeros(4), px=np.arange(4), _context=ctx)
    knl(ctx, p=p)
    knl(ctx, p=q)
    np.testing.assert_array_equal(values(p.x), 2 * values(p.px))
    np.testing.assert_array_equal(values(q.x), 2 * np.arange(4))


def test_an_object_of_another_class_is_refused(ctx):
    s = Lattice(step=1.0, field=np.zeros((4, 3), np.float32), _context=ctx)
    with pytest.raises(pl.LoopError, match="argument `p` must be an object of class `Particle`, but an object of class `Lattice` was passed"):
        drift()(ctx, p=s, l=1.0)


def test_another_class_of_the_same_name_is_told_apart(ctx):
    ours = Particle

    def other():
        class Particle(xo.Struct):
            x = xo.Float64[:]

        return Particle

    p = other()(x=[1, 2], _context=ctx)
    with pytest.raises(pl.LoopError, match="it is another class of that name: create the kernel with the current one"):
        drift()(ctx, p=p, l=1.0)
    assert ours is Particle


@pytest.mark.parametrize("value", [3, np.zeros(4), "text", {}])
def test_what_is_no_object_is_refused(ctx, value):
    with pytest.raises(TypeError, match="argument `p` of kernel `drift` must be an object of class Particle, not "):
        drift()(ctx, p=value, l=1.0)


def test_an_object_that_is_left_out_is_named(ctx):
    with pytest.raises(pl.LoopError, match="kernel `drift`: argument `[np]` is missing"):
        drift()(ctx, l=1.0)
    with pytest.raises(pl.LoopError, match="kernel `drift`: argument `p` is missing"):
        drift()(ctx, l=1.0, n=3)


def test_an_object_of_another_device_is_refused(gpu):
    p = particle(pl.Context("cpu"), 4)
    with pytest.raises(ValueError, match="argument `p` of kernel `drift` is an object on cpu.*, but the kernel runs on "):
        drift()(gpu, p=p, l=1.0)


def test_an_object_whose_memory_was_freed_is_refused(ctx):
    p = particle(ctx, 4)
    p._buffer.free(p._offset, p._size)
    with pytest.raises(pl.errors.FreedError):
        drift()(ctx, p=p, l=1.0)


def test_a_field_that_does_not_exist_is_named_with_those_that_do():
    knl = lp.make_kernel("{[i]: 0<=i<n}", "p.y[i] = 1", [lp.ObjectArg("p", Particle), ...], name="bad")
    with pytest.raises(pl.LoopError, match="^`p.y` in kernel `bad`: Particle has no field `y`; it has `charge`, `px`, `x`$"):
        lp.generate_code(knl, target="c")
    knl = lp.make_kernel("{[i]: 0<=i<n}", "p.x[i] = p.y[i]", [lp.ObjectArg("p", Particle), ...], name="bad")
    with pytest.raises(pl.LoopError, match="`p.y` in kernel `bad`: Particle has no field `y`; .*charge.*px.*x"):
        lp.generate_code(knl, target="c")


def test_a_field_needs_as_many_indices_as_it_has_axes():
    knl = lp.make_kernel("{[i]: 0<=i<n}", "s.field[i] = 1", [lp.ObjectArg("s", Lattice), ...])
    with pytest.raises(pl.LoopError, match="field `field` with 1 indices, which has 2 axes"):
        lp.generate_code(knl, target="c")


def test_an_index_below_the_first_is_found_before_anything_runs():
    knl = lp.make_kernel("{[i]: 0<=i<n}", "p.x[i] = p.px[i - 1]", [lp.ObjectArg("p", Particle), ...])
    with pytest.raises(pl.LoopError, match=r"`p\.px\[i - 1\]` in `insn` is out of bounds: index 1 can be -1"):
        lp.generate_code(knl, target="c")


def test_two_work_items_that_write_to_one_number_are_found():
    knl = lp.make_kernel("{[i]: 0<=i<n}", "p.charge = p.x[i] {inames=i}", [lp.ObjectArg("p", Particle), ...])
    knl = lp.tag_inames(knl, {"i": "g.0"})
    with pytest.raises(pl.LoopError, match="race"):
        lp.generate_code(knl, target="opencl")


def test_object_arguments_take_classes_and_others_take_numbers():
    with pytest.raises(TypeError, match="Particle is a class of objects; describe an object with ObjectArg"):
        lp.make_kernel("{[i]: 0<=i<n}", "p.x[i] = 1", [lp.ValueArg("p", Particle), ...])
    with pytest.raises(TypeError, match="ObjectArg takes a class of parloop.objects"):
        lp.make_kernel("{[i]: 0<=i<n}", "p.x[i] = 1", [lp.ObjectArg("p", np.float64), ...])


def test_objects_move_with_buffers_that_grow(ctx):
    buffer = ctx.new_buffer(512)
    p = particle(ctx, 8, _buffer=buffer, _context=None)
    knl = drift()
    knl(ctx, p=p, l=1.0)
    once = values(p.x)
    others = [particle(ctx, 500, _buffer=buffer, _context=None) for _ in range(8)]
    knl(ctx, p=p, l=1.0)
    np.testing.assert_array_equal(values(p.x), once + 2.0 * values(p.px))
    assert len(others) == 8


def test_an_object_lives_through_the_call_that_it_was_made_for(ctx):
    knl = drift()
    for _ in range(20):
        event, (p,) = knl(ctx, p=particle(ctx, 1000), l=1.0)
        gc.collect()
        np.testing.assert_array_equal(values(p.x)[:5], np.arange(5) * 0.25 + 2.0 * (np.arange(5) - 3.0))


def test_hybrid_objects_are_taken_for_what_is_inside(ctx):
    class Beam(xo.HybridClass):
        _xofields = {"x": xo.Float64[:], "px": xo.Float64[:]}

    knl = lp.make_kernel("{[i]: 0<=i<n}", "b.x[i] = 3*b.px[i]", [lp.ObjectArg("b", Beam), ...])
    beam = Beam(x=np.zeros(6), px=np.arange(6.0), _context=ctx)
    _, (result,) = knl(ctx, b=beam)
    assert result is beam
    np.testing.assert_array_equal(values(beam._xobject.x), 3 * np.arange(6))


def test_checked_kernels_name_the_field_the_index_and_the_limit(ctx):
    knl = lp.make_kernel(
        "{[i]: 0<=i<n}",
        "out[i] = p.x[k[i]]",
        [lp.ObjectArg("p", Particle), lp.GlobalArg("k", np.int32), lp.GlobalArg("out", np.float64), ...],
        name="gather",
        options=lp.Options(checked=True),
    )
    p = particle(ctx, 5)
    _, (out,) = knl(ctx, p=p, k=np.array([4, 0], np.int32))
    np.testing.assert_array_equal(out, values(p.x)[[4, 0]])
    with pytest.raises(pl.CheckError, match=re.escape("kernel `gather`: index 5 is outside 0..5 of p.x[k[i]], axis 0")):
        knl(ctx, p=p, k=np.array([4, 5], np.int32))


def test_kernels_with_objects_compile_for_cuda(nvrtc):
    code = lp.generate_code(drift(), target="cuda")
    pl.compile_for("cuda", "sm_90", code, classes=["Particle", "ArrNFloat64"])


def test_types_can_be_added_later():
    knl = lp.make_kernel("{[i]: 0<=i<n}", "p.x[i] = 2*p.px[i]")
    knl = lp.add_dtypes(knl, {"p": Particle})
    p = particle(pl.Context("cpu"), 3)
    knl(p=p)
    np.testing.assert_array_equal(values(p.x), 2 * values(p.px))
    assert isinstance(knl.default_entrypoint.arg_dict["p"], lp.ObjectArg)


def test_a_recorded_call_is_replayed_on_its_object(ctx):
    p = particle(ctx, 8)
    knl = drift()
    # How long the fields of an object on a GPU are is read once, which no recording can hold.
    knl(ctx, p=p, l=0.0)
    x, px = values(p.x), values(p.px)
    with ctx.recording() as steps:
        knl(ctx, p=p, l=1.0)
    np.testing.assert_array_equal(values(p.x), x)
    steps()
    steps()
    np.testing.assert_array_equal(values(p.x), x + 4.0 * px)
