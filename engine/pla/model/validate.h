/* SPDX-License-Identifier: MIT */
/* Helpers that the classes share: reporting the findings of validation (MS-PLA 2.2.2.11; behaviour 6), and hooks and
   checks of the properties that all kinds of collector have. */
#ifndef OPENPLA_VALIDATE_H
#define OPENPLA_VALIDATE_H

#include "engine/pla/model.h"

enum { FORMAT_PATTERN = 0x0001 /* plaPattern in AutoPathFormat */ };

/* Properties that the set's namespace does not use. `properties` are keys of the issues map, terminated by NULL. */
struct unused {
    const char *const *properties;
    const char *why;
};
struct validation {
    struct object *issues;                /* a plaValidation map */
    const struct data_collector_set *set; /* the set that is validated, or that contains the validated object */
    const struct unused *unused;
    size_t unused_count;
    struct object *rows; /* rows of the validated object; NULL: all rows count as chosen */
    const char *path;    /* for example "PerformanceCounterDataCollector[1]/"; NULL: the set; borrowed */
};
/* A finding, which is reported if `when` is true. */
struct finding {
    bool when;
    HRESULT found;
    const char *property, *why;
};
/* Adds an item to the issues map, unless the map already reports the property as ignored. Reports
   PLA_S_PROPERTY_IGNORED only for values that were chosen explicitly (object_row_is_chosen). */
HRESULT validation_report(const struct validation *v, HRESULT found, const char *property, const char *why);
HRESULT validation_report_all(const struct validation *v, const struct finding *findings, size_t count);
/* Returns whether the property is in `unused`, so that no rule for its value applies. */
bool validation_skips(const struct validation *v, const char *property);
/* Works like set_validate, for a set whose namespace does not use the properties in `unused`. */
HRESULT set_validate_without(struct object *set, const struct unused *unused, size_t count, struct object *issues);
/* Reports PLA_S_PROPERTY_IGNORED for each property; terminated by NULL. */
HRESULT validation_unused(const struct validation *v, const char *const *properties, const char *why);

/* ---- hooks of the rows that all collector classes have; only the files of these classes use the hooks ---- */

HRESULT collector_check_name(struct object *o, const struct property *p, const struct value *in);
/* Removes leading and trailing spaces from the name. If no name is left and the collector belongs to a set, generates a
   name. */
void collector_name_changed(struct object *o);
HRESULT collector_check_file_name(struct object *o, const struct property *p, const struct value *in);
HRESULT collector_get_file_name(struct object *o, const struct property *p, struct value *out);
/* Returns FileName, or a file name derived from Name. Call under the lock; from memory_alloc. */
char *collector_file_base(const struct object *o);
HRESULT collector_get_latest(struct object *o, const struct property *p, const struct set_live *live,
                             struct value *out);
bool collector_latest_is_put(const struct object *o);
void collector_latest_was_put(struct object *o);
HRESULT collector_get_output_location(struct object *o, const struct property *p, const struct set_live *live,
                                      struct value *out);
HRESULT collector_get_index(struct object *o, const struct property *p, struct value *out);
/* class.created and class.read_live of all kinds. collector_created sets DataCollectorType. */
HRESULT collector_created(struct object *o);
HRESULT collector_read_live(struct object *o, unsigned parts, struct set_live *out);
HRESULT collector_get_display_texts(struct object *o, const struct texts *shown, const struct texts *list,
                                    struct value *out);
/* Checks a name that people see: at most `most` UTF-16 units, and no bidirectional control characters. */
HRESULT check_visible_name(const struct property *p, const char *name, size_t most);
/* Rules for all lists. The first function fails with E_INVALIDARG and a message that names the index, the second with
   PLA_E_NO_DUPLICATES and a message that names the string. */
HRESULT check_no_empty_item(const struct property *p, const struct texts *list);
HRESULT check_no_duplicates(const struct property *p, const struct texts *list);
/* Finds the first string of `a` that is also in `b`, ignoring case; *common NULL: none. */
HRESULT texts_common(const struct texts *a, const struct texts *b, const char **common);

/* collector_validate_name validates the properties of a file name with a pattern; collector_validate_log validates
   those of a log file. `appends`: the log's format supports LogAppend. */
HRESULT collector_validate_name(const struct validation *v, const struct data_collector *c);
HRESULT collector_validate_log(const struct validation *v, const struct data_collector *c, bool appends);

/* Checks that all event providers of a trace collector have different GUIDs. Otherwise fails with PLA_E_NO_DUPLICATES
   and a message that names the GUID. collection_add cannot ensure this, because a client can set the GUID after adding
   the event provider (MS-PLA 2.2.1). */
HRESULT trace_check_providers(struct object *collector);

#endif
