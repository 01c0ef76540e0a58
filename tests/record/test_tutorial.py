# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""docs/tutorial.md: its commands run as they are written, and find what the page says they find."""

import os
import re
import shutil
import subprocess
import unittest

import recordtest
from recordtest import RecordTest

recordtest.require()
recordtest.need_symbols()

TOP = os.environ["SPE_SOURCE_DIR"]
PROGRAM = os.path.join(TOP, "examples", "tutorial", "letters.c")

# What a reader must see, whatever the numbers are. Line breaks and numbers vary from run to run.
FINDINGS = (
    "of latency: false sharing: threads use different bytes on line",
    "in count (letters.c:30)",
    "struct tally.letters",
    "different threads use letters and spaces, some write, and both are on one line",
    "are different bytes: put them 64 bytes apart.",
    "Nothing stands out",
    "found no shared lines",
)


def steps(page):
    """[command, the output that the page shows] of every command, in order."""
    found = []
    for line in page.splitlines():
        if line.startswith("    $ "):
            found.append([line[6:], []])
        elif found and line.startswith("    "):
            found[-1][1].append(line[4:])
        elif found and line:
            found.append(["", []])  # prose: what follows it is not the output of that command
    return [(command, "\n".join(shown)) for command, shown in found if command]


def findings(text):
    text = " ".join(text.split())
    return [finding for finding in FINDINGS if finding in text]


def mean_cycles(text):
    """Of function `count`, from its row of the report."""
    header, row = (next(line.split() for line in text.splitlines() if line.split()[:1] == [first])
                   for first in ("function", "count"))
    return float(row[header.index("mean") - len(header)])


class Tutorial(RecordTest):
    def setUp(self):
        super().setUp()
        shutil.copy(PROGRAM, self.dir)
        with open(os.path.join(TOP, "docs", "tutorial.md"), encoding="utf-8") as f:
            self.page = f.read()

    def run_step(self, command):
        path = os.path.dirname(recordtest.SPE) + os.pathsep + os.environ["PATH"]
        result = subprocess.run(["bash", "-c", command], cwd=self.dir, capture_output=True, text=True,
                                check=False, timeout=100, env=dict(os.environ, PATH=path))
        expected = 1 if command.startswith("diff ") else 0
        self.assertEqual(result.returncode, expected, f"{command}\n{result.stderr}")
        return result.stdout

    def test_commands(self):
        seen = []
        reports = []
        for command, shown in steps(self.page):
            out = self.run_step(command)
            self.assertEqual(findings(out), findings(shown), f"{command}\n{out}")
            seen += findings(out)
            if command.startswith("diff "):
                self.assertEqual(out.strip(), shown)
            if command.startswith("spe report --by function"):
                reports.append(mean_cycles(out))
        self.assertEqual(set(seen), set(FINDINGS))
        before, after = reports
        self.assertGreater(before, 3 * after)

    def test_program(self):
        """What the page quotes is in the program."""
        with open(PROGRAM, encoding="utf-8") as f:
            program = f.read()
        quoted = re.search(r"^    (struct tally \{\n.*?)\n\n\S", self.page, re.M | re.S)[1]
        self.assertIn(quoted.replace("\n    ", "\n"), program)


if __name__ == "__main__":
    unittest.main()
