"""The `parloop` command, run as `python -m parloop`."""

import json
import os
import subprocess
import sys

import kernels
import pytest
from conftest import FOUND, missing, run_python

import parloop as pl


def parloop(*arguments, **env):
    environment = {name: value for name, value in {**os.environ, **env}.items() if value is not None}
    command = [sys.executable, "-m", "parloop", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


def test_devices_are_listed_in_a_table():
    result = parloop("devices")
    assert result.returncode == 0 and result.stderr == ""
    for device in FOUND:
        row = next(line for line in result.stdout.splitlines() if f" {device.name} " in line)
        assert device.model in row and f" {device.compute_units} " in row


def test_devices_as_json_agree_with_the_package():
    listed = json.loads(parloop("devices", "--json").stdout)
    assert [entry["device"] for entry in listed] == [device.name for device in FOUND]
    for entry, device in zip(listed, FOUND, strict=True):
        assert entry["name"] == device.model
        for field in ("kind", "arch", "driver", "compute_units", "simd_width", "max_block", "shared_memory", "memory_alignment"):
            assert entry[field] == getattr(device, field), field
        # PoCL finds out how much memory a process may have when the process begins.
        for field in () if device.kind == "opencl" else ("memory_total", "max_allocation"):
            assert entry[field] == getattr(device, field), field
        assert 0 < entry["max_allocation"] <= entry["memory_total"]
        assert tuple(entry["max_block_dims"]) == device.max_block_dims and tuple(entry["max_grid"]) == device.max_grid
        assert entry["uuid"] == (device.uuid.hex() if device.uuid else None)
        assert 0 < entry["memory_free"] <= entry["memory_total"]


def test_the_doctor_names_every_part_and_is_content_with_a_compiler(tmp_path):
    result = parloop("doctor", PARLOOP_CACHE_DIR=str(tmp_path / "cache"))
    assert result.returncode == 0
    for part in ("cpu devices", "opencl devices", "cuda devices", "hip devices", "cpu compiler", "cuda compiler", "hip compiler"):
        assert part in result.stdout
    assert str(tmp_path / "cache") in result.stdout
    assert result.stdout.rstrip().endswith("CPU kernels can be compiled and run.")


def test_the_doctor_says_where_libisl_is_and_how_to_get_it():
    found = [line for line in parloop("doctor").stdout.splitlines() if " libisl " in line]
    assert len(found) == 1 and found[0].startswith("✓ libisl") and "/" in found[0] and "isl" in found[0].split()[-1]
    result = parloop("doctor", PARLOOP_ISL="/nowhere/libisl.so")
    assert "✗ libisl           not found: PARLOOP_ISL is `/nowhere/libisl.so`, but " in result.stdout
    assert result.returncode == 0


def test_the_doctor_says_how_to_get_a_compiler_and_fails_without():
    result = parloop("doctor", PATH="", PARLOOP_CC=None, CC=None)
    assert result.returncode == 1
    assert "install one with `apt-get install gcc` or `pip install ziglang`, or name one in PARLOOP_CC" in result.stdout
    assert result.stdout.rstrip().endswith("No kernel can be compiled: install a C compiler.")


def test_the_doctor_says_why_there_is_no_cache(tmp_path):
    (tmp_path / "file").write_text("")
    result = parloop("doctor", PARLOOP_CACHE_DIR=str(tmp_path / "file"))
    assert "✗ compile cache    not found: " in result.stdout and "set PARLOOP_CACHE_DIR to a folder that you own" in result.stdout


def test_the_cache_is_shown_and_emptied(tmp_path):
    cache = str(tmp_path / "cache")
    for source in (kernels.ONCE, kernels.AXPY):
        run_python(f"import parloop as pl; pl.Context('cpu').compile({source!r})", env={"PARLOOP_CACHE_DIR": cache})
    assert parloop("cache", "path", PARLOOP_CACHE_DIR=cache).stdout == f"{cache}/parloop\n"
    folder, count, size = parloop("cache", "info", PARLOOP_CACHE_DIR=cache).stdout.splitlines()
    assert folder.split() == ["folder", f"{cache}/parloop"] and count.split() == ["kernels", "2"]
    assert size.startswith("size ") and size.endswith(" MiB of at most 1024.0 MiB")
    result = parloop("cache", "clear", PARLOOP_CACHE_DIR=cache)
    assert (result.returncode, result.stdout) == (0, f"2 compiled kernels removed from {cache}/parloop\n")
    assert "kernels  0" in parloop("cache", "info", PARLOOP_CACHE_DIR=cache).stdout


def test_without_a_cache_folder_path_and_clear_fail_and_info_says_why(tmp_path):
    (tmp_path / "file").write_text("mine")
    cache = {"PARLOOP_CACHE_DIR": str(tmp_path / "file")}
    for action in ("path", "clear"):
        result = parloop("cache", action, **cache)
        assert result.returncode == 1 and result.stdout.startswith("there is no cache folder: ")
    result = parloop("cache", "info", **cache)
    assert result.returncode == 0 and "in memory only: " in result.stdout
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("arguments", [["bogus"], ["devices", "--bogus"], ["cache", "bogus"], ["cache"], []])
def test_a_mistake_in_the_command_line_is_status_two(arguments):
    result = parloop(*arguments)
    assert result.returncode == 2 and "Usage: parloop" in result.stderr and result.stdout == ""


def test_help_and_version_are_no_mistakes():
    assert parloop("--version").stdout == f"parloop {pl.__version__}\n"
    for arguments in (["--help"], ["devices", "--help"], ["help", "cache"]):
        result = parloop(*arguments)
        assert result.returncode == 0 and "Usage: parloop" in result.stdout


def test_an_unknown_variable_is_a_warning():
    result = parloop("cache", "path", PARLOOP_TYPO="1", PARLOOP_DEVICE="cpu", PARLOOP_LEAKS="10", PARLOOP_MPI_ERRORS="return")
    assert result.returncode == 0
    assert "parloop: warning: unknown environment variable PARLOOP_TYPO; it has no effect" in result.stderr
    assert "PARLOOP_DEVICE" not in result.stderr and "PARLOOP_LEAKS" not in result.stderr and "PARLOOP_MPI" not in result.stderr
    code = "import warnings; warnings.simplefilter('error'); import parloop"
    result = run_python(code, env={"PARLOOP_TYPO": "1"}, check=False)
    assert "environment variables that parloop does not know have no effect: PARLOOP_TYPO" in result.stderr
    assert run_python(code + "; print('quiet')", env={"PARLOOP_DEVICE": "cpu", "PARLOOP_THREADS": "2"}).strip() == "quiet"


def test_the_table_may_be_cut_off_by_its_reader():
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.run([sys.executable, "-m", "parloop", "devices"], stdout=writer, stderr=subprocess.PIPE, timeout=60)
    os.close(writer)
    assert b"panicked" not in process.stderr


@pytest.fixture
def opencl():
    """Tests of PoCL's cache need a device of OpenCL's."""
    if not any(device.kind == "opencl" for device in FOUND):
        missing("an OpenCL device")


@pytest.mark.usefixtures("opencl")
def test_a_home_that_cannot_be_written_hides_no_device():
    unwritable = {"HOME": "/dev/null", "XDG_CACHE_HOME": None, "POCL_CACHE_DIR": None}
    listed = json.loads(parloop("devices", "--json", **unwritable).stdout)
    assert [entry["device"] for entry in listed] == [device.name for device in FOUND]


@pytest.mark.usefixtures("opencl")
def test_the_doctor_names_a_folder_that_pocl_cannot_write():
    result = parloop("doctor", POCL_CACHE_DIR="/dev/null/cache")
    line = next(line for line in result.stdout.splitlines() if "opencl devices" in line)
    if "PoCL" not in line:
        pytest.skip("another driver than PoCL has devices")
    assert line.endswith("not found: the driver found no device; PoCL cannot write to /dev/null/cache; set POCL_CACHE_DIR to a folder that you own")
