/* SPDX-License-Identifier: MIT */
/* Resources of files from untrusted authors: WEVT_TEMPLATE, from which a manifest is written, message tables, and the
   file that contains them. */
#include "engine/base/memory.h"
#include "engine/etw/decode/manifest/wevt_template.h"
#include "tests/fuzz/decode/write_manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static HRESULT use(void *about, uint16_t language, const uint8_t *bytes, size_t size)
{
    (void)about;
    return size && bytes[0] == bytes[size - 1] && language == 0xFFFF ? S_FALSE : S_OK; /* both ends are readable */
}

static void read_templates(const uint8_t *data, size_t size)
{
    struct provider_manifests list;
    (void)wevt_template_read(data, size, &list);
    for (size_t i = 0; i < list.count; i++) {
        write_manifest(list.items[i]);
        for (size_t k = 0; k < list.items[i]->event_count; k++) {
            struct event_schema *s;
            if (provider_manifest_schema(list.items[i], &list.items[i]->events[k].descriptor, NULL, &s) != S_OK)
                __builtin_trap();
            event_schema_free(s);
        }
    }
    uint8_t *bytes = NULL;
    if (list.count)
        (void)wevt_template_write(&list, &bytes, &size);
    memory_free(bytes);
    provider_manifests_free(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct message_tables tables = {0};
    struct pe_resources r;
    read_templates(data, size);
    (void)message_table_read(data, size, "", &tables);
    message_tables_sort(&tables);
    message_tables_free(&tables);
    if (pe_resources_read(data, size, &r) == S_OK)
        (void)pe_resources_each(&r, "WEVT_TEMPLATE", 0, use, NULL);
    pe_resources_free(&r);
    return 0;
}
