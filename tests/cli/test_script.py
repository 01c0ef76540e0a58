# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""spe script: fields, order, limits, text that nobody made safe."""

import unittest

import recording_file as t
from spetest import CommandTest, spe

ESCAPE = "\x1b[31mred\x9b"  # U+009B begins a sequence too, for some terminals


class Script(CommandTest):
    def recording(self, samples, comm="worker", **kwargs):
        r = t.Recording(cpus=2, **kwargs)
        r.comm(10, 10, comm)
        for cpu in (0, 1):
            r.aux(cpu, b"".join(data for at, data in samples if at == cpu))
        path = self.dir + "/perf.data"
        r.write(path)
        return path

    def lines(self, *args):
        return self.good("script", *args).decode().splitlines()

    def test_fields(self):
        path = self.recording([(0, t.sample(0x401000, 1500, 10, (1, 0), 0x16, 9, va=0x1234,
                                            source=8, pa=0x9000))])
        self.assertEqual(self.lines("-F", "ip", path), ["           401000"])
        self.assertEqual(self.lines("-F", "pid,tid,cpu,time", path),
                         ["   10/10    [000]     0.000001: "])
        self.assertEqual(self.lines("-F", "time", "--ns", path), ["    0.000001500: "])
        self.assertEqual(self.lines("-F", "event,addr,weight", path),
                         ["      memory:             1234               9"])
        self.assertEqual(self.lines("-F", "issue,source,level,events,translation,op,el", path),
                         [" op=gp,load events=0x16 issue=1 translation=- source=0x8 level=l2 el=0"])
        self.assertIn("|OP LOAD|LVL L2 hit|", self.lines("-F", "data_src", path)[0])
        usual = self.lines(path)[0].split()
        self.assertEqual(usual[0], "worker")
        self.assertNotIn("worker", self.lines("-F", "-comm", path)[0])
        self.assertIn("9000", self.lines("-F", "+phys_addr", path)[0].split())

    def test_branch(self):
        path = self.recording([(0, t.sample(0x401000, 1, 10, (2, 1), 0xc2, 4, target=0x401080)),
                               (0, t.sample(0x401004, 2, 10, (2, 0), 0x02, 4, target=0x401090))])
        self.assertEqual([line.split() for line in self.lines("-F", "event,flags,addr", path)],
                         [["branch:", "jcc/miss,not_taken/", "401080"],
                          ["branch:", "jmp", "401090"]])

    def test_order(self):
        path = self.recording([(0, t.sample(0x1000, 10, 10)), (0, t.sample(0x1004, 30, 10)),
                               (1, t.sample(0x2000, 20, 10)), (1, t.sample(0x2004, 40, 10))])

        def order(which):
            return [line.strip() for line in self.lines("-F", "ip", "--order", which, path)]

        self.assertEqual(order("time"), ["1000", "2000", "1004", "2004"])
        self.assertEqual(order("queue"), ["1000", "1004", "2000", "2004"])
        self.assertEqual(sorted(order("fast")), ["1000", "1004", "2000", "2004"])
        self.assertEqual(len(self.lines("--count", 3, path)), 3)
        self.assertEqual(len(self.lines("--cpus", 1, path)), 2)
        self.assertEqual(len(self.lines("--time", "20ns,40ns", path)), 2)
        self.assertEqual(len(self.lines("--filter", "pc == 0x1004", path)), 1)
        for threads in (1, 2, 3):
            self.assertEqual(self.lines(path), self.lines("--threads", threads, path))

    def test_untrusted_text(self):
        path = self.recording([(0, t.sample(0x1000, 10, 10))], comm=ESCAPE)
        line = self.lines(path)[0]
        self.assertIn("\\x1b[31mred\\xc2\\x9b", line)
        self.assertNotIn("\x1b", line)

    def test_raw_bytes(self):
        raw = self.file(t.sample(0x1000, 10, 10) * 3)
        result = spe("script", raw)
        self.assertEqual(result.returncode, 0)
        self.assertEqual(len(result.stdout.splitlines()), 3)
        self.assertNotIn(b"[", result.stdout.split(b"instructions")[0].split(b"memory")[0])

    def test_usage(self):
        path = self.recording([(0, t.sample(0x1000, 10, 10))])
        self.assertIn("there is no field nothing", self.bad(2, "script", "-F", "nothing", path))
        self.assertIn("--order", self.bad(2, "script", "--order", "x", path))
        self.assertIn("--time", self.bad(2, "script", "--time", "5,4", path))
        self.assertIn("--filter", self.bad(2, "script", "--filter", "pc ==", path))
        self.bad(2, "script", path, path)
        self.bad(1, "script", self.dir + "/none")


if __name__ == "__main__":
    unittest.main()
