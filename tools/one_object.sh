#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# Makes a static library whose only global symbols are those that the shared one exports. All objects
# become one, in which the hidden symbols are local: names of ours and of a program that links it
# cannot meet.
#
#   tools/one_object.sh OBJCOPY AR INPUT.a OUTPUT.a COMPILER...
set -eu
objcopy=$1 ar=$2 input=$3 output=$4
shift 4
object=${output%.a}.o
"$@" -r -nostdlib -o "$object" -Wl,--whole-archive "$input" -Wl,--no-whole-archive
"$objcopy" --localize-hidden "$object"
rm -f "$output"
"$ar" rcsD "$output" "$object"
rm -f "$object"
