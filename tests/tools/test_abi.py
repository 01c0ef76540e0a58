# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Which changes of a struct the ABI stage lets pass: only growth, at the end, of what may grow."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.environ["SPE_SOURCE_DIR"], "tools", "abi.sh")
TOOL = os.path.join(os.environ["SPE_SOURCE_DIR"], "tools", "abi_growth.py")

HEADER = """#include <stddef.h>
struct spe_config {
    size_t size;
    int a;
    int b;
};
struct spe_row {
    int a;
    int b;
};
struct spe_packet {
    int a;
    int b;
};
int spe_use(const struct spe_config *config);
int spe_rows_sized(struct spe_row *rows, size_t n, size_t size);
int spe_decode(struct spe_packet *packet);
"""
SOURCE = """#include "spe.h"
int spe_use(const struct spe_config *config) { return config->a; }
int spe_rows_sized(struct spe_row *rows, size_t n, size_t size) { return rows->a + (int)(n + size); }
int spe_decode(struct spe_packet *packet) { return packet->a; }
"""
END, A, B = "    int b;\n}", "    int a;\n", "    int b;\n"


@unittest.skipUnless(shutil.which("abidiff") and shutil.which("cc"), "there is no abidiff")
class Growth(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir)
        self.old = self.library(HEADER)

    def library(self, header):
        folder = tempfile.mkdtemp(dir=self.dir)
        for name, text in (("spe.h", header), ("spe.c", SOURCE)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        library = os.path.join(folder, "library.so")
        subprocess.run(["cc", "-g", "-shared", "-fPIC", os.path.join(folder, "spe.c"), "-o", library],
                       check=True)
        return library

    def judge(self, struct, old, new):
        """The tool's status and words after a change to one struct."""
        start = HEADER.index(f"struct {struct} {{")
        header = HEADER[:start] + HEADER[start:].replace(old, new, 1)
        self.assertNotEqual(header, HEADER)
        library = self.library(header)
        report = subprocess.run(["abidiff", "--no-show-locs", self.old, library],
                                capture_output=True, text=True, check=False)
        self.assertNotEqual(report.returncode, 0)
        done = subprocess.run([sys.executable, TOOL, os.path.dirname(library)], input=report.stdout,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def test_growth(self):
        for struct in ("spe_config", "spe_row"):
            self.assertEqual(self.judge(struct, END, "    int b;\n    long more;\n}"),
                             (0, f"abi: new member of struct {struct}: more\n"))

    def test_breaks(self):
        for struct in ("spe_config", "spe_row"):
            for old, new in ((END, "}"),                                   # removed
                             (A + B, B + A),                               # swapped
                             (A, A + "    long more;\n"),                  # in the middle
                             (B, "    long b;\n"),                         # of another type
                             (END, "    long more;\n}")):                  # replaced
                with self.subTest(struct=struct, new=new):
                    self.assertEqual(self.judge(struct, old, new)[0], 1)

    def test_finished(self):
        self.assertEqual(self.judge("spe_packet", END, "    int b;\n    long more;\n}")[0], 1)

    def test_library_that_cannot_be_read(self):
        """Neither is one without differences."""
        with tempfile.TemporaryDirectory() as build:
            missing = subprocess.run([SCRIPT, build], capture_output=True, text=True, check=False)
            self.assertEqual(missing.returncode, 2, missing.stdout)
            self.assertIn("is not there", missing.stderr)
            os.mkdir(os.path.join(build, "src"))
            for name in ("libspecimen-core.so", "libspecimen.so"):
                with open(os.path.join(build, "src", name), "w", encoding="ascii") as file:
                    file.write("not a library\n")
            self.assertEqual(subprocess.run([SCRIPT, build], capture_output=True, check=False).returncode, 1)


if __name__ == "__main__":
    sys.exit(unittest.main())
