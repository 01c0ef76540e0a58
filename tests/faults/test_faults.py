# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""What every command does when a call fails: memory, files, threads.

A command runs once undisturbed, which counts its calls, and then once for each call that is made
to fail (tests/faults/shim.c). It must then end by itself, and either

  - with exit status 1 or 2 and a sentence on standard error, or
  - with exit status 0 and the very output of the undisturbed run.

Where a command has more calls than FAULTS_BUDGET (60), an even choice of them is tried, the first
and the last among them; FAULTS_BUDGET=0 tries all. What was tried is printed.
"""

import concurrent.futures
import errno
import glob
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "cli"), os.path.join(HERE, "..", "record")]

# pylint: disable=wrong-import-position
import recording_file as t  # noqa: E402
import recordtest  # noqa: E402
from spetest import SPE, skip  # noqa: E402

BUDGET = int(os.environ.get("FAULTS_BUDGET", "60")) or sys.maxsize
SHIM = os.environ.get("SPE_FAULT_SHIM", "")
TIMEOUT = 120  # for a busy machine: these commands take milliseconds

SHORT = "short"
MEMORY = [("memory", errno.ENOMEM)]
INPUT = [("read", errno.EIO), ("read", errno.EINTR), ("read", SHORT), ("open", errno.EMFILE),
         ("map", errno.ENOMEM)]
OUTPUT = [("write", errno.ENOSPC), ("write", errno.EINTR), ("write", SHORT)]
FILES = INPUT + OUTPUT
THREADS = [("thread", errno.EAGAIN)]


def environment(**more):
    env = {k: v for k, v in os.environ.items() if not k.startswith("FAULT")}
    return {**env, "NO_COLOR": "1", "LC_ALL": "C.UTF-8", **more}


class Case:
    """A command line. OUT in it is a file that it writes, fresh in every run."""

    def __init__(self, faults, *args, stdin=b"", same=None, budget=BUDGET, env=None):
        self.faults = faults
        self.args = [str(a) for a in args]
        self.stdin = stdin
        self.same = same or (lambda out: out)  # what of the output has to be the same
        self.budget = budget
        self.env = env or {}

    def name(self):
        return " ".join(os.path.basename(a) if a.startswith("/") else a for a in self.args)

    def run(self, folder, **fault):
        """(exit status, output, standard error, number of calls, where the first failed); a
        timeout has no status."""
        with tempfile.TemporaryDirectory(dir=folder) as own:
            out, count = own + "/out", own + "/count"
            args = [out if a == "OUT" else a for a in self.args]
            env = environment(LD_PRELOAD=SHIM, FAULT_COUNT=count, HOME=own, TMPDIR=own, **self.env,
                              **{f"FAULT_{k.upper()}": str(v) for k, v in fault.items()})
            try:
                run = subprocess.run([SPE, *args], input=self.stdin, capture_output=True, env=env,
                                     check=False, timeout=TIMEOUT, cwd=own)
            except subprocess.TimeoutExpired:
                return None, b"", "", 0, None
            output = run.stdout
            for path in filter(os.path.isfile, sorted([out, *glob.glob(out + "/**", recursive=True)])):
                with open(path, "rb") as f:
                    output += f.read()
            calls, place = 0, None
            if os.path.exists(count):
                with open(count, encoding="ascii") as f:
                    calls, place = (int(word, 0) for word in f.read().split())
            errors = run.stderr.decode("utf-8", "replace").replace(own, "")
            return run.returncode, output, errors, calls, place


def chosen(calls, budget):
    """The numbers of the calls to try: all of them, or evenly spread."""
    if calls <= budget:
        return range(1, calls + 1)
    return sorted({1 + i * (calls - 1) // (budget - 1) for i in range(budget)})


def judge(case, good, result):
    """What is wrong with the result of a disturbed run; None if nothing is."""
    status, output, errors, _, _ = result
    if status is None:
        return "hangs"
    if status < 0 or status > 2:
        return f"ends with {status}: {errors.strip()[-200:]}"
    if status:
        return None if errors.startswith("spe: ") else f"ends with {status} and says {errors!r}"
    if case.same(output) == case.same(good[1]):
        return None
    return "ends with 0, but the output differs" + (f"; says {errors!r}" if errors else "")


def source_of(place):
    """" at file:line < file:line" of a call, as far as the compiler tells."""
    if not place or not shutil.which("addr2line"):
        return ""
    lines = subprocess.run(["addr2line", "-i", "-e", SPE, hex(place - 1)], capture_output=True,
                           text=True, check=False).stdout.split("\n")
    return " at " + " < ".join("/".join(line.split()[0].split("/")[-2:]) for line in lines if line)


def try_case(case, folder, pool):
    """A list of what is wrong, and the number of runs."""
    wrong, runs = [], 0
    for kind, how in case.faults:
        good = case.run(folder, kind=kind)
        if good[0] != 0:
            return [f"{case.name()}: ends with {good[0]} undisturbed: {good[2]}"], runs
        numbers = chosen(good[3], case.budget)
        ways = [(n, n) for n in numbers]
        if kind == "memory":  # it comes back, or it does not
            ways += [(n, sys.maxsize) for n in numbers]
        jobs = [pool.submit(case.run, folder, kind=kind, first=first, last=last,
                            how=0 if how == SHORT else how) for first, last in ways]
        named = how if how == SHORT else errno.errorcode[how]
        bad = []
        for (first, last), job in zip(ways, jobs):
            problem = judge(case, good, job.result())
            if problem:
                bad.append(f"{case.name()}: {kind} {first}{'' if first == last else '...'} "
                           f"{named}{source_of(job.result()[4])}: {problem}")
        print(f"{case.name()}: {kind} {named}: {len(numbers)} of {good[3]} calls, "
              f"{len(ways)} runs, {len(bad)} wrong", flush=True)
        wrong += bad
        runs += len(ways)
    return wrong, runs


# ---- what is run ---------------------------------------------------------------------------------

def make_recording(folder):
    """Threads on three CPUs, a program with symbols and lines, branches, data, sources."""
    r = t.Recording(cpus=3)
    program = t.Program(folder)
    for pid in (10, 20):
        r.comm(pid, pid, f"task-{pid}", exec_=True)
        program.map(r, pid)
    r.comm(10, 11, "helper")
    pcs = [program.pc(name, part) for name in program.symbols if program.symbols[name][1] > 8
           for part in (0.2, 0.5, 0.8)]
    for piece in range(3):
        for cpu in range(3):
            r.aux(cpu, b"".join(
                t.sample(pcs[i % len(pcs)], 1000 * piece + 20 * i + cpu, (10, 11, 20)[cpu],
                         *([(2, 1), 0x82, 5] if i % 3 == 0 else [(1, 0), 0x1e, 5 * i]),
                         va=None if i % 3 == 0 else 0x10000 + 24 * i,
                         target=pcs[(i + 1) % len(pcs)] if i % 3 == 0 else None,
                         source=None if i % 3 == 0 else (0, 8, 13)[i % 3])
                for i in range(40)))
    r.write(folder + "/perf.data")
    return folder + "/perf.data"


def make_kernel_recording(folder):
    """Code of the kernel and code made at run time; their names are in text files."""
    r = t.Recording(cpus=1)
    r.kernel_map(KERNEL, 0x10000, KERNEL, "[kernel.kallsyms]_text")
    r.comm(30, 30, "jit", exec_=True)
    r.mmap(30, 0x700000, 0x1000, 0, "//anon")
    r.aux(0, b"".join(t.sample(pc, 100 + i, 30, el=pc >> 63) for i, pc in enumerate(
        [KERNEL + 0x10, KERNEL + 0x210, 0x700010, 0x700110])))
    r.write(folder + "/kernel.data")
    with open(folder + "/kallsyms", "w", encoding="ascii") as f:
        f.write(f"{KERNEL:x} T _text\n{KERNEL + 0x100:x} T schedule\n{KERNEL + 0x300:x} T end\n")
    os.mkdir(folder + "/tmp")
    with open(folder + "/tmp/perf-30.map", "w", encoding="ascii") as f:
        f.write("700000 100 first\n700100 100 second\n")
    return ["script", "--threads", 1, "--kallsyms", folder + "/kallsyms", "--symfs", folder,
            folder + "/kernel.data"]


KERNEL = 0xffff800008000000


def make_counts(path):
    """Exact counts of a function, as spe record --stat-json writes them."""
    counts = os.path.join(os.path.dirname(path), "counts.json")
    with open(counts, "w", encoding="ascii") as f:
        f.write('{"operations": 9, "samples": 1, "functions": [{"function": "walk", "dso": "list", '
                '"counts": {"operations": {"exact": 9, "samples": 1}}}]}')
    return counts


def reading_cases(path):
    one = ("--threads", 1)
    return [
        Case(MEMORY + FILES, "report", *one, path),
        Case(MEMORY, "report", *one, "--by", "function,line,symbol+source,dso,thread,cpu,time", path),
        Case(MEMORY + OUTPUT, "report", *one, "--json", "--by", "line,thread", path),
        Case(MEMORY + OUTPUT, "report", *one, "--html", "-", path),
        Case(MEMORY, "report", *one, "--csv", "--by", "symbol+source", path),
        Case(MEMORY, "report", *one, "--by", "type,member,object", path),
        Case(MEMORY + OUTPUT, "report", *one, "--csv", "--by", "type", "--sort", "samples", path),
        Case(MEMORY, "report", *one, "--data", "page", "--filter",
             'comm ~ "task" and level == l2', path),
        Case(MEMORY + FILES, "annotate", *one, path),
        Case(MEMORY + OUTPUT, "annotate", *one, "--json", path),
        Case(MEMORY + FILES, "c2c", *one, path),
        Case(MEMORY + OUTPUT, "c2c", *one, "--json", path),
        Case(MEMORY, "c2c", *one, "--data-memory", "64K", path),
        Case(MEMORY + FILES, "diff", *one, path, path),
        Case(MEMORY + OUTPUT, "diff", *one, "--json", "--by", "line", path, path),
        Case(MEMORY + FILES, "diff", make_counts(path), make_counts(path)),
        Case(MEMORY + FILES, "script", *one, path),
        Case(MEMORY, "script", *one, "-F", "+srcline,source,timestamp", "--order", "queue", path),
        Case(MEMORY + FILES, "export", *one, "--format", "csv", "--lines", "-o", "OUT", path),
        Case(MEMORY, "export", *one, "--format", "ndjson", path),
        Case(MEMORY + OUTPUT, "export", *one, "--format", "arrow", path),
        Case(MEMORY + FILES + THREADS, "export", *one, "--format", "parquet", "-o", "OUT", path),
        Case(MEMORY, "export", *one, "--format", "folded", path),
        Case(MEMORY, "export", *one, "--format", "folded", "--lines", path),
        Case(MEMORY, "export", *one, "--format", "folded", "--task", "comm", path),
        Case(MEMORY + FILES, "export", *one, "--format", "pprof", "--lines", "-o", "OUT", path),
        Case(MEMORY, "export", *one, "--format", "speedscope", "--lines", path),
        Case(MEMORY, "export", *one, "--format", "firefox", "--lines", path),
        Case(MEMORY + OUTPUT, "export", *one, "--format", "perfetto", path),
        Case(MEMORY + FILES, "export", *one, "--format", "perf", "--cpus", "0,2", "-o", "OUT",
             path),
        Case(MEMORY, "export", *one, "--format", "bolt", path),
        Case(MEMORY, "export", *one, "--format", "autofdo", path),
        Case(MEMORY + FILES, "check", "--align", 1, path),
        Case(MEMORY + FILES, "dump", "--json", path),
        Case(MEMORY + FILES, "evlist", "-i", path),
        Case(MEMORY + FILES, "buildid-list", "-i", path),
        Case(MEMORY + THREADS, "script", "--threads", 4, path),
        Case(MEMORY + THREADS, "report", "--threads", 4, path),
        Case(MEMORY + THREADS, "export", "--threads", 4, "--format", "csv", path),
    ]


def piped_cases(path):
    with open(path, "rb") as f:
        data = f.read()
    faults = MEMORY + FILES + [("size", errno.EFBIG)]
    return [Case(faults, *words, "-", stdin=data)
            for words in (("report", "--threads", 1), ("check", "--align", 1), ("dump",))]


SCRIPT = b"""preset neoverse-n1
buffer 0x10000 0x10000
reg PMSCR_EL1=0x3b PMSIRR_EL1.INTERVAL=1
op load pc=0x400000
access va=0x1000 pa=0x2000
run 600
"""


def making_cases():
    return [
        Case(MEMORY + FILES, "gen", "--records", 200),
        Case(MEMORY + FILES, "gen", "--records", 200, "--damage", 0.5, "--truth", "/dev/null",
             "-o", "OUT"),
        Case(MEMORY + FILES, "sim", "--list", "options"),
        Case(MEMORY + FILES, "sim", "--json", "-", stdin=SCRIPT),
    ]


def record_cases(folder):
    """Only the launcher is disturbed, the emulator is not."""
    missing = recordtest.missing()
    if missing:
        print(f"record: not tried: {missing}")
        return []
    program = folder + "/recorded"
    subprocess.run([recordtest.COMPILER, "-static", "-x", "c", "-o", program, "-"], check=True,
                   input=b"int main(void) { for (volatile int i = 0; i < 30000; i++); return 0; }")
    faults = MEMORY + FILES + [("size", errno.EFBIG)]
    # Times and process ids differ from run to run.
    return [Case(faults, "record", "-c", 512, "-o", "OUT", "--", program, same=len,
                 budget=BUDGET // 4)]


# Leaves what a guest would on its disk, which is the file of the word that ends with file=FILE.
GUEST = """#!/bin/sh
if [ "$1" = --version ]; then echo 'QEMU emulator version 11.1.2'; exit; fi
for word; do case $word in *,file=*) disk=${word#*,file=} ;; esac; done
dd if=%s of="$disk" conv=notrunc 2>/dev/null
"""


def vm_cases(folder):
    """Only what starts the machine is disturbed; a script stands for QEMU."""
    if os.environ.get("SPE_VM") == "0":
        print("vm: not tried: this build has no libfdt")
        return []
    root = folder + "/cache/specimen/vm/guest-6.12"
    os.makedirs(root + "/root/bin")
    for path, text in ((root + "/vmlinuz", "kernel"), (root + "/root/bin/tool", "tool")):
        with open(path, "w", encoding="ascii") as f:
            f.write(text)
    with tarfile.open(folder + "/disk", "w", format=tarfile.GNU_FORMAT) as tar:
        for name, text in (("status", b"0\n"), ("work/first", b"1" * 3000), ("work/second", b"2")):
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text))
    qemu = folder + "/qemu"
    with open(qemu, "w", encoding="ascii") as f:
        f.write(GUEST % (folder + "/disk"))
    os.chmod(qemu, 0o700)
    return [Case(MEMORY + FILES, "vm", "run", "--without-spe", "--qemu", qemu, "-o", "OUT", "--",
                 "true", env={"XDG_CACHE_HOME": folder + "/cache"}, budget=BUDGET // 2)]


def main():
    if not SHIM:
        skip("calls cannot be made to fail here (a cross build, or one with sanitizers)")
    if not t.can_compile() or os.environ.get("SPE_SYMBOLS") == "0":
        skip("recordings with symbols take a compiler and elfutils")
    only = sys.argv[1:]
    folder = tempfile.mkdtemp(prefix="spe-faults-")
    wrong, tried, runs = [], 0, 0
    try:
        path = make_recording(folder)
        cases = (reading_cases(path) + piped_cases(path) + making_cases() + record_cases(folder) +
                 vm_cases(folder) +
                 [Case(MEMORY + FILES, *make_kernel_recording(folder))])
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for case in cases:
                if all(word in case.args for word in only):
                    tried += 1
                    bad, count = try_case(case, folder, pool)
                    wrong += bad
                    runs += count
    finally:
        shutil.rmtree(folder)
    for line in wrong:
        print("WRONG:", line)
    print(f"{tried} command lines, {runs} runs with a call that failed, {len(wrong)} wrong")
    return 1 if wrong or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
