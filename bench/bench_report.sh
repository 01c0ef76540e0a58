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
cpus=8
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fields=pid,tid,cpu,time,event,ip,sym,dso,addr,data_src,weight

"$spe" report --help >/dev/null 2>&1 || {
    echo "this spe has no report command: it was built without perfdata"
    exit 0
}

# A line "CPU-seconds anonymous-KB" for each of the commands, which are separated by "--" and begin
# with their number of runs.
measure() {
    python3 - "$@" <<'PYTHON'
import resource, subprocess, sys, time


def run(command):
    most = 0
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open("/dev/null", "w", encoding="ascii") as null:
        child = subprocess.Popen(command, stdout=null, stderr=null)
        while child.poll() is None:
            try:
                with open(f"/proc/{child.pid}/status", encoding="ascii") as f:
                    for line in f:
                        if line.startswith("RssAnon:"):
                            most = max(most, int(line.split()[1]))
            except OSError:
                pass
            time.sleep(0.002)
    if child.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {child.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, most


commands = [[]]
for word in sys.argv[1:]:
    if word == "--":
        commands.append([])
    else:
        commands[-1].append(word)
results = [[] for _ in commands]
for turn in range(max(int(c[0]) for c in commands)):
    for command, result in zip(commands, results):
        if turn < int(command[0]):
            result.append(run(command[1:]))
for result in results:
    print(f"{min(r[0] for r in result):.3f} {max(r[1] for r in result)}")
PYTHON
}

# $2 MB of records on eight CPUs, in the file $1.
record() {
    local count=$(($2 * 1048576 / 64 / cpus)) cpu traces=()

    for ((cpu = 0; cpu < cpus; cpu++)); do
        "$spe" gen --records "$count" --cpu neoverse-n1 --seed $((cpu + 1)) -o "$work/$cpu.spe"
        traces+=("$work/$cpu.spe")
    done
    python3 "$here/../tests/cli/recording_file.py" "${traces[@]}" "$1"
    rm "${traces[@]}"
}

show() { # title, MB, "seconds KB"
    awk -v title="$1" -v mb="$2" -v t="${3% *}" -v m="${3#* }" 'BEGIN {
        printf "%-34s %5d MB %9.3f s %9.1f MB/s %9.1f MB of memory\n", title, mb, t,
            mb * 1.048576 / t, m / 1024
    }'
}

faster() { # title, "seconds KB" of ours and theirs, target
    awk -v title="$1" -v o="${2% *}" -v t="${3% *}" -v want="$4" 'BEGIN {
        printf "%-34s %9.1f times less CPU time (target: at least %d) %s\n", title, t / o, want,
            (t / o >= want ? "met" : "MISSED")
    }'
}

smaller() { # title, "seconds KB" of ours and theirs
    awk -v title="$1" -v o="${2#* }" -v t="${3#* }" 'BEGIN {
        printf "%-34s %9.3f of the memory (target: at most 0.1) %s\n", title, o / t,
            (o / t <= 0.1 ? "met" : "MISSED")
    }'
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
smaller "spe report, perf mem report" "${mem[0]}" "${mem[1]}"
smaller "spe report, perf report" "${all[0]}" "${all[1]}"
awk -v o="${all[2]#* }" -v t="${all[3]#* }" 'BEGIN {
    printf "%-34s %9.3f of the memory (0.1 cannot be: a process has that at its start)\n",
        "spe script, perf script", o / t
}'
