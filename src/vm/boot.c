/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * One life of a virtual machine: QEMU says what its device tree is, the SPU goes into it, QEMU
 * boots with that tree and the plugin, and what a command in the guest has left is taken out of a
 * disk that holds a tar archive.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <specimen/format.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/count_of.h"
#include "base/path.h"
#include "launch/child.h"
#include "launch/folders.h"
#include "launch/option.h"
#include "vm/vm.h"

enum { PPI = 5 }; /* INTID 21, which Arm's base system architecture gives to the SPU */

enum { CONSOLE_LINES = 15, CONSOLE_TAIL = 8192 }; /* shown of a console, and looked at for them */

#define DEFAULT_KERNEL "6.12"
#define HOST_NAME "software-spe-in-qemu."

struct boot {
    const struct vm_options *options;
    struct problem *error;
    struct vm_qemu qemu;
    struct vm_words command;
    struct vm_gic gic;
    struct vm_output output;
    char cache[1024], guest[1200], plugin[4096];
    char folder[1024]; /* for what is temporary */
};

static int fail_errno(struct boot *b, const char *what)
{
    return problem_say(b->error, SPE_ERR_IO, what, "%s", strerror(errno));
}

static void in_folder(const struct boot *b, const char *name, char *out, size_t size)
{
    snprintf(out, size, "%s/%s", b->folder, name);
}

static bool own_guest(const struct boot *b)
{
    return !b->options->kernel;
}

/* What is in the folder of a command or a shell comes out when it ends. */
static bool brings_files(const struct boot *b)
{
    return b->options->command || own_guest(b);
}

/* Names for the recordings of a run. */
static bool wants_symbols(const struct boot *b)
{
    return brings_files(b) && !b->options->no_symbols;
}

static const char *cpu_of(const struct vm_options *o)
{
    return o->cpu ? o->cpu : "architecture";
}

static bool is_functional(const struct vm_options *o)
{
    return o->model && strcmp(o->model, "functional") == 0;
}

/* ---- What goes in ---------------------------------------------------------------------------- */

/* The command as a line of the guest's shell: each word in quotes. */
static char *shell_line(char *const *words, size_t *size)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, size);

    if (!f)
        return NULL;
    for (; *words; words++) {
        fputc('\'', f);
        for (const char *p = *words; *p; p++)
            if (*p == '\'')
                fputs("'\\''", f);
            else
                fputc(*p, f);
        fputs("' ", f);
    }
    fputc('\n', f);
    if (fclose(f) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* All files go into one folder. */
static int check_put(struct boot *b)
{
    char *const *put = b->options->put;

    for (char *const *file = put; file && *file; file++)
        for (char *const *before = put; before != file; before++)
            if (strcmp(base_name(*before), base_name(*file)) == 0)
                return problem_say(b->error, SPE_ERR_INVALID, *file,
                                   "--put %s has the same name, and both go into one folder",
                                   *before);
    return 0;
}

static int put_files(struct boot *b, struct vm_cpio *c)
{
    char path[4200];
    struct stat st;

    vm_cpio_folder(c, "run/spe/put");
    for (char *const *file = b->options->put; file && *file; file++) {
        snprintf(path, sizeof(path), "run/spe/put/%s", base_name(*file));
        if (stat(*file, &st) < 0)
            return fail_errno(b, *file);
        if (vm_cpio_copy(c, path, S_IFREG | (st.st_mode & 0777), *file, b->error) < 0)
            return SPE_ERR_IO;
    }
    return 0;
}

static int put_command(struct boot *b, struct vm_cpio *c)
{
    size_t size;
    char *line = shell_line(b->options->command, &size);

    if (!line)
        return problem_say(b->error, SPE_ERR_NOMEM, "vm", "out of memory");
    vm_cpio_file(c, "run/spe/command", S_IFREG | 0644, line, size);
    free(line);
    return 0;
}

/* A serial line does not say how large the terminal is. */
static void put_terminal(struct vm_cpio *c)
{
    struct winsize size;
    char text[32];

    if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col)
        vm_cpio_file(c, "run/spe/terminal", S_IFREG | 0644, text,
                     (size_t)snprintf(text, sizeof(text), "%u %u\n", size.ws_row, size.ws_col));
}

/* The command or the shell, and its files. */
static int put_work(struct boot *b, struct vm_cpio *c)
{
    int status = 0;

    if (b->options->command)
        status = put_command(b, c);
    else
        put_terminal(c);
    if (wants_symbols(b))
        vm_cpio_file(c, "run/spe/symbols", S_IFREG | 0644, "", 0);
    return status < 0 ? status : put_files(b, c);
}

/* The guest's name, which perf keeps in every recording: it tells that this is not hardware. */
static void put_name(const struct boot *b, struct vm_cpio *c)
{
    const struct vm_options *o = b->options;
    char name[128];
    int size = is_functional(o) ? snprintf(name, sizeof(name),
                                           HOST_NAME "functional-model-of-%.24s\n", cpu_of(o))
                                : snprintf(name, sizeof(name), HOST_NAME "no-model\n");

    vm_cpio_file(c, "run/spe/name", S_IFREG | 0644, name, (size_t)size);
}

/* The guest's files, then ours. */
static int make_initrd(struct boot *b, const char *path)
{
    struct vm_cpio c = {.file = fopen(path, "wb")};
    char root[1300], init[4096];
    int status;

    if (!c.file)
        return fail_errno(b, path);
    snprintf(root, sizeof(root), "%s/root", b->guest);
    status = vm_find_file("init.sh", init, sizeof(init), b->error);
    if (status == 0)
        status = vm_cpio_tree(&c, root, b->error);
    if (status == 0)
        status = vm_cpio_copy(&c, "init", S_IFREG | 0755, init, b->error);
    if (status == 0) {
        vm_cpio_folder(&c, "dev");
        vm_cpio_device(&c, "dev/console", 5, 1);
        vm_cpio_folder(&c, "run");
        vm_cpio_folder(&c, "run/spe");
        if (!b->options->plain)
            put_name(b, &c);
        status = put_work(b, &c);
    }
    if (status == 0 && !vm_cpio_end(&c))
        status = fail_errno(b, path);
    fclose(c.file);
    return status;
}

/* A file with holes: only what the guest writes takes room. It has room for the files that we take
 * out, and for a header and the rest of a block with each. */
static int make_disk(struct boot *b, const char *path)
{
    const struct vm_limits *limits = &b->options->limits;
    uint64_t size = limits->bytes + limits->entries * 2048 + VM_KALLSYMS_MAX + (1 << 20);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), status = 0;

    if (fd < 0 || ftruncate(fd, (off_t)(size & ~UINT64_C(511))) < 0)
        status = fail_errno(b, path);
    if (fd >= 0)
        close(fd);
    return status;
}

/* ---- QEMU's command line --------------------------------------------------------------------- */

/* With a model software has to see whose numbers the data sources have, by MIDR_EL1: the CPU's
 * first revision. Without one there are none, and QEMU's own MIDR, of an implementer that is
 * reserved for software, tells that. */
static void add_cpu(struct boot *b)
{
    const struct vm_options *o = b->options;
    const struct spe_cpu *cpu = is_functional(o) && !o->plain ? spe_cpu_by_name(cpu_of(o)) : NULL;
    struct vm_words *w = &b->command;

    vm_words_add(w, "-cpu");
    if (o->qemu_cpu)
        vm_words_add(w, "%s", o->qemu_cpu);
    else if (cpu)
        vm_words_add(w, "max,pauth-impdef=on,midr=0x%08x",
                     (unsigned)cpu->implementer << 24 | 0xf0000 | (unsigned)cpu->part << 4);
    else
        vm_words_add(w, "max,pauth-impdef=on");
}

static void add_machine(struct boot *b)
{
    const struct vm_options *o = b->options;
    struct vm_words *w = &b->command;

    vm_words_add_list(w, b->qemu.command.list);
    vm_words_add(w, "-machine");
    vm_words_add(w, "virt,gic-version=%s,virtualization=%s", o->gic2 ? "2" : "3",
                 o->el2 ? "on" : "off");
    vm_words_add(w, "-accel");
    vm_words_add(w, "tcg,thread=multi");
    add_cpu(b);
    vm_words_add(w, "-smp");
    vm_words_add(w, "%u", o->cpus);
    vm_words_add(w, "-m");
    vm_words_add(w, "%u", o->memory_mb);
    vm_words_add(w, "-display");
    vm_words_add(w, "none");
    vm_words_add(w, "-net");
    vm_words_add(w, "none");
    vm_words_add(w, "-no-reboot");
    vm_words_add_list(w, o->more);
}

/* Words that hold several values. */
static void add_values(struct vm_words *w, const char *first, const char *name, const char *value)
{
    char *text = option_value(value);

    w->failed |= !text;
    vm_words_add(w, "%s%s=%s", first, name, text ? text : "");
    free(text);
}

static void add_disk(struct boot *b)
{
    struct vm_words *w = &b->command;
    char path[PATH_MAX];

    in_folder(b, "disk", path, sizeof(path));
    vm_words_add(w, "-drive");
    add_values(w, "if=none,id=disk,format=raw,", "file", path);
    vm_words_add(w, "-device");
    vm_words_add(w, "virtio-blk-device,drive=disk");
}

static void add_serial_lines(struct boot *b)
{
    struct vm_words *w = &b->command;
    char path[PATH_MAX];

    if (!b->options->command) {
        vm_words_add(w, "-serial");
        vm_words_add(w, "mon:stdio");
        return;
    }
    in_folder(b, "console", path, sizeof(path));
    vm_words_add(w, "-serial");
    vm_words_add(w, "file:%s", b->options->log ? b->options->log : path);
    vm_words_add(w, "-chardev");
    vm_words_add(w, "stdio,id=output,signal=off");
    vm_words_add(w, "-serial");
    vm_words_add(w, "chardev:output");
}

static void add_guest(struct boot *b)
{
    const struct vm_options *o = b->options;
    struct vm_words *w = &b->command;

    vm_words_add(w, "-kernel");
    if (own_guest(b))
        vm_words_add(w, "%s/vmlinuz", b->guest);
    else
        vm_words_add(w, "%s", o->kernel);
    if (own_guest(b) || o->initrd)
        vm_words_add(w, "-initrd");
    if (own_guest(b))
        vm_words_add(w, "%s/initrd", b->folder);
    else if (o->initrd)
        vm_words_add(w, "%s", o->initrd);
    if (own_guest(b) || o->append) {
        vm_words_add(w, "-append");
        /* Symbols that are kept for this Linux have to fit the next boot, too. */
        vm_words_add(w, "%s%s%s%s", own_guest(b) ? "console=ttyAMA0 panic=-1 " : "",
                     own_guest(b) && wants_symbols(b) ? "nokaslr " : "",
                     own_guest(b) && !o->command && !o->verbose ? "quiet " : "",
                     o->append ? o->append : "");
    }
}

/* ",name=value"; nothing without a value. */
static bool print_value(FILE *f, const char *name, const char *value)
{
    char *text = value ? option_value(value) : NULL;

    if (text)
        fprintf(f, ",%s=%s", name, text);
    free(text);
    return text || !value;
}

static void print_gic(FILE *f, const struct vm_gic *gic)
{
    if (gic->version == 2) {
        fprintf(f, ",gicd=0x%llx", (unsigned long long)gic->distributor.base);
        return;
    }
    for (unsigned i = 0; i < gic->redistributors; i++)
        fprintf(f, "%s0x%llx/0x%llx",
                i ? "+" : ",gicr=", (unsigned long long)gic->redistributor[i].base,
                (unsigned long long)gic->redistributor[i].size);
}

/* The plugin and its arguments, one word; NULL: out of memory. */
static char *plugin_word(const struct boot *b)
{
    const struct vm_options *o = b->options;
    char *word = NULL, *path = option_value(b->plugin);
    size_t size;
    FILE *f = open_memstream(&word, &size);
    bool good = f && path;

    if (good) {
        fprintf(f, "%s,role=device,ppi=%d", path, PPI);
        print_gic(f, &b->gic);
        good = print_value(f, "preset", cpu_of(o)) && print_value(f, "spe", o->spe) &&
               print_value(f, "model", o->model);
        if (o->unit)
            fprintf(f, ",%s", o->unit);
    }
    if (f && fclose(f) != 0)
        good = false;
    free(path);
    if (good)
        return word;
    free(word);
    return NULL;
}

static int add_plugin(struct boot *b)
{
    struct vm_words *w = &b->command;
    char *plugin = plugin_word(b);

    vm_words_add(w, "-dtb");
    vm_words_add(w, "%s/tree", b->folder);
    vm_words_add(w, "-plugin");
    vm_words_add(w, "%s", plugin ? plugin : "");
    w->failed |= !plugin;
    free(plugin);
    return w->failed ? problem_say(b->error, SPE_ERR_NOMEM, "vm", "out of memory") : 0;
}

/* ---- The device tree ------------------------------------------------------------------------- */

static int read_file(struct boot *b, const char *path, uint8_t **bytes, size_t *size)
{
    FILE *f = fopen(path, "rb");
    struct stat st;
    int status = 0;

    *bytes = NULL;
    if (!f || fstat(fileno(f), &st) < 0) {
        status = fail_errno(b, path);
    } else {
        *size = (size_t)st.st_size;
        *bytes = malloc(*size + 1);
        if (!*bytes || fread(*bytes, 1, *size, f) != *size)
            status = problem_say(b->error, SPE_ERR_IO, path, "it could not be read");
    }
    if (f)
        fclose(f);
    return status;
}

static int write_file(struct boot *b, const char *path, const uint8_t *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    bool good = f && fwrite(bytes, 1, size, f) == size;

    if (f && fclose(f) != 0)
        good = false;
    return good ? 0 : fail_errno(b, path);
}

static int change_tree(struct boot *b, const char *path)
{
    uint8_t *old = NULL, *new = NULL;
    size_t size = 0, new_size;
    int status = read_file(b, path, &old, &size);

    if (status == 0) {
        status = vm_fdt_gic(old, size, &b->gic);
        if (status == 0)
            status = vm_fdt_add_spe(old, size, &b->gic, b->options->cpus, PPI, &new, &new_size);
        if (status < 0)
            problem_say(b->error, status, "device tree",
                        status == SPE_ERR_UNKNOWN
                            ? "the machine has no GICv2 or GICv3 that Specimen can find"
                            : "QEMU wrote one that cannot be read");
    }
    if (status == 0)
        status = write_file(b, path, new, new_size);
    free(old);
    free(new);
    return status;
}

/* Why QEMU ended, if it did not end well. A loader or a script in front of it turns a signal into
 * 128 and its number. */
static int qemu_failed(struct boot *b, int status)
{
    static const struct {
        int number;
        const char *name;
    } crashes[] = {{SIGSEGV, "SIGSEGV"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},
                   {SIGILL, "SIGILL"},   {SIGFPE, "SIGFPE"},   {SIGTRAP, "SIGTRAP"}};

    for (size_t i = 0; i < COUNT_OF(crashes); i++)
        if (status == 128 + crashes[i].number)
            return problem_say(b->error, SPE_ERR_IO, b->qemu.path, "QEMU crashed (%s)",
                               crashes[i].name);
    if (status > 128)
        return problem_say(b->error, SPE_ERR_IO, b->qemu.path, "QEMU was ended by signal %d",
                           status - 128);
    return problem_say(b->error, SPE_ERR_IO, b->qemu.path, "QEMU ended with status %d", status);
}

/* QEMU writes the tree of the machine that these options make, and ends. */
static int make_tree(struct boot *b)
{
    struct vm_words w = {0};
    char path[PATH_MAX];
    int said = memfd_create("said", MFD_CLOEXEC), status;

    in_folder(b, "tree", path, sizeof(path));
    vm_words_add_list(&w, b->command.list);
    vm_words_add(&w, "-machine");
    add_values(&w, "", "dumpdtb", path);
    status = said < 0 || w.failed ? problem_say(b->error, SPE_ERR_NOMEM, "vm", "out of memory")
                                  : vm_run_program(w.list, said, false, 60, b->error);
    vm_words_free(&w);
    if (said >= 0)
        close(said);
    if (status > 128)
        return qemu_failed(b, status);
    if (status > 0)
        return problem_say(b->error, SPE_ERR_IO, b->qemu.path,
                           "QEMU rejected its options; its message is above");
    return status < 0 ? status : change_tree(b, path);
}

/* ---- What comes out -------------------------------------------------------------------------- */

/* The last lines of a text, told one by one. */
static void tell_lines(const struct boot *b, char *text)
{
    char *lines[CONSOLE_LINES] = {NULL}, *rest = NULL;
    size_t count = 0;

    for (char *line = strtok_r(text, "\r\n", &rest); line; line = strtok_r(NULL, "\r\n", &rest))
        lines[count++ % CONSOLE_LINES] = line;
    for (size_t i = count > CONSOLE_LINES ? count - CONSOLE_LINES : 0; i < count; i++)
        b->options->tell("console", lines[i % CONSOLE_LINES]);
}

static void show_console(const struct boot *b)
{
    char path[PATH_MAX], text[CONSOLE_TAIL + 1];
    struct stat st;
    ssize_t n;
    int fd;

    if (!b->options->command)
        return;
    in_folder(b, "console", path, sizeof(path));
    fd = open(b->options->log ? b->options->log : path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        n = pread(fd, text, CONSOLE_TAIL,
                  st.st_size > CONSOLE_TAIL ? st.st_size - CONSOLE_TAIL : 0);
        text[n > 0 ? n : 0] = '\0';
        for (ssize_t i = 0; i < n; i++)
            if (text[i] == '\0')
                text[i] = ' ';
        tell_lines(b, text);
    }
    if (fd >= 0)
        close(fd);
}

/* The files of the run, and names for its recordings. */
static int take_files(struct boot *b, int archive, struct vm_outcome *outcome)
{
    const struct vm_options *o = b->options;
    char root[1300], kernel[1300];
    struct vm_symbols symbols = {.root = root, .kernel = kernel, .put = o->put, .kallsyms = -1};
    int result;

    snprintf(root, sizeof(root), "%s/root", b->guest);
    snprintf(kernel, sizeof(kernel), "%s/vmlinuz", b->guest);
    b->output.symbols = wants_symbols(b) ? &symbols : NULL;
    result = vm_output_take(&b->output, archive, &o->limits, o->force, o->tell, outcome, b->error);
    if (b->output.symbols)
        vm_symbols_keep(&symbols, o->tell);
    vm_symbols_free(&symbols);
    b->output.symbols = NULL;
    return result;
}

static int take_results(struct boot *b, struct vm_outcome *outcome)
{
    const struct vm_options *o = b->options;
    char path[PATH_MAX];
    int fd, result;

    in_folder(b, "disk", path, sizeof(path));
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(b, path);
    result = take_files(b, fd, outcome);
    close(fd);
    if (result == SPE_ERR_INVALID)
        show_console(b); /* the guest may have said what went wrong */
    if (result == 0 && outcome->status < 0 && !o->command) {
        outcome->status = 0;
        o->tell("guest", "it ended before its shell did: nothing comes out of /work");
        return 0;
    }
    if (result == 0 && outcome->status < 0 && !outcome->incomplete) {
        show_console(b);
        return problem_say(b->error, SPE_ERR_IO, "guest",
                           "it ended before the command did; the end of its console is above%s%s",
                           o->log ? ", all of it is in " : "", o->log ? o->log : "");
    }
    if (result == 0 && outcome->status < 0)
        return problem_say(b->error, SPE_ERR_INVALID, "guest",
                           "the status of the command is missing");
    return result;
}

/* ---- All together ---------------------------------------------------------------------------- */

static int find_things(struct boot *b)
{
    const struct vm_options *o = b->options;

    if (vm_cache_folder(b->cache, sizeof(b->cache), b->error) < 0 ||
        vm_find_qemu(o->qemu, b->cache, &b->qemu, b->error) < 0 ||
        (!o->plain && vm_find_file(LAUNCH_PLUGIN, b->plugin, sizeof(b->plugin), b->error) < 0))
        return SPE_ERR_UNKNOWN;
    snprintf(b->guest, sizeof(b->guest), "%s/guest-%s", b->cache,
             o->kernel_version ? o->kernel_version : DEFAULT_KERNEL);
    if (own_guest(b) && access(b->guest, R_OK) < 0)
        return problem_say(
            b->error, SPE_ERR_UNKNOWN, b->guest,
            "there is no guest yet: 'spe vm --fetch' prepares one, or give --kernel");
    return 0;
}

/* Files, and a command line of which the plugin's part is missing. */
static int prepare(struct boot *b)
{
    const struct vm_options *o = b->options;
    char path[PATH_MAX];
    int status = check_put(b);

    /* A run whose files cannot be taken is not worth its time. */
    if (status == 0 && brings_files(b))
        status = vm_output_open(&b->output, o->output ? o->output : ".", b->error);
    if (status == 0 && own_guest(b)) {
        in_folder(b, "initrd", path, sizeof(path));
        status = make_initrd(b, path);
    }
    if (status == 0 && brings_files(b)) {
        in_folder(b, "disk", path, sizeof(path));
        status = make_disk(b, path);
    }
    add_machine(b);
    add_serial_lines(b);
    if (brings_files(b))
        add_disk(b);
    add_guest(b);
    if (status == 0 && b->command.failed)
        status = problem_say(b->error, SPE_ERR_NOMEM, "vm", "out of memory");
    return status;
}

static void show_command(const struct boot *b)
{
    for (size_t i = 0; i < b->command.count; i++)
        fprintf(stderr, "%s ", b->command.list[i]);
    fputc('\n', stderr);
}

static int run(struct boot *b, struct vm_outcome *outcome)
{
    int result;

    if (b->options->verbose)
        show_command(b);
    qemu_tell_level(&b->qemu.version);
    result =
        vm_run_program(b->command.list, -1, !b->options->command, b->options->timeout, b->error);
    if (result != 0 && !child_asked_to_end())
        show_console(b);
    if (result > 0)
        return qemu_failed(b, result);
    return result == 0 && brings_files(b) ? take_results(b, outcome) : result;
}

static int make_folder(struct boot *b)
{
    const char *folder = getenv("TMPDIR");

    if (snprintf(b->folder, sizeof(b->folder), "%s/spe-vm-XXXXXX",
                 folder && folder[0] ? folder : "/tmp") >= (int)sizeof(b->folder))
        errno = ENAMETOOLONG;
    else if (mkdtemp(b->folder))
        return 0;
    return fail_errno(b, b->folder);
}

static void remove_folder(struct boot *b)
{
    static const char *const names[] = {"tree", "initrd", "disk", "console"};
    char path[PATH_MAX];

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        in_folder(b, names[i], path, sizeof(path));
        unlink(path);
    }
    rmdir(b->folder);
}

/* All between making the folder and removing it. */
static int boot(struct boot *b, struct vm_outcome *outcome)
{
    int result = prepare(b);

    if (result == 0 && !b->options->plain) {
        result = make_tree(b);
        if (result == 0)
            result = add_plugin(b);
    }
    if (result == 0)
        result = run(b, outcome);
    vm_output_close(&b->output);
    vm_words_free(&b->command);
    return result;
}

int vm_boot(const struct vm_options *options, struct vm_outcome *outcome, struct problem *error)
{
    struct boot b = {.options = options, .error = error, .output.fd = -1};
    sigset_t before;
    int result;

    *outcome = (struct vm_outcome){0};
    if (!vm_has_fdt && !options->plain)
        return problem_say(
            error, SPE_ERR_UNKNOWN, "vm",
            "this build has no libfdt, which the device tree takes: install libfdt-dev "
            "and build again");
    child_hold_signals(&before);
    result = find_things(&b);
    if (result == 0)
        result = make_folder(&b);
    if (result == 0) {
        result = boot(&b, outcome);
        remove_folder(&b);
    }
    vm_qemu_free(&b.qemu);
    child_let_signals(&before);
    return result;
}
