# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""spe export -o FOLDER/: a table of each recording, and no file is lost."""

import os
import stat
import struct
import unittest

import recording_file as t
from spetest import CommandTest, spe


class Dataset(CommandTest):
    def recording(self, name, host=None, samples=3):
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        r = t.Recording(cpus=1)
        if host is not None:
            r.features[3] = t.feature_string(host)
        r.comm(10, 10, "prog")
        r.aux(0, b"".join(t.sample(0x401000, 100 + i, 10) for i in range(samples)))
        r.write(path)
        os.utime(path, (1700000000, 1700000000))  # 2023-11-14 22:13:20 UTC
        return path

    def files(self, folder="out"):
        top = os.path.join(self.dir, folder)
        return sorted(os.path.relpath(os.path.join(at, name), top)
                      for at, _, names in os.walk(top) for name in names)

    def export(self, *args, status=0, folder="out/"):
        done = spe("export", "--format", "csv", "-o", os.path.join(self.dir, folder), *args)
        self.assertEqual(done.returncode, status, done)
        return done.stderr.decode()

    def rows(self, name):
        with open(os.path.join(self.dir, "out", name), encoding="utf-8") as f:
            return len(f.read().splitlines()) - 1

    def test_one_file_each(self):
        self.export(self.recording("a.data", "alpha", 1), self.recording("b.data", "beta", 2))
        self.assertEqual(self.files(), ["alpha-a.csv", "beta-b.csv"])
        self.assertEqual([self.rows(f) for f in self.files()], [1, 2])

    def test_same_name_twice(self):
        paths = [self.recording(f"{i}/perf.data", "alpha", i) for i in (1, 2, 3)]
        self.export(*paths)
        self.assertEqual([(f, self.rows(f)) for f in self.files()],
                         [("alpha-perf-2.csv", 2), ("alpha-perf-3.csv", 3), ("alpha-perf.csv", 1)])

    def test_nothing_is_replaced(self):
        path = self.recording("a.data", "alpha")
        self.export(path)
        with open(os.path.join(self.dir, "out", "alpha-a.csv"), "w", encoding="utf-8") as f:
            f.write("mine")
        said = self.export(path, self.recording("b.data", "beta"), status=1)
        self.assertIn("alpha-a.csv: exists already", said)
        with open(os.path.join(self.dir, "out", "alpha-a.csv"), encoding="utf-8") as f:
            self.assertEqual(f.read(), "mine")
        self.assertEqual(self.files(), ["alpha-a.csv", "beta-b.csv"])

    def test_partition(self):
        path = self.recording("a.data", "alpha")
        self.export("--partition", "host,date", path)
        self.export("--partition", "date", path)
        self.assertEqual(self.files(), ["date=2023-11-14/alpha-a.csv",
                                        "host=alpha/date=2023-11-14/alpha-a.csv"])

    def test_hostile_hosts(self):
        hosts = ("../../etc", "/", "..", ".", "_x", "a=b/c", "n\nl", "e\x1b[1m", "é", "%41", "x" * 300)
        for i, host in enumerate(hosts):
            self.export("--partition", "host", self.recording(f"{i}.data", host))
        found = self.files()
        self.assertEqual(len(found), len(hosts))
        for name in found:
            folder, file = name.split("/")
            self.assertRegex(folder, r"^host=[A-Za-z0-9%-][A-Za-z0-9%._-]*$")
            self.assertRegex(file, r"^[A-Za-z0-9%-][A-Za-z0-9%._-]*\.csv$")
            self.assertLess(len(file), 255)
        self.assertIn("host=%2E.%2F..%2Fetc/%2E.%2F..%2Fetc-0.csv", found)
        self.assertIn("host=%2E./%2E.-2.csv", found)
        self.assertEqual(sorted(os.listdir(self.dir)),
                         sorted([f"{i}.data" for i in range(len(hosts))] + ["out"]))

    def test_no_host(self):
        path = self.file(struct.pack("<BQ", 0x71, 5), "bare.spe")
        self.export("--raw", "--partition", "host", path)
        self.assertEqual(self.files(), ["host=__HIVE_DEFAULT_PARTITION__/bare.spe.csv"])

    def test_others_go_on(self):
        said = self.export(self.dir + "/missing.data", self.recording("b.data", "beta"), status=1)
        self.assertIn("missing.data: No such file", said)
        self.assertEqual(self.files(), ["beta-b.csv"])

    def test_words(self):
        path = self.recording("a.data", "alpha")
        for args, why in ((("-o", self.dir + "/x.csv", "--partition", "host", path), "needs a directory"),
                          (("-o", self.dir + "/x/", "--partition", "moon", path), "'moon' is not"),
                          (("-o", self.dir + "/x/", "--partition", "host,host", path), "twice"),
                          (("-o", self.dir + "/x.csv", path, path), "one file at a time")):
            self.assertIn(why, self.bad(2, "export", "--format", "csv", *args))
        self.assertFalse(os.path.exists(self.dir + "/x"))

    def test_folder_that_cannot_be_written(self):
        with open(self.dir + "/file", "w", encoding="utf-8"):
            pass
        said = self.export(self.recording("a.data", "alpha"), status=1, folder="file/")
        self.assertIn("file/alpha-a.csv: Not a directory", said)
        if os.geteuid() != 0:
            os.mkdir(self.dir + "/closed", stat.S_IRUSR | stat.S_IXUSR)
            said = self.export(self.recording("a.data", "alpha"), status=1, folder="closed/")
            self.assertIn("Permission denied", said)


if __name__ == "__main__":
    unittest.main()
