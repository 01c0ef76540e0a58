#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# Installs what Specimen needs and this machine lacks. Run it as often as you like: when nothing is
# missing it says so and does nothing else.
#
#   tools/setup.sh [--check] [build|demo|check|test]
#
#   build    what it takes to build Specimen
#   demo     that, and what it takes to record a program for AArch64: a compiler, and a QEMU with
#            plugins, which is built where the distribution has none (tools/build-qemu.sh)
#   check    what it takes to build, and what the tests of one build take
#   test     all that `make test` uses (the default)
#   --check  install nothing, say nothing when all is here, exit with 1 when something is missing
set -euo pipefail
cd "$(dirname "$0")/.."

# profile | how to see that it is there | Debian or Ubuntu package | what it is for
# A package in <> is looked up, because its name depends on the release.
needs='
build | command make                                    | make                  | the targets
build | command cc                                      | gcc                   | C compiler
build | file /usr/include/stdio.h                       | libc6-dev             | C library headers
build | command meson                                   | meson                 | build system
build | command ninja                                   | ninja-build           | build system
build | command pkg-config                              | pkg-config            | finding libraries
build | library libdw                                   | libdw-dev             | symbols, source lines
build | library zlib                                    | zlib1g-dev            | packed profiles for pprof
build | library libzstd                                 | libzstd-dev           | compressed recordings
build | library capstone                                | libcapstone-dev       | disassembly
build | file /usr/include/libfdt.h                      | libfdt-dev            | spe vm
build | command python3                                 | python3               | build system, tests
test  | command gcc                                     | gcc                   | C compiler
test  | command g++                                     | g++                   | headers for C++
test  | file /usr/include/bzlib.h                         | libbz2-dev            | static linking with libdw
check | library cmocka                                  | libcmocka-dev         | unit tests
test  | command abidiff                                 | abigail-tools         | comparison of ABIs
test  | chromium                                        | chromium              | pages in a browser
test  | command clang                                   | clang                 | second C compiler
test  | fuzzer                                          | <clang-rt>            | fuzzers, sanitizers
test  | command clang-format                            | clang-format          | style check
test  | command clang-tidy                              | clang-tidy            | static analysis
test  | command gdb                                     | gdb                   | names of variables
test  | command fish                                    | fish                  | completion check
test  | command mandoc                                  | mandoc                | manual page check
test  | command zsh                                     | zsh                   | completion check
test  | command llvm-objdump-19                         | llvm-19               | comparison with LLVM
test  | command dwz                                     | dwz                   | shared debug files
test  | file /usr/bin/rustc                             | rustc                 | programs in Rust
test  | command protoc                                  | protobuf-compiler     | reading pprof files
test  | python-venv                                     | python3-venv          | package for Python
test  | command java                                    | default-jre-headless  | Spark
test  | python-headers                                  | python3-dev           | package for Python
test  | command xz                                      | xz-utils              | packed debug information
test  | perf                                            | <perf>                | comparison with perf
cross | command aarch64-linux-gnu-gcc                   | gcc-aarch64-linux-gnu | AArch64 programs
cross | command aarch64-linux-gnu-g++                   | g++-aarch64-linux-gnu | C++ programs for AArch64
cross | file /usr/aarch64-linux-gnu/include/stdio.h     | libc6-dev-arm64-cross | AArch64 programs
cross | command qemu-aarch64                            | qemu-user             | running and recording them
'
# cmocka for AArch64 is not a cross package and adding an architecture to the machine's dpkg would be
# too much, so it is unpacked here. SPECIMEN_DEPS may point at a folder that has it already.
deps=${SPECIMEN_DEPS:-.deps}/aarch64
# Real programs that the tests record, with their libraries.
programs=${SPECIMEN_DEPS:-.deps}/programs
program_packages='coreutils gzip zstd sqlite3 python3-minimal'
# Rust's library for AArch64, of the version of the compiler.
rust=${SPECIMEN_DEPS:-.deps}/rust
# The newest perf that Debian's stable release offers, with its own C library: most of the tests that
# compare with perf run again with it (tests/record/test_newer_perf.py).
newer_perf=${SPECIMEN_DEPS:-.deps}/perf
newer_perf_release=trixie

die() { echo "setup: $*" >&2; exit 1; }

check_only=no profile=test
for arg; do
    case $arg in
    --check) check_only=yes ;;
    build | demo | check | test) profile=$arg ;;
    *) die "unknown argument '$arg': expected --check, build, demo, check or test" ;;
    esac
done

case $profile in
build) profiles='build' ;;
demo) profiles='build cross' ;;
check) profiles='build check' ;;
test) profiles='build check test' ;;
esac
# On AArch64 itself the native build is the AArch64 build.
if [ "$profile" = test ] && [ "$(uname -m)" != aarch64 ]; then profiles+=' cross'; fi

is_there() { # kind argument
    case $1 in
    command) command -v "$2" >/dev/null ;;
    file) [ -e "$2" ] ;;
    library) command -v pkg-config >/dev/null && pkg-config --exists "$2" ;;
    fuzzer) # its run-time library comes apart from the compiler
        command -v clang >/dev/null || return 1
        local name
        for name in "libclang_rt.fuzzer-$(uname -m).a" libclang_rt.fuzzer.a; do
            [ ! -e "$(clang -print-file-name="$name")" ] || return 0
        done
        return 1 ;;
    chromium) # Ubuntu has it as a snap only: there its test says that it did not run
        command -v chromium >/dev/null || command -v chromium-browser >/dev/null ||
            grep -qs '^ID=ubuntu' /etc/os-release ;;
    python-venv) python3 -c 'import ensurepip, venv' 2>/dev/null ;;
    python-headers)
        [ -e "$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null)/Python.h" ] ;;
    perf) # Ubuntu's /usr/bin/perf refuses to run beside a kernel that is not its own
        perf --version >/dev/null 2>&1 || compgen -G '/usr/lib/linux-tools*/*/perf' >/dev/null ||
            compgen -G '/usr/lib/linux-tools-*/perf' >/dev/null ;;
    esac
}

# Sets missing_packages and missing_lines. The lines are for people.
look() {
    missing_packages=() missing_lines=()
    local need kind argument package what
    while IFS='|' read -r need test package what; do
        need=${need// /} package=${package// /} what=${what# }
        [[ -n $need && " $profiles " == *" $need "* ]] || continue
        read -r kind argument <<<"$test"
        is_there "$kind" "$argument" && continue
        missing_packages+=("$package")
        missing_lines+=("$(printf '  %-24s %s' "$package" "$what")")
    done <<<"$needs"
}

need_arm64_cmocka() {
    [[ "$profile $profiles " == test*' cross '* ]] && ! compgen -G "$deps/usr/lib/*/libcmocka.so" >/dev/null
}

need_arm64_programs() {
    [[ "$profile $profiles " == test*' cross '* ]] && [ ! -e "$programs/usr/bin/sqlite3" ]
}

rust_version() { /usr/bin/rustc --version 2>/dev/null; }

need_arm64_rust() {
    [[ "$profile $profiles " == test*' cross '* ]] &&
        [ "$(rust_version)" != "$(cat "$rust/version" 2>/dev/null)" ]
}

# Other distributions do not know the keys of Debian's archive.
need_newer_perf() {
    [[ "$profile" == test && "$ID" == debian ]] && [ ! -x "$newer_perf/perf" ]
}

need_qemu() { [[ " $profiles " == *' cross '* ]] && ! tools/build-qemu.sh --check; }

ID='' ID_LIKE='' VERSION_CODENAME=''
# shellcheck source=/dev/null
[ ! -r /etc/os-release ] || . /etc/os-release

look
if [ ${#missing_packages[@]} = 0 ] && ! need_arm64_cmocka && ! need_arm64_programs && ! need_arm64_rust &&
    ! need_newer_perf && ! need_qemu; then
    [ $check_only = yes ] || echo "setup: everything is here"
    exit 0
fi
if need_arm64_cmocka; then
    missing_lines+=("$(printf '  %-24s %s' 'cmocka for AArch64' "AArch64 tests (in $deps, not installed)")")
fi
if need_arm64_programs; then
    missing_lines+=("$(printf '  %-24s %s' 'programs for AArch64' "to record in tests (in $programs, not installed)")")
fi
if need_arm64_rust; then
    missing_lines+=("$(printf '  %-24s %s' 'Rust for AArch64' "programs in Rust (in $rust, not installed)")")
fi
if need_qemu; then
    missing_lines+=("$(printf '  %-24s %s' 'a QEMU with plugins' 'recording (built, if the distribution has none)')")
fi
if need_newer_perf; then
    missing_lines+=("$(printf '  %-24s %s' 'a newer perf' "comparison with perf (in $newer_perf, not installed)")")
fi

case " $ID $ID_LIKE " in
*' ubuntu '*) system=ubuntu ;;
*' debian '*) system=debian ;;
*) system=other ;;
esac
command -v apt-get >/dev/null || system=other

if [ "$check_only" = yes ] || [ "$system" = other ]; then
    echo "setup: this is missing (package names as on Debian):"
    printf '%s\n' "${missing_lines[@]}"
    if [ "$system" = other ]; then
        die "this is neither Debian nor Ubuntu, please install these with your own package manager"
    fi
    die "'make setup' installs it"
fi

as_root=()
if [ "$(id -u)" != 0 ] && [ ${#missing_packages[@]} != 0 ]; then
    if ! command -v sudo >/dev/null; then
        printf '%s\n' "setup: this is missing:" "${missing_lines[@]}"
        die "installing packages takes root or sudo, and here is neither"
    fi
    as_root=(sudo)
fi
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "$@"; }
known() { [ -n "$(apt-cache show --no-all-versions "$1" 2>/dev/null)" ]; }

echo "setup: installing for $ID ${VERSION_CODENAME:-}:"
printf '%s\n' "${missing_lines[@]}"

# Replaces <names> by what the release calls them; needs apt's lists.
resolve() {
    local package major
    resolved=()
    for package; do
        case $package in
        '<perf>')
            package=linux-perf
            known linux-perf || package=linux-tools-generic ;;
        '<clang-rt>')
            major=$(apt-cache depends clang 2>/dev/null |
                sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p' | head -n 1)
            package=libclang-rt-$major-dev
            known "$package" || package=libclang-common-$major-dev ;;
        esac
        resolved+=("$package")
    done
}

install_packages() {
    resolve "${missing_packages[@]}"
    apt install -y --no-install-recommends "${resolved[@]}"
}

if [ ${#missing_packages[@]} != 0 ]; then
    if ! compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; then
        echo "setup: apt has no package lists yet"
        apt update
    fi
    if ! install_packages; then
        echo "setup: trying again with new package lists"
        apt update
        install_packages || die "apt could not install what is missing, see its messages above"
    fi
fi

# An apt of its own for an architecture: its lists, cache and status live in a folder that is thrown
# away, it needs no root, and the machine's apt does not notice. Sets work and private_apt.
make_private_apt() {
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    chmod 755 "$work"
    mkdir -p "$work"/{lists,cache}
    : >"$work/status"
    private_apt=(-o APT::Architecture="$1" -o APT::Architectures::="$1"
        -o Dir::State="$work" -o Dir::State::Lists="$work/lists"
        -o Dir::State::status="$work/status" -o Dir::Cache="$work/cache"
        -o APT::Install-Recommends=false -o APT::Sandbox::User="$(id -un)"
        -o Acquire::Languages=none -o Acquire::Retries=2 -q)
}

# unpack FOLDER PACKAGE...: the packages and all that they need.
unpack() {
    local folder=$1 deb dir
    shift
    rm -rf "$work"/cache/archives "$folder"
    apt-get "${private_apt[@]}" install --download-only -y "$@" >>"$work/log" 2>&1 || return
    mkdir -p "$folder.new"
    for deb in "$work"/cache/archives/*.deb; do dpkg-deb -x "$deb" "$folder.new" || return; done
    rm -rf "${folder:?}.new/usr/share/doc" "${folder:?}.new/usr/share/man" "${folder:?}.new/usr/share/locale"
    # Where packages have everything below usr, base-files has links that we need, too.
    for dir in lib bin; do [ -e "$folder.new/$dir" ] || ln -s "usr/$dir" "$folder.new/$dir"; done
    mv "$folder.new" "$folder"
}

# The library alone: what it needs is needed by programs that run, and ours are looked at.
unpack_arm64_rust() {
    rm -rf "$work/rust" "$rust" "$rust.new"
    mkdir -p "$work/rust"
    (cd "$work/rust" && apt-get "${private_apt[@]}" download libstd-rust-dev) >>"$work/log" 2>&1 || return
    dpkg-deb -x "$work"/rust/libstd-rust-dev_*.deb "$rust.new" || return
    rm -rf "$rust.new/usr/share"
    rust_version >"$rust.new/version"
    mv "$rust.new" "$rust"
}

unpack_all_arm64() {
    if need_arm64_cmocka; then unpack "$deps" libcmocka-dev || return; fi
    if need_arm64_programs; then
        # shellcheck disable=SC2086
        unpack "$programs" $program_packages || return
    fi
    if need_arm64_rust; then unpack_arm64_rust || return; fi
}

# First with the machine's own sources, so that a local mirror is used; else with the
# distribution's, because those may be for one architecture only (on Ubuntu they always are).
fetch_arm64() {
    make_private_apt arm64
    apt-get "${private_apt[@]}" update >>"$work/log" 2>&1 || true
    if unpack_all_arm64; then return 0; fi
    case $system in
    debian) echo "deb http://deb.debian.org/debian $VERSION_CODENAME main" ;;
    ubuntu) echo "deb http://ports.ubuntu.com/ubuntu-ports $VERSION_CODENAME main universe" ;;
    esac >"$work/sources.list"
    private_apt+=(-o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=-)
    rm -rf "$work"/lists/* "$work"/cache/*
    apt-get "${private_apt[@]}" update >>"$work/log" 2>&1 || true
    if unpack_all_arm64; then return 0; fi
    cat "$work/log" >&2
    return 1
}

if need_arm64_cmocka || need_arm64_programs || need_arm64_rust; then
    echo "setup: fetching AArch64 packages into ${SPECIMEN_DEPS:-.deps}"
    fetch_arm64 || die "could not fetch packages for AArch64, see apt's messages above"
fi

# Backports move on, so this is whatever they have; the test says which.
fetch_newer_perf() {
    local loader
    make_private_apt "$(dpkg --print-architecture)"
    printf "deb http://deb.debian.org/debian %s main\n" $newer_perf_release{,-backports} >"$work/sources.list"
    private_apt+=(-o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=-)
    apt-get "${private_apt[@]}" update >>"$work/log" 2>&1 || true
    if ! unpack "$newer_perf" -t $newer_perf_release-backports linux-perf; then
        cat "$work/log" >&2
        return 1
    fi
    (cd "$newer_perf" && rm -rf etc var usr/share usr/lib/python3* usr/lib/*/perl* usr/lib/*/gconv)
    loader=$(cd "$newer_perf" && compgen -G 'usr/lib*/ld-linux*') || return
    cat >"$newer_perf/perf" <<EOF
#!/bin/sh
root=\$(dirname "\$0")
exec "\$root/$loader" --library-path "\$(echo "\$root"/usr/lib/*-linux-gnu)" "\$root/usr/bin/perf" "\$@"
EOF
    chmod +x "$newer_perf/perf"
}

# Without it there is less to compare with, and nothing else: the test says so, too.
if need_newer_perf; then
    echo "setup: fetching a newer perf into ${SPECIMEN_DEPS:-.deps}"
    (fetch_newer_perf) || echo "setup: could not fetch a newer perf, see apt's messages above" >&2
fi

if need_qemu; then tools/build-qemu.sh; fi

look
if [ ${#missing_packages[@]} != 0 ] || need_arm64_cmocka || need_arm64_programs || need_arm64_rust ||
    need_qemu; then
    printf '%s\n' "${missing_lines[@]}" >&2
    die "this is still missing after the installation"
fi
echo "setup: done"
