/* SPDX-License-Identifier: MIT */
/* From the registry's values of an autologger to its session. */
#include "engine/etw/autologger.h"

#include "engine/base/file.h"
#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/etw/controller/controller.h"
#include "engine/etw/session/session_output.h"
#include "engine/etw/session/session_start.h"
#include "engine/logs/etl_header.h"

#include <stdio.h>
#include <string.h>

enum {
    GLOBAL_MINIMUM = 3, /* buffers */
    MOST_FILES = 16,
    NO_FILE_MODES = TRACE_MODE_BUFFERING | TRACE_MODE_REAL_TIME,
};

static uint32_t number_or(const struct autologger_number *n, uint32_t otherwise)
{
    return n->there ? (uint32_t)n->value : otherwise;
}

/* ---- what holds in place of what cannot be ---- */

/* Above `most`, or below `least`, the value is not there; with `clamp` it is the bound. */
static HRESULT bound(struct autologger *a, const char *name, struct autologger_number *n, uint64_t least, uint64_t most,
                     bool clamp)
{
    if (!n->there || (n->value >= least && n->value <= most))
        return S_OK;
    char *text = text_format("%s: %llu is not from %llu to %llu; %s", name, (unsigned long long)n->value,
                             (unsigned long long)least, (unsigned long long)most,
                             clamp ? "the nearest of them holds" : "it is as if it were not there");
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
        hr = bound(a, rows[i].name, rows[i].n, rows[i].least, rows[i].most, rows[i].clamp);
    if (SUCCEEDED(hr) && a->file_max.there && a->file_max.value != 0)
        hr = bound(a, "FileCounter", &a->file_counter, 0, a->file_max.value, false);
    for (size_t i = 0; SUCCEEDED(hr) && i < a->provider_count; i++) {
        char guid[39], name[80];
        text_from_guid(&a->providers[i].guid, guid);
        snprintf(name, sizeof name, "%s\\EnableLevel", guid);
        hr = bound(a, name, &a->providers[i].level, 0, UINT8_MAX, true);
    }
    return hr;
}

/* ---- the session ---- */

/* That of the GlobalLogger rises to the last and begins with 0 again, which others do not have. */
static uint32_t next_counter(const struct autologger *a, uint32_t most)
{
    const uint32_t before = number_or(&a->file_counter, 0), first = a->global ? 0 : 1;
    return before < most && (before >= first || !a->file_counter.there) ? before + 1 : first;
}

/* The file of this start: one of FileMax in turn, or the one. */
static ULONG log_file(const struct autologger *a, const char *folder, char **out, uint32_t *counter)
{
    char *given = a->file ? host_expand_environment(a->file) : NULL, *path = NULL, *own = NULL;
    if (a->file) {
        path = given ? host_full_path(given) : NULL;
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
    return path ? ERROR_SUCCESS : controller_refuse(ERROR_NOT_ENOUGH_MEMORY, "out of memory for the log file's name");
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
    const struct trace_machine machine = {.processors = processor_count(), .memory = host_memory()};
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
        code = controller_refuse(ERROR_INVALID_PARAMETER, "Guid: '%.80s' is no GUID", a->guid ? a->guid : "");
    memcpy(out->enable_flags, a->kernel_flags, sizeof out->enable_flags);
    if (a->global && has_kernel_flags(a)) {
        out->kernel = true;
        out->guid = trace_kernel_guid;
        name = TRACE_KERNEL_LOGGER;
    }
    if (code == ERROR_SUCCESS && (out->mode & (TRACE_MODE_PRIVATE_LOGGER | TRACE_MODE_PRIVATE_IN_PROC)) != 0)
        code = controller_refuse(ERROR_INVALID_PARAMETER, "LogFileMode: 0x%X is that of a private session",
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

static ULONG enable(const struct autologger_provider *p, TRACEHANDLE handle)
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
        const ULONG code = number_or(&p->enabled, 0) != 0 ? enable(p, handle) : ERROR_SUCCESS;
        if (code == ERROR_SUCCESS)
            continue;
        char guid[39];
        text_from_guid(&p->guid, guid);
        session_tell_key(SESSION_KEY_PROVIDER, a, HRESULT_FROM_WIN32((LONG)code), guid, NULL);
        first = first == ERROR_SUCCESS ? code : first;
    }
    return first;
}

ULONG autologger_start(struct directory *d, const struct autologger *a, const char *folder, uint32_t *counter)
{
    struct trace_settings settings;
    struct directory_session session;
    for (size_t i = 0; i < a->problems.count; i++)
        session_tell_key(SESSION_KEY_VALUE, a, S_OK, NULL, a->problems.items[i]);
    ULONG code = autologger_settings(a, folder, &settings, counter);
    if (code == ERROR_SUCCESS) {
        code = session_start(d, &settings, &session);
        trace_settings_free(&settings);
    }
    if (code != ERROR_SUCCESS) {
        session_tell_key(SESSION_KEY_NOT_STARTED, a, HRESULT_FROM_WIN32((LONG)code), NULL, NULL);
        return code;
    }
    code = enable_all(a, directory_handle(&session));
    directory_session_free(&session);
    return code;
}
