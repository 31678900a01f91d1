"""`parloop.arrays`, the Python array API standard, against NumPy on every device."""

import doctest

import numpy as np
import pytest
from devices import opened
from hypothesis import given
from hypothesis import strategies as st

import parloop as pl
import parloop.arrays as xp
from parloop.arrays import random as device_random

DEVICES = ["cpu:1", "opencl"]
TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "complex64", "complex128"]


@pytest.fixture(params=DEVICES)
def ctx(request):
    return opened(request.param)


def numbers(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind in "biu":
        return rng.integers(0, 2 if dtype.kind == "b" else 50, shape).astype(dtype)
    values = rng.normal(size=shape)
    return (values + 1j * rng.normal(size=shape) if dtype.kind == "c" else values).astype(dtype)


def check(found, expected, close=True):
    expected = np.asarray(expected)
    assert isinstance(found, pl.Array)
    assert found.shape == expected.shape and found.dtype == expected.dtype, (found.shape, expected.shape, found.dtype, expected.dtype)
    if close and expected.dtype.kind in "fc":
        single = expected.dtype in (np.float32, np.complex64)
        np.testing.assert_allclose(found.get(), expected, rtol=2e-5 if single else 1e-12, atol=2e-5 if single else 1e-12)
    else:
        np.testing.assert_array_equal(found.get(), expected)


def test_an_array_names_its_namespace(ctx):
    x = ctx.zeros(3)
    assert x.__array_namespace__() is xp and x.__array_namespace__(api_version="2024.12") is xp
    with pytest.raises(ValueError, match="version '1999.12' of the array API standard is not supported; use one of 2021.12"):
        x.__array_namespace__(api_version="1999.12")


def test_results_are_arrays_on_the_device_of_their_arguments_even_without_axes(ctx):
    for found in (xp.sum(ctx.zeros(3)), xp.add(ctx.zeros(()), 1), xp.argmax(ctx.zeros(3)), xp.matmul(ctx.zeros(3), ctx.zeros(3))):
        assert isinstance(found, pl.Array) and found.shape == () and found.device == ctx.device
    # Operators give NumPy's scalars there.
    assert isinstance(ctx.zeros(()) + 1, np.float64)


def test_the_device_is_asked_for_or_the_default_one(ctx):
    before = xp.default_device()
    try:
        assert xp.zeros(2, device=ctx).device == xp.zeros(2, device=ctx.device).device == ctx.device
        assert xp.default_device(ctx) == ctx.device == xp.asarray([1, 2]).device
    finally:
        xp.default_device(before)
    assert xp.zeros(1).device == before
    with pytest.raises(pl.errors.DeviceNotFoundError):
        xp.zeros(2, device="nothing")


@pytest.mark.parametrize("dtype", TYPES)
def test_every_type_is_created_changed_and_put_in_order(ctx, dtype):
    host = numbers((3, 5), dtype)
    x = xp.asarray(host[::-1, ::2], device=ctx)
    check(x, host[::-1, ::2])
    check(xp.full((2, 3), host[0, 0], device=ctx), np.full((2, 3), host[0, 0]))
    check(xp.concat([x, x[:1]], axis=0), np.concatenate([host[::-1, ::2], host[-1:, ::2]]))
    check(xp.roll(x, 2), np.roll(host[::-1, ::2], 2))
    check(xp.tile(x, (2, 1, 2)), np.tile(host[::-1, ::2], (2, 1, 2)))
    check(xp.flip(x, axis=1), np.flip(host[::-1, ::2], 1))
    check(xp.sort(x, axis=0), np.sort(host[::-1, ::2], axis=0))
    check(xp.argsort(x), np.argsort(host[::-1, ::2], kind="stable"))
    check(xp.cumulative_sum(x, axis=1), np.cumsum(host[::-1, ::2], axis=1))
    check(xp.unique_values(x), np.unique(host[::-1, ::2]))
    check(xp.where(x != 0, x, x), host[::-1, ::2])
    check(xp.eye(2, 3, k=1, dtype=dtype, device=ctx), np.eye(2, 3, 1, dtype))


REAL = "sin cos tan sinh cosh tanh arcsinh arctan exp expm1 log1p exp2 cbrt floor ceil trunc rint sign square reciprocal isnan isinf isfinite signbit logical_not".split()
COMPLEX = "sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh exp expm1 log log1p log2 log10 sqrt square reciprocal isnan logical_not".split()


def test_functions_of_elements_have_the_numbers_of_numpy(ctx):
    with np.errstate(all="ignore"):
        for dtype, names in (("float64", REAL), ("complex128", COMPLEX), ("float32", ["log1p", "arctan"])):
            host = numbers(40, dtype) * 2
            if dtype == "float64":
                host[:4] = np.nan, np.inf, -np.inf, -0.0
            for name in names:
                check(getattr(xp, name)(xp.asarray(host, device=ctx)), getattr(np, name)(host))


def test_functions_of_two_arrays_broadcast_and_take_numbers_of_python(ctx):
    with np.errstate(all="ignore"):
        a, b = numbers((4, 1), "float64"), numbers(5, "float64", 1)
        x, y = xp.asarray(a, device=ctx), xp.asarray(b, device=ctx)
        for name in "hypot copysign logaddexp maximum minimum arctan2 nextafter fmod logical_and less remainder".split():
            check(getattr(xp, name)(x, y), getattr(np, name)(a, b))
            check(getattr(xp, name)(2, y), getattr(np, name)(2, b))
        i, j = numbers(20, "int32"), numbers(20, "int32", 1)
        for name in ("left_shift", "right_shift", "bitwise_xor", "floor_divide"):
            check(getattr(xp, name)(xp.asarray(i, device=ctx), xp.asarray(j, device=ctx)), getattr(np, name)(i, j))
        check(xp.clip(x, -0.5, y), np.clip(a, -0.5, b))


@pytest.mark.parametrize("shape", [(700,), (3, 300), (2, 3, 4), (0, 3), ()])
def test_statistics_and_running_totals_are_those_of_numpy(ctx, shape):
    host = numbers(shape, "float64")
    x = xp.asarray(host, device=ctx)
    for axis in [None, *range(len(shape))]:
        check(xp.sum(x, axis=axis), np.sum(host, axis))
        check(xp.any(x > 1, axis=axis, keepdims=True), np.any(host > 1, axis=axis, keepdims=True))
        if host.size:
            check(xp.std(x, axis=axis, correction=0.5), np.std(host, axis, ddof=0.5))
            check(xp.argmin(x, axis=axis), np.argmin(host, axis))
        if axis is not None:
            check(xp.cumulative_prod(x, axis=axis), np.cumprod(host, axis))
            check(xp.diff(x, axis=axis), np.diff(host, axis=axis))


@given(st.lists(st.integers(-5, 5), max_size=600), st.booleans())
def test_sorting_is_stable(values, descending):
    for name in DEVICES:
        host = np.array(values, np.int16)
        found = xp.argsort(xp.asarray(host, device=opened(name)), descending=descending).get()
        assert found.tolist() == sorted(range(len(values)), key=lambda place: -values[place] if descending else values[place])


def test_not_a_numbers_are_sorted_last_and_found_first(ctx):
    host = np.array([2.0, np.nan, 1.0, -np.inf, np.nan])
    x = xp.asarray(host, device=ctx)
    check(xp.sort(x), np.sort(host))
    check(xp.argmax(x), 1)
    assert xp.unique_values(x).shape == (5,) and xp.unique(x).shape == (4,)


def test_the_distinct_elements_are_found_with_their_places_and_counts(ctx):
    host = numbers(500, "int64")
    found = xp.unique_all(xp.asarray(host, device=ctx))
    for own, theirs in zip(found, np.unique(host, return_index=True, return_inverse=True, return_counts=True)):
        check(own, theirs)
    check(xp.isin(xp.asarray(host, device=ctx), xp.asarray([3, 4, 999], device=ctx)), np.isin(host, [3, 4, 999]))


def test_elements_are_searched_counted_and_interpolated(ctx):
    edges, host = np.array([-1.0, 0.0, 0.0, 1.5]), numbers((3, 20), "float64")
    x = xp.asarray(host, device=ctx)
    for side in ("left", "right"):
        check(xp.searchsorted(xp.asarray(edges, device=ctx), x, side=side), np.searchsorted(edges, host, side=side))
    for right in (False, True):
        for bins in (edges, edges[::-1].copy()):
            check(xp.digitize(x, xp.asarray(bins, device=ctx), right), np.digitize(host, bins, right))
    counts, found = xp.histogram(x, 7)
    check(counts, np.histogram(host, 7)[0])
    check(found, np.histogram(host, 7)[1])
    places = numbers(100, "int32")
    check(xp.bincount(xp.asarray(places, device=ctx)), np.bincount(places))
    check(xp.repeat(xp.asarray(places, device=ctx), xp.asarray(places, device=ctx)), np.repeat(places, places))
    check(xp.interp(x, xp.asarray([-1.0, 0, 2], device=ctx), xp.asarray([1.0, 2, 0], device=ctx)), np.interp(host, [-1.0, 0, 2], [1.0, 2, 0]))
    for own, theirs in zip(xp.nonzero(x > 0), np.nonzero(host > 0)):
        check(own, theirs)
    order = xp.argsort(x)
    check(xp.take_along_axis(x, order), np.sort(host))
    check(xp.take(x, xp.asarray([2, 0, -1], device=ctx), axis=1), host[:, [2, 0, -1]])


def test_an_index_out_of_range_is_refused(ctx):
    with pytest.raises(IndexError, match="3 is out of bounds for"):
        xp.take(ctx.zeros(3), xp.asarray([0, 3], device=ctx), axis=0)


def test_products_of_many_matrices_are_those_of_numpy(ctx):
    for dtype in ("float64", "complex64", "int32"):
        a, b = numbers((2, 1, 3, 4), dtype), numbers((5, 4, 2), dtype, 1)
        x, y = xp.asarray(a, device=ctx), xp.asarray(b, device=ctx)
        check(xp.matmul(x, y), a @ b)
        check(x @ y, a @ b)
        check(xp.tensordot(x, y, axes=((3,), (1,))), np.tensordot(a, b, axes=((3,), (1,))))
        check(xp.vecdot(x[0, 0], x[1, 0]), (a[0, 0].conj() * a[1, 0]).sum(-1, dtype=dtype))


def test_systems_of_equations_are_solved(ctx):
    for dtype in ("float64", "complex128"):
        a, b = numbers((3, 4, 4), dtype), numbers((3, 4, 2), dtype, 1)
        x = xp.asarray(a, device=ctx)
        check(xp.linalg.solve(x, xp.asarray(b, device=ctx)), np.linalg.solve(a, b))
        check(xp.linalg.inv(x), np.linalg.inv(a))
        check(xp.linalg.det(x), np.linalg.det(a))
        positive = a @ a.conj().swapaxes(1, 2)
        check(xp.linalg.cholesky(xp.asarray(positive, device=ctx)), np.linalg.cholesky(positive))
    with pytest.raises(np.linalg.LinAlgError):
        xp.linalg.inv(ctx.zeros((2, 2)))


@pytest.mark.parametrize("length", [1, 2, 6, 16, 31, 100])
def test_transforms_of_every_length_are_those_of_numpy(ctx, length):
    host = numbers((2, length, 3), "complex128")
    x = xp.asarray(host, device=ctx)
    for norm in ("backward", "ortho", "forward"):
        check(xp.fft.fft(x, axis=1, norm=norm), np.fft.fft(host, axis=1, norm=norm))
        check(xp.fft.ifftn(x, norm=norm), np.fft.ifftn(host, norm=norm))
    check(xp.fft.rfft(xp.real(x), axis=1), np.fft.rfft(host.real, axis=1))
    if length > 1:
        check(xp.fft.irfft(x, n=length, axis=1), np.fft.irfft(host, n=length, axis=1))
    check(xp.fft.fftshift(x), np.fft.fftshift(host))


def test_random_numbers_are_the_same_on_every_device_for_a_seed():
    made = [device_random.default_rng(5, device=opened(name)) for name in DEVICES]
    whole = [rng.integers(-3, 9, 1000).get() for rng in made]
    assert (whole[0] == whole[1]).all() and set(whole[0]) == set(range(-3, 9))
    uniform = [rng.random((10, 100)).get() for rng in made]
    assert (uniform[0] == uniform[1]).all() and 0 <= uniform[0].min() and uniform[0].max() < 1 and abs(uniform[0].mean() - 0.5) < 0.05
    normal = [rng.normal(3.0, 2.0, 4000).get() for rng in made]
    np.testing.assert_allclose(*normal, rtol=1e-9, atol=1e-9)
    assert abs(normal[0].mean() - 3) < 0.2 and abs(normal[0].std() - 2) < 0.2
    assert sorted(made[1].permutation(50).get()) == list(range(50))


def test_functions_of_numpy_give_arrays_of_the_device(ctx):
    host = numbers((3, 4), "float64")
    x = xp.asarray(host, device=ctx)
    check(np.sin(x), np.sin(host))
    check(np.add(host, x), host + host)
    check(host * x, host * host)
    check(np.sum(x, 0), host.sum(0))
    check(np.std(x, axis=1, ddof=1), host.std(axis=1, ddof=1))
    check(np.concatenate([x, x]), np.concatenate([host, host]))
    check(np.where(x > 0, x, 0), np.where(host > 0, host, 0))
    assert np.allclose(x, host) and isinstance(np.max(x), np.float64)
    out = ctx.zeros((3, 4))
    assert np.multiply(x, 2, out=out) is out
    check(out, 2 * host)
    check(np.add.reduce(x), host.sum(0))


def test_what_has_no_version_for_a_device_says_so():
    x = opened("opencl").array(np.eye(3))
    for call in (lambda: np.kron(x, x), lambda: np.linalg.svd(x), lambda: np.sinc(x), lambda: xp.linalg.eigh(x), lambda: np.multiply.outer(x, x)):
        with pytest.raises(NotImplementedError, match="has no version for device `opencl:.*`; use it on a CPU: x.to\\('cpu'\\) copies the array there"):
            call()
    with pytest.raises(TypeError, match="`out` is an array of the host"):
        np.add(x, 1, out=np.zeros((3, 3)))


def test_methods_of_other_libraries_are_there(ctx):
    host = numbers((3, 4), "float64")
    x = xp.asarray(host, device=ctx, copy=True)
    got = x.get()
    got[0] = 7
    check(x, host)
    x.set(2 * host)
    check(x, 2 * host)
    assert x.argmax() == host.argmax() and np.isclose(x.std(), 2 * host.std())
    check(x.argsort(axis=0), host.argsort(axis=0))
    check(x.cumsum(), (2 * host).cumsum())
    check(x.reshape(4, 3, order="F"), (2 * host).reshape(4, 3, order="F"))
    check(x.mT, 2 * host.T)
    check(xp.zeros((3, 2), order="F", device=ctx), np.zeros((3, 2)))
    assert xp.zeros((3, 2), order="F", device=ctx).strides == (8, 24) and x.astype("float64", copy=False) is x
    with pytest.raises(ValueError, match="read-only"):
        xp.broadcast_to(x, (2, 3, 4))[0] = 1


def test_selections_by_arrays_of_the_device_are_those_of_numpy(ctx):
    host = numbers((4, 5, 6), "float64")
    x, i, mask = ctx.array(host.copy()), np.array([[3, -1], [0, 0]]), numbers((4, 5), "bool")
    own_i, own_mask = ctx.array(i), ctx.array(mask)
    check(x[own_i], host[i])
    check(x[own_mask], host[mask])
    check(x[1:, own_i[0], ::2], host[1:, i[0], ::2])
    check(x[own_i[0], :, own_i[1]], host[i[0], :, i[1]])
    check(x[None, ..., own_i], host[None, ..., i])
    x[own_mask], host[mask] = -1.0, -1.0
    check(x, host)
    # Of several values for one element the last one stays.
    x[own_i[1], 0, 0], host[i[1], 0, 0] = [8.0, 9.0], [8.0, 9.0]
    check(x, host)


@pytest.mark.parametrize("module", [xp, xp._device, device_random])
def test_the_examples_in_the_documentation_run(module):
    before = xp.default_device()
    try:
        assert doctest.testmod(module).failed == 0
    finally:
        xp.default_device(before)


def test_histograms_have_weights_and_densities(ctx):
    host, weights, edges = numbers(500, "float64"), numbers(500, "float64", 1), np.array([-1.0, -0.25, 0.5, 2.0])
    x, w, e = (xp.asarray(values, device=ctx) for values in (host, weights, edges))
    check(xp.histogram(x, e, density=True)[0], np.histogram(host, edges, density=True)[0])
    check(xp.histogram(x, 5, weights=w)[0], np.histogram(host, 5, weights=weights)[0])
    check(xp.histogram(x, 5, (-1.0, 1.0), weights=w, density=True)[0], np.histogram(host, 5, (-1.0, 1.0), weights=weights, density=True)[0])
    check(np.histogram(x, e, density=True)[0], np.histogram(host, edges, density=True)[0])
    with pytest.raises(ValueError, match="histogram was given 3 weights for 500 elements; give one for each"):
        xp.histogram(x, e, weights=w[:3])


def test_weights_of_one_bin_do_not_change_the_sums_of_others(ctx):
    host = np.array([0, 1, 1, 2, 5, 3, 3, 3])
    for dtype in ("float64", "float32", "complex128", "int64"):
        values = [1e16, 1, 2, 3, np.inf, np.nan, 4, 5] if dtype != "int64" else [2**52, 1, 2, 3, 2**52, 2**51, 4, 5]
        weights = np.array(values, dtype)
        x, w = xp.asarray(host, device=ctx), xp.asarray(weights, device=ctx)
        # NumPy itself subtracts running totals where the edges are listed, but not where they are counted.
        expected = np.histogram(host, 6, (0, 6), weights=weights)[0]
        for bins in (6, np.arange(7)) if ctx.device.kind != "cpu" else (6,):
            found = xp.histogram(x, bins, (0, 6), weights=w)[0]
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found.get(), expected)
        if dtype == "float64":
            np.testing.assert_array_equal(xp.bincount(x, w, 8).get(), np.bincount(host, weights, 8))
    many = numbers(100_000, "float64")
    bins = np.arange(many.size) % 7
    check(xp.bincount(xp.asarray(bins, device=ctx), xp.asarray(many, device=ctx)), np.bincount(bins, many))


def test_covariances_are_those_of_numpy(ctx):
    for dtype in ("float32", "float64", "int32", "complex128"):
        host = numbers((3, 40), dtype)
        x = xp.asarray(host, device=ctx)
        check(xp.cov(x), np.cov(host))
        check(xp.cov(x, rowvar=False), np.cov(host, rowvar=False))
        check(xp.cov(x[0], x[1], bias=True), np.cov(host[0], host[1], bias=True))
        check(xp.cov(x[0], ddof=2), np.cov(host[0], ddof=2))
    check(np.cov(x[0], x[2]), np.cov(host[0], host[2]))
    with pytest.raises(ValueError, match="cov takes arrays with at most two axes, not 3"):
        xp.cov(ctx.zeros((2, 2, 2)))


def test_the_trapezoidal_rule_is_that_of_numpy(ctx):
    trapezoid = getattr(np, "trapezoid", None) or np.trapz
    host, points = numbers((4, 6), "float64"), np.sort(numbers(6, "float64", 1))
    y, x = xp.asarray(host, device=ctx), xp.asarray(points, device=ctx)
    check(xp.trapezoid(y), trapezoid(host))
    check(xp.trapezoid(y, dx=0.25, axis=0), trapezoid(host, dx=0.25, axis=0))
    check(xp.trapezoid(y, x), trapezoid(host, points))
    check(xp.trapezoid(y, x[:4], axis=0), trapezoid(host, points[:4], axis=0))
    check(xp.trapezoid(y, y, axis=0), trapezoid(host, host, axis=0))


def test_arrays_tell_their_axes_as_numpys_functions_do(ctx):
    x = ctx.zeros((2, 3))
    assert (xp.shape(x), xp.ndim(x), xp.size(x), xp.size(x, 1)) == ((2, 3), 2, 6, 3)
    assert xp.atleast_2d(x[0]).shape == (1, 3) and xp.atleast_2d(x).shape == (2, 3) and xp.atleast_2d(2.0).shape == (1, 1)


def test_arrays_of_the_host_keep_their_order(ctx):
    host = np.asfortranarray(numbers((3, 4, 5), "complex128"))
    for x in (xp.asarray(host, device=ctx), xp.array(host, device=ctx)):
        assert x.strides == host.strides
        check(x, host)
    assert xp.array(host.copy("C"), device=ctx).strides == host.copy("C").strides


# Where the annex leaves a sign open, the sizes are compared.
@pytest.mark.parametrize("name", ["exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh"])
def test_infinities_and_nan_give_what_annex_g_of_c_says(ctx, name):
    # Of -800 the exponential is zero.
    parts = [0.0, -0.0, 1.5, -1.5, -800.0, np.inf, -np.inf, np.nan]
    host = np.array([complex(re, im) for re in parts for im in parts])
    numpys = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"}
    with np.errstate(all="ignore"):
        expected = getattr(np, numpys.get(name, name))(host)
        found = getattr(xp, name)(xp.asarray(host, device=ctx)).get()
    for value, own, theirs in zip(host, found, expected):
        for part, other in ((own.real, theirs.real), (own.imag, theirs.imag)):
            assert np.isclose(abs(part), abs(other), rtol=1e-12, atol=1e-15, equal_nan=True), (value, own, theirs)
