/* SPDX-License-Identifier: MIT */
/* XML for the fuzz targets that read it: the input's bytes select OpenPLA's element names. */
#ifndef OPENPLA_FUZZ_XML_H
#define OPENPLA_FUZZ_XML_H

#include "engine/base/memory.h"
#include "tests/unit/model_classes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A name by number: an object's element, a row's element, or its alias. */
static inline const char *fuzz_element_name(unsigned n)
{
    const struct class *class = model_classes[n % MODEL_CLASS_COUNT];
    unsigned row = n / MODEL_CLASS_COUNT;
    if (!class->property_count || row % 8 == 0)
        return class->name;
    const struct property *p = &class->properties[row % class->property_count];
    return p->alias && row % 3 == 0 ? p->alias : p->xml ? p->xml : class->name;
}

/* Byte 0 closes an element, 1 adds the text that the next byte selects, 2 adds a short text of the input; any other
   byte opens an element. */
static inline char *fuzz_generated_xml(const uint8_t *data, size_t size, const char *root)
{
    static const char *const texts[] = {"0",
                                        "-1",
                                        "1",
                                        "0x10",
                                        "4294967295",
                                        "99999999999",
                                        "true",
                                        "8/17/2014",
                                        "4:00:00 AM",
                                        "\\A(b)\\c",
                                        "\\A\\c&gt;5",
                                        "{9E814AAD-3204-11D2-9A82-006008A86939}",
                                        "@x.dll,#1",
                                        "0aff",
                                        "O:BAG:BAD:(A;;FA;;;SY)",
                                        "a",
                                        "",
                                        " ",
                                        "yyyy\\-NN"};
    struct text_buffer b = {0};
    const char *open[16];
    size_t depth = 1;
    open[0] = root;
    text_buffer_format(&b, "<%s>", root);
    for (size_t i = 0; i < size; i++) {
        if (data[i] == 0 && depth > 1) {
            text_buffer_format(&b, "</%s>", open[--depth]);
        } else if (data[i] == 1 && i + 1 < size) {
            text_buffer_add(&b, texts[data[++i] % (sizeof texts / sizeof texts[0])]);
        } else if (data[i] == 2 && i + 1 < size) {
            for (size_t n = data[++i] % 32; n && i + 1 < size; n--)
                text_buffer_format(&b, "&#%u;", data[++i] < ' ' ? 'x' : data[i] + (data[i] > 200 ? 0x4E00 : 0));
        } else if (depth < sizeof open / sizeof open[0] && i + 1 < size) {
            open[depth] = fuzz_element_name(data[i] * 256u + data[i + 1]);
            text_buffer_format(&b, "<%s>", open[depth++]);
            i++;
        }
    }
    while (depth)
        text_buffer_format(&b, "</%s>", open[--depth]);
    return text_buffer_take(&b);
}

/* The text for the bytes: the bytes unchanged, which are seldom XML, or XML generated from them; from memory_alloc. */
static inline char *fuzz_text(const uint8_t *data, size_t size, bool made, const char *root, size_t *length)
{
    char *text = made ? fuzz_generated_xml(data, size, root) : text_copy_n((const char *)data, size);
    if (!text)
        abort();
    *length = made ? strlen(text) : size;
    return text;
}

static inline struct object *fuzz_issues(void)
{
    struct object *map = NULL;
    if (FAILED(issues_create(NULL, &map)))
        abort();
    return map;
}

#endif
