# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# A thin front of Meson; `make help` lists the targets.

PREFIX       ?= /usr/local
DESTDIR      ?=
FUZZ_SECONDS ?= 1200
BUILD        ?= build
FUZZ         ?=
FUZZ_JOBS    ?=
DEB_ARCH     ?=

# $(call configured,option,value): sets an option of the build unless it has that value already.
configured = grep -qs '^$(1) = $(2)$$' $(BUILD)/meson-private/cmd_line.txt || \
	    meson configure $(BUILD) -D$(1)=$(2)

.PHONY: build setup demo test test-vm test-spark check bench fuzz fuzz-merge mutate install dist deb deb-clean format clean distclean help

build: $(BUILD)/build.ninja	## build the library and the command (the default)
	@ninja -C $(BUILD)

$(BUILD)/build.ninja:
	@tools/setup.sh --check build
	meson setup $(BUILD)

setup:	## install what is missing on this machine (Debian, Ubuntu)
	@tools/setup.sh test

demo:	## set up if needed, build, and show what Specimen does
	@tools/setup.sh demo
	@$(MAKE) --no-print-directory build
	@SPE=$(BUILD)/src/spe tools/demo.sh

test:	## set up if needed, then everything that CI checks
	@tools/test.sh

test-vm:	## a virtual machine with SPE: Linux's driver and perf on our unit (fetches 150 MB)
	@tools/test.sh vm

test-spark:	## recordings on a Spark cluster with two workers on this machine (fetches 400 MB)
	@tools/test.sh spark

check: $(BUILD)/build.ninja	## quick: one build and its tests
	@tools/setup.sh --check check
	@$(call configured,tests,enabled)
	@meson test -C $(BUILD) --print-errorlogs

bench: build	## run the benchmarks
	@set -e; for b in $(BUILD)/bench/bench_*; do \
	    if [ -f "$$b" ] && [ -x "$$b" ]; then echo "== $${b##*/}"; "$$b"; fi; done
	@set -e; for b in bench/bench_*.sh; do \
	    if [ -f "$$b" ]; then echo "== $${b##*/}"; SPE=$(BUILD)/src/spe bash "$$b"; fi; done

fuzz:	## fuzz every target for FUZZ_SECONDS each (FUZZ="packet ..." for some, FUZZ_JOBS at a time)
	@tools/setup.sh test
	@FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_JOBS=$(FUZZ_JOBS) tools/fuzz.sh run $(FUZZ)

mutate:	## break the format, gen and spu rooms one change at a time: do the tests notice? (MUTATE="--count 50 ...")
	@tools/setup.sh check
	@nice python3 tools/mutate.py $(MUTATE)

fuzz-merge:	## add what fuzzing found of interest to fuzz/corpus
	@tools/fuzz.sh merge $(FUZZ)

install: build	## install to PREFIX (/usr/local), below DESTDIR if given
	@$(call configured,prefix,$(PREFIX))
	@DESTDIR=$(DESTDIR) meson install -C $(BUILD)

dist:	## build-dist/specimen-VERSION.tar.xz, which builds without git
	@tools/dist.sh

deb:	## Debian packages in build-deb (needs dpkg-dev, debhelper, fakeroot, lintian; DEB_ARCH=arm64)
	@DEB_ARCH=$(DEB_ARCH) tools/deb.sh

deb-clean:	## the same in fresh chroots, installed and tried there (needs root and debootstrap; DEB_ARCH=arm64)
	@tools/deb-clean.sh $(DEB_ARCH)

format:	## run clang-format on the C files
	@find include src tests fuzz bench examples -name '*.[ch]' 2>/dev/null | xargs -r clang-format -i

clean:	## remove what was built
	rm -rf $(BUILD) build-gcc build-clang build-asan build-tsan build-aarch64 build-fuzz build-python build-dist build-deb

distclean: clean	## and what was fetched
	rm -rf .deps

help:	## print this
	@sed -n 's/^\([a-z-]*\):.*	## /\1	/p' Makefile | expand -t 14
