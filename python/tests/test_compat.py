"""`python -m parloop.compat`: programs of peers, unchanged."""

import os
import subprocess
import sys
import textwrap

import pytest

# The document that PyGPU introduces itself with, as one script; `fn` is the user's device code.
ROUND_TRIP = """
import ctypes
import numpy
import parloop
from PybindGPU import *

program = parloop.Context(parloop.gpu._device.devices()[0]).compile('''
GPUKERN void add_ten(GPUGLMEM int64_t *x, const int64_t n) {
    VECTORIZE_OVER(i, n)
        x[i] += 10;
    END_VECTORIZE
}''')
def fn(pointer):
    program.add_ten(x=pointer, n=6)
    assert int(pointer) != 0

print(cudaSetDevice(0))
print(cudaGetDevice())
A = numpy.array([1, 2, 3, 4, 5, 6])

da = DeviceArray_int64(A) # Point host_data() to the data pointer in A
da.allocate()             # Allocate memory on the device
da.to_device()            # Copy data to device
fn(da.device_data())      # Apply function to data on device
da.to_host()              # Copy data back into the data pointer in A
print(A, da.last_status(), da.host_data().get())
"""


def run(folder, *arguments):
    """The finished process of `python -m parloop.compat …` in a folder."""
    command = [sys.executable, "-m", "parloop.compat", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.fixture
def script(tmp_path):
    """A function that writes a script and gives its path."""

    def write(text, name="script.py"):
        path = tmp_path / "scripts" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path

    return write


def test_the_documented_round_trip_runs_as_a_script(script, tmp_path):
    done = run(tmp_path, script(ROUND_TRIP))
    assert done.stderr == ""
    assert done.stdout == "<cudaError: code=0>\n(0, <cudaError: code=0>)\n[11 12 13 14 15 16] <cudaError: code=0> 11\n"
    assert done.returncode == 0


def test_the_peers_modules_are_ours(script, tmp_path):
    done = run(tmp_path, script("""
        import PybindGPU, PybindGPU.gpuarray as g, parloop.gpu
        from PybindGPU.backend import dtype, cudaSetDevice
        assert PybindGPU is parloop.gpu and g is parloop.gpu.gpuarray and cudaSetDevice is parloop.gpu.cudaSetDevice
        assert parloop.gpu.__spec__.name == 'parloop.gpu' and g.__name__ == 'parloop.gpu.gpuarray'
        try:
            import PybindGPU.nothing
        except ModuleNotFoundError as error:
            print(error.name)
    """))
    assert (done.stdout, done.stderr, done.returncode) == ("PybindGPU.nothing\n", "", 0)


def test_ours_come_before_an_installed_peer_and_other_names_are_imported_as_ever(script, tmp_path):
    script("raise RuntimeError('the peer itself')", "PybindGPU.py")
    script("raise RuntimeError('the peer itself')", "xobjects.py")
    script("answer = 42", "mine.py")
    done = run(tmp_path, script("import PybindGPU, xobjects, mine; print(PybindGPU.__name__, xobjects.__name__, mine.answer)"))
    assert (done.stdout, done.stderr) == ("parloop.gpu parloop.compat._xobjects 42\n", "")
    done = run(tmp_path, script("import of_nobody"))
    assert "ModuleNotFoundError: No module named 'of_nobody'" in done.stderr


def test_a_script_sees_what_python_itself_would_show_it(script, tmp_path):
    path = script("import sys; print(sys.argv, sys.path[0], __name__, __file__, sys.modules['__main__'].__dict__ is globals())")
    relative = os.path.relpath(path, tmp_path)
    arguments = [relative, "-m", "--help", "a b"]
    plain = subprocess.run([sys.executable, *arguments], cwd=tmp_path, capture_output=True, text=True)
    ours = run(tmp_path, *arguments)
    assert (ours.stdout, ours.stderr, ours.returncode) == (plain.stdout, plain.stderr, 0)


def test_a_module_sees_what_python_itself_would_show_it(script, tmp_path):
    folder = script("import sys; print(sys.argv, sys.path[0], __name__, __package__)", "tool.py").parent
    plain = subprocess.run([sys.executable, "-m", "tool", "-x", "1"], cwd=folder, capture_output=True, text=True)
    ours = run(folder, "-m", "tool", "-x", "1")
    assert (ours.stdout, ours.stderr, ours.returncode) == (plain.stdout, plain.stderr, 0)


@pytest.mark.parametrize(
    "text",
    ["import sys; sys.exit(3)", "import sys; sys.exit('stop')", "def f():\n    return 1 / 0\nf()", "def (", "raise SystemExit"],
)
def test_exit_status_and_traceback_are_those_of_python(script, tmp_path, text):
    path = os.path.relpath(script(text), tmp_path)
    plain = subprocess.run([sys.executable, path], cwd=tmp_path, capture_output=True, text=True)
    ours = run(tmp_path, path)
    assert (ours.returncode, ours.stdout, ours.stderr) == (plain.returncode, plain.stdout, plain.stderr)


def test_a_program_that_is_not_there_is_reported_as_python_does(tmp_path):
    for arguments in (["nothing.py"], ["-m", "nothing_at_all"], ["-m", "nothing.at.all"]):
        ours = run(tmp_path, *arguments)
        assert ours.returncode == (2 if arguments[0] == "nothing.py" else 1)
        assert "nothing" in ours.stderr and "Traceback" not in ours.stderr
    assert run(tmp_path, "-m").returncode == 2


def test_a_test_suite_of_the_peer_runs_under_pytest(script, tmp_path):
    path = script("""
        import numpy
        from PybindGPU.gpuarray import to_gpu

        def test_passes():
            assert to_gpu(numpy.arange(3)).get().tolist() == [0, 1, 2]

        def test_fails():
            assert False
    """, "test_peer.py")
    done = run(path.parent, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_peer.py")
    assert "1 failed, 1 passed" in done.stdout
    assert done.returncode == 1


def test_help_shows_an_example_and_what_is_provided(tmp_path):
    for arguments, status in ((["--help"], 0), (["-h"], 0), ([], 2), (["--colour"], 2)):
        done = run(tmp_path, *arguments)
        assert done.returncode == status
        text = done.stdout if status == 0 else done.stderr
        assert "python -m parloop.compat -m pytest tests/" in text
        assert "import PybindGPU" in text
    assert "unknown option --colour" in run(tmp_path, "--colour").stderr


def test_names_are_chosen(script, tmp_path):
    script("answer = 42", "loopy.py")
    path = script("""
        import loopy, xobjects, parloop.compat
        print(loopy.answer, xobjects.__name__, sorted(parloop.compat.installed()))
    """)
    for arguments in (["--only", "PybindGPU,xobjects"], ["--only=xobjects,PybindGPU"]):
        done = run(tmp_path, *arguments, path)
        assert (done.stdout, done.stderr) == ("42 parloop.compat._xobjects ['PybindGPU', 'xobjects']\n", "")
    assert "--only needs the names that are to be replaced" in run(tmp_path, "--only").stderr
    done = run(tmp_path, "--only", "sympy", path)
    assert done.returncode == 2 and "parloop.compat does not provide 'sympy'; it provides PybindGPU, loopy, " in done.stderr


def test_a_program_replaces_names_itself_before_they_are_imported(script, tmp_path):
    script("answer = 42", "xobjects.py")
    path = script("""
        import sys
        import parloop.compat
        assert parloop.compat.installed() == {}
        parloop.compat.install("pybindgpu")
        parloop.compat.install("pybindgpu")
        import PybindGPU, xobjects
        print(PybindGPU.__name__, xobjects.answer, list(parloop.compat.installed()))
        try:
            parloop.compat.install("xobjects")
        except ImportError as error:
            print(error)
    """)
    done = subprocess.run([sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    first, second = done.stdout.splitlines()
    assert first == "parloop.gpu 42 ['PybindGPU']"
    assert second == f"xobjects was imported from {path.parent}/xobjects.py before; call parloop.compat.install('xobjects') first"


def test_nothing_is_replaced_where_a_peer_was_imported_before(script, tmp_path):
    script("", "PybindGPU.py")
    path = script("""
        import PybindGPU
        import parloop.compat
        for names in ((), ("pybindgpu",), ("xobjects", "PybindGPU")):
            try:
                parloop.compat.install(*names)
            except ImportError as error:
                print(error)
        assert parloop.compat.installed() == {}
        parloop.compat.install("xobjects")
        import xobjects
        print(xobjects.__name__)
    """)
    done = subprocess.run([sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    found = f"PybindGPU was imported from {path.parent}/PybindGPU.py before; call parloop.compat.install"
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        f"{found}() first, or give it the names that are to be replaced",
        f"{found}('pybindgpu') first",
        f"{found}('xobjects', 'PybindGPU') first",
        "parloop.compat._xobjects",
    ]


def test_a_peer_that_was_imported_before_the_program_is_reported(script, tmp_path):
    folder = script("", "PybindGPU.py").parent
    script("import PybindGPU", "sitecustomize.py")
    command = [sys.executable, "-m", "parloop.compat", str(script("print('run')"))]
    search = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": search}, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"parloop.compat: PybindGPU was imported from {folder}/PybindGPU.py before; ")


def test_the_doctor_says_which_names_are_replaced(tmp_path):
    line = "drop-ins         PybindGPU, loopy, "
    plain = subprocess.run([sys.executable, "-m", "parloop", "doctor"], capture_output=True, text=True, timeout=120).stdout
    assert line in plain and "replaced in this process: none\n" in plain
    assert "replaced in this process: xobjects\n" in run(tmp_path, "--only", "xobjects", "-m", "parloop", "doctor").stdout
