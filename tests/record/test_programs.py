# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Real programs, as Debian builds them for arm64: their recordings break no rule of the
architecture, and perf reads them as we do, sample by sample."""

import json
import os
import re
import subprocess
import unittest

import recordtest  # also finds the tests of the command
import perf_file
from spetest import SPE, CommandTest, need_symbols, skip

SOURCE = os.environ["SPE_SOURCE_DIR"]
PROGRAMS = os.path.join(SOURCE, os.environ.get("SPECIMEN_DEPS", ".deps"), "programs")
PERF = perf_file.find_perf()
FIELDS = "comm,pid,tid,cpu,time,ip,sym,symoff,dso"

need_symbols()
recordtest.require()
if not os.path.exists(os.path.join(PROGRAMS, "usr", "bin", "sqlite3")):
    skip("there are no AArch64 programs to record: tools/setup.sh test fetches them")
if not PERF:
    skip("there is no perf on this machine to compare with")


def numbers(count):
    """Lines of numbers in no order; always the same."""
    return "".join(f"{(i * 7919 + 12345) % 1000003}\n" for i in range(count))


class Programs(CommandTest):
    def record(self, program, *args, event="arm_spe/jitter=1/", count=1024, **kwargs):
        self.data = os.path.join(self.dir, "perf.data")
        path = os.path.join(PROGRAMS, program)
        command = [SPE, "record", "-L", PROGRAMS, "-e", event, "-c", str(count), "-o", self.data, "--",
                   path, *args]
        return subprocess.run(command, capture_output=True, check=True, timeout=50, **kwargs)

    def perf(self, *args):
        return subprocess.run([*PERF, *args], capture_output=True, text=True, check=True,
                              env={**os.environ, "HOME": self.dir}, cwd=self.dir).stdout

    def lines(self, text):
        return [line.split() for line in text.splitlines()]

    def is_behind(self, place, dso):
        """Is symbol+offset behind the end of the symbol?"""
        name, offset = place.rsplit("+", 1)
        table = subprocess.run(["aarch64-linux-gnu-readelf", "-sW", dso.strip("()")], check=True,
                               capture_output=True, text=True).stdout
        sizes = [int(words[2], 0) for words in map(str.split, table.splitlines())
                 if len(words) > 7 and words[7].split("@")[0] == name]
        return bool(sizes) and int(offset, 16) >= max(sizes)

    def same_samples(self):
        """Names, threads, times; data addresses, latencies and sources: all as perf has them."""
        theirs = self.lines(self.perf("script", "--ns", "-i", self.data, "--itrace=i1i", "-F",
                                      FIELDS))
        ours = self.lines(self.good("script", "--ns", "-F", FIELDS, self.data).decode())
        self.assertEqual(len(theirs), len(ours))
        for their, our in zip(theirs, ours):
            # Where a file has no symbol, we say where its function begins: file+0x1234. perf has the
            # symbol before, if there is one, however short that is.
            if re.search(r"^\S+\+0x\w+\+0x\w+$", our[5]):
                self.assertTrue(their[5] == "[unknown]" or self.is_behind(their[5], their[6]), their)
                their[5] = our[5]
            # Not every perf has names for these, nor the same; we have where there is a relocation.
            if "[unknown]" in their or any(re.search(r"plt\+\S+$", word) for word in their):
                their, our = ([re.sub(r"^\S*plt\+\S+$", "[unknown]", word) for word in line]
                              for line in (their, our))
            self.assertEqual(their, our)
        memory = "tid,time,ip,addr,weight"
        theirs = self.perf("script", "--ns", "-i", self.data, "--itrace=M", "-F", memory)
        ours = self.good("script", "--ns", "-F", memory, "--filter", "load or store",
                         self.data).decode()
        self.assertEqual(self.lines(theirs), self.lines(ours))
        self.assertGreater(len(self.lines(ours)), 50)

    def no_rule_broken(self):
        summary = json.loads(self.good("check", "--json", self.data).splitlines()[-1])
        self.assertTrue(summary["good"])
        self.assertEqual(summary["cpu"], "neoverse-n1")
        return summary["records"]

    def perf_reads_it(self):
        for command in (["report", "--stdio"], ["mem", "report", "--stdio"],
                        ["c2c", "report", "--stdio"]):
            self.assertIn("#", self.perf(*command, "-i", self.data))
        injected = os.path.join(self.dir, "injected.data")
        self.perf("inject", "--itrace=i1i", "-i", self.data, "-o", injected)
        self.assertGreater(os.path.getsize(injected), 1000)
        self.assertIn("libc.so.6", self.perf("buildid-list", "-i", self.data))

    def check_all(self):
        self.assertGreater(self.no_rule_broken(), 1000)
        self.same_samples()
        self.perf_reads_it()

    def test_sort(self):
        text = numbers(3000)
        out = self.record("usr/bin/sort", "-n", "-", input=text.encode()).stdout.decode()
        self.assertEqual(out, "".join(sorted(text.splitlines(True), key=int)))
        self.check_all()

    def test_gzip(self):
        text = numbers(5000).encode()
        packed = self.record("bin/gzip", "-c", input=text).stdout
        unpacked = subprocess.run(["gzip", "-dc"], input=packed, capture_output=True, check=True)
        self.assertEqual(unpacked.stdout, text)
        self.check_all()

    def test_sqlite(self):
        out = self.record("usr/bin/sqlite3", ":memory:",
                          "with recursive c(x) as (select 1 union all select x+1 from c where "
                          "x<3000) select sum(x*x) from c").stdout
        self.assertEqual(int(out), sum(x * x for x in range(1, 3001)))
        self.check_all()

    def test_python(self):
        text = "print(sum(len(str(i)) * i % 97 for i in range(4000)))"
        out = self.record("usr/bin/python3", "-c", text).stdout
        self.assertEqual(int(out), sum(len(str(i)) * i % 97 for i in range(4000)))
        self.check_all()

    def test_zstd_has_threads(self):
        text = numbers(60000).encode()
        packed = self.record("usr/bin/zstd", "-q", "-T2", "-1", "-c", input=text, count=4096).stdout
        self.assertEqual(packed[:4], b"\x28\xb5\x2f\xfd")
        self.check_all()
        tids = {line[0] for line in self.lines(self.good("script", "-F", "tid",
                                                         self.data).decode())}
        self.assertGreater(len(tids), 1)


if __name__ == "__main__":
    unittest.main()
