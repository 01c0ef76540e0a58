# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""spe export that does not come to its end: a killed one, and one that cannot write. There is no file
under the name that was asked for, and one that was there stays as it was."""

import os
import resource
import signal
import subprocess
import time
import unittest

from spetest import SPE, CommandTest, spe

FORMATS = ("csv", "ndjson", "arrow") + (("parquet",) if os.environ.get("SPE_ZSTD") == "1" else ())
RECORDS = 60000
LIMIT = 300000  # bytes that the file may have: every format needs more


def limit_files():
    """Behind the limit a write fails, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))


class Ends(CommandTest):
    def setUp(self):
        super().setUp()
        self.recording = self.dir + "/bytes.spe"
        self.folder = self.dir + "/out"
        self.out = self.folder + "/samples"
        os.mkdir(self.folder)
        self.good("gen", "--cpu", "neoverse-n1", "--records", str(RECORDS), "-o", self.recording)

    def command(self, form):
        return [SPE, "export", "-q", "--format", form, "-o", self.out, self.recording]

    def full(self, form):
        return subprocess.run(self.command(form), preexec_fn=limit_files, capture_output=True,
                              check=False, timeout=300)

    def test_full_disk(self):
        for form in FORMATS:
            done = self.full(form)
            self.assertEqual(done.returncode, 1, (form, done))
            said = done.stderr.decode().splitlines()
            self.assertEqual(len(said), 1, said)
            self.assertIn("File too large", said[0])
            self.assertIn(self.out, said[0])
            self.assertEqual(os.listdir(self.folder), [], form)

    def test_full_disk_keeps_what_was_there(self):
        for form in FORMATS:
            with open(self.out, "w", encoding="utf-8") as f:
                f.write("mine")
            self.assertEqual(self.full(form).returncode, 1)
            with open(self.out, encoding="utf-8") as f:
                self.assertEqual(f.read(), "mine")
            self.assertEqual(os.listdir(self.folder), ["samples"])

    def test_full_disk_behind_a_dataset(self):
        done = subprocess.run([SPE, "export", "-q", "--format", FORMATS[-1], "-o",
                               self.folder + "/", self.recording],
                              preexec_fn=limit_files, capture_output=True, check=False, timeout=300)
        self.assertEqual(done.returncode, 1, done)
        self.assertEqual(os.listdir(self.folder), [])

    def has_bytes(self):
        """Is there a file, of whatever name, with something in it?"""
        try:
            return any(os.path.getsize(os.path.join(self.folder, name))
                       for name in os.listdir(self.folder))
        except FileNotFoundError:
            return False  # it got its name meanwhile

    def killed(self, form):
        """Killed as soon as it writes something; whether that was before its end."""
        process = subprocess.Popen(self.command(form))
        while process.poll() is None and not self.has_bytes():
            time.sleep(0.0005)
        process.kill()
        return process.wait() == -signal.SIGKILL

    def test_killed(self):
        for form in FORMATS:
            for _ in range(20):
                in_the_middle = self.killed(form)
                if in_the_middle:
                    break
                os.unlink(self.out)
            self.assertTrue(in_the_middle, form)
            self.assertFalse(os.path.exists(self.out), form)
            self.assertEqual(spe(*self.command(form)[1:]).returncode, 0)
            self.assertTrue(os.path.exists(self.out))
            for name in os.listdir(self.folder):
                os.unlink(os.path.join(self.folder, name))


if __name__ == "__main__":
    unittest.main()
