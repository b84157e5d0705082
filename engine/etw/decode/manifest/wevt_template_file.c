/* SPDX-License-Identifier: MIT */
/* Templates and message tables among the resources of a file. */
#include "engine/base/memory.h"
#include "engine/etw/decode/manifest/languages.h"
#include "engine/etw/decode/manifest/pe_resources.h"
#include "engine/etw/decode/manifest/wevt_template.h"

#define MESSAGE_TABLE 11

static HRESULT take_messages(void *about, uint16_t language, const uint8_t *bytes, size_t size)
{
    return message_table_read(bytes, size, language_name(language), about);
}

static HRESULT add_messages(const struct pe_resources *r, struct message_tables *to)
{
    HRESULT hr = pe_resources_each(r, NULL, MESSAGE_TABLE, take_messages, to);
    if (hr == S_OK)
        message_tables_sort(to);
    return hr;
}

HRESULT message_tables_load(const char *path, struct message_tables *to)
{
    struct pe_resources r;
    HRESULT hr = pe_resources_load(path, &r);
    if (hr == S_OK) {
        hr = add_messages(&r, to);
        if (FAILED(hr))
            hr = error_prefix(hr, "%s", path);
    }
    pe_resources_free(&r);
    return hr;
}

static HRESULT take_template(void *about, uint16_t language, const uint8_t *bytes, size_t size)
{
    struct provider_manifests *out = about;
    (void)language;
    return out->count ? S_OK : wevt_template_read(bytes, size, out); /* one in another language says the same */
}

HRESULT wevt_template_load(const char *path, struct provider_manifests *out)
{
    struct pe_resources r;
    *out = (struct provider_manifests){0};
    HRESULT hr = pe_resources_load(path, &r);
    if (hr == S_OK)
        hr = pe_resources_each(&r, "WEVT_TEMPLATE", 0, take_template, out);
    size_t bytes = 0;
    for (size_t i = 0; hr == S_OK && i < out->count; i++) {
        HRESULT messages = add_messages(&r, &out->items[i]->messages);
        hr = FAILED(messages) ? messages : S_OK;
        bytes += out->items[i]->messages.bytes;
        if (SUCCEEDED(hr) && bytes > MESSAGES_MOST_BYTES)
            hr = error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "the messages of %zu providers need %zu bytes",
                           i + 1, bytes);
    }
    pe_resources_free(&r);
    if (FAILED(hr)) {
        hr = error_prefix(hr, "%s", path);
        struct error_kept why = error_keep(hr);
        provider_manifests_free(out);
        return error_restore(&why);
    }
    return hr;
}
