#!/usr/bin/env bash
# Installs a source distribution into a new environment outside of the repository, which compiles it, and runs a kernel on the CPU.
set -eu
sdist=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"${VIRTUAL_ENV:?names an environment of the Python to try}/bin/python" -m venv "$work/venv"
unset VIRTUAL_ENV
"$work/venv/bin/pip" install --quiet --disable-pip-version-check "$sdist"
PARLOOP_CACHE_DIR="$work/cache" "$work/venv/bin/python" - <<'PY'
import numpy as np
import parloop as pl

x = np.arange(1000.0)
prog = pl.Context("cpu").compile("GPUKERN void twice(double *x, int n) { VECTORIZE_OVER(i, n) x[i] *= 2; END_VECTORIZE }")
prog.twice(x=x, n=x.size)
assert np.array_equal(x, 2 * np.arange(1000.0))
print(f"parloop {pl.__version__} built from its sources: ok")
PY
