#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""How often does `spe diff` call something a change where there is none? Records programs of
tests/record with one seed after the other, compares every recording with every other, and prints how
many of these pairs say something.

    tools/diff_noise.py [--spe build/src/spe] [--recordings 15] [PROGRAM]...

15 recordings are 105 pairs. A program is a file of tests/record/truth or findings without its .c; those
of findings run as their sick self.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAMS = ("grid", "list", "sort", "text", "branch", "counters")
FORMS = {"by function": (), "by line": ("--by", "line"), "per run": ("--per", "run")}
FLAGS = ("-O2", "-g", "-static", "-march=armv8.1-a", "-pthread")


def build(name, directory):
    """The command that runs it."""
    truth = os.path.join(ROOT, "tests", "record", "truth", name + ".c")
    source = truth if os.path.exists(truth) else os.path.join(ROOT, "tests", "record", "findings", name + ".c")
    program = os.path.join(directory, name)
    subprocess.run(["aarch64-linux-gnu-gcc", *FLAGS, source, "-o", program], check=True)
    return [program] if source == truth else [program, "sick"]


def record(spe, command, seed, directory):
    path = os.path.join(directory, f"seed{seed}.data")
    subprocess.run([spe, "record", "-c", "1024", "--seed", str(seed), "-o", path, "--", *command],
                   check=True, capture_output=True)
    return path


def changes(spe, form, pair):
    run = subprocess.run([spe, "diff", "--json", "-q", *form, *pair], check=True, capture_output=True)
    return json.loads(run.stdout)["significant"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--spe", default=os.path.join(ROOT, "build", "src", "spe"))
    parser.add_argument("--recordings", type=int, default=15)
    parser.add_argument("programs", nargs="*", default=PROGRAMS, metavar="PROGRAM")
    args = parser.parse_args()
    print("program   " + "".join(f"{form:>14}" for form in FORMS) + "    pairs", flush=True)
    for name in args.programs:
        with tempfile.TemporaryDirectory() as directory:
            command = build(name, directory)
            recordings = [record(args.spe, command, seed, directory)
                          for seed in range(1, args.recordings + 1)]
            pairs = list(itertools.combinations(recordings, 2))
            said = [sum(changes(args.spe, form, pair) > 0 for pair in pairs) for form in FORMS.values()]
        print(f"{name:10}" + "".join(f"{n:14}" for n in said) + f"{len(pairs):9}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
