#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""How many loads and stores of real programs get a type? Makes the table of docs/types.md.

    tools/real_types.py [--spe build/src/spe] FOLDER

Gets lua, zstd and sqlite3 as source packages of Debian 12 into FOLDER, with apt but without touching
the machine's own lists, and builds them for AArch64 with -O2 -g. The C library is Debian's, with its
debug information (libc6-dbg). Each program is recorded with -c 512. What is in FOLDER already is not
made again.
"""

import argparse
import glob
import json
import os
import subprocess
import sys

GCC = "aarch64-linux-gnu-gcc"
RELEASE = "bookworm"
PACKAGES = ["lua5.4", "libzstd", "sqlite3"]
LIBRARIES = ["libc6", "libc6-dbg", "libgcc-s1"]

LUA = """
local list, count, words = {}, {}, {}
for i = 1, 20000 do list[i] = {key = (i * 7919) % 10007, name = "n" .. i} end
table.sort(list, function(a, b) return a.key < b.key end)
for _, e in ipairs(list) do local k = e.name:sub(1, 3); count[k] = (count[k] or 0) + e.key end
for w in (("the quick brown fox "):rep(500)):gmatch("%a+") do words[#words + 1] = w end
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
print(#list, #table.concat(words, ","):gsub("q", "Q"), fib(20))
"""
SQL = """
create table t(id integer primary key, k integer, name text);
with recursive c(i) as (select 1 union all select i+1 from c where i < 8000)
  insert into t select i, (i*7919)%10007, 'name'||(i%97) from c;
create index tk on t(k);
select name, count(*), sum(k), avg(k) from t group by name order by 3 desc limit 5;
select count(*) from t a join t b on a.k = b.id where b.name like 'name1%';
update t set k = k + 1 where id % 3 = 0;
delete from t where k < 300;
"""
BUILDS = {
    "lua": "make -s -C lua-*/src CC='{gcc} -std=gnu99' SYSCFLAGS=-DLUA_USE_POSIX MYCFLAGS=-g "
           "AR='aarch64-linux-gnu-ar rc' RANLIB=true SYSLIBS=-Wl,-E lua && cp lua-*/src/lua lua",
    "zstd": "make -s -C zstd-*/programs CC={gcc} CFLAGS='-O2 -g' HAVE_ZLIB=0 HAVE_LZMA=0 HAVE_LZ4=0 "
            "ZSTD_LEGACY_SUPPORT=0 zstd && cp zstd-*/programs/zstd zstd",
    "sqlite": "mkdir -p made && cd made && ../sqlite3-*/configure --disable-tcl --disable-readline "
              "&& make -s sqlite3.c shell.c && {gcc} -O2 -g -DSQLITE_THREADSAFE=0 "
              "-DSQLITE_OMIT_LOAD_EXTENSION -o ../sqlite shell.c sqlite3.c -lm",
}
# What is recorded: its name, and the command.
RUNS = [("lua", "./lua work.lua"), ("zstd -3", "./zstd -q -3 -f -T1 input -o packed"),
        ("zstd -d", "./zstd -q -d -f packed -o unpacked"),
        ("sqlite3", "./sqlite :memory: '.read work.sql'")]


def shell(command, folder, **environment):
    print("+", command, file=sys.stderr)
    subprocess.run(command, shell=True, cwd=folder, check=True, stdout=sys.stderr,
                   env={**os.environ, **environment})


def apt(folder, name, lines, commands, options=""):
    """Commands of apt with lists of its own."""
    own = os.path.join(folder, name)
    for part in ("lists/partial", "cache/archives/partial"):
        os.makedirs(os.path.join(own, part), exist_ok=True)
    with open(os.path.join(own, "sources.list"), "w", encoding="ascii") as f:
        f.write(lines)
    with open(os.path.join(own, "apt.conf"), "w", encoding="ascii") as f:
        f.write(f'Dir::Etc::SourceList "{own}/sources.list";\nDir::Etc::SourceParts "{own}/none";\n'
                f'Dir::State::Lists "{own}/lists";\nDir::Cache "{own}/cache";\n{options}')
    for command in ["apt-get -q update"] + commands:
        shell(command, folder, APT_CONFIG=os.path.join(own, "apt.conf"))


def get(folder):
    mirror = f"http://deb.debian.org/debian {RELEASE} main\n"
    if not glob.glob(os.path.join(folder, "sqlite3-*")):
        apt(folder, "sources", "deb-src " + mirror,
            ["apt-get -q source --download-only " + " ".join(PACKAGES)])
        shell("for f in *.orig.tar.*; do case $f in *.asc) ;; *) tar xf $f ;; esac; done", folder)
    if not os.path.isdir(os.path.join(folder, "sysroot")):
        apt(folder, "arm64", "deb " + mirror, ["apt-get -q download " + " ".join(LIBRARIES)],
            'Dir::State::status "/dev/null";\nAPT::Architecture "arm64";\n'
            'APT::Architectures { "arm64"; };\n')
        shell("for f in *_arm64.deb; do dpkg -x $f sysroot; done", folder)


def build(folder):
    for name, command in BUILDS.items():
        if not os.path.isfile(os.path.join(folder, name)):
            shell(command.format(gcc=GCC), folder)
    for name, text in (("work.lua", LUA), ("work.sql", SQL)):
        with open(os.path.join(folder, name), "w", encoding="ascii") as f:
            f.write(text)
    shell("cat sqlite3-*/src/*.c | head -c 1500000 > input", folder)


def measure(spe, folder):
    """For each run: its accesses, and the reasons of those without a type."""
    results = []
    for title, command in RUNS:
        data = os.path.join(folder, title.replace(" ", "") + ".data")
        if not os.path.exists(data):
            shell(f"{spe} record -q -c 512 -o {data} -- {command}", folder,
                  QEMU_LD_PREFIX=os.path.join(folder, "sysroot"))
        out = subprocess.run([spe, "report", "--by", "type", "--json", data], check=True,
                             capture_output=True, text=True).stdout
        results.append((title, json.loads(out)["accesses"]))
    return results


def print_table(results):
    def row(title, values):
        print(f"| {title} | " + " | ".join(values) + " |")

    def share(part, whole):
        return f"{100 * part / whole:.1f} %"

    row("", [title for title, _ in results])
    row("---", ["---"] * len(results))
    row("loads and stores", [f"{a['samples']:,}" for _, a in results])
    row("a type of the program", [share(a["with_type"], a["samples"]) for _, a in results])
    row("stack operation: a saved register",
        [share(a["stack_operations"], a["samples"]) for _, a in results])
    row("both: known for what they are",
        [share(a["with_type"] + a["stack_operations"], a["samples"]) for _, a in results])
    for reason in sorted({r for _, a in results for r in a["unknown"]},
                         key=lambda r: -sum(a["unknown"].get(r, 0) for _, a in results)):
        row(reason, [share(a["unknown"].get(reason, 0), a["samples"]) for _, a in results])
    row("a type of the program, of those that are no stack operations",
        [share(a["with_type"], a["samples"] - a["stack_operations"]) for _, a in results])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--spe", default="build/src/spe")
    parser.add_argument("folder")
    arguments = parser.parse_args()
    folder = os.path.abspath(arguments.folder)
    os.makedirs(folder, exist_ok=True)
    get(folder)
    build(folder)
    print_table(measure(os.path.abspath(arguments.spe), folder))


if __name__ == "__main__":
    main()
