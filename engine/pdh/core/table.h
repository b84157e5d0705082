/* SPDX-License-Identifier: MIT */
/* Objects as tables: a gatherer fills columns of numbers for each instance, and each counter's `source` says what it is
   made of. That text is both what runs and what the reference shows:

       source = term { ("+" | "-") term }
       term   = name [ ("*" | "/") number ]

   A name is a column of the object's table, "time" (UTC, 100 ns), or FILE.KEY: a figure by name in a kernel file
   (short names of core/source.h, as in "meminfo.MemFree * 1024" or "net/snmp.Tcp.InSegs"). A value of which a term has
   no figure is absent. */
#ifndef OPENPLA_PDH_TABLE_H
#define OPENPLA_PDH_TABLE_H

#include "engine/pdh/core/counter_object.h"
#include "engine/pdh/core/kernel_text.h"

#define TABLE_TERMS   4
#define TABLE_COLUMNS 63 /* with the keys of kernel files */

/* A subtotal is of the plain rows since the one before; the total is of all plain rows. What an alias shows a plain row
   has already. */
enum table_row_kind { ROW_PLAIN, ROW_ALIAS, ROW_SUBTOTAL, ROW_TOTAL };

struct table_row {
    enum table_row_kind kind;
    uint64_t key;
    size_t name; /* where it begins in the names; it ends with a NUL */
};

struct table_program;
/* First member of the object's state. */
struct table_state {
    struct table_program *program; /* one for each value; NULL: not compiled yet */
    uint32_t column_count;         /* of the table, then of the kernel files */
    uint64_t known_columns;        /* as table_know_columns says of this sample */
    struct kernel_keys *keys;      /* per kernel file */
    uint8_t *key_columns;          /* the file's first column */
    struct table_row *rows;
    size_t row_count, row_capacity;
    int64_t *cells; /* row after row of columns */
    size_t cell_capacity;
    char *names;
    size_t name_length, name_capacity;
    size_t *places; /* where each row was in the sample before */
    size_t place_capacity;
};

struct table {
    const char *origin; /* what the columns are, for the reference */
    const char *const *columns;
    uint32_t column_count;
    /* Adds the rows with the columns whose bits are in `columns`; others may stay absent. Sets o->time. NULL: one row,
       from kernel files alone. */
    HRESULT (*gather)(struct counter_object *o, struct source *source, uint64_t columns);
    void (*close)(void *state); /* frees what the object's state owns besides the table's; may be NULL */
};

/* sample and close of a provider that is a table. */
HRESULT table_sample(struct counter_object *o, struct source *source, uint64_t wanted);
void table_close(struct counter_object *o);

/* For gatherers. Adds a row whose cells are all VALUE_ABSENT and gives them; NULL when out of memory. `parent` NULL:
   none. Names are copied, `length` bytes of them. `key` says, with the name, what the thing is. The cells are valid
   until the next row. */
int64_t *table_add(struct table_state *t, enum table_row_kind kind, const char *parent, const char *name, size_t length,
                   uint64_t key);

/* Says that this host reports the columns (bits) of such instances, so that their counters exist even while no instance
   has a value for them: a container's drive without a block device, a network adapter without a speed. Without it a
   counter exists if some instance has a value, or there is no instance (DECISIONS 128). */
void table_know_columns(struct table_state *t, uint64_t columns);

/* The row of all plain ones, "_Total", of the parent "_Total" where the others have one. */
HRESULT table_add_total(struct table_state *t, bool with_parent, uint64_t key);

/* The rows as a list of instances, to be released; S_FALSE when `now`, NULL or an older list, is the same.
 * E_OUTOFMEMORY. */
HRESULT table_instances(const struct table_state *t, const struct instance_list *now, struct instance_list **out);

/* This computer's counter objects, as objects/ has them: each is a table. */
#define COUNTER_OBJECT(name) extern const struct counter_object_type pdh_##name;
#include "engine/pdh/objects/objects.def"
#undef COUNTER_OBJECT

/* Names of what the rows of an object's counters make (counter_rows.inc). */
#define TABLE_NAME_OF(object, what) object##_##what
#define TABLE_NAME(object, what)    TABLE_NAME_OF(object, what)

/* Which of the counters of the rows an object has: all, those without MORE, or those of MORE alone, which then have no
   bases. */
#define SOME_OF(rows, first, shown, values)                                                                            \
    .counters = rows##_counters + (first), .counter_count = (shown), .value_count = (values) - (first)
#define ALL_OF(rows)    SOME_OF(rows, 0, rows##_all, rows##_values)
#define SHARED_OF(rows) SOME_OF(rows, 0, rows##_shared, rows##_values)
#define MORE_OF(rows)   SOME_OF(rows, rows##_shared, rows##_all - rows##_shared, rows##_all)

/* Initialisers of a provider that is a table, behind .name, .index, .help and .has_instances: the rows and which of
   them, the type of the object's state, and the members of struct table. */
#define TABLE_OBJECT(rows, which, state_type, gatherer, closer, columns_origin)                                        \
    which(rows), .sample = table_sample, .close = table_close, .state_size = sizeof(state_type),                       \
                 .table = &(const struct table)                                                                        \
    {                                                                                                                  \
        .origin = (columns_origin), .columns = rows##_columns, .column_count = rows##_width, .gather = (gatherer),     \
        .close = (closer)                                                                                              \
    }
/* The same for one without instances and columns: all is from kernel files. */
#define KERNEL_FILE_OBJECT(rows) TABLE_OBJECT(rows, ALL_OF, struct table_state, NULL, NULL, NULL)

#endif
