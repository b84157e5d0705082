/* SPDX-License-Identifier: MIT */
/* Reads complete logs in the format Recipe (recipe_log.c). */
#include "engine/base/memory.h"
#include "engine/logs/core/log_formats.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20 };
static const char mark[] = "RECIPE\n";

struct recipe_reader {
    struct log_reader base;
    char *text;
    const char *samples, *at;
    struct log_cell *cells;
};

static bool recipe_recognises(const char *path, const uint8_t *head, size_t size)
{
    (void)path;
    return head && size >= sizeof mark - 1 && !memcmp(head, mark, sizeof mark - 1);
}

/* Returns the next line including its line end, or NULL at the end. */
static const char *recipe_line(const char **at)
{
    const char *line = *at, *end = strchr(line, '\n');
    *at = end ? end + 1 : line;
    return end ? line : NULL;
}

static HRESULT recipe_add_counter(struct recipe_reader *t, const char *line)
{
    char *path = text_copy_n(line, strcspn(line, "\n"));
    const HRESULT hr = path ? log_counters_add_path(&t->base.counters, path) : E_OUTOFMEMORY;
    memory_free(path);
    return hr;
}

static void recipe_close(struct log_reader *r)
{
    struct recipe_reader *t = (struct recipe_reader *)r;
    log_reader_free_base(r);
    memory_free(t->text);
    memory_free(t->cells);
    memory_free(t);
}

static HRESULT recipe_open(const char *path, struct log_reader **out)
{
    struct recipe_reader *t = memory_zero(1, sizeof *t);
    size_t size;
    if (!t)
        return E_OUTOFMEMORY;
    t->base.functions = &log_recipe_reader;
    t->base.info = (struct log_info){.format = LOG_RECIPE, .has_values = true};
    HRESULT hr = file_load(path, MOST_BYTES, &t->text, &size);
    t->at = t->text ? t->text + sizeof mark - 1 : NULL;
    for (const char *line; SUCCEEDED(hr) && (line = recipe_line(&t->at)) != NULL && *line != '\n';)
        hr = recipe_add_counter(t, line);
    t->samples = t->at;
    t->cells = memory_zero(t->base.counters.count + 1, sizeof *t->cells);
    if (SUCCEEDED(hr) && !t->cells)
        hr = E_OUTOFMEMORY;
    if (FAILED(hr)) {
        recipe_close(&t->base);
        return hr;
    }
    *out = &t->base;
    return S_OK;
}

static HRESULT recipe_next(struct log_reader *r, int64_t *utc, const struct log_cell **cells)
{
    struct recipe_reader *t = (struct recipe_reader *)r;
    const char *line = recipe_line(&t->at);
    if (!line)
        return S_FALSE;
    *utc = strtoll(line, NULL, 10);
    for (size_t i = 0; i < r->counters.count; i++) {
        line = recipe_line(&t->at);
        t->cells[i] = (struct log_cell){.has_value = line && *line != '-', .value = line ? strtod(line, NULL) : 0};
    }
    *cells = t->cells;
    return S_OK;
}

static HRESULT recipe_seek(struct log_reader *r, int64_t utc)
{
    struct recipe_reader *t = (struct recipe_reader *)r;
    t->at = t->samples;
    return utc == INT64_MIN ? S_OK : E_NOTIMPL;
}

static void recipe_progress(const struct log_reader *r, uint64_t *done, uint64_t *total)
{
    const struct recipe_reader *t = (const struct recipe_reader *)r;
    *done = (uint64_t)(t->at - t->text);
    *total = 0;
}

const struct log_reader_functions log_recipe_reader = {.recognises = recipe_recognises,
                                                       .open = recipe_open,
                                                       .next = recipe_next,
                                                       .seek = recipe_seek,
                                                       .progress = recipe_progress,
                                                       .close = recipe_close};
