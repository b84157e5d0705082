/* SPDX-License-Identifier: MIT */
/* Counts the contents of a trace, and reads the events that describe the computer. */
#include "cli/trace/trace_contents.h"

#include "engine/base/memory.h"
#include "engine/etw/event_values.h"
#include "engine/etw/provider_names.h"

#include <stdlib.h>
#include <string.h>

const char *decoded_by_name(enum decoded_by way, bool for_json)
{
    static const char *const names[DECODED_WAYS][2] = {
        [DECODED_BY_ITSELF] = {"TraceLogging", "traceLogging"},
        [DECODED_BY_CLASS] = {"MOF class", "mofClass"},
        [DECODED_BY_FORMAT] = {"TMF file", "tmfFile"},
        [DECODED_BY_COMPUTER] = {"registered manifest", "registeredManifest"},
        [DECODED_BY_USER] = {"imported manifest", "importedManifest"},
        [DECODED_BY_MERGER] = {"definition in the trace", "definitionInTrace"},
        [DECODED_BY_WRITER] = {"manifest in the trace", "manifestInTrace"},
        [DECODED_BY_TEXT] = {"string event", "stringEvent"},
    };
    return names[way][for_json];
}

static enum decoded_by way_of(const struct event_schema *s)
{
    static const enum decoded_by places[] = {[SCHEMA_OF_COMPUTER] = DECODED_BY_COMPUTER,
                                             [SCHEMA_OF_USER] = DECODED_BY_USER,
                                             [SCHEMA_OF_MERGER] = DECODED_BY_MERGER,
                                             [SCHEMA_OF_WRITER] = DECODED_BY_WRITER};
    if (s->source == SCHEMA_TRACE_LOGGING)
        return DECODED_BY_ITSELF;
    if (s->source == SCHEMA_WPP)
        return DECODED_BY_FORMAT;
    if (s->source == SCHEMA_MOF)
        return DECODED_BY_CLASS;
    return s->text_only ? DECODED_BY_TEXT : places[s->place];
}

/* ---- providers ---- */

/* Returns the provider's index in the list sorted by GUID, or the index at which to insert it. */
static size_t place_of(const struct trace_contents *c, const GUID *provider)
{
    size_t low = 0, high = c->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (memcmp(&c->providers[middle].provider, provider, sizeof *provider) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct trace_contents *c, size_t at, const GUID *provider)
{
    return at < c->count && guid_equal(&c->providers[at].provider, provider);
}

/* Finds or adds the provider. Returns NULL if memory runs out. */
static struct provider_contents *provider_of(struct trace_contents *c, const GUID *provider)
{
    if (is_at(c, c->newest, provider))
        return &c->providers[c->newest];
    const size_t at = place_of(c, provider);
    if (!is_at(c, at, provider)) {
        void *grown = c->providers;
        if (!memory_grow(&grown, &c->capacity, c->count + 1, sizeof *c->providers))
            return NULL;
        c->providers = grown;
        memmove(c->providers + at + 1, c->providers + at, (c->count - at) * sizeof *c->providers);
        c->providers[at] = (struct provider_contents){.provider = *provider};
        c->count++;
    }
    c->newest = at;
    return &c->providers[at];
}

/* Returns the class's name for a classic event, otherwise the event provider's name. */
static const char *name_of(const GUID *provider, const struct event_schema *s)
{
    const char *class = etl_kernel_class(provider);
    if (class)
        return class;
    if (!s)
        return provider_known_name(provider);
    return s->source == SCHEMA_MOF && s->task_name ? s->task_name : s->provider_name;
}

/* ---- the computer ---- */

static const GUID system_config = {0x01853A65, 0x418F, 0x4F36, {0xAE, 0xFC, 0xDC, 0x0F, 0x1D, 0x2F, 0xD2, 0x35}};
static const GUID system_config_ex = {0x9B79EE91, 0xB5FD, 0x41C0, {0xA2, 0x43, 0x42, 0x48, 0xE2, 0x66, 0xE9, 0xD0}};
enum { CONFIG_CPU = 10, CONFIG_LOG_DISK = 12, CONFIG_NIC = 13 };
enum { EX_BUILD = 32, EX_PATHS = 33, EX_VOLUME = 35, EX_INTERFACE = 36 };
enum { INTERFACE_HARDWARE = 1 }; /* MIB_IF_ROW2.InterfaceAndOperStatusFlags: HardwareInterface */

enum { MOST_FIELDS = 3 };
/* The strings of the fields with these names; a string is NULL if the field is missing. */
struct wanted_fields {
    const struct event_schema *schema;
    const char *names[MOST_FIELDS];
    char *texts[MOST_FIELDS];
};

static HRESULT take_field(void *context, enum event_step step, const struct event_value *v)
{
    struct wanted_fields *w = context;
    if (step != STEP_VALUE || v->depth != 0)
        return S_OK;
    for (size_t i = 0; i < MOST_FIELDS && w->names[i]; i++) {
        struct text_buffer b = {0};
        if (w->texts[i] || strcmp(v->property->name, w->names[i]) != 0)
            continue;
        const HRESULT hr = event_value_text(w->schema, v, &b);
        w->texts[i] = SUCCEEDED(hr) ? b.length != 0 ? text_buffer_take(&b) : text_copy("") : NULL;
        text_buffer_free(&b);
        return FAILED(hr) ? hr : w->texts[i] ? S_OK : E_OUTOFMEMORY;
    }
    return S_OK;
}

static void fields_free(struct wanted_fields *w)
{
    for (size_t i = 0; i < MOST_FIELDS; i++)
        memory_free(w->texts[i]);
}

/* Moves *text to *to, unless *to is already set or *text is empty. */
static void keep_text(char **to, char **text)
{
    if (*to || !*text || !**text)
        return;
    *to = *text;
    *text = NULL;
}

static HRESULT add_once(struct texts *list, char *text)
{
    if (!text)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], text) == 0 || list->count == TRACE_MACHINE_MOST) {
            memory_free(text);
            return S_OK;
        }
    return texts_add_owned(list, text);
}

static uint32_t number_text(const char *text)
{
    uint64_t number;
    return text && text_to_u64(text, &number) && number <= UINT32_MAX ? (uint32_t)number : 0;
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static HRESULT take_cpu(struct trace_machine *m, struct wanted_fields *w)
{
    m->mhz = m->mhz ? m->mhz : number_text(w->texts[0]);
    m->processors = m->processors ? m->processors : number_text(w->texts[1]);
    m->memory_mb = m->memory_mb ? m->memory_mb : number_text(w->texts[2]);
    return S_OK;
}

/* Adds a string such as "C: NTFS". Does nothing if a program that merges traces has added the devices of the drive
   letters to the trace. */
static HRESULT take_log_disk(struct trace_machine *m, struct wanted_fields *w)
{
    if (m->mapped || !w->texts[0] || !w->texts[0][0])
        return S_OK;
    return add_once(&m->volumes, text_format("%s %s", w->texts[0], or_empty(w->texts[1])));
}

static HRESULT take_nic(struct trace_machine *m, struct wanted_fields *w)
{
    if (!w->texts[0])
        return S_OK;
    const char *addresses = or_empty(w->texts[1]);
    return add_once(&m->interfaces, text_format("%s%s%s", w->texts[0], *addresses ? ", " : "", addresses));
}

static HRESULT take_build(struct trace_machine *m, struct wanted_fields *w)
{
    keep_text(&m->build, &w->texts[0]);
    keep_text(&m->product, &w->texts[1]);
    return S_OK;
}

static HRESULT take_paths(struct trace_machine *m, struct wanted_fields *w)
{
    keep_text(&m->windows_folder, &w->texts[0]);
    return S_OK;
}

static HRESULT take_volume(struct trace_machine *m, struct wanted_fields *w)
{
    if (!w->texts[0] || !w->texts[1] || strncmp(w->texts[0], "\\Device\\", 8) != 0)
        return S_OK; /* \??\ and \SystemRoot\ are not volumes */
    if (!m->mapped)
        texts_free(&m->volumes);
    m->mapped = true;
    return add_once(&m->volumes, text_format("%s = %s", w->texts[0], w->texts[1]));
}

/* Adds an adapter. Filters and tunnels on top of adapters have separate rows, which are ignored. */
static HRESULT take_interface(struct trace_machine *m, struct wanted_fields *w)
{
    if (!w->texts[0] || (number_text(w->texts[2]) & INTERFACE_HARDWARE) == 0)
        return S_OK;
    return add_once(&m->interfaces, text_format("%s: %s", w->texts[0], or_empty(w->texts[1])));
}

static const struct machine_event {
    const GUID *class;
    uint8_t type;
    const char *fields[MOST_FIELDS];
    HRESULT (*take)(struct trace_machine *m, struct wanted_fields *w);
} machine_events[] = {
    {&system_config, CONFIG_CPU, {"MHz", "NumberOfProcessors", "MemSize"}, take_cpu},
    {&system_config, CONFIG_LOG_DISK, {"DriveLetterString", "FileSystem"}, take_log_disk},
    {&system_config, CONFIG_NIC, {"NICDescription", "IpAddresses"}, take_nic},
    {&system_config_ex, EX_BUILD, {"BuildLab", "ProductName"}, take_build},
    {&system_config_ex, EX_PATHS, {"SystemWindowsDirectory"}, take_paths},
    {&system_config_ex, EX_VOLUME, {"NtPath", "DosPath"}, take_volume},
    {&system_config_ex, EX_INTERFACE, {"Alias", "Description", "InterfaceAndOperStatusFlags"}, take_interface},
};

static HRESULT machine_take(struct trace_machine *m, const struct machine_event *of, const struct dumped_event *e)
{
    struct wanted_fields w = {.schema = e->schema};
    const struct event_data data = event_data_of(e->record, e->pointer_size);
    memcpy(w.names, of->fields, sizeof w.names);
    HRESULT hr = event_values_walk(e->schema, &data, take_field, &w, NULL);
    if (SUCCEEDED(hr) || hr == EVENT_DATA_INVALID) /* if the data is truncated, use the complete fields */
        hr = of->take(m, &w);
    fields_free(&w);
    return hr;
}

static HRESULT machine_add(struct trace_machine *m, const GUID *provider, const struct dumped_event *e)
{
    for (size_t i = 0; i < sizeof machine_events / sizeof *machine_events; i++) {
        const struct machine_event *of = &machine_events[i];
        if (of->type == e->record->EventHeader.EventDescriptor.Opcode && guid_equal(of->class, provider))
            return machine_take(m, of, e);
    }
    return S_OK;
}

HRESULT trace_contents_add(struct trace_contents *c, const GUID *provider, const struct dumped_event *e, bool decoded)
{
    struct provider_contents *p = provider_of(c, provider);
    if (!p)
        return E_OUTOFMEMORY;
    const char *name = p->name ? NULL : name_of(provider, e->schema);
    if (name && !(p->name = text_copy(name)))
        return E_OUTOFMEMORY;
    p->events++;
    c->events++;
    if (decoded) {
        const enum decoded_by way = way_of(e->schema);
        p->decoded++;
        p->by[way]++;
        c->decoded++;
        c->by[way]++;
    }
    return e->schema && e->schema->source == SCHEMA_MOF ? machine_add(&c->machine, provider, e) : S_OK;
}

static int by_events(const void *a, const void *b)
{
    const struct provider_contents *x = a, *y = b;
    if (x->events != y->events)
        return x->events > y->events ? -1 : 1;
    return memcmp(&x->provider, &y->provider, sizeof x->provider);
}

void trace_contents_sort(struct trace_contents *c)
{
    if (c->count != 0)
        qsort(c->providers, c->count, sizeof *c->providers, by_events);
}

void trace_contents_free(struct trace_contents *c)
{
    struct trace_machine *m = &c->machine;
    for (size_t i = 0; i < c->count; i++)
        memory_free(c->providers[i].name);
    memory_free(c->providers);
    memory_free(m->product);
    memory_free(m->build);
    memory_free(m->windows_folder);
    texts_free(&m->volumes);
    texts_free(&m->interfaces);
    *c = (struct trace_contents){0};
}

/* ---- output ---- */

void add_share(struct text_buffer *b, uint64_t part, uint64_t whole)
{
    double share = whole != 0 ? 100.0 * (double)part / (double)whole : 0;
    if (part != whole && share > 99.9)
        share = 99.9;
    if (part != 0 && share < 0.1)
        share = 0.1;
    if (part == 0 || part == whole)
        text_buffer_format(b, "%.0f %%", share);
    else
        text_buffer_format(b, "%.1f %%", share);
}

static void print_labelled(const char *label, const char *text)
{
    printf("%-12s", label);
    print_shown(text);
    printf("\n");
}

void trace_machine_print(const struct trace_machine *m)
{
    if (m->product || m->build) {
        printf("%-12s", "Windows:");
        print_shown(m->product ? m->product : "unknown product");
        if (m->build) {
            printf(", ");
            print_shown(m->build);
        }
        printf("\n");
    }
    if (m->mhz != 0 || m->memory_mb != 0)
        printf("%-12s%u processors of %u MHz, %u MB of memory\n", "Hardware:", (unsigned)m->processors,
               (unsigned)m->mhz, (unsigned)m->memory_mb);
    if (m->windows_folder)
        print_labelled("Folder:", m->windows_folder);
    for (size_t i = 0; i < m->volumes.count; i++)
        print_labelled("Volume:", m->volumes.items[i]);
    for (size_t i = 0; i < m->interfaces.count; i++)
        print_labelled("Network:", m->interfaces.items[i]);
}

static void json_texts(struct json *j, const char *name, const struct texts *list)
{
    json_begin(j, name, '[');
    for (size_t i = 0; i < list->count; i++)
        json_text(j, NULL, list->items[i]);
    json_end(j, ']');
}

void trace_machine_json(const struct trace_machine *m, struct json *j)
{
    json_text(j, "windows", m->product);
    json_text(j, "windowsBuild", m->build);
    json_text(j, "windowsFolder", m->windows_folder);
    if (m->memory_mb != 0)
        json_integer(j, "memoryMB", m->memory_mb);
    json_texts(j, "volumes", &m->volumes);
    json_texts(j, "interfaces", &m->interfaces);
}

static void add_ways(struct text_buffer *b, const uint64_t by[DECODED_WAYS])
{
    bool first = true;
    for (int way = 0; way < DECODED_WAYS; way++) {
        if (by[way] == 0)
            continue;
        text_buffer_add(b, first ? " by " : ", ");
        text_buffer_add(b, decoded_by_name((enum decoded_by)way, false));
        first = false;
    }
}

void trace_providers_print(const struct trace_contents *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct provider_contents *p = &c->providers[i];
        struct text_buffer b = {0};
        char guid[39];
        text_from_guid(&p->provider, guid);
        text_buffer_format(&b, "  %s  %llu  ", guid, (unsigned long long)p->events);
        add_share(&b, p->decoded, p->events);
        text_buffer_add(&b, " decoded");
        add_ways(&b, p->by);
        if (p->name) {
            text_buffer_add(&b, "  ");
            add_shown(&b, p->name);
        }
        printf("%s\n", b.failed ? guid : b.text);
        text_buffer_free(&b);
    }
}

static void json_ways(struct json *j, const uint64_t by[DECODED_WAYS])
{
    json_begin(j, "decodedBy", '{');
    for (int way = 0; way < DECODED_WAYS; way++)
        if (by[way] != 0)
            json_integer(j, decoded_by_name((enum decoded_by)way, true), (int64_t)by[way]);
    json_end(j, '}');
}

void trace_providers_json(const struct trace_contents *c, struct json *j)
{
    json_begin(j, "providers", '[');
    for (size_t i = 0; i < c->count; i++) {
        const struct provider_contents *p = &c->providers[i];
        char guid[39];
        text_from_guid(&p->provider, guid);
        json_begin(j, NULL, '{');
        json_text(j, "guid", guid);
        json_text(j, "name", p->name);
        json_integer(j, "events", (int64_t)p->events);
        json_integer(j, "decoded", (int64_t)p->decoded);
        json_ways(j, p->by);
        json_end(j, '}');
    }
    json_end(j, ']');
}
