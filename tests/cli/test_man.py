# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""The manual pages: correct mdoc, and the same options as --help."""

import glob
import os
import re
import shutil
import subprocess
import unittest

from spetest import CommandTest

PAGES = os.path.join(os.environ.get("SPE_SOURCE_DIR", "."), "docs/man")


class Man(CommandTest):
    def test_options(self):
        for command in ("c2c", "diff", "dump", "check", "export", "gen", "record", "report",
                        "script", "vm"):
            text = self.good(command, "--help").decode()
            helped = set(re.findall(r"^ {2,6}(?:-\w, )?--([a-z-]+)", text, re.M))
            with open(os.path.join(PAGES, f"spe-{command}.1"), encoding="utf-8") as f:
                page = f.read()
            listed = set(re.findall(r"^\.It Fl (?:\w , )?-([a-z-]+)", page, re.M))
            self.assertGreater(len(helped), 5)
            self.assertEqual(helped, listed, command)

    def test_commands(self):
        # The pages that are installed; those of commands in the making are not.
        with open(os.path.join(PAGES, "meson.build"), encoding="utf-8") as f:
            names = set(re.findall(r"'spe-([\w-]+)\.1'", f.read()))
        text = self.good("--help").decode()
        self.assertEqual(set(re.findall(r"^  ([\w-]+) {2,}\w", text, re.M)), names)

    def test_names(self):
        """Each export format, and each finding, has its words in the manual pages and documents."""
        formats = re.split(", | or ", re.search("say which: (.*)", self.bad(2, "export"))[1])
        with open(os.path.join(PAGES, "spe-export.1"), encoding="utf-8") as f:
            self.assertEqual(re.findall(r"^\.It Fl -format Cm (\w+)", f.read(), re.M), formats)
        source = os.environ["SPE_SOURCE_DIR"]
        with open(os.path.join(source, "src/analysis/findings.c"), encoding="utf-8") as f:
            findings = re.findall(r'\[SPE_FINDING_\w+\] = "([\w-]+)"', f.read())
        self.assertGreater(len(findings), 20)
        with open(os.path.join(PAGES, "spe-report.1"), encoding="utf-8") as f:
            self.assertEqual(set(findings) - set(re.findall(r"^\.Ql ([\w-]+)", f.read(), re.M)), set())
        with open(os.path.join(source, "docs/findings.md"), encoding="utf-8") as f:
            document = f.read()
        self.assertEqual([name for name in findings if name not in document], [])

    def test_index(self):
        """docs/README.md names every document, and README.md leads to it."""
        folder = os.path.join(os.environ["SPE_SOURCE_DIR"], "docs")
        with open(os.path.join(folder, "README.md"), encoding="utf-8") as f:
            index = f.read()
        for name in os.listdir(folder):
            if name.endswith(".md") and name != "README.md":
                self.assertIn(f"({name})", index)
        for name in re.findall(r"\]\(([\w./-]+)\)", index):
            self.assertTrue(os.path.exists(os.path.join(folder, name)), name)

    def test_lint(self):
        if not shutil.which("mandoc"):
            self.skipTest("there is no mandoc")
        for page in sorted(glob.glob(os.path.join(PAGES, "*.[17]"))):
            lint = subprocess.run(["mandoc", "-T", "lint", "-W", "style", page],
                                  capture_output=True, text=True, check=False)
            # Whether other manual pages are installed here is not the page's fault.
            bad = [line for line in (lint.stdout + lint.stderr).splitlines()
                   if "referenced manual not found" not in line and "mandoc.db" not in line]
            self.assertEqual(bad, [])


if __name__ == "__main__":
    unittest.main()
