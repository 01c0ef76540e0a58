# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""`spe dump` against the real `perf script -D` of this machine, line by line.

perf dumps a perf.data that is made here by hand, one AUXTRACE buffer for each stream of packets. A
line that is not the same has to be explained by a rule: either a difference that
docs/perf-differences.md lists, or one between this perf and perf 7.2, whose words we use. A rule
turns perf's text into ours exactly, for the packets that it is about, and has to be needed at least
once: a rule that explains nothing is an error, too.

SPE_PERF may name another perf to run (a command line).
"""

import os
import random
import re
import subprocess

import perf_file
import spetest
from spetest import (END, CommandTest, address, context, counter, events, load_record, op, source,
                     timestamp, unittest)

BAD = "Bad packet!"


# ---- streams ---------------------------------------------------------------------------------------

def payload_size(header):
    return 0 if header < 0x40 else 1 << (header >> 4 & 3)


def defined_packets():
    """Every packet type, index and size, with payloads that show every bit."""
    values = [0, 1, 0x0123456789abcdef, 0x00ffffffffffffff, 1 << 63, (1 << 64) - 1]
    values += [1 << bit for bit in range(52, 64)]
    for index in range(32):
        for value in values:
            yield address(index, value)
            yield address(index, value, extended=True)
        for value in (0, 1, 9, 10, 99, 100, 999, 1000, 0xffe, 0xfff, 0x1000, 12345, 0xffff):
            yield counter(index, value)
            yield counter(index, value, extended=True)
    for index in range(4):
        for value in (0, 1, 0x7fffffff, 0x80000000, 0xffffffff):
            yield context(index, value)
    for size in (1, 2, 4, 8):
        for value in (0, 1, 8, 14, 255):
            yield source(value, size)
    yield source(0x1234, 2)
    for value in (0, 1, 10**9, 10**18, (1 << 63) - 1, 1 << 63, (1 << 64) - 1):
        yield timestamp(value)
    yield END


def all_operations():
    for class_ in range(4):
        for payload in range(256):
            yield op(class_, payload)


def all_events():
    for size in (1, 2, 4, 8):
        yield events(0, size)
        yield events((1 << 8 * size) - 1, size)
        for bit in range(8 * size):
            yield events(1 << bit, size)
    for value in range(256):
        yield events(value, 1)
        yield events(value << 8 | value, 2)
        yield events(value << 16 | 2, 4)
        yield events(value << 24 | value << 16, 4)
        yield events(value << 40 | 2, 8)


def unknown_packets():
    """Every header that the architecture does not allocate. 0x02 is one as well, so that perf, which
    goes on at the next byte, finds the next packet where it is."""
    for header in range(256):
        if 0x20 <= header <= 0x3f:
            for second in range(256):
                if second == 0 and header <= 0x23:
                    continue  # perf's answer depends on where in memory the file lies
                yield bytes([header, second]) + b"\x02" * payload_size(second) + END
        else:
            yield bytes([header]) + b"\x02" * payload_size(header) + END


def alignment_packets():
    for header in range(0x20, 0x24):
        yield bytes([header, 0]) + bytes(30) + END + b"\x02" * 40 + END


def padding_runs():
    for n in list(range(0, 40)) + [64, 100]:
        yield bytes(n) + END


def generated(*options):
    result = spetest.spe("gen", *options)
    assert result.returncode == 0, result.stderr
    return result.stdout


def streams():
    rng = random.Random(2)
    yield "one load", load_record(5)
    yield "defined packets", b"".join(defined_packets())
    yield "operations", b"".join(all_operations())
    yield "events", b"".join(all_events())
    yield "unknown packets", b"".join(unknown_packets())
    yield "padding", b"".join(padding_runs())
    yield "alignment", b"".join(alignment_packets())
    yield "Neoverse N1", generated("--records", 2000, "--cpu", "neoverse-n1")
    yield "Kunpeng 920", generated("--records", 1000, "--cpu", "kunpeng-920", "--no-timestamps")
    yield "all features", generated("--records", 5000, "--features", "all", "--context", "both")
    yield "damage", generated("--records", 2000, "--features", "all", "--damage", "0.5", "--truth",
                              os.devnull)
    yield "random", rng.randbytes(50000)
    for size in range(1, 10):
        yield f"cut packet {size}", address(0, 0xb0b0_0101_7171_4242)[:size]


def aligned(stream):
    """AUXTRACE buffers are multiples of 8 bytes. The filling goes in front, the end stays the end."""
    return bytes(-len(stream) % 8) + stream


# ---- lines -----------------------------------------------------------------------------------------

class Line:
    def __init__(self, text):
        assert re.fullmatch(r"\.  [0-9a-f]{8}: ( [0-9a-f]{2}){1,16} +.+", text), repr(text)
        assert text[11:13] == ": " and text[61] == " ", repr(text)
        self.offset = int(text[3:11], 16)
        self.bytes = bytes.fromhex(text[13:61])
        self.text = text[62:]
        assert text == f".  {self.offset:08x}: " + "".join(
            f" {b:02x}" for b in self.bytes).ljust(48) + " " + self.text, repr(text)


class Packet:
    """The parts of a line's packet that the rules ask for."""

    def __init__(self, line):
        b = line.bytes
        extended = 0x20 <= b[0] <= 0x3f and len(b) > 1
        head = b[1] if extended else b[0]
        self.header = b[0]
        self.payload = int.from_bytes(b[1 + extended:], "little")
        self.size = len(b) - 1 - extended
        self.index = ((b[0] & 3) << 3 if extended else 0) | head & 7
        self.address = head & 0xf8 == 0xb0
        self.counter = head & 0xf8 == 0x98
        self.op_class = b[0] & 3 if b[0] & 0xfc == 0x48 else None
        self.context = b[0] & 3 if b[0] & 0xfc == 0x64 else None
        self.events = b[0] & 0xcf == 0x42
        self.source = b[0] & 0xcf == 0x43
        self.timestamp = b[0] == 0x71


def blocks(text):
    """The dumps in perf's output: for each, the preamble and its lines."""
    current = None
    for line in text.splitlines():
        if line.startswith(". ... ARM SPE data:"):
            current = (line, [])
            yield current
        elif current is not None and re.match(r"\.  [0-9a-f]{8}: ", line):
            current[1].append(Line(line))
        elif not line.startswith("."):
            current = None


# ---- rules: perf's text, turned into ours ------------------------------------------------------------

EVENT_WORDS = {
    0: "EXCEPTION-GEN", 1: "RETIRED", 2: "L1D-ACCESS", 3: "L1D-REFILL", 4: "TLB-ACCESS",
    5: "TLB-REFILL", 6: "NOT-TAKEN", 7: "MISPRED", 8: "LLC-ACCESS", 9: "LLC-REFILL",
    10: "REMOTE-ACCESS", 11: "ALIGNMENT", 16: "TXN", 17: "SVE-PARTIAL-PRED",
    18: "SVE-EMPTY-PRED", 19: "L2D-ACCESS", 20: "L2D-MISS", 21: "HITM", 22: "LFB", 23: "SNOOPED",
    24: "STREAMING-SVE", 25: "SMCU",
}


def event_text(payload, numbers):
    bits = [i for i in range(64) if payload >> i & 1]
    text = "EV" + "".join(" " + EVENT_WORDS[i] for i in bits if i in EVENT_WORDS)
    rest = [str(i) for i in bits if i not in EVENT_WORDS]
    return text + (" IMPDEF:" + ",".join(rest) if rest and numbers else "")


def old_words(payload, known):
    """What a perf says that knows only some of the events."""
    return event_text(payload & sum(1 << i for i in known), False)


def load_store(payload):
    return "ST" if payload & 1 else "LD"


def is_sve_load_store(payload):
    return payload & 0x0a == 0x08


def is_sve_other(payload):
    return payload & 0x89 == 0x08


def is_sme_other(payload):
    return payload & 0x89 == 0x88


def flags(*pairs):
    return "".join(" " + word for bit, word in pairs if bit)


# Older than 7.2: each gives the packet's text in perf 7.2.

def old_pbt(packet, text):
    if packet.address and packet.index == 4 and text == f"ADDR 0x{packet.payload:x} (4)":
        p = packet.payload
        return f"PBT 0x{p & (1 << 56) - 1:x} el{p >> 61 & 3} ns={p >> 63}"
    return text


def old_tag_and_memory(packet, text):
    words = {0x14: " MTE-TAG", 0x15: " MTE-TAG", 0x20: " MEMCPY", 0x21: " MEMCPY", 0x25: " MEMSET"}
    if packet.op_class == 1 and text == load_store(packet.payload):
        return text + words.get(packet.payload, "")
    return text


def old_sve_register(packet, text):
    p = packet.payload
    if packet.op_class == 1 and is_sve_load_store(p) and text.startswith(load_store(p) + " EVLEN"):
        return load_store(p) + " SVE-SME-REG" + text[2:]
    return text


def old_gcs_load_store(packet, text):
    p = packet.payload
    if packet.op_class == 1 and p & 0xfa == 0x40 and text == load_store(p):
        return text + " GCS" + flags((p & 4, "COMM"))
    return text


def old_sme(packet, text):
    p = packet.payload
    if packet.op_class == 0 and is_sme_other(p) and text == "OTHER INSN-OTHER":
        return f"SME-OTHER ETS {128 << ((p >> 4 & 7) << 1 | p >> 2 & 1)}" + flags((p & 2, "FP"))
    return text


def old_simd_fp(packet, text):
    p = packet.payload
    if packet.op_class == 0 and p < 8 and p & 6 and text.startswith("OTHER ") and \
            "ASE" not in text and "FP" not in text:
        return "OTHER" + flags((p & 4, "ASE"), (p & 2, "FP")) + text[len("OTHER"):]
    return text


def old_branch(packet, text):
    p = packet.payload
    if packet.op_class != 2 or p >= 0x20:
        return text
    if text == "B" + flags((p & 1, "COND"), (p & 0xfe == 2, "IND")):
        return "B" + flags((p & 1, "COND"), (p & 2, "IND"), (p & 4, "GCS"), (p >> 3 == 1, "CR-BL"),
                           (p >> 3 == 2, "CR-RET"), (p >> 3 == 3, "CR-NON-BL-RET"))
    return text


def old_events(packet, text):
    """SPEv1p4's events and the numbers of IMPLEMENTATION DEFINED ones came in steps."""
    base = set(range(12)) | {17, 18}
    if packet.events and text in (old_words(packet.payload, base),
                                  old_words(packet.payload, base | {16}),
                                  old_words(packet.payload, EVENT_WORDS)):
        return event_text(packet.payload, True)
    return text


# Listed in docs/perf-differences.md under the same name.

def unknown_packet(packet, text):
    if packet.header < 0x20 and packet.header > 1 and text == BAD:
        return f"UNKNOWN (0x{packet.header:x})"
    return text


def reserved_operation(packet, text):
    p = packet.payload
    reserved = {
        0: not (p < 8 or is_sve_other(p) or is_sme_other(p)),
        1: text == load_store(p) and p & 0xe2 != 0x02,
        2: p >= 0x20,
    }
    if reserved.get(packet.op_class):
        return f"OP-TYPE 0x{p:x} ({packet.op_class})"
    return text


def conditional_compare(packet, text):
    if packet.op_class == 0 and text.startswith("OTHER") and text.endswith(" COND-SELECT"):
        return text[:-len("-SELECT")]
    return text


def vector_over_2048(packet, text):
    return re.sub(r" EVLEN 4096\b", " EVLEN >2048", text) if packet.op_class in (0, 1) else text


def whole_array(packet, text):
    return text.replace(" ETS 4194304", " ETS WHOLE-ZA") if packet.op_class == 0 else text


def reserved_tile_size(packet, text):
    if packet.op_class == 0:
        return re.sub(r" ETS (524288|1048576|2097152)\b", " ETS RESERVED", text)
    return text


def unsigned_timestamp(packet, text):
    if packet.timestamp and text == f"TS {packet.payload - (1 << 64)}":
        return f"TS {packet.payload}"
    return text


def alternate_clock(packet, text):
    return text + "ALT-ISSUE" if packet.counter and packet.index == 4 else text


def counter_index(packet, text):
    if packet.counter and packet.index not in (0, 1, 2, 4) and text.endswith(" "):
        return f"{text}({packet.index})"
    return text


def saturated_counter(packet, text):
    return text + " SATURATED" if packet.counter and packet.payload == 0xffff else text


def context_index(packet, text):
    if packet.context in (2, 3):
        return text.replace(f" el{packet.context + 1}", f" ({packet.context})")
    return text


def source_size(packet, text):
    if packet.source and packet.size > 2:  # and perf takes eight bytes as a signed number
        return f"DATA-SOURCE {packet.payload} (reserved size)"
    return text


def realm_bit(packet, text):
    if packet.address and packet.index in (0, 1, 3, 4) and packet.payload >> 60 & 1:
        return text + " nse=1"
    return text


def reserved_events(packet, text):
    if not packet.events:
        return text
    found = re.search(r" IMPDEF:([\d,]+)$", text)
    numbers = found[1].split(",") if found else []
    zero = [n for n in numbers if 32 <= int(n) < 48]
    if not zero:
        return text
    rest = [n for n in numbers if n not in zero]
    return text[:found.start()] + (" IMPDEF:" + ",".join(rest) if rest else "") + \
        " RES0:" + ",".join(zero)


# In the order in which they are applied; the version is the first in which perf did not need it, as
# far as is known for sure (other releases may or may not).
OLD = {
    old_pbt: (6, 3),
    old_tag_and_memory: (6, 9),
    old_sve_register: (6, 13),
    old_gcs_load_store: (6, 13),
    old_sme: (6, 13),
    old_simd_fp: (6, 13),
    old_branch: (6, 9),
    old_events: (6, 13),
}
DIFFERENCES = (unknown_packet, reserved_operation, conditional_compare, vector_over_2048, whole_array,
               reserved_tile_size, unsigned_timestamp, alternate_clock, counter_index,
               saturated_counter, context_index, source_size, realm_bit, reserved_events)
REGIONS = ("unknown_packet", "cut_packet", "alignment_packet")


class Comparison:
    def __init__(self):
        self.used = set()

    def translate(self, line, text):
        packet = Packet(line)
        for rule in (*OLD, *DIFFERENCES):
            new = rule(packet, text)
            if new != text:
                self.used.add(rule.__name__)
            text = new
        return text

    def region(self, perf, ours, i, j, starts):
        """The two disagree on where packets are. Go on where both begin a line again; says which
        rule allows it."""
        p, o = perf[i], ours[j]
        if re.match(r"UNKNOWN \(0x2[0-3] 0x0\)", o.text) and p.text == "PAD":
            self.used.add("alignment_packet")
        elif o.text.startswith("UNKNOWN") and p.text == BAD:
            self.used.add("unknown_packet")
        elif len(ours) - j < 10 and all(line.text == BAD for line in ours[j - 1:]):
            self.used.add("cut_packet")
            return len(perf), len(ours)
        else:
            return None
        for j in range(j + 1, len(ours)):
            if ours[j].offset > p.offset and ours[j].offset in starts:
                return starts[ours[j].offset], j
        return len(perf), len(ours)

    def compare(self, perf, ours):
        starts = {line.offset: n for n, line in enumerate(perf)}
        i = j = 0
        while i < len(perf) and j < len(ours):
            p, o = perf[i], ours[j]
            assert p.offset == o.offset, (p.offset, o.offset)
            if p.bytes == o.bytes and self.translate(p, p.text) == o.text:
                i, j = i + 1, j + 1
                continue
            where = self.region(perf, ours, i, j, starts)
            assert where, f"at {p.offset:#x}:\n perf {p.bytes.hex(' ')} {p.text!r}\n " \
                f"ours {o.bytes.hex(' ')} {o.text!r}"
            i, j = where
        assert i == len(perf) and j == len(ours), "one of the two goes on"


class AgainstPerf(CommandTest):
    def test_all_streams(self):
        named = [(name, aligned(stream)) for name, stream in streams()]
        data = self.file(perf_file.perf_data([stream for _, stream in named]), "perf.data")
        result = subprocess.run([*PERF, "script", "-D", "-i", data], capture_output=True,
                                check=False)
        dumps = list(blocks(result.stdout.decode("latin-1")))
        self.assertEqual(len(dumps), len(named), result.stderr[-2000:])
        comparison = Comparison()
        for (name, stream), (preamble, perf) in zip(named, dumps):
            ours = spetest.spe("dump", "--raw", self.file(stream)).stdout.decode().splitlines()
            with self.subTest(stream=name):
                self.assertEqual(ours[:2], [".", preamble])
                comparison.compare(perf, [Line(line) for line in ours[2:]])
        self.check_rules(comparison.used)

    def check_rules(self, used):
        version = perf_file.version(PERF)
        needed = {rule.__name__ for rule in DIFFERENCES} | set(REGIONS)
        needed |= {rule.__name__ for rule, until in OLD.items() if version < until}
        self.assertEqual(needed - used, set(), "rules that explained nothing")
        if version >= (7, 2):
            self.assertEqual(used - needed, set(), "perf 7.2 needs no rule for older ones")
        print(f"perf {version[0]}.{version[1]}; rules in use: {' '.join(sorted(used))}")

    def test_differences_are_documented(self):
        path = os.path.join(os.environ.get("SPE_SOURCE_DIR", "."), "docs/perf-differences.md")
        with open(path, encoding="utf-8") as f:
            documented = set(re.findall(r"^### `(\w+)`", f.read(), re.M))
        names = {rule.__name__ for rule in DIFFERENCES} | set(REGIONS)
        self.assertEqual(names - documented, set(), "not in docs/perf-differences.md")


PERF = perf_file.find_perf() or spetest.skip("there is no perf on this machine to compare with")

if __name__ == "__main__":
    unittest.main()
