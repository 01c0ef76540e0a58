#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
#
# The virtual environment of the tests: what python/requirements.txt pins, and this tree's package.
#
#   environment.sh --reason          fetch what is missing; say why that cannot be, if it cannot
#   environment.sh --reason-spark    the same with what python/requirements-spark.txt pins
#   environment.sh --install         fetch what is missing, build the package's wheel, install it
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$(realpath -m "${SPECIMEN_DEPS:-.deps}/python")

# is_made LIST: has what the list pins been installed?
is_made() { [ "$(cat "$folder/.$1" 2>/dev/null)" = "$(sha256sum "python/$1")" ]; }

# pip_install LIST OPTION...
pip_install() {
    local list=$1
    shift
    "$folder/bin/pip" install --disable-pip-version-check --require-hashes --retries 1 "$@" \
        -r "python/$list" && sha256sum "python/$list" >"$folder/.$list"
}

fetch() {
    rm -rf "$folder"
    python3 -m venv "$folder" && pip_install requirements.txt --only-binary :all:
}

# Spark is built with what requirements.txt has brought.
fetch_spark() { pip_install requirements-spark.txt --no-build-isolation; }

# try LIST COMMAND: nothing, or why the list's packages are not there.
try() {
    local log
    if is_made "$1" || log=$("$2" 2>&1); then return; fi
    # A package that is another one than ours is not a matter of the network: the stage fails.
    grep -q 'DO NOT MATCH THE HASHES' <<<"$log" ||
        echo "the packages of python/$1 cannot be had: $(grep -m 1 ERROR <<<"$log" || tail -n 1 <<<"$log")"
}

reason() {
    local version
    version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    case "$(uname -m) $version" in
    'x86_64 3.11' | 'x86_64 3.13') try requirements.txt fetch ;;
    *) echo "python/requirements.txt has wheels for Python 3.11 and 3.13 on x86-64, not $version on $(uname -m)" ;;
    esac
}

reason_spark() {
    local why
    command -v java >/dev/null || { echo "there is no Java" && return; }
    why=$(reason)
    if [ -n "$why" ]; then echo "$why"; else try requirements-spark.txt fetch_spark; fi
}

build_and_install() {
    is_made requirements.txt || fetch
    rm -rf build-python
    PATH=$folder/bin:$PATH "$folder/bin/pip" wheel --disable-pip-version-check --no-build-isolation \
        --no-deps --config-settings=build-dir=build-python/build -w build-python .
    "$folder/bin/pip" install --disable-pip-version-check --no-deps --force-reinstall build-python/*.whl
}

case ${1:-} in
--reason) reason ;;
--reason-spark) reason_spark ;;
--install) build_and_install ;;
*) echo "usage: environment.sh --reason | --reason-spark | --install" >&2 && exit 2 ;;
esac
