/* SPDX-License-Identifier: MIT */
#include "tests/bench/generated_files.h"

#include "engine/base/file.h"
#include "engine/etw/consumer/relogger.h"
#include "engine/etw/session/session_output.h"
#include "engine/logs/little_endian.h"
#include "engine/logs/log.h"
#include "tests/bench/measured.h"

#include <string.h>

#define SECOND INT64_C(10000000)
#define START  INT64_C(132590000000000000)
enum { CHUNK = 0x10000, EVENT_BYTES = 0x50 + 24 + 56 + 64 };

uint64_t generate_log(const char *path, uint64_t bytes, size_t singles, size_t instances, double *bytes_per_sample,
                      double *seconds)
{
    struct log_counter *counters = calloc(singles + 1, sizeof *counters);
    struct log_cell *cells = calloc(singles + 1, sizeof *cells);
    struct log_item *items = calloc(instances + 1, sizeof *items);
    char(*names)[32] = calloc(instances + 1, sizeof *names);
    struct log_writer *log;
    uint64_t samples = 0;
    if (!counters || !cells || !items || !names)
        exit(1);
    for (size_t i = 0; i < singles; i++) {
        counters[i] = (struct log_counter){
            .machine = "\\\\BOX", .object = "Memory", .counter = "Pages/sec", .index = (uint32_t)i, .type = 0x10410400};
        cells[i].raw.multi_count = 1;
    }
    counters[singles] = (struct log_counter){.machine = "\\\\BOX",
                                             .object = "Process",
                                             .instance = "*",
                                             .counter = "% Processor Time",
                                             .type = 0x20510500,
                                             .wildcard = true};
    for (size_t i = 0; i < instances; i++) {
        snprintf(names[i], sizeof names[i], "process%zu", i);
        items[i].instance = names[i];
    }
    const size_t count = singles + (instances != 0);
    cells[singles] = (struct log_cell){.items = items, .item_count = instances};
    (void)file_delete(path);
    const double begin = processor_seconds();
    must(log_writer_create(LOG_BINARY, path, counters, count, START, NULL, &log), "create");
    const uint64_t empty = log_writer_size(log);
    while (log_writer_size(log) < bytes) {
        for (size_t i = 0; i < singles; i++) {
            cells[i].raw.first = (int64_t)(samples * i);
            cells[i].raw.second = (int64_t)samples;
        }
        for (size_t i = 0; i < instances; i++)
            items[i].raw.first = (int64_t)(samples * i);
        must(log_writer_append(log, START + (int64_t)samples++ * SECOND, cells), "append");
    }
    *bytes_per_sample = (double)(log_writer_size(log) - empty) / (double)samples;
    must(log_writer_close(log), "close");
    *seconds = processor_seconds() - begin;
    free(counters);
    free(cells);
    free(items);
    free(names);
    return samples;
}

uint64_t generate_trace(const char *path, uint64_t bytes)
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

double read_raw(const char *path, uint64_t *bytes)
{
    struct file *file;
    static uint8_t chunk[CHUNK];
    size_t got = CHUNK;
    const double begin = processor_seconds();
    must(file_open(path, FILE_READ, &file), "open");
    for (*bytes = 0; got == CHUNK; *bytes += got)
        must(file_read_at(file, *bytes, chunk, CHUNK, &got), "read");
    file_close(file);
    return processor_seconds() - begin;
}
