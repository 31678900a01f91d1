#!/usr/bin/env bash
# Measures us and our peers in one run. Peers live in an environment of their own, .venv-peers. PyOP2 needs another one (see pyop2_loops.py):
# PYOP2_PYTHON names its Python, which then measures the mesh loops.
set -eu
cd "$(dirname "$0")/.."
peers=.venv-peers
if [ ! -e $peers/.with-scipy ]; then
    echo "installing the peers into $peers"
    .venv/bin/python -m venv $peers
    $peers/bin/pip install --quiet --disable-pip-version-check numpy scipy cffi numba xobjects loopy pyopencl setuptools
    touch $peers/.with-scipy
fi
PYTHONPATH=$PWD/python $peers/bin/python benches/cpu.py
PYTHONPATH=$PWD/python $peers/bin/python benches/objects.py
PYTHONPATH=$PWD/python $peers/bin/python benches/loops.py
PYTHONPATH=$PWD/python "${PYOP2_PYTHON:-$peers/bin/python}" benches/mesh.py
PYTHONPATH=$PWD/python $peers/bin/python benches/assembly.py
if .venv/bin/python -c 'import parloop as pl; pl.Device("cuda:0")' 2>/dev/null; then
    PYTHONPATH=$PWD/python $peers/bin/python benches/gpu.py
    PYTHONPATH=$PWD/python $peers/bin/python benches/objects_gpu.py
    PYTHONPATH=$PWD/python $peers/bin/python benches/loops_gpu.py
    PYTHONPATH=$PWD/python $peers/bin/python benches/airfoil_gpu.py
    PYTHONPATH=$PWD/python $peers/bin/python benches/assembly_gpu.py
fi
