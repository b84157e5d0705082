/* SPDX-License-Identifier: MIT */
/* What the classes share: reports of validation (MS-PLA 2.2.2.11; behaviour 6), and the hooks and checks of properties
   that all kinds of collector have. */
#ifndef OPENPLA_VALIDATE_H
#define OPENPLA_VALIDATE_H

#include "engine/pla/model.h"

enum { FORMAT_PATTERN = 0x0001 /* plaPattern of AutoPathFormat */ };

/* Properties that the set's namespace has no use for, whatever they hold: keys of the map, NULL at the end. */
struct unused {
    const char *const *properties;
    const char *why;
};
struct validation {
    struct object *issues;                /* a plaValidation map */
    const struct data_collector_set *set; /* the rows of the set that the object is, or is in */
    const struct unused *unused;
    size_t unused_count;
    struct object *rows; /* the object whose rows are told of; NULL: all are as if somebody chose them */
    const char *path;    /* "PerformanceCounterDataCollector[1]/", NULL: the set itself; borrowed */
};
/* Told when it is so. */
struct finding {
    bool when;
    HRESULT found;
    const char *property, *why;
};
/* Adds an item unless the map says already that the property is ignored: no rule for its value matters then. That a
   value is ignored is told of those alone that somebody chose (object_row_is_chosen). */
HRESULT validation_report(const struct validation *v, HRESULT found, const char *property, const char *why);
HRESULT validation_report_all(const struct validation *v, const struct finding *findings, size_t count);
/* Whether the property is one of `unused`: no rule for its value matters then. */
bool validation_skips(const struct validation *v, const char *property);
/* set_validate of a set in whose namespace these properties are not used. */
HRESULT set_validate_without(struct object *set, const struct unused *unused, size_t count, struct object *issues);
/* PLA_S_PROPERTY_IGNORED of each; NULL at the end. */
HRESULT validation_unused(const struct validation *v, const char *const *properties, const char *why);

/* ---- hooks of the rows that all kinds of collector inherit: for the files of the kinds alone ---- */

HRESULT collector_check_name(struct object *o, const struct property *p, const struct value *in);
/* One of a set that was given none gets one. */
void collector_name_changed(struct object *o);
HRESULT collector_check_file_name(struct object *o, const struct property *p, const struct value *in);
HRESULT collector_get_file_name(struct object *o, const struct property *p, struct value *out);
/* FileName, or what Name makes as a file's name; under the lock; from memory_alloc. */
char *collector_file_base(const struct object *o);
HRESULT collector_get_latest(struct object *o, const struct property *p, const struct set_live *live,
                             struct value *out);
bool collector_latest_is_put(const struct object *o);
void collector_latest_was_put(struct object *o);
HRESULT collector_get_output_location(struct object *o, const struct property *p, const struct set_live *live,
                                      struct value *out);
HRESULT collector_get_index(struct object *o, const struct property *p, struct value *out);
/* class->created of every kind: its DataCollectorType; and class->read_live. */
HRESULT collector_created(struct object *o);
HRESULT collector_read_live(struct object *o, unsigned parts, struct set_live *out);
HRESULT collector_get_display_texts(struct object *o, const struct texts *shown, const struct texts *list,
                                    struct value *out);
/* What is a name for people and programs: at most `most` UTF-16 units, without bidirectional control characters. */
HRESULT check_visible_name(const struct property *p, const char *name, size_t most);
/* What lists have in common: E_INVALIDARG with the index; PLA_E_NO_DUPLICATES with the text. */
HRESULT check_no_empty_item(const struct property *p, const struct texts *list);
HRESULT check_no_duplicates(const struct property *p, const struct texts *list);
/* The first text of `a` that `b` has too, in any case; NULL: there is none. */
HRESULT texts_common(const struct texts *a, const struct texts *b, const char **common);

/* Of a collector whose file's name may have a pattern, and of one that writes a log file of its own, in a format that
   `appends` to one or does not. */
HRESULT collector_validate_name(const struct validation *v, const struct data_collector *c);
HRESULT collector_validate_log(const struct validation *v, const struct data_collector *c, bool appends);

/* Whether a trace collector's providers differ: a GUID may be put after the provider was added. PLA_E_NO_DUPLICATES,
   naming it (MS-PLA 2.2.1). */
HRESULT trace_check_providers(struct object *collector);

#endif
