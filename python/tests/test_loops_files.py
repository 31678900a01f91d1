"""Kernels in `.loop` files, as Python reads them."""

import pickle

import numpy as np
import pytest

import parloop as pl
import parloop.loops as lp

PRODUCT = """\
kernel product
domain {[i, j, k]: 0 <= i, j, k < n}
data
  a, b, c: global float32[n, n]
  n: value int32
instructions
  c[i, j] = sum(k, a[i, k]*b[k, j])

split_iname i 16 outer_tag=g.0 inner_tag=l.1
split_iname j 16 outer_tag=g.1 inner_tag=l.0
split_iname k 16
add_prefetch a [k_inner, i_inner]
add_prefetch b [j_inner, k_inner]
"""

PREAMBLE = """\
kernel shifted
preamble "shift" "static int shift(int i) { return i + 1; }"
domain {[i]: 0 <= i < 4}
data
  out: global int32[4]
instructions
  out[i] = i
"""


def written(folder, text):
    path = folder / "kernel.loop"
    path.write_text(text)
    return path


@pytest.mark.parametrize("as_path", [str, lambda path: path])
def test_a_file_gives_the_kernel_after_its_transformations(ctx, tmp_path, as_path):
    knl = lp.read_kernel(as_path(written(tmp_path, PRODUCT)))
    assert knl.entrypoints == {"product"} and "k_outer" in str(knl)
    a, b = np.random.default_rng(1).random((2, 37, 37), np.float32)
    _, (c,) = knl(ctx, a=a, b=b)
    assert np.allclose(c, a @ b, rtol=1e-5)


def test_it_is_a_program_like_any_other(tmp_path):
    path = written(tmp_path, PRODUCT)
    knl = lp.read_kernel(path)
    path.unlink()
    again = pickle.loads(pickle.dumps(lp.tag_inames(knl, "k_inner:unr")))
    assert again == lp.tag_inames(knl, "k_inner:unr")
    _, (c,) = again(pl.Context("cpu:1"), a=np.eye(5, dtype=np.float32), b=np.ones((5, 5), np.float32))
    assert (c == 1).all()


def test_what_is_wrong_in_a_file_is_named_with_its_line(tmp_path):
    with pytest.raises(pl.errors.LoopSyntaxError, match="line 5"):
        lp.read_kernel(written(tmp_path, PRODUCT.replace("n: value int32", "n: value integer")))
    with pytest.raises(pl.LoopError, match="line 9: .*no iname `m`"):
        lp.read_kernel(written(tmp_path, PRODUCT.replace("split_iname i", "split_iname m")))
    with pytest.raises(pl.LoopError, match="the file has no kernel"):
        lp.read_kernel(written(tmp_path, ""))
    with pytest.raises(FileNotFoundError):
        lp.read_kernel(tmp_path / "none.loop")


def test_code_in_c_is_for_trusted_files(tmp_path):
    path = written(tmp_path, PREAMBLE)
    with pytest.raises(pl.errors.LoopSyntaxError, match="only trusted files"):
        lp.read_kernel(path)
    _, (out,) = lp.read_kernel(path, trusted=True)(pl.Context("cpu:1"))
    assert out.tolist() == [0, 1, 2, 3]


def test_instructions_in_c_are_for_trusted_files(tmp_path):
    text = 'kernel f\ndomain {[i]: 0 <= i < 4}\ndata\n  b: global int32[4]\ninstructions\n  ... c {inames=i, writes=b[i]} "b[i] = 2*i;"\n'
    path = written(tmp_path, text)
    with pytest.raises(pl.errors.LoopSyntaxError, match="line 6, column 3: expected no C code, which only trusted text may have"):
        lp.read_kernel(path)
    _, (b,) = lp.read_kernel(path, trusted=True)(pl.Context("cpu:1"))
    assert b.tolist() == [0, 2, 4, 6]


@pytest.mark.parametrize(
    "step",
    [
        "split_iname i 16 outer_iname=NAME",
        "chunk_iname i 4 outer_iname=NAME",
        "rename_iname i NAME",
        "join_inames [i, j] new_iname=NAME",
        "duplicate_inames i id:one new_inames=NAME",
        "duplicate_inames i id:one suffix=NAME",
        "rename_argument a NAME",
        "add_prefetch a [j] temporary_name=NAME",
        "add_prefetch a [j] prefetch_insn_id=NAME",
        "buffer_array c [j] temporary_name=NAME",
        "add_barrier id:one id:two id_based_on=NAME",
        "to_batched 4 [a] batch_iname_prefix=NAME",
    ],
)
def test_names_in_a_file_do_not_become_other_code(tmp_path, step):
    text = "kernel k\ndomain {[i, j]: 0 <= i, j < 64}\ndata\n  a, c: global float64[64, 64]\ninstructions\n"
    text += "  <> t = 2*a[i, j] {id=one}\n  c[i, j] = t {id=two, dep=one}\n\n"
    knl = lp.read_kernel(written(tmp_path, text + step.replace("NAME", "'z); abort('")))
    for target in "c", "opencl", "cuda":
        with pytest.raises(pl.LoopError, match=r"contains the name `i?z\); abort\(`, which is not an identifier"):
            knl.code(target)
    # A name is none of what may be wrong with the kernel.
    try:
        lp.read_kernel(written(tmp_path, text + step.replace("NAME", "z"))).code("c")
    except pl.LoopError as error:
        assert "not an identifier" not in str(error)


def test_types_in_a_file_do_not_become_other_code(tmp_path):
    text = 'kernel k\ndomain {[i]: 0 <= i < 4}\ndata\n  a, c: global float64[4]\ninstructions\n  c[i] = cast(opaque("TYPE"), a[i])\n'
    for ty in "double)(c[i + 1000] = 1)+(double", "double *", "a//", "":
        with pytest.raises(pl.errors.LoopSyntaxError, match="expected the name of a type in quotes: words"):
            lp.read_kernel(written(tmp_path, text.replace("TYPE", ty)))
    assert "(unsigned long)a[i]" in lp.read_kernel(written(tmp_path, text.replace("TYPE", "unsigned long"))).code("c")


def test_an_output_that_is_read_before_it_is_written_begins_with_zeros(tmp_path):
    """Also where the file denies that it is an input: what was in memory before is nobody's business."""
    text = "kernel k\ndomain {[i]: 0 <= i < n}\ndata\n  a: global float64[n]\n  c: global float64[n] {in=no, out=yes}\n  n: value int32\n"
    knl = lp.read_kernel(written(tmp_path, text + "instructions\n  c[i] = c[i] + a[i]\n"))
    for device in pl.devices():
        ctx = pl.Context(device.name)
        for length in 3, 3, 1000, 100_000:
            # Memory that was used before is likely to be what is found.
            del [np.full(length, 7.0) for _ in range(4)][:]
            _, (c,) = knl(ctx, a=np.arange(float(length)))
            assert np.array_equal(c, np.arange(float(length)))
