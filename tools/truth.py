#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""How good are estimates from SPE samples? The emulator knows the truth.

    SPE=build/src/spe tools/truth.py [--write docs/truth.md]

Records programs with `spe record --stat-json` at fixed seeds and compares each estimate (function,
quantity) that rests on enough samples with the exact count: it should lie in its 95 % confidence
interval in about 95 % of all pairs. Exits with 1 if it does in less than 93 %, or if there are fewer than
200 pairs.
"""

import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SPE = os.environ.get("SPE", "spe")
ENOUGH = 30  # samples that are expected, for a pair to count
LEAST_PAIRS, LEAST_SHARE = 200, 0.93

# name, source, flags, arguments, interval, seed
WORKLOADS = [
    ("mix", "tests/record/programs/mix.c", ["-O1"], [], 1024, 1),
    ("mix -O2", "tests/record/programs/mix.c", ["-O2"], [], 2048, 2),
    ("memory", "tests/record/programs/memory.c", ["-O2"], [], 1024, 3),
    ("matmul", "bench/record/workloads.c", ["-O2", "-fno-tree-vectorize"], ["matmul"], 4096, 4),
    ("chase", "bench/record/workloads.c", ["-O2"], ["chase"], 4096, 5),
    ("crc", "bench/record/workloads.c", ["-O2"], ["crc"], 4096, 6),
    ("qsort", "bench/record/workloads.c", ["-O2"], ["qsort"], 2048, 7),
]

Pair = collections.namedtuple("Pair", "function quantity exact samples estimate low high")


def record(work, name, source, flags, arguments, interval, seed):
    """The pairs of one workload, and its operations and samples."""
    program, data, out = (os.path.join(work, n) for n in ("program", "data", "counts"))
    subprocess.run(["aarch64-linux-gnu-gcc", "-g", "-static", *flags, "-o", program,
                    os.path.join(TOP, source)], check=True)
    subprocess.run([SPE, "record", "-q", "-o", data, "-c", str(interval), "--seed", str(seed),
                    "-e", "arm_spe/jitter=1/", "--stat-json", out, "--", program, *arguments],
                   check=True, stdout=subprocess.DEVNULL)
    with open(out, encoding="utf-8") as f:
        truth = json.load(f)
    weight = truth["operations"] / max(1, truth["samples"])
    pairs = [Pair(f["function"], quantity, c["exact"], c["samples"], c["estimate"], c["low"],
                  c["high"])
             for f in truth["functions"] for quantity, c in f["counts"].items()
             if c["exact"] >= ENOUGH * weight]
    print(f"{name}: {truth['operations']} operations, {truth['samples']} samples, "
          f"{len(pairs)} pairs, {sum(inside(p) for p in pairs)} inside", file=sys.stderr)
    return pairs, truth


def inside(pair):
    return pair.low <= pair.exact <= pair.high


def report(results):
    """The page, as lines."""
    pairs = [p for _, found, _ in results for p in found]
    good = sum(map(inside, pairs))
    yield "<!-- SPDX-License-Identifier: BSD-2-Clause -->"
    yield "<!-- Copyright (c) 2026 The Specimen authors -->"
    yield "# Estimates and the truth"
    yield ""
    yield "`spe record --stat` counts exactly what the samples can only estimate. `tools/truth.py` made this page: it "
    yield "records programs at fixed seeds, with jitter, and compares every (function, quantity) for which at least"
    yield f"{ENOUGH} samples are expected. An estimate is good if the exact count lies in its 95 % confidence interval"
    yield "(Wilson's, of the share of samples)."
    yield ""
    yield f"**{good} of {len(pairs)} pairs ({100 * good / len(pairs):.1f} %) are inside their interval.**"
    yield ""
    yield "| workload | interval | operations | samples | pairs | inside |"
    yield "|---|---:|---:|---:|---:|---:|"
    for (name, *_, interval, _), found, truth in results:
        yield (f"| {name} | {interval} | {truth['operations']:,} | {truth['samples']:,} | "
               f"{len(found)} | {sum(map(inside, found))} |")
    yield ""
    yield "| workload | function | quantity | exact | estimate | 95 % | |"
    yield "|---|---|---|---:|---:|---:|---|"
    for (name, *_), found, _ in results:
        for p in found:
            yield (f"| {name} | `{p.function}` | {p.quantity} | {p.exact:,} | {p.estimate:,} | "
                   f"{p.low:,} to {p.high:,} | {'' if inside(p) else 'outside'} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", metavar="FILE", help="write the page to FILE")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        results = [(w, *record(work, *w)) for w in WORKLOADS]
    pairs = [p for _, found, _ in results for p in found]
    share = sum(map(inside, pairs)) / len(pairs)
    print(f"{len(pairs)} pairs, {100 * share:.1f} % inside their 95 % interval")
    if args.write:
        with open(args.write, "w", encoding="utf-8") as f:
            f.writelines(line.rstrip() + "\n" for line in report(results))
    return 0 if len(pairs) >= LEAST_PAIRS and share >= LEAST_SHARE else 1


if __name__ == "__main__":
    sys.exit(main())
