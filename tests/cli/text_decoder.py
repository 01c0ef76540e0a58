# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""A small decoder of SPE, written from the text of D18.1 and D18.2 and without the library. It is
slow and plain, and judges the test vectors of `spe gen --vectors`. No test by itself."""

RECORD_MAX = 2048


class Cut(Exception):
    """The bytes end inside a packet."""


class NoSize(Exception):
    """The second byte of an extended header is 0x20-0x3f."""


class Features:
    def __init__(self, text):
        self.all = text == "all"
        self.words = set(text.split(","))
        version = max((int(word[3:]) for word in self.words if word.startswith("v1p")), default=0)
        self.words |= {f"v1p{n}" for n in range(1, version + 1)}

    def __contains__(self, word):
        return self.all or word in self.words


# ---- packets (D18.1.1, D18.1.4) --------------------------------------------------------------------

def size_of_payload(header):
    return 0 if header < 0x40 else 1 << (header >> 4 & 3)


def type_of(header, extended):
    """The type, and INDEX[2:0], CLASS or 0."""
    for mask, match, name in ((0xf8, 0xb0, "address"), (0xf8, 0x98, "counter")):
        if header & mask == match:
            return name, header & 7
    if extended:
        return "unknown", 0
    for mask, match, name in ((0xff, 0x00, "padding"), (0xff, 0x01, "end"),
                              (0xff, 0x71, "timestamp"), (0xcf, 0x42, "events"),
                              (0xcf, 0x43, "data_source"), (0xfc, 0x64, "context"),
                              (0xfc, 0x48, "op_type")):
        if header & mask == match:
            return name, header & 3 if name in ("context", "op_type") else 0
    return "unknown", 0


def packet_at(data, at):
    """The packet as a dictionary."""
    extended = 0x20 <= data[at] < 0x40
    if extended and at + 1 == len(data):
        raise Cut
    head = data[at + extended]
    if extended and 0x20 <= head < 0x40:
        raise NoSize
    payload_size = size_of_payload(head)
    payload_at = at + 1 + extended
    if payload_at + payload_size > len(data):
        raise Cut
    name, index = type_of(head, extended)
    if extended and data[at] > 0x23:
        name = "unknown"
    if extended:
        index += (data[at] & 3) << 3
    return {"offset": at, "size": 1 + extended + payload_size, "type": name,
            "header": data[at:payload_at].hex(), "payload_size": payload_size, "index": index,
            "payload": int.from_bytes(data[payload_at:payload_at + payload_size], "little")}


# ---- fields (D18.2): each function gives status, name in the record, fields ------------------------

def status_of_index(index):
    return "impdef" if index in (6, 7) or index >= 16 else "reserved"


def security(ns, nse, features):
    if "rme" not in features:
        nse = 0
    return {(0, 0): "secure", (0, 1): "nonsecure", (1, 0): "reserved", (1, 1): "realm"}[nse, ns]


def address(packet, features, _):
    index, payload = packet["index"], packet["payload"]
    top = payload >> 56
    if index > 4:
        return status_of_index(index), f"address_{index}", {"index": index}
    name = ("pc", "target", "va", "pa", "previous_target")[index]
    fields = {"index": index, "name": name, "address": hex(payload & (1 << 56) - 1)}
    if index == 2:
        fields["tag"] = top
    elif index == 3:
        fields.update(ns=top >> 7, ch=top >> 6 & 1, zero=top >> 5 & 1, nse=top >> 4 & 1,
                      pat=top & 15, security=security(top >> 7, top >> 4 & 1, features))
    else:
        fields.update(ns=top >> 7, el=top >> 5 & 3, nse=top >> 4 & 1, zero=top & 15,
                      security=security(top >> 7, top >> 4 & 1, features))
    return "defined" if index < 4 or "pbt" in features else "reserved", name, fields


def counter(packet, features, count_bits):
    index, count = packet["index"], packet["payload"]
    name = {0: "total", 1: "issue", 2: "translation", 4: "alt_issue"}.get(index)
    status = status_of_index(index)
    if index < 3 or index == 4 and "spe_sme" in features and "altclk" in features:
        status = "defined"
    return status, name + "_latency" if name else f"counter_{index}", {
        "index": index, **({"name": name} if name else {}), "count": count,
        "saturated": count >= (1 << count_bits) - 1}


def context(packet, *_):
    index = packet["index"]
    return "defined" if index < 2 else "reserved", f"contextidr_el{index + 1}", {
        "index": index, "context": packet["payload"]}


def data_source(packet, *_):
    if packet["payload_size"] > 2:
        return "reserved", None, {}
    return "defined", "source", {"source": packet["payload"]}


EVENTS = {0: "exception", 1: "retired", 2: "l1d_access", 3: "l1d_miss", 4: "tlb_access",
          5: "tlb_walk", 6: "not_taken", 7: "mispredicted", 8: "llc_access", 9: "llc_miss",
          10: "remote", 11: "misaligned", 17: "partial_predicate", 18: "empty_predicate",
          19: "l2d_access", 20: "l2d_miss", 21: "modified", 22: "recently_fetched", 23: "snooped",
          24: "streaming", 25: "smcu"}


def status_of_event(bit, features):
    defined = {11: "v1p1" in features,
               **dict.fromkeys((17, 18), "v1p1" in features and
                               ("sve" in features or "sme" in features)),
               **dict.fromkeys(range(19, 24), "v1p4" in features),
               **dict.fromkeys((24, 25), "spe_sme" in features)}
    if bit < 11 or defined.get(bit):
        return "defined"
    if 12 <= bit <= 15 or bit >= 48 or 24 <= bit <= 31 and "v1p4" not in features:
        return "impdef"
    return "reserved"


def events(packet, features, _):
    bits = [bit for bit in range(64) if packet["payload"] >> bit & 1]
    by = {status: [bit for bit in bits if status_of_event(bit, features) == status]
          for status in ("defined", "impdef", "reserved")}
    return "defined", "events", {"events": hex(packet["payload"]),
                                 "set": [EVENTS[bit] for bit in by["defined"]], **by}


# CLASS, SUBCLASS as in the text, kind, and under which features it is defined. x is any bit;
# letters are fields.
FORMATS = (
    (0, "00000afc", "other", lambda f: True),
    (0, "0eee1pf0", "sve", lambda f: "v1p1" in f and "sve" in f),
    (0, "1ttt1tf0", "sme", lambda f: "spe_sme" in f),
    (1, "0000000l", "gp", lambda f: True),
    (1, "0000010l", "simd_fp", lambda f: True),
    (1, "0001000l", "unspecified", lambda f: "v1p1" in f),
    (1, "0001010l", "tag", lambda f: "v1p3" in f and "mte" in f),
    (1, "0011000l", "nv2", lambda f: "nv2" in f),
    (1, "000rxA1l", "extended", lambda f: True),
    (1, "seee1p0l", "sve_ldst", lambda f: "v1p1" in f and ("sve" in f or "sme" in f)),
    (1, "0010000l", "memcpy", lambda f: "v1p3" in f and "mops" in f),
    (1, "00100101", "memset", lambda f: "v1p3" in f and "mops" in f),
    (1, "01000m0l", "gcs", lambda f: "v1p4" in f and "gcs" in f),
    (2, "000RRgic", "branch", lambda f: True),
)
LETTERS = {"a": "ase", "f": "fp", "c": "cond", "e": "evl", "p": "pred", "t": "ets", "l": "ldst",
           "r": "ar", "x": "excl", "A": "at", "s": "sg", "m": "comm", "R": "cr", "g": "gcs",
           "i": "ind"}


def match_format(pattern, payload):
    """The fields, or None."""
    fields = {}
    for letter, bit in zip(pattern, f"{payload:08b}"):
        if letter in "01":
            if letter != bit:
                return None
        else:
            fields[LETTERS[letter]] = fields.get(LETTERS[letter], 0) << 1 | int(bit)
    return fields


def op_type(packet, features, _):
    for class_, pattern, kind, defined in FORMATS:
        fields = match_format(pattern, packet["payload"])
        if class_ != packet["index"] or fields is None:
            continue
        good = defined(features)
        if "evl" in fields:
            fields["bits"] = {7: None}.get(fields["evl"], 32 << fields["evl"])
            good = good and (fields["evl"] < 7 or "spe_sme" in features)
        if "ets" in fields:
            fields["bits"] = 128 << fields["ets"] if fields["ets"] < 12 else None
            good = good and fields["ets"] not in (12, 13, 14)
        return "defined" if good else "reserved", "op", {"class": class_, "kind": kind, **fields}
    return "reserved", "op", {"class": packet["index"], "kind": "reserved"}


def timestamp(packet, *_):
    return "defined", "timestamp", {"timestamp": hex(packet["payload"])}


DECODERS = {"address": address, "counter": counter, "context": context, "op_type": op_type,
            "data_source": data_source, "events": events, "timestamp": timestamp}


def describe(packet, features, count_bits):
    """Status, name in the record (None: it is not part of it), fields."""
    if packet["type"] == "unknown":
        return "reserved", None, {}
    if packet["type"] not in DECODERS:
        return "defined", None, {}
    status, key, fields = DECODERS[packet["type"]](packet, features, count_bits)
    return status, key if status != "reserved" else None, fields


# ---- records and damage ----------------------------------------------------------------------------

def identity(packet):
    """What no record has twice; None for what may come again or is stepped over."""
    kind, index = packet["type"], packet["index"]
    once = {"address": (0, 1, 2, 3, 4), "counter": (0, 1, 2, 4), "context": (0, 1),
            "op_type": (0, 1, 2), "events": (0,), "data_source": (0,)}.get(kind, ())
    if index not in once or kind == "data_source" and packet["payload_size"] > 2:
        return None
    return (kind, index) if kind in ("address", "counter", "context") else (kind,)


def stepped_over(packet):
    if packet["type"] in ("address", "counter"):
        return identity(packet) is None and status_of_index(packet["index"]) == "reserved"
    return packet["type"] == "unknown" or \
        packet["type"] in ("context", "op_type", "data_source") and identity(packet) is None


def record_at(data, at):
    """The packets of the record, or a word that says why there is none."""
    packets, seen, start = [], set(), at
    while True:
        if at - start >= RECORD_MAX:
            return "oversize"
        if at == len(data):
            return "truncated"
        try:
            packet = packet_at(data, at)
        except Cut:
            return "truncated"
        except NoSize:
            return "framing"
        if at + packet["size"] - start > RECORD_MAX:
            return "oversize"
        if identity(packet) in seen:
            return "duplicate"
        seen |= {identity(packet)} - {None}
        packets.append(packet)
        at += packet["size"]
        if packet["type"] in ("end", "timestamp"):
            return packets


def is_certain(packets):
    """Every packet is known, and PC, operation and events are there."""
    seen = {identity(packet) for packet in packets}
    return not any(map(stepped_over, packets)) and \
        {("address", 0), ("op_type",), ("events",)} <= seen


def resynchronise(data, at, first):
    """Where the next record is that is beyond doubt (it begins as the last one did), or more zeros
    than a record can hold, which are padding."""
    for at in range(at, len(data)):
        if data[at:at + RECORD_MAX] == bytes(RECORD_MAX):
            return at
        if data[at] == 0 or first is not None and data[at] != first:
            continue
        packets = record_at(data, at)
        if isinstance(packets, list) and is_certain(packets):
            return at
    return len(data)


def items_of(data, unsynced=False):
    """Records as lists of packets, and skipped ranges as (offset, size, reason)."""
    at, first = 0, None
    if unsynced:
        at = resynchronise(data, 0, None)
        if at:
            yield (0, at, "unsynced")
    while at < len(data):
        if data[at] == 0:
            at += 1
            continue
        found = record_at(data, at)
        if isinstance(found, list):
            yield found
            first = data[at]
            at = found[-1]["offset"] + found[-1]["size"]
        else:
            end = len(data) if found == "truncated" else resynchronise(data, at + 1, first)
            yield (at, end - at, found)
            at = end
