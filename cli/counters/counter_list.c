/* SPDX-License-Identifier: MIT */
/* Lists the counters of this computer, as paths or with descriptions, and suggests the most likely counter for a wrong
   path. */
#include "cli/counters/counter_list.h"

#include "cli/cli.h"
#include "cli/output.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/logs/counter_path.h"
#include "engine/logs/counter_unit.h"
#include "engine/pdh/counter_facts.h"
#include "engine/pdh/counter_paths.h"
#include "engine/pdh/counter_query.h"
#include "engine/pdh/counter_types.h"

#include <string.h>

bool counter_list_is_ours(void)
{
#ifdef _WIN32
    return os_is_wine();
#else
    return true;
#endif
}

/* Reads the counter's type and help from PDH. S_FALSE if the counter cannot be added. *help is from memory_alloc. */
static HRESULT counter_read_info(const struct pdh_api *pdh, PDH_HQUERY query, const char *path, DWORD *type,
                                 char **help)
{
    WCHAR *wide;
    PDH_HCOUNTER counter = NULL;
    struct pdh_list l = {0};
    *help = NULL;
    HRESULT hr = text_to_utf16(path, &wide, NULL);
    if (FAILED(hr))
        return hr;
    PDH_STATUS status = pdh->PdhAddCounterW(query, wide, 0, &counter);
    memory_free(wide);
    if (status)
        return (DWORD)status == PDH_MEMORY_ALLOCATION_FAILURE ? E_OUTOFMEMORY : S_FALSE;
    while (pdh_list_ask(&l, 1))
        l.status = pdh->PdhGetCounterInfoW(counter, 1, &l.size, l.data);
    const PDH_COUNTER_INFO_W *info = l.data;
    hr = !l.status && info ? S_OK : (DWORD)l.status == PDH_MEMORY_ALLOCATION_FAILURE ? E_OUTOFMEMORY : S_FALSE;
    if (hr == S_OK) {
        *type = info->dwType;
        hr = info->szExplainText ? pdh_text(info->szExplainText, help) : S_OK;
    }
    memory_free(l.data);
    pdh->PdhRemoveCounter(counter);
    return hr;
}

static HRESULT counter_put_json(const struct pdh_api *pdh, PDH_HQUERY query, struct json *j, const char *path)
{
    struct counter_path parts;
    DWORD type = 0;
    char *help, unit[24], number[16];
    if (counter_path_parse(path, &parts) != ERROR_SUCCESS)
        return E_OUTOFMEMORY;
    HRESULT hr = counter_read_info(pdh, query, path, &type, &help);
    if (SUCCEEDED(hr)) {
        const struct counter_schema *row = counter_list_is_ours() ? counter_row(parts.object, parts.counter) : NULL;
        const char *name = counter_type_name(type);
        snprintf(number, sizeof number, "0x%08X", (unsigned)type);
        counter_unit(parts.counter, type, unit, sizeof unit);
        json_begin(j, NULL, '{');
        json_text(j, "path", path);
        json_text(j, "object", parts.object);
        json_text(j, "counter", parts.counter);
        json_text(j, "type", hr == S_FALSE ? NULL : name ? name : number);
        json_text(j, "unit", hr == S_FALSE ? NULL : unit);
        json_text(j, "help", help && *help ? help : NULL);
        json_text(j, "source", row ? row->source : NULL);
        json_end(j, '}');
    }
    memory_free(help);
    counter_path_free(&parts);
    return FAILED(hr) ? hr : S_OK;
}

static HRESULT put_all(const struct pdh_api *pdh, const struct texts *paths)
{
    struct json json = {.out = stdout};
    PDH_HQUERY query = NULL;
    HRESULT hr = pdh_result(pdh->PdhOpenQueryW(NULL, 0, &query), "query");
    if (FAILED(hr))
        return hr;
    json_begin(&json, NULL, '[');
    for (size_t i = 0; SUCCEEDED(hr) && i < paths->count; i++)
        hr = counter_put_json(pdh, query, &json, paths->items[i]);
    if (SUCCEEDED(hr))
        json_end(&json, ']');
    pdh->PdhCloseQuery(query);
    return hr;
}

HRESULT counter_list_paths(const char *machine, const char *object, bool instances, struct texts *paths)
{
    const struct pdh_api *pdh;
    HRESULT hr = host_pdh(&pdh);
    return SUCCEEDED(hr) ? counter_paths_list(pdh, machine, object, instances, paths) : hr;
}

HRESULT counter_list_show(const char *machine, const char *object, bool instances, bool json)
{
    const struct pdh_api *pdh;
    struct texts paths = {0};
    HRESULT hr = host_pdh(&pdh);
    if (SUCCEEDED(hr))
        hr = counter_paths_list(pdh, machine, object, instances, &paths);
    if (SUCCEEDED(hr) && json)
        hr = put_all(pdh, &paths);
    for (size_t i = 0; SUCCEEDED(hr) && !json && i < paths.count; i++)
        printf("%s\r\n", paths.items[i]);
    texts_free(&paths);
    return hr;
}

static const char *nearest_of(const struct texts *names, const char *word)
{
    struct nearest n = {.word = word};
    for (size_t i = 0; i < names->count; i++)
        nearest_consider(&n, names->items[i]);
    return n.name;
}

/* Returns the most similar object, or NULL. If the objects cannot be listed, the message about the rejected path has no
   suggestion. */
static const char *nearest_object(struct counter_nearest *n, const char *object)
{
    if (!n->listed)
        n->listed = SUCCEEDED(counter_paths_objects(n->pdh, NULL, &n->objects));
    return nearest_of(&n->objects, object);
}

char *counter_nearest_object_text(struct counter_nearest *n, const char *object)
{
    const char *nearest = nearest_object(n, object);
    return nearest ? text_format(" (did you mean '%s'?)", nearest) : text_copy("");
}

/* Returns the path for this computer, with its object and counter replaced by `object` and `counter`. */
static char *path_with(const struct counter_path *path, const char *object, const char *counter)
{
    struct counter_path other = *path;
    other.machine = NULL;
    other.object = (char *)object;
    other.counter = (char *)counter;
    return counter_path_format(&other);
}

/* Searches for a similar counter in the object of the path, or in the most similar object. */
static char *nearest_text(struct counter_nearest *n, const struct counter_path *path)
{
    struct texts counters = {0};
    const char *object = path->object, *counter = NULL;
    HRESULT hr = counter_paths_counters(n->pdh, object, &counters);
    if (hr == (HRESULT)PDH_CSTATUS_NO_OBJECT && (object = nearest_object(n, path->object)))
        hr = counter_paths_counters(n->pdh, object, &counters);
    for (size_t i = 0; SUCCEEDED(hr) && i < counters.count && !counter; i++)
        counter = text_equal_nocase(counters.items[i], path->counter) ? counters.items[i] : NULL;
    if (SUCCEEDED(hr) && !counter)
        counter = nearest_of(&counters, path->counter);
    char *found = SUCCEEDED(hr) && counter ? path_with(path, object, counter) : NULL;
    char *text = found                              ? text_format(" (did you mean '%s'?)", found)
                 : object && object != path->object ? text_format(" (did you mean the object '%s'?)", object)
                                                    : text_copy("");
    memory_free(found);
    texts_free(&counters);
    return text;
}

char *counter_nearest_text(struct counter_nearest *n, const char *path, HRESULT reason)
{
    struct counter_path parts;
    if ((reason != (HRESULT)PDH_CSTATUS_NO_OBJECT && reason != (HRESULT)PDH_CSTATUS_NO_COUNTER) ||
        counter_path_parse(path, &parts) != ERROR_SUCCESS)
        return text_copy("");
    const bool ours = counter_path_machine_is_ours(parts.machine) == ERROR_SUCCESS && !strpbrk(parts.object, "*?");
    char *text = ours ? nearest_text(n, &parts) : text_copy("");
    counter_path_free(&parts);
    return text;
}

/* Returns the name in the logs that equals the word, ignoring case, or otherwise the most similar name, or NULL if
   no name is similar. If `object` is NULL, names are objects; otherwise they are counters of that object. */
static const char *name_in_logs(const struct inputs *in, const char *object, const char *word)
{
    struct nearest n = {.word = word};
    for (size_t i = 0; i < in->count; i++) {
        size_t count;
        const struct log_counter *counters = log_reader_counters(in->items[i].reader, &count);
        for (size_t k = 0; k < count; k++) {
            const struct log_counter *c = &counters[k];
            const char *name = object ? c->counter : c->object;
            if (!name || (object && !(c->object && text_equal_nocase(c->object, object))))
                continue;
            if (text_equal_nocase(name, word))
                return name;
            nearest_consider(&n, name);
        }
    }
    return n.name;
}

char *counter_nearest_in_logs(const struct inputs *in, const char *pattern)
{
    struct counter_path parts;
    if (counter_path_parse(pattern, &parts) != ERROR_SUCCESS)
        return text_copy("");
    const char *object = strpbrk(parts.object, "*?") ? NULL : name_in_logs(in, NULL, parts.object);
    const char *counter = parts.counter;
    if (object && !strpbrk(counter, "*?"))
        counter = name_in_logs(in, object, counter);
    /* If the object and the counter both exist, the path is rejected because of its instance or computer. In this case
       there is no suggestion. */
    const bool differs =
        object && counter && (!text_equal_nocase(object, parts.object) || !text_equal_nocase(counter, parts.counter));
    char *found = differs ? path_with(&parts, object, counter) : NULL;
    char *text = !differs ? text_copy("") : found ? text_format(" (did you mean '%s'?)", found) : NULL;
    memory_free(found);
    counter_path_free(&parts);
    return text;
}

void counter_nearest_free(struct counter_nearest *n)
{
    texts_free(&n->objects);
}
