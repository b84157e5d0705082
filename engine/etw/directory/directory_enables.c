/* SPDX-License-Identifier: MIT */
/* The enables of the directory: which session wants what of which provider. */
#include "engine/base/memory.h"
#include "engine/etw/directory/directory_parts.h"
#include "engine/etw/etw_provider_types.h"
#include "engine/etw/etw_types.h"

static uint32_t used(struct directory *d)
{
    return directory_bounded(&d->shared->enables_used, DIRECTORY_ENABLES);
}

static bool is_provider(struct enable_record *record, const GUID *provider)
{
    GUID guid;
    directory_load(&guid, record->words, sizeof guid);
    return guid_equal(&guid, provider);
}

/* In a change: what the session wants of the provider; NULL: nothing. */
static struct enable_record *find(struct directory *d, uint32_t logger, uint32_t turn, const GUID *provider)
{
    const uint32_t count = used(d);
    for (uint32_t i = 0; i < count; i++) {
        struct enable_record *record = &d->shared->enable[i];
        struct enable_payload p;
        if (!directory_holds(&record->span, d->target) || !is_provider(record, provider))
            continue;
        directory_load(&p, record->words, sizeof p);
        if (p.logger == logger && p.turn == turn)
            return record;
    }
    return NULL;
}

static struct enable_record *find_free(struct directory *d)
{
    const uint32_t count = used(d);
    for (uint32_t i = 0; i < count; i++)
        if (directory_is_free(d, &d->shared->enable[i].span))
            return &d->shared->enable[i];
    if (count == DIRECTORY_ENABLES)
        return NULL;
    atomic_store(&d->shared->enables_used, count + 1);
    return &d->shared->enable[count];
}

/* ---- changes ---- */

/* Other sessions than `logger` that have enabled the provider; a text that names them is added up. */
static uint32_t count_others(struct directory *d, const GUID *provider, uint32_t logger, struct text_buffer *names)
{
    const uint32_t count = used(d);
    uint32_t others = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct enable_record *record = &d->shared->enable[i];
        struct enable_payload p;
        if (!directory_holds(&record->span, d->target) || !is_provider(record, provider))
            continue;
        directory_load(&p, record->words, sizeof p);
        struct session_record *session = directory_find_session(d, p.logger, p.turn, d->target);
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

static HRESULT ninth(struct directory *d, const GUID *provider, uint32_t logger)
{
    struct text_buffer names = {0};
    char guid[39];
    (void)count_others(d, provider, logger, &names);
    char *text = text_buffer_take(&names);
    if (!text)
        return E_OUTOFMEMORY;
    text_from_guid(provider, guid);
    HRESULT hr = error_set(HRESULT_FROM_WIN32(ERROR_NO_SYSTEM_RESOURCES),
                           "%s: %u sessions have enabled this provider, no more can: %s", guid,
                           (unsigned)DIRECTORY_ENABLES_OF_ONE, text);
    memory_free(text);
    return hr;
}

/* In place of `old` (NULL: of none). */
static HRESULT put(struct directory *d, struct enable_record *old, const struct enable_payload *payload)
{
    struct enable_record *record = find_free(d);
    if (!record)
        return error_set(HRESULT_FROM_WIN32(ERROR_NO_SYSTEM_RESOURCES), "all %u enables are taken",
                         (unsigned)DIRECTORY_ENABLES);
    directory_put(d, &record->span, record->words, payload, sizeof *payload);
    if (old)
        directory_retire(d, &old->span);
    return S_OK;
}

HRESULT directory_enable_set(struct directory *d, const struct directory_enable *e)
{
    if (e->turn == 0 || !directory_find_session(d, e->logger, e->turn, d->target))
        return error_set(HRESULT_FROM_WIN32(ERROR_WMI_INSTANCE_NOT_FOUND), "there is no session of logger %u, turn %u",
                         (unsigned)e->logger, (unsigned)e->turn);
    struct enable_record *old = find(d, e->logger, e->turn, &e->provider);
    if (!old && count_others(d, &e->provider, e->logger, NULL) >= DIRECTORY_ENABLES_OF_ONE)
        return ninth(d, &e->provider, e->logger);
    struct enable_payload payload = {
        .provider = e->provider,
        .source = e->source,
        .logger = e->logger,
        .turn = e->turn,
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
    return FAILED(hr) ? hr : put(d, old, &payload);
}

HRESULT directory_enable_clear(struct directory *d, uint32_t logger, uint32_t turn, const GUID *provider)
{
    struct enable_record *record = find(d, logger, turn, provider);
    if (!record)
        return S_FALSE;
    directory_retire(d, &record->span);
    return S_OK;
}

HRESULT directory_enable_capture(struct directory *d, uint32_t logger, uint32_t turn, const GUID *provider,
                                 const GUID *source)
{
    struct enable_record *record = find(d, logger, turn, provider);
    struct enable_payload payload;
    if (!record)
        return S_FALSE;
    directory_load(&payload, record->words, sizeof payload);
    payload.captures++;
    payload.source = *source;
    /* Both name the same filters; the one that ends does not free them before the other does. */
    return put(d, record, &payload);
}

HRESULT directory_enables_end(struct directory *d, uint32_t logger, uint32_t turn, GUID **providers, size_t *count)
{
    const uint32_t all = used(d);
    struct enable_payload p;
    size_t capacity = 0;
    *providers = NULL;
    *count = 0;
    for (int pass = 0; pass < 2; pass++) { /* nothing ends when there is no memory to tell of it */
        for (uint32_t i = 0; i < all; i++) {
            struct enable_record *record = &d->shared->enable[i];
            if (!directory_holds(&record->span, d->target))
                continue;
            directory_load(&p, record->words, sizeof p);
            if (p.logger != logger || p.turn != turn)
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
    const GUID *provider; /* NULL: all */
    struct directory_enable *list;
    size_t count, capacity;
    uint64_t generation;
};

static HRESULT read_enables(struct directory *d, uint64_t generation, void *context)
{
    struct reading *r = context;
    const uint32_t all = used(d);
    for (; r->count; r->count--) /* of a try before */
        memory_free(r->list[r->count - 1].filter_data);
    r->generation = generation;
    for (uint32_t i = 0; i < all; i++) {
        struct enable_record *record = &d->shared->enable[i];
        struct enable_payload p;
        if (!directory_holds(&record->span, generation) || (r->provider && !is_provider(record, r->provider)))
            continue;
        directory_load(&p, record->words, sizeof p);
        if (p.turn == 0 || directory_session_state(d, p.logger, p.turn, generation) != DIRECTORY_RUNNING ||
            (r->provider && !guid_equal(&p.provider, r->provider)))
            continue;
        if (!memory_grow((void **)&r->list, &r->capacity, r->count + 1, sizeof *r->list))
            return E_OUTOFMEMORY;
        struct directory_enable *e = &r->list[r->count];
        *e = (struct directory_enable){
            .provider = p.provider,
            .source = p.source,
            .logger = p.logger,
            .turn = p.turn,
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
                          uint64_t *generation)
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
    *generation = r.generation;
    return S_OK;
}

void directory_enables_free(struct directory_enable *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        memory_free(list[i].filter_data);
    memory_free(list);
}
