# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""The workflow of examples/ci: its own commands, on a program that got slower and on one that did not."""

import os
import re
import subprocess
import unittest

import recordtest
from recordtest import RecordTest, SPE

recordtest.require()

WORKFLOW = os.path.join(os.environ["SPE_SOURCE_DIR"], "examples/ci/exact-counts.yml")
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 0, sum = 0;
    static volatile int numbers[4096];
    for (long i = 0; i < n * ROUNDS; i++)
        sum += numbers[i * 7 & 4095]++;
    printf("%ld\\n", sum >= 0);
    return 0;
}
"""
MAKEFILE = "bench: bench.c\n\t$(CC) $(CFLAGS) -DROUNDS=$(shell cat rounds) bench.c -o bench $(LDFLAGS)\n"


def step(name):
    """The commands of a step, without what YAML adds."""
    with open(WORKFLOW, encoding="utf-8") as f:
        text = f.read()
    found = re.search(r"- name: " + re.escape(name) + r"\n +run: \|\n((?: {10}.*\n)+)", text)
    return "".join(line[10:] + "\n" for line in found.group(1).splitlines())


def setting(name):
    """A value of `env:`, without the comment behind it."""
    with open(WORKFLOW, encoding="utf-8") as f:
        return re.search(rf"^  {name}: (.*?) +# change", f.read(), re.M).group(1)


class Workflow(RecordTest):
    def run_steps(self, old, new):
        for side, rounds in (("old", old), ("new", new)):
            folder = os.path.join(self.dir, side)
            os.makedirs(folder)
            for name, text in (("bench.c", PROGRAM), ("Makefile", MAKEFILE), ("rounds", str(rounds))):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                    f.write(text)
        os.makedirs(os.path.join(self.dir, "specimen/build"))
        os.symlink(os.path.dirname(SPE), os.path.join(self.dir, "specimen/build/src"))
        return [self.shell(step("Count both versions")), self.shell(step("Compare"))]

    def shell(self, commands):
        # Where a QEMU was built, it is found by this; `env -i` of the workflow would hide it.
        keep = f"XDG_CACHE_HOME={os.environ['XDG_CACHE_HOME']}"
        return subprocess.run(
            ["bash", "-e", "-c", commands.replace("env -i ", f"env -i '{keep}' ")], cwd=self.dir,
            env={**os.environ, "GITHUB_WORKSPACE": self.dir, "BUILD": setting("BUILD"),
                 "RUN": setting("RUN")}, capture_output=True, text=True, check=False, timeout=100)

    def test_slower(self):
        count, compare = self.run_steps(100, 103)
        self.assertEqual(count.returncode, 0, count.stderr)
        self.assertEqual(compare.returncode, 1, compare.stdout + compare.stderr)
        self.assertRegex(compare.stdout, r"instructions > \+1%: yes, it fails")

    def test_same(self):
        count, compare = self.run_steps(100, 100)
        self.assertEqual(count.returncode, 0, count.stderr)
        self.assertEqual(compare.returncode, 0, compare.stdout + compare.stderr)


if __name__ == "__main__":
    unittest.main()
