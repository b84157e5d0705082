/* SPDX-License-Identifier: MIT */
/* Writes folded stacks: one line "process;thread;outer;inner COUNT" per stack, for flamegraph.pl, inferno and
   speedscope. */
#include "cli/trace/export/export.h"
#include "engine/base/memory.h"

/* Maximum number of counts in memory. When the maximum is reached, the counts are written as lines, and counting starts
   again. Therefore a stack can have several lines; a reader adds up the numbers of these lines. */
enum { MOST_COUNTS = 1 << 20 };

struct folded {
    struct id_map counts; /* key: thread and node; value: number of samples */
};

/* Adds a part of a line. Replaces ';', which separates frames, and control characters, because each stack is one
   line. */
static void add_part(struct text_buffer *b, const char *text)
{
    for (;;) {
        size_t plain = 0;
        while ((unsigned char)text[plain] >= ' ' && text[plain] != ';')
            plain++;
        text_buffer_add_n(b, text, plain);
        text += plain;
        if (!*text)
            return;
        text_buffer_add_n(b, *text++ == ';' ? ":" : " ", 1);
    }
}

static HRESULT write_counts(struct export *x)
{
    struct folded *f = x->of_format;
    struct text_buffer *b = &x->out.text, name = {0};
    const uint64_t *count;
    uint64_t key;
    HRESULT hr = S_OK;
    for (size_t at = 0; SUCCEEDED(hr) && (count = id_map_next(&f->counts, &at, &key));) {
        const struct export_thread *t = x->threads[(key >> 32) - 1];
        size_t depth = 0;
        for (uint32_t node = (uint32_t)key; node != 0 && depth < STACK_MOST_FRAMES; node = x->tree.parents[node - 1])
            x->stack[depth++] = x->tree.values[node - 1];
        name.length = 0;
        export_add_process(&name, t);
        text_buffer_add(&name, ";");
        const size_t split = name.length;
        export_add_thread(&name, t);
        if (name.failed)
            break;
        name.text[split - 1] = 0;
        add_part(b, name.text);
        text_buffer_add(b, ";");
        add_part(b, name.text + split);
        while (depth-- > 0) {
            text_buffer_add(b, ";");
            add_part(b, x->frame[x->stack[depth] - 1].name);
        }
        text_buffer_add(b, " ");
        text_buffer_add_u64(b, *count, 1);
        text_buffer_add(b, "\n");
        hr = export_file_settle(&x->out);
    }
    hr = name.failed ? E_OUTOFMEMORY : hr;
    text_buffer_free(&name);
    id_map_free(&f->counts);
    return hr;
}

static HRESULT begin(struct export *x)
{
    x->of_format = memory_zero(1, sizeof(struct folded));
    return x->of_format ? S_OK : E_OUTOFMEMORY;
}

static HRESULT sample(struct export *x, struct export_thread *t, uint32_t processor, int64_t time, uint32_t node,
                      uint32_t weight)
{
    struct folded *f = x->of_format;
    (void)processor;
    (void)time;
    (void)weight;
    HRESULT hr = f->counts.count >= MOST_COUNTS ? write_counts(x) : S_OK;
    f->counts.item_size = sizeof(uint64_t);
    uint64_t *count = SUCCEEDED(hr) ? id_map_put(&f->counts, ((uint64_t)t->index + 1) << 32 | node) : NULL;
    if (!count)
        return SUCCEEDED(hr) ? E_OUTOFMEMORY : hr;
    ++*count;
    return S_OK;
}

static void release(struct export *x)
{
    struct folded *f = x->of_format;
    id_map_free(&f->counts);
    memory_free(f);
}

const struct export_format export_folded = {
    .name = "folded", .extension = "folded", .begin = begin, .sample = sample, .end = write_counts, .free = release};
