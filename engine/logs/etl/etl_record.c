/* SPDX-License-Identifier: MIT */
/* Parses the headers of buffers and of events. The layouts are those of Windows 7 and later, from Microsoft's
   documentation of EVENT_TRACE_HEADER and EVENT_HEADER. Undocumented layouts were determined from files
   (SYSTEM_TRACE_HEADER, PERFINFO_TRACE_HEADER, extended items). */
#include "engine/logs/etl_record.h"

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/logs/little_endian.h"

#include <string.h>

enum { LONGEST_EVENT = 0xFFF8 }; /* an event's size field has 16 bits */
enum {
    SIZE_AT = 0x00,
    SAVED_AT = 0x04,
    CURRENT_AT = 0x08,
    TIME_AT = 0x10,
    SEQUENCE_AT = 0x18,
    PROCESSOR_AT = 0x28,
    LOGGER_AT = 0x2A,
    STATE_AT = 0x2C,
    USED_AT = 0x30,
    FLAGS_AT = 0x34,
    TYPE_AT = 0x36,
};

void etl_buffer_header_read(const uint8_t *buffer, struct etl_buffer_header *out)
{
    const uint16_t flags = get_u16(buffer + FLAGS_AT);
    *out = (struct etl_buffer_header){
        .size = get_u32(buffer + SIZE_AT),
        .saved = get_u32(buffer + SAVED_AT),
        .current = get_u32(buffer + CURRENT_AT),
        .time = (int64_t)get_u64(buffer + TIME_AT),
        .sequence = get_u64(buffer + SEQUENCE_AT),
        /* Before Windows 8, the processor number is one byte, and the next byte is the alignment of events. */
        .processor = (flags & ETL_FLAG_PROCESSOR_INDEX) != 0 ? get_u16(buffer + PROCESSOR_AT) : buffer[PROCESSOR_AT],
        .logger = get_u16(buffer + LOGGER_AT),
        .state = get_u32(buffer + STATE_AT),
        .used = get_u32(buffer + USED_AT),
        .flags = flags,
        .type = get_u16(buffer + TYPE_AT),
    };
}

void etl_buffer_header_write(const struct etl_buffer_header *header, uint8_t *buffer)
{
    memset(buffer, 0, ETL_BUFFER_HEAD);
    put_u32(buffer + SIZE_AT, header->size);
    put_u32(buffer + SAVED_AT, header->saved);
    put_u32(buffer + CURRENT_AT, header->current);
    put_u64(buffer + TIME_AT, (uint64_t)header->time);
    put_u64(buffer + SEQUENCE_AT, header->sequence);
    put_u16(buffer + PROCESSOR_AT, header->processor);
    put_u16(buffer + LOGGER_AT, header->logger);
    put_u32(buffer + STATE_AT, header->state);
    put_u32(buffer + USED_AT, header->used);
    put_u16(buffer + FLAGS_AT, header->flags);
    put_u16(buffer + TYPE_AT, header->type);
}

uint32_t etl_buffer_used(const uint8_t *buffer, uint32_t size)
{
    struct etl_buffer_header head;
    etl_buffer_header_read(buffer, &head);
    const bool ours = head.size == size && head.used >= ETL_BUFFER_HEAD && head.used <= size && (head.used & 7) == 0;
    return ours ? head.used : 0;
}

uint32_t etl_buffer_max_event(uint32_t size)
{
    return size - ETL_BUFFER_HEAD < LONGEST_EVENT ? size - ETL_BUFFER_HEAD : LONGEST_EVENT;
}

bool etl_all_zero(const uint8_t *at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (at[i] != 0)
            return false;
    return true;
}

/* ---- events ---- */

enum {
    SYSTEM_HEAD = 0x20,
    SYSTEM_COMPACT_HEAD = 0x18,
    PERFORMANCE_HEAD = 0x10,
    CLASSIC_HEAD = 0x30,
    INSTANCE_HEAD = 0x48,
    MANIFEST_HEAD = 0x50,
    MESSAGE_HEAD = 8,
    EXTENDED_ITEM_HEAD = 8,
};

bool etl_event_length(const uint8_t first[8], uint32_t *length)
{
    uint32_t smallest = CLASSIC_HEAD;
    *length = get_u16(first);
    if (first[3] == ETL_MARK_MESSAGE) {
        smallest = MESSAGE_HEAD;
    } else if ((first[3] & ETL_MARKS) != ETL_MARKS) {
        return false;
    } else {
        switch (first[2]) {
        case 0x00:
        case 0x01:
        case 0x02:
            *length = get_u16(first + 4);
            smallest = SYSTEM_HEAD;
            break;
        case 0x03:
        case 0x04:
            *length = get_u16(first + 4);
            smallest = SYSTEM_COMPACT_HEAD;
            break;
        case 0x10:
        case 0x11:
            *length = get_u16(first + 4);
            smallest = PERFORMANCE_HEAD;
            break;
        case 0x0B:
        case 0x15:
            smallest = INSTANCE_HEAD;
            break;
        case 0x12:
        case 0x13:
            smallest = MANIFEST_HEAD;
            break;
        default:
            break;
        }
    }
    return *length >= smallest;
}

bool etl_buffer_event(const uint8_t *buffer, uint32_t used, uint32_t *offset, const uint8_t **event, uint32_t *size)
{
    if (used > ETL_LARGEST_BUFFER || *offset > used || used - *offset < 8)
        return false;
    const uint8_t *at = buffer + *offset;
    uint32_t length;
    if (!etl_event_length(at, &length) || length > used - *offset)
        return false;
    const uint32_t space = (length + 7) & ~(uint32_t)7;
    *event = at;
    *size = length;
    *offset = space > used - *offset ? used : *offset + space; /* the padding of the last event can be missing */
    return true;
}

uint32_t etl_event_stamp_at(const uint8_t first[8])
{
    enum { SEQUENCE = 1, HAS_GUID = 2, COMPONENT = 4, TIMES = 0x18 };
    if (first[3] == ETL_MARK_MESSAGE) {
        const uint32_t options = get_u16(first + 6);
        const uint32_t number = (options & HAS_GUID) != 0 ? 16 : (options & COMPONENT) != 0 ? 4 : 0;
        return (options & TIMES) != 0 ? MESSAGE_HEAD + ((options & SEQUENCE) != 0 ? 4 : 0) + number : 0;
    }
    switch (first[2]) {
    case 0x01:
    case 0x02:
    case 0x03:
    case 0x04:
    case 0x0A:
    case 0x14:
    case 0x0B:
    case 0x15:
    case 0x12:
    case 0x13:
        return 0x10;
    case 0x10:
    case 0x11:
        return 8;
    default:
        return 0;
    }
}

/* Converts a GUID as stored in files. */
static GUID etl_guid(const uint8_t at[16])
{
    GUID guid = {.Data1 = get_u32(at), .Data2 = get_u16(at + 4), .Data3 = get_u16(at + 6)};
    memcpy(guid.Data4, at + 8, 8);
    return guid;
}

static void decode_system(const uint8_t *at, struct etl_record *out)
{
    const bool compact = at[2] == 0x03 || at[2] == 0x04;
    out->kind = ETL_RECORD_SYSTEM;
    out->pointer_size = (at[2] & 1) != 0 ? 4 : 8;
    out->version = get_u16(at);
    out->id = get_u16(at + 6);
    out->opcode = at[6];
    out->thread = get_u32(at + 8);
    out->process = get_u32(at + 0x0C);
    out->stamp = (int64_t)get_u64(at + 0x10);
    if (!compact) {
        out->kernel_time = get_u32(at + 0x18);
        out->user_time = get_u32(at + 0x1C);
    }
    out->data = at + (compact ? SYSTEM_COMPACT_HEAD : SYSTEM_HEAD);
}

static void decode_performance(const uint8_t *at, struct etl_record *out)
{
    out->kind = ETL_RECORD_PERFORMANCE;
    out->pointer_size = at[2] == 0x10 ? 4 : 8;
    out->version = get_u16(at);
    out->id = get_u16(at + 6);
    out->opcode = at[6];
    out->stamp = (int64_t)get_u64(at + 8);
    /* The header can also have values of the processor's performance counters. */
    uint32_t head = PERFORMANCE_HEAD + ((uint32_t)(out->version >> 8) & 7) * 8;
    out->data = at + (head < out->size ? head : out->size);
}

static void decode_classic(const uint8_t *at, struct etl_record *out)
{
    const bool instance = at[2] == 0x0B || at[2] == 0x15;
    out->kind = instance ? ETL_RECORD_INSTANCE : ETL_RECORD_CLASSIC;
    out->pointer_size = at[2] < 0x10 ? 4 : 8;
    out->opcode = at[4];
    out->level = at[5];
    out->version = get_u16(at + 6);
    out->thread = get_u32(at + 8);
    out->process = get_u32(at + 0x0C);
    out->stamp = (int64_t)get_u64(at + 0x10);
    out->provider = etl_guid(at + 0x18);
    out->kernel_time = get_u32(at + 0x28);
    out->user_time = get_u32(at + 0x2C);
    if (instance) {
        out->instance = get_u32(at + 0x30);
        out->parent_instance = get_u32(at + 0x34);
        out->activity = etl_guid(at + 0x38);
    }
    out->data = at + (instance ? INSTANCE_HEAD : CLASSIC_HEAD);
}

/* Returns the number of bytes of the extended items. If the last item cannot be found, returns `room`. */
static uint32_t extended_size(const uint8_t *at, uint32_t room)
{
    uint32_t done = 0;
    bool more = true;
    while (more) {
        if (room - done < EXTENDED_ITEM_HEAD)
            return room;
        uint32_t total = get_u16(at + done);
        if (total < EXTENDED_ITEM_HEAD || total > room - done)
            return room;
        more = (get_u16(at + done + 4) & 1) != 0;
        done += total;
    }
    return done;
}

static void decode_manifest(const uint8_t *at, struct etl_record *out)
{
    out->kind = ETL_RECORD_MANIFEST;
    out->pointer_size = at[2] == 0x12 ? 4 : 8;
    out->thread = get_u32(at + 8);
    out->process = get_u32(at + 0x0C);
    out->stamp = (int64_t)get_u64(at + 0x10);
    out->provider = etl_guid(at + 0x18);
    out->id = get_u16(at + 0x28);
    out->version = at[0x2A];
    out->channel = at[0x2B];
    out->level = at[0x2C];
    out->opcode = at[0x2D];
    out->task = get_u16(at + 0x2E);
    out->keyword = get_u64(at + 0x30);
    out->kernel_time = get_u32(at + 0x38);
    out->user_time = get_u32(at + 0x3C);
    out->activity = etl_guid(at + 0x40);
    out->data = at + MANIFEST_HEAD;
    if ((get_u16(at + 4) & 1) != 0) {
        out->extended = out->data;
        out->extended_size = extended_size(out->data, out->size - MANIFEST_HEAD);
        out->data += out->extended_size;
    }
}

static void decode_message(const uint8_t *at, struct etl_record *out)
{
    enum { SEQUENCE = 1, HAS_GUID = 2, COMPONENT = 4, TIME = 8, PERFORMANCE_TIME = 0x10, SYSTEM_INFORMATION = 0x20 };
    const uint8_t *end = at + out->size, *next = at + MESSAGE_HEAD;
    out->kind = ETL_RECORD_MESSAGE;
    out->id = get_u16(at + 4);
    out->version = get_u16(at + 6);
    out->pointer_size = (out->version & 0x40) != 0 ? 4 : (out->version & 0x80) != 0 ? 8 : 0;
    out->has_stamp = false;
    out->data = next;
    if ((out->version & SEQUENCE) != 0)
        next += 4;
    if ((out->version & HAS_GUID) != 0) {
        if (end - next >= 16)
            out->provider = etl_guid(next);
        next += 16;
    } else if ((out->version & COMPONENT) != 0) {
        next += 4;
    }
    if ((out->version & (TIME | PERFORMANCE_TIME)) != 0) {
        if (end - next >= 8) {
            out->stamp = (int64_t)get_u64(next);
            out->has_stamp = true;
        }
        next += 8;
    }
    if ((out->version & SYSTEM_INFORMATION) != 0) {
        if (end - next >= 8) {
            out->thread = get_u32(next);
            out->process = get_u32(next + 4);
        }
        next += 8;
    }
    out->data = next < end ? next : end;
}

/* Clears the record in parts, because the compiler clears each part with a few vector stores. To clear the whole
   record, the compiler would use an instruction (rep stos) that takes longer than decoding the event. */
static void record_clear(struct etl_record *out)
{
    enum { PART = 64 };
    _Static_assert(sizeof *out > 2 * PART && sizeof *out <= 4 * PART, "four parts cover the record");
    uint8_t *at = (uint8_t *)out;
    memset(at, 0, PART);
    memset(at + PART, 0, PART);
    memset(at + sizeof *out - 2 * PART, 0, PART);
    memset(at + sizeof *out - PART, 0, PART);
}

void etl_record_decode(const uint8_t *event, uint32_t size, struct etl_record *out)
{
    record_clear(out);
    out->event = event;
    out->size = size;
    out->has_stamp = true;
    if (event[3] == ETL_MARK_MESSAGE) {
        decode_message(event, out);
    } else {
        switch (event[2]) {
        case 0x01:
        case 0x02:
        case 0x03:
        case 0x04:
            decode_system(event, out);
            break;
        case 0x10:
        case 0x11:
            decode_performance(event, out);
            break;
        case 0x0A:
        case 0x14:
        case 0x0B:
        case 0x15:
            decode_classic(event, out);
            break;
        case 0x12:
        case 0x13:
            decode_manifest(event, out);
            break;
        default:
            out->kind = ETL_RECORD_OTHER;
            out->has_stamp = false;
            out->data = event;
            break;
        }
    }
    out->data_size = (uint32_t)(event + size - out->data);
}

static const struct {
    GUID guid;
    const char *name;
} groups[] = {
#define GROUP(number, name, a, b, c, ...) [number] = {{a, b, c, {__VA_ARGS__}}, #name},
#include "engine/logs/etl/etl_groups.def"
#undef GROUP
};
enum { GROUPS = sizeof groups / sizeof *groups, IMAGE_LOAD = 0x030A, IMAGE_GROUP = 0x14 };

const GUID *etl_record_provider(const struct etl_record *e)
{
    static const GUID unknown;
    if (e->kind != ETL_RECORD_SYSTEM && e->kind != ETL_RECORD_PERFORMANCE)
        return &e->provider;
    /* Image loads are in the group of processes and image unloads in a separate group; both are events of the class
       Image. */
    const size_t group = e->id == IMAGE_LOAD ? IMAGE_GROUP : e->id >> 8;
    return group < GROUPS ? &groups[group].guid : &unknown;
}

const char *etl_kernel_class(const GUID *provider)
{
    for (size_t i = 0; i < GROUPS; i++)
        if (guid_equal(&groups[i].guid, provider))
            return groups[i].name;
    return NULL;
}

bool etl_kernel_group(const GUID *provider, uint8_t type, uint8_t *group)
{
    for (size_t i = 0; i < GROUPS; i++) {
        if (guid_equal(&groups[i].guid, provider)) {
            *group = (uint8_t)(i == IMAGE_GROUP && type == (IMAGE_LOAD & 0xFF) ? IMAGE_LOAD >> 8 : i);
            return true;
        }
    }
    return false;
}

const GUID etl_event_metadata_class = {0xBBCCF6C1, 0x6CD1, 0x48C4, {0x80, 0xFF, 0x83, 0x94, 0x82, 0xE3, 0x76, 0x71}};

bool etl_record_is_metadata(const struct etl_record *e)
{
    static const GUID image_id = {0xB3E675D7, 0x2554, 0x4F18, {0x83, 0x0B, 0x27, 0x62, 0x73, 0x25, 0x60, 0xDE}};
    static const GUID computer = {0x9B79EE91, 0xB5FD, 0x41C0, {0xA2, 0x43, 0x42, 0x48, 0xE2, 0x66, 0xE9, 0xD0}};
    return e->kind == ETL_RECORD_CLASSIC &&
           (guid_equal(&e->provider, &etl_event_metadata_class) || guid_equal(&e->provider, &image_id) ||
            guid_equal(&e->provider, &computer));
}

bool etl_record_is_before(const struct etl_record *a, const struct etl_record *b)
{
    return a->utc != b->utc ? a->utc < b->utc : etl_record_is_metadata(a) && !etl_record_is_metadata(b);
}

char *etl_text(const uint8_t *at, size_t units)
{
    char *text = memory_alloc(units + 1);
    size_t i = 0;
    if (!text)
        return NULL;
    /* ASCII other than NUL; most names have no other characters. */
    for (; i < units && get_u16(at + 2 * i) - 1u < 0x7F; i++)
        text[i] = (char)at[2 * i];
    if (i == units) {
        text[i] = '\0';
        return text;
    }
    memory_free(text);
    WCHAR *wide = memory_alloc(units * sizeof *wide);
    if (!wide)
        return NULL;
    for (i = 0; i < units; i++)
        wide[i] = get_u16(at + 2 * i);
    HRESULT hr = text_from_utf16(wide, units, true, &text);
    memory_free(wide);
    return SUCCEEDED(hr) ? text : NULL;
}

bool etl_text_length(const uint8_t *at, size_t room, size_t *units)
{
    for (size_t i = 0; i + 2 <= room; i += 2) {
        if (get_u16(at + i) == 0) {
            *units = i / 2;
            return true;
        }
    }
    return false;
}
