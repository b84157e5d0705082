/* SPDX-License-Identifier: MIT */
/* The settings of API tracing, and the tables of a module in a traced program; the program can change both. */
#include "engine/base/memory.h"
#include "engine/etw/api_trace.h"
#include "engine/etw/api_trace/api_image.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static void check_export(void *user, const struct api_export *found)
{
    (void)api_image_is_code(user, found->rva);
    expect(strlen(found->name) < ((const struct api_image *)user)->size);
}

static void check_slot(void *user, const char *dll, void **slot)
{
    const struct api_image *image = user;
    expect((uint8_t *)slot >= image->base && (uint8_t *)(slot + 1) <= image->base + image->size && dll);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct api_settings s;
    struct api_image image;
    if (SUCCEEDED(api_settings_read(data, size, &s))) {
        const enum api_module_use use = api_settings_module(&s, "kernel32");
        (void)api_settings_has(&s, use, "kernel32!sleep");
        api_settings_free(&s);
    }
    /* A header that is valid as far as necessary, so that random bytes reach the tables. */
    const size_t bytes = (size + 4095 + 512) & ~(size_t)4095;
    uint8_t *copy = memory_zero(1, bytes);
    if (!copy)
        return 0;
    memcpy(copy + 256, data, size < bytes - 256 ? size : bytes - 256);
    memcpy(copy, "MZ", 2);
    copy[61] = 1;
    memcpy(copy + 256, "PE\0\0\x64\x86", 6);
    memcpy(copy + 280, "\x0B\x02", 2);
    if (api_image_read(copy, bytes, &image)) {
        (void)api_image_exports(&image, check_export, &image);
        (void)api_image_imports(&image, check_slot, &image);
    }
    memory_free(copy);
    return 0;
}
