/* SPDX-License-Identifier: MIT */
/* Writes speedscope's format: a sampled profile for each thread and an evented profile for each processor. */
#include "cli/trace/export/export.h"
#include "cli/trace/export/export_put.h"
#include "engine/base/memory.h"

struct profile {
    struct export_column samples, weights;
    int64_t first, last, sum; /* `sum`: sum of the weights */
};
struct processor {
    struct export_column events;
    int64_t end;
};
struct speedscope {
    struct export_columns columns;
    struct id_map processors; /* key: processor number + 1; value: struct processor */
    struct id_map frame_of_thread;
};

static HRESULT begin(struct export *x)
{
    struct speedscope *s = x->of_format = memory_zero(1, sizeof *s);
    if (!s)
        return E_OUTOFMEMORY;
    s->processors.item_size = sizeof(struct processor);
    s->frame_of_thread.item_size = sizeof(uint32_t);
    return S_OK;
}

/* Adds a list of frames. In `frames`, the innermost frame comes first. */
static void put_stack(struct export_column *c, const uint64_t *frames, size_t depth)
{
    enum { FRAME = 1 + 10 }; /* maximum length in bytes of an entry: a comma and a 32-bit number */
    char *at = text_buffer_reserve(&c->text, 3 + FRAME * depth);
    if (!at)
        return;
    if (c->values != 0)
        *at++ = ',';
    *at++ = '[';
    while (depth-- > 0) {
        at = text_put_u64(at, frames[depth]);
        if (depth != 0)
            *at++ = ',';
    }
    *at++ = ']';
    export_put_end(&c->text, at);
}

static HRESULT sample(struct export *x, struct export_thread *t, uint32_t processor, int64_t time, uint32_t node,
                      uint32_t weight)
{
    struct speedscope *s = x->of_format;
    struct profile *p = t->of_format;
    (void)processor;
    if (!p && !(p = t->of_format = memory_zero(1, sizeof *p)))
        return E_OUTOFMEMORY;
    if (p->samples.values == 0)
        p->first = time;
    p->last = time;
    p->sum += weight;
    size_t depth = 0;
    for (; node != 0 && depth < STACK_MOST_FRAMES; node = x->tree.parents[node - 1])
        x->stack[depth++] = x->tree.values[node - 1] - 1;
    put_stack(&p->samples, x->stack, depth);
    text_buffer_add(&p->weights.text, p->weights.values != 0 ? "," : "");
    export_add_us(&p->weights.text, weight);
    const HRESULT hr = export_column_settle(&s->columns, &p->samples);
    return SUCCEEDED(hr) ? export_column_settle(&s->columns, &p->weights) : hr;
}

static HRESULT thread_frame(struct export *x, const struct export_thread *t, uint32_t *frame)
{
    struct speedscope *s = x->of_format;
    struct text_buffer name = {0};
    uint32_t *known = id_map_put(&s->frame_of_thread, (uint64_t)t->index + 1);
    if (!known)
        return E_OUTOFMEMORY;
    HRESULT hr = S_OK;
    if (*known == 0) {
        export_add_process(&name, t);
        text_buffer_add(&name, " ");
        export_add_thread(&name, t);
        hr = name.failed ? E_OUTOFMEMORY : export_named_frame(x, name.text, frame);
        text_buffer_free(&name);
        *known = SUCCEEDED(hr) ? *frame + 1 : 0;
    }
    *frame = *known - 1;
    return hr;
}

static HRESULT run(struct export *x, uint32_t processor, struct export_thread *t, int64_t since, int64_t until)
{
    struct speedscope *s = x->of_format;
    uint32_t frame;
    struct processor *p = id_map_put(&s->processors, (uint64_t)processor + 1);
    HRESULT hr = p ? thread_frame(x, t, &frame) : E_OUTOFMEMORY;
    if (FAILED(hr) || until < p->end)
        return hr;
    char *at = text_buffer_reserve(&p->events.text, 2 * (size_t)(64 + EXPORT_PUT_TIME));
    if (!at)
        return E_OUTOFMEMORY;
    if (p->events.values != 0)
        *at++ = ',';
    at = EXPORT_PUT(at, "{\"type\":\"O\",\"frame\":");
    at = text_put_u64(at, frame);
    at = EXPORT_PUT(at, ",\"at\":");
    at = export_put_us(at, since > p->end ? since : p->end);
    at = EXPORT_PUT(at, "},{\"type\":\"C\",\"frame\":");
    at = text_put_u64(at, frame);
    at = EXPORT_PUT(at, ",\"at\":");
    at = export_put_us(at, until);
    *at++ = '}';
    export_put_end(&p->events.text, at);
    p->end = until;
    return export_column_settle(&s->columns, &p->events);
}

static void begin_profile(struct export *x, bool first, const char *type, const char *name)
{
    struct text_buffer *b = &x->out.text;
    text_buffer_add(b, first ? "\n{\"type\":\"" : ",\n{\"type\":\"");
    text_buffer_add(b, type);
    text_buffer_add(b, "\",\"name\":");
    json_add_text(b, name);
    text_buffer_add(b, ",\"unit\":\"microseconds\",\"startValue\":");
}

static HRESULT write_thread(struct export *x, const struct export_thread *t, bool first)
{
    struct speedscope *s = x->of_format;
    const struct profile *p = t->of_format;
    struct text_buffer *b = &x->out.text, name = {0};
    export_add_process(&name, t);
    text_buffer_add(&name, " ");
    export_add_thread(&name, t);
    if (name.failed)
        return E_OUTOFMEMORY;
    begin_profile(x, first, "sampled", name.text);
    text_buffer_free(&name);
    export_add_us(b, p->first);
    text_buffer_add(b, ",\"endValue\":");
    export_add_us(b, p->first + p->sum > p->last ? p->first + p->sum : p->last);
    text_buffer_add(b, ",\"samples\":[");
    HRESULT hr = export_column_copy(&s->columns, &p->samples, &x->out);
    text_buffer_add(b, "],\"weights\":[");
    if (SUCCEEDED(hr))
        hr = export_column_copy(&s->columns, &p->weights, &x->out);
    text_buffer_add(b, "]}");
    return hr;
}

static HRESULT write_processor(struct export *x, uint32_t number, const struct processor *p, bool first)
{
    struct speedscope *s = x->of_format;
    struct text_buffer *b = &x->out.text;
    char name[32];
    snprintf(name, sizeof name, "CPU %u", (unsigned)number);
    begin_profile(x, first, "evented", name);
    text_buffer_add(b, "0,\"endValue\":");
    export_add_us(b, x->end > p->end ? x->end : p->end);
    text_buffer_add(b, ",\"events\":[");
    const HRESULT hr = export_column_copy(&s->columns, &p->events, &x->out);
    text_buffer_add(b, "]}");
    return hr;
}

static HRESULT end(struct export *x)
{
    struct speedscope *s = x->of_format;
    struct text_buffer *b = &x->out.text;
    const struct processor *p;
    uint64_t key;
    HRESULT hr = S_OK;
    bool first = true;
    text_buffer_add(
        b, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"openpla\",\"name\":");
    json_add_text(b, x->title);
    text_buffer_add(b, ",\"profiles\":[");
    for (size_t i = 0; i < x->thread_count && SUCCEEDED(hr); i++) {
        if (!x->threads[i]->of_format)
            continue;
        hr = write_thread(x, x->threads[i], first);
        first = false;
    }
    for (size_t at = 0; SUCCEEDED(hr) && (p = id_map_next(&s->processors, &at, &key));) {
        hr = write_processor(x, (uint32_t)(key - 1), p, first);
        first = false;
    }
    text_buffer_add(b, "],\"shared\":{\"frames\":[");
    for (size_t i = 0; i < x->frame_count && SUCCEEDED(hr); i++) {
        text_buffer_add(b, i != 0 ? ",\n{\"name\":" : "\n{\"name\":");
        json_add_text(b, x->frame[i].name);
        if (x->frame[i].module) {
            text_buffer_add(b, ",\"file\":");
            json_add_text(b, x->frame[i].module->path);
        }
        text_buffer_add(b, "}");
        hr = export_file_settle(&x->out);
    }
    text_buffer_add(b, "]}}\n");
    return hr;
}

static void release(struct export *x)
{
    struct speedscope *s = x->of_format;
    size_t at = 0;
    for (struct processor *p; (p = id_map_next(&s->processors, &at, NULL));)
        export_column_free(&p->events);
    for (size_t i = 0; i < x->thread_count; i++) {
        struct profile *p = x->threads[i]->of_format;
        if (p) {
            export_column_free(&p->samples);
            export_column_free(&p->weights);
            memory_free(p);
        }
    }
    id_map_free(&s->processors);
    id_map_free(&s->frame_of_thread);
    export_columns_close(&s->columns);
    memory_free(s);
}

const struct export_format export_speedscope = {.name = "speedscope",
                                                .extension = "speedscope.json",
                                                .begin = begin,
                                                .sample = sample,
                                                .run = run,
                                                .end = end,
                                                .free = release};
