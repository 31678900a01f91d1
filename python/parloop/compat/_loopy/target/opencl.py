"""OpenCL C."""

from ....loops import OpenCLTarget as OpenCLTarget
