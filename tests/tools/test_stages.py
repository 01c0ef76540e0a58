# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""tools/test.sh: a stage that fails stops no other, and the end says which it was."""

import os
import shutil
import subprocess
import tempfile
import unittest

SOURCE = os.environ["SPE_SOURCE_DIR"]


class Stages(unittest.TestCase):
    def setUp(self):
        self.tree = tempfile.mkdtemp(prefix="spe-stages-")
        self.addCleanup(shutil.rmtree, self.tree)
        os.mkdir(self.tree + "/tools")
        shutil.copy(os.path.join(SOURCE, "tools", "test.sh"), self.tree + "/tools")
        self.write("setup.sh", "#!/bin/sh\n")

    def write(self, name, text):
        path = os.path.join(self.tree, "tools", name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, 0o755)

    def run_stages(self, *stages):
        return subprocess.run(["bash", "tools/test.sh", *stages], cwd=self.tree, text=True,
                              capture_output=True, check=False, timeout=50)

    def test_all_run(self):
        self.write("layers.py", "print('this is wrong')\nraise SystemExit(1)\n")
        self.write("conformance.py", "print('all is covered')\n")
        result = self.run_stages("layers", "conformance", "man")
        self.assertEqual(result.returncode, 1)
        lines = result.stdout.splitlines()
        self.assertIn("this is wrong", lines)
        self.assertIn("   all is covered", lines)
        self.assertIn("  man: there are no manual pages", lines)
        self.assertEqual(lines[-2:], ["failed stages: layers", "1 passed, 1 failed"])

    def test_good(self):
        self.write("layers.py", "")
        result = self.run_stages("layers")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stdout.splitlines()[-1], "1 passed, 0 failed")
        self.assertNotIn("failed stages", result.stdout)

    def test_unknown(self):
        result = self.run_stages("layers", "cellar")
        self.assertEqual(result.returncode, 2)
        self.assertIn("no stage 'cellar'", result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
