#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Sums up meson's test log: prints "passed failed skipped", then a line per test that was skipped.

usage: testlog.py BUILD/meson-logs/testlog.json
"""

import json
import re
import sys

PASSED = ("OK", "EXPECTEDFAIL")
SKIPPED = ("SKIP", "IGNORED")


def main(path):
    passed = failed = 0
    skipped = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            test = json.loads(line)
            name = test["name"].split(":", 1)[-1].replace(" / ", "/")  # "project:suite / test"
            output = ((test.get("stdout") or "") + "\n" + (test.get("stderr") or "")).strip()
            if test["result"] in PASSED:
                passed += 1
            elif test["result"] in SKIPPED:
                reason = output.splitlines()[-1] if output else "it does not say why"
                skipped.append(f"{name}: {reason}")
            else:
                failed += 1
            # cmocka and unittest skip parts of a test that passes.
            parts = re.findall(r"^\[  SKIPPED \] (\w+)$", output, re.M)
            for part in dict.fromkeys(parts):
                skipped.append(f"{name}: {part} (a part of it)")
            for part, reason in re.findall(r"^(test\w+) .*\.\.\. skipped '(.*)'$", output, re.M):
                skipped.append(f"{name}: {part}: {reason} (a part of it)")
            if re.search(r"^OK \(skipped=\d+\)$", output, re.M) and not re.search(
                    r"\.\.\. skipped ", output):
                skipped.append(f"{name}: some of its cases (run it with -v)")
    print(passed, failed, len(skipped))
    for line in skipped:
        print(line)


if __name__ == "__main__":
    main(sys.argv[1])
