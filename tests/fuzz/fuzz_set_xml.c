/* SPDX-License-Identifier: MIT */
/* XML of sets and collectors: no crash, and what is read can be written and read again without an issue. The first byte
   chooses between the bytes as they are, which seldom are XML, and elements of our own names that the bytes pick. */
#include "engine/model/model.h"
#include "engine/os/memory.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct class *const classes[] = {
    &data_collector_set_class,
    &performance_counter_collector_class,
    &trace_data_collector_class,
    &configuration_collector_class,
    &alert_collector_class,
    &api_tracing_collector_class,
    &trace_data_provider_class,
    &set_schedule_class,
    &data_manager_class,
    &folder_action_class,
    &value_map_class,
    &value_map_item_class,
};
#define CLASS_COUNT (sizeof classes / sizeof classes[0])

/* A name by number: an object's element, a row's element, or its alias. */
static const char *element_name(unsigned n)
{
    const struct class *class = classes[n % CLASS_COUNT];
    unsigned row = n / CLASS_COUNT;
    if (!class->property_count || row % 8 == 0)
        return class->name;
    const struct property *p = &class->properties[row % class->property_count];
    return p->alias && row % 3 == 0 ? p->alias : p->xml ? p->xml : class->name;
}

/* Bytes: 0 closes an element, 1 gives the next byte's text, 2 a short text of the input's; others open an element. */
static char *made_xml(const uint8_t *data, size_t size, const char *root)
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
            open[depth] = element_name(data[i] * 256u + data[i + 1]);
            text_buffer_format(&b, "<%s>", open[depth++]);
            i++;
        }
    }
    while (depth)
        text_buffer_format(&b, "</%s>", open[--depth]);
    return text_buffer_take(&b);
}

static void check_set(const char *text, size_t size)
{
    struct object *set = NULL, *again = NULL, *issues = NULL, *none = NULL;
    char *xml = NULL;
    size_t length;
    if (FAILED(set_create(&set)) || FAILED(set_create(&again)) || FAILED(issues_create(NULL, &issues)) ||
        FAILED(issues_create(NULL, &none)))
        abort();
    if (SUCCEEDED(set_from_xml(set, text, size, issues))) {
        set_validate(set, issues); /* lists of APIs may overlap */
        if (FAILED(object_to_xml(set, &xml, &length)) || FAILED(set_from_xml(again, xml, length, none)) ||
            collection_count(none))
            abort();
        memory_free(xml);
    }
    object_release(none);
    object_release(issues);
    object_release(again);
    object_release(set);
}

static void check_collector(const char *text, size_t size)
{
    struct object *collector = NULL, *issues = NULL;
    if (FAILED(issues_create(NULL, &issues)))
        abort();
    if (SUCCEEDED(collector_create_from_xml(NULL, text, size, issues, &collector)))
        object_release(collector);
    object_release(issues);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    bool set = data[0] & 1, made = data[0] & 2;
    const char *root = set ? data_collector_set_class.name : classes[1 + data[0] / 4 % 5]->name;
    char *text = made ? made_xml(data + 1, size - 1, root) : text_copy_n((const char *)data + 1, size - 1);
    if (!text)
        abort();
    if (set)
        check_set(text, made ? strlen(text) : size - 1);
    else
        check_collector(text, made ? strlen(text) : size - 1);
    memory_free(text);
    return 0;
}
