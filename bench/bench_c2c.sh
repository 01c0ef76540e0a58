#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# CPU time and memory of `spe c2c` beside those of `perf c2c report`, on recordings of eight CPUs.
#
#   SPE=path/to/spe bench/bench_c2c.sh [MB]
#
# perf takes 20 s and 3 GB for 200 MB, so 40 MB (or BENCH_C2C_MB) are the default. CPU time is user
# and system time, the least of three runs (one of perf's); memory is the peak of anonymous memory.
set -euo pipefail

spe=${SPE:-spe}
megabytes=${1:-${BENCH_C2C_MB:-40}}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cpus=8
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$spe" c2c --help >/dev/null 2>&1 || {
    echo "this spe has no c2c command: it was built without perfdata"
    exit 0
}

# "CPU-seconds anonymous-KB" of a command that runs so many times.
measure() {
    python3 - "$@" <<'PYTHON'
import resource, subprocess, sys, time

best, most = None, 0
for _ in range(int(sys.argv[1])):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    child = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
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
        sys.exit(f"{' '.join(sys.argv[2:])}: exit status {child.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    best = took if best is None else min(best, took)
print(f"{best:.3f} {most}")
PYTHON
}

show() { # title, "seconds KB"
    awk -v title="$1" -v mb="$megabytes" -v t="${2% *}" -v m="${2#* }" 'BEGIN {
        printf "%-26s %5d MB %9.3f s %9.1f MB/s %9.1f MB of memory\n", title, mb, t,
            mb * 1.048576 / t, m / 1024
    }'
}

data=$work/perf.data
traces=()
for ((cpu = 0; cpu < cpus; cpu++)); do
    "$spe" gen --records $((megabytes * 1048576 / 64 / cpus)) --cpu neoverse-n1 \
        --seed $((cpu + 1)) -o "$work/$cpu.spe"
    traces+=("$work/$cpu.spe")
done
python3 "$here/../tests/cli/recording_file.py" "${traces[@]}" "$data"
rm "${traces[@]}"
echo "records of 64 bytes on $cpus CPUs; output to /dev/null"

ours=$(measure 3 "$spe" c2c "$data")
show "spe c2c" "$ours"
perf=$(python3 "$here/../tests/cli/perf_file.py" --which) || {
    echo "there is no perf on this machine to compare with"
    exit 0
}
# shellcheck disable=SC2086 # a command line
theirs=$(measure 1 $perf c2c report --stdio -i "$data")
show "perf c2c report --stdio" "$theirs"
awk -v o="$ours" -v t="$theirs" 'BEGIN {
    split(o, a); split(t, b)
    printf "%-26s %9.1f times less CPU time (target: at least 200) %s\n", "spe c2c, perf c2c",
        b[1] / a[1], (b[1] / a[1] >= 200 ? "met" : "MISSED")
    printf "%-26s %9.4f of the memory (target: at most 0.05) %s\n", "spe c2c, perf c2c",
        a[2] / b[2], (a[2] / b[2] <= 0.05 ? "met" : "MISSED")
}'
