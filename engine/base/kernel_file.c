/* SPDX-License-Identifier: MIT */
/* Lists folders of the Linux kernel, reads whole files, and parses /proc/<id>. */
#include "engine/base/kernel_file.h"

#include "engine/base/memory.h"

#include <stdio.h>
#include <string.h>

static HRESULT add_name(void *list, const char *name)
{
    return *name == '.' ? S_OK : texts_add(list, name);
}

HRESULT kernel_folder_names(const char *path, struct texts *names)
{
    return kernel_folder_each(path, add_name, names);
}

HRESULT kernel_file_text(const char *path, char **text, size_t *size)
{
    struct kernel_file *f;
    const char *read;
    size_t length = 0;
    *text = NULL;
    HRESULT hr = kernel_file_open(path, &f);
    if (SUCCEEDED(hr) && SUCCEEDED(hr = kernel_file_read(f, &read, &length)) &&
        (*text = memory_alloc(length + 1)) != NULL)
        memcpy(*text, read, length + 1);
    else if (SUCCEEDED(hr))
        hr = E_OUTOFMEMORY;
    if (size)
        *size = *text ? length : 0;
    kernel_file_close(f);
    return hr;
}

struct id_list {
    void *ids;
    size_t count, capacity;
    uint32_t low, high;
};

static HRESULT add_id(void *user, const char *name)
{
    struct id_list *list = user;
    uint32_t id = 0;
    const char *c = name;
    while (*c >= '0' && *c <= '9')
        id = id * 10 + (uint32_t)(*c++ - '0');
    if (*c || c == name || id < list->low || id > list->high)
        return S_OK;
    if (!memory_grow(&list->ids, &list->capacity, list->count + 1, sizeof(uint32_t)))
        return E_OUTOFMEMORY;
    ((uint32_t *)list->ids)[list->count++] = id;
    return S_OK;
}

static HRESULT take_ids(struct id_list *list, HRESULT hr, uint32_t **ids, size_t *count)
{
    if (FAILED(hr)) {
        memory_free(list->ids);
        *list = (struct id_list){0};
    }
    *ids = list->ids;
    *count = list->count;
    return hr;
}

HRESULT kernel_folder_numbers(const char *path, uint32_t **ids, size_t *count)
{
    struct id_list list = {.high = UINT32_MAX};
    return take_ids(&list, kernel_folder_each(path, add_id, &list), ids, count);
}

HRESULT kernel_folder_numbers_between(const char *path, uint32_t low, uint32_t high, uint32_t **ids, size_t *count)
{
    struct id_list list = {.low = low, .high = high};
    char first[16], last[16];
    const size_t length = (size_t)snprintf(first, sizeof first, "%u", (unsigned)low);
    if ((size_t)snprintf(last, sizeof last, "%u", (unsigned)high) != length)
        return take_ids(&list, kernel_folder_each(path, add_id, &list), ids, count);
    size_t same = 0;
    while (same < length && first[same] == last[same])
        same++;
    first[same] = 0;
    return take_ids(&list, kernel_folder_each_like(path, first, length - same, add_id, &list), ids, count);
}

/* The function reads only the end of the file's only line: "0.00 0.01 0.05 1/123 4567". */
bool kernel_load_parse(const char *text, size_t size, struct kernel_load *out)
{
    const char *end = text + size, *slash = text_find(text, end, '/');
    *out = (struct kernel_load){0};
    slash = slash ? kernel_number(slash + 1, end, &out->threads) : NULL;
    if (slash && kernel_number(slash, end, &out->last_id) && out->threads && out->last_id)
        return true;
    *out = (struct kernel_load){0};
    return false;
}

/* ---- /proc/<id>: stat ("id (name) state parent ..."), status and io ("Name: value") ---- */

/* The fields' numbers in proc(5). Number 1 is the id. */
enum {
    FIELD_STATE = 3,
    FIELD_PARENT = 4,
    FIELD_FLAGS = 9,
    FIELD_MINOR_FAULTS = 10,
    FIELD_MAJOR_FAULTS = 12,
    FIELD_USER = 14,
    FIELD_KERNEL = 15,
    FIELD_THREADS = 20,
    FIELD_START = 22,
    FIELD_VIRTUAL = 23,
    FIELD_RESIDENT = 24
};

bool process_stat_parse(const char *text, size_t size, struct process_stat *out)
{
    const char *end = text + size;
    const char *open = memchr(text, '(', size);
    const char *close = NULL;
    /* The name may contain any character, also parentheses and spaces; the last ")" ends it. */
    for (const char *p = end; open && p > open; p--) {
        if (p[-1] == ')') {
            close = p - 1;
            break;
        }
    }
    if (!close)
        return false;
    *out = (struct process_stat){.name = open + 1, .name_length = (size_t)(close - open - 1)};
    uint64_t values[FIELD_RESIDENT + 1] = {0};
    unsigned field = 2;
    for (const char *p = close + 1; p < end && field < FIELD_RESIDENT;) {
        if (*p == ' ') {
            p++;
            field++;
            uint64_t v = 0;
            while (p < end && *p >= '0' && *p <= '9')
                v = v * 10 + (uint64_t)(*p++ - '0');
            values[field] = v;
        } else {
            if (field == FIELD_STATE)
                out->state = *p;
            p++; /* skip the state's letter, or the sign of a number */
        }
    }
    out->parent = (uint32_t)values[FIELD_PARENT];
    out->flags = (uint32_t)values[FIELD_FLAGS];
    out->user_ticks = values[FIELD_USER];
    out->kernel_ticks = values[FIELD_KERNEL];
    out->threads = (uint32_t)values[FIELD_THREADS];
    out->start_ticks = values[FIELD_START];
    out->faults = values[FIELD_MINOR_FAULTS] + values[FIELD_MAJOR_FAULTS];
    out->virtual_bytes = values[FIELD_VIRTUAL];
    out->resident_pages = values[FIELD_RESIDENT];
    return field == FIELD_RESIDENT;
}

bool process_run_time_parse(const char *text, size_t size, struct process_run_time *out)
{
    const char *end = text + size;
    uint64_t waited;
    const char *p = kernel_number(text, end, &out->ran);
    p = p ? kernel_number(p, end, &waited) : NULL;
    return p && kernel_number(p, end, &out->times) && out->times;
}

/* A name in the file and the destination of its value. */
struct field {
    const char *name; /* including the colon */
    int64_t *value;
    int64_t unit;
};

/* Parses lines "Name: value". The fields must have the same order as in the file. */
static void parse_fields(const char *text, size_t size, const struct field *fields, size_t count)
{
    const char *end = text + size;
    for (size_t i = 0; i < count; i++)
        *fields[i].value = INT64_MIN;
    size_t next = 0;
    for (const char *p = text, *line; p < end && next < count; p = line + 1) {
        line = kernel_line_end(p, end);
        for (size_t i = next; i < count; i++) {
            size_t length = strlen(fields[i].name);
            uint64_t v;
            if (*p == *fields[i].name && kernel_starts(p, line, fields[i].name, length)) {
                if (kernel_number(p + length, line, &v) && v <= (uint64_t)(INT64_MAX / fields[i].unit))
                    *fields[i].value = (int64_t)v * fields[i].unit;
                next = i + 1;
                break;
            }
        }
    }
}

void process_status_parse(const char *text, size_t size, struct process_status *out)
{
    int64_t voluntary, involuntary;
    const struct field fields[] = {
        {"VmPeak:", &out->virtual_peak, 1024},       {"VmHWM:", &out->resident_peak, 1024},
        {"RssAnon:", &out->resident_private, 1024},  {"VmSwap:", &out->swapped, 1024},
        {"voluntary_ctxt_switches:", &voluntary, 1}, {"nonvoluntary_ctxt_switches:", &involuntary, 1}};
    parse_fields(text, size, fields, sizeof fields / sizeof *fields);
    out->switches = voluntary == INT64_MIN || involuntary == INT64_MIN
                        ? INT64_MIN
                        : (int64_t)((uint64_t)voluntary + (uint64_t)involuntary);
}

void process_io_parse(const char *text, size_t size, struct process_io *out)
{
    const struct field fields[] = {{"rchar:", &out->read_bytes, 1},
                                   {"wchar:", &out->written_bytes, 1},
                                   {"syscr:", &out->reads, 1},
                                   {"syscw:", &out->writes, 1}};
    parse_fields(text, size, fields, sizeof fields / sizeof *fields);
}
