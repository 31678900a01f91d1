"""What kernels can call: functions of the target, other kernels, BLAS: ``python examples/04_callables.py``."""

import glob

import numpy as np
import parloop as pl
import parloop.loops as lp

# The name `sin` is one function; each argument type gets its own entry.
knl = lp.make_kernel("{[i]: 0<=i<n}", "y[i] = sin(x[i])\nv[i] = sin(u[i])")
assert "sin" in knl.scoped_functions
knl = lp.add_dtypes(knl, {"x": np.float64, "u": np.float32})
code = knl.code("c")
assert "sin(x[i])" in code and "sinf(u[i])" in code
x = np.linspace(0, 1, 8)
_, (v, y) = knl(x=x, u=x.astype(np.float32))
assert y.dtype == np.float64 and v.dtype == np.float32 and np.allclose(y, np.sin(x))
print("sin is called as sin and as sinf")

# Called or inlined, a kernel gives the same numbers.
centre = lp.make_function("{[i,j]: 0<=i,j<4}", "<> mean = sum(i, a[i])/4\nb[j] = a[j] - mean", name="centre")
rows = lp.make_kernel(
    "{[r]: 0<=r<n}", "y[r, :] = centre(x[r, :])", [lp.GlobalArg("x,y", np.float64, shape="n,4"), ...], name="rows"
)
called = lp.merge([rows, centre])
inlined = lp.inline_callable_kernel(called, "centre")
x = np.arange(12.0).reshape(3, 4) ** 2
for device in pl.devices():
    ctx = pl.Context(device.name)
    for program in called, inlined:
        y = ctx.zeros((3, 4))
        program(ctx, x=ctx.array(x), y=y)
        assert np.allclose(y.numpy(), x - x.mean(axis=1, keepdims=True)), device
    print(f"{device.name}: centred rows are the same, called and inlined")


class Gemv(lp.ScalarCallable):
    """A matrix times a vector by BLAS: which function for which types, and how it is called for which layouts."""

    def with_types(self, arg_id_to_dtype, clbl_inf_ctx):
        if not {0, 1} <= arg_id_to_dtype.keys():
            return self.copy(arg_id_to_dtype=arg_id_to_dtype), clbl_inf_ctx
        matrix, vector = (arg_id_to_dtype[place].numpy_dtype for place in (0, 1))
        names = {np.dtype(np.float32): "cblas_sgemv", np.dtype(np.float64): "cblas_dgemv"}
        if matrix != vector or vector not in names:
            raise TypeError(f"gemv takes float32 or float64 for both, not {matrix} and {vector}")
        dtype = lp.NumpyType(vector)
        return self.copy(name_in_target=names[vector], arg_id_to_dtype={0: dtype, 1: dtype, -1: dtype}), clbl_inf_ctx

    def emit_call_insn(self, insn, target, expression_to_code_mapper):
        (matrix, vector), result = insn.expression.parameters, insn.assignees[0]
        rows, columns = self.arg_id_to_descr[0].shape
        order = "CblasRowMajor, CblasNoTrans"
        call = f"{self.name_in_target}({order}, {rows}, {columns}, 1, {matrix}, {columns}, {vector}, 1, 0, {result}, 1)"
        return call, False  # BLAS writes the result; it returns nothing

    def generate_preambles(self, target):
        yield "99_cblas", "#include <cblas.h>"


def blas(target, identifier):
    """The look-up: what the name means."""
    return Gemv("gemv") if identifier == "gemv" else None


if glob.glob("/usr/include/cblas.h") + glob.glob("/usr/include/*/cblas.h"):
    data = [lp.GlobalArg("a", np.float64, shape="n,m"), lp.GlobalArg("x", np.float64, shape="m"), lp.GlobalArg("y", shape="n"), ...]
    knl = lp.make_kernel("{:}", "y[:] = gemv(a[:, :], x[:])", data, target=lp.CTarget())
    knl = lp.register_function_lookup(knl, blas)
    knl = lp.set_options(knl, build_options=["-lopenblas"])
    a, x = np.arange(6.0).reshape(2, 3), np.array([1.0, 0.0, -1.0])
    _, (y,) = knl(a=a, x=x)
    assert np.array_equal(y, a @ x)
    print(f"BLAS multiplied {y}")
else:
    print("no cblas.h here: apt-get install libopenblas-dev")
