#!/bin/busybox sh
# shellcheck shell=dash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# The guest's first process. It runs /run/spe/command in /work on the second serial line; if there
# is none, a shell on the first, which is the terminal. Then it puts what is left in /work, with the
# status, on the disk as a tar archive; with recordings the kernel's symbols, too, if
# /run/spe/symbols is there.
export PATH=/bin:/usr/bin HOME=/tmp PERF_PAGER=cat PAGER=cat
/bin/busybox mkdir -p /proc /sys /dev /tmp /work /usr/sbin /sbin
/bin/busybox mount -t proc proc /proc
/bin/busybox --install -s /bin
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs -o size=90% tmpfs /tmp
mkdir -p /dev/shm /tmp/modules
ln -s /proc/self/fd /dev/fd
while read -r module; do
    case $module in
    *.xz) unxz -c "/lib/modules/$module" >"/tmp/modules/${module%.xz}" ;;
    *) cp "/lib/modules/$module" /tmp/modules/ ;;
    esac
    insmod "/tmp/modules/${module%.xz}"
done </lib/modules/order
rm -r /tmp/modules
[ ! -f /run/spe/name ] || hostname -F /run/spe/name # which recordings keep
echo -1 >/proc/sys/kernel/perf_event_paranoid
echo 0 >/proc/sys/kernel/kptr_restrict

finish() {
    sync
    poweroff -f
}

# What is in /work, but not what was put there, and the status: onto the disk.
bring_out() {
    mkdir -p /run/spe/out/work
    echo "$1" >/run/spe/out/status
    mount --bind /work /run/spe/out/work
    (cd /run/spe/put && find . -type f -exec rm -f '/work/{}' ';')
    symbols=
    if [ -f /run/spe/symbols ] && find /work -type f -exec head -q -c 8 {} + |
        tr '\000' '\n' | grep -q PERFILE2; then
        echo 0 >/proc/sys/kernel/kptr_restrict
        cat /proc/kallsyms >/run/spe/out/kallsyms && symbols=kallsyms
    fi
    tar -c -f /dev/vda -C /run/spe/out status $symbols work ||
        echo "init: what is in /work does not fit on the disk"
}

mount -t tmpfs -o size=80% tmpfs /work
cd /work || finish
cp -a /run/spe/put/. /work/
if [ -f /run/spe/command ]; then
    terminal=/dev/ttyAMA1
    stty -F $terminal raw -echo
    sh /run/spe/command </dev/null >$terminal 2>&1
else
    ! read -r rows columns 2>/dev/null </run/spe/terminal || stty rows "$rows" cols "$columns"
    echo "Linux $(uname -r) with SPE: perf record -e arm_spe_0// COMMAND"
    echo "To leave: exit, or control-d; then what is in this folder, /work, comes out."
    echo "To end QEMU at once: control-a x; then nothing comes out."
    setsid cttyhack sh
fi
bring_out $?
finish
