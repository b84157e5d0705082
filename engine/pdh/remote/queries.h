/* SPDX-License-Identifier: MIT */
/* What a query holds, for the methods. */
#ifndef OPENPLA_PCQ_QUERIES_H
#define OPENPLA_PCQ_QUERIES_H

#include "engine/pdh/remote/block_writer.h"
#include "engine/pdh/remote/sets.h"

struct pcq_counter {
    GUID guid;
    uint32_t id, instance; /* PCQ_ANY: any */
    char *name;            /* of the instance, or a pattern; "" of a set without instances */
    uint64_t hash;         /* of all above */
    size_t position;       /* of the set */
    bool all_counters, all_instances;
};
struct pcq_query {
    struct pcq_server *server;
    struct pcq_query *next;
    char *client;
    struct pcq_counter *counters; /* in the order of the data's blocks */
    size_t count, capacity;
    size_t name_bytes; /* of the counters' names */
};

/* The row of the one instance that is asked for, in the object's last sample; SIZE_MAX: it is not there. */
size_t pcq_row_find(const struct pcq_counter *c, const struct counter_object *o);

#endif
