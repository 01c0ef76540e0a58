# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""README.md, "One screen": its commands run as they are written, and show the figures that the page
shows. Loops that a prefetcher follows have no misses."""

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
FUNCTIONS = ("in_no_order", "main", "only_some", "in_order")
# Columns of a function, and how far they may be from the page's: chance decides which operations
# are sampled, and the compiler how many there are (GCC 14 makes 6 % more of main than GCC 12). Of
# samples it is a share, else points.
COLUMNS = {"samples": 0.15, "L1m": 5, "LLCm": 0.5, "misp": 5}


def section():
    with open(os.path.join(TOP, "README.md"), encoding="utf-8") as f:
        return re.search(r"^## One screen\n(.*?)^## ", f.read(), re.M | re.S)[1]


def rows(text):
    """The columns of each function."""
    lines = [line.split() for line in text.splitlines()]
    header = next(words for words in lines if words[:2] == ["function", "dso"])
    header = [word for word in header if word != "%"]
    found = {words[0]: words for words in lines if words and words[0] in FUNCTIONS and "three_ways" in words}
    return {name: {column: float(words[header.index(column)].replace(",", "")) for column in COLUMNS}
            for name, words in found.items()}


class Readme(RecordTest):
    def setUp(self):
        super().setUp()
        shutil.copy(os.path.join(TOP, "examples", "three_ways.c"), self.dir)

    def run_page(self):
        """What the last command prints."""
        path = os.path.dirname(recordtest.SPE) + os.pathsep + os.environ["PATH"]
        commands = re.findall(r"^    \$ (.*)$", section(), re.M)
        self.assertEqual(len(commands), 3)
        for command in commands:
            result = subprocess.run(["bash", "-c", command], cwd=self.dir, capture_output=True, text=True,
                                    check=False, timeout=150, env=dict(os.environ, PATH=path))
            self.assertEqual(result.returncode, 0, f"{command}\n{result.stderr}")
        return result.stdout

    def test_page(self):
        shown, out = rows(section().replace("    ", "", 1)), rows(self.run_page())
        self.assertEqual(set(shown), set(FUNCTIONS))
        self.assertEqual(set(out), set(FUNCTIONS))
        for name, columns in shown.items():
            for column, figure in columns.items():
                scale = figure if column == "samples" else 1
                self.assertLessEqual(abs(out[name][column] - figure), COLUMNS[column] * scale,
                                     (name, column, out[name][column], figure))
        for name in ("in_order", "only_some"):
            self.assertLess(out[name]["L1m"], 0.5)
            self.assertEqual(out[name]["LLCm"], 0)
        self.assertGreater(out["in_no_order"]["L1m"], 95)


if __name__ == "__main__":
    unittest.main()
