/* SPDX-License-Identifier: MIT */
/* Records of folders: a line each, "serial started word sent going name". */
#include "engine/pla/retention/folder_record.h"

#include "engine/base/clock.h"
#include "engine/base/hash.h"
#include "engine/base/memory.h"
#include "engine/pla/store.h"

#include <stdlib.h>
#include <inttypes.h>
#include <string.h>

#define MARK_FIRST FOLDER_MARK_FIRST
#define MARK_MOST  4096 /* bytes, of what tells whose the folder is */
enum { FIELDS = 5 };    /* before the name */

static void record_clear(struct folder_record *r)
{
    memory_free(r->name);
    *r = (struct folder_record){0};
}

static bool is_word(const char *text)
{
    return strlen(text) == SHARED_KEY_DIGITS && strspn(text, "0123456789abcdefABCDEF") == SHARED_KEY_DIGITS;
}

/* S_FALSE: it is no record. `line` stays as it is. */
static HRESULT record_read(const char *line, struct folder_record *out)
{
    char *copy = text_copy(line), *fields[FIELDS], *at = copy;
    uint64_t serial, going;
    HRESULT hr = copy ? S_OK : E_OUTOFMEMORY;
    *out = (struct folder_record){0};
    for (size_t i = 0; hr == S_OK && i < FIELDS; i++) {
        char *blank = strchr(at, ' ');
        fields[i] = at;
        if (blank) {
            *blank = 0;
            at = blank + 1;
        } else {
            hr = S_FALSE;
        }
    }
    if (hr == S_OK && (!*at || path_names_fault(at) || !is_word(fields[2]) || !text_to_u64(fields[0], &serial) ||
                       serial > UINT32_MAX || !text_to_i64(fields[1], &out->started) ||
                       !text_to_u64(fields[3], &out->sent) || !text_to_u64(fields[4], &going)))
        hr = S_FALSE;
    if (hr == S_OK) {
        out->serial = (uint32_t)serial;
        out->going = going != 0;
        memcpy(out->word, fields[2], sizeof out->word);
        out->name = text_copy(at);
        hr = out->name ? S_OK : E_OUTOFMEMORY;
    }
    memory_free(copy);
    return hr;
}

static char *record_line(const struct folder_record *r)
{
    return text_format("%u %" PRId64 " %s %" PRIu64 " %d %s", (unsigned)r->serial, r->started, r->word, r->sent,
                       r->going, r->name);
}

HRESULT folder_records_read(const struct texts *lines, struct folder_records *out)
{
    HRESULT hr = S_OK;
    *out = (struct folder_records){0};
    for (size_t i = 0; SUCCEEDED(hr) && i < lines->count; i++) {
        struct folder_record record;
        void *items = out->items;
        hr = record_read(lines->items[i], &record);
        if (hr != S_OK)
            continue;
        if (!memory_grow(&items, &out->capacity, out->count + 1, sizeof *out->items)) {
            record_clear(&record);
            hr = E_OUTOFMEMORY;
            continue;
        }
        out->items = items;
        out->items[out->count++] = record;
    }
    if (FAILED(hr))
        folder_records_free(out);
    return FAILED(hr) ? hr : S_OK;
}

void folder_records_free(struct folder_records *r)
{
    for (size_t i = 0; i < r->count; i++)
        record_clear(&r->items[i]);
    memory_free(r->items);
    *r = (struct folder_records){0};
}

struct folder_record *folder_records_find(const struct folder_records *r, const char *name)
{
    for (size_t i = r->count; i-- > 0;)
        if (!strcmp(r->items[i].name, name))
            return &r->items[i];
    return NULL;
}

/* ---- the mark ---- */

static char *mark_text(const struct folder_record *r)
{
    return text_format(MARK_FIRST "%s\nserial number %u\n", r->word, (unsigned)r->serial);
}

/* S_OK: the folder has a mark, whose text is this, with a NUL behind; S_FALSE: it has none. */
static HRESULT read_mark(struct held_folder *f, char text[MARK_MOST])
{
    struct file *file;
    size_t got = 0;
    HRESULT hr = run_files_mark(f, &file);
    if (hr != S_OK)
        return hr;
    hr = file_read_at(file, 0, text, MARK_MOST - 1, &got);
    file_close(file);
    text[got] = 0;
    return FAILED(hr) ? hr : strncmp(text, MARK_FIRST, sizeof MARK_FIRST - 1) != 0 ? S_FALSE : S_OK;
}

HRESULT folder_check_mark(struct held_folder *f, const struct folder_record *record)
{
    char text[MARK_MOST];
    const char *word = text + sizeof MARK_FIRST - 1;
    const size_t length = strlen(record->word);
    HRESULT hr = read_mark(f, text);
    return hr != S_OK ? hr : !strncmp(word, record->word, length) && word[length] == '\n' ? S_OK : S_FALSE;
}

HRESULT folder_read_word(struct held_folder *f, char word[SHARED_KEY_DIGITS + 1])
{
    char text[MARK_MOST];
    const char *at = text + sizeof MARK_FIRST - 1;
    HRESULT hr = read_mark(f, text);
    if (hr != S_OK)
        return hr;
    text_fit(word, SHARED_KEY_DIGITS + 1, at);
    return is_word(word) && at[SHARED_KEY_DIGITS] == '\n' ? S_OK : S_FALSE;
}

HRESULT folder_leave(const char *root, const char *name)
{
    struct held_folder *f;
    char text[MARK_MOST];
    HRESULT hr = held_folder_open(root, name, &f);
    if (FAILED(hr))
        return hr;
    hr = read_mark(f, text);
    if (hr == S_OK)
        hr = held_folder_delete(f, FOLDER_MARK);
    held_folder_close(f);
    return hr;
}

static HRESULT write_mark(struct held_folder *f, const struct folder_record *record)
{
    struct file *file = NULL;
    char *text = mark_text(record);
    HRESULT hr = text ? held_folder_file(f, FOLDER_MARK, FILE_CREATE_NEW, &file) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = file_write(file, text, strlen(text));
    file_close(file);
    memory_free(text);
    return hr;
}

/* ---- in the store ---- */

struct noted {
    enum folder_fate fate;
    const char **words; /* sorted */
    size_t count;
    uint64_t sent;
};

static int word_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void drop_line(struct texts *lines, size_t i)
{
    memory_free(lines->items[i]);
    memmove(lines->items + i, lines->items + i + 1, (lines->count - i - 1) * sizeof *lines->items);
    lines->count--;
}

static HRESULT replace_line(struct texts *lines, size_t i, const struct folder_record *r)
{
    char *line = record_line(r);
    if (!line)
        return E_OUTOFMEMORY;
    memory_free(lines->items[i]);
    lines->items[i] = line;
    return S_OK;
}

/* One line; *keep: it stays. S_FALSE: nothing has changed. */
static HRESULT put_fate(const struct noted *n, struct texts *lines, size_t i, bool *keep)
{
    struct folder_record r;
    *keep = true;
    HRESULT hr = record_read(lines->items[i], &r);
    const char *word = r.word;
    if (hr == S_OK && !bsearch(&word, n->words, n->count, sizeof *n->words, word_compare))
        hr = S_FALSE;
    if (hr == S_OK) {
        *keep = n->fate != FOLDER_GONE;
        r.going = r.going || n->fate == FOLDER_GOING;
        r.sent = n->fate == FOLDER_SENT ? n->sent : r.sent;
        hr = replace_line(lines, i, &r);
    }
    record_clear(&r);
    return hr;
}

static HRESULT put_fates(struct texts *lines, void *user)
{
    size_t kept = 0;
    bool changed = false;
    HRESULT hr = S_OK;
    for (size_t i = 0; i < lines->count; i++) {
        char *line;
        bool keep = true;
        if (SUCCEEDED(hr))
            hr = put_fate(user, lines, i, &keep);
        changed = changed || hr == S_OK;
        line = lines->items[i];
        if (keep)
            lines->items[kept++] = line;
        else
            memory_free(line);
    }
    lines->count = kept;
    return FAILED(hr) ? hr : changed ? S_OK : S_FALSE;
}

HRESULT folder_note(const char *space, const char *set, enum folder_fate fate,
                    const struct folder_record *const *records, size_t count, uint64_t sent)
{
    struct noted n = {.fate = fate, .count = count, .sent = sent};
    if (!count)
        return S_OK;
    n.words = memory_alloc(count * sizeof *n.words);
    if (!n.words)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < count; i++)
        n.words[i] = records[i]->word;
    qsort(n.words, count, sizeof *n.words, word_compare);
    HRESULT hr = store_change_folders(space, set, &(struct folders_change){put_fates, &n});
    memory_free(n.words);
    return hr;
}

uint64_t folder_sent_to(const char *destination)
{
    uint64_t hash = hash_text(HASH_START, destination);
    return hash ? hash : 1;
}

/* In place of all of that name. */
static HRESULT put_last(struct texts *lines, void *user)
{
    const struct folder_record *record = user;
    char *line = record_line(record);
    if (!line)
        return E_OUTOFMEMORY;
    for (size_t i = lines->count; i-- > 0;) {
        struct folder_record r;
        HRESULT hr = record_read(lines->items[i], &r);
        bool same = hr == S_OK && !strcmp(r.name, record->name);
        record_clear(&r);
        if (FAILED(hr)) {
            memory_free(line);
            return hr;
        }
        if (same)
            drop_line(lines, i);
    }
    return texts_give(lines, line);
}

/* The record of a folder that runs share; S_FALSE: it is not the set's. A failure with *known: it has a record, and its
   mark cannot be read. */
static HRESULT find_shared(const char *space, const char *set, struct held_folder *f, struct folder_record *record,
                           bool *known)
{
    struct texts lines;
    struct folder_records records = {0};
    HRESULT hr = store_load_folders(space, set, &lines);
    if (hr == S_OK)
        hr = folder_records_read(&lines, &records);
    const struct folder_record *before = hr == S_OK ? folder_records_find(&records, record->name) : NULL;
    if (hr == S_OK)
        hr = before ? folder_check_mark(f, before) : S_FALSE;
    *known = before && hr != S_FALSE;
    if (*known)
        memcpy(record->word, before->word, sizeof record->word);
    folder_records_free(&records);
    texts_free(&lines);
    return hr;
}

HRESULT folder_take(const char *space, const char *set, const char *root, const char *name, bool made, uint32_t serial)
{
    struct held_folder *f;
    struct folder_record record = {.name = (char *)name, .serial = serial, .started = clock_utc()};
    bool known = false;
    HRESULT hr = held_folder_open(root, name, &f);
    if (FAILED(hr))
        return hr;
    hr = made ? shared_new_key(record.word) : find_shared(space, set, f, &record, &known);
    if (FAILED(hr) && known) {
        const struct error_kept why = error_keep(hr);
        (void)store_change_folders(space, set, &(struct folders_change){put_last, &record});
        error_restore(&why);
    }
    /* The record first: a mark alone would be one that nobody knows. */
    if (hr == S_OK)
        hr = store_change_folders(space, set, &(struct folders_change){put_last, &record});
    if (hr == S_OK && made)
        hr = write_mark(f, &record);
    held_folder_close(f);
    return hr;
}

static HRESULT take_away(struct texts *lines, void *user)
{
    const char *name = user;
    for (size_t i = lines->count; i-- > 0;) {
        struct folder_record r;
        HRESULT hr = record_read(lines->items[i], &r);
        bool same = hr == S_OK && !strcmp(r.name, name);
        record_clear(&r);
        if (same)
            drop_line(lines, i);
        if (same || FAILED(hr))
            return hr;
    }
    return S_FALSE;
}

void folder_give_back(const char *space, const char *set, const char *root, const char *name)
{
    struct held_folder *f;
    if (SUCCEEDED(held_folder_open(root, name, &f))) {
        held_folder_delete(f, FOLDER_MARK);
        held_folder_close(f);
    }
    store_change_folders(space, set, &(struct folders_change){take_away, (char *)name});
}
