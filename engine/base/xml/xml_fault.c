/* SPDX-License-Identifier: MIT */
#include "engine/base/xml_fault.h"

#include <stdio.h>

#define SHOWN 120 /* bytes of a value */

HRESULT xml_wrong(HRESULT hr, xmlNodePtr element, const char *attribute, const char *value, const char *format,
                  va_list list)
{
    char why[400], where[200] = "";
    vsnprintf(why, sizeof why, format, list);
    if (value)
        snprintf(where, sizeof where, " %s=\"%.*s\"", attribute, SHOWN, value);
    else if (attribute)
        snprintf(where, sizeof where, " %s", attribute);
    return error_set(hr, "line %ld: %.60s%s: %s", xmlGetLineNo(element), (const char *)element->name, where, why);
}
