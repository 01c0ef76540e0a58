# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""What `spe export` writes for viewers, opened by readers that others wrote: the Firefox Profiler's
and speedscope's. Their sums are those of `spe report`."""

import collections
import json
import os
import unittest

import readers
import test_viewers  # of tests/cli, which readers has found

THREADS = {"first": "first 10", "second": "second 21"}  # names, and what speedscope is told


class Readers(test_viewers.Recorded):
    def write(self, form, name, *options):
        path = os.path.join(self.dir, name)
        self.export(form, *options, "-o", path)
        return path

    def by_thread(self, which):
        """What the report says of each thread, by function."""
        for name in THREADS:
            groups = self.report("--comm", name)["groups"][0]["top"]
            yield name, +collections.Counter({g["name"]: g[which] for g in groups})

    def durations(self, path):
        """Of the slices of a trace: microseconds by thread and name, from the file itself."""
        with open(path, encoding="utf-8") as f:
            events = json.load(f)["traceEvents"]
        sums = collections.defaultdict(collections.Counter)
        for e in events:
            if e["ph"] == "X":
                sums[e["tid"]][e["name"]] += e["dur"]
        return sums

    def same_durations(self, found, wanted):
        self.assertEqual(set(found), set(wanted))
        for name, value in wanted.items():
            self.assertAlmostEqual(found[name], value, delta=1e-3 * len(wanted) + 1e-6 * value)


class FirefoxProfiler(Readers):
    def test_firefox(self):
        self.record()
        for lines in ((), ("--lines",)):
            with readers.Firefox(self.write("firefox", "a.json", *lines), self.dir) as profiler:
                threads = profiler.threads()
                self.assertEqual(set(threads), set(THREADS))
                for name, sums in self.by_thread("samples"):
                    self.assertEqual(profiler.functions(threads[name]), sums)

    def test_perfetto(self):
        """Slices become markers; it knows no counters of Chrome's traces."""
        self.record(at_once=10)
        path = self.write("perfetto", "trace.json")
        with readers.Firefox(path, self.dir) as profiler:
            threads = profiler.threads()
            self.assertEqual(set(threads), set(THREADS))
            for name, tid in (("first", 10), ("second", 21)):
                ms = profiler.markers(threads[name])
                self.same_durations({n: 1000 * v for n, v in ms.items()},
                                    self.durations(path)[tid])

    def test_it_can_refuse(self):
        self.record()
        path = self.write("speedscope", "a.json")
        with self.assertRaisesRegex(AssertionError, "Profile load failed"):
            readers.Firefox(path, self.dir)


@unittest.skipUnless(readers.browser.find(), "there is no Chromium to show speedscope in")
class Speedscope(Readers):
    def setUp(self):
        super().setUp()
        self.page = readers.Speedscope(self.dir)
        self.addCleanup(self.page.close)

    def test_speedscope(self):
        self.record()
        for which in ("samples", "latency"):
            found = self.page.load(self.write("speedscope", "a.json", "--weight", which))
            self.assertEqual(set(found), set(THREADS.values()))
            for name, sums in self.by_thread(which):
                self.assertEqual(found[THREADS[name]], sums)

    def test_pprof(self):
        """It shows the type of samples that comes first, and what has a function."""
        self.record()
        for which in ("samples", "latency"):
            path = self.write("pprof", "a.pb.gz", "--lines", "--weight", which)
            found, = self.page.load(path).values()
            self.assertEqual(found, collections.Counter(
                {name: n for name, n in self.sums(which).items() if not name.startswith("[no ")}))

    def test_perfetto(self):
        """Slices alone, too; the arguments of a slice are part of its name."""
        self.record(at_once=10)
        path = self.write("perfetto", "trace.json")
        found = self.page.load(path)
        self.assertEqual(len(found), 2)
        for tid, name in ((10, "first"), (21, "second")):
            one, = (sums for profile, sums in found.items() if name in profile)
            sums = collections.Counter()
            for frame, value in one.items():
                sums[frame.split(" {", 1)[0]] += value
            self.same_durations(sums, self.durations(path)[tid])

    def test_it_can_refuse(self):
        """It does not know the Firefox Profiler's format, and says so."""
        self.record()
        self.assertIn("Unrecognized format", self.page.load(self.write("firefox", "a.json")))


if __name__ == "__main__":
    unittest.main()
