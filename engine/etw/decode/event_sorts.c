/* SPDX-License-Identifier: MIT */
#include "engine/etw/event_sorts.h"

#include "engine/base/memory.h"

#include <string.h>

static HRESULT out_of_memory(const struct event_sorts *s)
{
    return error_set(E_OUTOFMEMORY, "out of memory for %zu sorts of events", s->count);
}

static size_t place_of(const struct event_sorts *s, uint64_t sort)
{
    size_t at = (size_t)sort & (s->room - 1);
    while (s->places[at] && s->items[s->places[at] - 1].found->sort != sort)
        at = (at + 1) & (s->room - 1);
    return at;
}

static HRESULT grow(struct event_sorts *s)
{
    uint32_t *const before = s->places;
    const size_t room = s->room ? s->room * 2 : 64;
    s->places = memory_zero(room, sizeof *s->places);
    if (!s->places) {
        s->places = before;
        return out_of_memory(s);
    }
    s->room = room;
    for (size_t i = 0; i < s->count; i++)
        s->places[place_of(s, s->items[i].found->sort)] = (uint32_t)i + 1;
    memory_free(before);
    return S_OK;
}

HRESULT event_sorts_count(struct event_sorts *s, const EVENT_RECORD *event, const struct found_schema *found,
                          bool decoded)
{
    HRESULT hr = s->count * 2 >= s->room ? grow(s) : S_OK;
    if (FAILED(hr))
        return hr;
    const size_t at = place_of(s, found->sort);
    if (!s->places[at] && s->count == EVENT_SORTS_MOST) {
        s->events_more++;
        return S_OK;
    }
    if (!s->places[at]) {
        void *items = s->items;
        const bool room = memory_grow(&items, &s->capacity, s->count + 1, sizeof *s->items);
        s->items = items;
        if (!room)
            return out_of_memory(s);
        found_schema_hold(s->schemas, found);
        s->items[s->count++] = (struct met_sort){.found = found,
                                                 .provider = event->EventHeader.ProviderId,
                                                 .descriptor = event->EventHeader.EventDescriptor};
        s->places[at] = (uint32_t)s->count;
    }
    struct met_sort *sort = &s->items[s->places[at] - 1];
    if (found->schema && !sort->found->schema) { /* a manifest has come in the trace since */
        found_schema_hold(s->schemas, found);
        found_schema_release(s->schemas, sort->found);
        sort->found = found;
    }
    sort->events++;
    sort->undecoded += !decoded;
    return S_OK;
}

void event_sorts_free(struct event_sorts *s)
{
    for (size_t i = 0; i < s->count; i++)
        found_schema_release(s->schemas, s->items[i].found);
    memory_free(s->items);
    memory_free(s->places);
    *s = (struct event_sorts){0};
}

/* ---- as a manifest ---- */

enum { NAMES_SHOWN = 8 };
struct left_out {
    uint64_t events;
    size_t sorts, names;
    const char *name[NAMES_SHOWN]; /* of events, classes or providers, each once, borrowed of the schemas */
    GUID unnamed;                  /* the first provider of no schema */
};

static const char *name_of(const struct event_schema *s)
{
    if (!s)
        return NULL;
    return s->source == SCHEMA_MOF             ? s->task_name
           : s->source == SCHEMA_TRACE_LOGGING ? s->event_name
                                               : s->provider_name;
}

static void leave_out(struct left_out *l, const struct met_sort *sort)
{
    const char *name = name_of(sort->found->schema);
    l->events += sort->events;
    if (l->sorts++ == 0)
        l->unnamed = sort->provider;
    for (size_t i = 0; name && i < l->names && i < NAMES_SHOWN; i++)
        if (strcmp(l->name[i], name) == 0)
            return;
    if (name && l->names++ < NAMES_SHOWN)
        l->name[l->names - 1] = name;
}

/* With their names, or the provider's GUID where they have none. */
static HRESULT remark(struct texts *remarks, const struct left_out *l, const char *why)
{
    struct text_buffer b = {0};
    if (!l->sorts)
        return S_OK;
    text_buffer_format(&b, "left out: %llu event%s of %zu sort%s (", (unsigned long long)l->events,
                       l->events == 1 ? "" : "s", l->sorts, l->sorts == 1 ? "" : "s");
    for (size_t i = 0; i < l->names && i < NAMES_SHOWN; i++) {
        text_buffer_add(&b, i ? ", " : "");
        text_buffer_add(&b, l->name[i]);
    }
    if (!l->names)
        text_buffer_add_guid(&b, &l->unnamed);
    text_buffer_add(&b, l->names > NAMES_SHOWN || (!l->names && l->sorts > 1) ? " and others): " : "): ");
    text_buffer_add(&b, why);
    return texts_give(remarks, text_buffer_take(&b));
}

struct exporting {
    const struct event_sorts *sorts;
    struct manifest_document *d;
    struct texts *remarks;
    struct left_out others; /* of the provider: events that its manifest does not say */
};

static bool is_of_manifest(const struct met_sort *sort)
{
    return sort->found->schema && sort->found->schema->source == SCHEMA_MANIFEST && !sort->found->schema->text_only;
}

static HRESULT export_provider(void *context, const struct provider_manifest *m)
{
    struct exporting *x = context;
    bool *wanted = memory_zero(m->event_count + 1, sizeof *wanted);
    bool any = false;
    if (!wanted)
        return out_of_memory(x->sorts);
    for (size_t i = 0; i < x->sorts->count; i++) {
        const struct met_sort *sort = &x->sorts->items[i];
        if (!is_of_manifest(sort) || !guid_equal(&sort->provider, &m->guid))
            continue;
        const struct manifest_event *e = provider_manifest_event(m, sort->descriptor.Id, sort->descriptor.Version);
        if (e)
            wanted[e - m->events] = any = true;
        else
            leave_out(&x->others, sort);
    }
    const HRESULT hr = any ? manifest_document_add(x->d, m, wanted, x->remarks) : S_OK;
    memory_free(wanted);
    return FAILED(hr) ? hr : S_OK;
}

static bool was_before(const struct event_sorts *s, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (is_of_manifest(&s->items[i]) && guid_equal(&s->items[i].provider, &s->items[index].provider))
            return true;
    return false;
}

static HRESULT export_others(const struct event_sorts *s, struct texts *remarks)
{
    /* The trace's own events, which every decoder knows. */
    static const GUID trace = {0x68FDD900, 0x4A3E, 0x11D1, {0x84, 0xF4, 0x00, 0x00, 0xF8, 0x04, 0x64, 0xE3}};
    static const char *const why[] = {
        [SCHEMA_MANIFEST] = "they are a text and nothing else (EventWriteString), and are decoded without a manifest",
        [SCHEMA_MOF] = "they are of MOF classes, which \"openpla mof show\" writes",
        [SCHEMA_WPP] = "they are messages of WPP, whose texts are in TMF files",
        [SCHEMA_TRACE_LOGGING] = "they describe themselves (TraceLogging), and are decoded without a manifest",
    };
    struct left_out of[SCHEMA_TRACE_LOGGING + 1] = {{0}}, unknown = {0};
    HRESULT hr = S_OK;
    for (size_t i = 0; i < s->count; i++) {
        const struct event_schema *schema = s->items[i].found->schema;
        if (!schema)
            leave_out(&unknown, &s->items[i]);
        else if (!is_of_manifest(&s->items[i]) && !guid_equal(&s->items[i].provider, &trace))
            leave_out(&of[schema->source], &s->items[i]);
    }
    for (size_t i = 0; SUCCEEDED(hr) && i < sizeof of / sizeof *of; i++)
        hr = remark(remarks, &of[i], why[i]);
    if (SUCCEEDED(hr))
        hr = remark(remarks, &unknown, "nobody knows them");
    if (SUCCEEDED(hr) && s->events_more)
        hr = texts_give(remarks, text_format("left out: %llu events of more than %u sorts",
                                             (unsigned long long)s->events_more, EVENT_SORTS_MOST));
    return hr;
}

HRESULT event_sorts_export(const struct event_sorts *s, struct manifest_document *d, struct texts *remarks)
{
    struct exporting x = {s, d, remarks, {0}};
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < s->count; i++)
        if (is_of_manifest(&s->items[i]) && !was_before(s, i))
            hr = event_schemas_manifest(s->schemas, &s->items[i].provider, export_provider, &x);
    if (SUCCEEDED(hr))
        hr = remark(remarks, &x.others, "two manifests say what their provider writes, and the first one was taken");
    return SUCCEEDED(hr) ? export_others(s, remarks) : hr;
}
