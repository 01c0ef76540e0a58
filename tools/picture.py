#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""The picture of README: records the program of the demo, writes its page, and shows it in Chromium.

    tools/picture.py [--spe build/src/spe] [docs/images/page.png]

The headings and columns of the page go into the picture, as a comment of the file: a test holds them
against those of today's page.
"""

import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "cli"))
import browser  # pylint: disable=wrong-import-position

PICTURE = os.path.join(ROOT, "docs", "images", "page.png")
SIZE = 1280, 960
SIGNATURE = b"\x89PNG\r\n\x1a\n"
COMMENT = b"tEXt", b"Page\0"

# Each heading of a part, and the columns of its first table.
STRUCTURE = """[...document.querySelectorAll("h2")].map((head) => [
    head.textContent,
    ...[...(head.parentElement.querySelector("thead tr")?.cells ?? [])].map((cell) => cell.textContent)])"""


def chunks(data):
    """Types and contents."""
    if not data.startswith(SIGNATURE):
        raise ValueError("not a PNG file")
    at = len(SIGNATURE)
    while at < len(data):
        size, = struct.unpack_from(">I", data, at)
        yield data[at + 4:at + 8], data[at + 8:at + 8 + size]
        at += 12 + size


def structure_in(path):
    """What the comment of a picture says; None without one."""
    with open(path, "rb") as f:
        for kind, content in chunks(f.read()):
            if kind == COMMENT[0] and content.startswith(COMMENT[1]):
                return json.loads(content[len(COMMENT[1]):])
    return None


def write_comment(path, structure):
    """Before the end, which is an empty chunk."""
    body = b"".join((*COMMENT, json.dumps(structure).encode()))
    comment = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    with open(path, "rb") as f:
        data = f.read()
    with open(path, "wb") as f:
        f.write(data[:-12] + comment + data[-12:])


def demo_page(spe, directory):
    """The page of the demo, by the commands of the demo."""
    def run(*words):
        subprocess.run(words, cwd=directory, check=True, capture_output=True)

    run("aarch64-linux-gnu-gcc", "-O2", "-g", os.path.join(ROOT, "examples", "three_ways.c"), "-o",
        "three_ways")
    run(spe, "record", "-c", "2048", "--", "./three_ways")
    run(spe, "report", "--html", "page.html")
    return os.path.join(directory, "page.html")


def take(page, path):
    """Writes the picture of a page; its structure."""
    chromium = browser.Browser()
    try:
        chromium.size(*SIZE)
        chromium.open(page)
        chromium.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        chromium.picture(path)
        structure = chromium.run(STRUCTURE)
    finally:
        chromium.close()
    write_comment(path, structure)
    return structure


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--spe", default=os.path.join(ROOT, "build", "src", "spe"))
    parser.add_argument("picture", nargs="?", default=PICTURE)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        take(demo_page(os.path.abspath(args.spe), directory), args.picture)


if __name__ == "__main__":
    main()
