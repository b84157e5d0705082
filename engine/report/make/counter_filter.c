/* SPDX-License-Identifier: MIT */
/* Compares counters with patterns. */
#include "engine/report/counter_filter.h"

#include "engine/base/memory.h"

#include <string.h>

HRESULT counter_instance(const struct log_counter *counter, char **out)
{
    *out = NULL;
    if (!counter->instance)
        return S_OK;
    struct text_buffer b = {0};
    if (counter->parent)
        text_buffer_format(&b, "%s/", counter->parent);
    text_buffer_add(&b, counter->instance);
    if (counter->index != 0)
        text_buffer_format(&b, "#%u", (unsigned)counter->index);
    *out = text_buffer_take(&b);
    return *out ? S_OK : error_set(E_OUTOFMEMORY, "out of memory for the name of an instance");
}

/* "*" stands for every instance, and so does what PDH adds to it for parents and numbers. */
static bool is_every_instance(const char *instance)
{
    return strchr(instance, '*') && !instance[strspn(instance, "*/#")];
}

HRESULT filter_add(struct filter *f, const char *pattern)
{
    struct filter_pattern p = {.text = text_copy(pattern)};
    void *patterns = f->patterns;
    HRESULT hr = p.text ? log_counters_add_path(&p.parts, pattern) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        struct log_counter *parts = p.parts.items;
        hr = counter_instance(parts, &p.instance);
        if (!parts->object[0])
            log_counters_free(&p.parts); /* no path */
    }
    if (SUCCEEDED(hr) && p.instance && is_every_instance(p.instance)) {
        p.instance[0] = '*';
        p.instance[1] = '\0';
    }
    if (SUCCEEDED(hr) && !memory_grow(&patterns, &f->capacity, f->count + 1, sizeof *f->patterns))
        hr = E_OUTOFMEMORY;
    if (FAILED(hr)) {
        memory_free(p.text);
        memory_free(p.instance);
        log_counters_free(&p.parts);
        return error_set(hr, "%s: out of memory", pattern);
    }
    f->patterns = patterns;
    f->patterns[f->count++] = p;
    return S_OK;
}

static bool matches_parts(const struct filter_pattern *p, const struct log_counter *c, const char *instance)
{
    const struct log_counter *parts = p->parts.items;
    const char *machine = c->machine ? c->machine : "";
    return (!parts->machine || text_matches(parts->machine, machine)) &&
           text_matches(parts->object, c->object ? c->object : "") &&
           text_matches(parts->counter, c->counter ? c->counter : "") &&
           (!p->instance || (c->wildcard && !instance) || (instance && text_matches(p->instance, instance)));
}

HRESULT filter_matches(struct filter *f, const struct log_counter *counter, const char *item, bool *matches)
{
    char *own = NULL, *path = NULL;
    const char *instance = item;
    *matches = f->count == 0;
    if (*matches)
        return S_OK;
    if (!counter->wildcard) {
        HRESULT hr = counter_instance(counter, &own);
        if (FAILED(hr))
            return hr;
        instance = own;
    }
    HRESULT hr = S_OK;
    for (size_t i = 0; i < f->count && SUCCEEDED(hr); i++) {
        struct filter_pattern *p = &f->patterns[i];
        bool one = false;
        if (p->parts.count > 0) {
            one = matches_parts(p, counter, instance);
        } else {
            path = path ? path : log_counter_path(counter);
            hr = path ? S_OK : E_OUTOFMEMORY;
            one = path && text_matches(p->text, path);
        }
        p->used |= one && (!counter->wildcard || instance);
        *matches |= one;
    }
    memory_free(own);
    memory_free(path);
    return hr;
}

void filter_free(struct filter *f)
{
    for (size_t i = 0; i < f->count; i++) {
        memory_free(f->patterns[i].text);
        memory_free(f->patterns[i].instance);
        log_counters_free(&f->patterns[i].parts);
    }
    memory_free(f->patterns);
    *f = (struct filter){0};
}
