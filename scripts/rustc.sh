#!/usr/bin/env bash
# The compiler that CI uses for our crates: clippy's driver, which is rustc with more lints. Tests call optimised crates and are not optimised themselves:
# cargo has one setting for a package, and optimising tests takes longer than it saves.
set -eu
if [[ " $* " = *" --test "* ]]; then
    set -- "${@/#opt-level=[123]/opt-level=0}"
fi
exec clippy-driver "$@"
