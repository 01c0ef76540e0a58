/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* spe vm: a virtual machine with SPE. */
#include <specimen/spu.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "vm/vm.h"

static const char usage[] =
    "Usage: spe vm --fetch [--kernel-version VERSION]\n"
    "       spe vm run [OPTION]... [--] COMMAND [ARGUMENT]...\n"
    "       spe vm [OPTION]... [-- QEMU OPTION...]\n"
    "\n"
    "Boot Linux in QEMU, on processors with SPE, on any machine. The guest's own driver\n"
    "and perf use it: perf record -e arm_spe_0//. With `run`, boot the small guest that\n"
    "--fetch has prepared, run COMMAND in an empty directory, copy its files to this\n"
    "machine and return its status. Without `run`, boot it with a shell (exit leaves\n"
    "it, control-a x ends QEMU), or boot --kernel.\n";

static const char examples[] =
    "Examples:\n"
    "  spe vm --fetch\n"
    "  spe vm run -- perf record -e arm_spe_0// -o perf.data ls -R /\n"
    "  spe vm run --smp 4 --spe v1p4 --put ./program -- \\\n"
    "      perf record -a -e arm_spe_0/load_filter=1/ ./program\n"
    "  spe vm --kernel Image --initrd rootfs.cpio -- -nographic -device ...\n";

struct job {
    const struct command *command;
    struct vm_options options;
    struct vm_words put, more;
    bool fetch, run;
};

static int failed(const struct problem *error)
{
    complain(error->what, "%s", error->why);
    return STATUS_BAD_DATA;
}

static bool memory_option(const struct command *c, void *target, const char *text)
{
    struct job *job = target;
    uint64_t bytes;

    if (!size_option(c, "--memory", text, &bytes))
        return false;
    if (bytes < UINT64_C(1) << 26 || bytes > UINT64_C(1) << 40) {
        usage_error(c, "--memory", "a guest has 64 MB to 1 TB");
        return false;
    }
    job->options.memory_mb = (unsigned)(bytes >> 20);
    return true;
}

static bool gic_option(const struct command *c, void *target, const char *text)
{
    struct job *job = target;
    uint64_t version;

    if (!number_option(c, "--gic", text, 2, 3, &version))
        return false;
    job->options.gic2 = version == 2;
    return true;
}

static bool word_option(const struct command *c, void *target, const char *text)
{
    (void)c;
    vm_words_add(target, "%s", text);
    return true;
}

static const struct option_row options[] = {
    {OPTION_TEXT("The guest:")},
    {"fetch", 0, NULL, "prepare QEMU and the guest from Debian's packages",
     OPTION_FLAG(struct job, fetch)},
    {"kernel-version", 0, "V", "the guest's Linux: 6.1, 6.12 or backports (6.12)",
     OPTION_STRING(struct job, options.kernel_version)},
    {"kernel", 0, "FILE", "your own Linux, or a bare-metal program",
     OPTION_STRING(struct job, options.kernel)},
    {"initrd", 0, "FILE", "initial RAM disk for this kernel",
     OPTION_STRING(struct job, options.initrd)},
    {"append", 0, "WORDS", "words to append to the kernel command line",
     OPTION_STRING(struct job, options.append)},
    {"smp", 0, "N", "processors (1)", OPTION_UNSIGNED(struct job, options.cpus, 1, 512)},
    {"memory", 0, "SIZE", "memory of the guest (1G)", OPTION_TAKE(memory_option)},
    {"el2", 0, NULL, "start at EL2; Linux stays at EL2 (VHE)",
     OPTION_FLAG(struct job, options.el2)},
    {"gic", 0, "N", "interrupt controller, 2 or 3 (3)", OPTION_TAKE(gic_option)},
    {OPTION_TEXT("\nSPE:")},
    {"spe", 0, "LIST", "version and features: v1p2, or v1p4,eft (the preset's)",
     OPTION_STRING(struct job, options.spe)},
    {"cpu", 0, "NAME",
     "the unit's preset: architecture, neoverse-n1, neoverse-v1, neoverse-n2, neoverse-v2, "
     "ampereone-1a or kunpeng-920 (architecture); with a model also the processor that software "
     "sees",
     OPTION_STRING(struct job, options.cpu)},
    {"model", 0, "NAME",
     "functional: caches, TLB and branch prediction, slower; none: nothing is recorded of these "
     "(none)",
     OPTION_STRING(struct job, options.model)},
    {"unit", 0, "NAME=VALUE,...", "options of the unit; see spe sim --list options",
     OPTION_STRING(struct job, options.unit)},
    {OPTION_TEXT("\nRunning:")},
    {"put", 0, "FILE", "copy a file to the command's directory; repeatable",
     OPTION_TAKE(word_option), OPTION_TARGET(struct job, put, struct vm_words)},
    {"output", 'o', "DIR", "directory for the command's files (.)",
     OPTION_STRING(struct job, options.output)},
    {"force", 0, NULL, "replace existing files, and accept hidden files",
     OPTION_FLAG(struct job, options.force)},
    {"no-symbols", 0, NULL, "keep no symbols for recordings in ~/.debug",
     OPTION_FLAG(struct job, options.no_symbols)},
    {"max-size", 0, "SIZE", "maximum total size of the command's files (4G)",
     OPTION_SIZE(struct job, options.limits.bytes, 0, UINT64_C(1) << 40)},
    {"max-files", 0, "N", "maximum number of files and directories (100000)",
     OPTION_NUMBER(struct job, options.limits.entries, 1, 10000000)},
    {"log", 0, "FILE", "write the guest's console to this file",
     OPTION_STRING(struct job, options.log)},
    {"timeout", 0, "SECONDS", "end the guest after this time",
     OPTION_UNSIGNED(struct job, options.timeout, 1, 1000000)},
    {"qemu", 0, "FILE", "the QEMU to run, 11.0 or newer", OPTION_STRING(struct job, options.qemu)},
    {"qemu-cpu", 0, "NAME", "QEMU's CPU type (max,pauth-impdef=on, with --cpu)",
     OPTION_STRING(struct job, options.qemu_cpu)},
    {"qemu-option", 0, "WORD", "a word for QEMU's command line, with run; repeatable",
     OPTION_TAKE(word_option), OPTION_TARGET(struct job, more, struct vm_words)},
    {"without-spe", 0, NULL, "run without the plugin, for comparison",
     OPTION_FLAG(struct job, options.plain)},
    {"verbose", 'v', NULL, "print QEMU's command line and the kernel's messages",
     OPTION_FLAG(struct job, options.verbose)},
    {0},
};

static int fetch(struct job *job)
{
    const char *version = job->options.kernel_version ? job->options.kernel_version : "6.12";
    struct problem error;
    struct vm_qemu qemu;
    char cache[1024];

    if (vm_cache_folder(cache, sizeof(cache), &error) < 0)
        return failed(&error);
    if (vm_find_qemu(job->options.qemu, cache, &qemu, &error) < 0 &&
        (vm_fetch(cache, NULL, true, &error) < 0 ||
         vm_find_qemu(job->options.qemu, cache, &qemu, &error) < 0))
        return failed(&error);
    if (vm_fetch(cache, version, false, &error) < 0) {
        vm_qemu_free(&qemu);
        return failed(&error);
    }
    printf("QEMU %d.%d: %s\nLinux %s: %s/guest-%s\n", qemu.version.major, qemu.version.minor,
           qemu.path, version, cache, version);
    vm_qemu_free(&qemu);
    return STATUS_OK;
}

static void tell(const char *what, const char *why)
{
    complain(what, "%s", why);
}

/* The command's status says more than that its files did not come. */
static int boot(struct job *job)
{
    struct vm_outcome outcome;
    struct problem error;
    int status;

    job->options.put = job->put.list;
    job->options.more = job->more.list;
    job->options.tell = tell;
    status = vm_boot(&job->options, &outcome, &error) < 0 ? failed(&error) : STATUS_OK;
    if (outcome.status > 0)
        return outcome.status;
    return outcome.incomplete ? STATUS_BAD_DATA : status;
}

static bool is_preset(const char *name)
{
    for (size_t i = 0; spe_spu_preset_at(i); i++)
        if (strcmp(spe_spu_preset_at(i), name) == 0)
            return true;
    return false;
}

static void list_presets(char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; spe_spu_preset_at(i) && used < size; i++)
        used +=
            (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", spe_spu_preset_at(i));
}

/* Names that QEMU's plugin would refuse only when a machine is made. */
static bool check_names(const struct job *job)
{
    const struct vm_options *o = &job->options;
    char names[200];

    if (o->cpu && !is_preset(o->cpu)) {
        list_presets(names, sizeof(names));
        usage_error(job->command, "--cpu", "'%s' is not known; there are %s", o->cpu, names);
        return false;
    }
    if (o->model && strcmp(o->model, "none") != 0 && strcmp(o->model, "functional") != 0) {
        usage_error(job->command, "--model", "'%s' is not known; there are none, functional",
                    o->model);
        return false;
    }
    return true;
}

/* What is left after the options: the guest's command, or QEMU's options. */
static int act(struct job *job, int argc, char **argv)
{
    struct vm_options *o = &job->options;

    if (job->fetch)
        return optind == argc ? fetch(job)
                              : usage_error(job->command, argv[optind], "--fetch takes no command");
    if (job->run && optind == argc)
        return usage_error(job->command, "run", "what shall the guest run?");
    if (job->run && o->kernel)
        return usage_error(job->command, "run", "only the fetched guest can run a command");
    if (!job->run && optind < argc && strcmp(argv[optind - 1], "--") != 0)
        return usage_error(job->command, argv[optind], "QEMU's options come after --");
    if (!check_names(job))
        return STATUS_USAGE;
    if (job->run)
        o->command = argv + optind;
    else
        vm_words_add_list(&job->more, argv + optind);
    return boot(job);
}

static int run_vm(const struct command *self, int argc, char **argv)
{
    struct job job = {
        .command = self,
        .options = {.cpus = 1, .memory_mb = 1024, .limits = {UINT64_C(4) << 30, 100000}}};
    int status;

    if (argc > 1 && strcmp(argv[1], "run") == 0) {
        job.run = true;
        argc--;
        argv++;
    }
    if (take_options(self, &job, argc, argv, &status))
        status = act(&job, argc, argv);
    vm_words_free(&job.put);
    vm_words_free(&job.more);
    return status;
}

const struct command command_vm = {
    .name = "vm",
    .summary = "run a Linux whose processors have SPE",
    .usage = usage,
    .options = options,
    .examples = examples,
    .words_follow = true,
    .run = run_vm,
};
