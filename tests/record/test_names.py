# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""What the addresses of a recording are called."""

import json
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
                hot = [name.split("+")[0] for name in names if name]
                self.assertEqual(hot[0], "stats")
                self.assertGreater(hot.count("table"), 300)
                for row in report["data"]["top"]:
                    self.assertEqual(int(row["hottest"], 16) // 64, int(row["address"], 16) // 64)


if __name__ == "__main__":
    unittest.main()
