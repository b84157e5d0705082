/* SPDX-License-Identifier: MIT */
/* The filters that EnableTraceEx2 takes for a provider, and autologgers have below theirs. */
#ifndef OPENPLA_FILTER_KINDS_H
#define OPENPLA_FILTER_KINDS_H

#include "engine/base/text.h"

struct filter_kind {
    uint32_t type, least, most;                        /* EVENT_FILTER_TYPE_*; bytes of data */
    bool (*check)(const uint8_t *data, uint32_t size); /* may be NULL */
    const char *name;                                  /* that of evntprov.h */
};
/* From 0 on; NULL: there are no more. */
const struct filter_kind *filter_kind_at(size_t index);
const struct filter_kind *filter_kind_of(uint32_t type); /* NULL: no such kind is known */

#endif
