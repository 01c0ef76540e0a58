/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* `spe export` for compilers and linkers: how often the code of one file ran. */
#ifndef CLI_EXPORT_CODE_H
#define CLI_EXPORT_CODE_H

#include "cli/recording.h"

/* The dso that the option --dso names (NULL: the recorded program), if its file can be read;
 * SPE_NO_ID after a complaint. Which one was chosen, where nobody did, is said. */
uint32_t export_code_dso(struct spe_profile *profile, const char *file, const char *name);

/* Go through the rows and write BOLT's profile, or LLVM's (autofdo). What was left out is said. 0,
 * or an error that is not reported yet. */
int export_code(struct spe_profile *profile, const char *file, uint32_t dso, bool autofdo,
                struct out *o);

#endif
