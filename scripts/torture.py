"""Tortures the compile cache: `python scripts/torture.py [ROUNDS] [SECONDS] [SEED]`.

In each round 16 processes compile and run one kernel with one cache, while some of them are killed at random and files of the cache are
truncated, altered, exchanged, removed and replaced by links, folders and pipes. In some rounds the disk is full, the folder cannot be
written, or memory is limited. After each round: every result is right, every process that was not killed has ended in time and well, no lock
is held, and no file of anybody else was touched.
"""

from __future__ import annotations

import collections
import fcntl
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROCESSES = 16
#: Kernels come again, so that entries are found, damaged and made again.
KERNELS = 6
#: What is read of a source is kept too where the source is large, as those of the first kernels are.
LARGE_KERNELS = 2
PADDING = "".join(f"GPUFUN double unused_{at}(const double *x, int i) {{ return x[i] + {at}; }}\n" for at in range(1200))
#: A process that takes longer hangs.
PATIENCE = 60.0
#: Room that a process has in rounds with limited memory, beyond what it uses: little and almost enough.
LIMITS = (8 << 20, 64 << 20, 256 << 20)
FINE, REFUSED, WRONG = 0, 10, 11

Counts = collections.Counter[str]


def child(value: int, cache: dict[str, str | None], limit: int | None, seconds: float) -> None:
    """Compiles and runs a kernel; how it went is the status."""
    status = WRONG
    try:
        for name in ("PARLOOP_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
            os.environ.pop(name, None)
        os.environ.update({name: folder for name, folder in cache.items() if folder is not None})
        time.sleep(seconds)
        import numpy as np

        import parloop as pl

        if limit is not None:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            resource.setrlimit(resource.RLIMIT_AS, (pages * 4096 + limit,) * 2)
        x = np.zeros(3)
        try:
            padding = PADDING if value < LARGE_KERNELS else ""
            program = pl.Context("cpu:1").compile(f"{padding}GPUKERN void k(double *x) {{ x[0] = {value}; x[1] = x[0] * 2; }}")
            program.k(x)
            is_whole = program.k.signature == "void k(double * x)" and len(program.kernels) == 1
            status = FINE if is_whole and x.tolist() == [value, 2 * value, 0] else WRONG
        except (pl.ParloopError, MemoryError, OSError):
            # With enough memory nothing may be refused.
            status = REFUSED
    finally:
        os._exit(status)


class Torture:
    def __init__(self, folder: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.counts: Counts = collections.Counter()
        self.folder, self.named = folder, folder / "named"
        self.cache = self.named / "parloop"
        self.cache.mkdir(parents=True, mode=0o700)
        self.foreign = self.foreign_files()
        self.before = self.seen()
        self.small: Path | None = self.mounted()

    def foreign_files(self) -> list[Path]:
        """Files of a user around and inside of our folder, with names that are almost ours, and folders."""
        names = ["model.bin", "unfinished-novel", "unfinished-abc.parloop", "ff.locked", "a" * 63 + ".bin", "notes.txt"]
        files = [place / name for place in (self.named, self.cache) for name in names]
        for file in files:
            file.write_bytes(os.urandom(5000))
            os.utime(file, (1, 1))
        self.named.chmod(0o755)
        return [*files, self.named]

    def seen(self) -> dict[str, tuple[int, int, bytes]]:
        def one(path: Path) -> tuple[int, int, bytes]:
            stat = path.stat()
            return (stat.st_mode, 0, b"") if path.is_dir() else (stat.st_mode, stat.st_mtime_ns, path.read_bytes())

        return {str(path): one(path) for path in self.foreign}

    def mounted(self) -> Path | None:
        """A file system with little room, where we may mount one."""
        small = self.folder / "small"
        small.mkdir()
        options = "size=24k,mode=755"
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(small)], capture_output=True, check=False)
        return small if done.returncode == 0 else None

    def entries(self) -> list[Path]:
        """Not those that were replaced by links already: damage would go through them."""
        found = [path for path in self.cache.glob("?" * 64 + ".bin") if path not in self.foreign]
        return [path for path in found if path.is_file() and not path.is_symlink()]

    def damage(self) -> None:
        """Does something to a file of the cache."""
        entries, choose = self.entries(), self.random
        locks = list(self.cache.glob("??.lock"))
        how = choose.choice(["truncate", "flip", "link", "folder", "pipe", "remove", "exchange", "mode", "lock", "unfinished"])
        self.counts[f"damage: {how}"] += 1
        try:
            if how == "unfinished":
                (self.cache / f"unfinished-{choose.randrange(10**8):08}.parloop").write_bytes(b"half")
                return
            if how == "lock":
                if locks:
                    lock = choose.choice(locks)
                    lock.unlink()
                    choose.choice([lambda: lock.symlink_to(self.foreign[0]), lambda: lock.mkdir(), lambda: os.mkfifo(lock), lambda: None])()
                return
            if not entries:
                return
            entry = choose.choice(entries)
            if how == "truncate":
                os.truncate(entry, choose.randrange(entry.stat().st_size + 1))
            elif how == "flip":
                with open(entry, "r+b") as file:
                    at = choose.randrange(max(1, entry.stat().st_size))
                    file.seek(at)
                    byte = file.read(1)
                    file.seek(at)
                    file.write(bytes([byte[0] ^ (1 << choose.randrange(8))]) if byte else b"")
            elif how == "exchange":
                shutil.copyfile(choose.choice(entries), entry)
            elif how == "mode":
                entry.chmod(choose.choice([0o666, 0o000, 0o620]))
            else:
                entry.unlink()
                if how == "link":
                    entry.symlink_to(self.foreign[0])
                elif how == "folder":
                    entry.mkdir()
                elif how == "pipe":
                    os.mkfifo(entry)
        except (FileNotFoundError, FileExistsError, IsADirectoryError, OSError):
            self.counts["damage: too late"] += 1

    def tidy(self) -> None:
        """Removes what stands in the way of entries, now and then: folders are left alone by the cache."""
        for path in [*self.cache.glob("*.bin"), *self.cache.glob("*.lock"), *self.cache.glob("unfinished-????????.parloop")]:
            if path not in self.foreign:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    def surroundings(self) -> tuple[str, dict[str, str | None], int | None]:
        """Which cache the processes of a round have, and how much memory."""
        kind = self.random.choices(["plain", "full disk", "read-only home", "little memory"], [6, 1, 1, 1])[0]
        if kind == "full disk" and self.small is not None:
            return kind, {"PARLOOP_CACHE_DIR": str(self.small)}, None
        if kind == "read-only home":
            return kind, {"HOME": self.random.choice(["/proc/self", "/sys", "/dev/null", ""])}, None
        if kind == "little memory":
            return kind, {"PARLOOP_CACHE_DIR": str(self.named)}, self.random.choice(LIMITS)
        return "plain", {"PARLOOP_CACHE_DIR": str(self.named)}, None

    def round(self) -> None:
        kind, cache, limit = self.surroundings()
        value = self.random.randrange(KERNELS)
        self.counts[f"rounds: {kind}"] += 1
        if self.random.random() < 0.3:
            self.tidy()
        running = {}
        for _ in range(PROCESSES):
            delay = self.random.random() * 0.05
            process = os.fork()
            if process == 0:
                child(value, cache, limit, delay)
            running[process] = "ours"
        killed = set(self.random.sample(list(running), self.random.randrange(PROCESSES // 2)))
        times = sorted((self.random.random() * 0.2, process) for process in killed)
        start = time.monotonic()
        while running:
            now = time.monotonic() - start
            if now > PATIENCE:
                for process in running:
                    os.kill(process, signal.SIGKILL)
                raise AssertionError(f"{len(running)} processes hang in a round with {kind}")
            while times and times[0][0] <= now:
                _, victim = times.pop(0)
                if victim in running:
                    os.kill(victim, signal.SIGKILL)
            if self.random.random() < 0.2:
                self.damage()
            process, status = os.waitpid(-1, os.WNOHANG)
            if process:
                running.pop(process, None)
                self.judge(kind, process in killed, status)
            else:
                time.sleep(0.002)
        self.check_locks()
        seen = self.seen()
        touched = [path for path in seen if seen[path] != self.before[path]]
        assert not touched, f"files of somebody else were touched in a round with {kind}: {touched}"

    def judge(self, kind: str, may_be_killed: bool, status: int) -> None:
        if os.WIFSIGNALED(status):
            ended = os.WTERMSIG(status)
            if ended == signal.SIGKILL and may_be_killed:
                self.counts["processes: killed"] += 1
            elif ended == signal.SIGABRT and kind == "little memory":
                # Python and Rust end a process that cannot allocate what they cannot do without.
                self.counts["processes: out of memory"] += 1
            else:
                raise AssertionError(f"a process ended by signal {ended} in a round with {kind}")
            return
        code = os.WEXITSTATUS(status)
        assert code == FINE or (code == REFUSED and kind == "little memory"), f"status {code} in a round with {kind}"
        self.counts["processes: right" if code == FINE else "processes: refused"] += 1

    def check_locks(self) -> None:
        """Locks go with their processes, and are not inherited by compilers that outlive one."""
        for lock in self.cache.glob("??.lock"):
            if not lock.is_file() or lock.is_symlink():
                continue
            with open(lock, "rb") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    raise AssertionError(f"{lock.name} is still locked") from None

    def close(self) -> None:
        if self.small is not None:
            subprocess.run(["umount", "-l", str(self.small)], check=False, capture_output=True)


def torture(rounds: int, seconds: float, seed: int) -> dict[str, int]:
    """Does so many rounds, or as many as fit into the time; what happened how often."""
    # Children are forked from here: what they need is loaded once, and no thread is started.
    import numpy  # noqa: F401

    import parloop  # noqa: F401

    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="parloop-torture-") as folder:
        work = Torture(Path(folder), seed)
        try:
            for _ in range(rounds):
                if time.monotonic() > end:
                    break
                work.round()
                work.counts["rounds"] += 1
            work.tidy()
            for value in range(KERNELS):
                for _ in range(2):
                    process = os.fork()
                    if process == 0:
                        child(value, {"PARLOOP_CACHE_DIR": str(work.named)}, None, 0)
                    assert os.WEXITSTATUS(os.waitpid(process, 0)[1]) == FINE
            assert len(work.entries()) == KERNELS + LARGE_KERNELS, "the cache serves again after all of it"
        finally:
            work.close()
    return dict(sorted(work.counts.items()))


if __name__ == "__main__":
    arguments = sys.argv[1:] + ["1000", "3600", str(int(time.time()))][len(sys.argv) - 1 :]
    seed = int(arguments[2])
    print(f"seed {seed}", flush=True)
    print(json.dumps(torture(int(arguments[0]), float(arguments[1]), seed), indent=1))
