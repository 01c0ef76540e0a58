# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Samples tell the truth: estimates and their intervals beside the emulator's exact counts, and no
instruction of a short loop is sampled more than another."""

import collections
import os
import subprocess
import sys
import unittest

import recordtest
from spetest import SPE, need_symbols

recordtest.require()
need_symbols()
sys.path.insert(0, os.path.join(os.environ["SPE_SOURCE_DIR"], "tools"))
import truth  # noqa: E402 pylint: disable=wrong-import-position

# Chi-square that chance passes once in 10,000, by degrees of freedom.
LIMIT = {1: 15.14, 2: 18.42, 3: 21.11, 4: 23.51, 5: 25.74, 6: 27.86, 7: 29.88, 8: 31.83, 9: 33.72,
         10: 35.56, 11: 37.37}
ROUNDS = 400000


class Truth(recordtest.RecordTest):
    def test_intervals_hold(self):
        """With every model; docs/truth.md has more programs and seeds."""
        programs = {name: truth.OWN[name] for name in ("bodies", "hash", "parse", "pixels", "workers")}
        pairs = truth.measure(SPE, truth.runs_of(programs, 1, 1))
        for model in truth.MODELS:
            some = truth.of(pairs, model=model)
            self.assertGreaterEqual(len(some), 150, model)
            self.assertGreaterEqual(sum(map(truth.within, some)), 0.92 * len(some), model)
        suspects = self.beyond(pairs)
        if suspects:
            self.assertEqual(self.beyond_again(programs, suspects), [])

    @staticmethod
    def beyond(pairs):
        """What deviates by more than chance does once in a hundred runs of this test."""
        deviations = truth.deviations(pairs)
        return [key for deviation, key in deviations if abs(deviation) >= truth.limit(len(deviations))]

    @staticmethod
    def beyond_again(programs, suspects):
        """Which of them do so with other seeds. With several threads each run is another one, so
        chance would fail one in a hundred; what is biased deviates again."""
        print("measured again:", suspects)
        again = truth.measure(SPE, truth.runs_of(programs, 101, 3))
        return [key for deviation, key in truth.deviations(again)
                if key in suspects and abs(deviation) >= 3]

    def test_stacks_agree(self):
        """Every stack is one that the program had, and few have none."""
        for model in truth.MODELS:
            row = truth.stacks(SPE, "paths", model, self.dir)
            self.assertGreater(row.agree, 50000, model)
            self.assertEqual(row.wrong, 0, model)
            self.assertLess(row.none, row.samples / 1000, model)

    def test_loops_have_no_bias(self):
        program = self.compile("loops.S", "-nostdlib", "-static")
        names = subprocess.run(["aarch64-linux-gnu-nm", program], check=True, capture_output=True,
                               text=True).stdout
        starts = {int(line.split("_")[-1]): int(line.split()[0], 16)
                  for line in names.splitlines() if " loop_" in line}
        self.assertEqual(sorted(starts), list(range(2, 13)))
        result = self.run_record("-c", "256", "--model", "none", "--", program)
        self.assertEqual(result.returncode, 0, result.stderr)
        samples = collections.Counter(
            int(line, 16) for line in self.good("script", "-F", "ip", self.data).decode().split())
        for length, start in starts.items():
            counts = [samples[start + 4 * i] for i in range(length)]
            expected = sum(counts) / length
            self.assertGreater(expected, ROUNDS / 256 / 2 * 0.9, length)
            chi = sum((count - expected) ** 2 / expected for count in counts)
            self.assertLess(chi, LIMIT[length - 1], (length, counts))


if __name__ == "__main__":
    unittest.main()
