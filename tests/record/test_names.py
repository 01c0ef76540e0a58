# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""What the addresses of a recording are called."""

import json
import os
import re
import unittest

from recordtest import RecordTest, need_symbols, require

require()
need_symbols()


class Data(RecordTest):
    def test_names(self):
        """By the bytes that are accessed, in the file's own bytes and in .bss behind them."""
        for flags in (("-no-pie",), ("-static",), ("-pie", "-fPIE")):
            with self.subTest(flags):
                program = self.compile("data.c", "-O1", *flags)
                self.record("-c", "200", "--", program)
                report = json.loads(self.good("report", "--json", "--top", "2000", self.data))
                names = [row["name"] for row in report["data"]["top"]]
                hot = [re.split(r"[+.\[]", name)[0] for name in names if name]
                self.assertEqual(hot[0], "stats")
                self.assertRegex(names[0], r"^stats\.sums\[\d\]$")
                self.assertGreater(hot.count("table"), 300)
                for row in report["data"]["top"]:
                    self.assertEqual(int(row["hottest"], 16) // 64, int(row["address"], 16) // 64)

    def test_memory_without_a_file(self):
        program = self.compile("memory_kinds.c", "-O1", "-static")
        self.record("-c", "200", "--", program)
        objects = json.loads(self.good("report", "--by", "object", "--json", self.data))["objects"]
        samples = {row["name"]: row["samples"] for row in objects}
        self.assertGreater(samples["[heap]"], 1000)
        self.assertGreater(samples["[anonymous memory]"], 1000)

    def test_stacks(self):
        """Of each thread, told apart by thread; a child has its own copy."""
        for flags in (("-static",), ()):
            with self.subTest(flags):
                program = self.compile("stacks.c", "-O1", "-pthread", *flags)
                self.record("-c", "200", "--", program)
                report = json.loads(self.good("report", "--by", "object,thread", "--json", self.data))
                threads = {f"[stack of stacks {row['name'].split('/')[-1]}]"
                           for row in report["groups"][0]["top"]}
                stacks = {row["name"]: row for row in report["objects"] if row["kind"] == "stack"}
                self.assertEqual(len(threads), 4)
                self.assertEqual(set(stacks), threads)
                for row in stacks.values():
                    self.assertGreater(row["samples"], 400)
                    self.assertEqual(row["threads"], 1)
                total = sum(row["samples"] for row in report["objects"])
                self.assertGreater(sum(row["samples"] for row in stacks.values()), 0.95 * total)


class Kept(RecordTest):
    """Copies of binaries by build-id."""

    def kept(self, home):
        return sorted(os.path.relpath(os.path.join(path, name), home)
                      for path, _, names in os.walk(home) for name in names)

    def recorded(self, *args):
        self.home = os.path.join(self.dir, "home")
        program = self.compile("loops.S", "-static", "-nostdlib", "-Wl,--build-id", name="gone")
        result = self.run_record("-c", "8192", *args, "--", program, env={"HOME": self.home})
        self.assertEqual(result.returncode, 0, result.stderr)
        return program, result.stderr.decode()

    def test_deleted_program(self):
        """perf and spe find the names of a program that is not there any more."""
        os.mkdir(os.path.join(self.dir, "home"))
        program, _ = self.recorded()
        before = self.good("report", "--json", self.data, env={"HOME": self.home})
        with open(program, "rb") as f:
            content = f.read()
        os.rename(program, program + ".moved")
        self.assertEqual(before, self.good("report", "--json", self.data, env={"HOME": self.home}))
        ours = self.good("script", "-F", "sym", self.data, env={"HOME": self.home}).split()
        self.assertNotIn(b"[unknown]", ours)
        copies = [name for name in self.kept(self.home) if name.endswith("/elf")]
        self.assertEqual(len(copies), 1)
        with open(os.path.join(self.home, copies[0]), "rb") as f:
            self.assertEqual(f.read(), content)
        old = os.environ["HOME"]
        os.environ["HOME"] = self.home
        self.addCleanup(os.environ.__setitem__, "HOME", old)
        theirs = [words[1].encode() for words in self.perf_samples("ip", "sym")]
        self.assertEqual(sorted(theirs), sorted(ours))
        # In place: the copy stays what it was.
        with open(program, "wb") as f:
            f.write(b"another")
        self.assertEqual(before, self.good("report", "--json", self.data, env={"HOME": self.home}))

    def test_switches(self):
        """None, elsewhere, twice the same; and a directory that cannot be is not fatal."""
        for flag in ("-N", "--no-buildid-cache", "-B"):
            os.makedirs(os.path.join(self.dir, "home"), exist_ok=True)
            self.recorded(flag)
            self.assertEqual(self.kept(self.home), [])
        where = os.path.join(self.dir, "cache")
        _, said = self.recorded("--buildid-dir", where, "-v")
        self.assertIn("cache: 1 binaries", said)
        first = self.kept(where)
        _, said = self.recorded("--buildid-dir", where, "-v")
        self.assertIn("cache: 0 binaries", said)
        self.assertEqual(first, self.kept(where))
        self.assertEqual(self.kept(self.home), [])
        _, said = self.recorded("--buildid-dir", self.file(b"", "file"), "-v")
        self.assertIn("1 binaries were not copied", said)
        self.assertNotIn("binaries", self.recorded("--buildid-dir", where + "2")[1])


if __name__ == "__main__":
    unittest.main()
