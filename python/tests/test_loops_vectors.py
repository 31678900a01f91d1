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



@pytest.mark.parametrize(
    "dtype",
    [
        np.dtype({"names": ["x", "y"], "formats": ["f4"] * 2, "offsets": [4, 0]}),
        np.dtype({"names": ["s0", "s1", "s2", "s3"], "formats": ["i4"] * 4, "offsets": [12, 8, 4, 0]}),
        np.dtype({"names": ["s0", "s1", "s2", "padding0"], "formats": ["f4"] * 4, "offsets": [4, 8, 12, 0]}),
        np.dtype([("x", "f4"), ("y", "f4"), ("padding", "f4"), ("z", "f4")]),
        np.dtype([("s0", "f4"), ("s1", "f4"), ("s2", "f4"), ("padding0", "f4")]),
        np.dtype([("x", "f8"), ("y", "f8"), ("z", "f8"), ("w", "f8")]),
    ],
)
def test_a_field_is_where_the_dtype_has_it(ctx, dtype):
    names = [name for name in dtype.names if not name.startswith("padding")]
    a = np.zeros(5, dtype)
    for place, name in enumerate(dtype.names):
        a[name] = 10 * place + np.arange(5)
    for name in names:
        _, (out,) = lp.make_kernel("{[i]: 0<=i<n}", f"out[i] = a[i].{name}", [lp.GlobalArg("a", dtype), lp.GlobalArg("out", "f8"), ...])(ctx, a=a)
        np.testing.assert_array_equal(np.asarray(out), a[name])


def test_components_that_several_work_items_write_are_not_lost(ctx):
    vector = lp.vector(np.float32, 4)
    statements = """
        for i, j
            a[i].x = 1 {id=x, if=j == 0}
            a[i].y = 2 {id=y, dep=x, if=j == 0}
            a[i].z = 3 {id=z, dep=y, if=j == 1}
            a[i].w = 4 {dep=z, if=j == 1}
        end
        """
    knl = lp.tag_inames(lp.make_kernel("{[i,j]: 0<=i<n and 0<=j<2}", statements, [lp.GlobalArg("a", vector, shape="n"), ...]), {"j": "g.0"})
    for _ in range(10):
        a = np.zeros(20000, vector)
        knl(ctx, a=a)
        np.testing.assert_array_equal(lanes_of(a), np.broadcast_to([1, 2, 3, 4], (20000, 4)))
    # OpenCL would write all four where one is assigned to.
    assert "((__global float *)&a[i])[0] = " in knl.code("opencl")


def test_parts_of_complex_numbers_are_written(ctx):
    knl = lp.make_kernel("{[i]: 0<=i<n}", "z[i].imag = i {id=a}\nz[i].real = 2*i {dep=a}", [lp.GlobalArg("z", np.complex64, shape="n"), ...])
    z = np.zeros(4, np.complex64)
    knl(ctx, z=z)
    np.testing.assert_array_equal(z, np.arange(4) * (2 + 1j))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32])
def test_signs_and_bits_of_narrow_integers_are_numpys(ctx, dtype):
    info = np.iinfo(dtype)
    a = np.array([info.min, info.min + 1, 0, 1, 11, 100, info.max], dtype)
    record = np.dtype([("k", dtype)])
    for what, expected in [("~{}", ~a), ("-{}", -a), ("(-{})//2", (-a) // 2), ("if(~{} > 0, 1, 2)", np.where(~a > 0, 1, 2))]:
        for kind, value, name in [(dtype, a, "a[i]"), (record, a.astype(record), "a[i].k")]:
            args = [lp.GlobalArg("a", kind), lp.GlobalArg("out", np.int64), ...]
            _, (out,) = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = " + what.format(name), args)(ctx, a=value)
            # What overflows a signed integer of 32 bits is undefined on GPUs, and NVIDIA's assembler widens 16 bits before it negates them.
            exact = 16 if ctx.device.kind != "cuda" else 8
            known = slice(None) if info.bits <= exact or info.min == 0 else slice(1, None)
            np.testing.assert_array_equal(np.asarray(out)[known], expected[known].astype(np.int64), what)


def test_quotients_of_written_numbers_are_pythons(ctx):
    for value in (7, -7):
        for by in (3, -3):
            knl = lp.make_kernel("{[i]: 0<=i<2}", f"out[i] = ({value} % {by})*3 + {value} // {by}", [lp.GlobalArg("out", np.uint64, shape="2")])
            expected = np.array((value % by) * 3 + value // by, np.int64).astype(np.uint64)
            np.testing.assert_array_equal(np.asarray(knl(ctx)[1][0]), expected)


def test_records_of_one_byte_are_elements(ctx):
    dtype = np.dtype([("k", np.int8)])
    knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i].k = a[i].k + 1", [lp.GlobalArg("a,out", dtype), ...])
    a = np.arange(5, dtype=np.int8).astype(dtype)
    _, (out,) = knl(ctx, a=a)
    assert out.dtype == dtype and out["k"].tolist() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("dtype", [lp.vector(np.float32, 4), np.dtype([("p", "i4"), ("q", "f8")])])
@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)])
def test_arrays_without_elements(ctx, dtype, shape):
    axes = ["i", "j"][: len(shape)]
    name = "x" if "x" in dtype.fields else "p"
    index, domain = ",".join(axes), " and ".join(f"0<={axis}<n{axis}" for axis in axes)
    args = [lp.GlobalArg("a,out", dtype, shape=",".join(f"n{axis}" for axis in axes)), ...]
    _, (out,) = lp.make_kernel(f"{{[{index}]: {domain}}}", f"out[{index}].{name} = a[{index}].{name}", args)(ctx, a=np.zeros(shape, dtype))
    assert out.shape == shape


def test_dtypes_and_arrays_that_cannot_be_are_refused():
    record, float4 = np.dtype([("p", "f4"), ("q", "f4")]), lp.vector(np.float32, 4)
    knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = a[i].p", [lp.GlobalArg("a", record), lp.GlobalArg("out", "f4"), ...])
    with pytest.raises(TypeError, match="'a' has masked elements, but masks are not supported"):
        knl(a=np.ma.array(np.zeros(3, record), mask=[(0, 1), (0, 0), (0, 0)]))
    assert np.asarray(knl(a=np.ma.array(np.zeros(3, record), mask=False))[1][0]).tolist() == [0, 0, 0]

    def declare(dtype):
        lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 1", [lp.GlobalArg("out", dtype), ...])

    with pytest.raises(TypeError, match=r"dtype \[\] has no fields"):
        declare(np.dtype([]))
    with pytest.raises(TypeError, match="float16 is not supported"):
        declare("float16")
    for name in ("and", "or", "not", "ä", "a b"):
        with pytest.raises(TypeError, match=f"field '{name}' of dtype .* cannot be named in a kernel"):
            declare(np.dtype([(name, "f4"), ("b", "f4")]))
    untyped = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = a[i].x", [lp.GlobalArg("a,out"), ...])
    with pytest.raises(TypeError, match="`a` of kernel .* was declared without a dtype .* declare vectors and records"):
        untyped(a=np.zeros(3, float4))


def test_records_of_the_same_fields_and_other_sizes_are_two():
    short = np.dtype([("p", "f4"), ("q", "f4")])
    long = np.dtype({"names": ["p", "q"], "formats": ["f4", "f4"], "offsets": [0, 4], "itemsize": 16})
    knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i].p = a[i].q", [lp.GlobalArg("a", long), lp.GlobalArg("out", short), ...])
    a = np.zeros(3, long)
    a["q"] = [1, 2, 3]
    _, (out,) = knl(a=a)
    assert out["p"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("name", ["M_PI", "INT32_MAX", "UINT_FAST8_MAX", "GPUKERN", "HUGE_VAL", "FP_NAN", "_Bool"])
def test_names_of_the_c_library_are_refused(name):
    with pytest.raises(pl.LoopError, match=f"`{name}` cannot have that name, which is reserved in c; rename it"):
        lp.make_kernel("{[i]: 0<=i<n}", f"out[i] = {name}[i]", [lp.GlobalArg(f"{name},out", "f4"), ...])("cpu", **{name: np.zeros(3, "f4")})
