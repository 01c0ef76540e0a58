# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""tools/mutate.py: what it changes, what it leaves alone, how it samples and what it says."""

import importlib.util
import io
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.join(os.environ["SPE_SOURCE_DIR"], "tools", "mutate.py")
spec = importlib.util.spec_from_file_location("mutate", TOOL)
mutate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mutate)


def changes(text, kind=None):
    return [mutate.applied(text, m) for m in mutate.mutants_of("a.c", text)
            if kind in (None, m.kind)]


class Changes(unittest.TestCase):
    def test_constants_move_by_one(self):
        self.assertEqual(changes("int a = 7;"), ["int a = 8;", "int a = 6;"][::-1])
        self.assertEqual(changes("int a = 0;"), ["int a = 1;"])
        self.assertEqual(changes("int a = 0x0fu;"), ["int a = 0x10u;", "int a = 0xeu;"])
        self.assertEqual(changes("float a = 1.5;"), [])

    def test_constants_of_macros_move_too(self):
        self.assertEqual(changes("#define BIT 3\n"), ["#define BIT 2\n", "#define BIT 4\n"])
        self.assertEqual(changes("#define F(x) ((x) >> \\\n 1)\n", "constant"),
                         ["#define F(x) ((x) >> \\\n 0)\n", "#define F(x) ((x) >> \\\n 2)\n"])

    def test_what_is_left_alone(self):
        for text in ("#include <a1.h>\n", "#if X > 1\n#endif\n", "/* 1 < 2 */", "// 1 && 2\n",
                     'char *a = "1 + 2";', "char a = '1';", "char a[10];", "char *a[10];",
                     "struct s a = {0};", "int *p = -x;"):
            self.assertEqual(changes(text), [], text)

    def test_operators(self):
        self.assertEqual(changes("x = a == b;"), ["x = a != b;"])
        self.assertEqual(changes("x = a < b;"), ["x = a <= b;", "x = a > b;"])
        self.assertEqual(changes("x = a && b;"), ["x = a || b;"])
        self.assertEqual(changes("x = a + -b;"), ["x = a - -b;"])
        self.assertEqual(changes("x += f(a) - b[i];"), ["x -= f(a) - b[i];", "x += f(a) + b[i];"])
        self.assertEqual(changes("x = a ? b : c;"), ["x = a == 0 ? b : c;"])

    def test_conditions_are_negated(self):
        text = "int f(int a)\n{\n    if (g(a))\n        return a;\n    return b;\n}\n"
        self.assertEqual(changes(text), [text.replace("(g(a))", "(!(g(a)))")])
        text = "static bool f(int a)\n{\n    return g(a);\n}\n"
        self.assertEqual(changes(text), [text.replace("g(a);", "!(g(a));")])
        text = "static int f(int a)\n{\n    return g(a);\n}\n"
        self.assertEqual(changes(text), [])

    def test_statements_are_dropped(self):
        text = """void f(struct s *s)
{
    uint64_t x = y, *z;
    struct s t = {.a = b};

    g(x);
    *z = x;
    if (x)
        s->a = b;
    else
        h(), i();
    switch (x) {
    case A:
        j();
        break;
    default:
        *s = (struct s){.a = x};
    }
    return;
}
"""
        dropped = [m.old for m in mutate.mutants_of("a.c", text) if m.kind == "statement"]
        self.assertEqual(dropped, ["g(x)", "*z = x", "s->a = b", "h(), i()", "j()", "break",
                                   "*s = (struct s){.a = x}"])

    def test_data_has_no_statements(self):
        text = "static const struct s a[] = {\n    {f(b), c},\n    X(d),\n};\nenum { A = b, C };\n"
        self.assertEqual(changes(text, "statement"), [])

    def test_lines_and_columns(self):
        mutant, = mutate.mutants_of("src/a.c", "int a;\nint b = 0;\n")
        self.assertEqual(mutate.described(mutant), "src/a.c:2:9: 0 -> 1")


class Sample(unittest.TestCase):
    def test_shares_are_even(self):
        self.assertEqual(mutate.shares({"a": 100, "b": 100, "c": 100}, 30),
                         {"a": 10, "b": 10, "c": 10})
        self.assertEqual(mutate.shares({"a": 4, "b": 100, "c": 100}, 30),
                         {"a": 4, "b": 13, "c": 13})
        self.assertEqual(mutate.shares({"a": 4, "b": 2}, 30), {"a": 4, "b": 2})
        self.assertEqual(sum(mutate.shares({"a": 9, "b": 90, "c": 90}, 100).values()), 100)

    def test_slices_cover_the_file(self):
        cut = mutate.slices(list(range(100)), 7, random.Random(1))
        self.assertEqual(len(cut), 7)
        self.assertEqual(sorted(sum(cut, [])), list(range(100)))
        for before, after in zip(cut, cut[1:]):
            self.assertLess(max(before), min(after))
        self.assertEqual(cut, mutate.slices(list(range(100)), 7, random.Random(1)))

    def test_flags(self):
        self.assertEqual(
            mutate.compiler_and_flags("ccache cc -Ia -I../b -DX=1 -O3 -Wall -mavx2 -std=gnu11 "
                                      "-isystem /c -fvisibility=hidden -MD -MF d -o o -c a.c"),
            ["ccache", "cc", "-Ia", "-I../b", "-DX=1", "-mavx2", "-std=gnu11", "-isystem", "/c",
             "-O1", "-g0", "-w", "-fPIC"] + mutate.TRAPS)


class Report(unittest.TestCase):
    def test_table_and_survivors(self):
        first, second = mutate.mutants_of("src/format/a.c", "int a = 7;")
        out = io.StringIO()
        share = mutate.report([(first, "caught"), (second, "survived")], out)
        self.assertEqual(share, 50)
        lines = out.getvalue().splitlines()
        self.assertEqual(lines[1].split(), ["src/format/a.c", "2", "1", "1", "50.0", "%"])
        self.assertEqual(lines[2].split()[0], "all")
        self.assertEqual(lines[-1], "src/format/a.c:1:9: 7 -> 8")


PROJECT = {
    "meson.build": """project('small', 'c', default_options: ['c_std=gnu11'])
lib = static_library('small', 'src/format/a.c')
executable('format_test_a', 'tests/format/test_a.c', link_with: lib)
""",
    "meson_options.txt": "option('tests', type: 'feature', value: 'auto')\n",
    "src/format/a.c": """int tested(int a);
int untested(int a);

int tested(int a)
{
    return a < 5;
}

int untested(int a)
{
    return a < 9;
}
""",
    "tests/format/test_a.c": """int tested(int a);

int main(void)
{
    for (int a = 0; a < 10; a++)
        if (tested(a) != (a <= 4))
            return 1;
    return 0;
}
""",
}


def links_cmocka():
    """mutate.py links tests by itself; a cmocka of -Dcmocka_root is out of its sight."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "a.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write("int main(void)\n{\n    return 0;\n}\n")
        return subprocess.run(["cc", "-o", source[:-2], source, "-lcmocka"],
                              stderr=subprocess.DEVNULL, check=False).returncode == 0


class Whole(unittest.TestCase):
    """A small project, from its sources to the verdict."""

    def setUp(self):
        if not shutil.which("meson"):
            self.skipTest("there is no meson")
        if not links_cmocka():
            self.skipTest("cmocka is not where the compiler looks for libraries")
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        for path, text in PROJECT.items():
            self.write(path, text)

    def write(self, path, text):
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def mutate(self, *arguments):
        return subprocess.run(
            [sys.executable, TOOL, "--root", self.folder, "--count", "8", "--jobs", "1",
             *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)

    def test_survivors_are_told(self):
        result = self.mutate()
        self.assertEqual(result.returncode, 1, result.stderr)
        row = next(line for line in result.stdout.splitlines() if line.startswith("all"))
        self.assertEqual(row.split(), ["all", "8", "4", "4", "50.0", "%"])
        survivors = result.stdout.split("Survivors:\n")[1].splitlines()
        self.assertTrue(all(line.startswith("src/format/a.c:11:") for line in survivors))
        self.assertEqual(os.listdir(self.folder).count("meson.build"), 1)
        # Again: nothing is left to do but to say the same.
        again = self.mutate()
        self.assertEqual(again.stdout, result.stdout)
        # A better test, and the survivors are tried again.
        self.write("tests/format/test_a.c", PROJECT["tests/format/test_a.c"].replace(
            "(tested(a) != (a <= 4))", "(tested(a) != (a <= 4) || untested(a) != (a <= 8))").replace(
                "int tested(int a);", "int tested(int a);\nint untested(int a);"))
        better = self.mutate()
        self.assertEqual(better.returncode, 0, better.stdout)

    def test_a_failing_test_is_no_judge(self):
        self.write("tests/format/test_a.c", "int main(void)\n{\n    return 1;\n}\n")
        result = self.mutate()
        self.assertEqual(result.returncode, 2)
        self.assertIn("fails without any change", result.stderr)

    def test_listing_builds_nothing(self):
        result = self.mutate("--list", "--file", "a.c")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(len(result.stdout.splitlines()), 8)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "build")))
        self.assertEqual(self.mutate("--list", "--file", "b.c").stdout, "")


if __name__ == "__main__":
    unittest.main(verbosity=2)
