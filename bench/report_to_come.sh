#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# CPU time and memory of `spe report` and `spe script` beside perf's, on one recording of eight CPUs
# and in one run.
#
#   SPE=path/to/spe bench/bench_report.sh [MB]
#
# 200 MB by default. BENCH_MEM_REPORT=1 also runs `perf mem report`, which takes minutes and
# gigabytes. Memory is anonymous: perf maps the file, and pages of it are nobody's.
set -euo pipefail

spe=${SPE:-spe}
megabytes=${1:-200}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cpus=8
records=$((megabytes * 1048576 / 64 / cpus))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fields=pid,tid,cpu,time,event,ip,sym,dso,addr,data_src,weight

# "CPU-seconds anonymous-KB" of a command: least time of $1 runs, largest memory. The memory is read
# from /proc while the command runs, often enough for commands that take a tenth of a second.
measure() {
    python3 - "$@" <<'PYTHON'
import resource, subprocess, sys, time

best, most = None, 0
for _ in range(int(sys.argv[1])):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open("/dev/null", "w", encoding="ascii") as null:
        child = subprocess.Popen(sys.argv[2:], stdout=null, stderr=null)
        while child.poll() is None:
            try:
                with open(f"/proc/{child.pid}/status", encoding="ascii") as f:
                    for line in f:
                        if line.startswith("RssAnon:"):
                            most = max(most, int(line.split()[1]))
            except OSError:
                pass
            time.sleep(0.005)
    if child.returncode != 0:
        sys.exit(f"{' '.join(sys.argv[2:])}: exit status {child.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    best = used if best is None else min(best, used)
print(f"{best:.3f} {most}")
PYTHON
}

show() { # title, "seconds KB"
    awk -v title="$1" -v t="${2% *}" -v m="${2#* }" -v b="$bytes" \
        'BEGIN { printf "%-34s %9.3f s %9.1f MB/s %9.1f MB\n", title, t, b / t / 1e6, m / 1024 }'
}

ratio() { # title, ours, theirs, target
    awk -v title="$1" -v ot="${2% *}" -v om="${2#* }" -v tt="${3% *}" -v tm="${3#* }" -v want="$4" \
        'BEGIN { printf "%-34s %9.1f times faster (target: at least %d), %.2f of the memory (target: at most 0.10)\n", title, tt / ot, want, om / tm }'
}

traces=()
for ((cpu = 0; cpu < cpus; cpu++)); do
    "$spe" gen --records "$records" --cpu neoverse-n1 --seed $((cpu + 1)) -o "$work/$cpu.spe"
    traces+=("$work/$cpu.spe")
done
python3 "$here/../tests/cli/recording_file.py" "${traces[@]}" "$work/perf.data"
rm "${traces[@]}"
bytes=$(stat -c %s "$work/perf.data")
echo "$((records * cpus)) records of 64 bytes on $cpus CPUs, $((bytes / 1000000)) MB; output to /dev/null"

report=$(measure 3 "$spe" report "$work/perf.data")
script=$(measure 3 "$spe" script -F "$fields" "$work/perf.data")
show "spe report" "$report"
show "spe script" "$script"

perf=$(python3 "$here/../tests/cli/perf_file.py" --which) || {
    echo "there is no perf on this machine to compare with"
    exit 0
}
# shellcheck disable=SC2086 # a command line
their_report=$(measure 1 $perf report --stdio --itrace=i1i -i "$work/perf.data")
# shellcheck disable=SC2086
their_script=$(measure 1 $perf script --itrace=i1i -F "$fields" -i "$work/perf.data")
show "perf report --stdio --itrace=i1i" "$their_report"
show "perf script --itrace=i1i" "$their_script"
if [ -n "${BENCH_MEM_REPORT:-}" ]; then
    # shellcheck disable=SC2086
    their_mem=$(measure 1 $perf mem report --stdio -i "$work/perf.data")
    show "perf mem report --stdio" "$their_mem"
    ratio "spe report, perf mem report" "$report" "$their_mem" 100
fi
ratio "spe report, perf report" "$report" "$their_report" 30
ratio "spe script, perf script" "$script" "$their_script" 15
