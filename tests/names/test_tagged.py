#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Programs whose source says for each access which type and member it is: are the answers right?

A line ends with /* T: struct node.next; int */: what its loads and stores access, the innermost
type that has a name and its member. Every load and store that the compilers made of such a line is
asked for, by its code alone. An answer is right if it is one of these, or if it is a variable of
the stack that the line names, or that lies there by LLVM's word: compilers keep variables there, too.

Accesses for which the compiler left no variable are not counted: those that save a register, those to
places of the stack where no variable lies, and those of the compiler's own constants. Others have to
say so (saved_registers.py): binutils that .eh_frame has the register, LLVM that no variable lies
there. Where they do not, the access is one for which no answer came.

usage: test_tagged.py [PROGRAM...] [-v]
"""

import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

from saved_registers import Saved, Variables, DWARFDUMP

SOURCE = os.environ.get("SPE_SOURCE_DIR", ".")
BUILD = os.environ.get("SPE_BUILD_DIR", "build")
FOLDER = os.path.join(SOURCE, "tests", "names", "tagged")
LIST = os.path.join(BUILD, "tests", "list_accesses")
LEVELS = ["-O0", "-O1", "-O2", "-O3", "-Os"]
GCC = {".c": ["aarch64-linux-gnu-gcc"], ".cc": ["aarch64-linux-gnu-g++"]}
CLANG = {".c": ["clang", "--target=aarch64-linux-gnu"],
         ".cc": ["clang++", "--target=aarch64-linux-gnu", "-fstandalone-debug"]}
MARK = re.compile(r"/\* T: (.*?) \*/")
# What no source line accesses: registers that the compiler saves, places and constants of its own.
OWN = ["saved register", "temporary", "constant"]
# Answers that must come, of all the others together and of those of one level; and answers that
# must be right.
ANSWERED, ANSWERED_EACH, RIGHT = 0.95, 0.95, 0.995

verbose = "-v" in sys.argv


def marks_of(path):
    """line -> (what is accessed there, its text)."""
    marks = {}
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            found = MARK.search(line)
            if found:
                marks[number] = ([m.strip() for m in found.group(1).split(";")],
                                 line[:found.start()])
    return marks


def normal(name):
    """C++ and C call the same type by other names."""
    name = re.sub(r"\b(struct|class|union|enum) ", "", name)
    return {"long": "long int", "unsigned long": "long unsigned int",
            "unsigned int": "unsigned int"}.get(name, name)


def names_of(chain):
    """What the answer says: the innermost type with its member, for each of several members."""
    return {normal(c) for c in chain.rstrip(";").split(";")}


def is_right(wanted, text, answer):
    if names_of(answer["chain"]) & {normal(w) for w in wanted}:
        return True
    types = {normal(t) for t in answer["types"].split(";")}
    # The mark is a type only: all of it is accessed.
    if {normal(w) for w in wanted} & types:
        return True
    # More is accessed than one member: whole elements of an array.
    if answer["member"].endswith("[]") and {normal(w.split(".")[0]) for w in wanted} & types:
        return True
    # A pair of registers that goes to two variables, one of which the line names.
    variable = answer["variable"]
    if variable.startswith("{"):
        return any(re.search(rf"\b{re.escape(v)}\b", text) for v in variable.strip("{}").split(","))
    # Nobody writes `this`, nor the names of temporaries in atomic operations.
    return answer["stack"] == "1" and bool(variable) and (
        variable == "this" or (variable.startswith("__atomic_") and "atomic_" in text) or
        re.search(rf"\b{re.escape(variable)}\b", text) is not None)


def stack_names(answer, saved, variables, everywhere):
    """The variables that LLVM has where the access is: there, or behind the instruction. None: it
    cannot be asked."""
    pc = int(answer["address"], 16)
    place = saved.place(pc)
    if place is None:
        return None
    return variables.at(pc, *place, everywhere) | variables.at(pc + 4, *place, everywhere)


def is_own(answer, saved, variables):
    """Do others agree that the compiler left no variable for it?"""
    pc = int(answer["address"], 16)
    if answer["reason"] == "saved register":
        return saved.has(pc)
    if answer["reason"] == "temporary":
        return not saved.has(pc) and stack_names(answer, saved, variables, False) == set()
    return True


def judge(program, marks, binary, tally, wrong, is_right=is_right, part=()):
    """Asks for all accesses of a program, or of its functions that have a part in their names."""
    fields = ["address", "line", "function", "reason", "type", "member", "variable", "bytes",
              "chain", "types", "stack", "steps"]
    saved = Saved(binary)
    variables = Variables(binary, saved, os.path.basename(program))
    out = subprocess.run([LIST, binary, *part], capture_output=True, text=True, check=True).stdout
    for row in out.splitlines():
        answer = dict(zip(fields, row.split("\t")))
        file, _, line = answer["line"].rpartition(":")
        if os.path.basename(file) != os.path.basename(program) or int(line) not in marks:
            continue
        wanted, text = marks[int(line)]
        tally[answer["reason"]] += 1
        if not is_own(answer, saved, variables):
            tally["denied"] += 1
            if verbose:
                print(f"{binary} {answer['address']} line {line}: {answer['reason']} is denied")
        if answer["reason"] != "known":
            if verbose and answer["reason"] not in OWN:
                print(f"{binary} {answer['address']} line {line}: {answer['reason']}: {wanted}")
            continue
        names = answer["variable"].strip("{}").split(",")
        if not is_right(wanted, text, answer) and not set(names) <= set(
                stack_names(answer, saved, variables, True) or ()):
            tally["wrong"] += 1
            wrong.append(f"{os.path.basename(binary)} {answer['address']}: line {line} is "
                         f"{wanted}, not {answer['type']} {answer['member']} "
                         f"{answer['variable']} ({answer['chain']})")


def compilers():
    found = []
    for name, commands in (("gcc", GCC), ("clang", CLANG)):
        if shutil.which(commands[".c"][0]):
            found.append((name, commands))
    return found


def asked_of(tally):
    """Accesses for which an answer can be expected."""
    return sum(tally.values()) - sum(tally[o] for o in OWN + ["wrong"])


def shown(title, tally, wrong):
    """Prints what one level gave. Gives the share that was answered."""
    asked = asked_of(tally)
    answered = tally["known"] / asked if asked else 1
    print(f"{title}: {asked} accesses, {100 * answered:.1f} % answered, {tally['wrong']} wrong; " +
          ", ".join(f"{v} {k}" for k, v in sorted(tally.items()) if k not in ("known", "wrong")))
    for w in wrong:
        print("   ", w)
    return answered


def verdict(programs, total):
    """Prints what all levels gave together. True: enough is answered, and enough of that is right."""
    marked = sum(len(marks_of(os.path.join(FOLDER, p))) for p in programs)
    print(f"{len(programs)} programs, {marked} marked lines, {total['known']} answers, "
          f"{total['wrong']} of them wrong")
    asked = asked_of(total)
    print(f"{100 * total['known'] / max(asked, 1):.1f} % of {asked} accesses answered; without a "
          f"variable are {total['saved register']} that save registers, {total['temporary']} "
          f"temporaries and {total['constant']} constants; others deny {total['denied']} of these")
    return (total["known"] >= ANSWERED * asked and total["known"] and
            total["wrong"] <= (1 - RIGHT) * total["known"])


def programs_of(*suffixes):
    """The programs of a language, or those of them that were asked for."""
    chosen = [a for a in sys.argv[1:] if not a.startswith("-")]
    return sorted(f for f in os.listdir(FOLDER)
                  if f.endswith(suffixes) and (not chosen or f in chosen))


def main():
    if not os.path.exists(LIST):
        print("the list of accesses was not built: no elfutils")
        return 77
    if not shutil.which("aarch64-linux-gnu-gcc"):
        print("there is no compiler for AArch64")
        return 77
    if not DWARFDUMP:
        print("there is no llvm-dwarfdump to ask where variables lie")
        return 77
    programs = programs_of(".c", ".cc")
    total, failed = collections.Counter(), False
    with tempfile.TemporaryDirectory() as folder:
        for name, commands in compilers():
            for level in LEVELS:
                tally, wrong = collections.Counter(), []
                for program in programs:
                    command = commands[os.path.splitext(program)[1]]
                    if not shutil.which(command[0]):
                        print(f"{command[0]} is not there: {program} is left out")
                        continue
                    binary = os.path.join(folder, f"{program}.{name}{level}")
                    source = os.path.join(FOLDER, program)
                    plus = ["-fno-exceptions", "-fno-rtti"] if program.endswith("cc") else []
                    subprocess.run(command + plus + ["-g", level, "-w", "-o", binary, source],
                                   check=True)
                    judge(program, marks_of(source), binary, tally, wrong)
                total += tally
                failed |= shown(f"{name} {level}", tally, wrong) < ANSWERED_EACH
    return int(failed or not verdict(programs, total))


if __name__ == "__main__":
    sys.exit(main())
