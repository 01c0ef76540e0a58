/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "cli/words.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

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
    size_t length = strlen(word), nearest = 1 + length / 3, i;
    const char *found = NULL;

    for (i = 0; i < count; i++) {
        size_t far = distance(word, names[i]);

        if (length > 1 && strncmp(word, names[i], length) == 0)
            far = 0;
        if (far < nearest || (far == nearest && !found && length > 2)) {
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
    const char *word, *sentence;
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

static const struct answer options[] = {
    {"record", "-a", "a program is recorded, not a machine: spe record -- PROGRAM"},
    {"record", "--all-cpus", "a program is recorded, not a machine: spe record -- PROGRAM"},
    {"record", "-p", "a running process cannot be recorded: spe record -- PROGRAM"},
    {"record", "--pid", "a running process cannot be recorded: spe record -- PROGRAM"},
    {"record", "-t", "a running thread cannot be recorded: spe record -- PROGRAM"},
    {"record", "--tid", "a running thread cannot be recorded: spe record -- PROGRAM"},
    {"record", "-F", "SPE counts operations, not time: -c N samples one in N operations"},
    {"record", "--freq", "SPE counts operations, not time: -c N samples one in N operations"},
    {"record", "-C", "--cpus N sets the number of modelled CPUs"},
    {"record", "--call-graph", "use -g, which follows calls and returns"},
    {"record", "-m", "it is not needed: the recorder keeps up with the program"},
    {"record", "--mmap-pages", "it is not needed: the recorder keeps up with the program"},
    {"record", "-d", "it is not needed: addresses of data are in the records"},
    {"record", "--data", "it is not needed: addresses of data are in the records"},
    {"record", "--phys-data", "record physical addresses with -e arm_spe/pa_enable=1/"},
    {"record", "-W", "it is not needed: latencies are in the records"},
    {"record", "--weight", "it is not needed: latencies are in the records"},
    {"record", "-v", "there are no more messages; -q prints fewer"},
    {"record", "--verbose", "there are no more messages; -q prints fewer"},
    {"c2c", "-c", "each offset has its threads and its code; of threads by name: --comms"},
    {"c2c", "--coalesce", "each offset has its threads and its code"},
    {"c2c", "-N", "CPUs are counted, nodes are not"},
    {"c2c", "--node-info", "CPUs are counted, nodes are not"},
    {"c2c", "--stats", "see 'spe report': where loads were served"},
    {"c2c", "--full-symbols", "see --width"},
    {"c2c", "--no-source", "it is not needed: source lines cost nothing here"},
    {"c2c", "--show-all", "see --top N"},
    {"c2c", "--double-cl", "use --line-size 128"},
    {"c2c", "--tui", "there is only text output: --stdio"},
    {"diff", "-o", "rows are sorted by the change of latency; 'spe diff --json' has all of them"},
    {"diff", "--order", "rows are sorted by the change of latency; --json has all of them"},
    {"diff", "-b", "this is the default: --per operation; a row of one side only is new or gone"},
    {"diff", "--baseline-only", "a row of one side only is new or gone; --json has all rows"},
    {"diff", "-c", "the page has old, new, change and its interval; see --per and --json"},
    {"diff", "--compute", "the page has old, new, change and its interval; see --per"},
    {"diff", "-p", "see the interval of each change, and --per for the unit of work"},
    {"diff", "--period", "use --per run has operations, not samples"},
    {"diff", "-F", "the page has old, new and change; see --json"},
    {"diff", "--formula", "the page has old, new and change; see --json"},
    {"diff", "-s", "use --by function, line or dso"},
    {"diff", "--sort", "use --by function, line or dso"},
    {"diff", "-t", "see --json"},
    {"diff", "--field-separator", "see --json"},
    {"diff", "--percentage", "shares are of all samples that are chosen; see --filter"},
    {"script", "--header", "see 'spe report --header-only'"},
    {"script", "--header-only", "see 'spe report --header-only'"},
    {"script", "-s", "there are no scripts here; see 'spe export' for CSV and JSON"},
    {"script", "--script", "there are no scripts here; see 'spe export' for CSV and JSON"},
    {"script", "--max-samples", "use --count N"},
    {"report", "-F", "the page has all columns; 'spe script -F' and --csv have fields"},
    {"report", "--fields", "the page has all columns; 'spe script -F' and --csv have fields"},
    {"report", "-t", "see --csv"},
    {"report", "--field-separator", "see --csv"},
    {"report", "-w", "see --width"},
    {"report", "--tui", "there is only text output: --stdio"},
    {"report", "--gtk", "there is only text output: --stdio"},
    {"report", "--tasks", "see --by process and --by thread"},
    {"report", "--mmaps", "see 'spe buildid-list' and --by dso"},
    {"report", "--stats", "see 'spe check'"},
    {"report", "--max-samples", "see 'spe script --count N'"},
    {"annotate", "-M", "the disassembler has one style"},
    {"annotate", "--disassembler-style", "the disassembler has one style"},
    {"annotate", "--objdump", "it is not needed: no other program disassembles"},
    {"annotate", "--addr2line", "it is not needed: no other program looks lines up"},
    {"annotate", "--prefix", "see --source-dir"},
    {"annotate", "--prefix-strip", "see --source-dir"},
    {"annotate", "--show-total-period", "see --columns weight"},
    {"annotate", "--group", "a recording has one SPE event"},
    {"annotate", "--skip-missing", "it is not needed: missing parts are named"},
    {"annotate", "--tui", "there is only text output: --stdio"},
    {"annotate", "--gtk", "there is only text output: --stdio"},
    {"annotate", "-w", "see --width"},
    {"annotate", "-m", "see --vmlinux: the kernel's modules are not disassembled"},
    {"annotate", "--modules", "see --vmlinux: the kernel's modules are not disassembled"},
    {NULL, "--itrace", ONE_SAMPLE},
    {NULL, "--mem-mode", "it is not needed: the page shows where loads were served, and hot data"},
    {NULL, "--children", STACKS},
    {NULL, "-g", STACKS},
    {NULL, "-G", STACKS},
    {NULL, "--call-graph", STACKS},
    {NULL, "--max-stack", STACKS},
    {NULL, "-D", "see 'spe dump'"},
    {NULL, "--dump-raw-trace", "see 'spe dump'"},
    {NULL, "-v", "there are no more messages; -q prints fewer"},
    {NULL, "--verbose", "there are no more messages; -q prints fewer"},
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

const char *perf_command(const char *name)
{
    for (size_t i = 0; i < COUNT(commands); i++) {
        if (strcmp(commands[i].word, name) == 0)
            return commands[i].sentence;
    }
    return NULL;
}

static int reads_recordings(const char *command)
{
    return strcmp(command, "annotate") == 0 || strcmp(command, "report") == 0 ||
           strcmp(command, "script") == 0 || strcmp(command, "export") == 0 ||
           strcmp(command, "c2c") == 0 || strcmp(command, "diff") == 0;
}

const char *perf_option(const char *command, const char *option)
{
    size_t length = strcspn(option, "=");

    for (size_t i = 0; i < COUNT(options); i++) {
        const struct answer *a = &options[i];

        if (strlen(a->word) == length && strncmp(a->word, option, length) == 0 &&
            (a->command ? strcmp(a->command, command) == 0 : reads_recordings(command)))
            return a->sentence;
    }
    return NULL;
}
