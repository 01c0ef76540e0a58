# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""`spe annotate` on recordings made by hand: words of the command line, code that is nowhere, names
that are hostile. What it says of real programs is in tests/record/test_annotate.py."""

import json
import os
import random
import unittest

import recording_file as t
from spetest import CommandTest, need_symbols, skip, spe

need_symbols()
if not t.can_compile():
    skip("there is no compiler to make a program with")


class Annotate(CommandTest):
    def setUp(self):
        super().setUp()
        self.program = t.Program(self.dir)
        self.path = self.dir + "/perf.data"
        r = t.Recording(cpus=1)
        r.comm(10, 10, "walker", exec_=True)
        self.program.map(r, 10)
        r.mmap(10, 0x700000, 0x1000, 0, "//anon")
        pcs = [self.program.pc("walk") & ~3, self.program.pc("mix") & ~3, 0x700010, 0x900000]
        r.aux(0, b"".join(t.sample(pc, 100 + i, 10) for i, pc in
                          enumerate([pcs[0]] * 5 + [pcs[1]] * 3 + pcs[2:])))
        r.write(self.path)

    def functions(self, *args):
        return json.loads(self.good("annotate", "--json", *args, self.path))["functions"]

    def test_which(self):
        self.assertEqual([f["function"] for f in self.functions()][:2], ["walk", "mix"])
        self.assertEqual(len(self.functions("--top", "1")), 1)
        self.assertEqual(len(self.functions("--top", "9")), 4)
        self.assertEqual(self.functions("mix")[0]["samples"], 3)
        os.chdir(self.dir)
        self.addCleanup(os.chdir, "/")
        self.assertEqual(json.loads(self.good("annotate", "--json", "mix"))["functions"][0]
                         ["samples"], 3)

    def test_a_program_of_the_same_name(self):
        """A file is the recording only if it is one: programs are called as their functions."""
        self.file(b"\x7fELF", "walk")
        os.chdir(self.dir)
        self.addCleanup(os.chdir, "/")
        self.assertEqual(json.loads(self.good("annotate", "--json", "walk"))["functions"][0]
                         ["samples"], 5)

    def test_nowhere(self):
        """Code in memory without a file, and in no map at all: counts, and why there is no code."""
        rest = self.functions("--top", "9")[2:]
        self.assertEqual({f["no_code"] for f in rest},
                         {"this code is in no file: it was made at run time",
                          "no map of the recording has it"})
        self.assertTrue(all(f["instructions"][0]["word"] is None for f in rest))
        page = self.good("annotate", "--top", "9", self.path).decode()
        self.assertIn("no code is shown: no map of the recording has it", page)

    def test_shares(self):
        """Of the function, or of everything."""
        for kind, share in (("local", "100.0"), ("global-period", "50.0")):
            page = self.good("annotate", "--asm", "-F", "share", "--percent-type", kind, "walk",
                             self.path).decode()
            self.assertRegex(page, rf"(?m)^ +> {share} ")

    def test_words_of_perf(self):
        plain = self.good("annotate", "walk", self.path)
        for words in (("--stdio",), ("-l",), ("-n",), ("--print-line",), ("-f",)):
            self.assertEqual(self.good("annotate", *words, "walk", self.path), plain)
        self.assertEqual(self.good("annotate", "--no-source", "walk", self.path),
                         self.good("annotate", "--asm", "walk", self.path))
        for option in ("-M", "--objdump", "--prefix", "--tui", "--itrace", "--group"):
            self.assertNotIn("there is no such option", self.bad(2, "annotate", option), option)

    def test_wrong_words(self):
        for args, message in (
                (("--sort", "size"), "--sort: 'size' is neither samples nor latency"),
                (("-F", "share,lines"), "--columns: there is no column 'lines'; there are share, "),
                (("--percent-type", "all"), "--percent-type: 'all' is neither local nor global"),
                (("--top", "0"), "--top: 0"),
                (("a", self.path, "c"), "c: give one place and one file only")):
            self.assertIn(message, self.bad(2, "annotate", *args))
        self.assertIn("No such file", self.bad(1, "annotate", "walk", self.dir + "/none"))
        self.assertIn("there are no samples", self.bad(1, "annotate", "--tid", "99", self.path))

    def test_as_with_all_rows(self):
        """Records of other code are passed over; a filter that keeps everything has all rows made.
        Two processes have the program at different addresses."""
        rng = random.Random(1)
        r = t.Recording(cpus=2)
        for pid in (10, 11):
            r.comm(pid, pid, "walker", exec_=True)
        self.program.map(r, 10)
        self.program.map(r, 11, shift=0x10000)
        names = ["walk"] + ["mix"] * 10
        for cpu in range(2):
            records = b""
            for i in range(3000):
                pid = 10 + i // 500 % 2 if rng.random() < 0.99 else 99
                pc = self.program.pc(rng.choice(names)) + 0x10000 * (pid == 11) & ~3
                pc = pc + 4 * rng.randrange(3) if rng.random() < 0.9 else 0x900000
                records += t.sample(pc, 100 + i, pid, total=rng.randrange(100)).ljust(64, b"\0")
            r.aux(cpu, records)
        r.write(self.path)
        for place in ("walk", "mix", "0x%x" % self.program.pc("walk"), None):
            words = ["annotate", "--json", self.path] + ([place] if place else [])
            fast, slow = spe(*words), spe(*words, "--filter", "latency >= 0")
            self.assertEqual((fast.returncode, fast.stderr), (slow.returncode, slow.stderr), place)
            self.assertEqual(json.loads(fast.stdout), json.loads(slow.stdout), place)
        self.assertIn(b"name threads", fast.stderr)

    def test_hostile(self):
        """A file's name that would colour the page and move the cursor."""
        r = t.Recording(cpus=1)
        r.comm(10, 10, "x", exec_=True)
        r.mmap(10, 0x400000, 0x1000, 0, "/tmp/\x1b[31mred\x07")
        r.aux(0, t.sample(0x400010, 100, 10))
        r.write(self.path)
        for args in ((), ("--json",)):
            out = spe("annotate", *args, self.path).stdout
            self.assertNotIn(b"\x1b", out)
            self.assertNotIn(b"\x07", out)
            self.assertIn(b"red", out)


if __name__ == "__main__":
    unittest.main()
