/* SPDX-License-Identifier: MIT */
/* Who hosts a set's run, in a file of one line beside the set: "openpla-host 1 <process> <start> <key> <owner>". It is
   not flushed: what it says is over when the system is. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/pla/store.h"
#include "engine/pla/store/set_file.h"

#include <inttypes.h>
#include <string.h>

#define FIRST_WORDS "openpla-host 1 "
#define LINE_MAX    512  /* bytes */
#define PATIENCE_MS 1000 /* for those who have the file open, or one of that name that is on its way out */
#define STEP_MS     5

/* Takes the word off that `*rest` begins with; NULL: none, or longer than `most`. */
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
        return false; /* a line without its end was not written to the end */
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
    /* Access is denied also to a file that its host has just removed. */
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
        wakeup_wait(pause, STEP_MS); /* nobody sets it */
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
        hr = file_let(at.place, sid, FILE_LET_ADD);
    for (size_t i = 0; SUCCEEDED(hr) && i < sizeof files / sizeof *files; i++)
        if (file_exists(files[i]))
            hr = file_let(files[i], sid, FILE_LET_CHANGE);
    set_file_close(&at);
    return hr;
}
