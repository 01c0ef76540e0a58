# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Manual pages of section 3: every exported function and every struct stands in exactly one, with
the prototype of its header, and mandoc has nothing to say about them."""

import glob
import importlib.util
import os
import re
import shutil
import subprocess
import unittest

SOURCE = os.environ["SPE_SOURCE_DIR"]
BUILD = os.environ["SPE_BUILD_DIR"]

spec = importlib.util.spec_from_file_location("exports", os.path.join(SOURCE, "tools/exports.py"))
exports = importlib.util.module_from_spec(spec)
spec.loader.exec_module(exports)


def pages():
    return {os.path.basename(path): path
            for path in glob.glob(os.path.join(BUILD, "docs", "man", "specimen-*.3"))}


def prototypes(path):
    """name -> prototype, out of the macros of the SYNOPSIS."""
    with open(path, encoding="utf-8") as file:
        synopsis = re.search(r"^\.Sh SYNOPSIS\n(.*?)^\.Sh ", file.read(), re.M | re.S).group(1)
    found = {}
    for kind, name, body in re.findall(r"^\.Ft ([^\n]*)\n\.Fo (\w+)\n(.*?)^\.Fc$", synopsis,
                                       re.M | re.S):
        arguments = ", ".join(re.findall(r'^\.Fa "([^\n]*)"$', body, re.M))
        found[name] = f"{kind} {name}({arguments})".replace("* ", "*")
    return found


class Pages(unittest.TestCase):
    def test_a_page_for_each_header(self):
        wanted = {f"specimen-{name.removesuffix('.h')}.3" for name in exports.headers()}
        self.assertEqual(set(pages()), wanted)

    def test_every_function_is_in_one_page_as_declared(self):
        for header in exports.headers():
            there = prototypes(pages()[f"specimen-{header.removesuffix('.h')}.3"])
            text = " ".join(exports.without_comments(exports.text_of(header)).split())
            text = text.replace("* ", "*")
            for name in exports.declared(header):
                self.assertIn(name, there, header)
                self.assertIn(f"SPE_API {there[name]};", text)
            for name, prototype in there.items():
                self.assertIn(prototype, text)

    def test_every_struct_is_in_its_page(self):
        for header in exports.headers():
            with open(pages()[f"specimen-{header.removesuffix('.h')}.3"],
                      encoding="utf-8") as file:
                there = re.findall(r"^\.It Vt struct (\w+)$", file.read(), re.M)
            text = exports.without_comments(exports.text_of(header))
            self.assertEqual(there, re.findall(r"^struct (spe_\w+) \{", text, re.M))

    def test_mandoc_has_nothing_to_say(self):
        if not shutil.which("mandoc"):
            self.skipTest("mandoc is not here")
        done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *sorted(pages().values())],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.stdout, done.returncode), ("", 0))


if __name__ == "__main__":
    unittest.main()
