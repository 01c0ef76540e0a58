# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""`spe annotate` on recorded programs: counts as perf has them, sums that add up, inlined code,
branches, and programs or sources that are stripped, moved, changed or damaged."""

import json
import os
import random
import re
import shutil
import subprocess
import unittest

from recordtest import HERE, RecordTest, need_symbols, perf_file, require, spe

require()
need_symbols()

HAS_CAPSTONE = os.environ.get("SPE_CAPSTONE") == "1"
OBJDUMP = "aarch64-linux-gnu-objdump"


class Annotate(RecordTest):
    def setUp(self):
        super().setUp()
        self.program = self.compile("annotate.c", "-O2", "-Wl,--build-id")
        self.record("-c", "256", "--", self.program)

    def annotated(self, *args):
        functions = json.loads(self.good("annotate", "--json", *args, self.data))["functions"]
        return functions[0]

    def page(self, *args):
        return self.good("annotate", "--width", "200", *args, self.data).decode()

    # ---- counts ----------------------------------------------------------------------------------

    @unittest.skipUnless(perf_file.find_perf() and shutil.which(OBJDUMP), "there is no perf")
    def test_as_perf(self):
        """The same samples at the same instructions."""
        run = subprocess.run([*perf_file.find_perf(), "annotate", "--stdio", "-n", "--itrace=i1i",
                              f"--objdump={OBJDUMP}", "-i", self.data, "walk"],
                             capture_output=True, text=True, check=True)
        theirs = {int(address, 16): int(samples) for samples, address in
                  re.findall(r"^ *(\d+) +: +([0-9a-f]+):", run.stdout, re.M) if int(samples)}
        ours = {int(row["address"], 16): row["samples"]
                for row in self.annotated("walk")["instructions"]}
        self.assertGreater(len(ours), 10)
        self.assertEqual(ours, theirs)

    def test_sums(self):
        """Instructions add up to the function, and the lines do, too; as the report has them."""
        f = self.annotated("walk")
        report = json.loads(self.good("report", "--json", "--by", "function", self.data))
        group = next(g for g in report["groups"][0]["top"] if g["name"] == "walk")
        for name in ("samples", "memory", "branches", "l1_misses", "llc_misses", "tlb_walks",
                     "mispredicted"):
            self.assertEqual(f[name], group[name], name)
            for part in ("instructions", "lines"):
                self.assertEqual(sum(row[name] for row in f[part]), f[name], (name, part))
        self.assertEqual(f["total"]["cycles"], group["latency"])
        for row in f["instructions"]:
            self.assertEqual(sum(row["served"].values()), row["loads"])
            self.assertEqual(row["total"]["cycles"], row["issue"]["cycles"] +
                             row["translation"]["cycles"] + row["execution"]["cycles"])
            low, high = row["share_95"]["low"], row["share_95"]["high"]
            self.assertTrue(low < row["share"] < high)
            self.assertAlmostEqual(row["share"], row["samples"] / f["samples"], 6)

    def test_branches(self):
        """Where they went: each call through a pointer to one of two functions."""
        rows = self.annotated("walk")["instructions"]
        call = next(row for row in rows if row["kind"] == "indirect calls" or
                    row["word"] and int(row["word"], 16) & 0xfffffc1f == 0xd63f0000)
        self.assertEqual({t["place"] for t in call["targets"]}, {"odd", "even"})
        self.assertAlmostEqual(sum(t["share"] for t in call["targets"]), 1, 6)
        self.assertEqual(sum(t["samples"] for t in call["targets"]), call["samples"])
        self.assertRegex(self.page("walk"), r"// to (odd|even) [\d.]+ %, (odd|even) [\d.]+ %")
        if HAS_CAPSTONE:
            self.assertRegex(self.page("walk"), r"b\.\w+ L\d+  // taken [\d.]+ %")

    # ---- the page --------------------------------------------------------------------------------

    def test_lines(self):
        """Source beside the instructions; what was inlined has its name."""
        lines = self.annotated("walk")["lines"]
        inlined = [line for line in lines if line["inlined"]]
        self.assertEqual([line["function"] for line in inlined], ["step"])
        self.assertEqual(inlined[0]["text"].strip(), "return n->next;")
        page = self.page("walk")
        self.assertIn("inlined step, annotate.c:\n", page)
        self.assertRegex(self.page("-P", "walk"), r"inlined step, /.*/programs/annotate\.c:\n")
        self.assertRegex(page, r"annotate\.c:\d+ \(inlined step\)  return n->next;")
        self.assertRegex(page, r"(?m)^ +> [\d.]+ .*while \(steps--\)|if \(\(\(unsigned")
        self.assertNotIn("inlined step, ", self.page("--asm", "walk"))
        source = self.page("--source", "walk")
        self.assertNotIn("instruction", source)
        self.assertIn("sum ^= n->value[0];", source)

    @unittest.skipUnless(HAS_CAPSTONE, "there is no disassembler")
    def test_fold(self):
        """Code that never ran is one line; --all shows it. Jumps lead to labels."""
        page = self.page("--asm", "walk")
        folded = sum(int(n) for n in re.findall(r"\.\.\. (\d+) instructions without samples", page))
        self.assertGreater(folded, 3)
        every = self.page("--asm", "--all", "walk")
        self.assertNotIn("without samples", every)
        rows = len(re.findall(r"(?m)^ .* [0-9a-f]{3,} +(L\d+:)? +[a-z]", every))
        self.assertEqual(rows, folded + len(re.findall(
            r"(?m)^ .* [0-9a-f]{3,} +(L\d+:)? +[a-z]", page)))
        limited = self.page("--asm", "--percent-limit", "8", "walk")
        folds = re.findall(r"\.\.\. \d+ instructions with ([\d,]+) samples?", limited)
        self.assertTrue(folds)
        shown = [int(n.replace(",", "")) for n in
                 re.findall(r"(?m)^ +(?:> )?[\d.]+ +[\d.]+-[\d.]+ +([\d,]+) ", limited)]
        self.assertEqual(sum(int(n.replace(",", "")) for n in folds) + sum(shown),
                         self.annotated("walk")["samples"])
        for label in re.findall(r"\bb\S* .*(L\d+)", page):
            self.assertIn(f"{label}:", page)

    def test_places(self):
        """A function is found by its name, a line of it, or an address in it."""
        whole = self.annotated("walk")
        line = next(row["line"] for row in whole["lines"] if not row["inlined"])
        address = whole["instructions"][0]["address"]
        name = os.path.basename(self.program)
        for place in (f"annotate.c:{line}", address, "walk+0x4", f"{name}+{address}"):
            self.assertEqual(self.annotated(place)["instructions"], whole["instructions"], place)
        for args in (("-s", "walk"), ("--symbol=walk",), ("walk", "-i")):
            self.assertEqual(json.loads(self.good("annotate", "--json", *args, self.data)),
                             json.loads(self.good("annotate", "--json", "walk", self.data)))
        pc = self.good("script", "--filter", 'symbol == "walk"', "--count", "1", "-F", "ip",
                       self.data).split()[0].decode()
        self.assertEqual(self.annotated("0x" + pc)["function"], "walk")
        self.assertEqual(self.annotated("--top", "1")["function"], "walk")

    def test_not_there(self):
        self.assertEqual(self.bad(1, "annotate", "wlak", self.data),
                         f"spe: {self.data}: no sample is in 'wlak'; did you mean 'walk'?")
        self.assertIn("no sample is in 'annotate.c:1'",
                      self.bad(1, "annotate", "annotate.c:1", self.data))

    def test_narrow(self):
        """The page keeps its width, and names what it left out."""
        for width in (60, 80, 120):
            page = self.good("annotate", "--width", width, "--asm", "walk", self.data).decode()
            self.assertLessEqual(max(map(len, page.splitlines())), width)
        self.assertIn("no room for:", page)
        page = self.good("annotate", "-F", "samples,served", "--asm", "walk", self.data).decode()
        self.assertRegex(page, r"(?m)^ +samples +served +address +instruction$")

    # ---- what is not there -----------------------------------------------------------------------

    def test_stripped(self):
        """Neither names nor lines: the code is found by its unwind tables, and shown."""
        subprocess.run(["aarch64-linux-gnu-strip", self.program], check=True)
        result = spe("annotate", "--json", "--top", "1", "--debug-dir", "", self.data)
        f = json.loads(result.stdout)["functions"][0]
        self.assertIsNone(f["no_code"])
        self.assertEqual(f["lines"], [])
        self.assertTrue(all(row["word"] for row in f["instructions"]))
        page = spe("annotate", "--top", "1", "--debug-dir", "", self.data).stdout.decode()
        self.assertIn("its lines are not known", page)

    def test_changed(self):
        """Another program at the same path is not taken for the recorded one."""
        self.compile("loops.S", "-static", "-nostdlib", "-Wl,--build-id", name="annotate")
        result = spe("annotate", "--top", "1", "--debug-dir", "", self.data)
        self.assertIn("is another file than the recorded one",
                      " ".join(result.stdout.decode().split()))
        self.assertIn("is another file than the recorded one", result.stderr.decode())
        self.assertIn("[no symbol]", result.stdout.decode())

    def test_missing(self):
        os.unlink(self.program)
        page = spe("annotate", "--top", "1", "--debug-dir", "", self.data).stdout.decode()
        self.assertIn("no code is shown: the file with this code was not found", page)
        self.assertRegex(page, r"(?m)^ .*\b[0-9a-f]+ load$")

    def test_damaged(self):
        """Bytes of the program that are wrong: an answer, or a sentence."""
        with open(self.program, "rb") as f:
            good = f.read()
        numbers = random.Random(7)
        for _ in range(25):
            bad = bytearray(good)
            for _ in range(20):
                bad[numbers.randrange(64, len(bad))] = numbers.randrange(256)
            with open(self.program, "wb") as f:
                f.write(bad)
            result = spe("annotate", "--top", "2", "--debug-dir", "", self.data)
            self.assertIn(result.returncode, (0, 1), result.stderr)
        with open(self.program, "wb") as f:
            f.write(good[:3000])
        self.assertIn(spe("annotate", "--debug-dir", "", self.data).returncode, (0, 1))


class Sources(RecordTest):
    def setUp(self):
        super().setUp()
        os.makedirs(self.dir + "/there/src")
        shutil.copy(os.path.join(HERE, "programs", "annotate.c"), self.dir + "/there/src/moved.c")
        self.program = self.dir + "/moved"
        self.source = self.dir + "/there/src/moved.c"
        subprocess.run(["aarch64-linux-gnu-gcc", "-O2", "-g", "-o", self.program, self.source],
                       check=True)
        self.record("-c", "2048", "--", self.program)

    def page(self, *args):
        return self.good("annotate", "--width", "200", *args, self.data).decode()

    def lines(self, *args):
        page = json.loads(self.good("annotate", "--json", "walk", *args, self.data))
        return page["functions"][0]["lines"]

    def test_moved(self):
        """Without its source a line has its number; --source-dir says where it is now."""
        whole = self.lines()
        os.makedirs(self.dir + "/elsewhere")
        os.rename(self.dir + "/there/src", self.dir + "/elsewhere/src")
        self.assertEqual({line["text"] for line in self.lines()}, {""})
        page = self.page("walk")
        self.assertRegex(page, r" moved\.c:\n +\(this file was not found: --source-dir\)\n"
                               rf" +{self.source}\n")
        self.assertFalse(re.search(r"moved\.c.* \n", page))
        for directory in ("elsewhere", "elsewhere/src"):
            self.assertEqual(self.lines("--source-dir", f"{self.dir}/{directory}"), whole)

    def test_built_elsewhere(self):
        """A path that begins where the compiler ran is not taken from where we are."""
        os.makedirs(self.dir + "/there/made")
        subprocess.run(["aarch64-linux-gnu-gcc", "-O2", "-g", "-o", self.program, "../src/moved.c"],
                       check=True, cwd=self.dir + "/there/made")
        self.record("-c", "2048", "--", self.program)
        lines = self.lines()
        self.assertEqual({line["file"] for line in lines},
                         {self.dir + "/there/made/../src/moved.c"})
        self.assertIn("return n->next;", {line["text"].strip() for line in lines})
        self.assertTrue(any(line["inlined"] for line in lines))

    def test_newer(self):
        os.utime(self.source, (2e9, 2e9))
        self.assertIn("was changed after the recording",
                      self.good("annotate", "walk", self.data).decode())
        self.assertTrue(all(line["newer_than_recording"] for line in self.lines()))

    def test_not_a_file(self):
        """Only regular files are read, and hostile text does not reach the terminal."""
        os.unlink(self.source)
        os.mkfifo(self.source)
        self.assertEqual({line["text"] for line in self.lines()}, {""})
        os.unlink(self.source)
        with open(self.source, "wb") as f:
            f.write(b"\x1b[31m\x07" * 500 + b"x" * 5000 + b"\n" + b"\x1b]0;title\x07\n" * 200)
        page = self.good("annotate", "walk", self.data)
        self.assertNotIn(b"\x1b", page)
        self.assertNotIn(b"\x07", page)
        self.assertIn(rb"\x1b]0;title\x07", page)


class Large(RecordTest):
    def test_megabyte(self):
        """A function of one megabyte costs what its samples cost."""
        program = self.compile("large.S", "-static", "-nostdlib", "-Wl,--build-id")
        self.record("-c", "1024", "--", program)
        page = self.good("annotate", "--asm", "_start", self.data).decode()
        self.assertLess(len(page.splitlines()), 40)
        self.assertRegex(page, r"\.\.\. 262,1\d\d instructions without samples")


if __name__ == "__main__":
    unittest.main()
