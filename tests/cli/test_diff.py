# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""spe diff: names that are matched, bounds, exact counts, and perf's words."""

import json
import os
import random
import unittest

import recording_file as t
from spetest import CommandTest, spe

LOAD, BRANCH = (1, 0), (2, 1)
L1_MISS, MISPREDICTED = 0xe, 0x82


def counts(functions, **more):
    """A file of spe record --stat-json: {(dso, function): {quantity: exact}}."""
    return json.dumps({
        "operations": 1, "samples": 1, **more,
        "functions": [{"function": function, "dso": dso,
                       "counts": {key: {"exact": value, "samples": 0, "estimate": 1.5,
                                        "low": 0, "high": [1, {"deep": None}]}
                                  for key, value in quantities.items()}}
                      for (dso, function), quantities in functions.items()]}).encode()


class Diff(CommandTest):
    def recording(self, name, samples, shift=0, program=None, period=4096):
        """Of (pc, operation, events, total) tuples."""
        r = t.Recording(period=period)
        r.comm(1, 1, "task", exec_=True)
        if program:
            program.map(r, 1, shift=shift)
        r.aux(0, b"".join(t.sample(pc + shift, 1000 + 10 * i, 1, op, events, total)
                          for i, (pc, op, events, total) in enumerate(samples)))
        path = os.path.join(self.dir, name)
        r.write(path)
        return path

    def samples(self, program, seed, slow=0, n=3000):
        """By chance, three functions; `slow` is for walk."""
        chance = random.Random(seed)
        places = [program.pc(name) for name in ("walk", "mix")] if program else [0x1000, 0x2000]
        for _ in range(n):
            at = chance.choice((0, 1, 1))
            yield (places[at], LOAD, L1_MISS if chance.random() < 0.1 else 0x6,
                   chance.randint(1, 20) + (0 if at else slow))

    def program(self):
        if not t.can_compile():
            self.skipTest("there is no compiler")
        if os.environ.get("SPE_SYMBOLS") == "0":
            self.skipTest("this build has no elfutils, so no names of functions")
        return t.Program(self.dir)

    def answer(self, *args):
        return json.loads(self.good("diff", "--json", *args))

    def test_moved(self):
        """Another address, the same function: matched; what is slower is found and named."""
        program = self.program()
        old = self.recording("old", self.samples(program, 1), program=program)
        new = self.recording("new", self.samples(program, 2, slow=20), 0x100000, program)
        found = self.answer(old, new)
        self.assertEqual(found["rows"][0]["function"], "walk")
        latency = found["rows"][0]["quantities"]["latency"]
        self.assertTrue(latency["significant"])
        self.assertLess(latency["low"], 20 / 10.5)
        self.assertGreater(latency["high"], 20 / 10.5)
        self.assertEqual([row["significant"] for row in found["rows"]], [True, False])
        self.assertFalse(found["total"]["quantities"]["l1_misses"]["significant"])
        for width in (80, 200):
            page = self.good("diff", "--width", width, old, new).decode()
            self.assertIn("most of it in walk", " ".join(page.split()))
            self.assertLessEqual(max(map(len, page.splitlines())), width)
        lines = self.answer("--by", "line", old, new)["rows"]
        self.assertRegex(lines[0]["line"], r"^program\.c:\d+$")
        self.assertEqual(lines[0]["function"], "walk")
        self.assertEqual(self.answer("--by", "dso", old, new)["rows"][0]["dso"], "program")
        back = self.good("diff", new, old).decode()
        self.assertIn("-", back.split("answer")[1].split("%")[0])

    def test_per(self):
        """Twice the samples at twice the interval are the same run; of one interval, four."""
        old = self.recording("old", self.samples(None, 1, n=2000), period=2048)
        new = self.recording("new", self.samples(None, 2, n=1000), period=4096)
        long = self.recording("long", self.samples(None, 5, n=4000), period=4096)
        for per in ("operation", "run"):
            self.assertEqual(self.answer("--per", per, old, new)["significant"], 0)
        found = self.answer("--per", "run", new, long)["total"]["quantities"]["operations"]
        self.assertEqual((found["old"], found["new"]), (4096 * 1000, 4096 * 4000))
        self.assertTrue(found["significant"])
        self.assertEqual(self.answer("--per", "operation", new, long)["significant"], 0)
        found = self.answer("--per", "time", "-q", new, long)["total"]["quantities"]["operations"]
        self.assertAlmostEqual(found["new"], 4096 * 4000 / (3999 * 10e-9), delta=1e6)
        self.assertIn("no operation of a function of this name",
                      self.bad(1, "diff", "--per", "nobody", old, new))

    def test_sets(self):
        one, two, three, four = (self.recording(str(i), self.samples(None, i, n=500))
                                 for i in range(4))
        found = self.answer("--old", one, "--old", two, "--new", three, "--new", four)
        self.assertEqual(found["old"]["samples"], 1000)
        self.assertEqual(found["old"]["files"], 2)
        self.assertEqual(found["significant"], 0)
        self.assertEqual(self.answer("--old", two, one, three)["new"]["samples"], 500)
        self.assertIn("1 more", self.good("diff", "--old", one, "--old", two, three).decode())

    def test_same(self):
        path = self.recording("same", self.samples(None, 1))
        page = self.good("diff", path, path).decode()
        self.assertIn("answer      no significant change", page)
        self.assertNotIn("that changed", page)

    def test_bounds(self):
        old = self.recording("old", self.samples(None, 1))
        new = self.recording("new", self.samples(None, 2, slow=10))  # + 3.3 of 10.5: 32 %
        for bound, status in (("latency > +5%", 1), ("latency > +50%", 0), ("latency>+31%", 0),
                              ("cycles < -1%", 0), ("l1d_miss > 0%", 0), ("latency > +1", 1),
                              ("latency > 4", 0)):
            result = spe("diff", "--fail-if", bound, old, new)
            self.assertEqual((result.returncode, result.stderr), (status, b""), bound)
            self.assertIn(b"yes, it fails" if status else b"no, it passes", result.stdout)
        self.assertEqual(spe("diff", "--fail-if", "latency < -5%", new, old).returncode, 1)
        result = spe("diff", "--json", "--fail-if", "loads > 1%", "--fail-if", "latency > 1%", old,
                     new)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(json.loads(result.stdout)["fail_if"],
                         [{"bound": "loads > 1%", "failed": False},
                          {"bound": "latency > 1%", "failed": True}])
        for bound in ("latency", "latency > ", "latency > 5x", "> 5%", "heat > 5%",
                      "latency > nan%"):
            self.assertIn("--fail-if", self.bad(2, "diff", "--fail-if", bound, old, new))
        result = spe("diff", "--fail-if", "operations > 1%", old, new)
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"--per run", result.stderr)
        self.assertIn("no such function",
                      self.bad(1, "diff", "--fail-if", "nobody: latency > 1%", old, new))

    def test_exact(self):
        old = self.file(counts({("list", "walk"): {"operations": 1000, "l1_misses": 100},
                                ("list", "ns::sum(int)"): {"operations": 10, "l1_misses": 0}}),
                        "old.json")
        new = self.file(counts({("list", "walk"): {"operations": 1001, "l1_misses": 90},
                                ("list", "ns::sum(int)"): {"operations": 10, "l1_misses": 1}},
                               later={"releases": ["write", -1.5e3, True, None, "m\u00f6re\\\""]}),
                        "new.json")
        found = self.answer(old, new)
        self.assertTrue(found["exact"])
        self.assertEqual(found["per"], "run")
        self.assertEqual(found["total"]["quantities"]["operations"],
                         {"old": 1010, "new": 1011, "change": 0.000990099, "significant": True})
        self.assertEqual(set(found["total"]["quantities"]), {"operations", "l1_misses"})
        self.assertIn("no change: all counts are the same", self.good("diff", old, old).decode())
        self.assertIn("1,011, was 1,010", " ".join(self.good("diff", old, new).decode().split()))
        for bound, status in (("instructions > 0%", 1), ("instructions > +0.1%", 0),
                              ("instructions > 0", 1), ("instructions > 1", 0),
                              ("l1_misses < -8%", 1), ("l1_misses < -9%", 0),
                              ("ns::sum(int): l1_misses > +500%", 1),
                              ("ns::sum(int): operations > 0%", 0)):
            result = spe("diff", "--fail-if", bound, old, new)
            self.assertEqual((result.returncode, result.stderr), (status, b""), bound)
        result = spe("diff", "--fail-if", "latency > 1%", old, new)
        self.assertEqual((result.returncode, result.stdout), (2, b""))
        self.assertIn(b"exact counts have no latency", result.stderr)
        self.assertIn("have no time", self.bad(1, "diff", "--per", "time", old, new))
        self.assertIn("not compared with a recording",
                      self.bad(1, "diff", old, self.recording("perf.data", self.samples(None, 1))))

    def test_bad_counts(self):
        good = counts({("list", "walk"): {"operations": 1000}})
        path = self.file(good, "good.json")
        for i, text in enumerate([good[:n] for n in range(1, len(good) - 1, 7)] +
                                 [b"{}", b'{"functions": 1}', b'{"functions": [1]}', good + b"x",
                                  good.replace(b"1000", b"-1"), good.replace(b"1000", b"1.5"),
                                  good.replace(b"1000", b"9" * 30), b'{"a": ' + b"[" * 100000,
                                  b'{"a": "\\x"}', b'{"a": "\\u00g0"}', b'{"a" 1}']):
            result = spe("diff", path, self.file(text, "bad.json"))
            self.assertEqual(result.returncode, 1, (i, text[:80]))
            self.assertRegex(result.stderr.decode(), r"^spe: \S+bad.json: not a file of spe record "
                             r"--stat-json: .* at byte \d+\n$")

    def test_hostile_names(self):
        path = self.file(counts({("\x1b[31m", "f\x1b]0;x\x07"): {"operations": 1000}}), "a.json")
        other = self.file(counts({("\x1b[31m", "f\x1b]0;x\x07"): {"operations": 2000}}), "b.json")
        self.assertNotIn(b"\x1b", self.good("diff", "--color", "never", path, other))

    def test_usage(self):
        path = self.recording("old", self.samples(None, 1, n=20))
        self.assertIn("OLD and NEW", self.bad(2, "diff", path))
        self.assertIn("two recordings", self.bad(2, "diff", path, path, path))
        self.assertIn("none of function, line, dso",
                      self.bad(2, "diff", "--by", "thread", path, path))
        self.assertIn("--by function", self.bad(2, "diff", "-s", "sym", path, path))
        self.assertIn("--per run", self.bad(2, "diff", "--period", path, path))
        self.assertIn("no such file", self.bad(1, "diff", path, self.dir + "/none").lower())
        empty = self.recording("empty", [])
        self.assertIn("no samples", self.bad(1, "diff", path, empty))


if __name__ == "__main__":
    unittest.main()
