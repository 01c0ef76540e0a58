/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Small files that would fill the memory: symbols that share their names, many tables of symbols in
 * one place, debug information and modules that unpack to anything. Their names are left out, the
 * page says so, and the memory stays free.
 */
#include "support/profile_recording.h"

#include <elf.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIMIT (UINT64_C(8) << 20)
#define RESIDENT_KB                                                                                \
    (600 << 10) /* with what a sanitizer takes; the files below stand for 800 MB each */
#define BASE UINT64_C(0xaaaac0000000)
#define KERNEL UINT64_C(0xffff800000000000)
#define SECTIONS 16

static char directory[] = "/tmp/spe-budget-XXXXXX";

/* ---- ELF files ------------------------------------------------------------------------------ */

/* A file for Arm with one segment; sections are added to it. */
struct elf {
    FILE *file;
    Elf64_Ehdr header;
    Elf64_Shdr sections[SECTIONS];
};

static void begin(struct elf *e, const char *name, unsigned type)
{
    char path[64];

    snprintf(path, sizeof(path), "%s/%s", directory, name);
    memset(e, 0, sizeof(*e));
    e->file = fopen(path, "w");
    assert_non_null(e->file);
    e->header = (Elf64_Ehdr){.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                             .e_type = (Elf64_Half)type,
                             .e_machine = EM_AARCH64,
                             .e_version = EV_CURRENT,
                             .e_phoff = sizeof(Elf64_Ehdr),
                             .e_ehsize = sizeof(Elf64_Ehdr),
                             .e_phentsize = sizeof(Elf64_Phdr),
                             .e_phnum = type == ET_REL ? 0 : 1,
                             .e_shentsize = sizeof(Elf64_Shdr),
                             .e_shnum = 1};
    fseek(e->file, 4096, SEEK_SET);
}

static Elf64_Shdr *add(struct elf *e, unsigned type, const void *bytes, size_t size)
{
    Elf64_Shdr *section = &e->sections[e->header.e_shnum++];

    assert_true(e->header.e_shnum <= SECTIONS);
    section->sh_type = type;
    section->sh_offset = (uint64_t)ftell(e->file);
    section->sh_size = size;
    assert_int_equal(fwrite(bytes, 1, size, e->file), size);
    fseek(e->file, (ftell(e->file) + 7) & ~7L, SEEK_SET);
    return section;
}

static void end(struct elf *e)
{
    const Elf64_Phdr load = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = 0x10000};

    e->header.e_shoff = (uint64_t)ftell(e->file);
    fwrite(e->sections, sizeof(Elf64_Shdr), e->header.e_shnum, e->file);
    rewind(e->file);
    fwrite(&e->header, sizeof(e->header), 1, e->file);
    fwrite(&load, sizeof(load), 1, e->file);
    assert_int_equal(fclose(e->file), 0);
}

/* Functions of 16 bytes each from 0 on, whose names are the ends of one long name. */
static void add_functions(struct elf *e, size_t count, size_t longest)
{
    Elf64_Sym *symbols = calloc(count + 1, sizeof(*symbols));
    char *names = calloc(1, longest + 2);
    Elf64_Shdr *table;

    assert_true(symbols && names);
    memset(names + 1, 'n', longest);
    for (size_t i = 0; i < count; i++)
        symbols[i + 1] = (Elf64_Sym){.st_name = (Elf64_Word)(1 + i % (longest / 2)),
                                     .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                     .st_shndx = 1,
                                     .st_value = 16 * i,
                                     .st_size = 16};
    add(e, SHT_STRTAB, names, longest + 2);
    table = add(e, SHT_SYMTAB, symbols, (count + 1) * sizeof(*symbols));
    table->sh_link = 1;
    table->sh_entsize = sizeof(*symbols);
    free(symbols);
    free(names);
}

/* ---- What becomes of them ------------------------------------------------------------------- */

struct outcome {
    char name[64], warning[512];
    unsigned warnings;
};

static struct outcome look_up(const char *path, bool kernel, uint64_t limit, unsigned want)
{
    struct spe_profile_options options = quiet_options(1);
    struct spe_profile_symbol symbol;
    struct outcome o = {{0}, {0}, 0};
    uint64_t start = kernel ? KERNEL : BASE;
    struct spe_profile *p;
    struct recording r;
    struct row row;

    recording_open(&r, 0, 1, NEOVERSE_N1, NULL);
    recording_comm(&r, 0, 7, 7, "prog", true);
    recording_map(&r, 0, kernel ? ANY : 7, start, 0x10000, 0, path, NULL, 0);
    recording_sample(&r, 0, 10, start + 8, kernel, 7);
    recording_flush(&r, 0, 0, ANY, 0);
    recording_finish(&r);
    options.symfs = directory;
    options.want = want;
    options.memory_limit = limit;
    p = recording_profile(&r, &options);
    assert_int_equal(read_rows(p, &row, 1), 1);
    spe_profile_symbol(p, row.symbol, &symbol);
    snprintf(o.name, sizeof(o.name), "%s", symbol.name);
    for (; spe_profile_warning(p, o.warnings); o.warnings++)
        snprintf(o.warning, sizeof(o.warning), "%s", spe_profile_warning(p, o.warnings));
    spe_profile_close(p);
    recording_free(&r);
    return o;
}

static void expect_left_out(const struct outcome *o, const char *what)
{
    struct rusage usage;

    assert_int_equal(o->warnings, 1);
    if (!strstr(o->warning, what) || !strstr(o->warning, "would take more memory than they may"))
        fail_msg("the warning is: %s", o->warning);
    getrusage(RUSAGE_SELF, &usage);
    assert_true(usage.ru_maxrss < RESIDENT_KB);
}

static void shared_names(void **state)
{
    struct outcome o;
    struct elf e;

    (void)state;
    begin(&e, "few", ET_DYN);
    add_functions(&e, 100, 50);
    end(&e);
    o = look_up("/few", false, LIMIT, SPE_WANT_SYMBOL);
    assert_int_equal(o.warnings, 0);
    assert_int_equal(strlen(o.name), 50);
    begin(&e, "shared", ET_DYN);
    add_functions(&e, 270000, 4000);
    end(&e);
    o = look_up("/shared", false, LIMIT, SPE_WANT_SYMBOL);
    expect_left_out(&o, "symbols of /shared");
    assert_string_equal(o.name, "");
}

/* Only the first table of a kind counts. */
static void many_tables(void **state)
{
    struct outcome o;
    struct elf e;

    (void)state;
    begin(&e, "tables", ET_DYN);
    add_functions(&e, 1000, 1000);
    while (e.header.e_shnum < SECTIONS)
        e.sections[e.header.e_shnum++] = e.sections[2];
    end(&e);
    o = look_up("/tables", false, UINT64_C(4) << 20, SPE_WANT_SYMBOL);
    assert_int_equal(o.warnings, 0);
    assert_true(strlen(o.name) > 0);
}

/* Names and debug information that say they are large when they are unpacked. */
static void packed_sections(void **state)
{
    static const char names[] = "\0.debug_info\0.shstrtab\0.zdebug_info";
    struct {
        Elf64_Chdr header;
        char bytes[64];
    } packed = {{.ch_type = ELFCOMPRESS_ZLIB, .ch_size = 64 << 20, .ch_addralign = 1}, {0}};
    struct outcome o;
    struct elf e;

    (void)state;
    for (int i = 0; i < 3; i++) {
        const char *path = i == 0 ? "new" : i == 1 ? "old" : "names";

        begin(&e, path, ET_DYN);
        add_functions(&e, 100, 50);
        add(&e, SHT_STRTAB, names, sizeof(names))->sh_name = 13;
        e.header.e_shstrndx = 3;
        if (i == 1)
            add(&e, SHT_PROGBITS, "ZLIB\0\0\0\0\4\0\0\0etc", 16)->sh_name = 23;
        else
            add(&e, i ? SHT_STRTAB : SHT_PROGBITS, &packed, sizeof(packed))->sh_name = 1;
        if (i != 1)
            e.sections[4].sh_flags = SHF_COMPRESSED;
        end(&e);
        o = look_up(i == 0   ? "/new"
                    : i == 1 ? "/old"
                             : "/names",
                    false, LIMIT, SPE_WANT_SYMBOL | SPE_WANT_LINE);
        expect_left_out(&o, i == 2 ? "symbols of /names" : "source lines of /");
        assert_int_equal(strlen(o.name), i == 2 ? 0 : 50);
    }
}

/* A module that is large, packed with one program or the other, if it is there. */
static void packed_module(const char *program, const char *path)
{
    struct outcome o;
    char command[256];

    snprintf(command, sizeof(command), "%s --version > /dev/null 2>&1", program);
    if (system(command) != 0) {
        print_message("there is no %s to pack a module with\n", program);
        return;
    }
    snprintf(command, sizeof(command), "%s -c < %s/large.ko > %s%s", program, directory, directory,
             path);
    assert_int_equal(system(command), 0);
    o = look_up(path, true, 0, SPE_WANT_SYMBOL);
    if (o.warning[0] || !o.name[0])
        fail_msg("%s: '%s', %s", path, o.name, o.warning);
    o = look_up(path, true, LIMIT, SPE_WANT_SYMBOL);
    expect_left_out(&o, "symbols of [");
    assert_string_equal(o.name, "");
}

static void packed_modules(void **state)
{
    static const char zeros[1 << 20];
    static const char code[64];
    struct outcome o;
    struct elf e;
    char path[64];
    FILE *file;

    (void)state;
    begin(&e, "large.ko", ET_REL);
    add(&e, SHT_STRTAB, "\0first\0.text", 13);
    {
        Elf64_Sym symbols[2] = {{0},
                                {.st_name = 1,
                                 .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                 .st_shndx = 3,
                                 .st_size = 16}};
        Elf64_Shdr *table = add(&e, SHT_SYMTAB, symbols, sizeof(symbols));

        table->sh_link = 1;
        table->sh_entsize = sizeof(symbols[0]);
    }
    add(&e, SHT_PROGBITS, code, sizeof(code))->sh_name = 7;
    e.sections[3].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
    e.header.e_shstrndx = 1;
    for (int i = 0; i < 20; i++)
        fwrite(zeros, 1, sizeof(zeros), e.file);
    end(&e);
    packed_module("gzip", "/large.ko.gz");
    packed_module("xz", "/large.ko.xz");
    packed_module("zstd", "/large.ko.zst");

    /* One that says it is small. */
    snprintf(path, sizeof(path), "%s/large.ko.gz", directory);
    file = fopen(path, "r+");
    assert_non_null(file);
    fseek(file, -4, SEEK_END);
    fwrite("\0\0\1", 1, 4, file);
    fclose(file);
    o = look_up("/large.ko.gz", true, 0, SPE_WANT_SYMBOL);
    assert_string_equal(o.name, "");
    assert_non_null(strstr(o.warning, "its symbols are not used"));
}

static int set_up(void **state)
{
    (void)state;
    return !mkdtemp(directory);
}

static int tear_down(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof(command), "rm -r %s", directory);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_names),
        cmocka_unit_test(many_tables),
        cmocka_unit_test(packed_sections),
        cmocka_unit_test(packed_modules),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
