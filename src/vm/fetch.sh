#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# Prepares what `spe vm` runs, from Debian's packages, in a folder of its own:
#
#   fetch.sh FOLDER qemu            FOLDER/qemu: a QEMU whose plugin interface is new enough
#   fetch.sh FOLDER guest VERSION   FOLDER/guest-VERSION: Linux, busybox and perf for arm64
#
# An apt of its own does the work: its lists, cache and state are in FOLDER, it needs no root, the
# machine's apt does not notice. What it fetches is verified by the archive's signatures, and a
# fetch that was interrupted goes on where it stopped.
set -eu

folder=$1 what=$2 version=${3:-}
mirror=${SPECIMEN_DEBIAN_MIRROR:-http://deb.debian.org/debian}
keyring=${SPECIMEN_DEBIAN_KEYRING:-/usr/share/keyrings/debian-archive-keyring.gpg}

die() { echo "spe: vm: $*" >&2; exit 1; }

for tool in apt-get apt-cache dpkg-deb flock; do
    command -v $tool >/dev/null || die "fetching takes Debian's $tool, which is not here;" \
        "docs/vm.md says what to put where by hand"
done
[ -r "$keyring" ] || die "$keyring, the keys that Debian signs with, is not here:" \
    "install the package debian-archive-keyring"

# private ARCHITECTURE SUITE...: set up the apt of that architecture and release.
private() {
    arch=$1
    shift
    state=$folder/apt/$arch-$1
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
    : >"$state/status"
    for suite; do echo "deb [arch=$arch signed-by=$keyring] $mirror $suite main"; done >"$state/sources"
    cat >"$state/apt.conf" <<END
APT::Architecture "$arch";
APT::Architectures { "$arch"; };
APT::Sandbox::User "$(id -un)";
APT::Install-Recommends "false";
Acquire::Languages "none";
Acquire::Retries "2";
Dir::State "$state";
Dir::State::Lists "$state/lists";
Dir::State::status "$state/status";
Dir::Cache "$state/cache";
Dir::Cache::archives "$state/cache/archives";
Dir::Etc::SourceList "$state/sources";
Dir::Etc::SourceParts "-";
Dir::Log "$state";
# Machines made for containers throw the archives away; these are wanted.
DPkg::Post-Invoke { };
APT::Update::Post-Invoke { };
APT::Keep-Downloaded-Packages "true";
END
    log=$state/log
    APT_CONFIG=$state/apt.conf
    export APT_CONFIG
    apt-get -q update >"$log" 2>&1 || failed
    ! grep -q '^\(W\|E\):' "$log" || failed
}

failed() {
    sed 's/^/  /' "$log" >&2
    die "Debian's package manager could not fetch this; its words are above, and in $log"
}

# Kibibytes below a folder.
held() { du -sk "$1" 2>/dev/null | cut -f 1; }

# fetch OPTION... PACKAGE...: packages and all that they depend on.
fetch() {
    total=$(apt-get -q -y --print-uris install "$@" 2>"$log" |
        awk '/^.(http|https|file|copy):/ { kib += $3 / 1024 } END { printf "%d", kib }') || failed
    before=$(held "$state/cache/archives")
    apt-get -q -y --download-only install "$@" >"$log" 2>&1 &
    job=$!
    trap 'kill $job; exit 1' INT TERM HUP # it would go on without us
    if [ -t 2 ]; then
        while kill -0 $job 2>/dev/null; do
            printf '\rspe vm: %s: %d of %d MB ' "$what" \
                $((($(held "$state/cache/archives") - before) / 1024)) $((total / 1024)) >&2
            sleep 1
        done
        printf '\r\033[K' >&2
    fi
    wait $job || failed
    trap - INT TERM HUP
}

# unpack FOLDER: every package that was fetched.
unpack() {
    rm -rf "$1"
    mkdir -p "$1"
    for deb in "$state"/cache/archives/*.deb; do dpkg-deb -x "$deb" "$1"; done
}

fetch_qemu() {
    arch=$(dpkg --print-architecture)
    private "$arch" trixie trixie-backports
    fetch -t trixie-backports qemu-system-arm
    unpack "$folder/qemu.new"
    rm -rf "$folder/qemu"
    mv "$folder/qemu.new" "$folder/qemu"
    rm -rf "$state"
}

# The releases that have this Linux; the last one counts.
suites_of() {
    case $1 in
    6.1) echo bookworm ;;
    6.12) echo trixie ;;
    backports) echo trixie trixie-backports ;;
    *) die "there is no guest with Linux $1: 6.1 (Debian 12), 6.12 (Debian 13) and backports" \
        "(the newest of Debian 13's backports) are known" ;;
    esac
}

# Packages that PACKAGE depends on, of those with such names.
depends() { apt-cache -o APT::Default-Release="$suite" depends "$1" | sed -n "s/^ *Depends: \($2\)\$/\1/p"; }

# Linux: the image for virtual machines, which is the smaller one. It may be in parts.
kernel_packages() {
    image=$(depends linux-image-cloud-arm64 'linux-image-[^ ]*-arm64')
    [ -n "$image" ] || die "$suite has no Linux for arm64 virtual machines"
    echo "$image"
    depends "$image" 'linux-\(binary\|modules\)-[^ ]*'
}

# Modules that the guest loads, in this order; a built-in module has no file.
modules='virtio virtio_ring virtio_mmio virtio_blk arm_spe_pmu'

# guest_root UNPACKED FOLDER
guest_root() {
    from=$1 to=$2
    mkdir -p "$to/root/bin" "$to/root/lib/modules" "$to/root/usr/bin" "$to/root/usr/lib"
    cp "$(find "$from" -name 'vmlinuz*' -type f | head -n 1)" "$to/vmlinuz"
    for busybox in "$from/bin/busybox" "$from/usr/bin/busybox"; do
        [ ! -f "$busybox" ] || cp "$busybox" "$to/root/bin/busybox"
    done
    cp "$(find "$from/usr/bin" -name 'perf*' -type f -size +1000k | head -n 1)" "$to/root/usr/bin/perf"
    for module in $modules; do
        find "$from/lib/modules" "$from/usr/lib/modules" -name "$module.ko*" 2>/dev/null || true
    done | while read -r file; do
        cp "$file" "$to/root/lib/modules/"
        basename "$file" >>"$to/root/lib/modules/order"
    done
    # Shared libraries lie flat in the multiarch folders; what is deeper belongs to programs that
    # the guest does not have.
    for libraries in "$from"/lib/aarch64-linux-gnu "$from"/usr/lib/aarch64-linux-gnu; do
        [ ! -d "$libraries" ] ||
            find "$libraries" -maxdepth 1 -name '*.so*' -exec cp -P {} "$to/root/usr/lib/" \;
    done
    cp -L "$(find "$from" -name ld-linux-aarch64.so.1 | head -n 1)" "$to/root/lib/"
}

fetch_guest() {
    suites=$(suites_of "$version")
    suite=${suites##* }
    # shellcheck disable=SC2086
    private arm64 $suites
    kernel=$(kernel_packages)
    fetch -t "$suite" busybox-static linux-perf
    # shellcheck disable=SC2086
    (cd "$state/cache/archives" && apt-get -q -t "$suite" download $kernel) >"$log" 2>&1 || failed
    unpack "$folder/unpacked"
    rm -rf "$folder/guest-$version.new" "$folder/guest-$version"
    guest_root "$folder/unpacked" "$folder/guest-$version.new"
    mv "$folder/guest-$version.new" "$folder/guest-$version"
    rm -rf "$folder/unpacked" "$state"
}

mkdir -p "$folder"
# One at a time; who has waited may find that it has been done.
exec 9>"$folder/lock"
if ! flock -n 9; then
    echo "spe vm: waiting for another fetch" >&2
    flock 9
    if [ $what = qemu ]; then made=qemu; else made=guest-$version; fi
    [ ! -d "$folder/$made" ] || exit 0
fi
case $what in
qemu) fetch_qemu ;;
guest) fetch_guest ;;
*) die "'$what' is neither qemu nor guest" ;;
esac
