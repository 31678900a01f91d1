"""Calls of loop kernels, one after another: what differs from the call before is noticed."""

import gc
import threading
import weakref

import numpy as np
import pytest

import parloop as pl
import parloop.loops as lp


def scaling():
    return lp.make_kernel("{[i]: 0<=i<n}", "out[i] = alpha*a[i]")


def test_each_call_makes_outputs_of_its_own():
    knl = scaling()
    results = [knl(a=np.full(4, float(turn)), alpha=2.0)[1][0] for turn in range(5)]
    assert [result.tolist() for result in results] == [[2.0 * turn] * 4 for turn in range(5)]


def test_another_shape_type_or_memory_than_in_the_call_before_is_noticed():
    knl = scaling()
    for array in (
        np.arange(6.0),
        np.arange(9.0),
        np.arange(9, dtype=np.float32),
        np.arange(9, dtype=np.int64),
        np.arange(9.0),
        np.arange(0.0),
        np.arange(9.0).view(type("Mine", (np.ndarray,), {})),
        np.arange(9.0),
    ):
        for _ in range(2):
            _, (out,) = knl(a=array, alpha=3.0)
            np.testing.assert_array_equal(out, 3 * np.asarray(array))


def test_numbers_of_another_kind_than_in_the_call_before_are_noticed():
    knl, a = scaling(), np.arange(3.0)
    for alpha in (2.0, 3.5, 2j, np.float64(4.0), 2.5):
        for _ in range(2):
            np.testing.assert_array_equal(knl(a=a, alpha=alpha)[1][0], alpha * a)
    with pytest.raises(pl.LoopError, match="the type of `alpha`"):
        knl(a=a, alpha=2)
    typed = lp.add_dtypes(knl, {"alpha": np.float64})
    for alpha in (2.0, 2, 3, 3, True, np.float32(4.0), 2.5, 2**60):
        for _ in range(2):
            np.testing.assert_array_equal(typed(a=a, alpha=alpha)[1][0], alpha * a)


def test_a_size_that_is_given_is_looked_at_in_each_call():
    knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = n + k", [lp.ValueArg("n,k", np.int64), lp.GlobalArg("out", np.float64, shape="n")])
    for n, k in ((3, 1), (3, 1), (3, 2), (5, 2), (5, 2), (2**3, 2)):
        _, (out,) = knl(n=n, k=k)
        assert out.tolist() == [n + k] * n
    with pytest.raises((pl.LoopError, OverflowError, ValueError)):
        knl(n=3, k=2**70)


def test_strides_that_do_not_fit_are_refused_after_calls_that_did():
    knl, wide = scaling(), np.arange(8.0)
    for _ in range(3):
        knl(a=wide[:4], alpha=1.0)
    with pytest.raises(pl.LoopError, match="stride"):
        knl(a=wide[::2], alpha=1.0)


def test_memory_that_cannot_be_written_is_refused_after_calls_that_could():
    knl, a, out = scaling(), np.ones(4), np.zeros(4)
    for _ in range(3):
        knl(a=a, alpha=1.0, out=out)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        knl(a=a, alpha=5.0, out=out)
    assert out.tolist() == [1.0] * 4
    unaligned = np.zeros(33, np.uint8)[1:].view(np.float64)
    with pytest.raises(ValueError, match="not aligned"):
        knl(a=a, alpha=5.0, out=unaligned)


def test_an_array_that_changed_in_place_is_seen_as_it_is():
    knl, a = scaling(), np.arange(4.0)
    for _ in range(3):
        knl(a=a, alpha=2.0)
    a.resize(1000, refcheck=False)
    assert knl(a=a, alpha=2.0)[1][0].shape == (1000,)
    a.resize(2, refcheck=False)
    assert knl(a=a, alpha=2.0)[1][0].tolist() == [0.0, 2.0]


def test_names_in_any_order_and_from_a_dictionary_mean_the_same():
    knl, a, out = scaling(), np.arange(3.0), np.zeros(3)
    for _ in range(2):
        assert knl(a=a, alpha=2.0)[1][0].tolist() == [0, 2, 4]
        assert knl(alpha=2.0, a=a)[1][0].tolist() == [0, 2, 4]
        assert knl(**{"".join(["al", "pha"]): 2.0, "a": a})[1][0].tolist() == [0, 2, 4]
        assert knl(a=a, out=out, alpha=3.0)[1][0] is out
        assert knl(a=a, out=None, alpha=3.0)[1][0] is not out
    with pytest.raises(pl.LoopError, match="`b`"):
        knl(b=a, alpha=2.0)
    with pytest.raises(pl.LoopError, match="alpha"):
        knl(a=a)


def test_the_context_of_each_call_counts():
    knl, a = scaling(), np.arange(3.0)
    one, two = pl.Context("cpu:1"), pl.Context("cpu:2")
    for context in (one, one, two, two, one):
        event, (out,) = knl(context, a=a, alpha=2.0)
        assert event.device == context.device and out.tolist() == [0, 2, 4]
    for context in (one, two):
        with context:
            assert [knl(a=a, alpha=2.0)[0].device for _ in range(2)] == [context.device] * 2
    with pytest.raises(TypeError, match="2 positional arguments"):
        knl(one, two, a=a, alpha=2.0)


def test_options_of_a_call_hold_for_that_call():
    knl, a = scaling(), np.arange(3.0)
    for _ in range(2):
        assert isinstance(knl(a=a, alpha=2.0)[1], tuple)
        assert knl(a=a, alpha=2.0, _by_name=True)[1]["out"].tolist() == [0, 2, 4]
        assert knl(a=a, alpha=2.0, entrypoint="loopy_kernel")[1][0].tolist() == [0, 2, 4]


def test_a_call_keeps_no_array_alive():
    knl, a = scaling(), np.arange(3.0)
    for _ in range(3):
        _, (out,) = knl(a=a, alpha=2.0)
    gone = weakref.ref(a), weakref.ref(out)
    del a, out, _
    gc.collect()
    assert [kept() for kept in gone] == [None, None]


def test_a_subclass_can_have_a_call_of_its_own():
    class Counted(lp.Program):
        calls = 0

        def __call__(self, *args, **named):
            self.calls += 1
            return super().__call__(*args, **named)

    knl = Counted(scaling())
    assert [knl(a=np.ones(2), alpha=2.0)[1][0].tolist() for _ in range(2)] == [[2, 2]] * 2
    assert knl.calls == 2


def test_threads_call_one_kernel_with_different_shapes():
    knl, wrong = scaling(), []

    def work(size):
        for turn in range(200):
            _, (out,) = knl(a=np.full(size, 1.0), alpha=float(turn))
            if out.shape != (size,) or not (out == turn).all():
                wrong.append((size, turn))

    threads = [threading.Thread(target=work, args=(size,)) for size in (3, 17, 200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_class_is_not_called_as_an_object():
    with pytest.raises(TypeError):
        lp.Program()
    with pytest.raises(TypeError):
        lp.Program(3)


NARROW = {
    "as created": lambda k: k,
    "realized": lp.realize_reduction,
    "realized in parts": lambda k: lp.realize_reduction(lp.split_iname(k, "j", 2)),
    "realized by work items": lambda k: lp.realize_reduction(lp.split_iname(k, "j", 4, inner_tag="l.0")),
    "precomputed": lambda k: lp.precompute(k, "f", "i"),
    "precomputed and realized": lambda k: lp.realize_reduction(lp.precompute(k, "f", "i")),
    "realized and typed": lambda k: lp.add_dtypes(lp.realize_reduction(k), {"a": np.int8}),
}


@pytest.mark.parametrize("change", NARROW.values(), ids=NARROW)
def test_a_sum_is_as_wide_as_its_result_though_types_come_with_the_call(change):
    data = [lp.GlobalArg("a", shape="3,4"), lp.GlobalArg("out", shape="3"), ...]
    knl = lp.make_kernel("{[i,j]: 0<=i<3 and 0<=j<4}", "f(k) := sum(j, a[k,j])\nout[i] = f(i) - 1", data)
    out = np.zeros(3, np.int64)
    change(knl)(a=np.full((3, 4), 100, np.int8), out=out)
    assert out.tolist() == [399] * 3
