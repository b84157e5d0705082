/* SPDX-License-Identifier: MIT */
/* Lines of marks, "file NAME" and "parts NAME". */
#include "engine/pla/retention/run_files.h"

#include "engine/base/clock.h"
#include "engine/base/hash.h"
#include "engine/base/memory.h"
#include "engine/base/thread_slot.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define FILE_LINE  "file "
#define PARTS_LINE "parts "
#define CUT        "\x18"      /* CAN: in no name */
#define LIST_MOST  (16u << 20) /* bytes; what comes behind is not named */
#define WAIT_MS    2000        /* for another who names a file at the moment */
#define HELD_S     60          /* so long a mark that did not come free is not waited for again */

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
            return name ? texts_give(kinds[i].texts, name) : E_OUTOFMEMORY;
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

/* ETW puts a number in place of "%d", and behind the name of a private session's file the process, and a number. */
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

/* The first name that is not before "FOLDER/" is the first in it, if there is one. */
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

/* ---- naming ---- */

/* S_OK: the folder has a mark; S_FALSE: it has none. */
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

/* A line that was cut off ends with CUT, so that the beginning of a name becomes none, and a new one begins. */
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
             : error_set(HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE),
                         "\"%s\": the list of what the run has made is full (%u MB), and this file stays when the "
                         "folder goes",
                         name, LIST_MOST >> 20);
    memory_free(line);
    return hr;
}

/* The last mark that did not come free, by its hash, and until when, in seconds. Two threads may mix that up: it costs
   a wait or a name. */
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

static HRESULT append(const char *root, const char *folder, const char *word, const char *name)
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
    return hr == S_OK ? append(root, below, parts ? PARTS_LINE : FILE_LINE, name) : hr;
}
