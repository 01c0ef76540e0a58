#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Turns src/render/page into C: page.html with page.css and page.js in it, and their hashes where the
Content Security Policy names them, cut at the marks that the command fills.

    tools/embed_page.py page.html page.css page.js OUTPUT.c
"""

import base64
import hashlib
import sys

PARTS = (("@TITLE@", "page_before_title"), ("@BODY@", "page_before_body"),
         ("@DATA@", "page_before_data"), (None, "page_after_data"))


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def digest(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def array(name, text):
    data = text.encode() + b"\0"
    rows = [", ".join(f"{byte - 256 if byte > 127 else byte}" for byte in data[at:at + 20])
            for at in range(0, len(data), 20)]
    return f"const char {name}[] = {{\n    " + ",\n    ".join(rows) + ",\n};\n"


def main(html, style, script, output):
    page = read(html)
    for name, text in (("STYLE", read(style)), ("SCRIPT", read(script))):
        if "</" + name.lower() in text.lower():
            sys.exit(f"{name.lower()} would end in the middle of its text")
        page = page.replace(f"@{name}_HASH@", digest(text)).replace(f"@{name}@", text)
    with open(output, "w", encoding="utf-8") as f:
        f.write('/* Made by tools/embed_page.py. */\n#include "render/page_parts.h"\n\n')
        for mark, name in PARTS:
            text, _, page = page.partition(mark) if mark else (page, "", "")
            f.write(array(name, text))


if __name__ == "__main__":
    main(*sys.argv[1:])
