/* SPDX-License-Identifier: MIT */
/* read_logs PATH...: writes what our readers find in .blg and .etl files. etl_check.py and blg_check.py compare it with
   what their own readers find. If PATH is a folder, NAME.events (for every file) and NAME.samples (for .blg files) are
   written beside each file. If PATH is a file, its events and samples are written to stdout. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/etl_file.h"
#include "tests/golden/log_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <inttypes.h>
#include <string.h>

static void print_warning(void *context, const char *text)
{
    fprintf(context, "remark\t%s\n", text);
}

/* Adler-32 of RFC 1950. */
static uint32_t checksum(const uint8_t *at, uint32_t size)
{
    uint32_t a = 1, b = 0;
    for (uint32_t i = 0; i < size; i++) {
        a = (a + at[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

static void print_guid(FILE *out, const GUID *guid)
{
    char text[39];
    text_from_guid(guid, text);
    fprintf(out, "\t%s", text);
}

static void print_record(FILE *out, const struct etl_record *e)
{
    static const char *const kinds[] = {"system", "performance", "classic", "instance", "manifest", "message", "other"};
    fprintf(out, "event\t%" PRId64 "\t%" PRId64 "\t%u\t%s\t%u\t%u\t%08x", e->utc, e->stamp, (unsigned)e->processor,
            kinds[e->kind], (unsigned)e->size, (unsigned)e->data_size, (unsigned)checksum(e->event, e->size));
    fprintf(out, "\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u", (unsigned)e->process, (unsigned)e->thread, (unsigned)e->id,
            (unsigned)e->version, (unsigned)e->channel, (unsigned)e->level, (unsigned)e->opcode, (unsigned)e->task);
    fprintf(out, "\t%" PRIu64 "\t%u\t%u", e->keyword, (unsigned)e->extended_size, (unsigned)e->pointer_size);
    print_guid(out, &e->provider);
    print_guid(out, &e->activity);
    fputc('\n', out);
}

static HRESULT print_events(FILE *out, const char *path)
{
    struct etl_reader *reader;
    struct etl_record record;
    HRESULT hr = etl_reader_open(path, print_warning, out, &reader);
    if (FAILED(hr))
        return hr;
    const struct etl_log *log = etl_reader_log(reader);
    fprintf(out,
            "log\t%u\t%u.%u.%u.%u\t%u\t%u\t%u\t%u\t%u\t%u\t%d\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64
            "\t%u\t%s\t%s\n",
            (unsigned)log->buffer_size, log->version_major, log->version_minor, log->sub_version, log->sub_minor,
            (unsigned)log->build, (unsigned)log->processors, (unsigned)log->pointer_size, (unsigned)log->mode,
            (unsigned)log->buffers_written, (unsigned)log->events_lost, (int)log->zone.bias, log->start_utc,
            log->end_utc, log->boot_utc, log->frequency, (unsigned)log->clock, log->logger_name, log->file_name);
    while ((hr = etl_reader_next(reader, &record)) == S_OK)
        print_record(out, &record);
    etl_reader_close(reader);
    return hr;
}

static HRESULT print_samples(FILE *out, const char *path)
{
    struct log_reader *reader;
    size_t count = 0, printed = 0;
    int64_t utc;
    const struct log_cell *cells;
    HRESULT hr = log_reader_open(path, &reader);
    if (FAILED(hr))
        return hr;
    fprintf(out, "bias\t%d\n", log_reader_info(reader)->zone.bias_minutes);
    do {
        hr = log_reader_next(reader, &utc, &cells);
        const struct log_counter *counters = log_reader_counters(reader, &count);
        for (; printed < count; printed++)
            print_counter(out, &counters[printed]);
        if (hr == S_OK)
            print_sample(out, utc, counters, cells, count);
    } while (hr == S_OK);
    const struct texts *warnings = log_reader_warnings(reader);
    for (size_t i = 0; i < warnings->count; i++)
        print_warning(out, warnings->items[i]);
    log_reader_close(reader);
    return hr;
}

static void check(HRESULT hr, const char *path)
{
    if (FAILED(hr)) {
        fprintf(stderr, "read_logs: %s: %s\n", path, error_text(hr));
        exit(1);
    }
}

static void write_with_ending(const char *path, const char *ending, HRESULT (*print)(FILE *, const char *))
{
    char name[1024];
    snprintf(name, sizeof name, "%.*s%s", (int)(path_extension(path) - path), path, ending);
    FILE *out = fopen(name, "wb");
    if (!out) {
        fprintf(stderr, "read_logs: %s cannot be written\n", name);
        exit(1);
    }
    HRESULT hr = print(out, path);
    if (FAILED(hr))
        fprintf(out, "error\t%s\n", error_text(hr));
    if (fclose(out) != 0) {
        fprintf(stderr, "read_logs: %s cannot be written\n", name);
        exit(1);
    }
}

static void read_folder(const char *folder)
{
    struct texts names = {0};
    check(folder_list(folder, false, &names), folder);
    for (size_t i = 0; i < names.count; i++) {
        char *path = path_join(folder, names.items[i]);
        const char *ending = path_extension(path);
        if (strcmp(ending, ".blg") == 0 || strcmp(ending, ".etl") == 0)
            write_with_ending(path, ".events", print_events);
        if (strcmp(ending, ".blg") == 0)
            write_with_ending(path, ".samples", print_samples);
        memory_free(path);
    }
    texts_free(&names);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (folder_exists(argv[i])) {
            read_folder(argv[i]);
            continue;
        }
        check(print_events(stdout, argv[i]), argv[i]);
        if (strcmp(path_extension(argv[i]), ".blg") == 0)
            check(print_samples(stdout, argv[i]), argv[i]);
    }
    return argc < 2 ? 2 : 0;
}
