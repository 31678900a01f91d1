#!/usr/bin/env bash
# valgrind's memcheck over the Rust tests of devices, objects and kernels: `bash scripts/memcheck.sh [CRATE…]`. Prints a line for each
# test binary and exits with 1 if memory was misused. Kernels are compiled without AVX-512, which valgrind does not support; tests of OpenCL,
# whose compiler uses it, those that limit or use up the addresses of their process, and one that needs two concurrent threads are left
# out. A binary may take MEMCHECK_S seconds (900).
set -u
crates=("$@")
[ ${#crates[@]} -gt 0 ] || crates=(parloop-device parloop-object parloop-kernel)
command -v valgrind >/dev/null || { echo "valgrind is missing: apt-get install valgrind"; exit 1; }
export PARLOOP_CC="cc -mno-avx512f"
export OCL_ICD_VENDORS=/nonexistent
export PARLOOP_CACHE_DIR
PARLOOP_CACHE_DIR=$(mktemp -d)
trap 'rm -rf "$PARLOOP_CACHE_DIR"' EXIT
failed=0
for crate in "${crates[@]}"; do
    mapfile -t binaries < <(cargo test --quiet --package "$crate" --tests --no-run --message-format=json 2>/dev/null \
        | sed -n 's/.*"executable":"\([^"]*\)".*/\1/p')
    [ ${#binaries[@]} -gt 0 ] || { echo "$crate: no tests were built"; exit 1; }
    for binary in "${binaries[@]}"; do
        # The compilers of GPU vendors: what the dynamic linker does to load them is reported, though it is right.
        case $(basename "$binary") in gpu-* | capi_gpu-*) continue ;; esac
        log=$(mktemp)
        (cd "crates/$crate" && timeout "${MEMCHECK_S:-900}" valgrind --error-exitcode=9 --leak-check=no \
            --log-file="$log" "$binary" --test-threads=1 --skip growable --skip limit --skip panics --skip short_ranges_run >"$log.out" 2>&1) 2>/dev/null
        code=$?
        errors=$(grep -o 'ERROR SUMMARY: [0-9]* errors' "$log" | grep -o '[0-9]*' | awk '{ sum += $1 } END { print sum + 0 }')
        tests=$(grep -o '^test result: .*' "$log.out" | head -1)
        printf '%-16s %-28s %4s errors   %s\n' "$crate" "$(basename "$binary" | sed 's/-[0-9a-f]*$//')" "$errors" "${tests:-not finished (exit $code)}"
        if [ "$errors" != 0 ] || [ "$code" = 9 ]; then
            grep -m 40 '==' "$log"
            failed=1
        fi
        rm -f "$log" "$log.out"
    done
done
exit $failed
