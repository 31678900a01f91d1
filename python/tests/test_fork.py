"""What a forked child can do: all of it on a CPU; on a GPU an error at once, by every way of multiprocessing."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import GPUS, run_python

import parloop as pl
import parloop.objects as xo


def test_nothing_that_a_view_is_given_is_lost_while_its_buffer_grows():
    """NumPy adds without holding Python, so that the other thread makes objects meanwhile."""
    for _ in range(10):
        buffer = pl.Context("cpu:1").new_buffer(1 << 12)
        view = xo.Float64[:](100_000, _buffer=buffer).to_nparray()
        before, stop, added = buffer.capacity, threading.Event(), [0]

        def add(view=view, stop=stop, added=added):
            while not stop.is_set():
                view += 1
                added[0] += 1

        thread = threading.Thread(target=add)
        thread.start()
        objects = [xo.Float64[:](length, _buffer=buffer) for length in (10_000, 100_000, 300_000, 1_000_000)]
        stop.set()
        thread.join()
        assert buffer.capacity > before and len(objects) == 4
        assert added[0] > 0 and np.array_equal(view, np.full(100_000, float(added[0])))


def test_a_view_keeps_its_address_and_its_object_while_the_buffer_grows():
    buffer = pl.Context("cpu:1").new_buffer(64)
    first = xo.Float64[:]([1, 2, 3], _buffer=buffer)
    view = first.to_nparray()
    address = view.ctypes.data
    for length in (100, 10_000, 1_000_000):
        xo.Float64[:](length, _buffer=buffer)
        view[0] += 1
        assert first.to_nparray().ctypes.data == address and first[0] == view[0]


FORK_DURING_KERNEL = """
import os, threading, time
import numpy as np, parloop as pl, parloop.objects as xo
ctx = pl.Context({device!r})
buffer = ctx.new_buffer(1 << 12)
numbers = xo.Float64[:](16, _buffer=buffer)
{view}
prog = ctx.compile('''GPUKERN void spin(double *x, const int64_t n) {{
    double s = 0;
    for (int64_t i = 0; i < n; i++) {{ s = s * 0.999 + i; x[1] = s; }}
    x[0] = s;
}}''')
prog.spin(numbers, 1000)
thread = threading.Thread(target=prog.spin, args=(numbers, 1_500_000_000))
thread.start()
time.sleep(0.2)
child = os.fork()
if child == 0:
    # The thread that runs the kernel does not exist here.
    code = 1
    try:
        others = [xo.Float64[:](length, _buffer=buffer) for length in (100, 100_000, 300_000)]
        others[-1][7] = 3.0
        numbers[2] = 5.0
        prog.spin(numbers, 10)
        view = numbers.to_nparray()
        code = 0 if others[-1][7] == 3 and view[2] == 5 else 2
    except pl.errors.ForkedError:
        code = 3
    finally:
        os._exit(code)
print(os.waitpid(child, 0)[1] >> 8, thread.is_alive(), flush=True)
os._exit(0)
"""


@pytest.mark.parametrize("device", ["cpu:1", "cpu:2"])
@pytest.mark.parametrize("view", ["", "view = numbers.to_nparray()"], ids=["plain", "with a view"])
def test_a_child_that_is_forked_while_a_kernel_runs_makes_objects_in_its_buffer(device, view):
    code, was_running = run_python(FORK_DURING_KERNEL.format(device=device, view=view), timeout=60).split()
    assert was_running == "True", "the kernel was over before the child was"
    assert code in ("0", "3")
    assert code == "0", "a buffer that nobody was changing works"


def test_children_that_are_forked_while_threads_make_and_free_objects_never_hang():
    printed = run_python("""
        import os, threading
        import parloop as pl, parloop.objects as xo
        ctx = pl.Context("cpu:1")
        buffer = ctx.new_buffer(1 << 12)
        stop = threading.Event()
        class Item(xo.Struct):
            x = xo.Float64
            name = xo.String
        def work():
            while not stop.is_set():
                items = [Item(x=1, name="n" * 50, _buffer=buffer) for _ in range(20)]
                [Item(x=2, name="m") for _ in range(20)]
                xo.Float64[:](100_000)
        threads = [threading.Thread(target=work) for _ in range(3)]
        [thread.start() for thread in threads]
        codes = []
        for _ in range(60):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    Item(x=3, name="own")._buffer.grow(100)
                    xo.Float64[:](200_000)
                    code = 0
                    Item(x=3, name="shared", _buffer=buffer)
                except pl.errors.ForkedError:
                    code = 3 if code == 0 else 2
                finally:
                    os._exit(code)
            codes.append(os.waitpid(child, 0)[1] >> 8)
        stop.set()
        [thread.join() for thread in threads]
        print(len(codes), set(codes) <= {0, 3}, codes.count(0) > 30)
    """, timeout=100)
    assert printed.split() == ["60", "True", "True"]


CHILD_MODULE = '''
import numpy as np
import parloop as pl, parloop.objects as xo

SOURCE = "GPUKERN void twice(double *x, const int64_t n) { VECTORIZE_OVER(i, n) x[i] *= 2; END_VECTORIZE }"

def run(device):
    """What the kernel made of an array, or the error."""
    try:
        ctx = pl.Context(device)
        array = ctx.array(np.arange(4.0))
        ctx.compile(SOURCE).twice(array, 4)
        item = xo.Float64[:]([1, 2], _context=ctx)
        return array.numpy().tolist() + [item[1]]
    except pl.errors.ForkedError as error:
        return f"{type(error).__name__}: {error}"
'''

PARENT = """
import multiprocessing, sys
sys.path.insert(0, {folder!r})
import child_of_test as child

if __name__ == "__main__":
    expected = [0.0, 2.0, 4.0, 6.0, 2.0]
    assert child.run({device!r}) == expected
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        for device in ({device!r}, "cpu:2", "cpu:1"):
            for found in pool.map(child.run, [device] * 4):
                print("right" if found == expected else found)
"""


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
@pytest.mark.parametrize("device", ["cpu", *(name for name in GPUS)])
def test_a_pool_of_processes_works_or_says_to_use_spawn(tmp_path, method, device):
    try:
        pl.Context(device)
    except pl.DeviceError as error:
        pytest.skip(str(error))
    (tmp_path / "child_of_test.py").write_text(CHILD_MODULE)
    program = tmp_path / "parent.py"
    program.write_text(PARENT.format(folder=str(tmp_path), device=device, method=method))
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    kind = device.split(":")[0]
    forked = (
        f"ForkedError: the {kind} driver was used before this process was forked, and does not work in a forked child; start processes with "
        f'spawn (in Python: `multiprocessing.get_context("spawn")`), or use {kind} devices in the children only'
    )
    first = forked if method == "fork" and kind != "cpu" else "right"
    assert lines == [first] * 4 + ["right"] * 8


def test_a_child_lets_go_of_what_its_parent_had_on_a_gpu(gpu):
    """Freeing it would call the driver, which may wait for threads that do not exist."""
    if not hasattr(os, "fork"):
        pytest.skip("there is no fork")
    printed = run_python(f"""
        import gc, os
        import numpy as np, parloop as pl, parloop.objects as xo
        ctx = pl.Context({gpu.device.name!r})
        held = [ctx.array(np.arange(10.0)), xo.Float64[:]([1, 2], _context=ctx), ctx.new_buffer(100)]
        prog = ctx.compile("GPUKERN void k(double *x) {{ x[0] += 1; }}")
        prog.k(held[0])
        child = os.fork()
        if child == 0:
            code = 1
            try:
                for use in (lambda: prog.k(held[0]), lambda: held[1][0], lambda: held[2].grow(1000), lambda: ctx.zeros(3), ctx.synchronize):
                    try:
                        use()
                        code = 2
                        break
                    except pl.errors.ForkedError:
                        pass
                else:
                    held.clear()
                    del prog
                    gc.collect()
                    code = 0
            finally:
                os._exit(code)
        print(os.waitpid(child, 0)[1] >> 8, held[0].numpy()[0])
    """, timeout=60)
    assert printed.split() == ["0", "1.0"]
