/* SPDX-License-Identifier: MIT */
/* The directory's enable records (which session enables which provider with which settings), and the bytes of their
   filters in the arena. */
#include "engine/base/assert.h"
#include "engine/base/memory.h"
#include "engine/etw/directory/directory_layout.h"
#include "engine/etw/etw_types.h"

/* In a change: stores the filters in the arena. Errors, as HRESULTs with an error text: ERROR_NO_SYSTEM_RESOURCES,
   ERROR_INVALID_PARAMETER. */
static HRESULT directory_filters_put(struct directory *d, const struct directory_enable *e,
                                     struct enable_payload *payload);
/* Reads the filters into *out. If a value is outside its limit, *out gets no filters. Errors: E_OUTOFMEMORY. */
static HRESULT directory_filters_take(struct directory *d, const struct enable_payload *payload,
                                      struct directory_enable *out);
static uint32_t directory_filter_units(uint32_t bytes);

static uint32_t enables_used(struct directory *d)
{
    return directory_load_limited(&d->shared->enables_used, DIRECTORY_ENABLES);
}

static bool is_provider(struct enable_record *record, const GUID *provider)
{
    GUID guid;
    directory_load(&guid, record->words, sizeof guid);
    return guid_equal(&guid, provider);
}

/* In a change: returns the session's enable record for the provider, or NULL. */
static struct enable_record *enable_find(struct directory *d, uint32_t logger, uint32_t generation,
                                         const GUID *provider)
{
    const uint32_t count = enables_used(d);
    for (uint32_t i = 0; i < count; i++) {
        struct enable_record *record = &d->shared->enable[i];
        struct enable_payload p;
        if (!directory_holds(&record->span, d->target) || !is_provider(record, provider))
            continue;
        directory_load(&p, record->words, sizeof p);
        if (p.logger == logger && p.generation == generation)
            return record;
    }
    return NULL;
}

static struct enable_record *enable_find_free(struct directory *d)
{
    const uint32_t count = enables_used(d);
    for (uint32_t i = 0; i < count; i++)
        if (directory_is_free(d, &d->shared->enable[i].span))
            return &d->shared->enable[i];
    if (count == DIRECTORY_ENABLES)
        return NULL;
    atomic_store(&d->shared->enables_used, count + 1);
    return &d->shared->enable[count];
}

/* ---- changes ---- */

/* Counts the sessions other than `logger` that have enabled the provider, and appends their names. */
static uint32_t enable_count_others(struct directory *d, const GUID *provider, uint32_t logger,
                                    struct text_buffer *names)
{
    const uint32_t count = enables_used(d);
    uint32_t others = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct enable_record *record = &d->shared->enable[i];
        struct enable_payload p;
        if (!directory_holds(&record->span, d->target) || !is_provider(record, provider))
            continue;
        directory_load(&p, record->words, sizeof p);
        struct session_record *session = directory_find_session(d, p.logger, p.generation, d->target);
        if (p.logger == logger || !session)
            continue;
        others++;
        if (names) {
            char *name = directory_session_name(session);
            text_buffer_format(names, "%s'%.100s'", names->length ? ", " : "", name ? name : "?");
            memory_free(name);
        }
    }
    return others;
}

static HRESULT enable_refuse_ninth(struct directory *d, const GUID *provider, uint32_t logger)
{
    struct text_buffer names = {0};
    char guid[39];
    (void)enable_count_others(d, provider, logger, &names);
    char *text = text_buffer_take(&names);
    if (!text)
        return E_OUTOFMEMORY;
    text_from_guid(provider, guid);
    HRESULT hr = error_set(HRESULT_FROM_WIN32(ERROR_NO_SYSTEM_RESOURCES),
                           "cannot enable provider %s: already enabled by %u sessions, which is the maximum: %s", guid,
                           (unsigned)DIRECTORY_ENABLES_OF_ONE, text);
    memory_free(text);
    return hr;
}

/* Adds a record that replaces `old` (NULL: no record). */
static HRESULT enable_put_record(struct directory *d, struct enable_record *old, const struct enable_payload *payload)
{
    struct enable_record *record = enable_find_free(d);
    if (!record)
        return error_set(HRESULT_FROM_WIN32(ERROR_NO_SYSTEM_RESOURCES),
                         "cannot enable a provider: all %u entries of the directory are in use",
                         (unsigned)DIRECTORY_ENABLES);
    directory_put(d, &record->span, record->words, payload, sizeof *payload);
    if (old)
        directory_retire(d, &old->span);
    return S_OK;
}

HRESULT directory_enable_set(struct directory *d, const struct directory_enable *e)
{
    if (e->generation == 0 || !directory_find_session(d, e->logger, e->generation, d->target))
        return error_set(HRESULT_FROM_WIN32(ERROR_WMI_INSTANCE_NOT_FOUND), "no session of logger %u, generation %u",
                         (unsigned)e->logger, (unsigned)e->generation);
    struct enable_record *old = enable_find(d, e->logger, e->generation, &e->provider);
    if (!old && enable_count_others(d, &e->provider, e->logger, NULL) >= DIRECTORY_ENABLES_OF_ONE)
        return enable_refuse_ninth(d, &e->provider, e->logger);
    struct enable_payload payload = {
        .provider = e->provider,
        .source = e->source,
        .logger = e->logger,
        .generation = e->generation,
        .serial = atomic_fetch_add(&d->shared->serial, 1) + 1,
        .any = e->any,
        .all = e->all,
        .property = e->property,
        .level = e->level,
        .classic = e->classic,
    };
    if (old) {
        struct enable_payload before;
        directory_load(&before, old->words, sizeof before);
        payload.captures = before.captures;
    }
    HRESULT hr = directory_filters_put(d, e, &payload);
    return FAILED(hr) ? hr : enable_put_record(d, old, &payload);
}

HRESULT directory_enable_clear(struct directory *d, uint32_t logger, uint32_t generation, const GUID *provider)
{
    struct enable_record *record = enable_find(d, logger, generation, provider);
    if (!record)
        return S_FALSE;
    directory_retire(d, &record->span);
    return S_OK;
}

HRESULT directory_enable_capture(struct directory *d, uint32_t logger, uint32_t generation, const GUID *provider,
                                 const GUID *source)
{
    struct enable_record *record = enable_find(d, logger, generation, provider);
    struct enable_payload payload;
    if (!record)
        return S_FALSE;
    directory_load(&payload, record->words, sizeof payload);
    payload.captures++;
    payload.source = *source;
    /* The old and the new record refer to the same filters, which stay in use until both records are invalid. */
    return enable_put_record(d, record, &payload);
}

HRESULT directory_enables_end(struct directory *d, uint32_t logger, uint32_t generation, GUID **providers,
                              size_t *count)
{
    const uint32_t all = enables_used(d);
    struct enable_payload p;
    size_t capacity = 0;
    *providers = NULL;
    *count = 0;
    for (int pass = 0; pass < 2; pass++) { /* the first pass only collects the providers, so nothing has changed if
                                              memory for the list runs out */
        for (uint32_t i = 0; i < all; i++) {
            struct enable_record *record = &d->shared->enable[i];
            if (!directory_holds(&record->span, d->target))
                continue;
            directory_load(&p, record->words, sizeof p);
            if (p.logger != logger || p.generation != generation)
                continue;
            if (pass == 1) {
                directory_retire(d, &record->span);
                continue;
            }
            if (!memory_grow((void **)providers, &capacity, *count + 1, sizeof **providers)) {
                memory_free(*providers);
                *providers = NULL;
                *count = 0;
                return E_OUTOFMEMORY;
            }
            (*providers)[(*count)++] = p.provider;
        }
    }
    return S_OK;
}

/* ---- reading ---- */

struct reading {
    const GUID *provider; /* NULL: all providers */
    struct directory_enable *list;
    size_t count, capacity;
    uint64_t revision;
};

static HRESULT read_enables(struct directory *d, uint64_t revision, void *context)
{
    struct reading *r = context;
    const uint32_t all = enables_used(d);
    for (; r->count; r->count--) /* items from a previous attempt */
        memory_free(r->list[r->count - 1].filter_data);
    r->revision = revision;
    for (uint32_t i = 0; i < all; i++) {
        struct enable_record *record = &d->shared->enable[i];
        struct enable_payload p;
        if (!directory_holds(&record->span, revision) || (r->provider && !is_provider(record, r->provider)))
            continue;
        directory_load(&p, record->words, sizeof p);
        if (p.generation == 0 || directory_session_state(d, p.logger, p.generation, revision) != DIRECTORY_RUNNING ||
            (r->provider && !guid_equal(&p.provider, r->provider)))
            continue;
        if (!memory_grow((void **)&r->list, &r->capacity, r->count + 1, sizeof *r->list))
            return E_OUTOFMEMORY;
        struct directory_enable *e = &r->list[r->count];
        *e = (struct directory_enable){
            .provider = p.provider,
            .source = p.source,
            .logger = p.logger,
            .generation = p.generation,
            .serial = p.serial,
            .captures = p.captures,
            .any = p.any,
            .all = p.all,
            .property = p.property,
            .level = p.level,
            .classic = p.classic != 0,
        };
        HRESULT hr = directory_filters_take(d, &p, e);
        if (FAILED(hr))
            return hr;
        r->count++;
    }
    return S_OK;
}

HRESULT directory_enables(struct directory *d, const GUID *provider, struct directory_enable **out, size_t *count,
                          uint64_t *revision)
{
    struct reading r = {.provider = provider};
    HRESULT hr = directory_read(d, read_enables, &r);
    *out = NULL;
    *count = 0;
    if (FAILED(hr)) {
        directory_enables_free(r.list, r.count);
        return hr;
    }
    *out = r.list;
    *count = r.count;
    *revision = r.revision;
    return S_OK;
}

void directory_enables_free(struct directory_enable *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        memory_free(list[i].filter_data);
    memory_free(list);
}

/* ---- filters ---- */

/* The arena holds the bytes of filters. A block belongs to the enable record that refers to it, and becomes free
   together with that record. */

static uint32_t filter_rounded(uint32_t size)
{
    return (size + 7) & ~7u;
}

static uint32_t directory_filter_units(uint32_t bytes)
{
    return (bytes + ARENA_UNIT - 1) / ARENA_UNIT;
}

/* Marks the units of all enable records that are valid now or after the change. */
static void arena_mark_used(struct directory *d, uint64_t used[ARENA_UNITS / 64])
{
    const uint32_t enables = directory_load_limited(&d->shared->enables_used, DIRECTORY_ENABLES);
    for (uint32_t i = 0; i < enables; i++) {
        struct enable_record *record = &d->shared->enable[i];
        struct enable_payload p;
        if (directory_is_free(d, &record->span))
            continue;
        directory_load(&p, record->words, sizeof p);
        if (p.filter_bytes > DIRECTORY_FILTER_BYTES * 2u || p.filter_at >= ARENA_UNITS)
            continue;
        const uint32_t end = p.filter_at + directory_filter_units(p.filter_bytes);
        for (uint32_t unit = p.filter_at; unit < end && unit < ARENA_UNITS; unit++)
            used[unit / 64] |= UINT64_C(1) << unit % 64;
    }
}

/* Returns the first unit of the first sufficient free run; ARENA_UNITS if no run is sufficient. */
static uint32_t arena_find_free(const uint64_t used[ARENA_UNITS / 64], uint32_t units)
{
    uint32_t run = 0;
    for (uint32_t unit = 0; unit < ARENA_UNITS; unit++) {
        run = used[unit / 64] >> unit % 64 & 1 ? 0 : run + 1;
        if (run == units)
            return unit + 1 - units;
    }
    return ARENA_UNITS;
}

static HRESULT filters_check(const struct directory_enable *e, uint32_t *bytes)
{
    uint32_t data = 0;
    if (e->filter_count > DIRECTORY_FILTERS)
        return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_PARAMETER), "invalid filter count %u: expected at most %u",
                         (unsigned)e->filter_count, (unsigned)DIRECTORY_FILTERS);
    for (uint32_t i = 0; i < e->filter_count; i++) {
        if (e->filter[i].size > DIRECTORY_FILTER_BYTES - data ||
            filter_rounded(e->filter[i].size) > DIRECTORY_FILTER_BYTES - data)
            return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_PARAMETER), "invalid filters: larger than %u bytes",
                             (unsigned)DIRECTORY_FILTER_BYTES);
        data += filter_rounded(e->filter[i].size);
    }
    *bytes = e->filter_count * 8 + data;
    return S_OK;
}

static HRESULT directory_filters_put(struct directory *d, const struct directory_enable *e,
                                     struct enable_payload *payload)
{
    uint64_t used[ARENA_UNITS / 64] = {0};
    uint32_t bytes = 0, at;
    HRESULT hr = filters_check(e, &bytes);
    payload->filter_count = 0;
    payload->filter_at = payload->filter_bytes = 0;
    if (FAILED(hr) || e->filter_count == 0)
        return hr;
    arena_mark_used(d, used);
    const uint32_t first = arena_find_free(used, directory_filter_units(bytes));
    if (first == ARENA_UNITS)
        return error_set(HRESULT_FROM_WIN32(ERROR_NO_SYSTEM_RESOURCES),
                         "cannot enable a provider: no room for %u bytes of filters in the directory", (unsigned)bytes);
    uint8_t *block = memory_zero(1, bytes);
    if (!block)
        return E_OUTOFMEMORY;
    at = e->filter_count * 8;
    for (uint32_t i = 0; i < e->filter_count; i++) {
        memcpy(block + 8 * i, &e->filter[i].type, 4);
        memcpy(block + 8 * i + 4, &e->filter[i].size, 4);
        if (e->filter[i].size)
            memcpy(block + at, e->filter[i].data, e->filter[i].size);
        at += filter_rounded(e->filter[i].size);
    }
    assert(at == bytes && first + directory_filter_units(bytes) <= ARENA_UNITS);
    directory_store(d->shared->arena[first], block, bytes);
    memory_free(block);
    payload->filter_count = (uint16_t)e->filter_count;
    payload->filter_at = first;
    payload->filter_bytes = bytes;
    return S_OK;
}

static HRESULT directory_filters_take(struct directory *d, const struct enable_payload *payload,
                                      struct directory_enable *out)
{
    const uint32_t count = payload->filter_count, bytes = payload->filter_bytes;
    uint32_t at = count * 8;
    out->filter_count = 0;
    out->filter_data = NULL;
    if (count == 0 || count > DIRECTORY_FILTERS || bytes < at || bytes > at + DIRECTORY_FILTER_BYTES || bytes % 8 ||
        payload->filter_at >= ARENA_UNITS || directory_filter_units(bytes) > ARENA_UNITS - payload->filter_at)
        return S_OK;
    uint8_t *block = memory_alloc(bytes);
    if (!block)
        return E_OUTOFMEMORY;
    directory_load(block, d->shared->arena[payload->filter_at], bytes);
    for (uint32_t i = 0; i < count; i++) {
        struct directory_filter *f = &out->filter[i];
        memcpy(&f->type, block + 8 * i, 4);
        memcpy(&f->size, block + 8 * i + 4, 4);
        if (f->size > bytes - at || filter_rounded(f->size) > bytes - at) {
            memory_free(block);
            return S_OK;
        }
        f->data = block + at;
        at += filter_rounded(f->size);
    }
    out->filter_count = count;
    out->filter_data = block;
    return S_OK;
}
