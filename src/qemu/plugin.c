/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The plugin's entry. It plays one of two roles, by its argument "role":
 *
 *   recorder   we are the profiler: records go to the launcher of `spe record` (user mode)
 *   device     the guest's own kernel is the profiler: the unit is a device (system mode)
 */
#include <stdio.h>
#include <string.h>

#include "qemu/api.h"

PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id id, const struct qemu_plugin_info *info,
                                      int argc, char **argv);

int qemu_plugin_install(qemu_plugin_id id, const struct qemu_plugin_info *info, int argc,
                        char **argv)
{
    const struct plugin_arguments arguments = {argc, argv};
    const char *name = plugin_argument(&arguments, "role");
    const struct plugin_role *role = NULL;

    if (strcmp(info->target_name, "aarch64") != 0)
        fprintf(stderr, "specimen: this is QEMU for %s, not for aarch64\n", info->target_name);
    else if (!name || strcmp(name, "recorder") == 0)
        role = recorder_create(info, &arguments);
    else if (strcmp(name, "device") == 0)
        role = device_create(info, &arguments);
    else
        fprintf(stderr, "specimen: %s: the plugin has no such role\n", name);
    if (!role)
        return 1;
    plugin_register(id, role);
    return 0;
}
