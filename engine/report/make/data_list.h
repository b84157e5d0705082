/* SPDX-License-Identifier: MIT */
/* The Data of one Header or one row, gathered as they are read. */
#ifndef OPENPLA_REPORT_DATA_LIST_H
#define OPENPLA_REPORT_DATA_LIST_H

#include "engine/report/report_reader.h"

/* Zero-initialise. */
struct data_list {
    struct text_buffer texts; /* with their NULs, one behind the other: what the places say */
    struct data_place {
        size_t name, text, attributes; /* where they begin */
        size_t attribute_count;
    } * places;
    size_t count, capacity;
    size_t ordered; /* so many first ones are known to stand in the order of a Header */
    struct attribute_place {
        const char *name; /* borrowed */
        size_t value;
    } * attribute_places;
    size_t attribute_count, attribute_capacity;
    struct report_data *items; /* as given out */
    size_t item_capacity;
    struct report_attribute *attributes;
    size_t item_attribute_capacity;
};

void data_list_clear(struct data_list *l); /* keeps its memory for the next one */
void data_list_free(struct data_list *l);
/* A Data without a text; its attributes come next, then its text in parts, then its end. E_OUTOFMEMORY. */
HRESULT data_list_begin(struct data_list *l, const char *name, size_t length);
HRESULT data_list_attribute(struct data_list *l, const char *name, const char *value, size_t length);
void data_list_text_begin(struct data_list *l);
void data_list_text(struct data_list *l, const char *text, size_t length);
HRESULT data_list_end(struct data_list *l);
void data_list_drop_last(struct data_list *l);
const char *data_list_name(const struct data_list *l, size_t at);
/* l->items and their number, l->count; valid until the list changes. */
HRESULT data_list_give(struct data_list *l);

#endif
