/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A program that uses every struct which may grow. test_callers.py compiles it with headers of
 * another release, in which one of them is shorter or longer, and runs it with the library of this
 * one. It prints what a caller sees, and finds every byte that the library writes behind a struct.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <specimen/analysis.h>
#include <specimen/gen.h>
#include <specimen/pe.h>

#define GUARD 64
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("line %d: %s\n", __LINE__, #condition);                                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* A struct of exactly its size, and what lies behind it. */
#define GUARDED(type, name)                                                                        \
    struct {                                                                                       \
        struct type it;                                                                            \
        unsigned char after[GUARD];                                                                \
    } *name = guarded(sizeof(*name), sizeof(struct type))
#define UNHARMED(name)                                                                             \
    do {                                                                                           \
        for (size_t i = 0; i < GUARD; i++)                                                         \
            CHECK(name->after[i] == 0xa5);                                                         \
        free(name);                                                                                \
    } while (0)

static void *guarded(size_t all, size_t size)
{
    unsigned char *memory = malloc(all);

    CHECK(memory);
    (void)size;
    memset(memory, 0xa5, all);
    return memory;
}

static uint8_t stream[1 << 16];
static size_t stream_size;

/* ---- format and gen ------------------------------------------------------------------------- */

static void generate(void)
{
    GUARDED(spe_gen_config, config);
    struct spe_gen *gen = malloc(spe_gen_sizeof());
    char why[200];

    spe_gen_config_init(&config->it);
    CHECK(config->it.size == sizeof(config->it) && config->it.seed == 1);
    CHECK(spe_gen_init(gen, &config->it, why, sizeof(why)) == SPE_OK);
    for (int i = 0; i < 500; i++) {
        struct spe_record record;
        int n;

        spe_record_clear(&record);
        spe_gen_next(gen, &record);
        n = spe_record_encode(&record, spe_layout_by_name("neoverse-n1"), stream + stream_size,
                              sizeof(stream) - stream_size);
        CHECK(n > 0);
        stream_size += (size_t)n;
    }
    free(gen);
    UNHARMED(config);
}

static void ignore(void *user, const struct spe_violation *violation)
{
    (void)user;
    (void)violation;
}

static void decode(void)
{
    static uint64_t pc[1000];
    GUARDED(spe_columns, columns);
    GUARDED(spe_check_config, check);
    struct spe_bulk *bulk = malloc(spe_bulk_sizeof());
    struct spe_item skipped;

    spe_columns_init(&columns->it);
    columns->it.capacity = 1000;
    columns->it.pc = pc;
    CHECK(spe_bulk_init(bulk, 0, SPE_BULK_AUTO) == SPE_OK);
    CHECK(spe_bulk_feed(bulk, stream, stream_size) == SPE_OK);
    spe_bulk_end(bulk);
    CHECK(spe_bulk_next(bulk, &columns->it, &skipped) == SPE_ITEM_NONE);
    CHECK(columns->it.rows == 500 && pc[499] != 0 && spe_bulk_account(bulk)->records == 500);
    free(bulk);
    spe_check_config_init(&check->it);
    check->it.features = SPE_FEATURES_ALL;
    CHECK(spe_check_record(&check->it, stream, 64, 0, ignore, NULL) >= 0);
    UNHARMED(columns);
    UNHARMED(check);
}

/* ---- spu and pe ----------------------------------------------------------------------------- */

static void on_write(void *user, const struct spe_write *w, struct spe_write_result *result)
{
    (void)user;
    result->written = w->size;
}

static void set_up(struct spe_spu *spu)
{
    GUARDED(spe_pe_state, pe);

    spe_pe_state_init(&pe->it);
    CHECK(pe->it.counter_enabled);
    pe->it.el = 1;
    CHECK(spe_spu_set_pe(spu, &pe->it) == SPE_OK);
    spe_spu_get_pe(spu, &pe->it);
    CHECK(pe->it.el == 1 && pe->it.size == sizeof(pe->it));
    spe_spu_reg_set(spu, SPE_REG_PMSIRR_EL1, 1 << 8);
    spe_spu_reg_set(spu, SPE_REG_PMBPTR_EL1, 0x10000);
    spe_spu_reg_set(spu, SPE_REG_PMBLIMITR_EL1, 0x20001);
    spe_spu_reg_set(spu, SPE_REG_PMSCR_EL1, 2);
    UNHARMED(pe);
}

static void profile_unit(void)
{
    GUARDED(spe_spu_config, config);
    GUARDED(spe_spu_host, host);
    GUARDED(spe_operation, op);
    GUARDED(spe_spu_stats, stats);
    struct spe_spu *spu;
    char why[200] = "";

    CHECK(spe_spu_config_init(&config->it, "neoverse-n1") == SPE_OK);
    CHECK(spe_spu_option_set(&config->it, "rng_seed", "5", why, sizeof(why)) == SPE_OK);
    CHECK(config->it.rng_seed == 5 && config->it.size == sizeof(config->it));
    spe_spu_host_init(&host->it);
    host->it.write = on_write;
    if (spe_spu_create(&config->it, &host->it, &spu, why, sizeof(why)) != SPE_OK)
        printf("%s\n", why);
    set_up(spu);
    spe_operation_init(&op->it, SPE_OPERATION_OTHER);
    for (int i = 0; i < 20;) {
        CHECK(spe_spu_advance(spu, spe_spu_budget(spu)) == SPE_OK);
        if (spe_spu_step(spu, 0) > 0) {
            CHECK(spe_spu_sample(spu, &op->it) == SPE_FATE_WRITTEN);
            i++;
        }
    }
    spe_spu_stats(spu, &stats->it);
    CHECK(stats->it.records == 20);
    spe_spu_get_config(spu, &config->it);
    CHECK(config->it.rng_seed == 5);
    spe_spu_destroy(spu);
    UNHARMED(config);
    UNHARMED(host);
    UNHARMED(op);
    UNHARMED(stats);
}

static uint64_t one_register(void *user, unsigned n)
{
    (void)user;
    return n == 0 ? 0x1000 : 0;
}

static void classify(void)
{
    GUARDED(spe_a64, insn);
    GUARDED(spe_a64_registers, registers);
    GUARDED(spe_operation, op);
    struct spe_memory_access accesses[SPE_A64_ACCESSES_MAX];
    uint64_t reads, writes;

    spe_a64_classify(0xf9400401, 0, &insn->it); /* ldr x1, [x0, #8] */
    CHECK(insn->it.load && insn->it.offset == 8);
    spe_a64_uses(&insn->it, &reads, &writes);
    CHECK(reads == 1 && writes == 2);
    spe_a64_registers_init(&registers->it);
    registers->it.x = one_register;
    CHECK(spe_a64_evaluate(&insn->it, 0x40, &registers->it, &op->it, accesses) &
          SPE_A64_KNOWS_ADDRESS);
    CHECK(op->it.pc == 0x40 && op->it.size == sizeof(op->it) && accesses[0].va == 0x1008);
    UNHARMED(insn);
    UNHARMED(registers);
    UNHARMED(op);
}

static void model(void)
{
    GUARDED(spe_machine_config, config);
    GUARDED(spe_machine_counts, counts);
    struct spe_machine *machine;
    char why[200] = "";

    CHECK(spe_machine_config_init(&config->it, "small") == SPE_OK);
    CHECK(spe_machine_create(&config->it, &machine, why, sizeof(why)) == SPE_OK);
    spe_machine_touch(machine, 0, 0x1000, 8, 0, NULL);
    spe_machine_counts(machine, 0, &counts->it);
    CHECK(counts->it.accesses == 1 && counts->it.l1_misses == 1);
    spe_machine_destroy(machine);
    UNHARMED(config);
    UNHARMED(counts);
}

/* ---- perf.data, profile, analysis ----------------------------------------------------------- */

static struct {
    uint8_t bytes[1 << 18];
    size_t size;
} file;

static int put(void *user, uint64_t offset, const void *bytes, size_t size)
{
    (void)user;
    CHECK(offset + size <= sizeof(file.bytes));
    memcpy(file.bytes + offset, bytes, size);
    file.size = offset + size > file.size ? (size_t)(offset + size) : file.size;
    return SPE_OK;
}

static void write_file(void)
{
    const struct spe_perf_output output = {put, NULL, NULL, NULL};
    const struct spe_perf_metadata metadata = {.version = 1, .pmu_type = 8};
    const struct spe_perf_auxtrace piece = {.offset = SPE_PERF_OFFSET_NEXT, .tid = 7, .cpu = 0};
    const uint64_t id = 11;
    GUARDED(spe_perf_event, event);
    GUARDED(spe_perf_features, features);
    GUARDED(spe_perf_start, start);
    GUARDED(spe_perf_record, record);
    struct spe_perf_writer *writer;

    CHECK(spe_perf_writer_open_output(&writer, &output, 0, NULL) == SPE_OK);
    spe_perf_event_init_spe(&event->it, 8, SPE_PERF_TIMELESS);
    event->it.ids = &id;
    event->it.id_count = 1;
    CHECK(spe_perf_writer_event(writer, &event->it) == 0);
    memset(&features->it, 0, sizeof(features->it));
    features->it.hostname = "here";
    CHECK(spe_perf_writer_features(writer, &features->it) == SPE_OK);
    spe_perf_start_init(&start->it);
    start->it.metadata = &metadata;
    CHECK(spe_perf_writer_begin(writer, &start->it) == SPE_OK);
    memset(&record->it, 0, sizeof(record->it));
    record->it.type = SPE_PERF_COMM;
    record->it.event = -1;
    record->it.comm.pid = record->it.comm.tid = 7;
    record->it.comm.name = "caller";
    CHECK(spe_perf_writer_record(writer, &record->it) == SPE_OK);
    CHECK(spe_perf_writer_aux(writer, &piece, stream, stream_size) == SPE_OK);
    CHECK(spe_perf_writer_finish(writer) == SPE_OK);
    spe_perf_writer_close(writer);
    UNHARMED(event);
    UNHARMED(features);
    UNHARMED(start);
    UNHARMED(record);
}

static void read_file(void)
{
    GUARDED(spe_perf_record, record);
    struct spe_perf_reader *reader;
    unsigned comms = 0;

    CHECK(spe_perf_reader_open_memory(&reader, file.bytes, file.size, 0, NULL) == SPE_OK);
    while (spe_perf_reader_next(reader, &record->it) > 0)
        comms += record->it.type == SPE_PERF_COMM && !strcmp(record->it.comm.name, "caller");
    CHECK(comms == 1);
    spe_perf_reader_close(reader);
    UNHARMED(record);
}

/* A list with room for n elements, and what lies behind it. */
#define LIST(type, name, n)                                                                        \
    struct {                                                                                       \
        struct type it[n];                                                                         \
        unsigned char after[GUARD];                                                                \
    } *name = guarded(sizeof(*name), sizeof(struct type) * (n))

/* Elements are where the caller looks for them: each differs from the one before. */
static void lists(const struct spe_analysis *analysis)
{
    LIST(spe_group, groups, 8);
    LIST(spe_branch, branches, 8);
    LIST(spe_data, data, 8);
    LIST(spe_mix, mix, SPE_MIX_MAX);
    LIST(spe_served_row, served, SPE_SERVED_COUNT);
    GUARDED(spe_data_summary, summary);
    uint64_t error, samples = 0, loads = 0;
    size_t n = spe_analysis_groups(analysis, SPE_BY_PC, SPE_SORT_SAMPLES, groups->it, 8), i;

    CHECK(n >= 2);
    for (i = 1; i < n; i++)
        CHECK(groups->it[i].address && groups->it[i].address != groups->it[i - 1].address &&
              groups->it[i].symbol == SPE_NO_SYMBOL);
    n = spe_analysis_branches(analysis, branches->it, 8, &error);
    CHECK(n >= 2 && error == 0);
    for (i = 1; i < n; i++)
        CHECK(branches->it[i].pc != branches->it[i - 1].pc && branches->it[i].samples);
    n = spe_analysis_data(analysis, data->it, 8, &summary->it);
    CHECK(n >= 2 && summary->it.shift == 6);
    for (i = 1; i < n; i++)
        CHECK(data->it[i].address != data->it[i - 1].address && data->it[i].samples &&
              data->it[i].latency <= data->it[i - 1].latency);
    n = spe_analysis_mix(analysis, mix->it);
    for (i = 0; i < n; i++)
        samples += mix->it[i].is_class ? mix->it[i].samples : 0;
    CHECK(samples == 500);
    n = spe_analysis_served(analysis, served->it);
    for (i = 0; i < n; i++)
        loads += served->it[i].loads;
    CHECK(n > 1 && loads == mix->it[0].samples && !strcmp(mix->it[0].name, "loads"));
    UNHARMED(groups);
    UNHARMED(branches);
    UNHARMED(data);
    UNHARMED(mix);
    UNHARMED(served);
    UNHARMED(summary);
}

/* Of the library's lists: the next element is as far away as the library says. */
static void instructions(const struct spe_annotation *annotation)
{
    size_t count;
    const struct spe_instruction *list = spe_annotation_instructions(annotation, 0, &count);

    CHECK(count > 100);
    for (size_t i = 1; i < count; i++)
        CHECK(spe_instruction_at(list, i)->address > spe_instruction_at(list, i - 1)->address);
}

static void analyse(void)
{
    LIST(spe_finding, findings, SPE_FINDINGS_MAX);
    GUARDED(spe_profile_options, options);
    GUARDED(spe_analysis_config, config);
    GUARDED(spe_rows, rows);
    GUARDED(spe_counts, totals);
    GUARDED(spe_profile_symbol, symbol);
    GUARDED(spe_profile_place, place);
    struct spe_profile *profile;
    struct spe_code_choice everything = {SPE_NO_SYMBOL, SPE_NO_ID};
    struct spe_annotation *annotation;
    struct spe_analysis *analysis;
    uint64_t selected[1024];
    struct spe_filter *filter;

    spe_profile_options_init(&options->it);
    CHECK(spe_profile_open_memory(&profile, file.bytes, file.size, &options->it, NULL) == SPE_OK);
    spe_analysis_config_init(&config->it);
    config->it.by = 1u << SPE_BY_PC;
    config->it.data = config->it.findings = true;
    CHECK(spe_analysis_create(&analysis, &config->it) == SPE_OK);
    CHECK(spe_annotation_create(&annotation, &everything, 1) == SPE_OK);
    CHECK(spe_filter_create(&filter, "load or not load", NULL) == SPE_OK);
    while (spe_profile_next(profile, &rows->it) > 0) {
        CHECK(rows->it.size == sizeof(rows->it));
        CHECK(spe_filter_select(filter, profile, &rows->it, selected) == (int64_t)rows->it.count);
        CHECK(spe_analysis_add(analysis, profile, &rows->it) == SPE_OK);
        CHECK(spe_annotation_add(annotation, profile, &rows->it) == SPE_OK);
    }
    CHECK(spe_analysis_finish(analysis, profile) == SPE_OK);
    spe_analysis_totals(analysis, &totals->it);
    CHECK(totals->it.samples == 500);
    lists(analysis);
    CHECK(spe_annotation_finish(annotation) == SPE_OK);
    instructions(annotation);
    CHECK(spe_analysis_findings(analysis, profile, findings->it) >= 1 &&
          strlen(spe_finding_name(findings->it[0].rule)) > 2);
    UNHARMED(findings);
    CHECK(spe_profile_symbol(profile, SPE_NO_SYMBOL, &symbol->it) == SPE_ERR_UNKNOWN);
    CHECK(spe_profile_place(profile, 0, 0, 0, false, &place->it) == SPE_ERR_UNKNOWN);
    spe_filter_destroy(filter);
    spe_annotation_destroy(annotation);
    spe_analysis_destroy(analysis);
    spe_profile_close(profile);
    UNHARMED(options);
    UNHARMED(config);
    UNHARMED(rows);
    UNHARMED(totals);
    UNHARMED(symbol);
    UNHARMED(place);
}

int main(void)
{
    CHECK(spe_version_number() == SPE_VERSION_NUMBER);
    generate();
    decode();
    profile_unit();
    classify();
    model();
    write_file();
    read_file();
    analyse();
    return 0;
}
