#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# Columns: how fast samples become Arrow and Parquet, beside CSV, pyarrow and `spe report`.
#
#   SPE=path/to/spe bench/bench_columns.sh [MB]
#
# 200 MB of SPE bytes by default. Times are CPU times of all threads, the least of five runs or more (of
# one to CSV, of two from it), but those of DuckDB's answers, which are times on the clock. Those of
# Python are without its start and its imports. It needs the environment that `tools/test.sh python`
# makes; without it, it says so.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=$(realpath -m "${SPECIMEN_DEPS:-$here/../.deps}/python")/bin/python
"$python" -c 'import specimen, pyarrow, polars, duckdb' 2>/dev/null || {
    echo "pyarrow, Polars, DuckDB and this tree's package are not in ${python%/bin/python}: run tools/test.sh python"
    exit 0
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
SPE=${SPE:-spe} "$python" - "${1:-200}" "$work" "$here/.." <<'PYTHON'
import os, resource, subprocess, sys, time

megabytes, work, top = int(sys.argv[1]), sys.argv[2], sys.argv[3]
spe = os.environ["SPE"]
loop = os.path.join(os.path.dirname(spe), "..", "bench", "arrow_loop")
RECORD = 64  # bytes of a record of this CPU
HOT = "SELECT symbol, dso, sum(total) AS latency FROM {} GROUP BY symbol, dso ORDER BY latency DESC LIMIT 10"
sys.path.insert(0, os.path.join(top, "tests", "cli"))
import recording_file


def used(who):
    use = resource.getrusage(who)
    return use.ru_utime + use.ru_stime


def cpu(*command, runs=5):
    """Least CPU seconds of a command."""
    def once():
        before = used(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return used(resource.RUSAGE_CHILDREN) - before
    return min(once() for _ in range(runs))


def script(text, before="", runs=5):
    """Least CPU seconds of these lines of Python, as the process itself counts them; others run before."""
    lines = head + before + "import time; start = time.process_time()\n" + text + \
        "\nprint(time.process_time() - start)"
    return min(float(subprocess.run([sys.executable, "-c", lines], check=True, capture_output=True).stdout)
               for _ in range(runs))


def clock(text):
    """Least seconds of a question to DuckDB."""
    def once():
        before = time.monotonic()
        duckdb.sql(text).fetchall()
        return time.monotonic() - before
    return min(once() for _ in range(3))


def verdict(what, value, target, unit="x", most=False):
    met = value <= target if most else value >= target
    print(f"  {what:<58} {value:8.2f} {unit:<5} {'at most' if most else 'at least'} {target:g}: "
          f"{'met' if met else 'missed'}")


import duckdb

parts = []
for i in range(2):
    parts.append(f"{work}/{i}.spe")
    subprocess.run([spe, "gen", "--cpu", "neoverse-n1", "--seed", str(i), "--records",
                    str(megabytes * 500000 // RECORD), "-o", parts[-1]], check=True)
data = f"{work}/perf.data"
recording_file.main([*parts, data])
raw = sum(os.path.getsize(p) for p in parts)
parquet, csv, ipc, theirs = (f"{work}/samples.{e}" for e in ("parquet", "csv", "arrow", "pyarrow"))
head = f"import pyarrow, pyarrow.parquet, pyarrow.csv, pyarrow.ipc, polars, specimen; f = {data!r}\n"
print(f"{raw / 1e6:.0f} MB of SPE bytes, CPU time")

report = cpu(spe, "report", data)
export = cpu(spe, "export", "-q", "--format", "parquet", "-o", parquet, data)
to_csv = cpu(spe, "export", "-q", "--format", "csv", "-o", csv, data, runs=1)
cpu(spe, "export", "-q", "--format", "arrow", "-o", ipc, data, runs=1)
rows = duckdb.sql(f"SELECT count(*) FROM '{parquet}'").fetchall()[0][0]
from_csv = script(f"pyarrow.parquet.write_table(pyarrow.csv.read_csv({csv!r}), {theirs!r}, "
                  "compression='zstd', compression_level=1)", runs=2)
reading = script(f"for b in pyarrow.ipc.open_stream(pyarrow.memory_map({ipc!r})): pass")
writing = script(f"""
r = pyarrow.ipc.open_stream(pyarrow.memory_map({ipc!r}))
w = pyarrow.parquet.ParquetWriter({theirs!r}, r.schema, compression="zstd", compression_level=1)
for b in r: w.write_batch(b)
w.close()""") - reading
stream, by_time = cpu(loop, "fast", data), cpu(loop, "time", data)
python = script("for b in pyarrow.RecordBatchReader.from_stream(specimen.open(f).samples()): pass")
# The C loop maps the file and has one thread: so does Python here. Each row has a comm, two in five
# have a level.
NUMBERS, NAMES = ["time_ns", "pc", "va", "total"], ["time_ns", "comm", "total", "level"]
numbers, names = (cpu(loop, "time", data, ",".join(columns), runs=9) for columns in (NUMBERS, NAMES))
views = cpu(loop, "time", data, ",".join(NAMES), "views", runs=9)
frame = "frame = polars.DataFrame(specimen.open(f, map=True, threads=1).samples({}, names={!r}))"
numbers_polars, names_polars, views_polars = (script(frame.format(columns, kind), runs=9) for columns, kind in (
    (NUMBERS, "dictionary"), (NAMES, "dictionary"), (NAMES, "view")))
# What Polars itself takes: the same batches, which pyarrow holds already.
numbers_alone, names_alone, views_alone = (script(
    "frame = polars.DataFrame(reader)",
    f"table = pyarrow.table(specimen.open(f, map=True, threads=1).samples({columns}, names={kind!r}))\n"
    "reader = pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches())\n")
    for columns, kind in ((NUMBERS, "dictionary"), (NAMES, "dictionary"), (NAMES, "view")))
# What such a frame takes to answer.
group = "frame.group_by('comm', 'level').agg(polars.col('total').sum())"
names_group, views_group = (script(group, frame.format(NAMES, kind) + "\n")
                            for kind in ("dictionary", "view"))

for what, seconds in (("spe report", report), ("Arrow stream, all columns, C", stream),
                      ("the same, by time", by_time), ("the same by time, Python and pyarrow", python),
                      ("Parquet, all columns", export), ("CSV", to_csv),
                      ("CSV to Parquet by pyarrow", from_csv),
                      ("the same batches to Parquet by pyarrow", writing),
                      ("four columns of numbers by time, C", numbers),
                      ("four columns of numbers by time, Python to Polars", numbers_polars),
                      ("the same batches, which are there, to Polars", numbers_alone),
                      ("two of numbers, two of names by time, C", names),
                      ("the same, names as views, C", views),
                      ("dictionaries, Python to Polars", names_polars),
                      ("views, Python to Polars", views_polars),
                      ("the same dictionaries, which are there, to Polars", names_alone),
                      ("the same views, which are there, to Polars", views_alone),
                      ("sums by both names in Polars, of dictionaries", names_group),
                      ("sums by both names in Polars, of views", views_group)):
    print(f"  {what:<58} {seconds:8.3f} s    {raw / 1e6 / seconds:.0f} MB/s, "
          f"{rows / 1e6 / seconds:.2f} M records/s")
verdict("Arrow stream, all columns", raw / 1e9 / stream, 1.0, "GB/s")
verdict("Arrow stream, all columns, of the rate of spe report", report / stream, 0.5)
verdict("Parquet, of the rate of CSV and pyarrow's CSV to Parquet", (to_csv + from_csv) / export, 8)
verdict("Parquet, of 34,000 records/s", rows / export / 34000, 150)
verdict("Parquet, of the rate of stream and pyarrow's writer", (by_time + writing) / export, 1)
verdict("size of Parquet, of the raw bytes", os.path.getsize(parquet) / raw, 0.3, most=True)
verdict("size of Parquet, of pyarrow's file", os.path.getsize(parquet) / os.path.getsize(theirs), 1.1,
        most=True)
verdict("Python to Polars, numbers, of the rate of C", numbers / numbers_polars, 0.8)
verdict("Python to Polars, two columns of views, of the rate of C", views / views_polars, 0.8)
verdict("the same, of the rate of C with dictionaries", names / views_polars, 0.8)
verdict("Python to Polars, two of dictionaries, of the rate of C", names / names_polars, 0.8)
print(f"  Polars alone leaves at most {names / (names + names_alone):.2f} of the rate of C to dictionaries, "
      f"{views / (views + views_alone):.2f} to views, {numbers / (numbers + numbers_alone):.2f} to numbers")
hot, hot_csv = clock(HOT.format(f"'{parquet}'")), clock(HOT.format(f"'{csv}'"))
print(f"  DuckDB, top ten functions: Parquet {hot:.3f} s, CSV {hot_csv:.3f} s; spe report {report:.3f} s of CPU")
verdict("DuckDB, Parquet beside CSV", hot_csv / hot, 20)
PYTHON
