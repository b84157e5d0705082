/* SPDX-License-Identifier: MIT */
/* Implements TDH's functions for WPP messages, with their decoding handles. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/etw/decode/program_memory.h"
#include "engine/etw/decode/tdh/tdh.h"
#include "engine/etw/event_values.h"
#include "engine/etw/tmf.h"

enum { PATH_UNITS = 32767, NAME_UNITS = 256 };

struct decoding {
    struct decoding *next;
    bool set[TDH_PARAMETERS];
    uint64_t number[TDH_PARAMETERS];
    WCHAR *text[TDH_PARAMETERS]; /* text parameters, in the form in which programs query them */
    char *path[TDH_PARAMETERS];
    struct tmf_files *files; /* NULL: not created yet, or its sources have changed */
};
/* Protects the handles. A handle is an address, which is used only if the list of handles contains it. The lock is held
   during the whole call: formatting a message takes microseconds, and only the first message requires reading a
   file. */
static struct lock lock = LOCK_INIT;
static struct decoding *first;

static struct decoding *decoding_find(const void *handle)
{
    struct decoding *d = first;
    while (d && d != handle)
        d = d->next;
    return d;
}

ULONG WINAPI tdh_open_decoding_handle(void **handle)
{
    if (!handle)
        return ERROR_INVALID_PARAMETER;
    struct decoding *d = memory_zero(1, sizeof *d);
    void *const address = d;
    if (!d)
        return ERROR_NOT_ENOUGH_MEMORY;
    if (!program_write(handle, &address, sizeof address)) {
        memory_free(d);
        return ERROR_NOACCESS;
    }
    lock_enter(&lock);
    d->next = first;
    first = d;
    lock_leave(&lock);
    return ERROR_SUCCESS;
}

ULONG WINAPI tdh_close_decoding_handle(void *handle)
{
    lock_enter(&lock);
    struct decoding **at = &first;
    while (*at && *at != handle)
        at = &(*at)->next;
    struct decoding *d = *at;
    if (d)
        *at = d->next;
    lock_leave(&lock);
    if (!d)
        return ERROR_INVALID_HANDLE;
    for (size_t i = 0; i < TDH_PARAMETERS; i++) {
        memory_free(d->text[i]);
        memory_free(d->path[i]);
    }
    tmf_files_free(d->files);
    memory_free(d);
    return ERROR_SUCCESS;
}

/* ---- parameters ---- */

static bool is_path(uint32_t type)
{
    return type == TDH_PARAMETER_TMF_FILE || type == TDH_PARAMETER_TMF_SEARCH_PATH;
}

static HRESULT take_value(const struct tdh_parameter *p, char **path, WCHAR **text)
{
    if (!is_path(p->type))
        return p->type == TDH_PARAMETER_POINTER_SIZE && p->value != 4 && p->value != 8 ? E_INVALIDARG : S_OK;
    if (!p->value || p->value != (uintptr_t)p->value)
        return E_INVALIDARG;
    const HRESULT hr = program_text((const WCHAR *)(uintptr_t)p->value, PATH_UNITS, path);
    return SUCCEEDED(hr) ? text_to_utf16(*path, text, NULL) : hr;
}

ULONG WINAPI tdh_set_decoding_parameter(void *handle, const struct tdh_parameter *parameter)
{
    struct tdh_parameter p;
    char *path = NULL;
    WCHAR *text = NULL;
    if (!parameter)
        return ERROR_INVALID_PARAMETER;
    if (!program_read(&p, parameter, sizeof p))
        return ERROR_NOACCESS;
    if (p.type >= TDH_PARAMETERS)
        return ERROR_INVALID_PARAMETER;
    if (p.type == TDH_PARAMETER_PDB_PATH)
        return ERROR_NOT_SUPPORTED;
    HRESULT hr = take_value(&p, &path, &text);
    lock_enter(&lock);
    struct decoding *d = decoding_find(handle);
    if (SUCCEEDED(hr) && d) {
        memory_free(d->text[p.type]);
        memory_free(d->path[p.type]);
        d->text[p.type] = text;
        d->path[p.type] = path;
        d->number[p.type] = p.value;
        d->set[p.type] = true;
        tmf_files_free(d->files);
        d->files = NULL;
        text = NULL;
        path = NULL;
    }
    lock_leave(&lock);
    memory_free(text);
    memory_free(path);
    return d ? tdh_status(hr) : ERROR_INVALID_HANDLE;
}

ULONG WINAPI tdh_get_decoding_parameter(void *handle, struct tdh_parameter *parameter)
{
    struct tdh_parameter p;
    ULONG status = ERROR_SUCCESS;
    if (!parameter)
        return ERROR_INVALID_PARAMETER;
    if (!program_read(&p, parameter, sizeof p))
        return ERROR_NOACCESS;
    if (p.type >= TDH_PARAMETERS)
        return ERROR_INVALID_PARAMETER;
    lock_enter(&lock);
    const struct decoding *d = decoding_find(handle);
    if (!d)
        status = ERROR_INVALID_HANDLE;
    else if (!d->set[p.type])
        status = ERROR_NOT_FOUND;
    else
        p.value = is_path(p.type) ? (uintptr_t)d->text[p.type] : d->number[p.type];
    lock_leave(&lock);
    if (status == ERROR_SUCCESS && !program_write(parameter, &p, sizeof p))
        status = ERROR_NOACCESS;
    return status;
}

/* ---- messages ---- */

static HRESULT open_files(struct decoding *d)
{
    struct texts files = {0}, folders = {0};
    HRESULT hr = tmf_take_paths(&files, d->path[TDH_PARAMETER_TMF_FILE]);
    if (SUCCEEDED(hr))
        hr = tmf_take_paths(&folders, d->path[TDH_PARAMETER_TMF_SEARCH_PATH]);
    if (SUCCEEDED(hr))
        hr = tmf_files_create(&files, &folders, d->number[TDH_PARAMETER_GMT] != 0, &d->files);
    texts_free(&files);
    texts_free(&folders);
    return hr;
}

/* Finds a property of a message. After S_OK, the text in *out belongs to the caller. */
static HRESULT get_property(const void *handle, const EVENT_RECORD *event, const char *name, struct tmf_property *out)
{
    struct program_event own;
    HRESULT hr = program_event_take(event, &own);
    *out = (struct tmf_property){0};
    if (FAILED(hr))
        return hr;
    lock_enter(&lock);
    struct decoding *d = decoding_find(handle);
    if (!d)
        hr = HRESULT_FROM_WIN32(ERROR_INVALID_HANDLE);
    else if (!d->files)
        hr = open_files(d);
    if (SUCCEEDED(hr)) {
        const uint32_t size = (uint32_t)d->number[TDH_PARAMETER_POINTER_SIZE];
        hr = tmf_property(d->files, &own.record, event_data_of(&own.record, size).pointer_size, name, out);
    }
    lock_leave(&lock);
    program_event_free(&own);
    return hr;
}

HRESULT tdh_wpp_value(const struct tmf_property *p, void **bytes, size_t *size)
{
    const struct calendar_time t = clock_calendar(p->filetime);
    const SYSTEMTIME time = {.wYear = (WORD)t.year,
                             .wMonth = (WORD)t.month,
                             .wDayOfWeek = (WORD)t.weekday,
                             .wDay = (WORD)t.day,
                             .wHour = (WORD)t.hour,
                             .wMinute = (WORD)t.minute,
                             .wSecond = (WORD)t.second,
                             .wMilliseconds = (WORD)t.millisecond};
    const void *from = &time;
    WCHAR *wide = NULL;
    size_t units = 0;
    HRESULT hr = S_OK;
    *bytes = NULL;
    switch (p->kind) {
    case TMF_NUMBER:
        from = &p->number;
        *size = sizeof p->number;
        break;
    case TMF_GUID:
        from = &p->guid;
        *size = sizeof p->guid;
        break;
    case TMF_TIME:
        *size = sizeof time;
        break;
    case TMF_TEXT:
        hr = text_to_utf16(p->text ? p->text : "", &wide, &units);
        *bytes = wide;
        *size = (units + 1) * sizeof(WCHAR);
        return hr;
    }
    *bytes = memory_copy(from, *size);
    return *bytes ? S_OK : E_OUTOFMEMORY;
}

ULONG WINAPI tdh_get_wpp_property(void *handle, const EVENT_RECORD *event, const WCHAR *name, ULONG *size, void *buffer)
{
    struct tmf_property found;
    char *text;
    if (!event || !name || !size)
        return ERROR_INVALID_PARAMETER;
    HRESULT hr = program_text(name, NAME_UNITS, &text);
    if (SUCCEEDED(hr))
        hr = get_property(handle, event, text, &found);
    memory_free(text);
    if (hr != S_OK)
        return tdh_status(hr);
    void *bytes;
    size_t taken;
    hr = tdh_wpp_value(&found, &bytes, &taken);
    memory_free(found.text);
    if (FAILED(hr))
        return tdh_status(hr);
    const ULONG status = program_give(bytes, taken, buffer, size);
    memory_free(bytes);
    return status;
}

ULONG WINAPI tdh_get_wpp_message(void *handle, const EVENT_RECORD *event, ULONG *size, void *buffer)
{
    static const WCHAR name[] = u"FormattedString";
    return tdh_get_wpp_property(handle, event, name, size, buffer);
}
