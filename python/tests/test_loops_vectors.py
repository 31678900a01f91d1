"""Vectors and records as elements of loop kernels, and random numbers."""

import numpy as np
import pytest

import parloop as pl
import parloop.loops as lp

BASES = [np.float32, np.float64, np.int32, np.uint32, np.int64]
LANES = [2, 3, 4, 8, 16]


def lanes_of(array):
    """The lanes of an array of vectors as an axis."""
    names = [name for name in array.dtype.names if not name.startswith("padding")]
    return np.stack([array[name] for name in names], axis=-1)


def vectors(numbers, dtype):
    """An array of vectors, from one with an axis of lanes."""
    made = np.zeros(numbers.shape[:-1], dtype)
    for lane in range(numbers.shape[-1]):
        made[f"s{lane}"] = numbers[..., lane]
    return made


def parallel(knl, size=8):
    return lp.split_iname(knl, "i", size, outer_tag="g.0", inner_tag="l.0")


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("lanes", LANES)
def test_arithmetic_is_numpys_for_each_lane(ctx, base, lanes):
    dtype = lp.vector(base, lanes)
    knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = a[i]*b[i] + 3*a[i] - s[i]", [lp.GlobalArg("a,b,out", dtype), lp.GlobalArg("s", base), ...])
    rng = np.random.default_rng(lanes)
    a, b = (rng.integers(0, 50, (21, lanes)).astype(base) for _ in range(2))
    s = np.arange(21).astype(base)
    _, (out,) = parallel(knl)(ctx, a=vectors(a, dtype), b=vectors(b, dtype), s=s)
    assert out.dtype == dtype
    np.testing.assert_array_equal(lanes_of(out), a * b + 3 * a - s[:, None])


def test_components_are_read_and_written(ctx):
    float4 = lp.vector(np.float32, 4)
    knl = lp.make_kernel(
        "{[i]: 0<=i<n}",
        """
        out[i].x = a[i].w         {id=x}
        out[i].s1 = 2*a[i].z      {id=y, dep=x}
        out[i].z = out[i].x + 1   {id=z, dep=y}
        out[i].w = dot(a[i], a[i]) {id=w, dep=z}
        """,
        [lp.GlobalArg("a,out", float4, shape="n"), ...],
    )
    a = np.arange(40, dtype=np.float32).reshape(10, 4)
    _, (out,) = parallel(knl)(ctx, a=vectors(a, float4), out=np.zeros(10, float4))
    expected = np.stack([a[:, 3], 2 * a[:, 2], a[:, 3] + 1, (a * a).sum(axis=1)], axis=1)
    np.testing.assert_array_equal(lanes_of(out), expected)


def test_an_array_of_numbers_with_a_further_axis_is_an_array_of_vectors(ctx):
    knl = lp.make_kernel("{[i]: 0<=i<n}", "a[i] = 2*a[i]", [lp.GlobalArg("a", "float32x4", shape="n"), ...])
    numbers = ctx.array(np.arange(12, dtype=np.float32).reshape(3, 4))
    knl(ctx, a=numbers)
    np.testing.assert_array_equal(np.asarray(numbers.numpy()), 2 * np.arange(12).reshape(3, 4))
    with pytest.raises(pl.ParloopError, match="each element of argument `a` consists of 4 numbers of float32; pass an array whose last axis"):
        knl(ctx, a=ctx.array(np.zeros((4, 3), np.float32)))


def test_what_is_given_is_written_in_place(ctx):
    float2 = lp.vector(np.float32, 2)
    knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = make_float2(a[i].y, a[i].x)", [lp.GlobalArg("a,out", float2, shape="n", strides="auto"), ...])
    a = vectors(np.arange(20, dtype=np.float32).reshape(10, 2), float2)
    out = np.zeros(10, float2)
    _, (result,) = knl(ctx, a=a, out=out)
    assert result is out
    np.testing.assert_array_equal(out["x"], a["y"])
    if ctx.device.kind == "cpu":
        _, (every_second,) = knl(ctx, a=a[::2])
        np.testing.assert_array_equal(every_second["y"], a["x"][::2])


def test_a_vector_is_passed_by_value(ctx):
    float4 = lp.vector(np.float32, 4)
    knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = a*x[i]", [lp.ValueArg("a", float4), lp.GlobalArg("x,out", float4, shape="n"), ...])
    a, x = np.array((1, 2, 3, 4), float4), vectors(np.arange(12, dtype=np.float32).reshape(3, 4), float4)
    for value in (a, a[()]):
        _, (out,) = knl(ctx, a=value, x=x)
        np.testing.assert_array_equal(lanes_of(out), lanes_of(x) * [1, 2, 3, 4])


def test_sums_of_vectors_are_fetched_and_reduced(ctx):
    float4 = lp.vector(np.float32, 4)
    data = [lp.GlobalArg("a,b,c", float4, shape=(12, 12)), ...]
    knl = lp.make_kernel("{[i,j,k]: 0<=i,j,k<12}", "c[i, j] = sum(k, a[i, k]*b[k, j])", data)
    fast = lp.split_iname(knl, "i", 4, outer_tag="g.0", inner_tag="l.1")
    fast = lp.split_iname(fast, "j", 4, outer_tag="g.1", inner_tag="l.0")
    fast = lp.split_iname(fast, "k", 4)
    fast = lp.add_prefetch(fast, "a", ["k_inner", "i_inner"], fetch_outer_inames="i_outer, j_outer, k_outer", default_tag="l.auto")
    lp.auto_test_vs_ref(knl, ctx, fast)
    rng = np.random.default_rng(3)
    a, b = (rng.integers(0, 9, (12, 12, 4)).astype(np.float32) for _ in range(2))
    _, (c,) = fast(ctx, a=vectors(a, float4), b=vectors(b, float4))
    np.testing.assert_array_equal(lanes_of(c), np.einsum("ikl,kjl->ijl", a, b))


RECORDS = {
    "aligned": np.dtype([("kind", np.int8), ("t", np.float64), ("hit", np.int32)], align=True),
    "packed": np.dtype([("kind", np.int8), ("t", np.float64), ("hit", np.int32)]),
    "out of order": np.dtype({"names": ["hit", "kind", "t"], "formats": [np.int32, np.int8, np.float64], "offsets": [16, 3, 8], "itemsize": 32}),
}


@pytest.mark.parametrize("dtype", RECORDS.values(), ids=RECORDS)
def test_fields_of_records_are_where_numpy_has_them(ctx, dtype):
    knl = lp.make_kernel(
        "{[i]: 0<=i<n}",
        """
        out[i] = a[i]                    {id=all}
        out[i].t = 2*a[i].t + a[i].kind  {id=t, dep=all}
        out[i].hit = i                   {id=hit, dep=t}
        """,
        [lp.GlobalArg("a,out", dtype, shape="n"), ...],
    )
    a = np.zeros(19, dtype)
    a["kind"], a["t"], a["hit"] = np.arange(19) - 9, np.arange(19) / 4, 7
    _, (out,) = parallel(knl)(ctx, a=a)
    np.testing.assert_array_equal(out["kind"], a["kind"])
    np.testing.assert_array_equal(out["t"], 2 * a["t"] + a["kind"])
    np.testing.assert_array_equal(out["hit"], np.arange(19))


def test_records_of_other_things_than_numbers_are_refused():
    for field, kind in [("name", "S4"), ("inner", [("x", np.float32)]), ("row", (np.float32, 3)), ("far", ">f8")]:
        with pytest.raises(TypeError, match=f"field '{field}' of dtype .* the fields of a record must be numbers in native byte order"):
            lp.make_kernel("{[i]: 0<=i<4}", "a[i].k = 1", [lp.GlobalArg("a", np.dtype([("k", np.int32), (field, kind)])), ...])


def test_types_are_dtypes_again():
    float3 = lp.vector(np.float32, 3)
    assert float3.itemsize == 16
    record = RECORDS["aligned"]
    data = [lp.GlobalArg("a", float3), lp.GlobalArg("r", record), ...]
    knl = lp.make_kernel("{[i]: 0<=i<4}", "<> t = 2*a[i] {id=t}\nr[i].t = t.x {dep=t}", data)
    args = lp.infer_unknown_types(knl).default_entrypoint.arg_dict
    assert args["a"].dtype == float3
    assert args["r"].dtype.fields == record.fields
    with pytest.raises(ValueError, match="a vector has 2, 3, 4, 8 or 16 numbers, not 5"):
        lp.vector(np.float32, 5)
    with pytest.raises(TypeError, match="a vector consists of integers or floats, not complex64"):
        lp.vector(np.complex64, 2)


def test_pyopencls_vectors_are_ours():
    cltypes = pytest.importorskip("pyopencl.cltypes")
    for name, base, lanes in [("float4", np.float32, 4), ("float3", np.float32, 3), ("uint2", np.uint32, 2), ("double8", np.float64, 8)]:
        assert getattr(cltypes, name) == lp.vector(base, lanes)


def test_random_numbers_are_the_published_ones(ctx):
    words = np.array([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344, 0xA4093822, 0x299F31D0], np.uint32)
    uint4, uint2 = lp.vector(np.uint32, 4), lp.vector(np.uint32, 2)
    knl = lp.make_kernel(
        "{[i]: 0<=i<n}",
        """
        <> words, <> c1 = philox4x32(counter[i], key[i])     {id=words}
        <> floats, <> c2 = philox4x32_f32(counter[i], key[i]) {id=floats}
        out[i] = words {dep=words}
        next[i] = c1   {dep=words}
        f[i] = floats  {dep=floats}
        """,
        [lp.GlobalArg("counter,out,next", uint4, shape="n"), lp.GlobalArg("key", uint2, shape="n"), lp.GlobalArg("f", "float32x4", shape="n"), ...],
    )
    counter, key = words[:4].view(uint4), words[4:].view(uint2)
    _, (out, following, floats) = knl(ctx, counter=counter, key=key)
    expected = np.array([0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1], np.uint32)
    np.testing.assert_array_equal(lanes_of(out)[0], expected)
    np.testing.assert_array_equal(lanes_of(following)[0], words[:4] + np.array([1, 0, 0, 0], np.uint32))
    np.testing.assert_array_equal(lanes_of(floats)[0], expected.astype(np.float32) * np.float32(2.0**-32))


def test_an_array_must_have_the_fields_of_the_argument():
    wanted = np.dtype([("t", np.float64), ("id", np.int64)])
    knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = a[i].t", [lp.GlobalArg("a", wanted), lp.GlobalArg("out", np.float64), ...])
    _, (out,) = knl(a=np.array([(1.5, 2), (2.5, 3)], wanted))
    np.testing.assert_array_equal(out, [1.5, 2.5])
    for other in ([("id", np.int64), ("t", np.float64)], [("t", np.float64), ("no", np.int64)], [("t", np.float64), ("id", np.uint64)]):
        with pytest.raises(TypeError, match=r"argument 'a' has elements of type record\(.*but the array has record\("):
            knl(a=np.zeros(2, other))
    bytes_of_16 = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = a[i].s0", [lp.GlobalArg("a", lp.vector(np.uint8, 16)), lp.GlobalArg("out", np.uint8), ...])
    with pytest.raises(TypeError, match="argument 'a' has elements of type uint8x16"):
        bytes_of_16(a=np.zeros(2, wanted))


def test_fields_may_stand_in_any_order_in_a_dtype():
    dtype = np.dtype({"names": ["late", "early"], "formats": [np.int32, np.float64], "offsets": [8, 0], "itemsize": 16})
    knl = lp.make_kernel("{[i]: 0<=i<n}", "a[i].early = a[i].late + 0.5", [lp.GlobalArg("a", dtype), ...])
    a = np.zeros(3, dtype)
    a["late"] = [1, 2, 3]
    knl(a=a)
    np.testing.assert_array_equal(a["early"], [1.5, 2.5, 3.5])


def test_fields_that_c_does_not_take_are_refused(ctx):
    for name in ("double", "pad_at_4", "__x"):
        dtype = np.dtype([(name, np.float64), ("b", np.float64)])
        knl = lp.make_kernel("{[i]: 0<=i<n}", "a[i].b = 1", [lp.GlobalArg("a", dtype), ...])
        with pytest.raises(pl.ParloopError, match=f"`{name}`"):
            knl(ctx, a=np.zeros(3, dtype))

