/* SPDX-License-Identifier: MIT */
/* What a kind of collector gives to the collect layer; each kind is one file and one row of collect.c's table. */
#ifndef OPENPLA_COLLECT_KIND_H
#define OPENPLA_COLLECT_KIND_H

#include "engine/collect/collect.h"

struct collector_kind {
    HRESULT (*open)(struct object *model, const struct collect_context *context, struct collector **out);
    HRESULT (*sample)(struct collector *c);
    HRESULT (*flush)(struct collector *c);
    HRESULT (*complete)(struct collector *c);            /* NULL: the kind has nothing to hand on, close does it all */
    HRESULT (*remark)(struct collector *c, char **text); /* NULL: there is never one */
    HRESULT (*close)(struct collector *c);
};

/* The beginning of every kind's own struct. */
struct collector {
    const struct collector_kind *kind;
    uint64_t interval_ms; /* 0: takes no samples */
    uint64_t records;     /* written since it was opened */
    bool done;            /* nothing is left to collect */
    bool asks_for_segment;
};

extern const struct collector_kind counter_collector_kind;

#endif
