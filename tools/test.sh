#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# Everything that CI checks, in stages. All of them run; the log of one that fails is shown, and the
# last lines say which these are.
#
#   tools/test.sh [STAGE...]     by default all: layers headers format man scripts conformance gcc abi
#                                clang asan tsan aarch64 faults tidy python viewers spark vm
#
# The network has a part in `python`, `viewers`, `spark` and `vm` alone: they come last and are counted apart.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

all_stages=(layers headers format man scripts conformance gcc abi clang asan tsan aarch64 faults tidy python viewers spark vm)
stages=("$@")
[ $# -gt 0 ] || stages=("${all_stages[@]}")
pinned=14 # the clang-format and clang-tidy whose word counts
jobs=$(nproc)

passed=0 failed=0 skips=() failures=() network=()
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

# run_tests FOLDER ARGUMENTS...: also adds to the totals, and to the list of skipped tests. Meson
# names the log after $setup, if there is one. One more at a time than there are processors: some
# tests wait more than they work.
run_tests() {
    local folder=$1 status=0 numbers line
    local json=$1/meson-logs/testlog${setup:+-$setup}.json
    shift
    rm -f "$json"
    meson test -C "$folder" --no-rebuild --print-errorlogs --num-processes $((jobs + 1)) "$@" ||
        status=1
    { read -r numbers && while read -r line; do skips+=("$folder: $line"); done; } \
        < <(python3 tools/testlog.py "$json")
    read -r test_passed test_failed test_skipped <<<"${numbers:-0 0 0}"
    if [ "$test_passed" = 0 ] && [ "$test_skipped" = 0 ] && [ $status = 0 ]; then
        echo "no test passed"
        return 1
    fi
    return $status
}

stage_layers() { python3 tools/layers.py; }

# Each public header alone and twice, and what callers write.
stage_headers() {
    local compiler language file status=0
    for compiler in 'gcc -std=c11' 'clang -std=c11' 'g++ -std=c++17' 'clang++ -std=c++17'; do
        language=c
        case $compiler in *++\ *) language=c++ ;; esac
        for file in include/specimen/*.h tests/tools/headers.c; do
            {
                echo "#include \"$file\""
                case $file in *.h) echo "#include \"$file\"" ;; esac
            } | $compiler -x $language -fsyntax-only -Wall -Wextra -Wpedantic -Werror \
                -I. -Iinclude - || { echo "$compiler: $file" && status=1; }
        done
    done
    return $status
}

stage_gcc() { CC=gcc build build-gcc && run_tests build-gcc; }

# The kept ABI is GCC's: compilers describe the same types in different words.
stage_abi() { CC=gcc build build-gcc && tools/abi.sh build-gcc; }

# What depends on the compiler are the tests in C; the commands run in the asan stage, which is
# Clang's, too.
stage_clang() {
    CC=clang build build-clang &&
        run_tests build-clang --suite c --suite fuzz
}

stage_asan() {
    local -x ASAN_OPTIONS=abort_on_error=1:detect_stack_use_after_return=1:strict_string_checks=1
    local -x UBSAN_OPTIONS=halt_on_error=1:abort_on_error=1:print_stacktrace=1
    CC=clang build build-asan -Dbuildtype=debugoptimized -Db_sanitize=address,undefined \
        -Db_lundef=false -Dc_args='-fno-sanitize-recover=all -fno-omit-frame-pointer' &&
        run_tests build-asan --no-suite once --timeout-multiplier 3
}

stage_tsan() {
    local -x TSAN_OPTIONS=halt_on_error=1:abort_on_error=1:second_deadlock_stack=1
    CC=clang build build-tsan -Dbuildtype=debugoptimized -Db_sanitize=thread -Db_lundef=false &&
        run_tests build-tsan --suite threads --timeout-multiplier 5
}

stage_aarch64() {
    local deps
    deps=$(realpath "${SPECIMEN_DEPS:-.deps}/aarch64") || return
    # Without elfutils, zstd and libfdt, which are optional: somebody has to build it so.
    build build-aarch64 --cross-file cross/aarch64.ini -Dcmocka_root="$deps" \
        -Delfutils=disabled -Dzstd=disabled -Dvm=disabled &&
        run_tests build-aarch64 --no-suite once --no-suite disassemblers --timeout-multiplier 5
}

stage_faults() {
    local setup=faults
    CC=gcc build build-gcc && run_tests build-gcc --setup $setup --suite faults
}

stage_conformance() { python3 tools/conformance.py --hold docs/conformance/held.txt; }

# tracked PATTERN...: files that belong to the project, new ones included.
tracked() { git ls-files --cached --others --exclude-standard -- "$@" | sort -u; }
major() { "$1" --version | sed -n 's/.*version \([0-9]*\)\..*/\1/p' | head -n 1; }

stage_format() { tracked '*.[ch]' | xargs -r clang-format --dry-run --Werror; }

stage_tidy() {
    CC=clang build build-clang || return
    # The AArch64 files have no entry in a compile database of another machine.
    python3 - build-clang/compile_commands.json <<'EOF' | xargs -r -P "$jobs" -n 1 clang-tidy -p build-clang --quiet
import json, os, sys
files = {os.path.relpath(os.path.join(entry["directory"], entry["file"]))
         for entry in json.load(open(sys.argv[1]))}
# The largest first, so that no processor waits for one at the end.
for path in sorted(files, key=os.path.getsize, reverse=True):
    if path.startswith("src" + os.sep):
        print(path)
EOF
}

stage_man() { mandoc -T lint -W warning docs/man/*.[17]; }

first_line_is() { head -n 1 "$2" | grep -qE "$1"; }

# By name, or by their first line.
shell_scripts() {
    local file
    tracked '*.sh'
    git grep --untracked -lIE '^#!.*sh\b' -- ':!*.sh' ':!fuzz/corpus' | while read -r file; do
        if first_line_is '^#!.*\b(ba)?sh\b' "$file"; then echo "$file"; fi
    done
}

stage_scripts() {
    local status=0 file shell
    local -a files
    mapfile -t files < <(shell_scripts)
    for file in "${files[@]}"; do
        shell=bash
        if first_line_is '/sh\b' "$file"; then shell='sh'; fi
        $shell -n "$file" || status=1
    done
    if command -v shellcheck >/dev/null; then
        shellcheck -S warning "${files[@]}" || status=1
    else
        skips+=("scripts: shellcheck is not here: the syntax of ${#files[@]} was checked, nothing more")
    fi
    tracked '*.py' | python3 -c '
import ast, sys
for path in sys.stdin.read().split():
    ast.parse(open(path, encoding="utf-8").read(), path)' || status=1
    return $status
}

# run_python PYTHON FOLDER: the tests of a folder.
run_python() {
    local status=0 line out=build-gcc/python.txt
    SPE=$PWD/build-gcc/src/spe "$1" python/tests/run.py "$2" >$out || status=1
    read -r test_passed test_failed test_skipped < <(tail -n 1 $out)
    while read -r line; do skips+=("$2: $line"); done < <(head -n -1 $out)
    return $status
}

# This tree's package for Python, once for all stages.
package=
install_package() {
    [ -z "$package" ] || return 0
    quietly python/environment.sh --install && package=installed
}

# run_package FOLDER: the same with this tree's package.
run_package() {
    CC=gcc build build-gcc && install_package &&
        run_python "$(realpath -m "${SPECIMEN_DEPS:-.deps}/python")/bin/python" "$1"
}

# What builds the package, and the readers that judge our tables, are fetched once.
stage_python() { run_package python/tests; }

stage_spark() { run_package python/tests_spark; }

# The readers that others wrote are fetched once, too.
stage_viewers() {
    local -x VIEWERS
    VIEWERS=$(realpath -m "${SPECIMEN_DEPS:-.deps}/viewers")
    CC=gcc build build-gcc && run_python python3 tests/viewers
}

# The guest and its QEMU are fetched once, beside the other things that are fetched. Where they
# cannot be had the tests are skipped, and say why.
stage_vm() {
    local -x XDG_CACHE_HOME
    local setup=vm
    XDG_CACHE_HOME=${XDG_CACHE_HOME:-$(realpath -m "${SPECIMEN_DEPS:-.deps}/cache")}
    # A guest never waits: one for each processor.
    CC=gcc build build-gcc &&
        run_tests build-gcc --setup $setup --suite vm --num-processes "$jobs"
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
    python)
        python/environment.sh --reason ;;
    spark)
        python/environment.sh --reason-spark ;;
    viewers)
        tests/viewers/environment.sh --reason ;;
    man)
        compgen -G 'docs/man/*.1' >/dev/null || echo "there are no manual pages" ;;
    esac
}

title() {
    case $1 in
    layers) echo "no room calls one to its right" ;;
    headers) echo "public headers alone, in C11 and C++17" ;;
    gcc) echo "GCC build, warnings are errors, all tests" ;;
    abi) echo "the libraries have what docs/abi says" ;;
    clang) echo "Clang build, warnings are errors, tests in C" ;;
    asan) echo "Clang build with ASan and UBSan, all tests, fuzz corpora" ;;
    tsan) echo "Clang build with TSan, tests that use threads" ;;
    aarch64) echo "AArch64 build without optional libraries, all tests under qemu-aarch64" ;;
    faults) echo "calls that fail: memory, files, threads" ;;
    conformance) echo "every held requirement has its test" ;;
    format) echo "clang-format" ;;
    tidy) echo "clang-tidy on src/" ;;
    man) echo "manual pages" ;;
    scripts) echo "scripts" ;;
    python) echo "the package for Python; pyarrow, Polars and DuckDB on our tables (network)" ;;
    spark) echo "recordings on a cluster of Spark with two workers, one of which dies (network)" ;;
    viewers) echo "files for viewers, in the Firefox Profiler and in speedscope (network)" ;;
    vm) echo "Linux, its driver and perf on our unit, in QEMU (network)" ;;
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
    for entry in "${network[@]}"; do echo "with the network: $entry"; done
    [ ${#failures[@]} = 0 ] || echo "failed stages: ${failures[*]}"
    echo "$passed passed, $failed failed"
    [ ${#failures[@]} = 0 ]
    exit
}

# Runs a stage, shows its log if it fails, and keeps the account.
run_stage() {
    local stage=$1 started=$SECONDS status summary reason
    echo
    echo "== $stage: $(title "$stage")"
    reason=$(reason_not_to "$stage")
    if [ -n "$reason" ]; then
        echo "   skipped: $reason"
        skips+=("$stage: $reason")
        return
    fi
    test_passed='' test_failed='' test_skipped=''
    stage_"$stage" >"$log" 2>&1
    status=$?
    if [ -n "$test_passed" ]; then
        summary="$test_passed tests passed, $test_failed failed, $test_skipped skipped"
        if [ $status != 0 ] && [ "$test_failed" = 0 ]; then test_failed=1; fi
    elif [ $status = 0 ]; then
        test_passed=1 test_failed=0 summary="passed"
    else
        test_passed=0 test_failed=1 summary="failed"
    fi
    case $stage in
    python | viewers | spark | vm) network+=("$stage: $summary") ;;
    *) passed=$((passed + test_passed)) failed=$((failed + test_failed)) ;;
    esac
    if [ $status != 0 ]; then
        cat "$log"
        failures+=("$stage")
    else
        account "$stage"
    fi
    echo "   $summary ($((SECONDS - started)) s)"
}

# What of a good stage's log is worth a look.
account() {
    case $1 in
    conformance | layers) sed 's/^/   /' "$log" ;;
    faults) sed -n 's/^[0-9]* command lines, .*/   &/p' build-gcc/meson-logs/testlog-faults.txt ;;
    esac
}

for stage in "${stages[@]}"; do
    title "$stage" >/dev/null || { echo "test: no stage '$stage': ${all_stages[*]}" >&2; exit 2; }
done

tools/setup.sh test || exit

for stage in "${stages[@]}"; do run_stage "$stage"; done
finish
