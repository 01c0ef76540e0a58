#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# Debian packages that a fresh Debian built, and another fresh one installed and tried.
#
#   tools/deb-clean.sh [ARCH] [FOLDER]     for ARCH (this machine's), in FOLDER (build-deb)
#
# It takes root and debootstrap. The packages of arm64 are built by the cross compiler where the machine
# is another one, and their programs run under qemu-aarch64. What debootstrap makes is kept in .deps.
set -euo pipefail
cd "$(dirname "$0")/.."

native=$(dpkg --print-architecture)
arch=${1:-$native}
folder=${2:-build-deb}
suite=${DEB_SUITE:-bookworm}
base=$(realpath -m "${SPECIMEN_DEPS:-.deps}")/debian-$suite

die() { echo "deb-clean: $*" >&2; exit 1; }

[ "$(id -u)" = 0 ] || die "a chroot takes root"
command -v debootstrap >/dev/null || die "debootstrap is missing: apt-get install debootstrap"
# Mounts end with this process.
[ "${DEB_CLEAN_APART:-}" = yes ] || DEB_CLEAN_APART=yes exec unshare --mount --propagation private "$0" "$@"

work=$(mktemp -d)
trap 'umount "$work"/*/proc 2>/dev/null || :; rm -rf --one-file-system "$work"' EXIT

inside() { # root command...
    local root=$1
    shift
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive "$@"
}

quietly() { # command...
    "$@" >"$work/log" 2>&1 || { tail -n 40 "$work/log" >&2; die "failed: $*"; }
}

fresh() { # root
    cp -a --reflink=auto "$base" "$1"
    mount -t proc proc "$1/proc"
    [ "$arch" = "$native" ] || inside "$1" dpkg --add-architecture "$arch"
    quietly inside "$1" apt-get update -q
}

if [ ! -e "$base/etc/debian_version" ]; then
    echo "deb-clean: debootstrap of $suite"
    rm -rf --one-file-system "$base.new"
    mkdir -p "$(dirname "$base")"
    quietly debootstrap --variant=minbase "$suite" "$base.new"
    mv "$base.new" "$base"
fi

echo "deb-clean: building for $arch"
fresh "$work/build"
mkdir "$work/build/src"
archive=$(basename "$(tools/dist.sh "$work/build/src" | tail -n 1)")
tree=/src/${archive%.tar.xz}
tar -C "$work/build/src" -xf "$work/build/src/$archive"
compilers=(build-essential) profiles=nocheck
if [ "$arch" != "$native" ]; then compilers+=("crossbuild-essential-$arch") profiles=cross,nocheck; fi
quietly inside "$work/build" apt-get install -qy --no-install-recommends "${compilers[@]}" fakeroot lintian xz-utils
quietly inside "$work/build" apt-get build-dep -qy --no-install-recommends -a "$arch" -P "$profiles" "$tree"
inside "$work/build" DEB_ARCH="$arch" DEB_ARCHIVE="/src/$archive" "$tree/tools/deb.sh" /src/packages
mkdir -p "$folder"
rm -f "$folder"/*
cp "$work/build/src/packages"/* "$folder"

echo "deb-clean: installing and trying them"
fresh "$work/try"
mkdir "$work/try/src"
find "$folder" -name '*.deb' ! -name '*-dbgsym_*' -exec cp {} "$work/try/src" \;
cp examples/slow_loads.c examples/three_ways.c tools/deb-try.sh "$work/try/src"
others=(gcc libc6-dev pkgconf gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user)
[ "$arch" = "$native" ] || others+=("libc6-dev:$arch")
quietly inside "$work/try" sh -c "apt-get install -qy --no-install-recommends ${others[*]} /src/*.deb"
# One package of QEMU can be installed. The other architecture's is unpacked beside it, with its libraries.
if [ "$arch" != "$native" ]; then
    quietly inside "$work/try" sh -c "cd /opt && apt-get download qemu-user:$arch && dpkg-deb -x qemu-user_*.deb $arch &&
        dpkg-deb -f qemu-user_*.deb Depends | tr ',' '\n' | sed 's/^ *//; s/[ (|].*//; s/\$/:$arch/' |
        xargs apt-get install -qy --no-install-recommends"
fi
inside "$work/try" bash /src/deb-try.sh "$arch"
