/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Batches as an Arrow IPC stream. A dictionary that has grown is written again as a whole: more
 * readers take that than additions. */
#ifndef COLUMNS_IPC_H
#define COLUMNS_IPC_H

#include "columns/facts.h"
#include "columns/table.h"

struct ipc;

/* Writes the schema with these facts. SPE_OK or an error. */
int ipc_open(struct ipc **ipc, const struct column_choice *choice, const struct facts *facts,
             columns_put *put, void *user);
int ipc_add(struct ipc *ipc, const struct batch *batch);
/* The mark of the end. Facts that were not known before, if there are any, are the metadata of one
 * more batch, without rows: the schema has long been written. */
int ipc_finish(struct ipc *ipc, const struct facts *facts);
void ipc_close(struct ipc *ipc); /* NULL is fine */

#endif
