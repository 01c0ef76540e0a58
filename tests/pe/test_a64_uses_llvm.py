# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""
The registers that spe_a64_uses tells, against LLVM and binutils.

`llvm-mc --show-inst` prints the operands of an instruction as LLVM holds them: first what it
writes, then what it reads. What is read and written at once is there twice. How many operands are
written, and the registers that are not operands (flags, X30 of BL), are told by name below. Both
sets have to be the same as ours. binutils prints the names of the operands only: they have to be
what we say is read or written.

A difference is allowed only by a rule that says why; a rule that nothing needs any more fails the
test. SPE_A64_WORDS is the number of random words, 100000 unless set.
"""

import collections
import os
import random
import re
import shutil
import struct
import subprocess
import sys

from test_a64_disassemblers import Binutils, CLASSES, sample

COUNT = int(os.environ.get("SPE_A64_WORDS", "100000"))
FLAGS = 1 << 31

# Values of bits 31:24 with so many instructions that chance would miss some of them: all values of
# bits 23:10 are tried with these.
DENSE = [0x04, 0x05, 0x25, 0x44, 0x45, 0x64, 0x65,                          # SVE
         0x1e, 0x9e, 0x0e, 0x0f, 0x2e, 0x2f, 0x4e, 0x4f, 0x6e, 0x6f, 0x5e, 0x5f, 0x7e, 0x7f,  # SIMD
         0x1a, 0x3a, 0x5a, 0x9a, 0xba, 0xda,                                # register
         0xc0, 0xc1]                                                        # SME


def dense():
    rng = random.Random(20260101)
    low = [lambda: 0, lambda: 31] + [lambda: rng.getrandbits(5)] * 6
    return [top << 24 | middle << 10 | rng.choice(low)() << 5 | rng.choice(low)()
            for top in DENSE for middle in range(1 << 14)]

# What is too small to be met by chance: (fixed bits, their value)
SPARSE = [
    (0xfffff3ff, 0xdac183fe), (0xfffff81f, 0xdac1901e), (0xfffffbff, 0xdac1a3fe),  # PACNBIASPPC ...
    (0xfffffbff, 0xdac1bbfe), (0xfffffbe0, 0xdac143e0),                # AUTIA171615, XPACI
    (0xfffffbff, 0xd69f0bff), (0xffdfffff, 0xd69f03e0),                # ERETAA, ERET, DRPS
    (0xfffff0ff, 0xd500401f), (0xfffff0ff, 0xd500403f), (0xfffff0ff, 0xd500405f),  # CFINV ...
    (0xffdfffe0, 0xd51b4200), (0xffffffc0, 0xd53b2400),                # NZCV, RNDR
    (0xfffff01f, 0xd503201f), (0xffffffff, 0xd503251f),                # hints, CHKFEAT
    (0xffffffa0, 0xd52b7720), (0xffffffe0, 0xd5031000),                # GCSPOPM, WFET
    (0xfffffc00, 0x1e7e0000), (0xfffefc00, 0x9eae0000),                # FJCVTZS, FMOV of V.D[1]
    (0xffffcc00, 0x4e284800), (0xffffcc00, 0x5e280800), (0xfffff800, 0xcec08000),  # AES, SHA
    (0xfffffbe0, 0x4520e000), (0xfffff800, 0x4522e000), (0xfffff420, 0x45314000),  # SVE
    (0xfffff020, 0x650a3000), (0xff3ffe10, 0x2519c400), (0xfffffe1f, 0x25289000),
    (0xff3f9438, 0xc0040000), (0xffff9c78, 0xc0040c00), (0xff3f9501, 0xc0060000),  # SME
    (0xffff9d03, 0xc0060c00), (0xfffd8fe0, 0xc04c03e0), (0xfffecfe0, 0xc04e03e0),
    (0xfffffc23, 0xc08b0000), (0xfffffc2c, 0xc09b0000), (0xfff8cc0c, 0xc0988000),
    (0xffa39c70, 0xc1a11c00), (0xff3ffc00, 0xc123e000), (0xff3ffc00, 0xc133e000),
    (0xff3ffc00, 0xc134e000), (0xff3ffc00, 0xc135e000), (0xff30fc00, 0xc120e000),
    (0xfffffc00, 0xc1a0e000),
]


def sparse():
    rng = random.Random(20260101)
    return [rng.getrandbits(32) & ~mask & 0xffffffff | value
            for mask, value in SPARSE for _ in range(50)]


def x(n):
    return 1 << n if n < 31 else 0


def v(n):
    return 1 << (32 + n % 32)


def every(one, first, count, step=1):
    return sum(one(first + i * step) for i in range(count))


# ---- LLVM ------------------------------------------------------------------------------------

# LLVM's numbers of registers are learnt: (a word whose first operand it is, what it stands for).
# All others are none of ours: SP, XZR, predicates, ZA.
LEARN = (
    [(0xb9400000 | n, x(n)) for n in range(31)] +                    # LDR Wt
    [(0xf9400000 | n, x(n)) for n in range(31)] +                    # LDR Xt
    [(base | n, v(n)) for n in range(32) for base in
     (0x3d400000, 0x7d400000, 0xbd400000, 0xfd400000, 0x3dc00000,    # LDR Bt ... Qt
      0x85804000)] +                                                 # LDR Zt
    [(q << 30 | op | n, every(v, n, count)) for n in range(32) for q in (0, 1)
     for op, count in ((0x0c40a000, 2), (0x0c406000, 3), (0x0c402000, 4))] +  # LD1
    [(0xa400e000 | (count - 1) << 21 | n, every(v, n, count)) for n in range(32)
     for count in (2, 3, 4)] +                                       # LD2B, LD3B, LD4B
    [(0xa1400000 | n, every(v, (n & 16) | (n & 7), 2, 8))
     for n in range(32) if not n & 8] +                              # LD1B {Zt, Zt+8}
    [(0xa1408000 | n, every(v, (n & 16) | (n & 3), 4, 4))
     for n in range(32) if not n & 12] +                             # LD1B {Zt, Zt+4 ...}
    [(0x08207c00 | n << 16 | sf << 30, every(x, n, 2))
     for n in range(0, 32, 2) for sf in (0, 1)] +                    # CASP Ws, Xs
    [(0xf83fd000 | n, every(x, n, 8)) for n in range(0, 24, 2)]      # LD64B Xt
)

Instruction = collections.namedtuple("Instruction", "text opcode operands")


def program():
    """llvm-mc of LLVM 19: other versions may print operands in other ways."""
    for name in filter(None, [os.environ.get("LLVM_MC"), "llvm-mc-19", "llvm-mc"]):
        path = shutil.which(name)
        if path:
            text = subprocess.run([path, "--version"], check=True, stdout=subprocess.PIPE,
                                  text=True).stdout
            if re.search(r"version 19\.", text):
                return path
    return None


FIRST = re.compile(r"\t(.*?) *// <MCInst #\d+ (\w+)")
OPERAND = re.compile(r" *//  <MCOperand Reg:(\d+)>")
INVALID = re.compile(r"<stdin>:(\d+):1: warning: invalid instruction encoding")


def disassemble(path, words):
    """One instruction a word, None if it is none."""
    lines = "\n".join("0x%02x 0x%02x 0x%02x 0x%02x" % tuple(struct.pack("<I", word))
                      for word in words)
    run = subprocess.run([path, "--disassemble", "--show-inst", "-triple=aarch64", "-mattr=+all",
                          "-M", "no-aliases"], input=lines, check=True, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    known = []
    for line in run.stdout.splitlines():
        operand = OPERAND.match(line)
        if operand:
            known[-1].operands.append(int(operand.group(1)))
            continue
        first = FIRST.match(line)
        if first:
            known.append(Instruction(first.group(1).replace("\t", " "), first.group(2), []))
    invalid = {int(number) for number in INVALID.findall(run.stderr)}
    if len(known) + len(invalid) != len(words):
        sys.exit(f"{path}: {len(known)} and {len(invalid)} for {len(words)} words")
    known.reverse()
    return [None if i + 1 in invalid else known.pop() for i in range(len(words))]


# ---- What it writes, what it reads -----------------------------------------------------------

BACK = r"(pre|post|_POST|PreIndex|PostIndex|writeback)$"
# How many of the first operands are written, by the name of the opcode; 1 if nothing matches. That
# is what LLVM has, but for SYSL, which writes its register.
WRITTEN = [(re.compile(pattern), count) for pattern, count in [
    (r"CPYF?[PME][RWTN]*$", 3),
    (r"(MOPS)?SETG?[PME]T?N?$", 2),
    (r"(LDP|LDIAPP)\w*" + BACK, 3),
    (r"LDN?P[A-Z]|LDA?XP|LDIAPP", 2),
    (r"(LDCLR|LDSET|SWP|RCWCLRS?|RCWSETS?|RCWSWPS?)PA?L?$", 2),
    (r"MOVAZ_", 2),
    (r"(?!LD1RO|LDR$)LD\w*" + BACK, 2),
    (r"STL?X[RP]|ST64BV", 1),
    (r"S?ST(?!\w*" + BACK + ")", 0),
    (r"(F?CCMP|CCMN|FCMP|RMIF|SETF|CTERM|WRFFR|[AX]*FLAG|CFINV|PTEST)", 0),
    (r"(B|BL|BR|BLR|BLRA[AB]Z?|BRA[AB]Z?|E?RET|E?RETA[AB](SPPC[ir])?|Bcc|BCcc|DRPS)$", 0),
    (r"(CBN?Z|TBN?Z)[WX]$", 0),
    (r"R?PRF", 0),
    (r"(AUT|PAC)I[AB](Z|SP|1716|171615|SPPC[ir]?)$|PACNBI|XPACLRI|CHKFEAT|PACM$", 0),
    (r"GCS(?!POPM|SS2)|MSR|SYSP?xt|TRCIT|WF[EI]T", 0),
]]

# Written and read, but not operands: by the name in the assembly language. What the Arm ARM says
# and LLVM does not: CTERMEQ and CTERMNE set V from C, ERET and DRPS restore the flags, MSR and MRS
# of NZCV, MRS of RNDR.
WRITES_FLAGS = re.compile(
    r"(add|sub|and|bic|adc|sbc|subp)s|f?ccmpe?|ccmn|fcmpe?|rmif|setf(8|16)|cfinv|axflag|xaflag|"
    r"fjcvtzs|rcw\w+|cpyf?p[rwtn]*|setg?pt?n?|cmp..|n?match|while..|cterm..|ptest|pfirst|pnext|"
    r"ptrues|rdffrs|brk(n|pa|pb|a|b)s|(eor|nand|nor|orn|orr)s|eret(aa|ab)?|drps|"
    r"msr nzcv, .*|mrs x\w+, rndr(rs)?")
READS_FLAGS = re.compile(
    r"adcs?|sbcs?|bc?\.\w+|cs(el|inc|inv|neg)|f?ccmpe?|ccmn|fcsel|rmif|setf(8|16)|cfinv|axflag|"
    r"xaflag|cpyf?[me][rwtn]*|setg?[me]t?n?|mrs x\w+, nzcv|cterm..")
OTHERS = [(re.compile(pattern), reads, writes) for pattern, reads, writes in [
    (r"BL$|BLR$|BLRA[AB]Z?$", 0, x(30)),
    (r"(AUT|PAC)I[AB](SP|Z|SPPC[ir]?)$|PACNBI[AB]SPPC|XPACLRI", x(30), x(30)),
    (r"RETA[AB]", x(30), 0),
    (r"(AUT|PAC)I[AB]1716$", x(16) | x(17), x(17)),
    (r"(AUT|PAC)I[AB]171615$", x(15) | x(16) | x(17), x(17)),
    (r"CHKFEAT", x(16), x(16)),
]]


def flags(pattern, text):
    name = text.split(" ", 1)[0]
    return FLAGS if pattern.fullmatch(name) or pattern.fullmatch(text.lower()) else 0


def implied(opcode):
    return next(((reads, writes) for pattern, reads, writes in OTHERS if pattern.match(opcode)),
                (0, 0))


def expected(insn, registers):
    count = next((count for pattern, count in WRITTEN if pattern.match(insn.opcode)), 1)
    sets = [registers.get(number, 0) for number in insn.operands]
    reads, writes = flags(READS_FLAGS, insn.text), flags(WRITES_FLAGS, insn.text)
    for i, operand in enumerate(sets):
        if i < count:
            writes |= operand
        else:
            reads |= operand
    more_reads, more_writes = implied(insn.opcode)
    return reads | more_reads, writes | more_writes


# ---- The comparison --------------------------------------------------------------------------

class Rule:
    def __init__(self, reason, mask, value):
        self.reason, self.mask, self.value, self.used = reason, mask, value, 0


def allowed(rules, word):
    for rule in rules:
        if word & rule.mask == rule.value:
            rule.used += 1
            return True
    return False


def unused(rules):
    return [f"nothing needs the rule: {rule.reason}" for rule in rules if not rule.used]


NEWER = [Rule("FEAT_CMPBR is newer", 0x7e000000, 0x74000000)]
LLVM = [
    Rule("FMOV to V.D[1] keeps V.D[0], which LLVM does not say", 0xfffffc00, 0x9eaf0000),
    Rule("FCVTNT to 8 bits keeps the even elements, which LLVM does not say", 0xfffffc00,
         0x650a3c00),
    Rule("CFINV whose CRm is not zero, as it should be, is an MSR for LLVM", 0xfffff0ff,
         0xd500401f),
]
BINUTILS = [
    Rule("LD64B, ST64B: the first of eight registers is named", 0xffe08c00, 0xf8208000),
    Rule("hints without a name", 0xfffff01f, 0xd503201f),
    Rule("PSEL with bits 9 and 4, which are 0 in it", 0xff20c000, 0x25204000),
]


def names(registers):
    out = [f"x{n}" for n in range(31) if registers >> n & 1]
    out += ["flags"] if registers & FLAGS else []
    return " ".join(out + [f"v{n}" for n in range(32) if registers >> (32 + n) & 1]) or "none"


def ours(words):
    """Of each word: is it allocated, what it reads, what it writes."""
    packed = struct.pack(f"<{len(words)}I", *words)
    lines = subprocess.run([CLASSES, "--uses"], input=packed, check=True,
                           stdout=subprocess.PIPE).stdout.decode().splitlines()
    if len(lines) != len(words):
        sys.exit(f"{CLASSES}: {len(lines)} lines for {len(words)} words")
    fields = (line.split() for line in lines)
    return [(allocated == "1", int(reads, 16), int(writes, 16))
            for allocated, reads, writes in fields]


def learn(path):
    found = disassemble(path, [word for word, _ in LEARN])
    return {insn.operands[0]: registers for insn, (_, registers) in zip(found, LEARN)}


def with_llvm(path, words, said):
    registers = learn(path)
    bad, opcodes, compared = [], set(), 0
    for word, insn, (_, reads, writes) in zip(words, disassemble(path, words), said):
        if not insn:
            if not allowed(NEWER, word):
                bad.append(f"{word:08x}: LLVM does not know it")
            continue
        compared += 1
        opcodes.add(insn.opcode)
        want = expected(insn, registers)
        if want != (reads, writes) and not allowed(LLVM, word):
            bad.append(f"{word:08x} {insn.text}: {names(want[0])} -> {names(want[1])}; we say "
                       f"{names(reads)} -> {names(writes)}")
    print(f"LLVM: {compared} words, {len(opcodes)} opcodes, {len(bad)} differences")
    if compared < 100000 or len(opcodes) < 5500:
        bad.append(f"{compared} words and {len(opcodes)} opcodes are too few")
    return bad + unused(LLVM + NEWER)


# ---- Names, by binutils ----------------------------------------------------------------------

RANGE = re.compile(r"\b([vz])(\d+)(\.\w+)? ?- ?[vz](\d+)")
NAME = re.compile(r"\b(?:([wx])|([bhsdqvz]))(\d+)\b")


def named(text):
    """The registers that the text names, and those of the instructions that have no operands."""
    mnemonic, _, text = text.lower().partition(" ")
    found = implied(mnemonic.upper())
    found = found[0] | found[1]
    for _, first, _, last in RANGE.findall(text):
        found |= every(v, int(first), (int(last) - int(first)) % 32 + 1)
    for general, _, number in NAME.findall(text):
        found |= x(int(number)) if general else v(int(number))
    return found


def with_binutils(words, said):
    path = shutil.which("aarch64-linux-gnu-objdump")
    judge = Binutils("binutils", path) if path else None
    if not judge or judge.version != (2, 40):
        print("binutils 2.40 is not here, LLVM judges alone")
        return []
    bad, compared = [], 0
    for word, text, (_, reads, writes) in zip(words, judge.texts(words), said):
        if not text:
            continue
        compared += 1
        want = named(text)
        if want != (reads | writes) & ~FLAGS and not allowed(BINUTILS, word):
            bad.append(f"{word:08x} {text}: {names(want)}; we say {names(reads)} -> "
                       f"{names(writes)}")
    print(f"binutils: {compared} words, {len(bad)} differences")
    return bad + unused(BINUTILS)


def main():
    path = program()
    if not path:
        print("llvm-mc of LLVM 19 is not here")
        sys.exit(77)
    words = sample(COUNT) + dense() + sparse()
    pairs = [(word, line) for word, line in zip(words, ours(words)) if line[0]]
    words, said = [word for word, _ in pairs], [line for _, line in pairs]
    bad = with_llvm(path, words, said) + with_binutils(words, said)
    for line in bad[:50]:
        print(line)
    if bad:
        sys.exit(f"{len(bad)} differences")


if __name__ == "__main__":
    main()
