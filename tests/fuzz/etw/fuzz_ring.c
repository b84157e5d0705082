/* SPDX-License-Identifier: MIT */
/* Any bytes as a page of the kernel's ring and as the format text of its events: everything that is returned is within
   them, and the reading of each page ends. */
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/etw/kernel/ftrace_ring.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 512 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_page(const uint8_t *bytes, const struct ring_field *fields, size_t count)
{
    const struct ring_layout layout = {8, 8, 16, PAGE};
    struct ring_page page;
    struct ring_event e;
    size_t events = 0;
    if (!ring_page_begin(&page, &layout, bytes))
        return;
    while (ring_page_next(&page, &e) == S_OK) {
        if (e.data < bytes + 16 || e.size > PAGE || e.data + e.size > bytes + PAGE || ++events > PAGE / 4)
            abort();
        for (size_t i = 0; i < count; i++) {
            char text[16];
            uint32_t length;
            (void)ring_number(&e, &fields[i]);
            const uint8_t *at = ring_bytes(&e, &fields[i], &length);
            if (at && (at < e.data || length > e.size || at + length > e.data + e.size))
                abort();
            ring_text(&e, &fields[i], text, sizeof text);
            if (strlen(text) >= sizeof text)
                abort();
        }
    }
    if (ring_page_next(&page, &e) != S_FALSE)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < PAGE)
        return 0;
    uint8_t *page = memory_copy(data, PAGE); /* a separate copy, so that a step beyond it is detected */
    char *text = text_copy_n((const char *)data + PAGE, size - PAGE);
    struct ring_layout layout;
    if (!page || !text)
        abort();
    (void)ring_format_id(text);
    (void)ring_layout_read(text, &layout);
    const struct ring_field fields[] = {
        ring_format_field(text, "a"), ring_format_field(text, "pid"), {0, 4, true, false}, {4, 4, false, true}};
    read_page(page, fields, sizeof fields / sizeof fields[0]);
    memory_free(page);
    memory_free(text);
    return 0;
}
