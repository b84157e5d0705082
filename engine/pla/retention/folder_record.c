/* SPDX-License-Identifier: MIT */
/* Reads and writes the records of folders. A record is one line: "serial started word sent going name". Also reads and
   writes the lines in the marks of folders: "file NAME" and "parts NAME". */
#include "engine/pla/retention/folder_record.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/pla/store.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <inttypes.h>
#include <string.h>

#define MARK_FIRST FOLDER_MARK_FIRST
#define MARK_MOST  4096 /* maximum bytes of the mark's first part, which identifies the folder */
enum { FIELDS = 5 };    /* fields before the name */

static void record_clear(struct folder_record *r)
{
    memory_free(r->name);
    *r = (struct folder_record){0};
}

static bool is_word(const char *text)
{
    return strlen(text) == SHARED_KEY_DIGITS && strspn(text, "0123456789abcdefABCDEF") == SHARED_KEY_DIGITS;
}

/* Parses a line without changing it. S_FALSE: the line is not a record. */
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

/* Reads the mark as a NUL-terminated string. S_FALSE: the folder has no mark. */
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

/* Updates one line. *keep false: the line must be removed. S_FALSE: nothing has changed. */
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

/* Removes all records with that name, and appends the record. */
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
    return texts_add_owned(lines, line);
}

/* Finds the record of a shared folder. S_FALSE: the folder does not belong to the set. A failure with *known true: the
   folder has a record, but its mark cannot be read. */
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
    /* The record is written first, because a mark without a record would belong to no set. */
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

/* ---- lines of marks ---- */

#define FILE_LINE  "file "
#define PARTS_LINE "parts "
#define CUT        "\x18"      /* the control character CAN; never occurs in a name */
#define LIST_MOST  (16u << 20) /* maximum size of the list in bytes; further files are not registered */
#define WAIT_MS    2000        /* time to wait for another process that is adding a name */
#define HELD_S     60          /* after a failed wait, no call waits for the same mark for this many seconds */

static int file_name_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool can_be_named(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < ' ')
            return false;
    return true;
}

static HRESULT read_line(const char *line, size_t length, struct run_files *out)
{
    const struct {
        const char *word;
        struct texts *texts;
    } kinds[] = {{FILE_LINE, &out->names}, {PARTS_LINE, &out->parts}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t word = strlen(kinds[i].word);
        if (length > word && !strncmp(line, kinds[i].word, word) && can_be_named(line + word, length - word)) {
            char *name = text_copy_n(line + word, length - word);
            return name ? texts_add_owned(kinds[i].texts, name) : E_OUTOFMEMORY;
        }
    }
    return S_OK;
}

static HRESULT read_lines(const char *text, struct run_files *out)
{
    HRESULT hr = S_OK;
    const char *end;
    if (strncmp(text, FOLDER_MARK_FIRST, sizeof FOLDER_MARK_FIRST - 1) != 0)
        return S_OK;
    for (; SUCCEEDED(hr) && (end = strchr(text, '\n')); text = end + 1)
        hr = read_line(text, (size_t)(end - text), out);
    if (SUCCEEDED(hr) && out->names.count)
        qsort(out->names.items, out->names.count, sizeof *out->names.items, file_name_compare);
    return hr;
}

static bool is_missing(HRESULT hr)
{
    return hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) || hr == HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND) ||
           hr == HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME);
}

HRESULT run_files_mark(struct held_folder *f, struct file **out)
{
    const HRESULT hr = held_folder_file(f, FOLDER_MARK, FILE_READ, out);
    return is_missing(hr) ? S_FALSE : hr;
}

HRESULT run_files_read(struct held_folder *f, struct run_files *out)
{
    struct file *file;
    uint64_t size = 0;
    size_t got = 0;
    *out = (struct run_files){0};
    HRESULT hr = run_files_mark(f, &file);
    if (hr != S_OK)
        return SUCCEEDED(hr) ? S_OK : hr;
    hr = file_size(file, &size);
    const size_t most = size < LIST_MOST ? (size_t)size : LIST_MOST;
    char *text = SUCCEEDED(hr) ? memory_alloc(most + 1) : NULL;
    if (SUCCEEDED(hr))
        hr = text ? file_read_at(file, 0, text, most, &got) : E_OUTOFMEMORY;
    file_close(file);
    if (SUCCEEDED(hr)) {
        text[got] = 0;
        hr = read_lines(text, out);
    }
    memory_free(text);
    if (FAILED(hr))
        run_files_free(out);
    return hr;
}

void run_files_free(struct run_files *r)
{
    texts_free(&r->names);
    texts_free(&r->parts);
}

static size_t digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* Returns whether `name` is one of the numbered files that `parts` stands for. ETW replaces "%d" with a number, and
   appends the process id and a number to the file name of a private session. */
static bool is_part(const char *parts, const char *name)
{
    const char *at = strstr(parts, "%d");
    const size_t head = at ? (size_t)(at - parts) : strlen(parts);
    if (strncmp(name, parts, head) != 0)
        return false;
    const char *rest = name + head;
    if (at)
        return digits(rest) && !strcmp(rest + digits(rest), at + 2);
    return *rest == '_' && digits(rest + 1) && !rest[strspn(rest, "0123456789_")];
}

bool run_files_have(const struct run_files *r, const char *name)
{
    if (r->names.count && bsearch(&name, r->names.items, r->names.count, sizeof *r->names.items, file_name_compare))
        return true;
    for (size_t i = 0; i < r->parts.count; i++)
        if (is_part(r->parts.items[i], name))
            return true;
    return false;
}

static bool is_in(const char *name, const char *folder, size_t length)
{
    return !strncmp(name, folder, length) && name[length] == '/';
}

/* The names are sorted. If any of these files is in the folder, then the first name that does not sort before "FOLDER/"
   is the name of such a file. */
bool run_files_below(const struct run_files *r, const char *folder)
{
    const size_t length = strlen(folder);
    size_t low = 0, high = r->names.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const char *name = r->names.items[middle];
        const int order = strncmp(name, folder, length);
        if (order < 0 || (!order && (unsigned char)name[length] < '/'))
            low = middle + 1;
        else
            high = middle;
    }
    if (low < r->names.count && is_in(r->names.items[low], folder, length))
        return true;
    for (size_t i = 0; i < r->parts.count; i++)
        if (is_in(r->parts.items[i], folder, length))
            return true;
    return false;
}

/* ---- adding names ---- */

/* Returns S_OK if the folder has a mark, otherwise S_FALSE. */
static HRESULT has_mark(const char *root, const char *folder)
{
    char head[sizeof FOLDER_MARK_FIRST - 1];
    struct held_folder *f;
    struct file *file;
    size_t got = 0;
    HRESULT hr = held_folder_open(root, folder, &f);
    if (FAILED(hr))
        return is_missing(hr) ? S_FALSE : hr;
    hr = run_files_mark(f, &file);
    if (hr == S_OK)
        hr = file_read_at(file, 0, head, sizeof head, &got);
    file_close(file);
    held_folder_close(f);
    return hr != S_OK ? hr : got == sizeof head && !memcmp(head, FOLDER_MARK_FIRST, sizeof head) ? S_OK : S_FALSE;
}

/* Appends a line. If the last line is truncated, first terminates that line with CUT, so that a part of a name is not
   read as a name. */
static HRESULT write_line(struct file *file, const char *word, const char *name)
{
    uint64_t size = 0;
    size_t got = 0;
    char last = '\n';
    HRESULT hr = file_size(file, &size);
    if (SUCCEEDED(hr) && size)
        hr = file_read_at(file, size - 1, &last, 1, &got);
    if (FAILED(hr))
        return hr;
    char *line = text_format("%s%s%s\n", last == '\n' ? "" : CUT "\n", word, name);
    if (!line)
        return E_OUTOFMEMORY;
    for (char *c = line; *c; c++)
        if (*c == '\\')
            *c = '/';
    hr = size + strlen(line) <= LIST_MOST
             ? file_write(file, line, strlen(line))
             : error_set(
                   HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE),
                   "'%s': the list of the run's files is full (%u MB); this file is kept when the folder is deleted",
                   name, LIST_MOST >> 20);
    memory_free(line);
    return hr;
}

/* held_mark is the hash of the last mark for which a wait failed. Until held_until, in seconds (clock_monotonic_ms /
   1000), no call waits for this mark again. If two threads change the two variables at the same time, a wait is
   repeated, or a name is not added. */
static atomic_uint held_mark, held_until;

static HRESULT open_mark(const char *root, const char *mark, struct file **out)
{
    const HRESULT held = HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION);
    const unsigned hash = (unsigned)hash_text(HASH_START, mark);
    const uint64_t now = clock_monotonic_ms();
    const bool known = atomic_load(&held_mark) == hash && now / 1000 < atomic_load(&held_until);
    HRESULT hr = file_open_below(root, mark, FILE_APPEND, out);
    while (hr == held && !known && clock_monotonic_ms() < now + WAIT_MS) {
        thread_sleep(2);
        hr = file_open_below(root, mark, FILE_APPEND, out);
    }
    if (hr == held && !known) {
        atomic_store(&held_mark, hash);
        atomic_store(&held_until, (unsigned)(clock_monotonic_ms() / 1000 + HELD_S));
    } else if (hr != held && known) {
        atomic_store(&held_until, 0);
    }
    return hr;
}

static HRESULT mark_append_line(const char *root, const char *folder, const char *word, const char *name)
{
    struct file *file = NULL;
    char *names = path_join(folder, FOLDER_MARK), *mark = names ? path_join(root, names) : NULL;
    HRESULT hr = mark ? open_mark(root, mark, &file) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = write_line(file, word, name);
    file_close(file);
    memory_free(mark);
    memory_free(names);
    return hr;
}

HRESULT run_files_add(const char *root, const char *folder, const char *path, bool parts)
{
    const char *below = path_names_behind(root, folder), *name = path_names_behind(folder, path);
    if (!below || !*below || !name || !*name || !can_be_named(name, strlen(name)) ||
        (!parts && file_find(path) != S_FALSE))
        return S_FALSE;
    HRESULT hr = has_mark(root, below);
    return hr == S_OK ? mark_append_line(root, below, parts ? PARTS_LINE : FILE_LINE, name) : hr;
}
