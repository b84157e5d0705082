/* SPDX-License-Identifier: MIT */
/* Which events people want to see. */
#include "cli/trace/trace_show.h"

static bool provider_matches(const char *wanted, const struct dumped_event *e)
{
    GUID guid;
    const struct event_schema *s = e->schema;
    if (text_to_guid(wanted, &guid))
        return guid_equal(&guid, &e->record->EventHeader.ProviderId) || (s && guid_equal(&guid, &s->provider));
    if (!s)
        return false;
    return (s->provider_name && text_matches(wanted, s->provider_name)) ||
           (s->source == SCHEMA_MOF && s->task_name && text_matches(wanted, s->task_name));
}

static bool process_matches(const char *wanted, const struct dumped_event *e, const char *process)
{
    uint64_t id;
    if (text_to_u64(wanted, &id))
        return id == e->record->EventHeader.ProcessId;
    return process && text_matches(wanted, process);
}

static bool keyword_matches(const char *wanted, const struct dumped_event *e)
{
    uint64_t bits;
    if (text_to_u64(wanted, &bits))
        return (e->record->EventHeader.EventDescriptor.Keyword & bits) != 0;
    for (size_t i = 0; e->schema && i < e->schema->keyword_count; i++)
        if (text_matches(wanted, e->schema->keyword_names[i]))
            return true;
    return false;
}

bool trace_choice_takes(const struct trace_choice *c, const struct dumped_event *e, const char *process)
{
    bool provider = c->providers.count == 0, told = c->processes.count == 0, keyword = c->keywords.count == 0;
    if (c->worst != 0 && e->record->EventHeader.EventDescriptor.Level > c->worst)
        return false;
    for (size_t i = 0; i < c->providers.count && !provider; i++)
        provider = provider_matches(c->providers.items[i], e);
    for (size_t i = 0; i < c->processes.count && !told; i++)
        told = process_matches(c->processes.items[i], e, process);
    for (size_t i = 0; i < c->keywords.count && !keyword; i++)
        keyword = keyword_matches(c->keywords.items[i], e);
    return provider && told && keyword;
}
