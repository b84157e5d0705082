/* SPDX-License-Identifier: MIT */
/* Any calls of an MS-PCQ client, in any order, with any identifiers. The input is a sequence of calls: a byte for the
   method, a byte for its subject, and for identifiers a length and bytes. Replies are written to memory of exactly the
   offered size, so that a byte too many is detected. */
#include "engine/pdh/remote/pcq_internal.h"
#include "tests/unit/pcq_fixture.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST_QUERIES 4

static const uint32_t rooms[] = {0, 1, 15, 47, 48, 500, 5000, 60000};

static DWORD about_sets(struct pcq_server *s, uint8_t method, uint8_t about, struct pcq_buffer *out)
{
    GUID set;
    pcq_guid(about & 1 ? &parts_provider : &whole_provider, &set);
    set.Data1 ^= about == 255;
    switch (method) {
    case PCQ_ENUMERATE_SETS:
        out->room /= sizeof(GUID);
        return pcq_enumerate_sets(s, out);
    case PCQ_REGISTRATION_INFO:
        return pcq_registration_info(s, &set, about >> 4, about & 2 ? 0x409u : 700u, out);
    default:
        return pcq_enumerate_instances(s, &set, out);
    }
}

static size_t identifiers(struct pcq_query *q, uint8_t about, const uint8_t *data, size_t size)
{
    size_t take = size < 2 ? size : (size_t)(data[0] | data[1] << 8) % size;
    void *copy = memory_copy(data, take);
    if (!copy)
        abort();
    /* Inserts an existing GUID, which random input would never contain. */
    GUID set;
    pcq_guid(about & 1 ? &parts_provider : &whole_provider, &set);
    for (size_t at = 0, one; (about & 2) && at + sizeof(struct pcq_identifier) <= take; at += one) {
        struct pcq_identifier id;
        memcpy((uint8_t *)copy + at, &set, sizeof set);
        memcpy(&id, (uint8_t *)copy + at, sizeof id);
        one = id.size < sizeof id ? sizeof id : id.size;
        if (one > take)
            break;
    }
    pcq_validate_counters(q, copy, (uint32_t)take, (about & 4) != 0);
    memory_free(copy);
    return take;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pcq_server *s = pcq_fixture();
    struct pcq_query *queries[MOST_QUERIES] = {NULL};
    if (!s)
        abort();
    for (size_t at = 0; at + 2 <= size;) {
        uint8_t method = data[at] % PCQ_METHODS, about = data[at + 1];
        struct pcq_query **q = &queries[data[at] / PCQ_METHODS % MOST_QUERIES];
        struct pcq_buffer out = {.room = rooms[about % 8]};
        uint32_t room = out.room;
        out.bytes = memory_alloc(room);
        if (!out.bytes)
            abort();
        DWORD error = PCQ_NOT_ENOUGH_MEMORY;
        parts_count = about % 4;
        at += 2;
        if (method < PCQ_OPEN_QUERY)
            error = about_sets(s, method, about, &out);
        else if (!*q)
            pcq_open_query(s, "somebody", q);
        else if (method == PCQ_QUERY_INFO)
            error = pcq_query_info(*q, &out);
        else if (method == PCQ_QUERY_DATA)
            error = pcq_query_data(*q, &out);
        else if (method == PCQ_VALIDATE_COUNTERS)
            at += identifiers(*q, about, data + at, size - at);
        if (method == PCQ_CLOSE_QUERY) {
            pcq_close_query(*q);
            *q = NULL;
        }
        if (out.written > room || (error != ERROR_SUCCESS && out.written))
            abort();
        memory_free(out.bytes);
    }
    for (int i = 0; i < MOST_QUERIES; i++)
        pcq_close_query(queries[i]);
    pcq_server_close(s);
    return 0;
}
