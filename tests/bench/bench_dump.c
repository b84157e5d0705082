/* SPDX-License-Identifier: MIT */
/* bench_dump FOLDER [MEGABYTES]: dumps a trace as CSV. Writes a trace of MEGABYTES (1000) of TraceLogging events with
   five fields, with the writer of relogging. In each of three rounds it reads the trace raw and dumps it into a CSV
   file. Prints events per second of processor time, the ratio of the dump's time to the time of reading the same
   bytes, and the process's peak memory. One thread. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/etw/consumer/event_view.h"
#include "engine/etw/consumer/relogger.h"
#include "engine/etw/decode/event_schema.h"
#include "engine/etw/event_dump.h"
#include "engine/etw/session/session_output.h"
#include "engine/logs/etl_file.h"
#include "engine/logs/little_endian.h"
#include "tests/bench/generated_files.h"
#include "tests/bench/measured.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 3, MEGABYTE = 1 << 20 };

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
    (void)generate_trace(trace, megabytes * MEGABYTE);
    const double before = peak_megabytes();
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t bytes;
        const double raw = read_raw(trace, &bytes), seconds = dump(trace, csv, &events);
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
