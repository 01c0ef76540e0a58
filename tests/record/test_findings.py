# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Small programs, each with one classic problem and a healthy twin: the first finding names the
problem and its place, and is gone when the program is healthy. What the model cannot show is in
tests/cli/test_findings.py."""

import json
import os
import unittest

import recordtest
from recordtest import RecordTest

recordtest.require()
recordtest.need_symbols()

# What a repair makes less of, if it is not latency.
QUANTITIES = {"misaligned": "misaligned", "partial-predicates": "partial_predicates"}
SOURCES = os.path.join(recordtest.HERE, "findings")


class Findings(RecordTest):
    def findings(self, program, which, *options):
        self.record("--model", "core", "-c", "512", *options, "--", program, which)
        return json.loads(self.good("report", "--json", self.data))["findings"]

    def lines_of(self, name, code):
        """Where the source has this."""
        with open(os.path.join(SOURCES, name + ".c"), encoding="ascii") as f:
            return [f"{name}.c:{i}" for i, line in enumerate(f, 1) if code in line]

    def check(self, name, finding, function, code, *options):  # pylint: disable=arguments-differ
        program = self.compile(f"../findings/{name}.c", "-O2", "-march=armv8.1-a", "-pthread",
                               "-static", name=name)
        sick = self.findings(program, "sick", *options)
        first = sick[0]
        self.assertEqual(first["name"], finding, sick)
        self.assertEqual(first["place"]["function"], function, sick)
        self.assertIn(os.path.basename(first["place"]["line"]), self.lines_of(name, code), sick)
        self.assertLessEqual(first["interval"]["low"], first["share"])
        self.assertLessEqual(first["share"], first["interval"]["high"])
        self.assertTrue(first["interval"]["high"] - first["interval"]["low"] < 0.2, first)
        self.assertIn(function, first["sentence"])
        old = os.path.join(self.dir, "sick.data")
        os.rename(self.data, old)
        healthy = self.findings(program, "healthy", *options)
        self.assertNotIn(finding, [f["name"] for f in healthy])
        self.check_repair(old, function, QUANTITIES.get(finding, "latency"))
        return first

    def check_repair(self, old, function, quantity):
        """spe diff says what became better, and where."""
        found = json.loads(self.good("diff", "--json", old, self.data))
        self.assertTrue(found["total"]["quantities"][quantity]["significant"])
        self.assertLess(found["total"]["quantities"][quantity]["high"], 0)
        better = [row["function"] for row in found["rows"] if row["quantities"][quantity]["significant"]
                  and row["quantities"][quantity]["change"] < 0]
        self.assertIn(function, better[:2])

    def test_list_in_memory(self):
        found = self.check("list", "dram", "walk_list", "e->")
        self.assertGreater(found["share"], 0.5)
        self.assertEqual(found["next"], "spe annotate walk_list")

    def test_tlb_misses(self):
        self.check("pages", "tlb-walks", "touch_pages", "base[")

    def test_unpredictable_branch(self):
        found = self.check("branch", "mispredicted", "count_large", "numbers[i]")
        self.assertEqual(found["basis"], "branches")
        self.assertAlmostEqual(found["share"], 0.25, delta=0.05)

    def test_false_sharing(self):
        found = self.check("counters", "false-sharing", "count_up", "(*mine)++")
        data = [found["place"]["data"], found["place"]["other_data"]]
        for name in data:
            self.assertRegex(name, r"^counters\[\d\]$")
            self.assertIn(name, found["sentence"])
        self.assertNotEqual(*data)
        self.assertEqual(found["next"], "spe c2c")

    def test_contended_atomic(self):
        found = self.check("atomic", "contended-atomics", "add_up", "atomic_fetch_add")
        self.assertEqual(found["place"]["data"], "sum_of_all.total")

    def test_split_accesses(self):
        # Neoverse N1 has no event for it.
        found = self.check("split", "misaligned", "sum_words", "memcpy", "--cpu", "neoverse-v2")
        self.assertGreater(found["share"], 0.9)

    def test_short_rows(self):
        if not recordtest.BUILT_QEMU:
            self.skipTest("no QEMU of tools/build-qemu.sh: others do not show predicates")
        self.check("predicates", "partial-predicates", "sum_rows", "some", "--cpu", "neoverse-v2",
                   "--qemu", recordtest.BUILT_QEMU)

    def test_cold_start(self):
        found = self.check("cold", "one-phase", "look_up", "sum += table")
        self.assertEqual(found["next"], "spe report --by time")

    def test_slow_thread(self):
        self.check("threads", "one-thread", "gather", "sum += table")


if __name__ == "__main__":
    unittest.main()
