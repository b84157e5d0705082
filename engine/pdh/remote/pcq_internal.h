/* SPDX-License-Identifier: MIT */
/* Internals of the MS-PCQ server: ids of objects and counters, the block writer, countersets and queries. */
#ifndef OPENPLA_PDH_PCQ_INTERNAL_H
#define OPENPLA_PDH_PCQ_INTERNAL_H

#include "engine/pdh/core/counter_object.h"
#include "engine/pdh/core/query.h"
#include "engine/pdh/pcq_server.h"

/* How MS-PCQ identifies objects and counters: an object by a GUID, its counters by numbers. Perflib V2 countersets
   already have a GUID and numbers. Every other object gets a GUID from a hash of its name. Every other counter gets
   the index of its name or, without an index, a number from a hash of its name. Therefore GUIDs and numbers are the
   same on every computer and in every version. Exception: the indexes of an extension DLL's counters differ between
   computers. PDH stores a base, a time, its frequency and a divisor next to a counter's value; in MS-PCQ each of these
   items is a separate hidden counter. */

/* A member represents one of these items of a counter. */
enum pcq_part { PCQ_PART_VALUE, PCQ_PART_BASE, PCQ_PART_TIME, PCQ_PART_FREQUENCY, PCQ_PART_DIVISOR, PCQ_PARTS };

struct pcq_member {
    uint32_t id;
    uint32_t counter; /* index in the object's type */
    enum pcq_part part;
    uint32_t type; /* PERF_* */
};
/* Zero-initialise. */
struct pcq_members {
    struct pcq_member *items; /* each counter is followed by its parts */
    size_t count, capacity;
    uint64_t present; /* value of the object's `present` when the list was created */
};

/* Returns the GUID of an object. */
void pcq_guid(const struct counter_object_type *p, GUID *out);
/* Returns the id of a part of an object's counter, even if the counter does not have that part. */
uint32_t pcq_id(const struct counter_object_type *p, uint32_t counter, enum pcq_part part);
/* Returns the type of a part; PCQ_NO_PART if the counter does not have that part. */
#define PCQ_NO_PART 0xFFFFFFFFu
uint32_t pcq_part_type(const struct counter_schema *c, enum pcq_part part);

/* Finds the member with the id; NULL if it does not exist. */
const struct pcq_member *pcq_member_find(const struct pcq_members *m, uint32_t id);

/* Returns the member's value in a row of the last sample. False if the member has no value in this row. */
bool pcq_member_value(const struct counter_object *o, size_t row, const struct pcq_member *member, uint64_t *out);
/* Returns the number of an instance. The number is never PCQ_ANY. The number changes when the name of the instance
   begins to stand for another process, device and so on. */
uint32_t pcq_instance_id(const struct instance *instance);

/* Writes blocks to a buffer whose required size is determined first: the writing function runs twice, and the first
   time it only counts bytes. */

/* Maximum size of an answer, so that a client cannot keep the server busy with one answer. An answer with all counters
   of all threads of a busy computer has a hundredth of this size. */
#define PCQ_MOST_ANSWER (64u << 20)

struct block_writer {
    uint8_t *bytes; /* NULL: only count */
    size_t size;
};
/* Appends `size` bytes. */
void block_put(struct block_writer *w, const void *bytes, size_t size);
/* Appends the string as UTF-16 with its NUL. */
void block_put_text(struct block_writer *w, const char *text);
/* Appends zeros until the output since the offset `from` is a multiple of 8 bytes long. */
void block_pad(struct block_writer *w, size_t from);
/* Appends a pcq_instance with its name and padding. NULL means the only instance of an object without instances. */
void block_put_instance(struct block_writer *w, const struct instance *instance);
/* Overwrites the number at the offset `at` of the output. */
void block_set_number(struct block_writer *w, size_t at, uint32_t number);
/* Returns false if the output already exceeds the maximum, so that further writing is useless. */
static inline bool block_goes_on(const struct block_writer *w)
{
    return w->size <= PCQ_MOST_ANSWER;
}

/* Runs `write` to determine the size. If the output fits, runs `write` again to write the bytes. `unit` is the size of
   the buffer's units in bytes. Returns ERROR_SUCCESS, PCQ_NOT_ENOUGH_MEMORY, or PCQ_OUT_OF_MEMORY if the output exceeds
   PCQ_MOST_ANSWER. */
DWORD block_deliver(struct pcq_buffer *out, size_t unit, void (*write)(struct block_writer *w, const void *what),
                    const void *what);

/* The server's countersets: the objects of its catalogue, found by GUID and opened when needed. Callers hold the lock
   of s->query. */
struct pcq_server {
    struct query *query;         /* owns the catalogue, objects, source and lock, but has no counters */
    struct pcq_members *members; /* one for each object of the catalogue */
    size_t member_count, member_capacity;
    uint64_t searched_at; /* clock_monotonic_ms of the last search for new objects; 0: never */
    struct pcq_query *queries;
    size_t query_count;
};

/* Closes the server. For tests; a service keeps its server until the process exits. Close its queries first. NULL is
   allowed. */
void pcq_server_close(struct pcq_server *s);

/* A counterset and its position in the catalogue. */
struct pcq_set {
    size_t position;
    struct counter_object *object;
    const struct pcq_members *members; /* valid until the next call with a different counterset */
};
/* Returns the counterset at a position. S_FALSE if its source does not exist. */
HRESULT pcq_set_at(struct pcq_server *s, size_t position, struct pcq_set *out);
/* Finds the counterset with the GUID, and searches for new objects if the GUID is unknown. Returns ERROR_SUCCESS,
   PCQ_GUID_NOT_FOUND or PCQ_OUT_OF_MEMORY. */
DWORD pcq_set_find(struct pcq_server *s, const GUID *guid, struct pcq_set *out);
/* Takes a sample of the objects. */
void pcq_sets_sample(struct pcq_server *s, const struct counter_object_use *uses, size_t count);
/* Returns the Win32 error of a failed sample. */
DWORD pcq_error_of(HRESULT hr);

/* A counter of a client's query. */
struct pcq_counter {
    GUID guid;
    uint32_t id, instance; /* PCQ_ANY: all */
    char *name;            /* name of the instance, or a pattern; "" if the counterset has no instances */
    uint64_t hash;         /* hash of the members above */
    size_t position;       /* position of the counterset */
    bool all_counters, all_instances;
};
struct pcq_query {
    struct pcq_server *server;
    struct pcq_query *next;
    char *client;
    struct pcq_counter *counters; /* in the order of their blocks in the data */
    size_t count, capacity;
    size_t name_bytes; /* total length of the counters' names */
};

#endif
