/* SPDX-License-Identifier: MIT */
/* The frame of an instrumentation manifest: documents, providers, and the order in which their parts are read. */
#include "engine/etw/decode/manifest/manifest_xml.h"

#include "engine/base/memory.h"
#include "engine/etw/manifest_reader.h"
#include "engine/etw/source_text.h"

#include <string.h>

#define LONGEST_NAME 255 /* characters */

/* ---- one provider ---- */

static void forget_provider(struct manifest_reader *r)
{
    for (size_t i = 0; i < MANIFEST_KINDS; i++)
        name_index_free(&r->names[i]);
    name_index_free(&r->chids);
    name_index_free(&r->maps);
    name_index_free(&r->layouts);
    texts_free(&r->keys);
    r->p = NULL;
    r->map_messages = 0;
}

static HRESULT read_attributes(struct manifest_reader *r, xmlNodePtr e)
{
    struct provider_manifest *p = r->p;
    const struct {
        const char *name;
        char **to;
    } all[] = {
        {"symbol", &p->symbol},
        {"resourceFileName", &p->resource_file},
        {"messageFileName", &p->message_file},
        {"parameterFileName", &p->parameter_file},
        {"helpLink", &p->help_link},
    };
    HRESULT hr = manifest_name(r, e, "name", &p->name);
    if (FAILED(hr))
        return hr;
    for (const char *c = p->name; *c; c++)
        if ((unsigned char)*c < ' ' || strchr("<>&\"|\\:'?*", *c))
            return manifest_wrong(e, "name", p->name, "it has a character that no provider's may have (0x%02X)",
                                  (unsigned)(unsigned char)*c);
    if (text_utf16_length(p->name) > LONGEST_NAME)
        return manifest_wrong(e, "name", p->name, "more than %u characters", LONGEST_NAME);
    for (size_t i = 0; SUCCEEDED(hr) && i < sizeof all / sizeof all[0]; i++)
        hr = manifest_text(r, e, all[i].name, all[i].to);
    return SUCCEEDED(hr) ? manifest_message(r, e, "message", 0x90000001u, &p->message) : hr;
}

/* What is named comes before what names it, wherever it stands in the file. */
static HRESULT read_parts(struct manifest_reader *r, xmlNodePtr e)
{
    static const struct {
        const char *name;
        HRESULT (*read)(struct manifest_reader *r, xmlNodePtr part);
    } parts[] = {
        {"channels", manifest_read_channels},
        {"maps", manifest_read_maps},
        {"levels", NULL},
        {"tasks", NULL},
        {"opcodes", NULL},
        {"keywords", NULL},
        {"templates", manifest_read_templates},
        {"filters", manifest_read_filters},
        {"events", manifest_read_events},
    };
    const size_t count = sizeof parts / sizeof parts[0];
    const xmlNode *once[sizeof parts / sizeof parts[0]] = {NULL};
    HRESULT hr = manifest_read_fields(r, e);
    for (xmlNodePtr n = e->children; SUCCEEDED(hr) && n; n = n->next) {
        size_t i = 0;
        while (i < count && !manifest_is(n, parts[i].name))
            i++;
        if (i == count)
            hr = manifest_pass_over(r, n);
        else if (once[i])
            hr = manifest_wrong(n, NULL, NULL, "the provider has one already");
        else
            once[i] = n;
    }
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        for (xmlNodePtr n = e->children; SUCCEEDED(hr) && n; n = n->next)
            if (parts[i].read && manifest_is(n, parts[i].name))
                hr = parts[i].read(r, n);
    return hr;
}

static HRESULT read_provider(struct manifest_reader *r, xmlNodePtr e, void *about)
{
    struct provider_manifests *list = about;
    GUID guid = {0};
    HRESULT hr = manifest_guid(r, e, "guid", &guid);
    if (hr == S_FALSE)
        hr = manifest_wrong(e, "guid", NULL, "it is wanted");
    for (size_t i = 0; SUCCEEDED(hr) && i < list->count; i++)
        if (guid_equal(&list->items[i]->guid, &guid))
            hr = manifest_wrong(e, "guid", NULL, "another provider has it");
    if (SUCCEEDED(hr) && list->count == MANIFEST_MOST_PROVIDERS)
        hr = manifest_wrong(e, NULL, NULL, "more than %u providers", MANIFEST_MOST_PROVIDERS);
    if (FAILED(hr))
        return hr;
    void *items = list->items;
    bool room = memory_grow(&items, &list->capacity, list->count + 1, sizeof *list->items);
    list->items = items;
    r->p = room ? provider_manifest_create(&guid) : NULL;
    if (!r->p)
        return E_OUTOFMEMORY;
    list->items[list->count++] = r->p;
    hr = read_attributes(r, e);
    if (SUCCEEDED(hr))
        hr = read_parts(r, e);
    if (SUCCEEDED(hr))
        provider_manifest_finish(r->p);
    forget_provider(r);
    return hr;
}

/* ---- the document ---- */

HRESULT manifest_read_strings(struct manifest_reader *r, xmlNodePtr root)
{
    HRESULT hr = S_OK;
    for (xmlNodePtr n = root->children; SUCCEEDED(hr) && n; n = n->next) {
        if (manifest_is(n, "localization"))
            hr = manifest_read_localization(r, n);
        for (xmlNodePtr i = manifest_is(n, "instrumentation") ? n->children : NULL; SUCCEEDED(hr) && i; i = i->next)
            for (xmlNodePtr t = manifest_is(i, "events") ? i->children : NULL; SUCCEEDED(hr) && t; t = t->next)
                if (manifest_is(t, "messageTable"))
                    hr = manifest_read_message_table(r, t);
    }
    return hr;
}

static HRESULT read_providers(struct manifest_reader *r, xmlNodePtr root, struct provider_manifests *out)
{
    HRESULT hr = S_OK;
    for (xmlNodePtr n = root->children; SUCCEEDED(hr) && n; n = n->next) {
        const bool inside = manifest_is(n, "instrumentation");
        if (!inside && !manifest_is(n, "localization"))
            hr = manifest_pass_over(r, n);
        for (xmlNodePtr i = inside ? n->children : NULL; SUCCEEDED(hr) && i; i = i->next) {
            const bool events = manifest_is(i, "events");
            if (!events)
                hr = manifest_pass_over(r, i);
            for (xmlNodePtr p = events ? i->children : NULL; SUCCEEDED(hr) && p; p = p->next)
                if (manifest_is(p, "provider"))
                    hr = read_provider(r, p, out);
                else if (!manifest_is(p, "messageTable"))
                    hr = manifest_pass_over(r, p);
        }
    }
    if (SUCCEEDED(hr) && !out->count)
        hr = manifest_wrong(root, NULL, NULL, "it has no provider");
    return hr;
}

HRESULT manifest_open(const void *xml, size_t size, struct xml_document *out)
{
    const uint8_t *bytes = xml;
    char *own = NULL;
    HRESULT hr = S_OK;
    *out = (struct xml_document){0};
    if (size > MANIFEST_MOST_BYTES)
        return error_set(MANIFEST_INVALID, "a manifest of %llu bytes, more than %u", (unsigned long long)size,
                         MANIFEST_MOST_BYTES);
    if (size >= 2 && ((bytes[0] == 0xFF && bytes[1] == 0xFE) || (bytes[0] == 0xFE && bytes[1] == 0xFF)))
        hr = source_text_decode(xml, size, &own);
    if (SUCCEEDED(hr))
        hr = xml_document_open(own ? own : xml, own ? strlen(own) : size, out);
    memory_free(own);
    if (hr == OPENPLA_E_MALFORMED_XML) {
        struct error_kept why = error_keep(hr);
        return error_set(MANIFEST_INVALID, "%.900s", why.text);
    }
    if (SUCCEEDED(hr) && !manifest_is(out->root, "instrumentationManifest")) {
        hr = manifest_wrong(out->root, NULL, NULL, "the root of a manifest is instrumentationManifest");
        xml_document_close(out);
    }
    return hr;
}

HRESULT manifest_xml_read(const void *xml, size_t size, struct texts *remarks, struct provider_manifests *out)
{
    struct xml_document d;
    struct manifest_reader r = {.document = &d, .remarks = remarks};
    *out = (struct provider_manifests){0};
    HRESULT hr = manifest_open(xml, size, &d);
    if (FAILED(hr))
        return hr;
    hr = manifest_read_strings(&r, d.root);
    if (SUCCEEDED(hr))
        hr = read_providers(&r, d.root, out);
    manifest_strings_free(&r.strings);
    manifest_strings_free(&r.table);
    name_index_free(&r.table_values);
    forget_provider(&r);
    xml_document_close(&d);
    if (FAILED(hr)) {
        struct error_kept why = error_keep(hr);
        provider_manifests_free(out);
        return error_restore(&why);
    }
    return S_OK;
}
