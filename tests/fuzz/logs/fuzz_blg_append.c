/* SPDX-License-Identifier: MIT */
/* Appending to a corrupt binary log: the log is rejected, or it accepts the sample and is complete; never a crash,
   never a read beyond a buffer. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/logs/blg_records.h"
#include "engine/logs/etl_file.h"
#include "engine/logs/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct log_counter counters[] = {
    {.machine = "\\\\BOX", .object = "Memory", .counter = "Available MBytes", .type = 0x10000},
    {.machine = "\\\\BOX", .object = "Process", .wildcard = true, .counter = "% Processor Time", .type = 0x20510500},
};

static bool append_one(const char *path)
{
    const struct log_options options = {.append = true};
    const struct log_cell cells[2] = {{.raw = {.first = 1}}};
    struct log_writer *log;
    if (FAILED(log_writer_create(LOG_BINARY, path, counters, 2, INT64_C(132590000000000000), &options, &log)))
        return false;
    if (log_writer_append(log, INT64_C(132590000010000000), cells) != S_OK || log_writer_close(log) != S_OK)
        abort();
    return true;
}

static void walk(const uint8_t *log, size_t size)
{
    for (size_t at = 0; at + BLG_BUFFER_SIZE <= size; at += BLG_BUFFER_SIZE) {
        uint32_t used = etl_buffer_used(log + at, BLG_BUFFER_SIZE), offset = ETL_BUFFER_HEAD, length;
        const uint8_t *event;
        while (etl_buffer_event(log + at, used, &offset, &event, &length))
            if (event < log + at + ETL_BUFFER_HEAD || event + length > log + at + used || offset > used)
                abort();
    }
}

/* The input is patches: u16 position (4-byte steps from one of four places of interest), u8 length, bytes.
   One or two bytes left over cut the end of the file off. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t places[] = {0, ETL_BUFFER_HEAD, BLG_BUFFER_SIZE, BLG_BUFFER_SIZE + ETL_BUFFER_HEAD};
    static char base[2 * BLG_BUFFER_SIZE]; /* a log with a catalog and one sample */
    static char log[sizeof base];
    static bool made;
    char path[64];
    snprintf(path, sizeof path, "fuzz_blg_append.%u.tmp", (unsigned)process_own_id());
    if (!made) {
        char *first;
        size_t first_size;
        (void)file_delete(path);
        if (!append_one(path) || FAILED(file_load(path, sizeof base, &first, &first_size)) || first_size != sizeof base)
            abort();
        memcpy(base, first, sizeof base);
        memory_free(first);
        made = true;
    }
    memcpy(log, base, sizeof base);
    while (size >= 3) {
        uint32_t place = places[data[0] & 3] + ((data[0] >> 2) | (uint32_t)data[1] << 6) % 100 * 4;
        size_t length = data[2] < size - 3 ? data[2] : size - 3;
        memcpy(log + place, data + 3, length);
        data += 3 + length;
        size -= 3 + length;
    }
    walk((const uint8_t *)log, sizeof log);
    struct file *file;
    (void)file_delete(path);
    if (FAILED(file_open(path, FILE_CREATE_NEW, &file)) || FAILED(file_write(file, log, sizeof log - size * 1000)))
        abort();
    file_close(file);
    if (append_one(path)) {
        char *after;
        size_t after_size;
        if (FAILED(file_load(path, 1u << 20, &after, &after_size)) || after_size % BLG_BUFFER_SIZE != 0)
            abort();
        walk((const uint8_t *)after, after_size);
        memory_free(after);
    }
    (void)file_delete(path);
    return 0;
}
