#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# What Specimen does, in a minute. `make demo` builds it and runs this.
set -euo pipefail
cd "$(dirname "$0")/.."

spe=$(realpath "${SPE:-build/src/spe}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

step() { # a sentence, then the command, which is shown as a reader would type it
    echo
    echo "# $1"
    echo "\$ $2"
    (cd "$work" && PATH="$(dirname "$spe"):$PATH" bash -o pipefail -c "$2")
}

cp examples/three_ways.c "$work"
step "A program for AArch64: three loops over the same numbers, and one of them is slow" \
    "aarch64-linux-gnu-gcc -O2 -g three_ways.c -o three_ways && readelf -h three_ways | grep Machine"
step "Run it here, with a Statistical Profiling Unit in software: a genuine SPE perf.data" \
    "spe record -c 2048 -- ./three_ways"
step "What was slow, where, and why" \
    "spe report --top 4 --data none"
step "Only the loads that took long, a line each" \
    "spe script -F ip,sym,addr,weight,data_src --filter 'load and total > 100' --count 5"
step "The raw packets, as 'perf script -D' prints them" \
    "spe dump --count 8 perf.data"
step "Does every record follow the architecture, and is every byte accounted for?" \
    "spe check perf.data"
cat >"$work/fault.sim" <<'END'
preset neoverse-n1
buffer 0x10000 64K                                    # where the unit writes its records
memory 0x10028 4096 fault=permission stage=2 level=3  # a page that cannot be written
reg PMSCR_EL1.E0SPE=1 PMSIRR_EL1.INTERVAL=1           # sample every 257th operation at EL0
op load pc=0x400000
run 257
show PMBPTR_EL1 PMBSR_EL1
END
step "The unit alone: what happens when its buffer faults in the middle of a record?" \
    "cat fault.sim; spe sim fault.sim"
mkdir -p build
step "All of it as one page for a browser, to click through or to send to somebody" \
    "spe report --html $PWD/build/demo.html && ls -sh $PWD/build/demo.html"
echo
echo "# Open that page in a browser. Next: ${SPE:-build/src/spe} --help, docs/, and 'make install'"
