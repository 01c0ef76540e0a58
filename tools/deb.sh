#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# Debian packages of the commit that is checked out, and what lintian says of them.
#
#   tools/deb.sh [FOLDER]       the packages in FOLDER (build-deb)
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

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
archive=$(tools/dist.sh "$work" | tail -n 1)
name=$(basename "$archive" .tar.xz)
mv "$archive" "$work/${name/-/_}.orig.tar.xz"
tar -C "$work" -xf "$work/${name/-/_}.orig.tar.xz"
(cd "$work/$name" && dpkg-buildpackage --no-sign >"$work/log" 2>&1) || {
    tail -n 40 "$work/log" >&2
    exit 1
}
lintian --allow-root --fail-on error "$work"/*.changes
rm -f "$folder"/*
cp "$work"/*.deb "$work"/*.dsc "$work"/*.tar.xz "$work"/*.changes "$folder"
ls "$folder"/*.deb
