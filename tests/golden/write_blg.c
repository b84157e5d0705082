/* SPDX-License-Identifier: MIT */
/* write_blg DIR: writes binary logs in many forms (NAME.blg), each with its expected contents as text (NAME.txt), for
   blg_check.py. NAME@n.blg is a copy of the log after n samples were flushed. NAME~n.blg is a copy after the n-th
   sample was appended without a flush: what a user would find if the computer crashed at that time. */
#include <stdio.h>
#include <stdlib.h>
#include <inttypes.h>
#include <string.h>
#ifndef _WIN32
#include "tests/unit/full_disk.h"
#endif

#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/log.h"
#include "tests/golden/log_lines.h"

enum { MAX_ITEMS = 4000, STATUS_NO_INSTANCE = 0x7D1 };
#define SECOND INT64_C(10000000)
#define START  (INT64_C(132590000000000000) + 1234567) /* 2021-02-28, some ticks into a millisecond */

struct shape {
    const char *name;
    size_t singles, wildcards;
    size_t texts;     /* string counters; every second one has instances */
    size_t instances; /* maximum number of instances of a wildcard counter */
    uint64_t ring;    /* size of a circular log, 0: it is not circular */
    unsigned samples, flush_every;
    unsigned reopened; /* number of samples after which the log is closed and continued; 0: never */
};

static const struct shape shapes[] = {
    {.name = "empty", .singles = 1, .samples = 0, .flush_every = 1},
    {.name = "few", .singles = 5, .wildcards = 1, .instances = 5, .samples = 40, .flush_every = 1},
    {.name = "churn", .singles = 1, .wildcards = 3, .instances = 40, .samples = 70, .flush_every = 7},
    {.name = "wide", .singles = 900, .wildcards = 1, .instances = 3, .samples = 12, .flush_every = 5},
    {.name = "giant", .wildcards = 1, .instances = MAX_ITEMS, .samples = 6, .flush_every = 1},
    {.name = "texts", .singles = 2, .wildcards = 1, .texts = 4, .instances = 6, .samples = 30, .flush_every = 1},
    {.name = "circular",
     .singles = 3,
     .wildcards = 2,
     .instances = 700,
     .ring = 16 * 0x10000,
     .samples = 60,
     .flush_every = 3},
    {.name = "appended",
     .singles = 200,
     .wildcards = 1,
     .instances = 9,
     .samples = 40,
     .flush_every = 4,
     .reopened = 9},
};

static void fail(const char *what, HRESULT hr)
{
    fprintf(stderr, "write_blg: %s: %s\n", what, error_text(hr));
    exit(1);
}

static void copy_file(const char *from, const char *to)
{
    char *data;
    size_t size;
    HRESULT hr = file_load(from, 1u << 30, &data, &size);
    FILE *f = SUCCEEDED(hr) ? fopen(to, "wb") : NULL;
    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0)
        fail(to, E_FAIL);
    memory_free(data);
}

static uint64_t mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static struct log_raw raw_value(uint64_t seed)
{
    struct log_raw raw = {.status = 0, .multi_count = 1};
    raw.first = (int64_t)mixed(seed);
    raw.second = (int64_t)mixed(seed + 1);
    if (seed % 11 == 0) {
        memset(&raw, 0, sizeof raw);
        raw.status = 0xC0000000u | STATUS_NO_INSTANCE;
    }
    return raw;
}

static const char *const odd_names[] = {
    "_Total", "0", "0 C:", "svchost#12", "Gr\xc3\xbc\xc3\x9f", "\xd0\x98\xd0\xbc\xd1\x8f", "\xf0\x9f\x92\xbe disk", ""};

struct work {
    const struct shape *shape;
    struct log_counter *counters;
    struct log_cell *cells;
    struct log_item *items;
    char (*names)[48];
    char path[1024], folder[900];
    size_t count;
    FILE *text;
};

static void make_counters(struct work *w)
{
    for (size_t i = 0; i < w->count; i++) {
        struct log_counter *c = &w->counters[i];
        const bool text = i >= w->shape->singles + w->shape->wildcards;
        const bool wildcard = text ? i % 2 == 0 : i >= w->shape->singles;
        c->machine = "\\\\ZACH-PC";
        c->object = i % 3 == 0 ? "Speicher" : "Processor Information";
        c->counter = i % 5 == 0 ? "% \xc3\x9c"
                                  "berlast/s"
                                : "Bytes Total/sec";
        c->wildcard = wildcard;
        c->instance = wildcard ? "*" : i % 2 == 0 ? NULL : odd_names[i % 7];
        c->parent = !wildcard && i % 6 == 1 ? "explorer" : NULL;
        c->index = wildcard ? 0 : (uint32_t)(i % 4);
        c->type = wildcard ? 0x21510500 : 0x10410500;
        c->time_base = wildcard ? SECOND : 2725536;
        c->default_scale = (int32_t)(i % 7) - 3;
        if (text) {
            c->instance = wildcard ? "*" : NULL;
            c->parent = NULL;
            c->index = 0;
            c->type = 0xB00; /* PERF_COUNTER_TEXT */
            c->time_base = SECOND;
            c->default_scale = 0;
        }
        print_counter(w->text, c);
    }
}

static void make_texts(struct work *w, struct log_cell *cell, unsigned sample, size_t *used)
{
    cell->raw = (struct log_raw){0};
    cell->items = w->items + *used;
    for (size_t k = 0; k < sample % 4; k++) {
        w->items[(*used)++] =
            (struct log_item){.instance = odd_names[k], .raw = {.text = odd_names[(sample + k) % 8], .multi_count = 1}};
        cell->item_count++;
    }
}

/* Instances come and go: which of them a sample has depends on its number. */
static void make_cells(struct work *w, unsigned sample)
{
    size_t used = 0;
    for (size_t i = 0; i < w->count; i++) {
        struct log_cell *cell = &w->cells[i];
        uint64_t seed = ((uint64_t)sample << 32) + (i << 16);
        memset(cell, 0, sizeof *cell);
        cell->raw = raw_value(seed);
        const bool text = w->counters[i].type == 0xB00;
        if (!w->counters[i].wildcard) {
            if (text) {
                cell->raw = sample % 7 == 3 ? (struct log_raw){.status = 0xC0000BBA, .multi_count = 1}
                                            : (struct log_raw){.text = odd_names[sample % 8], .multi_count = 1};
            }
            continue;
        }
        if (text) {
            make_texts(w, cell, sample, &used);
            continue;
        }
        cell->raw = (struct log_raw){.status = sample % 13 == 5 ? 0xC0000000u | STATUS_NO_INSTANCE : 0};
        cell->items = w->items + used;
        for (size_t k = 0; k < w->shape->instances; k++) {
            if (mixed(seed + k) % 8 == 0 || sample % 13 == 5)
                continue;
            struct log_item *item = &w->items[used++];
            if (k < sizeof odd_names / sizeof *odd_names) {
                item->instance = odd_names[k];
            } else {
                snprintf(w->names[k], sizeof w->names[k], "process%zu", k);
                item->instance = w->names[k];
            }
            item->raw = (struct log_raw){.first = (int64_t)mixed(seed + 2 * k),
                                         .second = (int64_t)mixed(seed + k),
                                         .multi_count = k % 9 == 0 ? 4 : 1};
            cell->item_count++;
        }
    }
}

static void print_cells(const struct work *w, int64_t utc)
{
    print_sample(w->text, utc, w->counters, w->cells, w->count);
}

static void copy_as(const struct work *w, char kind, unsigned number)
{
    char to[1024];
    snprintf(to, sizeof to, "%s/%s%c%u.blg", w->folder, w->shape->name, kind, number);
    copy_file(w->path, to);
}

static struct log_writer *open_log(const struct work *w, bool append)
{
    struct log_writer *log;
    const struct log_options options = {
        .append = append, .comment = "none", .circular = w->shape->ring != 0, .max_bytes = w->shape->ring};
    HRESULT hr = log_writer_create(LOG_BINARY, w->path, w->counters, w->count, START, &options, &log);
    if (FAILED(hr))
        fail(w->path, hr);
    return log;
}

static void begin(struct work *w, const struct shape *shape, const char *folder)
{
    memset(w, 0, sizeof *w);
    w->shape = shape;
    w->count = shape->singles + shape->wildcards + shape->texts;
    w->counters = calloc(w->count, sizeof *w->counters);
    w->cells = calloc(w->count, sizeof *w->cells);
    w->items = calloc((shape->wildcards + shape->texts) * shape->instances + 1, sizeof *w->items);
    w->names = calloc(shape->instances + 1, sizeof *w->names);
    snprintf(w->folder, sizeof w->folder, "%s", folder);
    snprintf(w->path, sizeof w->path, "%s/%s.txt", folder, shape->name);
    w->text = fopen(w->path, "wb");
    if (!w->counters || !w->cells || !w->items || !w->names || !w->text)
        fail(w->path, E_FAIL);
    snprintf(w->path, sizeof w->path, "%s/%s.blg", folder, shape->name);
    (void)file_delete(w->path);
    fprintf(w->text, "bias\t%d\n", clock_bias_minutes(START));
    if (shape->ring != 0)
        fprintf(w->text, "circular\t1\n");
    make_counters(w);
}

static void end(struct work *w, struct log_writer *log)
{
    HRESULT hr = log_writer_close(log);
    if (FAILED(hr))
        fail(w->path, hr);
    if (fclose(w->text) != 0)
        fail(w->path, E_FAIL);
    free(w->counters);
    free(w->cells);
    free(w->items);
    free(w->names);
}

static void write_shape(const struct shape *shape, const char *folder)
{
    struct work w;
    begin(&w, shape, folder);
    struct log_writer *log = open_log(&w, false);
    for (unsigned n = 1; n <= shape->samples; n++) {
        int64_t utc = START + (int64_t)n * SECOND + (int64_t)(mixed(n) % 1000000);
        make_cells(&w, n);
        print_cells(&w, utc);
        HRESULT hr = log_writer_append(log, utc, w.cells);
        if (shape->ring == 0)
            copy_as(&w, '~', n);
        if (hr == S_OK && n % shape->flush_every == 0) {
            hr = log_writer_flush(log);
            copy_as(&w, '@', n);
        }
        if (hr == S_OK && shape->reopened != 0 && n % shape->reopened == 0) {
            hr = log_writer_close(log);
            copy_as(&w, '@', n);
            log = open_log(&w, true);
        }
        if (hr != S_OK)
            fail(w.path, hr);
    }
    end(&w, log);
}

#ifndef _WIN32
/* The disk is full for a while, at every fill level of a buffer. Samples are lost, but the log is not. */
static void write_on_full_disk(const char *folder)
{
    static const struct shape shape = {
        .name = "fulldisk", .singles = 300, .wildcards = 1, .instances = 300, .samples = 40};
    struct work w;
    unsigned written = 0, refused = 0;
    begin(&w, &shape, folder);
    struct log_writer *log = open_log(&w, false);
    for (unsigned n = 1; n <= shape.samples; n++) {
        int64_t utc = START + (int64_t)n * SECOND;
        make_cells(&w, n);
        const bool full = n % 5 < 3;
        full_disk_at(full ? log_writer_size(log) + n * 997 : UINT64_MAX);
        HRESULT hr = log_writer_append(log, utc, w.cells);
        HRESULT flushed = n % 2 != 0 ? log_writer_flush(log) : S_OK;
        full_disk_at(UINT64_MAX);
        if (FAILED(flushed) || (FAILED(hr) && !full))
            fail(w.path, FAILED(flushed) ? flushed : hr);
        refused += FAILED(hr);
        written += SUCCEEDED(hr);
        if (SUCCEEDED(hr))
            print_cells(&w, utc);
        copy_as(&w, n % 2 != 0 ? '@' : '~', written);
    }
    if (written == 0 || refused == 0)
        fail("the disk was never full, or always", E_FAIL);
    fprintf(w.text, "lost\t1\n");
    end(&w, log);
}
#endif

/* Makes the folder, and removes what an earlier run left in it. */
static void prepare_folder(const char *folder)
{
    struct texts names = {0};
    HRESULT hr = folder_create(folder);
    if (SUCCEEDED(hr))
        hr = folder_list(folder, false, &names);
    for (size_t i = 0; i < names.count && SUCCEEDED(hr); i++) {
        char *path = path_join(folder, names.items[i]);
        hr = path ? file_delete(path) : E_OUTOFMEMORY;
        memory_free(path);
    }
    texts_free(&names);
    if (FAILED(hr))
        fail(folder, hr);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: write_blg DIR\n");
        return 2;
    }
    prepare_folder(argv[1]);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        write_shape(&shapes[i], argv[1]);
#ifndef _WIN32
    write_on_full_disk(argv[1]);
#endif
    return 0;
}
