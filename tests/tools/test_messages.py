# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Reasons and messages begin with a small letter, as they follow a name and a colon, and end without a
full stop. Names such as FEAT_SPE and QEMU are as they are written."""

import os
import pathlib
import re
import unittest

SOURCE = pathlib.Path(os.environ["SPE_SOURCE_DIR"], "src")
# Functions that take a reason.
SAY = ("complain", "damaged", "fail", "give_up", "pd_problem", "problem_say", "profile_fail",
       "profile_warn", "refuse", "sim_wrong", "skip_damage", "spu_refuse", "trouble_tell", "usage_error")
RETURNED = "spu/config.c"  # literals that are returned here are reasons, too
LITERAL = r'("(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*)'
CALL = re.compile(r"\b(?:" + "|".join(SAY) + r')\((?:[^"();]|\([^()]*\))*?' + LITERAL)
RETURN = re.compile(r"\breturn " + LITERAL)


def wrong(literals):
    """Those that begin with a capital or end with a full stop."""
    return [literal for literal in literals
            if re.match(r'"[A-Z]([a-z]| )', literal) or re.search(r'[^.]\."$', literal)]


def messages():
    """Each source file with its messages."""
    for path in sorted(SOURCE.rglob("*.c")):
        text = path.read_text(encoding="utf-8")
        yield path, CALL.findall(text) + (RETURN.findall(text) if path.match(RETURNED) else [])


class Messages(unittest.TestCase):
    def test_form(self):
        seen = 0
        for path, literals in messages():
            seen += len(literals)
            with self.subTest(str(path.relative_to(SOURCE))):
                self.assertEqual(wrong(literals), [])
        self.assertGreater(seen, 400)

    def test_would_be_seen(self):
        text = 'return spu_refuse(why, n, "The thing %s", x); fail(f(a), "it is bad.");' \
               'complain(a, "a list "\n  "that goes on ..."); refuse("QEMU is old");'
        self.assertEqual(wrong(CALL.findall(text)), ['"The thing %s"', '"it is bad."'])


if __name__ == "__main__":
    unittest.main()
