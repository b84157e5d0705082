/* SPDX-License-Identifier: MIT */
#include "engine/etw/session/session_kernel_notes.h"

#include "engine/base/process.h"
#include "engine/base/thread.h"
#include "engine/etw/etw_provider_types.h"
#include "engine/logs/etl_record.h"

#include <string.h>

enum { HEAD = 0x50, HEADER_64 = 0x13, CHANNEL_TRACE_LOGGING = 11 };
enum { LEVEL_WARNING = 3, LEVEL_INFORMATION = 4 };
/* In-types of TraceLogging; of UTF-16 with its NUL, and so on. */
enum { TEXT = 1, NUMBER_64 = 10, BOOLEAN_32 = 13, HEX_32 = 20 };

static const GUID provider = {0x52b0624b, 0xb22e, 0x586c, {0x51, 0xbc, 0x52, 0x91, 0x67, 0x98, 0x06, 0x4f}};

struct field {
    const char *name;
    uint8_t type;
};

static void put_head(struct kernel_data *d, uint8_t level)
{
    kernel_data_clear(d);
    kernel_data_u16(d, 0); /* its size, when it is known */
    kernel_data_u8(d, HEADER_64);
    kernel_data_u8(d, ETL_MARKS);
    kernel_data_u16(d, ETW_HEADER_EXTENDED_INFO | ETW_HEADER_NO_CPUTIME);
    kernel_data_u16(d, 0);
    kernel_data_u32(d, thread_own_id());
    kernel_data_u32(d, process_own_id());
    kernel_data_u64(d, 0); /* NOTE_STAMP_AT */
    kernel_data_bytes(d, &provider, sizeof provider);
    kernel_data_u16(d, 0); /* id */
    kernel_data_u8(d, 0);  /* version */
    kernel_data_u8(d, CHANNEL_TRACE_LOGGING);
    kernel_data_u8(d, level);
    kernel_data_u8(d, 0);  /* opcode */
    kernel_data_u16(d, 0); /* task */
    kernel_data_u64(d, 0); /* keyword */
    while (d->size < HEAD && !d->failed)
        kernel_data_u64(d, 0); /* processor times, activity */
}

/* An item: {u16 bytes rounded up to 8, u16 type, u16 another follows, u16 bytes of data}, and data that begin with
   their own size. */
static void begin_item(struct kernel_data *d, uint16_t type, bool more)
{
    kernel_data_u16(d, 0);
    kernel_data_u16(d, type);
    kernel_data_u16(d, more);
    kernel_data_u16(d, 0);
    kernel_data_u16(d, 0);
}

static void end_item(struct kernel_data *d, size_t begin)
{
    const size_t bytes = d->size - begin - 8;
    while (d->size % 8 != 0 && !d->failed)
        kernel_data_u8(d, 0);
    if (d->failed)
        return;
    put_u16(d->bytes + begin, (uint16_t)(d->size - begin));
    put_u16(d->bytes + begin + 6, (uint16_t)bytes);
    put_u16(d->bytes + begin + 8, (uint16_t)bytes);
}

static void put_schema(struct kernel_data *d, const char *event, const struct field *fields, size_t count)
{
    const size_t traits = d->size;
    begin_item(d, ETW_ITEM_TRAITS, true);
    kernel_data_ansi(d, "OpenPLA.KernelLogger");
    end_item(d, traits);
    const size_t schema = d->size;
    begin_item(d, ETW_ITEM_SCHEMA_TL, false);
    kernel_data_u8(d, 0); /* tags */
    kernel_data_ansi(d, event);
    for (size_t i = 0; i < count; i++) {
        kernel_data_ansi(d, fields[i].name);
        kernel_data_u8(d, fields[i].type);
    }
    end_item(d, schema);
}

static void put_size(struct kernel_data *d)
{
    if (!d->failed)
        put_u16(d->bytes, (uint16_t)d->size);
}

/* As EVENT_TRACE_FLAG_ of evntrace.h calls them. */
static const struct {
    uint32_t flag;
    const char *name;
} flag_names[] = {
    {FLAG_PROCESS, "PROCESS"},
    {FLAG_THREAD, "THREAD"},
    {FLAG_IMAGE_LOAD, "IMAGE_LOAD"},
    {FLAG_PROCESS_COUNTERS, "PROCESS_COUNTERS"},
    {FLAG_SWITCH, "CSWITCH"},
    {FLAG_DPC, "DPC"},
    {FLAG_INTERRUPT, "INTERRUPT"},
    {FLAG_SYSTEM_CALL, "SYSTEMCALL"},
    {FLAG_DISK, "DISK_IO"},
    {FLAG_DISK_FILE, "DISK_FILE_IO"},
    {FLAG_DISK_INIT, "DISK_IO_INIT"},
    {FLAG_DISPATCHER, "DISPATCHER"},
    {FLAG_PAGE_FAULTS, "MEMORY_PAGE_FAULTS"},
    {FLAG_HARD_FAULTS, "MEMORY_HARD_FAULTS"},
    {0x4000, "VIRTUAL_ALLOC"},
    {0x8000, "VAMAP"},
    {FLAG_NETWORK, "NETWORK_TCPIP"},
    {0x20000, "REGISTRY"},
    {0x40000, "DBGPRINT"},
    {0x80000, "JOB"},
    {0x100000, "ALPC"},
    {0x200000, "SPLIT_IO"},
    {0x400000, "DEBUG_EVENTS"},
    {0x800000, "DRIVER"},
    {0x1000000, "PROFILE"},
    {0x2000000, "FILE_IO"},
    {0x4000000, "FILE_IO_INIT"},
};

static void put_flag_names(struct kernel_data *d, uint32_t flags)
{
    char names[512] = "";
    size_t at = 0;
    for (size_t i = 0; i < sizeof flag_names / sizeof *flag_names; i++)
        if ((flags & flag_names[i].flag) != 0) {
            text_fit(names + at, sizeof names - at, at != 0 ? ", " : "");
            at += strlen(names + at);
            text_fit(names + at, sizeof names - at, flag_names[i].name);
            at += strlen(names + at);
        }
    kernel_data_text(d, names, sizeof names);
}

void kernel_note_source(const struct kernel_state *state, uint32_t flags, struct kernel_data *record)
{
    static const struct field fields[] = {
        {"Source", TEXT},
        {"Reason", TEXT},
        {"EnableFlags", HEX_32},
        {"FlagsWithoutSource", HEX_32},
        {"EventsWithoutSource", TEXT},
        {"ProcessesOfOthersHidden", BOOLEAN_32},
    };
    put_head(record, *state->why || state->hides_processes ? LEVEL_WARNING : LEVEL_INFORMATION);
    put_schema(record, "Source", fields, sizeof fields / sizeof *fields);
    kernel_data_text(record, state->source, SIZE_MAX);
    kernel_data_text(record, state->why, SIZE_MAX);
    kernel_data_u32(record, flags);
    kernel_data_u32(record, state->missing);
    put_flag_names(record, state->missing);
    kernel_data_u32(record, state->hides_processes);
    put_size(record);
}

void kernel_note_missed(uint64_t count, struct kernel_data *record)
{
    static const struct field fields[] = {{"Count", NUMBER_64}};
    put_head(record, LEVEL_WARNING);
    put_schema(record, "Missed", fields, sizeof fields / sizeof *fields);
    kernel_data_u64(record, count);
    put_size(record);
}
