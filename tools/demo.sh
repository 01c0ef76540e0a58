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

step "A stream of 1000 sample records, as a Neoverse N1 would write them" \
    "spe gen --records 1000 --cpu neoverse-n1 > stream.spe && ls -l stream.spe | cut -d ' ' -f 5-"
step "Its first packets, one a line" \
    "spe dump --raw --count 24 stream.spe"
step "The same, one record a line" \
    "spe dump --raw --records --count 5 stream.spe"
step "Does it follow the rules of the architecture, and is every byte accounted for?" \
    "spe check --cpu neoverse-n1 stream.spe"
cat >"$work/fault.sim" <<'END'
preset neoverse-n1
buffer 0x10000 64K                                    # where the unit writes its records
memory 0x10028 4096 fault=permission stage=2 level=3  # a page that cannot be written
reg PMSCR_EL1.E0SPE=1 PMSIRR_EL1.INTERVAL=1           # sample every 257th operation at EL0
op load pc=0x400000
run 257
show PMBPTR_EL1 PMBSR_EL1
END
step "The unit itself: what happens when its buffer faults in the middle of a record?" \
    "cat fault.sim; spe sim fault.sim"
echo
echo "# Next: ${SPE:-build/src/spe} --help, docs/, and 'make install'"
