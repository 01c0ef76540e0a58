#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# CPU time of programs under `spe record` beside that under QEMU alone, in one run.
#
#   SPE=path/to/spe bench/bench_record.sh [rounds]
#
# The least of some rounds, interleaved. Targets: geometric mean at most 1.25 with --model none, at
# most 4.5 and no program above 8 with the model that is the default, core. SPECIMEN_QEMU chooses
# another QEMU.
set -euo pipefail

spe=${SPE:-spe}
rounds=${1:-3}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
qemu=${SPECIMEN_QEMU:-qemu-aarch64}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
TIMEFORMAT='%U %S'

if ! command -v aarch64-linux-gnu-gcc >/dev/null || ! command -v "$qemu" >/dev/null; then
    echo "there is no aarch64-linux-gnu-gcc or no $qemu"
    exit 0
fi
aarch64-linux-gnu-gcc -O2 -fno-tree-vectorize -static -o "$work/prog" "$here/record/workloads.c"

measure() { # what workload command...
    local what=$1 workload=$2
    shift 2
    { time "$@" "$work/prog" "$workload" >/dev/null 2>&1; } 2>&1 |
        awk -v w="$what" -v l="$workload" '{ print l, w, $1 + $2 }'
}

for ((i = 0; i < rounds; i++)); do
    for workload in matmul chase crc qsort; do
        measure plain "$workload" "$qemu" -cpu neoverse-n1
        for model in none functional core; do
            measure "$model" "$workload" "$spe" record -q --qemu "$qemu" --model "$model" \
                -o "$work/x" --
        done
    done
done | awk -v rounds="$rounds" '
{ key = $1 " " $2; if (!(key in t) || $3 < t[key]) t[key] = $3 }
END {
    split("matmul chase crc qsort", names)
    printf "CPU time, least of %d rounds; interval 4096 with jitter\n", rounds
    printf "%-8s %10s %10s %10s %10s\n", "", "QEMU s", "none", "functional", "core"
    for (i = 1; i <= 4; i++) {
        plain = t[names[i] " plain"]; if (plain < 0.001) plain = 0.001
        n = t[names[i] " none"] / plain; f = t[names[i] " functional"] / plain
        c = t[names[i] " core"] / plain
        ln += log(n); lf += log(f); lc += log(c); if (c > worst) worst = c
        printf "%-8s %10.3f %10.2f %10.2f %10.2f\n", names[i], plain, n, f, c
    }
    n = exp(ln / 4); c = exp(lc / 4)
    printf "geometric mean      %10.2f %10.2f %10.2f\n", n, exp(lf / 4), c
    printf "target              %10s %10s %10s\n", "1.25", "", "4.5, 8"
    printf "%-19s %10s %10s %10s\n", "", n <= 1.25 ? "met" : "not met", "",
           c <= 4.5 && worst <= 8 ? "met" : "not met"
}'
