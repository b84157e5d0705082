/* SPDX-License-Identifier: MIT */
/* A file of a report under the name it has until it is whole. `base`: the folder below which it must lie, whatever
   links somebody puts there meanwhile (file.h, "below a base folder"), or NULL: anywhere. */
#ifndef OPENPLA_REPORT_DRAFT_H
#define OPENPLA_REPORT_DRAFT_H

#include "engine/base/file.h"

HRESULT report_draft_open(const char *base, const char *path, struct file **out);
void report_draft_drop(const char *base, const char *path); /* what cannot be taken away the next one overwrites */

#endif
