#!/usr/bin/env bash
# rustdoc as CI has it: where cargo asks for the examples of a crate, its reference is written to target/doc as well. `cargo doc` would have the
# compiler read all crates and their dependencies once more.
set -eu
if [[ " $* " = *" --test "* ]]; then
    reference=()
    arguments=("$@")
    while [ $# -gt 0 ]; do
        case $1 in
            --test) ;;
            --test-run-directory) shift ;;
            *) reference+=("$1") ;;
        esac
        shift
    done
    rustdoc "${reference[@]}" --output "$(dirname "$0")/../target/doc"
    set -- "${arguments[@]}"
fi
exec rustdoc "$@"
