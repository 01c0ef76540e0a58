#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# Columns: the most memory that samples to Arrow and Parquet take, for recordings of several sizes.
#
#   SPE=path/to/spe bench/columns_memory.sh [MB...]
#
# 200 and 10000 MB of SPE bytes by default: the same 200 MB again and again, on two CPUs. It is not a
# part of `make bench`, because it takes as much disk. It needs what bench_columns.sh needs.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=$(realpath -m "${SPECIMEN_DEPS:-$here/../.deps}/python")/bin/python
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || set -- 200 10000
SPE=${SPE:-spe} "$python" - "$work" "$here/.." "$@" <<'PYTHON'
import os, subprocess, sys

work, top, *sizes = sys.argv[1:]
spe = os.environ["SPE"]
loop = os.path.join(os.path.dirname(spe), "..", "bench", "arrow_loop")
RECORDS, PIECE = 1562500, 2 << 20  # of 64 bytes: 100 MB for each CPU
sys.path.insert(0, os.path.join(top, "tests", "cli"))
import recording_file

# Anonymous memory: pages of the file that are mapped belong to the kernel's cache.
PEAK = """
import os, subprocess, sys, time
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
peak = whole = 0
while child.poll() is None:
    try:
        words = dict(line.split(":") for line in open(f"/proc/{child.pid}/status"))
        peak = max(peak, int(words.get("RssAnon", "0 kB").split()[0]))
        whole = max(whole, int(words.get("VmHWM", "0 kB").split()[0]))
    except (FileNotFoundError, ProcessLookupError):
        break
    time.sleep(0.01)
assert child.wait() == 0, sys.argv
print(peak, whole)
"""
STREAM = """
import pyarrow, specimen, sys
for b in pyarrow.RecordBatchReader.from_stream(specimen.open(sys.argv[1]).samples()): pass
"""


def make(megabytes, path):
    recording = recording_file.Recording(cpus=2)
    for tid in range(1000, 1064):
        recording.comm(tid, tid, f"worker-{tid}")
    for _ in range(megabytes // 200):
        for cpu, piece in pieces:
            recording.aux(cpu, piece)
    recording.write(path)


parts = []
for i in range(2):
    subprocess.run([spe, "gen", "--cpu", "neoverse-n1", "--seed", str(i), "--records", str(RECORDS),
                    "-o", f"{work}/part"], check=True)
    with open(f"{work}/part", "rb") as f:
        parts.append(f.read())
pieces = [(cpu, part[at:at + PIECE]) for at in range(0, len(parts[0]), PIECE)
          for cpu, part in enumerate(parts)]
data = f"{work}/perf.data"
for size in sizes:
    make(int(size), data)
    print(f"{os.path.getsize(data) / 1e6:.0f} MB", flush=True)
    for what, command in (
            ("Arrow stream, C", (loop, "time", data)),
            ("Arrow IPC", (spe, "export", "-q", "--format", "arrow", "-o", "/dev/null", data)),
            ("Parquet", (spe, "export", "-q", "--format", "parquet", "-o", f"{work}/out.parquet", data)),
            ("Arrow stream, Python with pyarrow", (sys.executable, "-c", STREAM, data)),
            ("Python and pyarrow alone", (sys.executable, "-c", "import pyarrow, specimen"))):
        done = subprocess.run([sys.executable, "-c", PEAK, *command], check=True,
                              capture_output=True, text=True)
        peak, whole = (int(n) / 1024 for n in done.stdout.split())
        print(f"  {what:<40} {peak:7.1f} MB of its own, {whole:7.1f} MB with mapped files; at most 200: "
              f"{'met' if whole <= 200 else 'missed'}", flush=True)
PYTHON
