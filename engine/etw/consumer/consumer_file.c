/* SPDX-License-Identifier: MIT */
/* The events of a log file. What is damaged in it is left out; consumers are not told, as on Windows. */
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/etw/consumer/consumer_source.h"
#include "engine/logs/etl_reader.h"

#include <stdatomic.h>

struct file_source {
    struct consumer_source base;
    struct etl_reader *reader;
    bool between; /* the event given last was the last one of its buffer */
    atomic_bool stopped;
};

static HRESULT next(struct consumer_source *base, struct etl_record *e)
{
    struct file_source *s = (struct file_source *)base;
    if (s->between && atomic_load_explicit(&s->stopped, memory_order_relaxed))
        return S_FALSE;
    HRESULT hr = etl_reader_next(s->reader, e);
    s->between = hr == S_OK && e->last;
    return hr;
}

static HRESULT restart(struct consumer_source *base)
{
    struct file_source *s = (struct file_source *)base;
    s->between = false;
    return etl_reader_seek(s->reader, INT64_MIN);
}

static void stop(struct consumer_source *base)
{
    atomic_store(&((struct file_source *)base)->stopped, true);
}

static void source_close(struct consumer_source *base)
{
    struct file_source *s = (struct file_source *)base;
    etl_reader_close(s->reader);
    memory_free(s);
}

HRESULT consumer_source_of_file(const char *path, struct consumer_source **out)
{
    struct file_source *s = memory_zero(1, sizeof *s);
    if (!s)
        return error_set(E_OUTOFMEMORY, "%s: out of memory for a consumer", path);
    HRESULT hr = etl_reader_open(path, NULL, NULL, &s->reader);
    if (FAILED(hr)) {
        memory_free(s);
        return hr;
    }
    s->base = (struct consumer_source){etl_reader_log(s->reader), next, restart, stop, source_close};
    *out = &s->base;
    return S_OK;
}
