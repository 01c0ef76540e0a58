#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# Makes a QEMU that `spe record` can use, where the distribution's has no plugins (Debian since 13):
# from the distribution's own source package, user mode for AArch64 only, in a few minutes, into
# ${XDG_CACHE_HOME:-~/.cache}/specimen/qemu. Nothing else on the machine is changed, except that
# missing packages for the build are installed.
#
#   tools/build-qemu.sh [--check] [--suite NAME] [--keep FOLDER]
#
#   --check         only see whether this machine has a QEMU with plugins: exit with 0 or 1
#   --suite NAME    take the source of another release, such as trixie
#   --keep FOLDER   build there and leave it, instead of in a temporary folder
set -euo pipefail

cache=${XDG_CACHE_HOME:-$HOME/.cache}/specimen/qemu
say() { echo "build-qemu: $*"; }
die() { echo "build-qemu: $*" >&2; exit 1; }

check=no suite='' keep=''
while [ $# != 0 ]; do
    case $1 in
    --check) check=yes ;;
    --suite) suite=${2:?} && shift ;;
    --keep) keep=${2:?} && shift ;;
    *) die "unknown argument '$1': expected --check, --suite NAME or --keep FOLDER" ;;
    esac
    shift
done

has_plugins() { "$1" --help 2>/dev/null | grep -q -- '-plugin'; }

if [ $check = yes ]; then
    for qemu in "$(command -v qemu-aarch64 || true)" "$cache/bin/qemu-aarch64"; do
        if [ -n "$qemu" ] && [ -x "$qemu" ] && has_plugins "$qemu"; then exit 0; fi
    done
    exit 1
fi

# ---- what the build takes ------------------------------------------------------------------------

missing=()
need() { "${@:2}" >/dev/null 2>&1 || missing+=("$1"); } # package test...
need gcc command -v cc
need libc6-dev test -e /usr/include/stdio.h
need ninja-build command -v ninja
need pkg-config command -v pkg-config
need libglib2.0-dev pkg-config --exists glib-2.0
need zlib1g-dev test -e /usr/include/zlib.h
need dpkg-dev command -v dpkg-source
need meson command -v meson
need python3-venv /usr/bin/python3 -c 'import venv, ensurepip'
need python3-distlib /usr/bin/python3 -c 'import distlib'
if [ ${#missing[@]} != 0 ]; then
    command -v apt-get >/dev/null || die "the build takes these Debian packages: ${missing[*]}"
    say "installing ${missing[*]}"
    as_root=()
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || die "installing ${missing[*]} takes root or sudo"
        as_root=(sudo)
    fi
    apt_install() {
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -q --no-install-recommends "${missing[@]}"
    }
    apt_install || { "${as_root[@]}" apt-get update -q && apt_install; } ||
        die "apt could not install ${missing[*]}, see its messages above"
fi

# ---- the source package --------------------------------------------------------------------------

work=$keep
if [ -z "$work" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work"/{lists/partial,cache/archives/partial,parts,source}
chmod 755 "$work"
: >"$work/status"
: >"$work/sources.list"

# The machine's own sources, as source packages; else the distribution's.
machine_sources() {
    local file
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ -e "$file" ] && sed -n 's/^deb /deb-src /p' "$file" >>"$work/sources.list"
    done
    for file in /etc/apt/sources.list.d/*.sources; do
        [ -e "$file" ] && sed 's/^Types:.*/Types: deb-src/' "$file" >"$work/parts/${file##*/}"
    done
    true
}

distribution_sources() { # suite
    rm -f "$work"/parts/*
    # shellcheck source=/dev/null
    . /etc/os-release
    case ${ID:-} in
    ubuntu) echo "deb-src http://archive.ubuntu.com/ubuntu $1 main universe" ;;
    *) echo "deb-src http://deb.debian.org/debian $1 main" ;;
    esac >"$work/sources.list"
}

private=(-o Dir::State="$work" -o Dir::State::Lists="$work/lists"
    -o Dir::State::status="$work/status" -o Dir::Cache="$work/cache"
    -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts="$work/parts"
    -o APT::Sandbox::User="$(id -un)" -o Acquire::Languages=none -o Acquire::Retries=2 -q)

fetch() {
    rm -rf "$work"/lists/*
    mkdir -p "$work/lists/partial"
    apt-get "${private[@]}" update >>"$work/log" 2>&1 || true
    (cd "$work/source" && apt-get "${private[@]}" source --download-only qemu) >>"$work/log" 2>&1
}

if compgen -G "$work/source/qemu_*.dsc" >/dev/null; then
    say "using the source package in $work/source"
else
    say "fetching the source package of QEMU"
    if [ -n "$suite" ]; then
        distribution_sources "$suite"
        fetch || { cat "$work/log" >&2; die "there is no source package of QEMU for $suite"; }
    else
        machine_sources
        if ! fetch; then
            # shellcheck source=/dev/null
            distribution_sources "$(. /etc/os-release && echo "${VERSION_CODENAME:?}")"
            fetch || { cat "$work/log" >&2; die "could not fetch the source, see apt's messages"; }
        fi
    fi
fi
if [ ! -d "$work/tree" ]; then
    dpkg-source --no-check -x "$work"/source/qemu_*.dsc "$work/tree" >>"$work/log" 2>&1 ||
        { tail -n 20 "$work/log" >&2; die "could not unpack the source"; }
fi
version=$(cat "$work/tree/VERSION")

# ---- configure, build, install -------------------------------------------------------------------

say "configuring QEMU $version"
mkdir -p "$work/build"
python=/usr/bin/python3
configure() {
    (cd "$work/build" && "$work/tree/configure" --target-list=aarch64-linux-user \
        --without-default-features --enable-tcg --enable-plugins --enable-linux-user --disable-system \
        --disable-docs --disable-tools --disable-guest-agent --disable-download \
        --disable-install-blobs --python="$python") >>"$work/log" 2>&1
}
# The source of a later release may want a later Meson than this machine has.
fetch_meson() {
    say "fetching a later Meson"
    python=$work/python/bin/python
    { /usr/bin/python3 -m venv "$work/python" && "$work/python/bin/pip" install -q meson distlib; } >>"$work/log" 2>&1
}
configure || { fetch_meson && configure; } ||
    { tail -n 30 "$work/log" >&2; die "QEMU's configure failed"; }

say "building QEMU $version"
# One line for every tenth of the work.
NINJA_STATUS='[%f/%t] ' ninja -C "$work/build" qemu-aarch64 2>&1 | tee -a "$work/log" |
    awk -F'[][/]' '/^\[[0-9]+\/[0-9]+\]/ { part = int(10 * $2 / $3)
        if (part > last) { printf "build-qemu: %d %%\n", part * 10; fflush(); last = part } }' ||
    { tail -n 30 "$work/log" >&2; die "QEMU does not build"; }
[ -x "$work/build/qemu-aarch64" ] || { tail -n 30 "$work/log" >&2; die "QEMU does not build"; }

mkdir -p "$cache/bin"
cp "$work/build/qemu-aarch64" "$cache/bin/qemu-aarch64.new"
strip --strip-debug "$cache/bin/qemu-aarch64.new" 2>/dev/null || true
mv "$cache/bin/qemu-aarch64.new" "$cache/bin/qemu-aarch64"
has_plugins "$cache/bin/qemu-aarch64" || die "the QEMU that was built has no plugins"
say "QEMU $version is in $cache/bin"
