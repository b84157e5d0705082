/* SPDX-License-Identifier: MIT */
/* Any bytes as the XML of a set, then of a collector: no crash, and what is read can be written and read again. */
#include "engine/model/model.h"
#include "engine/os/memory.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct object *set = NULL, *issues = NULL, *collector = NULL;
    if (FAILED(set_create(&set)) || FAILED(issues_create(NULL, &issues)))
        abort();
    char *text = memory_copy(data, size ? size : 1), *xml = NULL;
    size_t length;
    if (SUCCEEDED(set_from_xml(set, text, size, issues))) {
        if (FAILED(object_to_xml(set, &xml, &length)) || FAILED(set_from_xml(set, xml, length, issues)) ||
            FAILED(set_validate(set, issues)))
            abort();
        memory_free(xml);
    }
    if (SUCCEEDED(collector_create_from_xml(NULL, text, size, issues, &collector)))
        object_release(collector);
    memory_free(text);
    object_release(issues);
    object_release(set);
    return 0;
}
