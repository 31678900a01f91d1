"""PyOP2's side of ``benches/mesh.py``: the same loops, measured in the same run where PyOP2 can be imported.

PyOP2 0.12 (October 2024) needs PETSc and a loopy of its time. On Debian 12, in a checkout of PyOP2::

    apt-get install --no-install-recommends python3-venv python3-dev cython3 python3-mpi4py python3-petsc4py-real python3-petsc4py \\
        libpetsc-real-dev libopenmpi-dev openmpi-bin
    /usr/bin/python3 -m venv --system-site-packages env
    env/bin/pip install 'numpy<2' loopy==2024.1 pymbolic==2022.2 pytools==2024.1.5 'islpy<2025' 'decorator<5' cachetools packaging \\
        'setuptools<70' wheel
    export PETSC_DIR=$(/usr/bin/python3 -c 'import petsc4py; print(petsc4py.get_config()["PETSC_DIR"])')
    env/bin/pip install --no-build-isolation --no-deps .

``PYOP2_PYTHON=env/bin/python make bench`` then measures both, as ``env/bin/python benches/mesh.py`` does with ``PYTHONPATH`` set to the folder
``python`` in which parloop was built.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from types import ModuleType

import numpy as np

Call = Callable[[], object]

# PyOP2 packs what a map leads to side by side.
LUMP = """
static void lump(double *area, const double *x) {
    double a = 0.5 * fabs((x[2] - x[0]) * (x[5] - x[1]) - (x[4] - x[0]) * (x[3] - x[1])) / 3.0;
    for (int i = 0; i < 3; i++) area[i] += a;
}"""


def load() -> ModuleType | None:
    """PyOP2's module ``op2``, or None where it cannot be imported."""
    if importlib.util.find_spec("pyop2") is None:
        return None
    try:
        with warnings.catch_warnings():
            # loopy says that its caches on disk are slow and safe.
            warnings.simplefilter("ignore")
            import petsc4py

            # Without it PyOP2 reads a file of petsc4py six times in each loop, which makes calls three to five times as long. Processes inherit it.
            os.environ.setdefault("PETSC_DIR", petsc4py.get_config()["PETSC_DIR"])
            from pyop2 import op2
    except ImportError as missing:
        print("PyOP2 did not run:", missing)
        return None
    print(f"PyOP2 beside it, with loopy {importlib.metadata.version('loopy')} and PETSc {petsc4py.__version__}")
    return op2


def tiny_calls(op2: ModuleType) -> dict[str, Call]:
    """Calls on a set of ten elements, by the names that ``mesh.py`` gives its own."""
    points, pairs = op2.Set(10, "points"), op2.Set(10, "pairs")
    ends = op2.Map(pairs, points, 2, np.stack([np.arange(10), (np.arange(10) + 1) % 10], axis=1).astype(np.int32), "ends")
    a, b, c = (op2.Dat(points, np.ones(10), np.float64, name=name) for name in "abc")
    d = op2.Dat(pairs, np.arange(10.0), np.float64, name="d")
    total = op2.Global(1, 0.0, name="total", comm=op2.MPI.COMM_WORLD)
    twice = op2.Kernel("static void twice(double *b, const double *a) { b[0] = 2 * a[0]; }", "twice")
    spread = op2.Kernel("static void spread(double *c, const double *d) { c[0] += d[0]; c[1] -= d[0]; }", "spread")
    add_up = op2.Kernel("static void add_up(double *s, const double *a) { s[0] += a[0]; }", "add_up")

    def add() -> None:
        nonlocal b
        b += a

    calls = {
        "par_loop, direct": lambda: op2.par_loop(twice, points, b(op2.WRITE), a(op2.READ)),
        "built ParLoop, direct": op2.ParLoop(twice, points, b(op2.WRITE), a(op2.READ)),
        "par_loop, indirect": lambda: op2.par_loop(spread, pairs, c(op2.INC, ends), d(op2.READ)),
        "built ParLoop, indirect": op2.ParLoop(spread, pairs, c(op2.INC, ends), d(op2.READ)),
        "par_loop, reduction": lambda: op2.par_loop(add_up, points, total(op2.INC), a(op2.READ)),
        "built ParLoop, reduction": op2.ParLoop(add_up, points, total(op2.INC), a(op2.READ)),
        "Dat +=": add,
        "inner": lambda: a.inner(b),
    }
    for call in calls.values():
        call()
    expected = 1 + 2 * np.array([-9.0, *[1.0] * 9])
    assert (b.data_ro == 3).all() and (c.data_ro == expected).all() and total.data[0] == 20, (b.data_ro, c.data_ro, total.data)
    assert a.inner(b) == 30
    return calls


def lump(op2: ModuleType, numbering: np.ndarray, at: np.ndarray) -> Call:
    """The increment over triangles as a built loop."""
    cells, nodes = op2.Set(len(numbering), "cells"), op2.Set(len(at), "nodes")
    cell_nodes = op2.Map(cells, nodes, 3, numbering, "cell_nodes")
    lumped, coordinates = op2.Dat(nodes, dtype=np.float64), op2.Dat(nodes**2, at)
    loop = op2.ParLoop(op2.Kernel(LUMP, "lump"), cells, lumped(op2.INC, cell_nodes), coordinates(op2.READ, cell_nodes))
    loop()
    assert abs(lumped.data_ro.sum() - 2.0) < 1e-9, lumped.data_ro.sum()
    return loop


# Prints milliseconds: the import, then the first run of each of two kernels. The seed makes their source another one.
PROCESS = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np

def since(start):
    return (time.perf_counter() - start) * 1e3

module, seed = sys.argv[1], int(sys.argv[2])
start = time.perf_counter()
if module == "parloop":
    import parloop.mesh as op2
else:
    from pyop2 import op2
times = [since(start)]
pairs, points = op2.Set(10, "pairs"), op2.Set(10, "points")
ends = op2.Map(pairs, points, 2, np.stack([np.arange(10), (np.arange(10) + 1) % 10], axis=1).astype(np.int32), "ends")
for factor in (seed, seed + 1):
    a, c = op2.Dat(points, np.ones(10), np.float64, name="a"), op2.Dat(points, np.zeros(10), np.float64, name="c")
    start = time.perf_counter()
    kernel = op2.Kernel(
        "static void spread(double *c, const double *a) { for (int i = 0; i < 2; i++) c[i] += %d.0 * a[i]; }" % factor, "spread"
    )
    op2.par_loop(kernel, pairs, c(op2.INC, ends), a(op2.READ, ends))
    times.append(since(start))
    assert (c.data_ro == 2 * factor).all(), c.data_ro
print(json.dumps(times))
"""


def in_new_processes(modules: list[str], runs: int = 9) -> dict[str, list[float]]:
    """Milliseconds for each module, measured in turns in processes of their own; medians.

    The import; the first loop, of a source that no process has seen; the next such loop; the first loop of a source that another
    process has compiled.
    """
    samples: dict[str, list[list[float]]] = {module: [] for module in modules}
    with tempfile.TemporaryDirectory() as folder:
        caches = ("PYTHONPYCACHEPREFIX", "PARLOOP_CACHE_DIR", "PYOP2_CACHE_DIR", "XDG_CACHE_HOME")
        environment = os.environ | {name: os.path.join(folder, name.lower()) for name in caches} | {"PARLOOP_DEVICE": "cpu"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)

        def process(module: str, seed: int) -> list[float]:
            command = [sys.executable, "-c", PROCESS, module, str(seed)]
            return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment).stdout)

        for run in range(runs + 1):
            for module in modules:
                seed = 2 * run + 3
                samples[module].append([*process(module, seed), process(module, seed)[1]])
    # The first run compiles the modules of Python.
    return {module: [statistics.median(times) for times in zip(*rows[1:])] for module, rows in samples.items()}
