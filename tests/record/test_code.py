# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""spe export --format bolt and autofdo: against counts that the program's text tells, and against
BOLT and LLVM, where they are."""

import collections
import csv
import io
import math
import os
import re
import shutil
import subprocess
import unittest

import recordtest
from recordtest import HERE, RecordTest, spe

recordtest.require()
recordtest.need_symbols()

ROUNDS = 400000
CLANG = shutil.which("clang")


def llvm(name):
    """A program of LLVM 19, or of whichever there is. SPECIMEN_LLVM is a folder to look in first."""
    path = os.pathsep.join(filter(None, (os.environ.get("SPECIMEN_LLVM"), os.environ["PATH"])))
    return shutil.which(name, path=path) or shutil.which(name + "-19", path=path)


def run(*args):
    return subprocess.run(args, capture_output=True, text=True, check=True, timeout=50).stdout


class CodeTest(RecordTest):
    maxDiff = None

    def export(self, form, *args):
        """The profile, and what was said."""
        result = spe("export", "--format", form, *args, self.data)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.decode(), result.stderr.decode()


class Branches(CodeTest):
    """Each estimate is within four standard deviations of the truth; the seed is fixed."""

    def record_branches(self, cpu):
        self.program = self.compile("branches.S", "-nostdlib", "-static", "-Wl,--emit-relocs",
                                    f"-DROUNDS={ROUNDS}")
        self.record("--cpu", cpu, "-c", "256", "--", self.program, status=5)
        names = run("aarch64-linux-gnu-nm", self.program)
        self.at = {name: int(value, 16)
                   for value, name in re.findall(r"^(\w+) \w (\w+)$", names, re.M)}

    def close(self, count, truth, weight):
        deviation = math.sqrt(truth / weight) * weight
        self.assertLess(abs(count - truth), 4 * deviation + 1, (count, truth))

    def edges(self):
        """(kind, from, to) -> (count, mispredicted)."""
        found = {}
        for line in self.export("bolt")[0].splitlines():
            kind, start, end, *counts = line.split()
            found[kind, int(start, 16), int(end, 16)] = [int(n) for n in counts]
        return found

    def check_branches(self, edges, weight):
        at = self.at
        for start, end, truth in (("choose", "rare", ROUNDS / 8), ("call", "callee", ROUNDS * 7 / 8),
                                  ("give", "joined", ROUNDS * 7 / 8), ("back", "joined", ROUNDS / 8),
                                  ("again", "loop", ROUNDS - 1)):
            count, mispredicted = edges.pop(("B", at[start], at[end]))
            self.close(count, truth, weight)
            self.assertLessEqual(mispredicted, count)
            self.assertEqual(count % weight + mispredicted % weight, 0)

    def check_fall_throughs(self, edges, truths, weight):
        for (start, end), truth in truths.items():
            self.close(edges.pop(("F", self.at[start], self.at[end]))[0], truth, weight)
        # The end of the loop, and its beginning, are met once if at all.
        rest = sum(counts[0] for counts in edges.values())
        self.assertLessEqual(rest, 2 * weight, edges)

    def test_not_taken(self):
        """A CPU without FEAT_SPE_PBT: branches that were not taken are the fall-throughs."""
        weight = 256 + 128  # D17.3.2: the mean interval with PMSIRR_EL1.RND
        self.record_branches("neoverse-n1")
        edges = self.edges()
        self.assertNotIn(("B", self.at["choose"], self.at["call"]), edges)
        self.check_branches(edges, weight)
        self.check_fall_throughs(edges, {("choose", "call"): ROUNDS * 7 / 8}, weight)

    def test_previous_target(self):
        weight = 256
        self.record_branches("architecture")
        edges = self.edges()
        self.check_branches(edges, weight)
        self.check_fall_throughs(edges, {
            ("loop", "choose"): ROUNDS / 8, ("loop", "call"): ROUNDS * 7 / 8,
            ("callee", "give"): ROUNDS * 7 / 8, ("joined", "again"): ROUNDS,
            ("rare", "back"): ROUNDS / 8}, weight)

    @unittest.skipUnless(llvm("llvm-bolt"), "there is no llvm-bolt")
    def test_bolt(self):
        """BOLT finds the edges in the program, and what it makes of it still runs."""
        for cpu, weight in (("neoverse-n1", 384), ("architecture", 256)):
            self.record_branches(cpu)
            profile, fdata, fast = (os.path.join(self.dir, name) for name in ("p", "fdata", "fast"))
            self.export("bolt", "-o", profile)
            text = run(llvm("llvm-bolt"), "-aggregate-only", self.program, "-pa", "-p", profile,
                       "-o", fdata)  # perf2bolt, which only works under just that name
            self.assertIn("traces mismatching disassembled function contents: 0", text)
            with open(fdata, encoding="utf-8") as f:
                lines = [line.split() for line in f]
            edges = {(a, int(b, 16), c, int(d, 16)): int(count)
                     for _, a, b, _, c, d, _, count in lines}
            start = self.at["_start"]
            place = {name: value - start for name, value in self.at.items()}
            for a, b, truth in (("choose", "rare", ROUNDS / 8), ("choose", "call", ROUNDS * 7 / 8),
                                ("back", "joined", ROUNDS / 8), ("again", "loop", ROUNDS - 1)):
                self.close(edges["_start", place[a], "_start", place[b]], truth, weight)
            self.close(edges["_start", place["call"], "callee", 0], ROUNDS * 7 / 8, weight)
            run(llvm("llvm-bolt"), self.program, "-data", fdata, "-o", fast,
                "-reorder-blocks=ext-tsp")
            self.assertEqual(subprocess.run(["qemu-aarch64", fast], check=False).returncode, 5)


def parse(text):
    """LLVM's sample profile: {(function, place, function, place ...): count}; calls and entries have
    a name behind."""
    found, path = {}, []
    for line in text.splitlines():
        depth = len(line) - len(line.lstrip(" "))
        words = line.split()
        if depth == 0:
            name, _, head = line.rsplit(":", 2)
            path = [name]
            found[name, "entry"] = int(head)
            continue
        del path[2 * depth - 1:]
        place = words[0].rstrip(":")
        if not words[1].isdigit():
            path += [place, words[1].rsplit(":", 1)[0]]
            continue
        found[(*path, place)] = int(words[1])
        for callee in words[2:]:
            name, count = callee.rsplit(":", 1)
            found[(*path, place, "calls " + name)] = int(count)
    return found


def without_discriminators(found):
    """Lines have the most of their parts, calls the sum."""
    merged = collections.defaultdict(list)
    for key, count in found.items():
        merged[tuple(re.sub(r"^(\d+)\.\d+$", r"\1", step) for step in key)].append(count)
    return {key: max(counts) if key[-1].isdigit() else sum(counts)
            for key, counts in merged.items()}


class Lines(CodeTest):
    """llvm-profgen makes the same of the same samples."""

    def peer(self):
        """Its profile. It takes runs of instructions: here each is one instruction."""
        start = self.load_address()
        counts, branches = collections.Counter(), collections.Counter()
        rows = csv.DictReader(io.StringIO(self.good("export", "--format", "csv", self.data).decode()))
        for row in rows:
            if row["dso"] == self.program:
                pc = int(row["pc"], 16) - start
                counts[pc] += 1
                if row["target"] and not int(row["events"], 16) & 1 << 6:
                    branches[pc, int(row["target"], 16) - start] += 1
        text = f"{len(counts)}\n" + "".join(f"{a:x}-{a:x}:{n}\n" for a, n in counts.items())
        text += f"{len(branches)}\n" + "".join(f"{a:x}->{b:x}:{n}\n"
                                               for (a, b), n in branches.items() if b >= 0)
        path = self.file(text.encode(), "unsymbolized")
        out = os.path.join(self.dir, "peer.prof")
        run(llvm("llvm-profgen"), "--format=text", "--unsymbolized-profile=" + path,
            "--binary=" + self.program, "--output=" + out)
        with open(out, encoding="utf-8") as f:
            return parse(f.read())

    def load_address(self):
        """Where the program's address 0 was: its map is in the recording."""
        for kind, _, body in self.perf_records():
            if kind == 10 and self.program.encode() in body:
                address, _, offset = (int.from_bytes(body[i:i + 8], "little") for i in (8, 16, 24))
                return address - offset
        self.fail("no map of the program")
        return None

    def compare(self, how=dict):
        self.record("-c", "256", "--", self.program)
        text, said = self.export("autofdo")
        self.assertIn(f"the profile is of {self.program}", said)
        # Start-up code is not ours; code of line 0 has places that wrap around in theirs.
        ours, theirs = ({key: count for key, count in how(found).items()
                         if "main" not in key[0] and not re.match(r"6[45]\d{3}", key[-1])}
                        for found in (parse(text), self.peer()))
        self.assertGreater(len(ours), 12)
        self.assertEqual(ours, {key: 384 * count for key, count in theirs.items()})
        return ours

    @unittest.skipUnless(llvm("llvm-profgen"), "there is no llvm-profgen")
    def test_gcc(self):
        """Its discriminators are not LLVM's, and left out; the peer takes them for LLVM's."""
        self.program = self.compile("inlines.c", "-O2")
        self.compare(without_discriminators)
        found = parse(self.export("autofdo")[0])
        self.assertFalse([key for key in found for step in key if re.match(r"\d+\.", step)])
        self.assertTrue(any(key[0] == "run" and key[2:3] == ("twice",) and "shift" in key
                            for key in found), found)

    @unittest.skipUnless(llvm("llvm-profgen") and CLANG, "there is no llvm-profgen, or no clang")
    def test_clang(self):
        """C++: names of the linker, functions in a namespace, LLVM's discriminators."""
        self.program = os.path.join(self.dir, "inlines")
        flags = ["--target=aarch64-linux-gnu", "-fuse-ld=bfd", "-O2", "-x", "c++",
                 "-fno-exceptions", os.path.join(HERE, "programs", "inlines.c")]
        run(CLANG, "-g", "-fdebug-info-for-profiling", *flags, "-o", self.program)
        found = self.compare()
        name = "_ZN5space3runEjPKPFjjE"
        self.assertTrue(any(key[0] == name and "_ZN5spaceL5shiftEj" in key for key in found), found)
        self.assertTrue(any("." in place for key in found for place in key if place[0].isdigit()))
        self.assertTrue(any("calls _ZN5spaceL3oddEj" in key for key in found), found)
        # A vector has several rounds of the loop: the line ran 2000 * 256 times, the code did not.
        line = sum(count for key, count in found.items()
                   if key[0] == "_ZN5spaceL4fillEj" and key[1].startswith("3"))
        self.assertGreater(line, 2000 * 256 * 0.7)
        # The compiler uses it: both targets of the pointer become calls of their own.
        profile = os.path.join(self.dir, "profile")
        self.export("autofdo", "-o", profile)
        remarks = subprocess.run([CLANG, "-g", "-fprofile-sample-use=" + profile,
                                  "-Rpass=pgo-icall-prom", *flags, "-o", self.program + ".fast"],
                                 capture_output=True, text=True, check=True, timeout=50).stderr
        self.assertIn("Promote indirect call to _ZN5spaceL3oddEj", remarks)

    @unittest.skipUnless(llvm("llvm-profdata"), "there is no llvm-profdata")
    def test_profdata(self):
        self.program = self.compile("inlines.c", "-O2", "-static")
        self.record("-c", "256", "--", self.program)
        profile = os.path.join(self.dir, "profile")
        self.export("autofdo", "-o", profile)
        shown = run(llvm("llvm-profdata"), "show", "--sample", profile)
        self.assertRegex(shown, r"Function: run: \d+, \d+, \d+ sampled lines")
        self.assertIn("inlined callee: twice", shown)
        merged = profile + ".merged"
        run(llvm("llvm-profdata"), "merge", "--sample", "--text", "-o", merged, profile, profile)
        with open(profile, encoding="utf-8") as one, open(merged, encoding="utf-8") as two:
            once, doubled = parse(one.read()), parse(two.read())
        self.assertEqual({key: 2 * count for key, count in once.items()}, doubled)


if __name__ == "__main__":
    unittest.main()
