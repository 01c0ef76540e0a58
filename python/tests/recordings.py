# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Recordings for the tests, made once: of `spe record`, generated ones of all layouts, damaged and
empty ones; and what `spe export --format csv` says of them, with types."""

import atexit
import csv
import functools
import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile
from random import Random

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path[:0] = [os.path.join(TOP, "tests", "cli"), os.path.join(TOP, "tests", "record")]

# pylint: disable=wrong-import-position
import recording_file  # noqa: E402
import recordtest  # noqa: E402

SPE = recordtest.SPE
FOLDER = tempfile.mkdtemp(prefix="spe-python-")
atexit.register(shutil.rmtree, FOLDER, True)

RECORDS = 1500
GENERATED = {
    "architecture": [],
    "neoverse-n1": ["--cpu", "neoverse-n1"],
    "neoverse-v2": ["--cpu", "neoverse-v2", "--speculative"],
    "kunpeng-920": ["--layout", "kunpeng-920"],
    "v1p4": ["--features", "v1p4,sve,crr,el2", "--context", "both"],
    "untimed": ["--no-timestamps", "--no-physical", "--context", "none"],
    "damaged": ["--cpu", "neoverse-n1", "--damage", "0.05"],
}


def run(*args, status=(0,)):
    """The command; what it said."""
    done = subprocess.run([SPE, *args], capture_output=True, check=False, timeout=100)
    assert done.returncode in status, (args, done)
    return done.stdout


def path(name):
    return os.path.join(FOLDER, name)


def generate(name, options, records=RECORDS, seed=1):
    run("gen", "--records", str(records), "--seed", str(seed), "-o", path(name), *options)
    return path(name)


@functools.cache
def generated(name):
    """A perf.data of two CPUs, but those without timestamps: a bare file."""
    if name == "untimed":
        return generate("untimed.spe", GENERATED[name])
    parts = [generate(f"{name}-{seed}.spe", GENERATED[name], seed=seed) for seed in (1, 2)]
    recording_file.main([*parts, path(name + ".data")])
    return path(name + ".data")


@functools.cache
def empty():
    r = recording_file.Recording(cpus=2)
    r.comm(10, 10, "nobody")
    r.write(path("empty.data"))
    return path("empty.data")


@functools.cache
def cut():
    """A file that ends too early."""
    with open(generated("neoverse-n1"), "rb") as f:
        data = f.read()
    with open(path("cut.data"), "wb") as f:
        f.write(data[:len(data) * 2 // 3])
    return path("cut.data")


@functools.cache
def hostile():
    """Names that are formulas, quotes, controls and not UTF-8."""
    r = recording_file.Recording(cpus=1)
    for tid, name in enumerate(('=a,"b"', "it's", "né\tw", "line\nfeed", "b\udcffd"), start=10):
        r.comm(tid, tid, name)
        r.aux(0, recording_file.sample(0x401000 + tid, 100 * tid, tid, va=0x1234 + tid))
    r.write(path("hostile.data"))
    return path("hostile.data")


@functools.cache
def recorded():
    """Of `spe record`; None where that cannot be had (recordtest.missing() says why)."""
    if recordtest.missing():
        return None
    program = path("three_ways")
    subprocess.run([recordtest.COMPILER, "-O2", "-g", os.path.join(TOP, "examples/three_ways.c"),
                    "-o", program], check=True)
    run("record", "-c", "8192", "-o", path("recorded.data"), "--", program)
    return path("recorded.data")


@functools.cache
def vm():
    """Of perf in a guest of `spe vm`. Kept, because the guest takes minutes; README.md says how it is
    made."""
    with lzma.open(os.path.join(TOP, "python", "tests", "vm.data.xz")) as kept, \
            open(path("vm.data"), "wb") as f:
        shutil.copyfileobj(kept, f)
    return path("vm.data")


@functools.cache
def programs():
    """Two builds of one program; a folder that has both by their build-ids."""
    cache, builds = path("debug"), []
    for name in ("old", "new"):
        os.makedirs(path(name))
        program = recording_file.Program(path(name))  # its build-id depends on the folder
        notes = subprocess.run(["readelf", "-n", program.path], check=True, capture_output=True,
                               text=True).stdout
        program.build_id = re.search("Build ID: ([0-9a-f]+)", notes).group(1)
        folder = f"{cache}/.build-id/{program.build_id[:2]}/{program.build_id[2:]}"
        os.makedirs(folder)
        shutil.copy(program.path, folder + "/elf")
        builds.append(program)
    return cache, builds


@functools.cache
def fleet():
    """Recordings of 12 hosts, some of which have another build of a program, and one of which is
    slow; the folder."""
    folder = path("hosts")
    os.makedirs(folder)
    random = Random(1)
    for host in range(12):
        r, program = recording_file.Recording(cpus=1), programs()[1][host % 3 == 0]
        r.features[3] = recording_file.feature_string(f"host-{host:02}")
        r.mmap(10, program.start, program.length, program.offset, "/opt/program",
               build_id=bytes.fromhex(program.build_id))
        samples = []
        for i in range(200 + 10 * host):
            name = random.choice(("walk", "walk", "mix"))
            slow = 40 * (host == 7) + 15 * (name == "walk" and host % 3 == 0)
            samples.append(recording_file.sample(
                program.pc(name), 1000 + 10 * i, 10, (1, random.randrange(2)),
                random.choice((0x16, 0x1e, 0x36)), va=64 * random.randrange(1000),
                total=random.randrange(5, 60) + slow))
        r.aux(0, b"".join(samples))
        r.write(f"{folder}/{host:02}.data")
    return folder


@functools.cache
def all_of_them():
    """name -> path"""
    them = {name: generated(name) for name in GENERATED}
    them.update(empty=empty(), cut=cut(), hostile=hostile(), vm=vm())
    if recorded():
        them["recorded"] = recorded()
    return them


def export(recording, form, *options):
    """A file of `spe export`. Status 1 tells of damage."""
    out = f"{recording}.{abs(hash(options))}.{form}"
    if not os.path.exists(out):
        run("export", "-q", "--format", form, "-o", out, *options, recording, status=(0, 1))
    return out


def value(text, kind):
    """A cell of CSV as what the column is (a type of pyarrow)."""
    if text == "":
        return None
    if kind == "bool":
        return text == "1"
    if "string" in kind:
        return text[1:] if text[0] == "'" and text[1:2] in tuple("=+-@\t\r") else text
    return int(text, 0)


def from_csv(recording, schema, *options):
    """column -> values, of `spe export --format csv`, typed by a schema of pyarrow. A byte of a name that
    is not UTF-8 is itself in CSV, and \\xNN in what is compared with it."""
    with open(export(recording, "csv", *options), newline="", encoding="utf-8",
              errors="backslashreplace") as f:
        rows = list(csv.reader(f))
    kinds = {field.name: str(field.type) for field in schema}
    return {name: [value(row[i], kinds[name]) for row in rows[1:]]
            for i, name in enumerate(rows[0])}
