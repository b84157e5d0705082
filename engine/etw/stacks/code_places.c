/* SPDX-License-Identifier: MIT */
/* Finds the code at an address. Reads Image events, the ImageID events that accompany them in a merged trace, and the
   methods of .NET and JavaScript. All these data come from an unknown computer: each payload is checked, and the tables
   have limits. */
#include "engine/etw/code_places.h"

#include "engine/base/memory.h"
#include "engine/etw/id_map.h"
#include "engine/etw/stacks/code_ranges.h"
#include "engine/logs/little_endian.h"

#include <stdio.h>

enum { IMAGE_UNLOAD = 2, IMAGE_START, IMAGE_END, IMAGE_LOAD = 10 };
enum { ID_INFO = 0, ID_RSDS = 36 };
enum { CLR_LOAD = 143, CLR_UNLOAD, CLR_MODULE = 152, CLR_MODULE_START, CLR_MODULE_END };
enum { SCRIPT_RUNDOWN = 5, SCRIPT_LOAD = 9, SCRIPT_UNLOAD };
enum {
    MOST_MODULES = 1 << 18,
    MOST_IDENTITIES = 1 << 18,
    MOST_NAMES = 1 << 20,
    MOST_NAME_BYTES = 128 << 20,
    MOST_NAME = 4096, /* maximum bytes of a method's name */
};
static const GUID image = {0x2CB15D1D, 0x5FC1, 0x11D2, {0xAB, 0xE1, 0x00, 0xA0, 0xC9, 0x11, 0xF5, 0x18}};
static const GUID image_id = {0xB3E675D7, 0x2554, 0x4F18, {0x83, 0x0B, 0x27, 0x62, 0x73, 0x25, 0x60, 0xDE}};
static const GUID clr_runtime = {0xE13C0D23, 0xCCBC, 0x4E12, {0x93, 0x1B, 0xD9, 0xCC, 0x2E, 0xEE, 0x27, 0xE4}};
static const GUID clr_rundown = {0xA669021C, 0xC450, 0x4609, {0xA0, 0x35, 0x5A, 0xF5, 0x9A, 0xF4, 0xDF, 0x18}};
static const GUID script = {0x57277741, 0x3638, 0x4A4B, {0xBD, 0xBA, 0x0A, 0xC6, 0xE4, 0x5D, 0xA5, 0x6C}};

/* The data of the ImageID events about the image at one address. */
struct identity {
    uint32_t process, size, time, age;
    uint64_t base;
    bool has_symbols;
    GUID signature;
    char *symbols;
};

struct code_places {
    struct code_ranges images, methods;
    struct code_module **modules;
    size_t module_count, module_capacity;
    struct id_map module_index; /* hash of a module -> its index in `modules` + 1 */
    struct id_map identities;   /* process and base -> struct identity */
    char **names;               /* names of methods and of their modules */
    size_t name_count, name_capacity, name_bytes;
    struct id_map name_index;    /* hash of a name -> its index in `names` + 1 */
    struct id_map method_module; /* process and module id -> index + 1 of a name */
    uint64_t refused;
    struct text_buffer room;
};

HRESULT code_places_create(struct code_places **out)
{
    struct code_places *p = *out = memory_zero(1, sizeof *p);
    if (!p)
        return E_OUTOFMEMORY;
    p->module_index.item_size = p->name_index.item_size = p->method_module.item_size = sizeof(uint32_t);
    p->identities.item_size = sizeof(struct identity);
    return S_OK;
}

static uint64_t places_key(uint64_t a, uint64_t b)
{
    const uint64_t key = hash_number(hash_number(HASH_START, a), b);
    return key != 0 ? key : 1;
}

/* ---- payloads ---- */

struct payload {
    const uint8_t *at;
    size_t left;
    uint32_t width;
    bool failed;
};

static struct payload payload_of(const struct trace_event *e)
{
    const EVENT_RECORD *r = e->record;
    uint32_t width = e->pointer_size == 4 ? 4 : 8;
    if (r->EventHeader.Flags & (EVENT_HEADER_FLAG_32_BIT_HEADER | EVENT_HEADER_FLAG_64_BIT_HEADER))
        width = r->EventHeader.Flags & EVENT_HEADER_FLAG_32_BIT_HEADER ? 4 : 8;
    return (struct payload){r->UserData, r->UserDataLength, width, false};
}

static const uint8_t *take_bytes(struct payload *p, size_t size)
{
    static const uint8_t zeros[16];
    if (size > p->left) {
        p->failed = true;
        return zeros; /* these 16 bytes suffice, because no value is longer */
    }
    const uint8_t *at = p->at;
    p->at += size;
    p->left -= size;
    return at;
}

static void skip(struct payload *p, size_t size)
{
    (void)take_bytes(p, size <= p->left ? size : p->left + 1);
}

static uint32_t take_u32(struct payload *p)
{
    return get_u32(take_bytes(p, 4));
}

static uint64_t take_u64(struct payload *p)
{
    return get_u64(take_bytes(p, 8));
}

static uint64_t take_pointer(struct payload *p)
{
    return p->width == 4 ? take_u32(p) : take_u64(p);
}

/* Reads UTF-16 up to its NUL or the end. The text is from memory_alloc. Returns NULL if memory runs out. */
static char *take_text(struct payload *p)
{
    size_t units = 0;
    const bool ended = etl_text_length(p->at, p->left, &units);
    if (!ended)
        units = p->left / 2;
    char *text = etl_text(p->at, units);
    skip(p, ended ? 2 * units + 2 : p->left);
    return text;
}

static const char *last_name(const char *path)
{
    const char *name = path;
    for (const char *c = path; *c; c++)
        if (*c == '\\' || *c == '/')
            name = c + 1;
    return name;
}

/* ---- modules ---- */

static bool module_equals(const struct code_module *m, const char *path, uint32_t size, uint32_t time,
                          const struct identity *id)
{
    const bool has_symbols = id && id->has_symbols;
    return m->size == size && m->time == time && m->has_symbols == has_symbols &&
           (!has_symbols || (m->age == id->age && guid_equal(&m->signature, &id->signature))) &&
           strcmp(m->path, path) == 0;
}

static HRESULT module_create(const char *path, uint32_t size, uint32_t time, const struct identity *id,
                             struct code_module **out)
{
    struct code_module *m = *out = memory_zero(1, sizeof *m);
    if (m)
        m->path = text_copy(path);
    if (m && m->path && id && id->has_symbols)
        m->symbols = text_copy(id->symbols);
    if (!m || !m->path || (id && id->has_symbols && !m->symbols)) {
        memory_free(m ? m->path : NULL);
        memory_free(m);
        return E_OUTOFMEMORY;
    }
    m->name = last_name(m->path);
    m->size = size;
    m->time = time;
    if (id && id->has_symbols) {
        m->has_symbols = true;
        m->signature = id->signature;
        m->age = id->age;
    }
    return S_OK;
}

/* Finds or adds a module. Returns S_FALSE if there are too many modules. */
static HRESULT module_find(struct code_places *p, const char *path, uint32_t size, uint32_t time,
                           const struct identity *id, uint32_t *out)
{
    uint64_t hash = hash_text(hash_number(hash_number(HASH_START, size), time), path);
    if (id && id->has_symbols)
        hash = hash_number(hash_bytes(hash, &id->signature, sizeof id->signature), id->age);
    hash = hash != 0 ? hash : 1;
    const uint32_t *known = id_map_find(&p->module_index, hash);
    if (known && module_equals(p->modules[*known - 1], path, size, time, id)) {
        *out = *known - 1;
        return S_OK;
    }
    if (p->module_count >= MOST_MODULES) {
        p->refused++;
        return S_FALSE;
    }
    void *items = p->modules;
    if (!memory_grow(&items, &p->module_capacity, p->module_count + 1, sizeof *p->modules))
        return E_OUTOFMEMORY;
    p->modules = items;
    uint32_t *index = id_map_put(&p->module_index, hash);
    if (!index || FAILED(module_create(path, size, time, id, &p->modules[p->module_count])))
        return E_OUTOFMEMORY;
    *out = p->modules[p->module_count]->index = (uint32_t)p->module_count;
    *index = (uint32_t)++p->module_count;
    return S_OK;
}

/* ---- images ---- */

static struct identity *identity_find(struct code_places *p, uint32_t process, uint64_t base)
{
    struct identity *id = id_map_find(&p->identities, places_key(process, base));
    return id && id->process == process && id->base == base ? id : NULL;
}

/* Returns the process to which an image belongs. Images of the kernel belong to process 0, whatever the event's process
   is. */
static uint32_t process_of(uint32_t process, uint64_t address, uint32_t width)
{
    const uint64_t first = width == 4 ? UINT64_C(0x80000000) : UINT64_C(0x8000000000000000);
    return address >= first ? 0 : process;
}

static HRESULT take_image_id(struct code_places *p, const struct trace_event *e)
{
    struct payload d = payload_of(e);
    struct identity found = {.base = take_pointer(&d)};
    const uint8_t type = e->record->EventHeader.EventDescriptor.Opcode;
    if (type == ID_INFO) {
        found.size = (uint32_t)take_pointer(&d);
        found.process = take_u32(&d);
        found.time = take_u32(&d);
    } else if (type == ID_RSDS) {
        found.process = take_u32(&d);
        memcpy(&found.signature, take_bytes(&d, sizeof found.signature), sizeof found.signature);
        found.age = take_u32(&d);
        found.has_symbols = true;
    } else {
        return S_OK;
    }
    if (d.failed)
        return S_OK;
    found.process = process_of(found.process, found.base, d.width);
    struct identity *id = identity_find(p, found.process, found.base);
    if (!id && p->identities.count >= MOST_IDENTITIES) {
        p->refused++;
        return S_OK;
    }
    if (!id && !(id = id_map_put(&p->identities, places_key(found.process, found.base))))
        return E_OUTOFMEMORY;
    if (type == ID_INFO) { /* this event is the first of an image's ImageID events */
        memory_free(id->symbols);
        *id = found;
        return S_OK;
    }
    const uint8_t *end = memchr(d.at, 0, d.left);
    struct text_buffer name = {0};
    text_buffer_add_utf8(&name, (const char *)d.at, end ? (size_t)(end - d.at) : d.left);
    found.symbols = text_copy(name.length ? last_name(name.text) : "");
    const bool failed = name.failed || !found.symbols;
    text_buffer_free(&name);
    if (failed)
        return E_OUTOFMEMORY;
    found.size = id->size;
    found.time = id->time;
    memory_free(id->symbols);
    *id = found;
    return S_OK;
}

static HRESULT image_begin(struct code_places *p, uint32_t process, uint64_t base, uint64_t size, uint32_t time,
                           const char *path, uint64_t from)
{
    uint32_t module;
    HRESULT hr = module_find(p, path, (uint32_t)size, time, identity_find(p, process, base), &module);
    if (hr != S_OK)
        return SUCCEEDED(hr) ? S_OK : hr;
    struct code_range *range = code_ranges_begin(&p->images, process, base, size, from, &hr);
    if (range)
        range->what = module;
    return hr;
}

static HRESULT take_image(struct code_places *p, const struct trace_event *e)
{
    struct payload d = payload_of(e);
    const uint8_t version = e->record->EventHeader.EventDescriptor.Version;
    const uint8_t type = e->record->EventHeader.EventDescriptor.Opcode;
    if (type != IMAGE_LOAD && type != IMAGE_UNLOAD && type != IMAGE_START && type != IMAGE_END)
        return S_OK;
    const uint64_t base = take_pointer(&d), size = version == 0 ? take_u32(&d) : take_pointer(&d);
    uint32_t process = version == 0 ? e->record->EventHeader.ProcessId : take_u32(&d), time = 0;
    if (version >= 2) {
        skip(&d, 4); /* check sum */
        time = take_u32(&d);
        skip(&d, 4);
        skip(&d, d.width);
        skip(&d, 16);
    }
    if (d.failed || size == 0 || size > UINT32_MAX)
        return S_OK;
    process = process_of(process, base, d.width);
    if (type == IMAGE_UNLOAD) {
        struct code_range *open = code_ranges_open(&p->images, process, base);
        if (open) {
            open->to = e->number;
            return S_OK;
        }
    } else if (type == IMAGE_END && code_ranges_open(&p->images, process, base)) {
        return S_OK;
    }
    /* An image without a load event in the trace was loaded before the trace began. */
    char *path = take_text(&d);
    HRESULT hr =
        path ? image_begin(p, process, base, size, time, path, type == IMAGE_LOAD ? e->number : 0) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && type == IMAGE_UNLOAD)
        code_ranges_end(&p->images, process, base, e->number);
    memory_free(path);
    return hr;
}

/* ---- methods ---- */

/* Finds or adds a name. Returns S_FALSE if there are too many names. */
static HRESULT name_find(struct code_places *p, const char *name, uint32_t *out)
{
    uint64_t hash = hash_text(HASH_START, name);
    hash = hash != 0 ? hash : 1;
    const uint32_t *known = id_map_find(&p->name_index, hash);
    if (known && strcmp(p->names[*known - 1], name) == 0) {
        *out = *known - 1;
        return S_OK;
    }
    const size_t bytes = strlen(name) + 1;
    if (p->name_count >= MOST_NAMES || bytes > MOST_NAME_BYTES - p->name_bytes) {
        p->refused++;
        return S_FALSE;
    }
    void *items = p->names;
    if (!memory_grow(&items, &p->name_capacity, p->name_count + 1, sizeof *p->names))
        return E_OUTOFMEMORY;
    p->names = items;
    uint32_t *index = id_map_put(&p->name_index, hash);
    if (!index || !(p->names[p->name_count] = text_copy(name)))
        return E_OUTOFMEMORY;
    p->name_bytes += bytes;
    *out = (uint32_t)p->name_count;
    *index = (uint32_t)++p->name_count;
    return S_OK;
}

static HRESULT method_begin(struct code_places *p, const struct trace_event *e, uint64_t start, uint64_t size,
                            uint64_t owner, const char *name, bool rundown)
{
    uint32_t index;
    const uint32_t process = e->record->EventHeader.ProcessId;
    const struct code_range *open = code_ranges_open(&p->methods, process, start);
    if (rundown && open && open->size == size)
        return S_OK;
    HRESULT hr = name_find(p, name, &index);
    if (hr != S_OK)
        return SUCCEEDED(hr) ? S_OK : hr;
    struct code_range *range = code_ranges_begin(&p->methods, process, start, size, rundown ? 0 : e->number, &hr);
    if (range) {
        range->what = index;
        range->owner = owner;
    }
    return hr;
}

/* Builds Namespace.Name(parameters). The signature in the event begins with the result type. */
static HRESULT clr_name(struct code_places *p, struct payload *d)
{
    char *space = take_text(d), *name = take_text(d), *signature = take_text(d);
    const bool failed = !space || !name || !signature;
    p->room.length = 0;
    if (!failed) {
        const char *parameters = strchr(signature, '(');
        text_buffer_add(&p->room, space);
        text_buffer_add(&p->room, *space && *name ? "." : "");
        text_buffer_add(&p->room, name);
        text_buffer_add(&p->room, parameters ? parameters : "");
    }
    memory_free(space);
    memory_free(name);
    memory_free(signature);
    if (!p->room.failed && p->room.length > MOST_NAME)
        p->room.text[p->room.length = MOST_NAME] = 0;
    return failed || p->room.failed ? E_OUTOFMEMORY : S_OK;
}

static HRESULT take_clr_method(struct code_places *p, const struct trace_event *e, bool rundown)
{
    struct payload d = payload_of(e);
    skip(&d, 8); /* MethodID */
    const uint64_t owner = take_u64(&d), start = take_u64(&d);
    const uint32_t size = take_u32(&d);
    skip(&d, 8); /* MethodToken, MethodFlags */
    if (d.failed || size == 0)
        return S_OK;
    if (!rundown && e->record->EventHeader.EventDescriptor.Id == CLR_UNLOAD) {
        struct code_range *open = code_ranges_open(&p->methods, e->record->EventHeader.ProcessId, start);
        if (open) {
            open->to = e->number;
            return S_OK;
        }
    }
    HRESULT hr = clr_name(p, &d);
    if (SUCCEEDED(hr) && p->room.length != 0)
        hr = method_begin(p, e, start, size, owner, p->room.text,
                          rundown || e->record->EventHeader.EventDescriptor.Id == CLR_UNLOAD);
    if (SUCCEEDED(hr) && !rundown && e->record->EventHeader.EventDescriptor.Id == CLR_UNLOAD)
        code_ranges_end(&p->methods, e->record->EventHeader.ProcessId, start, e->number);
    return hr;
}

static HRESULT take_clr_module(struct code_places *p, const struct trace_event *e)
{
    struct payload d = payload_of(e);
    const uint64_t module = take_u64(&d);
    uint32_t index;
    skip(&d, 16); /* AssemblyID, ModuleFlags, Reserved */
    if (d.failed || p->method_module.count >= MOST_MODULES)
        return S_OK;
    char *path = take_text(&d);
    HRESULT hr = path ? *path ? name_find(p, last_name(path), &index) : S_FALSE : E_OUTOFMEMORY;
    memory_free(path);
    if (hr != S_OK)
        return SUCCEEDED(hr) ? S_OK : hr;
    uint32_t *item = id_map_put(&p->method_module, places_key(e->record->EventHeader.ProcessId, module));
    if (!item)
        return E_OUTOFMEMORY;
    *item = index + 1;
    return S_OK;
}

static HRESULT take_clr(struct code_places *p, const struct trace_event *e, bool rundown)
{
    switch (e->record->EventHeader.EventDescriptor.Id) {
    case CLR_LOAD:
    case CLR_UNLOAD:
        return take_clr_method(p, e, rundown);
    case CLR_MODULE:
        return rundown ? S_OK : take_clr_module(p, e); /* in the rundown provider, event 152 has another meaning */
    case CLR_MODULE_START:
    case CLR_MODULE_END:
        return rundown ? take_clr_module(p, e) : S_OK;
    default:
        return S_OK;
    }
}

static HRESULT take_script(struct code_places *p, const struct trace_event *e)
{
    struct payload d = payload_of(e);
    const uint16_t id = e->record->EventHeader.EventDescriptor.Id;
    if (id != SCRIPT_RUNDOWN && id != SCRIPT_LOAD && id != SCRIPT_UNLOAD)
        return S_OK;
    skip(&d, d.width); /* ScriptContextID */
    const uint64_t start = take_pointer(&d), size = take_u64(&d);
    skip(&d, 8 + 8 + 8); /* ids and flags, SourceID, Line and Column */
    if (d.failed || size == 0)
        return S_OK;
    if (id == SCRIPT_UNLOAD) {
        code_ranges_end(&p->methods, e->record->EventHeader.ProcessId, start, e->number);
        return S_OK;
    }
    char *name = take_text(&d);
    HRESULT hr = name ? S_OK : E_OUTOFMEMORY;
    if (name && *name)
        hr = method_begin(p, e, start, size, 0, name, id == SCRIPT_RUNDOWN);
    memory_free(name);
    return hr;
}

/* ---- all events ---- */

HRESULT code_places_take(struct code_places *p, const struct trace_event *e)
{
    const GUID *provider = &e->record->EventHeader.ProviderId;
    if (!e->known)
        return S_OK;
    if (e->record->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) {
        if (guid_equal(provider, &image))
            return take_image(p, e);
        return guid_equal(provider, &image_id) ? take_image_id(p, e) : S_OK;
    }
    if (guid_equal(provider, &clr_runtime))
        return take_clr(p, e, false);
    if (guid_equal(provider, &clr_rundown))
        return take_clr(p, e, true);
    return guid_equal(provider, &script) ? take_script(p, e) : S_OK;
}

/* Sets the identity of images whose ImageID events came after their load events or are in another trace. */
static HRESULT images_identify(struct code_places *p)
{
    for (size_t i = 0; i < p->images.count; i++) {
        struct code_range *range = &p->images.items[i];
        const struct code_module *m = p->modules[range->what];
        const struct identity *id = m->has_symbols ? NULL : identity_find(p, range->process, range->base);
        if (!id || !id->has_symbols || (m->time != 0 && id->time != 0 && m->time != id->time))
            continue;
        const HRESULT hr = module_find(p, m->path, m->size, m->time, id, &range->what);
        if (FAILED(hr))
            return hr;
    }
    return S_OK;
}

static void identities_free(struct code_places *p)
{
    size_t at = 0;
    for (struct identity *id; (id = id_map_next(&p->identities, &at, NULL));)
        memory_free(id->symbols);
    id_map_free(&p->identities);
}

HRESULT code_places_finish(struct code_places *p)
{
    const HRESULT hr = images_identify(p);
    code_ranges_sort(&p->images);
    code_ranges_sort(&p->methods);
    identities_free(p);
    id_map_free(&p->module_index);
    id_map_free(&p->name_index);
    return hr;
}

bool code_places_find(const struct code_places *p, uint32_t process, uint64_t address, uint64_t number,
                      struct code_place *out)
{
    *out = (struct code_place){0};
    const uint32_t owner = address >= UINT64_C(0x8000000000000000) ? 0 : process;
    const struct code_range *range = code_ranges_find(&p->images, owner, address, number);
    if (!range && address >= UINT64_C(0x80000000) && address <= UINT32_MAX) /* it may belong to a 32-bit kernel */
        range = code_ranges_find(&p->images, 0, address, number);
    if (range) {
        out->module = p->modules[range->what];
        out->offset = address - range->base;
        return true;
    }
    range = code_ranges_find(&p->methods, process, address, number);
    if (!range)
        return false;
    const uint32_t *module = id_map_find(&p->method_module, places_key(process, range->owner));
    out->method = p->names[range->what];
    out->method_module = module && range->owner != 0 ? p->names[*module - 1] : NULL;
    out->offset = address - range->base;
    return true;
}

size_t code_places_modules(const struct code_places *p)
{
    return p->module_count;
}

const struct code_module *code_places_module(const struct code_places *p, size_t index)
{
    return p->modules[index];
}

uint64_t code_places_refused(const struct code_places *p)
{
    return p->refused + p->images.refused + p->methods.refused;
}

void code_module_identity(const struct code_module *m, char out[CODE_IDENTITY])
{
    const GUID *g = &m->signature;
    snprintf(out, CODE_IDENTITY, "%08X%04X%04X%02X%02X%02X%02X%02X%02X%02X%02X%x", (unsigned)g->Data1, g->Data2,
             g->Data3, g->Data4[0], g->Data4[1], g->Data4[2], g->Data4[3], g->Data4[4], g->Data4[5], g->Data4[6],
             g->Data4[7], (unsigned)m->age);
}

void code_places_free(struct code_places *p)
{
    if (!p)
        return;
    code_ranges_free(&p->images);
    code_ranges_free(&p->methods);
    for (size_t i = 0; i < p->module_count; i++) {
        memory_free(p->modules[i]->path);
        memory_free(p->modules[i]->symbols);
        memory_free(p->modules[i]);
    }
    memory_free(p->modules);
    for (size_t i = 0; i < p->name_count; i++)
        memory_free(p->names[i]);
    memory_free(p->names);
    identities_free(p);
    id_map_free(&p->module_index);
    id_map_free(&p->name_index);
    id_map_free(&p->method_module);
    text_buffer_free(&p->room);
    memory_free(p);
}
