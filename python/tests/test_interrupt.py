"""Ctrl-C while a kernel runs or a device is waited for: the first says what is running, the second abandons it.

Each test is a program of its own. It says when it has come to a point, and is told when to go on, so that nothing depends on time.
"""

import os
import queue
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from conftest import missing

import parloop as pl

#: Nothing takes that long, but the machine may be busy.
PATIENCE = 180

#: The signal by which threads are told to leave a kernel: the last but one of those for real time.
LEAVE = signal.SIGRTMAX - 1

START = '''
import os, signal, sys, threading, time
import numpy as np
import parloop as pl

SOURCE = """
#include <math.h>
GPUKERN void spin(GPUGLMEM double *x, const int64_t n) {
    VECTORIZE_OVER(i, n) ((volatile GPUGLMEM double *)x)[i] = -1; volatile int go = 1; while (go) { } x[i] = 1; END_VECTORIZE
}
GPUKERN void wait_for(GPUGLMEM const double *flag, GPUGLMEM double *x, const int64_t n) {
    VECTORIZE_OVER(i, n) while (((volatile GPUGLMEM const double *)flag)[0] == 0) { } x[i] = i; END_VECTORIZE
}
GPUKERN void twice(GPUGLMEM const double *x, GPUGLMEM double *y, const int64_t n) {
    VECTORIZE_OVER(i, n) y[i] = 2 * x[i]; END_VECTORIZE
}
"""

def say(text):
    print(text, flush=True)

def spin(device):
    """Runs a kernel that never ends, and says so when it runs."""
    x = np.zeros(1000)
    prog = pl.Context(device).compile(SOURCE)
    def look():
        while not x.any():
            time.sleep(0.01)
        say("ready")
    threading.Thread(target=look, daemon=True).start()
    prog.spin(x=x, n=1000)

def is_right(device):
    ctx = pl.Context(device)
    x = np.arange(1_000_000.0)
    y = np.zeros_like(x)
    ctx.compile(SOURCE).twice(x=x, y=y, n=x.size)
    return bool((y == 2 * x).all())

def check():
    assert is_right("cpu:1") and is_right("cpu:2")
    say("right")

def end_when_told():
    # The kernel waits for the flag, which another thread sets.
    flag = np.zeros(1)
    def set_flag():
        sys.stdin.readline()
        flag[0] = 1
    threading.Thread(target=set_flag, daemon=True).start()
    return flag
'''


class Program:
    """A Python program: what it writes, line by line, and its end."""

    def __init__(self, text):
        pipe = subprocess.PIPE
        code = START + textwrap.dedent(text)
        self.process = subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        self.said, self.warned = lines_of(self.process.stdout), lines_of(self.process.stderr)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait()

    def hear(self, expected):
        """The next line is this one, or begins with it."""
        line = self.said.get(timeout=PATIENCE)
        assert line is not None and line.startswith(expected), (line, rest(self.said), rest(self.warned))
        return line

    def warning(self):
        """The next line that is not empty on standard error."""
        while (line := self.warned.get(timeout=PATIENCE)) == "":
            pass
        return line

    def press(self, pid=None):
        os.kill(pid or self.process.pid, signal.SIGINT)

    def press_until(self, lines, pid=None):
        """Presses Ctrl-C until a line comes: what has not run for a moment is not watched yet."""
        # Nor is it where a driver has just set a handler of its own; the next press by a person would be later.
        time.sleep(0.1)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.press(pid)
            try:
                return lines.get(timeout=3)
            except queue.Empty:
                pass
        pytest.fail(f"nothing came: {rest(self.said)} {rest(self.warned)}")

    def press_until_warned(self, pid=None):
        return self.press_until(self.warned, pid) or self.warning()

    def tell(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def wait_until_watched(self):
        """Until something has run so long that the program listens."""
        end = time.monotonic() + PATIENCE
        while not is_caught(self.process.pid, LEAVE):
            assert time.monotonic() < end and self.process.poll() is None, rest(self.warned)
            time.sleep(0.01)

    def ends_well(self):
        assert self.process.wait(timeout=PATIENCE) == 0, rest(self.warned)
        return rest(self.warned)


def lines_of(file):
    lines = queue.Queue()

    def read():
        for line in file:
            lines.put(line.rstrip("\n"))
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    return lines


def rest(lines):
    """The lines that are left when the file ends, or when no more come."""
    found = []
    try:
        while (line := lines.get(timeout=5)) is not None:
            found.append(line)
    except queue.Empty:
        pass
    return found


def is_caught(pid, number):
    with open(f"/proc/{pid}/status") as status:
        return int(re.search(r"SigCgt:\s*(\w+)", status.read())[1], 16) >> (number - 1) & 1 == 1


def running(kernel, device):
    return (
        f"parloop: kernel `{kernel}` is running on {device}. Python sees this Ctrl-C when it ends. Press Ctrl-C again to abandon it: "
        "arrays that it writes may then be incomplete."
    )


def abandoned(kernel, device):
    return f"kernel `{kernel}` on {device} was abandoned by Ctrl-C; arrays that it writes may be incomplete"


@pytest.mark.parametrize("device", ["cpu:1", "cpu:2"])
def test_the_second_ctrl_c_abandons_a_kernel_and_the_process_goes_on(device):
    text = f"""
    for _ in range(2):
        try:
            spin({device!r})
        except KeyboardInterrupt as error:
            say(error)
        check()
    """
    with Program(text) as program:
        program.hear("ready")
        program.wait_until_watched()
        program.press()
        assert program.warning() == running("spin", device)
        program.press()
        assert program.hear("kernel") == abandoned("spin", device)
        program.hear("right")
        program.hear("ready")
        assert program.press_until_warned() == running("spin", device)
        program.press()
        assert program.hear("kernel") == abandoned("spin", device)
        program.hear("right")
        assert program.ends_well() == []


ROUTES = {
    "a bound kernel": """
call = ctx.compile(SOURCE).spin.bind(x=np.zeros(1000), n=1000)
""",
    "a replay": """
prog, x = ctx.compile(SOURCE), ctx.zeros(1000)
with ctx.recording() as call:
    prog.spin(x=x, n=1000)
""",
    "a kernel that is mostly in the C library": """
source = '''
#include <math.h>
GPUKERN void spin(GPUGLMEM double *x, const int64_t n) {
    VECTORIZE_OVER(i, n) volatile double v = 1; while (v > -10) v = sin(v) + cos(v) + exp(sin(v)); x[i] = v; END_VECTORIZE
}'''
call = ctx.compile(source).spin.bind(x=np.zeros(1000), n=1000)
""",
    "a loop kernel": """
import parloop.loops as lp
data = [lp.GlobalArg("out", np.float64, shape="1"), lp.ValueArg("n", np.int64)]
kernel = lp.make_kernel("{[i]: 0<=i<n}", "out[0] = out[0] + sin(1.0*i)", data, name="spin")
call = lambda: kernel(ctx, out=np.zeros(1), n=10**15)
""",
    "a mesh loop": """
import parloop.mesh as op2
cells = op2.Set(1000, "cells")
x = op2.Dat(cells, np.zeros(1000))
kernel = op2.Kernel("void spin(double *x) { volatile int go = 1; while (go) { } x[0] = 1; }", "spin")
def call():
    with ctx:
        op2.par_loop(kernel, cells, x(op2.RW))
""",
}


@pytest.mark.parametrize("device", ["cpu:1", "cpu:2"])
@pytest.mark.parametrize("route", list(ROUTES))
def test_every_way_to_run_a_kernel_can_be_abandoned(route, device):
    call = """
say("ready")
try:
    call()
except KeyboardInterrupt as error:
    say(error)
check()
"""
    with Program(f"ctx = pl.Context({device!r})\n" + ROUTES[route] + call) as program:
        program.hear("ready")
        program.wait_until_watched()
        program.press()
        assert re.match(rf"parloop: kernel `\w*spin\w*` is running on {device}\.", program.warning())
        program.press()
        assert "was abandoned by Ctrl-C" in program.hear("kernel")
        program.hear("right")
        assert program.ends_well() == []


WAITS = ["ctx.synchronize()", "x.numpy()", "x.set(np.ones(1000))", "ctx.record().wait()", "ctx.device.synchronize()"]


@pytest.mark.parametrize("wait", WAITS)
def test_the_second_ctrl_c_ends_a_wait_and_the_device_is_not_used_again(wait):
    try:
        name = pl.Context("opencl").device.name
    except pl.DeviceError as error:
        missing(f"device opencl ({error})")
    text = """
    ctx = pl.Context("opencl")
    x = ctx.zeros(1000)
    prog = ctx.compile(SOURCE)
    say("ready")
    try:
        prog.spin(x=x, n=1000)
        WAIT
    except KeyboardInterrupt as error:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        say(error)
    for use in (ctx.synchronize, x.numpy, ctx.record, lambda: prog.spin(x=x, n=1000), lambda: ctx.zeros(3)):
        try:
            use()
        except pl.errors.AbandonedError as error:
            say(error)
    check()
    del x, prog, ctx
    """
    with Program(text.replace("WAIT", wait)) as program:
        program.hear("ready")
        program.wait_until_watched()
        program.press()
        expected = (
            f"parloop: waiting for {name}, which was last given the kernel `spin`. Python sees this Ctrl-C when it is done. "
            f"Press Ctrl-C again to stop waiting: {name} then cannot be used in this process any more."
        )
        assert program.warning() == expected
        # PoCL's compiler has a handler of its own, which takes ours away for a moment.
        line = program.press_until(program.said)
        ended = f"the wait for {name} was abandoned by Ctrl-C; what it was given may still be running, and it cannot be used in this process any more"
        assert line == ended
        for _ in range(5):
            assert program.hear(name) == (
                f"{name}: a wait for it was abandoned by Ctrl-C, and it cannot be used in this process any more; start another process"
            )
        program.hear("right")
        program.ends_well()


@pytest.mark.parametrize("device", ["cpu:1", "cpu:2"])
def test_after_one_ctrl_c_the_kernel_ends_and_then_python_raises(device):
    text = f"""
    flag, x = end_when_told(), np.zeros(1000)
    prog = pl.Context({device!r}).compile(SOURCE)
    say("ready")
    try:
        prog.wait_for(flag=flag, x=x, n=1000)
        say("not interrupted")
    except KeyboardInterrupt as error:
        say(f"interrupted {{error}}, {{(x == np.arange(1000)).all()}}")
    check()
    """
    with Program(text) as program:
        program.hear("ready")
        program.wait_until_watched()
        program.press()
        assert program.warning() == running("wait_for", device)
        program.tell()
        assert program.hear("interrupted") == "interrupted , True"
        program.hear("right")
        assert program.ends_well() == []


def test_a_handler_of_the_program_still_runs():
    text = """
    signal.signal(signal.SIGINT, lambda number, frame: say(f"handler {number}"))
    flag, x = end_when_told(), np.zeros(10)
    prog = pl.Context("cpu:1").compile(SOURCE)
    say("ready")
    prog.wait_for(flag=flag, x=x, n=10)
    say(f"ended, {x[9]}")
    try:
        spin("cpu:1")
    except KeyboardInterrupt as error:
        say(error)
    """
    with Program(text) as program:
        program.hear("ready")
        program.wait_until_watched()
        program.press()
        assert program.warning() == running("wait_for", "cpu:1")
        program.tell()
        program.hear("handler 2")
        program.hear("ended, 9.0")
        program.hear("ready")
        # What is pressed before the kernel has run for a moment is the program's alone.
        assert program.press_until_warned() == running("spin", "cpu:1")
        program.press()
        found = [program.hear("")]
        while not found[-1].startswith("kernel"):
            found.append(program.hear(""))
        assert found[-1] == abandoned("spin", "cpu:1") and set(found[:-1]) == {"handler 2"}
        assert program.ends_well() == []


def test_a_handler_that_was_set_again_is_found():
    """As notebooks and event loops set it before each of their calls."""
    text = """
    for _ in range(3):
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            spin("cpu:1")
        except KeyboardInterrupt as error:
            say(error)
    """
    with Program(text) as program:
        for _ in range(3):
            program.hear("ready")
            program.wait_until_watched()
            assert program.press_until_warned() == running("spin", "cpu:1")
            program.press()
            assert program.hear("kernel") == abandoned("spin", "cpu:1")
        assert program.ends_well() == []


IDLE = """
flag, x = end_when_told(), np.zeros(10)
prog = pl.Context("cpu:2").compile(SOURCE)
say("ready")
prog.wait_for(flag=flag, x=x, n=10)

def be_idle():
    try:
        say(f"idle {os.getpid()}")
        while True:
            signal.pause()
    except KeyboardInterrupt as error:
        say(f"interrupted {error}")
"""


def test_without_a_kernel_ctrl_c_is_what_it_is_in_python():
    with Program(IDLE + "be_idle()\nbe_idle()") as program:
        program.hear("ready")
        program.wait_until_watched()
        program.tell()
        for _ in range(2):
            program.hear("idle")
            program.press()
            assert program.hear("interrupted") == "interrupted "
        assert program.ends_well() == []


def test_a_kernel_of_another_thread_is_left_alone():
    text = IDLE.replace('prog.wait_for(flag=flag, x=x, n=10)', "thread = threading.Thread(target=lambda: prog.wait_for(flag=flag, x=x, n=10))\nthread.start()")
    with Program(text + "be_idle()\nbe_idle()\nthread.join()\nsay(x[9])") as program:
        program.hear("ready")
        for _ in range(2):
            program.hear("idle")
            program.press()
            assert program.hear("interrupted") == "interrupted "
        program.tell()
        program.hear("9.0")
        assert program.ends_well() == []


def test_a_forked_child_is_interrupted_as_its_parent_is():
    text = """
child = os.fork()
if child == 0:
    be_idle()
    try:
        spin("cpu:2")
    except KeyboardInterrupt as error:
        say(error)
    check()
    os._exit(0)
assert os.waitpid(child, 0) == (child, 0)
check()
"""
    with Program(IDLE + text) as program:
        program.hear("ready")
        program.wait_until_watched()
        program.tell()
        child = int(program.hear("idle").split()[1])
        program.press(child)
        program.hear("interrupted")
        program.hear("ready")
        assert program.press_until_warned(child) == running("spin", "cpu:2")
        program.press(child)
        assert program.hear("kernel") == abandoned("spin", "cpu:2")
        program.hear("right")
        program.hear("right")
        assert program.ends_well() == []


def test_workers_of_multiprocessing_see_ctrl_c_as_ever():
    text = """
import multiprocessing
with multiprocessing.get_context("fork").Pool(1) as pool:
    pool.apply(be_idle)
check()
"""
    with Program(IDLE + text) as program:
        program.hear("ready")
        program.wait_until_watched()
        program.tell()
        program.press(int(program.hear("idle").split()[1]))
        program.hear("interrupted")
        program.hear("right")
        assert program.ends_well() == []
