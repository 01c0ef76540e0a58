/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* spe gen: a stream of valid records from a seed, for tests and benchmarks. */
#include <inttypes.h>
#include <specimen/gen.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/gen_vectors.h"

static const char usage[] =
    "Usage: spe gen [OPTION]... [-o FILE]\n"
    "       spe gen --vectors [-o FILE]\n"
    "\n"
    "Write a stream of valid SPE records: the same options give the same bytes.\n";

static const char examples[] =
    "Examples:\n"
    "  spe gen --records 1000000 --cpu neoverse-n1 -o trace.spe\n"
    "  spe gen --features v1p4,sve,crr --mix branch=1 --seed 7 | spe dump --records -\n"
    "  spe gen --damage 0.01 --truth wrong.tsv -o damaged.spe\n"
    "  spe gen --vectors -o vectors.jsonl\n";

struct job {
    const struct command *command;
    uint64_t records;
    const char *output, *truth, *layout_name;
    struct machine_options machine;
    struct naming naming;
    struct spe_gen_config config;
    const struct spe_layout *layout;
    double damage;
    bool vectors, stream_options; /* --vectors; an option that is about streams */
    struct output out, truth_out;
    uint64_t damage_state; /* its own random numbers: damage does not change the records */
};

/* ---- options --------------------------------------------------------------------------------- */

static bool mix_word(struct job *job, const char *word, size_t length)
{
    static const char *const names[SPE_GEN_CLASSES] = {"load", "store", "branch", "other"};
    char text[32];
    char *value;
    uint64_t weight;
    unsigned i;

    if (length >= sizeof(text))
        length = sizeof(text) - 1;
    memcpy(text, word, length);
    text[length] = '\0';
    value = strchr(text, '=');
    if (value) {
        *value++ = '\0';
        for (i = 0; i < SPE_GEN_CLASSES; i++) {
            if (strcmp(text, names[i]) != 0)
                continue;
            if (!number_option(job->command, "--mix", value, 0, 1000000, &weight))
                return false;
            job->config.mix[i] = (uint32_t)weight;
            return true;
        }
        value[-1] = '=';
    }
    usage_error(job->command, "--mix", "'%s' is not load=N, store=N, branch=N or other=N", text);
    return false;
}

/* Classes that are not listed have no share. */
static bool mix_option(const struct command *c, void *target, const char *list)
{
    struct job *job = target;

    (void)c;
    memset(job->config.mix, 0, sizeof(job->config.mix));
    while (*list) {
        size_t length = strcspn(list, ",");

        if (!mix_word(job, list, length))
            return false;
        list += length;
        list += *list == ',';
    }
    return true;
}

static bool context_option(const struct command *c, void *target, const char *text)
{
    struct job *job = target;
    bool both = strcmp(text, "both") == 0;

    job->config.context1 = both || strcmp(text, "el1") == 0;
    job->config.context2 = both || strcmp(text, "el2") == 0;
    if (job->config.context1 || job->config.context2 || strcmp(text, "none") == 0)
        return true;
    usage_error(c, "--context", "'%s' is not el1, el2, both or none", text);
    return false;
}

static bool damage_option(const struct command *c, void *target, const char *text)
{
    struct job *job = target;
    char *end;

    job->damage = strtod(text, &end);
    if (end != text && !*end && job->damage >= 0 && job->damage <= 1)
        return true;
    usage_error(c, "--damage", "'%s' is not a number from 0 to 1", text);
    return false;
}

/* The machine's features, or plain SPE; its layout, or the architecture's. */
static bool configure(struct job *job)
{
    const struct spe_cpu *cpu = job->naming.cpu;

    if (job->naming.features_known)
        job->config.features = job->naming.features;
    else if (cpu && !cpu->sources) /* nothing to draw its data sources from */
        job->config.features &= ~SPE_FEAT(SPE_LDS);
    job->layout = cpu ? cpu->layout : NULL;
    if (job->layout_name)
        job->layout = spe_layout_by_name(job->layout_name);
    else if (!job->layout)
        job->layout = spe_layout_by_name("architecture");
    if (!job->layout) {
        usage_error(job->command, "--layout", "'%s' is not known", job->layout_name);
        return false;
    }
    job->config.cpu = cpu;
    job->config.layout = job->layout;
    job->config.count_bits = job->layout->count_bits;
    return true;
}

/* About streams: not for --vectors. */
static const struct option_row stream_options[] = {
    {"records", 0, "N", "how many (1000)", OPTION_NUMBER(struct job, records, 0, UINT64_MAX)},
    {"seed", 0, "N", "seed of the random numbers (1)",
     OPTION_NUMBER(struct job, config.seed, 0, UINT64_MAX)},
    {OPTION_TEXT("\nWhat is in the records:")},
    {"cpu", 0, "NAME", "features, layout, data sources and events of this CPU",
     OPTION_STRING(struct job, machine.cpu)},
    {"features", 0, "LIST",
     "these features, for example v1p4,sve; with --cpu the list adds to the CPU's features, "
     "and -NAME removes one",
     OPTION_STRING(struct job, machine.features)},
    {"layout", 0, "NAME",
     "order and places of the packets: architecture, neoverse-n1 or kunpeng-920 (the CPU's, or "
     "architecture)",
     OPTION_STRING(struct job, layout_name)},
    {"mix", 0, "LIST", "shares of the operations (load=40,store=15,branch=20,other=25)",
     OPTION_TAKE(mix_option)},
    {"context", 0, "WHICH", "CONTEXTIDR of el1, el2, both or none (el1)",
     OPTION_TAKE(context_option)},
    {"no-physical", 0, NULL, "no physical addresses", OPTION_UNSET(struct job, config.physical)},
    {"no-timestamps", 0, NULL, "records end with End packets",
     OPTION_UNSET(struct job, config.timestamps)},
    {"first-time", 0, "N", "the timestamp to start from (1000000000)",
     OPTION_NUMBER(struct job, config.first_timestamp, 0, UINT64_MAX)},
    {"period", 0, "N", "mean ticks between two records (2048)",
     OPTION_UNSIGNED(struct job, config.period, 1, 1u << 30)},
    {"speculative", 0, NULL, "some operations do not retire",
     OPTION_FLAG(struct job, config.speculative)},
    {OPTION_TEXT("\nWhat is wrong with them:")},
    {"damage", 0, "RATE", "this share of the records (0 to 1) has one wrong byte",
     OPTION_TAKE(damage_option)},
    {"truth", 0, "FILE",
     "the list of wrong bytes, tab-separated; without it --damage reports their number on "
     "standard error",
     OPTION_STRING(struct job, truth)},
    {0},
};

static const struct option_row options[] = {
    {"output", 'o', "FILE", "output file; the default, -, is standard output",
     OPTION_STRING(struct job, output)},
    {OPTION_ROWS(stream_options), .given = offsetof(struct job, stream_options)},
    {OPTION_TEXT("\nInstead of a stream:")},
    {"vectors", 0, NULL,
     "test vectors for decoders of SPE, as JSON Lines: bytes, and what they mean",
     OPTION_FLAG(struct job, vectors)},
    {0},
};

static bool check_options(struct job *job, int argc, char **argv)
{
    if (optind < argc) {
        usage_error(job->command, argv[optind], "gen reads no file; the output goes to -o FILE");
        return false;
    }
    if (job->vectors && job->stream_options) {
        usage_error(job->command, "--vectors",
                    "the vectors are always the same; of the other options only -o is for them");
        return false;
    }
    return find_machine(job->command, &job->machine, 0, &job->naming) && configure(job);
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* splitmix64 */
static uint64_t damage_random(struct job *job)
{
    uint64_t z = job->damage_state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Perhaps put one wrong byte into the record; true if so. */
static bool damage_record(struct job *job, uint8_t *bytes, unsigned size, uint64_t record,
                          uint64_t offset)
{
    uint64_t r;
    unsigned place;
    uint8_t wrong;

    if ((double)(damage_random(job) >> 11) * 0x1p-53 >= job->damage)
        return false;
    r = damage_random(job);
    place = (unsigned)((r >> 32) % size);
    wrong = (uint8_t)(bytes[place] + 1 + r % 255);
    if (job->truth)
        out_printf(&job->truth_out.out, "%" PRIu64 "\t%" PRIu64 "\t%u\t%" PRIu64 "\t%u\t%u\n",
                   record, offset, size, offset + place, bytes[place], wrong);
    bytes[place] = wrong;
    return true;
}

/* ---- the work -------------------------------------------------------------------------------- */

static bool write_records(struct job *job, struct spe_gen *gen)
{
    struct progress progress;
    struct spe_record record;
    uint64_t i, offset = 0, damaged = 0;

    progress_start(&progress, "spe gen", job->records);
    for (i = 0; i < job->records && !job->out.out.error; i++) {
        char *room = out_room(&job->out.out, SPE_RECORD_MAX);
        int size;

        spe_gen_next(gen, &record);
        size = spe_record_encode(&record, job->layout, (uint8_t *)room, SPE_RECORD_MAX);
        if (size < 0) {
            complain("gen", "record %" PRIu64 " in layout %s: %s", i, job->layout->name,
                     spe_strerror(size));
            return false;
        }
        if (job->damage > 0)
            damaged += damage_record(job, (uint8_t *)room, (unsigned)size, i, offset);
        out_advance(&job->out.out, room + size);
        offset += (unsigned)size;
        if (i % 65536 == 0)
            progress_update(&progress, i);
    }
    progress_end(&progress);
    if (job->damage > 0 && !job->truth)
        complain("gen", "%" PRIu64 " of %" PRIu64 " records have a wrong byte", damaged,
                 job->records);
    return true;
}

static int generate(struct job *job, struct spe_gen *gen)
{
    int status;
    bool good;

    if (!open_output(&job->out, job->output))
        return STATUS_BAD_DATA;
    if (job->truth && !open_output(&job->truth_out, job->truth))
        return close_output(&job->out, false, STATUS_BAD_DATA);
    if (job->truth)
        out_string(&job->truth_out.out, "record\toffset\tsize\tbyte\told\tnew\n");
    good = write_records(job, gen);
    status = close_output(&job->out, good, good ? STATUS_OK : STATUS_BAD_DATA);
    if (job->truth)
        status = close_output(&job->truth_out, status == STATUS_OK, status);
    return status;
}

static int vectors(struct job *job)
{
    char why[200];
    bool good;

    if (!open_output(&job->out, job->output))
        return STATUS_BAD_DATA;
    good = write_vectors(&job->out.out, why, sizeof(why));
    if (!good)
        complain("gen", "%s", why);
    return close_output(&job->out, good, good ? STATUS_OK : STATUS_BAD_DATA);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct job job = {.command = self, .records = 1000};
    struct spe_gen *gen;
    char why[200];
    int status;

    spe_gen_config_init(&job.config);
    if (!take_options(self, &job, argc, argv, &status))
        return status;
    if (!check_options(&job, argc, argv))
        return STATUS_USAGE;
    if (job.vectors)
        return vectors(&job);
    if ((!job.output || strcmp(job.output, "-") == 0) && isatty(STDOUT_FILENO))
        return usage_error(self, "standard output",
                           "is a terminal, and records are not text; "
                           "give -o FILE");
    job.damage_state = job.config.seed ^ UINT64_C(0xda3a6ed);
    gen = malloc(spe_gen_sizeof());
    if (!gen) {
        complain(self->name, "%s", spe_strerror(SPE_ERR_NOMEM));
        return STATUS_BAD_DATA;
    }
    if (spe_gen_init(gen, &job.config, why, sizeof(why)) < 0)
        status = usage_error(self, self->name, "%s", why);
    else
        status = generate(&job, gen);
    free(gen);
    return status;
}

const struct command command_gen = {
    .name = "gen",
    .summary = "write a stream of valid records, for tests and benchmarks",
    .usage = usage,
    .options = options,
    .examples = examples,
    .run = run,
};
