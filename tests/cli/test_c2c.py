# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""spe c2c where a recording says little, and perf's words for what it does."""

import json
import unittest

import recording_file as t
from spetest import CommandTest, spe

LOAD, STORE = (1, 0), (1, 1)
PEER, L1_MISS = 9, 0xe


class C2c(CommandTest):
    def recording(self, *samples, midr=0x413fd0c1):
        """Of (thread, operation, va, source, times); thread n is on CPU n - 1."""
        r = t.Recording(cpus=2, midr=midr)
        for tid in (1, 2):
            r.comm(1, tid, "task")
        for cpu in (0, 1):
            data = b"".join(
                t.sample(0x400000 + 4 * i, 10 + n, tid, op, L1_MISS, 20, va=va, source=source)
                for i, (tid, op, va, source, times) in enumerate(samples) if tid == cpu + 1
                for n in range(times))
            if data:
                r.aux(cpu, data)
        path = self.dir + "/perf.data"
        r.write(path)
        return path

    def answer(self, path):
        return json.loads(self.good("c2c", "--json", path))

    def test_shared(self):
        path = self.recording((1, LOAD, 0x1000, PEER, 20), (2, STORE, 0x1020, None, 20))
        line, = self.answer(path)["lines"]
        self.assertEqual((line["sharing"], line["loads"], line["stores"]), ("false", 20, 20))
        for width in ("80", "200"):
            page = self.good("c2c", "--width", width, path).decode()
            self.assertIn("based on    data sources", page)
            self.assertIn("put them 64 bytes apart.", " ".join(page.split()))
            self.assertLessEqual(max(map(len, page.splitlines())), int(width))
        page = self.good("c2c", "report", "--stdio", "-d", "peer", "-i", path)
        self.assertEqual(page, self.good("c2c", path))

    def test_line_size(self):
        path = self.recording((1, LOAD, 0x1000, PEER, 20), (2, STORE, 0x1020, None, 20))
        self.assertEqual(json.loads(self.good("c2c", "--line-size", "32", "--json", path))["lines"],
                         [])
        self.assertIn("not a power of two", self.bad(2, "c2c", "--line-size", "48", path))

    def test_no_addresses(self):
        path = self.recording((1, LOAD, None, PEER, 20), (2, STORE, None, None, 20))
        self.assertIn("no load or store has a data address", self.bad(1, "c2c", path))

    def test_one_thread(self):
        path = self.recording((1, LOAD, 0x1000, PEER, 20))
        self.assertIn("no shared lines: all loads and stores are of one thread",
                      " ".join(self.good("c2c", path).decode().split()))

    def test_no_source(self):
        path = self.recording((1, LOAD, 0x1000, None, 20), (2, STORE, 0x1020, None, 20),
                              (1, LOAD, 0x9000, None, 1))
        self.assertEqual(self.answer(path)["based_on"], "L1 misses")
        self.assertIn("the records do not say who served them",
                      " ".join(self.good("c2c", path).decode().split()))

    def generated(self, seed, **settings):
        """A recording of `spe gen` on two CPUs."""
        traces = []
        for cpu in range(2):
            trace = f"{self.dir}/{cpu}.spe"
            self.good("gen", "--records", "30000", "--seed", str(seed + cpu), "-o", trace,
                      *(word for name, value in settings.items() for word in ("--" + name, value)))
            with open(trace, "rb") as f:
                traces.append(f.read())
        return traces

    def same_as_with_all_rows(self, traces, midr=t.N1, *options):
        """Most records get no row, unless there is a filter: that one is the reference."""
        r = t.Recording(cpus=2, midr=midr)
        for tid in range(1000, 1064):
            r.comm(tid, tid, "task")
        for cpu, data in enumerate(traces):
            for at in range(0, len(data), 300001):
                r.aux(cpu, data[at:at + 300001])
        path = self.dir + "/perf.data"
        r.write(path)
        some = spe("c2c", "--json", "--top", "100", *options, path)
        every = spe("c2c", "--json", "--top", "100", "--filter", "load or not load", *options,
                             path)
        self.assertEqual((some.returncode, some.stdout), (every.returncode, every.stdout))
        return json.loads(some.stdout)

    def test_rows_that_are_left_out(self):
        traces = self.generated(1, cpu="neoverse-n1")
        answer = self.same_as_with_all_rows(traces)
        self.assertEqual(answer["based_on"], "data source")
        self.assertTrue(self.same_as_with_all_rows(traces, t.N1, "--line-size", "1024")["lines"])
        for options in (("--line-size", "16"), ("--line-size", "4096"), ("--threads", "3"),
                        ("--data-memory", "64K"), ("--data-memory", "200K")):
            self.same_as_with_all_rows(traces, t.N1, *options)

    def test_rows_that_are_left_out_of_damage(self):
        traces = [bytearray(trace) for trace in self.generated(3, cpu="neoverse-n1")]
        for trace in traces:
            for at in range(1000, len(trace), 4999):
                trace[at:at + at % 90] = bytes(at * i % 256 for i in range(at % 90))
        self.same_as_with_all_rows([bytes(trace) for trace in traces])

    def test_rows_that_are_left_out_of_other_cpus(self):
        traces = self.generated(5, cpu="neoverse-n1")
        answer = self.same_as_with_all_rows(traces, 0x410fd030)  # Cortex-A53: no data sources
        self.assertNotEqual(answer["based_on"], "data source")
        answer = self.same_as_with_all_rows(self.generated(7, cpu="neoverse-v2"), 0x410fd4f0)
        self.assertTrue(answer["samples"])

    def test_perf_words(self):
        self.assertIn("spe record", self.bad(2, "c2c", "record"))
        self.assertIn("spe report -g", self.bad(2, "c2c", "--call-graph=none"))
        self.assertIn("no HITM", self.bad(2, "c2c", "-d", "tot"))
        self.assertIn("its threads and its code", self.bad(2, "c2c", "-c", "pid,iaddr"))
        self.assertIn("--line-size 128", self.bad(2, "c2c", "--double-cl"))
        self.assertIn("less than 64K", self.bad(2, "c2c", "--data-memory", "1K"))


if __name__ == "__main__":
    unittest.main()
