/* SPDX-License-Identifier: MIT */
/* Lists of Data: texts in one block, places in it, and pointers once all are there. */
#include "engine/report/make/data_list.h"

#include "engine/base/memory.h"

#include <string.h>

void data_list_clear(struct data_list *l)
{
    l->texts.length = l->count = l->attribute_count = l->ordered = 0;
}

void data_list_free(struct data_list *l)
{
    text_buffer_free(&l->texts);
    memory_free(l->places);
    memory_free(l->attribute_places);
    memory_free(l->items);
    memory_free(l->attributes);
    *l = (struct data_list){0};
}

static HRESULT add_whole(struct data_list *l, const char *text, size_t length)
{
    text_buffer_add_n(&l->texts, text, length);
    text_buffer_add_n(&l->texts, "", 1);
    return l->texts.failed ? E_OUTOFMEMORY : S_OK;
}

HRESULT data_list_begin(struct data_list *l, const char *name, size_t length)
{
    if (!memory_grow((void **)&l->places, &l->capacity, l->count + 1, sizeof *l->places))
        return E_OUTOFMEMORY;
    l->places[l->count++] = (struct data_place){.name = l->texts.length, .attributes = l->attribute_count};
    return add_whole(l, name, length);
}

HRESULT data_list_attribute(struct data_list *l, const char *name, const char *value, size_t length)
{
    void *places = l->attribute_places;
    if (!memory_grow(&places, &l->attribute_capacity, l->attribute_count + 1, sizeof *l->attribute_places))
        return E_OUTOFMEMORY;
    l->attribute_places = places;
    l->attribute_places[l->attribute_count++] = (struct attribute_place){name, l->texts.length};
    l->places[l->count - 1].attribute_count++;
    return add_whole(l, value, length);
}

void data_list_text_begin(struct data_list *l)
{
    l->places[l->count - 1].text = l->texts.length;
}

void data_list_text(struct data_list *l, const char *text, size_t length)
{
    text_buffer_add_n(&l->texts, text, length);
}

HRESULT data_list_end(struct data_list *l)
{
    return add_whole(l, "", 0);
}

void data_list_drop_last(struct data_list *l)
{
    const struct data_place *last = &l->places[--l->count];
    l->texts.length = last->name;
    l->attribute_count = last->attributes;
}

const char *data_list_name(const struct data_list *l, size_t at)
{
    return l->texts.text + l->places[at].name;
}

HRESULT data_list_give(struct data_list *l)
{
    if (!memory_grow((void **)&l->items, &l->item_capacity, l->count, sizeof *l->items) ||
        !memory_grow((void **)&l->attributes, &l->item_attribute_capacity, l->attribute_count, sizeof *l->attributes))
        return E_OUTOFMEMORY;
    const char *texts = l->texts.text;
    for (size_t i = 0; i < l->attribute_count; i++)
        l->attributes[i] = (struct report_attribute){l->attribute_places[i].name, texts + l->attribute_places[i].value};
    for (size_t i = 0; i < l->count; i++) {
        const struct data_place *p = &l->places[i];
        l->items[i] =
            (struct report_data){texts + p->name, texts + p->text,
                                 p->attribute_count ? l->attributes + p->attributes : NULL, p->attribute_count};
    }
    return S_OK;
}

/* ---- what is given out ---- */

const char *report_attribute(const struct report_attribute *attributes, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(attributes[i].name, name))
            return attributes[i].value;
    return NULL;
}

const struct report_data *report_find(const struct report_data *items, size_t count, const char *name, size_t at)
{
    if (at < count && !strcmp(items[at].name, name))
        return &items[at];
    for (size_t i = 0; i < count; i++)
        if (!strcmp(items[i].name, name))
            return &items[i];
    return NULL;
}
