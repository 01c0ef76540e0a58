#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# CPU time and memory of `spe c2c` beside those of `perf c2c report`, on recordings of eight CPUs.
#
#   SPE=path/to/spe bench/bench_c2c.sh [MB]
#
# 200 MB by default, or BENCH_C2C_MB: perf takes 15 s and 3 GB for that. CPU time is user and system
# time, the least of three runs (one of perf's); memory is the peak of anonymous memory.
set -euo pipefail

spe=${SPE:-spe}
megabytes=${1:-${BENCH_C2C_MB:-200}}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=bench/common.sh
. "$here/common.sh"

"$spe" c2c --help >/dev/null 2>&1 || {
    echo "this spe has no c2c command: it was built without perfdata"
    exit 0
}

data=$work/perf.data
record "$data" "$megabytes"
echo "records of 64 bytes on $cpus CPUs; output to /dev/null"

perf=$(python3 "$here/../tests/cli/perf_file.py" --which) || {
    show "spe c2c" "$megabytes" "$(measure 3 "$spe" c2c "$data")"
    echo "there is no perf on this machine to compare with"
    exit 0
}
# shellcheck disable=SC2086 # a command line
mapfile -t all < <(measure 3 "$spe" c2c "$data" -- 1 $perf c2c report --stdio -i "$data")
show "spe c2c" "$megabytes" "${all[0]}"
show "perf c2c report --stdio" "$megabytes" "${all[1]}"
faster "spe c2c, perf c2c report" "${all[0]}" "${all[1]}" 200
smaller "spe c2c, perf c2c report" "${all[0]}" "${all[1]}" 0.05
