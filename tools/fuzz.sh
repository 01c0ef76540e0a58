#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
#   tools/fuzz.sh run [NAME...]     fuzz each target for FUZZ_SECONDS (1200), FUZZ_JOBS at a time
#                                   (as many as there are cores); what is found goes to build-fuzz/
#   tools/fuzz.sh merge [NAME...]   add to fuzz/corpus/<name> the new inputs that reach new code
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${FUZZ_SECONDS:-1200} jobs=${FUZZ_JOBS:-$(nproc)}
action=${1:-run}
shift || true

[ -f build-fuzz/build.ninja ] ||
    CC=clang meson setup build-fuzz -Dfuzzing=true -Dtests=disabled -Dbench=false \
        -Dbuildtype=debugoptimized -Db_lundef=false -Db_pie=false
ninja -C build-fuzz

names=("$@")
if [ ${#names[@]} = 0 ]; then
    for program in build-fuzz/fuzz/fuzz_*; do
        if [ -f "$program" ]; then names+=("${program##*/fuzz_}"); fi
    done
fi
for name in "${names[@]}"; do
    [ -x "build-fuzz/fuzz/fuzz_$name" ] || {
        echo "fuzz: there is no target '$name': is it listed in fuzz/meson.build?" >&2
        exit 2
    }
done

export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}

run_one() {
    local name=$1 seconds=$2 old
    mkdir -p "build-fuzz/found/$name" "build-fuzz/artifacts/$name" "fuzz/corpus/$name"
    # What failed before and was repaired since is of no more use.
    for old in "build-fuzz/artifacts/$name"/*; do
        if [ -f "$old" ] && build-fuzz/fuzz/fuzz_"$name" -timeout=10 "$old" >/dev/null 2>&1; then
            rm "$old"
        fi
    done
    # New inputs go to the first folder, the kept ones are only read.
    build-fuzz/fuzz/fuzz_"$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
        -artifact_prefix="build-fuzz/artifacts/$name/" -print_final_stats=1 \
        "build-fuzz/found/$name" "fuzz/corpus/$name" >"build-fuzz/$name.log" 2>&1
    echo $? >"build-fuzz/$name.status"
}
export -f run_one

case $action in
run)
    echo "fuzz: ${#names[@]} targets, $seconds s each, $jobs at a time"
    printf '%s\n' "${names[@]}" | xargs -P "$jobs" -I{} bash -c 'run_one "$1" "$2"' _ {} "$seconds"
    status=0
    echo
    printf '%-16s %14s %10s %10s %10s  %s\n' target runs coverage kept found result
    for name in "${names[@]}"; do
        log=build-fuzz/$name.log
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        coverage=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
        kept=$(find "fuzz/corpus/$name" -type f | wc -l)
        found=$(find "build-fuzz/found/$name" -type f | wc -l)
        broken=$(find "build-fuzz/artifacts/$name" -type f | wc -l)
        result=ok
        if [ "$broken" != 0 ] || [ "$(cat "build-fuzz/$name.status")" != 0 ]; then
            result="FAILED: see $log; $broken inputs in build-fuzz/artifacts/$name"
            status=1
        fi
        printf '%-16s %14s %10s %10s %10s  %s\n' \
            "$name" "${runs:--}" "${coverage:--}" "$kept" "$found" "$result"
    done
    exit $status
    ;;
merge)
    for name in "${names[@]}"; do
        mkdir -p "build-fuzz/found/$name" "fuzz/corpus/$name"
        before=$(find "fuzz/corpus/$name" -type f | wc -l)
        build-fuzz/fuzz/fuzz_"$name" -set_cover_merge=1 "fuzz/corpus/$name" "build-fuzz/found/$name" \
            >"build-fuzz/$name.merge.log" 2>&1 || { cat "build-fuzz/$name.merge.log"; exit 1; }
        after=$(find "fuzz/corpus/$name" -type f | wc -l)
        echo "fuzz: $name: $before inputs, now $after ($(du -sh "fuzz/corpus/$name" | cut -f 1))"
    done
    ;;
*)
    echo "fuzz: unknown action '$action': expected run or merge" >&2
    exit 2
    ;;
esac
