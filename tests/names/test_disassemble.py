# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Every word that is disassembled says what binutils or LLVM say: all words of a C library, those
of programs with SIMD and SVE, and random ones. A word may be left as .inst; none may be wrong."""

import collections
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

COMMAND = os.environ.get("SPE_DISASSEMBLE_WORDS", "")
OBJDUMP = "aarch64-linux-gnu-objdump"
COMPILER = "aarch64-linux-gnu-gcc"
LIBC = "/usr/aarch64-linux-gnu/lib/libc.so.6"
RANDOM = 60000

if os.environ.get("SPE_CAPSTONE") != "1":
    print("this build has no disassembler")
    sys.exit(77)
for tool in (OBJDUMP, "aarch64-linux-gnu-objcopy"):
    if not shutil.which(tool):
        print(f"there is no {tool}")
        sys.exit(77)

VECTORS = """
#include <stdint.h>
void scale(float *a, const float *b, float k, int n)
{
    for (int i = 0; i < n; i++)
        a[i] = b[i] * k + a[i];
}
int64_t dot(const int16_t *a, const int16_t *b, int n)
{
    int64_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}
void gather(uint32_t *a, const uint32_t *b, const uint32_t *at, int n)
{
    for (int i = 0; i < n; i++)
        a[i] = b[at[i]] ^ (b[i] << 3);
}
void bytes(uint8_t *a, const uint8_t *b, int n)
{
    for (int i = 0; i < n; i++)
        a[i] = b[2 * i] > a[i] ? b[2 * i + 1] : a[i];
}
double max(const double *a, int n)
{
    double m = a[0];
    for (int i = 1; i < n; i++)
        m = a[i] > m ? a[i] : m;
    return m;
}
"""


def run(*command, **kwargs):
    return subprocess.run(command, check=True, capture_output=True, **kwargs).stdout


def number(match):
    value = int(match[2], 16)
    return match[1] + str(value - (1 << 64) if value >> 63 else value)


def whole_list(match):
    first, kind, last = int(match[1]), match[2], int(match[3])
    return ",".join(f"z{n}{kind}" for n in range(first, last + 1))


def plain(text):
    """Spacing, case and the base of numbers are a matter of taste."""
    text = re.sub(r"\s*<[^>]*>$", "", text.split("//")[0].split(" ; ")[0].strip())
    if not text or text.startswith((".inst", ".word", "<unknown", "udf")):
        return ""
    text = re.sub(r"#?(-?)0x([0-9a-f]+)", number, text.lower().replace("\t", " "))
    text = re.sub(r"\s*,\s*", ",", text.replace("#", ""))
    text = re.sub(r"([{[])\s+", r"\1", re.sub(r"\s+([]}])", r"\1", text))
    text = re.sub(r"z(\d+)(\.\w) ?- ?z(\d+)\.\w", whole_list, text)
    return re.sub(r"\s+", " ", text)


def generic_register(word):
    """What a system register is called that has no name."""
    return (f"s{2 + (word >> 19 & 1)}_{word >> 16 & 7}_c{word >> 12 & 15}_c{word >> 8 & 15}_"
            f"{word >> 5 & 7}")


def same_prefetch(word, text, other):
    """A kind of prefetch may be its number, where others have a name, and the other way round."""
    (name, kind, rest), (name2, kind2, rest2) = (
        re.match(r"(\S+) ([^,]*)(.*)", t).groups() for t in (text, other))
    number = str(word & (15 if word >> 25 == 0x42 else 31))
    return (name, rest) == (name2, rest2) and number in (kind, kind2)


def is_right(word, text, others):
    """SYS, HINT and the generic names of system registers are right where only newer judges have a
    name of its own."""
    if text in others or re.match("sysl? ", text) or f"hint {word >> 5 & 127}" in (text, *others):
        return True
    if text.startswith("prf"):
        return any(other.startswith("prf") and same_prefetch(word, text, other)
                   for other in others)
    return text.split(" ")[0] in ("mrs", "msr") and generic_register(word) in text


class Disassembler(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="spe-test-")
        self.addCleanup(shutil.rmtree, self.dir)

    def judge(self, command, object_file, count):
        """What another disassembler says of each word."""
        texts = [""] * count
        for line in run(*command, object_file, text=True).splitlines():
            found = re.match(r"\s*([0-9a-f]+):\s+([0-9a-f]{8})\s+(.*)", line)
            if found:
                text = found[3]
                if command[0] == OBJDUMP:  # addresses without 0x
                    text = re.sub(r"\b([0-9a-f]+)(\s+<)", r"0x\1\2", text)
                texts[int(found[1], 16) // 4] = plain(text)
        return texts

    def judges(self, words):
        binary, object_file = self.dir + "/words.bin", self.dir + "/words.o"
        with open(binary, "wb") as f:
            f.write(words)
        run("aarch64-linux-gnu-objcopy", "-I", "binary", "-O", "elf64-littleaarch64",
            "--rename-section", ".data=.text,code,contents,alloc,load,readonly", binary,
            object_file)
        commands = [[OBJDUMP, "-dz"]]
        llvm = next((t for t in ("llvm-objdump-19", "llvm-objdump") if shutil.which(t)), None)
        if llvm:
            commands.append([llvm, "-dz", "--mattr=+all"])
        return [self.judge(c, object_file, len(words) // 4) for c in commands]

    def compare(self, words, least):
        """Each word, once, against all judges; at least so many of a hundred are disassembled."""
        words = b"".join(dict.fromkeys(words[i:i + 4] for i in range(0, len(words), 4)))
        ours = run(COMMAND, input=words).decode().splitlines()
        judges = self.judges(words)
        self.assertEqual(len(ours), len(words) // 4)
        wrong, operands, known = [], collections.Counter(), 0
        for i, line in enumerate(ours):
            facts, text = line.split("\t")
            if facts[0] == "0":
                self.assertEqual(text, ".inst 0x%08x" % struct.unpack_from("<I", words, 4 * i))
                continue
            known += 1
            text, others = plain(text), [judge[i] for judge in judges]
            if is_right(struct.unpack_from("<I", words, 4 * i)[0], text, others):
                continue
            if text.split(" ")[0] in [other.split(" ")[0] for other in others]:
                operands[text.split(" ")[0]] += 1
            else:
                wrong.append((words[4 * i:4 * i + 4][::-1].hex(), text, others))
        self.assertEqual(wrong[:10], [])
        self.assertGreaterEqual(100 * known, least * len(ours))
        return operands

    def test_libc(self):
        if not os.path.exists(LIBC):
            self.skipTest("there is no AArch64 C library")
        run("aarch64-linux-gnu-objcopy", "-O", "binary", "-j", ".text", LIBC,
            self.dir + "/libc.bin")
        with open(self.dir + "/libc.bin", "rb") as f:
            self.assertEqual(self.compare(f.read(), 99), {})

    def vectors(self, *options):
        source, object_file = self.dir + "/v.c", self.dir + "/v.o"
        with open(source, "w", encoding="ascii") as f:
            f.write(VECTORS)
        run(COMPILER, "-O3", "-ffast-math", *options, "-c", source, "-o", object_file)
        run("aarch64-linux-gnu-objcopy", "-O", "binary", "-j", ".text", object_file,
            self.dir + "/v.bin")
        with open(self.dir + "/v.bin", "rb") as f:
            return f.read()

    @unittest.skipUnless(shutil.which(COMPILER), "there is no compiler")
    def test_simd(self):
        self.assertEqual(self.compare(self.vectors("-march=armv8.2-a"), 99), {})

    @unittest.skipUnless(shutil.which(COMPILER), "there is no compiler")
    def test_sve(self):
        """Capstone 4 knows no SVE: these words have their kind."""
        words = self.vectors("-march=armv8.2-a+sve")
        self.assertEqual(self.compare(words, 40), {})
        kinds = run(COMMAND, input=words).decode()
        for kind in ("SVE", "SVE load", "SVE store"):
            self.assertRegex(kinds, rf"(?m)^[01] {kind}\t")

    def test_random(self):
        numbers = random.Random(1)
        words = b"".join(struct.pack("<I", numbers.getrandbits(32)) for _ in range(RANDOM))
        self.assertEqual(self.compare(words, 20), {})


if __name__ == "__main__":
    unittest.main()
