#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Types that are larger than any, and debug information that is damaged."""

import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

LIST = os.path.join(os.environ["SPE_BUILD_DIR"], "tests", "list_accesses")
SEEDS = os.path.join(os.environ["SPE_SOURCE_DIR"], "fuzz", "corpus", "types")

if not os.path.exists(LIST):
    print("the list of accesses was not built: no elfutils")
    sys.exit(77)
if not shutil.which("aarch64-linux-gnu-gcc"):
    print("there is no compiler for AArch64")
    sys.exit(77)


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))


class Limits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = folder.name

    def listed(self, source):
        path = os.path.join(self.dir, "program.c")
        with open(path, "w", encoding="utf-8") as f:
            f.write(source)
        subprocess.run(["aarch64-linux-gnu-gcc", "-g", "-O1", "-w", "-shared", "-fPIC", "-nostdlib",
                        "-o", path + ".so", path], check=True)
        out = subprocess.run([LIST, path + ".so"], capture_output=True, text=True, check=True,
                             preexec_fn=limit).stdout
        return [row.split("\t") for row in out.splitlines()]

    def test_many_members(self):
        members = "".join(f"int m{i};" for i in range(100000))
        rows = self.listed(f"struct s {{ {members} }};"
                           "int f(struct s *s) { return s->m7 + s->m99998; }")
        self.assertEqual({row[5] for row in rows}, {"m7", "m99998"})

    def test_gigabytes(self):
        rows = self.listed("struct s { char a[1l << 32]; int last; };"
                           "int f(struct s *s) { return s->last; }")
        self.assertEqual([row[5] for row in rows], ["last"])

    def test_cycle(self):
        rows = self.listed("struct a; struct b { struct a *a; int x; };"
                           "struct a { struct b *b; struct a *a; };"
                           "int f(struct a *a) { return a->b->a->a->b->x; }")
        self.assertEqual([row[5] for row in rows], ["b", "a", "a", "b", "x"])

    def test_damage(self):
        """Any byte may be anything: the program ends by itself, and well."""
        chance = random.Random(7)
        for name in sorted(os.listdir(SEEDS)):
            with open(os.path.join(SEEDS, name), "rb") as f:
                good = f.read()
            for _ in range(25):
                bad = bytearray(good)
                for _ in range(chance.randrange(1, 12)):
                    bad[chance.randrange(64, len(bad))] = chance.randrange(256)
                path = os.path.join(self.dir, "bad.so")
                with open(path, "wb") as f:
                    f.write(bad)
                result = subprocess.run([LIST, path], capture_output=True, check=False,
                                        preexec_fn=limit)
                self.assertEqual(result.returncode, 0, name)


if __name__ == "__main__":
    unittest.main()
