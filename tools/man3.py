#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Manual pages of section 3 out of the public headers: one page a header, with every function and
struct, its prototype as it stands there and the comment above it.

usage: man3.py HEADER OUTPUT
"""

import os
import re
import sys

TITLES = {
    "analysis.h": "questions over the samples of a recording",
    "arrow.h": "the samples of a recording as an Arrow stream",
    "error.h": "errors of the library",
    "features.h": "sets of architecture features",
    "format.h": "the SPE record format, decoded and encoded",
    "gen.h": "a generator of SPE records",
    "names.h": "what an address is called",
    "pe.h": "A64 instructions and a model of a processing element",
    "perfdata.h": "read and write perf.data",
    "profile.h": "the samples of a recording",
    "spu.h": "a model of the Statistical Profiling Unit",
    "version.h": "which release the library is",
}
CORE = {"error.h", "features.h", "format.h", "gen.h", "pe.h", "spu.h", "version.h"}

# A comment (or none), then a function, an inline function or a struct with members.
COMMENT = r"(?:/\*(?P<comment>(?:[^*]|\*(?!/))*)\*/\n)?"
FUNCTION = re.compile(
    rf"^{COMMENT}(?P<kind>SPE_API|static inline) (?P<proto>[^;{{#]*?\b(?P<name>spe_\w+)"
    r"\((?P<args>[^{};]*)\))\s*(?:;|\n\{)(?P<after>[^\n]*)", re.M)
STRUCT = re.compile(rf"^{COMMENT}struct (?P<name>spe_\w+) \{{", re.M)


def plain(comment):
    """The comment's words, its examples left out."""
    lines = [re.sub(r"^ ?\*? ?", "", line.rstrip()) for line in (comment or "").split("\n")]
    kept = [line for line in lines if not line.startswith("    ") and "----" not in line]
    return " ".join(" ".join(kept).split())


def sentence(text):
    """The first sentence."""
    found = re.match(r"(.*?[.:;])(?= [A-Z\"]|$)", text)
    return (found.group(1) if found else text).rstrip(".:;")


def escaped(text):
    text = text.replace("\\", "\\e")
    return "\\&" + text if text[:1] in ".'" else text


def prose(text):
    """A sentence a line, as mdoc wants it."""
    return [escaped(line) for line in re.sub(r"([.?!]\)?) +(?=[A-Z`\"(])", r"\1\n", text).split("\n")]


def split_arguments(text):
    """Arguments; commas within parentheses do not part them."""
    parts, depth, now = [], 0, ""
    for letter in " ".join(text.split()):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append(now.strip())
            now = ""
        else:
            now += letter
    return parts + [now.strip()]


def functions(text):
    """(name, type, arguments, sentence) of each, in the header's order. One that stands right
    behind another, or is the inline half of it, shares its comment."""
    found, last, before, end = [], "", "", -1
    for match in FUNCTION.finditer(text):
        behind = re.match(r"\s*/\*(.*?)\*/", match.group("after"))
        words = plain(match.group("comment")) or (behind and plain(behind.group(1))) or ""
        if not words and (match.start() == end + 1 or before == match.group("name") + "_sized"):
            words = last
        last, before, end = words, match.group("name"), match.end()
        kind = match.group("proto").split(match.group("name") + "(")[0]
        found.append((match.group("name"), " ".join(kind.split()),
                      split_arguments(match.group("args")), sentence(words)))
    return found


def structs(text):
    return [(match.group("name"), sentence(plain(match.group("comment"))))
            for match in STRUCT.finditer(text)]


def head_of(text):
    """What the header says of itself: the comment before its guard."""
    comments = re.findall(r"/\*(.*?)\*/", text.split("#ifndef", 1)[0], re.S)
    return plain(comments[-1])


def page(header, text):
    name = "specimen-" + header.removesuffix(".h")
    library = "specimen-core" if header in CORE else "specimen"
    lines = [".\\\" SPDX-License-Identifier: BSD-2-Clause",
             ".\\\" Copyright (c) 2026 The Specimen authors",
             f".\\\" Made of include/specimen/{header} by tools/man3.py.",
             ".Dd November 16, 2026", f".Dt {name.upper()} 3", ".Os Specimen",
             ".Sh NAME", f".Nm {name}", f".Nd {TITLES[header]}",
             ".Sh LIBRARY", f"lib{library}, with",
             f".Dl pkg-config --cflags --libs {library}",
             ".Sh SYNOPSIS", f".In specimen/{header}"]
    for function, kind, arguments, _ in functions(text):
        lines += [f".Ft {escaped(kind)}", f".Fo {function}"]
        lines += [f'.Fa "{escaped(argument)}"' for argument in arguments] + [".Fc"]
    lines += [".Sh DESCRIPTION"] + prose(head_of(text))
    if structs(text):
        lines += [".Ss Structs", ".Bl -tag -width Ds"]
        for struct, words in structs(text):
            lines += [f".It Vt struct {struct}"] + (prose(words + ".") if words else [])
        lines += [".El"]
    if functions(text):
        lines += [".Ss Functions", ".Bl -tag -width Ds"]
        for function, _, _, words in functions(text):
            lines += [f".It Fn {function}"] + (prose(words + ".") if words else [])
        lines += [".El"]
    lines += [".Pp", "The header says what each function takes, returns and refuses.",
              ".Sh SEE ALSO"]
    others = sorted(set(TITLES) - {header})
    lines += [f".Xr specimen-{other.removesuffix('.h')} 3{' ,' if other != others[-1] else ''}"
              for other in others]
    return "\n".join(lines) + "\n"


def main(arguments):
    if len(arguments) != 2:
        print(__doc__.strip().splitlines()[-1], file=sys.stderr)
        return 2
    with open(arguments[0], encoding="utf-8") as file:
        text = file.read()
    with open(arguments[1], "w", encoding="utf-8") as file:
        file.write(page(os.path.basename(arguments[0]), text))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
