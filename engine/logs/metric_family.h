/* SPDX-License-Identifier: MIT */
/* Families of metrics, whose names do not clash, and their lines in Prometheus' text format 0.0.4 and OpenMetrics. */
#ifndef OPENPLA_METRIC_FAMILY_H
#define OPENPLA_METRIC_FAMILY_H

#include "engine/base/text.h"
#include "engine/logs/metric_form.h"

/* A family of metrics, whose samples stand together. */
struct metric_family {
    char *name; /* of samples, without _sum and _count: "windows_system_context_switches_total" */
    char *help;
    const char *unit; /* "": none */
    enum metric_kind kind;
    const char *collector; /* of a preset; NULL: not of one */
};
/* Zero-initialise. */
struct metric_families {
    struct metric_family *items;
    size_t count, capacity;
    uint32_t *slots; /* places + 1 by the hash of names, of counters also without _total; 0: free */
    size_t slot_count, slots_used;
};
/* The family of the counter's name and form: S_OK and its place. S_FALSE: it does not exist yet; *name from
   memory_alloc is the one to add, at the end. A family of another type cannot share its name, not even without _total;
   then the name gets an ending. */
HRESULT metric_families_find(const struct metric_families *f, const struct log_counter *counter,
                             const struct metric_form *form, size_t *at, char **name);
/* Takes the name and the help over, also on failure; NULL: out of memory. */
HRESULT metric_families_add(struct metric_families *f, char *name, char *help, const struct metric_form *form,
                            const char *collector);
void metric_families_free(struct metric_families *f);

/* The help of a counter's family: its path, the first sentence of its text (NULL: unknown), and what its value means.
   `has_instances`: the path has "(*)". From memory_alloc; NULL: out of memory. */
char *metric_help_of(const struct log_counter *counter, bool has_instances, const char *text,
                     const struct metric_form *form);

/* ---- lines ---- */

/* The lines before the samples. */
void metric_add_family(struct text_buffer *b, const struct metric_family *f, bool openmetrics);
/* Adds name="value" behind `b`'s text, with escapes; a comma first if `more`. */
void metric_add_label(struct text_buffer *b, bool more, const char *name, const char *value);
/* Adds the labels name, parent, pid and tid of an instance "parent/name#index"; a comma first if `more`. With the
   values of its ID Process and ID Thread (NULL: unknown) they replace its numbers, which move to other processes. */
void metric_add_instance(struct text_buffer *b, bool more, const char *instance, const struct log_raw *process,
                         const struct log_raw *thread);
/* Whether an instance is the sum of the others: "_Total", "0,_Total", "_Total/_Total". Sums over a metric would count
   the others twice with it. */
bool metric_is_total(const char *instance);
/* "svchost#1" becomes "svchost". */
void metric_cut_index(char *name);

#endif
