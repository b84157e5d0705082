/* SPDX-License-Identifier: MIT */
/* XML of collectors of every kind: no crash; a collector that was read can be written and read again without an issue,
   both by a new collector and by one that already has values. */
#include "tests/fuzz/pla/fuzz_xml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    size_t length;
    char *xml = NULL,
         *text = fuzz_text(data + 1, size - 1, data[0] & 1, collector_class(data[0] / 2 % 5)->name, &length);
    struct object *collector = NULL, *again = NULL, *issues = fuzz_issues(), *none = fuzz_issues();
    if (SUCCEEDED(collector_create_from_xml(NULL, text, length, issues, &collector))) {
        if (FAILED(object_to_xml(collector, &xml, &length)) ||
            FAILED(collector_create_from_xml(NULL, xml, length, none, &again)) ||
            FAILED(collector_from_xml(collector, xml, length, none)) || collection_count(none))
            abort();
        memory_free(xml);
    }
    object_release(again);
    object_release(collector);
    object_release(none);
    object_release(issues);
    memory_free(text);
    return 0;
}
