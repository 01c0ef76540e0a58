# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Runs the tests of a folder: run.py FOLDER. The last line of standard output has how many passed, failed and were
skipped; lines before it say which were skipped, and why."""

import sys
import unittest


def main():
    tests = unittest.TestLoader().discover(sys.argv[1])
    result = unittest.TextTestRunner(verbosity=2).run(tests)
    broken = len(result.failures) + len(result.errors)
    for test, why in result.skipped:
        print(f"{test.id()}: {why}")
    print(result.testsRun - broken - len(result.skipped), broken, len(result.skipped))
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
