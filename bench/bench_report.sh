#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# CPU time and memory of `spe report` and `spe script` beside perf's, on recordings of eight CPUs,
# the commands in turn.
#
#   SPE=path/to/spe bench/bench_report.sh [MB]
#
# 200 MB by default. `perf mem report` takes minutes and gigabytes for that: it is compared on
# BENCH_MEM_MB (20) MB. CPU time is user and system time of all threads, the least of three runs
# (one of perf's). Memory is the peak of anonymous memory: perf maps the file, and pages of it are
# nobody's.
set -euo pipefail

spe=${SPE:-spe}
megabytes=${1:-200}
mem_megabytes=${BENCH_MEM_MB:-20}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=bench/common.sh
. "$here/common.sh"
fields=pid,tid,cpu,time,event,ip,sym,dso,addr,data_src,weight

"$spe" report --help >/dev/null 2>&1 || {
    echo "this spe has no report command: it was built without perfdata"
    exit 0
}

data=$work/perf.data
mem_data=$work/mem.data
record "$data" "$megabytes"
echo "records of 64 bytes on $cpus CPUs; output to /dev/null"

perf=$(python3 "$here/../tests/cli/perf_file.py" --which) || {
    mapfile -t ours < <(measure 3 "$spe" report "$data" -- 3 "$spe" script -F "$fields" "$data")
    show "spe report" "$megabytes" "${ours[0]}"
    show "spe script" "$megabytes" "${ours[1]}"
    echo "there is no perf on this machine to compare with"
    exit 0
}

# shellcheck disable=SC2086 # a command line
mapfile -t all < <(measure 3 "$spe" report "$data" -- \
    1 $perf report --stdio --itrace=i1i -i "$data" -- \
    3 "$spe" script -F "$fields" "$data" -- \
    1 $perf script --itrace=i1i -F "$fields" -i "$data")
record "$mem_data" "$mem_megabytes"
# shellcheck disable=SC2086
mapfile -t mem < <(measure 3 "$spe" report "$mem_data" -- 1 $perf mem report --stdio -i "$mem_data")

show "spe report" "$megabytes" "${all[0]}"
show "perf report --stdio --itrace=i1i" "$megabytes" "${all[1]}"
show "spe script" "$megabytes" "${all[2]}"
show "perf script --itrace=i1i" "$megabytes" "${all[3]}"
show "spe report" "$mem_megabytes" "${mem[0]}"
show "perf mem report --stdio" "$mem_megabytes" "${mem[1]}"
faster "spe report, perf report" "${all[0]}" "${all[1]}" 30
faster "spe report, perf mem report" "${mem[0]}" "${mem[1]}" 100
faster "spe script, perf script" "${all[2]}" "${all[3]}" 15
smaller "spe report, perf mem report" "${mem[0]}" "${mem[1]}" 0.1
smaller "spe report, perf report" "${all[0]}" "${all[1]}" 0.1
awk -v o="${all[2]#* }" -v t="${all[3]#* }" 'BEGIN {
    printf "%-34s %9.3f of the memory (0.1 cannot be: a process has that at its start)\n",
        "spe script, perf script", o / t
}'
