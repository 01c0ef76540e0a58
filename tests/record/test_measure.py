# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Modelled time as --stat-json has it, and tools/measure.py, which judges the machine with it."""

import json
import os
import subprocess
import sys
import unittest

import recordtest
from recordtest import SPE, RecordTest

ROOT = os.path.join(recordtest.HERE, "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tools"))

import measure  # noqa: E402  pylint: disable=wrong-import-position

recordtest.require()


class Measure(RecordTest):
    def setUp(self):
        super().setUp()
        self.program = os.path.join(self.dir, "machine")
        subprocess.run([*measure.COMPILE, measure.PROGRAM, "-o", self.program], check=True)
        self.machine = measure.Machine(SPE, "neoverse-n1", self.program, self.dir)

    def test_plateaus(self):
        """A chain of loads costs what the preset says, each of them, wherever the data is."""
        for size, cycles in ((32 << 10, 4), (256 << 10, 11), (2 << 20, 85)):
            cost = self.machine.cycles("latency", 1000, size, huge=True)
            self.assertAlmostEqual(cost, cycles, delta=1, msg=f"{size} bytes")

    def test_stores(self):
        """What was loaded is stored, and loaded again from there, or from a place that overlaps it."""
        for apart, cycles in ((0, 4), (1, 10)):
            self.assertAlmostEqual(self.machine.cycles("chain", 1000, apart), cycles, delta=0.5)

    def test_absent(self):
        """A model without modelled time has no cycles, and says none."""
        for model in "none", "functional":
            path = os.path.join(self.dir, "stat.json")
            self.record("--model", model, "--stat-json", path, "--", self.program, "latency", "10", "4096")
            with open(path, encoding="utf-8") as f:
                self.assertNotIn("cycles", json.load(f))

    def test_published(self):
        """Every published figure is judged: the page has a row with its value and source."""
        with open(os.path.join(ROOT, "docs", "measurements.md"), encoding="utf-8") as f:
            rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in f
                    if line.startswith("| ")]
        figures = measure.read_figures()
        self.assertGreater(len(figures), 20)
        for figure in figures:
            self.assertIn([figure.preset, figure.benchmark, figure.source],
                          [[row[0], row[1], row[-1]] for row in rows])
        self.assertEqual({figure.preset for figure in figures}, set(measure.PRESETS))

    def test_verdict(self):
        figure = measure.Figure("p", "b", 30, 60, "ns", 2.0, "s")
        for cycles, ratio, verdict in ((90, "1.00", "within"), (50, "0.83", "within"),
                                       (47, "0.78", "**off**"), (149, "1.24", "within"),
                                       (151, "1.26", "**off**")):
            result = measure.Result("b", cycles, "cycles", measure.LATENCY)
            row, = measure.rows("p", result, [figure])
            self.assertEqual(row[4:6], (ratio, verdict))
        row, = measure.rows("other", result, [figure])
        self.assertEqual(row[2:], (measure.NONE, "151 cycles", "", "", ""))


if __name__ == "__main__":
    unittest.main()
