# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""`spe check`: exit status, reports and accounting. The rules themselves are the library's tests."""

import json
import os
import unittest

from spetest import (END, CommandTest, address, context, counter, events, load_record, op, source,
                     spe, timestamp)


class Check(CommandTest):
    def check(self, data, *options):
        """The status, the reports and the summary."""
        result = spe("check", "--json", *options, "-", stdin=data)
        lines = [json.loads(line) for line in result.stdout.decode().splitlines()]
        return result.returncode, lines[:-1], lines[-1]

    def test_good(self):
        out = self.good("check", self.file(load_record(5) * 2 + bytes(7))).decode()
        size = 2 * len(load_record(5))
        table = [line.split() for line in out.splitlines()]
        self.assertIn(["bytes", str(size + 7)], table)
        self.assertIn(["in", "records", str(size), "2", "records"], table)
        self.assertIn(["padding", "between", "them", "7"], table)
        self.assertIn(["skipped", "0", "0", "ranges"], table)
        self.assertTrue(out.splitlines()[-1].endswith(": good"), out)

    def test_violation(self):
        record = address(0, 1 << 63) + op(0, 0) + END  # no Events
        path = self.file(load_record() + record)
        result = spe("check", path)
        self.assertEqual((result.returncode, result.stderr), (1, b""))
        lines = result.stdout.decode().splitlines()
        self.assertTrue(lines[0].startswith(f"{len(load_record()):08x}: missing-events: "), lines)
        self.assertEqual(lines[-1], f"{path}: 1 violation, 0 bytes skipped")
        status, reports, summary = self.check(load_record() + record)
        self.assertEqual(status, 1)
        self.assertEqual(reports[0]["rule"], "missing-events")
        self.assertEqual(reports[0]["offset"], len(load_record()))
        self.assertEqual(summary["violations"], {"missing-events": 1})
        self.assertFalse(summary["good"])

    def test_remarks_are_no_violations(self):
        record = (address(0, 1 << 63) + op(0, 0) + events(2, 1) + counter(0, 1) + counter(1, 2) +
                  END)
        status, reports, summary = self.check(record)
        self.assertEqual((status, summary["good"]), (0, True))
        self.assertEqual([r["type"] for r in reports], ["remark"])
        self.assertEqual(summary["remarks"], {"issue-over-total": 1})

    def test_skipped_bytes(self):
        status, reports, summary = self.check(load_record() + b"\x20\x20" + load_record() + b"\xb0")
        self.assertEqual(status, 1)
        self.assertEqual([(r["type"], r["size"]) for r in reports], [("skipped", 2), ("skipped", 1)])
        self.assertEqual(summary["skipped_by"], {"header without a size": 2,
                                                 "stream ends inside a record": 1})
        self.assertEqual(summary["bytes"], summary["record_bytes"] + summary["padding_bytes"] +
                         summary["skipped_bytes"])

    def test_limit(self):
        record = address(0, 1 << 63) + op(0, 0) + END
        for limit, shown in (((), 20), (("--limit", "3"), 3), (("--limit", "0"), 0),
                             (("--limit", "all"), 50)):
            _, reports, summary = self.check(record * 50, *limit)
            self.assertEqual(len(reports), shown)
            self.assertEqual(summary["violations"], {"missing-events": 50})

    def test_features(self):
        record = address(0, 1 << 63) + op(0, 0x28) + events(2, 1) + counter(0, 1) + END  # SVE
        self.assertEqual(self.check(record, "--features", "v1p1,sve")[0], 0)
        status, reports, _ = self.check(record, "--features", "v1p1")
        self.assertEqual((status, reports[0]["rule"]), (1, "reserved-operation"))
        self.assertEqual(self.check(record, "--cpu", "neoverse-n1", "--align", "1")[0], 1)
        self.assertEqual(self.check(record, "--cpu", "neoverse-v1")[0], 0)
        self.assertEqual(self.check(record, "--cpu", "neoverse-v1", "--features", "-sve")[0], 1)

    def test_features_not_known(self):
        """A branch without CR and a load without source are right on some CPUs."""
        branch = address(0, 1 << 63) + address(1, 1 << 63) + op(2, 0) + events(2, 1) + END
        load = address(0, 1 << 63) + op(1, 0) + address(2, 8) + events(2, 1) + END
        self.assertEqual(self.check(branch + load)[0], 0)
        _, reports, _ = self.check(branch + load, "--features", "all")
        self.assertEqual([r["rule"] for r in reports],
                         ["call-return-not-recorded", "missing-data-source"])
        self.assertEqual(self.check(branch, "--cpu", "neoverse-v3")[2]["features"], None)

    def test_sizes(self):
        record = load_record(1)
        self.assertEqual(self.check(record + bytes(64 - len(record)) + record, "--align", "64")[0],
                         0)
        _, reports, _ = self.check(record * 2, "--align", "64")
        self.assertEqual([(r["rule"], r["offset"]) for r in reports],
                         [("misaligned", len(record))])
        _, reports, _ = self.check(record, "--max-size", "32")
        self.assertEqual([r["rule"] for r in reports], ["oversize"])
        _, reports, _ = self.check(
            address(0, 1 << 63) + op(0, 0) + events(2, 1) + counter(0, 0x1000) + END,
            "--count-bits", "12")
        self.assertEqual([r["rule"] for r in reports], ["counter-too-wide"])

    def test_speculation_and_tags(self):
        record = (address(0, 1 << 63) + op(1, 0) + address(2, 0x5a00_0000_0000_0008) +
                  events(0, 1) + source(0) + END)
        self.assertEqual(self.check(record)[0], 0)
        self.assertEqual([r["rule"] for r in self.check(record, "--no-speculative")[1]],
                         ["not-retired"])
        tagged = record.replace(events(0, 1), events(2, 1))
        self.assertEqual(self.check(tagged)[0], 0)
        self.assertEqual([r["rule"] for r in self.check(tagged, "--no-tbi")[1]],
                         ["tag-without-tbi"])

    def test_many_files(self):
        a, b = self.file(load_record(), "a"), self.file(b"\xb0", "b")
        result = spe("check", "--raw", a, b)
        self.assertEqual(result.returncode, 1)
        lines = result.stdout.decode().splitlines()
        self.assertIn(f"{a}: good", lines)
        self.assertIn(f"{b}: 0 violations, 1 byte skipped", lines)
        self.assertEqual(spe("check", a, a).returncode, 0)
        lines = spe("check", "--raw", "--json", a, b).stdout.decode().splitlines()
        self.assertEqual({os.path.basename(json.loads(line)["file"]) for line in lines}, {"a", "b"})

    def test_list_rules(self):
        lines = self.good("check", "--list-rules").decode().splitlines()
        self.assertGreater(len(lines), 30)
        names = [line.split()[0] for line in lines]
        self.assertEqual(len(names), len(set(names)))
        self.assertIn("missing-events", names)

    def test_reserved_context(self):
        data = address(0, 1 << 63) + context(2, 1) + op(0, 0) + events(2, 1) + timestamp(3)
        _, reports, summary = self.check(data)
        self.assertEqual([r["rule"] for r in reports], ["reserved-index"])
        self.assertEqual(summary["unknown"], 1)


if __name__ == "__main__":
    unittest.main()
