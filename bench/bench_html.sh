#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# CPU time of `spe report --html` beside that of `spe report`, and of `spe diff` beside that of the
# two reports, on recordings of eight CPUs, the commands in turn.
#
#   SPE=path/to/spe bench/bench_html.sh [MB]
#
# 200 MB by default. CPU time is user and system time of all threads, the least of five runs.
set -euo pipefail

spe=${SPE:-spe}
megabytes=${1:-200}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=bench/common.sh
. "$here/common.sh"

"$spe" report --help >/dev/null 2>&1 || {
    echo "this spe has no report command: it was built without perfdata"
    exit 0
}

record "$work/a.data" "$megabytes"
record "$work/b.data" "$megabytes" "$cpus"
echo "records of 64 bytes on $cpus CPUs"
mapfile -t all < <(measure 5 "$spe" report "$work/a.data" -- 5 "$spe" report "$work/b.data" -- \
    5 "$spe" report --html "$work/page.html" "$work/a.data" -- \
    5 "$spe" diff "$work/a.data" "$work/b.data")
show "spe report" "$megabytes" "${all[0]}"
show "spe report, another recording" "$megabytes" "${all[1]}"
show "spe report --html" "$megabytes" "${all[2]}"
show "spe diff, of both" $((2 * megabytes)) "${all[3]}"
within "spe report --html" "${all[2]% *}" "$(awk -v r="${all[0]% *}" 'BEGIN { print 2 * r + 0.2 }')" \
    "twice spe report and 0.2 s"
within "spe diff" "${all[3]% *}" \
    "$(awk -v a="${all[0]% *}" -v b="${all[1]% *}" 'BEGIN { print 2 * (a + b) }')" \
    "twice the two reports"
