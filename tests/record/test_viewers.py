#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Viewers get the call stacks of `spe record -g`: the same as folded stacks have."""

import collections
import unittest

import recordtest
from recordtest import RecordTest

# pylint: disable=wrong-import-order
import viewer_files as viewers

recordtest.require()


def paths(samples, which):
    sums = collections.Counter()
    for s in samples:
        sums[tuple(reversed(s.stack))] += getattr(s, which)
    return +sums


class ViewersTest(RecordTest):
    def export(self, form, *args):
        return self.good("export", "--format", form, *args, self.data)

    def folded(self, which):
        lines = self.export("folded", "--weight", which).decode().splitlines()
        return collections.Counter({tuple(path.split(";")): int(weight) for path, weight in
                                    (line.rsplit(" ", 1) for line in lines)})

    def test_stacks(self):
        program = self.compile("calls.c", "-O2", "-fno-ipa-icf", "-pthread")
        result = self.run_record("-g", "-c", "1024", "--model", "none", "--", program)
        self.assertEqual(result.returncode, 0, result.stderr)
        samples, latency = self.folded("samples"), self.folded("latency")
        self.assertTrue(any(len(path) > 30 for path in samples))
        self.assertEqual(paths(viewers.read_speedscope(self.export("speedscope")), "samples"),
                         samples)
        self.assertEqual(paths(viewers.read_speedscope(
            self.export("speedscope", "--weight", "latency"), True), "latency"), latency)
        self.assertEqual(paths(viewers.read_firefox(self.export("firefox")), "samples"), samples)
        if not viewers.PROTOC:
            self.skipTest("there is no protoc to read protobuf with: pprof is not tried")
        profile = self.export("pprof")
        for which, folded in (("samples", samples), ("latency", latency)):
            self.assertEqual(paths(viewers.read_pprof(profile), which), folded)
        message = viewers.pprof_message(profile)
        build_ids = {message["string_table"][m["build_id"][0]]
                     for m in message["mapping"] if m["build_id"]}
        self.assertTrue(build_ids and all(len(b) == 40 for b in build_ids), build_ids)


if __name__ == "__main__":
    unittest.main()
