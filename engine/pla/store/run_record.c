/* SPDX-License-Identifier: MIT */
/* Reads and writes the files that a run keeps beside its set: the run record, the registration of the host process, the
   list of resources that the run holds, and the list of its folders. */
#include "engine/base/assert.h"
#include "engine/base/clock.h"
#include "engine/base/debug_trace.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/pla/store.h"
#include "engine/pla/store/set_file.h"

#include <inttypes.h>
#include <string.h>

#define FIRST_LINE "openpla-run 1"
#define RECORD_MAX (16u << 20) /* bytes */

/* A change is tried this many times without the lock. The next try holds the lock, to keep other writers out. */
enum { CHANGES_ASIDE = 3 };

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

/* Writes and flushes the temporary file. */
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

/* Renames the temporary file. Call it under the lock of the namespace. */
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

/* Puts the value of a line into the record. Ignores unknown keys, which later versions may write. */
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
    /* If the last line has no end, the file was truncated. */
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

/* Loads the record's file. *text is NULL if it does not exist. */
static HRESULT load_text(const struct set_file *at, char **text, size_t *size)
{
    HRESULT hr = file_load(at->run, RECORD_MAX, text, size);
    if (FAILED(hr))
        *text = NULL;
    return set_file_is_missing(hr) ? S_OK : hr;
}

/* Parses the text of the file in place. `text` NULL: the record is empty, and `known` is false. */
static HRESULT take_text(const struct set_file *at, char *text, size_t size, struct run_record *out)
{
    struct run_record record = {.known = text != NULL};
    HRESULT hr = S_OK;
    *out = (struct run_record){0};
    if (record.known) {
        hr = run_record_parse(text, size, &record);
        if (hr == HRESULT_FROM_WIN32(ERROR_INVALID_DATA))
            error_set(hr, "'%s' is not a run record", at->run);
        /* The strings of a known record are never NULL. */
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

/* Loads the record. Call it under the lock of the namespace. */
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

/* Changes the record, and holds the lock only to read it and to rename the new file. Otherwise host processes that
   start in the same second would have to wait for each other's flushes to disk. S_FALSE: another process wrote the
   record in the meantime. */
static HRESULT change_unlocked(struct set_file *at, const struct run_change *change)
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
    bool saves = hr == S_OK;
    if (saves)
        hr = begin_save(at, &record, &storing);
    if (saves && SUCCEEDED(hr))
        hr = set_file_lock(at);
    if (saves && SUCCEEDED(hr))
        hr = load_text(at, &now, &now_size);
    if (saves && SUCCEEDED(hr)) {
        bool same = !before == !now && size == now_size && (!now || !memcmp(before, now, size));
        hr = same ? end_save(at, storing) : S_FALSE;
        if (same)
            storing = NULL;
        if (set_file_is_missing(hr)) /* another process removed the temporary file, as if its writer had died */
            hr = S_FALSE;
    }
    hr = file_store_drop(storing, hr);
    run_record_free(&record);
    memory_free(now);
    memory_free(parsed);
    memory_free(before);
    return FAILED(hr) || saves ? hr : S_OK;
}

HRESULT store_update_run(const char *space, const char *name, const struct run_change *change)
{
    HRESULT hr = S_FALSE;
    for (int tries = 0; hr == S_FALSE && tries <= CHANGES_ASIDE; tries++) {
        struct set_file at;
        hr = set_file_open(space, name, SET_FILE_CREATE, &at);
        if (SUCCEEDED(hr))
            hr = tries < CHANGES_ASIDE ? change_unlocked(&at, change) : set_file_change_run(&at, change);
        set_file_close(&at);
    }
    TRACE_STEP(store, "change the run record of %s\\%s: 0x%08X", space, name, (unsigned)hr);
    return hr;
}

#define RUNNING "\nrunning 1\n" /* cannot be part of a value, because values are escaped */

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
    assert(!found || found[sizeof RUNNING - 3] == '1');
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

/* ---- the host process ---- */

/* One line: "openpla-host 1 <process> <start> <key> <owner>". The file is not flushed, because a system crash ends the
   host process, too. */

#define FIRST_WORDS "openpla-host 1 "
#define LINE_MAX    512  /* bytes */
#define PATIENCE_MS 1000 /* time to retry while a reader has the file open, or a deleted file still has the name */
#define STEP_MS     5

/* Cuts off the first word of *rest. NULL: no word remains, or the first word is longer than `most`. */
static char *take_word(char **rest, size_t most)
{
    char *word = *rest, *end = strchr(word, ' ');
    if (!end || end == word || (size_t)(end - word) > most)
        return NULL;
    *end = 0;
    *rest = end + 1;
    return word;
}

static bool run_host_parse(char *text, size_t size, struct run_host *out)
{
    uint64_t id;
    size_t first = sizeof(FIRST_WORDS) - 1;
    if (strlen(text) != size || size < first || strncmp(text, FIRST_WORDS, first) != 0 ||
        strcspn(text, "\n") != size - 1)
        return false; /* the line was not written completely */
    text[size - 1] = ' ';
    text += first;
    char *process = take_word(&text, 10), *start = process ? take_word(&text, 20) : NULL;
    char *key = start ? take_word(&text, sizeof out->key - 1) : NULL;
    char *owner = key ? take_word(&text, sizeof out->owner - 1) : NULL;
    if (!owner || *text || !text_to_u64(process, &id) || id > UINT32_MAX || !text_to_u64(start, &out->process_start) ||
        strlen(key) != sizeof out->key - 1 || strspn(key, "0123456789abcdef") != sizeof out->key - 1)
        return false;
    out->process_id = (uint32_t)id;
    text_fit(out->key, sizeof out->key, key);
    text_fit(out->owner, sizeof out->owner, owner);
    return true;
}

HRESULT store_load_host(const char *space, const char *name, struct run_host *out)
{
    struct set_file at;
    char *text = NULL;
    size_t size = 0;
    *out = (struct run_host){0};
    HRESULT hr = set_file_locate(space, name, &at);
    if (SUCCEEDED(hr))
        hr = file_load(at.host, LINE_MAX, &text, &size);
    /* While a host process is removing its file, opening the file fails with E_ACCESSDENIED. */
    bool none = set_file_is_missing(hr) || hr == E_ACCESSDENIED || hr == HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE);
    if (SUCCEEDED(hr) ? !run_host_parse(text, size, out) : none) {
        *out = (struct run_host){0};
        hr = S_FALSE;
    }
    memory_free(text);
    set_file_close(&at);
    return hr;
}

static HRESULT open_patiently(const char *path, struct file **out)
{
    struct wakeup *pause = NULL;
    uint64_t limit = clock_monotonic_ms() + PATIENCE_MS;
    HRESULT hr;
    while ((hr = file_open(path, FILE_REPLACE, out)) == HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION) ||
           hr == E_ACCESSDENIED) {
        if (clock_monotonic_ms() >= limit || (!pause && FAILED(wakeup_create(&pause))))
            break;
        wakeup_wait(pause, STEP_MS); /* only waited for, never set */
    }
    wakeup_free(pause);
    return hr;
}

HRESULT store_save_host(const char *space, const char *name, const struct run_host *host)
{
    struct set_file at;
    struct file *f = NULL;
    char *line = text_format(FIRST_WORDS "%u %" PRIu64 " %s %s\n", (unsigned)host->process_id, host->process_start,
                             host->key, host->owner);
    HRESULT hr = line ? set_file_locate(space, name, &at) : E_OUTOFMEMORY;
    if (FAILED(hr)) {
        memory_free(line);
        return hr;
    }
    hr = open_patiently(at.host, &f);
    if (SUCCEEDED(hr))
        hr = file_write(f, line, strlen(line));
    file_close(f);
    if (FAILED(hr)) {
        struct error_kept why = error_keep(hr);
        file_delete(at.host);
        error_restore(&why);
    }
    set_file_close(&at);
    memory_free(line);
    return hr;
}

void store_remove_host(const char *space, const char *name)
{
    struct set_file at;
    if (FAILED(set_file_locate(space, name, &at)))
        return;
    file_delete(at.host);
    set_file_close(&at);
}

HRESULT store_let_run(const char *space, const char *name, const char *sid)
{
    struct set_file at;
    HRESULT hr = set_file_locate(space, name, &at);
    if (FAILED(hr))
        return hr;
    const char *const files[] = {at.run, at.run_lock, at.host, at.held, at.folders, at.pass};
    hr = folder_create(at.place);
    if (SUCCEEDED(hr))
        hr = file_grant(at.place, sid, FILE_GRANT_ADD);
    for (size_t i = 0; SUCCEEDED(hr) && i < sizeof files / sizeof *files; i++)
        if (file_exists(files[i]))
            hr = file_grant(files[i], sid, FILE_GRANT_CHANGE);
    set_file_close(&at);
    return hr;
}

/* ---- lists ---- */

/* The first line of the file says which kind of list the file contains; each further line is an escaped entry. The file
   is replaced as a whole. There are two kinds of list: the resources that remain when a host process is killed (a trace
   session would run forever), and the folders of the runs. */

#define HELD_LINE    "openpla-held 1\n"
#define HELD_MOST    (1 << 20) /* bytes */
#define FOLDERS_LINE "openpla-folders 1\n"
#define FOLDERS_MOST (64 << 20)

/* Parses a list. S_FALSE: the file is not a list of this kind. */
static HRESULT lines_parse(char *text, const char *first_line, struct texts *out)
{
    const size_t first = strlen(first_line);
    if (strncmp(text, first_line, first) != 0)
        return S_FALSE;
    HRESULT hr = S_OK;
    for (char *line = text + first, *end; SUCCEEDED(hr) && (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = 0;
        if (text_unescape(line))
            hr = texts_add(out, line);
    }
    return hr;
}

/* Loads a list. S_FALSE: the file does not exist or is not a list of this kind. */
static HRESULT lines_load(const char *path, const char *first_line, size_t most, struct texts *out)
{
    char *text = NULL;
    size_t size;
    *out = (struct texts){0};
    HRESULT hr = file_load(path, most, &text, &size);
    if (set_file_is_missing(hr))
        hr = S_FALSE;
    else if (SUCCEEDED(hr))
        hr = lines_parse(text, first_line, out);
    if (FAILED(hr))
        texts_free(out);
    memory_free(text);
    return hr;
}

static HRESULT lines_save(const char *path, const char *first_line, const struct texts *lines)
{
    struct text_buffer b = {0};
    text_buffer_add(&b, first_line);
    for (size_t i = 0; i < lines->count; i++) {
        text_buffer_add_escaped(&b, lines->items[i]);
        text_buffer_add(&b, "\n");
    }
    HRESULT hr = b.failed ? E_OUTOFMEMORY : file_store(path, b.text, b.length);
    text_buffer_free(&b);
    return hr;
}

static HRESULT lines_check(const char *path, const char *first_line, size_t most, const char *what)
{
    struct texts lines = {0};
    char *text;
    size_t size;
    HRESULT hr = file_load(path, most, &text, &size);
    if (FAILED(hr))
        return hr;
    hr = lines_parse(text, first_line, &lines);
    texts_free(&lines);
    memory_free(text);
    return hr == S_FALSE ? error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "'%s' is not a %s", path, what) : hr;
}

HRESULT held_file_check(const char *path)
{
    return lines_check(path, HELD_LINE, HELD_MOST, "list of a run's resources");
}

HRESULT folders_file_check(const char *path)
{
    return lines_check(path, FOLDERS_LINE, FOLDERS_MOST, "list of the folders of runs");
}

HRESULT store_load_held(const char *space, const char *name, struct texts *out)
{
    struct set_file at;
    *out = (struct texts){0};
    HRESULT hr = set_file_locate(space, name, &at);
    if (SUCCEEDED(hr))
        hr = lines_load(at.held, HELD_LINE, HELD_MOST, out);
    set_file_close(&at);
    return hr;
}

HRESULT store_save_held(const char *space, const char *name, const struct texts *lines)
{
    struct set_file at;
    HRESULT hr = set_file_locate(space, name, &at);
    if (SUCCEEDED(hr)) {
        hr = lines_save(at.held, HELD_LINE, lines);
        set_file_close(&at);
    }
    return hr;
}

void store_remove_held(const char *space, const char *name)
{
    struct set_file at;
    if (FAILED(set_file_locate(space, name, &at)))
        return;
    file_delete(at.held);
    set_file_close(&at);
}

HRESULT store_load_folders(const char *space, const char *name, struct texts *out)
{
    struct set_file at;
    *out = (struct texts){0};
    HRESULT hr = set_file_locate(space, name, &at);
    if (SUCCEEDED(hr))
        hr = lines_load(at.folders, FOLDERS_LINE, FOLDERS_MOST, out);
    set_file_close(&at);
    return hr;
}

HRESULT store_change_folders(const char *space, const char *name, const struct folders_change *change)
{
    struct set_file at;
    struct texts lines = {0};
    HRESULT hr = set_file_open(space, name, SET_FILE_CREATE, &at);
    if (SUCCEEDED(hr))
        hr = lines_load(at.folders, FOLDERS_LINE, FOLDERS_MOST, &lines);
    if (SUCCEEDED(hr))
        hr = change->change(&lines, change->user);
    if (hr == S_OK)
        hr = folder_create_protected(at.place, PROTECTION_PLACE);
    if (hr == S_OK)
        hr = lines_save(at.folders, FOLDERS_LINE, &lines);
    texts_free(&lines);
    set_file_close(&at);
    return FAILED(hr) ? hr : S_OK;
}
