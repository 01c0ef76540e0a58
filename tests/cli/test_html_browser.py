# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""spe report --html in a browser: it loads in silence, sorts, searches, brushes, shows code, and its
numbers are those of --json; also with hostile names, without samples, and without its script."""

import json
import os
import unittest

import browser
import page_file as p
import recording_file as t
import spetest
from spetest import CommandTest

if not browser.find():
    spetest.skip("there is no Chromium: tools/setup.sh installs it")
if not t.can_compile():
    spetest.skip("there is no compiler, nm or readelf")
spetest.need_symbols()

TABLE = "document.getElementById('%s-table')"
ROWS = "[...%s.tBodies[0].rows].filter((row) => !row.hidden && row.className !== 'gap')" % TABLE


class Browse(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.browser = browser.Browser()
        cls.browser.size(1280, 900)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def setUp(self):
        super().setUp()
        self.path = os.path.join(self.dir, "perf.data")

    def open(self):
        """The page of the recording, in silence and with one request: the page itself."""
        page = os.path.join(self.dir, "page.html")
        self.good("report", "--html", page, self.path)
        self.browser.open(page)
        self.assertEqual(self.browser.errors, [])
        self.assertEqual(len(self.browser.requests), 1, self.browser.requests)

    def usual(self):
        p.recording(self.path, t.Program(self.dir))
        self.open()

    def run_in_page(self, script):
        return self.browser.run(script)

    def column(self, table, number):
        return self.run_in_page(f"{ROWS % table}.map((row) => row.cells[{number}].dataset.v ?? "
                                f"row.cells[{number}].textContent)")

    def head(self, table, text):
        return (f"[...{TABLE % table}.tHead.rows[0].cells].find((c) => c.textContent === '{text}')"
                ".querySelector('button')")

    def test_sort_and_search(self):
        self.usual()
        groups = json.loads(self.good("report", "--json", "--top", "100", self.path))["groups"][0]
        latency = sorted((g["latency"] for g in groups["top"]), reverse=True)
        self.run_in_page(self.head("function", "latency") + ".click()")
        self.assertEqual([int(v) for v in self.column("function", 4)], latency)
        self.run_in_page(self.head("function", "latency") + ".focus()")
        self.browser.key("Enter", 13, "\r")
        self.assertEqual([int(v) for v in self.column("function", 4)], latency[::-1])
        self.assertEqual(self.run_in_page(self.head("function", "latency")
                                          + ".parentElement.getAttribute('aria-sort')"), "ascending")
        self.run_in_page(self.head("function", "function") + ".click()")
        names = self.column("function", 0)
        self.assertEqual(names, sorted(names))
        self.run_in_page("const box = document.getElementById('data-table-search'); box.value = '0x600';"
                         "box.dispatchEvent(new Event('input'))")
        self.assertEqual(sorted(self.column("data", 0)), ["0x600000"])

    def test_code(self):
        self.usual()
        code = json.loads(self.good("annotate", "--top", "2", "--json", self.path))["functions"][1]
        self.run_in_page(f"[...{TABLE % 'function'}.querySelectorAll('a')]"
                         f".find((a) => a.textContent === '{code['function']}').focus()")
        self.browser.key("Enter", 13, "\r")
        self.run_in_page("new Promise((done) => setTimeout(done, 50))")
        shown = "document.querySelectorAll('.code.shown')"
        self.assertEqual(self.run_in_page(f"{shown}.length"), 1)
        self.assertEqual(self.run_in_page(f"{shown}[0].querySelector('h3').textContent"),
                         code["function"])
        self.assertEqual(self.run_in_page(f"{shown}[0].id + getComputedStyle({shown}[0]).display"),
                         "code-1block")
        samples = [int(v) for v in self.column("asm-1", 2) if v]
        self.assertEqual(samples, [i["samples"] for i in code["instructions"]])
        self.browser.key("Escape", 27)
        self.run_in_page("new Promise((done) => setTimeout(done, 50))")
        self.assertEqual(self.run_in_page("location.hash"), "#functions")

    def test_time_line(self):
        self.usual()
        bins = json.loads(self.good("report", "--json", "--by", "time", "--bins", "160",
                                    self.path))["time"]["bins"]
        answer = "document.getElementById('time-answer').textContent"
        self.assertIn(f"{sum(b['samples'] for b in bins):,} samples", self.run_in_page(answer))
        self.run_in_page("document.getElementById('time').scrollIntoView()")
        box = self.run_in_page("(({x, y, width}) => [x, y, width])"
                               "(document.querySelector('.lanes canvas').getBoundingClientRect())")
        first, last = len(bins) // 4, len(bins) // 2
        at = [box[0] + (bin + 0.5) * box[2] / len(bins) for bin in (first, last)]
        self.browser.mouse("mousePressed", at[0], box[1] + 5)
        self.browser.mouse("mouseMoved", at[1], box[1] + 5)
        self.browser.mouse("mouseReleased", at[1], box[1] + 5)
        chosen = sum(b["samples"] for b in bins[first:last + 1])
        self.assertIn(f" {chosen:,} samples", self.run_in_page(answer))
        self.assertEqual(sum(int(v) for v in self.column("time", 1)), chosen)
        self.run_in_page("document.getElementById('time-to').focus()")
        self.browser.key("ArrowRight", 39)
        chosen += bins[last + 1]["samples"]
        self.assertIn(f" {chosen:,} samples", self.run_in_page(answer))
        self.run_in_page("const c = document.getElementById('time-colour'); c.value = 1;"
                         "c.dispatchEvent(new Event('change'))")
        self.assertIn("cycles", self.run_in_page("document.querySelector('.legend').ariaLabel"))
        self.assertEqual(self.browser.errors, [])

    def test_hostile(self):
        p.hostile(self.dir, self.path)
        self.open()
        self.assertEqual(self.run_in_page("document.querySelectorAll('img, b, body script').length"), 2)
        self.assertIn(p.EVIL[0], self.run_in_page("document.querySelector('.lanes li').textContent"))
        self.assertIn(p.EVIL[0], "".join(self.column("function", 0)))

    def test_empty(self):
        t.Recording().write(self.path)
        self.open()
        self.assertEqual(self.column("function", 0), [])

    def test_without_script(self):
        self.browser.call("Emulation.setScriptExecutionDisabled", value=True)
        try:
            self.usual()
            shown = self.run_in_page("[...document.querySelectorAll('#findings li, table.list, .code')]"
                                     ".map((e) => e.getBoundingClientRect().height > 0)")
        finally:
            self.browser.call("Emulation.setScriptExecutionDisabled", value=False)
        self.assertGreater(len(shown), 12)
        self.assertTrue(all(shown))


if __name__ == "__main__":
    unittest.main()
