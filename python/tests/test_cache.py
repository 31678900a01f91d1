"""The compile cache: never a stale result, never more than a slower compile, whatever happens to its folder."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from conftest import run_python

import parloop as pl

IS_ROOT = os.geteuid() == 0

#: Compiles and runs a kernel whose result is its source's constant; prints origin and result.
PROGRAM = """
import sys, numpy as np, parloop as pl
value, arguments = sys.argv[1], sys.argv[2:]
source = "GPUKERN void k(double *x) { x[0] = " + value + "; }"
prog = pl.Context("cpu:1").compile(source, arguments=arguments)
x = np.zeros(1)
prog.k(x)
print(prog.origin, x[0])
"""


@pytest.fixture
def counting(tmp_path):
    """A compiler that notes each of its calls, and the environment that names it and a cache of the test's own."""
    return Counting(tmp_path)


class Counting:
    def __init__(self, folder):
        self.log, self.cache = folder / "calls", folder / "caches" / "parloop"
        self.cache.parent.mkdir()
        self.compiler = folder / "counting-cc"
        self.compiler.write_text(f'#!/bin/sh\necho call >> {self.log}\nexec cc "$@"\n')
        self.compiler.chmod(0o755)
        self.env = {"PARLOOP_CC": str(self.compiler), "PARLOOP_CACHE_DIR": str(self.cache.parent)}

    @property
    def calls(self):
        return self.log.read_text().count("call") if self.log.exists() else 0

    @property
    def entries(self):
        return sorted(self.cache.glob("*.bin"))

    def start(self, *arguments, **env):
        command = [sys.executable, "-c", PROGRAM, *arguments]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(command, env={**os.environ, **self.env, **env}, start_new_session=True, **pipes)

    def run(self, *arguments, **env):
        process = self.start(*(arguments or ["1"]), **env)
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        origin, result = out.split()
        return origin, float(result)


def test_a_second_process_finds_the_binary_and_starts_no_compiler(counting):
    assert counting.run("1") == ("compiled", 1)
    assert (counting.calls, len(counting.entries)) == (1, 1)
    assert counting.run("1") == ("disk", 1)
    assert counting.calls == 1


def test_a_cache_that_is_warm_needs_no_compiler_that_works(counting):
    counting.run("1")
    before = counting.compiler.stat()
    broken = counting.compiler.read_text().replace("exec cc", "exit 9")
    counting.compiler.write_text(broken.ljust(before.st_size)[: before.st_size])
    os.utime(counting.compiler, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert counting.run("1") == ("disk", 1)


#: A source whose reading is kept: it is large, and what it says depends on a header.
LARGE = "".join(f"GPUFUN double unused_{at}(const double *x, int i) {{ return x[i] + {at}; }}\n" for at in range(1200)) + """
#include "value.h"
GPUKERN void k(double *x) { x[0] = VALUE; }
"""

LARGE_PROGRAM = """
import sys, numpy as np, parloop as pl
try:
    prog = pl.Context("cpu:1").compile(sys.argv[1], include=sys.argv[2:])
    x = np.zeros(1)
    prog.k(x)
    print(prog.origin, x[0], len(prog.kernels), prog.k.signature)
except pl.ParloopError as error:
    print(type(error).__name__, error)
"""


def test_what_was_read_of_a_large_source_is_never_stale(counting, tmp_path):
    near, far = tmp_path / "near", tmp_path / "far"
    for folder in (near, far):
        folder.mkdir()
    (tmp_path / "large.c").write_text(LARGE)

    def run():
        command = [sys.executable, "-c", LARGE_PROGRAM, str(tmp_path / "large.c"), str(near), str(far)]
        done = subprocess.run(command, env={**os.environ, **counting.env}, capture_output=True, text=True, timeout=120, check=True)
        return done.stdout.strip()

    expected = "{} {} 1 void k(double * x)".format
    (far / "value.h").write_text("#define VALUE 1\n")
    assert run() == expected("compiled", 1.0)
    assert len(counting.entries) == 2
    assert run() == expected("disk", 1.0)
    (far / "value.h").write_text("#define VALUE 2\n")
    assert run() == expected("compiled", 2.0)
    (near / "value.h").write_text("#define VALUE 3\n")
    assert run() == expected("compiled", 3.0)
    (near / "value.h").unlink()
    assert run() == expected("disk", 2.0)
    for entry in counting.entries:
        whole = bytearray(entry.read_bytes())
        whole[len(whole) // 2] ^= 1
        entry.write_bytes(whole)
    assert run() == expected("compiled", 2.0)
    # A mistake is told each time, in the same words, though the rest of the source is known.
    (far / "value.h").write_text("#define VALUE 2\nGPUKERN void bad(struct unknown x) { }\n")
    told = run()
    assert told.startswith("SourceError") and "value.h:2" in told
    assert run() == told


def test_another_compiler_is_another_result(counting):
    counting.run("1")
    counting.compiler.write_text(counting.compiler.read_text() + "# changed\n")
    assert counting.run("1") == ("compiled", 1)
    assert counting.calls == 2


def test_another_source_or_argument_is_another_result(counting):
    assert counting.run("VALUE", "-DVALUE=1") == ("compiled", 1)
    assert counting.run("VALUE", "-DVALUE=2") == ("compiled", 2)
    assert counting.run("VALUE+1", "-DVALUE=2") == ("compiled", 3)
    assert counting.run("VALUE", "-DVALUE=1") == ("disk", 1)
    assert counting.run("A B", "-DA=4", "-DB=") == ("compiled", 4)
    assert counting.run("A B", "-DB=", "-DA=5") == ("compiled", 5)


def test_a_header_that_only_the_compiler_finds_is_never_stale(tmp_path):
    ctx, header = pl.Context("cpu:1"), tmp_path / "value.h"
    plain = '#include "value.h"'
    for line, *arguments in (
        ("/* a */ #include <value.h>", f"-I{tmp_path}"),
        ("#include \\\n<value.h>", f"-I{tmp_path}"),
        ("#define HEADER <value.h>\n#include HEADER", f"-I{tmp_path}"),
        (plain, "-idirafter", str(tmp_path)),
        (plain, f"--include-directory={tmp_path}"),
        ("", f"-include{header}"),
        ("", f"-I{tmp_path}", "-include", "value.h"),
    ):
        for value in (1, 2):
            header.write_text(f"#define VALUE {value}\n")
            prog = ctx.compile(line + "\nGPUKERN int k(int x) { return VALUE * x; }", arguments=arguments)
            assert prog.k(1) == value and prog.origin == "compiled"


@pytest.mark.parametrize("how", ["-I", "-isystem", "-include", "library"])
def test_a_header_or_library_that_changes_is_never_stale(counting, tmp_path, how):
    folder = tmp_path / "headers"
    folder.mkdir()
    header, library = folder / "value.h", folder / "libvalue.so"

    def change(value):
        header.write_text(f"#define VALUE {value}\n")
        if how == "library":
            code = f"double value(void) {{ return {value}; }}"
            subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=code, text=True, check=True)

    arguments = {
        "-I": ["-I", str(folder)],
        "-isystem": ["-isystem", str(folder)],
        "-include": ["-include", str(header)],
        "library": [str(library)],
    }[how]
    program = """
import sys, numpy as np, parloop as pl
before, expression, *arguments = sys.argv[1:]
prog = pl.Context("cpu:1").compile(before + "\\nGPUKERN void k(double *x) { x[0] = " + expression + "; }", arguments=arguments)
x = np.zeros(1)
prog.k(x)
print(prog.origin, x[0])
"""
    before = {"-include": "", "library": "double value(void);"}.get(how, '#include "value.h"')
    expression = "value()" if how == "library" else "VALUE"

    def run():
        command = [sys.executable, "-c", program, before, expression, *arguments]
        done = subprocess.run(command, env={**os.environ, **counting.env}, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    change(1)
    assert run() == ["compiled", "1.0"]
    assert run() == ["disk", "1.0"]
    change(2)
    assert run() == ["compiled", "2.0"]


def damage(entry, how):
    content = entry.read_bytes()
    if how == "truncated":
        entry.write_bytes(content[: len(content) // 2])
    elif how == "empty":
        entry.write_bytes(b"")
    elif how == "altered":
        entry.write_bytes(content[:5000] + bytes([content[5000] ^ 1]) + content[5001:])
    elif how == "of another kernel":
        other = next(path for path in entry.parent.glob("*.bin") if path != entry)
        entry.write_bytes(other.read_bytes())
    elif how == "a symlink":
        entry.rename(entry.with_suffix(".moved"))
        entry.symlink_to(entry.with_suffix(".moved"))
    elif how == "a folder":
        entry.unlink()
        entry.mkdir()
    elif how == "writable by others":
        entry.chmod(0o666)
    elif how == "owned by someone else":
        os.chown(entry, 65534, 65534)


@pytest.mark.parametrize(
    "how",
    ["truncated", "empty", "altered", "of another kernel", "a symlink", "a folder", "writable by others", "owned by someone else"],
)
def test_an_entry_that_cannot_be_trusted_is_made_again(counting, how):
    if how == "owned by someone else" and not IS_ROOT:
        pytest.skip("only root can give a file to someone else")
    counting.run("1")
    (entry,) = counting.entries
    counting.run("2")
    damage(entry, how)
    assert counting.run("1") == ("compiled", 1)
    assert counting.run("2") == ("disk", 2)
    if how != "a folder":
        assert counting.run("1") == ("disk", 1)


def test_a_cache_folder_that_is_a_symlink_is_not_used(counting, tmp_path):
    (tmp_path / "target").mkdir(mode=0o700)
    counting.cache.symlink_to(tmp_path / "target")
    assert counting.run("1") == ("compiled", 1)
    assert counting.run("1") == ("compiled", 1)
    assert not list((tmp_path / "target").iterdir())
    show = "import sys, parloop.__main__ as m; sys.argv = ['parloop', 'cache', 'info']; m.main()"
    assert "is a link or a file, not a folder" in run_python(show, env=counting.env)


def test_a_cache_folder_of_someone_else_is_not_used(counting):
    if not IS_ROOT:
        pytest.skip("only root can give a folder to someone else")
    counting.cache.mkdir(mode=0o700)
    os.chown(counting.cache, 65534, 65534)
    assert counting.run("1") == ("compiled", 1)
    assert not list(counting.cache.iterdir())


@pytest.mark.parametrize("mode, used", [(0o755, True), (0o777, False)])
def test_the_mode_of_a_cache_folder_is_not_changed(counting, mode, used):
    counting.cache.mkdir()
    counting.cache.chmod(mode)
    counting.run("1")
    assert counting.cache.stat().st_mode & 0o777 == mode
    assert counting.run("1") == ("disk" if used else "compiled", 1)


def test_files_of_the_user_in_the_named_folder_are_left_alone(counting):
    """Also when they have names as entries had, and are larger than the cache may become."""
    folder = counting.cache.parent
    folder.chmod(0o755)
    for place in (folder, counting.cache):
        place.mkdir(exist_ok=True)
        with open(place / "model.bin", "wb") as model:
            model.truncate(2 << 30)
        (place / "unfinished-novel").write_text("once")
        for file in place.glob("*[ln]"):
            os.utime(file, (0, 0))
    counting.run("1")
    counting.run("2")
    show = "import sys, parloop.__main__ as m; sys.argv = ['parloop', 'cache', 'clear']; m.main()"
    assert run_python(show, env=counting.env).startswith("2 compiled kernels removed from ")
    assert folder.stat().st_mode & 0o777 == 0o755
    assert sorted(path.name for path in folder.iterdir()) == ["model.bin", "parloop", "unfinished-novel"]
    for place in (folder, counting.cache):
        assert (place / "model.bin").stat().st_size == 2 << 30 and (place / "unfinished-novel").read_text() == "once"


def test_a_cache_folder_that_is_a_file_is_not_used(counting):
    counting.cache.write_text("mine")
    assert counting.run("1") == ("compiled", 1)
    assert counting.cache.read_text() == "mine"


@pytest.mark.parametrize("folder", ["/proc/self/parloop", "/proc/1/task", "/sys/kernel/parloop", "/dev/null/parloop"])
def test_a_cache_folder_that_cannot_be_written_costs_only_the_cache(counting, folder):
    """Permissions do not stop root, but no one can make files in these."""
    counting.env["PARLOOP_CACHE_DIR"] = folder
    assert counting.run("1") == ("compiled", 1)


def mounted(folder, options):
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(folder)], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"a file system cannot be mounted here: {done.stderr.strip()}")


@pytest.mark.parametrize("options", ["size=4k,mode=700", "ro,mode=700", "nr_inodes=2,mode=700"])
def test_a_full_or_read_only_file_system_costs_only_the_cache(counting, options):
    if not IS_ROOT:
        pytest.skip("only root can mount a file system")
    mounted(counting.cache, options)
    try:
        assert counting.run("1") == ("compiled", 1)
        assert counting.run("1")[1] == 1
    finally:
        subprocess.run(["umount", "-l", str(counting.cache)], check=True)


def test_files_may_be_limited_in_size(counting):
    """A disk that is full in the middle of an entry looks like this limit."""
    program = f"""
    import resource, signal
    import numpy as np, parloop as pl
    ctx = pl.Context("cpu:1")
    ctx.compile("GPUKERN void warm(double *x) {{ x[0] = 5; }}")
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    import os, pathlib
    entry = next(pathlib.Path({str(counting.cache)!r}).glob("*.bin"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (entry.stat().st_size - 60, resource.RLIM_INFINITY))
    x = np.zeros(1)
    for _ in range(2):
        prog = ctx.compile("GPUKERN void k(double *x) {{ x[0] += 1; }}")
        prog.k(x)
        print(prog.origin, x[0])
    """
    assert run_python(program, env=counting.env).splitlines() == ["compiled 1.0", "memory 2.0"]
    assert len(counting.entries) == 1 and not list(counting.cache.glob("unfinished-*"))


def test_a_cache_folder_deleted_under_us_costs_only_the_cache(counting):
    program = f"""
    import shutil
    import numpy as np, parloop as pl
    ctx = pl.Context("cpu:1")
    x = np.zeros(1)
    for step in range(3):
        prog = ctx.compile("GPUKERN void k(double *x) {{ x[0] += 1; }}")
        prog.k(x)
        print(prog.origin, x[0])
        if step == 0:
            shutil.rmtree({str(counting.cache)!r})
    """
    first, second, third = run_python(program, env=counting.env).splitlines()
    assert (first, second) == ("compiled 1.0", "compiled 2.0") and third in ("memory 3.0", "disk 3.0")


def test_processes_that_compile_at_once_all_get_the_right_result(counting):
    slow = counting.compiler.read_text().replace("exec cc", "sleep 0.3; exec cc")
    counting.compiler.write_text(slow)
    processes = [counting.start("1") for _ in range(4)] + [counting.start("2")]
    outputs = [process.communicate(timeout=120)[0].split() for process in processes]
    assert [output[1] for output in outputs] == ["1.0"] * 4 + ["2.0"]
    assert sorted(output[0] for output in outputs[:4]).count("compiled") == 1
    assert counting.calls == 2 and len(counting.entries) == 2


def test_a_process_killed_while_it_compiles_leaves_a_usable_cache(counting):
    text = counting.compiler.read_text()
    gate = counting.cache.parent / "gate"
    # Until the gate is open the compiler waits, so that the process is killed while it compiles and holds the lock.
    counting.compiler.write_text(text.replace("exec cc", f"[ -e {gate} ] || sleep 60; exec cc"))
    process = counting.start("1")
    while counting.calls == 0:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    gate.touch()
    assert counting.run("1") == ("compiled", 1)
    assert counting.run("1") == ("disk", 1)


def test_what_a_killed_writer_left_is_never_read(counting):
    """It is removed when it is old and the folder is listed, of which Rust has a test."""
    counting.run("1")
    left = counting.cache / "unfinished-abcdefgh.parloop"
    left.write_bytes(counting.entries[0].read_bytes()[:100])
    assert counting.run("2") == ("compiled", 2)
    assert counting.run("1") == ("disk", 1)
    assert left.exists(), "it may still be written to"


def test_sixteen_threads_compile_one_kernel_once(counting):
    program = """
    import threading
    import numpy as np, parloop as pl
    ctx = pl.Context("cpu:1")
    origins, results, barrier = [], [], threading.Barrier(16)
    def work(index):
        barrier.wait()
        prog = ctx.compile("GPUKERN void k(double *x) { x[0] += 1; }")
        x = np.full(1, float(index))
        prog.k(x)
        origins.append(prog.origin)
        results.append(x[0] - index)
    threads = [threading.Thread(target=work, args=(index,)) for index in range(16)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert results == [1.0] * 16, results
    print(origins.count("compiled"), len(origins))
    """
    assert run_python(program, env=counting.env).split() == ["1", "16"]
    assert counting.calls == 1


def test_a_kernel_that_does_not_compile_is_not_kept(counting):
    process = counting.start("nothing_of_that_name")
    assert "CompileError" in process.communicate()[1] and not counting.entries


def test_opencl_binaries_are_cached_too(counting):
    program = """
    import parloop as pl
    try:
        ctx = pl.Context("opencl")
    except pl.DeviceError:
        print("none")
    else:
        print(ctx.compile("GPUKERN void k(double *x) { x[0] += 1; }").origin)
    """
    origins = [run_python(program, env=counting.env).strip() for _ in range(2)]
    assert origins in (["compiled", "disk"], ["none", "none"])
    assert counting.calls == 0


def test_the_folder_follows_the_environment(tmp_path):
    show = "import sys, parloop.__main__ as m; sys.argv = ['parloop', 'cache', 'path']; m.main()"
    ask = lambda **env: run_python(show, env={"PARLOOP_CACHE_DIR": None, "XDG_CACHE_HOME": None, **env}).strip()  # noqa: E731
    assert ask(PARLOOP_CACHE_DIR=str(tmp_path / "own")) == str(tmp_path / "own" / "parloop")
    assert ask(XDG_CACHE_HOME=str(tmp_path / "xdg")) == str(tmp_path / "xdg" / "parloop")
    assert ask(HOME=str(tmp_path / "home")) == str(tmp_path / "home" / ".cache" / "parloop")
    assert (tmp_path / "own" / "parloop").stat().st_mode & 0o777 == 0o700
    assert Path(ask(XDG_CACHE_HOME="relative", HOME=str(tmp_path / "home"))) == tmp_path / "home" / ".cache" / "parloop"


def test_a_child_that_is_forked_while_another_thread_compiles_compiles_too(counting):
    """The locks of the cache are held by a thread that the child does not have."""
    counting.compiler.write_text(counting.compiler.read_text().replace("exec cc", "sleep 1; exec cc"))
    program = """
    import os, threading, time
    import numpy as np, parloop as pl
    ctx = pl.Context("cpu:1")
    def compile_and_run(value):
        x = np.zeros(1)
        ctx.compile("GPUKERN void k(double *x) { x[0] = %d; }" % value).k(x)
        return x[0]
    thread = threading.Thread(target=compile_and_run, args=(1,))
    thread.start()
    time.sleep(0.3)
    children = []
    for value in (1, 2):
        child = os.fork()
        if child == 0:
            os._exit(0 if compile_and_run(value) == value else 1)
        children.append(child)
    print(*[os.waitpid(child, 0)[1] for child in children])
    thread.join()
    """
    assert run_python(program, env=counting.env, timeout=60).split() == ["0", "0"]


def test_a_lock_does_not_stay_with_a_child_of_a_killed_process(counting):
    gate = counting.cache.parent / "gate"
    counting.compiler.write_text(counting.compiler.read_text().replace("exec cc", f"[ -e {gate} ] || sleep 600; exec cc"))
    program = f"""
    import os, signal, threading, time
    import parloop as pl
    ctx = pl.Context("cpu:1")
    threading.Thread(target=ctx.compile, args=("GPUKERN void k(double *x) {{ x[0] = 1; }}",), daemon=True).start()
    while not os.path.exists({str(counting.log)!r}):
        time.sleep(0.01)
    child = os.fork()
    if child == 0:
        os.close(1), os.close(2)
        time.sleep(600)
        os._exit(0)
    print(child, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    process = subprocess.Popen(command, env={**os.environ, **counting.env}, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert process.stdout.read().strip().isdigit() and process.wait() == -signal.SIGKILL
        gate.touch()
        assert counting.run("1") == ("compiled", 1)
    finally:
        # The session has the child and the compiler that waits.
        os.killpg(process.pid, signal.SIGKILL)
