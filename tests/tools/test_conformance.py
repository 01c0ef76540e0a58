# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""tools/conformance.py on small trees whose answers are known."""

import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.environ.get("SPE_SOURCE_DIR") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPT = os.path.join(ROOT, "tools", "conformance.py")

HEADER = "id\tsection\trule\tkind\tpart\tstatement\thow_to_test\n"


def row(number, kind, chapter="D18.1"):
    return f"{chapter}-{number:03}\t{chapter}.1\t-\t{kind}\tpart\tstatement {number}\tlook\n"


CATALOGUE = HEADER + "".join([
    row(1, "MUST"), row(2, "FORMAT"), row(3, "CHOICE"), row(4, "INFO"), row(1, "MUST", "D17.3"),
])
MESON = "format_tests = [\n  # 'test_off.c',\n  'test_a.c',\n  'b.sh',\n]\n"


class Conformance(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.write("docs/conformance/requirements.tsv", CATALOGUE)
        self.write("tests/meson.build", MESON)

    def write(self, path, text):
        path = os.path.join(self.folder.name, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run_script(self, *args):
        done = subprocess.run([sys.executable, SCRIPT, "--root", self.folder.name, *args],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def table(self, output, chapter):
        lines = [line.split() for line in output.splitlines()]
        return next(line[1:] for line in lines if line and line[0] == chapter)

    def test_nothing_is_named(self):
        status, output = self.run_script()
        self.assertEqual(status, 0)
        self.assertEqual(self.table(output, "D18.1"), ["0/1", "0/1", "0/1", "0/3"])
        self.assertEqual(self.table(output, "all"), ["0/2", "0/1", "0/1", "0/4"])

    def test_named_rows_are_counted(self):
        self.write("tests/format/test_a.c", "/* D18.1-001 */\nvoid f(void); /* D18.1-002 */\n")
        self.write("tests/format/b.sh", "# D17.3-001\n")
        status, output = self.run_script("--missing")
        self.assertEqual(status, 0)
        self.assertEqual(self.table(output, "D18.1"), ["1/1", "1/1", "0/1", "2/3"])
        self.assertEqual(self.table(output, "D17.3"), ["1/1", "0/0", "0/0", "1/1"])
        self.assertIn("D18.1-003 CHOICE needs an option and a test: statement 3", output)
        self.assertNotIn("D18.1-001 MUST", output)
        self.assertNotIn("D18.1-004", output)

    def test_choice_needs_option_and_test(self):
        self.write("src/spu/options.c", "{ /* D18.1-003 */ }\n")
        self.assertIn("D18.1-003 CHOICE needs a test", self.run_script("--missing")[1])
        self.write("tests/format/test_a.c", "/* D18.1-003 */\n")
        self.assertNotIn("D18.1-003 CHOICE", self.run_script("--missing")[1])
        os.remove(os.path.join(self.folder.name, "src/spu/options.c"))
        self.assertIn("D18.1-003 CHOICE needs an option:", self.run_script("--missing")[1])

    def test_vectors_are_not_options(self):
        self.write("tests/format/test_a.c", "/* D18.1-003 */\n")
        self.write("src/cli/gen_vectors_packets.c", "rows = \"D18.1-003\";\n")
        self.assertIn("D18.1-003", self.run_script("--missing")[1])
        self.write("src/cli/test_vector.c", "rows = \"D18.1-099\";\n")
        self.assertEqual(self.run_script()[0], 1)

    def test_unknown_id_fails(self):
        for path in ("tests/format/test_a.c", "src/format/a.c", "include/specimen/a.h"):
            with self.subTest(path):
                made = self.write(path, "\n/* D18.1-999 */\n")
                status, output = self.run_script()
                os.remove(made)
                self.assertEqual(status, 1)
                self.assertIn(f"{path}:2: D18.1-999 is not in the catalogue", output)

    def test_sections_are_not_ids(self):
        self.write("tests/format/test_a.c", "/* D18.1.2, D18.2-1, XD18.1-0010 */\n")
        self.assertEqual(self.run_script()[0], 0)

    def test_unlisted_test_covers_nothing(self):
        for name in ("test_off.c", "test_new.c"):
            with self.subTest(name):
                made = self.write("tests/format/" + name, "/* D18.1-001 */\n")
                status, output = self.run_script()
                os.remove(made)
                self.assertEqual(status, 1)
                self.assertIn(f"tests/format/{name} names requirements but", output)
                self.assertEqual(self.table(output, "D18.1")[0], "0/1")

    def test_support_files_count(self):
        self.write("tests/format/cases.h", "/* D18.1-001 */\n")
        status, output = self.run_script()
        self.assertEqual((status, self.table(output, "D18.1")[0]), (0, "1/1"))

    def test_fuzz_targets_count_when_listed(self):
        self.write("fuzz/fuzz_x.c", "/* D18.1-001 */\n")
        self.assertEqual(self.run_script()[0], 1)
        self.write("fuzz/meson.build", "fuzz_names = [\n  'x',\n]\n")
        status, output = self.run_script()
        self.assertEqual((status, self.table(output, "D18.1")[0]), (0, "1/1"))

    def test_tests_of_the_tools_do_not_count(self):
        self.write("tests/tools/test_a.py", "# D18.1-001 D18.1-999\n")
        status, output = self.run_script()
        self.assertEqual((status, self.table(output, "D18.1")[0]), (0, "0/1"))

    def test_hold(self):
        held = self.write("held.txt", "# nothing yet\n\n# D18.1\n")
        self.assertEqual(self.run_script("--hold", held)[0], 0)

        held = self.write("held.txt", "D18.1-00[12]  # two rows\n")
        self.write("tests/format/test_a.c", "/* D18.1-001 */\n")
        status, output = self.run_script("--hold", held)
        self.assertEqual(status, 1)
        self.assertIn("D18.1-002 is held and needs a test", output)
        self.assertNotIn("D18.1-001 is held", output)

        self.write("tests/format/test_a.c", "/* D18.1-001 D18.1-002 */\n")
        self.assertEqual(self.run_script("--hold", held)[0], 0)

        held = self.write("held.txt", "D18.1\n")
        status, output = self.run_script("--hold", held)
        self.assertEqual(status, 1)
        self.assertIn("D18.1-003 is held", output)
        self.assertNotIn("D18.1-004 is held", output)

    def test_hold_refuses_a_pattern_without_rows(self):
        status, output = self.run_script("--hold", self.write("held.txt", "D18.7\n"))
        self.assertEqual(status, 2)
        self.assertIn("'D18.7' is neither a chapter nor an id", output)

    def test_where(self):
        self.write("tests/format/test_a.c", "\n\n/* D18.1-001 */\n")
        self.assertEqual(self.run_script("--where", "D18.1-001"),
                         (0, "tests/format/test_a.c:3\n"))

    def test_bad_catalogue(self):
        bad = {
            "twice": (CATALOGUE + row(1, "MUST"), "is there twice"),
            "kind": (HEADER + row(1, "MAYBE"), "is not a kind"),
            "columns": (HEADER + "D18.1-001\tMUST\n", "2 columns, expected 7"),
            "header": ("a\tb\n", "must name the columns"),
            "id": (HEADER + row(1, "MUST").replace("D18", "D19"), "is not a requirement id"),
        }
        for name, (text, message) in bad.items():
            with self.subTest(name):
                self.write("docs/conformance/requirements.tsv", text)
                status, output = self.run_script()
                self.assertEqual(status, 2)
                self.assertIn(message, output)

    def test_the_real_catalogue_is_sound(self):
        real = os.path.join(ROOT, "docs", "conformance", "requirements.tsv")
        status, output = self.run_script("--catalogue", real)
        self.assertEqual(status, 0, output)
        self.assertEqual(self.table(output, "all")[3].split("/")[1], "586")


if __name__ == "__main__":
    unittest.main()
