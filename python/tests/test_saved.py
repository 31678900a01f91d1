"""Programs saved to files and loaded again, without a compiler."""

import kernels
import numpy as np
import pytest
from conftest import DEVICES, open_context, run_python

import parloop as pl

SOURCE = """
typedef GPUGLMEM struct Cells_s *Cells;
GPUKERN void scale(Cells c, const double by, const int64_t n) {
    VECTORIZE_OVER(i, n)
        ((GPUGLMEM double *)c)[i] *= by;
    END_VECTORIZE
}
GPUKERN void count(int32_t *hits) { atomicAdd(&hits[0], 1); }
"""


def words(call, error=pl.errors.ProgramFileError):
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, ValueError)
    return str(caught.value)


def test_a_loaded_program_does_what_the_saved_one_did(ctx, tmp_path):
    saved = ctx.compile(SOURCE, classes=["Cells"], kernels={"grow": pl.Kernel(c_name="scale", args=[pl.Arg("Cells", name="cells"), pl.Arg("float64"), pl.Arg("int64")])})
    saved.save(tmp_path / "a.prog")
    loaded = ctx.load(tmp_path / "a.prog")
    assert loaded.origin == "file" and loaded.source == ""
    assert {name: kernel.signature for name, kernel in loaded.kernels.items()} == {name: kernel.signature for name, kernel in saved.kernels.items()}
    x = ctx.array(np.arange(4.0))
    loaded.grow(cells=x.memory, by=3.0, n=3)
    assert x.numpy().tolist() == [0, 3, 6, 3]
    with pytest.raises(pl.ArgumentError, match="is declared `Cells`, but an array of float64 was given"):
        loaded.grow(np.zeros(2), 1.0, 2)


def test_a_loaded_program_is_described_anew(ctx, tmp_path):
    path = str(tmp_path / "a.prog")
    ctx.compile(SOURCE, classes=["Cells"]).save(path)
    described = {"grow": pl.Kernel(c_name="scale", args=[pl.Arg("Cells", name="cells"), pl.Arg("float64"), pl.Arg("int64")])}
    x = ctx.array(np.ones(2))
    ctx.load(path, kernels=described).grow(cells=x.memory, by=3.0, n=2)
    ctx.load(path).describe(described).grow(cells=x.memory, by=3.0, n=2)
    assert x.numpy().tolist() == [9, 9]
    message = words(lambda: ctx.load(path, kernels={"scale": pl.Kernel(args=[])}), pl.errors.SourceError)
    assert message == "kernel `scale` was described with 0 arguments, but its source says `void scale(Cells c, double by, int64_t n)` (line 3)"


def test_grids_are_saved_and_functions_of_python_are_described_again(ctx, tmp_path):
    def hits(kernel):
        out = np.zeros(1, np.int32)
        kernel(out)
        return out[0]

    once = 1 if ctx.device.kind == "cpu" else 3
    described = {"three": pl.Kernel(c_name="count", grid=3, block=1), "computed": pl.Kernel(c_name="count", grid=lambda hits: 3, block=1)}
    saved = ctx.compile(SOURCE, classes=["Cells"], kernels=described)
    saved.save(tmp_path / "a.prog")
    loaded = ctx.load(tmp_path / "a.prog")
    assert hits(saved.computed) == hits(saved.three) == hits(loaded.three) == once
    with pytest.raises(AttributeError):
        loaded.computed  # noqa: B018
    more = loaded.describe({"computed": described["computed"]}).describe({"again": pl.Kernel(c_name="count")})
    assert hits(more.computed) == once and hits(more.again) == 1


def test_loading_needs_no_compiler_and_no_cache(tmp_path):
    path = str(tmp_path / "a.prog")
    open_context("cpu").compile(kernels.AXPY).save(path)
    code = f"""
        import numpy as np, parloop as pl
        prog = pl.Context("cpu").load({path!r})
        y = np.zeros(3)
        prog.axpy(2.0, np.arange(3.0), y, 3)
        print(y.tolist())
    """
    assert run_python(code, env={"PARLOOP_CC": "no-such-compiler", "PATH": "", "PARLOOP_CACHE_DIR": "/nonexistent"}) == "[0.0, 2.0, 4.0]\n"


def test_files_that_hold_no_program_are_told_apart(ctx, tmp_path):
    path = tmp_path / "a.prog"
    assert words(lambda: ctx.load(path)) == f"program file {path} could not be read: No such file or directory (os error 2)"
    path.write_bytes(b"something else")
    assert words(lambda: ctx.load(path)) == f"{path} is not a program that parloop saved"
    prog = ctx.compile(kernels.AXPY)
    prog.save(path)
    whole = path.read_bytes()
    damaged = f"program file {path} is damaged: its content does not match its checksum; save the program again"
    for changed in (whole[:-1], whole + b"x", whole[:200] + bytes([whole[200] ^ 1]) + whole[201:], whole[:20]):
        path.write_bytes(changed)
        assert words(lambda: ctx.load(path)) == damaged
    version = pl.__version__.encode()
    path.write_bytes(whole.replace(version, b"9" + version[1:], 1))
    assert words(lambda: ctx.load(path)) == (
        f"program file {path} was saved by parloop 9{pl.__version__[1:]} in format 1, but this is parloop {pl.__version__}, which reads format 1; "
        "compile and save the program again"
    )
    nowhere = tmp_path / "no" / "a.prog"
    assert words(lambda: prog.save(nowhere)) == f"program file {nowhere} could not be saved: folder {nowhere.parent} does not exist"


@pytest.mark.parametrize("name", DEVICES)
def test_a_program_for_another_kind_of_device_is_refused(ctx, name, tmp_path):
    other = open_context(name)
    ctx.compile(kernels.AXPY).save(tmp_path / "a.prog")
    if other.device.kind == ctx.device.kind and (ctx.device.kind != "opencl" or ctx.device.name == other.device.name):
        other.load(tmp_path / "a.prog")
        return
    message = words(lambda: other.load(tmp_path / "a.prog"))
    assert message.startswith(f"program file {tmp_path / 'a.prog'} is for {ctx.device.kind} ")
    assert f", but {other.device.name} is {other.device.kind} " in message
    assert message.endswith("; compile the program for this device")
