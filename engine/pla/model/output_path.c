/* SPDX-License-Identifier: MIT */
/* Where a run writes: the folder of a set and the file of a collector. behaviour 7. */
#include "engine/base/file.h"
#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/pla/model/data_collector.h"
#include "engine/pla/model/name_pattern.h"

#include <string.h>

#define TICKS_PER_MINUTE INT64_C(600000000)

HRESULT name_context_now(uint32_t serial_number, struct name_context *out)
{
    int64_t utc = clock_utc();
    out->zone_offset_minutes = -clock_bias_minutes(utc);
    out->local = clock_calendar(utc + out->zone_offset_minutes * TICKS_PER_MINUTE);
    out->serial_number = serial_number;
    out->computer = host_computer_name();
    return out->computer ? S_OK : E_OUTOFMEMORY;
}

void name_context_free(struct name_context *context)
{
    memory_free((void *)context->computer);
    context->computer = NULL;
}

/* Why what was made of a name and a pattern cannot be used; NULL: it can. */
static const char *fault_of(const char *made, bool file)
{
    const char *fault = path_names_fault(made);
    if (fault)
        return fault;
    if (strpbrk(made, "*?\"<>|"))
        return "file systems do not take * ? \" < > | in a name";
    if (file && strpbrk(made, "\\/"))
        return "a file's name holds no other folder";
    return text_has_bidi_control(made) ? "a bidirectional control character can make it look like another name" : NULL;
}

/* What a property and its pattern have made of a name must lie below `where`, on every host (DECISIONS 36). */
static HRESULT check_stays(const char *made, const char *value, const char *pattern, const char *property, bool file)
{
    const char *where = file ? "the set's folder" : "RootPath";
    const char *own = fault_of(value, file), *fault = fault_of(made, file);
    if (!fault)
        return S_OK;
    if (own)
        return error_set(E_INVALIDARG, "%s: \"%.300s\" names no place below %s: %s", property, value, where, own);
    return error_set(E_INVALIDARG, "%sFormatPattern: \"%.300s\" makes \"%.300s\", which names no place below %s: %s",
                     property, pattern, made, where, fault);
}

const char *set_root(const struct data_collector_set *set)
{
    return set->RootPath[0] ? set->RootPath : data_collector_set_class.properties[IDataCollectorSet_RootPath].text;
}

/* Whether `path` lies below `folder`, by its text. */
static bool is_below(const char *path, const char *folder)
{
    char *head = text_copy_n(path, strnlen(path, strlen(folder)));
    bool below = head && text_equal_nocase(head, folder) && path[strlen(folder)] && strchr("\\/", path[strlen(folder)]);
    memory_free(head);
    return below;
}

bool set_creates_root(const char *root)
{
    char *logs = host_expand_environment("%systemdrive%\\PerfLogs");
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
    char *expanded = root ? host_expand_environment(root) : NULL;
    const char *fault = expanded ? path_root_fault(expanded) : NULL;
    HRESULT hr = expanded && base && pattern ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = name_decorate(base, format, pattern, context, &folder);
    if (FAILED(hr) && hr != E_OUTOFMEMORY)
        hr = error_prefix(hr, "SubdirectoryFormatPattern");
    if (SUCCEEDED(hr) && fault)
        hr = error_set(E_INVALIDARG, "RootPath: \"%.300s\" is no folder: %s", root, fault);
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

HRESULT collector_output_file(struct object *o, const char *folder, const struct name_context *context, char **out)
{
    struct data_collector *c = collector_of(o);
    char *file = NULL;
    *out = NULL;
    object_lock(o);
    char *base = collector_file_base(o), *pattern = text_copy(c->FileNameFormatPattern);
    const char *ending = o->class->extension_of ? o->class->extension_of(o) : o->class->extension;
    uint32_t format = c->FileNameFormat;
    object_unlock(o);
    HRESULT hr = base && pattern ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = name_decorate_file(base, ending, format, pattern, context, &file);
    if (FAILED(hr) && hr != E_OUTOFMEMORY)
        hr = error_prefix(hr, "FileNameFormatPattern");
    if (SUCCEEDED(hr))
        hr = check_stays(file, base, pattern, "FileName", true);
    if (SUCCEEDED(hr)) {
        *out = path_join(folder, file);
        hr = *out ? S_OK : E_OUTOFMEMORY;
    }
    memory_free(file);
    memory_free(base);
    memory_free(pattern);
    return hr;
}

/* One whose pattern is none is told in the map and fails at the start; so is one that no run would use. */
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
