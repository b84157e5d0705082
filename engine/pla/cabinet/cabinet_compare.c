/* SPDX-License-Identifier: MIT */
/* Whether what is said to be in a cabinet is: byte for byte, before anybody deletes it elsewhere. */
#include "engine/base/memory.h"
#include "engine/pla/cabinet/cabinet_format.h"
#include "engine/pla/cabinet/cabinet_name.h"
#include "engine/pla/cabinet/cabinet_reader.h"

#include <stdlib.h>
#include <string.h>

struct wanted {
    char *name;
    size_t member;
};
struct comparison {
    struct cabinet *c;
    const struct cabinet_source *source;
    struct wanted *all; /* by name */
    size_t *member_of;  /* of each entry; the count of members: none */
    struct file *file;  /* of the entry that has begun, if it is wanted */
    uint64_t at;
    uint8_t bytes[CABINET_BLOCK_MAX];
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct wanted *)a)->name, ((const struct wanted *)b)->name);
}

static int name_of(const void *key, const void *element)
{
    return strcmp(key, ((const struct wanted *)element)->name);
}

static HRESULT differs(const struct comparison *m, size_t member, const char *how)
{
    char *shown = cabinet_name_shown(m->source->members[member].name);
    if (!shown)
        return E_OUTOFMEMORY;
    const HRESULT hr = error_set(PLA_E_CABAPI_FAILURE, "\"%s\": \"%s\" %s", m->c->name, shown, how);
    memory_free(shown);
    return hr;
}

static HRESULT compare_begin(void *user, size_t entry)
{
    struct comparison *m = user;
    const size_t member = m->member_of[entry];
    m->at = 0;
    return member < m->source->count ? m->source->open(m->source->user, member, &m->file) : S_OK;
}

static HRESULT compare_bytes(void *user, size_t entry, const uint8_t *data, size_t size)
{
    struct comparison *m = user;
    size_t got;
    if (!m->file)
        return S_OK;
    HRESULT hr = file_read_at(m->file, m->at, m->bytes, size, &got);
    if (SUCCEEDED(hr) && (got < size || memcmp(data, m->bytes, size) != 0))
        hr = differs(m, m->member_of[entry], "is not the same in the cabinet: it has changed meanwhile");
    m->at += size;
    return hr;
}

static HRESULT compare_end(void *user, size_t entry)
{
    struct comparison *m = user;
    uint8_t more;
    size_t got = 0;
    if (!m->file)
        return S_OK;
    HRESULT hr = file_read_at(m->file, m->at, &more, 1, &got);
    file_close(m->file);
    m->file = NULL;
    return SUCCEEDED(hr) && got ? differs(m, m->member_of[entry], "is longer than in the cabinet: it still grows") : hr;
}

/* Which member each entry is; each member must be one. */
static HRESULT match(struct comparison *m)
{
    const size_t count = m->source->count;
    size_t found = 0;
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        m->all[i] = (struct wanted){cabinet_name_copy(m->source->members[i].name), i};
        if (!m->all[i].name)
            hr = E_OUTOFMEMORY;
    }
    if (FAILED(hr))
        return hr;
    qsort(m->all, count, sizeof *m->all, by_name);
    bool *seen = memory_zero(count + 1, sizeof *seen);
    for (size_t i = 0; seen && i < m->c->count; i++) {
        const struct wanted *w = bsearch(m->c->entries[i].name, m->all, count, sizeof *m->all, name_of);
        m->member_of[i] = w ? w->member : count;
        if (w && m->c->entries[i].size == m->source->members[w->member].size && !seen[w->member]) {
            seen[w->member] = true;
            found++;
        }
    }
    hr = seen ? S_OK : E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && found < count && i < count; i++)
        if (!seen[i])
            hr = differs(m, i, "is not in the cabinet, or in another size");
    memory_free(seen);
    return hr;
}

HRESULT cabinet_compare(struct cabinet *c, const struct cabinet_source *source, const struct cabinet_watch *watch)
{
    struct comparison *m = memory_zero(1, sizeof *m);
    if (!m)
        return E_OUTOFMEMORY;
    *m = (struct comparison){.c = c, .source = source};
    m->all = memory_zero(source->count + 1, sizeof *m->all);
    m->member_of = memory_zero(c->count + 1, sizeof *m->member_of);
    HRESULT hr = m->all && m->member_of ? match(m) : E_OUTOFMEMORY;
    const struct cabinet_visitor visitor = {compare_begin, compare_bytes, compare_end, m};
    if (SUCCEEDED(hr))
        hr = cabinet_visit(c, &visitor, watch);
    file_close(m->file);
    for (size_t i = 0; m->all && i < source->count; i++)
        memory_free(m->all[i].name);
    memory_free(m->all);
    memory_free(m->member_of);
    memory_free(m);
    return hr;
}
