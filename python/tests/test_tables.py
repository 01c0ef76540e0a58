# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""pyarrow, Polars, DuckDB and pandas read every table, and each value is what CSV says."""

import json
import os
import unittest

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.ipc
import pyarrow.parquet
import recordings
import specimen

ASKED = ["file", "line", "data", "data_offset", "symbol", "time_ns", "events"]


def of_arrow(table):
    return {name: table[name].to_pylist() for name in table.column_names}


def of_polars(frame):
    return frame.to_dict(as_series=False)


def of_pandas(samples):
    """With the types of Arrow: those of pandas itself make floats of numbers that may be null."""
    frame = pyarrow.table(samples).to_pandas(types_mapper=pandas.ArrowDtype)
    return {name: [None if value is pandas.NA else value for value in column.tolist()]
            for name, column in frame.items()}


def of_duckdb(relation):
    rows = relation.fetchall()
    return {name: [row[i] for row in rows] for i, name in enumerate(relation.columns)}


def read_ipc(path):
    with pyarrow.ipc.open_stream(path) as reader:
        return reader.read_all()


class Tables(unittest.TestCase):
    def same(self, expected, actual, what):
        self.assertEqual(list(expected), list(actual), what)
        for name, values in expected.items():
            if values != actual[name]:
                at = next((i for i, (a, b) in enumerate(zip(values, actual[name])) if a != b),
                          min(len(values), len(actual[name])))
                self.fail(f"{what}: {name}[{at}]: CSV {values[at:at + 1]}, "
                          f"here {actual[name][at:at + 1]}")

    def every_reader(self, recording, options, samples):
        """Files and the package against CSV; the number of rows."""
        ipc = recordings.export(recording, "arrow", *options)
        parquet = recordings.export(recording, "parquet", *options)
        table = read_ipc(ipc)
        expected = recordings.from_csv(recording, table.schema, *options)
        self.same(expected, of_arrow(table), "pyarrow, IPC")
        self.same(expected, of_polars(polars.read_ipc_stream(ipc)), "Polars, IPC")
        self.same(expected, of_duckdb(duckdb.from_arrow(table)), "DuckDB, IPC")
        self.same(expected, of_arrow(pyarrow.parquet.read_table(parquet)), "pyarrow, Parquet")
        self.same(expected, of_polars(polars.read_parquet(parquet)), "Polars, Parquet")
        self.same(expected, of_duckdb(duckdb.read_parquet(parquet)), "DuckDB, Parquet")
        self.same(expected, of_arrow(pyarrow.table(samples)), "pyarrow, package")
        self.same(expected, of_polars(polars.DataFrame(samples)), "Polars, package")
        self.same(expected, of_duckdb(duckdb.from_arrow(samples)), "DuckDB, package")
        self.same(expected, of_pandas(samples), "pandas, package")
        return table.num_rows

    def every_reader_of_views(self, recording, options, samples):
        """The package with names as views, against CSV."""
        table = pyarrow.table(samples)
        table.validate(full=True)
        expected = recordings.from_csv(recording, read_ipc(
            recordings.export(recording, "arrow", *options)).schema, *options)
        self.same(expected, of_arrow(table), "pyarrow, views")
        self.same(expected, of_polars(polars.DataFrame(samples)), "Polars, views")
        self.same(expected, of_duckdb(duckdb.from_arrow(samples)), "DuckDB, views")
        self.same(expected, of_pandas(samples), "pandas, views")

    def test_views(self):
        for name, recording in recordings.all_of_them().items():
            with self.subTest(name):
                self.every_reader_of_views(recording, (),
                                           specimen.open(recording).samples(names="view"))
        recording = recordings.recorded() or recordings.hostile()
        self.every_reader_of_views(recording, ("--columns", ",".join(ASKED)),
                                   specimen.open(recording).samples(ASKED, names="view"))

    def test_types_of_names(self):
        recording = specimen.open(recordings.generated("neoverse-n1"))
        for names, arrow, frame in (
                ("dictionary", pyarrow.dictionary(pyarrow.int32(), pyarrow.string()), polars.Categorical),
                ("view", pyarrow.string_view(), polars.String)):
            samples = recording.samples(["total", "level"], names=names, batch_rows=100)
            self.assertEqual(pyarrow.table(samples).schema.types, [pyarrow.uint16(), arrow])
            self.assertEqual(polars.DataFrame(samples).dtypes, [polars.UInt16, frame])

    def test_every_recording(self):
        rows = {}
        for name, recording in recordings.all_of_them().items():
            with self.subTest(name):
                rows[name] = self.every_reader(recording, (), specimen.open(recording).samples())
        self.assertEqual(rows["empty"], 0)
        self.assertEqual(rows["untimed"], recordings.RECORDS)
        self.assertEqual(rows["vm"], 2087)
        self.assertEqual(rows["neoverse-n1"], 2 * recordings.RECORDS)
        self.assertGreater(rows["damaged"], recordings.RECORDS)
        self.assertLess(rows["cut"], rows["neoverse-n1"])
        self.assertGreater(rows["cut"], 0)

    def test_chosen_columns(self):
        recording = recordings.recorded() or recordings.hostile()
        samples = specimen.open(recording).samples(columns=ASKED)
        self.assertEqual(pyarrow.table(samples).column_names, ASKED)
        self.every_reader(recording, ("--columns", ",".join(ASKED)), samples)

    def test_filter(self):
        recording = recordings.generated("neoverse-n1")
        chosen = "load and total > 100"
        samples = specimen.open(recording, filter=chosen).samples()
        rows = self.every_reader(recording, ("--filter", chosen), samples)
        self.assertTrue(0 < rows < 2 * recordings.RECORDS)

    def test_cut(self):
        recording = recordings.generated("neoverse-n1")
        times = pyarrow.table(specimen.open(recording).samples(["time_ns"]))["time_ns"].to_pylist()
        start, end = times[500], times[2000]
        samples = specimen.open(recording, time=(start, end), cpus=[1]).samples()
        rows = self.every_reader(
            recording, ("--time", f"{start}ns,{end}ns", "--cpus", "1"), samples)
        self.assertTrue(0 < rows < 1500)

    def test_batches_are_bounded(self):
        samples = specimen.open(recordings.generated("v1p4")).samples(batch_rows=1000)
        sizes = [len(b) for b in pyarrow.RecordBatchReader.from_stream(samples)]
        self.assertEqual(sum(sizes), 2 * recordings.RECORDS)
        self.assertLessEqual(max(sizes), 1000)


class Metadata(unittest.TestCase):
    def test_row_groups(self):
        parts = [recordings.generate(f"long-{i}.spe", ["--cpu", "neoverse-n1"], 50000, i)
                 for i in (1, 2)]
        recordings.recording_file.main([*parts, recordings.path("long.data")])
        file = pyarrow.parquet.ParquetFile(
            recordings.export(recordings.path("long.data"), "parquet"))
        self.assertEqual(file.metadata.num_rows, 100000)
        self.assertEqual(file.metadata.num_row_groups, 2)
        self.assertEqual(sum(file.metadata.row_group(i).num_rows for i in range(2)), 100000)
        times = []
        for i in range(2):
            group, table = file.metadata.row_group(i), file.read_row_group(i)
            for j in range(group.num_columns):
                column = group.column(j)
                self.check_column(column, table[column.path_in_schema])
            self.assertEqual(group.sorting_columns[0].column_index, 0)
            times += table["time_ns"].to_pylist()
        self.assertEqual(times, sorted(times))

    def test_every_file(self):
        """Chunks lie one behind the other from the magic to the footer, sizes and counts add up, and
        each encoding that is named is one that Parquet has for the type."""
        for name, recording in recordings.all_of_them().items():
            with self.subTest(name):
                path = recordings.export(recording, "parquet")
                file = pyarrow.parquet.ParquetFile(path)
                end = 4
                for i in range(file.metadata.num_row_groups):
                    end = self.check_group(file.metadata.row_group(i), file.read_row_group(i), end)
                self.assertEqual(end + file.metadata.serialized_size + 8, os.path.getsize(path))
                self.assertEqual(file.metadata.num_rows, sum(
                    file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)))
                seen = duckdb.sql(f"SELECT count(*) FROM parquet_metadata('{path}')").fetchall()
                self.assertEqual(seen[0][0],
                                 file.metadata.num_row_groups * file.metadata.num_columns)

    def check_group(self, group, table, end):
        """The end of the last chunk."""
        known = {"BOOLEAN": {"PLAIN", "RLE"}, "BYTE_ARRAY": {"PLAIN", "RLE", "RLE_DICTIONARY"}}
        numbers = {"PLAIN", "RLE", "RLE_DICTIONARY", "DELTA_BINARY_PACKED"}
        sizes = 0
        for j in range(group.num_columns):
            column = group.column(j)
            start = column.dictionary_page_offset if column.has_dictionary_page \
                else column.data_page_offset
            self.assertEqual(start, end, column.path_in_schema)
            self.assertGreaterEqual(column.data_page_offset, start)
            self.assertLessEqual(set(column.encodings), known.get(column.physical_type, numbers))
            self.check_column(column, table[column.path_in_schema])
            end += column.total_compressed_size
            sizes += column.total_uncompressed_size
        self.assertEqual(group.total_byte_size, sizes)
        return end

    def check_column(self, column, values):
        name = column.path_in_schema
        self.assertEqual(column.compression, "ZSTD", name)
        self.assertEqual(column.num_values, len(values), name)
        statistics = column.statistics
        self.assertEqual(statistics.null_count, values.null_count, name)
        if column.physical_type in ("INT32", "INT64") and statistics.null_count < len(values):
            seen = [v for v in values.to_pylist() if v is not None]
            self.assertEqual((statistics.min, statistics.max), (min(seen), max(seen)), name)

    def test_facts(self):
        recording = recordings.recorded()
        if not recording:
            self.skipTest(recordings.recordtest.missing())
        of_file = pyarrow.parquet.read_schema(recordings.export(recording, "parquet")).metadata
        info = specimen.open(recording).info
        of_stream = pyarrow.table(specimen.open(recording).samples(["pc"])).schema.metadata
        for facts in (of_file, of_stream):
            self.assertEqual(facts[b"specimen.schema"], b"1")
            self.assertEqual(facts[b"specimen.host"].decode(), info.host)
            self.assertEqual(facts[b"specimen.cpu"].decode(), info.cpu)
            self.assertEqual(int(facts[b"specimen.interval"]), info.interval)
            self.assertEqual(facts[b"specimen.command"].decode(), " ".join(info.command))
        self.assertEqual(info.interval, 8192)

    def test_damage_is_said(self):
        """In Parquet all of it; in Arrow's schema what is known at the start, and the bytes that
        were skipped behind the last rows, if there are rows or not."""
        for name in ("cut", "damaged"):
            recording = recordings.all_of_them()[name]
            info, lost = specimen.open(recording).info, specimen.open(recording).report().lost
            self.assertEqual(bool(info.damage), name == "cut")
            self.assertGreater(lost["skipped_bytes"], 0)
            skipped = {b"specimen.skipped_bytes": b"%d" % lost["skipped_bytes"]}
            for options in ((), ("--filter", "pid == 77777")):
                with self.subTest(name, options=options):
                    of_file = pyarrow.parquet.read_schema(
                        recordings.export(recording, "parquet", *options)).metadata
                    self.assertEqual(of_file[b"specimen.skipped_bytes"],
                                     skipped[b"specimen.skipped_bytes"])
                    of_ipc, ends = self.metadata_of_ipc(
                        recordings.export(recording, "arrow", *options))
                    self.assertEqual(ends, [skipped])
                    of_stream = pyarrow.table(
                        specimen.open(recording).samples(["pc"])).schema.metadata
                    for facts in (of_file, of_ipc, of_stream):
                        self.assertEqual(facts.get(b"specimen.damage", b"").decode(),
                                         info.damage or "")

    def test_losses_are_said(self):
        """What the kernel says that it lost."""
        t = recordings.recording_file
        r = t.Recording(cpus=1)
        r.aux(0, t.sample(0x401000, 100, 10))
        r.aux_flags(0, 0, 64, 1, 100)
        r.write(recordings.path("truncated.data"))
        lost = specimen.open(recordings.path("truncated.data")).report().lost
        self.assertEqual(lost["aux_truncated"], 1)
        of_ipc, ends = self.metadata_of_ipc(
            recordings.export(recordings.path("truncated.data"), "arrow"))
        of_file = pyarrow.parquet.read_schema(
            recordings.export(recordings.path("truncated.data"), "parquet")).metadata
        self.assertEqual([of_ipc[b"specimen.aux_truncated"], of_file[b"specimen.aux_truncated"]],
                         [b"1", b"1"])
        self.assertEqual(ends, [])

    @staticmethod
    def metadata_of_ipc(path):
        """Of the schema, and of the batches that have some."""
        ends = []
        with pyarrow.ipc.open_stream(path) as reader:
            try:
                while True:
                    batch, facts = reader.read_next_batch_with_custom_metadata()
                    batch.validate(full=True)
                    if facts is not None:
                        ends.append(dict(facts))
            except StopIteration:
                return reader.schema.metadata, ends


class Reports(unittest.TestCase):
    def test_same_as_command(self):
        for name in ("recorded", "neoverse-n1", "damaged", "empty"):
            recording = recordings.all_of_them().get(name)
            if not recording:
                continue
            with self.subTest(name):
                self.compare(specimen.open(recording).report(top=10), json.loads(recordings.run(
                    "report", "-q", "--json", "--by", "function", "--sort", "latency", "--top",
                    "10", recording, status=(0, 1))))

    @staticmethod
    def name(group):
        """What the command calls it."""
        return group.symbol or (f"[no symbol] {group.dso}" if group.dso else "[no map]")

    def compare(self, report, said):
        counts = ("samples", "latency", "l1_misses", "llc_misses", "tlb_walks", "mispredicted")
        self.assertEqual(vars(report.totals), said["totals"])
        self.assertEqual([(m.name, m.samples, m.latency) for m in report.mix],
                         [(m.get("class") or m["kind"], m["samples"], m["latency"])
                          for m in said["operations"]])
        self.assertEqual(report.events, {e["name"] or str(e["event"]): e["samples"]
                                         for e in said["events"]})
        self.assertEqual(
            [(s.name, s.loads, s.latency, s.median, s.p95, s.p99, s.max) for s in report.served],
            [(s["served"], s["loads"], *(s["latency"][k]
                                         for k in ("sum", "median", "p95", "p99", "max")))
             for s in said["loads"]])
        self.assertEqual([[self.name(g), g.dso, *(getattr(g.counts, c) for c in counts)]
                          for g in report.groups],
                         [[g["name"], g["dso"] or None, *(g[c] for c in counts)]
                          for g in said["groups"][0]["top"]])
        self.assertEqual(report.lost["skipped_bytes"], said["account"]["skipped_bytes"])


if __name__ == "__main__":
    unittest.main()
