# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""`spe script` beside the perf of this machine, sample by sample: eight CPUs, threads that migrate,
forks, an exec and a truncated buffer."""

import random
import re
import subprocess
import unittest

import perf_file
import recording_file as t
from spetest import CommandTest, need_symbols, skip

need_symbols()

PERF = perf_file.find_perf()
if not PERF:
    skip("there is no perf on this machine to compare with")
if not t.can_compile():
    skip("there is no compiler to make a program with symbols")

CPUS = 8
FIELDS = "comm,pid,tid,cpu,time,ip,sym,symoff,dso,addr,weight,phys_addr"
SOURCES = [0, 8, 0xb, 0xe]


def recording(program, path):
    """Every sample at a time of its own, so that there is only one order."""
    rng = random.Random(7)
    r = t.Recording(cpus=CPUS)
    tasks = {100: (100, 0), 101: (100, 20000), 200: (200, 40000)}  # tid: pid, begin
    r.comm(100, 100, "first", exec_=True)
    program.map(r, 100)
    r.fork(100, 101, 100, 100, 20000)
    r.comm(100, 101, "worker", 20001)
    r.fork(200, 200, 100, 100, 40000, 1)
    r.comm(200, 200, "second", 60000, 1, exec_=True)
    program.map(r, 200, 60000)
    buffers = {cpu: b"" for cpu in range(CPUS)}
    names = [name for name in program.symbols if name != "table"]
    for i in range(4000):
        time = 10000 + 50 * i
        tid = rng.choice([tid for tid, (_, begin) in tasks.items() if begin < time - 100])
        if tid == 200 and time < 60100:
            tid = 100
        pc = program.pc(rng.choice(names), rng.random())
        kind = rng.random()
        if kind < 0.5:
            op, source = ((1, 0), rng.choice(SOURCES)) if kind < 0.4 else ((1, 1), None)
            va = 0x10000 + rng.randrange(1 << 20)
            data = t.sample(pc, time, tid, op, 0x16, rng.randrange(4000), va=va, source=source,
                            pa=va + (1 << 32))
        elif kind < 0.8:
            data = t.sample(pc, time, tid, (2, 1), rng.choice([2, 0x82, 0x42]), 4, target=pc + 8)
        else:
            data = t.sample(pc, time, tid, (0, 0), 2, rng.randrange(30))
        buffers[rng.randrange(CPUS)] += data
    for cpu in range(CPUS):
        half = 0
        r.aux(cpu, buffers[cpu][half:])
        r.aux_flags(cpu, 0, len(buffers[cpu]), 1 if cpu == 3 else 0, 300000)
    r.write(path)


class Against(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.version = perf_file.version(PERF)

    def setUp(self):
        super().setUp()
        self.program = t.Program(self.dir)
        self.path = self.dir + "/perf.data"
        recording(self.program, self.path)

    def perf(self, itrace, fields):
        run = subprocess.run([*PERF, "script", "--ns", "-i", self.path, f"--itrace={itrace}", "-F",
                              fields], capture_output=True, text=True, check=True)
        return run.stdout.splitlines()

    def spe(self, fields, *args):
        return self.good("script", "--ns", "-F", fields, *args, self.path).decode().splitlines()

    def compare(self, theirs, ours, number):
        self.assertEqual(len(ours), number)
        self.assertEqual([line.split() for line in theirs], [line.split() for line in ours])

    def test_memory(self):
        theirs = self.perf("M", FIELDS)
        ours = self.spe(FIELDS, "--filter", "load or store")
        self.compare(theirs, ours, len(theirs))
        self.assertGreater(len(ours), 1800)

    def test_every_record(self):
        fields = "comm,pid,tid,cpu,time,ip,sym,symoff,dso,weight"
        self.compare(self.perf("i1i", fields), self.spe(fields), 4000)

    def test_layout(self):
        """The same bytes, not only the same words; newer perfs have wider columns for threads."""
        fields = "pid,tid,cpu,time,ip,addr,weight,phys_addr"
        if self.version >= (6, 2):
            fields = fields.replace("pid,tid,", "")
        self.assertEqual(self.perf("M", fields), self.spe(fields, "--filter", "load or store"))

    def test_data_source(self):
        fields = "time,data_src"
        theirs = [line.split()[:2] for line in self.perf("M", fields)]
        ours = [line.split()[:2] for line in self.spe(fields, "--filter", "load or store")]
        self.assertEqual(theirs, ours)
        self.assertEqual(len({value for _, value in ours}), len(SOURCES) + 1)

    def test_threads_are_told_apart(self):
        lines = self.spe("comm,pid,tid")
        self.assertEqual({tuple(re.split(r"[\s/]+", line.strip())) for line in lines},
                         {("first", "100", "100"), ("worker", "100", "101"),
                          ("second", "200", "200")})


class AgainstOurWriter(Against):
    """The same of a file that our writer has written."""

    def setUp(self):
        super().setUp()
        written = self.dir + "/written.data"
        self.good("export", "--format", "perf", "-o", written, self.path)
        self.path = written


if __name__ == "__main__":
    unittest.main()
