#!/usr/bin/env bash
# C compiler and linker of wheels: zig, which carries the symbols of every glibc and links for that of manylinux_2_28, whatever glibc this
# machine has. It comes from the package `ziglang` in .venv-build.
set -eu
# Without optimisation zig watches for undefined behaviour, by functions that only its own linker knows.
arguments=(-fno-sanitize=undefined)
for argument in "$@"; do
    case $argument in
        --target=*) ;;                                  # zig does not know the names of machines that Rust uses
        # zig has no libgcc, and its own unwinder must not be used: a thread that Python ends while a kernel runs is unwound by that of the system.
        -lgcc_s) arguments+=("$(gcc -print-file-name=libgcc_s.so.1)") ;;
        *) arguments+=("$argument") ;;
    esac
done
exec "$(dirname "$0")"/../.venv-build/lib/python3*/site-packages/ziglang/zig cc -target "$(uname -m)-linux-gnu.2.28" "${arguments[@]}"
