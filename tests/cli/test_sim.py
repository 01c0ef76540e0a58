# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""spe sim: the examples of docs/sim.md, errors with their place, JSON, lists, decision tables."""

import csv
import io
import json
import os
import re
import unittest

from spetest import CommandTest, spe

ROOT = os.environ.get("SPE_SOURCE_DIR", os.path.join(os.path.dirname(__file__), "..", ".."))
EXAMPLE = re.compile(r"```sim\n(.*?)```\n```text\n(.*?)```\n", re.S)


def document():
    with open(os.path.join(ROOT, "docs", "sim.md"), encoding="utf-8") as f:
        return f.read()


def examples():
    return EXAMPLE.findall(document())


def sim(script, *args):
    return spe("sim", *args, "-", stdin=script.encode())


def rows(script):
    """The rows of an enumeration, as dictionaries."""
    result = sim(script)
    assert result.returncode == 0, result.stderr
    return list(csv.DictReader(io.StringIO(result.stdout.decode())))


class Document(unittest.TestCase):
    """docs/sim.md says what happens."""

    def test_examples(self):
        found = examples()
        self.assertGreaterEqual(len(found), 9)
        self.assertEqual(document().count("```sim\n"), len(found), "an example lacks its output")
        for script, output in found:
            result = sim(script)
            self.assertEqual(result.stdout.decode(), output, script)
            failed = "expect failed" in output
            self.assertEqual(result.returncode, 1 if failed else 0, result.stderr)

    def test_examples_as_json(self):
        """Each line is an object; effects agree with the text."""
        for script, output in examples():
            lines = [json.loads(x) for x in sim(script, "--json").stdout.splitlines()]
            effects = [x for x in lines if "effect" in x]
            text = [x for x in output.splitlines() if re.match(r"\d+: ", x)]
            self.assertEqual(len(effects), len(text), script)
            for effect, line in zip(effects, text):
                number, rest = line.split(": ", 1)
                self.assertEqual(effect["line"], int(number))
                name = rest.split(" ")[0].rstrip(":")
                self.assertTrue(effect["effect"].startswith(name), (effect, line))
                if name == "record":
                    self.assertEqual(len(effect["bytes"]), 2 * effect["size"])
                    self.assertEqual(effect["record"]["type"], "record")

    def test_statements_are_described(self):
        """Every statement of the table has its place in the document and the manual page."""
        with open(os.path.join(ROOT, "docs", "man", "spe-sim.1"), encoding="utf-8") as f:
            page = f.read()
        for line in spe("sim", "--list", "statements").stdout.decode().splitlines():
            verb = line.split()[0]
            self.assertIn("`" + verb, document(), verb)
            self.assertRegex(page, r"(?m)^\.(It|Ic|Cm|Xc|It Ic) .*\b" + verb + r"\b", verb)


class Errors(CommandTest):
    """A script that cannot be understood: place, sentence, status 2."""

    CASES = [
        ("frob", 1, 1, "no statement 'frob'"),
        ("\n  frob", 2, 3, "no statement"),
        ("preset", 1, 1, "preset NAME"),
        ("preset nosuch", 1, 8, "nosuch"),
        ("preset a b", 1, 10, "preset NAME"),
        ("features v9", 1, 10, "v9"),
        ("option nosuch 1", 1, 8, "nosuch"),
        ("option max_size 65", 1, 17, "max_size"),
        ("option min_align_bytes 2048\nshow budget", 1, 24, "min_align_bytes"),
        ("\noption write_abort report\nlet a 1\noption max_size 256\nshow budget", 2, 20,
         "write_abort"),
        ("features v1p1,el2,el3,rme\nshow budget", 1, 10, "FEAT_RME with FEAT_SPE needs FEAT_SPEv1p2"),
        ("features v1p5,el2\nshow budget", 1, 10, "FEAT_SPE_nVM with EL2 needs FEAT_FGT2"),
        ("features v1p4,lds,fds,el2\nshow budget", 1, 10, "FEAT_SPE_FDS with EL2 needs FEAT_FGT2"),
        ("reg PMSLATFR_EL1.MINLAT=0x10000", 1, 5, "16 bits"),
        ("reg PMSLATFR_EL1.MINLAT_HIGH=1", 1, 5, "no field 'MINLAT_HIGH'"),
        ("complete", 1, 1, "sample 1 is not in flight"),
        ("complete 0", 1, 10, "sample 0 is not in flight"),
        ("op load registers=q", 1, 9, "it takes general, fp, simd"),
        ("op nosuch", 1, 4, "other, sve, sme_vector"),
        ("access store=2", 1, 8, "it takes 0 or 1"),
        ("access facts=nosuch", 1, 8, "l1d_access, l1d_miss"),
        ("memory 0 1 fault=q", 1, 12, "translation, address_size"),
        ("show status.enabled_at", 1, 6, "enabled_at_el0"),
        ("show stats.fate.nosuch", 1, 6, "written, filtered"),
        ("show nosuch", 1, 6, "--list quantities"),
        ("features nosuch", 1, 10, "--list features"),
        ("random 256", 1, 8, "0 to 255"),
        ("random x", 1, 8, "not a number"),
        ("random" + " 1" * 257, 1, 520, "256 bytes"),
        ("msr PMSCR_EL1 XX=1", 1, 15, "no field 'XX'"),
        ("msr PMSCR_EL1 rt=3", 1, 15, "come before rt"),
        ("msr PMSCR_EL1 TS=2", 1, 15, "only 1 bits"),
        ("msr PMSCR_EL1 1 TS=1", 1, 17, "only rt="),
        ("enumerate\nvary a 3..2\nend", 2, 8, "ends before it begins"),
        ("enumerate\nvary a 0..65536\nend", 2, 8, "65536 values"),
        ("pe el", 1, 4, "name=value"),
        ("pe el=4", 1, 1, "0 to 3"),
        ("pe nosuch=1", 1, 4, "nosuch"),
        ("pe scr_el3.XX=1", 1, 4, "XX"),
        ("pe scr_el3.NS=2", 1, 4, "NS"),
        ("pe el=1 pm=2", 1, 9, "pm"),
        ("reg NOSUCH=1", 1, 5, "NOSUCH"),
        ("reg PMBSR_EL1.XX=1", 1, 5, "XX"),
        ("reg PMBSR_EL1.S=2", 1, 5, "1 bits"),
        ("reg PMBSR_EL1=x", 1, 5, "not a number"),
        ("buffer 0x1000 100", 1, 15, "4096"),
        ("buffer x 100", 1, 8, "not a number"),
        ("mrs NOSUCH", 1, 5, "NOSUCH"),
        ("mrs S3_0_C1_C0_0", 1, 5, "not a register of the unit"),
        ("mrs S3_0_C16_C0_0", 1, 5, "there is no register"),
        ("mrs S3_0_C9_C10_3x", 1, 5, "there is no register"),
        ("mrs PMBSR_EL1 rt=32", 1, 15, "rt=31"),
        ("msr PMBSR_EL1 zz", 1, 15, "not a number"),
        ("memory 0 1", 1, 10, "memory ADDRESS"),
        ("memory 0 1 fault=nosuch", 1, 12, "nosuch"),
        ("op nosuch", 1, 4, "nosuch"),
        ("op load nosuch=1", 1, 9, "nosuch"),
        ("op load taken=5", 1, 9, "taken"),
        ("op load pc_step=q", 1, 9, "not a number"),
        ("access facts=nosuch", 1, 8, "facts"),
        ("extra packet index=1", 1, 7, "address or a counter"),
        ("run 5 frob", 1, 7, "population"),
        ("complete 2", 1, 10, "sample 2 is not in flight"),
        ("option walk_abort mmu_fault\nabort walk=table", 2, 1, "ext_abort_sync"),
        ("impdef on", 1, 8, "absent"),
        ("impdef maybe", 1, 8, "on, off or event"),
        ("let a", 1, 5, "let NAME VALUE"),
        ("let a-b 1", 1, 5, "not a name"),
        ("show $x", 1, 6, "no variable $x"),
        ("show nosuch", 1, 6, "nosuch"),
        ("show status.nosuch", 1, 6, "nosuch"),
        ("show stats.fate.nosuch", 1, 6, "nosuch"),
        ("show pmu.nosuch", 1, 6, "nosuch"),
        ("show option.nosuch", 1, 6, "nosuch"),
        ("show route.x", 1, 6, "route.EC"),
        ("show memory.x", 1, 6, "memory.ADDRESS"),
        ("expect PMBSR_EL1.S = 1", 1, 20, "is not =="),
        ("expect PMBSR_EL1.S == word", 1, 23, "not a number"),
        ("expect fate < written", 1, 13, "words"),
        ("show " + "x" * 600, 1, 6, "longer than"),
        ("show" + " PMBSR_EL1" * 600, 1, 5116, "more than 512 words"),
        ("enumerate\nvary a 1", 1, 1, "no end"),
        ("enumerate\nenumerate\nend", 2, 1, "inside"),
        ("enumerate\nvary a\nend", 2, 1, "name and values"),
        ("enumerate\ncolumn\nend", 2, 1, "column takes"),
        ("enumerate\nvary a 1 2\ncolumn nosuch\nend", 3, 8, "nosuch"),
        ("enumerate\nvary a 1 2\nfrob\nend", 3, 1, "frob"),
        ("enumerate\n" + "".join(f"vary v{i} 1 2 3 4\n" for i in range(13)) + "end", 15, 1,
         "combinations"),
        ("end", 1, 1, "no statement 'end'"),
    ]

    def test_places(self):
        for script, line, column, words in self.CASES:
            result = sim(script)
            message = result.stderr.decode()
            self.assertEqual(result.returncode, 2, (script, message))
            self.assertIn(f"spe: standard input:{line}:{column}: ", message, script)
            self.assertIn(words, message, script)
            self.assertNotRegex(message, r"[^.]\.\n|: ([A-Z][a-z]|A )", script)  # as all our sentences

    def test_binary_is_no_script(self):
        result = spe("sim", "-", stdin=bytes(range(256)) * 20)
        self.assertEqual(result.returncode, 2)

    def test_files(self):
        good = self.file(b"let s 1\nreg PMBSR_EL1.S=$s\n", "a.sim")
        more = self.file(b"expect PMBSR_EL1.S == 1\n", "b.sim")
        bad = self.file(b"\nfrob\n", "c.sim")
        self.good("sim", good, more)
        result = spe("sim", good, bad, more)
        self.assertEqual(result.returncode, 2)
        self.assertIn(f"{bad}:2:1: ", result.stderr.decode())
        self.assertEqual(spe("sim", os.path.join(self.dir, "none")).returncode, 2)


class Command(CommandTest):

    def test_execute(self):
        out = self.good("sim", "-e", "reg PMBSR_EL1.S=1", "-e", "show interrupt")
        self.assertEqual(out.decode().splitlines(), ["1: interrupt level=1", "2: show interrupt=1"])

    def test_expectations(self):
        result = sim("expect PMBSR_EL1.S == 1\nexpect PMBSR_EL1.S == 0\nexpect fate == written")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout.decode().splitlines(), [
            "1: expect failed: PMBSR_EL1.S == 1, but it is 0",
            "3: expect failed: fate == written, but it is absent"])
        self.assertEqual(result.stderr.decode(), "spe: sim: 2 of 3 expectations failed\n")
        for text in ("== 5", "!= 4", "< 6", "<= 5", "> 4", ">= 5", "& 4"):
            self.assertEqual(sim("time 5\nexpect time " + text).returncode, 0, text)
        for text in ("== 4", "!= 5", "< 5", "<= 4", "> 5", ">= 6", "& 2"):
            self.assertEqual(sim("time 5\nexpect time " + text).returncode, 1, text)

    def test_expectations_in_enumerate(self):
        result = sim("enumerate\nvary t 1 2 3\ntime $t\nexpect time != 2\ncolumn time\nend")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout.decode().splitlines(),
                         ["t,time", "1,1", "4: expect failed: time != 2, but it is 2", "2,2", "3,3"])

    def test_state_comes_back(self):
        """Each combination, and what follows the block, starts from the state before it."""
        out = sim("reg PMSLATFR_EL1.MINLAT=9\ntime 7\nenumerate\nvary n 1 2\n"
                  "reg PMSLATFR_EL1.MINLAT=$n\ntime $n\npe el=1\noption count_size 12\n"
                  "column option.count_size\nend\n"
                  "show PMSLATFR_EL1.MINLAT time pe.el option.count_size").stdout.decode()
        self.assertEqual(out.splitlines()[3:], [
            "11: show PMSLATFR_EL1.MINLAT=9", "11: show time=7", "11: show pe.el=0",
            "11: show option.count_size=16"])

    def shown(self, script):
        """What `show` lines say, as a dictionary."""
        result = sim(script)
        self.assertEqual(result.returncode, 0, (script, result.stdout, result.stderr))
        lines = [x.split(": show ", 1)[1] for x in result.stdout.decode().splitlines()
                 if ": show " in x]
        return dict(word.split("=", 1) for line in lines for word in line.split(" "))

    def test_minimum_latency(self):
        """D24.7.16: MINLAT is bits 15:0; 15:12 are RES0 with 12-bit counters."""
        script = "reg PMSLATFR_EL1=0x1234\nshow PMSLATFR_EL1"
        self.assertEqual(self.shown(script), {"PMSLATFR_EL1": "0x1234", "MINLAT": "0x1234"})
        self.assertEqual(self.shown("option count_size 12\n" + script),
                         {"PMSLATFR_EL1": "0x234", "MINLAT": "0x234"})

    def test_discard_mode(self):
        """D17.5.5: buffer management events are not generated."""
        result = sim("option impdef_buffer_event present\nreg PMBLIMITR_EL1=0x5 PMSCR_EL1.E0SPE=1\n"
                     "impdef on\nimpdef event mss=1\nexpect PMBSR_EL1 == 0\nexpect interrupt == 0\n"
                     "expect status.stopped == 0\nreg PMBLIMITR_EL1.FM=0\nimpdef event mss=1\n"
                     "expect PMBSR_EL1.S == 1")
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_late_samples(self):
        """RWVKFM and D17.4: once S can be seen, PMSICR_EL1 stands still."""
        result = sim("option fault_late_samples 2\nbuffer 0x10000 64K\n"
                     "memory 0x10000 4K fault=permission level=3\n"
                     "reg PMSIRR_EL1.INTERVAL=1 PMSCR_EL1.E0SPE=1\n"
                     "run 257\nexpect fate == fault\nexpect PMBSR_EL1 == 0\nexpect status.enabled == 1\n"
                     "run 257\nexpect fate == stopped\nexpect PMBSR_EL1 == 0\n"
                     "run 257\nexpect fate == stopped\nexpect PMBSR_EL1.S == 1\n"
                     "expect PMBSR_EL1.FSC == 0xf\nexpect PMBPTR_EL1 == 0x10000\n"
                     "expect PMSICR_EL1 == 0\nrun 1000\nexpect PMSICR_EL1 == 0\nexpect stats.sampled == 3")
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_line_takes_effect_at_once(self):
        for line in ("reg PMSCR_EL1.E0SPE=1 PMSIRR_EL1.INTERVAL=1",
                     "reg PMSIRR_EL1.INTERVAL=1 PMSCR_EL1.E0SPE=1"):
            result = sim("features -ernd\noption reload_point at_selection\nbuffer 0x10000 64K\n"
                         f"{line}\nexpect PMSICR_EL1.COUNT == 0x100\nrun 1\nexpect stats.sampled == 0")
            self.assertEqual(result.returncode, 0, result.stdout)
        result = sim("reg PMBSR_EL1.S=1 PMSCR_EL1.XX=1")
        self.assertEqual((result.returncode, result.stdout), (2, b""))

    def test_place_of_another_script(self):
        """A line of one script is not told as one of the next."""
        first = self.file(b"\n\noption min_align_bytes 2048\n", "a.sim")
        second = self.file(b"show budget\n", "b.sim")
        self.assertIn(f"{second}:1:1: ", spe("sim", first, second).stderr.decode())

    def test_groups(self):
        """`show status` is everything that --list quantities has of it."""
        names = self.good("sim", "--list", "quantities").decode().splitlines()
        for group in ("status", "pe", "exception", "access"):
            members = {x for x in names if x.startswith(group + ".") and x.count(".") == 1}
            self.assertGreater(len(members), 4, group)
            shown = self.shown("show " + group)
            self.assertEqual({x for x in shown if "." in x}, members - {"access.reg"}, group)
        self.assertEqual(self.shown("show status.enabled_at_el0"), {"status.enabled_at_el0": "0"})

    def test_every_quantity_can_be_asked(self):
        names = [name for name in self.good("sim", "--list", "quantities").decode().splitlines()
                 if " " not in name and not re.search(r"(ADDRESS|NAME|FSC|REGISTER|FIELD|[a-z]N)$", name)]
        self.assertGreater(len(names), 100)
        result = sim("".join(f"show {name}\n" for name in names))
        self.assertEqual((result.returncode, result.stderr), (0, b""))

    def test_pe(self):
        self.assertEqual(
            self.shown("show pe.scr_el3"),
            {"pe.scr_el3": "0x800000018040401", "NS": "1", "RW": "1", "EEL2": "1", "FGTEn": "1",
             "ECVEn": "1", "FGTEn2": "1"})
        self.assertEqual(self.shown("pe pmcr_el0.DP=1\nshow pe.pmcr_el0"),
                         {"pe.pmcr_el0": "0x20", "DP": "1"})
        listed = self.good("sim", "--list", "pe").decode()
        for line in ("    mdcr_el3.PMSEE = 0\n", "    scr_el3.ECVEn = 1\n", "counter_enabled = 1\n"):
            self.assertIn(line, listed)

    def test_syndrome_parts(self):
        for name, bits in (("BSC", "0x3f"), ("FSC", "0x3f"), ("DirtyBit", "0x2000000000"),
                           ("Overlay", "0x4000000000"), ("AssuredOnly", "0x8000000000"),
                           ("TopLevel", "0x10000000000")):
            for x in (1, 2, 3):
                most = "0x3f" if name.endswith("SC") else "1"
                self.assertEqual(
                    self.shown(f"reg PMBSR_EL{x}.{name}={most}\nshow PMBSR_EL{x}.{name}"),
                    {f"PMBSR_EL{x}.{name}": most})
                self.assertEqual(self.shown(f"reg PMBSR_EL{x}.{name}={most}\nshow PMBSR_EL{x}")
                                 [f"PMBSR_EL{x}"], bits)

    def test_msr_fields(self):
        for msr in ("msr PMSCR_EL1 E0SPE=1 TS=1", "msr S3_0_C9_C9_0 TS=1 E0SPE=1 rt=3",
                    "msr PMSCR_EL1 0x21 rt=3"):
            shown = self.shown(f"pe el=1\nreg PMSCR_EL1.CX=1\n{msr}\nshow PMSCR_EL1")
            self.assertEqual(shown, {"PMSCR_EL1": "0x21", "E0SPE": "1", "TS": "1"})

    def test_branch_stays_where_it_is(self):
        """The target has the Security state and Exception level of the PE, unless it is said."""
        start = "buffer 0x10000 64K\nreg PMSICR_EL1.COUNT=1 PMSIRR_EL1.INTERVAL=1 PMSCR_EL1=3\n"
        for before, member, top in (("", "", 0x80), ("pe el=1\n", "", 0xa0),
                                    ("", " target_security=secure", 0x00),
                                    ("", " target_el=1", 0xa0),
                                    ("pe scr_el3.NS=0 mdcr_el3.NSPB=1 scr_el3.EEL2=0\n", "", 0x00)):
            script = (f"{before}{start}op branch taken=1 target=0x40{member}\nrun 1\n"
                      "show sample.target")
            self.assertEqual(self.shown(script)["sample.target"], f"{top << 56 | 0x40:#x}", script)

    def test_hold_and_complete(self):
        """A sample in flight is the operation that ran; its end may be told when it comes."""
        script = ("option max_inflight_samples 2\nbuffer 0x10000 64K\n"
                  "reg PMSIRR_EL1.INTERVAL=1 PMSCR_EL1.E0SPE=1\n"
                  "op load pc=0x1000\naccess va=0x2000\nrun 257 hold\n"
                  "op branch pc=0x3000 taken=1 target=0x4000\nrun 257 hold\nop other pc=0x5000\n"
                  "complete 1 execute_cycles=77\nexpect sample.va == 0x2000\n"
                  "expect sample.total == 77\nexpect sample.target == absent\n"
                  "complete 2\nexpect sample.target != absent\nexpect sample.total == 0\n"
                  "show sample.pc\n")
        self.assertEqual(int(self.shown(script)["sample.pc"], 16) & 0xffff, 0x3000)
        for more in ("complete 1", "complete 2", "reset\ncomplete 1", "features all\ncomplete 1"):
            result = sim(script + more)
            self.assertEqual(result.returncode, 2)
            self.assertIn("is not in flight", result.stderr.decode())

    def test_record_of_the_last_sample(self):
        result = sim("buffer 0x10000 64K\nreg PMSIRR_EL1.INTERVAL=1 PMSCR_EL1.E0SPE=1 PMSFCR_EL1.FL=1 "
                     "PMSLATFR_EL1.MINLAT=9\nop other pc=0x1000 execute_cycles=10\nrun 257\n"
                     "expect sample.total == 10\nop other pc=0x2000\nrun 257\n"
                     "expect sample.total == absent\nexpect record.total == 10")
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_random_bytes(self):
        """D17.3.4.3, step by step: the interval's low byte is the script's."""
        script = ("features -ernd\noption rng_kind user\n{}buffer 0x10000 64K\n"
                  "reg PMSIRR_EL1=0x101 PMSCR_EL1.E0SPE=1\nexpect PMSICR_EL1.COUNT == {}\n"
                  "run {}\nexpect stats.sampled == 1\nexpect PMSICR_EL1.COUNT == {}")
        for random, first, second in (("random 7 0xff\n", 0x107, 0x1ff),
                                      ("random 9\n", 0x109, 0x109), ("", 0x100, 0x100)):
            result = sim(script.format(random, first, first + 2, second))
            self.assertEqual(result.returncode, 0, result.stdout)

    def test_ranges(self):
        got = rows("enumerate\nvary a 0..31 40\nvary b 0x1e..0x20\ntime $a\ncolumn time\nend")
        self.assertEqual([x["a"] for x in got[::3]], [str(i) for i in range(32)] + ["40"])
        self.assertEqual([x["b"] for x in got[:3]], ["0x1e", "0x1f", "0x20"])
        self.assertTrue(all(x["a"] == x["time"] for x in got))
        values = " ".join(str(i) for i in range(200))
        self.assertEqual(len(rows(f"enumerate\nvary a {values}\ncolumn time\nend")), 200)
        self.assertEqual([x["w"] for x in rows("enumerate\nvary w a..b c\ncolumn time\nend")],
                         ["a..b", "c"])

    def test_all_facts_in_a_word(self):
        facts = self.good("sim", "--list", "facts").decode().split()
        self.assertGreater(len(",".join(facts)), 120)
        self.assertEqual(sim("op load\naccess facts=" + ",".join(facts)).returncode, 0)

    def test_features_that_go_too(self):
        self.assertEqual(sim("features v1p4,gcs,-crr").stdout, b"1: features also_without=GCS\n")
        self.assertEqual(sim("features v1p4,gcs,-crr,-gcs").stdout, b"")
        self.assertEqual(sim("features -rme").stdout, b"")

    def test_masks(self):
        self.assertEqual(self.shown("show option.filter_events option.max_size"),
                         {"option.filter_events": "0xffff0000ff00f714", "option.max_size": "128"})

    def test_more_lists(self):
        for what, line in (("operations", "registers = general, fp, simd"), ("facts", "l1d_access\n"),
                           ("accesses", "facts = a comma list of l1d_access"),
                           ("faults", "fault = none, translation"), ("features", "FEAT_SPE_nVM\n"),
                           ("quantities", "status.enabled_at_el3\n"), ("statements", "random BYTE...\n")):
            self.assertIn(line, self.good("sim", "--list", what).decode(), what)
        self.assertIn("quantities", spe("sim", "--list", "nosuch").stderr.decode())

    def test_lists(self):
        options = self.good("sim", "--list", "options").decode()
        for name in ("sample_pick = ", "write_abort = ignore | serror | report", "(D17.8-156)"):
            self.assertIn(name, options)
        self.assertIn("neoverse-n1", self.good("sim", "--list", "presets").decode())
        self.assertIn("PMBSR_EL1      S3_0_C9_C10_3\n",
                      self.good("sim", "--list", "registers").decode())
        self.bad(2, "sim", "--list", "nosuch")
        self.bad(2, "sim", "--nosuch")
        self.assertIn(b"Usage: spe sim", self.good("sim", "--help"))

    def test_encodings(self):
        names = [x.split() for x in self.good("sim", "--list", "registers").decode().splitlines()]
        self.assertGreater(len(names), 18)
        for name, encoding in names:
            by_name = sim(f"pe el=3\nmrs {name}").stdout.decode().replace(name, "X", 1)
            by_encoding = sim(f"pe el=3\nmrs {encoding.lower()}").stdout.decode()
            self.assertEqual(by_name, by_encoding.replace(encoding.lower(), "X", 1))

    def test_memory_remembers(self):
        script = ("buffer 0x10000 64K\nreg PMSCR_EL1.E0SPE=1 PMSICR_EL1.COUNT=1\n"
                  "reg PMSIRR_EL1.INTERVAL=1\nop other pc=0x1000\nrun 1\n")
        out = json.loads(sim(script, "--json").stdout.splitlines()[1])
        expects = [f"expect memory.{0x10000 + i:#x} == 0x{out['bytes'][2 * i:2 * i + 2]}"
                   for i in range(out["size"])]
        expects.append(f"expect memory.{0x10000 + out['size']:#x} == absent")
        result = sim(script + "\n".join(expects))
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_faults(self):
        """Every kind of fault can be made, and has its effect."""
        for word, ec in (("translation", 0x24), ("address_size", 0x24), ("access_flag", 0x24),
                         ("permission", 0x24), ("alignment", 0x24), ("tlb_conflict", 0x24),
                         ("unsupported_atomic", 0x24), ("gpf", 0x24), ("gpc", 0x1e),
                         ("not_allowed", 0)):
            script = ("buffer 0x10000 64K\nreg PMSCR_EL1.E0SPE=1 PMSICR_EL1.COUNT=1\n"
                      f"memory 0x10000 4K fault={word}\nrun 1\n"
                      f"expect PMBSR_EL1.S == 1\nexpect PMBSR_EL1.EC == {ec}\n")
            self.assertEqual(sim(script).returncode, 0, word)
            self.assertEqual(sim(script.replace("run 1", "memory 0x10000 4K ok\nrun 1")).returncode,
                             1, word)

    def test_later_abort(self):
        script = ("features v1p2,el2,el3,secure\noption write_abort report\n"
                  "option ext_abort_sync async\nabort\nexpect PMBSR_EL1.EA == 1\n"
                  "expect PMBSR_EL1.MSS == 0x11\n")
        result = sim(script)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn(b"reason=stage1_abort", result.stdout)

    def test_impdef_and_reset(self):
        script = ("option impdef_buffer_event present\nimpdef event mss=3\n"
                  "expect PMBSR_EL1.S == 0\nimpdef on\nimpdef event mss=3 mss2=9\n"
                  "expect PMBSR_EL1.EC == 0x1f\nexpect PMBSR_EL1.MSS == 3\n"
                  "expect PMBSR_EL1.MSS2 == 9\nreset\nexpect PMBSR_EL1 == 0\n")
        result = sim(script)
        self.assertEqual(result.returncode, 0, result.stdout)


class Tables(unittest.TestCase):
    """A decision table of the catalogue, by enumeration, against its rows."""

    def catalogue(self, table):
        path = os.path.join(ROOT, "docs", "conformance", "requirements.tsv")
        with open(path, encoding="utf-8") as f:
            for row in csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE):
                if row["rule"] == table:
                    yield row["statement"]

    @staticmethod
    def matches(pattern, value, bits):
        if pattern == "any":
            return True
        digits = pattern.removeprefix("0b").zfill(bits)
        return all(p in ("X", v) for p, v in zip(digits, format(value, f"0{bits}b")))

    def test_d17_7(self):
        """D17.8-055 to D17.8-064, over all inputs: PMSEE, EE, E2PB."""
        row = re.compile(r"PMSEE=(\S+), PMSCR_EL2\.EE=(\S+), E2PB=(\S+) -> stage 1 other abort: "
                         r"PMBSR_EL(\d); stage 2 other abort: PMBSR_EL(\d); other event .*: "
                         r"PMBSR_EL(\d)")
        catalogue = [row.match(s).groups() for s in self.catalogue("D17-7")]
        self.assertEqual(len(catalogue), 10)
        got = rows("features v1p5,el2,el3,secure,vhe,fgt2,ras,hafdbs,pmuv3\nenumerate\n"
                   "vary pmsee 0 1 2 3\nvary ee 0 1 2 3\nvary e2pb 0 2 3\n"
                   "pe mdcr_el3.PMSEE=$pmsee mdcr_el2.E2PB=$e2pb\nreg PMSCR_EL2.EE=$ee\n"
                   "column s1 route.0x24.0x07\ncolumn s2 route.0x25.0x07\ncolumn other route.0\n"
                   "end\n")
        self.assertEqual(len(got), 48)
        for combination in got:
            inputs = [int(combination[n]) for n in ("pmsee", "ee", "e2pb")]
            found = [c[3:] for c in catalogue
                     if all(self.matches(p, v, 2) for p, v in zip(c[:3], inputs))]
            self.assertEqual(found, [tuple(combination[n] for n in ("s1", "s2", "other"))], inputs)


if __name__ == "__main__":
    unittest.main()
