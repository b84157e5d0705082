/* SPDX-License-Identifier: MIT */
/* Internals of the MS-PCQ server: ids of objects and counters, the block writer, sets and queries. */
#ifndef OPENPLA_PDH_PCQ_INTERNAL_H
#define OPENPLA_PDH_PCQ_INTERNAL_H

#include "engine/pdh/core/counter_object.h"
#include "engine/pdh/core/query.h"
#include "engine/pdh/pcq_server.h"

/* What MS-PCQ calls an object and its counters. An object is known there by a GUID and its counters by numbers; those
   of Perflib V2 countersets have their own, all others get them from their names, so that they are the same on each
   computer and in each version. What PDH keeps beside a counter's value - a base, a time, its frequency, a divisor - is
   a counter of its own there, which is not shown. */

/* Which of a counter's values it is. */
enum pcq_part { PCQ_PART_VALUE, PCQ_PART_BASE, PCQ_PART_TIME, PCQ_PART_FREQUENCY, PCQ_PART_DIVISOR, PCQ_PARTS };

struct pcq_member {
    uint32_t id;
    uint32_t counter; /* position among the object's counters */
    enum pcq_part part;
    uint32_t type; /* PERF_* */
};
/* Zero-initialise. */
struct pcq_members {
    struct pcq_member *items; /* a counter's parts stand behind it */
    size_t count, capacity;
    uint64_t present; /* the object's, of which they were made */
};

/* The GUID of an object. */
void pcq_guid(const struct counter_object_type *p, GUID *out);
/* The id of a part of an object's counter, whether or not it has that part. */
uint32_t pcq_id(const struct counter_object_type *p, uint32_t counter, enum pcq_part part);
/* The type of a part; PCQ_NO_PART: the counter has no such one. */
#define PCQ_NO_PART 0xFFFFFFFFu
uint32_t pcq_part_type(const struct counter_schema *c, enum pcq_part part);

/* NULL: there is none of that id. */
const struct pcq_member *pcq_member_find(const struct pcq_members *m, uint32_t id);

/* Its value in a row of the last sample; false: there is none. */
bool pcq_member_value(const struct counter_object *o, size_t row, const struct pcq_member *member, uint64_t *out);
/* An instance's number: the same for as long as it is the same thing, never PCQ_ANY. */
uint32_t pcq_instance_id(const struct instance *instance);

/* Blocks into a buffer whose size is found out first: what writes them is run twice, and only counts at first. */

/* More than this no answer has, or a client could keep the server busy with one: a hundred times all threads of a busy
   host with all their counters. */
#define PCQ_MOST_ANSWER (64u << 20)

struct block_writer {
    uint8_t *bytes; /* NULL: only counts */
    size_t size;
};
/* Copies of `size` bytes. */
void block_put(struct block_writer *w, const void *bytes, size_t size);
/* The text as UTF-16 with its NUL. */
void block_put_text(struct block_writer *w, const char *text);
/* Zeros up to a multiple of 8 behind `from`. */
void block_pad(struct block_writer *w, size_t from);
/* A pcq_instance with its name and padding; NULL: the one of an object without instances. */
void block_put_instance(struct block_writer *w, const struct instance *instance);
/* Puts the number into what was written at `at`. */
void block_set_number(struct block_writer *w, size_t at, uint32_t number);
/* False: it is no use to write on. */
static inline bool block_goes_on(const struct block_writer *w)
{
    return w->size <= PCQ_MOST_ANSWER;
}

/* Runs `write` for the size, and where it fits for the bytes. The units are of `unit` bytes. ERROR_SUCCESS,
   PCQ_NOT_ENOUGH_MEMORY, PCQ_OUT_OF_MEMORY beyond PCQ_MOST_ANSWER. */
DWORD block_deliver(struct pcq_buffer *out, size_t unit, void (*write)(struct block_writer *w, const void *what),
                    const void *what);

/* The server's sets: the objects of its catalogue, found by their GUIDs, opened when they are asked for. All is for who
   holds the lock of s->query. */
struct pcq_server {
    struct query *query;         /* catalogue, objects, source and lock; it has no counters */
    struct pcq_members *members; /* of the objects by their positions */
    size_t member_count, member_capacity;
    uint64_t looked; /* clock_monotonic_ms of the last look for new objects, 0: never */
    struct pcq_query *queries;
    size_t query_count;
};

/* For tests: a service has its server until its process ends. Its queries must be closed before; NULL is allowed. */
void pcq_server_close(struct pcq_server *s);

/* Positions of sets among the catalogue's objects. */
struct pcq_set {
    size_t position;
    struct counter_object *object;
    const struct pcq_members *members; /* valid until the next call with another set */
};
/* The set at a position; S_FALSE: its source is not there. */
HRESULT pcq_set_at(struct pcq_server *s, size_t position, struct pcq_set *out);
/* The set of that GUID, looked for anew if it is not known. ERROR_SUCCESS, PCQ_GUID_NOT_FOUND, PCQ_OUT_OF_MEMORY. */
DWORD pcq_set_find(struct pcq_server *s, const GUID *guid, struct pcq_set *out);
/* Takes a sample of the objects. */
void pcq_sets_sample(struct pcq_server *s, const struct counter_object_use *uses, size_t count);
/* The Win32 error for a sample that failed. */
DWORD pcq_error_of(HRESULT hr);

/* What a query holds, for the methods. */
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

#endif
