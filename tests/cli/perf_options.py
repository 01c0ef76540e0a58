# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""The options that `perf COMMAND -h` of perf 6.1 lists, by command."""

OPTIONS = {
    "annotate": """
        --asm-raw --cpu --demangle --demangle-kernel --disassembler-style --dsos
        --dump-raw-trace --force --full-paths --group --ignore-vmlinux --input --itrace
        --modules --objdump --percent-limit --percent-type --prefix --prefix-strip --print-line
        --quiet --show-nr-samples --show-total-period --skip-missing --source --stdio
        --stdio-color --stdio2 --symbol --symfs --tui --verbose --vmlinux -C -D -M -P -d -f -i
        -k -l -m -n -q -s -v
    """.split(),
    "buildid-list": """
        --force --input --kernel --kernel-maps --verbose --with-hits -H -f -i -k -m -v
    """.split(),
    "c2c": """
        --call-graph --coalesce --display --force --full-symbols --input --no-source --node-info
        --show-all --stats --stdio --stitch-lbr --vmlinux -N -c -d -f -g -i -k
    """.split(),
    "diff": """
        --baseline-only --comms --compute --cpu --cycles-hist --dsos --dump-raw-trace
        --field-separator --force --formula --kallsyms --modules --order --percentage --period
        --pid --quiet --sort --stream --symbols --symfs --tid --time --verbose -C -D -F -S -b -c
        -d -f -m -o -p -q -s -t -v
    """.split(),
    "evlist": """
        --force --freq --group --input --trace-fields --verbose -F -f -g -i -v
    """.split(),
    "record": """
        --affinity --aio --all-cgroups --all-cpus --all-kernel --all-user --aux-sample
        --branch-any --branch-filter --buildid-all --buildid-mmap --call-graph --cgroup
        --clang-opt --clang-path --clockid --code-page-size --compression-level --control
        --count --cpu --data --data-page-size --debuginfod --delay --dry-run --event
        --exclude-perf --filter --freq --group --intr-regs --kcore --kernel-callchains
        --max-size --mmap-flush --mmap-pages --namespaces --no-bpf-event --no-buffering
        --no-buildid --no-buildid-cache --no-inherit --no-samples --num-thread-synthesize
        --off-cpu --output --overwrite --per-thread --period --phys-data --pid
        --proc-map-timeout --quiet --raw-samples --realtime --running-time --sample-cpu
        --sample-identifier --snapshot --stat --strict-freq --switch-events --switch-max-files
        --switch-output --switch-output-event --synth --tail-synthesize --threads --tid
        --timestamp --timestamp-boundary --timestamp-filename --transaction --uid
        --user-callchains --user-regs --verbose --vmlinux --weight -B -C -D -F -G -I -N -P -R -S
        -T -W -a -b -c -d -e -g -i -j -k -m -n -o -p -q -r -s -t -u -v -z
    """.split(),
    "report": """
        --asm-raw --branch-history --branch-stack --call-graph --children --column-widths
        --comms --cpu --demangle --demangle-kernel --disable-order --disassembler-style --dsos
        --dump-raw-trace --exclude-other --field-separator --fields --force --full-source-path
        --group --group-sort-idx --header --header-only --hide-unresolved --hierarchy
        --ignore-callees --ignore-vmlinux --inline --input --inverted --itrace --kallsyms
        --max-stack --mem-mode --mmaps --modules --ns --objdump --parent --percent-limit
        --percent-type --percentage --pid --prefix --prefix-strip --pretty --quiet --raw-trace
        --samples --show-cpu-utilization --show-info --show-nr-samples --show-on-off-events
        --show-ref-call-graph --show-total-period --skip-empty --socket-filter --sort --source
        --stats --stdio --stdio-color --stitch-lbr --switch-off --switch-on --symbol-filter
        --symbols --symfs --tasks --threads --tid --time --time-quantum --total-cycles --tui
        --verbose --vmlinux -C -D -F -G -I -M -S -T -U -b -c -d -f -g -i -k -m -n -p -q -s -t -v
        -w -x
    """.split(),
    "script": """
        --addr-range --all-cpus --call-ret-trace --call-trace --comms --cpu --debug-mode
        --deltatime --demangle --demangle-kernel --dlarg --dlfilter --dsos --dump-raw-trace
        --dump-unsorted-raw-trace --fields --force --full-source-path --gen-script
        --graph-function --guest-code --guestkallsyms --guestmodules --guestmount --guestvmlinux
        --header --header-only --hide-call-graph --inline --input --insn-trace --itrace
        --kallsyms --list --list-dlfilters --max-blocks --max-stack --ns --per-event-dump --pid
        --reltime --script --show-bpf-events --show-cgroup-events --show-info --show-kernel-path
        --show-lost-events --show-mmap-events --show-namespace-events --show-on-off-events
        --show-round-events --show-switch-events --show-task-events --show-text-poke-events
        --stitch-lbr --stop-bt --switch-off --switch-on --symbols --symfs --tid --time --verbose
        --vmlinux --xed -C -D -F -G -I -L -S -a -c -d -f -g -i -k -l -s -v
    """.split(),
}
