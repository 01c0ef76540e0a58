# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""CPU time and memory of commands that are run in turn.

    measure.py RUNS COMMAND... [-- RUNS COMMAND...]...

A line "CPU-seconds anonymous-KB" for each: the least user and system time of its runs, of all
threads and children, and the peak of anonymous memory (a mapped file's pages are nobody's).
"""

import resource
import subprocess
import sys
import time


def anonymous_kb(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as f:
            for line in f:
                if line.startswith("RssAnon:"):
                    return int(line.split()[1])
    except OSError:
        pass
    return 0


def run(command):
    most = 0
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        while child.poll() is None:
            most = max(most, anonymous_kb(child.pid))
            time.sleep(0.002)
    if child.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {child.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, most


def main(words):
    commands = [[]]
    for word in words:
        if word == "--":
            commands.append([])
        else:
            commands[-1].append(word)
    results = [[] for _ in commands]
    for turn in range(max(int(command[0]) for command in commands)):
        for command, result in zip(commands, results):
            if turn < int(command[0]):
                result.append(run(command[1:]))
    for result in results:
        print(f"{min(r[0] for r in result):.3f} {max(r[1] for r in result)}")


if __name__ == "__main__":
    main(sys.argv[1:])
