# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""A C program of 250,000 lines, for bench_types.sh: 50 units of 60 types and 150 functions each.

    types_program.py FOLDER

writes FOLDER/unit00.c to unit49.c and main.c, the same each time. Every function walks a list of
one type and an array of another, by members, nested members and pointers.
"""

import os
import random
import sys

UNITS = 50
TYPES = 60
FUNCTIONS = 150
LINES = 250_000


def type_lines(rng, unit, number):
    name = f"u{unit}_t{number}"
    lines = [f"struct {name}", "{", f"    struct {name} *next;"]
    for member in range(4):
        lines.append(f"    {rng.choice(['int', 'long', 'short', 'unsigned'])} m{member};")
    if number:
        other = f"u{unit}_t{rng.randrange(number)}"
        lines += [f"    struct {other} *other;", f"    struct {other} *more;"]
    else:
        lines += [f"    struct {name} *other;", f"    struct {name} *more;"]
    lines += ["    struct", "    {", "        int low;", "        int high;", "    } range;",
              "    int list[8];", "};", f"static struct {name} {name}_all[4];", ""]
    return lines


def step(rng, target):
    """One line of a function's loop."""
    member = rng.randrange(4)
    return rng.choice([
        f"        sum += {target}->m{member};",
        f"        {target}->m{member} += sum;",
        f"        {target}->range.low = sum ^ {target}->range.high;",
        f"        sum ^= {target}->list[i & 7];",
        f"        {target}->list[(i + {member}) & 7] = (int)sum;",
        f"        sum += {target}->other->m{member};",
        f"        {target}->more->m{member} = sum;",
        f"        {target}->range.high += {target}->other->range.low;",
    ])


def function_lines(rng, unit, number, steps):
    one, two = (f"u{unit}_t{rng.randrange(TYPES)}" for _ in range(2))
    lines = [f"__attribute__((noinline)) static long u{unit}_f{number}(long sum)", "{",
             f"    struct {one} *walk = {one}_all;", f"    struct {two} *table = {two}_all;", "",
             "    for (int i = 0; i < 4; i++)", "    {", f"        struct {two} *at = &table[i];"]
    lines += [step(rng, rng.choice(["walk", "at"])) for _ in range(steps)]
    return lines + ["        walk = walk->next;", "    }", "    return sum;", "}", ""]


def run_lines(unit):
    lines = [f"long u{unit}_run(long sum)", "{"]
    for number in range(TYPES):
        name = f"u{unit}_t{number}"
        lines += ["    for (int i = 0; i < 4; i++)", "    {",
                  f"        {name}_all[i].next = &{name}_all[(i + 1) & 3];",
                  f"        {name}_all[i].other = &{other_of(name)}_all[i];",
                  f"        {name}_all[i].more = &{other_of(name)}_all[3 - i];", "    }"]
    lines += [f"    sum = u{unit}_f{number}(sum);" for number in range(FUNCTIONS)]
    return lines + ["    return sum;", "}"]


OTHERS = {}


def other_of(name):
    return OTHERS[name]


def unit_lines(unit, budget):
    rng = random.Random(unit)
    lines = []
    for number in range(TYPES):
        one = type_lines(rng, unit, number)
        name = f"u{unit}_t{number}"
        OTHERS[name] = next(line.split()[1] for line in one if line.endswith("*other;"))
        lines += one
    end = run_lines(unit)
    fixed = len(lines) + len(end) + FUNCTIONS * len(function_lines(random.Random(0), 0, 0, 0))
    steps, rest = divmod(budget - fixed, FUNCTIONS)
    for number in range(FUNCTIONS):
        lines += function_lines(rng, unit, number, steps + (number < rest))
    return lines + end


def main(folder):
    calls = [f"    sum = u{unit}_run(sum);" for unit in range(UNITS)]
    top = [f"long u{unit}_run(long sum);" for unit in range(UNITS)]
    top += ["int main(int argc, char **argv)", "{", "    long sum = argc;", "    (void)argv;",
            "    for (int round = 0; round < 12; round++)", "    {"] + calls
    top += ["    }", "    return sum == 42;", "}"]
    left = LINES - len(top)
    files = {"main.c": top}
    for unit in range(UNITS):
        budget = left // (UNITS - unit)
        files[f"unit{unit:02}.c"] = unit_lines(unit, budget)
        left -= budget
    for name, lines in files.items():
        with open(os.path.join(folder, name), "w", encoding="ascii") as f:
            f.write("\n".join(lines) + "\n")
    print(sum(len(lines) for lines in files.values()))


if __name__ == "__main__":
    main(sys.argv[1])
