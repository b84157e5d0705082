/* SPDX-License-Identifier: MIT */
/* Any text as a name pattern and as a base: no crash, no leak, and valid UTF-8 gives valid UTF-8. */
#include "engine/base/memory.h"
#include "engine/pla/model/name_pattern.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 12)
        return 0;
    struct name_context context = {
        .local = {.year = 1601 + data[0] * 16,
                  .month = 1 + data[1] % 12,
                  .day = 1 + data[2] % 28,
                  .weekday = data[3] % 7,
                  .day_of_year = 1 + data[4],
                  .hour = data[5] % 24,
                  .minute = data[6] % 60,
                  .second = data[7] % 60},
        .zone_offset_minutes = (data[8] - 128) * 7,
        .serial_number = data[9] * 0x01010101u,
        .computer = "HOST",
    };
    uint32_t format = data[10] | (uint32_t)data[11] << 8;
    char *pattern = text_copy_n((const char *)data + 12, size - 12);
    if (!pattern || !text_is_utf8(pattern, strlen(pattern))) {
        memory_free(pattern);
        return 0;
    }
    char *out = NULL;
    if (SUCCEEDED(name_pattern_expand(pattern, &context, &out)) && !text_is_utf8(out, strlen(out)))
        abort();
    memory_free(out);
    out = NULL;
    if (SUCCEEDED(name_decorate_file(pattern, ".blg", format, pattern, &context, &out)) && !*out)
        abort();
    memory_free(out);
    memory_free(pattern);
    return 0;
}
