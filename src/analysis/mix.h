/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What an Operation Type is called in the operation mix. */
#ifndef ANALYSIS_MIX_H
#define ANALYSIS_MIX_H

#include <specimen/analysis.h>

enum mix_class {
    MIX_LOAD,
    MIX_STORE,
    MIX_BRANCH,
    MIX_OTHER,
    MIX_RESERVED,
    MIX_NONE, /* no Operation Type packet */
    MIX_CLASSES
};

/* Operation types as one number: rows.op, or OP_NONE of a record without one. */
#define OP_NONE 0x400
#define OP_COUNT 0x401

enum mix_class mix_class_of(unsigned op);

const char *mix_class_name(unsigned class_);

/* Kinds are numbered from 0; each belongs to loads and stores, to branches or to others. */
#define MIX_KINDS 32
unsigned mix_kind_of(unsigned number);
const char *mix_kind_name(unsigned kind);

#endif
