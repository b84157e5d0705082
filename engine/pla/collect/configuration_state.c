/* SPDX-License-Identifier: MIT */
/* SystemStateFile (MS-PLA 3.2.4.7): what the kernel's session in memory has seen of late, as a file beside the XML. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/etw/etw_controller_types.h"
#include "engine/pla/collect/configuration_source.h"
#include "engine/pla/collect/trace_file.h"
#include "engine/pla/collect/trace_session.h"

#define SESSION "Circular Kernel Context Logger"

static const struct configuration_column columns[] = {{"session", COLUMN_KEY}, {"file", COLUMN_PLAIN}};

static HRESULT take_snapshot(const struct configuration_source_context *c, const char *path)
{
    struct trace_target t = {.name = SESSION};
    struct trace_session s;
    HRESULT hr = trace_session_query(&t, &s);
    if (hr == HRESULT_FROM_WIN32(ERROR_WMI_INSTANCE_NOT_FOUND))
        return error_set(hr, "SystemStateFile: \"%s\": there is no session \"" SESSION "\" to take a snapshot of",
                         c->request->state_file);
    if (FAILED(hr))
        return hr;
    t.handle = s.handle;
    if (s.is.mode & TRACE_MODE_BUFFERING)
        hr = trace_file_check(c->output_base, path, c->request->overwrite);
    else
        hr = error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                       "SystemStateFile: the session \"" SESSION "\" is not one in memory (LogFileMode 0x%X)",
                       (unsigned)s.is.mode);
    if (SUCCEEDED(hr) && c->made)
        c->made(c->output_base, c->output_folder, path);
    if (SUCCEEDED(hr))
        hr = trace_session_flush(&t, path);
    trace_session_free(&s);
    return hr;
}

HRESULT configuration_collect_state(const struct configuration_source_context *c)
{
    const char *file = c->request->state_file;
    struct configuration_document *d = c->document;
    if (!*file)
        return S_OK;
    char *name = *path_extension(file) ? text_copy(file) : text_format("%s.etl", file);
    char *path = name ? path_join(c->output_folder, name) : NULL;
    HRESULT hr = path ? take_snapshot(c, path) : E_OUTOFMEMORY;
    if (hr != E_OUTOFMEMORY) {
        struct error_kept why = error_keep(hr);
        configuration_begin_section(d, "systemState");
        configuration_begin_table(d, "systemState", NULL, columns, sizeof columns / sizeof *columns);
        configuration_begin_item(d);
        configuration_data(d, "session", NULL, SESSION);
        configuration_data(d, "file", NULL, SUCCEEDED(hr) ? name : "");
        if (FAILED(hr))
            configuration_data_error(d, error_restore(&why));
        configuration_end_item(d);
        configuration_end_table(d);
        hr = configuration_end_section(d);
    }
    memory_free(path);
    memory_free(name);
    return hr;
}
