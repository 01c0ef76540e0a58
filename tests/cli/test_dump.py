# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""`spe dump`: views, filters and names. Its lines against perf's are in test_dump_perf.py."""

import json
import os
import pty
import unittest

import spetest
from spetest import (END, CommandTest, address, context, counter, events, load_record, op, source,
                     spe, timestamp)

LINE = 62  # column of the description


def descriptions(output):
    return [line[LINE:] for line in output.decode().splitlines() if line.startswith(".  ")]


class Packets(CommandTest):
    def test_layout(self):
        out = self.good("dump", self.file(address(0, 0xc0ff_8000_1008_0004) + bytes(3) + END))
        self.assertEqual(out.decode(), (
            ".\n"
            ". ... ARM SPE data: size 0xd bytes\n"
            ".  00000000:  b0 04 00 08 10 00 80 ff c0                      "
            "PC 0xff800010080004 el2 ns=1\n"
            ".  00000009:  00 00 00                                        PAD\n"
            ".  0000000c:  01                                              END\n"))

    def test_bad_bytes_are_counted(self):
        result = spe("dump", "--raw", self.file(END + b"\x20\x20\x20" + address(0, 1)[:4]))
        self.assertEqual(descriptions(result.stdout), ["END"] + ["Bad packet!"] * 7)
        self.assertEqual(result.returncode, 0)
        self.assertIn(b"bytes outside packets 7, unknown packets 0", result.stderr)

    def test_verbose_always_counts(self):
        result = spe("dump", "--raw", "-v", self.file(b"\x40\x11" + END))
        self.assertIn(b"bytes outside packets 0, unknown packets 1", result.stderr)

    def test_same_through_a_pipe(self):
        """Pieces of a pipe end anywhere; the lines must not show it."""
        data = spe("gen", "--records", 3000, "--features", "all", "--damage", "0.1", "--truth",
                   os.devnull).stdout + (bytes(20) + load_record()) * 2000
        whole = spe("dump", self.file(data)).stdout.splitlines()[2:]
        read, write = os.pipe()
        if os.fork() == 0:
            os.close(read)
            for at in range(0, len(data), 4099):
                os.write(write, data[at:at + 4099])
            os._exit(0)
        os.close(write)
        piped = spetest.subprocess.run([spetest.SPE, "dump", "-"], stdin=read, capture_output=True,
                                       check=False).stdout.splitlines()
        os.close(read)
        os.wait()
        self.assertEqual(piped[1], b". ... ARM SPE data: size unknown")
        self.assertEqual(piped[2:], whole)

    def test_offset_and_count(self):
        path = self.file(op(0, 0) + op(1, 1) + op(2, 0) + END)
        out = self.good("dump", "--offset", 2, "--count", 2, path)
        self.assertEqual(out.decode().splitlines()[1], ". ... ARM SPE data: size 0x5 bytes")
        self.assertEqual([line[:11] for line in out.decode().splitlines()[2:]],
                         [".  00000002", ".  00000004"])
        self.assertEqual(descriptions(out), ["ST GP-REG", "B"])
        self.assertEqual(descriptions(self.good("dump", "--raw", "--count", 0, path)), [])

    def test_count_is_for_all_files(self):
        a, b = self.file(END * 3, "a"), self.file(END * 3, "b")
        out = self.good("dump", "--raw", "--count", 4, a, b).decode()
        self.assertEqual(out.count("END"), 4)
        self.assertIn(f". ... file {a}\n", out)
        self.assertIn(f". ... file {b}\n", out)

    def test_offset_past_4g(self):
        path = self.file(b"")
        os.truncate(path, 5 << 30)
        line = self.good("dump", "--offset", 5 * 2**30 - 17, "--count", 2, path).splitlines()[2:]
        self.assertEqual(line[0], b".  13fffffef: " + b" 00" * 16 + b" PAD")
        self.assertEqual(line[1], b".  13fffffff: " + b" 00" + b" " * 45 + b" PAD")

    def test_names_by_cpu(self):
        path = self.file(events(1 << 12 | 1 << 13, 2) + counter(0, 4095))
        self.assertEqual(descriptions(self.good("dump", "--raw", path)), ["EV IMPDEF:12,13", "LAT 4095 TOT"])
        self.assertEqual(descriptions(self.good("dump", "--raw", "--cpu", "neoverse-n1", path)),
                         ["EV LATE-PREFETCH IMPDEF:13", "LAT 4095 TOT SATURATED"])
        self.assertEqual(descriptions(self.good("dump", "--raw", "--count-bits", 16, path))[1],
                         "LAT 4095 TOT")

    def test_names_by_features(self):
        path = self.file(events(1 << 11 | 1 << 19 | 1 << 24 | 1 << 26, 4))
        for features, text in (
                ("v1p0", "EV IMPDEF:24,26 RES0:11,19"),
                ("v1p1", "EV ALIGNMENT IMPDEF:24,26 RES0:19"),
                ("v1p4", "EV ALIGNMENT L2D-ACCESS RES0:24,26"),
                ("v1p4,sme,spe_sme", "EV ALIGNMENT L2D-ACCESS STREAMING-SVE RES0:26")):
            self.assertEqual(descriptions(self.good("dump", "--raw", "--features", features, path)),
                             [text])
        self.assertEqual(descriptions(self.good("dump", "--raw", path)),
                         ["EV ALIGNMENT L2D-ACCESS STREAMING-SVE IMPDEF:26"])


class Records(CommandTest):
    def test_text(self):
        out = self.good("dump", "--records", "--cpu", "neoverse-n1", self.file(load_record(77)))
        self.assertEqual(out.decode(), (
            "00000000: load gp                pc=0xaaaac8b15b98/el0 va=0xffff00001000 total=9 "
            "issue=2 translation=1 source=0x8(L2) events=retired,l1d_access,tlb_access time=77\n"))

    def test_skipped(self):
        result = spe("dump", "--records", self.file(load_record() + b"\xb0\x01"))
        self.assertEqual(result.stdout.decode().splitlines()[1],
                         f"{len(load_record()):08x}: skipped 2 bytes: stream ends inside a record")
        self.assertEqual(result.returncode, 0)
        size = len(load_record())
        self.assertIn(f"{size + 2} bytes = {size} in records + 0 padding + 2 skipped",
                      result.stderr.decode())

    def test_offset_inside_a_record(self):
        size = len(load_record())
        out = spe("dump", "--records", "--offset", 5, self.file(load_record() * 3)).stdout
        lines = out.decode().splitlines()
        self.assertEqual(lines[0], f"00000005: skipped {size - 5} bytes: stream begins inside a "
                                   "record")
        self.assertEqual([line[:8] for line in lines[1:]], [f"{size:08x}", f"{2 * size:08x}"])

    def test_operations(self):
        """Every operation has its words; none is the same as another."""
        for class_ in range(3):
            # Of class 2, 0x18 to 0x1f are neither call nor return: the same words as not recorded.
            payloads = [x for x in range(256) if class_ != 2 or not 0x18 <= x < 0x20]
            data = b"".join(address(0, 1 << 63) + op(class_, payload) + events(2, 1) + END
                            for payload in payloads)
            lines = spe("dump", "--records", "-", stdin=data).stdout.decode().splitlines()
            self.assertEqual(len(lines), len(payloads))
            seen = {}
            for payload, text in zip(payloads, lines):
                words = text[10:text.index(" pc=")].rstrip()
                self.assertNotIn(words, seen, (class_, payload, seen.get(words)))
                seen[words] = payload


class Json(CommandTest):
    def parse(self, data, *options):
        out = spe("dump", "--json", *options, "-", stdin=data).stdout
        return [json.loads(line) for line in out.decode().splitlines()]

    def test_every_field(self):
        record = (address(0, 0xa0ff_8000_1008_0004) + context(0, 7) + context(1, 0xffffffff) +
                  op(1, 0x9d) + events(0x1234_0000_8200_1002, 8) + counter(0, 0xffff) +
                  counter(1, 3) + counter(2, 0) + counter(6, 9) + address(2, 0x5a00_ffff_0000_1008) +
                  address(3, 0xd300_0000_8000_1008) + address(7, 1) + address(17, 2) +
                  source(0x1234, 2) + b"\x40\x11" + context(3, 5) + timestamp(2**64 - 1))
        got, = self.parse(bytes(3) + record, "--cpu", "neoverse-n1", "--features", "all")
        self.assertEqual(got, {
            "type": "record", "offset": 3, "size": len(record), "padding": 0,
            "op": {"class": 1, "raw": 0x9d, "kind": "sve_ldst", "store": True, "predicated": True,
                   "gather_scatter": True, "evl": 1, "bits": 64},
            "pc": {"raw": "0xa0ff800010080004", "address": "0xffff800010080004", "el": 1,
                   "security": "nonsecure"},
            "va": {"raw": "0x5a00ffff00001008", "address": "0xffff00001008", "tag": 0x5a},
            "pa": {"raw": "0xd300000080001008", "address": "0x80001008", "security": "realm",
                   "checked": True, "tag": 3},
            "addresses": [{"index": 7, "raw": "0x1"}, {"index": 17, "raw": "0x2"}],
            "counters": [
                {"index": 0, "name": "total", "cycles": 65535, "saturated": True},
                {"index": 1, "name": "issue", "cycles": 3, "saturated": False},
                {"index": 2, "name": "translation", "cycles": 0, "saturated": False},
                {"index": 6, "name": None, "cycles": 9, "saturated": False}],
            "source": {"raw": 0x1234, "size": 2, "name": None, "level": None},
            "events": {"raw": "0x1234000082001002", "size": 8,
                       "set": ["retired", "late_prefetch", "smcu"],
                       "impdef": [50, 52, 53, 57, 60], "reserved": [31]},
            "context1": 7, "context2": 0xffffffff, "timestamp": 2**64 - 1,
            "unknown": [
                {"offset": 3 + record.index(b"\x40\x11"), "header": "0x40", "size": 1,
                 "payload": "0x11"},
                {"offset": 3 + record.index(context(3, 5)), "header": "0x67", "size": 4,
                 "payload": "0x5"}],
        })

    def test_data_source(self):
        got, = self.parse(load_record(), "--cpu", "neoverse-n1")
        self.assertEqual(got["source"], {"raw": 8, "size": 1, "name": "L2", "level": "l2",
                                         "modified": False})
        self.assertNotIn("timestamp", got)

    def test_skipped(self):
        got = self.parse(load_record() + b"\x20\x20" + load_record())
        size = len(load_record())
        self.assertEqual([item["type"] for item in got], ["record", "skipped", "record"])
        self.assertEqual(got[1], {"type": "skipped", "offset": size, "size": 2,
                                  "reason": "header without a size"})

    def test_generated_is_valid(self):
        data = spe("gen", "--records", 3000, "--features", "all", "--damage", "0.05", "--truth",
                   os.devnull).stdout
        got = self.parse(data)
        self.assertGreater(len(got), 2500)
        end = 0
        for item in got:
            self.assertGreaterEqual(item["offset"], end)
            end = item["offset"] + item["size"]
        self.assertEqual(self.parse(data, "--count", 10), got[:10])

    def test_files_and_strange_names(self):
        a = self.file(load_record(), 'a"\x01\\')
        b = self.file(load_record(), os.fsdecode(b"b\xff\xc3\xa9"))
        lines = self.good("dump", "--json", a, b).decode().splitlines()
        names = [os.path.basename(json.loads(line)["file"]) for line in lines]
        self.assertEqual(names, ['a"\x01\\', "b\ufffd\u00e9"])


class Color(CommandTest):
    def on_terminal(self, *args, **env):
        """Run with standard output on a terminal; what it writes there."""
        main, side = pty.openpty()
        full = dict(os.environ, TERM="xterm")
        full.pop("NO_COLOR", None)
        full.update(env)
        process = spetest.subprocess.Popen([spetest.SPE, *args], stdout=side, stderr=side, env=full)
        process.wait()
        os.close(side)
        text = os.read(main, 100000)
        os.close(main)
        return text

    def test_only_where_wanted(self):
        path = self.file(b"\x20\x20\x20\x01")
        self.assertIn(b"\x1b[", self.on_terminal("dump", "--raw", path))
        self.assertNotIn(b"\x1b[", self.on_terminal("dump", "--raw", path, NO_COLOR="1"))
        self.assertNotIn(b"\x1b[", self.on_terminal("dump", "--raw", path, TERM="dumb"))
        self.assertIn(b"\x1b[", self.on_terminal("dump", "--raw", path, NO_COLOR=""))
        self.assertNotIn(b"\x1b[", spe("dump", "--raw", path).stdout + spe("dump", "--raw", path).stderr)
        for command in (("dump", "--raw", "--records"), ("check", "--raw")):
            self.assertIn(b"\x1b[31m", self.on_terminal(*command, path))
            self.assertNotIn(b"\x1b[", self.on_terminal(*command, path, NO_COLOR="1"))
        self.assertIn(b"\x1b[", self.on_terminal("dump", "/does/not/exist"))
        self.assertNotIn(b"\x1b[", self.on_terminal("dump", "/does/not/exist", NO_COLOR="1"))


if __name__ == "__main__":
    unittest.main()
