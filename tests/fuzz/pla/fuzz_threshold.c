/* SPDX-License-Identifier: MIT */
/* Any text as an alert's threshold: a parsed threshold, written and parsed again, is the same. */
#include "engine/base/memory.h"
#include "engine/pla/model.h"

#include <stdint.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct alert_threshold first, second;
    char *text = text_copy_n((const char *)data, size);
    if (!text)
        abort();
    if (SUCCEEDED(alert_threshold_parse(text, &first))) {
        char *again = text_format("%s%c%.17g", first.path, first.operator_, first.value);
        if (!again || !isfinite(first.value) || (first.operator_ != '<' && first.operator_ != '>') ||
            first.path[0] != '\\' || FAILED(alert_threshold_parse(again, &second)) ||
            strcmp(first.path, second.path) != 0 || first.operator_ != second.operator_ ||
            first.value != second.value) /* both finite: the digits give the exact number */
            abort();
        memory_free(second.path);
        memory_free(again);
        memory_free(first.path);
    }
    memory_free(text);
    return 0;
}
