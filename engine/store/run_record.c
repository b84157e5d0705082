/* SPDX-License-Identifier: MIT */
/* What runs leave behind, one line a value: "key value". Controls and '%' in values are written %XX. */
#include "engine/store/store.h"
#include "engine/store/set_file.h"
#include "engine/os/memory.h"

#include <string.h>

#define FIRST_LINE "openpla-run 1"
#define RECORD_MAX (16u << 20) /* bytes */

static void add_value(struct text_buffer *b, const char *key, const char *value)
{
    text_buffer_add(b, key);
    text_buffer_add(b, " ");
    for (const char *c = value ? value : ""; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == '%')
            text_buffer_format(b, "%%%02X", (unsigned)*c);
        else
            text_buffer_add_n(b, c, 1);
    }
    text_buffer_add(b, "\n");
}

HRESULT store_save_run(const char *space, const char *name, const struct run_record *record)
{
    struct set_file at;
    struct text_buffer b = {0};
    struct file_lock *lock = NULL;
    HRESULT hr = set_file_locate(space, name, &at);

    if (FAILED(hr))
        return hr;
    text_buffer_add(&b, FIRST_LINE "\n");
    text_buffer_format(&b, "serial-number %lu\n", (unsigned long)record->serial_number);
    text_buffer_format(&b, "last-result 0x%08lX\n", (unsigned long)(uint32_t)record->last_result);
    add_value(&b, "last-message", record->last_message);
    add_value(&b, "latest-location", record->latest_location);
    for (size_t i = 0; i < record->latest_files.count; i++)
        add_value(&b, "latest-file", record->latest_files.items[i]);
    hr = b.failed ? E_OUTOFMEMORY : set_file_lock(&at, SET_FILE_CREATE, &lock);
    if (SUCCEEDED(hr))
        hr = file_store(at.run, b.text, b.length);
    file_lock_release(lock);
    text_buffer_free(&b);
    set_file_free(&at);
    return hr;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Resolves %XX in place; false when an escape is malformed or hides a NUL. */
static bool resolve_value(char *value)
{
    char *to = value;

    for (const char *from = value; *from; from++) {
        if (*from == '%') {
            int high = hex_digit(from[1]), low = high >= 0 ? hex_digit(from[2]) : -1;

            if (low < 0 || !(high | low))
                return false;
            *to++ = (char)(high << 4 | low);
            from += 2;
        } else {
            *to++ = *from;
        }
    }
    *to = 0;
    return true;
}

static HRESULT set_text(char **field, const char *value)
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

    if (!resolve_value(value))
        return HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
    if (!strcmp(key, "latest-location"))
        return set_text(&record->latest_location, value);
    if (!strcmp(key, "last-message"))
        return set_text(&record->last_message, value);
    if (!strcmp(key, "latest-file"))
        return texts_add(&record->latest_files, value);
    if (strcmp(key, "serial-number") != 0 && strcmp(key, "last-result") != 0)
        return S_OK;
    if (!text_to_u64(value, &number) || number > UINT32_MAX)
        return HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
    if (*key == 's')
        record->serial_number = (uint32_t)number;
    else
        record->last_result = (HRESULT)(uint32_t)number;
    return S_OK;
}

static HRESULT parse(char *text, size_t size, struct run_record *record)
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

HRESULT store_load_run(const char *space, const char *name, struct run_record *out)
{
    struct run_record record = {0};
    struct set_file at;
    struct file_lock *lock = NULL;
    char *text = NULL;
    size_t size = 0;
    HRESULT hr;

    *out = record;
    hr = set_file_locate(space, name, &at);
    if (FAILED(hr))
        return hr;
    hr = set_file_lock(&at, SET_FILE_READ, &lock);
    if (hr == S_OK)
        hr = set_file_exists(at.run);
    if (hr == S_OK) {
        hr = file_load(at.run, RECORD_MAX, &text, &size);
        record.known = SUCCEEDED(hr);
    }
    file_lock_release(lock);
    if (record.known) {
        hr = parse(text, size, &record);
        if (hr == HRESULT_FROM_WIN32(ERROR_INVALID_DATA))
            error_set(hr, "\"%s\": is no run record", at.run);
        /* Texts are never NULL in a record that is known. */
        if (SUCCEEDED(hr) && !record.latest_location)
            hr = set_text(&record.latest_location, "");
        if (SUCCEEDED(hr) && !record.last_message)
            hr = set_text(&record.last_message, "");
    }
    memory_free(text);
    set_file_free(&at);
    if (FAILED(hr)) {
        run_record_free(&record);
        return hr;
    }
    *out = record;
    return S_OK;
}

void run_record_free(struct run_record *record)
{
    memory_free(record->latest_location);
    memory_free(record->last_message);
    texts_free(&record->latest_files);
    *record = (struct run_record){0};
}
