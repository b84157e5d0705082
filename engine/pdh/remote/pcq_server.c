/* SPDX-License-Identifier: MIT */
/* The MS-PCQ server: the ids of objects and counters, the countersets, and the methods that describe them (3.1.4.1.1 to
   3.1.4.1.3).

   The server provides this computer's counters to remote computers. Two transports call it: the host OS' RPC
   (com/server) and OpenPLA's RPC over TCP (counter_port.c, pcq_session.c). Both transports decode the parameters and
   check the access (pcq_access_check) before they call the eight methods of pcq_server.h:

       client --RPC--> com/server/counter_calls.c --.
                                                     +--> pcq_* methods --> struct query (catalogue, objects, lock)
       client --TCP--> pcq_session.c --------------'        pcq_server.c      describes countersets
                                                            pcq_queries.c     stores and samples clients' counters

   Countersets. Every object of the server's catalogue is a counterset. MS-PCQ identifies a counterset by a GUID and its
   counters by numbers. Perflib V2 countersets already have a GUID and numbers. Every other object gets a GUID from a
   hash of its name. Every other counter gets the index of its name or, without an index, a number from a hash of its
   name. Therefore GUIDs and numbers are the same on every computer and in every version. Exception: the indexes of an
   extension DLL's counters differ between computers. PDH stores a base, a time, its frequency and a divisor beside a
   counter's value. MS-PCQ has no such items, so each item is a hidden counter (enum pcq_part), and the description of
   the visible counter contains their ids.

       object "Process" --> struct pcq_members: [ % Processor Time | its time | its frequency | ... ]

   The members depend on which counters have a source on this host OS (counter_object.present). A sample can change
   `present`, and pcq_members_of then recreates the members. Therefore pointers to members are valid only until the next
   sample.

   Queries. A client opens a query, adds identifiers to it (each names a counterset, one or all of its counters, and an
   instance or a pattern), and reads all values with one call. A query is a list of struct pcq_counter without objects.
   The objects belong to the server, and all clients share them. pcq_query_data finds the countersets of the query's
   counters, samples each object once with all values that the counters need, finds the members again (the sample may
   have changed them), and writes the blocks.

   Output. Every method writes with a function that runs twice (block_deliver): the first run only counts the bytes; the
   second run writes them if the client's buffer is large enough. Therefore no buffer is ever partially written, and the
   reported size is always exact. Nothing changes between the two runs, because the lock is held.

   Lock. The lock of s->query protects the catalogue, the objects, the source and all queries. A call holds this lock
   while the call samples or searches for new objects. Therefore clients wait for each other, but never longer than the
   time limits for a sample and for starting extensions.

   Limits. Clients are not trusted, so all resources that they can use are limited:
   - queries: a client can have PCQ_QUERIES_OF_CLIENT queries, and all clients together PCQ_QUERIES;
   - counters of a query: a query can have PCQ_COUNTERS_OF_QUERY counters with PCQ_NAMES_OF_QUERY bytes of instance
     names;
   - identifiers: a call processes the first MOST_IDENTIFIERS, and the others fail with PCQ_OUT_OF_MEMORY;
   - samples to find unknown instances: a call takes at most one for each counterset (struct sampled);
   - searches for the object with an unknown GUID: the server makes at most one in SEARCH_AGAIN_MS;
   - size of an answer: writing stops at PCQ_MOST_ANSWER bytes (block_goes_on);
   - memory, connections and idle times of TCP clients: see pcq_session.c and counter_port.c.

   A client that disappears. The host OS' RPC runs down the client's context handles, and pcq_session_close closes its
   handles at the end of a TCP connection. Both the rundown and pcq_session_close close the client's queries. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/pdh/remote/blocks.h"
#include "engine/pdh/remote/pcq_internal.h"

#include <string.h>

#define SUBTYPE(type)     ((type)&0x00070000)
#define SUBTYPE_PRECISION 0x00070000 /* PERF_COUNTER_PRECISION */
#define TIMER(type)       ((type)&0x00300000)
#define SIZE(type)        ((type)&0x00000300)
/* An id that is generated from a name is greater than all name indexes of Windows. The id does not use the bits in
   which pcq_id stores the part. */
#define ID_OF_NAME        0x01000000u

void pcq_guid(const struct counter_object_type *p, GUID *out)
{
    if (p->guid) {
        *out = *p->guid;
        return;
    }
    /* A UUID of version 8 (RFC 9562): its creator may choose its bits. */
    uint64_t high = hash_text(hash_text(HASH_START, "OpenPLA counterset:"), p->name),
             low = hash_text(hash_text(HASH_START, "OpenPLA object:"), p->name);
    *out = (GUID){.Data1 = (uint32_t)(high >> 32),
                  .Data2 = (uint16_t)(high >> 16),
                  .Data3 = (uint16_t)((high & 0x0FFF) | 0x8000)};
    for (int i = 0; i < 8; i++)
        out->Data4[i] = (uint8_t)(low >> (56 - 8 * i));
    out->Data4[0] = (uint8_t)((out->Data4[0] & 0x3F) | 0x80);
}

uint32_t pcq_id(const struct counter_object_type *p, uint32_t counter, enum pcq_part part)
{
    static const uint32_t bits[PCQ_PARTS] = {0, 0x80000000, 0x40000000, 0x20000000, 0x10000000};
    const struct counter_schema *c = &p->counters[counter];
    if (p->value_ids && part == PCQ_PART_BASE)
        return p->value_ids[c->base];
    uint32_t id = p->value_ids ? p->value_ids[counter]
                  : c->index   ? c->index
                               : ID_OF_NAME | (uint32_t)(hash_text(HASH_START, c->name) >> 40);
    return id ^ bits[part];
}

static uint32_t base_type(uint32_t type)
{
    switch (type) {
    case PERF_AVERAGE_TIMER:
    case PERF_AVERAGE_BULK:
        return PERF_AVERAGE_BASE;
    case PERF_SAMPLE_FRACTION:
        return PERF_SAMPLE_BASE;
    case PERF_RAW_FRACTION:
        return PERF_RAW_BASE;
    default:
        return PERF_LARGE_RAW_BASE;
    }
}

uint32_t pcq_part_type(const struct counter_schema *c, enum pcq_part part)
{
    bool counted = (c->type & PERF_TYPE_COUNTER) != 0, of_object = counted && TIMER(c->type) == PERF_OBJECT_TIMER;
    bool fraction =
        counted && (SUBTYPE(c->type) == PERF_COUNTER_FRACTION || (SUBTYPE(c->type) == SUBTYPE_PRECISION && !of_object));
    switch (part) {
    case PCQ_PART_VALUE:
        return SIZE(c->type) > PERF_SIZE_LARGE ? PCQ_NO_PART : c->type;
    case PCQ_PART_BASE:
        return fraction ? base_type(c->type) : PCQ_NO_PART;
    case PCQ_PART_TIME:
    case PCQ_PART_FREQUENCY:
        return of_object && !fraction ? PERF_COUNTER_LARGE_RAWCOUNT : PCQ_NO_PART;
    default:
        return counted && (c->type & PERF_MULTI_COUNTER) ? PERF_COUNTER_RAWCOUNT : PCQ_NO_PART;
    }
}

const struct pcq_member *pcq_member_find(const struct pcq_members *m, uint32_t id)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->items[i].id == id)
            return &m->items[i];
    return NULL;
}

static void pcq_members_free(struct pcq_members *m)
{
    memory_free(m->items);
    *m = (struct pcq_members){0};
}

/* Lists the counters that have a source here, unless *m is up to date. Fails with E_OUTOFMEMORY and then leaves *m
   unchanged. */
static HRESULT pcq_members_of(struct pcq_members *m, const struct counter_object *o)
{
    const struct counter_object_type *p = o->type;
    struct pcq_members made = {.present = o->present};
    if (m->items && m->present == o->present)
        return S_OK;
    for (uint32_t i = 0; i < p->counter_count; i++) {
        for (int part = 0; part < PCQ_PARTS; part++) {
            struct pcq_member one = {.id = pcq_id(p, i, (enum pcq_part)part),
                                     .counter = i,
                                     .part = (enum pcq_part)part,
                                     .type = pcq_part_type(&p->counters[i], (enum pcq_part)part)};
            if (!counter_object_has_counter(o, i) || one.type == PCQ_NO_PART ||
                pcq_part_type(&p->counters[i], PCQ_PART_VALUE) == PCQ_NO_PART)
                continue;
            if (p->value_ids && part == PCQ_PART_BASE && pcq_member_find(&made, one.id))
                continue; /* two counters share this base */
            void *items = made.items;
            bool ok = memory_grow(&items, &made.capacity, made.count + 1, sizeof *made.items);
            made.items = items;
            if (!ok) {
                pcq_members_free(&made);
                return E_OUTOFMEMORY;
            }
            made.items[made.count++] = one;
        }
    }
    if (!made.items)
        made.items = memory_zero(1, sizeof *made.items);
    if (!made.items)
        return E_OUTOFMEMORY;
    pcq_members_free(m);
    *m = made;
    return S_OK;
}

bool pcq_member_value(const struct counter_object *o, size_t row, const struct pcq_member *member, uint64_t *out)
{
    PDH_RAW_COUNTER raw;
    counter_object_raw(o, row, member->counter, &raw);
    switch (member->part) {
    case PCQ_PART_VALUE:
        *out = (uint64_t)raw.FirstValue;
        break;
    case PCQ_PART_BASE:
    case PCQ_PART_TIME:
        *out = (uint64_t)raw.SecondValue;
        break;
    case PCQ_PART_FREQUENCY:
        *out = (uint64_t)counter_object_time_base(o, member->counter);
        break;
    default:
        *out = raw.MultiCount;
        break;
    }
    return raw.CStatus == PDH_CSTATUS_VALID_DATA || raw.CStatus == PDH_CSTATUS_NEW_DATA;
}

uint32_t pcq_instance_id(const struct instance *instance)
{
    uint32_t id = (uint32_t)(instance->key ^ instance->key >> 32);
    return id == PCQ_ANY ? PCQ_ANY - 1 : id;
}

/* ---- sets ---- */

#define SEARCH_AGAIN_MS 1000

HRESULT pcq_server_open(struct catalogue *catalogue, struct pcq_server **out)
{
    *out = memory_zero(1, sizeof **out);
    if (!*out) {
        catalogue_close(catalogue);
        return E_OUTOFMEMORY;
    }
    if (query_create(0, catalogue, &(*out)->query) != ERROR_SUCCESS) {
        memory_free(*out);
        *out = NULL;
        return E_OUTOFMEMORY;
    }
    return S_OK;
}

void pcq_server_close(struct pcq_server *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->member_count; i++)
        pcq_members_free(&s->members[i]);
    query_destroy(s->query);
    memory_free(s->members);
    memory_free(s);
}

/* Searches for new objects, at most once a second, because clients could otherwise trigger endless searches. Fails only
   with E_OUTOFMEMORY; an extension that does not respond is not a failure. */
static HRESULT pcq_sets_refresh(struct pcq_server *s)
{
    struct catalogue *c = s->query->catalogue;
    uint64_t now = clock_monotonic_ms();
    if (!c->functions->refresh || (s->searched_at && clock_passed_ms(s->searched_at, now) < SEARCH_AGAIN_MS))
        return S_OK;
    PDH_STATUS status = c->functions->refresh(c, NULL);
    if (status == (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE)
        return E_OUTOFMEMORY;
    s->searched_at = now ? now : 1;
    return S_OK;
}

HRESULT pcq_set_at(struct pcq_server *s, size_t position, struct pcq_set *out)
{
    void *items = s->members;
    bool ok = memory_grow(&items, &s->member_capacity, position + 1, sizeof *s->members);
    s->members = items;
    if (!ok)
        return E_OUTOFMEMORY;
    while (s->member_count <= position)
        s->members[s->member_count++] = (struct pcq_members){0};
    *out = (struct pcq_set){.position = position, .members = &s->members[position]};
    PDH_STATUS status = query_object(s->query, position, &out->object);
    if (status == (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE)
        return E_OUTOFMEMORY;
    return status != ERROR_SUCCESS ? S_FALSE : pcq_members_of(&s->members[position], out->object);
}

static DWORD server_find_set(struct pcq_server *s, const GUID *guid, size_t from, struct pcq_set *out)
{
    struct catalogue *c = s->query->catalogue;
    for (size_t i = from; i < c->count; i++) {
        GUID own;
        pcq_guid(c->types[i], &own);
        if (!guid_equal(&own, guid))
            continue;
        HRESULT hr = pcq_set_at(s, i, out);
        return FAILED(hr) ? PCQ_OUT_OF_MEMORY : hr == S_OK ? ERROR_SUCCESS : PCQ_GUID_NOT_FOUND;
    }
    return PCQ_GUID_NOT_FOUND;
}

DWORD pcq_set_find(struct pcq_server *s, const GUID *guid, struct pcq_set *out)
{
    size_t known = s->query->catalogue->count;
    DWORD error = server_find_set(s, guid, 0, out);
    if (error == PCQ_GUID_NOT_FOUND)
        error = FAILED(pcq_sets_refresh(s)) ? PCQ_OUT_OF_MEMORY : server_find_set(s, guid, known, out);
    return error;
}

void pcq_sets_sample(struct pcq_server *s, const struct counter_object_use *uses, size_t count)
{
    struct catalogue *c = s->query->catalogue;
    if (c->functions->begin)
        c->functions->begin(c);
    source_begin(&s->query->source);
    counter_objects_sample(uses, count, &s->query->source);
}

DWORD pcq_error_of(HRESULT hr)
{
    return ((uint32_t)hr >> 16 & 0x1FFF) == 7 ? (uint32_t)hr & 0xFFFF : PCQ_SAMPLE_FAILED;
}

/* ---- methods ---- */

/* The provider's name for objects that are not Perflib V2 countersets. */
static const char provider_name[] = "OpenPLA";
static const GUID provider_guid = {0x6f1c9f5e, 0x27a3, 0x4c0d, {0x9b, 0x52, 0x3e, 0x1a, 0x84, 0xd7, 0x60, 0xc9}};

struct sets {
    GUID *items;
    size_t count;
};

static void write_guids(struct block_writer *w, const void *what)
{
    const struct sets *sets = what;
    block_put(w, sets->items, sets->count * sizeof *sets->items);
}

/* Lists the available countersets, each GUID once, up to the number that fits in a client's buffer. */
static HRESULT list_sets(struct pcq_server *s, struct sets *sets)
{
    const struct catalogue *c = s->query->catalogue;
    for (size_t i = 0; i < c->count && sets->count < PCQ_MOST_SETS; i++) {
        struct pcq_set set;
        GUID guid;
        HRESULT hr = pcq_set_at(s, i, &set);
        if (FAILED(hr))
            return hr;
        pcq_guid(c->types[i], &guid);
        bool is_new = hr == S_OK;
        for (size_t k = 0; k < sets->count && is_new; k++)
            is_new = !guid_equal(&sets->items[k], &guid);
        if (is_new)
            sets->items[sets->count++] = guid;
    }
    return S_OK;
}

DWORD pcq_enumerate_sets(struct pcq_server *s, struct pcq_buffer *out)
{
    struct sets sets = {.items = memory_zero(PCQ_MOST_SETS, sizeof(GUID))};
    out->written = out->needed = 0;
    query_enter(s->query);
    HRESULT hr = sets.items ? pcq_sets_refresh(s) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = list_sets(s, &sets);
    query_leave(s->query);
    DWORD error = FAILED(hr) ? PCQ_OUT_OF_MEMORY : block_deliver(out, sizeof(GUID), write_guids, &sets);
    memory_free(sets.items);
    return error;
}

/* ---- registration information ---- */

struct request {
    const struct pcq_set *set;
    GUID guid;
    const struct pcq_member *member; /* for PCQ_COUNTER_INFO */
    const char *text;                /* for requests whose answer is a string */
    bool helps;
};

/* Converts a detail level: the specification has two levels, PDH has four. */
static uint32_t detail_of(uint32_t detail)
{
    return detail <= PERF_DETAIL_NOVICE ? PERF_DETAIL_NOVICE : PERF_DETAIL_ADVANCED;
}

static const struct counter_schema *schema_of(const struct pcq_set *set, const struct pcq_member *m)
{
    return &set->object->type->counters[m->counter];
}

static uint32_t part_id(const struct pcq_set *set, const struct pcq_member *m, enum pcq_part part)
{
    bool has = m->part == PCQ_PART_VALUE && pcq_part_type(schema_of(set, m), part) != PCQ_NO_PART;
    return has ? pcq_id(set->object->type, m->counter, part) : PCQ_ANY;
}

static void write_counter(struct block_writer *w, const struct pcq_set *set, const struct pcq_member *m)
{
    const struct counter_schema *c = schema_of(set, m);
    bool hex = m->type == PERF_COUNTER_RAWCOUNT_HEX || m->type == PERF_COUNTER_LARGE_RAWCOUNT_HEX;
    bool shown = m->part == PCQ_PART_VALUE && !(m->type & PERF_DISPLAY_NOSHOW);
    block_put(w,
              &(struct pcq_counter_info){.id = m->id,
                                         .type = m->type,
                                         .attributes = !shown ? PCQ_NO_DISPLAY
                                                       : hex  ? PCQ_AS_HEX
                                                              : 0,
                                         .detail = detail_of(c->detail),
                                         .scale = m->part == PCQ_PART_VALUE ? c->scale : 0,
                                         .base = part_id(set, m, PCQ_PART_BASE),
                                         .time = part_id(set, m, PCQ_PART_TIME),
                                         .freq = part_id(set, m, PCQ_PART_FREQUENCY),
                                         .multi = part_id(set, m, PCQ_PART_DIVISOR)},
              sizeof(struct pcq_counter_info));
}

static void write_set(struct block_writer *w, const void *what)
{
    const struct request *r = what;
    const struct pcq_members *members = r->set->members;
    uint32_t detail = PERF_DETAIL_ADVANCED;
    for (size_t i = 0; i < members->count; i++)
        if (detail_of(schema_of(r->set, &members->items[i])->detail) < detail)
            detail = PERF_DETAIL_NOVICE;
    bool instances = r->set->object->type->has_instances;
    block_put(w,
              &(struct pcq_set_info){.guid = r->guid,
                                     .detail = detail,
                                     .counters = (uint32_t)members->count,
                                     .instance_type = instances ? PCQ_MULTI_INSTANCE : PCQ_SINGLE_INSTANCE},
              sizeof(struct pcq_set_info));
    for (size_t i = 0; i < members->count; i++)
        write_counter(w, r->set, &members->items[i]);
}

static void write_one_counter(struct block_writer *w, const void *what)
{
    const struct request *r = what;
    write_counter(w, r->set, r->member);
}

static void write_text(struct block_writer *w, const void *what)
{
    block_put_text(w, ((const struct request *)what)->text);
}

static void write_provider_guid(struct block_writer *w, const void *what)
{
    const struct counter_object_type *p = ((const struct request *)what)->set->object->type;
    block_put(w, p->guid ? p->provider_guid : &provider_guid, sizeof provider_guid);
}

/* Writes the help or the name of a counter. A hidden counter has the name of its visible counter with a suffix. */
static void write_counter_text(struct block_writer *w, const struct request *r, const struct pcq_member *m)
{
    static const char *const behind[PCQ_PARTS] = {"", " Base", " Time", " Time Frequency", " Divisor"};
    const struct counter_schema *c = schema_of(r->set, m);
    block_put_text(w, r->helps ? c->help : c->name);
    if (!r->helps && *behind[m->part]) {
        w->size -= 2; /* overwrite the NUL */
        block_put_text(w, behind[m->part]);
    }
}

static void write_texts(struct block_writer *w, const void *what)
{
    const struct request *r = what;
    const struct pcq_members *members = r->set->members;
    block_put(w, &(struct pcq_strings){.counters = (uint32_t)members->count}, sizeof(struct pcq_strings));
    size_t row = w->size;
    for (size_t i = 0; i < members->count; i++)
        block_put(w, &(struct pcq_string){.id = members->items[i].id}, sizeof(struct pcq_string));
    size_t texts = w->size;
    for (size_t i = 0; i < members->count && block_goes_on(w); i++) {
        block_set_number(w, row + i * sizeof(struct pcq_string) + offsetof(struct pcq_string, offset),
                         (uint32_t)(w->size - texts));
        write_counter_text(w, r, &members->items[i]);
    }
    block_pad(w, 0);
    block_set_number(w, offsetof(struct pcq_strings, size), (uint32_t)w->size);
}

/* Returns true for English and for the server's default language. The lower ten bits of an LCID are the language
   (MS-LCID); 0x400 and 0x800 are the defaults. */
static bool has_language(uint32_t request, uint32_t lcid)
{
    bool counts = request >= PCQ_SET_NAME && request <= PCQ_COUNTER_HELPS;
    return !counts || !lcid || lcid == 0x400 || lcid == 0x800 || (lcid & 0x3FF) == 9;
}

static DWORD write_registration_info(struct request *r, uint32_t request, uint32_t lcid, struct pcq_buffer *out)
{
    const struct counter_object_type *p = r->set->object->type;
    void (*write)(struct block_writer *, const void *) = write_text;
    switch (request) {
    case PCQ_SET_INFO:
        write = write_set;
        break;
    case PCQ_COUNTER_INFO:
        r->member = pcq_member_find(r->set->members, lcid);
        if (!r->member)
            return PCQ_ITEM_NOT_FOUND;
        write = write_one_counter;
        break;
    case PCQ_SET_NAME:
    case PCQ_SET_NAME_ENGLISH:
        r->text = p->name;
        break;
    case PCQ_SET_HELP:
        r->text = p->help;
        break;
    case PCQ_COUNTER_HELPS:
        r->helps = true;
        write = write_texts;
        break;
    case PCQ_COUNTER_NAMES:
    case PCQ_COUNTER_NAMES_ENGLISH:
        write = write_texts;
        break;
    default:
        /* the record of a counterset that is not registered does not name its provider */
        if (p->guid && !p->provider_guid)
            return PCQ_GUID_NOT_FOUND;
        r->text = p->guid ? p->provider_name : provider_name;
        if (request == PCQ_PROVIDER_GUID)
            write = write_provider_guid;
        break;
    }
    return block_deliver(out, 1, write, r);
}

DWORD pcq_registration_info(struct pcq_server *s, const GUID *guid, uint32_t request, uint32_t lcid,
                            struct pcq_buffer *out)
{
    struct pcq_set set;
    out->written = out->needed = 0;
    if (request < PCQ_SET_INFO || request > PCQ_COUNTER_NAMES_ENGLISH)
        return ERROR_INVALID_PARAMETER;
    if (!has_language(request, lcid))
        return PCQ_LANGUAGE_NOT_FOUND;
    query_enter(s->query);
    DWORD error = pcq_set_find(s, guid, &set);
    if (error == ERROR_SUCCESS)
        error = write_registration_info(&(struct request){.set = &set, .guid = *guid}, request, lcid, out);
    query_leave(s->query);
    return error;
}

/* ---- instances ---- */

static void write_instances(struct block_writer *w, const void *what)
{
    const struct counter_object *o = what;
    bool named = o->type->has_instances;
    size_t count = named ? o->instances ? o->instances->count : 0 : o->rows > 0;
    for (size_t i = 0; i < count && block_goes_on(w); i++)
        block_put_instance(w, named ? &o->instances->items[i] : NULL);
}

DWORD pcq_enumerate_instances(struct pcq_server *s, const GUID *guid, struct pcq_buffer *out)
{
    struct pcq_set set;
    out->written = out->needed = 0;
    query_enter(s->query);
    DWORD error = pcq_set_find(s, guid, &set);
    if (error == ERROR_SUCCESS) {
        pcq_sets_sample(s, &(struct counter_object_use){set.object, OBJECT_BIT(0)}, 1);
        error = FAILED(set.object->result) ? pcq_error_of(set.object->result)
                                           : block_deliver(out, 1, write_instances, set.object);
        if (error == ERROR_SUCCESS && !out->needed)
            error = PCQ_INSTANCE_NOT_FOUND;
    }
    query_leave(s->query);
    return error;
}
