/* SPDX-License-Identifier: MIT */
/* Names of providers, as their traits have them: a ring without a lock, whose oldest name goes first. A name counts
   when its check does, so what is half written, by one or by two, is none. */
#include "engine/base/hash.h"
#include "engine/base/memory.h"
#include "engine/etw/directory/directory_parts.h"

/* Never 0, which is the check of a place without a name. */
static uint64_t check_of(const struct name_payload *p)
{
    return hash_bytes(HASH_START, p, sizeof *p) | 1;
}

static bool is_name(const char name[DIRECTORY_PROVIDER_NAME_ROOM])
{
    const char *nul = memchr(name, 0, DIRECTORY_PROVIDER_NAME_ROOM);
    if (!nul || nul == name || !text_is_utf8(name, (size_t)(nul - name)))
        return false;
    for (const char *c = name; c < nul; c++)
        if ((unsigned char)*c < ' ')
            return false;
    return true;
}

/* A whole one, as a copy. */
static bool load(struct directory *d, uint32_t i, struct name_payload *out)
{
    struct name_record *record = &d->shared->name[i];
    const uint64_t check = atomic_load(&record->check);
    if (check == 0)
        return false;
    directory_load(out, record->words, sizeof *out);
    return check_of(out) == check && is_name(out->name);
}

/* The place of the provider's name; else the oldest one. */
static uint32_t place_of(struct directory *d, const GUID *provider)
{
    const uint32_t used = directory_bounded(&d->shared->names_given, DIRECTORY_PROVIDER_NAMES);
    for (uint32_t i = 0; i < used; i++) {
        GUID known;
        directory_load(&known, d->shared->name[i].words, sizeof known);
        if (guid_equal(&known, provider))
            return i;
    }
    return (uint32_t)(atomic_fetch_add(&d->shared->names_given, 1) % DIRECTORY_PROVIDER_NAMES);
}

void directory_name_provider(struct directory *d, const GUID *provider, const char *name)
{
    struct name_payload before, p = {.provider = *provider};
    const size_t bytes = strlen(name);
    if (bytes >= sizeof p.name)
        return;
    memcpy(p.name, name, bytes);
    if (!is_name(p.name))
        return;
    const uint32_t i = place_of(d, provider);
    if (load(d, i, &before) && !memcmp(&before, &p, sizeof p))
        return;
    struct name_record *record = &d->shared->name[i];
    atomic_store(&record->check, 0);
    directory_store(record->words, &p, sizeof p);
    atomic_store(&record->check, check_of(&p));
}

static bool is_listed(const struct directory_provider_name *list, size_t count, const GUID *provider)
{
    for (size_t i = 0; i < count; i++)
        if (guid_equal(&list[i].provider, provider))
            return true;
    return false;
}

HRESULT directory_provider_names(struct directory *d, struct directory_provider_name **out, size_t *count)
{
    const uint32_t used = directory_bounded(&d->shared->names_given, DIRECTORY_PROVIDER_NAMES);
    *count = 0;
    *out = memory_alloc((used + 1) * sizeof **out);
    if (!*out)
        return E_OUTOFMEMORY;
    for (uint32_t i = 0; i < used; i++) {
        struct name_payload p;
        if (!load(d, i, &p) || is_listed(*out, *count, &p.provider))
            continue;
        (*out)[*count].provider = p.provider;
        memcpy((*out)[(*count)++].name, p.name, sizeof p.name);
    }
    return S_OK;
}
