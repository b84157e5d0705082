/* SPDX-License-Identifier: MIT */
#include "engine/etw/provider/private_parts.h"

#include "engine/base/file_traits.h"
#include "engine/base/memory.h"
#include "engine/etw/etw_controller_types.h"
#include "engine/etw/session/session_drain.h"
#include "engine/etw/session/session_start.h"
#include "engine/etw/trace_properties.h"

#include <stdio.h>
#include <string.h>

HRESULT private_parts(struct directory *d, const struct directory_session *s, struct directory_figures *ended,
                      struct directory_session **out, size_t *count)
{
    size_t all, parts = 0;
    const HRESULT hr = directory_sessions(d, out, &all);
    *count = 0;
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < all; i++) {
        if (ended && (*out)[i].logger == s->logger && (*out)[i].turn == s->turn)
            *ended = (*out)[i].ended;
        if ((*out)[i].whole == s->logger && (*out)[i].whole_turn == s->turn)
            (*out)[parts++] = (*out)[i];
        else
            directory_session_free(&(*out)[i]);
    }
    *count = parts;
    return hr;
}

char *private_part_file(const struct directory_session *part, const char *file)
{
    if (!file)
        return NULL;
    if (part->named)
        return text_copy(file);
    char *own = text_format("%s_%u", file, (unsigned)part->starter.id);
    const size_t length = own && part->file ? strlen(own) : 0;
    if (length == 0 || strncmp(part->file, own, length) != 0 || part->file[length] != '_')
        return own;
    memory_free(own); /* it has a number: private_part_find_file */
    return text_copy(part->file);
}

/* Also when that cannot be known. */
static bool is_of_session(const char *path, int64_t started)
{
    struct file *file;
    struct file_traits traits = {.written = 0};
    HRESULT hr = file_open_source(path, &file);
    if (hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) || hr == HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND))
        return false;
    if (FAILED(hr))
        return true;
    hr = file_traits_of(file, &traits);
    file_close(file);
    return FAILED(hr) || traits.written >= started;
}

/* As session_file names the first one; from memory_alloc. */
static char *first_file(const struct directory_session *part, const char *file)
{
    const char *at = (part->mode & TRACE_MODE_NEWFILE) != 0 ? strstr(file, "%d") : NULL;
    return at ? text_format("%.*s1%s", (int)(at - file), file, at + 2) : text_copy(file);
}

HRESULT private_part_find_file(struct directory_session *part)
{
    enum { MOST = 1000 };
    if (part->named || !part->file)
        return S_OK;
    for (unsigned number = 1; number <= MOST; number++) {
        char *file = number == 1 ? text_copy(part->file) : text_format("%s_%u", part->file, number);
        char *first = file ? first_file(part, file) : NULL;
        const bool taken = first && is_of_session(first, part->started);
        memory_free(first);
        if (first && !taken) {
            memory_free(part->file);
            part->file = file;
            return S_OK;
        }
        memory_free(file);
        if (!first)
            return E_OUTOFMEMORY;
    }
    return error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS), "%s: the session has so many files of that name already",
                     part->file);
}

/* Of a change: all of it, or nothing. */
static void end(struct directory *d, HRESULT hr)
{
    if (FAILED(hr))
        directory_cancel(d);
    else
        (void)directory_end(d, NULL, 0);
}

/* In a change. */
static HRESULT enter(struct directory *d, const struct directory_session *s, struct directory_session *part)
{
    struct directory_session whole;
    char key[SHARED_KEY_DIGITS + 1];
    HRESULT hr = directory_session_at(d, s->logger, s->turn, &whole);
    if (hr != S_OK)
        return hr;
    *part = whole;
    part->state = DIRECTORY_STARTING;
    part->starter = part->host = (struct directory_process){process_own_id(), process_start_time(process_own_id())};
    part->whole = whole.logger;
    part->whole_turn = whole.turn;
    part->logger = part->turn = 0;
    part->named = !whole.numbered && (!whole.named || (whole.mode & TRACE_MODE_PRIVATE_IN_PROC) != 0);
    part->ended = (struct directory_figures){0};
    part->scope = (struct directory_scope){0};
    part->name = text_copy(whole.name);
    part->file = private_part_file(part, whole.file);
    hr = part->name && (part->file || !whole.file) ? shared_new_key(key) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        snprintf(part->section, sizeof part->section, "openetw-%s", key);
        snprintf(part->signal, sizeof part->signal, "openetw-%s", key);
        hr = whole.state == DIRECTORY_RUNNING ? directory_session_add(d, part) : S_FALSE;
    }
    if (hr == S_OK && part->named && !whole.named) {
        whole.named = true;
        hr = directory_session_set(d, &whole);
    }
    directory_session_free(&whole);
    if (hr != S_OK)
        directory_session_free(part);
    return hr;
}

HRESULT private_part_enter(struct directory *d, const struct directory_session *s, struct directory_session *part)
{
    HRESULT hr = directory_begin(d);
    if (FAILED(hr))
        return hr;
    hr = enter(d, s, part);
    end(d, hr);
    return hr;
}

/* In a change. */
static HRESULT forget_name(struct directory *d, const struct directory_session *part)
{
    struct directory_session whole;
    HRESULT hr = directory_session_at(d, part->whole, part->whole_turn, &whole);
    if (hr != S_OK)
        return hr;
    whole.named = false;
    hr = directory_session_set(d, &whole);
    directory_session_free(&whole);
    return hr;
}

void private_part_refuse(struct directory *d, const struct directory_session *part)
{
    if (FAILED(directory_begin(d)))
        return;
    GUID *none = NULL;
    size_t count;
    if (part->named)
        (void)forget_name(d, part);
    (void)directory_session_remove(d, part->logger, part->turn, &none, &count);
    memory_free(none);
    (void)directory_end(d, NULL, 0);
}

/* In a change. S_FALSE: it is so already, or the session is gone. */
static HRESULT give_figures(struct directory *d, const struct directory_session *s,
                            const struct session_statistics *figures)
{
    struct directory_session whole, part;
    HRESULT hr = directory_session_at(d, s->logger, s->turn, &part);
    if (hr != S_OK)
        return hr;
    if (part.state == DIRECTORY_OVER) {
        directory_session_free(&part);
        return S_FALSE;
    }
    part.state = DIRECTORY_OVER;
    hr = directory_session_set(d, &part);
    directory_session_free(&part);
    if (hr == S_OK)
        hr = directory_session_at(d, s->whole, s->whole_turn, &whole);
    if (hr != S_OK)
        return hr;
    whole.ended.events_lost += figures->events_lost;
    whole.ended.buffers_written += figures->buffers_written;
    whole.ended.buffers_lost += figures->buffers_lost;
    hr = directory_session_set(d, &whole);
    directory_session_free(&whole);
    return hr;
}

HRESULT private_part_over(struct directory *d, const struct directory_session *part, const struct session_buffers *b)
{
    struct session_statistics figures = {0};
    if (b)
        session_statistics_read(b, &figures);
    HRESULT hr = directory_begin(d);
    if (FAILED(hr))
        return hr;
    hr = give_figures(d, part, &figures);
    end(d, hr);
    return hr;
}
