/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * One life of a virtual machine: QEMU says what its device tree is, the SPU goes into it, QEMU
 * boots with that tree and the plugin, and what a command in the guest has left is taken out of a
 * disk that holds a tar archive.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "qemu/places.h"
#include "vm/vm.h"

enum { PPI = 5 }; /* INTID 21, which Arm's base system architecture gives to the SPU */

#define DISK_SIZE ((off_t)4 << 30) /* a file with holes: what is written takes room */
#define DEFAULT_KERNEL "6.12"

struct boot {
    const struct vm_options *options;
    struct vm_error *error;
    struct vm_qemu qemu;
    struct vm_words command;
    struct vm_gic gic;
    char cache[1024], guest[1200], plugin[4096];
    char folder[64]; /* for the files of this run */
};

static int fail_errno(struct boot *b, const char *what)
{
    return vm_fail(b->error, SPE_ERR_IO, what, "%s", strerror(errno));
}

static void in_folder(const struct boot *b, const char *name, char *out, size_t size)
{
    snprintf(out, size, "%s/%s", b->folder, name);
}

static bool own_guest(const struct boot *b)
{
    return !b->options->kernel;
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

static int put_files(struct boot *b, struct vm_cpio *c)
{
    char path[4200];
    struct stat st;

    vm_cpio_folder(c, "run/spe/put");
    for (char *const *file = b->options->put; file && *file; file++) {
        const char *slash = strrchr(*file, '/');

        snprintf(path, sizeof(path), "run/spe/put/%s", slash ? slash + 1 : *file);
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
        return vm_fail(b->error, SPE_ERR_NOMEM, "vm", "out of memory");
    vm_cpio_file(c, "run/spe/command", S_IFREG | 0644, line, size);
    free(line);
    return put_files(b, c);
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
        if (b->options->command)
            status = put_command(b, &c);
    }
    if (status == 0 && !vm_cpio_end(&c))
        status = fail_errno(b, path);
    fclose(c.file);
    return status;
}

static int make_disk(struct boot *b, const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600), status = 0;

    if (fd < 0 || ftruncate(fd, DISK_SIZE) < 0)
        status = fail_errno(b, path);
    if (fd >= 0)
        close(fd);
    return status;
}

/* ---- QEMU's command line --------------------------------------------------------------------- */

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
    vm_words_add(w, "-cpu");
    vm_words_add(w, "%s", o->qemu_cpu ? o->qemu_cpu : "max,pauth-impdef=on");
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

static void add_serial_lines(struct boot *b)
{
    struct vm_words *w = &b->command;
    char path[128];

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
    in_folder(b, "disk", path, sizeof(path));
    vm_words_add(w, "-drive");
    vm_words_add(w, "if=none,id=disk,format=raw,file=%s", path);
    vm_words_add(w, "-device");
    vm_words_add(w, "virtio-blk-device,drive=disk");
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
        vm_words_add(w, "%s%s", own_guest(b) ? "console=ttyAMA0 panic=-1 " : "",
                     o->append ? o->append : "");
    }
}

/* ",name=value" for QEMU, which takes two commas for one; nothing without a value. */
static void add_argument(char *text, size_t size, const char *name, const char *value)
{
    size_t n = strlen(text);

    if (!value)
        return;
    n += (size_t)snprintf(text + n, size - n, ",%s=", name);
    for (; *value && n + 3 < size; value++) {
        text[n++] = *value;
        if (*value == ',')
            text[n++] = ',';
    }
    text[n] = '\0';
}

static void add_plugin(struct boot *b)
{
    const struct vm_options *o = b->options;
    struct vm_words *w = &b->command;
    char gic[256], arguments[1024] = "";
    int n;

    if (b->gic.version == 2) {
        snprintf(gic, sizeof(gic), "gicd=0x%llx", (unsigned long long)b->gic.distributor.base);
    } else {
        n = snprintf(gic, sizeof(gic), "gicr=");
        for (unsigned i = 0; i < b->gic.redistributors; i++)
            n += snprintf(gic + n, sizeof(gic) - (size_t)n, "%s0x%llx/0x%llx", i ? "+" : "",
                          (unsigned long long)b->gic.redistributor[i].base,
                          (unsigned long long)b->gic.redistributor[i].size);
    }
    vm_words_add(w, "-dtb");
    vm_words_add(w, "%s/tree", b->folder);
    vm_words_add(w, "-plugin");
    add_argument(arguments, sizeof(arguments), "preset", o->cpu ? o->cpu : "architecture");
    add_argument(arguments, sizeof(arguments), "spe", o->spe);
    add_argument(arguments, sizeof(arguments), "model", o->model);
    vm_words_add(w, "%s,role=device,ppi=%d,%s%s%s%s", b->plugin, PPI, gic, arguments,
                 o->unit ? "," : "", o->unit ? o->unit : "");
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
            status = vm_fail(b->error, SPE_ERR_IO, path, "it could not be read");
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
            vm_fail(b->error, status, "device tree",
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

/* QEMU writes the tree of the machine that these options make, and ends. */
static int make_tree(struct boot *b)
{
    struct vm_words w = {0};
    char path[128], said[128];
    int status;

    in_folder(b, "tree", path, sizeof(path));
    in_folder(b, "said", said, sizeof(said));
    vm_words_add_list(&w, b->command.list);
    vm_words_add(&w, "-machine");
    vm_words_add(&w, "dumpdtb=%s", path);
    status = vm_run_program(w.list, said, false, 60, b->error);
    vm_words_free(&w);
    if (status > 0)
        return vm_fail(b->error, SPE_ERR_IO, b->qemu.path,
                       "QEMU does not like its options; its words are above");
    return status < 0 ? status : change_tree(b, path);
}

/* ---- What comes out -------------------------------------------------------------------------- */

/* -1: there is none. */
static int guest_status(struct boot *b)
{
    char path[128], line[32] = "", *end;
    long status;
    FILE *f;

    in_folder(b, "status", path, sizeof(path));
    f = fopen(path, "r");
    if (f) {
        if (!fgets(line, sizeof(line), f))
            line[0] = '\0';
        fclose(f);
    }
    status = strtol(line, &end, 10);
    return end != line && status >= 0 && status <= 255 ? (int)status : -1;
}

/* The disk is an archive; tar refuses names that lead out of the folder. */
static int unpack(struct boot *b, const char *folder, const char *first, const char *second)
{
    struct vm_words w = {0};
    char said[128];
    int status;

    in_folder(b, "said", said, sizeof(said));
    vm_words_add(&w, "tar");
    vm_words_add(&w, "-xf");
    vm_words_add(&w, "%s/disk", b->folder);
    vm_words_add(&w, "-C");
    vm_words_add(&w, "%s", folder);
    vm_words_add(&w, "--no-same-owner");
    vm_words_add(&w, "--warning=no-timestamp"); /* two clocks never agree */
    vm_words_add(&w, "%s", first);
    vm_words_add(&w, "%s", second);
    status = vm_run_program(w.list, said, false, 0, b->error);
    vm_words_free(&w);
    return status;
}

static void show_console(struct boot *b)
{
    char path[4096], command[4200];

    if (b->options->log)
        return;
    in_folder(b, "console", path, sizeof(path));
    snprintf(command, sizeof(command), "tail -n 15 '%s' >&2", path);
    if (system(command) != 0)
        return;
}

static int take_results(struct boot *b, int *status)
{
    const char *output = b->options->output ? b->options->output : ".";
    struct stat disk;
    char path[128];

    in_folder(b, "disk", path, sizeof(path));
    if (stat(path, &disk) < 0 || disk.st_blocks == 0 ||
        unpack(b, b->folder, "status", "dmesg") != 0 || (*status = guest_status(b)) < 0) {
        show_console(b);
        return vm_fail(b->error, SPE_ERR_IO, "guest",
                       "it ended before the command did; the end of its console is above%s%s",
                       b->options->log ? ", or in " : "", b->options->log ? b->options->log : "");
    }
    if (mkdir(output, 0777) < 0 && errno != EEXIST)
        return fail_errno(b, output);
    if (unpack(b, output, "--strip-components=1", "work") != 0)
        return vm_fail(b->error, SPE_ERR_IO, output, "the guest's files could not be unpacked");
    return 0;
}

/* ---- All together ---------------------------------------------------------------------------- */

static int find_things(struct boot *b)
{
    const struct vm_options *o = b->options;

    if (vm_cache_folder(b->cache, sizeof(b->cache), b->error) < 0 ||
        vm_find_qemu(o->qemu, b->cache, &b->qemu, b->error) < 0 ||
        vm_find_file(PLACES_PLUGIN, b->plugin, sizeof(b->plugin), b->error) < 0)
        return SPE_ERR_UNKNOWN;
    snprintf(b->guest, sizeof(b->guest), "%s/guest-%s", b->cache,
             o->kernel_version ? o->kernel_version : DEFAULT_KERNEL);
    if (own_guest(b) && access(b->guest, R_OK) < 0)
        return vm_fail(b->error, SPE_ERR_UNKNOWN, b->guest,
                       "there is no guest yet: 'spe vm --fetch' prepares one, or give --kernel");
    return 0;
}

/* Files, and a command line of which the plugin's part is missing. */
static int prepare(struct boot *b)
{
    char path[128];
    int status = 0;

    if (own_guest(b)) {
        in_folder(b, "initrd", path, sizeof(path));
        status = make_initrd(b, path);
    }
    if (status == 0 && b->options->command) {
        in_folder(b, "disk", path, sizeof(path));
        status = make_disk(b, path);
    }
    add_machine(b);
    add_serial_lines(b);
    add_guest(b);
    if (status == 0 && b->command.failed)
        status = vm_fail(b->error, SPE_ERR_NOMEM, "vm", "out of memory");
    return status;
}

static void show_command(const struct boot *b)
{
    for (size_t i = 0; i < b->command.count; i++)
        fprintf(stderr, "%s ", b->command.list[i]);
    fputc('\n', stderr);
}

static int run(struct boot *b, int *status)
{
    char level[16];
    int result;

    if (b->options->verbose)
        show_command(b);
    snprintf(level, sizeof(level), "%d", b->qemu.level);
    setenv("SPECIMEN_PLUGIN_LEVEL", level, 1);
    result =
        vm_run_program(b->command.list, NULL, !b->options->command, b->options->timeout, b->error);
    if (result < 0) {
        show_console(b);
        return result;
    }
    *status = result;
    if (result > 0)
        return vm_fail(b->error, SPE_ERR_IO, b->qemu.path, "QEMU ended with status %d", result);
    return b->options->command ? take_results(b, status) : 0;
}

static void clean_up(struct boot *b)
{
    static const char *const names[] = {"tree",    "said",   "initrd", "disk",
                                        "console", "status", "dmesg"};
    char path[128];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        in_folder(b, names[i], path, sizeof(path));
        unlink(path);
    }
    rmdir(b->folder);
    vm_words_free(&b->command);
    vm_qemu_free(&b->qemu);
}

int vm_boot(const struct vm_options *options, int *status, struct vm_error *error)
{
    struct boot b = {.options = options, .error = error, .folder = "/tmp/spe-vm-XXXXXX"};
    int result = vm_has_fdt || options->plain
                     ? find_things(&b)
                     : vm_fail(error, SPE_ERR_UNKNOWN, "vm",
                               "this build has no libfdt, which the device tree takes: install "
                               "libfdt-dev and build again");

    *status = 0;
    if (result < 0) {
        vm_qemu_free(&b.qemu);
        return result;
    }
    if (!mkdtemp(b.folder)) {
        vm_qemu_free(&b.qemu);
        return fail_errno(&b, b.folder);
    }
    result = prepare(&b);
    if (result == 0 && !options->plain) {
        result = make_tree(&b);
        if (result == 0)
            add_plugin(&b);
    }
    if (result == 0)
        result = run(&b, status);
    clean_up(&b);
    return result;
}
