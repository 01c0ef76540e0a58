#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# CPU time of programs under `spe record` beside that under QEMU alone, in one run.
#
#   SPE=path/to/spe bench/bench_record.sh [rounds [models]]
#
# The least of some rounds, interleaved, of the models none and core, or of those that are named.
# Targets: geometric mean at most 1.25 with --model none, at most 4.5 and no program above 8 with
# the model that is the default, core; with -g at most 0.3 more. A round takes half a minute.
# SPECIMEN_QEMU chooses another QEMU.
set -euo pipefail

spe=${SPE:-spe}
rounds=${1:-1}
models=${2:-none core}
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
        for model in $models; do
            measure "$model" "$workload" "$spe" record -q --qemu "$qemu" --model "$model" \
                -o "$work/x" --
            measure "$model-g" "$workload" "$spe" record -g -q --qemu "$qemu" --model "$model" \
                -o "$work/x" --
        done
    done
done | awk -v rounds="$rounds" -v models="$models" '
function verdict(model, plain, worst) { # of a geometric mean, or of what -g adds
    if (model == "none")
        return plain <= 1.25 ? "met" : "not met"
    return model != "core" ? "" : plain <= 4.5 && worst <= 8 ? "met" : "not met"
}
{ key = $1 " " $2; if (!(key in t) || $3 < t[key]) t[key] = $3 }
END {
    split("matmul chase crc qsort", names)
    count = split(models, model)
    for (i = 1; i <= count; i++) { column[2 * i - 1] = model[i]; column[2 * i] = model[i] "-g" }
    target["none"] = "1.25"; target["core"] = "4.5, 8"
    printf "CPU time, least of %d rounds; interval 4096 with jitter\n%-8s %10s", rounds, "", "QEMU s"
    for (c = 1; c <= 2 * count; c++)
        printf " %12s", column[c]
    for (i = 1; i <= 4; i++) {
        plain = t[names[i] " plain"]; if (plain < 0.001) plain = 0.001
        printf "\n%-8s %10.3f", names[i], plain
        for (c = 1; c <= 2 * count; c++) {
            ratio = t[names[i] " " column[c]] / plain
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
    for (i = 1; i <= count; i++)
        printf " %12s %12s", verdict(model[i], exp(sum[2 * i - 1]), worst[2 * i - 1]),
               exp(sum[2 * i]) <= exp(sum[2 * i - 1]) + 0.3 ? "met" : "not met"
    printf "\n"
}'
