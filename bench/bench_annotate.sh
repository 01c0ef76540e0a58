#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# CPU time of `spe annotate` beside `perf annotate --stdio`, of the same function of a recording of
# eight CPUs and 64 processes.
#
#   SPE=path/to/spe bench/bench_annotate.sh [MB]
#
# 200 MB by default. CPU time is user and system time, of all threads and of the programs that perf
# starts, the least of nine runs (two of perf's), the commands in turn. The program has 4096
# functions, at the addresses that `spe gen` makes up. perf shows misses and where loads were served
# as we do, but a page for each event; with --itrace=i1i it has one sample for each record, and only
# counts of these.
set -euo pipefail

spe=${SPE:-spe}
megabytes=${1:-200}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
objdump=aarch64-linux-gnu-objdump
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=bench/common.sh
. "$here/common.sh"

if ! command -v aarch64-linux-gnu-gcc >/dev/null; then
    echo "there is no aarch64-linux-gnu-gcc to make a program with"
    exit 0
fi

for ((i = 0; i < 4096; i++)); do
    printf '.global f%d\n.type f%d, %%function\nf%d:\n' $i $i $i
    printf '.rept 64\nldr x0, [x0]\nadd x1, x1, x0\ncbz x1, f%d\neor x2, x1, x0\n.endr\n' $i
    printf '.size f%d, . - f%d\n' $i $i
done >"$work/program.S"
aarch64-linux-gnu-gcc -nostdlib -static -Wl,--build-id,-e,f0,-Ttext=0x420000 -o "$work/program" \
    "$work/program.S"
for ((cpu = 1; cpu <= cpus; cpu++)); do
    "$spe" gen --records $((megabytes * 2048)) --cpu neoverse-n1 --seed $cpu -o "$work/$cpu.spe"
done

python3 - "$here/../tests/cli" "$work" <<'PYTHON'
import subprocess, sys

sys.path.insert(0, sys.argv[1])
import recording_file as t

work = sys.argv[2]
header = subprocess.run(["readelf", "-SW", work + "/program"], check=True, capture_output=True,
                        text=True).stdout
text = next(line for line in header.splitlines() if " .text " in line).split("PROGBITS")[1].split()
recording = t.Recording(cpus=8)
for tid in range(1000, 1064):
    recording.comm(tid, tid, f"worker-{tid}")
    recording.mmap(tid, 0xaaaac8a00000, 0x400000, int(text[1], 16), work + "/program")
pieces = []
for cpu in range(8):
    with open(f"{work}/{cpu + 1}.spe", "rb") as f:
        data = f.read()
    pieces += [(at, cpu, data[at:at + (2 << 20)]) for at in range(0, len(data), 2 << 20)]
for _, cpu, piece in sorted(pieces, key=lambda piece: piece[:2]):
    recording.aux(cpu, piece)
recording.write(work + "/perf.data")
PYTHON
rm "$work"/?.spe

function=$("$spe" report --csv --by function --top 2 "$work/perf.data" 2>/dev/null |
    grep -oE '\bf[0-9]+\b' | head -1)
echo "records of 64 bytes on $cpus CPUs, 64 processes; output to /dev/null"
perf=$(python3 "$here/../tests/cli/perf_file.py" --which) || {
    show "spe annotate $function" "$megabytes" \
        "$(measure 5 "$spe" annotate "$function" "$work/perf.data")"
    echo "there is no perf on this machine to compare with"
    exit 0
}
theirs=("$perf annotate --stdio --objdump=$objdump -i $work/perf.data $function"
    "$perf annotate --stdio --itrace=i1i --objdump=$objdump -i $work/perf.data $function")
# shellcheck disable=SC2086 # command lines
mapfile -t all < <(measure 9 "$spe" annotate "$function" "$work/perf.data" -- \
    3 "$spe" annotate "$work/perf.data" -- 2 ${theirs[0]} -- 2 ${theirs[1]})
show "spe annotate $function" "$megabytes" "${all[0]}"
show "spe annotate, the three hottest" "$megabytes" "${all[1]}"
show "perf annotate --stdio $function" "$megabytes" "${all[2]}"
show "... --itrace=i1i: counts alone" "$megabytes" "${all[3]}"
faster "spe annotate, perf annotate" "${all[0]}" "${all[2]}" 50
awk -v o="${all[0]% *}" -v t="${all[3]% *}" 'BEGIN {
    printf "%-34s %9.1f times less CPU time\n", "... with --itrace=i1i", t / o }'
