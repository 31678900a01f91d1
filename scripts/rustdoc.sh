#!/usr/bin/env bash
# The rustdoc that CI uses: where cargo asks for the examples of a crate that has a folder in target/doc, its reference is written there as well. `cargo doc`
# would have the compiler read all crates and their dependencies once more.
set -eu
if [[ " $* " = *" --test "* ]]; then
    reference=() arguments=("$@") folder=$(dirname "$0")/../target/doc
    while [ $# -gt 0 ]; do
        case $1 in
            --test) ;;
            --test-run-directory) shift ;;
            --crate-name) crate=$2 && reference+=("$1") ;;
            *) reference+=("$1") ;;
        esac
        shift
    done
    [ ! -d "$folder/$crate" ] || rustdoc "${reference[@]}" --output "$folder"
    set -- "${arguments[@]}"
fi
exec rustdoc "$@"
