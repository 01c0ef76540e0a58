#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# CPU time and elapsed time of programs under `spe record`, beside QEMU alone, in one run.
#
#   SPE=path/to/spe bench/bench_record.sh [rounds [models]]
#
# The least of some rounds, interleaved, of the models none and core, or of those that are named.
# Targets: geometric mean of the first four at most 1.25 with --model none (1.15 with a QEMU that
# counts by itself, 9.1 or newer), at most 4.5 with the model that is the default, core; with -g at
# most 0.3 more. No program above 8 with core: pack, whose loads miss most, is there for that.
# At most 300 MB for a program with 128 threads. Where QEMU can only call back
# (up to 8.2), the column "empty" is a plugin that does nothing at each block and each access, for
# comparison. Both times are held against them: elapsed time is how long a user waits, CPU time is
# what a recording takes away from others. With core they differ, because the model runs beside the
# program. Elapsed times say something only where two processors are free: if others take more than
# a twentieth of one meanwhile, they are not judged. A round takes half a minute. SPECIMEN_QEMU
# chooses another QEMU.
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
aarch64-linux-gnu-gcc -O2 -fno-tree-vectorize -static -pthread -o "$work/prog" \
    "$here/record/workloads.c"
version=$("$qemu" --version | sed -n 's/.*version \([0-9]*\.[0-9]*\).*/\1/p')

measure() { # what workload command...
    local what=$1 workload=$2 times
    shift 2
    if ! times=$({ time "$@" "$work/prog" "$workload" >/dev/null 2>"$work/said"; } 2>&1); then
        echo "bench_record: $what $workload failed: $(tail -n 1 "$work/said")" >&2
        exit 1
    fi
    awk -v w="$what" -v l="$workload" '{ print l, w, $2 + $3, $1 }' <<<"$times"
}

"${CC:-cc}" -O2 -shared -fPIC -o "$work/empty.so" "$here/record/empty_plugin.c"
empty=1
"$qemu" -plugin "$work/empty.so" "$work/prog" >/dev/null 2>"$work/said" || true # it says how to use it
grep -q plugin "$work/said" && empty=

memory() { # command...: MB of the largest of its processes
    python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)' "$@" "$work/prog" threads
}

# Ticks that all processors were busy, or taken away from this machine, and those of this shell and
# its children; and the time.
clocks() { # what
    local -a all own

    read -r -a all </proc/stat
    read -r -a own </proc/self/stat
    echo "$1 $((all[1] + all[2] + all[3] + all[6] + all[7] + all[8]))" \
        "$((own[13] + own[14] + own[15] + own[16])) $EPOCHREALTIME"
}

all_rounds() {
    clocks begin
    for ((i = 0; i < rounds; i++)); do
        for workload in matmul chase crc qsort pack; do
            measure plain "$workload" "$qemu" -cpu neoverse-n1
            [ -z "$empty" ] ||
                measure empty "$workload" "$qemu" -cpu neoverse-n1 -plugin "$work/empty.so"
            for model in $models; do
                measure "$model" "$workload" "$spe" record -q --qemu "$qemu" --model "$model" \
                    -o "$work/x" --
                measure "$model-g" "$workload" "$spe" record -g -q --qemu "$qemu" --model "$model" \
                    -o "$work/x" --
            done
        done
    done
    clocks end
}

all_rounds | awk -v rounds="$rounds" -v models="$models" -v version="$version" \
    -v processors="$(nproc)" -v ticks="$(getconf CLK_TCK)" '
function verdict(model, plain, worst) { # of a geometric mean
    if (model == "none")
        return plain <= none ? "met" : "not met"
    if (model == "core")
        return (plain <= 4.5 ? "met" : "not met") ", " (worst <= 8 ? "met" : "not met")
    return ""
}
function table(kind, title,    i, c, plain, ratio, sum, worst, floor) {
    printf "%s\n%-8s %10s", title, "", "QEMU s"
    if (empties) printf " %8s", "empty"
    for (c = 1; c <= 2 * count; c++)
        printf " %12s", column[c]
    for (i = 1; i <= 5; i++) {
        plain = t[kind, names[i], "plain"]; if (plain < 0.001) plain = 0.001
        printf "\n%-8s %10.3f", names[i], plain
        if (empties) {
            ratio = t[kind, names[i], "empty"] / plain
            if (i <= 4) floor += log(ratio) / 4
            printf " %8.2f", ratio
        }
        for (c = 1; c <= 2 * count; c++) {
            ratio = t[kind, names[i], column[c]] / plain
            if (i <= 4) sum[c] += log(ratio) / 4
            if (ratio > worst[c]) worst[c] = ratio
            printf " %12.2f", ratio
        }
    }
    printf "\n%-19s", "mean of first four"
    if (empties) printf " %8.2f", exp(floor)
    for (c = 1; c <= 2 * count; c++)
        printf " %12.2f", exp(sum[c])
    printf "\n%-19s", "target"
    if (empties) printf " %8s", ""
    for (i = 1; i <= count; i++)
        printf " %12s %12s", target[model[i]], "+0.3"
    printf "\n%-19s", ""
    if (empties) printf " %8s", ""
    if (kind == "elapsed" && (others > 0.05 || processors < 2))
        printf " not judged: it needs two free processors"
    else for (i = 1; i <= count; i++)
        printf " %12s %12s", verdict(model[i], exp(sum[2 * i - 1]), worst[2 * i - 1]),
               exp(sum[2 * i]) <= exp(sum[2 * i - 1]) + 0.3 ? "met" : "not met"
    printf "\n"
}
function note(kind, seconds) {
    if (!((kind, $1, $2) in t) || seconds < t[kind, $1, $2]) t[kind, $1, $2] = seconds
}
$1 == "begin" { all = $2; own = $3; began = $4; next }
$1 == "end" {
    others = ($2 - all - ($3 - own)) / ticks / ($4 - began)
    if (others < 0) others = 0 # ticks are counted in two places
    next
}
{ note("cpu", $3); note("elapsed", $4) }
END {
    split(version, part, ".")
    none = part[1] * 100 + part[2] >= 901 ? 1.15 : 1.25
    split("matmul chase crc qsort pack", names)
    count = split(models, model)
    empties = ("cpu", names[1], "empty") in t
    for (i = 1; i <= count; i++) { column[2 * i - 1] = model[i]; column[2 * i] = model[i] "-g" }
    target["none"] = none; target["core"] = "4.5, 8"
    for (i = 1; i <= 5; i++)
        for (c = 1; c <= 2 * count; c++)
            if (!(("cpu", names[i], column[c]) in t)) exit 1 # one of them failed, and said so
    printf "QEMU %s, least of %d rounds; interval 4096 with jitter\n\n", version, rounds
    table("cpu", "CPU time, of the program, the model and the launcher together")
    printf "\n"
    table("elapsed", sprintf("elapsed time; other programs took %.2f of a processor", others))
}'

printf '\n128 threads: %s MB with QEMU alone\n' "$(memory "$qemu" -cpu neoverse-n1)"
for model in $models; do
    mb=$(memory "$spe" record -q --qemu "$qemu" --model "$model" -o "$work/x" --)
    printf '128 threads: %s MB with %s (target: at most 300 MB) %s\n' "$mb" "$model" \
        "$([ "$mb" -le 300 ] && echo met || echo "not met")"
done
