#!/usr/bin/env bash
# The tests that need petsc4py, by Debian's Python, whose packages are built for each other: petsc4py for the environment's NumPy is not in any
# index. Where it is not installed they are skipped; it takes half a minute to install, which is not done here.
set -eu
cd "$(dirname "$0")/.."
folder=$(ls -d /usr/lib/petscdir/petsc*-real/lib/python3/dist-packages /usr/lib/petscdir/*/*-real/lib/python3/dist-packages 2>/dev/null | head -1 || true)
if [ -z "$folder" ] || ! PYTHONPATH=$folder /usr/bin/python3 -c 'import petsc4py, pytest, scipy' 2>/dev/null; then
    echo "skipped: tests with petsc4py, which need apt-get install python3-petsc4py python3-pytest python3-scipy"
    exit 0
fi
# Neither the settings nor the fixtures of the other tests, which need more than Debian's packages.
PYTHONPATH=$PWD/python:$folder /usr/bin/python3 -m pytest -q --noconftest -p no:cacheprovider -c /dev/null --rootdir=. python/tests/test_mesh_petsc.py
