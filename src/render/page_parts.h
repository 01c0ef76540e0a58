/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* render/page/page.html with its style and script, cut at what is written for each recording.
 * tools/embed_page.py makes it when Specimen is built. */
#ifndef RENDER_PAGE_PARTS_H
#define RENDER_PAGE_PARTS_H

extern const char page_before_title[], page_before_body[], page_before_data[], page_after_data[];

#endif
