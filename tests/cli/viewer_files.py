# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Readers of what `spe export` writes for viewers, as strict as their formats are described. Each
gives a list of samples: Sample(thread, stack, samples, latency); the stack has names, the innermost
first. What a format does not have is None."""

import ast
import collections
import gzip
import json
import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
PROTOC = shutil.which("protoc")


def _find_pprof():
    """Itself, or go's, where that need not be built first, which takes a minute."""
    if shutil.which("pprof") or not shutil.which("go"):
        return shutil.which("pprof")
    folder = subprocess.run(["go", "env", "GOTOOLDIR"], capture_output=True, check=False).stdout
    return shutil.which("pprof", path=folder.decode().strip())


PPROF = _find_pprof()

Sample = collections.namedtuple("Sample", "thread stack samples latency")


def check(good, *what):
    if not good:
        raise AssertionError(what)


def is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


# ---- pprof ---------------------------------------------------------------------------------------

def _parse(lines):
    """Protobuf's text form: a dictionary of lists."""
    message = collections.defaultdict(list)
    for line in lines:
        line = line.strip()
        if line == "}":
            return message
        if line.endswith("{"):
            message[line[:-1].strip()].append(_parse(lines))
            continue
        key, value = line.split(": ", 1)
        check(not key.isdigit(), "a field that nobody knows", line)
        if value[0] == '"':
            value = ast.literal_eval("b" + value).decode()
        elif value in ("true", "false"):
            value = value == "true"
        else:
            value = int(value)
        message[key].append(value)
    return message


def pprof_message(data):
    """The profile as protoc reads it."""
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    text = subprocess.run([PROTOC, "-I", HERE, "--decode=Profile", HERE + "/profile.proto"],
                          input=data, capture_output=True, check=True).stdout.decode()
    return _parse(iter(text.splitlines()))


def _by_id(messages):
    table = {m["id"][0]: m for m in messages}
    check(len(table) == len(messages) and 0 not in table, "ids are unique and not 0")
    return table


def _text(profile, message, field):
    return profile["string_table"][message[field][0]] if message[field] else ""


def _pprof_name(profile, location, functions, mappings):
    """What pprof shows: an instruction without a function has its mapping and address."""
    if location["line"]:
        return _text(profile, functions[location["line"][0]["function_id"][0]], "name")
    if location["mapping_id"]:
        path = _text(profile, mappings[location["mapping_id"][0]], "filename")
        return "[no symbol] " + path.rsplit("/", 1)[-1]
    return "[no map]"


def read_pprof(data):
    profile = pprof_message(data)
    strings = profile["string_table"]
    check(strings[0] == "" and len(set(strings)) == len(strings), strings)
    check([(_text(profile, t, "type"), _text(profile, t, "unit")) for t in profile["sample_type"]]
          == [("samples", "count"), ("latency", "cycles")], profile["sample_type"])
    functions, mappings = _by_id(profile["function"]), _by_id(profile["mapping"])
    locations = _by_id(profile["location"])
    names = {i: _pprof_name(profile, l, functions, mappings) for i, l in locations.items()}
    used, samples = set(), []
    for s in profile["sample"]:
        labels = {_text(profile, l, "key"): _text(profile, l, "str") for l in s["label"]}
        check(set(labels) in (set(), {"thread", "comm"}), labels)
        used.update(s["location_id"])
        check(s["location_id"] and len(s["value"]) == 2, s)
        samples.append(Sample(labels.get("thread"), [names[i] for i in s["location_id"]],
                              *s["value"]))
    check(used == set(locations), "every location is used, and there")
    return samples


# ---- speedscope ----------------------------------------------------------------------------------

def read_speedscope(data, latency=False):
    file = json.loads(data)
    check(file["$schema"] == "https://www.speedscope.app/file-format-schema.json")
    check(set(file) == {"$schema", "name", "exporter", "shared", "profiles"}, set(file))
    frames = file["shared"]["frames"]
    for frame in frames:
        check(isinstance(frame["name"], str) and set(frame) <= {"name", "file", "line"}, frame)
        check(is_count(frame.get("line", 0)) and isinstance(frame.get("file", ""), str), frame)
    check(file["profiles"], "there is a profile")
    samples = []
    for p in file["profiles"]:
        check(set(p) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}, p)
        check(p["type"] == "sampled" and p["unit"] == "none" and p["startValue"] == 0, p["type"])
        check(len(p["samples"]) == len(p["weights"]) and p["endValue"] == sum(p["weights"]))
        for stack, weight in zip(p["samples"], p["weights"]):
            check(stack and all(is_count(i) and i < len(frames) for i in stack), stack)
            check(is_count(weight) and weight > 0, weight)
            samples.append(Sample(p["name"], [frames[i]["name"] for i in reversed(stack)],
                                  None if latency else weight, weight if latency else None))
    return samples


# ---- Firefox -------------------------------------------------------------------------------------

TABLES = {
    "stackTable": "prefix frame category subcategory",
    "frameTable": "address inlineDepth category subcategory func nativeSymbol innerWindowID "
                  "implementation line column",
    "funcTable": "name isJS relevantForJS resource fileName lineNumber columnNumber",
    "resourceTable": "lib name host type",
    "nativeSymbols": "libIndex address name functionSize",
    "markers": "data name startTime endTime phase category",
}


def _column(table, name, most, null=False):
    """Every value is an index less than `most`, or null if that may be."""
    for value in table[name]:
        check((value is None and null) or (is_count(value) and value < most), name, value, most)


def _firefox_thread(file, thread):
    check(isinstance(thread["pid"], str) and is_count(thread["tid"]), thread["pid"])
    check(isinstance(thread["name"], str) and isinstance(thread["isMainThread"], bool))
    for name, columns in TABLES.items():
        check(set(thread[name]) == {"length", *columns.split()}, name, set(thread[name]))
        check(all(len(thread[name][c]) == thread[name]["length"] for c in columns.split()), name)
    stacks, frames, funcs = thread["stackTable"], thread["frameTable"], thread["funcTable"]
    samples, strings = thread["samples"], thread["stringArray"]
    check(all(isinstance(s, str) for s in strings))
    check(all(prefix is None or prefix < i for i, prefix in enumerate(stacks["prefix"])))
    _column(stacks, "frame", frames["length"])
    _column(stacks, "category", len(file["meta"]["categories"]))
    _column(frames, "category", len(file["meta"]["categories"]))
    _column(frames, "func", funcs["length"])
    _column(funcs, "name", len(strings))
    _column(funcs, "fileName", len(strings), null=True)
    check(all(-1 <= r < thread["resourceTable"]["length"] for r in funcs["resource"]))
    _column(thread["resourceTable"], "lib", len(file["libs"]))
    _column(thread["resourceTable"], "name", len(strings))
    check(set(samples) == {"length", "stack", "time", "weight", "weightType"}, set(samples))
    check(samples["weightType"] == "samples" and samples["time"] == sorted(samples["time"]))
    check(all(len(samples[c]) == samples["length"] for c in ("stack", "time", "weight")))
    _column(samples, "stack", stacks["length"])
    for stack, weight in zip(samples["stack"], samples["weight"]):
        names = []
        while stack is not None:
            names.append(strings[funcs["name"][frames["func"][stacks["frame"][stack]]]])
            stack = stacks["prefix"][stack]
        yield Sample(str(thread["tid"]), names, weight, None)


def read_firefox(data):
    file = json.loads(data)
    check(set(file) == {"meta", "libs", "pages", "counters", "profilerOverhead", "threads"})
    meta = file["meta"]
    check(meta["preprocessedProfileVersion"] == 47 and meta["interval"] > 0, meta)
    check(meta["markerSchema"] == [] and meta["symbolicated"] is True)
    for lib in file["libs"]:
        check(set(lib) == {"name", "path", "debugName", "debugPath", "breakpadId", "codeId",
                           "arch"}, set(lib))
        check(len(lib["breakpadId"]) == 33 and int(lib["breakpadId"], 16) >= 0, lib)
    return [s for thread in file["threads"] for s in _firefox_thread(file, thread)]


# ---- Perfetto ------------------------------------------------------------------------------------

Trace = collections.namedtuple("Trace", "samples latency loads slices threads")


def read_perfetto(data):
    """Sums of the counters, by thread; slices are (tid, start, end, name)."""
    file = json.loads(data)
    check(set(file) == {"displayTimeUnit", "otherData", "traceEvents"}, set(file))
    trace = Trace(collections.Counter(), collections.Counter(), collections.Counter(), [], {})
    at = {}
    for e in file["traceEvents"]:
        check(is_count(e["pid"]) and is_count(e["tid"]) and isinstance(e["name"], str), e)
        tid = e["tid"]
        if e["ph"] == "M":
            check(e["name"] in ("thread_name", "process_name"), e)
            trace.threads[tid] = e["args"]["name"]
        elif e["ph"] == "X":
            check(e["dur"] > 0 and e["ts"] >= 0, e)
            trace.slices.append((tid, e["ts"], e["ts"] + e["dur"], e["name"]))
        else:
            check(e["ph"] == "C", e)
            check(e["ts"] > at.get((tid, e["name"]), -1), "time goes on", e)
            at[tid, e["name"]] = e["ts"]
            (what, value), = e["args"].items()
            if what == "samples":
                trace.samples[tid] += value
                here = value
            elif what == "cycles":
                trace.latency[tid] += round(value * here)
            else:
                trace.loads[e["name"].rsplit("loads: ", 1)[1]] += value
    slices = sorted(trace.slices)
    for (tid, _, end, _), (other, start, _, _) in zip(slices, slices[1:]):
        check(tid != other or end <= start + 1e-3, "slices overlap", end, start)
    return trace
