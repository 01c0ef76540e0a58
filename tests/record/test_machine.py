# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""spe record: which CPU a program runs on, what --machine changes, and what is said when the CPU
does not have the program's instructions."""

import json
import os
import re
import subprocess
import unittest

import recordtest
from recordtest import RecordTest, busy

recordtest.require()

CPUS = ("neoverse-n1", "neoverse-v1", "neoverse-n2", "neoverse-v2", "kunpeng-920", "ampereone-1a",
        "architecture")
WITH_SVE = ("neoverse-v1", "neoverse-n2", "neoverse-v2", "architecture")


class Cpus(RecordTest):
    def setUp(self):
        super().setUp()
        self.plain = self.compile("count.S", "-nostdlib", "-static", "-DLOOPS=20000")
        self.sve = self.compile("sve.S", "-nostdlib", "-static", "-DLOOPS=1000")

    def test_every_cpu(self):
        for cpu in CPUS:
            self.record("--cpu", cpu, "-c", "1024", "--", self.plain, status=5)
            self.assertIn(f"{cpu}, software SPE", self.good("report", self.data).decode())
            if cpu != "architecture":
                self.check(cpu)
                loads = [s for s in self.samples(cpu) if s["op"]["class"] == 1
                         and not s["op"]["store"]]
                self.assertGreater(len(loads), 10)
                self.assertEqual({s["source"]["level"] for s in loads if "source" in s},
                                 set() if cpu == "kunpeng-920" else {"l1"})

    def test_sve(self):
        for cpu in CPUS:
            result = self.run_record("--cpu", cpu, "-q", "--", self.sve)
            said = result.stderr.decode()
            if cpu in WITH_SVE:
                self.assertEqual((result.returncode, said), (0, ""), cpu)
            else:
                self.assertEqual(result.returncode, 128 + 4, said)
                self.assertRegex(said, rf"(?m)^spe: .*/sve: it ended at an SVE instruction "
                                 rf"\(0x[0-9a-f]{{8}} at 0x[0-9a-f]+\) that {cpu} does not have; "
                                 rf"record it with --cpu {' or '.join(WITH_SVE)}, which has it$")

    def test_sve_busy(self):
        with busy():
            self.test_sve()

    def test_other_ends(self):
        """A program that ends itself with SIGILL lacks no instruction."""
        program = self.compile("signals.c", "-O1", "-static")
        result = self.run_record("-q", "--", program)
        self.assertNotIn("it ended at", result.stderr.decode())
        result = self.run_record("-q", "--", self.compile("illegal.c", "-O1", "-static"))
        self.assertEqual(result.returncode, 128 + 4)
        self.assertNotIn("it ended at", result.stderr.decode())

    def test_list(self):
        result = self.run_record("--cpu", "i486", self.plain)
        for cpu in CPUS:
            self.assertIn(cpu, result.stderr.decode())


class Machine(RecordTest):
    def setUp(self):
        super().setUp()
        self.program = self.compile("blocks.S", "-nostdlib", "-static")

    def counts(self, *settings):
        path = os.path.join(self.dir, "stat.json")
        machine = ("--machine", ",".join(settings)) if settings else ()
        self.record("--model", "functional", "--stat-json", path, *machine, "--", self.program)
        with open(path, encoding="utf-8") as f:
            walk = next(x for x in json.load(f)["functions"] if x["function"] == "walk")
        return {name: c["exact"] for name, c in walk["counts"].items()}

    def test_sizes(self):
        """16 MiB, one load in 512 bytes."""
        usual = self.counts()
        self.assertEqual(usual["walks"], 4096)
        self.assertEqual(usual["l1_misses"], 32768)
        for page, walks in ("16K", 1024), ("64K", 256), ("2M", 8):
            self.assertIn(self.counts(f"page={page}")["walks"], (walks, walks + 1))
        self.assertEqual(self.counts("line=256", "l1d=64K")["l1_misses"], 32768)

    def test_header(self):
        self.record("--machine", "l2=512K,page=64K", "--cpu", "neoverse-v1", "--", self.program)
        self.assertIn("neoverse-v1 with l2=512K,page=64K", self.good("report", "--width", "200",
                                                                     self.data).decode())

    def test_latencies(self):
        self.record("--model", "functional", "--machine", "memory-latency=777", "-c", "1024", "--", self.program)
        cycles = [{c["name"]: c["cycles"] for c in s["counters"]} for s in self.samples()
                  if s["op"]["class"] == 1]
        served = {c["total"] - c["issue"] - c["translation"] for c in cycles}
        self.assertEqual(served, {777})

    def test_refused(self):
        for text, why in (
                ("l5=2M", r"^spe: l5: --machine has no such setting; there are vl, sockets, page,"),
                ("l2", r"^spe: l2: --machine takes KEY=VALUE"),
                ("=3", r"^spe: =3: --machine takes KEY=VALUE"),
                ("l2=big", r"^spe: --machine: l2 is big, not a number of bytes, K, M or G"),
                ("l2=-1", r"^spe: --machine: l2 is -1, not a number"),
                ("l2=99999999999", r"^spe: --machine: l2 is 99999999999, not a number"),
                ("sockets=2K", r"^spe: --machine: sockets is 2K, not a number"),
                ("sockets=9", r"^spe: --machine: there is no such machine: sockets is 9, not 1"),
                ("l2=48K", r"^spe: --machine: there is no such machine: l2 has 49152 bytes"),
                ("page=5000", r"^spe: --machine: there is no such machine: page_bytes is 5000"),
                ("vl=256", r"^spe: vl: this CPU has no SVE; neoverse-v1"),
                ("l2=2M,,", r"^spe: : --machine takes KEY=VALUE|^spe: --machine takes KEY=VALUE")):
            result = self.run_record("--machine", text, self.program)
            self.assertEqual(result.returncode, 2, text)
            self.assertRegex(result.stderr.decode(), why)
            self.assertEqual(len(result.stderr.decode().splitlines()), 1, text)
        result = self.run_record("--machine", "l5", self.program)
        self.assertRegex(result.stderr.decode(), r"^spe: l5: No such file or directory; --machine "
                         r"takes KEY=VALUE,\.\.\. or a file of such lines$")
        result = self.run_record("--cpu", "neoverse-v2", "--machine", "vl=100", self.program)
        self.assertRegex(result.stderr.decode(), r"^spe: vl: vl is 100, not 128, 256")
        result = self.run_record("--model", "none", "--machine", "l2=2M", self.program)
        self.assertRegex(result.stderr.decode(), r"^spe: l2: --model none has no machine")


class MachineFile(RecordTest):
    def setUp(self):
        super().setUp()
        self.program = self.compile("count.S", "-nostdlib", "-static", "-DLOOPS=2000")
        self.settings = os.path.join(self.dir, "my.machine")

    def header(self, machine):
        self.record("--machine", machine, "--", self.program, status=5)
        page = self.good("report", "--width", "300", self.data).decode()
        return re.search(r"neoverse-n1(?: with (\S+))?, software SPE", page)[1]

    def write(self, data):
        with open(self.settings, "wb") as f:
            f.write(data)

    def refused(self, why, file=None):
        result = self.run_record("--machine", file or self.settings, self.program)
        said = result.stderr.decode()
        self.assertEqual((result.returncode, len(said.splitlines())), (2, 1), said)
        self.assertRegex(said, why)

    def test_settings(self):
        """As with the option; spaces, comments and the line ends of others do not count."""
        self.write(b"# a machine\n\n  l2 = 512K # small\r\npage=64K\n\tsockets=\t2")
        self.assertEqual(self.header(self.settings), "l2=512K,page=64K,sockets=2")
        self.assertEqual(self.header(f"{self.settings},l2=2M"), "page=64K,sockets=2,l2=2M")
        self.assertEqual(self.header(f"l2=2M,{self.settings}"), "l2=512K,page=64K,sockets=2")
        self.write(b"# nothing\n")
        self.assertIsNone(self.header(self.settings))

    def test_what_it_does(self):
        program = self.compile("blocks.S", "-nostdlib", "-static")
        self.write(b"memory-latency = 777\n")
        self.record("--model", "functional", "--machine", self.settings, "-c", "1024", "--", program)
        cycles = [{c["name"]: c["cycles"] for c in s["counters"]} for s in self.samples()
                  if s["op"]["class"] == 1]
        self.assertEqual({c["total"] - c["issue"] - c["translation"] for c in cycles}, {777})

    def test_lines(self):
        """An error names the file and the line."""
        at = rf"^spe: {re.escape(self.settings)}:3: "
        for line, why in ((b"l5=2M", "l5: --machine has no such setting; there are vl, sockets"),
                          (b"l2", r"l2: --machine takes KEY=VALUE"),
                          (b"l2=2M,page=4K", "l2 is 2M,page=4K, not a number of bytes"),
                          (b"= 3", "=3: --machine takes KEY=VALUE"),
                          (b"l2=big", "l2 is big, not a number of bytes, K, M or G"),
                          (b"l2=1" + b"0" * 70, "l2=10+: --machine takes KEY=VALUE"),
                          (b"\x1b[31m=1", r".*\[31m: --machine has no such setting"),
                          (b"vl=256", "vl: this CPU has no SVE")):
            self.write(b"# first\nl1d=64K\n" + line + b"\nl9=1\n")
            self.refused(at + why)
        self.assertNotIn(b"\x1b", self.run_record("--machine", self.settings, self.program).stderr)
        self.write(b"sockets = 9\n")
        self.refused("^spe: --machine: there is no such machine: sockets is 9, not 1")

    def test_hostile(self):
        self.write(b"l2=2M\n\0\n")
        self.refused(": is not a text: it has a byte of value 0$")
        self.write(b"#" * 65537)
        self.refused(": has more than 65536 bytes: this is not a list of settings$")
        self.refused(": is not a file; --machine takes", self.dir)
        self.refused("^spe: /dev/zero: is not a file; --machine takes", "/dev/zero")
        self.refused(": No such file or directory; --machine takes", self.settings + "2")

    def test_pipes(self):
        """A FIFO that nobody writes to is empty; <(...) of a shell is read to its end."""
        fifo = os.path.join(self.dir, "fifo")
        os.mkfifo(fifo)
        self.assertIsNone(self.header(fifo))
        shell = subprocess.run(
            ["bash", "-c", 'exec "$0" record --machine <(sleep 0.2; echo l2=512K) -o "$1" "$2"',
             recordtest.SPE, self.data, self.program], stderr=subprocess.PIPE, check=False)
        self.assertEqual(shell.returncode, 5, shell.stderr)
        self.assertIn(b"neoverse-n1 with l2=512K,",
                      self.good("report", "--width", "200", self.data))


if __name__ == "__main__":
    unittest.main()
