/* SPDX-License-Identifier: MIT */
/* Instrumentation manifests from untrusted authors: each event of an accepted manifest has a valid schema, and the
   manifest that is written from it can be read. */
#include "engine/etw/provider_manifest.h"
#include "tests/fuzz/decode/write_manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct provider_manifests list;
    struct texts warnings = {0};
    if (FAILED(manifest_xml_read(data, size, &warnings, &list)))
        goto done;
    for (size_t i = 0; i < list.count; i++) {
        write_manifest(list.items[i]);
        for (size_t k = 0; k < list.items[i]->event_count; k++) {
            struct event_schema *s;
            if (provider_manifest_schema(list.items[i], &list.items[i]->events[k].descriptor, "de-DE;fr", &s) != S_OK)
                __builtin_trap();
            event_schema_free(s);
        }
    }
done:
    provider_manifests_free(&list);
    texts_free(&warnings);
    return 0;
}
