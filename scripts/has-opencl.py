"""Whether OpenCL's loader finds a device: succeeds if so, fails otherwise."""

import ctypes
import sys

ALL_DEVICES = 0xFFFFFFFF

try:
    library = ctypes.CDLL("libOpenCL.so.1")
except OSError:
    sys.exit(1)
platform, count = ctypes.c_void_p(), ctypes.c_uint()
if library.clGetPlatformIDs(1, ctypes.byref(platform), ctypes.byref(count)) or not count.value:
    sys.exit(1)
failed = library.clGetDeviceIDs(platform, ctypes.c_ulong(ALL_DEVICES), 0, None, ctypes.byref(count))
sys.exit(bool(failed) or not count.value)
