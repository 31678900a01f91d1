#!/usr/bin/env bash
# Packages every crate that is published and compiles each from its package, as a dry run of `cargo publish`; with --upload, publishes them.
#
# One command takes all crates: `cargo publish --dry-run` of a single crate looks for the crates it depends on in the registry, where they
# are not before the first release. With --workspace, cargo sorts the crates by their dependencies and finds those that are not yet
# published among the packages that it has made.
set -eu
cd "$(dirname "$0")/.."
case "${1:-}" in
    --upload) exec cargo publish --locked --workspace ;;
    "") exec cargo publish --locked --workspace --dry-run ;;
    *) echo "usage: scripts/publish.sh [--upload]"; exit 2 ;;
esac
