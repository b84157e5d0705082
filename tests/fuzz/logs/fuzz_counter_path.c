/* SPDX-License-Identifier: MIT */
/* Any text as a counter path: a parsed path, formatted and parsed again, is the same. */
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/logs/counter_path.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct counter_path path, again;
    char *text = text_copy_n((const char *)data, size);
    if (text && counter_path_parse(text, &path) == ERROR_SUCCESS) {
        char *made = counter_path_format(&path);
        /* The instance is not compared, because "#0" and "#007" are written in another form. */
        if (made && counter_path_parse(made, &again) == ERROR_SUCCESS) {
            if (strcmp(path.counter, again.counter) != 0 || strcmp(path.object, again.object) != 0)
                abort();
            counter_path_free(&again);
        } else {
            abort();
        }
        memory_free(made);
        counter_path_free(&path);
    }
    memory_free(text);
    return 0;
}
