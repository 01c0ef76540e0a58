#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""How true are estimates from samples? Records the programs of tests/record/truth with fixed seeds,
compares the estimate of every (function, quantity) pair and its 95 % interval with the emulator's
exact count, and writes docs/truth.md.

    tools/truth.py [--spe build/src/spe] [--output docs/truth.md]

A pair is looked at if ten samples of it are to be expected: below that an interval says little.
"""

import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAMS = os.path.join(ROOT, "tests", "record", "truth")
COMPILER = "aarch64-linux-gnu-gcc"
FLAGS = ["-O2", "-g", "-static", "-fno-tree-vectorize", "-fno-inline", "-fno-ipa-cp", "-fno-ipa-sra"]
RUNS = [(program, interval, seed)
        for program, interval in [("grid", 1024), ("list", 1024), ("machine", 1024),
                                  ("matrix", 2048), ("sort", 1024), ("text", 2048)]
        for seed in (1, 2)]
ENOUGH = 10  # samples
# It lies on the program's stack: another one moves addresses and, with them, misses.
ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C"}

Pair = collections.namedtuple("Pair", "program function quantity exact samples estimate low high")


def within(pair):
    return pair.low <= pair.exact <= pair.high


def compile_program(name, directory):
    out = os.path.join(directory, name)
    subprocess.run([COMPILER, *FLAGS, os.path.join(PROGRAMS, name + ".c"), "-o", out], check=True)
    return out


def find_qemu():
    """As `spe record` does, but without the environment."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    for path in (os.environ.get("SPECIMEN_QEMU"), shutil.which("qemu-aarch64"),
                 os.path.join(cache, "specimen", "qemu", "bin", "qemu-aarch64")):
        if path and os.access(path, os.X_OK) and "-plugin" in subprocess.run(
                [path, "--help"], capture_output=True, text=True, check=False).stdout:
            return path
    sys.exit("there is no qemu-aarch64 with plugins: tools/build-qemu.sh makes one")


def record(spe, program, interval, seed, directory):
    """The emulator's counts beside the estimates, as `spe record --stat-json` has them."""
    stat = os.path.join(directory, "stat.json")
    subprocess.run([spe, "record", "--qemu", find_qemu(), "-q", "-c", str(interval), "--seed", str(seed), "--stat-json",
                    stat, "-o", os.path.join(directory, "perf.data"), "--", program],
                   check=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT)
    with open(stat, encoding="utf-8") as f:
        return json.load(f)


def pairs_of(program, stat):
    mean = stat["operations"] / stat["samples"]
    for function in stat["functions"]:
        for quantity, c in function["counts"].items():
            if c["exact"] >= ENOUGH * mean:
                yield Pair(program, function["function"], quantity, c["exact"], c["samples"],
                           c["estimate"], c["low"], c["high"])


def measure(spe):
    """All pairs, and one line about every run."""
    pairs, runs = [], []
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        for name, interval, seed in RUNS:
            program = compile_program(name, directory)
            stat = record(spe, program, interval, seed, directory)
            found = list(pairs_of(name, stat))
            pairs += found
            runs.append((name, interval, seed, stat["operations"], stat["samples"], len(found),
                         sum(map(within, found))))
    return pairs, runs


def table(head, rows):
    """Markdown; numbers to the right."""
    yield "| " + " | ".join(head) + " |"
    yield "|" + "|".join("---" if isinstance(cell, str) else "---:" for cell in rows[0]) + "|"
    for row in rows:
        yield "| " + " | ".join(cell if isinstance(cell, str) else f"{cell:,}" for cell in row) + " |"


def page(pairs, runs):
    good = sum(map(within, pairs))
    yield "# Estimates from samples beside exact counts"
    yield ""
    yield "Made by `tools/truth.py`; do not edit. `spe record --stat` runs a program under QEMU, counts every"
    yield "operation, load, store, branch, misprediction and miss of every function exactly, and estimates the"
    yield "same from the samples: samples of the quantity, times operations by samples. The interval is Wilson's,"
    yield "95 %, of the share of samples. A pair of function and quantity is in the table if at least"
    yield f"{ENOUGH} samples of it are to be expected. Jitter is on, the model is neoverse-n1's core."
    yield ""
    yield f"**{good} of {len(pairs)} exact counts ({100 * good / len(pairs):.1f} %) lie within the interval of their estimate.**"
    yield ""
    yield from table(["program", "interval", "seed", "operations", "samples", "pairs", "within"], runs)
    yield ""
    yield from table(["program", "function", "quantity", "exact", "samples", "estimate", "low", "high", "within"],
                     [(*pair, "yes" if within(pair) else "no") for pair in pairs])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--spe", default=os.path.join(ROOT, "build", "src", "spe"))
    parser.add_argument("--output", default=os.path.join(ROOT, "docs", "truth.md"))
    arguments = parser.parse_args()
    pairs, runs = measure(arguments.spe)
    with open(arguments.output, "w", encoding="utf-8") as f:
        f.write("\n".join(page(pairs, runs)) + "\n")
    good = sum(map(within, pairs))
    print(f"{good} of {len(pairs)} pairs within their intervals ({100 * good / len(pairs):.1f} %)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
