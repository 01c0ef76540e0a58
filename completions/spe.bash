# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
# Completion for bash. Commands and options are read out of the help, and values out of what spe
# says of a wrong one, so they are always those of the spe that runs.

# The values of an option: "'@' is none of auto, always, never". --help keeps a command from doing
# anything with a value that it takes.
_spe_values() { # spe command option
    "$1" "$2" "$3" @ --help 2>&1 </dev/null |
        sed -nE '1{/^spe: /s/.* (is none of|is neither|there are|the model is) (.*)/\2/p}' |
        sed -E "s/, and pairs.*//; s/nor of perf's//; s/,|\b(and|or|nor)\b/ /g"
}

_spe() {
    local spe=${COMP_WORDS[0]} cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local words='' start=''
    if [[ $cur == = ]]; then # --option=, which bash takes for two words
        cur=
    elif [[ $before == = ]]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if [[ $COMP_CWORD -eq 1 ]]; then
        words=$("$spe" --help 2>/dev/null | sed -nE 's/^  ([a-z0-9-]+) {2,}.*/\1/p')
    elif [[ $cur == -* ]]; then
        words=$("$spe" "${COMP_WORDS[1]}" --help 2>/dev/null |
            sed -n '/^Examples:/q; s/^ .*-.*/&/p' | grep -oE -- '(^| )--[a-z][a-z0-9-]+')
    elif [[ $before == -* ]]; then
        [[ $cur != *,* ]] || start=${cur%,*},
        words=$(_spe_values "$spe" "${COMP_WORDS[1]}" "$before")
    fi
    COMPREPLY=()
    [[ -z $words ]] ||
        mapfile -t COMPREPLY < <(compgen -W "$words" -P "$start" -- "${cur#"$start"}")
}

complete -o default -F _spe spe
