#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Do the tests bite? Breaks src/format, gen and spu one small change at a time and runs their tests.

A mutant is the source with one change. It is caught when a unit test of the rooms fails, crashes or
hangs. Mutants that do not compile, or compile to the same object, are not counted: another from
the same part of the file takes their place. All is built in scratch copies, never in the tree.
"""

import argparse
import bisect
import collections
import concurrent.futures
import fnmatch
import hashlib
import json
import os
import platform
import queue
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOMS = ("format", "gen", "spu")
PASS_MARK = 90  # per cent
SKIPPED = 77  # exit status of a test that cannot run here
# What the sanitizers of CI would see: an index out of bounds and the like ends the program.
TRAPS = ["-fsanitize=bounds,shift,null,integer-divide-by-zero,return",
         "-fsanitize-undefined-trap-on-error"]

Mutant = collections.namedtuple("Mutant", "path start end new kind line column old")


class Problem(Exception):
    """Something that makes the answer meaningless, told in one sentence."""


# ---- Tokens ----------------------------------------------------------------------------------

TOKEN = re.compile(
    r"""(?P<space>\s+|\\\n|//[^\n]*|/\*.*?\*/)
      | (?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
      | (?P<number>\d[\w.]*)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<op>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#|.)""",
    re.X | re.S)
KEYWORDS = frozenset("""auto break case const continue default do else enum extern for goto if inline
    register return sizeof static struct switch typedef union volatile while""".split())
INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)")

Token = collections.namedtuple("Token", "kind text start end")


def blank_directives(text):
    """The same text with directives blanked out, but for the bodies of #define."""

    def blank(match):
        line = match.group()
        head = re.match(r"\s*#\s*define\s+\w+(\([^)]*\))?", line)
        keep = head.end() if head else len(line)
        return re.sub(r"[^\n]", " ", line[:keep]) + line[keep:]

    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)


def tokenize(text):
    return [Token(match.lastgroup, match.group(), match.start(), match.end())
            for match in TOKEN.finditer(blank_directives(text)) if match.lastgroup != "space"]


def pairs(tokens):
    """For every opening bracket the index of the closing one, and the other way round."""
    partner, stack = {}, []
    for i, token in enumerate(tokens):
        if token.kind != "op":
            continue
        if token.text in "([{":
            stack.append(i)
        elif token.text in ")]}" and stack:
            partner[i] = stack.pop()
            partner[partner[i]] = i
    return partner


class Blocks:
    """Which braces hold statements, and which of them belong to a function that returns bool."""

    def __init__(self, tokens, partner):
        self.statements = set()  # indexes of tokens that start a statement
        self.returns_bool = set()  # indexes of `return` in such functions
        self.tokens, self.partner = tokens, partner
        for i, token in enumerate(tokens):
            if token.text == "{" and i in partner and self._is_function(i):
                self._walk(i)

    def _is_function(self, brace):
        if brace == 0 or self.tokens[brace - 1].text != ")":
            return False
        name = self.partner.get(brace - 1, 0) - 1
        return name > 0 and self.tokens[name].kind == "name" and \
            self.tokens[name].text not in KEYWORDS and self.tokens[name - 1].text not in "=,(?:"

    def _walk(self, brace):
        tokens, end = self.tokens, self.partner[brace]
        name = self.partner[brace - 1] - 1
        is_bool = tokens[name - 1].text == "bool"
        start, i = True, brace + 1
        while i < end:
            text = tokens[i].text
            if start and text not in "{}":
                self.statements.add(i)
            if is_bool and text == "return":
                self.returns_bool.add(i)
            if text in ("if", "while", "for", "switch") and tokens[i + 1].text == "(":
                i, start = self.partner[i + 1], True
            elif text == "(" or (text == "{" and not start):
                i, start = self.partner[i], False
            else:
                start = text in (";", "{", "}", "else", "do") or self._is_label(i)
            i += 1

    def _is_label(self, i):
        if self.tokens[i].text != ":":
            return False
        while i > 0 and self.tokens[i].text not in ";{}?":
            if self.tokens[i].text in ("case", "default"):
                return True
            i -= 1
        return False


# ---- Changes ---------------------------------------------------------------------------------

SWAPS = {
    "==": ("comparison", "!="), "!=": ("comparison", "=="), "<": ("comparison", "<=", ">"),
    "<=": ("comparison", "<", ">="), ">": ("comparison", ">=", "<"),
    ">=": ("comparison", ">", "<="), "&&": ("logic", "||"), "||": ("logic", "&&"),
    "+": ("arithmetic", "-"), "-": ("arithmetic", "+"), "+=": ("arithmetic", "-="),
    "-=": ("arithmetic", "+="), "++": ("arithmetic", "--"), "--": ("arithmetic", "++"),
}
AFTER_STATEMENT_NAME = frozenset("( = . -> [ += -= *= /= %= &= |= ^= <<= >>= ++ --".split())


def off_by_one(text):
    match = INTEGER.fullmatch(text)
    if not match:
        return []
    digits, suffix = match.groups()
    value = int(digits, 16 if digits[:2].lower() == "0x" else 8 if digits[0] == "0" else 10)
    form = hex if digits[:2].lower() == "0x" else str
    return [form(v) + suffix for v in (value + 1, value - 1) if v >= 0]


class Changes:
    """All the changes that can be made to one file."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.tokens = tokenize(text)
        self.partner = pairs(self.tokens)
        self.blocks = Blocks(self.tokens, self.partner)
        self.lines = [m.start() for m in re.finditer("^", text, re.M)]
        self.found = []
        for i in range(len(self.tokens)):
            self._token(i)
        self.found.sort(key=lambda m: (m.start, m.end, m.new))

    def _add(self, start, end, new, kind):
        line = bisect.bisect_right(self.lines, start)
        column = start - self.lines[line - 1] + 1
        self.found.append(Mutant(self.path, start, end, new, kind, line, column,
                                 self.text[start:end]))

    def _text(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def _token(self, i):
        token = self.tokens[i]
        if token.kind == "number":
            if not self._is_size(i):
                for new in off_by_one(token.text):
                    self._add(token.start, token.end, new, "constant")
        elif token.kind == "op":
            self._operator(i)
        elif token.text in ("if", "while") and self._text(i + 1) == "(":
            self._negate(i + 1, self.partner.get(i + 1))
        if i in self.blocks.statements:
            self._drop(i)
        if i in self.blocks.returns_bool:
            self._negate_return(i)

    def _is_size(self, i):
        """In the size of a declared array, or the zero of an empty initializer."""
        before, after = self._text(i - 1), self._text(i + 1)
        if before == "{" and after == "}":
            return True
        if before != "[" or after != "]" or i < 3 or self.tokens[i - 2].kind != "name":
            return False
        ahead = self.tokens[i - 3]
        return ahead.text == "*" or (ahead.kind == "name" and ahead.text != "return")

    def _operator(self, i):
        token = self.tokens[i]
        if token.text == "?":
            self._add(token.start, token.end, "== 0 ?", "condition")
            return
        if token.text not in SWAPS:
            return
        if token.text in "+-" and not self._is_binary(i):
            return
        kind, *others = SWAPS[token.text]
        for new in others:
            self._add(token.start, token.end, new, kind)

    def _is_binary(self, i):
        before = self.tokens[i - 1] if i else None
        return before is not None and (
            before.kind in ("number", "string") or before.text in (")", "]") or
            (before.kind == "name" and before.text not in KEYWORDS))

    def _negate(self, opening, closing):
        if closing is None or closing == opening + 1:
            return
        start, end = self.tokens[opening].start + 1, self.tokens[closing].start
        self._add(start, end, f"!({self.text[start:end]})", "condition")

    def _negate_return(self, i):
        end = self._end(i)
        if end is not None and end > i + 1:
            start, stop = self.tokens[i + 1].start, self.tokens[end].start
            self._add(start, stop, f"!({self.text[start:stop]})", "condition")

    def _end(self, i):
        """The index of the semicolon that ends the statement."""
        while i < len(self.tokens):
            text = self.tokens[i].text
            if text == ";":
                return i
            if text in "([{":
                if i not in self.partner:
                    return None
                i = self.partner[i]
            elif text == "}":
                return None
            i += 1
        return None

    def _drop(self, i):
        token = self.tokens[i]
        if token.kind == "name" and token.text not in KEYWORDS:
            if self._text(i + 1) not in AFTER_STATEMENT_NAME:
                return
        elif token.text not in ("break", "continue", "*", "++", "--"):
            return
        end = self._end(i)
        if end is not None:
            self._add(token.start, self.tokens[end].start, "", "statement")


def mutants_of(path, text):
    """Every mutant of the file, in the order of the text."""
    return Changes(path, text).found


def applied(text, mutant):
    return text[:mutant.start] + mutant.new + text[mutant.end:]


# ---- The sample ------------------------------------------------------------------------------

def shares(available, count):
    """As even a share of `count` for each file as the files have mutants for."""
    share = dict.fromkeys(available, 0)
    open_files = sorted(available)
    while count and open_files:
        each = max(1, count // len(open_files))
        for name in list(open_files):
            take = min(each, available[name] - share[name], count)
            share[name] += take
            count -= take
            if share[name] == available[name]:
                open_files.remove(name)
    return share


def slices(mutants, count, rng):
    """Cut a file's mutants in `count` runs of equal length; each is a list in the order to try."""
    cut = []
    for i in range(count):
        part = mutants[len(mutants) * i // count:len(mutants) * (i + 1) // count]
        rng.shuffle(part)
        cut.append(part)
    return cut


def sample(root, paths, count, seed):
    """Lists of mutants: one of each list is to be run, the first that counts."""
    found = {}
    for path in paths:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            found[path] = mutants_of(path, file.read())
    share = shares({path: len(mutants) for path, mutants in found.items()}, count)
    chosen = []
    for path in sorted(found):
        chosen += slices(found[path], share[path], random.Random(f"{seed} {path}"))
    return [part for part in chosen if part]


# ---- Building --------------------------------------------------------------------------------

def run(command, cwd, timeout=None, env=None, quiet=True):
    """Exit status of a command; None if it took too long. Nothing of it is left running."""
    out = subprocess.DEVNULL if quiet else None

    def limits():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, 64 << 20))

    process = subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=out,
                               stderr=out, start_new_session=True, preexec_fn=limits)
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def compiler_and_flags(command):
    """What of a compile command belongs in ours: the compiler, the includes, the language."""
    words = shlex.split(command)
    first = next(i for i, word in enumerate(words) if word.startswith("-"))
    keep, i = words[:first], first
    while i < len(words):
        word = words[i]
        if word in ("-isystem", "-include"):
            keep += words[i:i + 2]
            i += 1
        elif word.startswith(("-I", "-D", "-m", "-std", "-pthread")):
            keep.append(word)
        i += 1
    return keep + ["-O1", "-g0", "-w", "-fPIC"] + TRAPS


def dependencies(path, cwd, root):
    """Files below the root that a dependency file of the compiler names."""
    with open(path, encoding="utf-8") as file:
        words = file.read().replace("\\\n", " ").split()[1:]
    names = {os.path.relpath(os.path.join(cwd, word), root) for word in words}
    return {name for name in names if not name.startswith("..")}


class Unit:
    """One object: where it comes from, how it is made, what it depends on."""

    def __init__(self, path, flags, name):
        self.path, self.flags, self.name = path, flags, name
        self.needs = set()


class Test:
    def __init__(self, name, units, libraries):
        self.name, self.units, self.libraries = name, units, libraries
        self.seconds = 0.0

    def needs(self, path):
        return any(path in unit.needs for unit in self.units)


class Tree:
    """A scratch copy of the source tree, and what is built in it."""

    def __init__(self, root, folder):
        self.root = os.path.join(folder, "tree")
        self.build = os.path.join(self.root, "build")
        self.out = os.path.join(folder, "out")
        shutil.copytree(root, self.root, symlinks=True, ignore=self._ignored(root))
        os.makedirs(self.build, exist_ok=True)
        os.makedirs(self.out, exist_ok=True)

    @staticmethod
    def _ignored(root):
        def ignored(folder, names):
            if os.path.realpath(folder) != os.path.realpath(root):
                return []
            return [n for n in names if n in (".git", ".deps") or n.startswith("build")]
        return ignored

    def object(self, unit):
        return os.path.join(self.out, unit.name)

    def compile(self, unit):
        target = self.object(unit)
        command = unit.flags + ["-MMD", "-MF", target + ".d", "-o", target, "-c",
                                os.path.relpath(os.path.join(self.root, unit.path), self.build)]
        return run(command, self.build, 120) == 0

    def link(self, compiler, objects, target, arguments):
        return run(compiler + ["-o", target] + objects + arguments, self.build, 120) == 0

    def library(self):
        return os.path.join(self.out, "libmutant.so")

    def environment(self):
        env = dict(os.environ)
        env.update(LD_LIBRARY_PATH=self.out, SPE_SOURCE_DIR=self.root, SPE_BUILD_DIR=self.build,
                   LC_ALL="C.UTF-8")
        return env

    def run(self, program, timeout):
        return run([program], self.out, timeout, self.environment())


class Bench:
    """The unchanged build: objects, library, tests, and how long the tests take."""

    def __init__(self, root, folder, jobs, say):
        self.say = say
        self.trees = [Tree(root, os.path.join(folder, f"worker{i}")) for i in range(jobs)]
        self.base = self.trees[0]
        self.units, self.tests = {}, []
        self._configure()
        self._compile(jobs)
        self._measure()

    def _configure(self):
        tree = self.base
        if run(["meson", "setup", tree.build, "-Dtests=enabled"], tree.root, 600) != 0 and \
                run(["meson", "setup", "--wipe", tree.build], tree.root, 600) != 0:
            raise Problem("meson cannot set up a build of the scratch copy")
        with open(os.path.join(tree.build, "compile_commands.json"), encoding="utf-8") as file:
            entries = json.load(file)
        programs = collections.defaultdict(list)
        for entry in entries:
            path = os.path.relpath(os.path.join(entry["directory"], entry["file"]), tree.root)
            flags = compiler_and_flags(entry["command"])
            name = entry["output"].replace(os.sep, "!")
            if path.startswith(tuple(f"src/{room}/" for room in ROOMS)):
                self.units.setdefault(path, Unit(path, flags, name))
            elif path.startswith("tests/"):
                programs[entry["output"].split(".p/")[0]].append(Unit(path, flags, name))
        for name, units in sorted(programs.items()):
            if any(unit.path.startswith(tuple(f"tests/{room}/" for room in ROOMS))
                   for unit in units):
                self.tests.append(Test(os.path.basename(name), units, ["-lcmocka", "-lm"]))
        if not self.units or not self.tests:
            raise Problem("the build has no sources or no tests of these rooms")
        flags = next(iter(self.units.values())).flags  # "cc" or "ccache cc" come first
        self.compiler = flags[:next(i for i, word in enumerate(flags) if word.startswith("-"))]

    def _compile(self, jobs):
        units = list(self.units.values()) + [u for test in self.tests for u in test.units]
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for unit, good in zip(units, pool.map(self.base.compile, units)):
                if not good:
                    raise Problem(f"{unit.path} does not compile")
                unit.needs = dependencies(self.base.object(unit) + ".d", self.base.build,
                                          self.base.root)
        if not self.link_library(self.base, {}):
            raise Problem("the rooms do not link")
        for test in self.tests:
            if not self.link_test(self.base, test, {}):
                raise Problem(f"the test {test.name} does not link")

    def link_library(self, tree, instead):
        objects = [instead.get(unit.name) or self.base.object(unit) for unit in self.units.values()]
        return tree.link(self.compiler, objects, tree.library(), ["-shared"])

    def link_test(self, tree, test, instead):
        objects = [instead.get(unit.name) or self.base.object(unit) for unit in test.units]
        return tree.link(self.compiler, objects, self.program(tree, test),
                         ["-L" + self.base.out, "-lmutant"] + test.libraries)

    @staticmethod
    def program(tree, test):
        return os.path.join(tree.out, test.name)

    def _measure(self):
        able = []
        for test in self.tests:
            started = time.monotonic()
            status = self.base.run(self.program(self.base, test), 600)
            test.seconds = time.monotonic() - started
            if status == SKIPPED:
                self.say(f"{test.name} cannot run here")
            elif status != 0:
                raise Problem(f"the test {test.name} fails without any change")
            else:
                able.append(test)
        self.tests = able
        self.say(f"{len(self.units)} files, {len(able)} tests that take "
                 f"{sum(test.seconds for test in able):.1f} s")


# ---- Running ---------------------------------------------------------------------------------

def affinity(path, test):
    """How likely the test is about the file, by their names."""
    room, stem = path.split("/")[1], os.path.splitext(os.path.basename(path))[0]
    score = 1 if test.name.startswith(room + "_") else 0
    return score + (2 if stem in test.name else 0)


class Runner:
    def __init__(self, bench):
        self.bench = bench
        self.kills = collections.Counter()  # (path, test name)
        self.lock = threading.Lock()
        self.trees = queue.Queue()
        for tree in bench.trees:
            self.trees.put(tree)

    def order(self, path):
        with self.lock:
            return sorted(self.bench.tests, key=lambda test: (
                -self.kills[path, test.name], -affinity(path, test), test.seconds))

    def judge(self, mutant):
        """("caught", by), ("survived", ""), ("invalid", why)."""
        tree = self.trees.get()
        path = os.path.join(tree.root, mutant.path)
        with open(path, encoding="utf-8") as file:
            original = file.read()
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(applied(original, mutant))
            return self._judge(tree, mutant)
        finally:
            with open(path, "w", encoding="utf-8") as file:
                file.write(original)
            self.trees.put(tree)

    def _judge(self, tree, mutant):
        instead = {}
        for unit in self.bench.units.values():
            if mutant.path not in unit.needs:
                continue
            copy = Unit(unit.path, unit.flags, "mutant!" + unit.name)
            if not tree.compile(copy):
                return "invalid", "does not compile"
            if not same_file(tree.object(copy), self.bench.base.object(unit)):
                instead[unit.name] = tree.object(copy)
        if not instead:
            return "invalid", "is the same object"
        if tree is self.bench.base:
            tree = Aside(tree)
        if not self.bench.link_library(tree, instead):
            return "invalid", "does not link"
        for test in self.order(mutant.path):
            how = self._fails(tree, test, mutant)
            if how:
                with self.lock:
                    self.kills[mutant.path, test.name] += 1
                return "caught", f"{test.name} {how}"
        return "survived", ""

    def _fails(self, tree, test, mutant):
        """How the test shows that something is wrong; empty if it does not."""
        program = self.bench.program(self.bench.base, test)
        if test.needs(mutant.path):
            instead = {}
            for unit in test.units:
                copy = Unit(unit.path, unit.flags, "mutant!" + unit.name)
                if not tree.compile(copy):
                    return "does not compile"
                instead[unit.name] = tree.object(copy)
            if not self.bench.link_test(tree, test, instead):
                return "does not link"
            program = self.bench.program(tree, test)
        status = tree.run(program, 5 + 10 * test.seconds)
        return "hangs" if status is None else "fails" if status else ""


class Aside(Tree):
    """The first tree with another output folder: it must not overwrite the unchanged build."""

    def __init__(self, tree):
        self.root, self.build = tree.root, tree.build
        self.out = os.path.join(tree.out, "aside")
        os.makedirs(self.out, exist_ok=True)


def same_file(a, b):
    with open(a, "rb") as first, open(b, "rb") as second:
        return first.read() == second.read()


# ---- Results ---------------------------------------------------------------------------------

def digest_of(*parts):
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]


def file_digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:20]


def tree_digest(root):
    """Of everything that decides the answers: the rooms, the headers, the tests, this file."""
    parts = [file_digest(os.path.abspath(__file__))]
    for top in [f"src/{room}" for room in ROOMS] + ["include"] + [f"tests/{r}" for r in ROOMS]:
        for folder, folders, names in os.walk(os.path.join(root, top)):
            folders.sort()
            for name in sorted(names):
                if name.endswith((".c", ".h", ".def")):
                    path = os.path.join(folder, name)
                    parts += [os.path.relpath(path, root), file_digest(path)]
    return digest_of(*parts)


class Results:
    """What is known of each mutant, in a file, so that a run can be taken up again.

    An answer holds while nothing changes. When the tree has changed, a mutant that was caught
    counts as caught as long as its own file is the same: tests are rarely taken away. All others
    are run again.
    """

    def __init__(self, path, root, fresh):
        self.path, self.root = path, root
        self.lock = threading.Lock()
        self.tree = tree_digest(root)
        self.files = {}
        self.known = {}
        if path and not fresh and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.known = json.load(file)["mutants"]

    def key(self, mutant):
        if mutant.path not in self.files:
            self.files[mutant.path] = file_digest(os.path.join(self.root, mutant.path))
        return digest_of(self.files[mutant.path], mutant.path, str(mutant.start), str(mutant.end),
                         mutant.new)

    def get(self, mutant):
        entry = self.known.get(self.key(mutant))
        if entry and (entry["tree"] == self.tree or entry["verdict"] != "survived"):
            return entry["verdict"], entry["by"]
        return None

    def put(self, mutant, verdict, by):
        with self.lock:
            self.known[self.key(mutant)] = {
                "verdict": verdict, "by": by, "tree": self.tree, "file": mutant.path,
                "line": mutant.line, "column": mutant.column, "kind": mutant.kind, "old": mutant.old, "new": mutant.new,
            }
            if self.path:
                self._save()

    def _save(self):
        os.makedirs(os.path.dirname(os.path.abspath(self.path)), exist_ok=True)
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            json.dump({"mutants": self.known}, file, indent=1, sort_keys=True)
        os.replace(self.path + ".new", self.path)


def described(mutant):
    def short(text):
        text = " ".join(text.split())
        return text if len(text) <= 60 else text[:57] + "..."

    if mutant.kind == "statement":
        change = f"dropped: {short(mutant.old)}"
    elif mutant.kind == "condition" and mutant.old != "?":
        change = f"negated: {short(mutant.old)}"
    elif mutant.kind == "condition":
        change = "negated: the condition before ?"
    else:
        change = f"{short(mutant.old)} -> {short(mutant.new)}"
    return f"{mutant.path}:{mutant.line}:{mutant.column}: {change}"


def report(outcomes, out):
    """The table and the survivors; returns the share that was caught, in per cent."""
    table = collections.defaultdict(collections.Counter)
    for mutant, verdict in outcomes:
        table[mutant.path][verdict] += 1
        table["all"][verdict] += 1
    print(f"{'file':32} {'mutants':>8} {'caught':>8} {'survived':>9} {'caught':>9}", file=out)
    for path in sorted(table, key=lambda p: (p == "all", p)):
        caught, survived = table[path]["caught"], table[path]["survived"]
        print(f"{path:32} {caught + survived:8} {caught:8} {survived:9} "
              f"{100 * caught / max(1, caught + survived):7.1f} %", file=out)
    survivors = [mutant for mutant, verdict in outcomes if verdict == "survived"]
    if survivors:
        print("\nSurvivors:", file=out)
    for mutant in sorted(survivors, key=lambda m: (m.path, m.start)):
        print(described(mutant), file=out)
    total = table["all"]["caught"] + table["all"]["survived"]
    return 100 * table["all"]["caught"] / total if total else 0


# ---- Command ---------------------------------------------------------------------------------

def runs_here(path):
    """SIMD paths are only as good as the machine that runs them."""
    machine = {"neon": "aarch64", "avx2": "x86_64", "avx512": "x86_64"}
    kind = os.path.splitext(path)[0].rsplit("_", 1)[-1]
    if kind not in machine or kind == "neon":
        return machine.get(kind, platform.machine()) == platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return kind in file.read()
    except OSError:
        return False


def source_paths(root, patterns, unwanted):
    """Files of the rooms that match one of the patterns, if there are any, and none unwanted."""
    paths = []
    for room in ROOMS:
        folder = os.path.join(root, "src", room)
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        paths += [f"src/{room}/{name}" for name in names if name.endswith((".c", ".h", ".def"))]

    def match(path, globs):
        return any(fnmatch.fnmatch(path, "*" + glob) for glob in globs)

    return [path for path in paths if runs_here(path) and not match(path, unwanted) and
            (not patterns or match(path, patterns))]


def first_that_counts(part, runner, results):
    for mutant in part:
        known = results.get(mutant)
        if known is None:
            known = runner().judge(mutant)
            results.put(mutant, *known)
        if known[0] != "invalid":
            return mutant, known[0], known[1]
    return None


def run_all(parts, runner, results, jobs, say):
    outcomes, started = [], time.monotonic()
    pool = concurrent.futures.ThreadPoolExecutor(jobs)
    futures = [pool.submit(first_that_counts, part, runner, results) for part in parts]
    try:
        for done, future in enumerate(concurrent.futures.as_completed(futures), 1):
            outcome = future.result()
            if outcome:
                outcomes.append(outcome[:2])
                if outcome[1] == "survived":
                    say(f"survived {described(outcome[0])}")
            if done % 20 == 0:
                say(f"{done} of {len(parts)}, {time.monotonic() - started:.0f} s")
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return outcomes


def buildable(bench, parts):
    """Parts of files that this machine's build uses."""
    used = set(bench.units)
    for unit in bench.units.values():
        used |= unit.needs
    return [part for part in parts if part[0].path in used]


def arguments():
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser = argparse.ArgumentParser(
        description="Breaks src/format, gen and spu one small change at a time and runs their "
                    "unit tests. Exit status 0: at least 90 % were caught; 1: fewer; 2: the tests "
                    "do not build or pass unchanged.")
    parser.add_argument("--count", type=int, default=600, help="mutants to try (600)")
    parser.add_argument("--seed", type=int, default=1, help="another sample (1)")
    parser.add_argument("--file", action="append", default=[], metavar="GLOB",
                        help="only files whose path ends so: 'spu/*.c', state.c")
    parser.add_argument("--not-file", action="append", default=[], metavar="GLOB",
                        help="leave such files out")
    parser.add_argument("--jobs", type=int, default=2, help="mutants at a time (2)")
    parser.add_argument("--list", action="store_true", help="print the sample, run nothing")
    parser.add_argument("--results", metavar="FILE", help="default: build/mutate.json; answers in "
                        "it that still hold are not sought again")
    parser.add_argument("--fresh", action="store_true", help="forget all earlier answers")
    parser.add_argument("--root", default=here, help="the source tree")
    return parser.parse_args()


def main():
    options = arguments()
    root = os.path.abspath(options.root)
    results = Results(options.results or os.path.join(root, "build", "mutate.json"), root,
                      options.fresh)
    paths = source_paths(root, options.file, options.not_file)
    parts = sample(root, paths, options.count, options.seed)
    if options.list:
        for part in parts:
            print(described(part[0]))
        return 0

    def say(text):
        print(f"mutate: {text}", file=sys.stderr, flush=True)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    folder = tempfile.mkdtemp(prefix="specimen-mutate-")
    try:
        bench = Bench(root, folder, options.jobs, say)
        runner = Runner(bench)
        parts = buildable(bench, parts)
        outcomes = run_all(parts, lambda: runner, results, options.jobs, say)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    caught = report(outcomes, sys.stdout)
    return 0 if caught >= PASS_MARK else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Problem as problem:
        print(f"mutate: {problem}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
