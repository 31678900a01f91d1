#!/usr/bin/env bash
# What the tests of the OpenCL and HIP backends run on where there is no GPU: PoCL, and AMD's runtime compiler, from Debian's
# packages; OpenBLAS, which a kernel of the loop compiler's tests calls; and two kinds of MPI for the tests of several
# processes. Installed if missing and permitted; with CI=true a missing one is a failure, otherwise its tests are skipped.
set -u
packages=()
has() { ldconfig -p 2>/dev/null | grep -q "$1"; }
ls /etc/OpenCL/vendors/*.icd >/dev/null 2>&1 && has libOpenCL.so.1 || packages+=(pocl-opencl-icd ocl-icd-libopencl1)
has libamdhip64.so || packages+=(libamdhip64-5)
has libhiprtc-builtins.so || ls /usr/lib/*/libhiprtc-builtins.so* >/dev/null 2>&1 || packages+=(libhiprtc-builtins5)
ls /usr/include/{,*/}cblas.h 2>/dev/null | grep -q . || packages+=(libopenblas-dev)
command -v mpirun.openmpi >/dev/null || packages+=(openmpi-bin)
has libmpi.so.40 || packages+=(libopenmpi3)
command -v mpirun.mpich >/dev/null || packages+=(mpich)
[ ${#packages[@]} -eq 0 ] && exit 0

echo "missing for some tests: ${packages[*]}"
as_root=""
[ "$(id -u)" -eq 0 ] || as_root="sudo -n"
if command -v apt-get >/dev/null && { [ -z "$as_root" ] || $as_root true 2>/dev/null; }; then
    echo "installing them"
    $as_root apt-get update -qq >/dev/null 2>&1
    # Manual pages and their index would take half of the time.
    without_pages=()
    [ "${CI:-}" = true ] && without_pages=(-o "Dpkg::Options::=--path-exclude=/usr/share/man/*")
    install() {
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${without_pages[@]}" "$@" >/dev/null 2>&1
    }
    # A package that another release names otherwise must not stop the rest.
    install "${packages[@]}" || for package in "${packages[@]}"; do
        install "$package" || echo "could not install $package"
    done
else
    echo "not installed: no apt-get, or no right to use it; their tests are skipped"
fi
if [ "${CI:-}" = true ] && ! ls /etc/OpenCL/vendors/*.icd >/dev/null 2>&1; then
    echo "CI needs PoCL: apt-get install ${packages[*]}"
    exit 1
fi
exit 0
