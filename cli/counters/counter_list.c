/* SPDX-License-Identifier: MIT */
/* What can be counted here, as paths or with all that is known of each. */
#include "cli/counters/counter_list.h"

#include "cli/json.h"
#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/logs/counter_path.h"
#include "engine/pdh/counter_facts.h"
#include "engine/pdh/counter_paths.h"
#include "engine/pdh/counter_query.h"
#include "engine/pdh/counter_types.h"

bool counter_list_is_ours(void)
{
#ifdef _WIN32
    return host_is_wine();
#else
    return true;
#endif
}

/* What PDH says of the counter: its type and what it is; S_FALSE: nothing, as it cannot be added. *help from
   memory_alloc. */
static HRESULT ask(const struct pdh_api *pdh, PDH_HQUERY query, const char *path, DWORD *type, char **help)
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

static HRESULT put(const struct pdh_api *pdh, PDH_HQUERY query, struct json *j, const char *path)
{
    struct counter_path parts;
    DWORD type = 0;
    char *help, unit[24], number[16];
    if (counter_path_parse(path, &parts) != ERROR_SUCCESS)
        return E_OUTOFMEMORY;
    HRESULT hr = ask(pdh, query, path, &type, &help);
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
        hr = put(pdh, query, &json, paths->items[i]);
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
