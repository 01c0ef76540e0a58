# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Names in a recording are whatever its maker wants. None of them may reach a terminal as it is:
every command and every format, through a pipe and on a terminal, with names of threads, files,
symbols and source files that hold escapes, other controls, bytes that are not UTF-8 and marks that
turn text around."""

import csv
import io
import json
import os
import pty
import re
import shutil
import struct
import unittest

import recording_file as t
import spetest
from spetest import CommandTest, spe

# CSI and OSC in C0, C1 in UTF-8 and bare; BEL, CR, LF, overrides, isolates, separators, BOM.
EVIL = (b"\x1b[31m", b"\x1b]0;x\x07", b"\xc2\x9b31m", b"\xc2\x9d0;x\xc2\x9c", b"\x9b31m", b"\r\n",
        b"\xe2\x80\xae", b"\xe2\x81\xa6", b"\xd8\x9c", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"\xff\xfe")
ALL = b"".join(EVIL)

HIDDEN = {*range(0x20), *range(0x7f, 0xa0), 0xad, 0x61c, 0x180e, *range(0x200b, 0x2010),
          *range(0x2028, 0x202f), *range(0x2060, 0x2070), 0xfeff, *range(0xfff9, 0xfffc),
          *range(0xe0000, 0xe0080)} - {ord("\n")}


def text(data):
    """Bytes as the text that recording_file turns back into them."""
    return data.decode("utf-8", "surrogateescape")


class Hostile(CommandTest):
    def setUp(self):
        super().setUp()
        if not t.can_compile():
            self.skipTest("there is no compiler")
        self.program = t.Program(self.dir)
        long_name = b"an_unusually_long_name_of_a_function_that_has_to_be_shortened"
        self.symbol = ALL.ljust(len(long_name), b"x")[:len(long_name)]
        self.replace(long_name, self.symbol)
        self.source = b"\x1b\xc2\x9b\x9b\xe2\x80\xae.c"
        self.replace(b"program.c", self.source)
        self.hide(self.program, ALL[:60] + b"elf")
        # Beside it a file that is refused, so that a warning has a hostile name in it.
        self.refused = os.fsencode(self.dir) + b"/" + EVIL[2] + EVIL[6] + b"refused"
        shutil.copy(self.program.path, self.refused)
        with open(self.refused, "r+b") as f:
            f.seek(18)
            f.write(struct.pack("<H", 62))
        self.recording()

    def replace(self, old, new):
        with open(self.program.path, "rb") as f:
            data = f.read()
        self.assertIn(old, data)
        self.assertEqual(len(old), len(new))
        with open(self.program.path, "wb") as f:
            f.write(data.replace(old, new))

    def hide(self, program, name):
        path = os.fsencode(self.dir) + b"/" + name
        os.rename(program.path, path)
        program.path = text(path)

    def recording(self):
        r = t.Recording(cpus=1)
        for tid, evil in enumerate(EVIL, 10):
            r.comm(10, tid, text(evil + b"comm"))
        self.program.map(r, 10)
        r.mmap(10, 0x10000000, 0x1000, 0, text(self.refused))
        r.mmap(10, 0x20000000, 0x1000, 0, text(b"/nowhere/" + ALL))
        r.kernel_map(1 << 55, 0x1000, 0, text(b"/dev/" + ALL))
        r.features[3] = t.feature_string(text(ALL + b"host"))
        r.features[11] = struct.pack("<I", 1) + t.feature_string(text(ALL))
        pc = self.program.pc("an_unusually_long_name_of_a_function_that_has_to_be_shortened")
        data, time = b"", 1000
        for at in (pc, self.program.pc("walk"), 0x10000010, 0x20000010):
            for tid in range(10, 10 + len(EVIL)):
                data += t.sample(at, time, tid, (2, 1), 2, 3, target=pc)
                time += 1
        for address in (0x10000020, 0x20000020, pc, 1 << 55):
            data += t.sample(pc, time, 10, (1, 0), 2, 5, va=address, source=8)
        r.aux(0, data)
        self.path = os.path.join(os.fsencode(self.dir), EVIL[3] + EVIL[6] + b".data")
        r.write(self.path)

    def on_terminal(self, *args):
        """What a terminal gets, of both outputs."""
        out = b""
        pid, fd = pty.fork()
        if pid == 0:
            os.environ.update(TERM="xterm", NO_COLOR="1")
            os.execvp(spetest.SPE, [spetest.SPE, *args])
        try:
            while piece := os.read(fd, 65536):
                out += piece
        except OSError:
            pass
        os.close(fd)
        os.waitpid(pid, 0)
        return out.replace(b"\r\n", b"\n")

    def clean(self, args, out):
        try:
            shown = out.decode()
        except UnicodeDecodeError as error:
            self.fail(f"{args}: {out[error.start - 60:error.start + 20]!r}")
        bad = [c for c in shown if ord(c) in HIDDEN]
        at = shown.index(bad[0]) if bad else 0
        self.assertFalse(bad, (args, shown[max(at - 60, 0):at + 20]))

    def commands(self):
        report = [["report", *more] for more in (
            [], ["--by", "function"], ["--by", "line"], ["--by", "dso"], ["--by", "thread"],
            ["--json"], ["--csv"], ["--csv", "--by", "line"], ["--csv", "--by", "type"],
            ["--csv", "--by", "member"], ["--csv", "--by", "object"])]
        script = [["script", *more] for more in (
            [], ["-F", "comm,tid,ip,sym,symoff,dso,srcline"], ["-F", "comm"])]
        export = [["export", "--lines", "--format", f] for f in ("csv", "ndjson", "folded")]
        export.append(["export", "--task", "thread", "--format", "folded"])
        export += [["export", "--lines", "--format", f] for f in ("speedscope", "firefox")]
        export += [["export", "--format", "perfetto"]]
        export += [["export", "--format", f, "--dso", self.program.path]
                   for f in ("bolt", "autofdo")]
        other = [["check"], ["check", "--json"], ["dump"], ["dump", "--json"], ["sim", "run"],
                 ["sim", "--json"]]
        return report + script + export + other

    def test_every_command(self):
        for command in self.commands():
            raw = "--csv" in command or "csv" in command or "autofdo" in command
            result = spe(*command, os.fsdecode(self.path))
            if not raw:
                self.clean(command, result.stdout)
            self.clean(command, result.stderr)
            self.clean(command, self.on_terminal(*command, self.path))

    def test_names_are_there(self):
        """Safe, not lost: the page has the escaped names, and a warning."""
        page = spe("report", "--by", "function", "--width", "1000", os.fsdecode(self.path)).stdout
        self.assertIn(rb"\x1b[31m", page)
        self.assertIn(rb"\xc2\x9b31m", page)
        self.assertRegex(page, rb"refused is no[t]? ")

    def test_json(self):
        for args in (["report", "--json", "--by", "function"], ["check", "--json"]):
            for line in spe(*args, os.fsdecode(self.path)).stdout.splitlines():
                json.loads(line)
        want = re.sub("[\udc80-\udcff]", "\ufffd", text(self.symbol))
        rows = [json.loads(line) for line in
                spe("export", "--format", "ndjson", os.fsdecode(self.path)).stdout.splitlines()]
        self.assertIn(want, {row.get("symbol") for row in rows})

    def test_csv_is_lossless_in_a_file(self):
        out = os.path.join(self.dir, "rows.csv")
        for args, data in ((["--format", "csv"], None), (["--format", "csv", "-o", out], out)):
            result = spe("export", *args, os.fsdecode(self.path))
            content = result.stdout
            if data:
                with open(data, "rb") as f:
                    content = f.read()
            rows = csv.DictReader(io.StringIO(text(content), newline=""))
            self.assertIn(self.symbol, {row["symbol"].encode("utf-8", "surrogateescape")
                                        for row in rows})

    def test_messages(self):
        """A file that is not there, a word that is no number, and a script with a bad statement."""
        for evil in EVIL:
            name = os.fsdecode(os.path.join(os.fsencode(self.dir), evil + b"none"))
            for command in ("report", "script", "check", "dump", "sim"):
                result = spe(command, name)
                self.assertNotEqual(result.returncode, 0)
                self.clean([command, name], result.stderr)
            self.clean(evil, spe("report", "--width", os.fsdecode(evil)).stderr)
            self.clean(evil, spe("sim", self.file(evil + b" 1 2 3\n", "evil.sim")).stderr)
            self.clean(evil, spe(os.fsdecode(evil)).stderr)


if __name__ == "__main__":
    spetest.need_symbols()
    unittest.main()
