#!/usr/bin/env bash
# Installs a wheel into a new environment of every Python from 3.10 to 3.13 that is here, and runs a kernel on the CPU with all
# drivers out of reach. Fails if the wheel needs a library that not every Linux has, or a glibc later than that of manylinux_2_28.
set -eu
wheel=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m zipfile -e "$wheel" "$work/unpacked"
needed=$(readelf -d "$work"/unpacked/parloop/_parloop*.so | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | sort | tr '\n' ' ')
for library in $needed; do
    case $library in
        libc.so.6 | libm.so.6 | libgcc_s.so.1 | libpthread.so.0 | libdl.so.2 | ld-linux-*) ;;
        *) echo "the wheel is linked to $library, which is not everywhere"; exit 1 ;;
    esac
done
echo "linked to: $needed"

build=$(realpath "$(dirname "$0")/../.venv-build/bin")
said=$("$build/auditwheel" show "$wheel" | tr '\n' ' ')
# PEP 600's names; manylinux2014 and older ones are aliases that auditwheel adds to them.
minor=$(sed -nE 's/.*following platform tag: "manylinux_2_([0-9]+)_.*/\1/p' <<<"$said")
[ -n "$minor" ] && [ "$minor" -le 28 ] || { echo "the wheel does not run on manylinux_2_28: $said"; exit 1; }
case $wheel in *-abi3-manylinux_2_28_*.whl) ;; *) echo "the wheel is not named for abi3 and manylinux_2_28: $wheel"; exit 1 ;; esac
echo "auditwheel: manylinux_2_$minor"

cat >"$work/smoke.py" <<'PY'
import importlib
import pkgutil
import sys
import numpy as np
import parloop as pl

# Nothing but NumPy is installed: every module can be imported all the same, but for what helps to test with pytest.
for module in pkgutil.walk_packages(pl.__path__, "parloop."):
    if not module.name.endswith(("__main__", "test_helpers")):
        importlib.import_module(module.name)

assert [device.kind for device in pl.devices()] == ["cpu"], pl.devices()
x = np.arange(1000.0)
prog = pl.Context().compile("GPUKERN void twice(double *x, int n) { VECTORIZE_OVER(i, n) x[i] *= 2; END_VECTORIZE }")
prog.twice(x=x, n=x.size)
assert np.array_equal(x, 2 * np.arange(1000.0))
print("python %d.%d, numpy %s: ok" % (*sys.version_info[:2], np.__version__))
PY

tried=0
for version in 3.10 3.11 3.12 3.13; do
    python=""
    for candidate in "$(command -v python$version || true)" "$HOME"/.pyenv/versions/$version.*/bin/python /root/.pyenv/versions/$version.*/bin/python; do
        [ -x "$candidate" ] && "$candidate" -c '' 2>/dev/null && python=$candidate && break
    done
    [ -n "$python" ] || { echo "python $version not found"; continue; }
    "$build/uv" venv --quiet --python "$python" "$work/$version"
    "$build/uv" pip install --quiet --python "$work/$version" numpy "$wheel"
    # No OpenCL vendor is registered there, and no HIP or CUDA library has that name.
    (cd "$work" && OCL_ICD_VENDORS="$work/none" OPENCL_VENDOR_PATH="$work/none" PARLOOP_HIP="$work/none.so" PARLOOP_CACHE_DIR="$work/cache" \
        CUDA_VISIBLE_DEVICES="" "$work/$version/bin/python" smoke.py)
    tried=$((tried + 1))
done
[ "$tried" -gt 0 ] || { echo "no Python from 3.10 to 3.13 is here"; exit 1; }
echo "$(basename "$wheel"): tried on $tried versions of Python"
