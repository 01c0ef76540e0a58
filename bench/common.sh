# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# What several benchmarks of the reading side share. They source it with $spe, $here and $work set.
# shellcheck shell=bash disable=SC2154 # which they are

cpus=8

# A line "CPU-seconds anonymous-KB" for each of the commands: see measure.py.
measure() {
    python3 "$here/measure.py" "$@"
}

# $2 MB of records on eight CPUs, in the file $1; $3 tells one such recording from another.
record() {
    local count=$(($2 * 1048576 / 64 / cpus)) cpu traces=()

    for ((cpu = 0; cpu < cpus; cpu++)); do
        "$spe" gen --records "$count" --cpu neoverse-n1 --seed $((${3:-0} + cpu + 1)) \
            -o "$work/$cpu.spe"
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

smaller() { # title, "seconds KB" of ours and theirs, target
    awk -v title="$1" -v o="${2#* }" -v t="${3#* }" -v want="$4" 'BEGIN {
        printf "%-34s %9.3f of the memory (target: at most %s) %s\n", title, o / t, want,
            (o / t <= want ? "met" : "MISSED")
    }'
}

within() { # title, seconds, limit in seconds, what the limit is
    awk -v title="$1" -v t="$2" -v limit="$3" -v what="$4" 'BEGIN {
        printf "%-34s %9.3f s of CPU time (target: at most %.3f s, %s) %s\n", title, t, limit, what,
            (t <= limit ? "met" : "MISSED")
    }'
}
