#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# What `--by type` adds to the CPU time of `spe report --by function`, for a program of 250,000 lines.
#
#   SPE=path/to/spe bench/bench_types.sh
#
# The program (types_program.py) is compiled for AArch64 with -O1 -g and recorded by `spe record`,
# once, which takes two minutes: both are kept in bench-types of the build folder. CPU time is user
# and system time, the least of five runs, the commands in turn.
set -euo pipefail

spe=${SPE:-spe}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
kept=$(cd "$(dirname "$(command -v "$spe")")/.." && pwd)/bench-types
jobs=$(nproc)
# shellcheck source=bench/common.sh
. "$here/common.sh"

for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
    command -v "$tool" >/dev/null || {
        echo "there is no $tool to make or run a program with"
        exit 0
    }
done

if [ ! -f "$kept/perf.data" ] || [ "$here/types_program.py" -nt "$kept/perf.data" ]; then
    rm -rf "$kept"
    mkdir -p "$kept/new"
    python3 "$here/types_program.py" "$kept/new" >"$kept/lines"
    find "$kept/new" -name '*.c' -print0 |
        xargs -0 -P "$jobs" -I{} aarch64-linux-gnu-gcc -O1 -g -c {} -o {}.o
    aarch64-linux-gnu-gcc -static -o "$kept/program" "$kept"/new/*.o
    "$spe" record -q -N --model none -c 256 -o "$kept/half.data" -- "$kept/program"
    rm -r "$kept/new"
    mv "$kept/half.data" "$kept/perf.data"
fi

data=$kept/perf.data
megabytes=$(($(stat -c %s "$data") / 1048576))
echo "a program of $(cat "$kept/lines") lines"
mapfile -t all < <(measure 5 "$spe" report --by function "$data" -- \
    5 "$spe" report --by type "$data" -- 5 "$spe" report --by member "$data")
show "spe report --by function" "$megabytes" "${all[0]}"
show "spe report --by type" "$megabytes" "${all[1]}"
show "spe report --by member" "$megabytes" "${all[2]}"
within "--by type adds" "$(awk -v a="${all[1]% *}" -v b="${all[0]% *}" 'BEGIN { print a - b }')" \
    0.5 "for a program of 250,000 lines"
