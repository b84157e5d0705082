/* SPDX-License-Identifier: MIT */
/* Corrupt logs and traces through libopenpla-logs: a table has the same values as the samples, every name is valid, the
   fields of an event are balanced, and an error has a reason that names the file. The input's first byte selects
   whether the rest is a text log, or patches for a valid binary log or trace. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/logs/log.h"
#include "library/include/openpla/logs.h"
#include "tests/fuzz/small_container.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define START  INT64_C(132590000000000000)
#define SECOND INT64_C(10000000)
enum { MOST_VALUES = 1 << 20 };
static char path[64];

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void store(const void *bytes, size_t size)
{
    must(file_store(path, bytes, size) == S_OK);
}

/* ---- inputs ---- */

static void store_text(const uint8_t *data, size_t size)
{
    static const char header[] = "\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\B\\Memory\\Free\",\"\\\\B\\Disk(C:)\\Reads\"\r\n";
    char *text = memory_alloc(sizeof header + size);
    must(text);
    memcpy(text, header, sizeof header - 1);
    memcpy(text + sizeof header - 1, data, size);
    store(text, sizeof header - 1 + size);
    memory_free(text);
}

/* Creates a log with a rate and a wildcard counter, whose second instance appears later. */
static char *make_binary(size_t *size)
{
    static const struct log_counter counters[] = {
        {.machine = "\\\\B", .object = "System", .counter = "Calls", .type = 0x10410400, .time_base = SECOND},
        {.machine = "\\\\B",
         .object = "Process",
         .instance = "*",
         .wildcard = true,
         .counter = "%",
         .type = 0x20510500}};
    static const struct log_item items[] = {{.instance = "a", .raw = {.first = 1}},
                                            {.instance = "\xc3\xa9", .raw = {.first = 2}}};
    struct log_writer *log;
    char *bytes = NULL;
    (void)file_delete(path);
    must(log_writer_create(LOG_BINARY, path, counters, 2, START, NULL, &log) == S_OK);
    for (int64_t i = 0; i < 4; i++) {
        const struct log_cell cells[] = {{.raw = {.first = 5 * i, .second = START + i * SECOND}},
                                         {.items = items, .item_count = i < 2 ? 1 : 2}};
        must(log_writer_append(log, START + i * SECOND, cells) == S_OK);
    }
    must(log_writer_close(log) == S_OK && file_load(path, 1 << 24, &bytes, size) == S_OK);
    return bytes;
}

/* Applies the patches in `data` (u16 position, u8 value) to a valid log, and stores it. */
static void store_binary(const uint8_t *data, size_t size)
{
    static char *whole;
    static size_t length;
    if (!whole)
        whole = make_binary(&length);
    char *bytes = memory_copy(whole, length);
    must(bytes);
    for (; size >= 3; data += 3, size -= 3)
        bytes[(data[0] | (size_t)data[1] << 8) % length] = (char)data[2];
    store(bytes, length);
    memory_free(bytes);
}

static void store_trace(const uint8_t *data, size_t size)
{
    static struct small_container made;
    uint8_t event[0x60] = {0x60, 0, 0x13, 0xC0, [0x08] = 42, [0x0C] = 41, [0x18] = 0xAB};
    if (made.size == 0) {
        small_begin(&made, 1, 8, 2);
        for (uint8_t i = 0; i < 4; i++) {
            event[0x10] = i;
            small_add(&made, 0, event, sizeof event, false);
        }
    }
    small_store_damaged(&made, data, size, path);
}

/* ---- what is read ---- */

static void check_text(const char *text)
{
    must(!text || text_is_utf8(text, strlen(text)));
}

static void check_reason(openpla_result result)
{
    must(result < 0 && strstr(openpla_error(), path));
}

/* Returns the sum of the times, and in *samples the number of samples. */
static uint64_t read_samples(openpla_log *log, size_t *samples)
{
    const struct openpla_sample *sample;
    uint64_t sum = 0;
    openpla_result result;
    *samples = 0;
    while ((result = openpla_log_next(log, &sample)) == OPENPLA_OK) {
        sum += (uint64_t)sample->time;
        ++*samples;
        for (size_t i = 0; i < sample->count; i++)
            check_text(sample->values[i].text);
    }
    must(result == OPENPLA_END);
    return sum;
}

static void read_log(uint32_t flags)
{
    const struct openpla_log_options options = {.size = sizeof options, .flags = flags};
    const struct openpla_counter *counter;
    struct openpla_table *table;
    const char *text;
    openpla_log *log;
    size_t samples, count;
    openpla_result result = openpla_log_open(path, &options, &log);
    if (result != OPENPLA_OK) {
        check_reason(result);
        return;
    }
    uint64_t sum = read_samples(log, &samples);
    must(openpla_log_seek(log, OPENPLA_TIME_MIN) == OPENPLA_OK);
    result = openpla_log_read_table(log, MOST_VALUES, &table);
    must(openpla_log_get_counter_count(log, &count) == OPENPLA_OK);
    if (result == OPENPLA_OK) {
        must(table->samples == samples && table->counters == count && (samples == 0 || table->stride >= samples));
        for (size_t i = 0; i < samples; i++)
            sum -= (uint64_t)table->times[i];
        must(sum == 0);
    } else {
        check_reason(result);
    }
    openpla_table_free(table);
    for (size_t i = 0; i < count; i++) {
        must(openpla_log_get_counter(log, i, &counter) == OPENPLA_OK && counter->path);
        check_text(counter->path);
        check_text(counter->instance);
    }
    for (size_t i = 0; openpla_log_get_warning(log, i, &text) == OPENPLA_OK; i++)
        check_text(text);
    must(openpla_log_close(log) == OPENPLA_OK);
}

static void check_event(const struct openpla_event *event)
{
    int depth = 0;
    must(event->provider_id && event->activity_id && (event->data || event->data_size == 0));
    for (size_t i = 0; i < event->field_count; i++) {
        const struct openpla_field *field = &event->fields[i];
        check_text(field->name);
        check_text(field->text);
        depth += field->kind == OPENPLA_FIELD_ARRAY || field->kind == OPENPLA_FIELD_STRUCT;
        depth -= field->kind == OPENPLA_FIELD_END;
        must(depth >= 0);
    }
    must(depth == 0);
}

static void read_trace(void)
{
    const struct openpla_event *event;
    openpla_trace *trace;
    openpla_result result = openpla_trace_open(path, NULL, &trace);
    if (result != OPENPLA_OK) {
        check_reason(result);
        return;
    }
    while ((result = openpla_trace_next(trace, &event)) == OPENPLA_OK)
        check_event(event);
    must(result == OPENPLA_END && openpla_trace_close(trace) == OPENPLA_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (!path[0])
        snprintf(path, sizeof path, "fuzz_library.%u.tmp", (unsigned)process_own_id());
    if (data[0] == 0xFF) { /* few inputs are traces, because opening a trace parses the built-in definitions */
        store_trace(data + 1, size - 1);
        read_trace();
    } else {
        if (data[0] % 2 == 0)
            store_text(data + 1, size - 1);
        else
            store_binary(data + 1, size - 1);
        read_log(0);
        read_log(OPENPLA_LOG_STREAM);
    }
    (void)file_delete(path);
    return 0;
}
