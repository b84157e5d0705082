/* SPDX-License-Identifier: MIT */
/* Builds counter objects from the data blocks of performance extension DLLs. */
#include "engine/pdh/extension/extension_object.h"

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/logs/perf_data.h"

#include <stdlib.h>
#include <string.h>

/* Time limit in milliseconds for a reply within a sample. The query's other objects are delayed too, but only once if
   the DLL hangs. */
#define ANSWER_MS    300
/* Maximum number of objects per DLL. A well-behaved DLL never reaches this number. The limit keeps a hostile DLL from
   delaying the others. */
#define MOST_OBJECTS 1000
/* Maximum number of objects that are searched for the parent instances of one object. For example, the parents of the
   instances of Thread are searched in the object Process. */
#define MOST_PARENTS 16

struct extension_object {
    struct counter_object_type type; /* must be the first member */
    struct extension *extension;
    struct counter_schema *schemas;
    uint32_t *definitions; /* for each counter: the index of its definition in the DLL's data block */
    int64_t *time_bases;
    uint32_t definition_count;
};

struct extension {
    struct extension_host *host;
    struct extension_object **objects;
    size_t count, capacity;
    bool used;
};

/* The state of an object between samples. */
struct extension_sample {
    struct log_raw *raw;
    size_t raw_capacity;
    struct perf_counter *definitions;
    size_t definition_capacity;
    uint64_t names; /* hash of the instances' names */
};

static int by_index(const void *a, const void *b)
{
    const struct extension_name *x = a, *y = b;
    return x->index < y->index ? -1 : x->index > y->index;
}

HRESULT extension_names_read(struct extension_names_table *t, const struct texts *pairs)
{
    for (size_t i = 0; i + 1 < pairs->count; i += 2) {
        uint64_t index;
        void *items = t->items;
        if (!text_to_u64(pairs->items[i], &index) || index > UINT32_MAX)
            continue;
        bool ok = memory_grow(&items, &t->capacity, t->count + 1, sizeof *t->items);
        t->items = items;
        char *text = ok ? text_copy(pairs->items[i + 1]) : NULL;
        if (!text)
            return E_OUTOFMEMORY;
        t->items[t->count++] = (struct extension_name){(uint32_t)index, text};
    }
    if (t->count)
        qsort(t->items, t->count, sizeof *t->items, by_index);
    return S_OK;
}

const char *extension_name(const struct extension_names_table *t, uint32_t index)
{
    struct extension_name key = {.index = index};
    const struct extension_name *found = t->count ? bsearch(&key, t->items, t->count, sizeof key, by_index) : NULL;
    return found ? found->text : NULL;
}

void extension_names_free(struct extension_names_table *t)
{
    for (size_t i = 0; i < t->count; i++)
        memory_free(t->items[i].text);
    memory_free(t->items);
    *t = (struct extension_names_table){0};
}

HRESULT extension_open(const char *service, struct extension **out)
{
    struct extension *e = memory_zero(1, sizeof *e);
    HRESULT hr = e ? extension_host_open(service, &e->host) : E_OUTOFMEMORY;
    *out = e;
    if (FAILED(hr)) {
        memory_free(e);
        *out = NULL;
    }
    return hr;
}

void extension_ask(struct extension *e)
{
    extension_host_request(e->host);
}

void extension_ask_if_used(struct extension *e)
{
    if (e->used)
        extension_host_request(e->host);
}

static void free_object(struct extension_object *eo)
{
    for (uint32_t i = 0; i < eo->type.counter_count; i++) {
        memory_free((char *)eo->schemas[i].name);
        memory_free((char *)eo->schemas[i].help);
    }
    memory_free((char *)eo->type.name);
    memory_free((char *)eo->type.help);
    memory_free(eo->schemas);
    memory_free(eo->definitions);
    memory_free(eo->time_bases);
    memory_free(eo);
}

void extension_close(struct extension *e)
{
    if (!e)
        return;
    for (size_t i = 0; i < e->count; i++)
        free_object(e->objects[i]);
    extension_host_close(e->host);
    memory_free(e->objects);
    memory_free(e);
}

/* Returns object `n` of the reply and the offset of the next object. False at the end or if the block is corrupt. */
static bool next_object(const struct extension_reply *reply, uint32_t n, size_t *offset, struct perf_object *out)
{
    if (n >= reply->objects || n >= MOST_OBJECTS || *offset > reply->size ||
        !perf_object_read(reply->data + *offset, reply->size - *offset, out))
        return false;
    *offset += out->size;
    return true;
}

static bool find_title(const struct extension_reply *reply, uint32_t title, struct perf_object *out)
{
    size_t offset = 0;
    for (uint32_t n = 0; next_object(reply, n, &offset, out); n++)
        if (out->title == title)
            return true;
    return false;
}

/* Returns the name of the instance without its parent, from memory_alloc. */
static char *own_name(const struct perf_instance *instance)
{
    char *name = NULL;
    if (instance->unique_id != -1)
        return text_format("%d", (int)instance->unique_id);
    /* the block may be unaligned */
    WCHAR *units = memory_alloc((instance->name_units + 1) * sizeof *units);
    if (units) {
        memcpy(units, instance->name, instance->name_units * sizeof *units);
        if (FAILED(text_from_utf16(units, instance->name_units, true, &name)))
            name = NULL;
    }
    memory_free(units);
    return name;
}

/* The instances of the object in which parents were searched last. */
struct parents {
    uint32_t title; /* 0: none searched yet */
    struct perf_object object;
    size_t *offsets;
    size_t count, capacity;
    unsigned looked_up;
};

static bool look_up(struct parents *p, const struct extension_reply *reply, uint32_t title)
{
    struct perf_instance instance;
    p->count = 0;
    p->title = title;
    if (++p->looked_up > MOST_PARENTS || !find_title(reply, title, &p->object))
        return true; /* no instances */
    size_t offset = p->object.values;
    for (int32_t i = 0; i < p->object.instances; i++) {
        void *offsets = p->offsets;
        size_t at = offset;
        if (!perf_object_instance(&p->object, &offset, &instance))
            break;
        bool ok = memory_grow(&offsets, &p->capacity, p->count + 1, sizeof *p->offsets);
        p->offsets = offsets;
        if (!ok)
            return false;
        p->offsets[p->count++] = at;
    }
    return true;
}

/* Returns the name of an instance's parent; NULL if the instance has no parent or memory runs out. */
static char *name_of_parent(struct parents *p, const struct extension_reply *reply, const struct perf_instance *child)
{
    struct perf_instance instance;
    if ((p->title != child->parent_title && !look_up(p, reply, child->parent_title)) || child->parent_index >= p->count)
        return NULL;
    size_t offset = p->offsets[child->parent_index];
    return perf_object_instance(&p->object, &offset, &instance) ? own_name(&instance) : NULL;
}

static uint64_t hash_instance(uint64_t h, const struct perf_instance *instance)
{
    h = hash_number(h, instance->parent_title);
    h = hash_number(h, instance->parent_index);
    h = hash_number(h, (uint32_t)instance->unique_id);
    h = hash_bytes(h, instance->name, instance->name_units * 2);
    return hash_number(h, instance->name_units);
}

/* Creates the list of instances. */
static HRESULT name_instances(struct counter_object *o, const struct extension_reply *reply,
                              const struct perf_object *data, size_t rows)
{
    char **names = memory_zero(rows, sizeof *names);
    uint64_t *keys = memory_zero(rows, sizeof *keys);
    HRESULT hr = names && keys ? S_OK : E_OUTOFMEMORY;
    struct parents parents = {0};
    bool has_parents = false;
    size_t offset = data->values;
    for (size_t i = 0; i < rows && SUCCEEDED(hr); i++) {
        struct perf_instance instance = {0};
        perf_object_instance(data, &offset, &instance); /* check_instances has checked that the block is complete */
        names[i] = own_name(&instance);
        keys[i] = (uint64_t)((int64_t)instance.unique_id + 1);
        char *parent = names[i] && instance.parent_title ? name_of_parent(&parents, reply, &instance) : NULL;
        if (parent) {
            char *both = text_format("%s/%s", parent, names[i]);
            memory_free(names[i]);
            memory_free(parent);
            names[i] = both;
            has_parents = true;
        }
        hr = names[i] ? S_OK : E_OUTOFMEMORY;
    }
    struct instance_list *list = NULL;
    if (SUCCEEDED(hr)) {
        const char *const *list_names = (const char *const *)names;
        list = has_parents ? instance_list_create_ready(rows, list_names, keys)
                           : instance_list_create(rows, list_names, keys);
        hr = list ? S_OK : E_OUTOFMEMORY;
    }
    if (list)
        counter_object_set_instances(o, list);
    for (size_t i = 0; names && i < rows; i++)
        memory_free(names[i]);
    memory_free(names);
    memory_free(keys);
    memory_free(parents.offsets);
    return hr;
}

/* Reads the block's definitions. False if they differ from the definitions from which the object was created. */
static bool read_definitions(const struct extension_object *eo, struct extension_sample *s,
                             const struct perf_object *data)
{
    size_t offset = data->definitions;
    void *definitions = s->definitions;
    if (data->counters != eo->definition_count ||
        !memory_grow(&definitions, &s->definition_capacity, data->counters, sizeof *s->definitions))
        return false;
    s->definitions = definitions;
    for (uint32_t i = 0; i < data->counters; i++)
        if (!perf_object_counter(data, &offset, &s->definitions[i]))
            return false;
    for (uint32_t i = 0; i < eo->type.counter_count; i++)
        if (s->definitions[eo->definitions[i]].type != eo->schemas[i].type)
            return false;
    return true;
}

static void read_row(const struct extension_object *eo, const struct extension_sample *s,
                     const struct perf_times *times, const struct perf_object *data, const uint8_t *block, size_t size,
                     struct log_raw *row)
{
    for (uint32_t i = 0; i < eo->type.counter_count; i++) {
        uint32_t at = eo->definitions[i];
        bool has_base = at + 1 < eo->definition_count && perf_counter_is_base(&s->definitions[at + 1]);
        if (!perf_counter_raw(times, data, &s->definitions[at], has_base ? &s->definitions[at + 1] : NULL, block, size,
                              &row[i]))
            row[i] = (struct log_raw){.status = PDH_CSTATUS_INVALID_DATA};
    }
}

static HRESULT corrupt_data_error(const struct extension_object *eo)
{
    return error_set(E_FAIL, "the extension DLL of the object '%s' returned corrupt data", eo->type.name);
}

/* Counts the instances and hashes their names. False if the block is corrupt. */
static bool check_instances(const struct perf_object *data, size_t *rows, uint64_t *hash)
{
    struct perf_instance instance = {0};
    size_t offset = data->values;
    *hash = HASH_START;
    *rows = data->instances < 0 ? 1 : (size_t)data->instances;
    for (int32_t i = 0; i < data->instances; i++) {
        if (!perf_object_instance(data, &offset, &instance))
            return false;
        *hash = hash_instance(*hash, &instance);
    }
    return true;
}

static HRESULT read_rows(struct counter_object *o, const struct extension_reply *reply, const struct perf_object *data)
{
    const struct extension_object *eo = (const struct extension_object *)o->type;
    struct extension_sample *s = o->state;
    const struct perf_times times = {reply->ticks, reply->frequency, reply->utc};
    size_t rows, offset = data->values;
    uint64_t hash;
    if ((data->instances >= 0) != eo->type.has_instances || !read_definitions(eo, s, data) ||
        !check_instances(data, &rows, &hash))
        return corrupt_data_error(eo);
    /* no block can contain more rows, because each value occupies at least 4 bytes */
    if (eo->type.counter_count && rows > EXTENSION_DATA_BYTES / sizeof(uint32_t) / eo->type.counter_count)
        return corrupt_data_error(eo);
    void *raw = s->raw;
    if (!memory_grow(&raw, &s->raw_capacity, rows * eo->type.counter_count, sizeof *s->raw))
        return E_OUTOFMEMORY;
    s->raw = raw;
    if (eo->type.has_instances && (!o->instances || hash != s->names)) {
        HRESULT hr = name_instances(o, reply, data, rows);
        if (FAILED(hr))
            return hr;
        s->names = hash;
    }
    for (size_t i = 0; i < rows; i++) {
        struct perf_instance instance = {0};
        if (data->instances >= 0)
            perf_object_instance(data, &offset, &instance);
        else if (!perf_object_block(data, &instance.block, &instance.block_size))
            return corrupt_data_error(eo);
        read_row(eo, s, &times, data, instance.block, instance.block_size, s->raw + i * eo->type.counter_count);
    }
    o->rows = rows;
    return S_OK;
}

static HRESULT extension_sample_rows(struct counter_object *o, struct source *source, uint64_t wanted)
{
    (void)source;
    (void)wanted;
    const struct extension_object *eo = (const struct extension_object *)o->type;
    struct extension_reply *reply;
    struct perf_object data;
    eo->extension->used = true;
    o->present = UINT64_MAX;
    o->rows = 0;
    HRESULT hr = extension_host_reply(eo->extension->host, ANSWER_MS, &reply);
    if (FAILED(hr))
        return hr;
    o->time = (struct source_time){reply->utc, reply->ticks};
    hr = find_title(reply, eo->type.index, &data) ? read_rows(o, reply, &data) : corrupt_data_error(eo);
    extension_reply_release(eo->extension->host, reply);
    return hr;
}

static void raw_value(const struct counter_object *o, size_t row, uint32_t counter, PDH_RAW_COUNTER *out)
{
    const struct extension_sample *s = o->state;
    log_raw_to_pdh(&s->raw[row * o->type->counter_count + counter], out);
}

static int64_t time_base(const struct counter_object *o, uint32_t counter)
{
    return ((const struct extension_object *)o->type)->time_bases[counter];
}

static void close_sample(struct counter_object *o)
{
    struct extension_sample *s = o->state;
    memory_free(s->raw);
    memory_free(s->definitions);
}

/* Returns the name with this number, or the number itself, as Windows does. */
static char *name_or_number(const struct extension_names_table *names, uint32_t index)
{
    const char *name = extension_name(names, index);
    return name ? text_copy(name) : text_format("%u", (unsigned)index);
}

/* Creates a counter for each visible definition. */
static HRESULT make_counters(struct extension_object *eo, const struct extension_names_table *names,
                             const struct perf_times *times, const struct perf_object *data)
{
    size_t offset = data->definitions;
    eo->definition_count = data->counters;
    eo->schemas = memory_zero(data->counters, sizeof *eo->schemas);
    eo->definitions = memory_zero(data->counters, sizeof *eo->definitions);
    eo->time_bases = memory_zero(data->counters, sizeof *eo->time_bases);
    if (!eo->schemas || !eo->definitions || !eo->time_bases)
        return E_OUTOFMEMORY;
    eo->type.counters = eo->schemas;
    for (uint32_t i = 0; i < data->counters; i++) {
        struct perf_counter c;
        if (!perf_object_counter(data, &offset, &c))
            return S_FALSE;
        if (perf_counter_is_base(&c) || perf_counter_is_text(&c))
            continue;
        uint32_t n = eo->type.counter_count;
        eo->schemas[n] = (struct counter_schema){.name = name_or_number(names, c.title),
                                                 .help = text_copy(extension_name(names, c.help)),
                                                 .type = c.type,
                                                 .detail = PERF_DETAIL_NOVICE,
                                                 .scale = c.default_scale,
                                                 .index = c.title};
        eo->definitions[n] = i;
        eo->time_bases[n] = perf_counter_time_base(times, data, &c);
        eo->type.counter_count = n + 1;
        if (!eo->schemas[n].name || !eo->schemas[n].help)
            return E_OUTOFMEMORY;
    }
    return eo->type.counter_count ? S_OK : S_FALSE;
}

static HRESULT add_object(struct extension *e, const struct extension_names_table *names,
                          const struct extension_reply *reply, const struct perf_object *data, struct catalogue *c)
{
    struct extension_object *eo = memory_zero(1, sizeof *eo);
    const struct perf_times times = {reply->ticks, reply->frequency, reply->utc};
    void *objects = e->objects;
    bool room = memory_grow(&objects, &e->capacity, e->count + 1, sizeof *e->objects);
    e->objects = objects;
    if (!eo || !room) {
        memory_free(eo);
        return E_OUTOFMEMORY;
    }
    eo->extension = e;
    eo->type = (struct counter_object_type){.name = name_or_number(names, data->title),
                                            .help = text_copy(extension_name(names, data->help)),
                                            .index = data->title,
                                            .has_instances = data->instances >= 0,
                                            .at_once = true,
                                            .sample = extension_sample_rows,
                                            .raw = raw_value,
                                            .time_base = time_base,
                                            .state_size = sizeof(struct extension_sample),
                                            .close = close_sample};
    HRESULT hr = eo->type.name && eo->type.help ? make_counters(eo, names, &times, data) : E_OUTOFMEMORY;
    if (hr == S_OK && !catalogue_add(c, &eo->type))
        hr = E_OUTOFMEMORY;
    if (hr != S_OK) {
        free_object(eo);
        return hr;
    }
    e->objects[e->count++] = eo;
    return S_OK;
}

static bool is_known(const struct extension *e, uint32_t title)
{
    size_t i = 0;
    while (i < e->count && e->objects[i]->type.index != title)
        i++;
    return i < e->count;
}

HRESULT extension_add_objects(struct extension *e, const struct extension_names_table *names, struct catalogue *c,
                              uint32_t timeout_ms)
{
    struct extension_reply *reply;
    struct perf_object data;
    size_t offset = 0;
    HRESULT hr = extension_host_reply(e->host, timeout_ms, &reply);
    if (FAILED(hr))
        return hr == E_OUTOFMEMORY ? hr : S_FALSE;
    for (uint32_t n = 0; SUCCEEDED(hr) && next_object(reply, n, &offset, &data); n++)
        if (!is_known(e, data.title))
            hr = add_object(e, names, reply, &data, c);
    extension_reply_release(e->host, reply);
    return FAILED(hr) ? hr : S_OK;
}
