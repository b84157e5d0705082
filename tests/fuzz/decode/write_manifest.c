/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/decode/write_manifest.h"

#include "engine/etw/decode/manifest/manifest_document.h"
#include "engine/etw/provider_manifest.h"

#include <stdlib.h>

/* Returns the number of events, where events with the same id and version count once. */
static size_t different_events(const struct provider_manifest *m)
{
    size_t count = 0;
    for (size_t i = 0; i < m->event_count; i++) {
        const EVENT_DESCRIPTOR *d = &m->events[i].descriptor, *before = i ? &m->events[i - 1].descriptor : NULL;
        count += !before || before->Id != d->Id || before->Version != d->Version;
    }
    return count;
}

void write_manifest(const struct provider_manifest *m)
{
    struct manifest_document d = {0};
    struct text_buffer text = {0};
    struct texts warnings = {0};
    struct provider_manifests again = {0};
    const HRESULT hr = manifest_document_add(&d, m, NULL, &warnings);
    if (FAILED(hr) || d.provider_count != (hr == S_OK) || (hr == S_FALSE && warnings.count == 0))
        abort();
    if (hr == S_OK &&
        (manifest_document_text(&d, &text) != S_OK || manifest_xml_read(text.text, text.length, NULL, &again) != S_OK ||
         again.count != 1 || again.items[0]->event_count != different_events(m)))
        abort();
    provider_manifests_free(&again);
    texts_free(&warnings);
    text_buffer_free(&text);
    manifest_document_free(&d);
}
