# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""`spe vm` without a machine: what it says when something is wrong or missing, and what it does with
what a guest leaves. A script stands for QEMU, and writes what a hostile guest would onto the disk.
tests/vm boots machines."""

import fcntl
import glob
import gzip
import io
import json
import os
import pty
import re
import signal
import stat
import struct
import subprocess
import tarfile
import termios
import time
import unittest

import recording_file
from spetest import SPE, CommandTest, skip, spe

if os.environ.get("SPE_VM") == "0":
    message = spe("vm", "run", "ls").stderr.decode()
    assert message.startswith("spe: vm: this build has no libfdt"), message
    skip("this build has no libfdt, and spe vm says so")

# Takes the disk and the console out of its words, as QEMU does with two commas for one.
QEMU = r"""#!/bin/sh
if [ "$1" = --version ]; then
    echo 'QEMU emulator version @VERSION@ (Debian)'
    exit
fi
for word; do
    case $word in
    dumpdtb=*)
        cp "$FAKE_TREE" "$(printf %s "${word#dumpdtb=}" | sed 's/,,/,/g')"
        exit ;;
    *,file=*) disk=$(printf %s "${word#*,file=}" | sed 's/,,/,/g') ;;
    file:*) console=${word#file:} ;;
    esac
done
[ -z "$FAKE_WORDS" ] || printf '%s\n' "$@" >"$FAKE_WORDS"
[ -z "$FAKE_DISK" ] || dd if="$FAKE_DISK" of="$disk" conv=notrunc 2>/dev/null
eval "$FAKE_DO"
"""

ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def gic_tree():
    """A flattened device tree with nothing but a GICv3."""
    names = b"compatible\0reg\0"

    def prop(name, value):
        return struct.pack(">III", 3, len(value), names.index(name)) + value + bytes(-len(value) % 4)

    tree = (struct.pack(">II", 1, 0) + struct.pack(">I", 1) + b"intc\0\0\0\0" +
            prop(b"compatible", b"arm,gic-v3\0") +
            prop(b"reg", struct.pack(">4Q", 0x8000000, 0x10000, 0x80a0000, 0xf60000)) +
            struct.pack(">III", 2, 2, 9))
    head = 40 + 16
    return struct.pack(">10I", 0xd00dfeed, head + len(tree) + len(names), head, head + len(tree),
                       40, 17, 16, 0, len(names), len(tree)) + bytes(16) + tree + names


KERNEL, USER = 1, 2  # cpumode of a recording's build-ids


def note(build_id):
    return struct.pack("<III", 4, len(build_id), 3) + b"GNU\0" + build_id


def elf(build_id):
    """A shared library for AArch64 with nothing but a build-id."""
    content = note(build_id)
    head = 64 + 56
    return (b"\x7fELF\x02\x01\x01" + bytes(9) +
            struct.pack("<HHIQQQIHHHHHH", 3, 183, 1, 0, 64, 0, 0, 64, 56, 1, 64, 0, 0) +
            struct.pack("<IIQQQQQQ", 4, 4, head, head, head, len(content), len(content), 4) + content)


def recording(*ids):
    """A perf.data that has one event, next to no data, and build-ids: (cpumode, id, path)."""
    attr = struct.pack("<IIQ", 1, 128, 9) + bytes(112) + struct.pack("<QQ", 0, 0)
    data = struct.pack("<IHH", 68, 0, 8)  # FINISHED_ROUND
    table = b""
    for mode, build_id, path in ids:
        name = path.encode() + b"\0"
        name += bytes(-len(name) % 8)
        table += (struct.pack("<IHHi", 0, mode | 1 << 15, 8 + 4 + 24 + len(name), -1) + build_id +
                  struct.pack("<BBH", len(build_id), 0, 0) + name)
    at = 104 + len(attr)
    head = b"PERFILE2" + struct.pack("<12Q", 104, len(attr), 104, len(attr), at, len(data), 0, 0,
                                     1 << 2, 0, 0, 0)
    return head + attr + data + struct.pack("<QQ", at + len(data) + 16, len(table)) + table


class Entry(tarfile.TarInfo):
    """One of an archive; `content` for a file, `link` for a link."""

    def __init__(self, name, content=b"", kind=tarfile.REGTYPE, mode=0o644, link=""):
        super().__init__(name)
        self.type, self.mode, self.linkname = kind, mode, link
        self.content, self.size = content, len(content)


class Vm(CommandTest):
    def setUp(self):
        super().setUp()
        self.tmp = os.path.join(self.dir, "tmp")
        self.out = os.path.join(self.dir, "out")
        self.home = os.path.join(self.dir, "home")
        for folder in (self.tmp, self.out, self.home):
            os.mkdir(folder)

    def env(self, **more):
        return dict({"XDG_CACHE_HOME": self.dir, "PATH": self.dir + ":/usr/bin:/bin",
                     "TMPDIR": self.tmp, "HOME": self.home}, **more)

    def fake_qemu(self, version="11.1.2"):
        path = os.path.join(self.dir, "qemu-system-aarch64")
        with open(path, "w", encoding="utf-8") as f:
            f.write(QEMU.replace("@VERSION@", version))
        os.chmod(path, stat.S_IRWXU)
        return path

    # ---- A guest that is none --------------------------------------------------------------------

    def archive(self, *entries, status=0, name="disk"):
        path = os.path.join(self.dir, name)
        with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as tar:
            first = [] if status is None else [Entry("status", b"%d\n" % status)]
            for entry in first + [Entry("work", kind=tarfile.DIRTYPE, mode=0o755), *entries]:
                tar.addfile(entry, io.BytesIO(entry.content))
        return path

    def guest(self):
        """QEMU and a guest, as `spe vm --fetch` would leave them. The words that boot them."""
        root = os.path.join(self.dir, "specimen", "vm", "guest-6.12", "root", "bin")
        os.makedirs(root, exist_ok=True)
        self.file(b"kernel", os.path.join(root, "..", "..", "vmlinuz"))
        return ("vm", "run", "--without-spe", "--qemu", self.fake_qemu())

    def run_guest(self, disk, *options, do=""):
        """One run; the files of its folder are in self.out."""
        result = spe(*self.guest(), *options, "--", "true", cwd=self.out,
                     env=self.env(FAKE_DISK=disk or "", FAKE_DO=do))
        self.assertEqual(os.listdir(self.tmp), [], "what is temporary was left")
        self.words = result.stderr.decode()
        return result.returncode

    def names(self, folder=None):
        return sorted(os.listdir(folder or self.out))

    def content(self, name):
        with open(os.path.join(self.out, name), "rb") as f:
            return f.read()

    def unpacked(self):
        """The folder that keeps what did not come."""
        folders = glob.glob(os.path.join(self.out, "spe-vm-*"))
        self.assertEqual(len(folders), 1, self.names())
        return folders[0]

    # ---- Command line ----------------------------------------------------------------------------

    def test_usage(self):
        self.assertIn("what shall the guest run", self.bad(2, "vm", "run"))
        self.assertIn("QEMU's options come after --", self.bad(2, "vm", "-o", "x", "ls"))
        self.assertIn("--fetch takes no command", self.bad(2, "vm", "--fetch", "ls"))
        self.assertIn("only the fetched guest", self.bad(2, "vm", "run", "--kernel", "x", "ls"))
        self.bad(2, "vm", "--smp", "0")
        self.bad(2, "vm", "--gic", "4")
        self.bad(2, "vm", "--memory", "1K")
        self.bad(2, "vm", "--max-size", "2000G")
        self.bad(2, "vm", "--max-files", "0")
        message = self.bad(2, "vm", "--cpu", "cortex")
        self.assertIn("'cortex' is not known; there are architecture, neoverse-n1,", message)
        self.assertIn("there are none, functional", self.bad(2, "vm", "--model", "exact"))

    def test_missing_value(self):
        for option in ("--smp", "--spe", "-o"):
            self.assertEqual(self.bad(2, "vm", option), "spe: %s: the option needs a value" % option)
        self.assertIn("there is no such option", self.bad(2, "vm", "--nonsense"))

    def test_old_qemu(self):
        for version in ("7.2.22", "10.2.1"):
            message = self.bad(1, "vm", "run", "--qemu", self.fake_qemu(version), "ls",
                               env=self.env())
            self.assertIn("this is QEMU " + ".".join(version.split(".")[:2]), message)
            self.assertIn("11.0 or newer", message)
            self.assertIn("trixie-backports", message)

    def test_no_qemu(self):
        message = self.bad(1, "vm", "run", "ls", env=self.env(PATH=self.dir))
        self.assertIn("11.0 or newer", message)
        self.assertIn("spe vm --fetch", message)
        self.assertIn(self.dir, message)

    def test_no_guest(self):
        """A fit QEMU in PATH, but nothing to boot; or no plugin, in builds that have none."""
        self.fake_qemu()
        message = self.bad(1, "vm", "run", "ls", env=self.env())
        self.assertRegex(message, "there is no guest yet|specimen-qemu.so")

    def long_list(self, plugin, *options):
        """QEMU's word for the plugin, when --spe is longer than any buffer."""
        words = os.path.join(self.dir, "words")
        spe_list = ",".join(["sve"] * 4000)
        _, _, _, *rest = self.guest()
        result = spe("vm", "run", *rest, *options, "--spe", spe_list, "--", "true", cwd=self.out,
                     env=self.env(FAKE_DISK=self.archive(), FAKE_WORDS=words, SPECIMEN_PLUGIN=plugin,
                                  FAKE_TREE=self.file(gic_tree(), "tree")))
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        with open(words, encoding="utf-8") as f:
            lines = f.read().splitlines()
        word = lines[lines.index("-plugin") + 1]
        self.assertTrue(",spe=" + spe_list.replace(",", ",,") in word, "the list was cut")
        return word

    def test_long_values(self):
        plugin = self.file(b"", "plugin.so")
        word = self.long_list(plugin, "--cpu", "neoverse-n1", "--model", "functional", "--unit",
                              "a=1,b=" + "2" * 9000)
        self.assertTrue(word.startswith(plugin + ",role=device,ppi=5,gicr=0x80a0000/0xf60000,"
                                                 "preset=neoverse-n1,"))
        self.assertTrue(word.endswith(",model=functional,a=1,b=" + "2" * 9000))

    def processor(self, *options):
        """QEMU's word for the processor."""
        self.long_list(self.file(b"", "plugin.so"), *options)
        with open(os.path.join(self.dir, "words"), encoding="utf-8") as f:
            lines = f.read().splitlines()
        return lines[lines.index("-cpu") + 1]

    def test_processor(self):
        """Software sees the processor whose data sources are told, and only then."""
        usual = "max,pauth-impdef=on"
        self.assertEqual(self.processor(), usual)
        self.assertEqual(self.processor("--cpu", "neoverse-n1"), usual)
        self.assertEqual(self.processor("--model", "functional"), usual)
        self.assertEqual(self.processor("--cpu", "neoverse-n1", "--model", "functional"),
                         usual + ",midr=0x410fd0c0")
        self.assertEqual(self.processor("--cpu", "neoverse-v2", "--model", "functional",
                                        "--qemu-cpu", "max"), "max")

    def test_commas_in_paths(self):
        """Of the plugin, and of the folder for what is temporary."""
        folder = os.path.join(self.dir, "a,b,,c")
        os.mkdir(folder)
        self.tmp = os.path.join(folder, "tmp")
        os.mkdir(self.tmp)
        plugin = self.file(b"", os.path.join(folder, "plugin.so"))
        word = self.long_list(plugin)
        self.assertTrue(word.startswith(plugin.replace(",", ",,") + ",role=device,"), word[:200])

    # ---- What goes in ----------------------------------------------------------------------------

    def test_put_no_file(self):
        """A FIFO is not opened: that would wait for ever."""
        fifo = os.path.join(self.dir, "fifo")
        os.mkfifo(fifo)
        for path in (fifo, self.dir, "/dev/null"):
            self.assertEqual(self.run_guest(self.archive(), "--put", path), 1)
            self.assertEqual(self.words, "spe: %s: this is not a regular file below 2 GB\n" % path)
        self.assertEqual(self.run_guest(self.archive(), "--put", "absent"), 1)
        self.assertEqual(self.words, "spe: absent: No such file or directory\n")

    def test_put_twins(self):
        one, two = (os.path.join(self.dir, name, "prog") for name in ("a", "b"))
        for path in (one, two):
            os.mkdir(os.path.dirname(path))
            self.file(b"x", path)
        self.assertEqual(self.run_guest(self.archive(), "--put", one, "--put", two), 1)
        self.assertEqual(self.words, "spe: %s: --put %s has the same name, and both go into one "
                         "folder\n" % (two, one))

    def test_put(self):
        """Names that shells take apart reach the guest's first file system as they are."""
        name = "two\nlines "
        initrd = os.path.join(self.dir, "initrd")
        path = self.file(b"content", name)
        self.assertEqual(self.run_guest(self.archive(), "--put", path,
                                        do="cp \"${disk%%disk}initrd\" %s" % initrd), 0)
        with open(initrd, "rb") as f:
            self.assertIn(b"run/spe/put/" + name.encode() + b"\0", f.read())

    # ---- A shell ---------------------------------------------------------------------------------

    def shell(self, disk, *options):
        """A shell on a terminal of 33 rows and 101 columns: what QEMU was told, and what came in."""
        words, initrd = (os.path.join(self.dir, name) for name in ("words", "initrd"))
        main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 101, 0, 0))
        guest = [word for word in self.guest() if word != "run"]
        result = subprocess.run(
            [SPE, *guest, *options], cwd=self.out, stdin=side, capture_output=True, check=False,
            timeout=50, env=self.env(FAKE_DISK=disk or "", FAKE_WORDS=words,
                                     FAKE_DO="cp \"${disk%%disk}initrd\" %s" % initrd))
        os.close(side)
        os.close(main)
        self.assertEqual(os.listdir(self.tmp), [], "what is temporary was left")
        self.words, self.status = result.stderr.decode(), result.returncode
        with open(words, encoding="utf-8") as f, open(initrd, "rb") as g:
            return f.read().splitlines(), g.read()

    def test_shell(self):
        """It is quiet, has the terminal's size and the files that were put there; its own come out."""
        words, initrd = self.shell(self.archive(Entry("work/notes", b"text"), status=3), "--put",
                                   self.file(b"content", "given"))
        self.assertIn("mon:stdio", words)
        self.assertRegex(words[words.index("-append") + 1], r"\bquiet\b")
        self.assertIn(b"run/spe/put/given\0", initrd)
        self.assertIn(b"33 101\n", initrd)
        self.assertNotIn(b"run/spe/command\0", initrd)
        self.assertEqual(self.status, 3)
        self.assertEqual(self.content("notes"), b"text")
        self.assertIn("notes: from the guest: 1 file, 4 bytes", self.words)

    def test_shell_cut_off(self):
        """Control-a x leaves nothing on the disk, which is not an error."""
        words, _ = self.shell(None, "-v")
        self.assertNotIn("quiet", words[words.index("-append") + 1])
        self.assertIn("guest: it ended before its shell did: nothing comes out of /work", self.words)
        self.assertEqual((self.status, self.names()), (0, []))

    # ---- Names for recordings --------------------------------------------------------------------

    KERNEL_ID, VDSO_ID = bytes(range(20)), bytes(range(20, 40))
    KALLSYMS = b"ffff800080000000 T _text\nffff800080001000 T do_something\n"

    def given(self, put_id=b"p" * 20, root_id=b"r" * 20):
        """A guest with a kernel and a library that have build-ids, and a program to put."""
        self.guest()
        folder = os.path.join(self.dir, "specimen", "vm", "guest-6.12")
        self.file(b"MZ" + b"".join(b"\0" * 6 + note(i) for i in (self.VDSO_ID, self.KERNEL_ID)),
                  os.path.join(folder, "vmlinuz"))
        self.file(elf(root_id), os.path.join(folder, "root", "bin", "lib.so"))
        return self.file(elf(put_id), "program")

    def record(self, *ids):
        """A recording of these (cpumode, build-id, path)."""
        return Entry("work/perf.data", recording(*ids))

    def run_named(self, *entries, options=(), given=None, kallsyms=KALLSYMS):
        program = given or self.given()
        vmlinuz = os.path.join(self.dir, "specimen", "vm", "guest-6.12", "vmlinuz")
        with open(vmlinuz, "rb") as f:
            image = f.read()
        disk = self.archive(*([Entry("kallsyms", kallsyms)] if kallsyms is not None else []), *entries)
        words = list(self.guest())
        self.file(image, vmlinuz)  # guest() has made its own
        result = spe(*words, "--put", program, *options, "--", "true", cwd=self.out,
                     env=self.env(FAKE_DISK=disk))
        self.assertEqual(os.listdir(self.tmp), [], "what is temporary was left")
        self.words = result.stderr.decode()
        return result.returncode

    def cached(self, build_id, name):
        path = os.path.join(self.home, ".debug", ".build-id", build_id.hex()[:2], build_id.hex()[2:],
                            name)
        if not os.path.exists(path):
            return None
        with open(path, "rb") as f:
            return f.read()

    def all_names(self):
        return self.record((KERNEL, self.KERNEL_ID, "[kernel.kallsyms]"), (USER, b"p" * 20, "/work/x"),
                           (USER, b"r" * 20, "/../../../etc/passwd"), (USER, self.VDSO_ID, "[vdso]"),
                           (USER, b"?" * 20, "/bin/unknown"))

    @unittest.skipIf(os.environ.get("SPE_SYMBOLS") == "0", "build-ids take elfutils")
    def test_names(self):
        """By build-id alone: the guest's paths lead nowhere."""
        self.assertEqual(self.run_named(self.all_names()), 0, getattr(self, "words", ""))
        self.assertTrue(self.words.endswith(
            "spe: %s/.debug: symbols for what the guest recorded: its Linux and 2 files "
            "(--no-symbols)\n" % self.home), self.words)
        self.assertEqual(self.cached(self.KERNEL_ID, "kallsyms"), self.KALLSYMS)
        self.assertEqual(self.cached(b"p" * 20, "elf"), elf(b"p" * 20))
        self.assertEqual(self.cached(b"r" * 20, "elf"), elf(b"r" * 20))
        self.assertIsNone(self.cached(self.VDSO_ID, "kallsyms"))
        self.assertIsNone(self.cached(b"?" * 20, "elf"))
        # As perf has it: a link to a folder that is called after the file and the build-id.
        link = os.readlink(os.path.join(self.home, ".debug", ".build-id", "70", "70" * 19))
        self.assertEqual(link, "../.." + os.path.join(self.dir, "program", "70" * 20))
        self.assertEqual(self.names(), ["perf.data"])

    def test_kernel_names_only_for_its_kernel(self):
        """A guest does not say what functions another kernel has, such as that of this machine."""
        other = b"o" * 20
        self.assertEqual(self.run_named(self.record((KERNEL, other, "[kernel.kallsyms]"))), 0)
        self.assertFalse(os.path.exists(os.path.join(self.home, ".debug")), self.words)

    @unittest.skipIf(os.environ.get("SPE_SYMBOLS") == "0", "build-ids take elfutils")
    def test_names_replace_nothing(self):
        program = self.given()
        self.run_named(self.all_names(), given=program)
        mine = os.path.join(self.home, ".debug", ".build-id", "70", "70" * 19, "elf")
        self.file(b"mine", mine)
        self.assertEqual(self.run_named(self.all_names(), given=program, kallsyms=b"other"), 0)
        self.assertEqual(self.cached(b"p" * 20, "elf"), b"mine")
        self.assertEqual(self.cached(self.KERNEL_ID, "kallsyms"), self.KALLSYMS)

    def test_no_names(self):
        self.assertEqual(self.run_named(self.all_names(), options=("--no-symbols",)), 0)
        self.assertEqual(self.words.count("\n"), 1)
        self.assertFalse(os.path.exists(os.path.join(self.home, ".debug")))

    def test_names_cannot_be_kept(self):
        """That is said, and the recording has come."""
        self.file(b"", os.path.join(self.home, ".debug"))
        self.assertEqual(self.run_named(self.all_names()), 0)
        self.assertIn("spe: kallsyms: symbols for what the guest recorded are missing: Not a dir",
                      self.words)
        self.assertEqual(self.names(), ["perf.data"])

    def test_bad_kallsyms(self):
        """It is the guest's: its size is bounded, and it is a file."""
        huge = Entry("kallsyms", b"")
        for entry, why in ((Entry("kallsyms", kind=tarfile.SYMTYPE, link="/etc/passwd"), "not the one file"),
                           (Entry("kallsyms", bytes((64 << 20) + 1)), "too large for a kernel")):
            self.assertEqual(self.run_named(entry, self.all_names(), kallsyms=None), 1)
            self.assertIn("spe: kallsyms: refused: it is " + why, self.words)
            self.assertIsNone(self.cached(self.KERNEL_ID, "kallsyms"))
        twice = (huge, huge, self.all_names())
        self.assertEqual(self.run_named(*twice, kallsyms=None), 1)

    def test_report_says_that_it_is_software(self):
        """By the name of the guest, which its perf keeps."""
        path = os.path.join(self.dir, "perf.data")
        for name, said in (("software-spe-in-qemu.no-model", "software SPE in QEMU, no model: no latencies"),
                           ("software-spe-in-qemu.functional-model-of-neoverse-n1",
                            "software SPE in QEMU, functional model: no"), ("testhost", None)):
            recording = recording_file.Recording()
            recording.features[3] = recording_file.feature_string(name)
            recording.aux(0, recording_file.sample(0x1000, 1))
            recording.write(path)
            page = self.good("report", "--width", "200", path).decode()
            self.assertIn(said or name, page)
            self.assertEqual("software SPE" in page, bool(said))
            report = json.loads(self.good("report", "--json", path))
            self.assertEqual(report["recording"]["simulated"], bool(said))

    def test_initrd_of_names(self):
        """The guest is told its name, and whether symbols are wanted."""
        initrd = os.path.join(self.dir, "initrd")
        for options, wanted in (((), True), (("--no-symbols",), False)):
            self.assertEqual(self.run_guest(self.archive(), *options,
                                            do="cp \"${disk%%disk}initrd\" %s" % initrd), 0)
            with open(initrd, "rb") as f:
                self.assertEqual(b"run/spe/symbols\0" in f.read(), wanted)

    # ---- What comes out --------------------------------------------------------------------------

    def test_files(self):
        disk = self.archive(Entry("work/perf.data", b"PERFILE2"),
                            Entry("work/sub", kind=tarfile.DIRTYPE, mode=0o755),
                            Entry("work/sub/a", b"12"), Entry("work/sub/b", b"345"))
        self.assertEqual(self.run_guest(disk), 0)
        self.assertEqual(self.words, "spe: perf.data: from the guest: 1 file, 8 bytes\n"
                         "spe: sub: from the guest: 2 files, 5 bytes\n")
        self.assertEqual(self.names(), ["perf.data", "sub"])
        self.assertEqual(self.content("sub/b"), b"345")

    def test_status(self):
        for status in (0, 1, 42, 255):
            self.assertEqual(self.run_guest(self.archive(status=status)), status)
            self.assertEqual(self.words, "")

    def test_new_output(self):
        self.assertEqual(self.run_guest(self.archive(Entry("work/.x", b"x")), "-o", "new"), 0)
        self.assertEqual(self.names(os.path.join(self.out, "new")), [".x"])
        self.assertEqual(self.run_guest(None, "-o", "newer"), 1)
        self.assertEqual(self.names(), ["new"])  # nothing came: no folder

    def test_no_output(self):
        """That is said before the guest runs."""
        ran = os.path.join(self.dir, "ran")
        self.assertEqual(self.run_guest(self.archive(), "-o", self.file(b"", "file"),
                                        do="touch " + ran), 1)
        self.assertIn("Not a directory", self.words)
        self.assertFalse(os.path.exists(ran))

    def test_second_recording(self):
        """As perf does; README's example can be run twice."""
        for content in (b"first", b"second", b"third"):
            self.assertEqual(self.run_guest(self.archive(Entry("work/perf.data", content))), 0)
        self.assertEqual(self.content("perf.data"), b"third")
        self.assertEqual(self.content("perf.data.old"), b"second")
        self.assertEqual(self.names(), ["perf.data", "perf.data.old"])
        self.assertIn("the one that was there is perf.data.old now", self.words)

    def test_nothing_is_replaced(self):
        self.file(b"mine", os.path.join(self.out, ".bashrc"))
        self.file(b"mine", os.path.join(self.out, "notes"))
        disk = self.archive(Entry("work/.bashrc", b"evil"), Entry("work/notes", b"evil"),
                            Entry("work/new", b"new"), Entry("work/.profile", b"evil"))
        self.assertEqual(self.run_guest(disk), 1)
        kept = self.unpacked()
        self.assertEqual(self.names(), [".bashrc", "new", "notes", os.path.basename(kept)])
        self.assertEqual(self.content(".bashrc") + self.content("notes"), b"minemine")
        self.assertEqual(self.names(kept), [".bashrc", ".profile", "notes"])
        self.assertRegex(self.words, r"spe: notes: the guest's is in \./spe-vm-\w+: it exists "
                         r"already \(--force replaces it\)\n")
        self.assertRegex(self.words, r"spe: \.profile: the guest's is in \./spe-vm-\w+: hidden")

    def test_command_status_wins(self):
        """Files that did not come do not hide what the command said."""
        self.file(b"mine", os.path.join(self.out, "notes"))
        self.assertEqual(self.run_guest(self.archive(Entry("work/notes", b"x"), status=9)), 9)

    def test_force(self):
        self.file(b"mine", os.path.join(self.out, "notes"))
        disk = self.archive(Entry("work/notes", b"new"), Entry("work/.hidden", b"h"))
        self.assertEqual(self.run_guest(disk, "--force"), 0)
        self.assertEqual(self.names(), [".hidden", "notes"])
        self.assertEqual(self.content("notes"), b"new")

    def test_links_and_devices(self):
        disk = self.archive(Entry("work/link", kind=tarfile.SYMTYPE, link="/etc/passwd"),
                            Entry("work/hard", kind=tarfile.LNKTYPE, link="work/link"),
                            Entry("work/null", kind=tarfile.CHRTYPE, mode=0o666),
                            Entry("work/sda", kind=tarfile.BLKTYPE, mode=0o666),
                            Entry("work/fifo", kind=tarfile.FIFOTYPE),
                            Entry("work/suid", b"x", mode=0o6755),
                            Entry("work/../up", b"x"), Entry("/abs", b"x"))
        self.assertEqual(self.run_guest(disk), 1)
        self.assertEqual(self.names(), ["suid"])
        self.assertEqual(stat.S_IMODE(os.stat(os.path.join(self.out, "suid")).st_mode) & 0o7000, 0)
        for line in ("work/link: refused: it is a symbolic link", "work/hard: refused: it is a hard",
                     "work/null: refused: it is a device", "work/sda: refused: it is a device",
                     "work/fifo: refused: it is a FIFO", "work/../up: refused: its name leads out",
                     "/abs: refused: its name is absolute"):
            self.assertIn("spe: " + line, self.words)

    def test_two_runs(self):
        """A link of the first run would lead the second one out."""
        elsewhere = os.path.join(self.dir, "elsewhere")
        os.mkdir(elsewhere)
        link = Entry("work/l", kind=tarfile.SYMTYPE, link=elsewhere)
        self.run_guest(self.archive(link))
        self.run_guest(self.archive(Entry("work/l/authorized_keys", b"evil")))
        self.assertEqual(self.names(elsewhere), [])

    def test_link_of_the_user(self):
        elsewhere = os.path.join(self.dir, "elsewhere")
        os.mkdir(elsewhere)
        os.symlink(elsewhere, os.path.join(self.out, "l"))
        os.symlink(os.path.join(elsewhere, "made"), os.path.join(self.out, "dangling"))
        disk = self.archive(Entry("work/l/authorized_keys", b"evil"), Entry("work/dangling", b"evil"))
        for options in ((), ("--force",)):
            self.assertEqual(self.run_guest(disk, *options), 1)
            self.assertEqual(self.names(elsewhere), [])

    def test_names_on_the_terminal(self):
        self.run_guest(self.archive(Entry("work/\x1b[31mred\n", b"x")))
        self.assertNotIn("\x1b", self.words)
        self.assertEqual(len(self.words.splitlines()), 1)

    def test_compressed(self):
        """300 MB of zeros would become a file of that size."""
        with open(self.archive(Entry("work/x", b"x")), "rb") as f:
            disk = self.file(gzip.compress(f.read()), "packed")
        self.assertEqual(self.run_guest(disk), 1)
        self.assertIn("it is compressed with gzip", self.words)
        self.assertEqual(self.names(), [])

    def test_odd_status(self):
        for kind in (tarfile.FIFOTYPE, tarfile.SYMTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE):
            disk = self.archive(Entry("status", kind=kind, link="/dev/zero"), status=None)
            self.assertEqual(self.run_guest(disk), 1)
            self.assertRegex(self.words, "spe: status/?: refused: it is")
            self.assertIn("spe: guest: the status of the command is missing", self.words)

    def test_limits(self):
        disk = self.archive(Entry("work/a", b"x" * 1000), Entry("work/b", b"x" * 1000))
        self.assertEqual(self.run_guest(disk, "--max-size", "1999"), 1)
        self.assertIn("spe: work/b: this and what follows was not unpacked", self.words)
        self.assertIn("--max-size", self.words)
        self.assertEqual(self.names(), ["a"])
        self.assertEqual(self.run_guest(disk, "--max-files", "3", "--force"), 1)
        self.assertIn("--max-files", self.words)
        self.assertEqual(self.names(), ["a"])
        self.assertEqual(self.run_guest(disk, "--max-size", "2000", "--max-files", "4", "--force"), 0)
        self.assertEqual(self.names(), ["a", "b"])

    def test_cut_archive(self):
        with open(self.archive(Entry("work/a", b"x"), Entry("work/b", b"y" * 4096)), "rb") as f:
            disk = self.file(f.read()[:4096], "cut")
        self.assertEqual(self.run_guest(disk, do="truncate -s 4096 \"$disk\"; echo full >\"$console\""),
                         1)
        self.assertIn("the archive ends before this entry does", self.words)
        self.assertIn("spe: console: full", self.words)
        self.assertEqual(self.names(), ["a"])

    def test_nothing_left(self):
        console = "seq 100 >\"$console\"; printf '\\033[2Jbad\\n' >>\"$console\""
        self.assertEqual(self.run_guest(None, do=console), 1)
        lines = self.words.splitlines()
        self.assertEqual(lines[:14], ["spe: console: %d" % i for i in range(87, 101)])
        self.assertEqual(lines[14], r"spe: console: \x1b[2Jbad")
        self.assertEqual(lines[15:], ["spe: guest: it ended before the command did; the end of its "
                                      "console is above"])

    def test_log(self):
        log = os.path.join(self.dir, "log")
        self.assertEqual(self.run_guest(None, "--log", log, do="echo hello >\"$console\""), 1)
        self.assertIn("spe: console: hello\n", self.words)
        self.assertIn("all of it is in " + log, self.words)

    # ---- QEMU's end, and ours --------------------------------------------------------------------

    def test_crash(self):
        for do, why in (("kill -SEGV $$", "QEMU crashed (SIGSEGV)"),
                        ("exit 139", "QEMU crashed (SIGSEGV)"),
                        ("kill -ABRT $$", "QEMU crashed (SIGABRT)"),
                        ("kill -KILL $$", "QEMU was ended by signal 9"),
                        ("exit 3", "QEMU ended with status 3")):
            status = self.run_guest(None, do="echo last words >\"$console\"; ulimit -c 0; " + do)
            self.assertEqual(status, 1)
            self.assertIn("spe: console: last words\n", self.words)
            self.assertTrue(self.words.endswith("%s\n" % why), self.words)

    def test_timeout(self):
        self.assertEqual(self.run_guest(None, "--timeout", "1", do="exec sleep 1000"), 1)
        self.assertIn("it was ended after 1 seconds", self.words)

    def start(self, do, first="", ignore=()):
        """A run whose QEMU has done what is first and said its number; both processes."""
        number = os.path.join(self.dir, "number")
        script = "%s; echo $$ >%s.new; mv %s.new %s; %s" % (first or ":", number, number, number, do)

        def dispositions():  # whatever the test was started with
            for each in ENDING:
                signal.signal(each, signal.SIG_IGN if each in ignore else signal.SIG_DFL)

        run = subprocess.Popen([SPE, *self.guest(), "--", "true"], cwd=self.out,
                               stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               preexec_fn=dispositions,
                               env=dict(os.environ, **self.env(FAKE_DISK=self.archive(),
                                                               FAKE_DO=script)))
        self.addCleanup(run.stderr.close)
        return run, self.wait_for(number, run)

    def wait_for(self, path, run):
        """A process's number that a script writes, while `run` lives."""
        while not os.path.exists(path):
            self.assertIsNone(run.poll())
            time.sleep(0.01)
        with open(path, encoding="utf-8") as f:
            number = int(f.read())
        os.unlink(path)
        return number

    @staticmethod
    def lives(pid):
        try:
            with open("/proc/%d/stat" % pid, encoding="utf-8") as f:
                return re.sub(r".*\) ", "", f.read())[0] not in "ZX"
        except (FileNotFoundError, ProcessLookupError):
            return False

    def assert_ends(self, pid):
        for _ in range(3000):
            if not self.lives(pid):
                return
            time.sleep(0.01)
        os.kill(pid, signal.SIGKILL)
        self.fail("the process lives on")

    def test_signals(self):
        for number in ENDING:
            run, qemu = self.start("echo console >\"$console\"; exec sleep 1000")
            self.assertTrue(self.lives(qemu))
            run.send_signal(number)
            self.assertEqual(run.wait(), -number)
            self.assertEqual(run.stderr.read(), b"")
            self.assert_ends(qemu)
            self.assertEqual(os.listdir(self.tmp), [])

    def test_stubborn_qemu(self):
        run, qemu = self.start("while :; do sleep 0.05; done", first="trap '' TERM")
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(), -signal.SIGTERM)
        self.assert_ends(qemu)
        self.assertEqual(os.listdir(self.tmp), [])

    def test_kill(self):
        """Nothing can be removed then, but QEMU ends."""
        run, qemu = self.start("exec sleep 1000")
        run.kill()
        run.wait()
        self.assert_ends(qemu)

    def test_nohup(self):
        """A signal that we were started to ignore is ignored."""
        run, _ = self.start("sleep 0.3", ignore=(signal.SIGHUP,))
        run.send_signal(signal.SIGHUP)
        self.assertEqual(run.wait(), 0, run.stderr.read())

    def test_fetch(self):
        """The package manager does not go on without us."""
        number = os.path.join(self.dir, "number")
        for tool, script in (("apt-get", "case $* in *--download-only*) echo $$ >%s.new; "
                              "mv %s.new %s; exec sleep 1000;; esac" % (number, number, number)),
                             ("apt-cache", ""), ("dpkg-deb", ""), ("flock", ""),
                             ("dpkg", "echo amd64")):
            os.chmod(self.file(b"#!/bin/sh\n" + script.encode() + b"\n", tool), stat.S_IRWXU)
        run = subprocess.Popen([SPE, "vm", "--fetch"], stdin=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL,
                               env=dict(os.environ, **self.env(
                                   SPECIMEN_DEBIAN_KEYRING=self.file(b"", "keys"))))
        apt = self.wait_for(number, run)
        run.terminate()
        self.assertEqual(run.wait(), -signal.SIGTERM)
        self.assert_ends(apt)

    def test_guest_can_be_interrupted(self):
        """We hold signals back, QEMU does not inherit that."""
        run, qemu = self.start("while :; do sleep 0.05; done", first="trap 'exit 5' INT")
        os.kill(qemu, signal.SIGINT)
        self.assertEqual(run.wait(), 1)
        self.assertIn(b"QEMU ended with status 5", run.stderr.read())


if __name__ == "__main__":
    unittest.main()
