# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""spe report --html of a real recording in a browser: types, members and objects, how a type lies in
memory, and that a range of the time line changes them to what spe report says of that time."""

import json
import os
import subprocess
import sys
import unittest

from recordtest import RecordTest, need_symbols, require

SOURCE = os.environ["SPE_SOURCE_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "cli"))
import browser  # pylint: disable=wrong-import-position

require()
need_symbols()

COUNTS = ("samples", "latency")


class Page(RecordTest):
    def setUp(self):
        super().setUp()
        self.page = os.path.join(self.dir, "page.html")
        self.program = os.path.join(self.dir, "two_members")
        subprocess.run(["aarch64-linux-gnu-gcc", "-g", "-static", "-w", "-O0", "-o", self.program,
                        os.path.join(SOURCE, "tests", "names", "tagged", "two_members.c")], check=True)
        self.record("-c", "512", "--", self.program)
        self.good("report", "--html", self.page, self.data)

    def report(self, *options):
        return json.loads(self.good("report", "--json", "--top", "200", "--by", "type,member,object",
                                    *options, self.data))

    def check_tables(self, chromium, report):
        for table, head, rows in (("type", "type", report["types"]), ("object", "name", report["objects"]),
                                  ("member", "member", report["members"])):
            found = chromium.run(
                f"[...document.querySelectorAll('#{table}-table tbody tr')]"
                ".filter((row) => getComputedStyle(row).display !== 'none')"
                ".map((row) => [row.cells[0].textContent, +row.cells[2].dataset.v, +row.cells[4].dataset.v])")
            wanted = [[f"{row['type']}.{row[head]}" if head == "member" and row["member"]
                       else row["type"] if head == "member" else row[head],
                       *(row[name] for name in COUNTS)] for row in rows]
            self.assertEqual(sorted(found), sorted(wanted), table)

    def test_types(self):
        """Lists, and a picture in which each member is as wide as it is long."""
        if not browser.find():
            self.skipTest("there is no Chromium: tools/setup.sh installs it")
        chromium = browser.Browser()
        try:
            chromium.open(self.page)
            self.assertEqual((chromium.errors, len(chromium.requests)), ([], 1))
            self.check_tables(chromium, self.report())
            members = chromium.run("[...document.querySelector('.layout').querySelectorAll('.member')].map((g) => "
                                   "[g.querySelector('title').textContent, (+g.querySelector('rect')"
                                   ".getAttribute('width') + 1) / 14, g.classList[1]])")
            self.assertEqual([(bytes_, int(heat[-1]) > 0) for _, bytes_, heat in members],
                             [(1, True), (63, False), (1, True)])
            self.assertTrue(members[0][0].startswith("+0 char first: "), members)
            self.assertEqual(members[1][0], "+1 char reserved[63]: no samples")
            data = json.loads(chromium.run("document.getElementById('page-data').textContent"))
            bins = len(data["all"]["samples"])
            first, last = bins // 3, bins // 2
            chromium.run("const set = (id, to) => { const e = document.getElementById(id); e.value = to; "
                         f"e.dispatchEvent(new Event('input')); }}; set('time-from', {first}); "
                         f"set('time-to', {last})")
            time = ",".join(f"{(data['from_ns'] + at * data['bin_ns']) / 1e9:.9f}"
                            for at in (first, last + 1))
            self.check_tables(chromium, self.report("--time", time))
        finally:
            chromium.close()


if __name__ == "__main__":
    unittest.main()
