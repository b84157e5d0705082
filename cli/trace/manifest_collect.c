/* SPDX-License-Identifier: MIT */
/* openpla manifest collect: writes the manifests of all registered event providers into a folder, to send along with a
   trace. */
#include "cli/cli.h"
#include "cli/trace/manifest.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/etw/event_dump.h"
#include "engine/etw/manifest_origins.h"

#include <stdio.h>
#include <string.h>

#define VERB "manifest"
enum { NAME_BYTES = 150 };

struct collecting {
    const char *folder;
    bool overwrite;
    char *languages;
    struct texts names; /* names of the files written so far, in lower case, without duplicates */
    size_t written, skipped;
};

/* Returns a file name such as "Microsoft-Windows-Kernel-Process.man". If the name has characters that other systems do
   not allow, or another provider has the same name, the provider's GUID is appended. */
static HRESULT file_name(struct collecting *c, const struct known_provider *p, char **out)
{
    char guid[39], *plain = text_copy_n(p->name, strnlen(p->name, NAME_BYTES));
    bool unusual = strlen(p->name) > NAME_BYTES || !p->name[0] || path_is_device_name(p->name);
    text_from_guid(&p->guid, guid);
    for (char *at = plain; at && *at; at++) {
        if ((unsigned char)*at < ' ' || (unsigned char)*at >= 0x7F || strchr("<>:\"/\\|?*{}", *at)) {
            *at = '_';
            unusual = true;
        }
    }
    for (size_t i = 0; plain && i < c->names.count; i++)
        unusual = unusual || text_equal_nocase(c->names.items[i], plain);
    *out = plain ? unusual ? text_format("%s_%s.man", plain, guid) : text_format("%s.man", plain) : NULL;
    if (plain && FAILED(texts_add_owned(&c->names, plain))) {
        memory_free(*out);
        *out = NULL;
    }
    return *out ? S_OK : E_OUTOFMEMORY;
}

static HRESULT store(const struct collecting *c, const char *name, const struct text_buffer *text)
{
    char *path = path_join(c->folder, name);
    HRESULT hr = path ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !c->overwrite && file_find(path) == S_OK)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_FILE_EXISTS), "'%s' already exists (use -y to overwrite)", path);
    if (SUCCEEDED(hr))
        hr = file_store(path, text->text, text->length);
    memory_free(path);
    return hr;
}

/* Writes one manifest. Returns S_FALSE, and prints the reason, if the provider has no manifest or if its manifest
   cannot be written. */
static HRESULT collect_one(struct collecting *c, const struct known_provider *p)
{
    struct manifest_document d = {0};
    struct provider_manifest *m = NULL;
    struct text_buffer text = {0};
    struct texts warnings = {0};
    char *name = NULL;
    HRESULT hr = registered_manifest_load(&p->guid, c->languages, &m);
    if (hr != S_OK && hr != E_OUTOFMEMORY) { /* its DLL is missing or corrupt; continue with the other providers */
        fprintf(stderr, "openpla " VERB ": collect: %s: %s\n", p->name, error_text(hr));
        return S_FALSE;
    }
    if (SUCCEEDED(hr) && !m->name)
        hr = (m->name = text_copy(p->name)) ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = manifest_document_add(&d, m, NULL, &warnings);
    for (size_t i = 0; i < warnings.count; i++)
        fprintf(stderr, "openpla " VERB ": collect: %s\n", warnings.items[i]);
    if (hr == S_OK)
        hr = manifest_document_text(&d, &text);
    if (hr == S_OK)
        hr = file_name(c, p, &name);
    if (hr == S_OK)
        hr = store(c, name, &text);
    memory_free(name);
    texts_free(&warnings);
    text_buffer_free(&text);
    manifest_document_free(&d);
    provider_manifest_free(m);
    return hr;
}

static HRESULT collect_all(struct collecting *c)
{
    struct known_providers known = {0};
    HRESULT hr = (c->languages = os_ui_languages()) ? registered_providers_list(&known) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && known.count == 0)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_NOT_FOUND),
                       "cannot collect manifests: no event provider is registered (register one: openpla manifest "
                       "add)");
    if (SUCCEEDED(hr))
        hr = folder_create(c->folder);
    for (size_t i = 0; SUCCEEDED(hr) && i < known.count; i++) {
        hr = collect_one(c, &known.items[i]);
        c->written += hr == S_OK;
        c->skipped += hr == S_FALSE;
    }
    known_providers_free(&known);
    return hr;
}

int manifest_collect(int argc, char **argv)
{
    struct collecting c = {.overwrite = false};
    struct texts operands = {0};
    const struct option options[] = {{"y", OPTION_FLAG, &c.overwrite}};
    int result = options_parse(VERB, argc, argv, options, 1, &operands);
    if (result == CLI_DONE && operands.count != 1)
        result = cli_usage(VERB, "collect: expected a folder");
    if (result == CLI_DONE) {
        c.folder = operands.items[0];
        const HRESULT hr = collect_all(&c);
        if (FAILED(hr)) {
            result = cli_error(VERB, hr);
        } else {
            printf("%zu manifests written to '%s', %zu providers skipped\n", c.written, c.folder, c.skipped);
            result = c.skipped != 0 ? CLI_REMARKS : CLI_DONE;
        }
    }
    memory_free(c.languages);
    texts_free(&c.names);
    texts_free(&operands);
    return result;
}
