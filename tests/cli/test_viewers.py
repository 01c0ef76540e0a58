# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""spe export for viewers: pprof, speedscope, Firefox, Perfetto. Their readers get what the records
say, and the same sums as `spe report`."""

import collections
import json
import os
import struct
import subprocess
import unittest

import recording_file as t
import viewer_files as viewers
from spetest import CommandTest, need_symbols, spe

need_symbols()

EVIL = '"<b>\\\x1b[31m\u202e\udcff\udc9b'
FORMATS = ("pprof", "speedscope", "firefox", "perfetto")
need_protoc = unittest.skipUnless(viewers.PROTOC, "there is no protoc to read protobuf with")


def by_function(samples, which):
    """Sums by the innermost function."""
    sums = collections.Counter()
    for s in samples:
        sums[s.stack[0]] += getattr(s, which)
    return +sums


@unittest.skipUnless(t.can_compile(), "there is no compiler")
class Recorded(CommandTest):
    """A recording, its files for viewers, and what `spe report` says of it."""

    def setUp(self):
        super().setUp()
        self.path = self.dir + "/perf.data"
        self.options = ()
        self.program = t.Program(self.dir)

    def record(self, name="second", at_once=1):
        """Two threads in functions, in a library without symbols, and nowhere. So many samples of
        each have the same time."""
        r = t.Recording(cpus=2)
        r.comm(10, 10, "first")
        r.comm(20, 21, name)
        for pid in (10, 20):
            self.program.map(r, pid)
            r.mmap(pid, 0x70000000, 0x1000, 0, "/nowhere/lib.so")
        pcs = [self.program.pc("walk"), self.program.pc("mix"), self.program.pc("mix", 0.2),
               0x70000010, 0x99990000]
        for cpu, tid in ((0, 10), (1, 21)):
            r.aux(cpu, b"".join(
                t.sample(pcs[i % 5], 1000 + 7 * (i // at_once), tid,
                         (1, 0) if i % 2 else (2, 1), 0x16, None if i % 11 == 0 else i % 50,
                         va=64 * i, source=8 if i % 3 else 13)
                for i in range(300)))
        r.write(self.path)

    def export(self, form, *args):
        return self.good("export", "--format", form, *args, *self.options, self.path)

    def report(self, *args):
        return json.loads(self.good("report", "--json", "--top", 100, *args, self.path))

    def sums(self, which):
        groups = self.report()["groups"][0]["top"]
        return +collections.Counter({g["name"]: g[which] for g in groups})


class Viewers(Recorded):
    @need_protoc
    def test_pprof(self):
        self.record()
        samples = viewers.read_pprof(self.export("pprof"))
        for which in ("samples", "latency"):
            self.assertEqual(by_function(samples, which), self.sums(which))
        self.assertEqual({s.thread for s in samples}, {"10", "21"})
        profile = viewers.pprof_message(self.export("pprof", "--lines", "--weight", "latency"))
        strings = profile["string_table"]
        self.assertEqual(strings[profile["default_sample_type"][0]], "latency")
        self.assertEqual(profile["period"], [4096])
        files = {strings[f["filename"][0]] for f in profile["function"] if f["filename"]}
        self.assertEqual({os.path.basename(f) for f in files}, {"program.c"})
        lines = {l["line"][0] for loc in profile["location"] for l in loc["line"] if l["line"]}
        listed = self.report("--by", "line")["groups"][0]["top"]
        self.assertEqual(lines, {int(g["line"].rsplit(":", 1)[1]) for g in listed if g["line"]})
        ids = {strings[m["filename"][0]]: m["build_id"] for m in profile["mapping"]}
        self.assertIn("/nowhere/lib.so", ids)
        walk = self.program.pc("walk")
        self.assertIn(walk, [loc["address"][0] for loc in profile["location"]])

    @unittest.skipUnless(viewers.PPROF, "there is no pprof, and no go that has it built")
    def test_pprof_reads_it(self):
        self.record()
        out = self.dir + "/spe.pb.gz"
        self.export("pprof", "-o", out)
        top = subprocess.run([viewers.PPROF, "-symbolize=none", "-sample_index=samples", "-top",
                              "-nodefraction=0", out], capture_output=True, check=True, text=True,
                             env={**os.environ, "HOME": self.dir}).stdout
        flat = {words[-1]: int(words[0]) for words in map(str.split, top.splitlines())
                if len(words) == 6 and words[0].isdigit()}
        sums = self.sums("samples")
        self.assertEqual((flat["walk"], flat["mix"]), (sums["walk"], sums["mix"]), top)

    def test_speedscope(self):
        self.record()
        for which in ("samples", "latency"):
            data = self.export("speedscope", "--weight", which)
            samples = viewers.read_speedscope(data, which == "latency")
            self.assertEqual(by_function(samples, which), self.sums(which))
            self.assertEqual({s.thread for s in samples}, {"first 10", "second 21"})
        # In the order of time: no two samples had one.
        first = [s.stack[0] for s in samples if s.thread == "first 10"]
        names = ["walk", "mix", "mix", "[no symbol] lib.so", "[no map]"]
        self.assertEqual(first, [names[i % 5] for i in range(300) if i % 11 and i % 50])
        frames = json.loads(self.export("speedscope", "--lines"))["shared"]["frames"]
        self.assertTrue(any(f.get("line") and f["file"].endswith("program.c") for f in frames))

    def test_firefox(self):
        self.record()
        for lines in ((), ("--lines",)):
            data = self.export("firefox", *lines)
            samples = viewers.read_firefox(data)
            self.assertEqual(by_function(samples, "samples"), self.sums("samples"))
            self.assertEqual({s.thread for s in samples}, {"10", "21"})
        thread = json.loads(data)["threads"][0]
        times = thread["samples"]["time"]
        self.assertEqual((times[0], round(times[-1] * 1e6)), (0, 7 * 299))
        self.assertTrue(any(thread["frameTable"]["line"]))
        self.assertEqual(len(set(thread["stringArray"][i] for i in thread["funcTable"]["name"])),
                         thread["funcTable"]["length"])

    def test_perfetto(self):
        self.record(at_once=10)
        trace = viewers.read_perfetto(self.export("perfetto"))
        groups = self.report("--by", "thread")
        totals = groups["totals"]
        self.assertEqual(trace.samples, {10: 300, 21: 300})
        self.assertEqual(sum(trace.latency.values()), totals["latency"])
        self.assertEqual(trace.loads, {row["served"]: row["loads"] for row in groups["loads"]})
        self.assertEqual(trace.threads, {10: "first", 21: "second"})
        self.assertTrue(trace.slices)
        self.assertLessEqual({name for _, _, _, name in trace.slices}, set(self.sums("samples")))

    def test_long_recordings_are_summed_up(self):
        """More stacks at more times than a page can draw: bins become longer, sums stay."""
        r = t.Recording(cpus=1)
        r.comm(10, 10, "long")
        self.program.map(r, 10)
        pcs = [self.program.pc(name) for name in ("walk", "mix")]
        one = [t.sample(pc, 0, 10)[:-8] for pc in pcs]  # the time comes last
        r.aux(0, b"".join(one[i & 1] + struct.pack("<Q", 1000 + 3 * i) for i in range(280000)))
        r.write(self.path)
        result = spe("export", "--format", "speedscope", self.path)
        self.assertIn("280000 samples became", result.stderr.decode())
        self.assertEqual(spe("export", "-q", "--format", "speedscope", self.path).stderr, b"")
        samples = viewers.read_speedscope(result.stdout)
        self.assertLess(len(samples), 250000)
        self.assertEqual(by_function(samples, "samples"), {"walk": 140000, "mix": 140000})

    @need_protoc
    def test_hostile_names(self):
        self.record(EVIL)
        for form in FORMATS:
            data = self.export(form)
            if form != "pprof":
                text = data.decode()
                self.assertFalse({c for c in text if c != "\n" and (c < " " or c in "\x7f\u202e")})
                continue
            comms = {s for s in viewers.pprof_message(data)["string_table"] if "<b>" in s}
            self.assertEqual(len(comms), 1)
            self.assertTrue(comms.pop().isprintable())
        self.assertIn('"<b>\\\x1b[31m', viewers.read_perfetto(data).threads[21])

    def test_nothing(self):
        t.Recording(cpus=1).write(self.path)
        self.assertEqual(viewers.read_speedscope(self.export("speedscope")), [])
        self.assertEqual(viewers.read_firefox(self.export("firefox")), [])
        self.assertEqual(viewers.read_perfetto(self.export("perfetto")).samples, {})
        if viewers.PROTOC:
            self.assertEqual(viewers.read_pprof(self.export("pprof")), [])

    def test_raw_bytes(self):
        """Neither time nor threads nor names: what there is, and no trace."""
        self.path = self.file(t.sample(0x1000, 10) * 3)
        self.options = ("--raw",)
        samples = viewers.read_speedscope(self.export("speedscope"))
        self.assertEqual([(s.thread, s.stack, s.samples) for s in samples],
                         [("[no thread]", ["[no map]"], 3)])
        self.assertEqual(by_function(viewers.read_firefox(self.export("firefox")), "samples"),
                         {"[no map]": 3})
        if viewers.PROTOC:
            (sample,) = viewers.read_pprof(self.export("pprof"))
            self.assertEqual(sample, (None, ["[no map]"], 3, 27))
        self.assertIn("has no times", self.bad(1, "export", "--format", "perfetto", self.path))

    def test_usage(self):
        self.record()
        for args, why in ((("firefox", "--weight", "latency"), "no unit for cycles"),
                          (("perfetto", "--weight", "latency"), "has both"),
                          (("perfetto", "--lines"), "functions only"),
                          (("pprof", "--columns", "pc"), "is for csv")):
            self.assertIn(why, self.bad(2, "export", "--format", *args, self.path))


if __name__ == "__main__":
    unittest.main()
