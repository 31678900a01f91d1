#!/usr/bin/env bash
# Starts a test program of Rust for cargo: those of meshes on the OpenCL of OPENCL, which has a kernel compiled in a third of the time, and others on
# that of the system. PoCL compiles one kernel at a time in a process, for which half of the tests of meshes would wait.
set -eu
[[ ${1##*/} != mesh-* ]] || export OCL_ICD_VENDORS="$(cd "$(dirname "$0")/.." && pwd)/.venv/$OPENCL/vendors"
exec "$@"
