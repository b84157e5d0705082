/* SPDX-License-Identifier: MIT */
/* Declarations that the writer and the reader of binary logs share. */
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
/* Sets the size; new bytes are uninitialised. E_INVALIDARG: a record cannot have this size. */
HRESULT blg_bytes_resize(struct blg_bytes *b, size_t size);

size_t blg_round_up_8(size_t size);
void blg_put_block_head(uint8_t *at, uint16_t kind, size_t size); /* size: bytes of the block, including its header */
size_t blg_name_size(const char *name); /* bytes of a name or another text in the file, including its NUL */
/* Writes a name of blg_name_size bytes. E_INVALIDARG: the name is not valid UTF-8. */
HRESULT blg_put_name(uint8_t *at, const char *name, size_t size);

HRESULT blg_catalog_build(struct blg_bytes *catalog, const struct log_counter *counters, size_t count);
/* Builds the names record of text counter number `place`. The record contains the counter's names and the title index
   of each name. */
HRESULT blg_names_build(struct blg_bytes *names, const struct log_counter *counter, size_t place);

/* ---- text counters ----

   In this format, only a whole object can contain a text; a single counter cannot. A text counter is therefore written
   as an object with one counter. The names of a text counter get title indexes in the log's own name table. */
bool blg_is_text(const struct log_counter *counter);
/* Returns the size of the item for one cell, including its header; a multiple of 8. */
size_t blg_text_size(const struct log_counter *counter, const struct log_cell *cell);
/* Writes the item, whose size is blg_text_size. `local` and `utc` are FILETIMEs of the sample. E_INVALIDARG: a name or
   text is malformed. */
HRESULT blg_text_put(uint8_t *at, const struct log_counter *counter, size_t place, int64_t local, int64_t utc,
                     const struct log_cell *cell);

/* ---- continuing a log ---- */
struct blg_old {
    struct etl_file *file;
    uint8_t instance[16];   /* GUID of the log */
    struct zone_rules zone; /* time zone of the log's stamps */
    int64_t last_utc;       /* FILETIME at which the log ends so far */
};
/* Returns whether the bytes are the beginning of a log that OpenPLA writes. `size` can be small, but not 0. */
bool blg_is_begun(const uint8_t *bytes, size_t size);

/* ---- what the reader returns for each sample: one cell per counter, and the instances of wildcard counters ---- */
/* The instances of one wildcard counter in the current sample. */
struct blg_instances {
    struct log_item *items;
    size_t count, capacity;
    uint8_t *names; /* file data from which `text` was decoded; usually unchanged in the next sample */
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

/* Adds a counter and returns its index in *column. If `find` is set and a counter with the same names, type and time
   base exists, adds nothing and returns the index of that counter. The search for that counter begins at index *column,
   then continues from 0. */
HRESULT blg_columns_add(struct blg_columns *c, const struct log_counter *counter, bool find, size_t *column);
/* Sets every cell to a missing value. */
void blg_columns_clear(struct blg_columns *c);
/* Sets a wildcard counter's cell from an item of the kind BLG_KIND_WILDCARD. `block` and `size` are the item's bytes
   after its header. S_FALSE: malformed. */
HRESULT blg_columns_wildcard(struct blg_columns *c, size_t column, const uint8_t *block, size_t size);
void blg_columns_free(struct blg_columns *c);

/* ---- whole objects ----

   The items of a catalog entry `\Object(*)\*` are performance data blocks. Each counter that these blocks define
   becomes a counter of the log, with its name from the log's name table. */
/* The name table, by title index. */
struct blg_names {
    struct blg_name {
        uint32_t index;
        char *text;
    } * items;
    size_t count, capacity;
    bool sorted;
};
/* Adds the names of a record. The record contains the machine and then pairs of "index" and "name". S_FALSE: the record
   ends inside a pair, or an index is not a number; the pairs before it are added. */
HRESULT blg_names_add(struct blg_names *names, const uint8_t *record, size_t size);
void blg_names_free(struct blg_names *names);

struct blg_object {
    char *machine, *object;
    bool present; /* the current sample contains the object; `times`, `data` and `instances` are from that sample */
    struct perf_times times;
    struct perf_object data; /* points into the sample's record */
    struct perf_instance *instances;
    size_t instance_count, instance_capacity;
    struct blg_definition {
        struct perf_counter counter;
        bool has_base, shown;
        size_t column;
    } * definitions; /* kept after a sample, so that columns are searched only when the definitions change */
    size_t definition_count, definition_capacity;
    size_t *columns; /* columns of the current definitions */
    size_t column_count, column_capacity;
    char *text; /* the instance names, one after the other */
    size_t text_size, text_capacity;
    size_t *names; /* offset in `text` of each instance's name */
    size_t name_capacity;
};
/* Reads the bytes of an item after its header. S_FALSE: malformed; then the object is not present in the sample. */
HRESULT blg_object_read(struct blg_object *o, const uint8_t *bytes, size_t size);
/* Assigns a column to each counter that the object defines, and adds new counters. S_FALSE: a definition is
   malformed. */
HRESULT blg_object_columns(struct blg_object *o, struct blg_names *names, struct blg_columns *columns);
/* Sets the cells of the object's counters, and adds new counters. `all` contains all objects of the sample, because the
   parent of an instance can be in another object. S_FALSE: a value is outside its block, so its cell has no value. */
HRESULT blg_object_cells(struct blg_object *o, const struct blg_object *all, size_t count, struct blg_names *names,
                         struct blg_columns *columns);
void blg_object_free(struct blg_object *o);

#endif
