# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""spe report --html without a browser: a page that is well formed and needs nothing else, with the
numbers of --json; that no name can be markup; that it stays small."""

import json
import os
import unittest

import page_file as p
import recording_file as t
import spetest
from spetest import CommandTest, spe

if not t.can_compile():
    spetest.skip("there is no compiler, nm or readelf")
spetest.need_symbols()

COUNTS = ("samples", "latency")


class Html(CommandTest):
    def page(self, path, *options):
        out = os.path.join(self.dir, "page.html")
        self.good("report", "--html", out, *options, path)
        with open(out, encoding="utf-8") as f:
            text = f.read()
        page = p.Page(text)
        self.assertEqual(page.faults, [])
        self.assertEqual(len(page.ids), len(set(page.ids)), "ids are there twice")
        return text, page

    def usual(self):
        path = os.path.join(self.dir, "perf.data")
        p.recording(path, t.Program(self.dir))
        return path

    def test_alone(self):
        text, page = self.page(self.usual())
        self.assertNotRegex(text, r"(?i)https?://|src=|@import|url\(")
        self.assertTrue(all(link.startswith("#") for link in page.links), page.links)
        self.assertTrue(all(link[1:] in page.ids for link in page.links), page.links)
        self.assertIn("default-src 'none'", text)
        self.assertNotIn("unsafe", text)
        self.assertEqual([kind for kind, _ in page.scripts], ["application/json", None])
        self.assertFalse([a for a in page.attributes if a.startswith("on") or a == "style"])

    def test_numbers(self):
        path = self.usual()
        _, page = self.page(path, "--by", "cpu")
        report = json.loads(self.good("report", "--json", "--top", "100", "--by",
                                      "cpu,function,line,thread", path))
        for groups in report["groups"]:
            rows = page.body(groups["by"])
            self.assertEqual(len(rows), len(groups["top"]))
            at = 2 if groups["by"] == "function" else 1
            for row, group in zip(rows, groups["top"]):
                self.assertEqual(row[0], group["name"])
                self.assertEqual([int(row[at]), int(row[at + 2])], [group[c] for c in COUNTS])
        self.assertEqual([(row[0], int(row[2])) for row in page.body("served")],
                         [(row["served"], row["loads"]) for row in report["loads"]])
        self.assertEqual([int(row[2]) for row in page.body("mix")],
                         [row["samples"] for row in report["operations"]])
        self.assertEqual([(row[0], int(row[2]), int(row[3])) for row in page.body("branch")],
                         [(b["pc"], b["samples"], b["mispredicted"])
                          for b in report["branches"]["top"]])
        self.assertEqual([(row[0], int(row[3]), int(row[4])) for row in page.body("data")],
                         [(d["address"], d["samples"], d["latency"]) for d in report["data"]["top"]])
        for finding in report["findings"]:
            self.assertIn(finding["sentence"][:20], page.text)

    def test_code_and_lines(self):
        path = self.usual()
        _, page = self.page(path)
        code = json.loads(self.good("annotate", "--top", "3", "--json", path))["functions"]
        for i, function in enumerate(code):
            rows = [row for row in page.body(f"asm-{i}") if len(row) > 2 and row[2]]
            self.assertEqual([(int(row[0], 16), int(row[2])) for row in rows],
                             [(int(x["address"], 16), x["samples"]) for x in function["instructions"]])
            rows = [row for row in page.body(f"source-{i}") if len(row) > 2 and row[2]]
            self.assertEqual([(int(row[0]), int(row[2])) for row in rows],
                             [(x["line"], x["samples"]) for x in function["lines"]])
        lines = json.loads(self.good("c2c", "--json", path))["lines"]
        self.assertEqual(len(lines), 1)
        self.assertEqual([(row[0], row[2], int(row[3])) for row in page.body("shared")],
                         [(x["address"], x["sharing"], x["travelled"]) for x in lines])
        self.assertIn(lines[0]["advice"], page.text)

    def test_time(self):
        path = self.usual()
        _, page = self.page(path)
        data = page.data()
        times = json.loads(self.good("report", "--json", "--by", "time", "--bins", "160", path))["time"]
        self.assertEqual(data["bin_ns"], times["bin_ns"])
        for what in COUNTS:
            self.assertEqual(data["all"][what], [b[what] for b in times["bins"]])
            self.assertEqual([sum(column) for column in zip(*(r[what] for r in data["lanes"]))],
                             data["all"][what])
        names = [row[0] for row in page.body("thread")]
        self.assertEqual([lane["name"] for lane in data["lanes"]], names)

    def test_slices(self):
        """What rows have in all bins together is what their tables say."""
        _, page = self.page(self.usual())
        slices = page.data()["slices"]
        bins = len(page.data()["all"]["samples"])
        for table, columns in (("function", {"samples": 2, "latency": 4}),
                               ("line", {"samples": 1, "latency": 3}),
                               ("thread", {"samples": 1, "latency": 3}),
                               ("branch", {"samples": 2, "mispredicted": 3}),
                               ("data", {"samples": 3, "latency": 4, "loads": 7}),
                               ("mix", {"samples": 2})):
            rows = [p.slice_sums(slices[table], row, bins) for row in range(len(slices[table]["rows"]))]
            for name, column in columns.items():
                self.assertEqual([row[name] for row in rows],
                                 [int(row[column]) for row in page.body(table)], (table, name))
        served = [p.slice_sums(slices["served"], row, bins) for row in range(len(slices["served"]["rows"]))]
        self.assertEqual(sorted(row["loads"] for row in served if row["loads"]),
                         sorted(int(row[2]) for row in page.body("served")))

    def test_slices_do_not_grow(self):
        """However many rows a list has, and however many samples, the page does not."""
        path = self.usual()
        text, page = self.page(path, "--top", "1000")
        self.assertTrue(all(len(list_["rows"]) <= 200 for list_ in page.data()["slices"].values()))
        self.assertLess(len(text), 3 << 20)
        self.assertIn("1000", self.bad(2, "report", "--html", "x.html", "--top", "1001", path))

    def older(self):
        """Another recording: of one branch more, and nothing else."""
        path = os.path.join(self.dir, "old.data")
        program = t.Program(self.dir)
        r = t.Recording()
        r.comm(10, 10, "task")
        program.map(r, 10)
        r.aux(0, b"".join(t.sample(program.pc("mix"), 1000 + i, 10, p.BRANCH, 2, 12,
                                   target=program.pc("walk")) for i in range(400)))
        r.write(path)
        return path

    def test_changes(self):
        """Of two recordings, what spe diff says is on the page of the second."""
        old, new = self.older(), self.usual()
        out = os.path.join(self.dir, "both.html")
        self.good("report", "--html", out, old, new)
        with open(out, encoding="utf-8") as f:
            text = f.read()
        page = p.Page(text)
        self.assertEqual(page.faults, [])
        self.assertIn("perf.data", page.text.split("spe report")[0])
        for by in ("function", "line"):
            diff = json.loads(self.good("diff", "--json", "--all", "--top", "100", "--by", by, old, new))
            rows = page.body(f"change-{by}")
            self.assertGreater(diff["significant"], 3)
            self.assertEqual(len(rows), len(diff["rows"]))
            for row, wanted in zip(rows, diff["rows"]):
                latency, operations = (wanted["quantities"][q] for q in ("latency", "operations"))
                for value, expected in zip(row[2:4] + row[5:7], (latency["old"], latency["new"],
                                                                operations["old"], operations["new"])):
                    self.assertAlmostEqual(float(value), expected, 6)
                self.assertIn(wanted["function"], row[0])
        total = json.loads(self.good("diff", "--json", old, new))["total"]["quantities"]
        found = {row[0]: (float(row[1]), float(row[2])) for row in page.body("change-total")}
        for name, words in (("latency", "latency"), ("loads", "loads"), ("l1_misses", "L1 misses")):
            self.assertAlmostEqual(found[words][0], total[name]["old"], 6)
            self.assertAlmostEqual(found[words][1], total[name]["new"], 6)
        self.assertNotIn("changes", self.page(new)[1].ids)

    def test_changes_without_lines(self):
        """Where no line is known there is no list of them, which would be that of functions again."""
        old, new = (os.path.join(self.dir, name) for name in ("old.data", "new.data"))
        for path, latency in ((old, 10), (new, 90)):
            r = t.Recording()
            r.comm(10, 10, "task")
            r.aux(0, b"".join(t.sample(0x400000, 10 + i, 10, p.LOAD, 2, latency, va=0x1000)
                              for i in range(300)))
            r.write(path)
        out = os.path.join(self.dir, "both.html")
        self.good("report", "--html", out, old, new)
        with open(out, encoding="utf-8") as f:
            page = p.Page(f.read())
        self.assertEqual(len(page.body("change-function")), 1)
        self.assertNotIn("change-line-table", page.ids)

    def test_changes_of_nothing(self):
        """The same recording twice: said in words. Three recordings, and one that is not there."""
        path = self.usual()
        out = os.path.join(self.dir, "both.html")
        self.good("report", "--html", out, path, path)
        with open(out, encoding="utf-8") as f:
            self.assertIn("no significant change.", f.read())
        self.assertIn("one file", self.bad(2, "report", "--html", out, path, path, path))
        self.assertIn("nowhere", self.bad(1, "report", "--html", out, "nowhere", path))
        self.assertIn(path, self.bad(1, "report", "--html", path, path, self.older()))

    def test_time_without_threads(self):
        r = t.Recording(cpus=2)
        for cpu in (0, 1):
            r.aux(cpu, b"".join(t.sample(0x400000, 10 + i, None) for i in range(10 + cpu)))
        path = os.path.join(self.dir, "perf.data")
        r.write(path)
        data = self.page(path)[1].data()
        self.assertEqual([(lane["name"], sum(lane["samples"])) for lane in data["lanes"]],
                         [("CPU 0", 10), ("CPU 1", 11)])

    def test_hostile(self):
        path = os.path.join(self.dir, "perf.data")
        _, usual = self.page(self.usual())
        p.hostile(self.dir, path)
        text, page = self.page(path)
        self.assertEqual(set(page.tags), set(usual.tags) | {"p"})
        self.assertEqual([kind for kind, _ in page.scripts], ["application/json", None])
        self.assertEqual(page.scripts[1], usual.scripts[1])
        self.assertFalse([a for a in page.attributes if a.startswith("on") or a == "style"])
        self.assertFalse([c for c in text if ord(c) < 32 and c != "\n"], "controls")
        self.assertNotIn("\u2028", text)
        names = [lane["name"] for lane in page.data()["lanes"]]
        self.assertTrue(all(p.EVIL[0] in name for name in names), names)
        self.assertIn(p.EVIL[0], page.text)

    def test_long_name(self):
        program = p.long_name(self.dir)
        path = os.path.join(self.dir, "perf.data")
        p.recording(path, program)
        text, page = self.page(path)
        self.assertLess(len(text), 400000)
        self.assertTrue(any(row[0].startswith("x" * 500) for row in page.body("function")))

    def test_empty(self):
        path = os.path.join(self.dir, "perf.data")
        t.Recording().write(path)
        _, page = self.page(path)
        self.assertIn("None: there are no samples.", page.text)
        self.assertIn("Doubt: there are no samples;", page.text)
        self.assertNotIn("All 0", page.text)
        self.assertEqual(page.data(), {})

    def test_many_functions(self):
        program = p.many_functions(self.dir, 80000)
        path = os.path.join(self.dir, "perf.data")
        sizes = []
        for count in (2000, 80000):
            p.many_recorded(path, program, count)
            text, page = self.page(path)
            sizes.append(len(text))
            self.assertIn(f"of {count:,}", page.text)
            self.assertEqual(len(page.body("function")), 100)
        self.assertLess(sizes[1], 1.2 * sizes[0])
        self.assertLess(sizes[1], 1000000)

    def test_words(self):
        path = self.usual()
        self.assertIn("form of its own", self.bad(2, "report", "--html", "x.html", "--json", path))
        with open(path, "rb") as f:
            before = f.read()
        self.assertIn("perf.data", self.bad(1, "report", "--html", path, path))
        with open(path, "rb") as f:
            self.assertEqual(f.read(), before)
        missing = os.path.join(self.dir, "missing", "page.html")
        self.assertIn("missing", self.bad(1, "report", "--html", missing, path))
        _, page = self.page(path, "--top", "1", "--by", "dso", "--no-findings")
        self.assertEqual(len(page.body("function")), 1)
        self.assertEqual(len(page.body("dso")), 1)
        self.assertNotIn("findings", page.ids)
        result = spe("report", "--html", "-", path)
        self.assertTrue(result.stdout.startswith(b"<!DOCTYPE html>"))


if __name__ == "__main__":
    unittest.main()
