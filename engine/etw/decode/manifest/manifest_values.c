/* SPDX-License-Identifier: MIT */
/* Attributes of an instrumentation manifest's elements. */
#include "engine/base/memory.h"
#include "engine/base/xml_fault.h"
#include "engine/base/xml_text.h"
#include "engine/etw/manifest_reader.h"

#include <stdarg.h>
#include <string.h>

#define EVENTS_NAMESPACE "http://schemas.microsoft.com/win/2004/08/events"
#define WINDOWS_NAMES    "http://manifests.microsoft.com/win/2004/08/windows/events"

HRESULT manifest_wrong(xmlNodePtr element, const char *attribute, const char *value, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    HRESULT hr = xml_wrong(MANIFEST_INVALID, element, attribute, value, format, list);
    va_end(list);
    return hr;
}

bool manifest_is(xmlNodePtr node, const char *name)
{
    return node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0 &&
           (!node->ns || strcmp((const char *)node->ns->href, EVENTS_NAMESPACE) == 0);
}

HRESULT manifest_remark(struct manifest_reader *r, xmlNodePtr element, const char *text)
{
    if (!r->remarks)
        return S_OK;
    return texts_give(r->remarks,
                      text_format("line %ld: %.60s: %s", xmlGetLineNo(element), (const char *)element->name, text));
}

HRESULT manifest_pass_over(struct manifest_reader *r, xmlNodePtr node)
{
    if (node->type != XML_ELEMENT_NODE || (node->ns && strcmp((const char *)node->ns->href, EVENTS_NAMESPACE) != 0))
        return S_OK;
    return manifest_remark(r, node, "the element is not looked at");
}

static void trim(char *text)
{
    size_t length = strlen(text), blanks = 0;
    while (length && xml_is_blank(text[length - 1]))
        text[--length] = 0;
    while (xml_is_blank(text[blanks]))
        blanks++;
    memmove(text, text + blanks, length - (blanks < length ? blanks : length) + 1);
}

HRESULT manifest_text(struct manifest_reader *r, xmlNodePtr e, const char *name, char **out)
{
    *out = NULL;
    HRESULT hr = xmlHasProp(e, BAD_CAST name) ? xml_element_attribute(r->document, e, name, out) : S_OK;
    if (SUCCEEDED(hr) && *out)
        trim(*out);
    return hr;
}

HRESULT manifest_name(struct manifest_reader *r, xmlNodePtr e, const char *name, char **out)
{
    HRESULT hr = manifest_text(r, e, name, out);
    if (SUCCEEDED(hr) && (!*out || !**out)) {
        hr = manifest_wrong(e, name, *out, "it is wanted");
        memory_free(*out);
        *out = NULL;
    }
    return hr;
}

HRESULT manifest_number(struct manifest_reader *r, xmlNodePtr e, const char *name, uint64_t low, uint64_t high,
                        uint64_t *out)
{
    char *text;
    uint64_t number;
    HRESULT hr = manifest_text(r, e, name, &text);
    if (FAILED(hr) || !text)
        return FAILED(hr) ? hr : S_FALSE;
    if (!text_to_u64(text, &number))
        hr = manifest_wrong(e, name, text, "no number");
    else if (number < low || number > high)
        hr = manifest_wrong(e, name, text, "not within %llu and %llu", (unsigned long long)low,
                            (unsigned long long)high);
    else
        *out = number;
    memory_free(text);
    return hr;
}

HRESULT manifest_wanted_number(struct manifest_reader *r, xmlNodePtr e, const char *name, uint64_t low, uint64_t high,
                               uint64_t *out)
{
    HRESULT hr = manifest_number(r, e, name, low, high, out);
    return hr == S_FALSE ? manifest_wrong(e, name, NULL, "it is wanted") : hr;
}

HRESULT manifest_bool(struct manifest_reader *r, xmlNodePtr e, const char *name, bool *out)
{
    char *text;
    HRESULT hr = manifest_text(r, e, name, &text);
    if (FAILED(hr) || !text)
        return FAILED(hr) ? hr : S_FALSE;
    bool yes = text_equal_nocase(text, "true") || strcmp(text, "1") == 0;
    if (!yes && !text_equal_nocase(text, "false") && strcmp(text, "0") != 0)
        hr = manifest_wrong(e, name, text, "neither true nor false");
    else
        *out = yes;
    memory_free(text);
    return hr;
}

HRESULT manifest_guid(struct manifest_reader *r, xmlNodePtr e, const char *name, GUID *out)
{
    char *text;
    HRESULT hr = manifest_text(r, e, name, &text);
    if (FAILED(hr) || !text)
        return FAILED(hr) ? hr : S_FALSE;
    if (!text_to_guid(text, out))
        hr = manifest_wrong(e, name, text, "no GUID");
    memory_free(text);
    return hr;
}

/* The element's own declarations and those around it, which the parser bounds. */
static const char *namespace_of(xmlNodePtr e, const char *prefix, size_t length)
{
    for (xmlNodePtr n = e; n && n->type == XML_ELEMENT_NODE; n = n->parent)
        for (xmlNsPtr ns = n->nsDef; ns; ns = ns->next)
            if (ns->prefix && strncmp((const char *)ns->prefix, prefix, length) == 0 && !ns->prefix[length])
                return (const char *)ns->href;
    return length == 3 && strncmp(prefix, "win", 3) == 0 ? WINDOWS_NAMES : "";
}

const char *manifest_local_name(xmlNodePtr e, const char *qname, bool *of_windows)
{
    const char *colon = strchr(qname, ':');
    *of_windows = colon && strcmp(namespace_of(e, qname, (size_t)(colon - qname)), WINDOWS_NAMES) == 0;
    return colon ? colon + 1 : qname;
}

HRESULT manifest_children(struct manifest_reader *r, xmlNodePtr parent, const char *name, manifest_each *each,
                          void *about)
{
    HRESULT hr = S_OK;
    for (xmlNodePtr n = parent->children; SUCCEEDED(hr) && n; n = n->next)
        hr = manifest_is(n, name) ? each(r, n, about) : manifest_pass_over(r, n);
    return hr;
}

HRESULT manifest_know(xmlNodePtr e, const char *attribute, struct name_index *index, const char *name, size_t place)
{
    HRESULT hr = name_index_add(index, name, (uint32_t)place);
    return hr == S_FALSE ? manifest_wrong(e, attribute, name, "there is one of that name already") : hr;
}
