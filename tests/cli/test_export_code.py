# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""spe export --format bolt and autofdo: which samples become which edges and lines."""

import os
import shutil
import subprocess
import unittest

import recording_file as t
from spetest import CommandTest, need_symbols, skip, spe

need_symbols()
if not t.can_compile():
    skip("there is no compiler")

TAKEN, NOT_TAKEN, MISPREDICTED, SPECULATIVE = 0x02, 0x42, 0x82, 0x00
IF, JUMP = (2, 1), (2, 0)
SHIFT = 0x5500000000
PERIOD = 4096


class Code(CommandTest):
    def setUp(self):
        super().setUp()
        self.path = self.dir + "/perf.data"
        self.program = t.Program(self.dir)
        self.walk, self.mix = (self.program.symbols[name][0] for name in ("walk", "mix"))

    def write(self, *samples, period=PERIOD):
        """The program in two processes, at different places, and a library that is not there."""
        r = t.Recording(cpus=1, period=period)
        for pid, shift in ((10, 0), (11, SHIFT)):
            r.comm(pid, pid, "program")
            self.program.map(r, pid, shift=shift)
            r.mmap(pid, 0x7f0000000000, 0x10000, 0, "/usr/lib/libother.so")
        r.aux(0, b"".join(samples))
        r.write(self.path)

    def export(self, form, *args, status=0):
        result = spe("export", "--format", form, *args, self.path)
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stdout.decode(), result.stderr.decode()

    def lines(self, *args):
        return self.export("bolt", *args)[0].splitlines()

    def branch(self, pc, target=None, events=TAKEN, op=IF, pid=10, **kwargs):
        self.time = getattr(self, "time", 0) + 10
        return t.sample(pc, self.time, pid, op, events, 5, target=target, **kwargs)

    def test_taken(self):
        """Addresses are the file's, whichever process it was."""
        walk, mix = self.walk, self.mix
        self.write(self.branch(walk + 8, walk), self.branch(walk + 8, walk, MISPREDICTED),
                   self.branch(walk + 8 + SHIFT, walk + SHIFT, pid=11),
                   self.branch(walk + 12, mix, op=JUMP))
        self.assertEqual(self.lines(), [f"B {walk + 8:x} {walk:x} {3 * PERIOD} {PERIOD}",
                                        f"B {walk + 12:x} {mix:x} {PERIOD} 0"])

    def test_not_taken(self):
        """Its target, if there is one, means nothing: D17.6-035."""
        walk = self.walk
        self.write(self.branch(walk + 8, None, NOT_TAKEN),
                   self.branch(walk + 8, walk, NOT_TAKEN | MISPREDICTED),
                   self.branch(walk + 8, walk))
        self.assertEqual(self.lines(), [f"B {walk + 8:x} {walk:x} {PERIOD} 0",
                                        f"F {walk + 8:x} {walk + 12:x} {2 * PERIOD}"])

    def test_previous_target(self):
        """They say what went straight on; branches that were not taken would say it again."""
        walk, mix = self.walk, self.mix
        self.write(self.branch(walk + 16, walk, previous=walk + 4),
                   self.branch(walk + 16 + SHIFT, walk + SHIFT, previous=walk + 4 + SHIFT, pid=11),
                   self.branch(walk + 8, None, NOT_TAKEN, previous=walk + 4),
                   self.branch(walk + 20, mix, op=JUMP, previous=0x7f0000000010),
                   self.branch(walk + 20, mix, op=JUMP, previous=walk + 24))
        text, said = self.export("bolt")
        self.assertEqual(text.splitlines(), [f"F {walk + 4:x} {walk + 16:x} {2 * PERIOD}",
                                             f"B {walk + 16:x} {walk:x} {2 * PERIOD} 0",
                                             f"B {walk + 20:x} {mix:x} {2 * PERIOD} 0"])
        self.assertIn("2 previous targets lie behind", said)

    def test_few_previous_targets(self):
        """Too few of them, and they would say too little."""
        walk = self.walk
        self.write(*(self.branch(walk + 16, walk, previous=walk if i else None) for i in range(5)),
                   self.branch(walk + 8, None, NOT_TAKEN))
        self.assertEqual(self.lines(), [f"F {walk + 8:x} {walk + 12:x} {PERIOD}",
                                        f"B {walk + 16:x} {walk:x} {5 * PERIOD} 0"])

    def test_outside(self):
        """Into the file and out of it: the other end is 0. All the rest is counted."""
        walk = self.walk
        self.write(self.branch(walk + 8, 0x7f0000000100, op=JUMP),
                   self.branch(0x7f0000000104, walk, op=JUMP),
                   self.branch(0x7f0000000104, 0x7f0000000100, op=JUMP),
                   self.branch(0x1234, walk, op=JUMP),
                   self.branch(walk + 8, walk, SPECULATIVE),
                   self.branch(walk + 8, None),
                   self.branch(0xffff800010000000, walk, op=JUMP, el=1),
                   t.sample(walk, 999, 10))
        text, said = self.export("bolt")
        self.assertEqual(text.splitlines(), [f"B 0 {walk:x} {PERIOD} 0",
                                             f"B {walk + 8:x} 0 {PERIOD} 0"])
        self.assertIn("of 8 samples 3 are of the file, 2 of them branches; left out are 2 of other "
                      "files, 1 of the kernel, 1 without a map, 1 that did not retire\n", said)
        self.assertIn("1 taken branches do not say where to", said)

    def test_cut(self):
        walk = self.walk
        self.write(self.branch(walk + 8, walk), self.branch(walk + 8, walk, MISPREDICTED),
                   self.branch(walk + 8 + SHIFT, walk + SHIFT, pid=11), period=1)
        for args, count in ((("--pid", 11), 1), (("--filter", "events.mispredicted"), 1),
                            (("--time", "20ns,"), 2)):
            self.assertEqual(self.lines(*args)[0].split()[3], str(count), args)

    def test_huge_period(self):
        """BOLT's numbers have a sign."""
        self.write(self.branch(self.walk + 8, self.walk) * 5, period=1 << 62)
        self.assertEqual(self.lines()[0].split()[3], str((1 << 63) - 1))

    def test_program(self):
        """An emulator maps the loader first: the program is the file that its process is called
        by, as far as the kernel keeps the name."""
        other = os.path.join(self.dir, "program-with-a-name")
        shutil.copy(self.program.path, other)
        for comm, path in (("program", self.program.path), ("program-with-a-", other),
                           ("script", "/usr/lib/ld.so")):
            r = t.Recording(cpus=1)
            r.comm(10, 10, comm)
            r.mmap(10, 0x7f0000000000, 0x10000, 0, "/usr/lib/ld.so")
            for shift, file in ((0, self.program.path), (SHIFT, other)):
                r.mmap(10, self.program.start + shift, self.program.length, self.program.offset,
                       file)
            r.aux(0, self.branch(self.walk + 8, self.walk))
            r.write(self.path)
            result = spe("export", "--format", "bolt", self.path)
            self.assertIn(path, result.stderr.decode(), comm)

    def test_dso(self):
        self.write(self.branch(self.walk + 8, self.walk))
        text, said = self.export("bolt")
        self.assertIn(f"the profile is of {self.program.path}, one of 2 files", said)
        link = os.path.join(self.dir, "link")
        os.symlink(self.program.path, link)
        for name in ("program", self.program.path, link):
            again, said = self.export("bolt", "--dso", name)
            self.assertEqual(again, text)
            self.assertNotIn("the profile is of", said)
        for name, why in (("nothing", "no file of the recording is called that"),
                          ("libother.so", "missing")):
            self.assertIn(why, self.export("bolt", "--dso", name, status=1)[1])
        with open(self.program.path, "r+b") as f:  # a program for another machine
            f.seek(18)
            f.write(b"\x3e")
        self.assertIn("not a program for Arm", self.export("autofdo", status=1)[1])
        self.assertIn("--dso", self.bad(2, "export", "--format", "csv", "--dso", "x", self.path))

    def test_raw(self):
        raw = self.file(self.branch(self.walk + 8, self.walk))
        for form in ("bolt", "autofdo"):
            self.assertIn("no program or library", self.bad(1, "export", "--format", form, raw))

    # ---- lines -----------------------------------------------------------------------------------

    def place(self, pc):
        """The line of a pc, counted from that of its function, by another program."""
        found = subprocess.run(["addr2line", "-f", "-e", self.program.path, f"{pc:x}"], check=True,
                               capture_output=True, text=True).stdout.split()
        function, line = found[0], int(found[1].rsplit(":", 1)[1])
        with open(self.dir + "/program.c", encoding="utf-8") as f:
            first = next(i for i, text in enumerate(f, 1) if f" {function}(int n)" in text)
        return function, line - first

    def test_lines(self):
        """A line has its hottest instruction, a function the branches to its entry; the function's
        other lines are there, with 0."""
        walk, mix = self.walk, self.mix
        places = {}
        for pc in range(walk, walk + self.program.symbols["walk"][1]):
            places.setdefault(self.place(pc), []).append(pc)
        (a, near), (b, _) = [pcs[:2] for pcs in places.values() if len(pcs) > 1][:2]
        caller = self.program.symbols[next(n for n in self.program.symbols if "long_name" in n)][0]
        self.write(t.sample(a, 1, 10) * 3, t.sample(near, 2, 10) * 2, t.sample(b, 3, 10) * 7,
                   t.sample(b + SHIFT, 3, 11), self.branch(caller + 8, walk, op=JUMP) * 2,
                   self.branch(caller + 8, mix, op=JUMP),
                   self.branch(mix + 8, mix), period=1)  # a loop is not a call
        text, said = self.export("autofdo")
        name, offset = self.place(caller + 8)
        lines = text.splitlines()
        self.assertGreater(len([line for line in lines if line.endswith(": 0")]), 2)
        self.assertEqual(sorted(line for line in lines if not line.endswith(": 0")), sorted([
            f"{name}:3:0", f" {offset}: 3 mix:1 walk:2",
            "mix:1:1", f" {self.place(mix + 8)[1]}: 1",
            "walk:11:2", f" {self.place(a)[1]}: 3", f" {self.place(b)[1]}: 8"]))
        self.assertIn("of 17 samples 17 are of the file, 4 of them branches", said)

    def test_nothing(self):
        """A recording without samples is not a mistake."""
        self.write(t.sample(0x1234, 1, 10))
        for form in ("bolt", "autofdo"):
            self.assertEqual(self.export(form)[0], "")

    @unittest.skipUnless(shutil.which("llvm-profdata-19") or shutil.which("llvm-profdata-14"),
                         "there is no llvm-profdata")
    def test_profdata(self):
        self.write(t.sample(self.walk, 1, 10), self.branch(self.mix, self.walk, op=JUMP))
        out = self.dir + "/prof"
        self.export("autofdo", "-o", out)
        profdata = shutil.which("llvm-profdata-19") or "llvm-profdata-14"
        shown = subprocess.run([profdata, "show", "--sample", out], check=True,
                               capture_output=True, text=True).stdout
        self.assertIn(f"Function: walk: {PERIOD}, {PERIOD}, ", shown)
        self.assertIn(f"calls: walk:{PERIOD}", shown)


if __name__ == "__main__":
    unittest.main()
