# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Where names come from, beside the perf of this machine: code made at run time, files that perf
makes of it, modules of the kernel."""

import os
import struct
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
    skip("there is no compiler to make a module with")

CODE = 0xffff80000000
MODULE = 0xffff800008a00000
FIELDS = "ip,sym,symoff,dso"
# Larger than any that is in use: the files of /tmp are named by it.
PID = 4194304 + os.getpid()

MODULE_SOURCE = """
int first(int x) { return x + 1; }
static __attribute__((noinline)) int second(int x) { return x * 3; }
int third(int x) { return second(x) + first(x); }
"""


def call_it_arm(path):
    """Names do not depend on the instructions."""
    with open(path, "r+b") as f:
        f.seek(18)
        f.write(struct.pack("<H", 183))


class Names(CommandTest):
    def setUp(self):
        super().setUp()
        self.path = self.dir + "/perf.data"

    def record(self, maps, samples, el=0):
        r = t.Recording()
        r.comm(PID, PID, "java", exec_=True)
        for add in maps:
            add(r)
        data = b"".join(t.sample(pc, 10000 + 10 * i, PID, el=el) for i, pc in enumerate(samples))
        r.aux(0, data)
        r.aux_flags(0, 0, len(data), 0, 300000)
        r.write(self.path)

    def perf(self, *args, path=None):
        run = subprocess.run([*PERF, "script", "-i", path or self.path, "--itrace=i1i", "-F",
                              FIELDS, *args], capture_output=True, text=True, check=True)
        return [line.split() for line in run.stdout.splitlines()]

    def spe(self, *args, path=None):
        out = self.good("script", "-F", FIELDS, *args, path or self.path).decode()
        return [line.split() for line in out.splitlines()]

    def perf_map(self, text):
        name = f"/tmp/perf-{PID}.map"
        with open(name, "w", encoding="utf-8") as f:
            f.write(text)
        self.addCleanup(os.unlink, name)

    def test_jit(self):
        """All memory that perf takes for a JIT's; entries that do not overlap."""
        memory = ["//anon", "[heap]", "[stack]", "/dev/zero (deleted)", "/anon_hugepage (deleted)",
                  "/SYSV00000000 (deleted)"]
        self.record([lambda r, i=i, path=path: r.mmap(PID, CODE + 0x10000 * i, 0x10000, 0, path)
                     for i, path in enumerate(memory)],
                    [CODE + 0x10000 * i + at for i in range(len(memory))
                     for at in (0xfc, 0x100, 0x13c, 0x140, 0x204)])
        self.perf_map("".join(f"{CODE + 0x10000 * i + 0x100:x} 40 LazyCompile:~f{i} a.js:3\n"
                              f"{CODE + 0x10000 * i + 0x200:x} 40 other{i}\n"
                              for i in range(len(memory))))
        theirs = self.perf()
        self.assertEqual(theirs, self.spe())
        self.assertEqual(sum("LazyCompile:~f" in line[1] for line in theirs), 2 * len(memory))
        report = subprocess.run([*PERF, "report", "-i", self.path, "--itrace=i1i", "--stdio"],
                                capture_output=True, text=True, check=True).stdout
        for text in (report, self.good("report", "--csv", self.path).decode()):
            self.assertIn(f"[JIT] tid {PID}", text)

    def test_more_memory(self):
        """perf takes no names for these; we do."""
        for path in ("[anon:v8]", "/memfd:doublemapper (deleted)"):
            with self.subTest(path):
                self.record([lambda r, path=path: r.mmap(PID, CODE, 0x10000, 0, path)],
                            [CODE + 0x100])
                self.perf_map(f"{CODE + 0x100:x} 40 f\n")
                self.assertEqual(self.spe(), [[f"{CODE + 0x100:x}", "f+0x0",
                                               f"(/tmp/perf-{PID}.map)"]])
                self.doCleanups()
                self.setUp()

    def test_symfs(self):
        self.record([lambda r: r.mmap(PID, CODE, 0x10000, 0, "//anon")], [CODE + 0x100])
        self.perf_map(f"{CODE + 0x100:x} 40 of_this_machine\n")
        self.assertIn("[unknown]", self.spe("--symfs", self.dir)[0])
        os.mkdir(self.dir + "/tmp")
        with open(f"{self.dir}/tmp/perf-{PID}.map", "w", encoding="utf-8") as f:
            f.write(f"{CODE + 0x100:x} 40 of_that_machine\n")
        self.assertIn("of_that_machine+0x0", self.spe("--symfs", self.dir)[0])

    def test_injected(self):
        """perf inject --jit makes a file of each function that a jitdump has."""
        dump = f"{self.dir}/jit-{PID}.dump"
        with open(dump, "wb") as f:
            f.write(struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, 183, 0, PID, 1, 0))
            for i, name in enumerate([b"first_one", b"second_one"]):
                at = CODE + 0x1000 * i + 0x100
                body = struct.pack("<IIQQQQ", PID, PID, at, at, 64, i) + name + b"\0" + bytes(64)
                f.write(struct.pack("<IIQ", 0, 16 + len(body), 5000 + i) + body)
            f.write(struct.pack("<IIQ", 3, 16, 9000))
        self.record([lambda r: r.mmap(PID, CODE, 0x10000, 0, "//anon"),
                     lambda r: r.mmap(PID, 0xfffe00000000, 0x1000, 0, dump)],
                    [CODE + 0x1000 * (i % 2) + 0xfc + 4 * (i // 2) for i in range(40)])
        with open(self.path, "r+b") as f:  # jitdumps count with the monotonic clock
            for attr in (120, 264):
                f.seek(attr + 40)
                flags, = struct.unpack("<Q", f.read(8))
                f.seek(attr + 40)
                f.write(struct.pack("<Q", flags | 1 << 25))
                f.seek(attr + 92)
                f.write(struct.pack("<i", 1))
        injected = self.dir + "/injected.data"
        subprocess.run([*PERF, "inject", "--jit", "-i", self.path, "-o", injected], check=True,
                       capture_output=True, env={**os.environ, "HOME": self.dir})
        files = [name for name in os.listdir(self.dir) if name.startswith("jitted-")]
        self.assertEqual(len(files), 2)
        for name in files:
            call_it_arm(f"{self.dir}/{name}")
        theirs = self.perf(path=injected)
        ours = self.spe(path=injected)
        self.assertEqual(theirs, ours)
        self.assertEqual(sum("_one+" in line[1] for line in ours), 2 * 64 // 4)

    def test_module(self):
        """Names of .text; where the other sections are perf does not know."""
        tree = "/lib/modules/6.8.0-test/kernel/net"
        ko = f"{self.dir}{tree}/some-thing.ko"
        os.makedirs(self.dir + tree)
        with open(self.dir + "/module.c", "w", encoding="utf-8") as f:
            f.write(MODULE_SOURCE)
        subprocess.run(["cc", "-O1", "-fcf-protection=none", "-c", "-o", ko,
                        self.dir + "/module.c"], check=True)
        call_it_arm(ko)
        nm = subprocess.run(["nm", ko], check=True, capture_output=True, text=True).stdout
        places = [MODULE + int(line.split()[0], 16) + 1 for line in nm.splitlines()]
        self.record([lambda r: r.kernel_map(0xffff800010000000, 0x800000, 0xffff800010000000,
                                            "[kernel.kallsyms]_text"),
                     lambda r: r.kernel_map(MODULE, 0x8000, 0, tree + "/some-thing.ko")],
                    places, el=1)
        theirs = self.perf("--symfs", self.dir)
        self.assertEqual(theirs, self.spe("--symfs", self.dir))
        self.assertEqual({line[1] for line in theirs}, {"first+0x1", "second+0x1", "third+0x1"})
        self.assertEqual({line[2] for line in theirs}, {"([some_thing])"})


if __name__ == "__main__":
    unittest.main()
