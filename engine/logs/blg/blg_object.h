/* SPDX-License-Identifier: MIT */
/* Whole objects in binary logs: an entry `\Object(*)\*` of the catalog, whose items are performance data blocks. Each
   counter they define becomes one of the log's counters, with the name that the log's name table has for it. */
#ifndef OPENPLA_BLG_OBJECT_H
#define OPENPLA_BLG_OBJECT_H

#include "engine/logs/blg/blg_columns.h"
#include "engine/logs/perf_data.h"

/* The table of names by title index. */
struct blg_names {
    struct blg_name {
        uint32_t index;
        char *text;
    } * items;
    size_t count, capacity;
    bool sorted;
};
/* Adds the names of a record: machine, then pairs "index", "name". S_FALSE: it ends inside a pair, or a text in place
   of an index is no number; the pairs before are taken. */
HRESULT blg_names_add(struct blg_names *names, const uint8_t *record, size_t size);
const char *blg_names_find(struct blg_names *names, uint32_t index); /* NULL: unknown */
void blg_names_free(struct blg_names *names);

struct blg_object {
    char *machine, *object;
    bool present; /* in this sample: the rest holds its data */
    struct perf_times times;
    struct perf_object data; /* points into the sample's record */
    struct perf_instance *instances;
    size_t instance_count, instance_capacity;
    struct blg_definition {
        struct perf_counter counter;
        bool has_base, shown;
        size_t column;
    } * definitions; /* of the sample before, too: their columns are searched only when they change */
    size_t definition_count, definition_capacity;
    size_t *columns; /* all that this object has ever given */
    size_t column_count, column_capacity;
    char *text; /* the instances' names, one after the other */
    size_t text_size, text_capacity;
    size_t *names; /* where each begins in text */
    size_t name_capacity;
};
/* Takes the item's bytes (behind its head). S_FALSE: malformed; the object is not present then. */
HRESULT blg_object_read(struct blg_object *o, const uint8_t *bytes, size_t size);
/* Gives each counter that the present object defines its column; counters met for the first time are added. S_FALSE: a
   definition is malformed. */
HRESULT blg_object_columns(struct blg_object *o, struct blg_names *names, struct blg_columns *columns);
/* Sets the cells of the object's counters; `all` are the objects of the sample, for parents of instances. Counters met
   for the first time are added. S_FALSE: some value lies outside its block; its cell is missing. */
HRESULT blg_object_cells(struct blg_object *o, const struct blg_object *all, size_t count, struct blg_names *names,
                         struct blg_columns *columns);
void blg_object_free(struct blg_object *o);

#endif
