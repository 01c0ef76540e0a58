# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Which loads and stores save and restore registers, and which are to places of the stack where no
variable lies: what binutils and LLVM say, not what we say.

.eh_frame tells the unwinder where a function keeps its caller's registers (readelf
--debug-dump=frames-interp), and objdump tells the address of an access from the stack or frame
pointer, and where that is. An access that lies in one of these places saves or restores a register. llvm-dwarfdump
tells where variables lie. What is not understood is taken for a variable's place.
"""

import bisect
import re
import shutil
import subprocess

FDE = re.compile(r"FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)")
ROW = re.compile(r"([0-9a-f]{16}) (sp|x29)\+(\d+)(.*)")
CODE = re.compile(r"\s*([0-9a-f]+):\t(\S+)\s+(.*)")
PLACE = re.compile(r"(.*)\[(sp|x29)(?:, #(-?\d+))?\](!?)(?:, #-?\d+)?")
SP = re.compile(r"sp, sp, #(0x[0-9a-f]+|\d+)(, lsl #12)?")
WRITEBACK = re.compile(r"\[sp, #(-?\d+)\]!|\[sp\], #(-?\d+)")
BRANCH = re.compile(r"(b|bl|br|blr|ret|cbn?z|tbn?z|b\..*)$")
BYTES = {"b": 1, "h": 2, "w": 4, "s": 4, "x": 8, "d": 8, "q": 16}

UNIT = re.compile(r"^(?=0x[0-9a-f]+: DW_TAG_compile_unit)", re.M)
HEAD = 2000  # characters: a unit's name is among the first
DIE = re.compile(r"0x([0-9a-f]+): ( *)(DW_TAG_\w+|NULL)")
ATTRIBUTE = re.compile(r"\s+(DW_AT_\w+)\s+\((.*)")
RANGE = re.compile(r"\[0x([0-9a-f]+), 0x([0-9a-f]+)\)(?:: (.*))?")
BASE = re.compile(r"DW_OP_(?:fbreg|breg(29|31) \w+)\s?([+-]?\d+)")
DWARFDUMP = shutil.which("llvm-dwarfdump-19") or shutil.which("llvm-dwarfdump")


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def bytes_of(mnemonic, registers):
    """How much an access is, by its registers: stp x0, x1 is 16."""
    if mnemonic.endswith("b"):
        return 1
    if mnemonic.endswith("h"):
        return 2
    names = [r.strip() for r in registers.rstrip(", ").split(",")]
    if mnemonic.endswith("sw"):
        return 4 * len(names)
    return sum(BYTES.get(n[:1], 16) for n in names if n)


def moves(mnemonic, operands):
    """How far an instruction moves the stack pointer."""
    found = SP.match(operands) if mnemonic in ("add", "sub") else None
    if found:
        return int(found[1], 0) * (4096 if found[2] else 1) * (1 if mnemonic == "add" else -1)
    found = WRITEBACK.search(operands)
    return int(found[1] or found[2]) if found else 0


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
        self.moved = {}  # pc -> where the stack pointer is, from the CFA on
        self.read_code(output("aarch64-linux-gnu-objdump", "-d", "--no-show-raw-insn", binary))

    def read_code(self, text):
        """The stack pointer moves in front of the first branch, and back behind the last."""
        sp = body = 0
        starts = set(self.starts)
        for line in text.splitlines():
            found = CODE.match(line)
            if not found:
                continue
            pc, mnemonic, operands = int(found[1], 16), found[2], found[3]
            place = PLACE.match(operands)
            if pc in starts:
                sp = body = 0
            self.moved[pc] = sp
            if place:
                self.code[pc] = (place[2], int(place[3] or 0), bytes_of(mnemonic, place[1]))
            sp += moves(mnemonic, operands)
            if BRANCH.match(mnemonic):
                body = min(body, sp)
                sp = body if mnemonic in ("ret", "b", "br") else sp

    def frame(self, pc):
        i = bisect.bisect_right(self.starts, pc) - 1
        return self.frames[i] if i >= 0 and pc < self.frames[i][1] else None

    def from_cfa(self, pc, base, offset):
        """A place by the stack or frame pointer, from the CFA on; None: not known."""
        frame = self.frame(pc)
        now = [r for r in frame[2] if r[0] <= pc] if frame else []
        if now and now[-1][1] == base:
            return offset - now[-1][2]
        # The CFA is said from x29 alone.
        return offset + self.moved[pc] if now and base == "sp" and pc in self.moved else None

    def place(self, pc):
        """Where the instruction at pc accesses the stack, from the CFA on, and how much; or None."""
        if pc not in self.code:
            return None
        base, offset, size = self.code[pc]
        start = self.from_cfa(pc, base, offset)
        return None if start is None else (start, size)

    def has(self, pc):
        """Does the instruction at pc save or restore a register?"""
        place = self.place(pc)
        return place is not None and any(place[0] <= p < place[0] + place[1]
                                         for p in self.frame(pc)[3])


def holds(ranges, pc):
    return any(low <= pc < high for low, high in ranges)


class Variables:
    """Where the variables of functions lie on the stack that are in a program's own units."""

    def __init__(self, binary, saved, program):
        self.saved = saved
        self.dies = {}  # offset -> {"tag", "depth", attributes}
        named = re.compile(r'DW_AT_name\s+\("[^"]*' + re.escape(program))
        for unit in UNIT.split(output(DWARFDUMP, "--debug-info", binary)):
            if named.search(unit[:HEAD]):  # not a library's: Rust's has a million lines
                self.read(unit)
        self.functions = []  # (ranges, frame base, its variables)
        self.list()

    def read(self, text):
        die, attribute = {}, None
        for line in text.splitlines():
            start, found = DIE.match(line), ATTRIBUTE.match(line)
            if start:
                die = {"tag": start[3], "depth": len(start[2])}
                self.dies[int(start[1], 16)] = die
                attribute = None
            elif found:
                attribute = found[1]
                die[attribute] = found[2]
            elif attribute and line.strip():
                die[attribute] += "\n" + line.strip()

    def other(self, die, attribute):
        found = re.match(r"0x([0-9a-f]+)", die.get(attribute, ""))
        return self.dies.get(int(found[1], 16)) if found else None

    def size(self, die, depth=0):
        """Bytes of a type or variable."""
        if die is None or depth > 20:
            return 0
        if "DW_AT_byte_size" in die:
            return int(re.match(r"0x[0-9a-f]+|\d+", die["DW_AT_byte_size"])[0], 0)
        if die["tag"] in ("DW_TAG_pointer_type", "DW_TAG_reference_type", "DW_TAG_rvalue_reference_type"):
            return 8
        if die["tag"] == "DW_TAG_array_type":
            count = 1
            for n in re.findall(r"\[(\d+)\]", die.get("name", "")):
                count *= int(n)
            return count * self.size(self.other(die, "DW_AT_type"), depth + 1)
        if "DW_AT_type" in die:
            # llvm-dwarfdump names an array with its counts where it is used: "int[10]".
            of = self.other(die, "DW_AT_type")
            if of and of["tag"] == "DW_TAG_array_type":
                of = dict(of, name=die["DW_AT_type"])
            return self.size(of, depth + 1)
        return self.size(self.other(die, "DW_AT_abstract_origin"), depth + 1)

    def name(self, die, depth=0):
        if die is None or depth > 20:
            return ""
        if "DW_AT_name" in die:
            return re.match(r'"(.*)"', die["DW_AT_name"])[1]
        return self.name(self.other(die, "DW_AT_abstract_origin"), depth + 1)

    def list(self):
        inside, scopes = None, []
        for die in self.dies.values():
            while scopes and die["depth"] <= scopes[-1][0]:
                scopes.pop()
            inside = inside if scopes else None
            ranges = self.ranges(die)
            if die["tag"] == "DW_TAG_subprogram" and not inside and ranges:
                inside = (ranges, die.get("DW_AT_frame_base", ""), [])
                self.functions.append(inside)
            elif inside and die["tag"] in ("DW_TAG_variable", "DW_TAG_formal_parameter"):
                if "DW_AT_location" in die:
                    inside[2].append((die["DW_AT_location"], self.size(die), self.name(die),
                                      scopes[-1][1]))
            if inside and ranges:
                scopes.append((die["depth"], ranges))

    @staticmethod
    def ranges(die):
        if "DW_AT_ranges" in die:
            return [(int(r[0], 16), int(r[1], 16)) for r in RANGE.findall(die["DW_AT_ranges"])]
        low, high = die.get("DW_AT_low_pc"), die.get("DW_AT_high_pc")
        if not low or not high:
            return []
        return [(int(low.rstrip(")"), 16), int(high.rstrip(")"), 16))]

    def at(self, pc, start, size, everywhere=False):
        """The names of the variables that lie at a place from the CFA on, at pc. everywhere: those
        that have one place only are there in all of the function, not in their scope alone."""
        for ranges, frame_base, variables in self.functions:
            if holds(ranges, pc):
                return {name for location, whole, name, scope in variables
                        if (everywhere or holds(scope, pc) or "\n" in location) and
                        self.covers(pc, start, size, frame_base, location, whole)}
        return {"?"}  # nothing describes the function

    def covers(self, pc, start, size, frame_base, location, whole):
        pieces = RANGE.findall(location)
        now = [text for low, high, text in pieces if int(low, 16) <= pc < int(high, 16)]
        for text in now if pieces else [location]:
            for part in re.split(r"DW_OP_piece", text):
                base = BASE.search(part)
                if not base or "DW_OP_stack_value" in part:
                    continue
                at = self.cfa_of(pc, frame_base, base)
                extent = 8 if "DW_OP_deref" in part or not whole else whole
                if at is None or (at < start + size and start < at + extent):
                    return True
        return False

    def cfa_of(self, pc, frame_base, found):
        register = found[1] or {"DW_OP_reg29": "29", "DW_OP_reg31": "31"}.get(
            frame_base.split(" ")[0].rstrip(")"))
        if not register and "DW_OP_call_frame_cfa" in frame_base:
            return int(found[2])
        return self.saved.from_cfa(pc, "x29" if register == "29" else "sp", int(found[2]))
