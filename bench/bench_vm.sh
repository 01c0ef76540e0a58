#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# What the plugin costs a guest: CPU time of three programs in plain QEMU, with the plugin and SPE
# off, and with SPE on at a period of 10,000 operations. The best of many short rounds counts, as
# other work on the machine can only make a round longer.
#
#   SPE=build/src/spe bench/bench_vm.sh
set -euo pipefail
cd "$(dirname "$0")/.."

spe=${SPE:-build/src/spe}
rounds=${ROUNDS:-100}
compiler=aarch64-linux-gnu-gcc

command -v $compiler >/dev/null || { echo "skipped: $compiler is not here"; exit 0; }
"$spe" vm run --without-spe -- true 2>/dev/null ||
    { echo "skipped: there is no QEMU and guest yet, 'spe vm --fetch' prepares them"; exit 0; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
$compiler -O2 -fno-tree-vectorize -static tests/vm/work.c -o "$work/work"
cat >"$work/run.sh" <<END
for p in sort matrix checksum; do ./work \$p $rounds | sed "s/^/\$1 /"; done
[ "\$1" = off ] || exit 0
for p in sort matrix checksum; do
    perf record -q -e arm_spe_0/jitter=1/ -c 10000 -o /tmp/p.data ./work \$p $rounds | sed 's/^/on /'
done
END

run() { "$spe" vm run --put "$work/work" --put "$work/run.sh" -o "$work/out" "${@:2}" -- sh run.sh "$1"; }
{
    run plain --without-spe
    run off
    run plain --without-spe
    run off
} | python3 -c '
import collections, math, sys
best = collections.defaultdict(dict)
for line in sys.stdin:
    mode, program, seconds = line.split()
    best[mode][program] = min(float(seconds), best[mode].get(program, 1e9))
print("%-10s %10s %10s %10s" % ("seconds", *best["plain"]))
for mode in "plain", "off", "on":
    print("%-10s %10.4f %10.4f %10.4f" % (mode, *best[mode].values()))
for mode, limit in ("off", 1.3), ("on", 1.5):
    ratios = [best[mode][p] / best["plain"][p] for p in best["plain"]]
    mean = math.prod(ratios) ** (1 / len(ratios))
    print("SPE %-3s: %s of plain QEMU, geometric mean %.2f, target %.1f: %s"
          % (mode, " ".join("%.2f" % r for r in ratios), mean, limit,
             "met" if mean <= limit else "NOT met"))
'
