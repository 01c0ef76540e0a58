#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# CPU time of `spe dump` beside that of `perf script -D`, on the same records in one run.
#
#   SPE=path/to/spe bench/bench_dump.sh [records]
#
# Prints both rates and their ratio, or only ours where there is no perf to compare with.
set -euo pipefail

spe=${SPE:-spe}
records=${1:-400000}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
perf_file=$here/../tests/cli/perf_file.py
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
TIMEFORMAT='%U %S'

# The least CPU seconds (user and system) of $1 runs of the rest.
least_cpu() {
    local runs=$1 i
    shift
    for ((i = 0; i < runs; i++)); do
        { time "$@" >"$work/out" 2>/dev/null; } 2>&1
    done | awk '{ t = $1 + $2; if (NR == 1 || t < best) best = t } END { printf "%.3f", best }'
}

"$spe" gen --records "$records" --cpu neoverse-n1 -o "$work/trace.spe"
ln -s /dev/null "$work/out"
bytes=$(stat -c %s "$work/trace.spe")
ours=$(least_cpu 5 "$spe" dump "$work/trace.spe")
echo "records of 64 bytes: $records, $((bytes / 1000000)) MB; output to /dev/null; CPU time"
awk -v b="$bytes" -v t="$ours" 'BEGIN { printf "spe dump         %8.3f s %8.1f MB/s\n", t, b / t / 1e6 }'

perf=$(python3 "$perf_file" --which) || {
    echo "there is no perf on this machine to compare with"
    exit 0
}
python3 "$perf_file" "$work/trace.spe" "$work/perf.data"
# shellcheck disable=SC2086 # a command line
theirs=$(least_cpu 2 $perf script -D -i "$work/perf.data")
awk -v b="$bytes" -v t="$theirs" -v o="$ours" 'BEGIN {
    printf "perf script -D   %8.3f s %8.1f MB/s\n", t, b / t / 1e6
    printf "ratio            %8.1f   (target: at least 20)\n", t / o
}'
