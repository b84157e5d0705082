/* SPDX-License-Identifier: MIT */
/* IDataCollectorSet and its IDataManager: the members that are not plain properties (MS-PLA 3.2.4.1). */
#include "com/dll/exports.h"
#include "com/objects/convert.h"
#include "com/server/call_entry.h"
#include "engine/base/memory.h"
#include "engine/pla/sets.h"

static HRESULT STDMETHODCALLTYPE set_get_xml(IDataCollectorSet *This, BSTR *out)
{
    return object_get_xml(This, out);
}

static HRESULT STDMETHODCALLTYPE set_set_credentials(IDataCollectorSet *This, BSTR user, BSTR password)
{
    const struct caller caller = com_caller();
    HRESULT hr = call_with_texts(This, sets_set_credentials, user, "user", password, "password");
    if (!caller.in_process) /* COM copied the password from the other process, and would free the copy without
                               overwriting it */
        bstr_wipe(password);
    return hr;
}

static HRESULT STDMETHODCALLTYPE set_query_(IDataCollectorSet *This, BSTR name, BSTR server)
{
    return call_with_texts(This, set_query, name, "name", server, "server");
}

static HRESULT STDMETHODCALLTYPE set_commit_(IDataCollectorSet *This, BSTR name, BSTR server, CommitMode mode,
                                             IValueMap **validation)
{
    const struct caller caller = com_caller();
    char *name_text = NULL, *server_text = NULL;
    struct object *issues = NULL;
    if (validation) /* NULL is allowed: the issues are then not returned (DECISIONS 12) */
        *validation = NULL;
    HRESULT hr = text_from_bstr(name, "name", &name_text);
    if (SUCCEEDED(hr))
        hr = text_from_bstr(server, "server", &server_text);
    if (SUCCEEDED(hr))
        hr = issues_create(NULL, &issues);
    if (SUCCEEDED(hr))
        hr = object_complete(model_of(This));
    if (SUCCEEDED(hr))
        hr = set_commit(model_of(This), &caller, name_text, server_text, (uint32_t)mode, issues);
    memory_free(name_text);
    memory_free(server_text);
    return com_result(This, wrapper_give(hr, issues, (void **)validation));
}

static HRESULT STDMETHODCALLTYPE set_delete_(IDataCollectorSet *This)
{
    const struct caller caller = com_caller();
    return com_result(This, set_delete(model_of(This), &caller));
}

static HRESULT STDMETHODCALLTYPE set_start_(IDataCollectorSet *This, VARIANT_BOOL synchronous)
{
    const struct caller caller = com_caller();
    HRESULT hr = object_complete(model_of(This));
    if (SUCCEEDED(hr))
        hr = set_start(model_of(This), &caller, synchronous != VARIANT_FALSE);
    return com_result(This, hr);
}

static HRESULT STDMETHODCALLTYPE set_stop_(IDataCollectorSet *This, VARIANT_BOOL synchronous)
{
    const struct caller caller = com_caller();
    return com_result(This, set_stop(model_of(This), &caller, synchronous != VARIANT_FALSE));
}

static HRESULT STDMETHODCALLTYPE set_set_xml(IDataCollectorSet *This, BSTR xml, IValueMap **validation)
{
    return object_set_xml(This, set_from_xml, xml, "xml", validation);
}

static HRESULT STDMETHODCALLTYPE set_set_value(IDataCollectorSet *This, BSTR key, BSTR value)
{
    char *key_text = NULL, *value_text = NULL;
    HRESULT hr = text_from_bstr(key, "key", &key_text);
    if (SUCCEEDED(hr) && value) /* NULL removes the pair */
        hr = text_from_bstr(value, "value", &value_text);
    if (SUCCEEDED(hr))
        hr = object_complete(model_of(This));
    if (SUCCEEDED(hr))
        hr = set_put_value(model_of(This), key_text, value_text);
    memory_free(key_text);
    memory_free(value_text);
    return com_result(This, hr);
}

static HRESULT STDMETHODCALLTYPE set_get_value_(IDataCollectorSet *This, BSTR key, BSTR *out)
{
    const struct caller caller = com_caller();
    char *key_text = NULL, *value = NULL;
    if (!out)
        return com_no_pointer(This, "value");
    *out = NULL;
    HRESULT hr = text_from_bstr(key, "key", &key_text);
    if (SUCCEEDED(hr))
        hr = object_complete(model_of(This));
    if (SUCCEEDED(hr))
        hr = sets_get_value(model_of(This), &caller, key_text, &value);
    if (SUCCEEDED(hr))
        hr = bstr_from_text(value, out);
    memory_free(key_text);
    memory_free(value);
    return com_result(This, hr);
}

#define INTERFACE IDataCollectorSet
#define ROWS      "engine/pla/data_collector_set.def"
#define METHODS                                                                                                        \
    .get_Xml = set_get_xml, .SetCredentials = set_set_credentials, .Query = set_query_, .Commit = set_commit_,         \
    .Delete = set_delete_, .Start = set_start_, .Stop = set_stop_, .SetXml = set_set_xml, .SetValue = set_set_value,   \
    .GetValue = set_get_value_
#define METHOD_COUNT 10
#include "com/objects/object_vtable.inc"

/* IDataManager. MS-PLA 3.2.4.2. */

static HRESULT STDMETHODCALLTYPE manager_run(IDataManager *This, DataManagerSteps steps, BSTR folder,
                                             IValueMap **errors)
{
    const struct caller caller = com_caller();
    struct object *set = NULL, *map = NULL;
    char *name = NULL;
    if (!errors)
        return com_no_pointer(This, "Errors");
    *errors = NULL;
    HRESULT hr = text_from_bstr(folder, "bstrFolder", &name);
    if (SUCCEEDED(hr))
        hr = data_manager_set(model_of(This), &set);
    if (SUCCEEDED(hr))
        hr = issues_create(NULL, &map);
    if (SUCCEEDED(hr))
        hr = set_manage(set, &caller, (uint32_t)steps, name, map);
    memory_free(name);
    object_release(set);
    return com_result(This, wrapper_give(hr, map, (void **)errors));
}

static HRESULT STDMETHODCALLTYPE manager_extract(IDataManager *This, BSTR cabinet, BSTR destination)
{
    const struct caller caller = com_caller();
    char *from = NULL, *to = NULL;
    HRESULT hr = text_from_bstr(cabinet, "CabFilename", &from);
    if (SUCCEEDED(hr))
        hr = text_from_bstr(destination, "DestinationPath", &to);
    if (SUCCEEDED(hr))
        hr = extract_for(&caller, from, to);
    memory_free(from);
    memory_free(to);
    return com_result(This, hr);
}

#define INTERFACE    IDataManager
#define ROWS         "engine/pla/data_manager.def"
#define METHODS      .Run = manager_run, .Extract = manager_extract
#define METHOD_COUNT 2
#include "com/objects/object_vtable.inc"
