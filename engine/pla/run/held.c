/* SPDX-License-Identifier: MIT */
/* The lines of what outlives a host, in a file beside the set. */
#include "engine/pla/run/held.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/pla/collect/collect.h"
#include "engine/pla/run/run_journal.h"

#include <string.h>

HRESULT held_add(struct run_set *r, const char *line)
{
    for (size_t i = 0; i < r->held.count; i++)
        if (!strcmp(r->held.items[i], line))
            return S_OK;
    HRESULT hr = texts_add(&r->held, line);
    return SUCCEEDED(hr) ? store_save_held(r->space, r->name, &r->held) : hr;
}

#define REPORT_LINE "report "

HRESULT held_add_report(struct run_set *r, const char *folder)
{
    char *line = text_format(REPORT_LINE "%s", folder);
    HRESULT hr = line ? held_add(r, line) : E_OUTOFMEMORY;
    memory_free(line);
    return hr;
}

static HRESULT put_lost_report(struct run_record *record, const void *text)
{
    bool empty = !record->last_message || !*record->last_message;
    char *both = empty ? text_copy(text) : text_format("%s\n%s", record->last_message, (const char *)text);
    HRESULT hr = both ? run_record_set_text(&record->last_message, both) : E_OUTOFMEMORY;
    memory_free(both);
    return hr;
}

static HRESULT tell_lost_report(const char *space, const char *name, const char *folder)
{
    static const char why[] =
        "the set's host ended while the report was made; the logs are whole, and Run of the set's "
        "DataManager or openpla report makes it";
    char *text = text_format("%s: %s", folder, why);
    if (!text)
        return E_OUTOFMEMORY;
    journal_write(JOURNAL_REPORT_FAILED,
                  &(struct journal_facts){
                      .space = space, .name = name, .file = folder, .error = OPENPLA_E_HOST_DIED, .reason = why});
    store_update_run(space, name, &(struct run_change){put_lost_report, text});
    memory_free(text);
    return S_OK;
}

static HRESULT let_go(const char *space, const char *name, const char *line)
{
    size_t n = sizeof REPORT_LINE - 1;
    return strncmp(line, REPORT_LINE, n) == 0 ? tell_lost_report(space, name, line + n) : collector_let_go(line);
}

void held_clear(struct run_set *r)
{
    if (r->held.count)
        store_remove_held(r->space, r->name);
    texts_free(&r->held);
}

HRESULT held_let_go_by_host(const char *space, const char *name)
{
    struct texts lines = {0};
    HRESULT hr = store_load_held(space, name, &lines), first = hr;
    for (size_t i = 0; i < lines.count; i++) {
        hr = let_go(space, name, lines.items[i]);
        if (FAILED(hr) && SUCCEEDED(first))
            first = hr;
    }
    if (first == S_OK)
        store_remove_held(space, name);
    texts_free(&lines);
    return first;
}

/* A host that is starting takes care of it itself. */
HRESULT held_let_go(const char *space, const char *name)
{
    struct file_lock *lock = NULL;
    struct texts lines;
    HRESULT hr = store_load_held(space, name, &lines);
    if (hr != S_OK)
        return hr;
    texts_free(&lines);
    char *path = store_run_lock_path(space, name);
    hr = path ? file_lock_take(path, 0, &lock) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = held_let_go_by_host(space, name);
    else if (hr == HRESULT_FROM_WIN32(ERROR_LOCK_VIOLATION))
        hr = S_FALSE;
    file_lock_release(lock);
    memory_free(path);
    return hr;
}
