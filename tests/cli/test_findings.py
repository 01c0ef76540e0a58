# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""spe report: findings and time, on recordings made by hand."""

import json
import os
import re
import unittest

import recording_file as t
from spetest import CommandTest, need_symbols, skip

need_symbols()
if not t.can_compile():
    skip("there is no compiler")

LOAD, STORE, OTHER, BRANCH = (1, 0), (1, 1), (0, 0), (2, 1)
SVE = (0, 0x08)
RETIRED, L1D, MISPREDICTED, PARTIAL = 1 << 1, 1 << 2, 1 << 7, 1 << 17
DRAM = 0xe


class FindingsTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.path = self.dir + "/perf.data"

    def recording(self, samples, **options):
        """Samples as (function, operation, events, cycles, source), 1 us apart."""
        r = t.Recording(**options)
        r.comm(10, 10, "worker")
        program = t.Program(self.dir)
        program.map(r, 10)
        data = b""
        for i, (function, op, events, cycles, source) in enumerate(samples):
            data += t.sample(program.pc(function), 1000 * (i + 1), 10, op, events | RETIRED, cycles,
                             va=0x10000 + 64 * (i % 7) if op[0] == 1 else None, source=source)
        r.aux(0, data)
        r.write(self.path)

    def json(self, *args):
        return json.loads(self.good("report", "--json", *args, self.path))

    def first(self, samples):
        self.recording(samples)
        findings = self.json()["findings"]
        return findings[0], [f["name"] for f in findings]

    @staticmethod
    def ordinary(n):
        return [("mix", OTHER, 0, 2, None), ("mix", LOAD, L1D, 5, 0)] * (n // 2)


class Problems(FindingsTest):
    """What the model of `spe record` cannot show."""

    def check(self, name, sick, healthy):
        found, _ = self.first(sick)
        self.assertEqual(found["name"], name)
        self.assertEqual(found["place"]["function"], "walk")
        self.assertRegex(found["place"]["line"], r"program\.c:\d+$")
        old = os.path.join(self.dir, "sick.data")
        os.rename(self.path, old)
        _, names = self.first(healthy)
        self.assertNotIn(name, names)
        return json.loads(self.good("diff", "--json", old, self.path))

    def test_partial_predicates(self):
        def loop(partial):
            return [("walk", SVE, PARTIAL if i < partial else 0, 4, None) for i in range(400)]
        found = self.check("partial-predicates", self.ordinary(400) + loop(380),
                           self.ordinary(400) + loop(20))
        self.assertLess(found["total"]["quantities"]["partial_predicates"]["high"], -0.8)
        self.assertTrue(found["rows"][0]["quantities"]["partial_predicates"]["significant"])
        self.assertEqual(found["rows"][0]["function"], "walk")

    def test_store_burst(self):
        def stores(cycles):
            return [("walk", STORE, L1D, cycles, None)] * 300
        found = self.check("stores", self.ordinary(400) + stores(90), self.ordinary(400) + stores(3))
        self.assertLess(found["total"]["quantities"]["latency"]["high"], -0.5)
        self.assertEqual(found["rows"][0]["function"], "walk")
        self.assertTrue(found["rows"][0]["quantities"]["latency"]["significant"])


class Page(FindingsTest):
    def many(self):
        """All kinds of trouble."""
        samples = []
        for i in range(300):
            samples += [("walk", LOAD, L1D, 300, DRAM), ("mix", STORE, L1D, 200, None),
                        ("mix", BRANCH, MISPREDICTED, 3, None), ("walk", SVE, PARTIAL, 90, None)]
        self.recording(samples)

    def page(self, *args):
        return self.good("report", *args, self.path).decode()

    def test_first_screen(self):
        self.many()
        self.assertGreater(len(self.json()["findings"]), 3)
        for width in (80, 100, 200):
            lines = self.page("--width", width).splitlines()
            self.assertEqual(lines[0], "Findings")
            functions = next(i for i, line in enumerate(lines) if line.startswith("Hottest functions"))
            screen = lines[:24]
            self.assertTrue(any(line.startswith("  walk ") for line in screen[functions:]), screen)
            numbered = [line for line in lines[1:functions] if re.match("  [1-5]  ", line)]
            self.assertEqual(len(numbered), len(self.json()["findings"]))
            self.assertLessEqual(functions, 1 + 2 * len(numbered) + 1)
            for line in lines:
                self.assertLessEqual(len(line), width)
            after = [line for line in lines[functions:] if line and line[0] != " "]
            self.assertLess(after.index("Recording"), after.index("Operations, shares in %"))

    def test_json(self):
        self.many()
        findings = self.json()["findings"]
        self.assertEqual([f["name"] for f in findings[:2]], ["mispredicted", "partial-predicates"])
        costs = [f["share"] for f in findings if not f["doubt"]]
        self.assertEqual(costs, sorted(costs, reverse=True))
        for f in findings:
            self.assertLessEqual(f["interval"]["low"], f["share"])
            self.assertLessEqual(f["share"], f["interval"]["high"])
            self.assertTrue(f["basis"] and f["sentence"])
        dram = next(f for f in findings if f["name"] == "dram")
        self.assertEqual(dram["basis"], "latency")
        self.assertAlmostEqual(dram["share"], 300 / 593, places=2)
        self.assertEqual(dram["next"], "spe annotate walk")
        self.assertRegex(dram["sentence"],
                         r"of latency: loads from DRAM in walk \(program\.c:\d+\), 299 cycles each once issued$")

    def test_how_much_is_there(self):
        self.recording([("walk", LOAD, L1D, 300, DRAM), ("mix", LOAD, L1D, 200, DRAM)] * 200)
        sentence = self.json()["findings"][0]["sentence"]
        self.assertIn("of latency: loads from DRAM, 60 % of it in walk (program.c:", sentence)

    def test_off(self):
        self.many()
        self.assertEqual(self.json("--no-findings")["findings"], [])
        self.assertTrue(self.page("--no-findings").startswith("Hottest functions"))
        self.assertNotIn("Findings", self.page("--header-only"))
        with_them = self.page().split("\n")
        self.assertEqual(with_them[with_them.index("") + 1:], self.page("--no-findings").split("\n"))

    def test_few_and_none(self):
        self.recording(self.ordinary(40))
        findings = self.json()["findings"]
        self.assertEqual([f["name"] for f in findings], ["few-samples"])
        self.assertIn("only 40 samples", findings[0]["sentence"])
        self.recording(self.ordinary(400))
        self.assertIn("Nothing stands out", self.page())
        # All samples are at one instruction, and their interval was not random.
        self.assertEqual(self.json()["findings"][1]["name"], "resonance")

    def test_same_for_any_threads(self):
        self.many()
        self.assertEqual(self.json("--threads", 1)["findings"], self.json("--threads", 3)["findings"])


class Time(FindingsTest):
    def slow_start(self):
        self.recording([("walk", LOAD, L1D, 200, DRAM) if i < 100 else ("walk", LOAD, L1D, 5, 0)
                        for i in range(400)])

    def section(self, *args, **env):
        page = self.good("report", "--by", "time", *args, self.path,
                         env={**os.environ, **env}).decode()
        return page.split("Over time", 1)[1].split("\n\n", 1)[0].splitlines()

    def test_bars(self):
        self.slow_start()
        lines = self.section(LC_ALL="C.UTF-8")
        rows = {line[2:20].strip(): line[22:] for line in lines[1:]}
        self.assertEqual(list(rows), ["samples", "latency", "L1 cache", "DRAM"])
        self.assertRegex(rows["latency"], r"^█+▁+ +up to 200\.0 cycles/sample$")
        self.assertRegex(rows["DRAM"], r"^█+ +up to 100\.0 % of loads$")
        plain = self.section(LC_ALL="C")
        self.assertTrue("".join(plain).isascii())
        self.assertRegex(plain[2], r"latency +@+\.+ +up to 200")
        for width in (60, 80, 200):
            for line in self.section("--width", width, LC_ALL="C.UTF-8"):
                self.assertLessEqual(len(line), width)

    def test_bins(self):
        self.slow_start()
        time = self.json("--by", "time", "--bins", 8)["time"]
        bins = time["bins"]
        self.assertIn(len(bins), range(5, 9))
        self.assertEqual(sum(b["samples"] for b in bins), 400)
        self.assertEqual(sum(b["latency"] for b in bins), 100 * 200 + 300 * 5)
        self.assertEqual(sum(b["loads"].get("DRAM", 0) for b in bins), 100)
        self.assertEqual(bins[0]["loads"], {"DRAM": bins[0]["samples"]})
        self.assertLessEqual(time["first_ns"], 1000)
        self.assertGreater(time["first_ns"] + len(bins) * time["bin_ns"], 400 * 1000)
        self.assertNotIn("time", self.json())
        both = self.json("--by", "function,time", "--bins", "1024")
        self.assertEqual(both["groups"][0]["by"], "function")
        self.assertGreater(len(both["time"]["bins"]), 300)

    def test_usage(self):
        self.slow_start()
        self.assertIn("--bins", self.bad(2, "report", "--bins", "0", self.path))
        self.assertIn("--json", self.bad(2, "report", "--csv", "--by", "time", self.path))


if __name__ == "__main__":
    unittest.main()
