#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# Everything that CI checks, in stages; stops at the first that fails and shows its log.
#
#   tools/test.sh [STAGE...]     all stages by default: gcc clang asan aarch64 conformance format
#                                tidy man scripts
set -uo pipefail
cd "$(dirname "$0")/.." || exit

all_stages=(gcc clang asan aarch64 conformance format tidy man scripts)
stages=("$@")
[ $# -gt 0 ] || stages=("${all_stages[@]}")
pinned=14 # the clang-format and clang-tidy whose word counts
jobs=$(nproc)

passed=0 failed=0 skips=()
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# --- the stages; each prints to the log and returns whether it passed ---

# Shows what a command prints only when it fails.
quietly() {
    local output
    output=$("$@" 2>&1) || { echo "$output" && return 1; }
}

# build FOLDER SETUP-ARGUMENTS...: set up again when the arguments have changed.
build() {
    local folder=$1
    shift
    local wanted
    wanted="$* CC=${CC:-} meson $(meson --version)"
    if [ "$(cat "$folder/.setup" 2>/dev/null)" != "$wanted" ]; then
        rm -rf "$folder"
        quietly meson setup "$folder" -Dwerror=true -Dtests=enabled "$@" || return
        echo "$wanted" >"$folder/.setup"
    fi
    quietly ninja -C "$folder"
}

# run_tests FOLDER ARGUMENTS...: also adds to the totals, and to the list of skipped tests.
run_tests() {
    local folder=$1 status=0 numbers line
    shift
    rm -f "$folder/meson-logs/testlog.json"
    meson test -C "$folder" --no-rebuild --print-errorlogs "$@" || status=1
    { read -r numbers && while read -r line; do skips+=("$folder: $line"); done; } \
        < <(python3 tools/testlog.py "$folder/meson-logs/testlog.json")
    read -r test_passed test_failed test_skipped <<<"${numbers:-0 0 0}"
    if [ "$test_passed" = 0 ] && [ $status = 0 ]; then
        echo "no test passed"
        return 1
    fi
    return $status
}

stage_gcc() { CC=gcc build build-gcc && run_tests build-gcc; }
stage_clang() { CC=clang build build-clang && run_tests build-clang; }

stage_asan() {
    local -x ASAN_OPTIONS=abort_on_error=1:detect_stack_use_after_return=1:strict_string_checks=1
    local -x UBSAN_OPTIONS=halt_on_error=1:abort_on_error=1:print_stacktrace=1
    CC=clang build build-asan -Dbuildtype=debugoptimized -Db_sanitize=address,undefined \
        -Db_lundef=false -Dc_args='-fno-sanitize-recover=all -fno-omit-frame-pointer' &&
        run_tests build-asan --timeout-multiplier 3
}

stage_aarch64() {
    local deps
    deps=$(realpath "${SPECIMEN_DEPS:-.deps}/aarch64") || return
    # Without elfutils and zstd, which are optional: somebody has to build it so.
    build build-aarch64 --cross-file cross/aarch64.ini -Dcmocka_root="$deps" \
        -Delfutils=disabled -Dzstd=disabled &&
        run_tests build-aarch64 --timeout-multiplier 5
}

stage_conformance() { python3 tools/conformance.py --hold docs/conformance/held.txt; }

# found PATTERN FOLDER...: files below those of the folders that are there.
found() {
    local pattern=$1 folder
    shift
    for folder; do [ ! -d "$folder" ] || find "$folder" -name "$pattern"; done | sort
}
major() { "$1" --version | sed -n 's/.*version \([0-9]*\)\..*/\1/p' | head -n 1; }

stage_format() { found '*.[ch]' include src tests fuzz bench examples | xargs -r clang-format --dry-run --Werror; }

stage_tidy() {
    CC=clang build build-clang || return
    # The AArch64 files have no entry in a compile database of another machine.
    python3 - build-clang/compile_commands.json <<'END' | xargs -r -P "$jobs" -n 1 clang-tidy -p build-clang --quiet
import json, os, sys
seen = set()
for entry in json.load(open(sys.argv[1])):
    path = os.path.relpath(os.path.join(entry["directory"], entry["file"]))
    if path.startswith("src" + os.sep) and path not in seen:
        seen.add(path)
        print(path)
END
}

stage_man() { mandoc -T lint -W warning docs/man/*.1; }

stage_scripts() {
    local files status=0 f
    files=".ci/run $(found '*.sh' tools tests fuzz bench examples)"
    for f in $files; do bash -n "$f" || status=1; done
    if command -v shellcheck >/dev/null; then
        # shellcheck disable=SC2086
        shellcheck -S warning $files || status=1
    else
        skips+=("scripts: shellcheck is not here: their syntax was checked, nothing more")
    fi
    found '*.py' tools tests fuzz bench examples | python3 -c '
import ast, sys
for path in sys.stdin.read().split():
    ast.parse(open(path, encoding="utf-8").read(), path)' || status=1
    return $status
}

# --- reasons not to run a stage: printed, counted and listed, never silent ---

reason_not_to() {
    local tool version
    case $1 in
    aarch64)
        if [ "$(uname -m)" = aarch64 ]; then
            echo "this machine is AArch64: the other stages are the AArch64 tests"
        fi ;;
    format | tidy)
        tool=clang-$1
        version=$(major "$tool")
        if [ "$version" != $pinned ]; then
            echo "$tool is version $version here, only version $pinned is enforced"
        fi ;;
    man)
        compgen -G 'docs/man/*.1' >/dev/null || echo "there are no manual pages" ;;
    esac
}

title() {
    case $1 in
    gcc) echo "GCC build, warnings are errors, all tests" ;;
    clang) echo "Clang build, warnings are errors, all tests" ;;
    asan) echo "Clang build with ASan and UBSan, all tests, fuzz corpora" ;;
    aarch64) echo "AArch64 build without elfutils and zstd, all tests under qemu-aarch64" ;;
    conformance) echo "every held requirement has its test" ;;
    format) echo "clang-format" ;;
    tidy) echo "clang-tidy on src/" ;;
    man) echo "manual pages" ;;
    scripts) echo "scripts" ;;
    *) return 1 ;;
    esac
}

finish() {
    local entry
    echo
    if [ ${#skips[@]} != 0 ]; then
        echo "${#skips[@]} skipped:"
        for entry in "${skips[@]}"; do echo "  $entry"; done
    fi
    echo "total time $((SECONDS / 60)) min $((SECONDS % 60)) s"
    echo "$passed passed, $failed failed"
    [ $failed = 0 ]
    exit
}

for stage in "${stages[@]}"; do
    title "$stage" >/dev/null || { echo "test: no stage '$stage': ${all_stages[*]}" >&2; exit 2; }
done

tools/setup.sh test || exit

for stage in "${stages[@]}"; do
    echo
    echo "== $stage: $(title "$stage")"
    reason=$(reason_not_to "$stage")
    if [ -n "$reason" ]; then
        echo "   skipped: $reason"
        skips+=("$stage: $reason")
        continue
    fi
    started=$SECONDS
    test_passed='' test_failed='' test_skipped=''
    stage_"$stage" >"$log" 2>&1
    status=$?
    if [ -n "$test_passed" ]; then
        passed=$((passed + test_passed)) failed=$((failed + test_failed))
        summary="$test_passed tests passed, $test_failed failed, $test_skipped skipped"
        if [ $status != 0 ] && [ "$test_failed" = 0 ]; then failed=$((failed + 1)); fi
    elif [ $status = 0 ]; then
        passed=$((passed + 1))
        summary="passed"
    else
        failed=$((failed + 1))
        summary="failed"
    fi
    if [ $status != 0 ]; then
        cat "$log"
        echo "   $summary ($((SECONDS - started)) s)"
        finish
    fi
    [ "$stage" != conformance ] || sed 's/^/   /' "$log"
    echo "   $summary ($((SECONDS - started)) s)"
done
finish
