/* SPDX-License-Identifier: MIT */
/* openpla run -apis: traces the API calls of one program in a session, without a data collector set. */
#include "cli/run_apis.h"

#include "cli/cli.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/etw/api_trace.h"
#include "engine/etw/etw_api.h"

#include <string.h>

enum {
    MODE = 0x20000001, /* EVENT_TRACE_FILE_MODE_SEQUENTIAL, EVENT_TRACE_BLOCKING_MODE */
    BUFFER_KB = 256,
    BUFFERS = 64,
    LEVEL_ALL = 5,
    NAME_UNITS = 64,
    FILE_UNITS = 1024,
};
#define TRACED_GUID 0x20000u /* WNODE_FLAG_TRACED_GUID */

struct block {
    EVENT_TRACE_PROPERTIES p;
    WCHAR name[NAME_UNITS], file[FILE_UNITS];
};
struct run_apis {
    struct api_trace *trace;
    struct block block;
    TRACEHANDLE session;
    bool started;
};

static HRESULT take_list(const char *list, struct texts *out)
{
    HRESULT hr = S_OK;
    for (const char *at = list; SUCCEEDED(hr) && at && *at;) {
        const size_t length = strcspn(at, ",");
        char *name = text_copy_n(at, length);
        hr = name ? texts_add_owned(out, name) : E_OUTOFMEMORY;
        at += length + (at[length] == ',');
    }
    return hr;
}

static HRESULT make_settings(const struct run_apis_options *o, const char *program, struct api_settings *s)
{
    struct texts modules = {0}, include = {0}, exclude = {0};
    *s = (struct api_settings){.flags = (o->names_only ? 0u : API_TRACE_ARGUMENTS) |
                                        (o->recursive ? (uint32_t)API_TRACE_RECURSIVE : 0u),
                               .program = text_copy(program)};
    HRESULT hr =
        s->program ? take_list(o->modules ? o->modules : "kernel32,advapi32,gdi32,user32", &modules) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = take_list(o->include, &include);
    if (SUCCEEDED(hr))
        hr = take_list(o->exclude, &exclude);
    if (SUCCEEDED(hr))
        hr = api_settings_add_modules(s, &modules);
    if (SUCCEEDED(hr))
        hr = api_settings_add_apis(&s->include, &include, "-inapis");
    if (SUCCEEDED(hr))
        hr = api_settings_add_apis(&s->exclude, &exclude, "-exapis");
    texts_free(&modules);
    texts_free(&include);
    texts_free(&exclude);
    return hr;
}

static void block_clear(struct block *b)
{
    b->p = (EVENT_TRACE_PROPERTIES){.Wnode = {.BufferSize = sizeof *b, .Flags = TRACED_GUID},
                                    .LoggerNameOffset = offsetof(struct block, name),
                                    .LogFileNameOffset = offsetof(struct block, file)};
}

static HRESULT put_units(const char *text, WCHAR *to, size_t room, const char *what)
{
    WCHAR *units;
    size_t length;
    HRESULT hr = text_to_utf16(text, &units, &length);
    if (FAILED(hr))
        return hr;
    if (length < room)
        memcpy(to, units, (length + 1) * sizeof *units);
    else
        hr = error_set(HRESULT_FROM_WIN32(ERROR_FILENAME_EXCED_RANGE), "%s '%.100s...' is too long", what, text);
    memory_free(units);
    return hr;
}

static HRESULT failed(ULONG code, const char *what, const char *log)
{
    return error_prefix(HRESULT_FROM_WIN32(code), "%s '%s'", what, log);
}

static HRESULT session_enable(struct run_apis *a, const char *log)
{
    struct {
        EVENT_FILTER_HEADER head;
        struct api_filter filter;
    } data = {.head = {.Size = sizeof data}, .filter = *api_trace_filter(a->trace)};
    EVENT_FILTER_DESCRIPTOR filter = {
        .Ptr = (uintptr_t)&data, .Size = sizeof data, .Type = EVENT_FILTER_TYPE_SCHEMATIZED};
    ENABLE_TRACE_PARAMETERS parameters = {.Version = 2, .EnableFilterDesc = &filter, .FilterDescCount = 1};
    error_clear();
    const ULONG code = host_etw()->EnableTraceEx2(a->session, &api_trace_provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
                                                  LEVEL_ALL, 0, 0, 0, &parameters);
    return code == ERROR_SUCCESS ? S_OK : failed(code, "cannot enable API tracing for the log", log);
}

static HRESULT session_start(struct run_apis *a, const char *log)
{
    struct block *b = &a->block;
    char *name = api_trace_session_name(a->trace), *path = os_full_path(log);
    HRESULT hr = name && path ? S_OK : E_OUTOFMEMORY;
    block_clear(b);
    b->p.LogFileMode = MODE;
    b->p.BufferSize = BUFFER_KB;
    b->p.MinimumBuffers = b->p.MaximumBuffers = BUFFERS;
    b->p.Wnode.ClientContext = 1;
    if (SUCCEEDED(hr) && file_exists(path))
        hr = error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS), "'%s' already exists (choose another log)", log);
    if (SUCCEEDED(hr))
        hr = put_units(name, b->name, NAME_UNITS, "the session");
    if (SUCCEEDED(hr))
        hr = put_units(path, b->file, FILE_UNITS, "the log");
    if (SUCCEEDED(hr)) {
        WCHAR session[NAME_UNITS];
        memcpy(session, b->name, sizeof session);
        error_clear();
        const ULONG code = host_etw()->StartTraceW(&a->session, session, &b->p);
        a->started = code == ERROR_SUCCESS;
        hr = a->started ? session_enable(a, log) : failed(code, "cannot write the log", log);
    }
    memory_free(name);
    memory_free(path);
    return hr;
}

HRESULT run_apis_begin(const struct run_apis_options *options, const char *program, struct run_apis **out)
{
    struct api_settings s;
    struct run_apis *a = memory_zero(1, sizeof *a);
    *out = NULL;
    if (!a)
        return E_OUTOFMEMORY;
    HRESULT hr = make_settings(options, program, &s);
    if (SUCCEEDED(hr))
        hr = api_trace_open(&s, NULL, &a->trace);
    api_settings_free(&s);
    if (SUCCEEDED(hr))
        hr = session_start(a, options->log);
    if (FAILED(hr)) {
        uint32_t lost;
        struct error_kept why = error_keep(hr);
        (void)run_apis_end(a, &lost);
        return error_restore(&why);
    }
    *out = a;
    return S_OK;
}

HRESULT run_apis_end(struct run_apis *a, uint32_t *lost)
{
    HRESULT hr = S_OK;
    *lost = 0;
    if (a && a->started) {
        block_clear(&a->block);
        error_clear();
        const ULONG code = host_etw()->ControlTraceW(a->session, NULL, &a->block.p, EVENT_TRACE_CONTROL_STOP);
        *lost = a->block.p.EventsLost;
        if (code != ERROR_SUCCESS && code != ERROR_MORE_DATA)
            hr = error_prefix(HRESULT_FROM_WIN32(code), "cannot stop API tracing");
    }
    if (a)
        api_trace_close(a->trace);
    memory_free(a);
    return hr;
}
