#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# Are the installed packages of ARCH any good? tools/deb-clean.sh asks, in a chroot that has nothing else.
#
#   deb-try.sh ARCH
set -euo pipefail
cd "$(dirname "$0")"
arch=$1
native=$(dpkg --print-architecture)

die() { echo "deb-try: $*" >&2; exit 1; }

run=() cc=gcc
triplet=x86_64-linux-gnu machine=62
[ "$arch" != arm64 ] || { triplet=aarch64-linux-gnu machine=183; }
if [ "$arch" != "$native" ]; then
    run=(qemu-aarch64 -L /)
    cc=$triplet-gcc
    export PKG_CONFIG_LIBDIR=/usr/lib/$triplet/pkgconfig
fi

[ -e "/usr/lib/$triplet/specimen/specimen-qemu.so" ] || die "the plugin is missing"

# Every ELF file is one of this architecture.
elf=0
for package in specimen specimen-qemu libspecimen0.1 libspecimen-core0.1; do
    while read -r file; do
        if [ ! -f "$file" ] || [ "$(head -c 4 "$file" | tr -d '\0')" != $'\177ELF' ]; then continue; fi
        [ "$(od -An -t u2 -j 18 -N 2 "$file" | tr -d ' ')" = $machine ] || die "$file: is not for $arch"
        elf=$((elf + 1))
    done < <(dpkg -L "$package:$arch")
done

"${run[@]}" /usr/bin/spe version
"${run[@]}" /usr/bin/spe gen --records 2000 --cpu neoverse-n1 -o some.spe
"${run[@]}" /usr/bin/spe check some.spe >/dev/null
page=$("${run[@]}" /usr/bin/spe report --raw --cpu neoverse-n1 some.spe)
grep -q '2,000 samples' <<<"$page" || die "spe report does not know its 2,000 samples"

# shellcheck disable=SC2046 # words
$cc -O1 slow_loads.c -o slow_loads $(pkg-config --cflags --libs specimen)
"${run[@]}" ./slow_loads <some.spe | grep -q '2000 records' || die "the example does not read records"

# The plugin, in the QEMU that the package recommends. One of another architecture runs in this machine's:
# the kernel starts no program of it, but it does start this script.
qemu=()
if [ "$arch" != "$native" ]; then
    printf '#!/bin/sh\nexec %s /opt/%s/usr/bin/qemu-aarch64 "$@"\n' "${run[*]}" "$arch" >qemu-within
    chmod +x qemu-within
    qemu=(--qemu "$PWD/qemu-within")
fi
aarch64-linux-gnu-gcc -O2 -g -static three_ways.c -o three_ways
"${run[@]}" /usr/bin/spe record "${qemu[@]}" -q -c 4096 -o perf.data -- ./three_ways >/dev/null
page=$("${run[@]}" /usr/bin/spe report perf.data)
grep -q in_no_order <<<"$page" || die "the recording does not name in_no_order"
echo "deb-try: $elf ELF files for $arch; the command, the plugin, the library and the examples work"
