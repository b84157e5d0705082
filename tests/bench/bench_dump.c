/* SPDX-License-Identifier: MIT */
/* bench_dump FOLDER [MEGABYTES]: a trace as CSV. Writes a trace of so many megabytes (1000 without) of TraceLogging
   events with five fields, by the writer of relogging, and in turn reads it raw and dumps it into a CSV file, three
   rounds. Prints events a second of processor time, the ratio of the dump's time to that of reading the same bytes, and
   the most memory that the process ever had. One thread. */
#include "engine/etw/event_view.h"
#include "engine/etw/relogged_file.h"
#include "engine/etw/session_file.h"
#include "engine/log/etl_reader.h"
#include "engine/log/little_endian.h"
#include "engine/os/clock.h"
#include "engine/os/file.h"
#include "engine/os/memory.h"
#include "engine/tdh/event_dump.h"
#include "engine/tdh/schemas.h"
#include "tests/bench/measured.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 3, CHUNK = 0x10000, MEGABYTE = 1 << 20, EVENT_BYTES = 0x50 + 24 + 56 + 64 };

static uint64_t write_trace(const char *path, uint64_t bytes)
{
    static uint8_t traits[] = "\x08\0Maker", metadata[] = "\0\0\0Made\0Name\0\x01Size\0\x08"
                                                          "Flag\0\x0dId\0\x0fTime\0\x11";
    uint8_t data[64];
    struct etl_log log;
    struct relogged_file *file;
    EVENT_HEADER_EXTENDED_DATA_ITEM items[] = {
        {.ExtType = 12, .DataSize = 8, .DataPtr = (uintptr_t)traits, .Linkage = 1},
        {.ExtType = 11, .DataSize = sizeof metadata - 1, .DataPtr = (uintptr_t)metadata},
    };
    EVENT_RECORD record = {.ExtendedDataCount = 2, .ExtendedData = items, .UserData = data};
    put_u16(metadata, sizeof metadata - 1);
    must(session_log_of_host(ETL_CLOCK_SYSTEM, &log), "log");
    must(relogged_file_create(path, &log, 2, &file), "create");
    record.EventHeader.Flags = EVENT_HEADER_FLAG_64_BIT_HEADER | EVENT_HEADER_FLAG_PROCESSOR_INDEX;
    record.EventHeader.ProcessId = 4242;
    record.EventHeader.EventDescriptor.Level = 4;
    uint64_t events = 0;
    for (uint64_t size = 0; size < bytes; size += EVENT_BYTES, events++) {
        char name[16];
        size_t at = 0;
        snprintf(name, sizeof name, "name %u", (unsigned)(events % 100000));
        for (const char *c = name; *c; c++, at += 2)
            put_u16(data + at, (uint16_t)*c);
        put_u16(data + at, 0);
        put_u32(data + at + 2, (uint32_t)events);
        put_u32(data + at + 6, 1);
        memset(data + at + 10, 0x5A, 16);
        put_u64(data + at + 26, (uint64_t)log.start_utc + events);
        record.UserDataLength = (USHORT)(at + 34);
        record.EventHeader.TimeStamp.QuadPart = log.start_utc + (int64_t)events * 30;
        record.BufferContext.ProcessorIndex = (USHORT)(events / 7 % 2);
        must(relogged_file_add(file, &record), "add");
    }
    must(relogged_file_close(file, 0, 0), "close");
    etl_log_free(&log);
    return events;
}

static double read_raw(const char *path)
{
    struct file *file;
    static uint8_t chunk[CHUNK];
    size_t got = CHUNK;
    const double begin = processor_seconds();
    must(file_open(path, FILE_READ, &file), "open");
    for (uint64_t at = 0; got == CHUNK; at += got)
        must(file_read_at(file, at, chunk, CHUNK, &got), "read");
    file_close(file);
    return processor_seconds() - begin;
}

static HRESULT write_file(void *context, const void *bytes, size_t size)
{
    return file_write(context, bytes, size);
}

static double dump(const char *path, const char *to, uint64_t *events)
{
    static struct event_view view;
    struct file *file;
    struct etl_reader *reader;
    struct etl_record e;
    struct event_schemas *schemas;
    struct event_dump *d;
    const double begin = processor_seconds();
    must(file_open(to, FILE_REPLACE, &file), "csv");
    must(event_schemas_create(&schemas), "schemas");
    must(etl_reader_open(path, NULL, NULL, &reader), "open");
    const struct etl_log *log = etl_reader_log(reader);
    const struct event_dump_options options = {.form = EVENT_DUMP_CSV, .write = write_file, .context = file};
    must(event_dump_create(&options, &d), "dump");
    for (*events = 0; etl_reader_next(reader, &e) == S_OK; ++*events) {
        const struct found_schema *found;
        bool decoded;
        event_view_record(&e, e.utc, log->pointer_size, false, &view);
        must(event_schemas_find(schemas, &view.record, log->pointer_size, &found), "find");
        const struct dumped_event event = {.record = &view.record,
                                           .schema = found->schema,
                                           .reason = found->reason,
                                           .pointer_size = log->pointer_size,
                                           .timer_resolution = log->timer_resolution};
        must(event_dump_add(d, &event, &decoded), "add");
        found_schema_release(schemas, found);
        if (!decoded && *events != 0) {
            fprintf(stderr, "bench_dump: event %llu is not decoded\n", (unsigned long long)*events);
            exit(1);
        }
    }
    must(event_dump_close(d), "close");
    etl_reader_close(reader);
    event_schemas_free(schemas);
    file_close(file);
    return processor_seconds() - begin;
}

int main(int argc, char **argv)
{
    uint64_t megabytes = 1000, events = 0;
    if (argc < 2 || argc > 3 || (argc == 3 && !text_to_u64(argv[2], &megabytes))) {
        fprintf(stderr, "bench_dump FOLDER [MEGABYTES]\n");
        return 2;
    }
    char *trace = path_join(argv[1], "bench_dump.etl"), *csv = path_join(argv[1], "bench_dump.csv");
    if (!trace || !csv)
        return 1;
    (void)write_trace(trace, megabytes * MEGABYTE);
    const double before = peak_megabytes();
    for (int round = 0; round < ROUNDS; round++) {
        const double raw = read_raw(trace), seconds = dump(trace, csv, &events);
        printf(
            "%.0f events a second, %.2f s for %llu, %.1f times the reading of the file, peak %.1f MB (%.1f before)\n",
            (double)events / seconds, seconds, (unsigned long long)events, seconds / raw, peak_megabytes(), before);
    }
    (void)file_delete(trace);
    (void)file_delete(csv);
    memory_free(trace);
    memory_free(csv);
    return 0;
}
