# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""The package says what is wrong in the command's words, and no bytes crash it."""

import gc
import os
import subprocess
import sys
import threading
import unittest

import pandas
import pyarrow
import recordings
import specimen

CORPORA = os.path.join(recordings.TOP, "fuzz", "corpus")


def corpus(name):
    folder = os.path.join(CORPORA, name)
    return [os.path.join(folder, file) for file in sorted(os.listdir(folder))]


class Errors(unittest.TestCase):
    def command_says(self, *args):
        done = subprocess.run([recordings.SPE, "export", "--format", "csv", *args],
                              capture_output=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr.decode().splitlines()[0].removeprefix("spe: ")

    def test_file(self):
        for name, content in (("missing", None), ("text", b"hello, this is not a recording " * 9),
                              ("folder", None), ("header", b"PERFILE2" + bytes(20))):
            path = recordings.path(name + ".data")
            if name == "folder":
                os.makedirs(path, exist_ok=True)
            elif content:
                with open(path, "wb") as f:
                    f.write(content)
            with self.subTest(name):
                with self.assertRaises(specimen.Error) as caught:
                    specimen.open(path)
                self.assertEqual(str(caught.exception), self.command_says(path))

    def test_filter(self):
        recording = recordings.generated("neoverse-n1")
        with self.assertRaises(specimen.Error) as caught:
            specimen.open(recording, filter="total >> 1")
        self.assertEqual("--" + str(caught.exception),
                         self.command_says("--filter", "total >> 1", recording))

    def test_columns(self):
        recording = recordings.generated("neoverse-n1")
        with self.assertRaises(specimen.Error) as caught:
            specimen.open(recording).samples(columns=["pc", "nope"])
        self.assertEqual("--" + str(caught.exception),
                         self.command_says("--columns", "pc,nope", recording))
        with self.assertRaises(TypeError):
            specimen.open(recording).samples(columns="pc")

    def test_names(self):
        with self.assertRaises(specimen.Error) as caught:
            specimen.open(recordings.generated("neoverse-n1")).samples(names="code")
        self.assertEqual(str(caught.exception), "names: code is none of dictionary, view")

    def test_arguments(self):
        recording = recordings.generated("neoverse-n1")
        for wrong in ({"time": (5, 5)}, {"time": (-1, 5)}, {"cpu": "abacus"}):
            with self.subTest(wrong), self.assertRaises(specimen.Error):
                specimen.open(recording, **wrong)
        for wrong in ({"by": "moon"}, {"sort": "moon"}, {"top": -1}):
            with self.subTest(wrong), self.assertRaises(specimen.Error):
                specimen.open(recording).report(**wrong)
        with self.assertRaises(ValueError):
            specimen.open("nul\0byte")

    def test_file_that_is_gone(self):
        path = recordings.generate("gone.spe", [])
        recording = specimen.open(path)
        samples = recording.samples()
        os.unlink(path)
        with self.assertRaisesRegex(specimen.Error, "gone.spe: No such file"):
            samples.__arrow_c_stream__()
        with self.assertRaisesRegex(specimen.Error, "gone.spe: No such file"):
            recording.report()


class Streams(unittest.TestCase):
    def test_bare_records(self):
        path = recordings.generate("bare.spe", ["--cpu", "neoverse-n1"])
        with open(path, "rb") as f:
            data = f.read()
        whole = pyarrow.table(specimen.open(path, cpu="neoverse-n1").samples())
        for kind in (bytes, bytearray, memoryview):
            self.assertEqual(pyarrow.table(specimen.decode(kind(data), cpu="neoverse-n1")), whole)
        few = pyarrow.table(specimen.decode(data, ["pc", "total"], filter="total > 50"))
        self.assertEqual(few.column_names, ["pc", "total"])
        self.assertEqual(len(few), sum(1 for v in whole["total"].to_pylist() if v and v > 50))

    def test_stream_outlives_everything(self):
        with open(recordings.generate("bare.spe", []), "rb") as f:
            data = bytearray(f.read())
        reader = pyarrow.RecordBatchReader.from_stream(specimen.decode(data, batch_rows=100))
        data[:] = bytes(len(data))
        del data
        gc.collect()
        self.assertEqual(sum(len(b) for b in reader), recordings.RECORDS)

    def test_capsule_that_nobody_takes(self):
        for _ in range(50):
            specimen.open(recordings.generated("v1p4")).samples().__arrow_c_stream__()
        reader = pyarrow.RecordBatchReader.from_stream(
            specimen.open(recordings.generated("v1p4")).samples(batch_rows=10))
        first = reader.read_next_batch()
        del reader
        gc.collect()
        self.assertEqual(len(first), 10)
        self.assertEqual(len(first["pc"].to_pylist()), 10)

    def test_threads(self):
        samples = specimen.open(recordings.generated("neoverse-n1")).samples()
        expected, got = pyarrow.table(samples), []
        threads = [threading.Thread(target=lambda: got.append(pyarrow.table(samples)))
                   for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([table == expected for table in got], [True] * 4)

    def test_mapped(self):
        path = recordings.generated("neoverse-n1")
        self.assertEqual(pyarrow.table(specimen.open(path, map=True).samples()),
                         pyarrow.table(specimen.open(path).samples()))

    def test_pandas(self):
        samples = specimen.open(recordings.generated("neoverse-n1")).samples(["total", "level"])
        frame = pandas.DataFrame.from_arrow(samples)
        self.assertEqual(list(frame.columns), ["total", "level"])
        self.assertEqual([None if pandas.isna(v) else v for v in frame["total"]],
                         pyarrow.table(samples)["total"].to_pylist())
        self.assertEqual([None if pandas.isna(v) else v for v in frame["level"]],
                         pyarrow.table(samples)["level"].to_pylist())

    def test_names_of_columns(self):
        table = pyarrow.table(specimen.open(recordings.empty()).samples())
        named = specimen.columns()
        self.assertEqual([c for c in named if c not in ("data", "data_offset")],
                         table.column_names)
        self.assertTrue(all(named.values()))


class Corpus(unittest.TestCase):
    """A crash ends the process: these pass, or nothing is printed at all."""

    def consume(self, samples):
        for batch in pyarrow.RecordBatchReader.from_stream(samples):
            batch.validate(full=True)

    def test_recordings(self):
        good = 0
        for path in corpus("perfdata") + corpus("profile"):
            try:
                recording = specimen.open(path)
                self.consume(recording.samples())
                recording.report()
                good += 1
            except specimen.Error as error:
                self.assertGreater(len(str(error)), len(path) + 2)
        self.assertGreater(good, 50)

    def test_bytes(self):
        good = 0
        for path in corpus("bulk") + corpus("stream"):
            with open(path, "rb") as f:
                self.consume(specimen.decode(f.read()))
            good += 1
        self.assertGreater(good, 100)

    def test_filters(self):
        for path in corpus("filter"):
            with open(path, "rb") as f:
                text = f.read().decode("utf-8", "replace").replace("\0", " ")
            try:
                self.consume(specimen.decode(b"", filter=text))
            except specimen.Error as error:
                self.assertIn("filter: ", str(error))


if __name__ == "__main__":
    sys.exit(unittest.main())
