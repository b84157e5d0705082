/* SPDX-License-Identifier: MIT */
/* The functions for counter logs of every format: they call the functions of the format, store the counter names, and
   open the files of new logs. */
#include "engine/logs/log.h"

#include "engine/base/debug_trace.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/logs/blg/blg_parts.h"
#include "engine/logs/core/log_formats.h"
#include "engine/logs/counter_names.h"
#include "engine/logs/counter_path.h"
#include "engine/logs/pdh_types.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct log_format_traits traits[] = {
#define LOG_FORMAT(format, writer, ...) {format, __VA_ARGS__},
#include "engine/logs/log_formats.def"
#undef LOG_FORMAT
};
static const struct log_format_functions *const writers[] = {
#define LOG_FORMAT(format, writer, ...) &log_##writer##_functions,
#include "engine/logs/log_formats.def"
#undef LOG_FORMAT
};
enum { FORMATS = sizeof traits / sizeof *traits };

const struct log_format_traits *log_format_traits(enum log_format format)
{
    return (size_t)format < FORMATS ? &traits[format] : NULL;
}

const struct log_format_traits *log_format_by_type(uint32_t pdh_type)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (traits[i].pdh_type == pdh_type && !traits[i].is_export)
            return &traits[i];
    return NULL;
}

const struct log_format_traits *log_format_by_word(const char *word)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (text_equal_nocase(traits[i].word, word))
            return &traits[i];
    return NULL;
}

const struct log_format_traits *log_format_by_extension(const char *extension)
{
    extension += *extension == '.';
    for (size_t i = 0; i < FORMATS; i++)
        if (traits[i].is_file && text_equal_nocase(traits[i].extension + 1, extension))
            return &traits[i];
    return NULL;
}

#define CIRCULAR "circ"

const struct log_format_traits *log_format_by_option(const char *word, bool *circular)
{
    const size_t length = strlen(word), suffix = strlen(CIRCULAR);
    char format[16];
    *circular =
        length > suffix && length - suffix < sizeof format && text_equal_nocase(word + length - suffix, CIRCULAR);
    snprintf(format, sizeof format, "%.*s", (int)(*circular ? length - suffix : length), word);
    const struct log_format_traits *found = log_format_by_word(format);
    return found && !found->is_export && (found->ring || !*circular) ? found : NULL;
}

void log_format_words(enum log_format_use use, const char *separator, char *words, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < 2 * (size_t)FORMATS; i++) {
        const struct log_format_traits *format = &traits[i % FORMATS];
        if (format->ring != (i < FORMATS) || (format->is_export && use != LOG_FOR_COPIES))
            continue;
        const int forms = use == LOG_FOR_SETS && format->ring ? 2 : 1;
        for (int form = 0; form < forms; form++)
            if (used < size)
                used += (size_t)snprintf(words + used, size - used, "%s%s%s", used ? separator : "", format->word,
                                         form ? CIRCULAR : "");
    }
    for (; *words; words++)
        if (*words >= 'A' && *words <= 'Z')
            *words = (char)(*words - 'A' + 'a');
}

bool log_is_log_name(const char *path)
{
    const char *extension = path_extension(path);
    const struct log_format_traits *format = log_format_by_extension(extension);
    return text_equal_nocase(extension, ETL_EXTENSION) || (format && !format->is_export);
}

HRESULT log_writer_create(enum log_format format, const char *path, const struct log_counter *counters, size_t count,
                          int64_t start_utc, const struct log_options *options, struct log_writer **out)
{
    static const struct log_options none = {0};
    if ((size_t)format >= FORMATS) {
        return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "cannot create '%s': unknown log file format %d",
                         path, (int)format);
    }
    TRACE_STEP(logs, "write %s: format %d, %zu counters", path, (int)format, count);
    return writers[format]->create(&traits[format], path, counters, count, start_utc, options ? options : &none, out);
}

HRESULT log_writer_append(struct log_writer *w, int64_t utc, const struct log_cell *cells)
{
    TRACE_STEP(logs, "append a sample at %lld", (long long)utc);
    return w->functions->append(w, utc, cells);
}

HRESULT log_writer_flush(struct log_writer *w)
{
    return w->functions->flush(w);
}

uint64_t log_writer_size(const struct log_writer *w)
{
    return w->functions->size(w);
}

HRESULT log_writer_warning(struct log_writer *w, char **text)
{
    *text = NULL;
    return w->functions->warning ? w->functions->warning(w, text) : S_FALSE;
}

HRESULT log_writer_close(struct log_writer *w)
{
    TRACE_STEP(logs, "close a log");
    return !w ? S_OK : w->functions->close(w);
}

/* The readers, in the order in which they are tried for a file. */
static const struct log_reader_functions *const readers[] = {&log_sql_reader, &log_text_reader, &log_binary_reader,
                                                             NULL};

static HRESULT read_head(const char *path, uint8_t *head, size_t *size)
{
    struct file *file;
    HRESULT hr = file_open(path, FILE_READ, &file);
    if (SUCCEEDED(hr)) {
        hr = file_read_at(file, 0, head, LOG_HEAD_BYTES, size);
        file_close(file);
    }
    return hr;
}

/* Returns whether the bytes are the beginning of a file that one of the readers recognises. */
static bool log_is_head(const uint8_t *head, size_t size)
{
    for (size_t i = 0; readers[i]; i++)
        if (readers[i]->recognises("", head, size))
            return true;
    return false;
}

HRESULT log_reader_open(const char *path, struct log_reader **out)
{
    uint8_t head[LOG_HEAD_BYTES];
    size_t size = 0;
    TRACE_STEP(logs, "read %s", path);
    for (size_t i = 0; readers[i]; i++)
        if (readers[i]->recognises(path, NULL, 0))
            return readers[i]->open(path, out);
    HRESULT hr = read_head(path, head, &size);
    for (size_t i = 0; SUCCEEDED(hr) && readers[i]; i++)
        if (readers[i]->recognises(path, head, size))
            return readers[i]->open(path, out);
    return FAILED(hr)
               ? hr
               : error_set(
                     HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                     "cannot open '%s': not a performance log (expected CSV or TSV with a PDH header, or a binary log)",
                     path);
}

const struct log_info *log_reader_info(const struct log_reader *r)
{
    return &r->info;
}

const struct log_counter *log_reader_counters(const struct log_reader *r, size_t *count)
{
    *count = r->counters.count;
    return r->counters.items;
}

static HRESULT log_reader_translate_new(struct log_reader *r)
{
    HRESULT hr = S_OK;
    for (; r->names && r->translated < r->counters.count && SUCCEEDED(hr); r->translated++) {
        struct log_counter *c = &r->counters.items[r->translated];
        struct english_name english;
        hr = counter_names_find(r->names, c->object, c->counter, &english);
        c->english_object = SUCCEEDED(hr) ? english.object : NULL;
        c->english_counter = SUCCEEDED(hr) ? english.counter : NULL;
    }
    return hr;
}

HRESULT log_reader_translate(struct log_reader *r, const struct counter_names *names)
{
    r->names = names;
    r->translated = 0;
    return log_reader_translate_new(r);
}

HRESULT log_reader_next(struct log_reader *r, int64_t *utc, const struct log_cell **cells)
{
    const HRESULT hr = r->functions->next(r, utc, cells);
    const HRESULT translated = log_reader_translate_new(r);
    return FAILED(hr) || SUCCEEDED(translated) ? hr : translated;
}

HRESULT log_reader_seek(struct log_reader *r, int64_t utc)
{
    return r->functions->seek(r, utc);
}

void log_reader_progress(const struct log_reader *r, uint64_t *done, uint64_t *total)
{
    r->functions->progress(r, done, total);
}

const struct texts *log_reader_warnings(const struct log_reader *r)
{
    return &r->warnings;
}

void log_reader_warn(struct log_reader *r, const char *format, ...)
{
    char text[512];
    va_list list;
    if (r->warnings.count >= LOG_MAX_WARNINGS)
        return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    (void)texts_add(&r->warnings, r->warnings.count + 1 < LOG_MAX_WARNINGS ? text : "further warnings are not shown");
}

void log_reader_free_base(struct log_reader *r)
{
    memory_free((void *)r->info.zone.name);
    memory_free((void *)r->info.machine);
    memory_free((void *)r->info.comment);
    log_counters_free(&r->counters);
    texts_free(&r->warnings);
}

void log_reader_close(struct log_reader *r)
{
    if (r)
        r->functions->close(r);
}

/* ---- names of counters ---- */

char *log_counter_path(const struct log_counter *c)
{
    if (c->path)
        return text_copy(c->path);
    const char *machine = c->machine ? c->machine + strspn(c->machine, "\\") : NULL;
    const struct counter_path path = {
        .machine = (char *)machine,
        .object = (char *)(c->object ? c->object : ""),
        .parent = (char *)c->parent,
        .instance = (char *)c->instance,
        .index = c->index,
        .counter = (char *)(c->counter ? c->counter : ""),
    };
    return counter_path_format(&path);
}

uint64_t log_counter_hash(const struct log_counter *c)
{
    const char *const texts[] = {c->machine, c->object, c->parent, c->instance, c->counter};
    uint64_t hash = HASH_START ^ c->index;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        hash = hash_number(hash_text(hash, texts[i] ? texts[i] : "\1"), 0);
    return hash;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool log_counter_same(const struct log_counter *a, const struct log_counter *b)
{
    return a->index == b->index && same_text(a->machine, b->machine) && same_text(a->object, b->object) &&
           same_text(a->parent, b->parent) && same_text(a->instance, b->instance) && same_text(a->counter, b->counter);
}

void log_counter_free(struct log_counter *c)
{
    memory_free((void *)c->machine);
    memory_free((void *)c->object);
    memory_free((void *)c->instance);
    memory_free((void *)c->parent);
    memory_free((void *)c->counter);
    memory_free((void *)c->path);
    *c = (struct log_counter){0};
}

/* Replaces a name with a copy; NULL stays NULL. False: out of memory. */
static bool copy_name(const char **name)
{
    if (*name) {
        *name = text_copy(*name);
        return *name != NULL;
    }
    return true;
}

HRESULT log_counters_add(struct log_counters *list, const struct log_counter *counter)
{
    void *items = list->items;
    struct log_counter copy = *counter;
    const char **const names[] = {&copy.machine, &copy.object, &copy.instance, &copy.parent, &copy.counter, &copy.path};
    size_t copied = 0, count = sizeof names / sizeof *names;
    bool grown = memory_grow(&items, &list->capacity, list->count + 1, sizeof *list->items) != 0;
    list->items = items;
    while (grown && copied < count && copy_name(names[copied]))
        copied++;
    if (copied == count) {
        list->items[list->count++] = copy;
        return S_OK;
    }
    while (copied < count)
        *names[copied++] = NULL; /* these strings were not copied and belong to the caller, so they must not be freed
                                    here */
    if (grown)
        log_counter_free(&copy);
    return error_set(E_OUTOFMEMORY, "out of memory for the names of %zu counters", list->count + 1);
}

HRESULT log_counters_add_path(struct log_counters *list, const char *text)
{
    struct counter_path path;
    struct log_counter counter = {.type = LOG_TYPE_DOUBLE};
    char *machine = NULL, *again = NULL;
    const PDH_STATUS status = counter_path_parse(text, &path);
    bool memory = (DWORD)status != PDH_MEMORY_ALLOCATION_FAILURE;
    if (status == ERROR_SUCCESS) {
        machine = path.machine ? text_format("\\\\%s", path.machine) : NULL;
        again = counter_path_format(&path);
        memory = again && (machine != NULL) == (path.machine != NULL);
        counter.machine = machine;
        counter.object = path.object;
        counter.parent = path.parent;
        counter.instance = path.instance;
        counter.index = path.index == PATH_NO_INDEX ? 0 : path.index;
        counter.counter = path.counter;
        counter.path = memory && strcmp(again, text) != 0 ? text : NULL;
    } else {
        counter.object = "";
        counter.counter = counter.path = text;
    }
    HRESULT hr = memory ? log_counters_add(list, &counter)
                        : error_set(E_OUTOFMEMORY, "out of memory for the counter path '%s'", text);
    memory_free(machine);
    memory_free(again);
    counter_path_free(&path);
    return hr;
}

void log_counters_free(struct log_counters *list)
{
    for (size_t i = 0; i < list->count; i++)
        log_counter_free(&list->items[i]);
    memory_free(list->items);
    *list = (struct log_counters){0};
}

/* ---- files to which logs are written ---- */

static HRESULT open_as(const char *path, const struct log_options *options, enum file_mode mode, struct file **out)
{
    return options->base ? file_open_below(options->base, path, mode, out) : file_open(path, mode, out);
}

/* Checks the content of a file before it is overwritten, because its name does not show whether it is a log. */
static HRESULT check_is_log(const char *path, struct file *file)
{
    uint8_t head[LOG_HEAD_BYTES];
    size_t size = 0;
    HRESULT hr = file_read_at(file, 0, head, sizeof head, &size);
    if (FAILED(hr) || !size || log_is_head(head, size) || (size < sizeof head && blg_is_begun(head, size)))
        return hr;
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "cannot overwrite '%s': the file is not a performance log",
                     path);
}

HRESULT log_file_begin(const char *path, const struct log_options *options, bool over, struct file **out, bool *fresh)
{
    HRESULT hr = open_as(path, options, FILE_CREATE_NEW, out);
    *fresh = SUCCEEDED(hr);
    if (!over || hr != HRESULT_FROM_WIN32(ERROR_FILE_EXISTS))
        return hr;
    hr = open_as(path, options, FILE_APPEND, out);
    if (FAILED(hr))
        return hr;
    hr = check_is_log(path, *out);
    if (FAILED(hr)) {
        file_close(*out);
        *out = NULL;
    }
    return hr;
}

HRESULT log_refuse_wildcards(const char *path, const struct log_counter *counters, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct log_counter *c = &counters[i];
        if (c->wildcard)
            return error_set(
                E_INVALIDARG,
                "cannot create '%s': counter '%s\\%s(*)\\%s' has changing instances, which this format cannot store",
                path, c->machine ? c->machine : "", c->object, c->counter);
    }
    return S_OK;
}

HRESULT log_file_empty(struct file *file)
{
    uint64_t size;
    HRESULT hr = file_size(file, &size);
    return SUCCEEDED(hr) && size ? file_set_size(file, 0) : hr;
}

HRESULT log_file_continue(const char *path, const struct log_options *options, struct file **out)
{
    return open_as(path, options, FILE_APPEND, out);
}

HRESULT log_file_delete(const char *path, const struct log_options *options)
{
    return options->base ? file_delete_below(options->base, path) : file_delete(path);
}
