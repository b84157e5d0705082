/* SPDX-License-Identifier: MIT */
/* Any bytes as /proc/stat, /proc/meminfo and /proc/<id>/stat: the first byte chooses. */
#include "engine/os/posix/process_stat.h"
#include "engine/pdh/kernel_text.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    /* A copy of exactly this size, so that a byte too far is seen. */
    char *text = malloc(size > 1 ? size - 1 : 1);
    if (!text) {
        return 0;
    }
    memcpy(text, data + 1, size - 1);
    struct kernel_stat stat = {0};
    struct kernel_memory memory;
    struct process_stat process;
    if (data[0] % 3 == 0) {
        kernel_stat_parse(text, size - 1, &stat);
        kernel_stat_free(&stat);
    } else if (data[0] % 3 == 1) {
        kernel_memory_parse(text, size - 1, &memory);
    } else if (process_stat_parse(text, size - 1, &process) && process.name + process.name_length > text + size) {
        abort();
    }
    free(text);
    return 0;
}
