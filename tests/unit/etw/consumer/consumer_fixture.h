/* SPDX-License-Identifier: MIT */
/* Puts events of each form into a log, and reads the log with a consumer that stores what it receives. */
#ifndef OPENPLA_CONSUMER_FIXTURE_H
#define OPENPLA_CONSUMER_FIXTURE_H

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/etw/consumer/consumer.h"
#include "engine/logs/etl_record.h"
#include "engine/logs/little_endian.h"
#include "tests/fuzz/small_container.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <string.h>

#define FIXTURE_START INT64_C(132590000000000000) /* the start in the log from small_begin */
enum { FIXTURE_STAMP = 100, FIXTURE_EVENT = 0x38 };
static const GUID fixture_class = {0x11223344, 0x5566, 0x7788, {1, 2, 3, 4, 5, 6, 7, 8}};

static inline void put_guid(uint8_t *at, const GUID *guid)
{
    put_u32(at, guid->Data1);
    put_u16(at + 4, guid->Data2);
    put_u16(at + 6, guid->Data3);
    memcpy(at + 8, guid->Data4, 8);
}

/* Creates a classic event whose data is its number, `ticks` units of 100 ns after the start. */
static inline void put_numbered(uint8_t at[FIXTURE_EVENT], uint32_t number, uint32_t ticks)
{
    memset(at, 0, FIXTURE_EVENT);
    put_u16(at, FIXTURE_EVENT);
    at[2] = ETL_HEADER_CLASSIC_64;
    at[3] = ETL_MARKS;
    at[4] = 7;
    put_u64(at + 0x10, FIXTURE_STAMP + ticks);
    put_guid(at + 0x18, &fixture_class);
    put_u32(at + 0x30, number);
}

static inline void store(const struct small_container *c, const char *path)
{
    small_store_damaged(c, NULL, 0, path);
}

/* Adds a buffer with `count` events, one per tick; an event's number is its tick. */
static inline void add_numbered(struct small_container *c, uint16_t processor, uint32_t from, uint32_t count,
                                bool packed)
{
    uint8_t events[SMALL_BUFFER];
    for (uint32_t i = 0; i < count; i++)
        put_numbered(events + i * FIXTURE_EVENT, from + i, from + i);
    small_add(c, processor, events, count * FIXTURE_EVENT, packed);
}

/* ---- what a consumer received ---- */

enum { MOST_TAKEN = 4096 };
static struct consumed {
    uint32_t count, headers, buffers, buffers_read, filled;
    uint32_t number[MOST_TAKEN]; /* numbers of the numbered events, in order of arrival */
    int64_t time[MOST_TAKEN];
    int64_t header_time, current_time;
    void *context;
    bool first_was_header;
    TRACEHANDLE close_at; /* handle that the callback of event close_number closes */
    uint32_t close_number;
    ULONG closed;       /* result of CloseTrace */
    uint32_t cancel_at; /* number of the buffer whose callback cancels the processing */
    void (*at_event)(uint32_t number);
} consumed;

static inline void consume_number(uint32_t number, int64_t time)
{
    assert_true(consumed.count < MOST_TAKEN);
    consumed.number[consumed.count] = number;
    consumed.time[consumed.count++] = time;
    if (consumed.close_at != 0 && number == consumed.close_number)
        consumed.closed = CloseTrace(consumed.close_at);
    if (consumed.at_event)
        consumed.at_event(number);
}

static inline void consume_header(int64_t time)
{
    consumed.headers++;
    consumed.header_time = time;
    consumed.first_was_header |= consumed.count == 0;
}

static inline void WINAPI consume_record(EVENT_RECORD *e)
{
    consumed.context = e->UserContext;
    if (guid_equal(&e->EventHeader.ProviderId, &fixture_class) && e->UserDataLength >= 4)
        consume_number(get_u32(e->UserData), e->EventHeader.TimeStamp.QuadPart);
    else
        consume_header(e->EventHeader.TimeStamp.QuadPart);
}

static inline void WINAPI consume_event(EVENT_TRACE *e)
{
    if (guid_equal(&e->Header.Guid, &fixture_class) && e->MofLength >= 4)
        consume_number(get_u32(e->MofData), e->Header.TimeStamp.QuadPart);
    else
        consume_header(e->Header.TimeStamp.QuadPart);
}

static inline ULONG WINAPI take_buffer(EVENT_TRACE_LOGFILEW *logfile)
{
    consumed.buffers++;
    consumed.buffers_read = logfile->BuffersRead;
    consumed.filled = logfile->Filled;
    consumed.current_time = logfile->CurrentTime;
    return consumed.buffers != consumed.cancel_at;
}

static inline EVENT_TRACE_LOGFILEW logfile_of(const WCHAR *path)
{
    EVENT_TRACE_LOGFILEW logfile = {.LogFileName = (WCHAR *)(uintptr_t)path, .BufferCallback = take_buffer};
    logfile.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
    logfile.EventRecordCallback = consume_record;
    logfile.Context = &consumed;
    return logfile;
}

static inline TRACEHANDLE open_log(const WCHAR *path)
{
    EVENT_TRACE_LOGFILEW logfile = logfile_of(path);
    TRACEHANDLE handle = OpenTraceW(&logfile);
    assert_true(handle != INVALID_PROCESSTRACE_HANDLE && handle != 0);
    return handle;
}

static inline ULONG process_one(TRACEHANDLE handle)
{
    consumed = (struct consumed){.close_at = consumed.close_at,
                                 .close_number = consumed.close_number,
                                 .cancel_at = consumed.cancel_at,
                                 .at_event = consumed.at_event};
    return ProcessTrace(&handle, 1, NULL, NULL);
}

/* Checks that the events `from` to `to` arrived once and in order, after the header. */
static inline void check_consumed(uint32_t from, uint32_t to)
{
    assert_true(consumed.first_was_header);
    assert_int_equal(consumed.count, to - from);
    for (uint32_t i = 0; i < consumed.count; i++)
        assert_int_equal(consumed.number[i], from + i);
}

static inline int reset_consumed(void **state)
{
    (void)state;
    consumed = (struct consumed){.count = 0};
    return 0;
}

#endif
