#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Is the modelled machine like the one it is named after? Runs bench/machine/machine.c under
`spe record`, and puts what comes out beside published measurements (docs/measurements.tsv).

    tools/measure.py [--spe build/src/spe] [--preset NAME]... [--output docs/measurements.md]

Times are modelled cycles, "cycles" of --stat-json: the difference of two runs that do the same thing
a different number of times.
"""

import argparse
import collections
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile

from truth import ENVIRONMENT, ROOT, find_qemu, table

PROGRAM = os.path.join(ROOT, "bench", "machine", "machine.c")
FIGURES = os.path.join(ROOT, "docs", "measurements.tsv")
COMPILE = ["aarch64-linux-gnu-gcc", "-O2", "-static", "-pthread", "-march=armv8.1-a"]
PRESETS = ("neoverse-n1", "neoverse-v2", "kunpeng-920")
NONE = "no public figure known"
KIB, MIB = 1 << 10, 1 << 20
LATENCY, ELSE = 1.25, 1.5  # so far may ours be off

Figure = collections.namedtuple("Figure", "preset benchmark low high unit ghz source")
# What a benchmark gives: cycles, bytes/cycle, pages, ...; `limit`: how far it may be off.
Result = collections.namedtuple("Result", "benchmark value unit limit")


def read_figures():
    """docs/measurements.tsv: comments, then preset, benchmark, value or low-high, unit, GHz, source."""
    figures = []
    with open(FIGURES, encoding="utf-8") as f:
        for line in f:
            if line.startswith("#") or not line.strip():
                continue
            preset, benchmark, value, unit, ghz, source = line.rstrip("\n").split("\t")
            ends = [float(end) for end in value.split("-")]
            figures.append(Figure(preset, benchmark, ends[0], ends[-1], unit,
                                  float(ghz) if ghz else None, source))
    return figures


class Machine:
    """A preset, and the program on it."""

    def __init__(self, spe, preset, program, directory):
        self.spe, self.preset, self.program, self.directory = spe, preset, program, directory
        self.qemu = find_qemu()

    def run(self, what, count, *arguments, huge=False):
        """The counts of one run."""
        stat = os.path.join(self.directory, "stat.json")
        command = [self.spe, "record", "--qemu", self.qemu, "-q", "--no-buildid-cache", "--cpu",
                   self.preset, "-c", "1000000", "--stat-json", stat, "-o",
                   os.path.join(self.directory, "perf.data")]
        if huge:
            command += ["--machine", "page=1G"]
        subprocess.run([*command, "--", self.program, what, str(count), *map(str, arguments)],
                       check=True, env=ENVIRONMENT, stdout=subprocess.DEVNULL)
        with open(stat, encoding="utf-8") as f:
            return json.load(f)

    def cycles(self, what, count, *arguments, huge=False):
        """Of doing it once."""
        few, many = (self.run(what, n, *arguments, huge=huge)["cycles"] for n in (count, 3 * count))
        return (many - few) / (2 * count)

    def counted(self, what, count, function, quantity, *arguments):
        """How often something happened in a function, and cycles, of the difference of two runs."""
        few, many = (self.run(what, n, *arguments) for n in (count, 3 * count))
        times = [sum(f["counts"][quantity]["exact"] for f in run["functions"]
                     if f["function"] == function) for run in (few, many)]
        return times[1] - times[0], many["cycles"] - few["cycles"]


def latencies(machine):
    """Plateaus, with pages so large that translation costs nothing."""
    beyond = 8 if machine.preset == "neoverse-v2" else 16
    for name, size in (("L1 latency, 32 KiB", 32 * KIB), ("L2 latency, 256 KiB", 256 * KIB),
                       (f"LLC latency, {beyond} MiB", beyond * MIB)):
        yield Result(name, machine.cycles("latency", 20000, size, huge=True), "cycles", LATENCY)
    yield Result("memory latency", machine.cycles("memory", 4000, 1, huge=True), "cycles", LATENCY)


def strides(machine):
    for apart in (64, 256, 1024, 4096):
        yield Result(f"load, stride {apart}", machine.cycles("stride", 5000, apart), "cycles", ELSE)


def reach(machine, candidates, dearer):
    """The largest number of pages that costs less than `dearer` a page."""
    found = 0
    for pages in candidates:
        if machine.cycles("pages", 20000, pages) >= dearer:
            break
        found = pages
    return found


def translation(machine):
    first = machine.cycles("pages", 20000, 16)
    beyond = machine.cycles("pages", 20000, 256)
    walks = machine.cycles("pages", 20000, 8192)
    without = machine.cycles("pages", 20000, 8192, huge=True)
    yield Result("first TLB, pages", reach(machine, (24, 32, 40, 44, 48, 56, 64), first + 0.5), "pages",
                 ELSE)
    yield Result("first TLB miss", beyond - first, "cycles", ELSE)
    small = machine.cycles("pages", 20000, 2560) - machine.cycles("pages", 20000, 2560, huge=True)
    yield Result("2560 pages, translation", small, "cycles", ELSE)
    yield Result("8192 pages, translation", walks - without, "cycles", ELSE)


def branches(machine):
    count = 20000
    _, calm = machine.counted("branches", count, "follow", "mispredicted", 1)
    for length in (8, 16, 64, 256, 1024):
        wrong, _ = machine.counted("branches", count, "follow", "mispredicted", length)
        yield Result(f"mispredicted, pattern of {length}", 100 * wrong / (2 * count), "%", ELSE)
    wrong, cycles = machine.counted("branches", count, "follow", "mispredicted", 60000)
    yield Result("misprediction", (cycles - calm) / wrong, "cycles", ELSE)


def peers(machine):
    """The next line of a list is modified in another core's cache. Two threads are never recorded
    in quite the same way: the median of five."""
    cycles = statistics.median(machine.cycles("peer", 1000, huge=True) for _ in range(5))
    yield Result("line from core to core", cycles, "cycles", ELSE)


def parallelism(machine):
    one = machine.cycles("memory", 4000, 1, huge=True)
    for chains in (2, 4, 8, 16):
        yield Result(f"{chains} chains, times as fast",
                     chains * one / machine.cycles("memory", 4000, chains, huge=True), "x", ELSE)


def bandwidths(machine):
    beyond = 8 if machine.preset == "neoverse-v2" else 16
    for name, size, count in (("L1", 32 * KIB, 50), ("L2", 256 * KIB, 10), ("LLC", beyond * MIB, 1),
                              ("memory", 96 * MIB, 1)):
        yield Result(f"{name} bandwidth", size / machine.cycles("bandwidth", count, size, huge=True),
                     "bytes/cycle", ELSE)


def forwarding(machine):
    """A load behind a store to bytes of its own: in a chain, and what a failure adds to a round."""
    yield Result("load served by a store", machine.cycles("chain", 20000, 0), "cycles", ELSE)
    yield Result("load that overlaps a store", machine.cycles("chain", 20000, 1), "cycles", ELSE)
    added = machine.cycles("behind", 20000, 1) - machine.cycles("behind", 20000, 0)
    yield Result("byte of a store, not its first: added", added, "cycles", ELSE)


BENCHMARKS = (latencies, strides, translation, branches, peers, parallelism, bandwidths, forwarding)


def converted(result, figure):
    """Ours in the figure's unit."""
    if figure.unit == result.unit:
        return result.value
    if (result.unit, figure.unit) == ("cycles", "ns"):
        return result.value / figure.ghz
    if (result.unit, figure.unit) == ("bytes/cycle", "GB/s"):
        return result.value * figure.ghz
    sys.exit(f"{FIGURES}: {figure.benchmark} is in {result.unit}, not in {figure.unit}")


def show(number):
    return f"{number:.0f}" if number >= 100 else f"{number:.1f}"


def rows(preset, result, figures):
    """A row of the table for each published figure, or one without any."""
    known = [f for f in figures if (f.preset, f.benchmark) == (preset, result.benchmark)]
    if not known:
        yield (preset, result.benchmark, NONE, f"{show(result.value)} {result.unit}", "", "", "")
    for f in known:
        ours = converted(result, f)
        published = show(f.low) if f.low == f.high else f"{show(f.low)} to {show(f.high)}"
        ratio = ours / (f.low if ours < f.low else f.high if ours > f.high else ours)
        good = 1 / result.limit <= ratio <= result.limit
        clock = f" at {f.ghz} GHz" if f.ghz else ""
        yield (preset, result.benchmark, f"{published} {f.unit}", f"{show(ours)} {f.unit}{clock}",
               f"{ratio:.2f}", "within" if good else "**off**", f.source)


def page(found):
    judged = [row for row in found if row[4]]
    good = sum(row[5] == "within" for row in judged)
    yield "<!-- SPDX-License-Identifier: BSD-2-Clause -->"
    yield "<!-- Copyright (c) 2026 The Specimen authors -->"
    yield "# The modelled machine beside published measurements"
    yield ""
    yield f"Made by `tools/measure.py` on {datetime.date.today()}; do not edit. The published figures and their sources are in"
    yield "[measurements.tsv](measurements.tsv). The programs are those of `bench/machine/machine.c`, recorded with"
    yield "`spe record --cpu PRESET`. The total latency of an SPE record begins at dispatch. In a chain of misses it includes the"
    yield "wait for earlier misses, so a cost is not taken from records. It is the *modelled time* of the whole program,"
    yield '`"cycles"` of `--stat-json`. Two runs do the same thing N and 3 N times. The difference, divided by 2 N, is the cost of'
    yield "one time. Nanoseconds and GB/s are cycles at the clock of the measured machine. The model has no clock rate."
    yield ""
    yield '"Within" means 25 % for the latencies of caches and memory, and a factor of 1.5 for everything else. A published range'
    yield "counts from its nearer end. Latencies, parallelism and bandwidth use pages of 1 GiB, as Arm's tool does. Patterns of"
    yield "branches are random bits, repeated."
    yield ""
    yield "Four remarks limit the verdicts:"
    yield ""
    yield "- *Line from core to core*: the published figures are of two cores that bounce a line. Ours is a load of a line that"
    yield "  another core has modified, in a chain, the median of five. A ping-pong cannot be timed here: the host decides how"
    yield "  often a thread looks in vain, and the differences of runs came out negative. Two threads that increment one counter"
    yield "  took 176 cycles per miss with neoverse-n1 (70 ns, ratio 1.5), in one pair of runs. That counts misses of loads and of"
    yield "  stores."
    yield "- *The LLC of neoverse-v2* was 90 cycles (32.1 ns, ratio 1.52) and was then set from this figure. Its row checks the"
    yield "  setting, not the model. The same holds for values that a preset states: L1, L2, the TLB's size, mispredictions,"
    yield "  the cycles between lines from L2, LLC and memory (bandwidth), and of loads behind stores."
    yield "- *Loads behind stores*: the loop that was measured on Graviton2 has a barrier for loads between store and load. Ours"
    yield "  has none, since the model has none. So the figure is the difference of two rounds of that loop: 10 cycles where the"
    yield "  core cannot forward, and 2 where it can."
    yield "- *L1 bandwidth*: the published figures are more than three 128-bit loads per cycle (neoverse-v2) can bring, so we do"
    yield "  not know what was counted. The model has no limit of loads per cycle. A figure within bounds proves nothing here."
    yield ""
    yield f"**{good} of {len(judged)} published figures are met.** Of {len(found) - len(judged)} results we know no public figure."
    yield ""
    yield from table(["preset", "what", "published", "ours", "ratio", "verdict", "source"], found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--spe", default=os.path.join(ROOT, "build", "src", "spe"))
    parser.add_argument("--preset", action="append")
    parser.add_argument("--output", help="a page with the table, instead of a table on stdout")
    arguments = parser.parse_args()
    figures, found = read_figures(), []
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        program = os.path.join(directory, "machine")
        subprocess.run([*COMPILE, PROGRAM, "-o", program], check=True)
        for preset in arguments.preset or PRESETS:
            machine = Machine(arguments.spe, preset, program, directory)
            for benchmark in BENCHMARKS:
                for result in benchmark(machine):
                    new = list(rows(preset, result, figures))
                    found += new
                    for row in new:
                        print(" | ".join(filter(None, row[:6])), file=sys.stderr, flush=True)
    text = "\n".join(page(found)) + "\n"
    if arguments.output:
        with open(arguments.output, "w", encoding="utf-8") as f:
            f.write(text)
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
