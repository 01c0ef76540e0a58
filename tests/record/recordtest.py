# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""What the tests of `spe record` share: programs for AArch64, recordings, perf, SPE bytes."""

import atexit
import collections
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))

# pylint: disable=wrong-import-position
import perf_file  # noqa: E402
from spetest import SPE, CommandTest, busy, need_symbols, skip, spe  # noqa: E402,F401

COMPILER = shutil.which("aarch64-linux-gnu-gcc")
PLUGIN = (os.environ.get("SPECIMEN_PLUGIN")
          or os.path.join(os.path.dirname(SPE), "specimen-qemu.so"))
_BUILT = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
                      "specimen/qemu/bin/qemu-aarch64")
BUILT_QEMU = _BUILT if os.path.exists(_BUILT) else None


def _has_plugins(qemu):
    return qemu and b"-plugin" in subprocess.run([qemu, "--help"], capture_output=True,
                                                 check=False).stdout


# The one that `spe record` takes.
QEMU = next(filter(_has_plugins, (shutil.which("qemu-aarch64"), BUILT_QEMU)), None)


def qemus():
    """All that can record."""
    return sorted({QEMU, BUILT_QEMU} - {None})


# Binaries are kept below $HOME, which must not be the user's.
os.environ.setdefault("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
os.environ["HOME"] = tempfile.mkdtemp(prefix="spe-home-")
atexit.register(shutil.rmtree, os.environ["HOME"], True)
SUMMARY = re.compile(
    r"^spe: (?P<file>.*): (?P<operations>\d+) operations, (?P<sampled>\d+) sampled, "
    r"(?P<filtered>\d+) filtered, (?P<collided>\d+) collided, (?:(?P<dropped>\d+) not completed, )?"
    r"(?:(?P<discarded>\d+) discarded, )?(?:(?P<flying>\d+) in flight at the end, )?"
    r"(?P<records>\d+) records, "
    r"(?P<bytes>\d+) bytes \((?P<processes>\d+) process(es)?, (?P<threads>\d+) threads?\)$", re.M)


def missing():
    """What recording lacks here; None if it can be tried."""
    if not COMPILER:
        return "there is no aarch64-linux-gnu-gcc"
    if not os.path.exists(PLUGIN):
        return "this build has no plugin for QEMU (cross build or sanitizers)"
    if not QEMU:
        return "there is no qemu-aarch64 with plugins (tools/build-qemu.sh makes one)"
    return None


def require():
    """Skip the whole file where recording cannot be tried."""
    if missing():
        skip(missing())


def run_shell(script):
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False,
                          timeout=50)


Summary = collections.namedtuple("Summary", "operations sampled filtered collided dropped discarded "
                                            "flying records bytes processes threads")


class RecordTest(CommandTest):
    """A test that compiles programs and records them in a directory of its own."""

    options = ()  # of every recording

    def compile(self, source, *flags, name=None):
        out = os.path.join(self.dir, name or os.path.splitext(source)[0])
        subprocess.run([COMPILER, "-g", "-o", out, os.path.join(HERE, "programs", source), *flags],
                       check=True)
        return out

    def run_record(self, *args, **kwargs):
        """Run it; the result as of subprocess.run."""
        return spe("record", "-o", self.data, *self.options, *args, cwd=self.dir, **kwargs)

    def plain(self, *args):
        """Run it under the same QEMU alone."""
        return subprocess.run([QEMU, *args], capture_output=True, check=False,
                              cwd=self.dir, timeout=50)

    @property
    def data(self):
        return os.path.join(self.dir, "perf.data")

    def record(self, *args, status=0, **kwargs):
        """Record; it must end with that status. The summary, as numbers."""
        result = self.run_record(*args, **kwargs)
        text = result.stderr.decode()
        self.assertEqual(result.returncode, status, text)
        found = SUMMARY.search(text)
        self.assertTrue(found, text)
        self.stdout, self.said = result.stdout.decode(), text
        summary = Summary(*(int(found[key] or 0) for key in Summary._fields))
        # Nothing that was sampled is unaccounted for.
        self.assertEqual(summary.sampled, summary.filtered + summary.dropped + summary.discarded
                         + summary.flying + summary.records)
        self.assertEqual(summary.bytes, os.path.getsize(self.data))
        return summary

    # ---- what is in the file, without the library ------------------------------------------------

    def perf_records(self):
        """(type, misc, body) of every record; an AUXTRACE body has its bytes behind it."""
        with open(self.data, "rb") as f:
            data = f.read()
        magic, _, _, _, _, at, size = struct.unpack_from("<8s6Q", data)
        self.assertEqual(magic, b"PERFILE2")
        end = at + size
        self.assertGreater(size, 0, "the file was never finished")
        self.assertLessEqual(end, len(data))
        while at < end:
            kind, misc, length = struct.unpack_from("<IHH", data, at)
            body = data[at + 8:at + length]
            at += length
            if kind == 71:
                aux, = struct.unpack_from("<Q", body)
                body += data[at:at + aux]
                at += aux
            yield kind, misc, body

    def aux(self):
        """The SPE bytes of each queue."""
        queues = collections.defaultdict(bytes)
        for kind, _, body in self.perf_records():
            if kind == 71:
                _, _, _, idx = struct.unpack_from("<QQQI", body)
                queues[idx] += body[40:]
        return dict(queues)

    def samples(self, cpu="neoverse-n1"):
        """Every SPE record as a dictionary of `spe dump --json`, queue by queue."""
        import json
        out = []
        for idx, data in sorted(self.aux().items()):
            path = self.file(data, f"queue{idx}.spe")
            lines = self.good("dump", "--raw", "--json", "--cpu", cpu, path).splitlines()
            out += [json.loads(line) for line in lines]
        return out

    def check(self, cpu="neoverse-n1", features=None):
        """No record breaks a rule."""
        more = ["--features", features] if features else []
        for idx, data in sorted(self.aux().items()):
            result = spe("check", "--raw", "--cpu", cpu, *more,
                         self.file(data, f"queue{idx}.spe"))
            self.assertEqual(result.returncode, 0, result.stdout[:2000] + result.stderr)

    # ---- perf ------------------------------------------------------------------------------------

    def run_perf(self, *args):
        perf = perf_file.find_perf()
        if not perf:
            self.skipTest("there is no perf")
        result = subprocess.run([*perf, *args, "-i", self.data], capture_output=True, text=True, errors="replace",
                                check=False, cwd=self.dir, timeout=50,
                                env={**os.environ, "PERF_PAGER": "cat"})
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def perf(self, *args):
        return self.run_perf(*args).stdout

    def perf_warnings(self, *args):
        """What perf says of the file; without what it says of itself, whatever the file is."""
        own = ("Only instruction-based sampling period is currently supported by Arm SPE.",
               "unwind: target platform=arm64 is not supported")
        return [line for line in self.run_perf(*args).stderr.splitlines() if line and line not in own]

    def perf_samples(self, *fields):
        """perf's samples, one for every SPE record, as lists of words."""
        text = self.perf("script", "--itrace=i1i", "-F", ",".join(fields))
        return [line.split() for line in text.splitlines() if line.strip()]

    def symbol(self, program, name):
        """(address, size) of a symbol in a program that is not position-independent."""
        text = subprocess.run(["aarch64-linux-gnu-nm", "-S", program], capture_output=True,
                              text=True, check=True).stdout
        found = re.search(rf"^([0-9a-f]+) ([0-9a-f]+) \w {name}$", text, re.M)
        return int(found[1], 16), int(found[2], 16)

    def labels(self, program):
        """The address of each symbol."""
        text = subprocess.run(["aarch64-linux-gnu-nm", program], capture_output=True, text=True,
                              check=True).stdout
        return {line.split()[2]: int(line.split()[0], 16) for line in text.splitlines()}
