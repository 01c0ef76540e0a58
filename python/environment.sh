#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# The virtual environment of the tests: what python/requirements.txt pins, and this tree's package.
#
#   environment.sh --reason    fetch what is missing; say why that cannot be, if it cannot
#   environment.sh --install   fetch what is missing, build the package's wheel, install it
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$(realpath -m "${SPECIMEN_DEPS:-.deps}/python")
wanted=$(sha256sum python/requirements.txt)

is_made() { [ "$(cat "$folder/.requirements" 2>/dev/null)" = "$wanted" ]; }

fetch() {
    rm -rf "$folder"
    python3 -m venv "$folder" &&
        "$folder/bin/pip" install --disable-pip-version-check --require-hashes --only-binary :all: \
            --retries 1 -r python/requirements.txt &&
        echo "$wanted" >"$folder/.requirements"
}

reason() {
    local version log
    is_made && return
    version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    case "$(uname -m) $version" in
    'x86_64 3.11' | 'x86_64 3.13') ;;
    *)
        echo "python/requirements.txt has wheels for Python 3.11 and 3.13 on x86-64, not $version on $(uname -m)"
        return ;;
    esac
    log=$(fetch 2>&1) || {
        # A wheel that is another one than ours is not a matter of the network: --install fails.
        grep -q 'DO NOT MATCH THE HASHES' <<<"$log" ||
            echo "the packages of python/requirements.txt cannot be had: $(grep -m 1 ERROR <<<"$log" || tail -n 1 <<<"$log")"
    }
}

install() {
    is_made || fetch
    mkdir -p build-python
    rm -f build-python/*.whl
    PATH=$folder/bin:$PATH "$folder/bin/pip" wheel --disable-pip-version-check --no-build-isolation \
        --no-deps -Cbuild-dir=build-python/build -w build-python .
    "$folder/bin/pip" install --disable-pip-version-check --no-deps --force-reinstall build-python/*.whl
}

case ${1:-} in
--reason) reason ;;
--install) install ;;
*) echo "usage: environment.sh --reason | --install" >&2 && exit 2 ;;
esac
