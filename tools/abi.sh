#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# Compares the libraries of a build with the ABI that is kept in docs/abi: what a program may rely on
# is there, in the same shape. New functions are fine, and so are new members at the end of structs
# that may grow (tools/abi_growth.py).
#
#   tools/abi.sh [--update] BUILD
#
#   --update  keep the ABI of this build instead: after additions, or when the soname has changed
set -euo pipefail
cd "$(dirname "$0")/.."

update=no
if [ "${1:-}" = --update ]; then
    update=yes
    shift
fi
build=${1:?usage: tools/abi.sh [--update] BUILD}
status=0

# A library that abidiff cannot read (bit 0 or 1 of its status) is not one without differences.
compare() { # kept library
    local report code=0
    report=$(abidiff --no-added-syms --no-show-locs "$1" "$2") || code=$?
    [ $code -ne 0 ] || return 0
    if [ $((code & 3)) -eq 0 ] && python3 tools/abi_growth.py include/specimen <<<"$report"; then
        return 0
    fi
    echo "$report"
    return 1
}

for name in libspecimen-core libspecimen; do
    kept=docs/abi/$name.abi
    library=$build/src/$name.so
    [ -e "$library" ] || { echo "abi: $library is not there: build it first" >&2; exit 2; }
    if [ $update = yes ]; then
        abidw --exported-interfaces-only --headers-dir include/specimen --drop-private-types \
            --no-corpus-path --no-comp-dir-path --no-show-locs --no-parameter-names \
            --no-elf-needed --type-id-style hash "$library" >"$kept.new"
        mv "$kept.new" "$kept"
    else
        compare "$kept" "$library" || status=1
    fi
done
exit $status
