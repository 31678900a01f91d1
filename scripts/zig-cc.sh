#!/usr/bin/env bash
# C compiler and linker of wheels: zig, which carries the symbols of every glibc and links for that of manylinux_2_28, whatever glibc this
# machine has. It comes from the package `ziglang` in .venv-wheels.
set -eu
arguments=()
for argument in "$@"; do
    case $argument in
        --target=*) ;;                                  # zig does not know the names of machines that Rust uses
        -lgcc_s) arguments+=(-lunwind) ;;               # zig has no libgcc; its unwinder is linked in
        *) arguments+=("$argument") ;;
    esac
done
exec "$(dirname "$0")"/../.venv-wheels/bin/python -m ziglang cc -target "$(uname -m)-linux-gnu.2.28" "${arguments[@]}"
