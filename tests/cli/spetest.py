# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""What the tests of the command share: running it, and making packets."""

import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

SPE = os.environ.get("SPE", "spe")


def skip(why):
    """Say that the whole file cannot run here."""
    print(why)
    sys.exit(77)


def need_symbols():
    """The whole file is about names of functions."""
    if os.environ.get("SPE_SYMBOLS") == "0":
        skip("this build has no elfutils, so no names of functions")


def spe(*args, stdin=b"", env=None, **kwargs):
    """Run the command; the result has returncode, and stdout and stderr as bytes."""
    full = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    full.update(env or {})
    return subprocess.run([SPE, *map(str, args)], input=stdin, capture_output=True, env=full,
                          check=False, timeout=50, **kwargs)


class busy:
    """Every CPU of this machine has something else to do, too."""

    def __enter__(self):
        self.burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
                        for _ in os.sched_getaffinity(0)]

    def __exit__(self, *_):
        for burner in self.burners:
            burner.kill()
            burner.wait()


class CommandTest(unittest.TestCase):
    """A test with a directory of its own."""

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="spe-test-")
        self.addCleanup(shutil.rmtree, self.dir)

    def file(self, content, name="input.spe"):
        path = os.path.join(self.dir, name)
        with open(path, "wb") as f:
            f.write(content)
        return path

    def good(self, *args, **kwargs):
        """Run; it must succeed and say nothing on standard error. Its output."""
        result = spe(*args, **kwargs)
        self.assertEqual(result.stderr.decode(), "", args)
        self.assertEqual(result.returncode, 0, args)
        return result.stdout

    def bad(self, status, *args, **kwargs):
        """Run; it must fail with the status and one line "spe: what: why". That line."""
        result = spe(*args, **kwargs)
        lines = result.stderr.decode().splitlines()
        self.assertEqual(result.returncode, status, (args, lines))
        self.assertTrue(lines and lines[0].startswith("spe: "), (args, lines))
        if status == 2:
            self.assertEqual(len(lines), 2, lines)
            self.assertRegex(lines[1], r"^Try 'spe( [\w-]+)? --help'\.$")
        return lines[0]


# ---- packets, made without the library -----------------------------------------------------------

END = b"\x01"


def address(index, payload, extended=False):
    head = bytes([0x20 | index >> 3, 0xb0 | index & 7])
    return (head if extended or index > 7 else head[1:]) + struct.pack("<Q", payload)


def counter(index, payload, extended=False):
    head = bytes([0x20 | index >> 3, 0x98 | index & 7])
    return (head if extended or index > 7 else head[1:]) + struct.pack("<H", payload)


def context(index, payload):
    return struct.pack("<BI", 0x64 | index, payload)


def op(class_, payload):
    return bytes([0x48 | class_, payload])


def events(payload, size):
    return bytes([0x42 | {1: 0, 2: 0x10, 4: 0x20, 8: 0x30}[size]]) + payload.to_bytes(size, "little")


def source(payload, size=1):
    return bytes([0x43 | {1: 0, 2: 0x10, 4: 0x20, 8: 0x30}[size]]) + payload.to_bytes(size, "little")


def timestamp(payload):
    return struct.pack("<BQ", 0x71, payload)


def load_record(time=None):
    """A plain load: what every test of records can start from."""
    return (address(0, 0x8000aaaac8b15b98) + op(1, 0) + events(0x16, 1) + counter(0, 9) +
            counter(1, 2) + counter(2, 1) + address(2, 0xffff00001000) + source(8) +
            (END if time is None else timestamp(time)))
