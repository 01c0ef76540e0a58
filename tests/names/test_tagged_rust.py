#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""As test_tagged.py, for programs in Rust: the compiler is the distribution's.

A mark names types without the modules that they are in and without their parameters, because both
differ between versions of the library: Vec is alloc::vec::Vec<chain::Node, alloc::alloc::Global>.
A mark that is a member is right for all that lies in this member: a List's head is an Option, the
payload of which is what code accesses.

Another compiler is tried with its path in SPE_RUSTC, and the folder above lib/rustlib with its
library for AArch64 in SPE_RUST_SYSROOT.

usage: test_tagged_rust.py [PROGRAM...] [-v]
"""

import collections
import os
import re
import subprocess
import sys
import tempfile

import test_tagged

RUSTC = os.environ.get("SPE_RUSTC", "/usr/bin/rustc")
TARGET = "aarch64-unknown-linux-gnu"
SYSROOT = os.environ.get("SPE_RUST_SYSROOT") or os.path.join(
    test_tagged.SOURCE, os.environ.get("SPECIMEN_DEPS", ".deps"), "rust", "usr")
LEVELS = "0123s"


def plain(name):
    """Without parameters and modules."""
    while re.search(r"<[^<>]*>", name):
        name = re.sub(r"<[^<>]*>", "", name)
    return re.sub(r"\b\w+::", "", name).strip()


def is_right(wanted, text, answer):
    """As in C, but by plain names, and for all steps to what is accessed."""
    answer = dict(answer)
    answer["chain"] = ";".join(plain(c) for c in (answer["chain"] + ";" + answer["steps"]).split(";"))
    answer["types"] = ";".join(plain(t) for t in answer["types"].split(";"))
    return test_tagged.is_right([plain(w) for w in wanted], text, answer)


def build(source, level, binary):
    subprocess.run([RUSTC, "--sysroot", SYSROOT, "--target", TARGET, "-A", "warnings", "-g",
                    "-C", "linker=aarch64-linux-gnu-gcc", "-C", f"opt-level={level}",
                    "-o", binary, source], check=True)


def main():
    if not os.path.exists(test_tagged.LIST):
        print("the list of accesses was not built: no elfutils")
        return 77
    if not test_tagged.DWARFDUMP:
        print("there is no llvm-dwarfdump to ask where variables lie")
        return 77
    if not os.path.exists(RUSTC) or not os.path.exists(os.path.join(SYSROOT, "lib", "rustlib", TARGET)):
        print(f"{RUSTC} and its library for AArch64 are not both there: tools/setup.sh gets them")
        return 77
    programs = test_tagged.programs_of(".rs")
    total = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for level in LEVELS:
            tally, wrong = collections.Counter(), []
            for program in programs:
                source = os.path.join(test_tagged.FOLDER, program)
                binary = os.path.join(folder, f"{program}.{level}")
                build(source, level, binary)
                crate = program.removesuffix(".rs") + "::"
                test_tagged.judge(program, test_tagged.marks_of(source), binary, tally, wrong,
                                  is_right, [crate])
                os.unlink(binary)
            total += tally
            test_tagged.shown(f"rustc opt-level={level}", tally, wrong)
    return int(not test_tagged.verdict(programs, total))


if __name__ == "__main__":
    sys.exit(main())
