# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""spe c2c on recordings of programs that share data, and of their repaired twins: the lines, their
order and their numbers are perf's, and the variable has its name."""

import json
import re
import unittest

import recordtest
from recordtest import RecordTest

recordtest.require()
recordtest.need_symbols()


class C2c(RecordTest):
    def setUp(self):
        super().setUp()
        self.program = self.compile("travel.c", "-O1", "-pthread", "-static")

    def c2c(self, *args):
        self.record("--model", "core", "-c", "512", "--", self.program, *args)
        return json.loads(self.good("c2c", "--json", "-i", self.data))

    def perf_lines(self):
        """(address, peer loads, records, loads, stores) as perf has them, in its order."""
        text = self.perf("c2c", "report", "--stdio")
        table = text.split("Shared Data Cache Line Table")[1].split("Distribution Pareto")[0]
        rows = [line.split() for line in table.splitlines() if re.match(r" +\d+ +0x", line)]
        # Index, address, node, PA count, share, peer: total, local, remote; records, loads, stores.
        return [(int(r[1], 16), int(r[5]), int(r[8]), int(r[9]), int(r[10])) for r in rows]

    def compare(self, found):
        ours = [(int(line["address"], 16), line["travelled"], line["loads"] + line["stores"],
                 line["loads"], line["stores"]) for line in found["lines"]]
        theirs = [line for line in self.perf_lines() if line[1] >= 5]
        self.assertEqual(ours, theirs[:len(ours)])
        self.assertGreater(len(ours), 0)

    def both(self, what, kind, variable, member=""):
        found = self.c2c(what)
        self.assertEqual(found["based_on"], "data source")
        self.compare(found)
        line = found["lines"][0]
        self.assertEqual(line["sharing"], kind, line["advice"])
        address, _ = self.symbol(self.program, variable)
        self.assertEqual(int(line["address"], 16), address)
        self.assertEqual(line["offsets"][0]["object"], variable + member)
        self.assertEqual(line["threads"], 2)
        page = self.good("c2c", "--stdio", "-d", "peer", "-i", self.data).decode()
        self.assertIn(variable, page)
        self.assertIn(line["advice"].split(":")[0], page)
        self.assertEqual(self.c2c(what, "repaired")["lines"], [])
        self.assertIn("no shared lines", self.good("c2c", "-i", self.data).decode())
        return line

    def test_false(self):
        line = self.both("false", "false", "packed", "[0]")
        self.assertEqual([o["offset"] for o in line["offsets"]], [0, 8])
        self.assertEqual(line["offsets"][1]["object"], "packed[1]")
        tids = [o["threads"][0]["tid"] for o in line["offsets"]]
        self.assertEqual(len(set(tids)), 2)
        self.assertEqual(line["advice"], f"False sharing: offset 0x0 (thread {tids[0]}) and 0x8 "
                         f"(thread {tids[1]}) are different bytes: put them 64 bytes apart.")
        for offset in line["offsets"]:
            self.assertEqual({c["function"] for c in offset["code"]}, {"count"})
            self.assertTrue(all(re.search(r"travel\.c:\d+$", c["line"]) for c in offset["code"]))

    def test_true(self):
        line = self.both("true", "true", "total")
        self.assertEqual([o["offset"] for o in line["offsets"]], [0])
        self.assertTrue(line["offsets"][0]["same_bytes"])
        self.assertIn("a copy for each thread", line["advice"])

    def test_queue(self):
        line = self.both("queue", "true", "slot", ".full")
        functions = {c["function"] for o in line["offsets"] for c in o["code"]}
        self.assertEqual(functions, {"produce", "consume"})

    def test_line_of_model(self):
        """Lines are as long as those of the machine that the model was set to."""
        self.record("--model", "core", "--machine", "l2=2M,line=128", "-c", "512", "--",
                    self.program, "false")
        found = json.loads(self.good("c2c", "--json", "-i", self.data))
        self.assertEqual(found["line_bytes"], 128)
        self.assertGreater(len(found["lines"]), 0)
        self.assertTrue(all(int(line["address"], 16) % 128 == 0 for line in found["lines"]))
        self.assertIn("128 bytes, as those of the model", self.page())
        self.assertIn("64 bytes; offsets", self.page("--line-size", "64"))
        self.record("--model", "core", "--machine", "l2=2M", "-c", "512", "--", self.program,
                    "false")
        self.assertIn("64 bytes, as those of this CPU", self.page())

    def page(self, *options):
        return self.good("c2c", *options, "-i", self.data).decode()


if __name__ == "__main__":
    unittest.main()
