# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""spe record --model core: threads meet in modelled time, and what is known of small programs is
what their recordings show, however busy the machine is."""

import json
import os
import signal
import statistics
import subprocess
import sys
import unittest

import recordtest
from recordtest import RecordTest

recordtest.require()

STATIC = ("-O1", "-pthread", "-static")


class CoreTest(RecordTest):
    def setUp(self):
        super().setUp()
        self.program = self.compile("core.c", *STATIC)

    def run_core(self, *args, count=1024, options=()):
        """Record it; its output and status are those under QEMU alone."""
        plain = self.plain(self.program, *args)
        summary = self.record("--model", "core", "-c", str(count), *options, "--", self.program,
                              *args, status=plain.returncode)
        self.assertEqual(self.stdout, plain.stdout.decode())
        self.check()
        return summary

    def of(self, function):
        """The samples in a function."""
        start, size = self.symbol(self.program, function)
        return [s for s in self.samples()
                if start <= int(s["pc"]["address"], 16) < start + size]

    @staticmethod
    def total(sample):
        return next(c["cycles"] for c in sample["counters"] if c["name"] == "total")

    @staticmethod
    def is_load(sample):
        return sample["op"]["class"] == 1 and not sample["op"]["store"]


class Sharing(CoreTest):
    def peers(self, what):
        """The share of loads in the loop that a peer core served."""
        self.run_core(what)
        loads = [s for s in self.of("count") if self.is_load(s)]
        self.assertGreater(len(loads), 300)
        self.assertTrue(all("source" in s for s in loads))
        return sum(s["source"]["level"] == "peer_core" for s in loads) / len(loads)

    def both(self):
        self.assertGreater(self.peers("sharing"), 0.15)
        self.assertLess(self.peers("padded"), 0.03)

    def test_idle(self):
        self.both()

    def test_busy(self):
        burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
        try:
            self.both()
        finally:
            for burner in burners:
                burner.send_signal(signal.SIGKILL)
                burner.wait()


class Latency(CoreTest):
    def mean(self, function, only=lambda s: True):
        totals = [self.total(s) for s in self.of(function) if only(s)]
        self.assertGreater(len(totals), 200)
        return statistics.mean(totals)

    def test_prefetch(self):
        self.run_core("order")
        order = self.mean("read_array", self.is_load)
        self.run_core("stride")
        self.assertLessEqual(order, self.mean("read_array", self.is_load) / 3)

    def test_one_miss(self):
        self.run_core("alu")
        before, after = self.mean("spin_before"), self.mean("spin_after")
        self.assertLess(abs(after / before - 1), 0.2)


class Crowd(CoreTest):
    def miss_share(self, threads):
        summary = self.run_core("crowd", str(threads), count=512)
        self.assertEqual(summary.threads, threads + 1)
        loads = [s for s in self.of("wander") if self.is_load(s)]
        self.assertGreater(len(loads), 200)
        self.assertTrue(all("source" in s for s in loads))
        return sum("l1d_miss" in s["events"]["set"] for s in loads) / len(loads)

    def test_more_threads_than_cpus(self):
        few, many = self.miss_share(40), self.miss_share(110)
        self.assertGreater(few, 0.5)
        self.assertLess(abs(few - many), 0.05)


class Counts(CoreTest):
    def exact(self, model, *args):
        path = os.path.join(self.dir, f"{model}.json")
        self.record("--model", model, "--stat-json", path, "--", self.program, *args)
        with open(path, encoding="utf-8") as f:
            return {x["function"]: x["counts"] for x in json.load(f)["functions"]}

    def test_none_counts_the_same(self):
        for what, function in (("alu", "spin_after"), ("sharing", "count"), ("order", "read_array")):
            none, core = self.exact("none", what), self.exact("core", what)
            for kind in ("operations", "loads", "stores", "branches"):
                self.assertEqual(none[function][kind]["exact"], core[function][kind]["exact"])


class Ends(CoreTest):
    def test_forks_among_threads(self):
        summary = self.run_core("forks", count=4096)
        self.assertEqual(summary.processes, 13)

    def test_exit_among_threads(self):
        summary = self.run_core("quit", count=4096)
        self.assertEqual(summary.threads, 17)


if __name__ == "__main__":
    unittest.main()
