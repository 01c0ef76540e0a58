# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Recordings that were made to take long or much memory. Time is CPU time, and compared between a
file and one that is four times as large: what is quadratic takes sixteen times as long."""

import ctypes
import os
import struct
import subprocess
import unittest

import recording_file as r
import spetest as s

SPE = os.environ["SPE"]


def run(*arguments):
    """Standard output and standard error of a command that succeeds."""
    done = subprocess.run([SPE, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{arguments}: exit status {done.returncode}: {done.stderr}")
    return done.stdout, done.stderr


def cpu_of(*arguments):
    before = os.times()
    run(*arguments)
    after = os.times()
    return (after.children_user + after.children_system - before.children_user -
            before.children_system)


def peak_of(*arguments, expected=0):
    """MB of memory that the command had at most."""
    child = os.posix_spawn(SPE, [SPE, *arguments], os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, usage = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status) != expected:
        raise AssertionError(f"{arguments}: status {status}")
    return usage.ru_maxrss / 1024


def one_sample(recording):
    recording.aux(0, r.sample(0x400000, 1000, tid=1))


# ---- Files -----------------------------------------------------------------------------------

def build_ids(path, count):
    """One path with many build-ids."""
    recording = r.Recording()
    one_sample(recording)
    for i in range(count):
        body = struct.pack("<IIQQQ", 1, 1, 0x400000, 0x1000, 0)
        body += struct.pack("<BBH20sII", 20, 0, 0, struct.pack("<I", i), 5, 2)
        recording.sideband(10, body + r.text("/usr/bin/program"), 2 | 1 << 14, 1, 1, 10 + i)
    recording.write(path)


def fnv(state, data):
    for byte in data:
        state = (state ^ byte) * 16777619 & 0xffffffff
    return state


def colliding_pair(state):
    """Two texts of five letters that lead from a state of FNV-1a to the same one."""
    seen = {}
    for i in range(1 << 20):
        number = i * 2654435761
        data = bytes(48 + (number >> shift & 63) for shift in (0, 6, 12, 18, 24))
        after = fnv(state, data)
        if after in seen:
            return seen[after], data, after
        seen[after] = data
    raise AssertionError("no two texts lead to one state")


def colliding_names(bits):
    """2^bits names that one hash of 32 bits, which is in wide use, cannot tell apart."""
    state, names = 2166136261, [b""]
    for _ in range(bits):
        first, second, state = colliding_pair(state)
        names = [name + part for name in names for part in (first, second)]
    return [name.decode() for name in names]


def comms(path, names):
    recording = r.Recording()
    one_sample(recording)
    for i, name in enumerate(names):
        recording.comm(1, 1, name, 10 + i)
    recording.write(path)


def colliding_tids(count):
    """Numbers whose products with the golden ratio have the same 17 bits above the low half."""
    modulus, bound, ratio = 1 << 49, 3 << 32, 0x9e3779b97f4a7c15
    up = next(k for k in range(1, modulus) if k * ratio % modulus < bound)
    down = next(k for k in range(1, modulus) if -k * ratio % modulus < bound)
    tids, tid, rest = [], 0, 0
    while len(tids) < count:
        steps = [step for step in (up, down, up + down)
                 if 0 <= rest + (step * ratio + bound) % modulus - bound < bound]
        tid += min(steps)
        rest = tid * ratio % modulus
        if tid >= 1 << 32:
            break
        tids.append(tid)
    return tids


def threads(path, tids):
    recording = r.Recording()
    one_sample(recording)
    for i, tid in enumerate(tids):
        recording.comm(tid, tid, "thread", 10 + i)
    recording.write(path)


def reused_tid(path, count):
    """A tid that many threads have one after the other, and a sample of each."""
    recording = r.Recording()
    recording.comm(1, 1, "parent")
    for i in range(count):
        recording.fork(1, 2, 1, 1, 100 + 10 * i)
        recording.comm(1, 2, f"turn {i}", 101 + 10 * i)
        recording.exit(1, 2, 109 + 10 * i)
    recording.aux(0, b"".join(r.sample(0x400000, 105 + 10 * i, tid=2) for i in range(count)))
    recording.write(path)


def colliding_places(path, maps):
    """Instructions that differ in address, map and operation type, so chosen that the differences
    cancel out where they are put into one number: the address shifted by 2, exclusive or the type
    shifted by 32 and the map by 48."""
    recording = r.Recording()
    for number in range(maps):
        recording.mmap(1, number << 50, 1 << 50, 0, f"/usr/bin/map{number}")
    recording.aux(0, b"".join(
        r.sample(0x400000 + (number << 50) + (op << 34), 1000, tid=1, op=(op >> 8, op & 0xff))
        for number in range(maps) for op in range(1024)))
    recording.write(path)


def zstd():
    """The library that compresses, or None."""
    try:
        library = ctypes.CDLL("libzstd.so.1")
    except OSError:
        return None
    library.ZSTD_compressStream2.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int]
    library.ZSTD_compressStream2.restype = library.ZSTD_compressBound.restype = ctypes.c_size_t
    library.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
    library.ZSTD_createCCtx.restype = ctypes.c_void_p
    library.ZSTD_freeCCtx.argtypes = [ctypes.c_void_p]
    return library


def compressed(library, pieces):
    """COMPRESSED records, one for each piece, all of one stream."""
    class Buffer(ctypes.Structure):
        _fields_ = [("bytes", ctypes.c_void_p), ("size", ctypes.c_size_t), ("at", ctypes.c_size_t)]

    context = library.ZSTD_createCCtx()
    for piece in pieces:
        room = ctypes.create_string_buffer(library.ZSTD_compressBound(len(piece)))
        source = ctypes.create_string_buffer(piece, len(piece))
        out = Buffer(ctypes.addressof(room), len(room), 0)
        into = Buffer(ctypes.addressof(source), len(piece), 0)
        flush = 1
        if library.ZSTD_compressStream2(context, ctypes.byref(out), ctypes.byref(into), flush):
            raise AssertionError("zstd did not flush all")
        yield r.record(81, room.raw[:out.at])
    library.ZSTD_freeCCtx(context)


def bomb(path, library, pieces):
    """Names of a thread that change all the time, 16 MB in a piece."""
    inside = r.Recording()
    for i in range(256):
        inside.comm(1, 1, f"name {i}", 10 + i)
    text = b"".join(inside.data[-256:])
    recording = r.Recording()
    one_sample(recording)
    for packed in compressed(library, [text * ((16 << 20) // len(text))] * pieces):
        recording.add(packed)
    recording.write(path)


def switches(path, count):
    """A CPU for each record, with descending numbers."""
    recording = r.Recording()
    one_sample(recording)
    for i in range(count):
        recording.sideband(14, b"", 0, 1, 1, 10 + i, count - i)
    recording.write(path)


def modules(directory, count):
    """Samples in the kernel's modules, and a kallsyms that has all their symbols."""
    recording = r.Recording()
    start = 0xffff800008000000
    recording.kernel_map(start, 1 << 20, start, "[kernel.kallsyms]_text")
    lines = [f"{start:x} T _text"] + [f"{start + 16 * i:x} t name{i}" for i in range(30000)]
    samples = b""
    for i in range(count):
        at = start + (i + 1 << 24)
        recording.kernel_map(at, 1 << 20, 0, f"[module{i}]")
        lines.append(f"{at:x} t work{i}\t[module{i}]")
        samples += r.sample(at, 1000 + i, tid=1, el=1)
    recording.aux(0, samples)
    recording.write(os.path.join(directory, "modules.data"))
    with open(os.path.join(directory, "kallsyms"), "w", encoding="ascii") as f:
        f.write("\n".join(lines) + "\n")


def lonely_modules(path, count):
    """Many modules of the kernel, which comes last, and a sample in each."""
    recording = r.Recording()
    start = 0xffff800008000000
    for i in range(count):
        recording.kernel_map(start + (i + 1 << 16), 1 << 12, 0, f"[module{i}]")
    recording.kernel_map(start, 1 << 12, start, "[kernel.kallsyms]_text")
    recording.aux(0, b"".join(r.sample(start + (i + 1 << 16), 1000 + i, tid=1, el=1)
                              for i in range(count)))
    recording.write(path)


def queues(path, count):
    """A buffer for each of many threads."""
    recording = r.Recording()
    for i in range(count):
        data = r.sample(0x400000, 1000 + 10 * i) + r.sample(0x400004, 1005 + 10 * i)
        data += bytes(-len(data) % 8)
        recording.index.append(recording.size)
        recording.add(r.record(71, struct.pack("<QQQIIII", len(data), 0, 0, i, i + 1, r.NONE, 0)))
        recording.add(data)
    recording.write(path)


# ---- Tests -----------------------------------------------------------------------------------

class HostileTest(s.CommandTest):
    def path(self, name):
        return os.path.join(self.dir, name)


class Time(HostileTest):
    def linear(self, make, small, large):
        """The large input has four times as much in it; half a second is for busy machines."""
        path = self.path("hostile.data")
        make(path, small)
        few = cpu_of("report", path)
        make(path, large)
        many = cpu_of("report", path)
        self.assertLess(many, 8 * few + 0.5, f"{few:.2f} s became {many:.2f} s")

    def test_one_path_with_many_build_ids(self):
        self.linear(build_ids, 10000, 40000)

    def test_names_that_collide(self):
        names = colliding_names(15)
        self.assertEqual(len(set(names)), 1 << 15)
        self.linear(comms, names[::4], names)

    def test_tids_that_collide(self):
        tids = colliding_tids(60000)
        self.assertEqual(len(set(tids)), 60000)
        self.linear(threads, tids[::4], tids)

    def test_cpu_numbers_that_descend(self):
        self.linear(switches, 25000, 100000)

    def test_tid_that_is_used_again_and_again(self):
        self.linear(reused_tid, 10000, 40000)
        out, _ = run("script", "-F", "comm", self.path("hostile.data"))
        wrong = [line for i, line in enumerate(out.splitlines()) if line.strip() != f"turn {i}"]
        self.assertEqual((len(out.splitlines()), wrong[:3]), (40000, []))

    def test_places_that_collide(self):
        self.linear(colliding_places, 8, 32)

    def test_many_modules(self):
        self.linear(lonely_modules, 7500, 30000)

    def test_kallsyms_is_read_once(self):
        cpu = []
        for count in (1, 200):
            modules(self.dir, count)
            arguments = ("script", "-F", "sym,dso", "--kallsyms", self.path("kallsyms"),
                         self.path("modules.data"))
            cpu.append(cpu_of(*arguments))
            out, _ = run(*arguments)
            self.assertIn(f"work{count - 1}", out)
            self.assertEqual(len(out.splitlines()), count)
        self.assertLess(cpu[1], 8 * cpu[0] + 0.5)


class Memory(HostileTest):
    def test_limit_for_tasks(self):
        path = self.path("comms.data")
        comms(path, [f"name {i}" for i in range(40000)])
        _, err = run("script", path)
        self.assertNotIn("left out", err)
        out, err = run("script", "--max-memory", "2M", path)
        self.assertEqual(len(out.splitlines()), 1)
        self.assertRegex(err, r"\d+ records of tasks and maps are left out.*limit of 2 MB")
        out, _ = run("report", "--max-memory", "2M", path)
        self.assertRegex(out, r"records of tasks and maps are left out")

    def test_names_that_are_said_again_take_nothing(self):
        recording = r.Recording()
        one_sample(recording)
        for _ in range(40000):
            recording.comm(1, 1, "again", 10)
        recording.write(self.path("again.data"))
        out, err = run("script", "-F", "comm", "--max-memory", "1M", self.path("again.data"))
        self.assertEqual(out.split(), ["again"])
        self.assertNotIn("left out", err)

    def test_compressed_names(self):
        library = zstd()
        if not library or os.environ.get("SPE_ZSTD") == "0":
            self.skipTest("there is no zstd")
        path = self.path("bomb.data")
        bomb(path, library, 8)
        self.assertLess(os.path.getsize(path), 100000)
        done = subprocess.run([SPE, "report", path], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("unpack to more than a thousand times their size", done.stderr)
        self.assertRegex(" ".join(done.stdout.split()), "warnings .* a thousand times their size")
        self.assertLess(peak_of("report", path, expected=1), 400)

    def test_many_queues(self):
        path = self.path("queues.data")
        queues(path, 32768)
        out, err = run("script", "-F", "time,ip", path)
        self.assertEqual(len(out.splitlines()), 65536)
        times = [line.split()[0] for line in out.splitlines()]
        self.assertEqual(times, sorted(times))
        self.assertNotIn("order of time", err)
        self.assertLess(peak_of("script", "-F", "time,ip", path), 500)

    def test_limit_for_queues(self):
        path = self.path("queues.data")
        queues(path, 100)
        out, _ = run("script", "-F", "time,ip", path)
        less, err = run("script", "-F", "time,ip", "--max-memory", "1M", path)
        self.assertIn("not in order of time: for 100 buffers", err)
        self.assertEqual(sorted(out.splitlines()), sorted(less.splitlines()))

    def test_sizes(self):
        path = self.path("one.data")
        comms(path, ["name"])
        for size in ("1", "64K", "64k", "3M", "2G"):
            run("script", "--max-memory", size, path)
        for size in ("", "0", "M", "-1", "1T", "1MB", "99999999999G"):
            done = subprocess.run([SPE, "script", "--max-memory", size, path], capture_output=True,
                                  text=True, check=False)
            self.assertEqual(done.returncode, 2, size)
            self.assertRegex(done.stderr, "^spe: --max-memory: .*(is not a size|is less than 1)")


if __name__ == "__main__":
    unittest.main()
