/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* spe vm: a virtual machine with SPE. */
#include <specimen/spu.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "vm/vm.h"

static const char help[] =
    "Usage: spe vm --fetch [--kernel-version VERSION]\n"
    "       spe vm run [OPTION]... [--] COMMAND [ARGUMENT]...\n"
    "       spe vm [OPTION]... [-- QEMU OPTION...]\n"
    "\n"
    "Run a Linux whose processors have SPE, in QEMU, on any machine. The guest's own\n"
    "driver and perf see it: perf record -e arm_spe_0//. With `run`, boot the small\n"
    "guest that --fetch has prepared, run COMMAND in an empty folder, copy what it\n"
    "leaves there to this machine and return its status. Without, boot it with a\n"
    "shell in such a folder (exit leaves it, control-a x ends QEMU), or boot --kernel.\n"
    "\n"
    "The guest:\n"
    "      --fetch               prepare QEMU and the guest from Debian's packages\n"
    "      --kernel-version V    the guest's Linux: 6.1, 6.12 or backports (6.12)\n"
    "      --kernel FILE         your own Linux, or a bare-metal program\n"
    "      --initrd FILE         its first file system\n"
    "      --append WORDS        more for its command line\n"
    "      --smp N               processors (1)\n"
    "      --memory SIZE         its memory (1G)\n"
    "      --el2                 it starts at EL2, and Linux stays there (VHE)\n"
    "      --gic N               interrupt controller, 2 or 3 (3)\n"
    "\n"
    "SPE:\n"
    "      --spe LIST            version and features: v1p2, or v1p4,eft (the preset's)\n"
    "      --cpu NAME            the unit's preset: architecture, neoverse-n1, neoverse-v1,\n"
    "                            neoverse-n2, neoverse-v2, ampereone-1a or kunpeng-920\n"
    "                            (architecture); with a model also the processor that\n"
    "                            software sees\n"
    "      --model NAME          functional: caches, TLB and branch prediction, slower;\n"
    "                            none: nothing is recorded of these (none)\n"
    "      --unit NAME=VALUE,... options of the unit; `spe sim --list options`\n"
    "\n"
    "Running:\n"
    "      --put FILE            copy a file to the command's folder; as often as needed\n"
    "  -o, --output FOLDER       where the command's files go (.)\n"
    "      --force               they may replace files that are there, and be hidden\n"
    "      --no-symbols          keep no symbols for recordings in ~/.debug\n"
    "      --max-size SIZE       take at most so many bytes of files (4G)\n"
    "      --max-files N         take at most so many files and folders (100000)\n"
    "      --log FILE            keep the guest's console\n"
    "      --timeout SECONDS     end the guest after so long\n"
    "      --qemu FILE           this QEMU, 11.0 or newer\n"
    "      --qemu-cpu NAME       QEMU's processor (max,pauth-impdef=on, by --cpu)\n"
    "      --qemu-option WORD    a word for QEMU, with `run`; as often as needed\n"
    "      --without-spe         without the plugin, to compare\n"
    "  -v, --verbose             say QEMU's command line; show the kernel's messages\n"
    "  -h, --help                this text\n"
    "\n"
    "Examples:\n"
    "  spe vm --fetch\n"
    "  spe vm run -- perf record -e arm_spe_0// -o perf.data ls -R /\n"
    "  spe vm run --smp 4 --spe v1p4 --put ./program -- \\\n"
    "      perf record -a -e arm_spe_0/load_filter=1/ ./program\n"
    "  spe vm --kernel Image --initrd rootfs.cpio -- -nographic -device ...\n";

enum {
    OPT_FETCH = 0x100,
    OPT_KERNEL_VERSION,
    OPT_KERNEL,
    OPT_INITRD,
    OPT_APPEND,
    OPT_SMP,
    OPT_MEMORY,
    OPT_EL2,
    OPT_GIC,
    OPT_SPE,
    OPT_CPU,
    OPT_MODEL,
    OPT_UNIT,
    OPT_PUT,
    OPT_FORCE,
    OPT_NO_SYMBOLS,
    OPT_MAX_SIZE,
    OPT_MAX_FILES,
    OPT_LOG,
    OPT_TIMEOUT,
    OPT_QEMU,
    OPT_QEMU_CPU,
    OPT_QEMU_OPTION,
    OPT_WITHOUT_SPE,
};

static const struct option long_options[] = {
    {"fetch", no_argument, NULL, OPT_FETCH},
    {"kernel-version", required_argument, NULL, OPT_KERNEL_VERSION},
    {"kernel", required_argument, NULL, OPT_KERNEL},
    {"initrd", required_argument, NULL, OPT_INITRD},
    {"append", required_argument, NULL, OPT_APPEND},
    {"smp", required_argument, NULL, OPT_SMP},
    {"memory", required_argument, NULL, OPT_MEMORY},
    {"el2", no_argument, NULL, OPT_EL2},
    {"gic", required_argument, NULL, OPT_GIC},
    {"spe", required_argument, NULL, OPT_SPE},
    {"cpu", required_argument, NULL, OPT_CPU},
    {"model", required_argument, NULL, OPT_MODEL},
    {"unit", required_argument, NULL, OPT_UNIT},
    {"put", required_argument, NULL, OPT_PUT},
    {"output", required_argument, NULL, 'o'},
    {"force", no_argument, NULL, OPT_FORCE},
    {"no-symbols", no_argument, NULL, OPT_NO_SYMBOLS},
    {"max-size", required_argument, NULL, OPT_MAX_SIZE},
    {"max-files", required_argument, NULL, OPT_MAX_FILES},
    {"log", required_argument, NULL, OPT_LOG},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"qemu", required_argument, NULL, OPT_QEMU},
    {"qemu-cpu", required_argument, NULL, OPT_QEMU_CPU},
    {"qemu-option", required_argument, NULL, OPT_QEMU_OPTION},
    {"without-spe", no_argument, NULL, OPT_WITHOUT_SPE},
    {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct job {
    const struct command *command;
    struct vm_options options;
    struct vm_words put, more;
    bool fetch, run;
};

static int failed(const struct vm_error *error)
{
    complain(error->what, "%s", error->why);
    return STATUS_BAD_DATA;
}

static bool number(struct job *job, const char *name, uint64_t min, uint64_t max, unsigned *value)
{
    uint64_t n;

    if (!number_option(job->command, name, optarg, min, max, &n))
        return false;
    *value = (unsigned)n;
    return true;
}

static bool memory_option(struct job *job)
{
    uint64_t bytes;

    if (!size_option(job->command, "--memory", optarg, &bytes))
        return false;
    if (bytes < UINT64_C(1) << 26 || bytes > UINT64_C(1) << 40) {
        usage_error(job->command, "--memory", "a guest has 64 MB to 1 TB");
        return false;
    }
    job->options.memory_mb = (unsigned)(bytes >> 20);
    return true;
}

static bool max_size_option(struct job *job)
{
    uint64_t *bytes = &job->options.limits.bytes;

    if (!size_option(job->command, "--max-size", optarg, bytes))
        return false;
    if (*bytes > UINT64_C(1) << 40) {
        usage_error(job->command, "--max-size", "at most 1 TB can come out of a guest");
        return false;
    }
    return true;
}

static bool gic_option(struct job *job)
{
    unsigned version;

    if (!number(job, "--gic", 2, 3, &version))
        return false;
    job->options.gic2 = version == 2;
    return true;
}

/* Options that are a text, and where it goes. */
static const char **text_option(struct vm_options *o, int option)
{
    switch (option) {
    case OPT_KERNEL_VERSION:
        return &o->kernel_version;
    case OPT_KERNEL:
        return &o->kernel;
    case OPT_INITRD:
        return &o->initrd;
    case OPT_APPEND:
        return &o->append;
    case OPT_SPE:
        return &o->spe;
    case OPT_CPU:
        return &o->cpu;
    case OPT_MODEL:
        return &o->model;
    case OPT_UNIT:
        return &o->unit;
    case 'o':
        return &o->output;
    case OPT_LOG:
        return &o->log;
    case OPT_QEMU:
        return &o->qemu;
    case OPT_QEMU_CPU:
        return &o->qemu_cpu;
    default:
        return NULL;
    }
}

static bool take_option(struct job *job, int option)
{
    struct vm_options *o = &job->options;
    const char **text = text_option(o, option);

    if (text) {
        *text = optarg;
        return true;
    }
    switch (option) {
    case OPT_FETCH:
        job->fetch = true;
        return true;
    case OPT_SMP:
        return number(job, "--smp", 1, 512, &o->cpus);
    case OPT_MEMORY:
        return memory_option(job);
    case OPT_EL2:
        o->el2 = true;
        return true;
    case OPT_GIC:
        return gic_option(job);
    case OPT_FORCE:
        o->force = true;
        return true;
    case OPT_NO_SYMBOLS:
        o->no_symbols = true;
        return true;
    case OPT_MAX_SIZE:
        return max_size_option(job);
    case OPT_MAX_FILES:
        return number_option(job->command, "--max-files", optarg, 1, 10000000, &o->limits.entries);
    case OPT_TIMEOUT:
        return number(job, "--timeout", 1, 1000000, &o->timeout);
    case OPT_PUT:
        vm_words_add(&job->put, "%s", optarg);
        return true;
    case OPT_QEMU_OPTION:
        vm_words_add(&job->more, "%s", optarg);
        return true;
    case OPT_WITHOUT_SPE:
        o->plain = true;
        return true;
    case 'v':
        o->verbose = true;
        return true;
    default:
        return false;
    }
}

static int fetch(struct job *job)
{
    const char *version = job->options.kernel_version ? job->options.kernel_version : "6.12";
    struct vm_error error;
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
    printf("QEMU %d.%d: %s\nLinux %s: %s/guest-%s\n", qemu.major, qemu.minor, qemu.path, version,
           cache, version);
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
    struct vm_error error;
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
    int option, status = STATUS_USAGE;

    if (argc > 1 && strcmp(argv[1], "run") == 0) {
        job.run = true;
        argc--;
        argv++;
    }
    while ((option = next_option(self, argc, argv, "+:o:vh", long_options)) != -1) {
        if (option == OPTION_HELP)
            status = STATUS_OK;
        if (option == OPTION_HELP || option == '?' || !take_option(&job, option))
            goto out;
    }
    status = act(&job, argc, argv);
out:
    vm_words_free(&job.put);
    vm_words_free(&job.more);
    return status;
}

const struct command command_vm = {"vm", "run a Linux whose processors have SPE", help, run_vm};
