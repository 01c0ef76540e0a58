# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""spe record: limits that a program gives itself do not make it fail, and what they cost is said."""

import unittest

import recordtest
from recordtest import RecordTest

recordtest.require()


class Limits(RecordTest):
    def under(self, *args):
        """What `spe record` says of a program that does what it does without us; None where it
        does not come to its end without us, either: then there is no more to compare."""
        program = self.compile("limits.c", "-O1", "-static", "-pthread")
        plain = self.plain(program, *args)
        result = self.run_record("-c", "512", "--", program, *args)
        if plain.returncode < 0:  # QEMU itself died, and what it had printed is anybody's guess
            self.assertEqual(result.returncode, 128 - plain.returncode, result.stderr)
            print(f"limits {' '.join(args)}: QEMU alone ends by signal {-plain.returncode}")
            return None
        self.assertEqual((result.returncode, result.stdout), (plain.returncode, plain.stdout),
                         result.stderr)
        self.check()
        if b"child ended" not in plain.stdout:
            print(f"limits {' '.join(args)}: QEMU alone ends with {plain.returncode}")
            return None
        text = result.stderr.decode()
        found = recordtest.SUMMARY.search(text)
        return text, int(found["processes"]), int(found["threads"])

    def test_file_size(self):
        for which in ("fsize", "waiting"):
            text, processes, threads = self.under(which, "0")
            self.assertEqual((processes, threads), (2, 1))
            self.assertRegex(text, r"a thread could not be recorded: File too large")

    def test_descriptors(self):
        # 3: neither the thread nor the child has a descriptor for us; 4: the thread has.
        for limit, recorded in (("3", (1, 1)), ("4", (1, 2)), ("5", (2, 3))):
            said = self.under("nofile", limit)
            if not said:  # a QEMU that has to open libgcc to end a thread cannot
                continue
            text, *counts = said
            self.assertEqual(tuple(counts), recorded, limit)
            if recorded[0] == 1:
                self.assertRegex(text, r"a process could not be recorded: Too many open files")
            else:
                self.assertNotIn("could not be recorded", text)

    def test_others(self):
        for which, limit in (("as", "100000000"), ("nproc", "1")):
            said = self.under(which, limit)
            if not said:  # only root may have more processes than that
                continue
            text, *counts = said
            self.assertEqual(tuple(counts), (2, 3), which)
            self.assertNotIn("could not be recorded", text)


if __name__ == "__main__":
    unittest.main()
