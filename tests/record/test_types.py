# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Which variables, types and members the loads and stores of a recording are of."""

import json
import os
import subprocess
import unittest

from recordtest import RecordTest, need_symbols, require

require()
need_symbols()

TAGGED = os.path.join(os.environ["SPE_SOURCE_DIR"], "tests", "names", "tagged")


class Types(RecordTest):
    def recorded(self, name, *flags):
        program = os.path.join(self.dir, name)
        subprocess.run(["aarch64-linux-gnu-gcc", "-g", "-static", "-w", *flags, "-o", program,
                        os.path.join(TAGGED, name + ".c")], check=True)
        self.record("-c", "512", "--", program)
        return program

    def report(self, *args):
        return json.loads(self.good("report", "--json", "--top", "1000", *args, self.data))

    def test_both_members(self):
        """A loop that reads and writes two members: both have their share."""
        self.recorded("two_members", "-O0")
        report = self.report("--by", "type,member", "--type", "buffer")
        members = {row["member"]: row for row in report["members"]
                   if row["type"] == "struct buffer"}
        self.assertEqual(set(members), {"first", "second"})
        # -O0: first is accessed four times a turn (2 loads, 1 load and store), second twice.
        share = members["first"]["samples"] / (members["first"]["samples"] +
                                               members["second"]["samples"])
        self.assertGreater(share, 0.6)
        self.assertLess(share, 0.73)
        self.assertEqual(members["second"]["offset"], 64)
        self.assertEqual(report["layouts"][0]["hot_apart"], ["first", "second"])
        known = sum(row["samples"] for row in report["types"])
        self.assertEqual(known + sum(report["accesses"]["unknown"].values()),
                         report["accesses"]["samples"])
        self.assertGreater(known, 0.95 * report["accesses"]["samples"])

    def test_globals_as_nm(self):
        """Every sampled address in a global has the name that nm gives it."""
        program = self.recorded("globals", "-O1")
        symbols = []
        for line in subprocess.run(["aarch64-linux-gnu-nm", "-S", program], check=True,
                                   capture_output=True, text=True).stdout.splitlines():
            words = line.split()
            if len(words) == 4 and words[2] in "bBdDrR":
                symbols.append((int(words[0], 16), int(words[1], 16), words[3]))
        checked = 0
        for row in self.report("--by", "object")["objects"]:
            if row["kind"] != "variable" or row["dso"] != "globals":
                continue
            start = int(row["start"], 16)
            names = [n.split(".")[0] for at, size, n in symbols if at <= start < at + size]
            self.assertIn(row["name"], names)
            checked += 1
        self.assertGreater(checked, 3)

    def test_text(self):
        """The page says the same, and what it does not know."""
        self.recorded("two_members", "-O0")
        page = self.good("report", "--by", "object,type,member", "--width", "120",
                         self.data).decode()
        for text in ("struct buffer.first", "struct buffer.second", "char second",
                     "line 1 (64 bytes)", "hot members lie on different lines", "no debug info",
                     "[stack of"):
            self.assertIn(text, page)
        missing = self.good("report", "--type", "nobody", self.data).decode()
        self.assertIn("No load or store of a type 'nobody'", missing)

    def test_stripped(self):
        """Without debug information there is a reason, and no type."""
        self.recorded("list", "-O1", "-g0")
        report = self.report("--by", "type")
        self.assertEqual(report["types"], [])
        self.assertEqual(set(report["accesses"]["unknown"]), {"no debug info"})


if __name__ == "__main__":
    unittest.main()
