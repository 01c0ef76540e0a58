# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""spe report: the numbers, the page at several widths, JSON and CSV."""

import csv
import io
import json
import os
import pty
import re
import shlex
import unittest

import spetest
import recording_file as t
from spetest import CommandTest, need_symbols, spe

need_symbols()


class Report(CommandTest):
    def setUp(self):
        super().setUp()
        self.path = self.dir + "/perf.data"

    def recording(self, damage=b""):
        """Ten loads of walk (two from DRAM), four branches of mix (one mispredicted), one other."""
        r = t.Recording(cpus=2)
        r.comm(10, 10, "worker")
        self.program = t.Program(self.dir) if t.can_compile() else None
        pc = {"walk": 0x401000, "mix": 0x402000}
        if self.program:
            self.program.map(r, 10)
            pc = {name: self.program.pc(name) for name in pc}
        time, first, second = 1000, b"", b""
        for i in range(10):
            far = i < 2
            first += t.sample(pc["walk"], time + i, 10, (1, 0), 0x31e if far else 0x16,
                              400 + i if far else 5, va=0x10000 + 64 * far,
                              source=0xe if far else 0)
        for i in range(4):
            second += t.sample(pc["mix"], time + 50 + i, 10, (2, 1), 0x82 if i == 0 else 2, 3,
                               target=pc["walk"])
        second += t.sample(pc["mix"], time + 1000, 10, (0, 0), 2, 2)
        r.aux(0, first + damage)
        r.aux(1, second)
        r.aux_flags(0, 0, len(first), 1, time)
        r.aux_flags(1, 0, len(second), 8, time)
        r.write(self.path)

    def json(self, *args):
        return json.loads(self.good("report", "--json", *args, self.path))

    def test_numbers(self):
        self.recording()
        report = self.json()
        self.assertEqual(report["totals"], {"samples": 15, "latency": 400 + 401 + 8 * 5 + 14,
                                            "memory": 10, "branches": 4, "l1_misses": 2,
                                            "llc_misses": 2, "tlb_walks": 0, "mispredicted": 1})
        self.assertEqual(report["account"]["aux_truncated"], 1)
        self.assertEqual(report["account"]["aux_collision"], 1)
        self.assertEqual(report["account"]["skipped_bytes"], 0)
        self.assertEqual(report["recording"]["cpu"], "neoverse-n1")
        self.assertEqual(report["recording"]["command"], ["perf", "record", "./program"])
        loads = {row["served"]: row for row in report["loads"]}
        self.assertEqual(loads["L1 cache"]["loads"], 8)
        self.assertEqual(loads["DRAM"]["latency"]["median"], 400)
        self.assertEqual(loads["DRAM"]["latency"]["p99"], 401)
        self.assertEqual({row["by"] for row in report["loads"]}, {"data source"})
        self.assertEqual(sum(row["samples"] for row in report["operations"] if "class" in row), 15)
        branch = report["branches"]["top"][0]
        self.assertEqual((branch["samples"], branch["mispredicted"]), (4, 1))
        data = report["data"]["top"]
        self.assertEqual([(row["latency"], row["samples"]) for row in data], [(801, 2), (40, 8)])
        self.assertEqual(report["data"]["missing"], 0)
        self.assertEqual([row["error"] for row in report["data"]["top"]],
                         [0] * len(report["data"]["top"]))

    @unittest.skipUnless(t.can_compile(), "there is no compiler")
    def test_names(self):
        self.recording()
        functions, lines = self.json()["groups"]
        self.assertEqual([(g["name"], g["samples"]) for g in functions["top"]],
                         [("walk", 10), ("mix", 5)])
        self.assertRegex(lines["top"][0]["name"], r"program\.c:\d+$")
        both = self.json("--by", "symbol+source")["groups"][0]["top"][0]
        self.assertEqual(both["name"], "walk")
        self.assertRegex(both["line"], r"program\.c:\d+$")
        self.assertEqual(self.json("--sort", "mispredicted")["groups"][0]["top"][0]["name"], "mix")
        self.assertEqual(self.json("--by", "dso")["groups"][0]["top"][0]["name"], "program")

    def sorted_by(self, path, *args):
        page = self.good("report", *args, path).decode()
        return re.search(r"Hottest functions by (\w+)", page)[1]

    def test_default_sort(self):
        """By latency where there are latencies, and the page says so."""
        r = t.Recording(cpus=1)
        r.comm(10, 10, "worker")
        r.aux(0, t.sample(0x401000, 1, 10, (1, 0), 2, 4) * 9 + t.sample(0x402000, 2, 10, (1, 0), 2, 500))
        r.write(self.path)
        by_pc = ("--by", "pc")
        self.assertEqual([g["samples"] for g in self.json(*by_pc)["groups"][0]["top"]], [1, 9])
        self.assertEqual([g["samples"] for g in
                          self.json("--sort", "samples", *by_pc)["groups"][0]["top"]], [9, 1])
        self.assertEqual(self.sorted_by(self.path), "latency")
        self.assertEqual(self.sorted_by(self.path, "--sort", "samples"), "samples")
        # 10 % of the samples, and 93 % of the latency.
        self.assertEqual([g["samples"] for g in
                          self.json("--percent-limit", 20, *by_pc)["groups"][0]["top"]], [1])
        self.assertEqual([g["samples"] for g in
                          self.json("--percent-limit", 20, "--sort", "samples",
                                    *by_pc)["groups"][0]["top"]], [9])

    def test_no_latencies(self):
        r = t.Recording(cpus=1)
        r.comm(10, 10, "worker")
        r.aux(0, t.sample(0x401000, 1, 10, (1, 0), 2, None) * 3)
        r.write(self.path)
        self.assertEqual(self.sorted_by(self.path), "samples")

    def test_no_lines(self):
        """Without source lines the second list would be the first one again."""
        self.recording()
        self.assertIn("Hottest lines", self.good("report", self.path).decode())
        r = t.Recording(cpus=1)
        r.comm(10, 10, "worker")
        r.aux(0, t.sample(0x401000, 1, 10))
        r.write(self.path)
        page = self.good("report", self.path).decode()
        self.assertNotIn("Hottest lines", page)
        self.assertIn("no lines:", page)
        asked = self.good("report", "--by", "function,line", self.path).decode()
        self.assertIn("Hottest lines", asked)
        self.assertEqual(len(self.json()["groups"]), 2)

    def test_groups_and_filter(self):
        self.recording()
        cpus = self.json("--by", "cpu")["groups"][0]["top"]
        self.assertEqual([(g["name"], g["samples"]) for g in cpus], [("CPU 0", 10), ("CPU 1", 5)])
        threads = self.json("--by", "thread")["groups"][0]["top"]
        self.assertEqual([(g["name"], g["samples"]) for g in threads], [("worker 10/10", 15)])
        far = self.json("--filter", "load and total > 100")
        self.assertEqual(far["totals"]["samples"], 2)
        self.assertEqual(far["account"]["filtered"], 13)
        for cut, samples in (("--cpus", 1), 5), (("--pid", 10), 15), (("--pid", 11), 0), \
                (("--tid", 10), 15), (("--time", "0.00000105s,"), 5), (("--time", ",0.00000105s"), 10):
            self.assertEqual(self.json(*cut)["totals"]["samples"], samples, cut)
        self.assertEqual(self.json("--data", "page")["data"]["top"][0]["latency"], 841)
        self.assertEqual(self.json("--top", 1)["groups"][0]["top"][0]["samples"], 10)
        for threads in (1, 2, 3):
            self.assertEqual(self.json(), self.json("--threads", threads))

    def test_files_of_data(self):
        """A file that is mapped for its data need not be a program; one that is executed is."""
        notes = self.file(b"not a program", "notes.txt")
        for protection, warned in ((1, False), (5, True)):
            r = t.Recording(cpus=1)
            r.comm(10, 10, "task")
            r.mmap(10, 0x700000, 0x1000, 0, notes, protection=protection)
            r.aux(0, t.sample(0x700010, 1000, 10, (1, 0), 2, 5, va=0x700020, source=8) * 20)
            path = self.dir + "/data.data"
            r.write(path)
            said = b"notes.txt is not a program" in self.good("report", "--by", "object", path)
            self.assertEqual(said, warned, protection)

    def test_csv(self):
        self.recording()
        rows = list(csv.DictReader(io.StringIO(
            self.good("report", "--csv", "--by", "cpu", self.path).decode())))
        self.assertEqual([(r["cpu"], r["samples"]) for r in rows],
                         [("CPU 0", "10"), ("CPU 1", "5")])
        self.assertAlmostEqual(float(rows[0]["share"]), 10 / 15, places=8)
        self.assertLess(float(rows[0]["share_low"]), 10 / 15)

    def test_page(self):
        self.recording()
        for width in (60, 80, 120, 200):
            page = self.good("report", "--width", width, self.path).decode()
            for line in page.splitlines():
                self.assertLessEqual(len(line), max(width, 64), line)
                self.assertEqual(line, line.rstrip(), width)
            for word in ("Neoverse N1", "testhost", "perf record ./program", "15 samples",
                         "1 buffer truncated, 1 with collisions", "DRAM", "loads", "mispredicted"):
                self.assertIn(word, " ".join(page.split()))
        self.assertNotIn("\x1b", page)

    def on_terminal(self, **env):
        """The page on a terminal."""
        out = b""
        pid, fd = pty.fork()
        if pid == 0:
            os.environ.pop("NO_COLOR", None)
            os.environ.update(TERM="xterm", **env)
            os.execvp(spetest.SPE, [spetest.SPE, "report", self.path])
        try:
            while True:
                piece = os.read(fd, 65536)
                if not piece:
                    break
                out += piece
        except OSError:
            pass
        os.close(fd)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        return out.decode()

    def test_color(self):
        self.recording()
        page = self.on_terminal()
        self.assertIn("\x1b[31m1", page.replace("\x1b[31m0 records; ", "\x1b[31m"))  # lost is red
        self.assertRegex(page, "\x1b\\[32m0 bytes of")  # everything decoded is green
        self.assertNotIn("\x1b", self.on_terminal(NO_COLOR="1"))
        plain = re.sub("\x1b\\[\\d*m", "", page)
        self.assertEqual(plain.replace("\r", ""), self.on_terminal(NO_COLOR="1").replace("\r", ""))

    def test_damage(self):
        self.recording(damage=b"\x20\x20\xff" * 5 + bytes(9))
        page = spe("report", self.path).stdout.decode()
        self.assertRegex(page, r"not decoded +[1-9]\d* bytes? of")
        self.assertGreater(self.json()["account"]["skipped_bytes"], 0)

    def test_empty_and_raw(self):
        r = t.Recording()
        r.write(self.path)
        self.assertIn("0 samples", spe("report", self.path).stdout.decode())
        raw = self.file(t.sample(0x1000, 10, None, (1, 0), 0x16, 9, va=0x40, source=0xe) * 4)
        report = json.loads(spe("report", "--json", "--cpu", "neoverse-n1", raw).stdout)
        self.assertEqual(report["loads"][0]["served"], "DRAM")
        report = json.loads(spe("report", "--json", raw).stdout)  # no CPU: the events decide
        self.assertEqual((report["loads"][0]["served"], report["loads"][0]["by"]),
                         ("L1 hit", "events"))
        self.assertRegex(spe("report", raw).stdout.decode(), r"L1 hit +events +4 +100")

    def test_usage(self):
        self.recording()
        self.assertIn("--by", self.bad(2, "report", "--by", "x", self.path))
        self.assertIn("--sort", self.bad(2, "report", "--sort", "x", self.path))
        self.assertIn("--top", self.bad(2, "report", "--top", "0", self.path))
        self.assertIn("--data", self.bad(2, "report", "--data", "x", self.path))
        self.assertIn("--width", self.bad(2, "report", "--width", "10", self.path))
        self.assertIn("--filter", self.bad(2, "report", "--filter", "what", self.path))
        self.assertEqual(self.bad(1, "report", self.dir + "/none"),
                         f"spe: {self.dir}/none: No such file or directory")

    def test_command(self):
        """As a shell takes it."""
        words = ["perf", "record", "--", "./it's", "a b", "", "x=$1", 'c"d']
        r = t.Recording()
        r.features[11] = (len(words).to_bytes(4, "little") +
                          b"".join(t.feature_string(word) for word in words))
        r.aux(0, t.sample(0x1000, 10, 10))
        r.write(self.path)
        page = self.good("report", "--header-only", "--width", "200", self.path).decode()
        self.assertEqual(shlex.split(re.search(r"^  command +(.*)$", page, re.M)[1]), words)

    def test_perf_data_is_the_default(self):
        self.recording()
        where = os.path.dirname(self.path)
        if os.path.basename(self.path) != "perf.data":
            os.rename(self.path, os.path.join(where, "perf.data"))
        self.assertIn(b"file        perf.data", self.good("report", cwd=where))
        self.assertIn(b"PC 0x", self.good("dump", cwd=where))
        self.assertIn(b"perf.data: ", spe("check", cwd=where).stdout)
        self.assertEqual(self.bad(2, "report", "a", "b"), "spe: b: one file at a time")


if __name__ == "__main__":
    unittest.main()
