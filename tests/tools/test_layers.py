# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""tools/layers.py: it finds calls to the right, headers of others, and exceptions without a use."""

import importlib.util
import os
import tempfile
import unittest

SOURCE = os.environ["SPE_SOURCE_DIR"]
spec = importlib.util.spec_from_file_location("layers", os.path.join(SOURCE, "tools", "layers.py"))
layers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(layers)

PICTURE = """
A room may call the rooms to its left:

    base  <-  format  <-  spu  <-  record, vm  <-  cli      (making records)
    base  <-  format  <-  render  <-  cli
"""


class Layers(unittest.TestCase):
    def check(self, exceptions=None, **files):
        """src/ROOM/FILE.c for each room_file=text."""
        with tempfile.TemporaryDirectory() as tree:
            for name, text in {"CONTRIBUTING.md": PICTURE, "include/specimen/format.h": "",
                               "include/specimen/features.h": "", "include/specimen/error.h": "",
                               "src/base/list.h": "", "src/format/bytes.h": "",
                               "src/render/out.h": "",
                               **{f"src/{k.replace('_', '/')}.c": v for k, v in files.items()}}.items():
                path = os.path.join(tree, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as f:
                    f.write(text)
            return layers.check(tree, exceptions or {})

    def test_picture(self):
        left = layers.picture(PICTURE)
        self.assertEqual(left["cli"], {"base", "format", "spu", "record", "vm", "render"})
        self.assertEqual(left["record"], {"base", "format", "spu"})
        self.assertEqual(left["format"], {"base"})

    def test_what_may_be(self):
        self.assertEqual(self.check(
            cli_a='#include "render/out.h"\n#include <specimen/format.h>\n#include <stdio.h>\n',
            format_a='#include "bytes.h"\n#include "format/bytes.h"\n',
            render_a='# include "out.h"\n#include "specimen/features.h"\n'), [])

    def test_open_room(self):
        self.assertEqual(self.check(spu_a='#include "base/list.h"\n#include <specimen/error.h>\n'),
                         [])
        self.assertEqual(self.check(base_a='#include "format/bytes.h"\n'),
                         ["src/base/a.c: format/bytes.h: base may not call format"])

    def test_to_the_right(self):
        self.assertEqual(self.check(format_a='int a;\n#include "render/out.h"\n'),
                         ["src/format/a.c: render/out.h: format may not call render"])
        self.assertEqual(self.check(vm_a="#include <specimen/record.h>\n"),
                         ["src/vm/a.c: specimen/record.h: vm may not call record"])

    def test_what_is_not_public(self):
        text = '#include "format/bytes.h"\n'
        self.assertEqual(self.check(spu_a=text), ["src/spu/a.c: format/bytes.h: is for format "
                                                  "itself; spu has specimen/format.h"])
        self.assertEqual(self.check({"format/bytes.h": ["spu"]}, spu_a=text), [])

    def test_exceptions_go(self):
        self.assertEqual(self.check({"format/bytes.h": ["spu"]}),
                         ["tools/layers.py: format/bytes.h is not needed by spu any more: take it "
                          "out of EXCEPTIONS"])

    def test_rooms_are_in_the_picture(self):
        self.assertEqual(self.check(attic_a=""),
                         ["src/attic/a.c: 'attic' is not a room of the picture"])

    def test_this_tree(self):
        self.assertEqual(layers.check(SOURCE, layers.EXCEPTIONS), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
