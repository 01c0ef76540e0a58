# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Programs without an operating system: what PMBSR_EL1 says of faults, and nonsense."""

import re
import shutil
import tempfile
import unittest

import guest

# Expected by Arm ARM D24.7 (PMBSR_EL1: EC, DL, S, FSC) and the tables that bare.c makes.
S, DL = 1 << 17, 1 << 19
STAGE1 = 0x24 << 26
TRANSLATION, ACCESS_FLAG, PERMISSION = 0x04, 0x08, 0x0c
START, BAD = 0x48010000, 0x48011000


def fault(kind, level, partial):
    return STAGE1 | S | (DL if partial else 0) | kind | level


EXPECTED = {
    "full": (S | 1, None),
    "unmapped": (fault(TRANSLATION, 3, True), BAD),
    "unmapped first": (fault(TRANSLATION, 3, False), BAD),
    "read-only": (fault(PERMISSION, 3, True), BAD),
    "read-only first": (fault(PERMISSION, 3, False), BAD),
    "not accessed": (fault(ACCESS_FLAG, 3, True), BAD),
    "good": (S | 1, None),
    "no table": (fault(TRANSLATION, 2, False), 0x48200000),
    "no range": (fault(TRANSLATION, 0, False), 1 << 40),
    "no upper range": (fault(TRANSLATION, 0, False), 0xffff000000000000),
}


class Bare(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="spe-vm-test-")
        self.addCleanup(shutil.rmtree, self.folder)

    def run_bare(self, name, *options, flags=()):
        program = guest.build_bare(self.folder, name, *flags)
        result = guest.spe("vm", "--kernel", program, "--timeout", guest.TIMEOUT, *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("end", result.stdout.split("\n")[-2:] + result.stdout.splitlines()[-1:])
        return result.stdout

    def check_faults(self, *options):
        text = self.run_bare("faults", *options)
        seen = {}
        for name, status, pointer in re.findall(
                r"^([a-z -]+): pmbsr=([0-9a-f]{16}) pmbptr=([0-9a-f]{16})", text, re.M):
            seen[name] = (int(status, 16), int(pointer, 16))
        self.assertEqual(set(seen), set(EXPECTED), text)
        for name, (status, pointer) in EXPECTED.items():
            # A record may end with the page: then nothing of the next one was lost.
            allowed = {status, status & ~DL} if pointer == BAD else {status}
            self.assertIn(seen[name][0], allowed, name + "\n" + text)
            if pointer is not None:
                self.assertEqual(seen[name][1], pointer, name)
        self.assertRegex(text, r"exceptions=0{16}")
        return text

    def test_faults(self):
        text = self.check_faults()
        full = int(re.search(r"full: .*pmbptr=([0-9a-f]+)", text).group(1), 16)
        # Full is when a record of 128 bytes, the largest, has no room any more.
        self.assertTrue(START + 4096 - 128 < full <= START + 4096, text)

    def test_identity(self):
        for version, number in (("v1p0", 1), ("v1p2", 3), ("v1p4", 5)):
            text = self.check_faults("--spe", version)
            self.assertEqual(int(re.search(r"dfr0=([0-9a-f]+)", text).group(1), 16) >> 32 & 15,
                             number)
        text = self.check_faults("--cpu", "neoverse-n1", "--spe", "v1p0")
        self.assertEqual(int(re.search(r"pmsidr=([0-9a-f]+)", text).group(1), 16) >> 16 & 15, 2)

    def test_period(self):
        """An interval of 1024 operations, and one that reloads: not one is lost."""
        for options in ((), ("--model", "functional")):
            text = self.run_bare("period", *options)
            n = {name: int(v, 16) for name, v in re.findall(r"(\w+)=([0-9a-f]{16})", text)}
            self.assertEqual(n["plain"], n["plain1000"], text)
            self.assertEqual(n["memory"], n["memory1000"], text)
            self.assertEqual((n["plain"] - n["plain1"]) % 1025, 2, text)
            self.assertEqual((n["memory"] - n["memory1"]) % 1025, 5, text)

    def test_level(self):
        text = self.run_bare("level")
        n = {name: int(v, 16) for name, v in re.findall(r"(\w+)=([0-9a-f]{16})", text)}
        self.assertEqual(n, {"calls": 3, "pmbsr": S | 1, "after": 3, "others": 0}, text)

    def test_nonsense(self):
        for options in ((), ("--spe", "v1p0", "--cpu", "neoverse-n1"), ("--model", "functional")):
            text = self.run_bare("nonsense", *options, flags=("-DSECONDS=20",))
            numbers = {name: int(value, 16)
                       for name, value in re.findall(r"(\w+)=([0-9a-f]{16})", text)}
            self.assertGreater(numbers["writes"], 10000)
            self.assertGreater(numbers["good"], 5)  # in between, the unit works
            self.assertEqual(numbers["bad"], 0)
            self.assertGreater(numbers["exceptions"], 0)  # registers of EL2 are undefined here


if __name__ == "__main__":
    guest.need()
    unittest.main()
