# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""spe report --html in a browser: it loads in silence, sorts, searches, brushes, shows code, and its
numbers are those of --json; also with hostile names, without samples, and without its script."""

import json
import os
import re
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


def ratio(part, whole):
    """As in a cell: -1 is "-"."""
    return part / whole if whole else -1


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

    def open(self, *options):
        """The page of the recording, in silence and with one request: the page itself."""
        page = os.path.join(self.dir, "page.html")
        self.good("report", "--html", page, *options, self.path)
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

    def test_click_scrolls_to_code(self):
        """A click on a function brings its code to the top of a window that shows neither."""
        self.browser.size(1280, 400)
        self.addCleanup(self.browser.size, 1280, 900)
        self.usual()
        link = f"{TABLE % 'function'}.querySelectorAll('a[href=\"#code-1\"]')[0]"
        top = "document.getElementById('code-1').getBoundingClientRect().top"
        self.run_in_page(f"{link}.scrollIntoView({{block: 'center'}})")
        x, y = self.run_in_page(f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])"
                                f"({link}.getBoundingClientRect())")
        before = self.run_in_page("scrollY")
        self.browser.mouse("mousePressed", x, y)
        self.browser.mouse("mouseReleased", x, y)
        self.run_in_page("new Promise((done) => setTimeout(done, 50))")
        self.assertEqual(self.run_in_page("location.hash"), "#code-1")
        self.assertGreater(self.run_in_page("scrollY"), before)
        self.assertGreaterEqual(self.run_in_page(top), -1)
        self.assertLess(self.run_in_page(top), 100)
        self.assertTrue(self.run_in_page("document.activeElement === "
                                         "document.querySelector('#code-1 h3')"))

    def test_time_axis(self):
        """Seconds from the first bin to the end of the last, below the places that they are of."""
        self.usual()
        time = json.loads(self.good("report", "--json", "--by", "time", "--bins", "160",
                                    self.path))["time"]
        length = len(time["bins"]) * time["bin_ns"] / 1e9
        labels = self.run_in_page("[...document.querySelectorAll('.axis span')].map((label) => "
                                  "{ const box = label.getBoundingClientRect();"
                                  "return [label.textContent, box.left, box.right]; })")
        left, right = self.run_in_page("(({left, right}) => [left, right])"
                                       "(document.querySelector('.lanes canvas').getBoundingClientRect())")
        self.assertEqual(len(labels), 5)
        for i, (text, begin, end) in enumerate(labels):
            self.assertAlmostEqual(float(text.removesuffix(" s")), i * length / 4,
                                   delta=0.006 * length)
            at = left + i * (right - left) / 4
            self.assertLessEqual(begin - 2, at)
            self.assertGreaterEqual(end + 2, at)

    def brush(self, first, last, bins):
        self.run_in_page("document.getElementById('time').scrollIntoView()")
        x, y, width = self.run_in_page("(({x, y, width}) => [x, y, width])"
                                       "(document.querySelector('.lanes canvas').getBoundingClientRect())")
        at = [x + (bin + 0.5) * width / bins for bin in (first, last)]
        self.browser.mouse("mousePressed", at[0], y + 5)
        self.browser.mouse("mouseMoved", at[1], y + 5)
        self.browser.mouse("mouseReleased", at[1], y + 5)

    def bins(self):
        return json.loads(self.good("report", "--json", "--by", "time", "--bins", "160",
                                    self.path))["time"]["bins"]

    def test_time_line(self):
        self.usual()
        bins = self.bins()
        answer = "document.getElementById('time-answer').textContent"
        self.assertIn(f"{sum(b['samples'] for b in bins):,} samples", self.run_in_page(answer))
        first, last = len(bins) // 4, len(bins) // 2
        self.brush(first, last, len(bins))
        chosen = sum(b["samples"] for b in bins[first:last + 1])
        self.assertIn(f" {chosen:,} samples", self.run_in_page(answer))
        self.run_in_page("document.getElementById('time-to').focus()")
        self.browser.key("ArrowRight", 39)
        chosen += bins[last + 1]["samples"]
        self.assertIn(f" {chosen:,} samples", self.run_in_page(answer))
        self.run_in_page("const c = document.getElementById('time-colour'); c.value = 1;"
                         "c.dispatchEvent(new Event('change'))")
        self.assertIn("cycles", self.run_in_page("document.querySelector('.legend').ariaLabel"))
        self.assertEqual(self.browser.errors, [])

    def rows(self, table):
        """Rows of a table that can be seen: by titles, what is sorted by, else the text."""
        return self.run_in_page(
            f"(() => {{ const heads = [...{TABLE % table}.tHead.rows[0].cells].map((c) => c.textContent);"
            f"return {ROWS % table}.filter((row) => getComputedStyle(row).display !== 'none')"
            ".map((row) => Object.fromEntries([...row.cells].map((cell, i) => "
            "[heads[i], cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v)]))) })()")

    def same(self, rows, wanted, columns):
        """The same rows, whatever their order; a column is a name in the page and a value in JSON."""
        def of(row):
            return [row[c] if isinstance(row[c], str) else round(row[c], 6) for c in columns]
        found = sorted(of(r) for r in rows)
        expected = sorted([v if isinstance(v, str) else round(v, 6)
                           for v in (get(r) for get in columns.values())] for r in wanted)
        self.assertEqual(found, expected)

    def check_groups(self, report, samples):
        for table, groups in zip(("function", "line", "thread"), report["groups"]):
            self.assertEqual(groups["by"], table)
            self.same(self.rows(table), groups["top"], {
                "samples": lambda g: g["samples"], "latency": lambda g: g["latency"],
                "share %": lambda g: ratio(g["samples"], samples),
                "L1 miss %": lambda g: ratio(g["l1_misses"], g["memory"]),
                "LLC miss %": lambda g: ratio(g["llc_misses"], g["memory"]),
                "TLB walk %": lambda g: ratio(g["tlb_walks"], g["memory"]),
                "mispred. %": lambda g: ratio(g["mispredicted"], g["branches"])})

    def check_intervals(self, report):
        """The lines that are drawn end where the interval of the report does."""
        drawn = self.run_in_page(f"{ROWS % 'function'}.map((row) => "
                                 "row.querySelector('.ci path').getAttribute('d'))")
        ends = sorted([float(x) / 100 for x in re.match(r"M([0-9.]+) 6H([0-9.]+)M", d).groups()]
                      for d in drawn)
        wanted = sorted([g["share_95"]["low"], g["share_95"]["high"]]
                        for g in report["groups"][0]["top"])
        for found, expected in zip(ends, wanted, strict=True):
            self.assertAlmostEqual(found[0], expected[0], 6)
            self.assertAlmostEqual(found[1], expected[1], 6)

    def check_branches_and_data(self, report):
        self.same(self.rows("branch"), report["branches"]["top"], {
            "pc": lambda b: b["pc"], "samples": lambda b: b["samples"],
            "mispredicted": lambda b: b["mispredicted"],
            "taken %": lambda b: ratio(b["samples"] - b["not_taken"], b["samples"]),
            "mean": lambda b: ratio(b["latency"], b["samples"])})
        all_data = report["data"]["latency"]
        self.same(self.rows("data"), report["data"]["top"], {
            "address": lambda d: d["address"], "samples": lambda d: d["samples"],
            "latency": lambda d: d["latency"], "of all %": lambda d: ratio(d["latency"], all_data),
            "loads": lambda d: d["loads"], "stores": lambda d: d["stores"],
            "L1 miss %": lambda d: ratio(d["l1_misses"], d["samples"]),
            "peer %": lambda d: ratio(d["shared"], d["samples"]),
            "threads": lambda d: "several" if d["several_threads"] else "one"})

    def check_loads(self, report, samples):
        loads = sum(row["loads"] for row in report["loads"])
        self.same(self.rows("served"), report["loads"], {
            "served by": lambda r: r["served"], "loads": lambda r: r["loads"],
            "share %": lambda r: ratio(r["loads"], loads), "mean": lambda r: r["latency"]["mean"],
            "max": lambda r: r["latency"]["max"]})
        # Quantiles of a range are bins of cycles, which have the report's in them.
        shown = dict(self.run_in_page(f"{ROWS % 'served'}.map((row) => [row.cells[0].textContent, "
                                      "[5, 6, 7].map((i) => row.cells[i].textContent)])"))
        for row in report["loads"]:
            for text, name in zip(shown[row["served"]], ("median", "p95", "p99")):
                ends = [int(x) for x in text.split("-")]
                self.assertLessEqual(ends[0], row["latency"][name])
                self.assertGreaterEqual(ends[-1], row["latency"][name])
        bars = self.run_in_page("[...document.querySelectorAll('.histogram rect title')]"
                                ".map((t) => Number(t.textContent.match(/: ([0-9,]+) loads/)[1]))")
        self.assertEqual(sum(bars), loads)
        self.same(self.rows("mix"), report["operations"], {
            "operation": lambda m: m.get("kind") or m["class"], "samples": lambda m: m["samples"],
            "share %": lambda m: ratio(m["samples"], samples),
            "mean": lambda m: ratio(m["latency"], m["latency_samples"])})

    TABLES = ("function", "line", "thread", "branch", "data", "served", "mix", "shared")

    def test_range_is_that_of_json(self):
        """Whatever a range of bins shows is what spe report says of that time; and back."""
        self.usual()
        before = {table: self.rows(table) for table in self.TABLES}
        data = json.loads(self.run_in_page("document.getElementById('page-data').textContent"))
        bins = len(data["all"]["samples"])
        first, last = bins // 3, bins // 2
        self.brush(first, last, bins)
        time = ",".join(f"{(data['from_ns'] + at * data['bin_ns']) / 1e9:.9f}" for at in (first, last + 1))
        report = json.loads(self.good("report", "--json", "--top", "200", "--by", "function,line,thread",
                                      "--time", time, self.path))
        samples = sum(g["samples"] for g in report["groups"][2]["top"])
        self.assertGreater(samples, 100)
        self.check_groups(report, samples)
        self.check_intervals(report)
        self.check_branches_and_data(report)
        self.check_loads(report, samples)
        lines = json.loads(self.good("c2c", "--json", "--time", time, self.path))["lines"]
        self.same(self.rows("shared"), lines, {
            "address": lambda l: l["address"], "loads": lambda l: l["loads"],
            "stores": lambda l: l["stores"], "latency": lambda l: l["latency"]})
        self.assertTrue(self.run_in_page("getComputedStyle(document.getElementById('range-bar')).display"
                                         " !== 'none'"))
        self.run_in_page("document.querySelector('#range-bar button').click()")
        self.assertEqual({table: self.rows(table) for table in self.TABLES}, before)
        self.assertEqual(self.browser.errors, [])

    def test_range_is_sorted(self):
        """A range is sorted as was chosen, or by what the page is sorted by, which is latency."""
        self.usual()
        self.brush(100, 140, len(self.bins()))
        latency = [row["latency"] for row in self.rows("function")]
        self.assertEqual(latency, sorted(latency, reverse=True))
        self.run_in_page(self.head("function", "mean") + ".click()")
        self.brush(0, 60, len(self.bins()))
        means = [row["mean"] for row in self.rows("function")]
        self.assertEqual(means, sorted(means, reverse=True))

    def test_narrow(self):
        """A telephone shows names to their ends, which may be all that tells them apart, and cuts
        nothing off that cannot be scrolled to."""
        self.browser.size(400, 800)
        self.addCleanup(self.browser.size, 1280, 900)
        self.usual()
        self.assertIn(p.SYMBOL, self.column("function", 0))
        self.assertEqual(self.run_in_page(
            f"{ROWS % 'function'}.map((row) => row.cells[0]).filter((cell) => "
            "cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent)"), [])
        self.assertLessEqual(self.run_in_page("document.documentElement.scrollWidth"), 400)

    def test_code_in_narrow_windows(self):
        """The text of code lies in the window, however far its numbers were moved."""
        self.addCleanup(self.browser.size, 1280, 900)
        for width in (400, 768, 1100):
            self.browser.size(width, 800)
            self.usual()
            for moved in (0, 10000):
                ends = self.run_in_page(
                    "[...document.querySelectorAll('.code.shown .scroll')].flatMap((box) => {"
                    f"box.scrollLeft = {moved}; return [...box.querySelectorAll('td.text')]"
                    ".map((cell) => (({left, right}) => [left, right])(cell.getBoundingClientRect())); })")
                self.assertGreater(len(ends), 3)
                for left, right in ends:
                    self.assertGreater(left, 0)
                    self.assertGreater(right - left, width / 3)
                    self.assertLessEqual(right, width)

    def test_hostile(self):
        p.hostile(self.dir, self.path)
        self.open()
        self.assertEqual(self.run_in_page("document.querySelectorAll('img, b, body script').length"), 2)
        self.assertIn(p.EVIL[0], self.run_in_page("document.querySelector('.lanes li').textContent"))
        self.assertIn(p.EVIL[0], "".join(self.column("function", 0)))

    def test_many_functions(self):
        """80,000 functions, 300 of them in the table: it sorts, searches and brushes."""
        p.many_recorded(self.path, p.many_functions(self.dir, 80000), 80000)
        self.open("--top", "300")
        self.assertEqual(self.run_in_page(f"{TABLE % 'function'}.tBodies[0].rows.length"), 300)
        self.run_in_page(self.head("function", "function") + ".click()")
        self.assertEqual(self.run_in_page(f"{TABLE % 'function'}.tBodies[0].rows[0].cells[0].textContent"),
                         "function_number_0")
        self.run_in_page("const box = document.getElementById('function-table-search');"
                         "box.value = 'number_299'; box.dispatchEvent(new Event('input'))")
        self.assertEqual(self.run_in_page(f"{ROWS % 'function'}.length"), 1)
        self.run_in_page("const end = document.getElementById('time-to'); end.value = 9;"
                         "end.dispatchEvent(new Event('input'))")
        self.assertIn(": 5,110 samples", self.run_in_page("document.getElementById('time-answer').textContent"))
        self.assertEqual(self.browser.errors, [])

    def test_long_name(self):
        """A megabyte of name, in the row of a function and in its code."""
        program = p.long_name(self.dir)
        p.recording(self.path, program)
        self.open()
        names = self.column("function", 0)
        self.assertTrue(any(name.startswith("x" * 500) and len(name) < 600 for name in names))
        self.run_in_page(f"[...{TABLE % 'function'}.querySelectorAll('a')]"
                         ".find((a) => a.textContent.startsWith('xxx')).click()")
        self.run_in_page("new Promise((done) => setTimeout(done, 50))")
        self.assertTrue(self.run_in_page("document.querySelector('.code.shown h3').textContent")
                        .startswith("xxx"))
        self.assertLessEqual(self.run_in_page("document.documentElement.scrollWidth"), 1280)

    def test_empty(self):
        t.Recording().write(self.path)
        self.open()
        self.assertEqual(self.run_in_page("document.querySelectorAll('table').length"), 0)

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
