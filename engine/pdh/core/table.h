/* SPDX-License-Identifier: MIT */
/* Counter objects as tables. A gatherer fills columns of numbers for each instance, and the `source` of each counter is
   a formula that computes its value from the columns. The engine evaluates the same string that the reference page
   shows:

       source = term { ("+" | "-") term }
       term   = name [ ("*" | "/") number ]

   A name is a column of the object's table, "time" (UTC, in units of 100 ns), or FILE.KEY: the number with this name in
   a kernel file. FILE is a short name from core/source.h, as in "meminfo.MemFree * 1024" or "net/snmp.Tcp.InSegs". A
   value is absent if any of its terms is. */
#ifndef OPENPLA_PDH_TABLE_H
#define OPENPLA_PDH_TABLE_H

#include "engine/pdh/core/counter_object.h"
#include "engine/pdh/core/kernel_text.h"

#define TABLE_TERMS   4
#define TABLE_COLUMNS 63 /* maximum columns, including the keys of kernel files */

/* A subtotal covers the plain rows since the previous subtotal; the total covers all plain rows. An alias repeats the
   values of a plain row. */
enum table_row_kind { ROW_PLAIN, ROW_ALIAS, ROW_SUBTOTAL, ROW_TOTAL };

struct table_row {
    enum table_row_kind kind;
    uint64_t key;
    size_t name; /* offset in `names`; ends with a NUL */
};

struct table_program;
/* The first member of the object's state. */
struct table_state {
    struct table_program *program; /* one per value of the object; NULL: not compiled yet */
    uint32_t column_count;         /* number of the table's own columns plus one for each key of a kernel file */
    uint64_t known_columns;        /* set by table_know_columns in this sample */
    struct kernel_keys *keys;      /* the keys of each kernel file */
    uint8_t *key_columns;          /* for each kernel file: the index of the first column with its keys */
    struct table_row *rows;
    size_t row_count, row_capacity;
    int64_t *cells; /* the rows' cells, one row after another */
    size_t cell_capacity;
    char *names;
    size_t name_length, name_capacity;
    size_t *places; /* for each row: its position in the previous sample */
    size_t place_capacity;
};

struct table {
    const char *origin; /* description of the columns for the reference page */
    const char *const *columns;
    uint32_t column_count;
    /* Adds the rows and fills at least the columns whose bits are in `columns`, and sets o->time. NULL: the object has
       one row, with values from kernel files only. */
    HRESULT (*gather)(struct counter_object *o, struct source *source, uint64_t columns);
    void (*close)(void *state); /* frees what the object's state owns in addition to struct table_state; may be NULL */
};

/* The functions `sample` and `close` of object types that are tables. */
HRESULT table_sample(struct counter_object *o, struct source *source, uint64_t wanted);
void table_close(struct counter_object *o);

/* For gatherers. Adds a row and returns its cells, which are all VALUE_ABSENT and valid until the next row is added;
   NULL if memory runs out. `parent` may be NULL. Copies `length` bytes of the name. The name and `key` together
   identify the instance. */
int64_t *table_add(struct table_state *t, enum table_row_kind kind, const char *parent, const char *name, size_t length,
                   uint64_t key);

/* Declares that this host OS can report the columns (bits) for instances of this type. Counters that need only these
   columns then exist even while no instance has a value. For example, the only drive may be a container's drive without
   a block device, or the only adapter may have no speed. Without this call (decision 128), a counter exists only if an
   instance has a value or if there are no instances. */
void table_know_columns(struct table_state *t, uint64_t columns);

/* Adds the total of all plain rows, "_Total". The total has the parent "_Total" if `with_parent` is set because the
   other rows have parents. */
HRESULT table_add_total(struct table_state *t, bool with_parent, uint64_t key);

/* Returns the rows as a new list of instances, or S_FALSE if `now` (NULL or an older list) is the same. Fails with
   E_OUTOFMEMORY. */
HRESULT table_instances(const struct table_state *t, const struct instance_list *now, struct instance_list **out);

/* This computer's counter objects (objects/). All are tables. */
#define COUNTER_OBJECT(name) extern const struct counter_object_type pdh_##name;
#include "engine/pdh/objects/objects.def"
#undef COUNTER_OBJECT

/* Names that counter_rows.inc creates from the rows of an object's counters. */
#define TABLE_NAME_OF(object, what) object##_##what
#define TABLE_NAME(object, what)    TABLE_NAME_OF(object, what)

/* The subset of the counters (counter_rows.inc) that an object has: all counters, all except the MORE rows, or only the
   MORE rows. MORE_OF omits the bases, so its counters must not need any. */
#define SOME_OF(rows, first, shown, values)                                                                            \
    .counters = rows##_counters + (first), .counter_count = (shown), .value_count = (values) - (first)
#define ALL_OF(rows)    SOME_OF(rows, 0, rows##_all, rows##_values)
#define SHARED_OF(rows) SOME_OF(rows, 0, rows##_shared, rows##_values)
#define MORE_OF(rows)   SOME_OF(rows, rows##_shared, rows##_all - rows##_shared, rows##_all)

/* Initialisers for an object type that is a table. These initialisers are written after .name, .index, .help and
   .has_instances. The parameters are the rows and their subset, the type of the object's state, and the members of
   struct table. */
#define TABLE_OBJECT(rows, which, state_type, gatherer, closer, columns_origin)                                        \
    which(rows), .sample = table_sample, .close = table_close, .state_size = sizeof(state_type),                       \
                 .table = &(const struct table)                                                                        \
    {                                                                                                                  \
        .origin = (columns_origin), .columns = rows##_columns, .column_count = rows##_width, .gather = (gatherer),     \
        .close = (closer)                                                                                              \
    }
/* Like TABLE_OBJECT, for an object without instances and columns: all values come from kernel files. */
#define KERNEL_FILE_OBJECT(rows) .tries_at_once = true, TABLE_OBJECT(rows, ALL_OF, struct table_state, NULL, NULL, NULL)

#endif
