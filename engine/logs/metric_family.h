/* SPDX-License-Identifier: MIT */
/* Families of metrics: unique family names, and the families' lines in Prometheus' text format 0.0.4 and
   OpenMetrics. */
#ifndef OPENPLA_METRIC_FAMILY_H
#define OPENPLA_METRIC_FAMILY_H

#include "engine/base/text.h"
#include "engine/logs/metric_form.h"

/* A family of metrics. The output contains the samples of a family one after another. */
struct metric_family {
    char *name; /* name as in samples, but without _sum and _count: "windows_system_context_switches_total" */
    char *help;
    const char *unit; /* "": no unit */
    enum metric_kind kind;
    const char *collector; /* preset that the metric belongs to; NULL: no preset */
};
/* Zero-initialise. */
struct metric_families {
    struct metric_family *items;
    size_t count, capacity;
    uint32_t *slots; /* hash table that maps names to index + 1; 0: free. A counter metric's family has a second entry:
                        its name without _total */
    size_t slot_count, slots_used;
};
/* Finds the family of a counter with this form. S_OK: *at is the index of the family. S_FALSE: the family does not
   exist. The caller then adds the family with *name (from memory_alloc), and *at becomes its index. Families of
   different types must not share a name, not even without _total, so a name that is already used by another type gets a
   suffix. */
HRESULT metric_families_find(const struct metric_families *f, const struct log_counter *counter,
                             const struct metric_form *form, size_t *at, char **name);
/* Adds a family. Takes ownership of `name` and `help`, even on failure. Returns E_OUTOFMEMORY if one of them is
   NULL. */
HRESULT metric_families_add(struct metric_families *f, char *name, char *help, const struct metric_form *form,
                            const char *collector);
void metric_families_free(struct metric_families *f);

/* Returns the help text for a counter's family: its path, the first sentence of the explanation `text` (NULL: unknown),
   and the note of `form`. If `has_instances` is set, the path has "(*)". From memory_alloc; NULL: out of memory. */
char *metric_help_of(const struct log_counter *counter, bool has_instances, const char *text,
                     const struct metric_form *form);

/* ---- lines ---- */

/* Adds a family's lines before its samples: HELP, TYPE and UNIT. */
void metric_add_family(struct text_buffer *b, const struct metric_family *f, bool openmetrics);
/* Adds name="value" with escapes, after a comma if `more` is set. */
void metric_add_label(struct text_buffer *b, bool more, const char *name, const char *value);
/* Adds the labels name, parent, pid and tid of an instance "parent/name#index", after a comma if `more` is set.
   `process` and `thread` are the values of its ID Process and ID Thread (NULL: unknown). These IDs replace the instance
   numbers, because an instance number can move to another process. */
void metric_add_instance(struct text_buffer *b, bool more, const char *instance, const struct log_raw *process,
                         const struct log_raw *thread);
/* Returns whether an instance is the sum of other instances: "_Total", "0,_Total", "_Total/_Total". If such a total
   were exported, a sum over all instances of the metric would count the other instances twice. */
bool metric_is_total(const char *instance);
/* Removes the index: "svchost#1" becomes "svchost". */
void metric_cut_index(char *name);

#endif
