"""CUDA."""

from ....loops import CudaTarget as CudaTarget
