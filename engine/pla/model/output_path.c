/* SPDX-License-Identifier: MIT */
/* Computes the output locations of a run: the folder of the set, and the files of its collectors. Expands the patterns
   in their names (behaviour 7). */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/pla/model/name_pattern.h"
#include "engine/pla/model/validate.h"

#include <stdlib.h>
#include <string.h>

#define TICKS_PER_MINUTE INT64_C(600000000)

HRESULT name_context_now(uint32_t serial_number, struct name_context *out)
{
    int64_t utc = clock_utc();
    out->zone_offset_minutes = -clock_bias_minutes(utc);
    out->local = clock_calendar(utc + out->zone_offset_minutes * TICKS_PER_MINUTE);
    out->serial_number = serial_number;
    out->computer = os_computer_name();
    return out->computer ? S_OK : E_OUTOFMEMORY;
}

void name_context_free(struct name_context *context)
{
    memory_free((void *)context->computer);
    context->computer = NULL;
}

/* Returns why the expanded name is invalid; NULL: it is valid. */
static const char *fault_of(const char *made, bool file)
{
    const char *fault = path_names_fault(made);
    if (fault)
        return fault;
    if (strpbrk(made, "*?\"<>|"))
        return "file systems do not allow * ? \" < > | in a name";
    if (file && strpbrk(made, "\\/"))
        return "a file name cannot contain a folder";
    return text_has_bidi_control(made) ? "a bidirectional control character can make it look like another name" : NULL;
}

/* Checks that the name `made`, which was expanded from a property and its pattern, stays below its folder on every host
   OS (DECISIONS 36). */
static HRESULT check_stays(const char *made, const char *value, const char *pattern, const char *property, bool file)
{
    const char *where = file ? "the set's folder" : "RootPath";
    const char *own = fault_of(value, file), *fault = fault_of(made, file);
    if (!fault)
        return S_OK;
    if (own)
        return error_set(E_INVALIDARG, "%s: '%.300s' is not below %s: %s", property, value, where, own);
    return error_set(E_INVALIDARG, "%sFormatPattern: '%.300s' expands to '%.300s', which is not below %s: %s", property,
                     pattern, made, where, fault);
}

const char *set_root(const struct data_collector_set *set)
{
    return set->RootPath[0] ? set->RootPath : data_collector_set_class.properties[IDataCollectorSet_RootPath].text;
}

/* Returns whether `path` is below `folder`; compares only the strings. */
static bool is_below(const char *path, const char *folder)
{
    char *head = text_copy_n(path, strnlen(path, strlen(folder)));
    bool below = head && text_equal_nocase(head, folder) && path[strlen(folder)] && strchr("\\/", path[strlen(folder)]);
    memory_free(head);
    return below;
}

bool set_creates_root(const char *root)
{
    char *logs = os_expand_environment("%systemdrive%\\PerfLogs");
    const bool makes = logs && is_below(root, logs) && !path_names_fault(root + strlen(logs) + 1);
    memory_free(logs);
    return makes;
}

HRESULT set_output_folder(struct object *o, const struct name_context *context, char **out)
{
    struct data_collector_set *set = set_of(o);
    char *folder = NULL;
    *out = NULL;
    object_lock(o);
    char *root = text_copy(set_root(set)), *base = text_copy(set->Subdirectory),
         *pattern = text_copy(set->SubdirectoryFormatPattern);
    uint32_t format = set->SubdirectoryFormat;
    object_unlock(o);
    char *expanded = root ? os_expand_environment(root) : NULL;
    const char *fault = expanded ? path_root_fault(expanded) : NULL;
    HRESULT hr = expanded && base && pattern ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = name_decorate(base, format, pattern, context, &folder);
    if (FAILED(hr) && hr != E_OUTOFMEMORY)
        hr = error_prefix(hr, "SubdirectoryFormatPattern");
    if (SUCCEEDED(hr) && fault)
        hr = error_set(E_INVALIDARG, "RootPath: '%.300s' is not a valid folder: %s", root, fault);
    if (SUCCEEDED(hr))
        hr = check_stays(folder, base, pattern, "Subdirectory", false);
    if (SUCCEEDED(hr)) {
        /* Without a subdirectory the root ends with a separator, as Windows shows it (behaviour 7). */
        *out = *folder ? path_join(expanded, folder) : path_with_separator(expanded);
        hr = *out ? S_OK : E_OUTOFMEMORY;
    }
    memory_free(folder);
    memory_free(expanded);
    memory_free(root);
    memory_free(base);
    memory_free(pattern);
    return hr;
}

/* Returns the last part of a Windows path. The path is a Windows path on every host OS, because API traces only run on
   Windows and Wine; other host OSes only edit such sets. */
static const char *last_part(const char *path)
{
    const char *name = path;
    for (const char *at = path; *at; at++)
        if (strchr("\\/:", *at))
            name = at + 1;
    return name;
}

/* Returns the name of an API trace's log without extension, from LogFilePath, or else from the program. "": neither is
   set. */
static char *api_log_base(const struct api_tracing_collector *c, const char *extension)
{
    const char *log = last_part(c->LogFilePath), *name = log[0] ? log : last_part(c->ExePath);
    const char *ending = log[0] ? extension : ".exe";
    const bool extended = text_equal_nocase(path_extension(name), ending);
    return text_copy_n(name, strlen(name) - (extended ? strlen(ending) : 0));
}

HRESULT collector_output_file(struct object *o, const char *folder, const struct name_context *context, char **out)
{
    struct data_collector *c = collector_of(o);
    /* MS-PLA 2.2.2.11: FileName, FileNameFormat and its pattern are ignored for API traces (DECISIONS 168). */
    const struct api_tracing_collector *api =
        o->class == &api_tracing_collector_class ? (const struct api_tracing_collector *)o : NULL;
    const bool undecorated = api && (last_part(api->LogFilePath)[0] || last_part(api->ExePath)[0]);
    char *file = NULL;
    *out = NULL;
    object_lock(o);
    char *base = undecorated ? api_log_base(api, o->class->extension) : collector_file_base(o);
    char *pattern = text_copy(undecorated ? "" : c->FileNameFormatPattern);
    const char *ending = o->class->extension_of ? o->class->extension_of(o) : o->class->extension;
    uint32_t format = undecorated ? 0 : c->FileNameFormat;
    object_unlock(o);
    HRESULT hr = base && pattern ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = name_decorate_file(base, ending, format, pattern, context, &file);
    if (FAILED(hr) && hr != E_OUTOFMEMORY)
        hr = error_prefix(hr, "FileNameFormatPattern");
    if (SUCCEEDED(hr))
        hr = check_stays(file, base, pattern, undecorated ? "LogFilePath" : "FileName", true);
    if (SUCCEEDED(hr)) {
        *out = path_join(folder, file);
        hr = *out ? S_OK : E_OUTOFMEMORY;
    }
    memory_free(file);
    memory_free(base);
    memory_free(pattern);
    return hr;
}

/* Checks the collectors' file names. Ignores invalid patterns, because validation reports them and the start fails. */
static HRESULT check_files(struct object *set, const struct name_context *context)
{
    struct object **list;
    size_t count;
    HRESULT hr = collection_snapshot(set_of(set)->DataCollectors, &list, &count);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        char *file = NULL;
        hr = collector_output_file(list[i], "", context, &file);
        memory_free(file);
        hr = hr == OPENPLA_E_BAD_PATTERN ? S_OK : hr;
    }
    objects_release(list, count);
    return hr;
}

HRESULT set_check_output(struct object *set)
{
    struct name_context context;
    char *folder = NULL;
    HRESULT hr = name_context_now(set_of(set)->SerialNumber, &context);
    if (FAILED(hr))
        return hr;
    hr = set_output_folder(set, &context, &folder);
    memory_free(folder);
    if (SUCCEEDED(hr) || hr == OPENPLA_E_BAD_PATTERN)
        hr = check_files(set, &context);
    name_context_free(&context);
    return hr;
}

/* ---- patterns, order and separators of decorations ---- */

/* AutoPathFormat bits, MS-PLA 2.2.2.1. */
#define FORMAT_PATTERN  0x0001u
#define FORMAT_COMPUTER 0x0002u

/* Names are always English, because the name of a log must not depend on the locale of the account that runs the
   set. */
static const char *const day_names[7] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
static const char *const month_names[12] = {"January", "February", "March",     "April",   "May",      "June",
                                            "July",    "August",   "September", "October", "November", "December"};

/* The fixed decorations after the pattern, in the order of MS-PLA 2.2.2.1. Logs of Windows have "_" before the serial
   number. The serial number has six digits, although the pattern in the specification has five letters N. Dates also
   have "_" before them. */
static const struct decoration {
    uint32_t bit;
    const char *pattern;
} decorations[] = {
    {0x0100, "MMddHH"},   {0x0200, "NNNNNN"},     {0x0400, "yyyyDDD"},  {0x0800, "yyyyMM"},
    {0x1000, "yyyyMMdd"}, {0x2000, "yyyyMMddHH"}, {0x4000, "MMddHHmm"},
};

static int twelve_hour(int hour)
{
    return hour % 12 == 0 ? 12 : hour % 12;
}

/* Adds the time zone in whole hours. Like Windows, writes two minus signs before a positive offset (MS-PLA note <6>),
   so that names from both systems sort together. */
static void add_zone(struct text_buffer *b, size_t run, int offset_minutes)
{
    int hours = offset_minutes / 60;
    text_buffer_add(b, hours > 0 ? "--" : hours < 0 ? "-" : "");
    text_buffer_format(b, "%0*d", run >= 2 ? 2 : 1, abs(hours));
}

/* Adds the expansion of a sequence of `run` equal letters. A sequence that is longer than the letter's longest form is
   treated like the longest form. False: the letter is unknown. */
static bool add_letters(struct text_buffer *b, char letter, size_t run, const struct name_context *c)
{
    int digits = run >= 2 ? 2 : 1;
    const char *name;
    switch (letter) {
    case 'D':
        text_buffer_format(b, "%0*d", run >= 2 ? 3 : 1, c->local.day_of_year);
        return true;
    case 'd':
        name = day_names[(unsigned)c->local.weekday % 7];
        if (run >= 3)
            text_buffer_add_n(b, name, run == 3 ? 3 : strlen(name));
        else
            text_buffer_format(b, "%0*d", digits, c->local.day);
        return true;
    case 'M':
        name = month_names[(unsigned)(c->local.month - 1) % 12];
        if (run >= 3)
            text_buffer_add_n(b, name, run == 3 ? 3 : strlen(name));
        else
            text_buffer_format(b, "%0*d", digits, c->local.month);
        return true;
    case 'y':
        if (run >= 3)
            text_buffer_format(b, "%04d", c->local.year);
        else
            text_buffer_format(b, "%0*d", digits, c->local.year % 100);
        return true;
    case 'h':
        text_buffer_format(b, "%0*d", digits, twelve_hour(c->local.hour));
        return true;
    case 'H':
        text_buffer_format(b, "%0*d", digits, c->local.hour);
        return true;
    case 'm':
        text_buffer_format(b, "%0*d", digits, c->local.minute);
        return true;
    case 's':
        text_buffer_format(b, "%0*d", digits, c->local.second);
        return true;
    case 't':
        text_buffer_add_n(b, c->local.hour < 12 ? "AM" : "PM", run >= 2 ? 2 : 1);
        return true;
    case 'z':
        add_zone(b, run, c->zone_offset_minutes);
        return true;
    case 'N':
        text_buffer_format(b, "%0*u", (int)(run < 255 ? run : 255), (unsigned)c->serial_number);
        return true;
    default:
        return false;
    }
}

/* Normalises a letter. The documentation uses both cases for some letters ("Tt", "SS", "Z"), with the same meaning. */
static char same_letter(char c)
{
    return (char)(c == 'T' ? 't' : c == 'S' ? 's' : c == 'Z' ? 'z' : c);
}

/* Returns whether the character must be escaped if it is not a known letter. Other ASCII characters are literal, such
   as the comma and colon in the specification's example. */
static bool needs_escape(unsigned char c)
{
    return c >= 0x80 || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '\\';
}

static size_t character_bytes(const char *text)
{
    size_t n = text[0] != 0;
    while (n && ((unsigned char)text[n] & 0xC0) == 0x80)
        n++;
    return n;
}

HRESULT name_pattern_expand(const char *pattern, const struct name_context *context, char **out)
{
    struct text_buffer b = {0};
    const char *at = pattern;
    text_buffer_add(&b, "");
    while (*at) {
        size_t bytes = character_bytes(at);
        if (*at == '\\' && at[1]) {
            bytes = character_bytes(at + 1);
            text_buffer_add_n(&b, at + 1, bytes);
            at += 1 + bytes;
            continue;
        }
        char letter = same_letter(*at);
        size_t run = 1;
        while (bytes == 1 && same_letter(at[run]) == letter)
            run++;
        if (bytes == 1 && add_letters(&b, letter, run, context)) {
            at += run;
            continue;
        }
        if (needs_escape((unsigned char)*at)) {
            HRESULT hr =
                error_set(OPENPLA_E_BAD_PATTERN, "pattern '%s': '%.*s' is not a pattern letter and is not escaped",
                          pattern, (int)bytes, at);
            text_buffer_free(&b);
            return hr;
        }
        text_buffer_add_n(&b, at, 1);
        at++;
    }
    *out = text_buffer_take(&b);
    return *out ? S_OK : E_OUTOFMEMORY;
}

/* Adds the expanded pattern, with a separator before it unless the name is empty. */
static HRESULT add_decoration(struct text_buffer *b, const char *separator, const char *pattern,
                              const struct name_context *context)
{
    char *text = NULL;
    HRESULT hr = name_pattern_expand(pattern, context, &text);
    if (FAILED(hr))
        return hr;
    if (b->length)
        text_buffer_add(b, separator);
    text_buffer_add(b, text);
    memory_free(text);
    return S_OK;
}

HRESULT name_decorate(const char *base, uint32_t format, const char *pattern, const struct name_context *context,
                      char **out)
{
    struct text_buffer b = {0};
    HRESULT hr = S_OK;
    text_buffer_add(&b, base);
    if ((format & FORMAT_PATTERN) && pattern)
        hr = add_decoration(&b, "", pattern, context);
    for (size_t i = 0; SUCCEEDED(hr) && i < sizeof decorations / sizeof decorations[0]; i++)
        if (format & decorations[i].bit)
            hr = add_decoration(&b, "_", decorations[i].pattern, context);
    char *name = FAILED(hr) ? NULL : text_buffer_take(&b);
    text_buffer_free(&b);
    if (FAILED(hr))
        return hr;
    if (!name)
        return E_OUTOFMEMORY;
    /* plaComputer does not change an empty name: Windows' sets with only plaComputer have no subfolder. */
    if ((format & FORMAT_COMPUTER) && *name) {
        char *prefixed = text_format("%s_%s", context->computer, name);
        memory_free(name);
        if (!prefixed)
            return E_OUTOFMEMORY;
        name = prefixed;
    }
    *out = name;
    return S_OK;
}

HRESULT name_decorate_file(const char *base, const char *extension, uint32_t format, const char *pattern,
                           const struct name_context *context, char **out)
{
    size_t length = strlen(base), extension_length = strlen(extension);
    bool own =
        extension_length && length > extension_length && text_equal_nocase(base + length - extension_length, extension);
    const char *ending = own ? base + length - extension_length : extension;
    char *stem = text_copy_n(base, own ? length - extension_length : length);
    if (!stem)
        return E_OUTOFMEMORY;
    char *name = NULL;
    HRESULT hr = name_decorate(stem, format, pattern, context, &name);
    if (SUCCEEDED(hr)) {
        bool decorated = strcmp(name, stem) != 0;
        *out = own || decorated || !*path_extension(base) ? text_format("%s%s", name, ending) : text_copy(base);
        hr = *out ? S_OK : E_OUTOFMEMORY;
        memory_free(name);
    }
    memory_free(stem);
    return hr;
}
