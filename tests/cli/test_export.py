# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""spe export: CSV, JSON Lines and folded stacks say what the records say."""

import csv
import io
import json
import os
import re
import unittest

import recording_file as t
from spetest import CommandTest, need_symbols

need_symbols()


class Export(CommandTest):
    def setUp(self):
        super().setUp()
        self.path = self.dir + "/perf.data"
        r = t.Recording(cpus=1)
        r.comm(10, 10, '=a,"b"')
        self.program = t.Program(self.dir) if t.can_compile() else None
        self.pc = 0x401000
        if self.program:
            self.program.map(r, 10)
            self.pc = self.program.pc("walk")
        r.aux(0, t.sample(self.pc, 100, 10, (1, 0), 0x16, 9, va=0x1234, source=8, pa=0x9000) +
              t.sample(self.pc, 200, 10, (2, 1), 0x82, None, target=0x401234))
        r.write(self.path)

    def export(self, form, *args):
        return self.good("export", "--format", form, *args, self.path).decode()

    def test_csv(self):
        rows = list(csv.DictReader(io.StringIO(self.export("csv"))))
        self.assertEqual(len(rows), 2)
        load, branch = rows
        self.assertEqual([load[k] for k in ("time_ns", "cpu", "pid", "tid", "va", "pa", "total",
                                            "source", "level", "op", "events")],
                         ["100", "0", "10", "10", "0x1234", "0x9000", "9", "0x8", "l2", "load",
                          "0x16"])
        self.assertEqual(int(load["pc"], 16), self.pc)
        self.assertEqual(load["comm"], '\'=a,"b"')  # a spreadsheet must not run it
        self.assertEqual((load["target"], branch["va"], branch["total"]), ("", "", ""))
        self.assertEqual(branch["target"], "0x401234")

    def test_ndjson(self):
        load, branch = map(json.loads, self.export("ndjson").splitlines())
        self.assertEqual((load["va"], load["total"], load["level"]), ("0x1234", 9, "l2"))
        self.assertEqual(load["comm"], '=a,"b"')
        self.assertEqual(load["event_names"], ["retired", "l1d_access", "tlb_access"])
        self.assertNotIn("total", branch)
        self.assertNotIn("va", branch)
        self.assertIn("mispredicted", branch["event_names"])

    def test_columns(self):
        text = self.export("csv", "--columns", "total,event_l1d_access,va")
        self.assertEqual(text, "total,event_l1d_access,va\n9,1,0x1234\n,0,\n")
        self.assertIn("'nothing' is not a column; there are time_ns, cpu", self.bad(
            2, "export", "--format", "csv", "--columns", "pc,nothing", self.path))
        self.assertIn("is for csv, ndjson, arrow and parquet", self.bad(
            2, "export", "--format", "folded", "--columns", "pc", self.path))

    def test_columns_are_documented(self):
        listed = re.findall(r"^(\w+) +(\w+) +(.*)$",
                            self.good("export", "--columns", "help").decode(), re.M)
        with open(os.path.join(os.environ["SPE_SOURCE_DIR"], "docs/columns.md"),
                  encoding="utf-8") as f:
            table = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*) \|$", f.read(), re.M)
        self.assertEqual(listed, table)
        self.assertGreater(len(listed), 50)
        header = self.export("csv").splitlines()[0].split(",")
        self.assertEqual(header, [name for name, _, _ in listed
                                  if name not in ("data", "data_offset")])

    @unittest.skipUnless(t.can_compile(), "there is no compiler")
    def test_folded_by_task(self):
        """A first frame for the thread's name or the thread; ';' in a name does not separate."""
        path = self.dir + "/tasks.data"
        r = t.Recording(cpus=2)
        r.comm(10, 10, "a;b")
        r.comm(10, 11, "other")
        if self.program:
            self.program.map(r, 10)
        r.aux(0, t.sample(self.pc, 100, 10, (1, 0), 0x16, 9, va=0x1234, source=8) +
              t.sample(self.pc, 200, 10, (1, 0), 0x16, 5, va=0x1234, source=8))
        r.aux(1, t.sample(self.pc, 300, 11, (1, 0), 0x16, 70, va=0x1234, source=8))
        r.write(path)
        place = "program;walk" if self.program else "[no map];[no symbol]"

        def folded(*args):
            return sorted(self.good("export", "--format", "folded", *args, path).decode().splitlines())

        self.assertEqual(folded("--task", "comm"), [f"a:b;{place} 2", f"other;{place} 1"])
        self.assertEqual(folded("--task", "thread", "--weight", "latency"),
                         [f"a:b 10/10;{place} 14", f"other 10/11;{place} 70"])
        if self.program:
            for line in folded("--task", "comm", "--lines"):
                self.assertRegex(line, r"^(a:b|other);program;walk;.*program\.c:\d+ \d$")
        self.assertIn("comm nor thread", self.bad(2, "export", "--format", "folded", "--task", "x", path))
        self.assertIn("is for folded", self.bad(2, "export", "--format", "csv", "--task", "comm", path))

    def test_folded(self):
        self.assertEqual(self.export("folded"), "program;walk 2\n")
        self.assertEqual(self.export("folded", "--weight", "latency"), "program;walk 9\n")
        self.assertRegex(self.export("folded", "--lines"), r"^program;walk;.*program\.c:\d+ 2\n$")

    def test_perf(self):
        """A part of a recording says of its samples what the whole says."""
        r = t.Recording(cpus=3)
        for tid in (10, 11):
            r.comm(10, tid, f"thread-{tid}")
        for piece in range(4):
            for cpu in range(3):
                r.aux(cpu, b"".join(
                    t.sample(0x1000 + 4 * i, 1000 * piece + 10 * i + cpu, 10 + i % 2, (1, 0), 0x16,
                             i, va=64 * i, source=8) for i in range(50)))
        r.write(self.path)
        part = self.dir + "/part.data"
        for cut, number in (((), 600), (("--cpus", "0,2"), 400), (("--tid", 11), 300),
                            (("--time", "1us,3us"), 300), (("--cpus", 7), 0),
                            (("--cpus", 1, "--tid", 10, "--time", "2us,"), 50)):
            self.assertEqual(self.export("perf", "-o", part, *cut), "")
            fields = "comm,pid,tid,cpu,time,ip,addr,weight,source,timestamp"
            ours = self.good("script", "-F", fields, part)
            self.assertEqual(ours, self.good("script", "-F", fields, *cut, self.path))
            self.assertEqual(len(ours.splitlines()), number)
        whole, cut = (json.loads(self.good("report", "--json", path))["recording"]
                      for path in (self.path, part))
        for key in ("hostname", "cpu", "command", "period", "arch"):
            self.assertEqual(whole[key], cut[key])

    def test_perf_needs_a_recording(self):
        raw = self.file(t.sample(0x1000, 10, 10) * 3)
        self.bad(1, "export", "--format", "perf", "-o", self.dir + "/x", raw)
        self.bad(2, "export", "--format", "perf", "-o", "x", "--filter", "load", self.path)

    def test_output(self):
        out = self.dir + "/out"
        self.assertEqual(self.export("csv", "-o", out), "")
        with open(out, encoding="utf-8") as f:
            self.assertEqual(f.read(), self.export("csv"))
        self.assertEqual(len(self.export("ndjson", "--filter", "load").splitlines()), 1)

    def test_usage(self):
        self.assertIn("--format", self.bad(2, "export", self.path))
        self.assertIn("--format", self.bad(2, "export", "--format", "x", self.path))
        self.assertIn("--weight", self.bad(2, "export", "--format", "folded", "--weight", "x",
                                           self.path))
        self.bad(2, "export", "--format", "perf", self.path)
        self.bad(1, "export", "--format", "csv", "-o", self.dir + "/no/where", self.path)


if __name__ == "__main__":
    unittest.main()
