#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# Debian packages of the commit that is checked out, and lintian's verdict on them.
#
#   tools/deb.sh [FOLDER]       the packages in FOLDER (build-deb)
#
#   DEB_ARCH=arm64              packages of another architecture, by Debian's cross compiler; its build
#                               dependencies have to be installed (tools/deb-clean.sh does that in a chroot)
#   DEB_ARCHIVE=FILE            the archive of tools/dist.sh, where there is no git
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${1:-build-deb}
mkdir -p "$folder"
folder=$(realpath "$folder")
for tool in dpkg-buildpackage dh lintian; do
    command -v "$tool" >/dev/null && continue
    echo "deb: $tool is missing: install dpkg-dev, debhelper, fakeroot and lintian" >&2
    exit 1
done

native=$(dpkg --print-architecture)
arch=${DEB_ARCH:-$native}
options=(--no-sign)
if [ "$arch" != "$native" ]; then
    options+=(--build=any --host-arch "$arch" "--build-profiles=cross,nocheck")
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
archive=${DEB_ARCHIVE:-}
[ -n "$archive" ] || archive=$(tools/dist.sh "$work" | tail -n 1)
name=$(basename "$archive" .tar.xz)
cp "$archive" "$work/${name/-/_}.orig.tar.xz"
tar -C "$work" -xf "$archive"
(cd "$work/$name" && dpkg-buildpackage "${options[@]}" >"$work/log" 2>&1) || {
    tail -n 40 "$work/log" >&2
    echo "deb: the packages for $arch were not built" >&2
    [ "$arch" = "$native" ] || echo "deb: as root, tools/deb-clean.sh $arch builds them in a chroot" >&2
    exit 1
}
lintian --allow-root --fail-on error "$work"/*.changes
rm -f "$folder"/*
find "$work" -maxdepth 1 \( -name '*.deb' -o -name '*.dsc' -o -name '*.tar.xz' -o -name '*.changes' \) \
    -exec cp {} "$folder" \;
ls "$folder"/*.deb
