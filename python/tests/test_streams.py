"""Streams that are handed over to and from other libraries, seen by a CUDA driver of our own that needs no GPU."""

import os
import subprocess
from pathlib import Path

import pytest
from conftest import run_python

SCRIPT = """
import ctypes
import numpy as np
import parloop as pl

driver = ctypes.CDLL("libcuda.so.1")
driver.fake_seen.restype = ctypes.c_char_p


def seen():
    return driver.fake_seen().decode()


class Foreign:
    def __init__(self, array, **interface):
        self.array = array
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, **interface}


first, second = pl.Context("cuda:0"), pl.Context("cuda:1")
stream = second.stream()
own = second.on(stream)
number = stream.handle
x = own.array(np.arange(3.0))
y = second.array(np.arange(3.0))


def check(name, found, expected):
    assert found == expected, (name, found, expected)


def message(call, error):
    try:
        call()
    except error as caught:
        return str(caught)
    raise AssertionError("no error")


# Exported by DLPack: the consumer's stream waits for ours.
for given, waits in ((None, 0), (1, 0), (2, 2), (77, 77)):
    seen()
    x.__dlpack__(stream=given)
    check(given, seen(), f"stream {number} before stream {waits};")
for given in (-1, number):
    x.__dlpack__(stream=given)
    check(given, seen(), "")
ambiguous = "stream 0 is ambiguous; use 1 for the legacy default stream or 2 for the per-thread default stream"
check("0", message(lambda: x.__dlpack__(stream=0), ValueError), ambiguous)
check("device", x.__dlpack_device__(), (2, 1))
y.__dlpack__(stream=None)
check("same", seen(), "")

# Exported by the interface of CUDA: our stream, by its number.
check("own", x.__cuda_array_interface__["stream"], number)
check("default", y.__cuda_array_interface__["stream"], 1)

# Imported by the interface of CUDA: our stream waits for theirs, and the driver knows the device.
seen()
for given, waits in ((55, 55), (2, 2), (1, 0)):
    z = own.array(Foreign(x, stream=given))
    check(given, (seen(), z.device.name, z.tolist()), (f"stream {waits} before stream {number};", "cuda:1", [0, 1, 2]))
for given in (None, number):
    own.array(Foreign(x, stream=given))
    check(given, seen(), "")
check("0", message(lambda: own.array(Foreign(x, stream=0)), ValueError), ambiguous)
z = first.array(Foreign(x, stream=55))
check("moved", (seen(), z.device.name, z.tolist()), ("stream 55 before stream 0;", "cuda:0", [0, 1, 2]))
unknown = message(lambda: own.array(Foreign(x, data=(64, False))), pl.DeviceError)
check("pointer", unknown, "address 0x40 is not memory of a cuda device; pass an array that is on one")
read_only = Foreign(x, data=(x.memory.handle, True))
check("read-only", [own.array(read_only, copy=copy).memory.readonly for copy in (True, None, False)], [False, True, True])
# To the host by DLPack, as a copy.
if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
    host = np.from_dlpack(x, device="cpu", copy=True)
    check("host", host.tolist(), [0, 1, 2])
print("over")
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cuda")
    source = Path(__file__).with_name("fake_cuda.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "libcuda.so.1", source], check=True)
    (folder / "libcuda.so").symlink_to("libcuda.so.1")
    return folder


def test_streams_are_handed_over_both_ways(driver):
    folders = ":".join(filter(None, [str(driver), os.environ.get("LD_LIBRARY_PATH")]))
    assert run_python(SCRIPT, env={"LD_LIBRARY_PATH": folders}) == "over\n"
