"""Programs that several processes run, under every mpirun that is installed."""

import os
import pathlib
import shutil
import subprocess
import sys
import textwrap

import parloop as pl
from conftest import missing

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
#: A library with the interface of MPI 5, in a folder of its own: mpi4py would take it for the one of another launcher.
STANDARD = pathlib.Path(sys.prefix, "mpi5")
LAUNCHERS = {
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"],
    "mpich": ["mpirun.mpich"],
    "standard": [str(STANDARD / "bin" / "mpiexec")],
}
#: Both libraries, with two and with three processes.
EVERY = [("openmpi", 2), ("openmpi", 3), ("mpich", 2), ("mpich", 3)]

HEAD = """
import sys
import numpy as np
import parloop as pl, parloop.mesh as op2
from parloop.mesh import READ, WRITE, RW, INC, MIN, MAX
world = op2.Comm.world()
rank, size = world.rank, world.size

def kernel(text):
    return op2.Kernel(text, text.split("(")[0].split()[-1])
"""


def mpirun(launcher, ranks, program, tmp_path, **environment):
    """The status of processes that run a program, and all that they wrote."""
    if shutil.which(LAUNCHERS[launcher][0]) is None:
        missing(f"{LAUNCHERS[launcher][0]} (bash scripts/drivers.sh, make test-python)")
    path = tmp_path / "program.py"
    path.write_text(HEAD + textwrap.dedent(program))
    command = [*LAUNCHERS[launcher], "-n", str(ranks), sys.executable, str(path)]
    folders = [str(pathlib.Path(pl.__file__).parents[1]), str(EXAMPLES)]
    if launcher == "standard":
        environment["PARLOOP_MPI"] = str(STANDARD / "lib" / "libmpi_abi.so.1")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders), "PARLOOP_DEVICE": "cpu:1", **environment}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


def passes(launcher, ranks, program, tmp_path, **environment):
    """Runs a program whose processes all must come to its end."""
    end = f"\nopen({str(tmp_path / 'done')!r} + str(rank), 'w').close()\n"
    status, text = mpirun(launcher, ranks, textwrap.dedent(program) + end, tmp_path, **environment)
    assert status == 0 and all((tmp_path / f"done{rank}").exists() for rank in range(ranks)), text
