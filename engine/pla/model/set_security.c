/* SPDX-License-Identifier: MIT */
/* Who may do what with a set, out of its XML. */
#include "engine/base/memory.h"
#include "engine/pla/model.h"

#include <string.h>

/* Whether what stands there for Security could not be taken: a set that says nothing clear is nobody's. */
static HRESULT check_issues(struct object *issues)
{
    struct object **items;
    size_t count;
    HRESULT hr = collection_snapshot(issues, &items, &count);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        if (!strcmp(((const struct value_map_item *)items[i])->Key, "Security"))
            hr = error_set(OPENPLA_E_MALFORMED_XML, "Security: %s",
                           ((const struct value_map_item *)items[i])->Description);
    objects_release(items, count);
    return hr;
}

HRESULT set_security_of_xml(const char *xml, size_t size, char **security)
{
    struct object *set = NULL, *issues = NULL;
    struct value v;
    *security = NULL;
    HRESULT hr = set_create(&set);
    if (SUCCEEDED(hr))
        hr = issues_create(NULL, &issues);
    if (SUCCEEDED(hr))
        hr = set_from_xml(set, xml, size, issues);
    if (SUCCEEDED(hr))
        hr = check_issues(issues);
    if (SUCCEEDED(hr))
        hr = object_get_field(set, &set->class->properties[IDataCollectorSet_Security], &v);
    if (SUCCEEDED(hr))
        *security = v.text;
    object_release(issues);
    object_release(set);
    return hr;
}
