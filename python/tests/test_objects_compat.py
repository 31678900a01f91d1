"""Programs written for xobjects, run by `python -m parloop.compat`."""

import subprocess
import sys
import textwrap

import pytest


@pytest.fixture
def run(tmp_path):
    """Runs a script with our modules in place of xobjects, in a folder of its own; gives what it printed."""

    def run(text, *arguments, env=None):
        path = tmp_path / "script.py"
        path.write_text(textwrap.dedent(text))
        command = [sys.executable, "-m", "parloop.compat", str(path), *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, env=env)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_a_program_with_a_kernel_runs_on_every_context(run):
    printed = run("""
        import numpy as np
        import xobjects as xo

        class Multipole(xo.Struct):
            order = xo.Int64
            knl = xo.Float64[:]

        source = '''
        /*gpukern*/ void kick(Multipole el, /*gpuglmem*/ const double* x, /*gpuglmem*/ double* out, const int64_t n) {
            for (int64_t i = 0; i < n; i++) { //vectorize_over i n
                double sum = 0;
                for (int64_t k = 0; k < Multipole_len_knl(el); k++) sum += Multipole_get_knl(el, k) * x[i];
                out[i] = sum;
            } //end_vectorize
        }
        '''
        for context in (xo.ContextCpu(), xo.ContextCpu(omp_num_threads=2), xo.ContextPyopencl()):
            context.add_kernels(
                sources=[source],
                kernels={"kick": xo.Kernel(
                    args=[xo.Arg(Multipole, name="el"), xo.Arg(xo.Float64, pointer=True, const=True, name="x"),
                          xo.Arg(xo.Float64, pointer=True, name="out"), xo.Arg(xo.Int64, name="n")],
                    n_threads="n")},
            )
            m = Multipole(order=1, knl=[1, 2], _context=context)
            x, out = context.nparray_to_context_array(np.arange(3.0)), context.zeros(3)
            context.kernels.kick(el=m, x=x, out=out, n=3)
            context.synchronize()
            print(str(context), context.nparray_from_context_array(out).tolist(), m.knl.to_nparray().tolist())
    """)
    lines = printed.splitlines()
    assert lines[0] == "ContextCpu [0.0, 3.0, 6.0] [1.0, 2.0]" and lines[1] == "ContextCpu:2 [0.0, 3.0, 6.0] [1.0, 2.0]"
    assert lines[2].startswith("ContextPyopencl:") and lines[2].endswith(" [0.0, 3.0, 6.0] [1.0, 2.0]")


def test_a_program_with_buffers_hybrids_and_unions_runs(run):
    printed = run("""
        import json
        import numpy as np
        import xobjects as xo
        from xobjects.context import Chunk, get_context_from_string
        from xobjects.typeutils import get_a_buffer, allocate_on_buffer
        from xobjects.array import get_c_strides, get_f_strides

        class Element(xo.HybridClass):
            _xofields = {"k": xo.Float64[:], "n": xo.Int64}

        e = Element(k=[1, 2], n=3)
        e.k[0] = 5
        print(json.dumps(e.to_dict(), cls=xo.JEncoder), Element.from_dict(e.to_dict()).n)

        buffer = get_a_buffer()
        assert buffer.context is xo.context_default and buffer.capacity == 1048576
        buffer, offset = allocate_on_buffer(100, buffer=get_a_buffer(size=200))
        buffer.free(offset, 100)
        print(offset, buffer.get_free(), get_c_strides((2, 3), 8), get_f_strides((2, 3), 8), Chunk(1, 3).size)

        class A(xo.Struct):
            a = xo.Int64
        class U(xo.UnionRef):
            _reftypes = A, xo.String[:]
        u = U[:]([A(a=1), None, ("ArrNString", ["x"])])
        print(u[0].a, u[1], list(u[2]), str(get_context_from_string("ContextCpu:2")))
        xo.assert_allclose(np.ones(2), np.ones(2) + 1e-9, atol=1e-8)
    """)
    assert printed.splitlines() == [
        '{"__class__": "Element", "k": [5.0, 2.0], "n": 3} 3',
        "0 200 (24, 8) (8, 16) 2",
        "1 None ['x'] ContextCpu:2",
    ]


def test_what_xobjects_got_wrong_is_right(run):
    printed = run("""
        import numpy as np
        import xobjects as xo

        class S(xo.Struct):
            text = xo.String
            n = xo.Int64

        s = S(text="abc", n=7)
        for call in (lambda: setattr(s, "text", "x" * 100), lambda: S(text="", m=1)):
            try:
                call()
            except (ValueError, TypeError) as error:
                print(error)
        print(s.n)

        a = np.arange(6.0).reshape(2, 3)
        print(xo.Float64[:1, :0](a).to_nparray().tolist())

        context = xo.ContextCpu()
        context.add_kernels(sources=["void f(double *x) { x[0] = 1; }"], kernels={"f": xo.Kernel(args=[xo.Arg(xo.Float64, pointer=True, name="x")])})
        fixed = np.zeros(3); fixed.flags.writeable = False
        for bad in (np.zeros(3, "f4"), fixed, np.zeros(6)[::2]):
            try:
                context.kernels.f(x=bad)
            except (TypeError, ValueError) as error:
                print(type(error).__name__)
    """)
    assert printed.splitlines() == [
        "S.text: text of 100 bytes does not fit into a string with room for 7; its size is fixed at creation",
        "S has no field `m`; its fields are text, n",
        "7",
        "[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]",
        "ArgumentError",
        "ArgumentValueError",
        "ArgumentValueError",
    ]


def test_objects_take_any_attribute(run):
    printed = run("""
        import xobjects as xo

        class Plain(xo.Struct):
            length = xo.Float64

        class Dressed(xo.HybridClass):
            _xofields = {"length": xo.Float64}

        for made in (Plain(length=1), Dressed(length=1), Dressed(length=1)._xobject):
            made.lenght = 3
            object.__setattr__(made, "legth", 4)
            print(made.length, made.lenght, made.legth, isinstance(made, (xo.Struct, xo.HybridClass)))
    """)
    assert printed == "1.0 3 4 True\n" * 3
