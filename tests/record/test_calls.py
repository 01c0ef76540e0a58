#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Call stacks of `spe record -g`: those of programs whose stacks are known, for every sample."""

import collections
import csv
import io
import json
import os
import re
import shutil
import struct
import subprocess
import unittest

import recordtest
from recordtest import HERE, RecordTest

recordtest.require()

START = ["_start", "__libc_start_main", "libc", "main"]
PLAIN = START + ["plain"]

# Every way to each leaf of programs/calls.c. "libc" stands for functions of libc without a name.
CALLS = {
    "leaf_main_plain": [PLAIN],
    "leaf_main_plain_inner": [PLAIN + ["plain_inner"], START + ["big_frame", "plain_inner"]],
    "leaf_main_tail": [START],
    "leaf_main_deep": [START + 31 * ["deep"]],
    "leaf_main_pointer": [START + ["pointer"]],
    "leaf_main_big_frame": [START + ["big_frame"]],
    "leaf_main_jump_throw": [START + ["jump"] + 6 * ["jump_throw"]],
    "leaf_main_jump_after": [START + ["jump"]],
    "leaf_main_jump_nested": [START + ["jump", "jump_nested"]],
    "leaf_main_signal_body": [START + ["signal_body"]],
    "leaf_main_signal_handler": [START + ["signal_body", "raise", "libc", "handler"]],
    "leaf_main_alt_handler": [START + ["signal_body", "raise", "libc", "alt_handler"]],
    "leaf_main_escape_after": [START + ["escape"]],
    "leaf_main_coroutines_main": [START + ["coroutines"]],
    "leaf_coroutine_one": [["coroutine_one"]],
    "leaf_coroutine_two": [["coroutine_two"]],
    "leaf_coroutine_inner": [["coroutine_one", "coroutine_inner"],
                             ["coroutine_two", "coroutine_inner"]],
    "leaf_thread": [["libc", "libc", "thread"]],
    "leaf_main_fork_child": [START + ["processes", "fork_child"]],
}

RETHROWS = START + ["catches", "rethrows"]

# Likewise of programs/throws.cpp.
THROWS = {
    "leaf_throws": [RETHROWS + 3 * ["throws"]],
    "leaf_cleanup": [RETHROWS + n * ["throws"] + ["guard::~guard"] for n in (1, 2)],
    "leaf_caught": [RETHROWS],
    "leaf_rethrown": [START + ["catches"]],
    "leaf_after": [START + ["catches"]],
}

FLAGS = ("-O2", "-fno-ipa-icf", "-pthread")
STACKS = re.compile(r"^spe: .*: (\d+) records have a call stack, (\d+) have none(.*)$", re.M)


def without_start(path):
    """glibc 2.41 calls the function of a context; older ones jump to it."""
    called = len(path) > 1 and path[1] in ("coroutine_one", "coroutine_two", "even_body", "odd_body")
    return path[1:] if called else path


class CallsTest(RecordTest):
    """Records with -g."""

    def good(self, *args, **kwargs):
        return super().good(*args, **kwargs).decode()

    def record_calls(self, program, *options):
        """(samples with a stack, without one), as the recorder says."""
        result = self.run_record("-g", "-c", "256", *options, "--", program)
        text = result.stderr.decode()
        self.assertEqual(result.returncode, 0, text)
        found = STACKS.search(text)
        self.assertTrue(found, text)
        self.reasons = found[3]
        return int(found[1]), int(found[2])

    def folded(self, *options):
        """Samples by path, a tuple of names; None is in front of those without a stack."""
        paths = collections.Counter()
        for line in self.good("export", "--format", "folded", *options, self.data).splitlines():
            path, weight = line.rsplit(" ", 1)
            names = ["libc" if name.startswith("libc.so.6+0x") else name
                     for name in path.split(";")]
            if names[0] == "[no call stack]":
                names[0] = None
            paths[tuple(names)] += int(weight)
        return paths

    def check_leaves(self, paths, expected, without=()):
        """Every sample of a leaf has a stack that it can have, or none; and there are many."""
        right = collections.Counter()
        for path, count in paths.items():
            leaf = path[-1]
            if not leaf.startswith("leaf_") or leaf in without or path[0] is None:
                continue
            path = without_start(path)
            self.assertIn(list(path[:-1]), expected[leaf], leaf)
            right[leaf, path] += count
        for leaf, ways in expected.items():
            for way in ways:
                self.assertGreater(right[leaf, tuple(way) + (leaf,)], 20, (leaf, way))


class TruthTest(CallsTest):
    def check_model(self, *options):
        with_stack, without = self.record_calls(self.compile("calls.c", *FLAGS), *options)
        paths = self.folded()
        self.assertEqual(sum(n for path, n in paths.items() if path[0] is not None), with_stack)
        self.assertEqual(sum(n for path, n in paths.items() if path[0] is None), without)
        self.check_leaves(paths, CALLS)
        # What has none is a jump's neighbourhood, not more.
        self.assertLess(without, with_stack / 100)

    def test_without_model(self):
        self.check_model("--model", "none")

    def test_functional(self):
        self.check_model()

    def test_core(self):
        self.check_model("--model", "core")

    def test_lines(self):
        """folded --lines has the same paths, with the line of each call behind its function."""
        self.record_calls(self.compile("calls.c", *FLAGS), "--model", "functional")
        for weight in "samples", "latency":
            plain, lines = self.folded("--weight", weight), self.folded("--weight", weight, "--lines")
            self.assertGreater(len(lines), len(plain))
            without = collections.Counter()
            for path, count in lines.items():
                without[tuple(f for f in path if not f or not re.search(r"\.[cS]:\d+$", f))] += count
            self.assertEqual(without, plain)
        with open(os.path.join(HERE, "programs", "calls.c"), encoding="utf-8") as f:
            source = f.read().splitlines()
        deepest = max((p for p in self.folded("--lines") if "deep" in p), key=len)
        calls = {deepest[i + 1] for i, f in enumerate(deepest[:-1]) if f == "deep"}
        for line in calls:
            self.assertIn("deep", source[int(line.rsplit(":", 1)[1]) - 1], calls)

    def test_exceptions(self):
        compiler = shutil.which("aarch64-linux-gnu-g++")
        if not compiler:
            self.skipTest("there is no aarch64-linux-gnu-g++")
        program = os.path.join(self.dir, "throws")
        subprocess.run([compiler, "-g", *FLAGS, "-o", program,
                        os.path.join(HERE, "programs", "throws.cpp")], check=True)
        with_stack, without = self.record_calls(program, "--model", "none")
        self.check_leaves(self.folded(), THROWS)
        self.assertLess(without, with_stack / 100)

    def test_coroutines_between_threads(self):
        """One that another thread goes on with, as Go's do, has its stack or none."""
        expected = {"leaf_even": ["even_body", "even_inner"], "leaf_odd": ["odd_body", "odd_inner"],
                    "leaf_thread": ["libc", "libc", "thread"]}
        program = self.compile("migrate.c", *FLAGS)
        for model in "none", "core":
            _, without = self.record_calls(program, "--model", model)
            found = collections.Counter()
            for path, count in self.folded().items():
                if not path[-1].startswith("leaf_"):
                    continue
                found[path[-1], path[0] is None] += count
                if path[0] is not None:
                    self.assertEqual(list(without_start(path)[:-1]), expected[path[-1]], model)
            for leaf in expected:
                self.assertGreater(found[leaf, False] + found[leaf, True], 100, (leaf, model))
            self.assertGreater(found["leaf_thread", False], 100, model)
            self.assertLessEqual(sum(n for (_, none), n in found.items() if none), without)

    def test_changed_return_address(self):
        """Its stacks are dropped, and counted; those of all others are right, before and after."""
        _, without = self.record_calls(self.compile("calls.c", *FLAGS, "-DSMASH"),
                                       "--model", "none")
        paths = self.folded()
        smashed = {path: n for path, n in paths.items() if path[-1] == "leaf_smashed"}
        self.assertEqual(list(smashed), [(None, "leaf_smashed")])
        self.assertGreater(smashed[None, "leaf_smashed"], 20)
        self.assertLessEqual(smashed[None, "leaf_smashed"], without)
        self.assertRegex(self.reasons, "neither call nor return|not found again")
        self.check_leaves(paths, CALLS, without=("leaf_smashed",))

    def test_too_deep(self):
        """Nobody is shown a part of a stack as if it were all of it."""
        source = os.path.join(self.dir, "deep.c")
        with open(source, "w", encoding="ascii") as f:
            f.write("volatile long sum;\n"
                    "__attribute__((noinline)) void deep(long n)\n"
                    "{ if (n) deep(n - 1); else for (long i = 0; i < 30000; i++) sum += i; sum++; }\n"
                    "int main(void) { deep(1000); deep(3000); deep(200000); deep(5); return 0; }\n")
        program = os.path.join(self.dir, "deep")
        subprocess.run([recordtest.COMPILER, "-O1", "-o", program, source], check=True)
        _, without = self.record_calls(program, "--model", "none")
        paths = self.folded()
        depths = collections.Counter()
        for path, count in paths.items():
            depths[None if path[0] is None else path.count("deep")] += count
        self.assertGreater(depths[6], 100)
        self.assertGreater(depths[1001], 100)
        self.assertLessEqual(max(d for d in depths if d is not None), 1023)
        self.assertGreater(depths[None], 200)
        self.assertEqual(depths[None], without)
        self.assertIn("too deep", self.reasons)


class ReaderTest(CallsTest):
    def setUp(self):
        super().setUp()
        self.with_stack, self.without = self.record_calls(self.compile("calls.c", *FLAGS))

    def test_perf(self):
        """perf shows the same frames for the same samples, and its own samples of SPE besides."""
        text = self.perf("script", "-F", "event,ip,sym")
        chains = [block.split("\n")[1:] for block in re.split(r"^\s*spe-callchain:", text,
                                                              flags=re.M)[1:]]
        leaves = collections.Counter()
        for chain in chains:
            names = [line.split()[1] for line in chain if re.match(r"^\t\s*[0-9a-f]+ ", line)]
            if not names or names[0] not in CALLS:
                continue
            outwards = without_start(names[:0:-1])
            ways = [[None if name == "libc" else name for name in way]
                    for way in CALLS[names[0]]]
            self.assertTrue(any(len(way) == len(outwards) and
                                all(w in (None, o) for w, o in zip(way, outwards))
                                for way in ways), (names[0], outwards))
            leaves[names[0]] += 1
        self.assertEqual(set(leaves), set(CALLS))
        self.assertEqual(len(chains), self.with_stack)
        self.assertIn("l1d-access", text)
        report = self.perf("report", "--stdio", "-g", "caller", "--no-children")
        self.assertIn("of event 'spe-callchain'", report)
        self.assertRegex(report, r"(?s)leaf_main_jump_throw.*?---_start.*?jump_throw")

    def test_perf_is_quiet(self):
        """It says nothing that it does not say of a recording without stacks."""
        def said(*options):
            self.record(*options, "--", os.path.join(self.dir, "calls"))
            perf = recordtest.perf_file.find_perf()
            if not perf:
                self.skipTest("there is no perf")
            result = subprocess.run([*perf, "report", "--stdio", "-i", self.data],
                                    capture_output=True, text=True, errors="replace", check=True)
            return set(result.stderr.splitlines())
        self.assertEqual(said("-g"), said())

    def test_report(self):
        page = self.good("report", "-g", "--top", "40", "--width", "200", self.data)
        self.assertRegex(page, rf"call stacks\s+{self.with_stack:,} of "
                               rf"{self.with_stack + self.without:,} samples have one")
        self.assertIn("Call paths of the functions above, in % of all latency", page)
        path = page[page.index("%  leaf_main_jump_throw\n"):]
        self.assertRegex(path, r"^%  leaf_main_jump_throw\n +\|\n +---_start\n +__libc_start_main\n"
                               r" +libc.so.6\+0x\w+\n +main\n +jump\n( +jump_throw\n){6}"
                               r" +leaf_main_jump_throw\n\n")
        both = page[page.index("%  leaf_coroutine_inner\n"):]
        self.assertRegex(both, r"(?s)^%  leaf_coroutine_inner\n +\|\n"
                               r"( +---libc.so.6\+0x\w+\n)? +\|\n +\|--[\d.]+%--coroutine_two\n.*? --[\d.]+%--coroutine_one\n +coroutine_inner\n"
                               r" +leaf_coroutine_inner\n\n")
        self.assertIn("in % of all samples",
                      self.good("report", "-g", "--sort", "samples", self.data))

    def test_by_caller(self):
        rows = self.good("report", "--csv", "--by", "caller", "--top", "1000", self.data)
        counts = {line.split(",")[0]: int(line.split(",")[3]) for line in rows.splitlines()[1:]}
        paths = self.folded()
        for caller in ("plain", "jump", "coroutine_inner", "handler"):
            self.assertEqual(counts[caller], sum(n for path, n in paths.items()
                                                 if len(path) > 1 and path[-2] == caller), caller)
        self.assertEqual(counts.get("[no call stack]", 0), self.without)
        self.assertEqual(sum(counts.values()), self.with_stack + self.without)

    def test_json(self):
        calls = json.loads(self.good("report", "-g", "--json", self.data))["calls"]
        self.assertEqual(calls["stacks"], self.with_stack)
        nodes = {node["id"]: node for node in calls["tree"]}
        paths = collections.Counter()
        for node in calls["tree"]:
            path, at = [], node
            while at:
                path.insert(0, at["function"])
                at = nodes[at["caller"]] if at["caller"] is not None else None
            if node["self_samples"]:
                paths[";".join(path)] += node["self_samples"]
            self.assertGreaterEqual(node["samples"], node["self_samples"])
        folded = self.good("export", "--format", "folded", self.data)
        self.assertEqual(sorted(f"{path} {n}" for path, n in paths.items()),
                         sorted(folded.splitlines()))

    def test_folded_by_task(self):
        """Each thread has its own stacks, and together they are those without --task."""
        plain, threads = self.folded(), self.folded("--task", "thread")
        together, sums = collections.Counter(), collections.Counter()
        for (task, *path), count in threads.items():
            if path[0] == "[no call stack]":
                path[0] = None
            together[tuple(path)] += count
            sums[task] += count
        self.assertEqual(together, plain)
        rows = csv.DictReader(io.StringIO(
            self.good("report", "--csv", "--by", "thread", "--top", "1000", self.data)))
        self.assertEqual(sums, {f"{row['comm']} {row['pid']}/{row['tid']}": int(row["samples"])
                                for row in rows})
        self.assertGreater(len(sums), 2)

    def test_folded_by_latency(self):
        totals = json.loads(self.good("report", "--json", self.data))["totals"]
        self.assertEqual(sum(self.folded("--weight", "latency").values()), totals["latency"])

    def test_copy(self):
        """A part of the recording keeps the stacks of its samples."""
        part = os.path.join(self.dir, "part.data")
        self.good("export", "--format", "perf", "-o", part, self.data)
        self.assertEqual(self.good("export", "--format", "folded", part),
                         self.good("export", "--format", "folded", self.data))

    def test_hostile(self):
        """Chains that are longer than their record, or than memory: what is left is right."""
        with open(self.data, "rb") as f:
            data = bytearray(f.read())
        at, size = struct.unpack_from("<QQ", data, 40)
        end, changed = at + size, 0
        while at < end:
            kind, _, length = struct.unpack_from("<IHH", data, at)
            if kind == 9 and changed < 50:
                struct.pack_into("<Q", data, at + 48, (1 << 61) + changed if changed % 2
                                 else length // 8)
                changed += 1
            aux = struct.unpack_from("<Q", data, at + 8)[0] if kind == 71 else 0
            at += length + aux
        self.assertEqual(changed, 50)
        broken = self.file(bytes(data), "broken.data")
        result = recordtest.spe("report", "-g", "--json", broken)
        self.assertLess(result.returncode, 2, result.stderr)
        out = json.loads(result.stdout)
        self.assertEqual(out["calls"]["stacks"], self.with_stack - 50)
        result = recordtest.spe("export", "--format", "folded", "--max-memory", "300K", self.data)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr.decode(), r"\d+ call stacks are left out")


if __name__ == "__main__":
    unittest.main()
