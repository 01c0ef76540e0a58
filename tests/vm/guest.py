# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""What the tests of `spe vm` share: programs for the guest, one boot with a script, its files.

A test that cannot have a fit QEMU or the guest says why and exits with 77.
"""

import collections
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

SPE = os.environ["SPE"]
SOURCE = os.environ["SPE_SOURCE_DIR"]
HERE = os.path.join(SOURCE, "tests", "vm")
sys.path.insert(0, os.path.join(HERE, "..", "cli"))

# pylint: disable=wrong-import-position
from spetest import busy  # noqa: E402

BARE = os.path.join(HERE, "bare")
COMPILER = "aarch64-linux-gnu-gcc"

CACHE = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
TIMEOUT = "1200"  # seconds of one boot, for machines that are busy


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def spe(*arguments, **options):
    return subprocess.run([SPE, *map(str, arguments)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace", **options)


def need(version=None):
    """QEMU, and the guest with that Linux."""
    if not shutil.which(COMPILER):
        skip(COMPILER + " is not here")
    result = spe("vm", "--fetch", *(["--kernel-version", version] if version else []))
    if result.returncode:
        skip("no fit QEMU or guest can be had: " + result.stderr.strip().splitlines()[-1])


def build(folder, *sources, output, flags=()):
    path = os.path.join(folder, output)
    subprocess.run([COMPILER, "-Wall", "-Wextra", "-Werror", "-O2", *flags, *sources, "-o", path],
                   check=True)
    return path


def build_work(folder):
    return build(folder, os.path.join(HERE, "work.c"), output="work",
                 flags=("-static", "-g", "-fno-tree-vectorize"))


def build_gather(folder):
    return build(folder, os.path.join(HERE, "gather.c"), output="gather",
                 flags=("-static", "-g", "-march=armv8-a+sve"))


def build_bare(folder, name, *flags):
    files = [os.path.join(BARE, f) for f in ("start.S", "bare.c", name + ".c")]
    return build(folder, *files, output=name,
                 flags=("-ffreestanding", "-nostdlib", "-static", "-mgeneral-regs-only",
                        "-mstrict-align", "-fno-pic", "-no-pie", "-Wl,--no-warn-rwx-segments",
                        "-Wl,--build-id=none", "-T", os.path.join(BARE, "bare.ld"), *flags))


Boot = collections.namedtuple("Boot", "status output error folder log")


def at_home(folder):
    """The environment of a user whose symbols are kept in that folder."""
    return dict(os.environ, HOME=folder, XDG_CACHE_HOME=CACHE)


# In a script: from here to its end every CPU of this machine is busy. The second is for that.
BUSY = "echo all CPUs are busy; sleep 1\n"
BUSY_LINE = "all CPUs are busy\n"


def boot(script, *options, put=(), folder=None):
    """Boot, run a shell script in the guest, and get its files; the folder is the user's home."""
    folder = folder or tempfile.mkdtemp(prefix="spe-vm-test-")
    path = os.path.join(folder, "script.sh")
    with open(path, "w", encoding="utf-8") as f:
        f.write(script)
    log = os.path.join(folder, "console")
    command = [SPE, "vm", "run", "--timeout", TIMEOUT, "-o", folder, "--force", "--log", log, "--put",
               path, *(word for file in put for word in ("--put", file)), *options, "--", "sh",
               "script.sh"]
    output = ""
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        with subprocess.Popen(command, env=at_home(folder), stdout=subprocess.PIPE, stderr=said,
                              text=True, errors="replace") as process, \
                contextlib.ExitStack() as load:
            for line in process.stdout:
                output += line
                if line == BUSY_LINE:
                    load.enter_context(busy())
        said.seek(0)
        error = said.read()
    with open(log, encoding="utf-8", errors="replace") as f:
        console = f.read()
    return Boot(process.returncode, output, error, folder, console)


def records(path):
    """Every record of a perf.data file, as `spe dump --json` tells it."""
    result = spe("dump", "--json", path)
    assert result.returncode == 0, result.stderr
    return [r for r in map(json.loads, result.stdout.splitlines()) if r["type"] == "record"]


def samples(path):
    """The number of samples; 0 is not an error."""
    result = spe("script", "-F", "ip", path)
    assert result.returncode == 0, result.stderr
    return len(result.stdout.splitlines())


def assert_valid(test, path, *options):
    """No rule is broken, and every byte is accounted for."""
    result = spe("check", *options, path)
    test.assertEqual(result.returncode, 0, path + ": " + result.stdout[-1500:] + result.stderr)


def quiet_kernel(test, console):
    """The driver has met nothing that it did not know, and nothing else has gone wrong."""
    for line in console.splitlines():
        test.assertIsNone(re.search(r"(?i)unexpected|unknown (buffer|fault|pmbsr)|arm_spe.*(fault|"
                                    r"unknown|warn)|BUG:|Oops|WARNING:|irq \d+: nobody cared|"
                                    r"rcu_sched detected|call trace", line), line)


def counter(record, name):
    for c in record["counters"]:
        if c["name"] == name:
            return c["cycles"]
    return None
