# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""`spe gen --vectors`: the vectors are what docs/vectors.md says, cover the format, and mean what a
decoder that was written from the text alone makes of their bytes."""

import json
import os
import re
import unittest

import text_decoder as text
from spetest import CommandTest, spe

SOURCE = os.environ.get("SPE_SOURCE_DIR", ".")


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as f:
        return f.read()


def merged(packets):
    """A run of padding is one entry."""
    out = []
    for packet in packets:
        if out and packet["type"] == out[-1]["type"] == "padding" and \
                out[-1]["offset"] + out[-1]["size"] == packet["offset"]:
            out[-1]["size"] += 1
        else:
            out.append(dict(packet))
    return out


def show(packet, features, count_bits):
    """A packet as the vectors show it."""
    shown = {key: packet[key] for key in ("offset", "size", "type")}
    if packet["type"] != "padding":
        shown.update(header=packet["header"], payload_size=packet["payload_size"],
                     payload=hex(packet["payload"]))
    status, _, fields = text.describe(packet, features, count_bits)
    return {**shown, "status": status, "fields": fields}


def show_item(item, features, count_bits, end):
    if isinstance(item, tuple):
        offset, size, reason = item
        return {"type": "skipped", "offset": offset, "size": size, "reason": reason,
                "resync": offset + size if offset + size < end else None}
    fields = {}
    for packet in item:
        _, key, values = text.describe(packet, features, count_bits)
        if key:
            fields[key] = values
    return {"type": "record", "offset": item[0]["offset"],
            "size": item[-1]["offset"] + item[-1]["size"] - item[0]["offset"],
            "terminator": item[-1]["type"], "fields": fields}


def decode(vector):
    """Packets and items, as the vectors show them."""
    data = bytes.fromhex(vector["bytes"])
    features = text.Features(vector["features"])
    items = list(text.items_of(data, vector["unsynced"]))
    packets, used = [], set()
    for item in items:
        if isinstance(item, tuple):
            used |= set(range(item[0], item[0] + item[1]))
        else:
            packets += item
            used |= {n for p in item for n in range(p["offset"], p["offset"] + p["size"])}
    packets += [text.packet_at(data, n) for n in range(len(data)) if n not in used]
    packets.sort(key=lambda packet: packet["offset"])
    bits = vector["count_bits"]
    return ([show(packet, features, bits) for packet in merged(packets)],
            [show_item(item, features, bits, len(data)) for item in items])


class Vectors(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.raw = spe("gen", "--vectors").stdout
        cls.vectors = [json.loads(line) for line in cls.raw.decode().splitlines()]

    def test_judged_by_the_text(self):
        for vector in self.vectors:
            packets, items = decode(vector)
            self.assertEqual(vector["packets"], packets, vector["id"])
            self.assertEqual(vector["items"], items, vector["id"])

    def test_form(self):
        keys = ["schema", "id", "about", "requirements", "features", "count_bits", "unsynced",
                "bytes", "packets", "items"]
        for vector in self.vectors:
            self.assertEqual(list(vector), keys, vector["id"])
            self.assertEqual(vector["schema"], 1)
            self.assertRegex(vector["id"], r"^[a-z0-9+-]{1,63}$")
            self.assertRegex(vector["about"], r"^[A-Z0-9].*\.$", vector["id"])
            self.assertTrue(vector["requirements"], vector["id"])
        ids = [vector["id"] for vector in self.vectors]
        self.assertEqual(len(set(ids)), len(ids))
        described = set(re.findall(r"^\| `(\w+)` \|", read("docs/vectors.md"), re.M))
        self.assertEqual(set(keys) - described, set(), "not in docs/vectors.md")

    def test_same_bytes_every_time(self):
        path = os.path.join(self.dir, "out")
        self.good("gen", "--vectors", "-o", path)
        with open(path, "rb") as f:
            self.assertEqual(f.read(), self.raw)

    def test_nothing_else_changes_them(self):
        for options in (("--records", "5"), ("--cpu", "neoverse-n1"), ("--damage", "1")):
            self.assertIn("--vectors", self.bad(2, "gen", "--vectors", *options))

    def test_every_row_of_the_format(self):
        rows = [line.split("\t") for line in
                read("docs/conformance/requirements.tsv").splitlines()[1:]]
        needed = {row[0] for row in rows
                  if row[0][:5] in ("D18.1", "D18.2") and row[4].startswith("format-")}
        self.assertGreater(len(needed), 150)
        named = {row for vector in self.vectors for row in vector["requirements"]}
        self.assertEqual(needed - named, set(), "no vector names them")
        self.assertEqual(named - {row[0] for row in rows}, set(), "not in the catalogue")

    def test_every_header(self):
        headers = {packet["header"] for vector in self.vectors for packet in vector["packets"]
                   if packet["type"] != "padding"}
        one = {f"{n:02x}" for n in range(1, 256) if not 0x20 <= n < 0x40}
        two = {f"{0x20 | index >> 3:02x}{kind | index & 7:02x}"
               for index in range(32) for kind in (0x98, 0xb0)}
        self.assertEqual((one | two) - headers, set())

    def test_every_operation(self):
        """All payloads that have a format, and the bits around those that have none."""
        ops = {(int(packet["header"], 16) & 3, int(packet["payload"], 16))
               for vector in self.vectors for packet in vector["packets"]
               if packet["type"] == "op_type"}
        formats = {(class_, payload) for class_, pattern, _, _ in text.FORMATS
                   for payload in range(256) if text.match_format(pattern, payload) is not None}
        self.assertEqual(formats - ops, set())
        self.assertEqual({class_ for class_, _ in ops - formats}, {0, 1, 2, 3})

    def test_every_layout_damage_and_status(self):
        help_text = self.good("gen", "--help").decode()
        layouts = re.search(r"--layout NAME .*?\(the CPU", help_text, re.S)[0]
        names = set(re.findall(r"architecture|[a-z]+-[a-z]?[0-9]+", layouts))
        self.assertEqual(len(names), 3)
        for name in names:
            self.assertTrue([v for v in self.vectors if v["id"].startswith(f"layout-{name}-load-")])
        reasons = {item["reason"] for vector in self.vectors for item in vector["items"]
                   if item["type"] == "skipped"}
        self.assertEqual(reasons, {"framing", "duplicate", "oversize", "truncated", "unsynced"})
        for kind in ("address", "counter"):
            seen = {packet["status"] for vector in self.vectors for packet in vector["packets"]
                    if packet["type"] == kind}
            self.assertEqual(seen, {"defined", "impdef", "reserved"}, kind)

    def test_dump_agrees(self):
        """The command finds the same records and skipped ranges; a part of the vectors will do."""
        for vector in self.vectors[::25] + [v for v in self.vectors if "damage" in v["id"]]:
            if vector["unsynced"]:
                continue
            out = spe("dump", "--json", "--raw", "-",
                      stdin=bytes.fromhex(vector["bytes"])).stdout.decode()
            lines = [json.loads(line) for line in out.splitlines()]
            self.assertEqual([(line["type"], line["offset"], line["size"]) for line in lines],
                             [(item["type"], item["offset"], item["size"])
                              for item in vector["items"]], vector["id"])


if __name__ == "__main__":
    unittest.main()
