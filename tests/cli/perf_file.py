# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""The perf of this machine, and the smallest perf.data with SPE bytes that every perf reads.

As a program: perf_file.py SPE-BYTES PERF.DATA, or perf_file.py --which.
"""

import glob
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys


def find_perf():
    """The command line of a perf that runs: $SPE_PERF, perf, or the newest of the kernel tools."""
    if os.environ.get("SPE_PERF"):
        return shlex.split(os.environ["SPE_PERF"])
    newest = sorted(glob.glob("/usr/lib/linux-tools*/perf")
                    + glob.glob("/usr/lib/linux-tools/*/perf"))[-1:]
    for command in ["perf", *newest]:
        path = shutil.which(command)
        if path and subprocess.run([path, "--version"], capture_output=True,
                                   check=False).returncode == 0:
            return [path]
    return None


def version(perf):
    text = subprocess.run([*perf, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2]))


PMU_TYPE = 8
ATTR_SIZE = 128  # the largest that perf 6.1 accepts


def perf_record(kind, body):
    return struct.pack("<IHH", kind, 0, 8 + len(body)) + body


def perf_data(buffers):
    """One SPE event without time, version 1 metadata, an AUXTRACE record for every buffer."""
    event_id = 100
    sample_type = 1 << 0 | 1 << 1 | 1 << 7 | 1 << 16  # IP, TID, CPU, IDENTIFIER
    attr = struct.pack("<IIQQQQQ", PMU_TYPE, ATTR_SIZE, 1, 4096, sample_type, 4, 1 << 18)
    ids_at = 104
    attrs_at = ids_at + 8
    attrs = attr.ljust(ATTR_SIZE, b"\0") + struct.pack("<QQ", ids_at, 8)
    data = perf_record(79, struct.pack("<6Q", 21, 1 << 21, 0, 0, 0, 0))  # TIME_CONV
    data += perf_record(70, struct.pack("<IIQQ", 4, 0, PMU_TYPE, 1))  # AUXTRACE_INFO
    offset = 0
    for buffer in buffers:
        assert len(buffer) % 8 == 0
        data += perf_record(71, struct.pack("<QQQIIII", len(buffer), offset, 0, 0, 0xffffffff, 0, 0))
        data += buffer
        offset += len(buffer)
    header = struct.pack("<8s8Q", b"PERFILE2", 104, ATTR_SIZE + 16, attrs_at, len(attrs),
                         attrs_at + len(attrs), len(data), 0, 0)
    return header + bytes(32) + struct.pack("<Q", event_id) + attrs + data


def pieces(data, size=2 << 20):
    """Buffers as perf record writes them; the last is filled up with padding."""
    data += bytes(-len(data) % 8)
    return [data[at:at + size] for at in range(0, len(data), size)]


def main(args):
    if args == ["--which"]:
        perf = find_perf()
        print(shlex.join(perf or []))
        return 0 if perf else 1
    with open(args[0], "rb") as f:
        data = f.read()
    with open(args[1], "wb") as f:
        f.write(perf_data(pieces(data)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
