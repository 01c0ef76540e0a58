# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""The tests that compare with perf, once more with the newer one that tools/setup.sh unpacked: perf
of Debian 12 is 6.1, and what users have is not."""

import os
import subprocess
import sys
import unittest

from recordtest import perf_file, skip

SOURCE = os.environ.get("SPE_SOURCE_DIR", ".")
PERF = os.path.join(SOURCE, os.environ.get("SPECIMEN_DEPS", ".deps"), "perf", "perf")
COMPARISONS = [
    "cli/test_dump_perf.py",
    "cli/test_names_perf.py",
    "cli/test_other_calls.py",
    "cli/test_script_perf.py",
    "cli/test_vectors_perf.py",
    "record/test_annotate.py Annotate.test_as_perf",
    "record/test_c2c.py",
    "record/test_calls.py ReaderTest.test_perf ReaderTest.test_perf_is_quiet",
    "record/test_output.py Output.test_complete Output.test_killed_launcher Output.test_full_disk",
    "record/test_programs.py",
    "record/test_record.py Reading",
]

if os.environ.get("SPE_PERF"):
    skip("SPE_PERF is set: the other tests compare with it")
if not os.path.exists(PERF):
    skip("there is no newer perf to compare with: tools/setup.sh test fetches it")


class NewerPerf(unittest.TestCase):
    def run_with_it(self, *command):
        result = subprocess.run(command, check=False, capture_output=True, text=True,
                                errors="replace", env={**os.environ, "SPE_PERF": PERF})
        said = result.stdout + result.stderr
        if result.returncode == 77:
            self.skipTest(said)
        self.assertEqual(result.returncode, 0, said)

    def test_comparisons(self):
        for comparison in COMPARISONS:
            path, *names = comparison.split()
            with self.subTest(comparison):
                self.run_with_it(sys.executable, os.path.join(SOURCE, "tests", path), *names)

    def test_files(self):
        """What the library writes."""
        self.run_with_it(os.path.join(os.environ["SPE_BUILD_DIR"], "tests", "perfdata_test_perf"))


if __name__ == "__main__":
    print("perf {}.{}".format(*perf_file.version([PERF])))
    unittest.main()
