# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
# Completion for fish. Commands and options are read out of the help, and values out of what spe
# says of a wrong one (see spe.bash), so they are always those of the spe that runs.

function __spe_commands
    spe --help 2>/dev/null | string replace -rf '^  ([a-z0-9-]+) {2,}(.*)' '$1\t$2'
end

function __spe_options
    set -l command (commandline -opc)[2]
    spe $command --help 2>/dev/null | sed -n '/^Examples:/q; s/^ .*-.*/&/p' |
        string match -arg '(?:^| )(--[a-z][a-z0-9-]+)'
end

function __spe_values
    set -l words (commandline -opc)
    set -l start (string match -r '.*,' -- (commandline -ct))
    for value in (spe $words[2] $words[-1] @ --help 2>&1 </dev/null |
        sed -nE '1{/^spe: /s/.* (is none of|is neither|there are|the model is) (.*)/\2/p}' |
        sed -E "s/, and pairs.*//; s/nor of perf's//; s/,|\b(and|or|nor)\b/ /g" |
        string split -n ' ')
        echo "$start$value"
    end
end

complete -c spe -n '__fish_use_subcommand' -f -a '(__spe_commands)'
complete -c spe -n 'not __fish_use_subcommand; and string match -q -- "-*" (commandline -ct)' \
    -f -a '(__spe_options)'
complete -c spe -n 'not __fish_use_subcommand; and string match -q -- "-*" (commandline -opc)[-1]' \
    -a '(__spe_values)'
