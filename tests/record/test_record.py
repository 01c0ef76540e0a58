# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""spe record: what is counted, sampled, filtered and written."""

import collections
import json
import os
import re
import unittest

import recordtest
from recordtest import RecordTest

recordtest.require()

def events(sample):
    return int(sample["events"]["raw"], 16)


def total(sample):
    return next(c["cycles"] for c in sample["counters"] if c["name"] == "total")


def is_memory(sample, store=None):
    """A load or a store, or that one; atomics are both, whatever bit [0] says (D17.5)."""
    op = sample["op"]
    atomic = op["raw"] & 0b10000110 == 0b110
    return op["class"] == 1 and (store is None or atomic or bool(op["raw"] & 1) == store)


class Counting(RecordTest):
    def count(self, loops, *args):
        program = self.compile("count.S", "-nostdlib", "-static", f"-DLOOPS={loops}",
                               name=f"count{loops}")
        return program, self.record(*args, "--", program, status=5)

    def test_population(self):
        # The count is a sum of the program's text, not of the emulator's.
        for model in ("none", "functional", "core"):
            for loops in (1, 1000, 123457):
                _, summary = self.count(loops, "--model", model)
                self.assertEqual(summary.operations, loops * 8 + 5, model)

    def test_interval(self):
        # Without jitter the counter goes from the interval to 0, both included.
        for interval in (256, 1024, 4096):
            _, summary = self.count(123457, "-e", "arm_spe//", "-c", interval)
            self.assertEqual(summary.sampled, summary.records)
            self.assertEqual(summary.sampled, summary.operations // (interval + 1))

    def test_rounding(self):
        result = self.run_record("-c", "1000", "--", self.count(5)[0])
        self.assertIn(b"spe: --count 1000: the unit's interval is 768\n", result.stderr)

    def test_seed(self):
        seen = []
        for seed in (3, 3, 4):
            self.count(123457, "--seed", seed, "-c", "512")
            seen.append([s["pc"]["address"] for s in self.samples()])
        self.assertEqual(seen[0], seen[1])
        self.assertNotEqual(seen[0], seen[2])

    def test_no_bias(self):
        # With jitter all eight instructions of the loop have their share: a chi-square of 7 degrees
        # of freedom passes 29.9 once in 10,000 times, and the seed is fixed.
        program, summary = self.count(400000, "-c", "256")
        start, _ = self.symbol(program, "_start")
        seen = collections.Counter(int(s["pc"]["address"], 16) for s in self.samples())
        expected = sum(seen[start + 8 + 4 * i] for i in range(8)) / 8
        self.assertGreater(expected, 800)
        chi = sum((seen[start + 8 + 4 * i] - expected) ** 2 / expected for i in range(8))
        self.assertLess(chi, 29.9, seen)
        self.assertEqual(sum(seen.values()), summary.records)

    def test_addresses(self):
        # Each access of the loop, with its size and direction, at the place the linker gave.
        program, _ = self.count(123457, "-c", "256")
        start, _ = self.symbol(program, "_start")
        table, _ = self.symbol(program, "table")
        self.check()
        expected = {start + 8: (table, "load"), start + 16: (table, "store"),
                    start + 20: (table + 16, "load")}
        found = collections.Counter()
        for s in self.samples():
            pc = int(s["pc"]["address"], 16)
            found[pc] += 1
            if pc in expected:
                self.assertEqual(int(s["va"]["address"], 16), expected[pc][0])
                self.assertTrue(is_memory(s, expected[pc][1] == "store"))
            else:
                self.assertNotIn("va", s)
            if pc == start + 36:
                self.assertEqual(int(s["target"]["address"], 16), start + 8)
        self.assertTrue(set(expected) < set(found))

    def test_filters(self):
        cases = {
            "load_filter=1": lambda s: is_memory(s, False),
            "store_filter=1": lambda s: is_memory(s, True),
            "branch_filter=1": lambda s: s["op"]["class"] == 2,
            "load_filter=1,store_filter=1": is_memory,
            "event_filter=0x8": lambda s: events(s) & 8,
            "event_filter=0x80": lambda s: events(s) & 0x80,
            "min_latency=30": lambda s: total(s) >= 30,
        }
        program = self.compile("memory.c", "-O2", "-static")
        for text, holds in cases.items():
            summary = self.record("--model", "functional", "-e", f"arm_spe/{text},jitter=1/", "-c",
                                  "256", "--", program)
            samples = self.samples()
            self.check()
            self.assertGreater(len(samples), 10, text)
            self.assertEqual(len(samples), summary.records)
            self.assertEqual(summary.sampled, summary.records + summary.filtered)
            self.assertGreater(summary.filtered, summary.records // 4)
            self.assertTrue(all(holds(s) for s in samples), text)

    def test_conditions(self):
        # What nobody knows is not told: no select says that its condition held.
        program = self.compile("select.S", "-nostdlib", "-static")
        for model in ("none", "functional", "core"):
            self.record("--model", model, "-c", "256", "--", program)
            others = [s["op"]["raw"] for s in self.samples() if s["op"]["class"] == 0]
            self.assertGreater(len(others), 200)
            self.assertEqual(set(others), {0})

    def test_inverted_filter(self):
        program = self.compile("memory.c", "-O2", "-static")
        self.record("--cpu", "architecture", "-e", "arm_spe/inv_event_filter=0x8,jitter=1/",
                    "-c", "512", "--", program)
        self.assertFalse(any(events(s) & 8 for s in self.samples("neoverse-v2")))

    def test_cpus(self):
        program = self.compile("memory.c", "-O2", "-static")
        for cpu, names in {"neoverse-n1": "neoverse-n1", "neoverse-v2": "neoverse-v2",
                           "kunpeng-920": "kunpeng-920"}.items():
            self.record("--cpu", cpu, "--", program)
            self.check(names)

    def test_no_model(self):
        # No data source, no cache events, no invented latencies.
        program = self.compile("memory.c", "-O2", "-static")
        self.record("--model", "none", "-c", "512", "--", program)
        self.check(features="-lds")
        for s in self.samples():
            self.assertNotIn("source", s)
            self.assertEqual(events(s) & ~0x42, 0)

    def test_no_model_cpus(self):
        program = self.compile("memory.c", "-O2", "-static")
        for cpu in ("neoverse-v2", "kunpeng-920", "architecture"):
            self.record("--model", "none", "--cpu", cpu, "-c", "512", "--", program)
            samples = self.samples(cpu if cpu != "architecture" else "neoverse-v2")
            self.assertGreater(len(samples), 100)
            self.assertFalse(any("source" in s for s in samples))


class CountingInQemu(Counting):
    """The same with the QEMU that tools/build-qemu.sh makes: its code counts by itself."""

    def setUp(self):
        super().setUp()
        if not recordtest.BUILT_QEMU:
            self.skipTest("tools/build-qemu.sh has not been run")
        self.addCleanup(os.environ.pop, "SPECIMEN_QEMU", None)
        os.environ["SPECIMEN_QEMU"] = recordtest.BUILT_QEMU


class Addresses(RecordTest):
    def where(self, qemu, model, program, *args):
        """Of each sample its pc and the address of its access. The stack begins at a page that
        differs from run to run."""
        self.record("--qemu", qemu, "--model", model, "--seed", "7", "-c", "512", "--", program,
                    *args)
        return [(int(s["pc"]["address"], 16),
                 int(s["va"]["address"], 16) & (0xfff if s["va"]["address"].startswith("0x7f")
                                                else -1) if "va" in s else None)
                for s in self.samples()]

    def test_computed(self):
        """A QEMU that counts by itself shows no accesses: what registers tell is what they are."""
        program = self.compile("memory.c", "-O2", "-static")
        for qemu in recordtest.qemus():
            seen = self.where(qemu, "functional", program)
            self.assertGreater(sum(va is not None for _, va in seen), 1000)
            self.assertEqual(self.where(qemu, "none", program), seen, qemu)

    def test_fault(self):
        """A load that faults, and one behind it, do not run: they are not in the recording."""
        program = self.compile("faults.c", "-O2", "-static")
        at = self.labels(program)
        for qemu in recordtest.qemus():
            for model in ("none", "core"):
                pcs = collections.Counter(pc for pc, _ in
                                          self.where(qemu, model, program, "30000"))
                self.assertEqual(pcs[at["faulting"]] + pcs[at["never"]], 0, (qemu, model))
                self.assertGreater(pcs[at["behind"]], 20, (qemu, model))
                # What ran before it in the same block has run.
                self.assertGreater(pcs[at["first"]], 20, (qemu, model))


class Truth(RecordTest):
    def truth(self, *args, **kwargs):
        path = os.path.join(self.dir, "truth.json")
        self.record("--stat-json", path, *args, **kwargs)
        with open(path, encoding="utf-8") as f:
            return {f["function"]: f["counts"] for f in json.load(f)["functions"]}

    def test_counts(self):
        # Sums of the program's text.
        loops = 123457
        program = self.compile("count.S", "-nostdlib", "-static", f"-DLOOPS={loops}")
        for model in ("none", "functional", "core"):
            counts = self.truth("--model", model, "--seed", "2", "-c", "512", "--", program,
                                status=5)
            exact = {key: value["exact"] for key, value in counts["_start"].items()}
            self.assertEqual(exact["operations"], 2 + 8 * loops)
            self.assertEqual(exact["loads"], 1 + 2 * loops)
            self.assertEqual(exact["stores"], loops)
            self.assertEqual(exact["branches"], loops)
            if model != "none":
                self.assertEqual(exact["not_taken"], 1)
            self.assertEqual(counts["finish"]["operations"]["exact"], 3)
            for key, value in counts["_start"].items():
                self.assertLessEqual(value["low"], value["exact"], key)
                self.assertGreaterEqual(value["high"], value["exact"], key)

    def test_misses(self):
        # Arrays of 8192 lines each, larger than the L1 cache together, six times: every line misses,
        # unless a prefetcher brings it in time.
        program = self.compile("memory.c", "-O2", "-static")
        lines = 6 * (1 << 16) * 8 // 64
        core = self.truth("-c", "512", "--", program)
        counts = self.truth("--model", "functional", "-c", "512", "--", program)
        for name in ("loads", "stores"):
            misses = counts[name]["l1_misses"]
            self.assertLess(core[name]["l1_misses"]["exact"], lines / 20)
            self.assertAlmostEqual(misses["exact"], lines, delta=64)
            self.assertGreater(misses["samples"], 40)
        # The directions are random: half of them are wrong, whatever the predictor.
        wrong = counts["branches"]["mispredicted"]["exact"]
        self.assertAlmostEqual(wrong / (6 * (1 << 16)), 0.5, delta=0.05)

    def test_text(self):
        # The numbers of the JSON, in a table that is no wider than it may be.
        program = self.compile("memory.c", "-O2", "-static")
        path = os.path.join(self.dir, "truth.json")
        titles = {"operations": "operations", "loads": "loads", "stores": "stores",
                  "branches": "branches", "not_taken": "not taken", "mispredicted": "mispredict",
                  "l1_misses": "L1 misses", "llc_misses": "LLC misses", "walks": "walks"}
        hidden = []
        for width in (60, 80, 100, 200):
            result = self.run_record("-q", "--stat", "--stat-json", path, "--width", str(width),
                                     "--", program)
            self.assertEqual(result.returncode, 0)
            with open(path, encoding="utf-8") as f:
                counts = {f["function"]: f["counts"] for f in json.load(f)["functions"]}["loads"]
            text = result.stderr.decode()
            for line in text.splitlines():
                self.assertLessEqual(len(line), width, line)
            gone = re.search(r"(?m)^  no room for: ((?:.+,\n +)*.+)$", text)
            gone = re.split(r",\s+", gone[1]) if gone else []
            hidden.append(len(gone))
            shown = [key for key, title in titles.items() if title not in gone]
            self.assertEqual(len(shown) + len(gone), len(titles), text)
            self.assertRegex(text, r"(?m)^  function, dso +" +
                             " +".join(titles[key] for key in shown) + "$")
            for kind, name in (("exact", "loads"), ("estimate", "memory")):
                numbers = " +".join(f"{counts[key][kind]:,}" for key in shown)
                self.assertRegex(text, rf"(?m)^  {name} +{kind} +{numbers}$")
        self.assertEqual(hidden, sorted(hidden, reverse=True))
        self.assertGreater(hidden[1], 0)
        self.assertEqual(hidden[-1], 0)

    def test_width(self):
        program = self.compile("count.S", "-nostdlib", "-static", "-DLOOPS=1")
        for columns, widest in (("72", 72), ("10", 60), ("", 80)):
            text = self.run_record("-q", "--stat", "--", program,
                                   env={"COLUMNS": columns}).stderr.decode()
            title = text.splitlines()[1]
            self.assertLessEqual(len(title), widest)
            self.assertGreater(len(title), widest - 12)
        self.assertIn("--width", self.bad(2, "record", "--width", "59", "--", program))


class Reading(RecordTest):
    def test_perf(self):
        program = self.compile("memory.c", "-O2", "-no-pie")
        summary = self.record("-c", "512", "--", program)
        samples = self.perf_samples("comm", "tid", "time", "ip", "sym")
        self.assertEqual(len(samples), summary.records)
        self.assertEqual({s[0] for s in samples}, {"memory"})
        self.assertEqual(len({s[1] for s in samples}), 1)
        times = [float(s[2].rstrip(":")) for s in samples]
        self.assertEqual(times, sorted(times))
        names = collections.Counter(s[4] for s in samples if len(s) > 4)
        for name in ("loads", "stores", "branches"):
            self.assertGreater(names[name], 500, names)

    def test_data_addresses(self):
        program = self.compile("memory.c", "-O2", "-no-pie")
        self.record("-c", "512", "--", program)
        text = self.perf("script", "--itrace=M", "-F", "ip,sym,addr")
        ranges = {name: self.symbol(program, name) for name in ("from", "to")}
        inside = collections.Counter()
        for line in text.splitlines():
            words = line.split()
            for function, array in (("loads", "from"), ("stores", "to")):
                if function in words:
                    start, size = ranges[array]
                    inside[function, start <= int(words[0], 16) < start + size] += 1
        for function in ("loads", "stores"):
            self.assertGreater(inside[function, True], 300)
            self.assertLess(inside[function, False], 10)

    def test_commands(self):
        program = self.compile("memory.c", "-O2")
        self.record("-e", "arm_spe/jitter=1,pa_enable=1/", "-c", "512", "--", program)
        self.assertRegex(self.perf("report", "--stdio", "--itrace=i1i"), r"\[\.\] loads")
        self.assertRegex(self.perf("mem", "report", "--stdio"), r"\[\.\] loads")
        self.assertRegex(self.perf("c2c", "report", "--stdio"), r"Load Operations +: +\d\d\d")
        self.assertRegex(self.perf("buildid-list"), r"(?m)^[0-9a-f]{40} .*/memory$")
        header = self.perf("report", "--header-only")
        self.assertIn("neoverse-n1, software SPE under QEMU, core model", header)
        self.assertRegex(header, r"# cmdline : spe record -o")

    def test_no_warnings(self):
        """perf has nothing to complain about: what the file says of its machine is true."""
        program = self.compile("memory.c", "-O2")
        self.record("-c", "512", "--", program)
        for args in (("report", "--stdio"), ("report", "--stdio", "--header"), ("script",),
                     ("mem", "report", "--stdio"), ("evlist", "-v"), ("buildid-list",),
                     # The first sample is in it, however the host delays the others.
                     ("report", "--stdio", "--time", "0%-20%"), ("report", "--header-only", "-I")):
            self.assertEqual(self.perf_warnings(*args), [], args)
        self.assertRegex(self.perf("evlist", "-v"),
                         r"arm_spe_0//u: .*exclude_kernel: 1, exclude_hv: 1.*use_clockid: 1.*clockid: 1")
        header = self.perf("report", "--header-only")
        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 1024
        self.assertIn(f"# total memory : {pages} kB", header)
        self.assertIn("# nrcpus avail : 1\n", header)
        times = [float(t) for t in re.findall(r"# time of (?:first|last) sample : ([\d.]+)", header)]
        shown = [float(s[0].rstrip(":")) for s in self.perf_samples("time")]
        self.assertEqual([round(t, 6) for t in times], [shown[0], shown[-1]])
        part = self.perf("script", "--time", "0%-50%", "--itrace=i1i", "-F", "time").splitlines()
        self.assertLess(0, len(part))
        self.assertLess(len(part), len(shown))

    def test_cut_times(self):
        """A part of a recording says from when to when its own samples are."""
        program = self.compile("memory.c", "-O2")
        self.record("-c", "512", "--", program)
        whole = [float(s[0].rstrip(":")) for s in self.perf_samples("time")]
        self.good("export", "--format", "perf", "--time", "50%-100%", "-o", self.data + ".cut", self.data)
        os.replace(self.data + ".cut", self.data)
        header = self.perf("report", "--header-only")
        first, last = (float(t) for t in
                       re.findall(r"# time of (?:first|last) sample : ([\d.]+)", header))
        self.assertGreater(first, (whole[0] + whole[-1]) / 2 - 1e-6)
        self.assertAlmostEqual(last, whole[-1], places=5)

    def test_sharing(self):
        # Two counters in one line of the cache, and their twins that are not.
        peers, shared = {}, {}
        for flags in ((), ("-DFIXED",)):
            program = self.compile("sharing.c", "-O1", "-pthread", *flags)
            self.record("-c", "256", "--", program)
            text = self.perf("c2c", "report", "--stdio")
            peers[flags] = int(re.search(r"Load HIT Local Peer +: +(\d+)", text)[1])
            if not flags:
                self.assertIn("peer core", self.good("report", self.data).decode())
            hottest = json.loads(self.good("report", "--json", self.data))["data"]["top"][0]
            shared[flags] = hottest["shared"] / hottest["samples"]
        self.assertGreater(peers[()], 10, peers)
        self.assertLess(peers[("-DFIXED",)], peers[()] // 4, peers)
        self.assertLess(10 * shared[("-DFIXED",)], shared[()], shared)

    def test_report(self):
        program = self.compile("memory.c", "-O2")
        self.record("-c", "512", "--", program)
        text = self.good("report", self.data).decode()
        for name in ("loads", "stores", "branches", "software SPE under QEMU"):
            self.assertIn(name, text)


if __name__ == "__main__":
    unittest.main()
