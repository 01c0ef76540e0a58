# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Recordings for the tests of report, script and export: perf.data files with CPUs, threads that
migrate, maps and symbols, made without the library. No test by itself.

As a program, for benchmarks: recording_file.py SPE-BYTES... PERF.DATA puts the bytes of each file
on a CPU of its own.
"""

import os
import shutil
import struct
import subprocess
import sys

import spetest as s

PMU = 8
ATTR = 128
NONE = 0xffffffff
N1 = 0x413fd0c1
# 1 GHz: a tick is a nanosecond.
SHIFT, MULT = 21, 1 << 21
SAMPLE_TYPE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 7 | 1 << 15 | 1 << 16 | 1 << 19
DUMMY_TYPE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 7 | 1 << 16
CHAIN_TYPE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 16
SPE_ID, DUMMY_ID, OTHER_ID = 100, 200, 300
CONTEXT_USER = (1 << 64) - 512


def record(kind, body, misc=0):
    assert len(body) % 8 == 0, (kind, len(body))
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def text(name):
    data = name.encode("utf-8", "surrogateescape") + b"\0"
    return data + bytes(-len(data) % 8)


def feature_string(value):
    data = value.encode("utf-8", "surrogateescape") + b"\0"
    data += bytes(-len(data) % 64)
    return struct.pack("<I", len(data)) + data


class Recording:
    """Records in the order of the file; times in nanoseconds."""

    def __init__(self, cpus=1, midr=N1, period=4096):
        self.cpus = cpus
        self.midr = midr
        self.period = period
        self.data = []
        self.size = 0
        self.index = []
        self.aux_at = {}
        self.others = []  # names of events beside SPE that have call chains
        self.features = {3: feature_string("testhost"), 4: feature_string("6.8.0-test"),
                         6: feature_string("aarch64"), 7: struct.pack("<II", cpus, cpus),
                         9: feature_string(f"0x{midr:016x}"),
                         11: struct.pack("<I", 3) + feature_string("perf") +
                             feature_string("record") + feature_string("./program"),
                         14: struct.pack("<IIQQ", 1, 0, 1 << 20, 1 << 20) +
                             feature_string(f"0-{cpus - 1}")}
        self.add(record(79, struct.pack("<6Q", SHIFT, MULT, 0, 0, (1 << 56) - 1, 0x0101)))
        words = [PMU, 4, PMU, cpus]
        for cpu in range(cpus):
            words += [0x1010101010101010, cpu, 4, midr, PMU, 1024, 0]
            words[-5] = 4
        self.add(record(70, struct.pack("<II", 4, 0) + struct.pack(f"<{len(words)}Q", *words)))

    def add(self, data):
        self.data.append(data)
        self.size += len(data)

    def sideband(self, kind, body, misc=0, pid=0, tid=0, time=0, cpu=0):
        trailer = struct.pack("<IIQIIQ", pid, tid, time, cpu, 0, DUMMY_ID)
        self.add(record(kind, body + trailer, misc))

    def comm(self, pid, tid, name, time=0, cpu=0, exec_=False):
        self.sideband(3, struct.pack("<II", pid, tid) + text(name), 1 << 13 if exec_ else 0,
                      pid, tid, time, cpu)

    def mmap(self, pid, start, length, offset, path, time=0, cpu=0, build_id=None, protection=5):
        file = struct.pack("<IIQQ", 8, 1, 42, 0)
        if build_id:
            file = struct.pack("<B3x20s", len(build_id), build_id)
        body = struct.pack("<IIQQQ24sII", pid, pid, start, length, offset, file, protection, 2)
        self.sideband(10, body + text(path), 2 | (1 << 14 if build_id else 0), pid, pid, time, cpu)

    def kernel_map(self, start, length, offset, path):
        body = struct.pack("<IIQQQIIQQII", NONE, 0, start, length, offset, 0, 0, 0, 0, 5, 2)
        self.sideband(10, body + text(path), 1)

    def fork(self, pid, tid, parent_pid, parent_tid, time, cpu=0):
        self.sideband(7, struct.pack("<IIIIQ", pid, parent_pid, tid, parent_tid, time), 0, pid, tid,
                      time, cpu)

    def exit(self, pid, tid, time, cpu=0):
        self.sideband(4, struct.pack("<IIIIQ", pid, pid, tid, tid, time), 0, pid, tid, time, cpu)

    def aux_flags(self, cpu, offset, size, flags, time):
        self.sideband(11, struct.pack("<QQQ", offset, size, flags), 0, 0, 0, time, cpu)

    def event(self, name):
        """Another event, with call chains: its number."""
        self.others.append(name)
        return len(self.others) - 1

    def chain(self, event, pid, tid, addresses, time, period=1000, cpu=0):
        """A sample of such an event: addresses of the pc and of what it returns to."""
        words = [CONTEXT_USER, *addresses] if addresses else []
        self.add(record(9, struct.pack("<QQIIQIIQQ", OTHER_ID + event, addresses[0] if addresses
                                       else 0, pid, tid, time, cpu, 0, period, len(words)) +
                        struct.pack(f"<{len(words)}Q", *words), 2))

    def aux(self, cpu, data):
        """SPE bytes; whole records."""
        data = data + bytes(-len(data) % 8)
        at = self.aux_at.get(cpu, 0)
        self.index.append(self.size)
        self.add(record(71, struct.pack("<QQQIIII", len(data), at, 0, cpu, NONE, cpu, 0)))
        self.add(data)
        self.aux_at[cpu] = at + len(data)

    def write(self, path):
        attr = struct.pack("<IIQQQQQ", PMU, ATTR, 1, self.period, SAMPLE_TYPE, 4, 1 << 18 | 1 << 20)
        flags = 1 << 8 | 1 << 9 | 1 << 13 | 1 << 18 | 1 << 23 | 1 << 24 | 1 << 26
        dummy = struct.pack("<IIQQQQQ", 1, ATTR, 9, 1, DUMMY_TYPE, 4, flags)
        cycles = struct.pack("<IIQQQQQ", 0, ATTR, 0, 1000, CHAIN_TYPE, 4, 1 << 18 | 1 << 20)
        events = [("arm_spe//", SPE_ID, attr), ("dummy:u", DUMMY_ID, dummy)]
        events += [(name, OTHER_ID + i, cycles) for i, name in enumerate(self.others)]
        attrs_at = 104 + 8 * len(events)
        attrs = b"".join(a.ljust(ATTR, b"\0") + struct.pack("<QQ", 104 + 8 * i, 8)
                         for i, (_, _, a) in enumerate(events))
        if self.others:
            self.features[12] = struct.pack("<II", len(events), ATTR) + b"".join(
                a.ljust(ATTR, b"\0") + struct.pack("<I", 1) + feature_string(name) +
                struct.pack("<Q", id_) for name, id_, a in events)
        data_at = attrs_at + len(attrs)
        self.features[18] = struct.pack("<Q", len(self.index)) + b"".join(
            struct.pack("<QQ", data_at + at, 48) for at in self.index)
        bits = sum(1 << n for n in self.features)
        table_at = data_at + self.size
        at = table_at + 16 * len(self.features)
        table, payloads = b"", b""
        for number in sorted(self.features):
            table += struct.pack("<QQ", at + len(payloads), len(self.features[number]))
            payloads += self.features[number]
        with open(path, "wb") as f:
            f.write(struct.pack("<8s8Q", b"PERFILE2", 104, ATTR + 16, attrs_at, len(attrs), data_at,
                                self.size, 0, 0) + bits.to_bytes(32, "little"))
            f.write(b"".join(struct.pack("<Q", id_) for _, id_, _ in events) + attrs)
            for piece in self.data:
                f.write(piece)
            f.write(table + payloads)


# ---- samples -------------------------------------------------------------------------------------

def sample(pc, time, tid=None, op=(1, 0), events=0x16, total=9, va=None, target=None, source=None,
           pa=None, el=0, previous=None):
    """One record; pc a plain address, previous the target of the branch before."""
    out = s.address(0, pc & (1 << 56) - 1 | el << 61 | 1 << 63)
    if tid is not None:
        out += s.context(0, tid)
    out += s.op(*op) + s.events(events, 4 if events >> 16 else 2) + s.counter(1, 1)
    if total is not None:
        out += s.counter(0, total)
    if va is not None:
        out += s.address(2, va)
    if target is not None:
        out += s.address(1, target | 1 << 63)
    if pa is not None:
        out += s.address(3, pa | 1 << 63)
    if previous is not None:
        out += s.address(4, previous | 1 << 63)
    if source is not None:
        out += s.source(source)
    return out + s.timestamp(time)


PROGRAM = """
int table[4096];
__attribute__((noinline)) int walk(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += table[i & 4095];
    return sum;
}
__attribute__((noinline)) int mix(int n)
{
    int odd = 0;
    for (int i = 0; i < n; i++)
        odd ^= table[i & 4095] * 3;
    return odd;
}
__attribute__((noinline)) int an_unusually_long_name_of_a_function_that_has_to_be_shortened(int n)
{
    return walk(n) + mix(n);
}
void _start(void)
{
    for (;;)
        an_unusually_long_name_of_a_function_that_has_to_be_shortened(7);
}
"""


class Program:
    """A program with symbols and lines, made by the compiler; None where there is none."""

    def __init__(self, directory):
        self.path = os.path.join(directory, "program")
        source = os.path.join(directory, "program.c")
        with open(source, "w", encoding="utf-8") as f:
            f.write(PROGRAM)
        subprocess.run(["cc", "-g", "-O1", "-nostdlib", "-static", "-no-pie", "-fno-pic",
                        "-fcf-protection=none", "-Wl,--build-id=sha1", "-o", self.path, source],
                       check=True, capture_output=True)
        # Names and lines do not depend on the instructions: call it a program for Arm.
        with open(self.path, "r+b") as f:
            f.seek(18)
            f.write(struct.pack("<H", 183))
        self.symbols = {}
        names = subprocess.run(["nm", "-S", self.path], check=True, capture_output=True, text=True)
        for line in names.stdout.splitlines():
            words = line.split()
            if len(words) == 4:
                self.symbols[words[3]] = (int(words[0], 16), int(words[1], 16))
        header = subprocess.run(["readelf", "-lW", self.path], check=True, capture_output=True,
                                text=True).stdout
        load = next(line.split() for line in header.splitlines()
                    if "LOAD" in line and "R E" in line)
        self.offset, self.start, self.length = (int(load[i], 16) for i in (1, 2, 5))
        self.length = (self.length + 4095) & ~4095

    def pc(self, name, fraction=0.5):
        start, size = self.symbols[name]
        return start + int(size * fraction)

    def map(self, recording, pid, time=0, shift=0):
        recording.mmap(pid, self.start + shift, self.length, self.offset, self.path, time)


def can_compile():
    return all(shutil.which(tool) for tool in ("cc", "nm", "readelf"))


def main(args):
    recording = Recording(cpus=len(args) - 1)
    for tid in range(1000, 1064):
        recording.comm(tid, tid, f"worker-{tid}")
    pieces = []
    for cpu, path in enumerate(args[:-1]):
        with open(path, "rb") as f:
            data = f.read()
        pieces += [(at, cpu, data[at:at + (2 << 20)]) for at in range(0, len(data), 2 << 20)]
    for _, cpu, piece in sorted(pieces, key=lambda piece: piece[:2]):
        recording.aux(cpu, piece)
    recording.write(args[-1])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
