/* SPDX-License-Identifier: MIT */
/* The plaValidation map that methods fill and give out. */
#ifndef OPENPLA_ISSUES_H
#define OPENPLA_ISSUES_H

#include "com/skin.h"

/* What a method does with UTF-8 text and a map for its issues. */
typedef HRESULT (*text_method)(struct object *o, const char *text, size_t size, struct object *issues);
/* Runs `method` on a BSTR argument and gives its issues out as an IValueMap: SetXml of sets and collectors. */
HRESULT call_with_issues(void *interface_pointer, text_method method, BSTR text, const char *argument,
                         IValueMap **issues);
/* Gives the map out (or lets it go when out is NULL or the method failed); takes over the caller's reference. */
HRESULT give_issues(HRESULT hr, struct object *issues, IValueMap **out);

#endif
