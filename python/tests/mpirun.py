"""Programs that several processes run, under every mpirun that is installed."""

import contextlib
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time

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


def command(launcher, ranks):
    """The beginning of a command that starts processes."""
    if shutil.which(LAUNCHERS[launcher][0]) is None:
        missing(f"{LAUNCHERS[launcher][0]} (bash scripts/drivers.sh, make test-python)")
    return [*LAUNCHERS[launcher], "-n", str(ranks), sys.executable]


def surroundings(launcher, variables):
    """The environment of processes."""
    folders = [str(pathlib.Path(pl.__file__).parents[1]), str(EXAMPLES)]
    if launcher == "standard":
        variables = {"PARLOOP_MPI": str(STANDARD / "lib" / "libmpi_abi.so.1"), **variables}
    return {**os.environ, "PYTHONPATH": os.pathsep.join(folders), "PARLOOP_DEVICE": "cpu:1", **variables}


def mpirun(launcher, ranks, program, tmp_path, **variables):
    """The status of processes that run a program, and all that they wrote."""
    path = tmp_path / "program.py"
    path.write_text(HEAD + textwrap.dedent(program))
    environment = surroundings(launcher, variables)
    done = subprocess.run(
        [*command(launcher, ranks), str(path)], env=environment, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL
    )
    return done.returncode, done.stdout + done.stderr


class Processes:
    """Processes that are started together and run one program after another: starting them takes most of the time of small programs."""

    #: Those that wait for programs, by launcher, number and environment.
    waiting = {}

    def __init__(self, launcher, ranks, variables):
        self.folder = tempfile.TemporaryDirectory(prefix="parloop-mpirun-")
        self.said = pathlib.Path(self.folder.name, "said")
        address = str(pathlib.Path(self.folder.name, "socket"))
        with socket.socket(socket.AF_UNIX) as door, self.said.open("w") as said:
            door.bind(address)
            door.listen(ranks)
            door.settimeout(60)
            program = str(pathlib.Path(__file__).with_name("mpirun_process.py"))
            self.launcher = subprocess.Popen(
                [*command(launcher, ranks), program, address],
                env=surroundings(launcher, variables), stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True,
            )
            self.lines, self.processes = [], []
            try:
                for _ in range(ranks):
                    self.lines.append(door.accept()[0])
                self.answers = {line: line.makefile() for line in self.lines}
                self.ranks = {}
                for line, answers in self.answers.items():
                    rank, process = map(int, answers.readline().split())
                    self.ranks[line] = rank
                    self.processes.append(os.pidfd_open(process))
            except (OSError, ValueError):
                self.end()
                raise AssertionError(f"processes did not start: {self.written(0)}") from None
            except BaseException:
                self.end()
                raise

    def run(self, path):
        """What went wrong on any process. After a failure the others may wait for it: all are ended."""
        begin = self.said.stat().st_size
        try:
            wrong = self.wrong(path)
        except BaseException:
            self.end()
            raise
        if wrong:
            self.end()
            wrong.append(self.written(begin))
        return "\n".join(wrong)

    def wrong(self, path):
        for line in self.lines:
            line.sendall(f"{path}\n".encode())
        left, wrong = dict(self.ranks), []
        end = time.monotonic() + 300
        while left and (ready := select.select(list(left), [], [], max(0, end - time.monotonic()))[0]):
            for line in ready:
                try:
                    answer = self.answers[line].readline()
                except ConnectionResetError:
                    answer = ""
                rank = left.pop(line)
                if (said := json.loads(answer) if answer else "the process ended") != "":
                    wrong.append(f"rank {rank}: {said}")
                    end = min(end, time.monotonic() + 2)
        if left:
            wrong.append(f"ranks {sorted(left.values())} did not come to an end")
        return wrong

    def written(self, begin):
        """What the processes wrote from this byte on."""
        return self.said.read_bytes()[begin:].decode(errors="replace")

    def is_over(self):
        """Whether a process ended between two programs."""
        return self.launcher.poll() is not None or bool(select.select(self.lines, [], [], 0)[0])

    def end(self, patience=0):
        """Ends all of them; with patience, in seconds, they may end by themselves first, and else are killed: launchers put them in groups of their own."""
        for line in self.lines:
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
        try:
            self.launcher.wait(patience)
        except subprocess.TimeoutExpired:
            self.launcher.terminate()
            try:
                self.launcher.wait(5)
            except subprocess.TimeoutExpired:
                os.killpg(self.launcher.pid, signal.SIGKILL)
                self.launcher.wait()
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(process, signal.SIGKILL)
            os.close(process)

    @classmethod
    def end_all(cls):
        while cls.waiting:
            cls.waiting.popitem()[1].end(patience=10)


def passes(launcher, ranks, program, tmp_path, alone=False, **variables):
    """Runs a program whose processes all must come to its end; `alone` in processes of its own, so that they also end well."""
    program = textwrap.dedent(program) + f"\nopen({str(tmp_path / 'done')!r} + str(rank), 'w').close()\n"
    if alone:
        status, said = mpirun(launcher, ranks, program, tmp_path, **variables)
        wrong = "" if status == 0 else said
    else:
        path = tmp_path / "program.py"
        path.write_text(HEAD + program)
        key = launcher, ranks, *sorted(variables.items())
        processes = Processes.waiting.pop(key, None)
        if processes is not None and processes.is_over():
            processes.end()
            processes = None
        processes = processes or Processes(launcher, ranks, variables)
        wrong = processes.run(path)
        if wrong == "":
            Processes.waiting[key] = processes
    assert wrong == "" and all((tmp_path / f"done{rank}").exists() for rank in range(ranks)), wrong
