"""What the tests share: every device found, a compile cache of the session's own, and missing parts that fail in CI."""

import gc
import os
import subprocess
import sys
import tempfile
import textwrap

# The cache is opened at the first compile of the process, so it is named before parloop is imported. Workers of pytest-xdist inherit that of
# the process that started them: what one of them has compiled, the others need not.
if "PYTEST_XDIST_WORKER" not in os.environ:
    _CACHE = tempfile.TemporaryDirectory(prefix="parloop-tests-")
    os.environ["PARLOOP_CACHE_DIR"] = os.path.join(_CACHE.name, "cache")
os.environ.pop("PARLOOP_DEVICE", None)
# Tests start more than a thousand processes. In each, a thread of NumPy's BLAS would spin for a tenth of a second after the import.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import parloop as pl

settings.register_profile("parloop", deadline=None, max_examples=20, suppress_health_check=list(HealthCheck))
settings.load_profile("parloop")

IN_CI = os.environ.get("CI", "").lower() == "true"


def pytest_collection_finish():
    """Keeps what was imported and collected out of garbage collections, of which tests request many."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish():
    if mpirun := sys.modules.get("mpirun"):
        mpirun.Processes.end_all()


FOUND = pl.devices()
DEVICES = ["cpu", "cpu:1", "cpu:3"] + [device.name for device in FOUND if device.kind != "cpu"]
GPUS = [name for name in DEVICES if not name.startswith("cpu")]


def missing(what):
    """A part of the machine that is not there: a printed skip, but a failure in CI."""
    if IN_CI:
        pytest.fail(f"{what} is missing, which CI must have")
    pytest.skip(f"{what} is missing")


if not any(name.startswith("opencl") for name in DEVICES):
    DEVICES.append("opencl")
    GPUS.append("opencl")

_CONTEXTS = {}


def open_context(name):
    if name not in _CONTEXTS:
        try:
            _CONTEXTS[name] = pl.Context(name)
        except pl.DeviceError as error:
            missing(f"device {name} ({error})")
    return _CONTEXTS[name]


@pytest.fixture(params=DEVICES)
def ctx(request):
    """A context on each device in turn."""
    return open_context(request.param)


@pytest.fixture(params=["cpu", "cpu:1", "cpu:3"])
def cpu(request):
    """A context on CPU threads."""
    return open_context(request.param)


@pytest.fixture(params=GPUS)
def gpu(request):
    """A context on a device with memory of its own."""
    return open_context(request.param)


@pytest.fixture
def is_cpu(ctx):
    return ctx.device.kind == "cpu"


@pytest.fixture(scope="session")
def nvrtc():
    """Nothing, or a skip where CUDA kernels cannot be compiled."""
    try:
        pl.compile_for("cuda", "sm_90", "GPUKERN void probe(double *x) { x[0] = 1; }")
    except pl.errors.CompilerMissingError as error:
        missing(f"NVRTC ({error})")


def run_python(code, *, env=None, check=True, timeout=120, **options):
    """Runs Python code in a process of its own; returns what it printed, or the whole result with `check=False`."""
    environment = {**os.environ, **(env or {})}
    environment = {name: value for name, value in environment.items() if value is not None}
    command = [sys.executable, "-c", textwrap.dedent(code)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout, **options)
    if not check:
        return result
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture
def in_new_process():
    return run_python


#: The ten types that atomics know, by C name.
SCALARS = {
    "int8_t": np.int8,
    "int16_t": np.int16,
    "int32_t": np.int32,
    "int64_t": np.int64,
    "uint8_t": np.uint8,
    "uint16_t": np.uint16,
    "uint32_t": np.uint32,
    "uint64_t": np.uint64,
    "float": np.float32,
    "double": np.float64,
}
