# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Which loads and stores save and restore registers: what binutils say, not what we say.

.eh_frame tells the unwinder where a function keeps its caller's registers (readelf
--debug-dump=frames-interp), and objdump tells the address of an access from the stack or frame
pointer. An access that lies in one of these places saves or restores a register.
"""

import bisect
import re
import subprocess

FDE = re.compile(r"FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)")
ROW = re.compile(r"([0-9a-f]{16}) (sp|x29)\+(\d+)\s+(.*)")
CODE = re.compile(r"\s*([0-9a-f]+):\t(\S+)\s+(.*)")
PLACE = re.compile(r"\[(sp|x29)(?:, #(-?\d+))?\](!?)(?:, #-?\d+)?")


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Saved:
    """The frames of one program."""

    def __init__(self, binary):
        self.frames = []  # (start, end, rows of (pc, base, offset), places from the CFA)
        for line in output("aarch64-linux-gnu-readelf", "--debug-dump=frames-interp",
                           binary).splitlines():
            frame, row = FDE.search(line), ROW.match(line.strip())
            if frame:
                self.frames.append((int(frame[1], 16), int(frame[2], 16), [], set()))
            elif row and self.frames:
                self.frames[-1][2].append((int(row[1], 16), row[2], int(row[3])))
                self.frames[-1][3].update(-int(n) for n in re.findall(r"c-(\d+)", row[4]))
        self.frames.sort(key=lambda f: f[0])
        self.starts = [f[0] for f in self.frames]
        self.code = {}
        for line in output("aarch64-linux-gnu-objdump", "-d", "--no-show-raw-insn",
                           binary).splitlines():
            found = CODE.match(line)
            place = found and PLACE.search(found[3])
            if place:
                self.code[int(found[1], 16)] = (place[1], int(place[2] or 0))

    def has(self, pc):
        """Does the instruction at pc save or restore a register?"""
        i = bisect.bisect_right(self.starts, pc) - 1
        if i < 0 or pc >= self.frames[i][1] or pc not in self.code:
            return False
        _, _, rows, places = self.frames[i]
        base, offset = self.code[pc]
        now = [r for r in rows if r[0] <= pc]
        # Behind `mov x29, sp` the CFA is said from x29: the stack pointer is where it was last.
        last = [r for r in now if r[1] == base]
        return bool(last) and offset - last[-1][2] in places
