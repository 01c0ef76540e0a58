/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "cli/words.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/count_of.h"

/* ---- near misses ----------------------------------------------------------------------------- */

#define WORD_MAX 32 /* longer words are not misspelt ones */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Characters to add, take away, replace or swap with their neighbour: three rows of the table of
 * all beginnings of both words. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][WORD_MAX + 1], n = strlen(a), m = strlen(b);
    size_t *before = rows[0], *last = rows[1], *now = rows[2];

    if (n > WORD_MAX || m > WORD_MAX)
        return SIZE_MAX;
    for (size_t j = 0; j <= m; j++)
        last[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *free_row = before;

        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            now[j] = least(last[j - 1] + (a[i - 1] != b[j - 1]), least(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], before[j - 2] + 1);
        }
        before = last;
        last = now;
        now = free_row;
    }
    return last[m];
}

const char *nearest_name(const char *word, const char *const *names, size_t count)
{
    size_t length = strlen(word), nearest = length > 2 ? (length + 1) / 3 : 0;
    const char *found = NULL;

    for (size_t i = 0; i < count; i++) {
        size_t far = distance(word, names[i]);

        if (length > 1 && strncmp(word, names[i], length) == 0)
            far = 0;
        if (far < nearest || (far == nearest && !found)) {
            nearest = far;
            found = names[i];
        }
    }
    return found;
}

void list_names(char *text, size_t size, const char *const *names, size_t count, const char *last)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count && used < size; i++) {
        const char *between = i == 0 ? "" : i + 1 == count ? last : ", ";
        int n = snprintf(text + used, size - used, "%s%s", between, names[i]);

        used += n > 0 ? (size_t)n : 0;
    }
}

/* ---- perf's words ---------------------------------------------------------------------------- */

struct answer {
    const char *command; /* of spe; NULL: of all that read recordings */
    const char *words, *sentence;
};

static const struct answer commands[] = {
    {NULL, "archive", "spe takes binaries from ~/.debug, --debug-dir and --symfs"},
    {NULL, "buildid-cache", "spe takes binaries from ~/.debug, --debug-dir and --symfs"},
    {NULL, "inject", "see 'spe export', formats perf, bolt and autofdo"},
    {NULL, "list", "see 'spe help record', option -e, for the events"},
    {NULL, "mem", "see 'spe report': where loads were served, and hot data (--data)"},
    {NULL, "stat", "see 'spe record --stat': exact counts beside estimates"},
    {NULL, "top", "there is no live view: 'spe record', then 'spe report'"},
};

#define ONE_SAMPLE "it is not needed: every record is one sample"
#define STACKS "call stacks are shown by 'spe report -g' and 'spe export --format folded'"

#define KERNELS "it is for the kernel's recorder, which takes no part here"
#define NO_BRANCH_STACKS "SPE has no branch stacks; the page lists mispredicted branches"
#define ONE_EVENT "a recording has one SPE event"
#define PAGE_ONLY "there is only text output: --stdio"
#define PROGRAM_ONLY "a program is recorded, not a machine: spe record -- PROGRAM"
#define WHOLE_RUN "the whole run is recorded; see --duration, and 'spe report --time'"

static const struct answer options[] = {
    {"record", "-a --all-cpus -u --uid -G --cgroup", PROGRAM_ONLY},
    {"record", "-p --pid --per-thread",
     "a running process cannot be recorded: spe record -- PROGRAM"},
    {"record", "-t --tid", "a running thread cannot be recorded: spe record -- PROGRAM"},
    {"record", "-F --freq --strict-freq",
     "SPE counts operations, not time: -c N samples one in N operations"},
    {"record", "-C", "--cpus N sets the number of modelled CPUs"},
    {"record", "--call-graph --user-callchains", "use -g, which follows calls and returns"},
    {"record", "-m --mmap-pages --mmap-flush --aio --threads",
     "it is not needed: the recorder keeps up with the program"},
    {"record", "-d --data", "it is not needed: addresses of data are in the records"},
    {"record", "--phys-data", "record physical addresses with -e arm_spe/pa_enable=1/"},
    {"record", "-W --weight", "it is not needed: latencies are in the records"},
    {"record", "-T --timestamp", "it is not needed: records have times"},
    {"record", "-v --verbose", "there are no more messages; -q prints fewer"},
    {"record", "-b -j --branch-any --branch-filter",
     "SPE has no branch stacks; -e arm_spe/branch_filter=1/ samples branches"},
    {"record", "--filter", "see -e arm_spe/.../ for SPE's filters, and 'spe report --filter'"},
    {"record", "-i --no-inherit",
     "processes and threads are recorded, too; 'spe report' has --pid and --tid"},
    {"record", "--all-user", "this is the default: there is no kernel; see 'spe vm' for one"},
    {"record", "--all-kernel --kernel-callchains --kcore --vmlinux",
     "there is no kernel; see 'spe vm' for one"},
    {"record",
     "-D --delay -S --snapshot --aux-sample --overwrite --max-size --control --switch-output "
     "--switch-output-event --switch-max-files --off-cpu",
     WHOLE_RUN},
    {"record", "-s", "see --stat, and 'spe report --by thread'"},
    {"record", "-z --compression-level", "recordings are not compressed"},
    {"record", "--buildid-all --buildid-mmap",
     "this is the default: those of all mapped files are recorded"},
    {"record", "--group", ONE_EVENT},
    {"record",
     "-I -k -n -P -R -r --affinity --all-cgroups --clang-opt --clang-path --clockid "
     "--code-page-size --data-page-size --debuginfod --dry-run --exclude-perf --intr-regs "
     "--namespaces --no-bpf-event --no-buffering --no-samples --num-thread-synthesize --period "
     "--proc-map-timeout --raw-samples --realtime --running-time --sample-cpu --sample-identifier "
     "--switch-events --synth --tail-synthesize --timestamp-boundary --timestamp-filename "
     "--transaction --user-regs",
     KERNELS},
    {"c2c", "-c --coalesce",
     "each offset has its threads and its code; of threads by name: --comms"},
    {"c2c", "-N --node-info", "CPUs are counted, nodes are not"},
    {"c2c", "--stats", "see 'spe report': where loads were served"},
    {"c2c", "--full-symbols", "see --width"},
    {"c2c", "--no-source", "it is not needed: source lines cost nothing here"},
    {"c2c", "--show-all", "see --top N"},
    {"c2c", "--double-cl", "use --line-size 128"},
    {"c2c", "--tui", PAGE_ONLY},
    {"diff", "-o --order",
     "rows are sorted by the change of latency; 'spe diff --json' has all of them"},
    {"diff", "-b --baseline-only", "a row of one side only is new or gone; --json has all rows"},
    {"diff", "-c --compute",
     "the page has old, new, change and its interval; see --per and --json"},
    {"diff", "-p --period", "--per run counts operations, not samples"},
    {"diff", "-F --formula", "the page has old, new and change; see --json"},
    {"diff", "-s --sort", "use --by function, line or dso"},
    {"diff", "-t --field-separator", "see --json"},
    {"diff", "--percentage", "shares are of all samples that are chosen; see --filter"},
    {"diff", "-d", "use --dsos"},
    {"diff", "--stream --cycles-hist", NO_BRANCH_STACKS},
    {"script", "--header --header-only -I --show-info", "see 'spe report --header-only'"},
    {"script", "-s --script -l --list --gen-script --dlfilter --dlarg --list-dlfilters",
     "there are no scripts here; see 'spe export' for CSV and JSON"},
    {"script", "--max-samples", "use --count N"},
    {"script", "--call-trace --call-ret-trace --insn-trace --xed", "see 'spe annotate' for code"},
    {"script", "--hide-call-graph --stop-bt --graph-function", STACKS},
    {"script", "--addr-range", "use --filter 'pc >= 0x1000 and pc < 0x2000'"},
    {"script", "--deltatime --reltime",
     "times are those of the recording; see 'spe export' for numbers"},
    {"script",
     "--show-task-events --show-mmap-events --show-switch-events --show-namespace-events "
     "--show-cgroup-events --show-lost-events --show-round-events --show-bpf-events "
     "--show-text-poke-events --per-event-dump --debug-mode -a --all-cpus -L",
     "only samples are shown; see 'spe dump' for the bytes of records"},
    {"script", "--guest-code --guestkallsyms --guestmodules --guestmount --guestvmlinux",
     "a guest of 'spe vm' is recorded by its own perf"},
    {"script", "--inline --max-blocks --full-source-path --show-kernel-path",
     "see 'spe annotate' and 'spe report --by line'"},
    {"report", "-F --fields", "the page has all columns; 'spe script -F' and --csv have fields"},
    {"report", "-t --field-separator", "see --csv"},
    {"report", "-w --column-widths", "see --width"},
    {"report", "--tui --gtk", PAGE_ONLY},
    {"report", "--tasks", "see --by process and --by thread"},
    {"report", "--mmaps", "see 'spe buildid-list' and --by dso"},
    {"report", "--stats", "see 'spe check'"},
    {"report", "--max-samples --samples", "see 'spe script --count N'"},
    {"report", "-I --show-info", "see --header-only"},
    {"report", "-T --show-total-period --total-cycles",
     "'lat' is the share of all latency; --csv has sums"},
    {"report", "-p --parent -x --exclude-other --inverted --ignore-callees --show-ref-call-graph",
     "see -g and --by caller"},
    {"report", "-b --branch-stack --branch-history", NO_BRANCH_STACKS},
    {"report",
     "-M --disassembler-style --asm-raw --objdump --source --prefix --prefix-strip "
     "--percent-type --addr2line",
     "see 'spe annotate'"},
    {"report", "-U --hide-unresolved", "use --filter 'symbol != \"\"'"},
    {"report", "--symbol-filter", "use --filter 'symbol ~ \"mem\"'"},
    {"report", "--percentage", "shares are of all samples that are chosen; see --filter"},
    {"report", "--group --group-sort-idx --raw-trace --skip-empty", ONE_EVENT},
    {"report", "--hierarchy", "see --by function+thread and other pairs"},
    {"report", "--inline --full-source-path", "see --by line, and 'spe annotate'"},
    {"report", "--time-quantum", "see --by time and --bins"},
    {"report", "--socket-filter", "use -C, a list of CPUs"},
    {"report", "--show-cpu-utilization", "see --by cpu"},
    {"report", "--pretty --ns --disable-order", "see 'spe script' and 'spe export'"},
    {"annotate", "-M --disassembler-style", "the disassembler has one style"},
    {"annotate", "--objdump", "it is not needed: no other program disassembles"},
    {"annotate", "--addr2line", "it is not needed: no other program looks lines up"},
    {"annotate", "--prefix --prefix-strip", "see --source-dir"},
    {"annotate", "--show-total-period", "see --columns weight"},
    {"annotate", "--group", ONE_EVENT},
    {"annotate", "--skip-missing", "it is not needed: missing parts are named"},
    {"annotate", "--tui --gtk --stdio2", PAGE_ONLY},
    {"annotate", "-w", "see --width"},
    {"annotate", "-m --modules", "see --vmlinux: the kernel's modules are not disassembled"},
    {"evlist", "-v --verbose -F --freq -g --group --trace-fields",
     "see 'spe report --header-only'"},
    {"buildid-list", "-H --with-hits -k --kernel -m --kernel-maps -v --verbose",
     "see 'spe report --by dso', which has samples"},
    {NULL, "--itrace", ONE_SAMPLE},
    {NULL, "--mem-mode", "it is not needed: the page shows where loads were served, and hot data"},
    {NULL, "--children -g -G --call-graph --max-stack", STACKS},
    {NULL, "-D --dump-raw-trace --dump-unsorted-raw-trace", "see 'spe dump'"},
    {NULL, "-v --verbose", "there are no more messages; -q prints fewer"},
    {NULL, "-m --modules --ignore-vmlinux", "see --vmlinux and --kallsyms"},
    {NULL, "--demangle --demangle-kernel", "this is the default: names are as in the source"},
    {NULL, "--stdio-color", "see --color"},
    {NULL, "--stitch-lbr", NO_BRANCH_STACKS},
    {NULL, "--switch-on --switch-off --show-on-off-events", "see --time"},
};

const char *perf_command(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(commands); i++) {
        if (strcmp(commands[i].words, name) == 0)
            return commands[i].sentence;
    }
    return NULL;
}

static bool reads_recordings(const char *command)
{
    return strcmp(command, "annotate") == 0 || strcmp(command, "report") == 0 ||
           strcmp(command, "script") == 0 || strcmp(command, "export") == 0 ||
           strcmp(command, "c2c") == 0 || strcmp(command, "diff") == 0;
}

/* Is the option one of the words, which have a space between them? */
static bool is_word_of(const char *words, const char *option, size_t length)
{
    for (size_t size; *words; words += size + (words[size] == ' ')) {
        size = strcspn(words, " ");
        if (size == length && strncmp(words, option, length) == 0)
            return true;
    }
    return false;
}

const char *perf_option(const char *command, const char *option)
{
    size_t length = strcspn(option, "=");

    for (size_t i = 0; i < COUNT_OF(options); i++) {
        const struct answer *a = &options[i];

        if (is_word_of(a->words, option, length) &&
            (a->command ? strcmp(a->command, command) == 0 : reads_recordings(command)))
            return a->sentence;
    }
    return NULL;
}
