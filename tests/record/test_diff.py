# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""spe diff of recorded programs: a problem and its repair, the same program with other seeds, and
exact counts, which are the same every time."""

import json
import os
import unittest

import recordtest
from recordtest import RecordTest
from spetest import spe

recordtest.require()
recordtest.need_symbols()

SEEDS = 6
# Meson sets it to another number each time. Programs find it on their stack, so that the same seed
# would not give the same samples.
os.environ.pop("MALLOC_PERTURB_", None)


class Diff(RecordTest):
    def build(self, name):
        return self.compile(f"../findings/{name}.c", "-O2", "-march=armv8.1-a", "-pthread",
                            "-static", name=name)

    def keep(self, name, *args):
        self.record(*args)
        kept = os.path.join(self.dir, name)
        os.rename(self.data, kept)
        return kept

    def diff(self, *args):
        return json.loads(self.good("diff", "--json", *args))

    def repaired(self, name, function, quantity):
        program = self.build(name)
        sick, healthy = (self.keep(which, "--model", "core", "-c", "512", "--", program, which)
                         for which in ("sick", "healthy"))
        found = self.diff(sick, healthy)
        self.assertLess(found["total"]["quantities"]["latency"]["high"], -0.1)
        self.assertTrue(found["total"]["quantities"][quantity]["significant"])
        self.assertLess(found["total"]["quantities"][quantity]["high"], -0.5)
        self.assertEqual(found["rows"][0]["function"], function)
        page = " ".join(self.good("diff", sick, healthy).decode().split())
        self.assertIn(f"most of it in {function}", page)
        self.good("diff", "--fail-if", "latency > +5%", sick, healthy)
        self.assertEqual(spe("diff", "--fail-if", "latency > +5%", healthy, sick).returncode, 1)

    def test_list(self):
        self.repaired("list", "walk_list", "llc_misses")

    def test_branch(self):
        self.repaired("branch", "count_large", "mispredicted")

    def test_false_sharing(self):
        """The host decides when threads meet: of two pairs of recordings one may be odd."""
        try:
            self.repaired("counters", "count_up", "l1_misses")
        except AssertionError:
            self.repaired("counters", "count_up", "l1_misses")

    def pairs_that_say_something(self, name, interval, once=False):
        """Of all pairs of six recordings with other seeds, or of those that have none in common."""
        program = self.build(name)
        recordings = [self.keep(f"seed{seed}", "-c", interval, "--seed", seed, "--", program, "sick")
                      for seed in range(SEEDS)]
        pairs = [(a, b) for i, a in enumerate(recordings) for b in recordings[i + 1:]]
        if once:
            pairs = list(zip(recordings[::2], recordings[1::2]))
        return sum(self.diff(a, b)["significant"] > 0 for a, b in pairs)

    def test_seeds(self):
        """By chance one in twenty may say something."""
        self.assertLessEqual(self.pairs_that_say_something("branch", 256), 1)

    def test_seeds_of_contending_threads(self):
        """When they meet is not the same in any two runs, and no change. The host decides it, not
        the seed: one odd run on a busy host is in five of the fifteen pairs."""
        self.assertLessEqual(self.pairs_that_say_something("counters", 1024, once=True), 1)

    def test_exact(self):
        program = self.build("branch")
        files = [os.path.join(self.dir, name)
                 for name in ("sick.json", "again.json", "healthy.json")]
        for file, which in zip(files, ("sick", "sick", "healthy")):
            self.record("--stat-json", file, "--seed", len(file), "--", program, which)
        sick, again, healthy = files
        found = self.diff(sick, again)
        self.assertEqual((found["exact"], found["significant"]), (True, 0))
        self.good("diff", "--fail-if", "instructions > 0", "--fail-if", "mispredicted > 0%", sick,
                  again)
        found = self.diff(sick, healthy)
        row, = (row for row in found["rows"] if row["function"] == "count_large")
        self.assertLess(row["quantities"]["mispredicted"]["change"], -0.9)
        self.assertLess(found["total"]["quantities"]["mispredicted"]["change"], -0.9)
        result = spe("diff", "--fail-if", "mispredicted > +1%", healthy, sick)
        self.assertEqual(result.returncode, 1)


if __name__ == "__main__":
    unittest.main()
