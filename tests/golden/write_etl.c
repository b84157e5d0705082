/* SPDX-License-Identifier: MIT */
/* write_etl FOLDER: files of sessions in each mode, written by the session's own code from events of several streams,
   for read_logs and etl_check.py to read. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/etw/session/session_buffers.h"
#include "engine/etw/session/session_drain.h"
#include "engine/etw/session/session_output.h"
#include "engine/etw/session/session_reserve.h"
#include "engine/logs/etl_record.h"
#include "engine/logs/little_endian.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUFFER_SIZE = 8192,
    PROCESSORS = 3,
    EVENTS = 2000,
    SEQUENTIAL = 1,
    CIRCULAR = 2,
    APPEND = 4,
    NEWFILE = 8,
    PREALLOCATE = 0x20
};

static void must(HRESULT hr)
{
    if (hr == S_OK)
        return;
    fprintf(stderr, "write_etl: %s\n", error_text(hr));
    exit(1);
}

static bool no_owner_lives(void *context, uint32_t owner, uint32_t thread)
{
    (void)context, (void)owner, (void)thread;
    return false;
}

/* Writes an event. Its number determines its form. */
static void write_event(const struct session_buffers *b, uint32_t number)
{
    static const struct {
        uint32_t head, stamp_at;
        uint64_t first;
    } forms[] = {
        {0x50, 0x10, UINT64_C(0xC0130000)},
        {0x30, 0x10, UINT64_C(0xC0140000)},
        {0x48, 0x10, UINT64_C(0xC0150000)},
        {0x30, 0x1C, UINT64_C(0x002B000590000000)}, /* a message with sequence, GUID, time and ids */
    };
    const uint32_t form = number % 4, length = forms[form].head + number % 77, bytes = (length + 7) & ~7u;
    struct session_writer w = {.owner = 1, .thread = 100 + number % 5, .processor = number / 10 % PROCESSORS};
    uint64_t stamp;
    uint8_t *at = session_reserve(b, &w, bytes, &stamp);
    must(at ? S_OK : error_set(E_UNEXPECTED, "event %u is lost", (unsigned)number));
    memset(at + 8, 0, bytes - 8);
    if (form != 3) {
        put_u32(at + 8, w.thread);
        put_u32(at + 12, 4711);
    }
    put_u64(at + forms[form].stamp_at, stamp);
    for (uint32_t i = forms[form].head; i < length; i++)
        at[i] = (uint8_t)(number + i);
    session_commit(at, forms[form].first | length);
}

struct kind {
    const char *name;
    uint32_t mode, clock;
    uint64_t maximum;
};

static HRESULT write_buffer(void *context, const struct etl_buffer_header *head, const uint8_t *bytes)
{
    HRESULT hr = session_file_write(context, head, bytes);
    return hr == S_FALSE ? S_OK : hr; /* after the file has reached its maximum size, later events are lost */
}

static void write_file(const struct kind *kind, const char *folder, void *memory, size_t size,
                       const struct session_shape *shape)
{
    struct session_file_options options = {.mode = kind->mode, .maximum = kind->maximum};
    struct session_buffers b;
    struct session_drain *drain;
    struct session_file *file;
    HRESULT hr;
    char *path = text_format("%s/%s.etl", folder, kind->name);
    must(path ? S_OK : E_OUTOFMEMORY);
    options.path = path;
    must(session_log_of_host(kind->clock, &options.log));
    options.log.buffer_size = BUFFER_SIZE;
    options.log.processors = PROCESSORS;
    options.log.mode = kind->mode;
    options.log.maximum_file_mb = (uint32_t)(kind->maximum >> 20);
    const struct etl_log texts = options.log;
    options.log.logger_name = "session of golden files";
    must(session_file_create(&options, &file));
    memset(memory, 0, size);
    must(session_buffers_create(memory, size, shape, &b));
    b.method = PROCESSOR_UNKNOWN; /* each event contains its processor number */
    const struct session_drain_options how = {
        .liveness = {no_owner_lives, NULL}, .clock = kind->clock, .first_number = session_file_first_number(file)};
    must(session_drain_create(&b, &how, &drain));
    const struct session_sink sink = {write_buffer, NULL, file};
    for (uint32_t i = 0; i < EVENTS; i++) {
        write_event(&b, i);
        if (i % 100 == 0)
            (void)session_drain_pass(drain, &sink, &hr);
    }
    must(session_drain_stop(drain, &sink, 0));
    session_file_lost(file, 3, 1);
    must(session_file_close(file, clock_utc()));
    session_drain_free(drain);
    struct etl_log freed = {.standard_name = texts.standard_name, .daylight_name = texts.daylight_name};
    etl_log_free(&freed);
    memory_free(path);
}

int main(int count, char **arguments)
{
    static const struct kind kinds[] = {
        {"session_sequential", SEQUENTIAL, ETL_CLOCK_TICKS, 0},
        {"session_maximum", SEQUENTIAL, ETL_CLOCK_TICKS, 10 * BUFFER_SIZE},
        {"session_system", SEQUENTIAL, ETL_CLOCK_SYSTEM, 0},
        {"session_cycles", SEQUENTIAL, ETL_CLOCK_CYCLES, 0},
        {"session_circular", CIRCULAR, ETL_CLOCK_TICKS, 10 * BUFFER_SIZE},
        {"session_new_%d", NEWFILE, ETL_CLOCK_TICKS, 10 * BUFFER_SIZE},
        {"session_room", SEQUENTIAL | PREALLOCATE, ETL_CLOCK_TICKS, 1 << 20},
        {"session_append", APPEND, ETL_CLOCK_SYSTEM, 0},
        {"session_append", APPEND, ETL_CLOCK_SYSTEM, 0},
    };
    const struct session_shape shape = {.buffers = 16,
                                        .minimum = 16,
                                        .buffer_size = BUFFER_SIZE,
                                        .processors = PROCESSORS,
                                        .wake_at = 4,
                                        .source = SESSION_STAMP_CYCLES};
    size_t size;
    if (count != 2)
        return 2;
    must(folder_create(arguments[1]));
    char *appended = path_join(arguments[1], "session_append.etl");
    if (appended && file_exists(appended))
        must(file_delete(appended));
    memory_free(appended);
    must(session_buffers_size(&shape, &size));
    uint8_t *memory = memory_alloc(size + SESSION_DATA_UNIT);
    must(memory ? S_OK : E_OUTOFMEMORY);
    void *aligned = memory + (SESSION_DATA_UNIT - (uintptr_t)memory % SESSION_DATA_UNIT);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        write_file(&kinds[i], arguments[1], aligned, size, &shape);
    memory_free(memory);
    return 0;
}
