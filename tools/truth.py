#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""How true are estimates from samples? Records programs with every model and seeds that nobody has
used before, compares the estimate of every (function, quantity) pair and its 95 % interval with the
emulator's exact count, compares call stacks with those that programs log themselves, and writes
docs/truth.md.

    tools/truth.py [--spe build/src/spe] [--seeds 8] [--first-seed N] [--output docs/truth.md]

A pair is compared if ten samples of it are expected. With fewer, an interval says little.
"""

import argparse
import collections
import concurrent.futures
import csv
import json
import math
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAMS = os.path.join(ROOT, "tests", "record", "truth")
DEBIAN = os.path.join(ROOT, os.environ.get("SPECIMEN_DEPS", ".deps"), "programs")
COMPILER = "aarch64-linux-gnu-gcc"
FLAGS = ["-O2", "-g", "-static", "-pthread", "-fno-tree-vectorize", "-fno-inline", "-fno-ipa-cp", "-fno-ipa-sra"]
MODELS = ("none", "functional", "core")
# Of our own, with their intervals.
OWN = {"bodies": 1024, "grid": 1024, "hash": 512, "list": 1024, "machine": 1024, "matrix": 2048, "parse": 512,
       "pixels": 512, "sort": 1024, "text": 2048, "workers": 512}
# That nobody here wrote: Debian's, with arguments and what they read.
NUMBERS = "".join(f"{(i * 7919 + 12345) % 1000003}\n" for i in range(20000))
REAL = {
    "sqlite3": (":memory:", "with recursive c(x) as (select 1 union all select x+1 from c where x<20000) "
                            "select count(distinct x*x%1009), sum(length(hex(x))) from c"),
    "python3": ("-c", "print(sum(len(str(i)) * i % 97 for i in range(30000)))"),
    "zstd": ("-q", "-9", "-c"),
    "b2sum": ("-",),
}
REAL_INTERVAL = 512
ENOUGH = 10  # samples
# It lies on the program's stack: another one moves addresses and, with them, misses.
ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C", "PYTHONHASHSEED": "0"}

Run = collections.namedtuple("Run", "model program interval seed")
Pair = collections.namedtuple("Pair", "model program seed function quantity operations exact all samples estimate "
                                      "low high")
Stacks = collections.namedtuple("Stacks", "program samples stacks agree wrong none")


def within(pair):
    return pair.low <= pair.exact <= pair.high


# ---- Recording -----------------------------------------------------------------------------------


def compile_program(source, out, *flags):
    subprocess.run([COMPILER, *(flags or FLAGS), source, "-o", out, "-lm"], check=True)
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


def command_of(program, directory):
    """The options of `spe record` and the command line, what it reads."""
    if program in OWN:
        return [os.path.join(directory, program)], [], ""
    return ([os.path.join(DEBIAN, "usr", "bin", program), *REAL[program]], ["-L", DEBIAN], NUMBERS)


def record(spe, run, directory):
    """The emulator's counts beside the estimates, as `spe record --stat-json` has them."""
    command, options, text = command_of(run.program, directory)
    with tempfile.TemporaryDirectory(dir=directory) as out:
        stat = os.path.join(out, "stat.json")
        subprocess.run([spe, "record", "--qemu", find_qemu(), "-q", *options, "--model", run.model, "-c",
                        str(run.interval), "--seed", str(run.seed), "--stat-json", stat, "-o",
                        os.path.join(out, "perf.data"), "--", *command],
                       check=True, input=text, text=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT)
        with open(stat, encoding="utf-8") as f:
            return json.load(f)


def pairs_of(run, stat):
    mean = stat["operations"] / stat["samples"]
    for function in stat["functions"]:
        for quantity, c in function["counts"].items():
            if c["exact"] >= ENOUGH * mean:
                yield Pair(run.model, run.program, run.seed, f"{function['dso']}:{function['function']}", quantity,
                           stat["operations"], c["exact"], stat["samples"], c["samples"], c["estimate"], c["low"],
                           c["high"])


def runs_of(programs, first_seed, seeds):
    """Each model has seeds of its own."""
    return [Run(model, program, programs[program], first_seed + seeds * i + n)
            for i, model in enumerate(MODELS) for program in programs for n in range(seeds)]


def all_programs():
    if not os.path.exists(os.path.join(DEBIAN, "usr", "bin", "sqlite3")):
        sys.exit(f"{DEBIAN}: there are no AArch64 programs to record: tools/setup.sh test fetches them")
    return {**OWN, **dict.fromkeys(REAL, REAL_INTERVAL)}


def measure(spe, runs):
    """All pairs of these runs."""
    pairs = []
    with tempfile.TemporaryDirectory(dir="/tmp") as directory, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for program in {run.program for run in runs} & set(OWN):
            compile_program(os.path.join(PROGRAMS, program + ".c"), os.path.join(directory, program))
        for run, stat in zip(runs, pool.map(lambda run: record(spe, run, directory), runs)):
            pairs += pairs_of(run, stat)
    return pairs


# ---- Bias ----------------------------------------------------------------------------------------


def deviation(pairs):
    """By how many standard deviations the samples of these pairs together are too many."""
    shares = [(pair, pair.exact / pair.operations) for pair in pairs]
    expected = sum(pair.all * share for pair, share in shares)
    variance = sum(pair.all * share * (1 - share) for pair, share in shares)
    return (sum(pair.samples for pair in pairs) - expected) / math.sqrt(variance) if variance else 0.0


def deviations(pairs):
    """Of every pair, all its seeds together: largest first."""
    same = collections.defaultdict(list)
    for pair in pairs:
        same[pair.model, pair.program, pair.function, pair.quantity].append(pair)
    return sorted(((deviation(some), key) for key, some in same.items()), key=lambda x: -abs(x[0]))


def limit(count):
    """What the largest of so many deviations exceeds once in a hundred times, by chance."""
    return statistics.NormalDist().inv_cdf(1 - 0.01 / 2 / count)


# ---- Call stacks ---------------------------------------------------------------------------------


def folded(spe, data):
    """Samples by path, outermost first."""
    text = subprocess.run([spe, "export", "--format", "folded", data], check=True, capture_output=True,
                          text=True).stdout
    for line in text.splitlines():
        path, count = line.rsplit(" ", 1)
        yield path.split(";"), int(count)


def stacks(spe, program, model, directory):
    """Of a program that prints every path of its functions f_... that was on its stack."""
    binary = compile_program(os.path.join(PROGRAMS, "stacks", program + ".c"), os.path.join(directory, program),
                             "-O2", "-g", "-static", "-pthread", "-fno-ipa-icf", "-fno-optimize-sibling-calls")
    data = os.path.join(directory, "stacks.data")
    result = subprocess.run([spe, "record", "--qemu", find_qemu(), "-g", "--model", model, "-c", "256", "-o", data,
                             "--", binary], check=True, capture_output=True, text=True, env=ENVIRONMENT)
    logged = {tuple(line.split(";")) for line in result.stdout.splitlines()}
    count = collections.Counter()
    for path, samples in folded(spe, data):
        count["samples"] += samples
        if path[0] == "[no call stack]":
            count["none"] += samples
            continue
        count["stacks"] += samples
        inner = tuple(name for name in path if name.startswith("f_"))
        count["agree" if not inner or inner in logged else "wrong"] += samples
    return Stacks(f"{program} ({model})", *(count[x] for x in ("samples", "stacks", "agree", "wrong", "none")))


# ---- The page ------------------------------------------------------------------------------------


def table(head, rows):
    """Markdown; numbers to the right."""
    yield "| " + " | ".join(head) + " |"
    yield "|" + "|".join("---" if isinstance(cell, str) and not re.match(r"[-+\d]", cell) else "---:"
                         for cell in rows[0]) + "|"
    for row in rows:
        yield "| " + " | ".join(cell if isinstance(cell, str) else f"{cell:,}" for cell in row) + " |"


def share(pairs):
    return f"{100 * sum(map(within, pairs)) / len(pairs):.1f} %" if pairs else "-"


def of(pairs, **wanted):
    return [pair for pair in pairs if all(getattr(pair, key) == value for key, value in wanted.items())]


def by_model(pairs):
    for model in MODELS:
        some = of(pairs, model=model)
        largest = deviations(some)
        yield (model, len({pair.program for pair in some}), len({(p.program, p.seed) for p in some}), len(some),
               sum(map(within, some)), share(some), len(largest), f"{abs(largest[0][0]):.2f}",
               f"{limit(len(largest)):.2f}")


def by(field, pairs):
    for value in sorted({getattr(pair, field) for pair in pairs}):
        some = of(pairs, **{field: value})
        yield (value, *(cell for model in MODELS for cell in
                        (len(of(some, model=model)), share(of(some, model=model)))))


def page(pairs, command, stack_rows):
    several = [f"{model}, {what}" for model in MODELS for what in ("pairs", "within")]
    yield "# Estimates from samples beside exact counts"
    yield ""
    yield f"Made by `{command}`; do not edit. `spe record --stat` runs a program under QEMU and"
    yield "counts every operation, load, store, branch, misprediction and miss of every function exactly. It also"
    yield "estimates them: the number of samples with the quantity, times all operations, divided by all samples. The"
    yield "intervals are 95 % intervals ([record.md](record.md)). A pair of function and quantity is in the table if at"
    yield f"least {ENOUGH} samples of it are expected. Jitter is on. The programs are those of `tests/record/truth` and four"
    yield "that Debian built. Without `--first-seed` the seeds are new in each run. `--pairs FILE` writes every pair."
    yield ""
    yield from table(["model", "programs", "runs", "pairs", "within", "share", "pairs over all seeds",
                      "largest deviation", "limit"], list(by_model(pairs)))
    yield ""
    yield "The deviation compares the samples of one pair, in all its runs together, with the exact count, in standard"
    yield "deviations. A biased estimate has a large one. By chance, one of a hundred tables exceeds the limit."
    yield ""
    yield from table(["quantity", *several], list(by("quantity", pairs)))
    yield ""
    yield from table(["program", *several], list(by("program", pairs)))
    yield ""
    yield "## Call stacks"
    yield ""
    yield "These programs log their own stacks (`tests/record/truth/stacks`). They are recorded with `-g`. A recorded"
    yield "stack agrees if the program's own functions on it are those of a logged stack."
    yield ""
    yield from table(["program", "samples", "with a stack", "agree", "wrong",
                      "without a stack"], stack_rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--spe", default=os.path.join(ROOT, "build", "src", "spe"))
    parser.add_argument("--output", default=os.path.join(ROOT, "docs", "truth.md"))
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--first-seed", type=int, default=random.SystemRandom().randrange(1, 1 << 31))
    parser.add_argument("--pairs", help="write every pair there, as CSV")
    arguments = parser.parse_args()
    pairs = measure(arguments.spe, runs_of(all_programs(), arguments.first_seed, arguments.seeds))
    if arguments.pairs:
        with open(arguments.pairs, "w", encoding="utf-8", newline="") as f:
            writer = csv.writer(f)
            writer.writerow((*Pair._fields, "within"))
            writer.writerows((*pair, within(pair)) for pair in pairs)
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        stack_rows = [stacks(arguments.spe, name[:-2], model, directory)
                      for name in sorted(os.listdir(os.path.join(PROGRAMS, "stacks"))) for model in MODELS]
    command = f"tools/truth.py --seeds {arguments.seeds} --first-seed {arguments.first_seed}"
    with open(arguments.output, "w", encoding="utf-8") as f:
        f.write("\n".join(page(pairs, command, stack_rows)) + "\n")
    for row in by_model(pairs):
        print(f"{row[0]}: {row[4]} of {row[3]} pairs within their intervals ({row[5]}); largest deviation {row[7]}, "
              f"limit {row[8]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
