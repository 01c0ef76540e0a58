# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""spe c2c where a recording says little, and perf's words for what it does."""

import json
import unittest

import recording_file as t
from spetest import CommandTest

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

    def test_perf_words(self):
        self.assertIn("spe record", self.bad(2, "c2c", "record"))
        self.assertIn("no call stacks", self.bad(2, "c2c", "--call-graph=none"))
        self.assertIn("no HITM", self.bad(2, "c2c", "-d", "tot"))
        self.assertIn("its threads and its code", self.bad(2, "c2c", "-c", "pid,iaddr"))
        self.assertIn("--line-size 128", self.bad(2, "c2c", "--double-cl"))
        self.assertIn("less than 64K", self.bad(2, "c2c", "--data-memory", "1K"))


if __name__ == "__main__":
    unittest.main()
