/* SPDX-License-Identifier: MIT */
/* Reads and writes the registry keys of autologgers, and starts the sessions. */
#include "engine/etw/autologger.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/registry.h"
#include "engine/etw/controller/controller.h"
#include "engine/etw/directory.h"
#include "engine/etw/provider/provider_filter.h"
#include "engine/etw/session/session_output.h"
#include "engine/etw/session/session_start.h"
#include "engine/logs/etl_record.h"

#include <stdio.h>
#include <string.h>

struct number_row {
    const char *name;
    size_t offset; /* offset of the value, an autologger_number, in struct autologger */
    uint32_t type;
    bool of_etw; /* ETW writes this value itself */
};
/* The rows are in the order of writing: values that decide whether a session starts come last. */
static const struct number_row numbers[] = {
#define NUMBER_ROW(field, name, ...)                                                                                   \
    {                                                                                                                  \
        name, offsetof(struct autologger, field), REGISTRY_NUMBER, __VA_ARGS__                                         \
    }
    NUMBER_ROW(buffer_kb, "BufferSize", false),
    NUMBER_ROW(minimum_buffers, "MinimumBuffers", false),
    NUMBER_ROW(maximum_buffers, "MaximumBuffers", false),
    NUMBER_ROW(flush_timer, "FlushTimer", false),
    NUMBER_ROW(clock, "ClockType", false),
    NUMBER_ROW(mode, "LogFileMode", false),
    NUMBER_ROW(maximum_file, "MaxFileSize", false),
    NUMBER_ROW(file_max, "FileMax", false),
    NUMBER_ROW(file_counter, "FileCounter", true),
    NUMBER_ROW(start, "Start", false),
#undef NUMBER_ROW
};
static const struct number_row provider_numbers[] = {
#define NUMBER_ROW(field, name, type)                                                                                  \
    {                                                                                                                  \
        name, offsetof(struct autologger_provider, field), type, false                                                 \
    }
    NUMBER_ROW(level, "EnableLevel", REGISTRY_NUMBER),        NUMBER_ROW(flags, "EnableFlags", REGISTRY_NUMBER),
    NUMBER_ROW(any, "MatchAnyKeyword", REGISTRY_LONG_NUMBER), NUMBER_ROW(all, "MatchAllKeyword", REGISTRY_LONG_NUMBER),
    NUMBER_ROW(property, "EnableProperty", REGISTRY_NUMBER),  NUMBER_ROW(enabled, "Enabled", REGISTRY_NUMBER),
#undef NUMBER_ROW
};
static const struct text_row {
    const char *name;
    size_t offset;
} texts[] = {
    {"Guid", offsetof(struct autologger, guid)},
    {"FileName", offsetof(struct autologger, file)},
    {"OpenPLA", offsetof(struct autologger, set)},
};
/* This key is below a provider's key. It has one value per filter, named after the filter's type in evntprov.h. Windows
   has this key, too, but its contents are not documented. */
#define FILTERS_KEY "Filters"
#define COUNT(a)    (sizeof(a) / sizeof(a)[0])

void autologger_provider_free(struct autologger_provider *p)
{
    while (p->filter_count > 0)
        memory_free(p->filter[--p->filter_count].data);
}

void autologger_free(struct autologger *a)
{
    memory_free(a->name);
    memory_free(a->guid);
    memory_free(a->file);
    memory_free(a->set);
    for (size_t i = 0; i < a->provider_count; i++)
        autologger_provider_free(&a->providers[i]);
    memory_free(a->providers);
    memory_free(a->damaged);
    texts_free(&a->problems);
    *a = (struct autologger){.name = NULL};
}

char *autologger_path(const char *kind, const char *directory, const char *name)
{
    const bool own = strcmp(directory, DIRECTORY_OF_HOST) != 0;
    return text_format("SYSTEM\\CurrentControlSet\\Control\\WMI\\%s%s%s%s%s", kind, own ? "." : "",
                       own ? directory : "", name ? "\\" : "", name ? name : "");
}

/* ---- reading ---- */

/* Records a problem. The text of the problem is `why` or, if `why` is NULL, the error text of the last read. */
static HRESULT note_invalid(struct autologger *a, const char *provider, const char *name, const char *why)
{
    const char *separator = provider ? "\\" : "";
    const struct error_kept error = error_keep(HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    char *problem = text_format("%s%s%s", provider ? provider : "", separator, why ? why : error.text);
    HRESULT hr = problem ? texts_add(&a->problems, problem) : E_OUTOFMEMORY;
    memory_free(problem);
    error_clear();
    if (a->damaged || FAILED(hr))
        return hr;
    a->damaged = text_format("%s%s%s", provider ? provider : "", separator, name);
    return a->damaged ? S_OK : E_OUTOFMEMORY;
}

static bool is_invalid(HRESULT hr)
{
    return hr == HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
}

static HRESULT read_numbers(struct registry_key *key, const struct number_row *rows, size_t count, void *of,
                            struct autologger *a, const char *provider)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        struct autologger_number *n = (struct autologger_number *)(void *)((char *)of + rows[i].offset);
        hr = registry_read_number(key, rows[i].name, &n->value);
        n->there = hr == S_OK;
        if (is_invalid(hr))
            hr = note_invalid(a, provider, rows[i].name, NULL);
    }
    return hr;
}

static char **text_of(const struct autologger *a, const struct text_row *row)
{
    return (char **)(void *)((char *)a + row->offset);
}

/* Returns whether the key belongs to a provider: its name is then a GUID in braces. */
static bool is_provider(const char *name, GUID *guid)
{
    return name[0] == '{' && text_to_guid(name, guid);
}

/* Reads a provider's filters. Accepts registry values of any type and reads their bytes, because a filter may be stored
   as a string. Filters are checked when they are used. */
static HRESULT read_filters(const char *provider, struct autologger_provider *p, struct autologger *a, const char *name)
{
    struct registry_key *key = NULL;
    struct registry_value v;
    const struct filter_kind *filter;
    char *path = text_format("%s\\" FILTERS_KEY, provider);
    HRESULT hr = path ? registry_open(path, false, &key) : E_OUTOFMEMORY;
    memory_free(path);
    if (hr != S_OK)
        return hr;
    for (size_t i = 0; SUCCEEDED(hr) && (filter = filter_kind_at(i)) != NULL; i++) {
        hr = registry_read(key, filter->name, &v);
        if (hr == S_OK && p->filter_count < DIRECTORY_FILTERS)
            p->filter[p->filter_count++] = (struct autologger_filter){filter->type, (uint32_t)v.size, v.data};
        else if (is_invalid(hr))
            hr = note_invalid(a, name, filter->name, NULL);
    }
    registry_close(key);
    return hr;
}

static HRESULT read_provider(const char *path, const char *name, struct autologger *a)
{
    struct autologger_provider p = {.enabled = {.there = false}};
    struct registry_key *key = NULL;
    if (!is_provider(name, &p.guid))
        return S_OK;
    char *below = text_format("%s\\%s", path, name);
    HRESULT hr = below ? registry_open(below, false, &key) : E_OUTOFMEMORY;
    if (hr == S_OK) {
        hr = read_numbers(key, provider_numbers, COUNT(provider_numbers), &p, a, name);
        registry_close(key);
        if (SUCCEEDED(hr))
            hr = read_filters(below, &p, a, name);
        if (SUCCEEDED(hr) &&
            !memory_grow((void **)&a->providers, &a->provider_capacity, a->provider_count + 1, sizeof p))
            hr = E_OUTOFMEMORY;
        if (SUCCEEDED(hr))
            a->providers[a->provider_count++] = p;
        else
            autologger_provider_free(&p);
    }
    memory_free(below);
    return SUCCEEDED(hr) ? S_OK : hr;
}

/* Reads EnableKernelFlags: up to eight masks of 32 bits, as in the GlobalLogger's key, or one number. */
static HRESULT read_kernel_flags(struct registry_key *key, struct autologger *a)
{
    struct registry_value v;
    HRESULT hr = registry_read(key, "EnableKernelFlags", &v);
    if (hr == S_OK && (v.type == REGISTRY_BYTES || v.type == REGISTRY_NUMBER) && v.size % sizeof(uint32_t) == 0 &&
        v.size <= sizeof a->kernel_flags)
        memcpy(a->kernel_flags, v.data, v.size);
    else if (hr == S_OK || is_invalid(hr))
        hr = note_invalid(a, NULL, "EnableKernelFlags", "invalid EnableKernelFlags: expected up to 8 masks of 32 bits");
    registry_value_free(&v);
    return hr;
}

static HRESULT read_key(struct registry_key *key, const char *path, struct autologger *a)
{
    struct texts below = {0};
    GUID guid;
    HRESULT hr = read_numbers(key, numbers, COUNT(numbers), a, a, NULL);
    for (size_t i = 0; SUCCEEDED(hr) && i < COUNT(texts); i++) {
        hr = registry_read_text(key, texts[i].name, text_of(a, &texts[i]));
        if (is_invalid(hr))
            hr = note_invalid(a, NULL, texts[i].name, NULL);
    }
    if (SUCCEEDED(hr) && a->guid && !text_to_guid(a->guid, &guid))
        hr = note_invalid(a, NULL, texts[0].name, "invalid Guid: expected a GUID");
    if (SUCCEEDED(hr))
        hr = read_kernel_flags(key, a);
    if (SUCCEEDED(hr))
        hr = registry_list(key, &below);
    for (size_t i = 0; SUCCEEDED(hr) && i < below.count; i++)
        hr = read_provider(path, below.items[i], a);
    texts_free(&below);
    return hr;
}

HRESULT autologger_load(const char *path, const char *name, struct autologger *out)
{
    struct registry_key *key;
    *out = (struct autologger){.name = NULL};
    HRESULT hr = registry_open(path, false, &key);
    if (hr != S_OK)
        return hr;
    out->name = text_copy(name);
    hr = out->name ? read_key(key, path, out) : E_OUTOFMEMORY;
    registry_close(key);
    if (SUCCEEDED(hr))
        return S_OK;
    autologger_free(out);
    return hr;
}

/* ---- writing ---- */

static HRESULT write_numbers(struct registry_key *key, const struct number_row *rows, size_t count, const void *of)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        const struct autologger_number *n =
            (const struct autologger_number *)(const void *)((const char *)of + rows[i].offset);
        if (!rows[i].of_etw)
            hr = n->there ? registry_write_number(key, rows[i].name, rows[i].type, n->value)
                          : registry_remove(key, rows[i].name);
    }
    return hr;
}

static const struct autologger_provider *find_provider(const struct autologger *a, const GUID *guid)
{
    for (size_t i = 0; i < a->provider_count; i++)
        if (guid_equal(&a->providers[i].guid, guid))
            return &a->providers[i];
    return NULL;
}

static const struct autologger_filter *find_filter(const struct autologger_provider *p, uint32_t type)
{
    for (uint32_t i = 0; i < p->filter_count; i++)
        if (p->filter[i].type == type)
            return &p->filter[i];
    return NULL;
}

/* Writes or removes the values of the filters that ETW defines; the key keeps its other values. */
static HRESULT write_filters(const char *provider, const struct autologger_provider *p)
{
    struct registry_key *key = NULL;
    const struct filter_kind *kind;
    bool made;
    char *path = text_format("%s\\" FILTERS_KEY, provider);
    HRESULT hr = path ? registry_open(path, true, &key) : E_OUTOFMEMORY;
    if (hr == S_FALSE && p->filter_count > 0)
        hr = registry_create(path, &made, &key);
    memory_free(path);
    for (size_t i = 0; SUCCEEDED(hr) && key && (kind = filter_kind_at(i)) != NULL; i++) {
        const struct autologger_filter *f = find_filter(p, kind->type);
        hr = f ? registry_write(key, kind->name, REGISTRY_BYTES, f->data, f->size) : registry_remove(key, kind->name);
    }
    registry_close(key);
    return hr;
}

static HRESULT write_provider(const char *path, const struct autologger_provider *p)
{
    char guid[39];
    struct registry_key *key = NULL;
    bool made;
    text_from_guid(&p->guid, guid);
    char *below = text_format("%s\\%s", path, guid);
    HRESULT hr = below ? registry_create(below, &made, &key) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = write_filters(below, p);
    if (SUCCEEDED(hr))
        hr = write_numbers(key, provider_numbers, COUNT(provider_numbers), p);
    registry_close(key);
    memory_free(below);
    return hr;
}

/* Removes keys of providers that are no longer in `a`. */
static HRESULT remove_providers(struct registry_key *key, const char *path, const struct autologger *a)
{
    struct texts below;
    GUID guid;
    HRESULT hr = registry_list(key, &below);
    for (size_t i = 0; SUCCEEDED(hr) && i < below.count; i++) {
        if (!is_provider(below.items[i], &guid) || find_provider(a, &guid))
            continue;
        char *gone = text_format("%s\\%s", path, below.items[i]);
        hr = gone ? registry_delete(gone) : E_OUTOFMEMORY;
        memory_free(gone);
    }
    texts_free(&below);
    return hr;
}

static HRESULT write_key(struct registry_key *key, const char *path, const struct autologger *a)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < a->provider_count; i++)
        hr = write_provider(path, &a->providers[i]);
    for (size_t i = 0; SUCCEEDED(hr) && i < COUNT(texts); i++) {
        const char *text = *text_of(a, &texts[i]);
        hr = text ? registry_write_text(key, texts[i].name, text) : registry_remove(key, texts[i].name);
    }
    if (SUCCEEDED(hr))
        hr = write_numbers(key, numbers, COUNT(numbers), a);
    return FAILED(hr) ? hr : remove_providers(key, path, a);
}

static HRESULT put_back(struct registry_key *key, const char *path, const struct autologger *before, HRESULT hr)
{
    struct error_kept why = error_keep(hr);
    (void)write_key(key, path, before);
    return error_restore(&why);
}

HRESULT autologger_save(const char *path, const struct autologger *a, bool is_new)
{
    struct autologger before = {.name = NULL};
    struct registry_key *key = NULL;
    bool made = false;
    HRESULT hr = autologger_load(path, a->name, &before);
    if (SUCCEEDED(hr))
        hr = registry_create(path, &made, &key);
    if (SUCCEEDED(hr) && !made && is_new)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS), "'HKEY_LOCAL_MACHINE\\%.300s' already exists", path);
    else if (SUCCEEDED(hr) && FAILED(hr = write_key(key, path, a)) && !made)
        hr = put_back(key, path, &before, hr);
    if (FAILED(hr) && made) {
        struct error_kept why = error_keep(hr);
        (void)registry_delete(path);
        hr = error_restore(&why);
    }
    registry_close(key);
    autologger_free(&before);
    return SUCCEEDED(hr) ? S_OK : hr;
}

/* ---- converting the registry's values to session settings ---- */

enum {
    GLOBAL_MINIMUM = 3, /* default MinimumBuffers of the GlobalLogger */
    MOST_FILES = 16,
    NO_FILE_MODES = TRACE_MODE_BUFFERING | TRACE_MODE_REAL_TIME,
};

static uint32_t number_or(const struct autologger_number *n, uint32_t otherwise)
{
    return n->there ? (uint32_t)n->value : otherwise;
}

/* ---- values used in place of invalid ones ---- */

/* Handles a value outside the limits: ignores it, or with `clamp` uses the nearest limit. */
static HRESULT autologger_check_number(struct autologger *a, const char *name, struct autologger_number *n,
                                       uint64_t least, uint64_t most, bool clamp)
{
    if (!n->there || (n->value >= least && n->value <= most))
        return S_OK;
    char *text = text_format("invalid %s %llu: expected %llu to %llu; %s", name, (unsigned long long)n->value,
                             (unsigned long long)least, (unsigned long long)most,
                             clamp ? "using the nearest" : "ignoring the value");
    const HRESULT hr = text ? texts_add(&a->problems, text) : E_OUTOFMEMORY;
    memory_free(text);
    n->value = n->value < least ? least : most;
    n->there = clamp;
    return hr;
}

HRESULT autologger_override(struct autologger *a)
{
    struct {
        const char *name;
        struct autologger_number *n;
        uint64_t least, most;
        bool clamp;
    } const rows[] = {
        {"Start", &a->start, 0, 1, false},
        {"BufferSize", &a->buffer_kb, 0, ETL_LARGEST_BUFFER / ETL_BUFFER_UNIT, true},
        {"MinimumBuffers", &a->minimum_buffers, 0, UINT32_MAX, false},
        {"MaximumBuffers", &a->maximum_buffers, 0, UINT32_MAX, false},
        {"FlushTimer", &a->flush_timer, 0, UINT32_MAX, false},
        {"ClockType", &a->clock, 0, ETL_CLOCK_CYCLES, false},
        {"LogFileMode", &a->mode, 0, UINT32_MAX, false},
        {"MaxFileSize", &a->maximum_file, 0, UINT32_MAX, false},
        {"FileMax", &a->file_max, 0, MOST_FILES, true},
    };
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < sizeof rows / sizeof *rows; i++)
        hr = autologger_check_number(a, rows[i].name, rows[i].n, rows[i].least, rows[i].most, rows[i].clamp);
    if (SUCCEEDED(hr) && a->file_max.there && a->file_max.value != 0)
        hr = autologger_check_number(a, "FileCounter", &a->file_counter, 0, a->file_max.value, false);
    for (size_t i = 0; SUCCEEDED(hr) && i < a->provider_count; i++) {
        char guid[39], name[80];
        text_from_guid(&a->providers[i].guid, guid);
        snprintf(name, sizeof name, "%s\\EnableLevel", guid);
        hr = autologger_check_number(a, name, &a->providers[i].level, 0, UINT8_MAX, true);
    }
    return hr;
}

/* ---- the session ---- */

/* Returns the number of the next log file. After `most`, the counter of the GlobalLogger restarts at 0, and the counter
   of every other autologger restarts at 1. */
static uint32_t next_counter(const struct autologger *a, uint32_t most)
{
    const uint32_t before = number_or(&a->file_counter, 0), first = a->global ? 0 : 1;
    return before < most && (before >= first || !a->file_counter.there) ? before + 1 : first;
}

/* Chooses the log file for this start: with FileMax, the next of the numbered files; otherwise the file without a
   number. */
static ULONG log_file(const struct autologger *a, const char *folder, char **out, uint32_t *counter)
{
    char *given = a->file ? os_expand_environment(a->file) : NULL, *path = NULL, *own = NULL;
    if (a->file) {
        path = given ? os_full_path(given) : NULL;
    } else {
        own = text_format("%s.etl", a->name);
        path = own ? path_join(folder, own) : NULL;
    }
    memory_free(given);
    memory_free(own);
    *counter = AUTOLOGGER_NO_COUNTER;
    if (path && number_or(&a->file_max, 0) != 0) {
        const uint32_t most = number_or(&a->file_max, 0);
        *counter = next_counter(a, most < MOST_FILES ? most : MOST_FILES);
        char *numbered = text_format("%s.%04u", path, (unsigned)*counter);
        memory_free(path);
        path = numbered;
    }
    *out = path;
    return path ? ERROR_SUCCESS : controller_refuse(ERROR_NOT_ENOUGH_MEMORY, "out of memory for the log file name");
}

static bool has_kernel_flags(const struct autologger *a)
{
    uint32_t any = 0;
    for (size_t i = 0; i < sizeof a->kernel_flags / sizeof *a->kernel_flags; i++)
        any |= a->kernel_flags[i];
    return any != 0;
}

ULONG autologger_settings(const struct autologger *a, const char *folder, struct trace_settings *out, uint32_t *counter)
{
    const struct trace_machine machine = {.processors = processor_count(), .memory = os_memory_bytes()};
    const char *name = a->name;
    ULONG code = ERROR_SUCCESS;
    *counter = AUTOLOGGER_NO_COUNTER;
    *out = (struct trace_settings){
        .clock = number_or(&a->clock, ETL_CLOCK_TICKS),
        .mode = number_or(&a->mode, TRACE_MODE_SEQUENTIAL),
        .buffer_kb = number_or(&a->buffer_kb, 0),
        .minimum_buffers = number_or(&a->minimum_buffers, a->global ? GLOBAL_MINIMUM : 0),
        .maximum_buffers = number_or(&a->maximum_buffers, 0),
        .flush_timer = number_or(&a->flush_timer, 0),
        .maximum_file = number_or(&a->maximum_file, a->global ? 0 : AUTOLOGGER_FILE_MB),
    };
    if (out->clock > ETL_CLOCK_CYCLES)
        out->clock = ETL_CLOCK_TICKS;
    if (!a->guid || !text_to_guid(a->guid, &out->guid))
        code =
            controller_refuse(ERROR_INVALID_PARAMETER, "invalid Guid '%.80s': expected a GUID", a->guid ? a->guid : "");
    memcpy(out->enable_flags, a->kernel_flags, sizeof out->enable_flags);
    if (a->global && has_kernel_flags(a)) {
        out->kernel = true;
        out->guid = trace_kernel_guid;
        name = TRACE_KERNEL_LOGGER;
    }
    if (code == ERROR_SUCCESS && (out->mode & (TRACE_MODE_PRIVATE_LOGGER | TRACE_MODE_PRIVATE_IN_PROC)) != 0)
        code = controller_refuse(ERROR_INVALID_PARAMETER,
                                 "invalid LogFileMode 0x%X: an autologger cannot be a private session",
                                 (unsigned)out->mode);
    if (code == ERROR_SUCCESS && !(out->name = text_copy(name)))
        code = controller_refuse(ERROR_NOT_ENOUGH_MEMORY, "out of memory for a session's name");
    if (code == ERROR_SUCCESS)
        code = trace_settings_reserved(out);
    if (code == ERROR_SUCCESS && (out->mode & TRACE_MODE_BUFFERING) == 0 &&
        (a->file || (out->mode & NO_FILE_MODES) == 0))
        code = log_file(a, folder, &out->file, counter);
    if (code == ERROR_SUCCESS && !out->file)
        out->maximum_file = 0;
    if (code == ERROR_SUCCESS)
        code = trace_settings_complete(out, true, &machine);
    if (code != ERROR_SUCCESS)
        trace_settings_free(out);
    return code;
}

static ULONG autologger_enable(const struct autologger_provider *p, TRACEHANDLE handle)
{
    EVENT_FILTER_DESCRIPTOR filters[DIRECTORY_FILTERS];
    const bool flags_alone = p->flags.there && !p->any.there;
    for (uint32_t i = 0; i < p->filter_count; i++) {
        filters[i] = (EVENT_FILTER_DESCRIPTOR){
            .Ptr = (uintptr_t)p->filter[i].data, .Size = p->filter[i].size, .Type = p->filter[i].type};
    }
    const ENABLE_TRACE_PARAMETERS parameters = {
        .Version = 2,
        .EnableProperty = number_or(&p->property, 0),
        .EnableFilterDesc = filters,
        .FilterDescCount = p->filter_count,
    };
    const struct controller_enable e = {
        .handle = handle,
        .provider = &p->guid,
        .code = EVENT_CONTROL_CODE_ENABLE_PROVIDER,
        .level = (uint8_t)number_or(&p->level, 0),
        .any = flags_alone    ? number_or(&p->flags, 0)
               : p->any.there ? p->any.value
                              : 0,
        .all = p->any.there && p->any.value != 0 && p->all.there ? p->all.value : 0,
        .parameters = flags_alone ? NULL : &parameters,
        .classic = flags_alone,
    };
    return controller_enable(&e);
}

static ULONG enable_all(const struct autologger *a, TRACEHANDLE handle)
{
    ULONG first = ERROR_SUCCESS;
    for (size_t i = 0; i < a->provider_count; i++) {
        const struct autologger_provider *p = &a->providers[i];
        const ULONG code = number_or(&p->enabled, 0) != 0 ? autologger_enable(p, handle) : ERROR_SUCCESS;
        if (code == ERROR_SUCCESS)
            continue;
        char guid[39];
        text_from_guid(&p->guid, guid);
        session_journal_key(SESSION_KEY_PROVIDER, a, HRESULT_FROM_WIN32((LONG)code), guid, NULL);
        first = first == ERROR_SUCCESS ? code : first;
    }
    return first;
}

ULONG autologger_start(struct directory *d, const struct autologger *a, const char *folder, uint32_t *counter)
{
    struct trace_settings settings;
    struct directory_session session;
    for (size_t i = 0; i < a->problems.count; i++)
        session_journal_key(SESSION_KEY_VALUE, a, S_OK, NULL, a->problems.items[i]);
    ULONG code = autologger_settings(a, folder, &settings, counter);
    if (code == ERROR_SUCCESS) {
        code = session_start(d, &settings, &session);
        trace_settings_free(&settings);
    }
    if (code != ERROR_SUCCESS) {
        session_journal_key(SESSION_KEY_NOT_STARTED, a, HRESULT_FROM_WIN32((LONG)code), NULL, NULL);
        return code;
    }
    code = enable_all(a, directory_handle(&session));
    directory_session_free(&session);
    return code;
}
