/* SPDX-License-Identifier: MIT */
/* Writes pprof: a gzip stream of one protocol buffer message (profile.proto). The numbers of the message's fields are
   defined below. Samples are written first. The encoding allows fields in any order, so the tables to which samples
   refer are written at the end. */
#include "cli/trace/export/export.h"
#include "engine/base/memory.h"
#include "engine/logs/little_endian.h"

#include <zlib.h>

enum { SAMPLE_TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, STRINGS, TIME = 9, DURATION, PERIOD_TYPE, PERIOD };
enum { VARINT = 0, BYTES = 2 };
enum { MOST_COUNTS = 1 << 20, PACK_BYTES = 1 << 16 };
/* Indexes of the strings at the beginning of the string table. */
enum {
    STRING_NONE,
    STRING_SAMPLES,
    STRING_COUNT,
    STRING_CPU,
    STRING_NANOSECONDS,
    STRING_PROCESS,
    STRING_THREAD,
    STRINGS_FIXED
};

struct counted {
    uint64_t samples, weight;
};
struct pprof {
    struct id_map counts; /* key: thread and node; value: struct counted */
    struct byte_buffer out, part, inner;
    uint64_t strings; /* number of strings written so far */
    z_stream z;
    bool packing;
    uint8_t packed[PACK_BYTES];
};

static void put_varint(struct byte_buffer *b, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        byte_buffer_u8(b, (uint8_t)(value | 0x80));
    byte_buffer_u8(b, (uint8_t)value);
}

static void put_number(struct byte_buffer *b, unsigned field, uint64_t value)
{
    put_varint(b, field << 3 | VARINT);
    put_varint(b, value);
}

static void put_bytes(struct byte_buffer *b, unsigned field, const void *bytes, size_t size)
{
    put_varint(b, field << 3 | BYTES);
    put_varint(b, size);
    byte_buffer_put(b, bytes, size);
}

/* Moves `part` to the output as the value of a field. */
static void put_part(struct byte_buffer *b, unsigned field, struct byte_buffer *part)
{
    put_bytes(b, field, part->bytes, part->size);
    b->failed = b->failed || part->failed;
    part->size = 0;
}

static HRESULT pack(struct export *x, bool last)
{
    struct pprof *p = x->of_format;
    HRESULT hr = p->out.failed ? E_OUTOFMEMORY : S_OK;
    p->z.next_in = p->out.bytes;
    p->z.avail_in = (uInt)p->out.size;
    do {
        p->z.next_out = p->packed;
        p->z.avail_out = PACK_BYTES;
        if (FAILED(hr) || deflate(&p->z, last ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_ERROR)
            return FAILED(hr) ? hr : E_FAIL;
        hr = file_write(x->out.file, p->packed, PACK_BYTES - p->z.avail_out);
    } while (p->z.avail_out == 0);
    p->out.size = 0;
    return hr;
}

static HRESULT settle(struct export *x)
{
    struct pprof *p = x->of_format;
    return p->out.failed || p->out.size >= PACK_BYTES ? pack(x, false) : S_OK;
}

/* Writes a new string and returns its index. */
static uint64_t put_string(struct pprof *p, const char *text)
{
    put_bytes(&p->out, STRINGS, text, strlen(text));
    return p->strings++;
}

static void put_type(struct pprof *p, unsigned field, uint64_t type, uint64_t unit)
{
    put_number(&p->part, 1, type);
    put_number(&p->part, 2, unit);
    put_part(&p->out, field, &p->part);
}

static HRESULT begin(struct export *x)
{
    static const char *const fixed[STRINGS_FIXED] = {"", "samples", "count", "cpu", "nanoseconds", "process", "thread"};
    struct pprof *p = x->of_format = memory_zero(1, sizeof *p);
    enum { GZIP = 16 + MAX_WBITS, FASTEST = 1, MEMORY = 8 };
    if (!p || deflateInit2(&p->z, FASTEST, Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        return E_OUTOFMEMORY;
    p->packing = true;
    p->counts.item_size = sizeof(struct counted);
    for (int i = 0; i < STRINGS_FIXED; i++)
        put_string(p, fixed[i]);
    put_type(p, SAMPLE_TYPE, STRING_SAMPLES, STRING_COUNT);
    put_type(p, SAMPLE_TYPE, STRING_CPU, STRING_NANOSECONDS);
    put_type(p, PERIOD_TYPE, STRING_CPU, STRING_NANOSECONDS);
    return settle(x);
}

static void put_label(struct pprof *p, uint64_t key, uint64_t string)
{
    put_number(&p->inner, 1, key);
    put_number(&p->inner, 2, string);
    put_part(&p->part, 3, &p->inner);
}

/* Returns the strings of a thread's labels, which are written with its first sample. */
static HRESULT thread_strings(struct pprof *p, struct export_thread *t, const uint64_t **out)
{
    uint64_t *strings = t->of_format;
    struct text_buffer name = {0};
    if (!strings) {
        strings = t->of_format = memory_zero(2, sizeof *strings);
        if (!strings)
            return E_OUTOFMEMORY;
        export_add_process(&name, t);
        strings[0] = name.failed ? 0 : put_string(p, name.text);
        name.length = 0;
        export_add_thread(&name, t);
        strings[1] = name.failed ? 0 : put_string(p, name.text);
        text_buffer_free(&name);
    }
    *out = strings;
    return S_OK;
}

static HRESULT write_counts(struct export *x)
{
    struct pprof *p = x->of_format;
    const struct counted *c;
    uint64_t key;
    HRESULT hr = S_OK;
    for (size_t at = 0; SUCCEEDED(hr) && (c = id_map_next(&p->counts, &at, &key));) {
        const uint64_t *strings;
        hr = thread_strings(p, x->threads[(key >> 32) - 1], &strings);
        if (FAILED(hr))
            break;
        for (uint32_t node = (uint32_t)key; node != 0; node = x->tree.parents[node - 1])
            put_varint(&p->inner, x->tree.values[node - 1]); /* the number of a location is the index of its frame plus
                                                                1; the innermost location comes first */
        put_part(&p->part, 1, &p->inner);
        put_varint(&p->inner, c->samples);
        put_varint(&p->inner, c->weight * 100);
        put_part(&p->part, 2, &p->inner);
        put_label(p, STRING_PROCESS, strings[0]);
        put_label(p, STRING_THREAD, strings[1]);
        put_part(&p->out, SAMPLE, &p->part);
        hr = settle(x);
    }
    id_map_free(&p->counts);
    return hr;
}

static HRESULT sample(struct export *x, struct export_thread *t, uint32_t processor, int64_t time, uint32_t node,
                      uint32_t weight)
{
    struct pprof *p = x->of_format;
    (void)processor;
    (void)time;
    const HRESULT hr = p->counts.count >= MOST_COUNTS ? write_counts(x) : S_OK;
    struct counted *c = SUCCEEDED(hr) ? id_map_put(&p->counts, ((uint64_t)t->index + 1) << 32 | node) : NULL;
    if (!c)
        return SUCCEEDED(hr) ? E_OUTOFMEMORY : hr;
    c->samples++;
    c->weight += weight;
    return S_OK;
}

static HRESULT write_frames(struct export *x)
{
    struct pprof *p = x->of_format;
    HRESULT hr = S_OK;
    for (size_t i = 0; i < x->frame_count && SUCCEEDED(hr); i++) {
        const struct export_frame *f = &x->frame[i];
        const uint64_t name = put_string(p, f->name);
        put_number(&p->part, 1, i + 1);
        put_number(&p->part, 2, name);
        put_number(&p->part, 3, name);
        put_part(&p->out, FUNCTION, &p->part);
        put_number(&p->inner, 1, i + 1);
        put_number(&p->part, 1, i + 1);
        put_number(&p->part, 2, f->module ? f->module->index + 2u : 1);
        put_number(&p->part, 3, f->address);
        put_part(&p->part, 4, &p->inner);
        put_part(&p->out, LOCATION, &p->part);
        hr = settle(x);
    }
    return hr;
}

/* Writes the mappings. The address ranges of the mappings are unknown, because an image has a different address in each
   process. The first mapping is for code outside images. */
static HRESULT write_mappings(struct export *x)
{
    struct pprof *p = x->of_format;
    const struct code_places *places = x->frames->stacks.places;
    char identity[CODE_IDENTITY];
    HRESULT hr = S_OK;
    for (size_t i = 0; i <= code_places_modules(places) && SUCCEEDED(hr); i++) {
        const struct code_module *m = i != 0 ? code_places_module(places, i - 1) : NULL;
        const uint64_t name = put_string(p, m ? m->path : "[unknown]");
        uint64_t build = STRING_NONE;
        if (m && m->has_symbols) {
            code_module_identity(m, identity);
            build = put_string(p, identity);
        }
        put_number(&p->part, 1, i + 1);
        put_number(&p->part, 3, m ? m->size : 0);
        put_number(&p->part, 5, name);
        put_number(&p->part, 6, build);
        put_number(&p->part, 7, 1);
        put_part(&p->out, MAPPING, &p->part);
        hr = settle(x);
    }
    return hr;
}

static HRESULT end(struct export *x)
{
    struct pprof *p = x->of_format;
    enum { NS = 100 };
    const int64_t unix_epoch = INT64_C(116444736000000000);
    HRESULT hr = write_counts(x);
    if (SUCCEEDED(hr))
        hr = write_frames(x);
    if (SUCCEEDED(hr))
        hr = write_mappings(x);
    if (FAILED(hr))
        return hr;
    put_number(&p->out, TIME, (uint64_t)(x->begin - unix_epoch) * NS);
    put_number(&p->out, DURATION, (uint64_t)x->end * NS);
    put_number(&p->out, PERIOD, 1000000);
    return pack(x, true);
}

static void release(struct export *x)
{
    struct pprof *p = x->of_format;
    if (p->packing)
        (void)deflateEnd(&p->z);
    id_map_free(&p->counts);
    memory_free(p->out.bytes);
    memory_free(p->part.bytes);
    memory_free(p->inner.bytes);
    memory_free(p);
    for (size_t i = 0; i < x->thread_count; i++)
        memory_free(x->threads[i]->of_format);
}

const struct export_format export_pprof = {
    .name = "pprof", .extension = "pb.gz", .begin = begin, .sample = sample, .end = end, .free = release};
