# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""The picture of README (tools/picture.py): it can be made, and that in the tree is of such a page."""

import os
import struct
import sys
import unittest
import zlib

import recordtest
from recordtest import RecordTest, SPE, skip

recordtest.require()
recordtest.need_symbols()
sys.path.insert(0, os.path.join(os.environ["SPE_SOURCE_DIR"], "tools"))
import picture  # pylint: disable=wrong-import-position

if not picture.browser.find():
    skip("there is no Chromium")


class Picture(RecordTest):
    def test_picture(self):
        path = os.path.join(self.dir, "page.png")
        structure = picture.take(picture.demo_page(SPE, self.dir), path)
        self.assertEqual(structure[0][0], "Findings")
        self.assertEqual(picture.structure_in(path), structure)
        with open(path, "rb") as f:
            parts = list(picture.chunks(f.read()))
        self.assertEqual(struct.unpack(">II", parts[0][1][:8]), picture.SIZE)
        pixels = zlib.decompress(b"".join(content for kind, content in parts if kind == b"IDAT"))
        self.assertGreater(len(set(pixels)), 50, "it is blank")
        self.assertEqual(picture.structure_in(picture.PICTURE), structure,
                         "the page has changed: look at it, and run tools/picture.py")


if __name__ == "__main__":
    unittest.main()
