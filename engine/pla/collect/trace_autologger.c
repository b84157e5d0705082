/* SPDX-License-Identifier: MIT */
/* Converts autologgers to plans, and plans to autologgers. An autologger has the same settings as a session, but most
   numbers of an autologger are optional. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/etw/etw_types.h"
#include "engine/logs/etl_record.h"
#include "engine/pla/collect/trace_session.h"

#include <string.h>

enum { NO_FILE_MODES = TRACE_MODE_BUFFERING | TRACE_MODE_REAL_TIME };

static uint64_t number_or(const struct autologger_number *n, uint64_t otherwise)
{
    return n->there ? n->value : otherwise;
}

/* ---- from the registry ---- */

/* Returns the session's file; NULL: none. */
static HRESULT file_of(const struct autologger *a, char **out)
{
    const uint32_t mode = (uint32_t)number_or(&a->mode, TRACE_MODE_SEQUENTIAL);
    *out = NULL;
    if (mode & TRACE_MODE_BUFFERING || (!a->file && mode & NO_FILE_MODES))
        return S_OK;
    if (a->file) {
        *out = text_copy(a->file);
    } else {
        char *name = text_format("%s.etl", a->name);
        *out = name ? path_join(AUTOLOGGER_FOLDER, name) : NULL;
        memory_free(name);
    }
    return *out ? S_OK : E_OUTOFMEMORY;
}

/* FilterData can contain only one filter. Returns the index of that filter, preferably of one whose type the event
   provider defines. filter_count: there is no suitable filter. */
static uint32_t shown_filter(const struct autologger_provider *p)
{
    uint32_t found = p->filter_count;
    for (uint32_t i = 0; i < p->filter_count; i++) {
        const struct autologger_filter *f = &p->filter[i];
        if (f->size <= MAX_EVENT_FILTER_DATA_SIZE &&
            (found == p->filter_count || f->type == EVENT_FILTER_TYPE_SCHEMATIZED))
            found = i;
    }
    return found;
}

/* Interprets the values as enable() in engine/etw/controller/autologger.c does. */
static struct trace_enable enable_of(const struct autologger_provider *p)
{
    const bool flags_alone = p->flags.there && !p->any.there;
    const uint32_t shown = shown_filter(p);
    const struct autologger_filter *f = shown < p->filter_count ? &p->filter[shown] : NULL;
    return (struct trace_enable){
        .guid = p->guid,
        .level = (uint8_t)number_or(&p->level, 0),
        .any = number_or(flags_alone ? &p->flags : &p->any, 0),
        .all = number_or(&p->all, 0),
        .properties = flags_alone ? 0 : (uint32_t)number_or(&p->property, 0),
        .filtered = f != NULL,
        .filter_type = f ? f->type : 0,
        .filter = {.count = f ? f->size : 0, .items = f ? f->data : NULL},
    };
}

static bool is_enabled(const struct autologger_provider *p)
{
    return number_or(&p->enabled, 0) != 0;
}

HRESULT trace_plan_from_autologger(const struct autologger *a, struct trace_plan *out)
{
    *out = (struct trace_plan){
        .session = text_copy(a->name),
        .clock = (uint32_t)number_or(&a->clock, ETL_CLOCK_TICKS),
        .mode = (uint32_t)number_or(&a->mode, TRACE_MODE_SEQUENTIAL),
        .buffer_kb = (uint32_t)number_or(&a->buffer_kb, 0),
        .minimum_buffers = (uint32_t)number_or(&a->minimum_buffers, 0),
        .maximum_buffers = (uint32_t)number_or(&a->maximum_buffers, 0),
        .flush_timer = (uint32_t)number_or(&a->flush_timer, 0),
    };
    if (a->guid && !text_to_guid(a->guid, &out->guid))
        out->guid = (GUID){0};
    HRESULT hr = out->session ? file_of(a, &out->file) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && out->file)
        out->maximum_file = (uint32_t)number_or(&a->maximum_file, AUTOLOGGER_FILE_MB);
    for (size_t i = 0; SUCCEEDED(hr) && i < a->provider_count; i++) {
        const struct trace_enable e = enable_of(&a->providers[i]);
        if (is_enabled(&a->providers[i]))
            hr = trace_plan_add(out, &e);
    }
    if (FAILED(hr))
        trace_plan_free(out);
    return hr;
}

/* ---- to the registry ---- */

/* Sets the number. A missing number stays missing if the value is 0. */
static void put(struct autologger_number *n, uint64_t value)
{
    n->there = n->there || value != 0;
    n->value = value;
}

static const struct trace_enable *find_enable(const struct trace_plan *plan, const GUID *guid)
{
    for (size_t i = 0; i < plan->count; i++)
        if (guid_equal(&plan->enables[i].guid, guid))
            return &plan->enables[i];
    return NULL;
}

/* Replaces the filter that a set shows, and keeps all others. */
static HRESULT put_filter(struct autologger_provider *p, const struct trace_enable *e)
{
    uint32_t at = shown_filter(p);
    uint8_t *data = e->filtered ? memory_copy(e->filter.items, e->filter.count) : NULL;
    if (e->filtered && !data)
        return E_OUTOFMEMORY;
    if (e->filtered)
        for (uint32_t i = 0; i < p->filter_count; i++)
            at = p->filter[i].type == e->filter_type ? i : at;
    if (at < p->filter_count)
        memory_free(p->filter[at].data);
    if (at < p->filter_count && !e->filtered)
        p->filter[at] = p->filter[--p->filter_count];
    if (!e->filtered)
        return S_OK;
    if (at == DIRECTORY_FILTERS) {
        memory_free(data);
        return error_set(E_INVALIDARG, "TraceDataProviders: provider %s already has %d filters", e->name,
                         (int)DIRECTORY_FILTERS);
    }
    p->filter_count += at == p->filter_count;
    p->filter[at] = (struct autologger_filter){e->filter_type, (uint32_t)e->filter.count, data};
    return S_OK;
}

static HRESULT put_provider(struct autologger_provider *p, const struct trace_enable *e)
{
    const struct trace_enable before = enable_of(p);
    put(&p->enabled, 1);
    put(&p->level, e->level);
    /* EnableFlags are used only if MatchAnyKeyword is missing. */
    if (before.any != e->any || before.properties != e->properties || !p->flags.there)
        p->any = (struct autologger_number){true, e->any};
    put(&p->all, e->all);
    if (before.properties != e->properties)
        put(&p->property, e->properties);
    return put_filter(p, e);
}

/* Writes the plan's event providers, and removes enabled event providers that are not in the plan. */
static HRESULT put_providers(const struct trace_plan *plan, struct autologger *a)
{
    HRESULT hr = S_OK;
    for (size_t i = a->provider_count; SUCCEEDED(hr) && i-- > 0;) {
        struct autologger_provider *p = &a->providers[i];
        const struct trace_enable *e = find_enable(plan, &p->guid);
        if (e) {
            hr = put_provider(p, e);
        } else if (is_enabled(p)) {
            autologger_provider_free(p);
            *p = a->providers[--a->provider_count];
        }
    }
    for (size_t i = 0; SUCCEEDED(hr) && i < plan->count; i++) {
        struct autologger_provider p = {.guid = plan->enables[i].guid};
        size_t k = 0;
        while (k < a->provider_count && !guid_equal(&a->providers[k].guid, &p.guid))
            k++;
        if (k < a->provider_count)
            continue;
        if (!memory_grow((void **)&a->providers, &a->provider_capacity, a->provider_count + 1, sizeof p))
            return E_OUTOFMEMORY;
        hr = put_provider(&p, &plan->enables[i]);
        if (SUCCEEDED(hr))
            a->providers[a->provider_count++] = p;
        else
            autologger_provider_free(&p);
    }
    return hr;
}

static HRESULT put_file(const struct trace_plan *plan, struct autologger *a)
{
    char *before, *file = NULL;
    HRESULT hr = file_of(a, &before);
    if (FAILED(hr))
        return hr;
    const bool same = before && plan->file && !strcmp(before, plan->file);
    if (!same && plan->file && !(file = text_copy(plan->file)))
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !same) {
        memory_free(a->file);
        a->file = file;
    }
    memory_free(before);
    return hr;
}

static HRESULT put_guid(const struct trace_plan *plan, struct autologger *a)
{
    static const GUID none;
    GUID guid = plan->guid, before;
    char text[39];
    HRESULT hr = S_OK;
    if (guid_equal(&guid, &none)) {
        if (a->guid && text_to_guid(a->guid, &before))
            return S_OK;
        hr = os_new_guid(&guid);
    }
    text_from_guid(&guid, text);
    char *own = SUCCEEDED(hr) ? text_copy(text) : NULL;
    if (!own)
        return FAILED(hr) ? hr : E_OUTOFMEMORY;
    memory_free(a->guid);
    a->guid = own;
    return S_OK;
}

static HRESULT put_name(const struct trace_plan *plan, struct autologger *a)
{
    char *name = text_copy(plan->session);
    if (!name)
        return E_OUTOFMEMORY;
    memory_free(a->name);
    a->name = name;
    return S_OK;
}

HRESULT trace_plan_to_autologger(const struct trace_plan *plan, struct autologger *a)
{
    HRESULT hr = put_name(plan, a);
    if (SUCCEEDED(hr))
        hr = put_file(plan, a); /* set the file before the mode, because file_of depends on the old mode */
    if (SUCCEEDED(hr))
        hr = put_guid(plan, a);
    if (FAILED(hr))
        return hr;
    if (!a->clock.there || (uint32_t)a->clock.value != plan->clock)
        a->clock = (struct autologger_number){true, plan->clock};
    a->mode = (struct autologger_number){true, plan->mode};
    put(&a->buffer_kb, plan->buffer_kb);
    put(&a->minimum_buffers, plan->minimum_buffers);
    put(&a->maximum_buffers, plan->maximum_buffers);
    put(&a->flush_timer, plan->flush_timer);
    /* An autologger without this number limits its file to 100 MB, while 0 in a plan means no limit. */
    if (plan->file && (a->maximum_file.there || plan->maximum_file != AUTOLOGGER_FILE_MB))
        a->maximum_file = (struct autologger_number){true, plan->maximum_file};
    return put_providers(plan, a);
}
