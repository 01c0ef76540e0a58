#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# A tar archive of the commit that is checked out, which builds without git.
#
#   tools/dist.sh [FOLDER]      specimen-VERSION.tar.xz in FOLDER (build-dist)
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${1:-build-dist}
version=$(sed -n "s/^  version: '\(.*\)',$/\1/p" meson.build)
name=specimen-$version

mkdir -p "$folder"
if [ -n "$(git status --porcelain --untracked-files=no)" ]; then
    echo "dist: changes that are not committed are not in the archive" >&2
fi
git archive --format=tar --prefix="$name/" HEAD | xz -T0 >"$folder/$name.tar.xz.new"
mv "$folder/$name.tar.xz.new" "$folder/$name.tar.xz"
echo "$folder/$name.tar.xz"
