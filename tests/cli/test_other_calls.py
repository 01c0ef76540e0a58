#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Recordings from hardware whose call stacks are of another event than SPE: who calls a function is
known, which caller a sample had is not. Recordings are made without the library, and perf reads the
same stacks in them."""

import collections
import json
import os
import re
import subprocess
import unittest

import perf_file
import recording_file as rf
from spetest import CommandTest, need_symbols, skip, spe

need_symbols()
if not rf.can_compile():
    skip("there is no compiler")

LONG = "an_unusually_long_name_of_a_function_that_has_to_be_shortened"
PID = 77


class OtherCalls(CommandTest):
    """walk was seen three times as often below LONG as below _start, mix only below LONG; _start
    has samples of SPE and no stack."""

    def setUp(self):
        super().setUp()
        self.program = rf.Program(self.dir)
        self.data = os.path.join(self.dir, "perf.data")
        self.r = rf.Recording()
        self.r.comm(PID, PID, "program")
        self.program.map(self.r, PID)
        p = self.program.pc
        self.walk, self.mix, self.start = p("walk"), p("mix"), p("_start")
        self.long, self.in_start = p(LONG), p("_start", 0) + 5  # behind a call in it

    def chains(self, event):
        self.r.chain(event, PID, PID, [self.walk, self.long, self.in_start], 1500, period=1000)
        self.r.chain(event, PID, PID, [self.walk, self.long, self.in_start], 1600, period=2000)
        self.r.chain(event, PID, PID, [self.walk, self.in_start], 1700, period=1000)
        self.r.chain(event, PID, PID, [self.mix, self.long, self.in_start], 1800)

    def write(self):
        """80 samples of walk with 10 cycles each, 10 of mix with 20, 5 of _start with 30."""
        samples = b"".join(
            rf.sample(pc, 1000 + i, tid=PID, total=total) for i, (pc, total) in enumerate(
                80 * [(self.walk, 10)] + 10 * [(self.mix, 20)] + 5 * [(self.start, 30)]))
        self.r.aux_flags(0, 0, len(samples), 0, 2000)
        self.r.aux(0, samples)
        self.r.write(self.data)

    def folded(self, *options):
        result = spe("export", "--format", "folded", *options, self.data)
        self.assertEqual(result.returncode, 0, result.stderr)
        paths = collections.Counter()
        for line in result.stdout.decode().splitlines():
            path, weight = line.rsplit(" ", 1)
            paths[path] += int(weight)
        return dict(paths), result.stderr.decode()

    def test_folded(self):
        self.chains(self.r.event("cycles:u"))
        self.write()
        paths, said = self.folded()
        self.assertEqual(paths, {f"_start;{LONG};walk": 60, "_start;walk": 20,
                                 f"_start;{LONG};mix": 10, "[no call stack];_start": 5})
        self.assertIn("the call stacks are of another event (cycles:u), not of SPE's samples", said)
        paths, _ = self.folded("--weight", "latency")
        self.assertEqual(paths, {f"_start;{LONG};walk": 600, "_start;walk": 200,
                                 f"_start;{LONG};mix": 200, "[no call stack];_start": 150})
        self.assertEqual(self.folded("-q")[1], "")

    def test_lines(self):
        self.chains(self.r.event("cycles:u"))
        self.write()
        paths, _ = self.folded("--lines")
        where = r"/[^;]*/program\.c:\d+"
        for path, weight in ((rf"_start;{where};{LONG};{where};walk;{where}", 60),
                             (rf"_start;{where};walk;{where}", 20),
                             (rf"\[no call stack\];_start;{where}", 5)):
            found = [n for text, n in paths.items() if re.fullmatch(path, text)]
            self.assertEqual(found, [weight], paths)

    def test_page(self):
        self.chains(self.r.event("cycles:u"))
        self.write()
        page = self.good("report", "-g", "--by", "function,caller", "--width", "160",
                         self.data).decode()
        self.assertIn("none of these samples has one; 4 stacks of another event (cycles:u) show the "
                      "callers of a function", " ".join(page.split()))
        self.assertRegex(page, r"Hottest callers by latency, 3 of 3, in %; callers by cycles:u\n")
        self.assertRegex(page, r"Call paths of the functions above, .*; callers by cycles:u\n")
        callers = page.split("Hottest callers")[1].split("\n\n")[0]
        self.assertNotIn("95 %", callers)
        self.assertIn("95 %", page.split("Hottest functions")[1].split("\n\n")[0])
        self.assertRegex(callers, rf"(?m)^ +{LONG[:20]}\S* +program +70 ")

    def test_json(self):
        self.chains(self.r.event("cycles:u"))
        self.write()
        page = json.loads(self.good("report", "-g", "--by", "caller", "--json", self.data))
        groups = next(g["top"] for g in page["groups"] if g["by"] == "caller")
        callers = {g["name"]: (g["samples"], g["latency"]) for g in groups}
        self.assertEqual(callers, {LONG: (70, 800), "_start": (20, 200),
                                   "[no call stack]": (5, 150)})
        self.assertEqual((page["calls"]["other_event"], page["calls"]["other_stacks"],
                          page["calls"]["stacks"]), ("cycles:u", 4, 0))
        self.assertFalse(any("share_95" in g for g in groups))
        result = spe("report", "--by", "caller", "--csv", self.data)
        self.assertIn(b"the call stacks are of another event (cycles:u)", result.stderr)
        rows = result.stdout.decode().splitlines()
        self.assertTrue(all(row.split(",")[5:7] == ["", ""] for row in rows[1:]), rows)

    def test_one_event(self):
        """Of two events the one with more stacks; chains without addresses are none."""
        few = self.r.event("instructions:u")
        self.r.chain(few, PID, PID, [self.start, self.walk + 4], 1400, period=1 << 62)
        for i in range(9):
            self.r.chain(few, PID, PID, [], 1300 + i)
        self.chains(self.r.event("cycles:u"))
        self.write()
        paths, said = self.folded()
        self.assertEqual(paths[f"_start;{LONG};walk"], 60)
        self.assertEqual(paths["[no call stack];_start"], 5)
        self.assertIn("cycles:u", said)
        self.assertNotIn("instructions", said)

    def test_never_mixed(self):
        """Beside stacks of SPE records those of another event do not count."""
        own = self.r.event("spe-callchain")
        self.chains(self.r.event("cycles:u"))
        self.r.chain(own, PID, PID, [self.walk, self.in_start], 1003)
        self.write()
        paths, said = self.folded()
        self.assertEqual(paths, {"_start;walk": 1, "[no call stack];walk": 79,
                                 "[no call stack];mix": 10, "[no call stack];_start": 5})
        self.assertEqual(said, "")

    def test_large_weights(self):
        """Periods that nobody has do not overflow, and nothing is lost."""
        event = self.r.event("cycles:u")
        for i in range(4):
            self.r.chain(event, PID, PID, [self.walk, self.long if i else self.in_start],
                         1500 + i, period=1 << 63)
        self.write()
        paths, _ = self.folded()
        self.assertEqual(paths, {f"{LONG};walk": 60, "_start;walk": 20,
                                 "[no call stack];mix": 10, "[no call stack];_start": 5})

    def test_hostile_name(self):
        self.chains(self.r.event("cy\x1b[31mcles;\n"))
        self.write()
        for args in (("report", "-g"), ("report", "--by", "caller"),
                     ("report", "--by", "caller", "--csv"), ("export", "--format", "folded")):
            result = spe(*args, self.data)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotIn(b"\x1b", result.stdout + result.stderr)

    def test_perf(self):
        """perf has the same chains of that event."""
        perf = perf_file.find_perf()
        if not perf:
            self.skipTest("there is no perf")
        self.chains(self.r.event("cycles:u"))
        self.write()
        result = subprocess.run([*perf, "script", "-i", self.data, "--itrace=", "-F",
                                 "event,ip"], capture_output=True, text=True,
                                check=False)
        blocks = [b.split("\n") for b in result.stdout.strip().split("\n\n")]
        # Some versions print addresses of the file: the page, which is the same for all, is left out.
        stacks = collections.Counter(
            tuple(int(line.split()[0], 16) % 4096 for line in block[1:] if line.strip())
            for block in blocks if "cycles:u" in block[0])
        walk, mix, long, start = (a % 4096 for a in (self.walk, self.mix, self.long, self.in_start))
        self.assertEqual(stacks, {(walk, long, start): 2, (walk, start): 1, (mix, long, start): 1},
                         result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
