/* SPDX-License-Identifier: MIT */
/* The parts of the writer and the reader of binary logs. */
#ifndef OPENPLA_BLG_PARTS_H
#define OPENPLA_BLG_PARTS_H

#include "engine/logs/etl_file.h"
#include "engine/logs/log.h"
#include "engine/logs/perf_data.h"

/* ---- the records that come before the samples ---- */

struct blg_bytes {
    uint8_t *data;
    size_t size, capacity;
};
/* Makes the size `size`; new bytes are undefined. E_INVALIDARG above what a record may have. */
HRESULT blg_bytes_resize(struct blg_bytes *b, size_t size);

size_t blg_round_up_8(size_t size);
void blg_put_block_head(uint8_t *at, uint16_t kind, size_t size); /* size: of the block, its head included */
size_t blg_name_size(const char *name); /* bytes of a name, or another text, in the file, with its NUL */
/* Writes a name of blg_name_size bytes. E_INVALIDARG: it is no well-formed UTF-8. */
HRESULT blg_put_name(uint8_t *at, const char *name, size_t size);

HRESULT blg_catalog_build(struct blg_bytes *catalog, const struct log_counter *counters, size_t count);
/* The record that gives the names of a text counter, the log's `place`-th, their title indexes. */
HRESULT blg_names_build(struct blg_bytes *names, const struct log_counter *counter, size_t place);

/* ---- text counters ----

   An item of a single counter has no room for a text, so a text counter is written as a whole object with this one
   counter: the form in which the format carries texts. Its names get title indexes of the log's own table of names. */
bool blg_is_text(const struct log_counter *counter);
/* Bytes of the item for one cell, its head included; a multiple of 8. */
size_t blg_text_size(const struct log_counter *counter, const struct log_cell *cell);
/* Writes that item. `local` and `utc`: FILETIMEs of the sample. Errors: E_INVALIDARG for malformed names. */
HRESULT blg_text_put(uint8_t *at, const struct log_counter *counter, size_t place, int64_t local, int64_t utc,
                     const struct log_cell *cell);

/* ---- continuing a log ---- */
struct blg_old {
    struct etl_file *file;
    uint8_t instance[16];   /* GUID of the log */
    struct zone_rules zone; /* of its times */
    int64_t last_utc;       /* FILETIME of its last change */
};
/* Are these the first bytes of a log of ours, however few? `size` is not 0. */
bool blg_is_begun(const uint8_t *bytes, size_t size);

/* ---- what the reader gives for each sample: one cell per counter, and the instances of wildcard counters ---- */
/* The instances of one wildcard counter in the present sample. */
struct blg_instances {
    struct log_item *items;
    size_t count, capacity;
    uint8_t *names; /* as the file had them when `text` was made of them: most samples have the same */
    size_t names_size, names_capacity;
    char *text;
    size_t text_capacity;
};

struct blg_columns {
    struct log_counters *counters; /* borrowed */
    struct log_cell *cells;        /* one per counter */
    size_t cell_capacity;
    struct blg_instances *instances; /* one per counter */
    size_t instances_capacity;
};

/* Adds a counter, or finds the one with the same names, type and time base from *column on, then from 0 on (`find`).
 *column is its place. */
HRESULT blg_columns_add(struct blg_columns *c, const struct log_counter *counter, bool find, size_t *column);
/* Makes every cell a missing value. */
void blg_columns_clear(struct blg_columns *c);
/* Sets a wildcard's cell from the block of an item of kind BLG_KIND_WILDCARD, `size` bytes. S_FALSE: malformed. */
HRESULT blg_columns_wildcard(struct blg_columns *c, size_t column, const uint8_t *block, size_t size);
void blg_columns_free(struct blg_columns *c);

/* ---- whole objects ----

   An entry `\Object(*)\*` of the catalog, whose items are performance data blocks. Each counter that they define
   becomes one of the log's counters, with the name that the log's name table has for it. */
/* The table of names by title index. */
struct blg_names {
    struct blg_name {
        uint32_t index;
        char *text;
    } * items;
    size_t count, capacity;
    bool sorted;
};
/* Adds the names of a record: the machine, then pairs of "index" and "name". S_FALSE: the record ends inside a pair, or
   an index is not a number; the pairs before it are added. */
HRESULT blg_names_add(struct blg_names *names, const uint8_t *record, size_t size);
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
/* Reads the item's bytes after its header. S_FALSE: malformed; then the object is not present. */
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
