"""Programs in processes that are shared see nothing of earlier ones, and what goes wrong in one ends all."""

import os
import signal
import time

import pytest
from mpirun import passes

LAUNCHERS = pytest.mark.parametrize("launcher", ["openmpi", "mpich"])


def started(launcher, tmp_path):
    """The processes that run the next program."""
    passes(launcher, 2, f"import os\nopen({str(tmp_path / 'id')!r} + str(rank), 'w').write(str(os.getpid()))", tmp_path)
    return [int((tmp_path / f"id{rank}").read_text()) for rank in range(2)]


def runs(process):
    """Whether a process or one of its threads does."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().split(") ")[1][0] != "Z" or len(os.listdir(f"/proc/{process}/task")) > 1
    except FileNotFoundError:
        return False


@LAUNCHERS
def test_what_a_program_sets_is_put_back(launcher, tmp_path):
    processes = started(launcher, tmp_path)
    passes(launcher, 2, """
        import os, sys
        os.environ["PARLOOP_MPI_INC"] = "sometimes"
        del os.environ["HOME"]
        sys.path.insert(0, "/nowhere")
        os.chdir("/")
        """, tmp_path)
    passes(launcher, 2, f"""
        import os, sys
        assert "PARLOOP_MPI_INC" not in os.environ and "HOME" in os.environ
        assert "/nowhere" not in sys.path and os.getcwd() == {os.getcwd()!r}
        """, tmp_path)
    # A child that ends as its parent would answers nothing.
    passes(launcher, 2, "import os\nif os.fork() == 0: raise SystemExit\nos.wait()", tmp_path)
    assert started(launcher, tmp_path) == processes


@LAUNCHERS
def test_a_failure_says_what_its_program_wrote_and_ends_all_processes(launcher, tmp_path):
    passes(launcher, 2, "print('earlier')", tmp_path)
    processes = started(launcher, tmp_path)
    with pytest.raises(AssertionError) as failure:
        passes(launcher, 2, r"sys.stdout.buffer.write(b'now \xff'); assert rank == 1; import time; time.sleep(100)", tmp_path)
    assert "rank 0: Traceback" in str(failure.value) and "now" in str(failure.value) and "earlier" not in str(failure.value)
    assert "ranks [1] did not come to an end" in str(failure.value)
    assert not any(map(runs, processes))


@LAUNCHERS
def test_processes_that_ended_between_two_programs_are_started_again(launcher, tmp_path):
    processes = started(launcher, tmp_path)
    os.kill(processes[1], signal.SIGKILL)
    end = time.monotonic() + 10
    while runs(processes[1]) and time.monotonic() < end:
        time.sleep(0.02)
    assert not set(started(launcher, tmp_path)) & set(processes)
