"""Programs written for loopy, run by `python -m parloop.compat`."""

import importlib.util
import subprocess
import sys
import textwrap

import pytest


@pytest.fixture
def run(tmp_path):
    """Runs a script with our modules in place of loopy; gives what it printed."""

    def run(text):
        path = tmp_path / "script.py"
        path.write_text(textwrap.dedent(text))
        command = [sys.executable, "-m", "parloop.compat", str(path)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_a_program_for_the_c_target_runs(run):
    printed = run("""
        import numpy as np
        import loopy as lp
        from loopy.target.c import ExecutableCTarget
        from loopy.version import LOOPY_USE_LANGUAGE_VERSION_2018_2

        knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]", target=ExecutableCTarget())
        knl = lp.split_iname(knl, "i", 4)
        event, (out,) = knl(a=np.arange(6.0))
        print(out.tolist(), isinstance(knl.target, ExecutableCTarget))
    """)
    assert printed == "[0.0, 2.0, 4.0, 6.0, 8.0, 10.0] True\n"


def test_code_is_for_opencl_unless_another_target_is_said(run):
    printed = run("""
        import numpy as np
        import loopy as lp

        knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]", [lp.GlobalArg("a,out", np.float32), "..."])
        print("__kernel" in lp.generate_code_v2(knl).device_code())
    """)
    assert printed == "True\n"


def test_errors_have_loopys_names(run):
    printed = run("""
        import numpy as np
        import loopy as lp
        from loopy.diagnostic import LoopyError, LoopyIndexError

        knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = a[i+1]", [lp.GlobalArg("a,out", np.float32, shape="n"), "..."])
        try:
            lp.generate_code_v2(knl)
        except LoopyIndexError as error:
            print(isinstance(error, LoopyError))
    """)
    assert printed == "True\n"


@pytest.mark.skipif(importlib.util.find_spec("pymbolic") is None, reason="pymbolic is not installed")
def test_expressions_are_pymbolics(run):
    printed = run("""
        import numpy as np
        import loopy as lp
        import pymbolic.primitives as p
        from loopy.symbolic import parse

        i = p.Variable("i")
        knl = lp.make_kernel("{[i]: 0<=i<n}", [lp.Assignment("out[i]", lp.TypeCast(np.float32, p.Variable("a")[i] + 1) * 2)])
        print(knl.default_entrypoint.instructions[0].expression)
        print(parse("sum(j, a[j])").inames, parse("a[i] + 3") == p.Variable("a")[i] + 3)
    """)
    assert printed == "cast(float32, a[i] + 1)*2\n('j',) True\n"


def test_a_callable_of_the_first_convention_writes_its_own_call(run):
    printed = run("""
        import numpy as np
        import loopy as lp
        from loopy.expression import dtype_to_type_context
        from loopy.kernel.instruction import CallInstruction
        from loopy.target.c import CTarget
        from loopy.types import NumpyType

        class Scale(lp.ScalarCallable):
            def with_types(self, arg_id_to_dtype, kernel):
                if arg_id_to_dtype.get(0) is None:
                    return self.copy(arg_id_to_dtype=arg_id_to_dtype)
                double = NumpyType(np.float64)
                return self.copy(name_in_target="scale_all", arg_id_to_dtype={0: double, -1: double})

            def emit_call_insn(self, insn, target, expression_to_code_mapper):
                assert self.is_ready_for_codegen() and isinstance(insn, CallInstruction)
                letter = dtype_to_type_context(target, self.arg_id_to_dtype[0])
                places = [*insn.expression.parameters, insn.assignees[0]]
                code = [expression_to_code_mapper(place, 0, letter, self.arg_id_to_dtype[0]).expr for place in places]
                return f"scale_all({self.arg_id_to_descr[0].shape[0]}, {', '.join(code)})", False

        knl = lp.make_kernel("{[i]: 0<=i<10}", "y[:] = scale(x[:])",
                             [lp.ArrayArg("x", np.float64, shape=(10,)), lp.ArrayArg("y", shape=(10,)), ...], target=CTarget())
        knl = lp.register_function_lookup(knl, lambda target, name: Scale(name=name) if name == "scale" else None)
        print(lp.generate_code_v2(knl).device_code())
    """)
    assert "scale_all(10, x, y);" in printed


def test_a_query_that_matches_nothing_leaves_the_kernel_as_it_is(run):
    # Programs written for loopy apply one list of transformations to many kernels.
    printed = run("""
        import loopy as lp
        knl = lp.make_kernel("{[i]: 0<=i<n}", "b[i] = 2*a[i] {id=first}")
        knl = lp.split_iname(knl, "i", 4, within="id:second")
        print(sorted(knl.default_entrypoint.all_inames()))
    """)
    assert printed == "['i']\n"
