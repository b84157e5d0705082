/* SPDX-License-Identifier: MIT */
/* Looking at the folders. */
#include "engine/pla/retention/scan.h"

#include "engine/base/memory.h"
#include "engine/pla/store.h"

#include <string.h>

static HRESULT count_content(void *user, const struct content *c)
{
    struct retained_folder *f = user;
    switch (c->kind) {
    case CONTENT_DATA:
        f->data_files++;
        f->data_bytes += c->size;
        break;
    case CONTENT_REPORT:
        f->report_files++;
        f->report_bytes += c->size;
        break;
    case CONTENT_CABINET:
        f->packed = true;
        f->cabinet_bytes = c->size;
        break;
    case CONTENT_MARK:
    case CONTENT_SCRAP:
        f->rest_bytes += c->size;
        break;
    case CONTENT_OTHER:
        f->others++;
        break;
    case CONTENT_FOLDER:
        break;
    }
    return S_OK;
}

static HRESULT is_empty(void *user, const struct held_entry *entry)
{
    (void)user;
    (void)entry;
    return E_FAIL;
}

/* S_FALSE: it is not the set's. One that has lost all it held, the mark last, is what a pass has left that was ended.
 */
static HRESULT look(const struct scan *s, const struct folder_record *record, struct retained_folder *out)
{
    struct held_folder *f;
    *out = (struct retained_folder){.name = record->name,
                                    .serial = record->serial,
                                    .started = record->started,
                                    .going = record->going,
                                    .sent = record->sent};
    HRESULT hr = held_folder_open(s->root, record->name, &f);
    if (FAILED(hr))
        return hr;
    hr = folder_check_mark(f, record);
    if (hr == S_FALSE && record->going && SUCCEEDED(held_folder_each(f, is_empty, NULL)))
        hr = S_OK;
    if (hr == S_OK)
        hr = folder_walk(f, &s->names, count_content, out);
    held_folder_close(f);
    return hr;
}

static bool is_missing(HRESULT hr)
{
    return hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) || hr == HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND);
}

static bool is_running(const struct scan *s, const struct folder_record *record)
{
    const char *names = s->running ? path_names_behind(s->root, s->running) : NULL;
    if (!s->running)
        return false;
    if (names) /* rather one too many: hosts differ in whether RUN is run */
        return text_equal_nocase(names, record->name);
    char *path = path_join(s->root, record->name);
    bool same = !path || file_is_same(path, s->running);
    memory_free(path);
    return same;
}

static HRESULT note_failure(struct scanned *out, const struct folder_record *record, HRESULT hr)
{
    char *reason = text_copy(error_text(hr));
    if (!reason)
        return E_OUTOFMEMORY;
    out->failures[out->failure_count++] = (struct scan_failure){record->name, hr, reason};
    return S_OK;
}

static HRESULT scan_record(const struct scan *s, size_t i, struct scanned *out)
{
    const struct folder_record *record = &out->records.items[i];
    struct retained_folder *f = &out->folders[out->count];
    const bool latest = i + 1 == out->records.count;
    HRESULT hr = look(s, record, f);
    if (hr == E_OUTOFMEMORY)
        return hr;
    if (is_missing(hr)) {
        out->lost[out->lost_count++] = record;
        return S_OK;
    }
    if (FAILED(hr))
        return note_failure(out, record, hr);
    if (hr == S_FALSE)
        return S_OK;
    f->latest = latest;
    f->running = (latest && s->latest_runs) || is_running(s, record);
    out->of[out->count++] = record;
    return S_OK;
}

HRESULT retention_scan(const struct scan *s, struct scanned *out)
{
    struct texts lines;
    *out = (struct scanned){0};
    HRESULT hr = store_load_folders(s->space, s->set, &lines);
    if (hr == S_OK)
        hr = folder_records_read(&lines, &out->records);
    texts_free(&lines);
    const size_t room = out->records.count + 1;
    if (SUCCEEDED(hr)) {
        out->folders = memory_zero(room, sizeof *out->folders);
        out->of = memory_zero(room, sizeof *out->of);
        out->lost = memory_zero(room, sizeof *out->lost);
        out->failures = memory_zero(room, sizeof *out->failures);
        hr = out->folders && out->of && out->lost && out->failures ? S_OK : E_OUTOFMEMORY;
    }
    for (size_t i = 0; SUCCEEDED(hr) && i < out->records.count; i++)
        hr = scan_record(s, i, out);
    if (FAILED(hr))
        scanned_free(out);
    return FAILED(hr) ? hr : S_OK;
}

void scanned_free(struct scanned *s)
{
    memory_free(s->folders);
    memory_free((void *)s->of);
    memory_free((void *)s->lost);
    for (size_t i = 0; i < s->failure_count; i++)
        memory_free(s->failures[i].reason);
    memory_free(s->failures);
    folder_records_free(&s->records);
    *s = (struct scanned){0};
}
