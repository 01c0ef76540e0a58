#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# CPU time and elapsed time of programs under `spe record`, beside QEMU alone, in one run.
#
#   SPE=path/to/spe bench/bench_record.sh [rounds [models]]
#
# The least of some rounds, interleaved, of the models none and core, or of those that are named.
# Targets: geometric mean at most 1.25 with --model none (1.15 with a QEMU that counts by itself,
# 9.1 or newer), at most 4.5 and no program above 8 with the model that is the default, core; with
# -g at most 0.3 more. Both times are held against them: CPU time is what a recording takes away
# from others, elapsed time is how long its user waits. core runs in a thread of its own beside a
# program of one thread: that makes elapsed time shorter, and CPU time not. Elapsed times say
# something only where two processors are idle, and are not judged elsewhere. A round takes half a
# minute. SPECIMEN_QEMU chooses another QEMU.
set -euo pipefail

spe=${SPE:-spe}
rounds=${1:-1}
models=${2:-none core}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
qemu=${SPECIMEN_QEMU:-qemu-aarch64}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
TIMEFORMAT='%R %U %S'

if ! command -v aarch64-linux-gnu-gcc >/dev/null || ! command -v "$qemu" >/dev/null; then
    echo "there is no aarch64-linux-gnu-gcc or no $qemu"
    exit 0
fi
aarch64-linux-gnu-gcc -O2 -fno-tree-vectorize -static -o "$work/prog" "$here/record/workloads.c"
load=$(cut -d' ' -f1 /proc/loadavg)
idle=$(awk -v load="$load" -v all="$(nproc)" 'BEGIN { print (all - load > 1.5) }')
version=$("$qemu" --version | sed -n 's/.*version \([0-9]*\.[0-9]*\).*/\1/p')

measure() { # what workload command...
    local what=$1 workload=$2
    shift 2
    { time "$@" "$work/prog" "$workload" >/dev/null 2>&1; } 2>&1 |
        awk -v w="$what" -v l="$workload" '{ print l, w, $2 + $3, $1 }'
}

for ((i = 0; i < rounds; i++)); do
    for workload in matmul chase crc qsort; do
        measure plain "$workload" "$qemu" -cpu neoverse-n1
        for model in $models; do
            measure "$model" "$workload" "$spe" record -q --qemu "$qemu" --model "$model" \
                -o "$work/x" --
            measure "$model-g" "$workload" "$spe" record -g -q --qemu "$qemu" --model "$model" \
                -o "$work/x" --
        done
    done
done | awk -v rounds="$rounds" -v models="$models" -v version="$version" -v load="$load" \
    -v idle="$idle" '
function verdict(model, plain, worst) { # of a geometric mean
    if (model == "none")
        return plain <= none ? "met" : "not met"
    return model != "core" ? "" : plain <= 4.5 && worst <= 8 ? "met" : "not met"
}
function table(kind, title,    i, c, plain, ratio, sum, worst) {
    printf "%s\n%-8s %10s", title, "", "QEMU s"
    for (c = 1; c <= 2 * count; c++)
        printf " %12s", column[c]
    for (i = 1; i <= 4; i++) {
        plain = t[kind, names[i], "plain"]; if (plain < 0.001) plain = 0.001
        printf "\n%-8s %10.3f", names[i], plain
        for (c = 1; c <= 2 * count; c++) {
            ratio = t[kind, names[i], column[c]] / plain
            sum[c] += log(ratio) / 4
            if (ratio > worst[c]) worst[c] = ratio
            printf " %12.2f", ratio
        }
    }
    printf "\n%-19s", "geometric mean"
    for (c = 1; c <= 2 * count; c++)
        printf " %12.2f", exp(sum[c])
    printf "\n%-19s", "target"
    for (i = 1; i <= count; i++)
        printf " %12s %12s", target[model[i]], "+0.3"
    printf "\n%-19s", ""
    if (kind == "elapsed" && !idle)
        printf " not judged: other programs run"
    else for (i = 1; i <= count; i++)
        printf " %12s %12s", verdict(model[i], exp(sum[2 * i - 1]), worst[2 * i - 1]),
               exp(sum[2 * i]) <= exp(sum[2 * i - 1]) + 0.3 ? "met" : "not met"
    printf "\n"
}
function note(kind, seconds) {
    if (!((kind, $1, $2) in t) || seconds < t[kind, $1, $2]) t[kind, $1, $2] = seconds
}
{ note("cpu", $3); note("elapsed", $4) }
END {
    split(version, part, ".")
    none = part[1] * 100 + part[2] >= 901 ? 1.15 : 1.25
    split("matmul chase crc qsort", names)
    count = split(models, model)
    for (i = 1; i <= count; i++) { column[2 * i - 1] = model[i]; column[2 * i] = model[i] "-g" }
    target["none"] = none; target["core"] = "4.5, 8"
    printf "QEMU %s, least of %d rounds; interval 4096 with jitter\n\n", version, rounds
    table("cpu", "CPU time, of the program, the model and the launcher together")
    printf "\n"
    table("elapsed", "elapsed time; it needs two idle processors, the load was " load)
}'
