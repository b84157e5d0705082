/* SPDX-License-Identifier: MIT */
/* IDataManager. MS-PLA 3.2.4.2. */
#include "com/dll/cabinet_entry.h"
#include "com/objects/convert.h"
#include "com/server/caller.h"
#include "engine/base/memory.h"
#include "engine/pla/sets.h"

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
    return com_result(This, skin_give(hr, map, (void **)errors));
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
