/* SPDX-License-Identifier: MIT */
/* XML of sets: no crash, and a set that was read can be written and read again without an issue. */
#include "tests/fuzz/pla/fuzz_xml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    size_t length;
    char *xml = NULL, *text = fuzz_text(data + 1, size - 1, data[0] & 1, data_collector_set_class.name, &length);
    struct object *set = NULL, *again = NULL, *issues = fuzz_issues(), *none = fuzz_issues();
    if (FAILED(set_create(&set)) || FAILED(set_create(&again)))
        abort();
    if (SUCCEEDED(set_from_xml(set, text, length, issues))) {
        set_validate(set, issues); /* may fail, because lists of APIs may overlap */
        if (FAILED(object_to_xml(set, &xml, &length)) || FAILED(set_from_xml(again, xml, length, none)) ||
            collection_count(none))
            abort();
        memory_free(xml);
    }
    object_release(none);
    object_release(issues);
    object_release(again);
    object_release(set);
    memory_free(text);
    return 0;
}
