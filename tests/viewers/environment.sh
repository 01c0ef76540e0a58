#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# The readers that others wrote: the Node.js of requirements.txt and the packages of package.json, in
# the versions and with the hashes that these and package-lock.json have.
#
#   environment.sh --reason    fetch what is missing; say why that cannot be, if it cannot
set -euo pipefail
cd "$(dirname "$0")/../.."

folder=$(realpath -m "${SPECIMEN_DEPS:-.deps}/viewers")
lists=(tests/viewers/{requirements.txt,package.json,package-lock.json})

fetch() {
    rm -rf "$folder" && python3 -m venv "$folder" &&
        "$folder/bin/pip" install --disable-pip-version-check --require-hashes --retries 1 \
            --only-binary :all: -r tests/viewers/requirements.txt &&
        cp tests/viewers/package*.json "$folder" &&
        (cd "$folder" && PATH=$folder/bin:$PATH npm ci --ignore-scripts --no-audit --no-fund) &&
        sha256sum "${lists[@]}" >"$folder/.lists"
}

[ "${1:-}" = --reason ] || { echo "usage: environment.sh --reason" >&2 && exit 2; }
if [ "$(cat "$folder/.lists" 2>/dev/null)" = "$(sha256sum "${lists[@]}")" ]; then exit; fi
if log=$(fetch 2>&1); then exit; fi
# A package that is another one than ours is not a matter of the network: the stage fails.
grep -q 'DO NOT MATCH THE HASHES\|EINTEGRITY' <<<"$log" ||
    echo "the packages of tests/viewers cannot be had: $(grep -m 1 'ERROR\|npm error' <<<"$log" || tail -n 1 <<<"$log")"
