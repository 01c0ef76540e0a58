# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""spe record: accesses that QEMU's callbacks do not show. Where registers can be read they are what
the program says; elsewhere they are absent, and nothing is invented in their place."""

import collections
import json
import os
import re
import subprocess
import unittest

import recordtest
from recordtest import QEMU, RecordTest, busy, qemus

recordtest.require()

PAGE = 0x1000
VECTOR = {"neoverse-v1": 32, "neoverse-n2": 16, "neoverse-v2": 16}
HIDDEN = ("contiguous", "partial", "empty", "gather", "scatter", "first_fault", "at_the_edge",
          "structure", "zva", "prefetch")
LOADS = {"contiguous", "empty", "gather", "first_fault", "at_the_edge", "structure", "whole"}
STORES = {"partial", "scatter", "zva"}


def has_registers(qemu):
    """Can plugins of this QEMU read them? Since 9.0."""
    text = subprocess.run([qemu, "--version"], capture_output=True, text=True, check=True).stdout
    return int(re.search(r"version (\d+)", text)[1]) >= 9


class SveTest(RecordTest):
    def by_label(self, qemu, model, cpu="neoverse-v2", *options):
        """The samples of sve.S by the label of their instruction; those of `buffer`."""
        program = self.compile("sve.S", "-nostdlib", "-static", "-DLOOPS=40000")
        self.record("--qemu", qemu, "--model", model, "--cpu", cpu, "-c", "1024", *options, "--",
                    program)
        at = self.labels(program)
        names = {at[label]: label for label in (*HIDDEN, "whole")}
        samples = collections.defaultdict(list)
        for s in self.samples(cpu):
            label = names.get(int(s["pc"]["address"], 16))
            if label:
                samples[label].append(s)
        for label in names.values():
            self.assertGreater(len(samples[label]), 10, label)
        return samples, at["buffer"]

    @staticmethod
    def addresses(samples):
        return {int(s["va"]["address"], 16) if "va" in s else None for s in samples}


class NothingInvented(SveTest):
    """What nobody saw has no address, no source, no latency and no event of a cache."""

    def absent(self, s):
        self.assertNotIn("va", s)
        self.assertNotIn("source", s)
        self.assertEqual(s["counters"], [])
        self.assertEqual(s["events"]["set"], ["retired"])

    def test_hidden(self):
        blind = [qemu for qemu in qemus() if not has_registers(qemu)]
        if not blind:
            self.skipTest("every QEMU here reads registers")
        for model in ("none", "functional", "core"):
            samples, buffer = self.by_label(blind[0], model)
            for label in HIDDEN:
                for s in samples[label]:
                    self.absent(s)
            self.assertEqual(self.addresses(samples["whole"]), {buffer + 8 * PAGE + 16})

    def test_page_busy(self):
        with busy():
            self.test_page()

    def test_page(self):
        """Its loads are not hits of L1."""
        blind = [qemu for qemu in qemus() if not has_registers(qemu)]
        if not blind:
            self.skipTest("every QEMU here reads registers")
        samples, _ = self.by_label(blind[0], "functional")
        unseen = sum(len(samples[label]) for label in HIDDEN)
        self.assertRegex(self.said, rf"(?m)^spe: .*/sve: {unseen} samples are accesses that "
                         "this QEMU does not report")
        hidden = sum(len(samples[label]) for label in HIDDEN if label in LOADS)
        page = self.good("report", self.data).decode()
        row = re.search(r"^ +not recorded +nothing +(\d+) .* - +- +- +- +-$", page, re.M)
        self.assertTrue(row, page)
        self.assertEqual(int(row[1]), hidden)
        self.assertRegex(page, r"(?m)^ +SVE gather and scatter .* -$")

    def test_without_model(self):
        """Nobody counted cycles, of no operation."""
        program = self.compile("count.S", "-nostdlib", "-static", "-DLOOPS=100000")
        self.record("--model", "none", "--", program, status=5)
        samples = self.samples()
        self.assertGreater(len(samples), 100)
        self.assertFalse([s for s in samples if s["counters"] or "source" in s])

    def test_more_threads_than_cpus(self):
        """A thread that the machine has no CPU for is not recorded, and that is said."""
        program = self.compile("core.c", "-O1", "-pthread", "-static")
        result = self.run_record("--model", "functional", "-c", "512", program, "crowd", "80")
        self.assertRegex(result.stderr.decode(), "the functional model has no CPU for another one")
        self.assertIn("64 threads", result.stderr.decode())


class Known(SveTest):
    """What the word tells is told all the same."""

    def test_types(self):
        for cpu in VECTOR:
            samples, _ = self.by_label(QEMU, "functional", cpu)
            for label, some in samples.items():
                for s in some:
                    op = s["op"]
                    self.assertEqual(op["class"] == 1 and not op["store"], label in LOADS, label)
                    self.assertEqual(op["class"] == 1 and op["store"], label in STORES, label)
                    if op["kind"] == "sve_ldst":
                        self.assertEqual(op["gather_scatter"], label in ("gather", "scatter"))
                        self.assertEqual(op["predicated"], label in STORES)  # before SPEv1p2
                        self.assertGreaterEqual(op["bits"], 8 * VECTOR[cpu])
            self.check(cpu)

    def test_vector_length(self):
        for bits in (128, 256, 512):
            samples, buffer = self.by_label(QEMU, "functional", "neoverse-v2", "--machine",
                                            f"vl={bits}")
            self.assertEqual({s["op"]["bits"] for s in samples["gather"]}, {bits})
            self.assertEqual(self.addresses(samples["whole"]), {buffer + 8 * PAGE + bits // 8})


class Registers(SveTest):
    """Where registers can be read."""

    def setUp(self):
        super().setUp()
        self.qemu = next(filter(has_registers, qemus()), None)
        if not self.qemu:
            self.skipTest("no QEMU here reads registers (tools/build-qemu.sh)")

    def test_addresses(self):
        for model, cpu in (("none", "neoverse-v2"), ("functional", "neoverse-v2"),
                           ("core", "neoverse-v2"), ("functional", "neoverse-v1")):
            samples, buffer = self.by_label(self.qemu, model, cpu)
            vector = VECTOR[cpu]
            lanes = range(vector // 8)
            expected = {
                "contiguous": {buffer},
                "partial": {buffer + PAGE + vector},
                "gather": {buffer + 2 * PAGE + 64 * i for i in lanes},
                "scatter": {buffer + 3 * PAGE + 64 * i for i in lanes},
                "first_fault": {buffer + 4 * PAGE},
                "at_the_edge": {buffer + 10 * PAGE - 8},
                "structure": {buffer + 5 * PAGE},
                "zva": {buffer + 6 * PAGE},
                "prefetch": {buffer + 7 * PAGE},
                "whole": {buffer + 8 * PAGE + vector},
                "empty": {None},
            }
            for label, addresses in expected.items():
                self.assertEqual(self.addresses(samples[label]), addresses, (label, model, cpu))
            self.assertFalse(any("misaligned" in s["events"]["set"]
                                 for s in samples["at_the_edge"]))  # one element, not two
            if model == "none":
                continue
            for label in HIDDEN:
                for s in samples[label] if label != "empty" else ():
                    self.assertIn("l1d_access", s["events"]["set"], (label, model))
                    self.assertTrue(s["counters"], (label, model))
                    self.assertEqual("source" in s, label in LOADS, (label, model))

    def test_addresses_busy(self):
        with busy():
            self.test_addresses()

    def test_predicates(self):
        for model in ("none", "functional", "core"):
            samples, _ = self.by_label(self.qemu, model)
            for label, some in samples.items():
                for s in some:
                    events = s["events"]["set"]
                    self.assertEqual("partial_predicate" in events, label in ("partial", "empty"))
                    self.assertEqual("empty_predicate" in events, label == "empty")


class Blocks(SveTest):
    """DC ZVA and PRFM: exact counts and samples agree, and the caches have what they bring."""

    def count(self, qemu, cpu, *flags):
        program = self.compile("blocks.S", "-nostdlib", "-static", *flags)
        path = os.path.join(self.dir, "stat.json")
        # The core model has prefetchers, which would hide what is counted here.
        self.record("--qemu", qemu, "--cpu", cpu, "--model", "functional", "-c", "1024",
                    "--stat-json", path, "--", program)
        with open(path, encoding="utf-8") as f:
            walk = next(x for x in json.load(f)["functions"] if x["function"] == "walk")
        return walk["counts"], self.samples(cpu)

    @staticmethod
    def stores(samples):
        return sum(s["op"]["class"] == 1 and s["op"]["store"] for s in samples)

    def test_what_zva_is(self):
        # Without FEAT_SPEv1p1 it is cache maintenance, else a store (D17.6.4).
        counts, samples = self.count(QEMU, "neoverse-n1", "-DZVA")
        self.assertEqual((counts["stores"]["exact"], self.stores(samples)), (0, 0))
        counts, samples = self.count(QEMU, "neoverse-v2", "-DZVA")
        self.assertEqual(counts["stores"]["exact"], 32768)
        self.assertAlmostEqual(self.stores(samples) / len(samples), 1 / 5, delta=0.12)

    def test_what_zva_is_busy(self):
        with busy():
            self.test_what_zva_is()

    def test_memset(self):
        """libc's clears memory with DC ZVA: what is counted is what is sampled, on both CPUs."""
        program = self.compile("memset.c", "-O1", "-static")
        path = os.path.join(self.dir, "stat.json")

        def stores(cpu, *args):
            self.record("--cpu", cpu, "-c", "1024", "--stat-json", path, "--", program, *args)
            with open(path, encoding="utf-8") as f:
                function = next(x for x in json.load(f)["functions"] if "memset" in x["function"])
            counts = function["counts"]["stores"]
            return function["function"], counts["exact"], counts["estimate"]

        # They are stores where the architecture says so (D17.6.4).
        _, exact, estimate = stores("neoverse-n1")
        self.assertLess(max(exact, estimate), 10000)
        # Other bytes than 0 are no work for DC ZVA.
        for cpu, *args in ("neoverse-v2",), ("neoverse-n1", "1"):
            name, exact, estimate = stores(cpu, *args)
            if "mops" in name:
                continue  # newer ones have instructions that set memory: then it is none of DC ZVA
            self.assertGreater(exact, 130000)  # of at most 512 bytes, 64 times 1 MiB
            self.assertAlmostEqual(estimate / exact, 1, delta=0.3)

    def test_memset_busy(self):
        with busy():
            self.test_memset()

    def test_caches(self):
        qemu = next(filter(has_registers, qemus()), None)
        if not qemu:
            self.skipTest("no QEMU here reads registers (tools/build-qemu.sh)")
        for cpu in ("neoverse-n1", "neoverse-v2"):
            for flag, least, most in ("-DNEITHER", 32768, 32768), ("-DZVA", 32768, 32768), \
                                     ("-DPREFETCH", 32768, 32770):
                counts, samples = self.count(qemu, cpu, flag)
                misses = counts["l1_misses"]["exact"]
                self.assertTrue(least <= misses <= most, (cpu, flag, misses))
                missed = sum("l1d_miss" in s["events"]["set"] for s in samples
                             if s["op"]["class"] == 1 and not s["op"]["store"])
                self.assertEqual(missed > 0, flag == "-DNEITHER", (cpu, flag))


if __name__ == "__main__":
    unittest.main()
