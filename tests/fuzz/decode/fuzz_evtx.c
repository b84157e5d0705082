/* SPDX-License-Identifier: MIT */
/* Any self-describing event as an event log record: each event is written, completely or with a part of its data, and
   the chunks are consistent. Input as for fuzz_trace_logging. A chunk continues over several inputs. */
#include "engine/etw/decode/event_schema.h"
#include "engine/etw/decode/evtx/evtx.h"
#include "engine/etw/event_dump.h"
#include "engine/logs/little_endian.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t written; /* events */
static uint64_t seen;    /* records */
static size_t chunks;

static void check_list(const uint8_t *chunk, uint32_t at, uint32_t end)
{
    unsigned count = 0;
    for (; at != 0; at = get_u32(chunk + at))
        if (at < 512 || at >= end || ++count > EVTX_CHUNK_BYTES)
            abort();
}

static void check_chunk(const uint8_t *chunk)
{
    const uint32_t end = get_u32(chunk + 48);
    uint32_t at = 512;
    if (end > EVTX_CHUNK_BYTES)
        abort();
    for (uint32_t list = 128; list < 512; list += 4)
        check_list(chunk, get_u32(chunk + list), end);
    while (at < end) {
        const uint32_t length = get_u32(chunk + at + 4);
        if (length < 40 || length > end - at || get_u32(chunk + at + length - 4) != length ||
            get_u64(chunk + at + 8) != ++seen)
            abort();
        at += length;
    }
}

/* The dump must consist of the header and whole chunks. */
static HRESULT check_bytes(void *context, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    (void)context;
    if (size % EVTX_CHUNK_BYTES == EVTX_HEADER_BYTES) {
        at += EVTX_HEADER_BYTES;
        size -= EVTX_HEADER_BYTES;
    }
    if (size % EVTX_CHUNK_BYTES != 0)
        abort();
    for (; size; size -= EVTX_CHUNK_BYTES, at += EVTX_CHUNK_BYTES, chunks++)
        check_chunk(at);
    return S_OK;
}

static HRESULT check_header(void *context, uint64_t offset, const void *bytes, size_t size)
{
    const uint8_t *header = bytes;
    (void)context;
    if (offset != 0 || size != EVTX_HEADER_BYTES || get_u16(header + 42) != chunks || get_u64(header + 24) != seen + 1)
        abort();
    return S_OK;
}

static void add(const struct event_schema *schema, const uint8_t *data, size_t size, uint8_t choice)
{
    static struct event_dump *dump;
    const struct event_dump_options options = {
        .form = EVENT_DUMP_EVTX, .lenient = true, .write = check_bytes, .write_at = check_header};
    EVENT_RECORD record = {.UserData = (void *)(uintptr_t)data, .UserDataLength = (uint16_t)size};
    const struct dumped_event e = {.record = &record, .schema = schema, .pointer_size = choice & 1 ? 4 : 8};
    bool decoded;
    if (!dump && event_dump_create(&options, &dump) != S_OK)
        abort();
    if (event_dump_add(dump, &e, &decoded) != S_OK)
        abort();
    if (++written % 4096 != 0 && choice != 0xFF)
        return;
    if (event_dump_close(dump) != S_OK || seen != written)
        abort();
    dump = NULL;
    written = seen = chunks = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const GUID provider;
    static const EVENT_DESCRIPTOR descriptor;
    static uint8_t metadata[UINT16_MAX];
    struct event_schema *schema;
    if (size < 4)
        return 0;
    const size_t limit = size - 2, metadata_size = get_u16(data) % (limit + 1);
    const uint8_t *rest = data + 2 + metadata_size;
    memcpy(metadata, data + 2, metadata_size);
    if (metadata_size >= 2)
        put_u16(metadata, (uint16_t)metadata_size);
    if (trace_logging_schema(&provider, &descriptor, metadata, metadata_size, rest, limit - metadata_size, &schema) ==
        S_OK) {
        add(schema, rest, limit - metadata_size, data[1]);
        event_schema_free(schema);
    }
    return 0;
}
