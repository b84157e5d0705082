/* SPDX-License-Identifier: MIT */
#include "cli/trace/trace_process.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/etw/event_values.h"

#include <string.h>

/* A process, as it is told: by the kernel's class Process, or by Microsoft-Windows-Kernel-Process. */
struct told {
    const struct event_schema *schema;
    uint64_t id;
    bool has_id;
    struct text_buffer name;
};

static bool tells_process(const struct dumped_event *e)
{
    static const GUID class = {0x3D6FA8D0, 0xFE05, 0x11D0, {0x9D, 0xDA, 0x00, 0xC0, 0x4F, 0xD7, 0xBA, 0x7C}};
    static const GUID provider = {0x22FB2CD6, 0x0E7B, 0x422B, {0xA0, 0xC7, 0x2F, 0xAD, 0x1F, 0xD0, 0xE7, 0x16}};
    const EVENT_HEADER *h = &e->record->EventHeader;
    if (!e->schema)
        return false;
    if (guid_equal(&h->ProviderId, &class)) /* Start, DCStart */
        return h->EventDescriptor.Opcode == 1 || h->EventDescriptor.Opcode == 3;
    return guid_equal(&h->ProviderId, &provider) && (h->EventDescriptor.Id == 1 || h->EventDescriptor.Id == 15);
}

static HRESULT take(void *context, enum event_step step, const struct event_value *v)
{
    struct told *t = context;
    if (step != STEP_VALUE || v->depth != 0)
        return S_OK;
    if (text_equal_nocase(v->property->name, "ProcessId"))
        t->has_id = value_number(v->type.in, v->bytes, v->size, &t->id);
    if (text_equal_nocase(v->property->name, "ImageFileName") || text_equal_nocase(v->property->name, "ImageName"))
        return event_value_text(t->schema, v, &t->name);
    return S_OK;
}

const char *trace_process_base_name(const char *path)
{
    const char *name = path;
    for (const char *c = path; *c; c++)
        if (*c == '\\' || *c == '/')
            name = c + 1;
    return name;
}

static HRESULT keep(struct trace_processes *p, uint32_t id, const char *name)
{
    char *copy = text_copy(trace_process_base_name(name));
    if (!copy)
        return error_set(E_OUTOFMEMORY, "out of memory for the names of processes");
    const size_t at = id / 4 % TRACE_PROCESSES; /* Windows' ids are multiples of 4 */
    memory_free(p->kept[at].name);
    p->kept[at].id = id;
    p->kept[at].name = copy;
    return S_OK;
}

HRESULT trace_processes_note(struct trace_processes *p, const struct dumped_event *e)
{
    struct told told = {.schema = e->schema};
    if (!tells_process(e))
        return S_OK;
    const struct event_data data = event_data_of(e->record, e->pointer_size);
    HRESULT hr = event_values_walk(e->schema, &data, take, &told, NULL);
    if (hr == EVENT_DATA_INVALID)
        hr = S_OK;
    if (SUCCEEDED(hr) && told.has_id && told.name.length != 0 && !told.name.failed)
        hr = keep(p, (uint32_t)told.id, told.name.text);
    text_buffer_free(&told.name);
    return hr;
}

const char *trace_process_name(struct trace_processes *p, uint32_t id)
{
    const size_t at = id / 4 % TRACE_PROCESSES;
    if (p->kept[at].name && p->kept[at].id == id)
        return p->kept[at].name[0] ? p->kept[at].name : NULL;
    char *path = NULL;
    if (!p->live)
        return NULL;
    if (process_program(id, process_start_time(id), &path) != S_OK)
        path = NULL;
    const HRESULT hr = keep(p, id, path ? path : ""); /* asked once */
    memory_free(path);
    return SUCCEEDED(hr) && p->kept[at].name[0] ? p->kept[at].name : NULL;
}

void trace_processes_free(struct trace_processes *p)
{
    for (size_t i = 0; i < TRACE_PROCESSES; i++)
        memory_free(p->kept[i].name);
}
