# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
# Completion for bash. Commands and options are read out of the help, so they are always those of
# the spe that runs.

_spe() {
    local spe=${COMP_WORDS[0]} cur=${COMP_WORDS[COMP_CWORD]} words=
    if [[ $COMP_CWORD -eq 1 ]]; then
        words=$("$spe" --help 2>/dev/null | sed -nE 's/^  ([a-z0-9-]+) {2,}.*/\1/p')
    elif [[ $cur == -* ]]; then
        words=$("$spe" "${COMP_WORDS[1]}" --help 2>/dev/null |
            sed -n '/^Examples:/q; s/^ .*-.*/&/p' | grep -oE -- '(^| )--[a-z][a-z0-9-]+')
    fi
    COMPREPLY=()
    [[ -z $words ]] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

complete -o default -F _spe spe
