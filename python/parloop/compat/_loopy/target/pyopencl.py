"""OpenCL C that is compiled and called."""

from ....loops import PyOpenCLTarget as PyOpenCLTarget
