# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""An unmodified Linux, its driver and its perf on our unit.

usage: test_linux.py VERSION [CLASS]; the guest is booted a few times, and each boot records much.
"""

import collections
import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

import guest

VERSION = sys.argv.pop(1) if len(sys.argv) > 1 else "6.12"

# name: (event, perf record's other options, program)
# -c 1023 is an interval of 768 operations, with the one that reloads: 769.
RECORDINGS = {
    "plain": ("arm_spe_0//u", "-c 2048 --per-thread", "./work strides 100"),
    "ts": ("arm_spe_0/ts_enable=1/u", "-c 2048", "./work strides 100"),
    "pa": ("arm_spe_0/pa_enable=1/u", "-c 2048", "./work strides 100"),
    "pct": ("arm_spe_0/ts_enable=1,pct_enable=1/u", "-c 2048", "./work strides 100"),
    "load": ("arm_spe_0/load_filter=1/", "-c 1024", "./work strides 60"),
    "store": ("arm_spe_0/store_filter=1/", "-c 1024", "./work strides 60"),
    "branch": ("arm_spe_0/branch_filter=1/", "-c 1024", "./work strides 60"),
    "both": ("arm_spe_0/load_filter=1,store_filter=1/", "-c 1024", "./work strides 60"),
    "latency": ("arm_spe_0/min_latency=5/", "-c 1024", "./work strides 60"),
    "filtered": ("arm_spe_0/event_filter=$filter/", "-c 1024", "./work sort 12"),
    "mispredicted": ("arm_spe_0/event_filter=0x80/", "-c 1024", "./work strides 60"),
    "kernel": ("arm_spe_0//k", "-c 1024", "ls -R /sys/kernel"),
    "steady": ("arm_spe_0/jitter=0/u", "-c 1024 --per-thread", "./work shares 2"),
    "jitter": ("arm_spe_0/jitter=1/u", "-c 1024 --per-thread", "./work shares 2"),
    "shares": ("arm_spe_0/jitter=1/u", "-c 2048", "./work shares 10"),
}
# Where the driver knows of them (by the unit's version, or its own).
NEWER = {
    "not_taken": ("inv_event_filter", "arm_spe_0/event_filter=0x40/u", "-c 1024", "./work sort 12"),
    "not_not_taken": ("inv_event_filter", "arm_spe_0/branch_filter=1,inv_event_filter=0x40/u",
                      "-c 1024", "./work sort 12"),
    "discard": ("discard", "arm_spe_0/discard=1/u", "-c 1024", "./work strides 60"),
    "float": ("float_filter", "arm_spe_0/float_filter=1/u", "-c 1024", "./work matrix 15"),
    "masked": ("load_filter_mask",
               "arm_spe_0/load_filter=1,store_filter=1,load_filter_mask=1,store_filter_mask=1/",
               "-c 256", "ls -R /sys"),
}

# What the drivers print of this unit: FE, FT, FL, ArchInst, ERnd; then FnE; then Discard and EFT.
DRIVER_FEATURES = {"6.1": "0x2f", "6.12": "0x6f", "backports": "0x1ef"}

PARTS = {"one_part": 1, "two_parts": 2, "five_parts": 5}  # of `work shares`, in eighths

FORMATS = """
cat /sys/bus/event_source/devices/arm_spe_0/type >/dev/null || exit 9
grep . /sys/bus/event_source/devices/arm_spe_0/caps/*
ls /sys/bus/event_source/devices/arm_spe_0/format | sed 's/^/format /'
./work counter
# A driver that asks the unit knows that "retired" does not filter where all operations retire.
filter=0x2; [ ! -e /sys/bus/event_source/devices/arm_spe_0/caps/event_filter ] || filter=0x40
record() {
    name=$1; event=$2; options=$3; shift 3
    perf record -q -o $name.data -e "$event" $options -- "$@" >$name.out 2>$name.err ||
        { echo "failed: $name: $(cat $name.err)"; }
}
%s
./work counter
cp /proc/kallsyms kallsyms
perf script -i shares.data --itrace=i1i -F ip,sym 2>/dev/null | awk '{ print $2 }' | sort | uniq -c >shares.perf
grep spe /proc/interrupts
"""


class Formats(unittest.TestCase):
    """Each of the driver's format options does what it says, record by record."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="spe-vm-test-")
        work = guest.build_work(cls.folder)
        lines = ["record %s \"%s\" '%s' %s" % (name, event, options, program)
                 for name, (event, options, program) in RECORDINGS.items()]
        lines += ["[ ! -e /sys/bus/event_source/devices/arm_spe_0/format/%s ] || "
                  "record %s '%s' '%s' %s" % (needs, name, event, options, program)
                  for name, (needs, event, options, program) in NEWER.items()]
        cls.boot = guest.boot(FORMATS % "\n".join(lines), "--kernel-version", VERSION, "--spe",
                              "v1p4,fne,eft,fpf,crr,ernd", put=[work], folder=cls.folder)
        cls.records = {}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def path(self, name):
        return os.path.join(self.folder, name + ".data")

    def of(self, name, least=20):
        """The recording's records: valid, and enough of them."""
        if name not in self.records:
            guest.assert_valid(self, self.path(name), "--features", "all,-lds,-fds,-pbt")
            self.records[name] = guest.records(self.path(name))
        self.assertGreaterEqual(len(self.records[name]), least, name)
        return self.records[name]

    def need(self, name):
        if not os.path.exists(self.path(name)):
            self.assertNotIn("format " + NEWER[name][0] + "\n", self.boot.output)
            self.skipTest("the driver of Linux %s has no %s" % (VERSION, NEWER[name][0]))

    def newer(self, name, least=20):
        self.need(name)
        return self.of(name, least)

    def test_boot(self):
        self.assertEqual(self.boot.status, 0, self.boot.error + self.boot.log[-2000:])
        self.assertNotIn("failed:", self.boot.output)
        self.assertRegex(self.boot.log, r"arm_spe_pmu spe: probed (SPEv1.4 )?for CPUs 0 "
                                        r"\[max_record_sz 128, align 1, features %s\]"
                         % DRIVER_FEATURES[VERSION])
        self.assertRegex(self.boot.output, r"caps/arch_inst:1\n")
        self.assertRegex(self.boot.output, r"caps/ernd:1\n")
        self.assertRegex(self.boot.output, r"caps/count_size:16\n")
        self.assertRegex(self.boot.output, r"caps/min_interval:256\n")
        guest.quiet_kernel(self, self.boot.log)

    def numbers(self):
        with open(os.path.join(self.folder, "plain.out"), encoding="utf-8") as f:
            base, size = re.search(r"numbers 0x([0-9a-f]+) (\d+)", f.read()).groups()
        return int(base, 16), int(size)

    def test_plain(self):
        records = self.of("plain", 300)
        base, size = self.numbers()
        inside = 0
        for r in records:
            self.assertEqual(r["pc"]["el"], 0)
            self.assertNotIn("timestamp", r)
            self.assertNotIn("pa", r)
            if "va" in r:
                address = int(r["va"]["address"], 16)
                if base <= address < base + size:
                    inside += 1
                    # The loop loads from multiples of 16, and stores 8 behind.
                    self.assertEqual(address % 16, 8 if r["op"]["store"] else 0)
        self.assertGreater(inside, 50)
        # Loads, stores, branches and other operations are 1:1:1:3 in the loop.
        kinds = [sum(1 for r in records if r["op"]["class"] == 1 and not r["op"]["store"]),
                 sum(1 for r in records if r["op"]["class"] == 1 and r["op"]["store"]),
                 sum(1 for r in records if r["op"]["class"] == 2)]
        for n in kinds:
            self.assertGreater(n, len(records) / 6 / 2)
            self.assertLess(n, len(records) / 6 * 2)

    def test_contexts(self):
        """Root's recordings have the process id, which the kernel keeps in CONTEXTIDR_EL1."""
        contexts = {r.get("context1") for r in self.of("ts")}
        self.assertEqual(len(contexts), 1)
        self.assertGreater(contexts.pop() or 0, 1)

    def check_times(self, name):
        first, last = map(int, re.findall(r"counter (\d+)", self.boot.output))
        times = [r["timestamp"] for r in self.of(name)]
        self.assertEqual(times, sorted(times))
        self.assertGreater(times[0], first)
        self.assertLess(times[-1], last)

    def test_times(self):
        self.check_times("ts")
        self.check_times("pct")

    def test_physical_addresses(self):
        with_va = [r for r in self.of("pa") if "va" in r]
        self.assertGreater(len(with_va), 20)
        pages = {}
        for r in with_va:
            self.assertIn("pa", r)
            va, pa = int(r["va"]["address"], 16), int(r["pa"]["address"], 16)
            self.assertEqual(va % 4096, pa % 4096)
            self.assertTrue(0x40000000 <= pa < 0x80000000, hex(pa))  # the guest's memory
            self.assertEqual(pages.setdefault(va >> 12, pa >> 12), pa >> 12)

    def test_type_filters(self):
        for r in self.of("load"):
            self.assertTrue(r["op"]["class"] == 1 and not r["op"]["store"], r)
        for r in self.of("store"):
            # Stores, and atomics and swaps, which load as well.
            self.assertTrue(r["op"]["class"] == 1 and
                            (r["op"]["store"] or r["op"].get("atomic")), r)
        for r in self.of("branch"):
            self.assertEqual(r["op"]["class"], 2)
        both = self.of("both")
        self.assertEqual({r["op"]["class"] for r in both}, {1})
        self.assertEqual({bool(r["op"]["store"]) for r in both}, {True, False})

    def test_latency_filter(self):
        """Without a model nothing has a latency; class Model has those."""
        self.assertEqual(guest.samples(self.path("latency")), 0)

    def test_event_filters(self):
        name = "not_taken" if "caps/event_filter:" in self.boot.output else "retired"
        for r in self.of("filtered"):
            self.assertIn(name, r["events"]["set"])
        # Without a model nothing is mispredicted.
        self.assertEqual(guest.samples(self.path("mispredicted")), 0)

    def test_conditions(self):
        for r in self.newer("not_taken"):
            self.assertIn("not_taken", r["events"]["set"])
            self.assertEqual(r["op"]["class"], 2)
        for r in self.newer("not_not_taken"):
            self.assertNotIn("not_taken", r["events"]["set"])
            self.assertIn("target", r)

    def test_discard(self):
        self.need("discard")
        self.assertEqual(guest.samples(self.path("discard")), 0)

    def test_vector_filters(self):
        for r in self.newer("float"):
            self.assertTrue(r["op"]["raw"] & 2 or r["op"]["class"] == 1, r)

    def test_masks(self):
        for r in self.newer("masked", 5):  # a load and a store in one: atomics
            self.assertTrue(r["op"].get("atomic"), r)

    def test_levels(self):
        self.assertEqual({r["pc"]["el"] for r in self.of("kernel")}, {1})
        self.assertEqual({r["pc"]["el"] for r in self.of("shares")}, {0})
        self.assertEqual({r["pc"]["el"] for r in self.of("load")} - {0, 1}, set())

    def alternating(self, name):
        """The share of neighbours with different PCs, in loops of two instructions."""
        pcs = [int(r["pc"]["address"], 16) for r in self.of(name, 500)]
        near = [(a, b) for a, b in zip(pcs, pcs[1:]) if abs(a - b) <= 4]
        return sum(a != b for a, b in near) / len(near)

    def test_jitter(self):
        """An interval of 1024 makes a period of 1025, which is odd: without jitter the samples
        alternate between the two instructions of a loop. With it they do not."""
        self.assertGreater(self.alternating("steady"), 0.95)
        self.assertTrue(0.4 < self.alternating("jitter") < 0.6)

    def test_period(self):
        """8 parts of 100,000 turns of two instructions each, ten times, and what is around."""
        expected = 10 * 8 * 100000 * 2 / 2048
        self.assertTrue(0.97 * expected < len(self.of("shares")) < 1.1 * expected)

    def functions(self, path):
        """How many samples each function has, by `spe script`."""
        os.makedirs(os.path.join(self.folder, "fs", "work"), exist_ok=True)
        shutil.copy(os.path.join(self.folder, "work"), os.path.join(self.folder, "fs", "work"))
        result = guest.spe("script", "--symfs", os.path.join(self.folder, "fs"), "-F", "sym", path)
        return collections.Counter(result.stdout.split())

    def check_shares(self, counts):
        total = sum(counts.values())
        self.assertGreater(total, 500)
        for name, parts in PARTS.items():
            exact = parts / 8
            # Four standard deviations of a binomial share, and what is around the loops.
            self.assertLess(abs(counts[name] / total - exact),
                            4 * (exact * (1 - exact) / total) ** 0.5 + 0.01, name)

    def test_report(self):
        """perf in the guest and `spe script` count the same, function by function."""
        with open(os.path.join(self.folder, "shares.perf"), encoding="utf-8") as f:
            perf = {name: int(n) for n, name in re.findall(r"^ *(\d+) +(\S+)$", f.read(), re.M)}
        ours = self.functions(self.path("shares"))
        self.check_shares(ours)
        for name in PARTS:
            self.assertEqual(ours[name], perf.get(name), name)

    def test_recorder(self):
        """`spe record`, which runs the program without a kernel, sees the same shares."""
        path = os.path.join(self.folder, "recorder.data")
        result = guest.spe("record", "-c", "2048", "-e", "arm_spe/jitter=1/", "-o", path, "--",
                           os.path.join(self.folder, "work"), "shares", "10")
        if result.returncode:
            self.skipTest("spe record: " + result.stderr.strip())
        counts = collections.Counter(guest.spe("script", "-F", "sym", path).stdout.split())
        self.check_shares(counts)


MODES = """
show() { echo "mode $1 $(grep spe /proc/interrupts | awk '{ n = 0; for (i = 2; i <= 3; i++) n += $i; print n }')"; }
show start
perf record -q -a -e arm_spe_0/ts_enable=1/ -c 4096 -m ,16 -o system.data ./work sort 24 >/dev/null; show system
perf record -q -C 0 -e arm_spe_0// -c 4096 -o cpu0.data taskset 1 ./work sort 24 >/dev/null; show cpu0
perf record -q --per-thread -e arm_spe_0// -c 4096 -o thread.data ./work sort 24 >/dev/null; show thread
for pages in 2 4 64 16384; do
    perf record -q -e arm_spe_0//u -c 1024 -m ,$pages -o buffer$pages.data ./work sort 24 >/dev/null 2>buffer$pages.err
    show buffer$pages
done
perf record -q -S -a -e arm_spe_0// -c 1024 -m ,64 -o snapshot.data sh -c './work sort 24 >/dev/null; kill -USR2 $PPID; sleep 1; ./work sort 12 >/dev/null' 2>snapshot.err
show snapshot
perf record -q -S -a -e arm_spe_0// -c 256 -m ,2 -o many.data sh -c 'i=0
    while [ $i -lt 4000 ]; do ./work sort 12 >/dev/null; i=$((i + 1)); set -- $(grep spe /proc/interrupts)
    [ $(($2 + $3)) -lt 10500 ] || break; done; kill -USR2 $PPID; sleep 1' 2>many.err
show many
"""


class Modes(unittest.TestCase):
    """Per-thread, per-CPU, system-wide and snapshot mode, buffer sizes, many interrupts."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="spe-vm-test-")
        cls.boot = guest.boot(MODES, "--kernel-version", VERSION, "--smp", "2", "--el2",
                              put=[guest.build_work(cls.folder)], folder=cls.folder)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def read(self, name):
        path = os.path.join(self.folder, name + ".data")
        guest.assert_valid(self, path)
        return guest.records(path)

    def interrupts(self):
        return {name: int(n) for name, n in re.findall(r"^mode (\S+) (\d+)", self.boot.output, re.M)}

    def flags(self, name):
        """How many AUX records have each flag, by `spe report`."""
        text = guest.spe("report", "--json", os.path.join(self.folder, name + ".data")).stdout
        account = json.loads(text)["account"]
        return {key: account["aux_" + key] for key in ("truncated", "collision", "partial")}

    def test_boot(self):
        self.assertEqual(self.boot.status, 0, self.boot.error + self.boot.log[-2000:])
        self.assertIn("CPU: All CPU(s) started at EL2", self.boot.log)
        self.assertRegex(self.boot.log, "arm_spe_pmu spe: probed .*for CPUs 0-1")

    def test_modes(self):
        self.assertGreater(len(self.read("system")), 1000)
        self.assertGreater(len(self.read("cpu0")), 100)
        self.assertGreater(len(self.read("thread")), 1000)
        # Kernel and program, at the levels that a VHE kernel has.
        self.assertEqual({r["pc"]["el"] for r in self.read("system")}, {0, 2})

    def test_system_times(self):
        times = [r["timestamp"] for r in self.read("system")]
        self.assertLess(max(times) - min(times), 300 * 10**9)

    def test_buffers(self):
        sizes = {n: len(self.read("buffer%d" % n)) for n in (2, 4, 64, 16384)}
        for n in (2, 4, 64, 16384):
            self.assertGreater(sizes[n], 50)
        # 64 MB hold all of it, with no interrupt and no loss.
        seen = self.interrupts()
        self.assertEqual(seen["buffer16384"], seen["buffer64"])
        self.assertGreater(seen["buffer2"], seen["thread"])
        nothing = {"truncated": 0, "collision": 0, "partial": 0}
        self.assertEqual(self.flags("buffer16384"), nothing)
        for n in (2, 4, 64):
            flags = self.flags("buffer%d" % n)
            # Nothing else is ever wrong, and what is lost is told.
            self.assertEqual(dict(flags, truncated=0), nothing)
            if not flags["truncated"]:
                self.assertGreater(sizes[n], 0.95 * sizes[16384])

    def test_snapshot(self):
        """A snapshot is a ring that was written over: it may begin inside a record."""
        for name in ("snapshot", "many"):
            path = os.path.join(self.folder, name + ".data")
            said = [json.loads(line)
                    for line in guest.spe("check", "--json", "--limit", "all",
                                          path).stdout.splitlines()]
            skipped = [s for s in said if s["type"] == "skipped"]
            self.assertEqual({s["reason"] for s in skipped} - {"stream begins inside a record"},
                             set())
            # What follows may look like the beginning of a record, and be none; so may what the
            # stream begins with, and then nothing is skipped.
            ends = [0] + [s["offset"] + s["size"] for s in skipped]
            for wrong in (s for s in said if s["type"] == "violation"):
                self.assertTrue(any(0 <= wrong["offset"] - end < 64 for end in ends), wrong)
            self.assertGreater(guest.samples(path), 30)

    def test_many_interrupts(self):
        self.assertGreaterEqual(self.interrupts()["many"], 10000)
        guest.quiet_kernel(self, self.boot.log)


RECORD = "perf record -q -e arm_spe_0// -c 2048 -o %s.data "

NAMES = (RECORD % "work" + "./work shares 10\n" + RECORD % "kernel" + "ls -R /sys/kernel >/dev/null\n"
         "awk '{ print $3 }' /proc/kallsyms | sort -u >functions\n")


def functions(path, home):
    """(name, dso): samples, as `spe report` tells it to a user with that home."""
    result = guest.spe("report", "--json", "--by", "function", "--top", "100000", path,
                       env=guest.at_home(home))
    assert result.returncode == 0, result.stderr
    return {(row["name"], row["dso"]): row["samples"]
            for row in json.loads(result.stdout)["groups"][0]["top"]}


class Names(unittest.TestCase):
    """`spe vm run -- perf record ...` and `spe report`: names without options, and no invention.
    The second boot records while all CPUs are busy."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="spe-vm-test-")
        cls.boot = guest.boot(NAMES, "--kernel-version", VERSION, put=[guest.build_work(cls.folder)],
                              folder=cls.folder)
        cls.again = tempfile.mkdtemp(prefix="spe-vm-test-")
        shutil.copytree(os.path.join(cls.folder, ".debug"), os.path.join(cls.again, ".debug"),
                        symlinks=True)
        cls.second = guest.boot(guest.BUSY + NAMES, "--kernel-version", VERSION,
                                put=[os.path.join(cls.folder, "work")], folder=cls.again)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)
        shutil.rmtree(cls.again)

    def each(self, name):
        """That recording of each boot."""
        return [os.path.join(folder, name + ".data") for folder in (self.folder, self.again)]

    def check_kernel(self, folder):
        with open(os.path.join(folder, "functions"), encoding="utf-8") as f:
            known = set(f.read().split())
        rows = functions(os.path.join(folder, "kernel.data"), folder)
        kernel = {name: n for (name, dso), n in rows.items() if dso == "[kernel.kallsyms]"}
        named = sum(n for name, n in kernel.items() if name in known)
        self.assertGreater(len(kernel), 20)
        self.assertGreater(named, 0.98 * sum(kernel.values()), kernel)

    def test_boot(self):
        for boot in (self.boot, self.second):
            self.assertEqual(boot.status, 0, boot.error + boot.log[-2000:])
            self.assertRegex(boot.error, r"/\.debug: symbols for what the guest recorded: its Linux "
                                         r"and \d files? \(--no-symbols\)\n")
        self.assertIn(guest.BUSY_LINE, self.second.output)

    def test_kernel(self):
        self.check_kernel(self.folder)

    def test_next_boot(self):
        """Its kernel is where it was, so that what was kept fits."""
        self.check_kernel(self.again)

    def test_program(self):
        for path in self.each("work"):
            rows = functions(path, os.path.dirname(path))
            of_work = {name: n for (name, dso), n in rows.items() if dso == "work"}
            for name, parts in PARTS.items():
                self.assertAlmostEqual(of_work[name] / sum(of_work.values()), parts / 8, None, path,
                                       delta=0.05)

    def test_nothing_is_invented(self):
        """Without a model there are no caches, no TLB, no prediction and no cycles."""
        for path in self.each("work") + self.each("kernel"):
            seen = set()
            for r in guest.records(path):
                self.assertNotIn("source", r, path)
                self.assertEqual(r["counters"], [], path)
                seen.update(r["events"]["set"])
            self.assertIn("not_taken", seen, path)
            self.assertFalse([e for e in seen if re.match("l1|l2|llc|tlb|mispred|remote", e)], path)

    def test_report(self):
        for path in self.each("work"):
            report = json.loads(guest.spe("report", "--json", path).stdout)
            self.assertEqual({row["by"] for row in report["loads"]}, {None}, path)
            self.assertEqual(report["recording"]["hostname"], "software-spe-in-qemu.no-model", path)
            self.assertTrue(report["recording"]["simulated"], path)
            self.assertIsNone(report["recording"]["cpu"], path)


MODEL = ("./gather\n" + RECORD % "gather{0}" + "./gather >/dev/null\n"
         "perf record -q -e arm_spe_0/min_latency=5/ -c 1024 -o latency{0}.data ./work strides 60\n")


class Shell(unittest.TestCase):
    def test_shell(self):
        """On a terminal: it says how to leave it, has its size, and its files come out."""
        folder = tempfile.mkdtemp(prefix="spe-vm-test-")
        self.addCleanup(shutil.rmtree, folder)
        main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 101, 0, 0))
        with subprocess.Popen([guest.SPE, "vm", "--timeout", guest.TIMEOUT, "-o", folder], stdin=side,
                              stdout=side, stderr=side, env=guest.at_home(folder)) as process:
            os.close(side)
            text, told = b"", [b"stty size >size\n", b"exit\n"]
            try:
                while data := os.read(main, 65536):
                    text += data
                    if told and text.count(b"/work # ") > 2 - len(told):
                        os.write(main, told.pop(0))
            except OSError:  # the other side is closed
                pass
            status = process.wait()
        os.close(main)
        self.assertEqual(status, 0, text)
        self.assertIn(b"To leave: exit, or control-d", text)
        self.assertNotIn(b"Booting Linux", text)
        with open(os.path.join(folder, "size"), encoding="ascii") as f:
            self.assertEqual(f.read(), "33 101\n")


class Model(unittest.TestCase):
    """With a model: the CPU has its name, gathers their caches, latencies their filter. The guest
    does the same again while all CPUs are busy."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="spe-vm-test-")
        put = [guest.build_gather(cls.folder), guest.build_work(cls.folder)]
        script = MODEL.format("") + guest.BUSY + MODEL.format("-busy")
        cls.boot = guest.boot(script, "--kernel-version", VERSION, "--cpu", "neoverse-n1", "--model",
                              "functional", put=put, folder=cls.folder)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def each(self, name):
        """That recording, idle and busy."""
        return [os.path.join(self.folder, name + busy + ".data") for busy in ("", "-busy")]

    def test_gather(self):
        self.assertEqual(self.boot.status, 0, self.boot.error + self.boot.log[-2000:])
        idle, busy = self.boot.output.split(guest.BUSY_LINE)
        for text in (idle, busy):
            self.assertEqual({line for line in text.splitlines() if "numbers" not in line},
                             {"gather 134209536", "first 134209536 134209536"})

    def test_gather_meets_the_caches(self):
        """Two arrays of 128 KB are more than the first cache, and gathers go all over one."""
        for path in self.each("gather"):
            report = json.loads(guest.spe("report", "--json", "--by", "function", path,
                                          env=guest.at_home(self.folder)).stdout)
            row = [r for r in report["groups"][0]["top"] if r["name"] == "gather"][0]
            self.assertGreater(row["memory"], 20, path)
            self.assertGreater(row["l1_misses"], row["memory"] / 4, path)

    def test_cpu(self):
        for path in self.each("gather"):
            report = json.loads(guest.spe("report", "--json", path).stdout)
            self.assertEqual(report["recording"]["cpu"], "neoverse-n1", path)
            self.assertEqual(report["recording"]["hostname"],
                             "software-spe-in-qemu.functional-model-of-neoverse-n1", path)
            self.assertEqual({row["by"] for row in report["loads"]}, {"data source"}, path)
            self.assertIn("L2 cache", {row["served"] for row in report["loads"]}, path)

    def test_latency_filter(self):
        for path in self.each("latency"):
            records = guest.records(path)
            self.assertGreater(len(records), 20, path)
            for r in records:
                self.assertGreaterEqual(guest.counter(r, "total"), 5, path)


if __name__ == "__main__":
    guest.need(VERSION)
    unittest.main()
