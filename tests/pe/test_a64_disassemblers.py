# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""
The A64 classifier against two disassemblers: binutils and LLVM.

Random words, stratified over the encoding space, are disassembled by both. What each says (mnemonic
and operands, without aliases) is mapped here to what SPE calls the operation, and compared with the
classifier's word, from which `a64_classes` prints the same line. Differences are allowed only by a
rule below that says why; a rule that nothing needs any more fails the test, for the versions that
the rules were written for.

SPE_A64_WORDS is the number of words, 300000 unless set.
"""

import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

COUNT = int(os.environ.get("SPE_A64_WORDS", "300000"))
CLASSES = os.environ["SPE_A64_CLASSES"]

# ---- The words -------------------------------------------------------------------------------

# Groups that are too small to be met by chance: (fixed bits, their value)
SPARSE = [
    (0xfffff000, 0xd5032000), (0xfffff000, 0xd5033000), (0xfffff000, 0xd5031000),
    (0xfff8f000, 0xd5004000), (0xffdff000, 0xd50b7000), (0xffdff000, 0xd5087000),
    (0xffdff000, 0xd50c7000), (0xffdff000, 0xd50e7000), (0xffd8f01f, 0xd508701f),
    (0xfffffc00, 0xd61f0800), (0xff9fc000, 0xd61f0000), (0xfe1ff000, 0xd61f0000),
    (0xffe0001c, 0xd4000000), (0xff00001c, 0xd4000000), (0xff80001f, 0x5500001f),
    (0x3f207c00, 0x08207c00), (0x3fa07c00, 0x08a07c00), (0x3ffffc00, 0x38bfc000),
    (0xffe0fc00, 0xf8209000), (0xffff8c00, 0xf83f8000), (0x3f200c00, 0x19000000),
    (0xffe00c00, 0xd9000c00), (0xff200000, 0xd9200000), (0xff3ff000, 0xd9200000),
    (0xfb200c00, 0x19000400), (0xbf200c00, 0x19200000), (0xbf20f800, 0x19200800),
    (0x3f200c00, 0x1d000800), (0xbfa0ec00, 0x99000800), (0xbf9ffc00, 0x99800800),
    (0xbfbf0000, 0x0c000000), (0xbf9f0000, 0x0d000000), (0xbf9ffc00, 0x0d018400),
    (0xffffc000, 0xdac10000), (0xfffff000, 0xdac18000), (0xffffffe0, 0xd91f0c00),
    (0xffffec00, 0xd91f0c00), (0xffff3fff, 0xdac103fe), (0xfffff3e0, 0xd65f03e0),
    (0x3fe00410, 0x3a400000), (0x7ffff000, 0x5ac00000), (0x9fe08400, 0x0e000400),
    (0x9f3e0c00, 0x0e200800), (0xdf3e0c00, 0x5e200800), (0x9f3e0c00, 0x0e300800),
    (0xffe00000, 0xce600000), (0xff3e0000, 0x1e220000), (0xff3e7c00, 0x1e204000),
    (0xffff0000, 0x00000000), (0xfff80000, 0xc0080000), (0xffff0000, 0xc0480000),
    (0xffe00000, 0xc1200000), (0xff3c0000, 0xc0000000), (0xff3fc000, 0x2518c000),
    (0xff3ff000, 0x2518e000), (0xff3ff000, 0x25207000), (0xffffffc0, 0x2528f000),
    (0xfff0ffe0, 0x05103fe0), (0xff300000, 0x45300000), (0xff3ef000, 0x65083000),
    (0xff20e000, 0x4520e000), (0xff38e000, 0x6508a000), (0xff38e000, 0x6518a000),
    (0xffdffc1f, 0xe11f8000), (0xfffffff0, 0xc0480000), (0xfffc9ff0, 0xc00c0000),
    (0xffe0f000, 0xe1000000), (0xfffc0000, 0xc0480000),
]
FIELDS = [0, 5, 10, 16]  # where registers are


def sample(count):
    """Words with each value of the top byte alike, and the sparse groups; a quarter of the
    register fields hold 31 or are even."""
    rng = random.Random(20260101)
    out = []
    strata = [(0xff000000, top << 24) for top in range(256)] + SPARSE * 2
    for i in range(count):
        mask, value = strata[i % len(strata)]
        word = rng.getrandbits(32)
        if rng.random() < 0.5:
            field = rng.choice(FIELDS)
            word |= 31 << field
            if rng.random() < 0.2:
                word &= ~(31 << field)
        out.append((word & ~mask & 0xffffffff) | (value & mask))
    return out


# ---- The disassemblers -----------------------------------------------------------------------

class Judge:
    """A disassembler: texts(words) gives one text a word, '' if it knows no instruction."""

    def __init__(self, name, program):
        self.name = name
        self.program = program
        text = subprocess.run([program, "--version"], check=True, stdout=subprocess.PIPE,
                              text=True).stdout
        self.version = tuple(int(n) for n in re.search(r"(\d+)\.(\d+)", text).groups())

    def lines(self, path):
        raise NotImplementedError

    def image(self, code):
        raise NotImplementedError

    def texts(self, words):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "words")
            with open(path, "wb") as file:
                file.write(self.image(struct.pack(f"<{len(words)}I", *words)))
            found = self.lines(path)
        if len(found) != len(words):
            sys.exit(f"{self.name}: {len(found)} lines for {len(words)} words")
        return found


class Binutils(Judge):
    def image(self, code):
        return code

    def lines(self, path):
        out = subprocess.run([self.program, "-D", "-z", "-b", "binary", "-m", "aarch64", "-M",
                              "no-aliases", path], check=True, stdout=subprocess.PIPE, text=True)
        found = []
        for line in out.stdout.splitlines():
            parts = line.split("\t", 2)
            if len(parts) == 3 and parts[0].rstrip().endswith(":"):
                text = parts[2].split("//")[0].replace("\t", " ").strip()
                found.append("" if text.startswith(".inst") else text)
        return found


class Llvm(Judge):
    def image(self, code):
        """The least ELF that has a .text section."""
        names = b"\0.text\0.shstrtab\0"
        head = 64
        code_at, names_at = head, head + len(code)
        sections_at = (names_at + len(names) + 7) & ~7
        elf = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 1, 183, 1, 0, 0,
                          sections_at, 0, 64, 0, 0, 64, 3, 2)

        def section(name, kind, flags, at, size):
            return struct.pack("<IIQQQQIIQQ", name, kind, flags, 0, at, size, 0, 0, 4, 0)

        table = (section(0, 0, 0, 0, 0) + section(1, 1, 6, code_at, len(code)) +
                 section(7, 3, 0, names_at, len(names)))
        body = elf + code + names
        return body + bytes(sections_at - len(body)) + table

    def lines(self, path):
        out = subprocess.run([self.program, "-d", "--mattr=+all", "-M", "no-aliases",
                              "--no-print-imm-hex", "--no-show-raw-insn", path], check=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        found = []
        for line in out.stdout.splitlines():
            head, colon, text = line.partition(":")
            if colon and re.fullmatch(r" *[0-9a-f]+", head):
                text = text.replace("\t", " ").strip()
                found.append("" if text == "<unknown>" else text)
        return found


# ---- What SPE calls it -----------------------------------------------------------------------

WIDTH = {"b": 1, "h": 2, "s": 4, "d": 8, "q": 16, "w": 4, "x": 8}
SUFFIX = {"b": 1, "sb": 1, "h": 2, "sh": 2, "w": 4, "sw": 4, "d": 8, "q": 16}
FLOATS = re.compile(r"(bf|f)\w|[su]cvtf")
NOT_FLOAT = {"bfm"}

CONDITIONAL = {"csel", "csinc", "csinv", "csneg", "ccmp", "ccmn"}
CMO = re.compile(r"^(i|ig|igd|c|cg|cgd|ci|cig|cigd)va(c|u|p|dp|oc)$")
AT = re.compile(r"^s1e[0123][rw]p?$|^s12e[01][rw]$|^s1e[123]a$")


def words_of(kind, *flags):
    return " ".join([kind] + [flag for flag in flags if flag])


def register_class(name):
    """Of a scalar register: general, fp or simd, and its bytes."""
    if name[0] in "wx" or name in ("sp", "wsp"):
        return "general", 4 if name[0] == "w" else 8
    return ("simd" if name[0] == "q" else "fp"), WIDTH[name[0]]


def split_operands(ops):
    """At the top-level commas."""
    out, depth, at = [], 0, 0
    for i, c in enumerate(ops):
        if c in "[{":
            depth += 1
        elif c in "]}":
            depth -= 1
        elif c == "," and depth == 0:
            out.append(ops[at:i].strip())
            at = i + 1
    out.append(ops[at:].strip())
    return out


def list_length(text):
    """Registers of {z0.h - z3.h}, {z0.h, z8.h}, {v0.8b-v3.8b}"""
    span = re.match(r"\{\s*[a-z]+(\d+)[.\w]*\s*-\s*[a-z]+(\d+)", text)
    if span:
        return (int(span.group(2)) - int(span.group(1))) % 32 + 1
    return text.count(",") + 1


def simd_structure(m, ops):
    load = m.startswith("ld")
    regs = ops[0]
    count = list_length(regs.split("}")[0] + "}")
    arrangement = re.search(r"\.(\d*)([bhsd])", regs)
    element = WIDTH[arrangement.group(2)]
    if m.endswith("r") or "}[" in regs.replace(" ", ""):
        total = count * element
    else:
        total = count * element * int(arrangement.group(1) or 1)
    ar = "ar" if m in ("ldap1", "stl1") else ""
    return words_of("load" if load else "store", "simd", "reads" if load else "writes", ar,
                    f"bytes={total}")


def sve_transfer(m, ops, text):
    load = m.startswith("ld")
    kind = "load" if load else "store"
    way = "reads" if load else "writes"
    first = ops[0]
    if m in ("ldr", "str"):
        if first.startswith("zt0"):
            return words_of(kind, "sme", way, "zt", "bytes=64")
        if first.startswith("za"):
            return words_of(kind, "sme", way, "bytes=16")
        if first.startswith("z"):
            return words_of(kind, "sve", way, "bytes=16")
        return words_of(kind, "sve", way, "predicate", "only-predicates", "bytes=2")
    if "za" in first:
        return words_of(kind, "sme", way, "predicated", "predicate", "bytes=16")
    match = re.fullmatch(r"(?:ld|st)(?:ff|nf|nt)?([1-4])(r|rq|ro)?(sb|sh|sw|[bhwdq])", m)
    structure, replicate, msize = match.groups()
    lane = WIDTH[re.search(r"\.([bhsdq])", first).group(1)]
    count = list_length(first)
    element = SUFFIX[msize]
    counter = re.search(r"\bpn\d", ops[1])
    # a vector among the addresses, anywhere
    gather = re.search(r"\bz\d+\.", text.split("[", 1)[1])
    if gather:
        total = ""
    elif replicate:
        total = {"r": element, "rq": 16, "ro": 32}[replicate]
    else:
        total = 16 * count * element // lane
    vectors = f"vectors={count}" if count > 1 else ""
    return words_of(kind, "sve", way, "predicated", "predicate", "counter" if counter else "",
                    "gather" if gather else "", vectors, f"bytes={total}" if total else "")


def atomic(m, ops):
    match = re.fullmatch(r"(ld|st)(add|clr|eor|set|smax|smin|umax|umin)(a?)(l?)(b|h|)", m)
    if match:
        _, _, a, l, size = match.groups()
        width = SUFFIX[size] if size else register_class(ops[0])[1]
        discards = ops[1] in ("wzr", "xzr")
        returns = not discards or a
        ar = (a and not discards) or l
        return words_of("atomic", "general", "reads", "writes", "returns" if returns else "",
                        "ar" if ar else "", f"bytes={width}")
    match = re.fullmatch(r"(swp|cas|casp|swpp|ldclrp|ldsetp|rcws?(?:cas|casp|clr|clrp|set|setp|swp|"
                         r"swpp))(a?)(l?)(b|h|)", m)
    if not match:
        return None
    name, a, l, size = match.groups()
    width = SUFFIX[size] if size else register_class(ops[0])[1]
    if name.endswith("p") and name not in ("swp", "rcwswp", "rcwsswp"):
        width *= 2
    discards = ops[1] in ("wzr", "xzr") and (name == "swp" or re.match("rcws?(clr|set|swp)$", name))
    ar = (a and not discards) or l
    return words_of("atomic", "general", "reads", "writes", "returns", "ar" if ar else "",
                    f"bytes={width}")


def plain_transfer(m, ops):
    """LDR and its kind, of one or two general-purpose or SIMD&FP registers."""
    match = re.fullmatch(
        r"(ld|st)(n?p(?:sw)?|iapp|ilp|xp|axp|lxp|r|ur|tr|ar|lar|lr|llr|lur|apr|apur|xr|axr|lxr)"
        r"(sb|sh|sw|b|h|)", m)
    if not match:
        return None
    way, form, size = match.groups()
    load = way == "ld"
    exclusive = "x" in form
    ordered = (form in ("ar", "lar", "apr", "apur", "axr", "axp", "iapp") if load else
               form in ("lr", "llr", "lur", "lxr", "lxp", "ilp"))
    data = ops[1] if exclusive and not load else ops[0]
    registers, width = register_class(data)
    if size:
        width = SUFFIX[size]
    if form == "psw":
        width = 4
    if form.endswith("p") or form == "psw" or form == "npsw":
        width *= 2
    return words_of("load" if load else "store", registers, "reads" if load else "writes",
                    "ar" if ordered else "", "exclusive" if exclusive else "", f"bytes={width}")


def system(m, ops):
    name = ops[0].lower() if ops and ops[0] else ""
    if m == "dc" and name in ("zva", "gva", "gzva"):
        return words_of("zva", "writes")
    if (m == "dc" and CMO.match(name)) or (m == "ic" and name == "ivau"):
        return words_of("cmo", "bytes=1")
    if m == "at" and AT.match(name):
        return words_of("at", "bytes=1")
    if m in ("gcspushm", "gcspushx"):
        return words_of("gcs", "writes", "bytes=8" if m == "gcspushm" else "bytes=32")
    if m in ("gcspopm", "gcspopx", "gcspopcx"):
        return words_of("gcs", "reads", "bytes=8" if m == "gcspopm" else "bytes=32")
    if m == "gcsss1":
        return words_of("gcs", "reads", "writes", "returns", "bytes=8")
    if m == "gcsss2":
        return words_of("gcs", "reads", "writes", "bytes=8")
    if m == "sys" or m == "sysl":
        numbers = [op.lower().lstrip("#c") for op in (ops if m == "sys" else ops[1:])]
        found = NAMED.get((m, *numbers[:4]))
        return None if found and found.endswith("=32") and len(numbers) > 4 else found
    return None


def named():
    """SYS op1, Cn, Cm, op2 without aliases: C5.3 and others"""
    table = {}
    for op1, cm, op2 in [(0, 6, 1), (0, 6, 3), (0, 6, 5), (3, 5, 1), (3, 11, 1), (3, 11, 0),
                         (3, 11, 7), (3, 15, 0), (3, 15, 7)] + [
                             (3, cm, op2) for cm in (10, 12, 13, 14) for op2 in (1, 3, 5)]:
        table["sys", str(op1), "7", str(cm), str(op2)] = words_of("cmo", "bytes=1")
    for op2 in (1, 3, 4):
        table["sys", "3", "7", "4", str(op2)] = words_of("zva", "writes")
    for op1, cm, op2s in [(0, 8, (0, 1, 2, 3)), (0, 9, (0, 1, 2)), (4, 8, (0, 1, 4, 5, 6, 7)),
                          (4, 9, (2,)), (6, 8, (0, 1)), (6, 9, (2,))]:
        for op2 in op2s:
            table["sys", str(op1), "7", str(cm), str(op2)] = words_of("at", "bytes=1")
    table["sys", "0", "7", "7", "4"] = words_of("gcs", "writes", "bytes=32")
    table["sys", "0", "7", "7", "5"] = words_of("gcs", "reads", "bytes=32")
    table["sys", "0", "7", "7", "6"] = words_of("gcs", "reads", "bytes=32")
    table["sys", "3", "7", "7", "0"] = words_of("gcs", "writes", "bytes=8")
    table["sysl", "3", "7", "7", "1"] = words_of("gcs", "reads", "bytes=8")
    table["sys", "3", "7", "7", "2"] = words_of("gcs", "reads", "writes", "returns", "bytes=8")
    table["sysl", "3", "7", "7", "3"] = words_of("gcs", "reads", "writes", "bytes=8")
    return table


NAMED = named()


def displacement_of(op, here):
    number = re.match(r"#?(-?0x[0-9a-f]+|-?\d+)", op)
    distance = (int(number.group(1), 0) - here) & 0xffffffffffffffff
    return distance - (1 << 64) if distance >> 63 else distance


EXTEND = {"uxtw": 2, "lsl": 3, "sxtw": 6, "sxtx": 7}


def extension(parts):
    """':extend<<shift' of what follows an index register"""
    if not parts:
        return ":3<<0"
    name, _, amount = parts[0].partition(" ")
    return f":{EXTEND[name]}<<{int(amount.lstrip('#') or '0', 0)}"


def register_number(name):
    return 31 if name in ("sp", "xzr", "wzr") else int(name[1:].split(".")[0])


def address(m, ops, rest, here):
    """What a64_classes says after at=, from the last bracket with a register or from a literal"""
    found = re.findall(r"\[((?:x|sp|z)[^\]]*)\]", rest)
    if not found:
        return f"at=pc{displacement_of(ops[-1], here):+}"
    parts = [part.strip() for part in found[-1].split(",")]
    base, index = parts[0], parts[1] if len(parts) > 1 else "#0"
    number = register_number(base)
    if base[0] == "z":
        extend = 2 if base.endswith(".s") else 3
        if index[0] == "x":
            scalar = "" if index == "xzr" else f"x{register_number(index)}+"
            return f"at={scalar}z{number}:{extend}<<0+0"
        return f"at=z{number}:{extend}<<0{int(index[1:], 0):+}"
    if index[0] == "z":
        return f"at=x{number}+z{register_number(index)}{extension(parts[2:])}+0"
    if index[0] in "xw":
        return f"at=x{number}+x{register_number(index)}{extension(parts[2:])}"
    offset = int(index[1:], 0)
    return f"at=x{number}{offset:+}" + ("vl" if "mul vl" in found[-1] and offset else "")


def branch(m, ops, here):
    def displacement(op):
        return displacement_of(op, here)

    if m in ("b", "bl"):
        return words_of("branch", "link" if m == "bl" else "",
                        f"displacement={displacement(ops[0])}")
    if m.startswith(("b.", "bc.")):
        return words_of("branch", "conditional", f"displacement={displacement(ops[0])}")
    if m in ("cbz", "cbnz", "tbz", "tbnz"):
        return words_of("branch", "conditional", f"displacement={displacement(ops[-1])}")
    if re.fullmatch(r"br(a[ab]z?)?", m):
        return words_of("branch", "indirect")
    if re.fullmatch(r"blr(a[ab]z?)?", m):
        return words_of("branch", "indirect", "link")
    if re.fullmatch(r"ret(a[ab](sppcr?)?)?", m):
        return words_of("branch", "indirect", "return")
    if re.fullmatch(r"eret(a[ab])?", m):
        return words_of("eret", "indirect")
    return None


def vector_processing(m, ops, text):
    """SVE and SME data processing, by the registers of the operands."""
    if m == "zero" and ops[0] == "{}":
        return "sme-tile"
    has_z = re.search(r"\bz\d+\b", text)
    has_p = re.search(r"\bpn?\d+\b", text) or m in ("setffr", "rdffr", "wrffr")
    za = re.search(r"\bza", text)
    zt = "zt0" in text
    if not (has_z or has_p or za or zt):
        return None
    floating = is_float(m)
    writes_vector = re.match(r"\{? *z[\da]", ops[0])
    predicated = writes_vector and re.search(r"\bpn?\d+/[mz]", text)
    if za and not re.search(r"\bza\d*[hv]?(\.[bhsdq])? *\[", text):
        kind = "sme-tile"
    elif za:
        kind = "sme-vector"
    else:
        kind = "sve"
    only = has_p and not has_z and not za
    counter = only and re.search(r"\bpn\d", text)
    return words_of(kind, "float" if floating else "", "predicated" if predicated else "",
                    "predicate" if has_p else "", "only-predicates" if only else "",
                    "counter" if counter else "", "zt" if zt else "", vectors_of(kind, ops))


def vectors_of(kind, ops):
    """How many vectors the output has, if more than one or if SME says it with a list."""
    first = ops[0]
    if kind == "sme-vector" and first.startswith("za"):
        span = re.search(r"(\d+):(\d+)", first)
        deep = int(span.group(2)) - int(span.group(1)) + 1 if span else 1
        group = re.search(r"vgx(\d)", first)
        count = deep * int(group.group(1) if group else 1)
        return f"vectors={count}" if count > 1 else ""
    if kind == "sme-tile" or not re.match(r"\{ *z\d", first):
        return ""
    count = list_length(first)
    return f"vectors={count}" if count > 1 else ""


def is_float(m):
    return bool(FLOATS.match(m)) and m not in NOT_FLOAT


def data_processing(m, ops, text):
    if m in CONDITIONAL:
        return words_of("other", m)
    if m == "fcsel":
        return words_of("other", "fcsel", "float")
    if m in ("fccmp", "fccmpe"):
        return words_of("other", "fccmp", "float")
    vector = vector_processing(m, ops, text)
    if vector:
        return vector
    simd = re.search(r"\bv\d+\b", text)
    scalar = re.search(r"\b[bhsdq]\d+\b", text)
    if not simd and not scalar:
        return "other"
    floating = is_float(m)
    if simd and m == "fmov" and ".d[1]" in text.replace(" ", ""):
        return words_of("other", "float")
    return words_of("other", "float" if floating else "",
                    "asimd" if simd or not floating or m in SCALAR_ASIMD else "")


# Advanced SIMD scalar instructions whose operands look like those of scalar floating-point
SCALAR_ASIMD = {
    "fabd", "fmulx", "fcmeq", "fcmge", "fcmgt", "fcmle", "fcmlt", "facge", "facgt", "frecps",
    "frsqrts", "frecpe", "frsqrte", "frecpx", "fcvtxn", "faddp", "fmaxp", "fminp", "fmaxnmp",
    "fminnmp",
}
# ... and those that exist in both groups: the scalar ones have a general-purpose register.
TWO_GROUPS = re.compile(r"fcvt[nmpza][su]|[su]cvtf")


def expected(text, here):
    """The line of a64_classes for what a disassembler says."""
    found = operation(text, here)
    if found.split()[0] not in ("load", "store", "atomic", "prefetch", "sve-prefetch", "gcs"):
        return found
    m, _, rest = text.lower().partition(" ")
    rest = re.sub(r"\s+", " ", rest).strip()
    if found.startswith("gcs") and "[" not in rest:
        return found
    return f"{found} {address(m, split_operands(rest), rest, here)}"


def operation(text, here):
    """... all of it but the address"""
    m, _, rest = text.partition(" ") if " " in text else (text, "", "")
    m, rest = m.lower(), re.sub(r"\s+", " ", rest.lower()).strip()
    ops = split_operands(rest) if rest else [""]
    found = branch(m, ops, here)
    if found:
        return found
    if m in ("wfe", "wfi", "wfet", "wfit"):
        return "wfx"
    if m == "hint" and ops[0] in ("#2", "#0x2", "#3", "#0x3"):
        return "wfx"
    if m == "isb":
        return "isb"
    found = system(m, ops)
    if found:
        return found
    if m in ("sys", "sysl", "sysp", "smstart", "smstop"):
        return "other"
    if m in ("prfm", "prfum", "rprfm"):
        return words_of("prefetch", "bytes=1")
    if re.fullmatch(r"prf[bhwd]", m):
        gather = re.search(r"\bz\d+\.", rest)
        return words_of("sve-prefetch", "predicate", "gather" if gather else "",
                        "" if gather else "bytes=16")
    if re.fullmatch(r"cpyf?[pme]\w*", m):
        return words_of("copy", "reads", "writes")
    if re.fullmatch(r"setg?[pme](t|n|tn)?", m):
        return words_of("set", "writes")
    if m in ("gcsstr", "gcssttr"):
        return words_of("gcs", "writes", "bytes=8")
    if m == "ld64b":
        return words_of("load", "general", "reads", "bytes=64")
    if m == "st64b":
        return words_of("store", "general", "writes", "bytes=64")
    if m in ("st64bv", "st64bv0"):
        return words_of("store", "general", "writes", "st64bv", "bytes=64")
    tags = {"ldg": ("load", "tag", "reads", 16), "ldgm": ("load", "tag", "reads", 0),
            "stgm": ("store", "tag", "writes", 0), "stzgm": ("store", "tag-data", "writes", 0),
            "stg": ("store", "tag", "writes", 16), "st2g": ("store", "tag", "writes", 32),
            "stzg": ("store", "tag-data", "writes", 16),
            "stz2g": ("store", "tag-data", "writes", 32),
            "stgp": ("store", "tag-data", "writes", 16)}
    if m in tags:
        kind, registers, way, size = tags[m]
        return words_of(kind, registers, way, f"bytes={size}" if size else "")
    if m in ("ldraa", "ldrab"):
        return words_of("load", "general", "reads", "bytes=8")
    if re.match(r"\{? *v\d", rest) and re.match(r"(ld|st)[1-4a-z]", m) and "[" in rest:
        return simd_structure(m, ops)
    if re.match(r"\{? *(z|p)[\da]|zt0", rest) and re.match(r"(ld|st)(r$|[1-4fn])", m):
        return sve_transfer(m, ops, rest)
    found = atomic(m, ops) or plain_transfer(m, ops)
    if found:
        return found
    found = data_processing(m, ops, rest)
    if found == "other float" and TWO_GROUPS.fullmatch(m) and not re.search(r"\b[wx](\d|zr)", rest):
        return "other float asimd"
    return found


# ---- Differences that are as they should be --------------------------------------------------

class Rule:
    def __init__(self, reason, applies):
        self.reason = reason
        self.applies = applies  # of (word, text, what that asks for, what we say)
        self.used = 0


def newer(feature, mask, value):
    """We know what the disassembler does not, yet."""
    return Rule(f"{feature} is newer", lambda word, text, want, ours:
                not text and ours != "unallocated" and word & mask == value)


def lax(reason, mask, value):
    """It takes for an instruction what the architecture does not."""
    return Rule(reason, lambda word, text, want, ours:
                text and ours == "unallocated" and word & mask == value)


def strict(reason, mask, value):
    """It refuses what the architecture leaves to the implementation, or ignores."""
    return Rule(reason, lambda word, text, want, ours:
                not text and ours != "unallocated" and word & mask == value)


LLVM_19 = [
    Rule("without aliases it shows a shift by LSL that S, which is 0, does not ask for",
         lambda word, text, want, ours: word & 0x3b20fc00 == 0x38206800 and
         re.sub(r":3<<\d", ":3<<0", want) == ours),
    newer("FEAT_CMPBR", 0x7e000000, 0x74000000),
    lax("MSR, MRS in the place of barriers, hints and PSTATE", 0xffd00000, 0xd5000000),
    lax("MSRR, MRRS with op0 of 0 and 1", 0xffd00001, 0xd5400000),
    lax("Memory Copy and Set with XZR or one register twice: CONSTRAINED UNPREDICTABLE, which may "
        "be UNDEFINED", 0xfb200c00, 0x19000400),
]

BINUTILS_2_40 = [
    Rule("RPRFM is newer, PRFM of the same word has an index", lambda word, text, want, ours:
         text.startswith("prfm #") and word & 0xffe00c18 == 0xf8a00818),
    lax("MSR, MRS in the place of barriers, hints and PSTATE", 0xffd00000, 0xd5000000),
    Rule("PSEL with bits 9 and 4, which are 0 in it", lambda word, text, want, ours:
         text.startswith("psel") and word & 0x210),
    lax("CPY of a shifted byte", 0xfff0a000, 0x05102000),
    lax("MOVA with bit 16, which is 0 in it", 0xff3d0000, 0xc0010000),
    lax("LD64B, ST64B of registers that are not eight, or from an odd one", 0xffe08c00, 0xf8208000),
    lax("FMLAL, FMLSL with size<0>", 0x9f60d400, 0x0e60c400),
    strict("ADDG, SUBG: op3 should be zero, but is ignored", 0xbfc00000, 0x91800000),
    strict("LDAR, LDLAR, STLR, STLLR: Rs and Rt2 should be 31, but are ignored", 0x3fa00000,
           0x08800000),
    strict("LDPSW of one register twice: CONSTRAINED UNPREDICTABLE", 0xfe400000, 0x68400000),
    newer("FEAT_CMPBR", 0x7e000000, 0x74000000),
    newer("FEAT_PAuth_LR: RETAASPPC", 0xffc0001f, 0x5500001f),
    newer("FEAT_PAuth_LR: AUTIASPPC", 0xffc0001f, 0xf380001f),
    newer("FEAT_PAuth_LR: RETAASPPCR", 0xfffffbe0, 0xd65f0be0),
    newer("FEAT_PAuth_LR: PACIASPPC, AUTIASPPCR", 0xffffc000, 0xdac18000),
    newer("FEAT_GCS", 0xffffec00, 0xd91f0c00),
    newer("FEAT_LRCPC3: LDIAPP, STILP", 0xbfa0ec00, 0x99000800),
    newer("FEAT_LRCPC3: LDAPR, STLR with writeback", 0xbfbffc00, 0x99800800),
    newer("FEAT_LRCPC3: LDAP1, STL1", 0xbfbffc00, 0x0d018400),
    newer("FEAT_LRCPC3: LDAPUR (SIMD&FP)", 0x3f200c00, 0x1d000800),
    newer("FEAT_LSE128, FEAT_THE", 0xbf200000, 0x19200000),
    newer("FEAT_THE: RCWSWP", 0xbf20cc00, 0x38208000),
    newer("FEAT_D128: MSRR, MRRS", 0xffd00000, 0xd5500000),
    newer("FEAT_D128: SYSP", 0xfff80000, 0xd5480000),
    newer("FEAT_CPA: ADDPT", 0xbfe0e000, 0x9a002000),
    newer("FEAT_CPA: MADDPT", 0xffe00000, 0x9b600000),
    newer("SVE2.1, FEAT_CPA", 0xff000000, 0x04000000),
    newer("SVE2.1", 0xff000000, 0x05000000),
    newer("SVE2.1", 0xff000000, 0x25000000),
    newer("SVE2.1, FEAT_CPA", 0xff000000, 0x44000000),
    newer("SVE2.1, FEAT_LUT", 0xff000000, 0x45000000),
    newer("SVE2.1, FEAT_FP8", 0xff000000, 0x64000000),
    newer("SVE2.1, FEAT_FP8, FEAT_FAMINMAX", 0xff000000, 0x65000000),
    newer("SVE2.1", 0xfe000000, 0xa4000000),
    newer("SVE2.1", 0xfe000000, 0xc4000000),
    newer("SVE2.1", 0xfe000000, 0xe4000000),
    newer("FEAT_FP8, FEAT_FAMINMAX, FEAT_LUT", 0x9f000000, 0x0e000000),
    newer("FEAT_FP8", 0x9f000000, 0x0f000000),
    newer("SME2", 0xde800000, 0x80800000),
    newer("SME2", 0xfe800000, 0xa0000000),
    newer("SME2", 0xfe000000, 0xc0000000),
    newer("SME2", 0xfe000000, 0xe0000000),
]


def compare(judge, rules, words, ours):
    """Returns differences that no rule allows."""
    bad = []
    for i, text in enumerate(judge.texts(words)):
        want = expected(text, 4 * i) if text else "unallocated"
        if want == ours[i]:
            continue
        for rule in rules:
            if rule.applies(words[i], text, want, ours[i]):
                rule.used += 1
                break
        else:
            bad.append(f"{words[i]:08x} {text or '(nothing)'}: {want}; we say {ours[i]}")
    return bad


def consistent(words, ours):
    """What holds for any word, whatever it is."""
    bad = []
    ways = {"load": {"reads"}, "store": {"writes"}, "atomic": {"reads", "writes"},
            "zva": {"writes"}, "copy": {"reads", "writes"}, "set": {"writes"}}
    for word, line in zip(words, ours):
        kind, *flags = line.split()
        way = {flag for flag in flags if flag in ("reads", "writes")}
        if kind != "gcs" and way != ways.get(kind, set()):
            bad.append(f"{word:08x}: {line}: which way?")
        if kind == "gcs" and not way:
            bad.append(f"{word:08x}: {line}: no access")
        direct = any(flag.startswith("displacement=") for flag in flags)
        if direct == ("indirect" in flags) and kind in ("branch", "eret"):
            bad.append(f"{word:08x}: {line}: direct or indirect?")
        if kind not in ("branch", "eret") and (direct or "indirect" in flags):
            bad.append(f"{word:08x}: {line}: no branch")
        if "only-predicates" in flags and "predicate" not in flags:
            bad.append(f"{word:08x}: {line}: no predicate")
    return bad


def judges():
    objdump = shutil.which("aarch64-linux-gnu-objdump")
    if objdump:
        judge = Binutils("binutils", objdump)
        if judge.version == (2, 40):
            yield judge, BINUTILS_2_40, (2, 40)
        else:
            print(f"binutils {judge.version}: the rules are for 2.40 (Debian 12), LLVM judges alone")
    candidates = [os.environ.get("LLVM_OBJDUMP"), "llvm-objdump-19", "llvm-objdump"]
    for name in filter(None, candidates):
        program = shutil.which(name)
        if program:
            judge = Llvm("llvm", program)
            if judge.version >= (19, 0):
                yield judge, LLVM_19, (19, 1)
                return
            print(f"{program} is too old: {judge.version}, 19 is needed")


def main():
    words = sample(COUNT)
    packed = struct.pack(f"<{len(words)}I", *words)
    ours = subprocess.run([CLASSES], input=packed, check=True,
                          stdout=subprocess.PIPE).stdout.decode().splitlines()
    if len(ours) != len(words):
        sys.exit(f"{CLASSES}: {len(ours)} lines for {len(words)} words")
    allocated = sum(line != "unallocated" for line in ours)
    bad = consistent(words, ours)
    found = 0
    for judge, rules, version in judges():
        found += 1
        bad += compare(judge, rules, words, ours)
        allowed = sum(rule.used for rule in rules)
        print(f"{judge.name} {judge.version}: {len(words)} words, {allocated} allocated, "
              f"{allowed} differences by rule")
        for rule in rules:
            print(f"  {rule.used:7} {rule.reason}")
            if not rule.used and judge.version == version:
                bad.append(f"{judge.name}: nothing needs the rule: {rule.reason}")
    for line in bad[:50]:
        print(line)
    if bad:
        sys.exit(f"{len(bad)} differences")
    if not found:
        print("neither aarch64-linux-gnu-objdump nor llvm-objdump 19 is here")
        sys.exit(77)


if __name__ == "__main__":
    main()
