/* SPDX-License-Identifier: MIT */
/* What paths stand for at one moment and at a later one, as hashes of counters' paths. */
#include "engine/pdh/counter_watch.h"

#include "engine/base/clock.h"
#include "engine/base/hash.h"
#include "engine/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* A computer that does not answer is waited for; what is left of the paths is for the next look. */
#define LOOK_MS 250

struct counter_watch {
    struct counter_query *query;
    struct texts paths;
    size_t next;    /* of the paths, to be looked at */
    size_t looked;  /* at so many since the first of this round */
    uint64_t *then; /* sorted */
    size_t count, capacity;
};

/* Of the first of the paths; *next becomes the one behind it. */
static uint64_t hash_path(const WCHAR *path, const WCHAR **next)
{
    uint64_t hash = HASH_START;
    for (; *path; path++)
        hash = hash_number(hash, *path);
    *next = path + 1;
    return hash;
}

/* A counter that is there without a wildcard is all that it will ever be. */
static HRESULT note_path(struct counter_watch *w, const char *path, bool refused)
{
    WCHAR *paths = NULL;
    const bool wildcard = strchr(path, '*') != NULL;
    HRESULT hr = refused && !wildcard ? S_OK : counter_query_list(w->query, path, &paths);
    if (SUCCEEDED(hr) && (!paths || wildcard))
        hr = texts_add(&w->paths, path);
    for (const WCHAR *p = paths; SUCCEEDED(hr) && p && *p;) {
        void *then = w->then;
        if (!memory_grow(&then, &w->capacity, w->count + 1, sizeof *w->then))
            hr = E_OUTOFMEMORY;
        w->then = then;
        if (SUCCEEDED(hr))
            w->then[w->count++] = hash_path(p, &p);
    }
    memory_free(paths);
    return hr;
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

HRESULT counter_watch_open(struct counter_query *q, const struct texts *paths, bool refused, struct counter_watch **out)
{
    struct counter_watch *w = memory_zero(1, sizeof *w);
    *out = NULL;
    if (!w)
        return E_OUTOFMEMORY;
    w->query = q;
    HRESULT hr = S_OK;
    for (size_t i = 0; i < paths->count && SUCCEEDED(hr); i++)
        hr = note_path(w, paths->items[i], refused);
    if (FAILED(hr)) {
        counter_watch_close(w);
        return hr;
    }
    if (w->count)
        qsort(w->then, w->count, sizeof *w->then, compare_hashes);
    *out = w;
    return S_OK;
}

static bool has_new(struct counter_watch *w, const char *path)
{
    WCHAR *paths;
    bool found = false;
    if (FAILED(counter_query_list(w->query, path, &paths)))
        return false;
    for (const WCHAR *p = paths; p && *p && !found;) {
        uint64_t hash = hash_path(p, &p);
        found = !w->count || !bsearch(&hash, w->then, w->count, sizeof *w->then, compare_hashes);
    }
    memory_free(paths);
    return found;
}

bool counter_watch_has_new(struct counter_watch *w, bool *all)
{
    const uint64_t begin = clock_monotonic_ms();
    bool found = false;
    do {
        if (w->looked < w->paths.count)
            found = has_new(w, w->paths.items[w->next++ % w->paths.count]);
        w->looked++;
    } while (!found && w->looked < w->paths.count && clock_passed_ms(begin, clock_monotonic_ms()) < LOOK_MS);
    *all = w->looked >= w->paths.count;
    if (*all)
        w->looked = 0;
    return found;
}

void counter_watch_close(struct counter_watch *w)
{
    if (!w)
        return;
    texts_free(&w->paths);
    memory_free(w->then);
    memory_free(w);
}
