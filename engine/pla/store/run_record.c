/* SPDX-License-Identifier: MIT */
/* What runs leave behind, one line a value: "key value". Controls and '%' in values are written %XX. */
#include "engine/base/memory.h"
#include "engine/pla/store.h"
#include "engine/pla/store/set_file.h"

#include <inttypes.h>
#include <string.h>

#define FIRST_LINE "openpla-run 1"
#define RECORD_MAX (16u << 20) /* bytes */

enum {
    CHANGES_ASIDE = 3
}; /* tries without the lock, before those who write all the time have to wait for one with it */

static void add_value(struct text_buffer *b, const char *key, const char *value)
{
    text_buffer_add(b, key);
    text_buffer_add(b, " ");
    text_buffer_add_escaped(b, value);
    text_buffer_add(b, "\n");
}

static void write_record(struct text_buffer *b, const struct run_record *record)
{
    text_buffer_add(b, FIRST_LINE "\n");
    text_buffer_format(b, "serial-number %lu\n", (unsigned long)record->serial_number);
    text_buffer_format(b, "last-result 0x%08lX\n", (unsigned long)(uint32_t)record->last_result);
    text_buffer_format(b, "running %d\n", record->running);
    text_buffer_format(b, "last-scheduled %" PRId64 "\n", record->last_scheduled);
    add_value(b, "last-message", record->last_message);
    add_value(b, "latest-location", record->latest_location);
    for (size_t i = 0; i < record->latest_files.count; i++)
        add_value(b, "latest-file", record->latest_files.items[i]);
}

/* Everything but the last step of a save. */
static HRESULT begin_save(const struct set_file *at, const struct run_record *record, struct file_storing **out)
{
    struct text_buffer b = {0};
    write_record(&b, record);
    HRESULT hr = b.failed ? E_OUTOFMEMORY : folder_create_protected(at->place, PROTECTION_PLACE);
    if (SUCCEEDED(hr))
        hr = file_store_begin(at->run, b.text, b.length, out);
    text_buffer_free(&b);
    return hr;
}

/* Under the lock of the namespace. */
static HRESULT end_save(const struct set_file *at, struct file_storing *storing)
{
    HRESULT hr = file_store_end(storing);
    if (SUCCEEDED(hr))
        set_file_note_change(at);
    return hr;
}

HRESULT run_record_set_text(char **field, const char *value)
{
    char *copy = text_copy(value);
    if (!copy)
        return E_OUTOFMEMORY;
    memory_free(*field);
    *field = copy;
    return S_OK;
}

/* Keys of later versions are passed over. */
static HRESULT take_line(char *key, char *value, struct run_record *record)
{
    uint64_t number;
    if (!text_unescape(value))
        return HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
    if (!strcmp(key, "latest-location"))
        return run_record_set_text(&record->latest_location, value);
    if (!strcmp(key, "last-message"))
        return run_record_set_text(&record->last_message, value);
    if (!strcmp(key, "latest-file"))
        return texts_add(&record->latest_files, value);
    if (!strcmp(key, "last-scheduled"))
        return text_to_i64(value, &record->last_scheduled) ? S_OK : HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
    if (strcmp(key, "serial-number") != 0 && strcmp(key, "last-result") != 0 && strcmp(key, "running") != 0)
        return S_OK;
    if (!text_to_u64(value, &number) || number > UINT32_MAX)
        return HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
    if (*key == 's')
        record->serial_number = (uint32_t)number;
    else if (*key == 'r')
        record->running = number != 0;
    else
        record->last_result = (HRESULT)(uint32_t)number;
    return S_OK;
}

static HRESULT run_record_parse(char *text, size_t size, struct run_record *record)
{
    char *line = text;
    HRESULT hr = S_OK;
    /* A line that does not end is a file that was cut. */
    if (strlen(text) != size || !size || text[size - 1] != '\n' ||
        strncmp(text, FIRST_LINE "\n", sizeof(FIRST_LINE)) != 0)
        return HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
    for (line += sizeof(FIRST_LINE); SUCCEEDED(hr) && *line;) {
        char *end = strchr(line, '\n'), *blank;
        *end = 0;
        blank = strchr(line, ' ');
        if (blank) {
            *blank = 0;
            hr = take_line(line, blank + 1, record);
        }
        line = end + 1;
    }
    return hr;
}

/* What stands in the record's file. *text NULL: there is none. */
static HRESULT load_text(const struct set_file *at, char **text, size_t *size)
{
    HRESULT hr = file_load(at->run, RECORD_MAX, text, size);
    if (FAILED(hr))
        *text = NULL;
    return set_file_is_missing(hr) ? S_OK : hr;
}

/* Of the file's text, which is changed. No text: an empty record that is not known. */
static HRESULT take_text(const struct set_file *at, char *text, size_t size, struct run_record *out)
{
    struct run_record record = {.known = text != NULL};
    HRESULT hr = S_OK;
    *out = (struct run_record){0};
    if (record.known) {
        hr = run_record_parse(text, size, &record);
        if (hr == HRESULT_FROM_WIN32(ERROR_INVALID_DATA))
            error_set(hr, "\"%s\": is no run record", at->run);
        /* Texts are never NULL in a record that is known. */
        if (SUCCEEDED(hr) && !record.latest_location)
            hr = run_record_set_text(&record.latest_location, "");
        if (SUCCEEDED(hr) && !record.last_message)
            hr = run_record_set_text(&record.last_message, "");
    }
    if (SUCCEEDED(hr))
        *out = record;
    else
        run_record_free(&record);
    return hr;
}

/* Under the lock of the namespace. */
static HRESULT run_record_load(const struct set_file *at, struct run_record *out)
{
    char *text;
    size_t size = 0;
    HRESULT hr = load_text(at, &text, &size);
    *out = (struct run_record){0};
    if (SUCCEEDED(hr))
        hr = take_text(at, text, size, out);
    memory_free(text);
    return hr;
}

HRESULT run_record_check(const char *path)
{
    const struct set_file at = {.run = (char *)path};
    struct run_record record;
    HRESULT hr = run_record_load(&at, &record);
    run_record_free(&record);
    return hr;
}

HRESULT store_load_run(const char *space, const char *name, struct run_record *out)
{
    struct set_file at;
    HRESULT hr = set_file_open(space, name, SET_FILE_READ, &at);
    *out = (struct run_record){0};
    if (hr == S_OK)
        hr = run_record_load(&at, out);
    set_file_close(&at);
    return FAILED(hr) ? hr : S_OK;
}

HRESULT set_file_change_run(const struct set_file *at, const struct run_change *change)
{
    struct run_record record;
    struct file_storing *storing;
    HRESULT hr = run_record_load(at, &record);
    if (SUCCEEDED(hr))
        hr = change->change(&record, change->user);
    if (hr == S_OK)
        hr = begin_save(at, &record, &storing);
    if (hr == S_OK)
        hr = end_save(at, storing);
    run_record_free(&record);
    return FAILED(hr) ? hr : S_OK;
}

/* The lock is held for the two ends alone, as hosts that start at one second would wait for one another's flushes: the
   change is that of a record which nobody has written meanwhile. S_FALSE: somebody has. */
static HRESULT change_aside(struct set_file *at, const struct run_change *change)
{
    struct run_record record = {0};
    struct file_storing *storing = NULL;
    char *before, *parsed = NULL, *now = NULL;
    size_t size = 0, now_size = 0;
    HRESULT hr = load_text(at, &before, &size);
    set_file_unlock(at);
    if (SUCCEEDED(hr) && before && !(parsed = memory_copy(before, size + 1)))
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = take_text(at, parsed, size, &record);
    if (SUCCEEDED(hr))
        hr = change->change(&record, change->user);
    bool save = hr == S_OK;
    if (save)
        hr = begin_save(at, &record, &storing);
    if (save && SUCCEEDED(hr))
        hr = set_file_lock(at);
    if (save && SUCCEEDED(hr))
        hr = load_text(at, &now, &now_size);
    if (save && SUCCEEDED(hr)) {
        bool same = !before == !now && size == now_size && (!now || !memcmp(before, now, size));
        hr = same ? end_save(at, storing) : S_FALSE;
        if (same)
            storing = NULL;
        if (set_file_is_missing(hr)) /* taken for one that a killed writer left */
            hr = S_FALSE;
    }
    hr = file_store_drop(storing, hr);
    run_record_free(&record);
    memory_free(now);
    memory_free(parsed);
    memory_free(before);
    return FAILED(hr) || save ? hr : S_OK;
}

HRESULT store_update_run(const char *space, const char *name, const struct run_change *change)
{
    HRESULT hr = S_FALSE;
    for (int tries = 0; hr == S_FALSE && tries <= CHANGES_ASIDE; tries++) {
        struct set_file at;
        hr = set_file_open(space, name, SET_FILE_CREATE, &at);
        if (SUCCEEDED(hr))
            hr = tries < CHANGES_ASIDE ? change_aside(&at, change) : set_file_change_run(&at, change);
        set_file_close(&at);
    }
    return hr;
}

#define RUNNING "\nrunning 1\n" /* in no value: those are escaped */

HRESULT store_mark_ended(const char *space, const char *name)
{
    struct set_file at;
    struct file *f = NULL;
    char *text = NULL;
    size_t size;
    HRESULT hr = set_file_open(space, name, SET_FILE_CHANGE, &at);
    if (hr == S_OK)
        hr = file_load(at.run, RECORD_MAX, &text, &size);
    const char *found = hr == S_OK ? strstr(text, RUNNING) : NULL;
    if (found)
        hr = file_open(at.run, FILE_APPEND, &f);
    if (SUCCEEDED(hr) && found)
        hr = file_write_at(f, (uint64_t)(found - text) + sizeof RUNNING - 3, "0", 1);
    file_close(f);
    memory_free(text);
    set_file_close(&at);
    return set_file_is_missing(hr) || (hr == S_OK && !found) ? S_FALSE : hr;
}

void run_record_free(struct run_record *record)
{
    memory_free(record->latest_location);
    memory_free(record->last_message);
    texts_free(&record->latest_files);
    *record = (struct run_record){0};
}
