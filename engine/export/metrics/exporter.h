/* SPDX-License-Identifier: MIT */
/* The data of the exporter, for exporter.c and exporter_sample.c. */
#ifndef OPENPLA_EXPORTER_H
#define OPENPLA_EXPORTER_H

#include "engine/base/os.h"
#include "engine/export/metrics.h"
#include "engine/export/metrics/steady.h"
#include "engine/export/preset.h"
#include "engine/pdh/counter_query.h"
#include "engine/report/columns.h"

enum { NO_COLUMN = -1 };

struct export_path {
    char *pattern;                /* of instances; NULL: all */
    bool refused;                 /* no counter could be added */
    const struct preset_row *row; /* NULL: not of the preset */
};
struct export_given {
    size_t path, column;
};
struct export_use {
    size_t path, column, object, family;
    /* Of a single counter: its instance with parent and index, NULL: none, and the columns of its IDs. */
    char *instance;
    int64_t process_column, thread_column;
    struct metric_form form;
};
struct export_label {
    const char *instance; /* of the sample */
    size_t at, length;    /* in export_object.text */
    uint64_t hash;
    bool total, duplicate;
};
/* An object on one computer, with one scheme of labels. */
struct export_object {
    char *name, *machine;
    enum label_scheme scheme;
    size_t scope_length;                   /* of the names of its metrics that are not of a preset */
    bool is_foreign;                       /* of another computer */
    bool has_ids;                          /* a column is ID Process */
    int64_t process_column, thread_column; /* ID Process and ID Thread; NO_COLUMN: it has none */
    uint64_t built;                        /* the sample that the labels belong to */
    struct export_label *labels;
    size_t label_count, label_capacity;
    struct text_buffer text;
};

struct exporter {
    struct lock lock; /* of a sample */
    bool totals, preset, values, failed;
    enum export_names names;
    const struct pdh_api *pdh;
    struct counter_query *query; /* NULL: of logs */
    struct inputs *inputs;       /* logs; NULL: of the query */
    struct columns columns;      /* of the logs */
    size_t taken;                /* columns of the logs that are uses */
    char *(*explain)(void *user, const char *path, HRESULT reason);
    void *user;
    struct export_path *paths;
    size_t path_count, path_capacity;
    struct texts wide, refused; /* the paths with all instances; why counters are missing */
    struct export_given *given; /* columns that are not uses yet */
    size_t given_count, given_capacity;
    struct export_object *objects;
    size_t object_count, object_capacity;
    struct metric_families families;
    struct export_use *uses; /* in the order of families */
    size_t use_count, use_capacity;
    uint64_t *seen; /* hashes of labels; 0: free */
    size_t seen_slots;
    struct steady steady;
    uint64_t samples, duplicates, tried;
    size_t next_retry; /* of paths; their number: all have been tried */
};

/* Tries some of the counters again that could not be added: a program that offers them may have started. True: there
   are more columns now. */
bool exporter_retry(struct exporter *e);
/* Adds uses of all columns that paths have given since the last call. */
HRESULT exporter_take_given(struct exporter *e);

/* The columns of the query or the logs. */
static inline const struct log_counter *exporter_columns(const struct exporter *e, size_t *count)
{
    if (e->query)
        return counter_query_columns(e->query, count);
    *count = e->columns.counters.count;
    return e->columns.counters.items;
}
/* Adds uses of the columns of the logs that are new. */
HRESULT exporter_take_columns(struct exporter *e);

/* ---- instance_labels.c ---- */

/* Adds the labels of an instance (NULL: the object has none) with its process and thread ID, NULL if unknown. */
void instance_add_labels(struct text_buffer *b, const struct export_object *o, const char *instance,
                         const struct log_raw *process, const struct log_raw *thread);

#endif
