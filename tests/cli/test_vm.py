# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""`spe vm`: what it says when something is wrong or missing. tests/vm boots machines."""

import os
import stat
import unittest

from spetest import CommandTest, skip, spe

if os.environ.get("SPE_VM") == "0":
    message = spe("vm", "run", "ls").stderr.decode()
    assert message.startswith("spe: vm: this build has no libfdt"), message
    skip("this build has no libfdt, and spe vm says so")


class Vm(CommandTest):
    def env(self, **more):
        return dict({"XDG_CACHE_HOME": self.dir, "PATH": self.dir + ":/usr/bin:/bin"}, **more)

    def fake_qemu(self, version):
        path = os.path.join(self.dir, "qemu-system-aarch64")
        with open(path, "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\necho 'QEMU emulator version %s (Debian)'\n" % version)
        os.chmod(path, stat.S_IRWXU)
        return path

    def test_usage(self):
        self.assertIn("what shall the guest run", self.bad(2, "vm", "run"))
        self.assertIn("QEMU's options come after --", self.bad(2, "vm", "-o", "x", "ls"))
        self.assertIn("--fetch takes no command", self.bad(2, "vm", "--fetch", "ls"))
        self.assertIn("only the fetched guest", self.bad(2, "vm", "run", "--kernel", "x", "ls"))
        self.bad(2, "vm", "--smp", "0")
        self.bad(2, "vm", "--gic", "4")
        self.bad(2, "vm", "--memory", "1K")

    def test_old_qemu(self):
        for version in ("7.2.22", "10.2.1"):
            message = self.bad(1, "vm", "run", "--qemu", self.fake_qemu(version), "ls",
                               env=self.env())
            self.assertIn("this is QEMU " + ".".join(version.split(".")[:2]), message)
            self.assertIn("11.0 or newer", message)
            self.assertIn("trixie-backports", message)

    def test_no_qemu(self):
        message = self.bad(1, "vm", "run", "ls", env=self.env(PATH=self.dir))
        self.assertIn("11.0 or newer", message)
        self.assertIn("spe vm --fetch", message)
        self.assertIn(self.dir, message)

    def test_no_guest(self):
        """A fit QEMU in PATH, but nothing to boot; or no plugin, in builds that have none."""
        self.fake_qemu("11.1.2")
        message = self.bad(1, "vm", "run", "ls", env=self.env())
        self.assertRegex(message, "there is no guest yet|specimen-qemu.so")


if __name__ == "__main__":
    unittest.main()
