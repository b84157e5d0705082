/* SPDX-License-Identifier: MIT */
/* Corrupt .etl containers: the intact parts are readable in the order of each processor, without access outside an
   event's buffer, and reading again after a seek to the beginning gives the same result. The input's first byte selects
   the container, or makes the rest the file itself. */
#include "engine/base/file.h"
#include "engine/base/process.h"
#include "engine/logs/etl/etl_container.h"
#include "engine/logs/etl_file.h"
#include "engine/logs/little_endian.h"
#include "tests/fuzz/small_container.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Writes one event of every header type. Its stamp contains `number`. */
static size_t put_events(uint8_t *at, uint64_t number)
{
    static const struct {
        uint8_t type, size, length_at, stamp_at;
    } forms[] = {{0x02, 0x28, 4, 0x10}, {0x04, 0x18, 4, 0x10}, {0x11, 0x18, 4, 8},    {0x14, 0x38, 0, 0x10},
                 {0x15, 0x50, 0, 0x10}, {0x13, 0x70, 0, 0x10}, {0x0A, 0x30, 0, 0x10}, {0x0F, 0x30, 0, 0x10}};
    size_t done = 0;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        uint8_t *event = at + done;
        memset(event, 0, forms[i].size);
        event[2] = forms[i].type;
        event[3] = ETL_MARKS;
        put_u16(event + forms[i].length_at, forms[i].size);
        put_u64(event + forms[i].stamp_at, number * 100 + i);
        if (forms[i].type == 0x13) { /* two extended items */
            put_u16(event + 4, 1);
            put_u16(event + 0x50, 8);
            put_u16(event + 0x54, 1);
            put_u16(event + 0x58, 16);
            put_u16(event + 0x5E, 5);
        }
        done += forms[i].size;
    }
    memset(at + done, 0, 0x30);
    put_u16(at + done, 0x2C); /* a message with a GUID, a stamp, a process */
    at[done + 3] = ETL_MARK_MESSAGE;
    put_u16(at + done + 6, 0x2B);
    put_u64(at + done + 0x1C, number * 100 + 50);
    return done + 0x30;
}

static const struct small_container *container(unsigned which)
{
    static struct small_container made[4];
    static bool done;
    uint8_t events[SMALL_BUFFER];
    for (unsigned i = 0; i < 4 && !done; i++) {
        const bool packed = i == 1;
        small_begin(&made[i],
                    packed   ? ETL_MODE_COMPRESSED
                    : i == 2 ? ETL_MODE_CIRCULAR
                             : ETL_MODE_SEQUENTIAL,
                    i == 3 ? 4 : 8, 1 + i % 3);
        for (unsigned n = 0; n < 6; n++)
            small_add(&made[i], (uint16_t)(n % 3), events, put_events(events, n + 1), packed);
    }
    done = true;
    return &made[which & 3];
}

static void check(const struct etl_record *e)
{
    if (e->size == 0 || e->data < e->event || e->data + e->data_size != e->event + e->size ||
        (e->extended && (e->extended < e->event || e->extended + e->extended_size > e->data)))
        abort();
    static volatile uint8_t sink;
    sink = (uint8_t)(e->event[0] + e->event[e->size - 1]);
    (void)sink;
}

static unsigned count_events(struct etl_reader *reader)
{
    struct etl_record record;
    unsigned count = 0;
    HRESULT hr;
    uint64_t done, total;
    while ((hr = etl_reader_next(reader, &record)) == S_OK) {
        check(&record);
        etl_reader_progress(reader, &done, &total);
        if (done > total)
            abort();
        count++;
    }
    if (hr != S_FALSE)
        abort();
    return count;
}

static void record_warning(void *context, const char *text)
{
    *(size_t *)context += strlen(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct etl_reader *reader;
    struct file *file;
    size_t warnings = 0;
    if (size == 0)
        return 0;
    snprintf(path, sizeof path, "fuzz_etl_reader.%u.tmp", (unsigned)process_own_id());
    if (data[0] == 0xFE) { /* tests only the decompression */
        uint8_t out[4096];
        (void)xpress_unpack(data + 1, size - 1, out, sizeof out);
        return 0;
    }
    if (data[0] != 0xFF)
        small_store_damaged(container(data[0]), data + 1, size - 1, path);
    else if (FAILED(file_open(path, FILE_REPLACE, &file)) || FAILED(file_write(file, data + 1, size - 1)))
        abort();
    else
        file_close(file);
    if (SUCCEEDED(etl_reader_open(path, record_warning, &warnings, &reader))) {
        const unsigned all = count_events(reader);
        if (FAILED(etl_reader_seek(reader, INT64_MIN)) || count_events(reader) != all)
            abort();
        if (FAILED(etl_reader_seek(reader, (int64_t)size * 7)) || count_events(reader) > all)
            abort();
        etl_reader_close(reader);
    }
    return 0;
}
