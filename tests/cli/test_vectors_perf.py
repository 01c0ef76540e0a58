# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""The perf of this machine, judged with the test vectors of `spe gen --vectors`.

Each vector is one AUXTRACE buffer of a perf.data, which `perf script -D` dumps. Where perf's line is
not what the vector says, it has to be a known difference: the rules of test_dump_perf.py know them by
name, and docs/perf-differences.md lists them. A table of what this perf gets wrong is printed.

SPE_PERF may name another perf to run (a command line).
"""

import collections
import json
import os
import re
import subprocess

import perf_file
import spetest
import test_dump_perf as known
import text_decoder
from spetest import CommandTest, unittest

ADDRESS_WORDS = {0: "PC", 1: "TGT", 4: "PBT"}
COUNTER_WORDS = {0: "TOT", 1: "ISSUE", 2: "XLAT", 4: "ALT-ISSUE"}
LOAD_WORDS = {"gp": "GP-REG", "simd_fp": "SIMD-FP", "unspecified": "UNSPEC-REG", "tag": "MTE-TAG",
              "nv2": "NV-SYSREG", "sve_ldst": "SVE-SME-REG", "memcpy": "MEMCPY", "gcs": "GCS",
              "extended": None}


# ---- what the vector says, in the words of perf 7.2 --------------------------------------------------

def address_text(fields, payload):
    index = fields["index"]
    if index == 2:
        return f"VA 0x{payload:x}"
    if index > 4:
        return f"ADDR 0x{payload:x} ({index})"
    if index == 3:
        text = f"PA {fields['address']} ns={fields['ns']} ch={fields['ch']} pat={fields['pat']:x}"
    else:
        text = f"{ADDRESS_WORDS[index]} {fields['address']} el{fields['el']} ns={fields['ns']}"
    return text + known.flags((fields["nse"], "nse=1"))


def counter_text(fields, _):
    """perf does not know how many bits the counters have: the mark of 16 bits counts."""
    index = fields["index"]
    return f"LAT {fields['count']} {COUNTER_WORDS.get(index, f'({index})')}" + \
        known.flags((fields["count"] == 0xffff, "SATURATED"))


def context_text(fields, payload):
    index = fields["index"]
    return f"CONTEXT 0x{payload:x} " + (f"el{index + 1}" if index < 2 else f"({index})")


def events_text(fields, payload):
    """Without features: an event has the name that some version of the architecture gives it."""
    zero = [bit for bit in range(32, 48) if payload >> bit & 1]
    text = known.event_text(payload & ~sum(1 << bit for bit in zero), True)
    return text + (" RES0:" + ",".join(map(str, zero)) if zero else "")


def length_text(word, fields, over):
    return f"{word} {fields['bits'] or over}"


def load_store_text(fields):
    get = fields.get
    kind = fields["kind"]
    if kind == "memset":
        return "ST MEMSET"
    words = ["ST" if fields["ldst"] else "LD", LOAD_WORDS[kind],
             kind == "sve_ldst" and length_text("EVLEN", fields, ">2048"),
             get("at") and "AT", get("excl") and "EXCL", get("ar") and "AR",
             get("pred") and "PRED", get("sg") and "SG", get("comm") and "COMM"]
    return " ".join(word for word in words if word)


def op_text(fields, payload):
    get = fields.get
    kind = fields["kind"]
    if kind == "reserved":
        return f"OP-TYPE 0x{payload:x} ({fields['class']})"
    if kind == "branch":
        return "B" + known.flags((get("cond"), "COND"), (get("ind"), "IND"), (get("gcs"), "GCS"),
                                 (get("cr") == 1, "CR-BL"), (get("cr") == 2, "CR-RET"),
                                 (get("cr") == 3, "CR-NON-BL-RET"))
    if kind == "other":
        return "OTHER" + known.flags((get("ase"), "ASE"), (get("fp"), "FP"), (get("cond"), "COND"),
                                     (not get("cond"), "INSN-OTHER"))
    if kind == "sve":
        return "SVE-OTHER " + length_text("EVLEN", fields, ">2048") + \
            known.flags((get("fp"), "FP"), (get("pred"), "PRED"))
    if kind == "sme":
        return "SME-OTHER " + \
            length_text("ETS", fields, "WHOLE-ZA" if fields["ets"] == 15 else "RESERVED") + \
            known.flags((get("fp"), "FP"))
    return load_store_text(fields)


def packet_text(packet):
    kind, fields = packet["type"], packet["fields"]
    payload = int(packet.get("payload", "0"), 16)
    if kind in ("padding", "end"):
        return {"padding": "PAD", "end": "END"}[kind]
    if kind == "unknown":
        header = " ".join(hex(byte) for byte in bytes.fromhex(packet["header"]))
        return "UNKNOWN " + (f"0x{payload:x} " if packet["payload_size"] else "") + f"({header})"
    if kind == "timestamp":
        return f"TS {payload}"
    if kind == "data_source":
        return f"DATA-SOURCE {payload}" + known.flags((packet["payload_size"] > 2, "(reserved size)"))
    return {"address": address_text, "counter": counter_text, "context": context_text,
            "events": events_text, "op_type": op_text}[kind](fields, payload)


# ---- judging -----------------------------------------------------------------------------------------

class Verdict:
    """What perf makes of one vector. AUXTRACE buffers are multiples of 8 bytes: padding goes in
    front, so that the end stays the end."""

    def __init__(self, vector, lines):
        self.vector = vector
        self.data = bytes.fromhex(vector["bytes"])
        self.shift = -len(self.data) % 8
        self.lines = {line.offset - self.shift: line for line in lines if line.offset >= self.shift}
        self.rules = {}  # name -> (what perf says, what the vector says)
        self.new = []    # differences that no rule explains
        self.judge()

    def judge(self):
        explained = {n for item in self.vector["items"] if item["type"] == "skipped"
                     for n in range(item["offset"], item["offset"] + item["size"])}
        for packet in self.vector["packets"]:
            explained.add(packet["offset"])
            if packet["type"] == "padding":  # perf cuts it into lines as it likes
                explained |= set(range(packet["offset"], packet["offset"] + packet["size"]))
                self.judge_padding(packet)
            elif not self.judge_packet(packet):
                return  # perf lost its way: the rest follows from that
        for item in self.vector["items"]:
            if item.get("reason") == "truncated":
                self.judge_cut(item)
        for offset in self.lines.keys() - explained:
            self.new.append((offset, self.lines[offset].text, "no packet begins there"))

    def judge_padding(self, packet):
        for offset in range(packet["offset"], packet["offset"] + packet["size"]):
            line = self.lines.get(offset)
            if line and (line.text != "PAD" or any(line.bytes)):
                self.new.append((offset, line.text, "PAD"))

    def judge_packet(self, packet):
        """False if perf does not go on where the packet ends."""
        expected = packet_text(packet)
        line = self.lines.get(packet["offset"])
        said = line.text if line else "nothing"
        whole = self.data[packet["offset"]:packet["offset"] + packet["size"]]
        if line and line.bytes == whole:
            comparison = known.Comparison()
            if comparison.translate(line, said) == expected:
                self.rules.update(dict.fromkeys(comparison.used, (said, expected)))
                return True
        if re.match(r"UNKNOWN \(0x2[0-3] 0x0\)", expected):
            self.rules["alignment_packet"] = (said, expected)
        elif packet["type"] == "unknown" and said == known.BAD:
            self.rules["unknown_packet"] = (said, expected)
        else:
            self.new.append((packet["offset"], said, expected))
        return False

    def judge_cut(self, item):
        """Of the packet that the end cuts nothing may be taken as a packet."""
        at = item["offset"]
        try:
            while at < len(self.data):
                at += text_decoder.packet_at(self.data, at)["size"]
        except text_decoder.Cut:
            texts = [self.lines[n].text for n in range(at, len(self.data)) if n in self.lines]
            wrong = [text for text in texts if text != known.BAD]
            if wrong:
                self.rules["cut_packet"] = (wrong[0], known.BAD)


def listed_differences(version):
    """The names in docs/perf-differences.md that the vectors show with this version, or None."""
    path = os.path.join(os.environ.get("SPE_SOURCE_DIR", "."), "docs/perf-differences.md")
    with open(path, encoding="utf-8") as f:
        found = re.search(rf"^\| {version[0]}\.{version[1]} \| ((?:`\w+` ?)+)\|$", f.read(), re.M)
    return set(re.findall(r"`(\w+)`", found[1])) if found else None


def needed_rules(version):
    """What a version shows that the document does not list by itself."""
    needed = {rule.__name__ for rule in known.DIFFERENCES} | set(known.REGIONS)
    return needed | {rule.__name__ for rule, until in known.OLD.items() if version < until}


class JudgePerf(CommandTest):
    def verdicts(self):
        lines = self.good("gen", "--vectors").decode().splitlines()
        vectors = [json.loads(line) for line in lines]
        buffers = [known.aligned(bytes.fromhex(vector["bytes"])) for vector in vectors]
        data = self.file(perf_file.perf_data(buffers), "perf.data")
        result = subprocess.run([*known.PERF, "script", "-D", "-i", data], capture_output=True,
                                check=False)
        dumps = list(known.blocks(result.stdout.decode("latin-1")))
        self.assertEqual(len(dumps), len(vectors), result.stderr[-2000:])
        return [Verdict(vector, perf) for vector, (_, perf) in zip(vectors, dumps)]

    def test_vectors(self):
        verdicts = self.verdicts()
        version = perf_file.version(known.PERF)
        show_table(version, verdicts)
        new = [(verdict.vector["id"], *difference)
               for verdict in verdicts for difference in verdict.new]
        self.assertEqual(new[:10], [], "perf differs, and docs/perf-differences.md does not say so")
        shown = {name for verdict in verdicts for name in verdict.rules}
        listed = listed_differences(version)
        if listed is None:
            self.assertEqual(needed_rules(version) - shown, set(), "listed, but perf has it right")
        else:
            self.assertEqual(shown, listed, "docs/perf-differences.md lists others for this perf")

    def test_right_and_wrong_lines_are_told_apart(self):
        vector = {"bytes": "4900", "items": [], "packets": [
            {"offset": 0, "size": 2, "type": "op_type", "header": "49", "payload_size": 1,
             "payload": "0x0", "fields": {"class": 1, "kind": "gp", "ldst": 0}}]}

        def judge(*texts):
            lines = [known.Line(f".  {at:08x}: {data:48} {text}") for at, data, text in texts]
            verdict = Verdict(vector, lines)
            return [difference[1] for difference in verdict.new]

        self.assertEqual(judge((6, " 49 00", "LD GP-REG")), [])
        self.assertEqual(judge((6, " 49 00", "ST GP-REG")), ["ST GP-REG"])
        self.assertEqual(judge((6, " 49", "LD GP-REG")), ["LD GP-REG"])
        self.assertEqual(judge((6, " 49 00", "LD GP-REG"), (7, " 00", "PAD")), ["PAD"])
        self.assertEqual(judge(), ["nothing"])


def show_table(version, verdicts):
    by_rule = collections.defaultdict(list)
    for verdict in verdicts:
        for name, (said, expected) in verdict.rules.items():
            by_rule[name].append((verdict.vector["id"], said, expected))
    wrong = sum(bool(verdict.rules or verdict.new) for verdict in verdicts)
    print(f"perf {version[0]}.{version[1]}: {len(verdicts)} vectors, {len(verdicts) - wrong} shown "
          f"as they are, {wrong} otherwise")
    print(f"{'difference':20} {'vectors':>7}  {'for example':32} {'perf':30} vector")
    for name in sorted(by_rule):
        example, said, expected = by_rule[name][0]
        print(f"{name:20} {len(by_rule[name]):7}  {example:32.32} {said:30.30} {expected:.30}")


if __name__ == "__main__":
    unittest.main()
