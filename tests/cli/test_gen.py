# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""`spe gen`: what it writes is valid, varied, repeatable, and as asked for."""

import collections
import hashlib
import json
import os
import unittest

from spetest import CommandTest, spe

FEATURES = ("v1p0", "v1p0,lds", "v1p1", "v1p1,sve,lds", "v1p2,sve,pbt", "v1p3,mops,mte2,nv2,el2",
            "v1p4,sve,crr,pbt,fpf,lds", "v1p4,gcs,sme,spe_sme,altclk", "v1p5,sve", "all",
            "all,-archinst", "all,-sme")


class Gen(CommandTest):
    def records(self, *options):
        data = self.good("gen", *options)
        lines = self.good("dump", "--json", "-", stdin=data).decode().splitlines()
        return [json.loads(line) for line in lines]

    def assert_valid(self, *machine, options=()):
        data = self.good("gen", "--records", 4000, *machine, *options)
        result = spe("check", "--json", "--limit", 1, *machine, "-", stdin=data)
        lines = [json.loads(line) for line in result.stdout.decode().splitlines()]
        self.assertEqual((result.returncode, lines[:-1]), (0, []), machine)
        self.assertEqual(lines[-1]["records"], 4000)

    def test_valid_by_features(self):
        for features in FEATURES:
            self.assert_valid("--features", features)
            self.assert_valid("--features", features, options=("--speculative", "--seed", 3))
            self.assert_valid("--features", features, options=("--no-timestamps", "--context",
                                                               "none", "--no-physical"))

    def test_valid_by_cpu(self):
        message = self.bad(2, "gen", "--cpu", "z80")
        cpus = message.split("there are ")[1].split(", ")
        self.assertGreater(len(cpus), 20)
        for cpu in cpus:
            self.assert_valid("--cpu", cpu)

    def test_valid_by_layout(self):
        for layout in ("architecture", "neoverse-n1", "kunpeng-920"):
            for features in FEATURES:
                data = self.good("gen", "--features", features, "--layout", layout)
                self.assertEqual(spe("check", "--features", features, "-", stdin=data).returncode, 0)

    def test_repeatable(self):
        one = self.good("gen", "--seed", 5)
        self.assertEqual(one, self.good("gen", "--seed", 5))
        self.assertNotEqual(one, self.good("gen", "--seed", 6))
        self.assertEqual(one, self.good("gen", "--seed", 5, "--records", 5000)[:len(one)])
        path = os.path.join(self.dir, "out")
        self.good("gen", "--seed", 5, "-o", path)
        with open(path, "rb") as f:
            self.assertEqual(f.read(), one)

    def test_same_on_every_host(self):
        """The digest changes with the generator, and with nothing else: not with the compiler, its
        flags or the host."""
        data = self.good("gen", "--records", 5000, "--features", "all", "--context", "both")
        self.assertEqual(hashlib.sha256(data).hexdigest(),
                         "cac0da0d6fa4b8c3720cbe52f220a259dc9704abe61a8458c6864e46bddaf6b2")

    def test_mix(self):
        def classes(records):
            return collections.Counter(
                (r["op"]["class"], r["op"].get("store", False)) for r in records)

        n = 20000
        got = classes(self.records("--records", n, "--features", "v1p0"))
        for key, share in (((1, False), 40), ((1, True), 15), ((2, False), 20), ((0, False), 25)):
            self.assertAlmostEqual(got[key] / n * 100, share, delta=1.5)
        got = classes(self.records("--mix", "branch=3,store=1", "--features", "v1p0"))
        self.assertEqual(set(got), {(2, False), (1, True)})
        self.assertAlmostEqual(got[2, False], 750, delta=60)

    def test_all_kinds(self):
        kinds = {r["op"]["kind"] for r in self.records("--records", 20000, "--features", "all")}
        self.assertEqual(kinds, {"other", "sve", "sme", "gp", "simd_fp", "unspecified", "tag", "nv2",
                                 "extended", "sve_ldst", "memcpy", "memset", "gcs", "branch"})
        kinds = {r["op"]["kind"] for r in self.records("--records", 20000, "--features", "v1p0")}
        self.assertEqual(kinds, {"other", "gp", "simd_fp", "extended", "branch"})

    def test_plausible(self):
        """Few hot PCs, each with one operation; slower when farther; time that rises."""
        records = self.records("--records", 20000, "--cpu", "neoverse-n1")
        pcs = collections.Counter(r["pc"]["address"] for r in records)
        self.assertLess(len(pcs), 300)
        self.assertGreater(sum(n for _, n in pcs.most_common(20)), 8000)
        ops = collections.defaultdict(set)
        for r in records:
            ops[r["pc"]["address"]].add((r["op"]["class"], r["op"]["raw"]))
        self.assertEqual({len(s) for s in ops.values()}, {1})
        loads = [r for r in records if r["op"]["class"] == 1 and not r["op"]["store"]]
        mean = {}
        for name in (0, 8, 0xb, 0xe):  # L1D, L2, system cache, DRAM
            cycles = [r["counters"][0]["cycles"] for r in loads if r["source"]["raw"] == name]
            mean[name] = sum(cycles) / len(cycles)
        self.assertTrue(mean[0] < mean[8] < mean[0xb] < mean[0xe], mean)
        times = [r["timestamp"] for r in records]
        self.assertTrue(all(a < b for a, b in zip(times, times[1:])))
        self.assertAlmostEqual((times[-1] - times[0]) / len(times), 2048, delta=60)
        branches = [r for r in records if r["op"]["class"] == 2]
        missed = sum("mispredicted" in r["events"]["set"] for r in branches) / len(branches)
        self.assertTrue(0.002 < missed < 0.2, missed)
        for r in branches:
            self.assertEqual("target" in r, "not_taken" not in r["events"]["set"])

    def test_options(self):
        records = self.records("--records", 500, "--features", "v1p0,lds,el2", "--context", "both",
                               "--first-time", 77, "--period", 1)
        self.assertEqual([r["timestamp"] for r in records], list(range(78, 578)))
        self.assertTrue(all("context1" in r and "context2" in r for r in records))
        records = self.records("--context", "none", "--no-timestamps", "--no-physical")
        self.assertFalse(any(key in r for r in records for key in
                             ("context1", "context2", "timestamp", "pa")))
        records = self.records("--speculative")
        self.assertTrue(any("retired" not in r["events"]["set"] for r in records))

    def test_damage(self):
        truth = os.path.join(self.dir, "truth")
        clean = self.good("gen", "--records", 5000, "--features", "all")
        wrong = self.good("gen", "--records", 5000, "--features", "all", "--damage", "0.2",
                          "--truth", truth)
        with open(truth, encoding="ascii") as f:
            self.assertEqual(f.readline(), "record\toffset\tsize\tbyte\told\tnew\n")
            rows = [tuple(map(int, line.split("\t"))) for line in f]
        self.assertTrue(900 < len(rows) < 1100, len(rows))
        self.assertEqual(len({row[0] for row in rows}), len(rows))
        fixed = bytearray(wrong)
        for _, offset, size, byte, old, new in rows:
            self.assertTrue(offset <= byte < offset + size)
            self.assertEqual(wrong[byte], new)
            self.assertNotEqual(old, new)
            fixed[byte] = old
        self.assertEqual(bytes(fixed), clean)
        result = spe("gen", "--damage", "1", "--records", 10)
        self.assertEqual(result.stderr, b"spe: gen: 10 of 10 records have a wrong byte\n")


if __name__ == "__main__":
    unittest.main()
