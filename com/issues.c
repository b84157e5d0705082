/* SPDX-License-Identifier: MIT */
/* The plaValidation map that methods fill and give out. */
#include "com/issues.h"

#include "com/convert.h"
#include "engine/os/memory.h"

#include <string.h>

HRESULT give_issues(HRESULT hr, struct object *issues, IValueMap **out)
{
    if (SUCCEEDED(hr) && out)
        hr = skin_get(issues, (void **)out);
    object_release(issues);
    return hr;
}

HRESULT call_with_issues(void *interface_pointer, text_method method, BSTR text, const char *argument,
                         IValueMap **issues)
{
    struct object *map = NULL;
    char *utf8 = NULL;
    if (!issues)
        return com_no_pointer(interface_pointer, "Validation");
    *issues = NULL;
    HRESULT hr = text_from_bstr(text, argument, &utf8);
    if (SUCCEEDED(hr))
        hr = issues_create(NULL, &map);
    if (SUCCEEDED(hr))
        hr = method(model_of(interface_pointer), utf8, strlen(utf8), map);
    memory_free(utf8);
    return com_result(interface_pointer, give_issues(hr, map, issues));
}
